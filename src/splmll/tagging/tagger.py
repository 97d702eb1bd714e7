"""Tagger: a fitted pipeline with everything needed to use it later.

It knows its columns and labels by name, how well it did on unseen rows, and how to read and write
files like the one it learned from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from splmll import persistence
from splmll.arrays import dense, take_rows
from splmll.base import has_landmarks
from splmll.datasets import Dataset
from splmll.exceptions import DatasetError
from splmll.landmarks import SPLMLL
from splmll.landmarks.cost import Cost, check_memory
from splmll.landmarks.explanation import Explanation
from splmll.landmarks.path import LandmarkPath
from splmll.model_selection import multilabel_train_test_split
from splmll.names import check_columns
from splmll.persistence import ModelFileError
from splmll.persistence.files import load_parts
from splmll.persistence.storage import MANIFEST
from splmll.tagging.files import is_reading
from splmll.tagging.measured import (
    HELD_OUT,
    OTHER_ROWS,
    Measured,
    measure,
    measure_out_of_fold,
)
from splmll.tagging.notes import label_notes, word_notes
from splmll.tagging.pipeline import (
    DEFAULT_METHOD,
    build_pipeline,
    known_method,
    place_networks,
    without_words,
)
from splmll.tagging.rows import checked_rows, has_unknown, in_order
from splmll.tagging.scoring import Carriers, carriers, score
from splmll.tagging.words import NoWordsError, Words

MIN_ROWS = 10  # fewer cannot be divided into rows to learn from and rows to measure on
_MARK = "splmll tagger 1"
_MOST_CARRIED = 3  # labels named beside a landmark ...
_LEAST_CARRIED = 0.05  # ... if it adds at least so much to their scores
_SHARE_HELD_OUT = 0.2  # where a method has no out-of-fold scores

Progress = Callable[[str, float | None], object]
"""(what is being done, share that is done or None if it is not known) -> ignored."""


@dataclass(frozen=True, eq=False)
class Tagged:
    """Rows with their labels.

    Attributes
    ----------
    labels : DataFrame
        One column of 0 and 1 for each label.
    scores : DataFrame
        How sure each label is, from 0 to 1.
    carriers : list of dict, optional
        For every row: predicted label -> landmark -> what it added to the score of the label.
    without_words : ndarray of bool, optional
        Rows that have no word the tagger knows; None if it takes no texts.
    """

    labels: pd.DataFrame
    scores: pd.DataFrame
    carriers: Carriers | None = None
    without_words: np.ndarray | None = None

    def above(self, threshold: float | None, known: np.ndarray | None = None) -> pd.DataFrame:
        """Return the labels with at least this score, instead of using the method's rule.

        Parameters
        ----------
        threshold : float or None
            From 0 to 1; None leaves the labels as they are.
        known : ndarray of shape (n_rows, n_labels), optional
            Labels that no threshold changes; NaN where there is none.

        Returns
        -------
        labels : DataFrame

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from splmll.tagging import Tagged
        >>> scores = pd.DataFrame({"oil": [0.4, 0.9], "pump": [0.6, 0.0]})
        >>> tagged = Tagged((scores >= 0.5).astype(int), scores)
        >>> tagged.above(0.3).to_numpy().tolist()
        [[1, 1], [1, 0]]
        """
        if threshold is None:
            return self.labels
        labels = (self.scores.to_numpy() >= threshold).astype(int)
        if known is not None:
            labels = np.where(np.isnan(known), labels, np.nan_to_num(known)).astype(int)
        return pd.DataFrame(labels, index=self.labels.index, columns=self.labels.columns)


@dataclass(frozen=True, eq=False, repr=False)
class Tagger:
    """A fitted pipeline that predicts the labels of rows of a table.

    Made by :meth:`fit` or :meth:`load`.

    Attributes
    ----------
    pipeline : Pipeline
        Columns to features, features to labels.
    method : str
        Name of the method.
    label_names : list of str
        All labels.
    feature_names : list of str
        Columns that rows must have.
    column_kinds : dict of str to str
        Column -> "text", "categorical" or "numeric"; empty for a matrix of numbers.
    reading : dict
        How the file stores its labels, see :func:`read_examples`.
    n_rows : int
        Number of rows it learned from.
    fit_seconds : float
        How long the fit on all rows took.
    measured : Measured
        How well models did on unseen rows; its ``how`` says which models and rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.datasets import Dataset
    >>> from splmll.tagging import Tagger
    >>> notes = ["the pump leaks oil", "new pump", "oil on the floor", "paint the door"] * 10
    >>> tags = [[1, 1], [0, 1], [1, 0], [0, 0]] * 10
    >>> data = Dataset(pd.DataFrame({"body": notes}), pd.DataFrame(tags).to_numpy(), ["body"],
    ...                ["oil", "pump"], column_kinds={"body": "text"})
    >>> tagger = Tagger.fit(data, method="BR")
    >>> tagger.tags(pd.DataFrame({"body": ["a pump without oil"]}))
    [['oil', 'pump']]
    >>> tagger.measured.how, tagger.measured.measures["micro_f1"]
    ('held out', 1.0)
    """

    pipeline: Pipeline
    method: str
    label_names: list[str]
    feature_names: list[str]
    column_kinds: dict[str, str]
    reading: dict[str, Any]
    n_rows: int
    fit_seconds: float
    measured: Measured

    # Learning --------------------------------------------------------------

    @classmethod
    def fit(
        cls,
        data: Dataset,
        method: str = DEFAULT_METHOD,
        *,
        n_landmarks: int | None = None,
        threshold: float | str | None = None,
        test_size: float | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        device: str | None = None,
        settings: Mapping[str, Any] | None = None,
        words: Words | None = None,
        reading: dict[str, Any] | None = None,
        on_cost: Callable[[Cost], object] | None = None,
        on_progress: Progress | None = None,
        on_note: Callable[[str], object] | None = None,
    ) -> Tagger:
        """Learn from rows, and measure on rows that a model has not seen.

        SPL-MLL learns once. It predicts each row with models of the other folds anyway, and the
        measures are computed from these out-of-fold scores. They cover all rows and come from
        models that saw fewer rows than the tagger, so if anything they are a little pessimistic.
        Words are counted in all rows first, which tells those models how frequent a word is, but
        nothing about labels.

        Other methods have no such scores. They learn twice: first without a fifth of the rows, to
        measure on it, and then from all rows.

        Parameters
        ----------
        data : Dataset
            Rows with labels.
        method, n_landmarks, threshold, random_state, n_jobs, device, settings, words
            See ``splmll.tagging.pipeline.build_pipeline``.
        test_size : float, optional
            Share of the rows to hold out and measure on, whatever the method, stratified by labels.
            In the end, the tagger learns from all rows.
        reading : dict, optional
            What :func:`read_examples` returned, to read and write other files in the same way.
        on_cost : callable, optional
            Called with the expected cost of a fit of SPL-MLL before it starts. A fit that needs
            more memory than there is raises an error.
        on_progress : callable, optional
            Called with what is being done and the share that is done (None: not known).
        on_note : callable, optional
            Called with one sentence for each oddity that does not prevent learning.

        Returns
        -------
        tagger : Tagger
        """
        n_rows = data.X.shape[0]
        check_enough_rows(data)
        if test_size is not None and not 0 < test_size < 1:
            raise ValueError(
                "The share of rows to hold out must be between 0 and 1, such as 0.2, not "
                f"{test_size:g}."
            )
        pipeline = build_pipeline(
            data,
            method,
            n_landmarks=n_landmarks,
            threshold=threshold,
            random_state=random_state,
            n_jobs=n_jobs,
            device=device,
            settings=settings,
            words=words,
        )
        if has_unknown(data.Y):
            _check_takes_unknown(data, pipeline[-1], method, test_size)
        X = checked_rows(data.X, data.feature_names, data.column_kinds)
        learning = _Learning(data, known_method(method), device, on_cost, on_progress)
        measured = None
        if test_size is not None or not isinstance(pipeline[-1], SPLMLL):
            share = _SHARE_HELD_OUT if test_size is None else test_size
            X_train, X_test, Y_train, Y_test = multilabel_train_test_split(
                X, data.Y, test_size=share, random_state=random_state
            )
            first = clone(pipeline)
            learning.fit(first, X_train, Y_train, "without the rows held out: ")
            measured = measure(
                Y_test,
                first.decision_function(X_test),
                first.predict(X_test),
                data.label_names,
                how=HELD_OUT,
            )
        started = perf_counter()
        features, found = learning.fit(pipeline, X, data.Y)
        seconds = perf_counter() - started
        if measured is None:
            measured = measure_out_of_fold(found, data.label_names)
        if on_note is not None:
            for note in (*label_notes(data), *word_notes(without_words(pipeline, features))):
                on_note(note)
        return cls(
            pipeline=pipeline,
            method=learning.method,
            label_names=list(data.label_names),
            feature_names=list(data.feature_names),
            column_kinds=dict(data.column_kinds),
            reading=dict(reading or {}),
            n_rows=n_rows,
            fit_seconds=seconds,
            measured=measured,
        )

    def refit(self, data: Dataset, *, on_progress: Progress | None = None) -> Tagger:
        """Learn again from other rows, with the same columns, labels, method and settings.

        Parameters
        ----------
        data : Dataset
            Rows with labels; NaN means not known. Labels that the tagger does not have are left
            out.
        on_progress : callable, optional
            As in :meth:`fit`.

        Returns
        -------
        tagger : Tagger
            A new one; this one stays as it is.

        Examples
        --------
        >>> import numpy as np
        >>> from splmll.datasets import Dataset
        >>> from splmll.tagging import Tagger
        >>> X = np.random.default_rng(0).normal(size=(80, 2))
        >>> data = Dataset(X, (X > 0).astype(int), ["x", "y"], ["right", "up"])
        >>> Tagger.fit(data.sample(40), "SPL-MLL (linear)").refit(data).n_rows
        80
        """
        self._landmark_model()
        n_rows = data.X.shape[0]
        check_enough_rows(data)
        X, Y, _ = self._matched(data)
        pipeline = clone(self.pipeline)
        started = perf_counter()
        _, found = _Learning(data, self.method, None, None, on_progress).fit(pipeline, X, Y)
        return replace(
            self,
            pipeline=pipeline,
            n_rows=n_rows,
            fit_seconds=perf_counter() - started,
            measured=measure_out_of_fold(found, self.label_names),
        )

    # Using -----------------------------------------------------------------

    def tag(self, rows: Any, *, explain: bool = False, most: int = 3) -> Tagged:
        """Return labels, scores and, if requested, explanations of rows in one pass.

        Parameters
        ----------
        rows : DataFrame, array or sparse matrix
            As in :meth:`predict`.
        explain : bool, default=False
            Whether to name the landmarks behind the labels.
        most : int, default=3
            How many landmarks to name for a label.

        Returns
        -------
        tagged : Tagged

        Examples
        --------
        >>> import numpy as np
        >>> from splmll.datasets import Dataset
        >>> from splmll.tagging import Tagger
        >>> X = np.random.default_rng(0).normal(size=(80, 2))
        >>> data = Dataset(X, (X > 0).astype(int), ["x", "y"], ["right", "up"])
        >>> tagger = Tagger.fit(data, "SPL-MLL (linear)")
        >>> tagged = tagger.tag(np.array([[2.0, -2.0]]), explain=True)
        >>> tagged.labels.to_dict("records"), list(tagged.carriers[0])
        ([{'right': 1, 'up': 0}], ['right'])
        """
        model = self._landmark_model() if explain else self.pipeline[-1]
        features = self._features(self._checked(rows))
        found = score(model, features)
        carried = None
        if explain:
            carried = carriers(model, found, self.landmark_names, self.label_names, most)
        return Tagged(
            labels=self._frame(found.labels, rows),
            scores=self._frame(found.probabilities, rows),
            carriers=carried,
            without_words=without_words(self.pipeline, features),
        )

    def predict(self, rows: Any) -> pd.DataFrame:
        """Return the labels of rows, one column of 0 and 1 for each.

        Parameters
        ----------
        rows : DataFrame, array or sparse matrix
            The columns by name, in any order, possibly with others; or a matrix with the features
            in the order of ``feature_names``.

        Returns
        -------
        labels : DataFrame
            With the index of the rows.
        """
        return self._frame(dense(self.pipeline.predict(self._checked(rows))), rows)

    def tags(self, rows: Any) -> list[list[str]]:
        """Return the names of the labels of every row."""
        labels = self.predict(rows).to_numpy()
        return [[self.label_names[k] for k in np.flatnonzero(row)] for row in labels]

    def scores(self, rows: Any) -> pd.DataFrame:
        """Return the score of each label, from 0 to 1, one column per label.

        With a single threshold, a label is predicted from 0.5. Whether the numbers are
        probabilities depends on the method.
        """
        return self._frame(self.pipeline.predict_proba(self._checked(rows)), rows)

    def features(self, rows: Any) -> Any:
        """Return rows as the method, the last step of the pipeline, takes them.

        Parameters
        ----------
        rows : DataFrame, array or sparse matrix
            As in :meth:`predict`.

        Returns
        -------
        features : ndarray or CSR array of shape (n_rows, n_features)
        """
        return self._features(self._checked(rows))

    def evaluate(self, data: Dataset) -> Measured:
        """Measure on rows whose labels are known.

        Parameters
        ----------
        data : Dataset
            Its labels may be in another order, and fewer or more.

        Returns
        -------
        measured : Measured
        """
        X, Y, unknown = self._matched(data)
        method, features = self.pipeline[-1], self._features(X)
        return measure(
            Y,
            method.decision_function(features),
            method.predict(features),
            self.label_names,
            how=OTHER_ROWS,
            unknown=unknown,
        )

    # Landmarks -------------------------------------------------------------

    def explain(self, rows: Any, row: int = 0, *, only_predicted: bool = True) -> pd.DataFrame:
        """Return what the landmarks added to the labels of one row.

        Parameters
        ----------
        rows : DataFrame, array or sparse matrix
            As in :meth:`predict`.
        row : int, default=0
            Number of the row, counted from 0.
        only_predicted : bool, default=True
            Whether to leave out labels that are not predicted.

        Returns
        -------
        frame : DataFrame
            One line per label, best first: score, base, and one column per landmark.
        """
        n_rows = rows.shape[0]
        if not 0 <= row < n_rows:
            raise ValueError(
                f"There is no row {row}: there are {n_rows} rows; give 0 to {n_rows - 1}."
            )
        found = self._landmark_model().explain(
            self._features(self._checked(take_rows(rows, [row])))
        )
        named = Explanation(
            base=found.base,
            contributions=found.contributions,
            landmarks=np.asarray(self.landmark_names),
            labels=np.asarray(self.label_names),
            predicted=found.predicted,
        )
        return named.to_frame(only_predicted=only_predicted)

    def carriers(self, rows: Any, most: int = 3) -> Carriers:
        """Return for every row its labels and the landmarks behind each of them.

        Parameters
        ----------
        rows : DataFrame, array or sparse matrix
            As in :meth:`predict`.
        most : int, default=3
            How many landmarks to name for a label.

        Returns
        -------
        carriers : list of dict
            Predicted label -> landmark -> what it added to the score of the label, the landmark
            that changed it most first. The others only if they changed it by 0.01 or more.
        """
        found = self.tag(rows, explain=True, most=most).carriers
        assert found is not None
        return found

    def landmark_path(self, data: Dataset) -> LandmarkPath:
        """Return what each number of landmarks would achieve, measured out of fold.

        The embedding is learned again, so this takes as long as a fit.

        Parameters
        ----------
        data : Dataset
            Rows with labels, such as those the tagger learned from.

        Returns
        -------
        path : LandmarkPath
        """
        model = self._landmark_model()
        X, Y, _ = self._matched(data)
        return model.landmark_path(self._features(X), Y)

    @property
    def landmark_names(self) -> list[str]:
        """Names of the landmarks, those that explain most first."""
        return [self.label_names[int(k)] for k in self._landmark_model().landmarks_]

    def landmarks(self) -> pd.DataFrame:
        """Return the landmarks as a table, those that explain most first.

        Returns
        -------
        frame : DataFrame
            ``strength``, the share of the variance of all labels that the landmark explains in
            addition to those before it; its predictability and representativeness; and the other
            labels that it carries most ("not x" if it counts against x).
        """
        model = self._landmark_model()
        numbers = np.asarray(model.landmarks_, dtype=int)
        carried = []
        for weights, number in zip(model.landmark_weights_, numbers):
            others = weights.copy()
            others[number] = 0.0
            order = np.argsort(-np.abs(others), kind="stable")[:_MOST_CARRIED]
            carried.append(
                [
                    f"{'' if others[k] > 0 else 'not '}{self.label_names[k]}"
                    for k in order
                    if abs(others[k]) >= _LEAST_CARRIED
                ]
            )
        return pd.DataFrame(
            {
                "strength": model.landmark_strengths_,
                "predictability": model.predictability_[numbers],
                "representativeness": model.representativeness_[numbers],
                "carries": carried,
            },
            index=pd.Index(self.landmark_names, name="landmark", dtype=object),
        )

    def complete(self, rows: Any, known: Any) -> Tagged:
        """Return all labels, from the rows and the known labels.

        Parameters
        ----------
        rows : DataFrame, array or sparse matrix
            As in :meth:`predict`.
        known : DataFrame or array of shape (n_rows, n_labels)
            0 or 1, or NaN if a label is not known; a DataFrame may omit labels.

        Returns
        -------
        tagged : Tagged
            Known labels keep their values. Other labels are predicted from a score of 0.5 if the
            method has a single threshold.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from splmll.datasets import Dataset
        >>> from splmll.tagging import Tagger
        >>> X = np.random.default_rng(0).normal(size=(80, 2))
        >>> data = Dataset(X, (X > 0).astype(int), ["x", "y"], ["right", "up"])
        >>> tagger = Tagger.fit(data, "SPL-MLL (linear)")
        >>> known = pd.DataFrame({"up": [1]})
        >>> tagger.complete(np.array([[2.0, -2.0]]), known).labels.to_dict("records")
        [{'right': 1, 'up': 1}]
        """
        model = self._landmark_model()
        if isinstance(known, pd.DataFrame):
            check_columns(known.columns, self.label_names)
            known = known.reindex(columns=self.label_names).to_numpy(dtype=float)
        features = self.features(rows)
        return Tagged(
            labels=self._frame(dense(model.complete(features, known)), rows),
            scores=self._frame(model.complete(features, known, return_scores=True), rows),
            without_words=without_words(self.pipeline, features),
        )

    def recover(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Fill in all labels from answers about the landmarks alone.

        Parameters
        ----------
        answers : DataFrame
            One column for each landmark, 0 or 1; NaN if not known.

        Returns
        -------
        labels : DataFrame
            All labels; known landmarks keep their value.
        """
        model, known = self._landmark_model(), self._known_landmarks(answers)
        return self._frame(dense(model.recover(known)), answers)

    def recover_scores(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Return the scores of the labels that :meth:`recover` fills in, from 0 to 1.

        Parameters
        ----------
        answers : DataFrame
            As in :meth:`recover`.

        Returns
        -------
        scores : DataFrame
            Labels are predicted from 0.5; known landmarks are 0 or 1.
        """
        model, known = self._landmark_model(), self._known_landmarks(answers)
        return self._frame(model.completion_.probabilities(known), answers)

    def _known_landmarks(self, answers: pd.DataFrame) -> np.ndarray:
        check_columns(self.landmark_names, answers.columns)
        return answers[self.landmark_names].to_numpy(dtype=float)

    # Files -----------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tagger to a folder, or to a file that ends in ``.zip``."""
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        held["measured"] = {
            each.name: getattr(self.measured, each.name) for each in fields(Measured)
        }
        persistence.save({"holds": _MARK, **held}, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tagger:
        """Read a tagger written by :meth:`save`; no code from the file is run."""
        if Path(path).is_dir() and not (Path(path) / MANIFEST).exists():
            raise ModelFileError(
                f"{path}: there is no model in this folder. Give one written by `splmll fit` or "
                "Tagger.save()."
            )
        return cls.from_parts(load_parts(path), path)

    @classmethod
    def from_parts(cls, parts: Any, path: object) -> Tagger:
        """Return the tagger of which :meth:`save` has written these parts.

        Parameters
        ----------
        parts : dict
            What the file holds.
        path : object
            Where it was read from, for messages.

        Returns
        -------
        tagger : Tagger
        """
        held = dict(parts) if isinstance(parts, dict) else parts
        if not isinstance(held, dict) or held.pop("holds", None) != _MARK:
            raise ModelFileError(
                f"{path}: this model does not know its columns and labels. Make one that does "
                "with `splmll fit`, or in Python with Tagger.fit(...).save(path)."
            )
        try:
            # Earlier versions always held rows out, and named what they wrote accordingly.
            measured = Measured(**held.pop("held_out" if "held_out" in held else "measured"))
            tagger = cls(**held, measured=measured)
        except (TypeError, KeyError) as error:
            raise ModelFileError(f"{path}: the tagger in it is incomplete ({error}).") from error
        if not isinstance(tagger.pipeline, Pipeline):
            raise ModelFileError(f"{path}: the tagger in it has no pipeline.")
        if not is_reading(tagger.reading):
            raise ModelFileError(f"{path}: the tagger in it does not say how files are read.")
        return tagger

    # Pieces ----------------------------------------------------------------

    @property
    def has_landmarks(self) -> bool:
        """Whether the method explains and recovers labels by landmarks.

        Commands, checks and the service ask here.
        """
        return has_landmarks(self.pipeline[-1])

    def _landmark_model(self) -> SPLMLL:
        if not self.has_landmarks:
            raise ValueError(
                f"The method {self.method} of this model has no landmarks to explain and recover "
                f"labels; fit a model with the method {DEFAULT_METHOD}."
            )
        return self.pipeline[-1]

    def _features(self, rows: Any) -> Any:
        """Return checked rows as the method takes them."""
        for _, step in self.pipeline.steps[:-1]:
            rows = step.transform(rows)
        return rows

    def _matched(self, data: Dataset) -> tuple[Any, Any, list[str]]:
        """Return features, labels in the order of the tagger, and labels that it does not know."""
        position = {name: k for k, name in enumerate(self.label_names)}
        pairs = [(j, position[name]) for j, name in enumerate(data.label_names) if name in position]
        if not pairs:
            raise DatasetError(
                f"the model knows none of its labels, such as {data.label_names[0]!r}; give rows "
                f"with labels such as {self.label_names[0]!r}",
                path=data.name,
            )
        sources, targets = zip(*pairs)
        to_ours = sparse.csr_array(
            (np.ones(len(pairs), dtype=np.uint8), (sources, targets)),
            shape=(len(data.label_names), len(self.label_names)),
        )
        X = self._checked(in_order(data.X, data.feature_names, self.feature_names))
        unknown = [name for name in data.label_names if name not in position]
        if not has_unknown(data.Y):
            return X, data.Y @ to_ours, unknown
        Y = np.zeros((data.Y.shape[0], len(self.label_names)))
        Y[:, list(targets)] = data.Y[:, list(sources)]  # a product would spread what is unknown
        return X, Y, unknown

    def _checked(self, rows: Any) -> Any:
        return checked_rows(rows, self.feature_names, self.column_kinds)

    def _frame(self, values: np.ndarray, rows: Any) -> pd.DataFrame:
        index = rows.index if isinstance(rows, pd.DataFrame) else None
        return pd.DataFrame(values, index=index, columns=self.label_names)

    def __repr__(self) -> str:
        return (
            f"<Tagger {self.method}: {self.n_rows} rows, {len(self.feature_names)} features, "
            f"{len(self.label_names)} labels>"
        )


def check_enough_rows(data: Dataset) -> None:
    """Raise DatasetError if there are too few rows to learn from and to measure on."""
    n_rows = data.X.shape[0]
    if n_rows < MIN_ROWS:
        raise DatasetError(
            f"{n_rows} rows are too few to learn from some and measure on others; give at least "
            f"{MIN_ROWS}",
            path=data.name,
        )


def _check_takes_unknown(
    data: Dataset, estimator: Any, method: str, test_size: float | None
) -> None:
    """Refuse unknown labels if the method cannot handle them."""
    if test_size is not None:
        raise DatasetError(
            "some labels are not known, so rows cannot be held out by stratification; leave out "
            "--test-size (in Python test_size): SPL-MLL measures out of fold",
            path=data.name,
        )
    if not has_landmarks(estimator):
        raise DatasetError(
            f"some labels are not known, but {known_method(method)} needs all of them; fill them "
            f"in, or use the method {DEFAULT_METHOD}",
            path=data.name,
        )


class _Learning:
    """Fits pipelines to rows of one data set, and reports progress."""

    def __init__(
        self,
        data: Dataset,
        method: str,
        device: str | None,
        on_cost: Callable[[Cost], object] | None,
        on_progress: Progress | None,
    ) -> None:
        self.data, self.method, self.device = data, method, device
        self.on_cost, self.on_progress = on_cost, on_progress

    def fit(self, pipeline: Pipeline, X: Any, Y: Any, before: str = "") -> tuple[Any, Any]:
        """Fit a pipeline; return the features, and the out-of-fold scores of SPL-MLL."""

        def tell(what: str, share: float | None) -> None:
            if self.on_progress is not None:
                self.on_progress(before + what, share)

        *steps, (_, method) = pipeline.steps
        features = X
        if steps:
            # The features first: what the method costs depends on how many there are.
            words = "text" in self.data.column_kinds.values()
            tell("counting words" if words else "turning columns into features", None)
            try:
                features = pipeline[:-1].fit_transform(X, Y)
            except NoWordsError as error:
                raise DatasetError(
                    f"the column {error.column!r} {error.reason}; leave it out with --ignore "
                    f"{error.column} (in Python ignore=[{error.column!r}])",
                    path=self.data.name,
                ) from error
        if self.device is not None:
            n_labels = len(self.data.label_names)
            place_networks(method, self.method, self.device, features, n_labels)
        learns = f"{self.method} learns from {Y.shape[0]:,} rows"
        if not has_landmarks(method):
            tell(learns, None)
            method.fit(features, Y)
            return features, None
        cost = method.estimate_cost(features, Y)
        check_memory(cost)
        if self.on_cost is not None:
            self.on_cost(cost)
        tell(learns, None)
        return features, method.fit_out_of_fold(features, Y, on_progress=tell)


def wordless_column(pipeline: Pipeline, X: Any) -> str | None:
    """Return the text column, if there is one, from which no words can be taken.

    Parameters
    ----------
    pipeline : Pipeline
        As ``splmll.tagging.pipeline.build_pipeline`` makes it.
    X : DataFrame
        Its rows.
    """
    for _, words, columns in getattr(pipeline[0], "transformers", []):
        if isinstance(words, Words):
            try:
                clone(words).fit(X[columns])
            except NoWordsError as error:
                return error.column
    return None
