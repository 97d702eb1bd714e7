"""Tagger: a pipeline with what one has to know to use it on another day.

It knows its columns and labels by name, how well it did on rows it had not seen, and how to read
and write files like the one it learned from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from splmll import persistence
from splmll.datasets import Dataset
from splmll.exceptions import DatasetError
from splmll.landmarks import SPLMLL
from splmll.landmarks.cost import Cost, check_memory
from splmll.landmarks.explanation import Explanation
from splmll.landmarks.path import LandmarkPath
from splmll.model_selection import multilabel_train_test_split
from splmll.names import check_columns
from splmll.persistence import ModelFileError
from splmll.persistence.storage import MANIFEST
from splmll.tagging.measured import Measured, measure
from splmll.tagging.pipeline import (
    DEFAULT_METHOD,
    build_pipeline,
    known_method,
    place_networks,
)
from splmll.tagging.rows import checked_rows, dense, named_columns, take_rows

MIN_ROWS = 10  # fewer cannot be divided into rows to learn from and rows to measure on
_MARK = "splmll tagger 1"
_MOST_CARRIED = 3  # labels named beside a landmark ...
_LEAST_CARRIED = 0.05  # ... if it adds at least so much to their scores
_LEAST_ADDED = 0.01  # what a landmark adds to one score, to be named
_CELLS_AT_ONCE = 5_000_000  # numbers of an explanation that are in memory at the same time


@dataclass(frozen=True, eq=False, repr=False)
class Tagger:
    """A fitted pipeline that gives rows of a table their labels.

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
        How the labels stood in the file, see :func:`read_examples`.
    n_rows : int
        Number of rows it learned from.
    fit_seconds : float
        How long the last fit took, that on all rows.
    held_out : Measured
        How well a model did that learned from the other rows only.

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
    >>> tagger.held_out.measures["micro_f1"]
    1.0
    """

    pipeline: Pipeline
    method: str
    label_names: list[str]
    feature_names: list[str]
    column_kinds: dict[str, str]
    reading: dict[str, Any]
    n_rows: int
    fit_seconds: float
    held_out: Measured

    # Learning --------------------------------------------------------------

    @classmethod
    def fit(
        cls,
        data: Dataset,
        method: str = DEFAULT_METHOD,
        *,
        n_landmarks: int | None = None,
        threshold: float | str | None = None,
        test_size: float = 0.2,
        random_state: int = 0,
        n_jobs: int | None = None,
        device: str | None = None,
        settings: Mapping[str, Any] | None = None,
        reading: dict[str, Any] | None = None,
        on_cost: Callable[[Cost], object] | None = None,
    ) -> Tagger:
        """Learn twice: without the held-out rows, to measure on them, and then from all rows.

        The tagger is the second model. The measures are those of the first one, which saw fewer
        rows, so they are rather too low than too high.

        Parameters
        ----------
        data : Dataset
            Rows with labels.
        method, n_landmarks, threshold, random_state, n_jobs, device, settings
            See :func:`splmll.tagging.pipeline.build_pipeline`.
        test_size : float, default=0.2
            Share of the rows to hold out; they have the labels in the same proportions.
        reading : dict, optional
            What :func:`read_examples` returned, to read and write other files alike.
        on_cost : callable, optional
            Told what a fit of SPL-MLL will cost, each time before it begins. A fit that needs more
            memory than there is is refused.

        Returns
        -------
        tagger : Tagger
        """
        n_rows = data.X.shape[0]
        if n_rows < MIN_ROWS:
            raise DatasetError(
                f"{n_rows} rows are too few to learn from some and to measure on others; give at "
                f"least {MIN_ROWS}",
                path=data.name,
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
        )
        X = checked_rows(data.X, data.feature_names, data.column_kinds)
        X_train, X_test, Y_train, Y_test = multilabel_train_test_split(
            X, data.Y, test_size=test_size, random_state=random_state
        )
        name = known_method(method)

        def fitted(pipeline: Pipeline, X: Any, Y: Any) -> Pipeline:
            def prepare(estimator: Any, features: Any) -> None:
                if device is not None:
                    place_networks(estimator, name, device, features, len(data.label_names))

            return _fit(pipeline, X, Y, data.name, prepare, on_cost)

        first = fitted(clone(pipeline), X_train, Y_train)
        measured = measure(first, X_test, Y_test, data.label_names)
        started = perf_counter()
        fitted(pipeline, X, data.Y)
        return cls(
            pipeline=pipeline,
            method=name,
            label_names=list(data.label_names),
            feature_names=list(data.feature_names),
            column_kinds=dict(data.column_kinds),
            reading=dict(reading or {}),
            n_rows=n_rows,
            fit_seconds=perf_counter() - started,
            held_out=measured,
        )

    # Using -----------------------------------------------------------------

    def predict(self, rows: Any) -> pd.DataFrame:
        """Return the labels of rows, one column of 0 and 1 for each.

        Parameters
        ----------
        rows : DataFrame, array or sparse matrix
            The columns by name, in any order and with others between; or a matrix with the
            features in the order of ``feature_names``.

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
        """Return how sure each label is, from 0 to 1, one column for each.

        With a single threshold a label is predicted from 0.5 on. Whether the numbers are
        probabilities depends on the method.
        """
        return self._frame(self.pipeline.predict_proba(self._checked(rows)), rows)

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
        return measure(self.pipeline, X, Y, self.label_names, unknown)

    # Landmarks -------------------------------------------------------------

    def explain(self, rows: Any, row: int = 0, *, only_predicted: bool = True) -> pd.DataFrame:
        """Return which landmarks carried which label of one row.

        Parameters
        ----------
        rows : DataFrame, array or sparse matrix
            As in :meth:`predict`.
        row : int, default=0
            Number of the row, from 0.
        only_predicted : bool, default=True
            Whether to leave out labels that are not predicted.

        Returns
        -------
        frame : DataFrame
            One line per label, best first: score, base, and one column per landmark.
        """
        n_rows = rows.shape[0]
        if not 0 <= row < n_rows:
            raise ValueError(f"There is no row {row} in {n_rows} rows; give 0 to {n_rows - 1}.")
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

    def carriers(self, rows: Any, most: int = 3) -> list[dict[str, dict[str, float]]]:
        """Return for every row its labels and the landmarks that carried each of them.

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
        model = self._landmark_model()
        names = np.asarray(self.landmark_names, dtype=object)
        X = self._features(self._checked(rows))
        at_once = max(1, _CELLS_AT_ONCE // max(1, len(names) * len(self.label_names)))
        carriers: list[dict[str, dict[str, float]]] = []
        for start in range(0, X.shape[0], at_once):
            found = model.explain(X[start : start + at_once])
            for added, predicted in zip(found.contributions, found.predicted):
                labels = np.flatnonzero(predicted)
                order = np.argsort(-np.abs(added[:, labels]), axis=0, kind="stable")[:most]
                carriers.append(
                    {
                        self.label_names[label]: {
                            names[place]: float(added[place, label])
                            for rank, place in enumerate(column)
                            if rank == 0 or abs(added[place, label]) >= _LEAST_ADDED
                        }
                        for label, column in zip(labels, order.T)
                    }
                )
        return carriers

    def landmark_path(self, data: Dataset) -> LandmarkPath:
        """Return what each number of landmarks would achieve, measured out of fold.

        The embedding is learned anew, so it takes as long as a fit.

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
            ``strength``, the share of the variance of all labels that the landmark adds to those
            before it; its predictability and representativeness; and the other labels that it
            carries most ("not x" where it speaks against x).
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

    def recover(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Complete all labels where people looked only at the landmarks.

        Parameters
        ----------
        answers : DataFrame
            One column for each landmark, 0 or 1; NaN where nobody looked.

        Returns
        -------
        labels : DataFrame
            All labels; known landmarks keep their value.
        """
        model = self._landmark_model()
        check_columns(self.landmark_names, answers.columns)
        known = answers[self.landmark_names].to_numpy(dtype=float)
        return self._frame(dense(model.recover(known)), answers)

    # Files -----------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tagger to a folder, or to a file that ends in ``.zip``."""
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        held["held_out"] = {
            each.name: getattr(self.held_out, each.name) for each in fields(Measured)
        }
        persistence.save({"holds": _MARK, **held}, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tagger:
        """Read a tagger that :meth:`save` has written; nothing from the file is executed."""
        if Path(path).is_dir() and not (Path(path) / MANIFEST).exists():
            raise ModelFileError(
                f"{path}: there is no model in this folder. Give the one that `splmll fit` wrote, "
                "or Tagger.save()."
            )
        held = persistence.load(path)
        if not isinstance(held, dict) or held.pop("holds", None) != _MARK:
            raise ModelFileError(
                f"{path}: this model knows nothing of columns and labels. Make one that does with "
                "`splmll fit`, or in Python with Tagger.fit(...).save(path)."
            )
        try:
            measured = Measured(**held.pop("held_out"))
            tagger = cls(**held, held_out=measured)
        except (TypeError, KeyError) as error:
            raise ModelFileError(f"{path}: the tagger in it is incomplete ({error}).") from error
        if not isinstance(tagger.pipeline, Pipeline):
            raise ModelFileError(f"{path}: the tagger in it has no pipeline.")
        return tagger

    # Pieces ----------------------------------------------------------------

    @property
    def has_landmarks(self) -> bool:
        """Whether the method explains and recovers labels by landmarks.

        The one test of it: commands, checks and the service ask here.
        """
        return isinstance(self.pipeline[-1], SPLMLL)

    def _landmark_model(self) -> SPLMLL:
        if not self.has_landmarks:
            raise ValueError(
                f"The method {self.method} of this model has no landmarks that explain and recover "
                f"labels; fit one with the method {DEFAULT_METHOD}."
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
                "none of its labels is one that the model knows, for instance "
                f"{data.label_names[0]!r} is not; give rows with labels such as "
                f"{self.label_names[0]!r}",
                path=data.name,
            )
        sources, targets = zip(*pairs)
        to_ours = sparse.csr_array(
            (np.ones(len(pairs), dtype=np.uint8), (sources, targets)),
            shape=(len(data.label_names), len(self.label_names)),
        )
        X = checked_rows(
            named_columns(data.X, data.feature_names), self.feature_names, self.column_kinds
        )
        unknown = [name for name in data.label_names if name not in position]
        return X, data.Y @ to_ours, unknown

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


def _fit(
    pipeline: Pipeline,
    X: Any,
    Y: Any,
    name: str,
    prepare: Callable[[Any, Any], object],
    on_cost: Callable[[Cost], object] | None,
) -> Pipeline:
    *steps, (_, method) = pipeline.steps
    try:
        # The features first: what the method costs depends on how many there are.
        features = pipeline[:-1].fit_transform(X, Y) if steps else X
    except ValueError as error:
        wordless = wordless_column(pipeline, X)
        if wordless is None:
            raise
        raise DatasetError(
            f"the column {wordless!r} has no word that occurs in several rows; leave it out with "
            f"--ignore {wordless} (in Python ignore=[{wordless!r}])",
            path=name,
        ) from error
    prepare(method, features)
    if isinstance(method, SPLMLL):
        cost = method.estimate_cost(features, Y)
        check_memory(cost)
        if on_cost is not None:
            on_cost(cost)
    method.fit(features, Y)
    return pipeline


def wordless_column(pipeline: Pipeline, X: Any) -> str | None:
    """Return the text column, if there is one, from which no words can be taken.

    Parameters
    ----------
    pipeline : Pipeline
        As :func:`splmll.tagging.pipeline.build_pipeline` makes it.
    X : DataFrame
        Its rows.
    """
    steps = getattr(pipeline[0], "transformers", [])
    for vectorizer, column in (step[1:] for step in steps if step[0].startswith("text")):
        try:
            clone(vectorizer).fit(X[column])
        except ValueError:
            return str(column)
    return None
