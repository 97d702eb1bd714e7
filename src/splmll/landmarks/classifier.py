"""SPLMLL, the estimator: select predictable landmarks, predict them, recover all labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from splmll.arrays import (
    dense,
    forget,
    is_polars,
    is_torch_dataset,
    is_torch_module,
    n_rows,
    take_rows,
)
from splmll.base import Capabilities
from splmll.callbacks import CallbackSupportMixin, FitProgress, with_callbacks
from splmll.constraints import COUNT, N_JOBS, RANDOM_STATE, SHARE, Choice, Range
from splmll.docstrings import with_paragraphs
from splmll.embeddings import (
    EMBEDDING_NAMES,
    Embedding,
    FitContext,
    automatic_embedding,
    embedding_of,
)
from splmll.embeddings.automatic import left_out_networks
from splmll.embeddings.linear import Linear
from splmll.embeddings.stochastic import Stochastic
from splmll.embeddings.wide_ridge import choose_solver
from splmll.labels import is_tags, read_labels, refuse_tags
from splmll.landmarks import out_of_core, passes
from splmll.landmarks.annotation_path import COUNTS as PATH_COUNTS
from splmll.landmarks.annotation_path import AnnotationPath, follow_path
from splmll.landmarks.answering import AnswerModel
from splmll.landmarks.asking import Questions
from splmll.landmarks.auditing import first_look, probabilities_of, probability_of_truth, suspects
from splmll.landmarks.completion import Completion
from splmll.landmarks.cost import Cost, estimate_cost
from splmll.landmarks.explanation import Explanation
from splmll.landmarks.folds import LARGE_ROWS
from splmll.landmarks.label_moments import LabelMoments, label_sums, varying_labels
from splmll.landmarks.learning import Evidence, Landmarks, Learner, counts_up_to
from splmll.landmarks.out_of_fold import OutOfFold
from splmll.landmarks.path import LandmarkPath
from splmll.landmarks.prediction import BlockPrediction
from splmll.landmarks.row_order import order_of_rows
from splmll.landmarks.screening import screened
from splmll.landmarks.splitting import given_folds, is_number, number_of_folds, stratified_folds
from splmll.landmarks.worth import worth_after_recovery
from splmll.metrics import MEASURES, evaluate
from splmll.progress import Progress, ProgressLine, Stages
from splmll.sample_weights import checked_weights
from splmll.statistics import sum_of
from splmll.thresholds import MIN_ROWS, THRESHOLD_CONSTRAINT, GlobalThreshold, fit_threshold

FOLDS = 5  # cv="auto", unless the embedding is content with fewer
SLOPE_ROWS = 2000  # rows on which the slope of the probabilities is fitted
SLOPE_CELLS = 2**22  # labels of those rows, where labels are very many
# Shares of the work of a fit, for whoever watches it: out-of-fold predictions, choices, and models
# of all rows.
PREDICTING, CHOOSING, FINISHING = (0.0, 0.7), (0.7, 0.8), (0.8, 1.0)
PATH_ROWS = 1000  # rows that an annotation path asks about
PLAIN_SLOPE = 4.0  # probabilities follow scores with slope 1 around the threshold


def _learns_from_sums(estimator: Any) -> bool:
    if not estimator.is_linear:
        raise AttributeError(
            f'Learning from sums over rows needs embedding="linear", not {estimator.embedding!r}.'
        )
    return True


def _learns_from_batches(estimator: Any) -> bool:
    if not (estimator.is_linear or estimator.is_stochastic or _is_auto(estimator.embedding)):
        raise AttributeError(
            'Learning from batches needs embedding="linear", "sgd" or "auto", not '
            f"{estimator.embedding!r}."
        )
    return True


def _is_auto(embedding: Any) -> bool:
    return isinstance(embedding, str) and embedding == "auto"


@with_paragraphs
class SPLMLL(CallbackSupportMixin, TransformerMixin, BlockPrediction):
    r"""Selecting Predictable Landmarks for Multi-Label Learning.

    Some labels are easy to predict from the input, and some labels say a lot about others. A label
    that is both is a *landmark*. SPL-MLL [1]_ chooses the landmarks, predicts them, and recovers
    every label from their predictions. This estimator minimises the honest form of its objective:

    .. math:: J(M) = \tfrac1n \|Y - F M\|^2 + \rho \|M - P\|^2

    F holds the *embedding*'s predictions for rows it has not seen, only a few rows of M are
    nonzero, and P encodes "a landmark keeps its own prediction". The nonzero rows of M are the
    landmarks (the paper's B), and their values recover all labels (the paper's A). A label becomes
    a landmark if its *prediction* helps to recover all labels; it is then both predictable and
    representative.

    **Nothing is lost.** The number of landmarks, and how strongly predictions are combined, are
    chosen out of fold. If every label is needed, all are kept; if combining predictions does not
    help, every label keeps its own prediction.

    **One set of fits.** The same folds give the predictions F, the recovery, the thresholds, the
    choice of everything above, and honest measures of the whole model (``measures_``).

    The system as published, with Algorithm 1, is :class:`splmll.published.PublishedSPLMLL`;
    :meth:`as_published` returns it.

    Parameters
    ----------
    embedding : "auto", str, Embedding, list, torch module, classifier or regressor, default="auto"
        f(x). "auto" looks at the features: linear classifiers for sparse or very wide features, a
        blend of network, kernel and trees for dense ones; ``embedding_`` shows the choice. Names
        are "linear", "svm", "sgd", "kernel", "mlp", "trees" and "blend"; objects from
        :mod:`splmll.embeddings` have their own parameters (``embedding__dropout`` in a search). A
        list is a blend, a torch module is trained end to end, and any classifier or regressor is
        fitted once per label.
    n_landmarks : int, float or None, default=None
        The exact number of landmarks, or their share of the labels. None keeps the smallest number
        that loses nothing out of fold: within one standard error, or .005, it is no worse than the
        best number in ``scoring``, no worse than all labels in average precision, ranking loss,
        micro-F1 and macro-F1, and no worse than the embedding alone. If less than a quarter of the
        labels, or fewer than three, could be dropped, all are kept.
    pull : float or "auto", default="auto"
        How strongly every landmark keeps its own prediction; with ``inf``, nothing is combined.
        "auto" chooses out of fold, and the embedding alone is one of the choices.
    scoring : str, default="average_precision"
        The measure used for all choices, a name in :data:`splmll.metrics.MEASURES`.
    threshold : float or str, default="micro_f1"
        How scores become labels: a number, or a rule from :data:`splmll.thresholds.RULES` tuned on
        out-of-fold scores ("micro_f1", "macro_f1", "hamming", "jaccard", "per_label",
        "cardinality", "top_r", "linear").
    cv : int, "auto", splitter or iterable of (train, test), default="auto"
        Number of folds, stratified by labels; "auto" is 5, or 3 if one model is fitted per label.
        Or a scikit-learn splitter, or pairs of training and test rows: every row must be tested
        exactly once, by a model of all other rows.
    warm_start : bool, default=False
        Whether networks start from those of the previous fit.
    {random_state}
    n_jobs : int or None, default=None
        Number of models fitted in parallel, through joblib.
    verbose : bool or int, default=False
        Show the progress of a fit, also in a notebook, and print ``summary_`` at the end.

    Attributes
    ----------
    embedding_ : Embedding
        The fitted embedding; it predicts the landmarks only.
    landmarks_ : ndarray
        Names of the landmarks (numbers if labels have no names), the strongest first.
    recovery_ : ndarray of shape (n_landmarks, n_labels)
        The nonzero rows of M: the weight of each landmark's prediction in the score of each label.
    selection_ : ndarray of shape (n_labels,)
        1 where a label is a landmark, else 0.
    landmark_strengths_ : ndarray of shape (n_landmarks,)
        Share of the variance of all labels that each landmark adds to those before it.
    predictability_ : ndarray of shape (n_labels,)
        Share of each label's variance that its own prediction explains out of fold.
    representativeness_ : ndarray of shape (n_labels,)
        Share of the variance of all labels that each label alone would explain if it were known.
    path_ : DataFrame
        Measures of every number of landmarks that was looked at, out of fold.
    measures_ : DataFrame
        Out-of-fold measures of the embedding alone and of the model.
    summary_ : str
        A summary of the fit in a few sentences.
    pull_ : float
        The pull given or chosen.
    intercept_ : ndarray of shape (n_labels,)
        Score of every label before any landmark speaks.
    thresholds_ : ndarray of shape (n_labels,)
        Score from which a label is predicted (NaN for rules without thresholds).
    offset_ : float
        Zero point of ``decision_function``.
    probability_slope_ : float
        Slope of the logistic curve that turns decisions into probabilities.
    {names_}

    References
    ----------
    {paper}

    Examples
    --------
    >>> from splmll import SPLMLL, evaluate, load_dataset
    >>> X, Y, X_test, Y_test = load_dataset("yeast").split()
    >>> model = SPLMLL("linear", n_landmarks=8, random_state=0).fit(X, Y)
    >>> len(model.landmarks_)
    8
    >>> measures = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    >>> measures["ranking_loss"] < 0.18
    True
    """

    capabilities = Capabilities(
        sparse_labels=True,
        unknown_labels=True,
        landmarks=True,
        sample_weight=True,
        cost="the embedding's, then n_labels^3",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "embedding": "no_validation",  # embedding_of names what may be given
        "n_landmarks": [COUNT, SHARE, None],
        "pull": [Range(Real, 0, None, closed="both"), Choice("auto")],
        "scoring": [Choice(*MEASURES)],
        "threshold": THRESHOLD_CONSTRAINT,
        "cv": [
            Range(Integral, 2, None, closed="left"),
            Choice("auto"),
            HasMethods(["split", "get_n_splits"]),
            "array-like",
            HasMethods(["__next__"]),
        ],
        "warm_start": ["boolean"],
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    embedding_: Embedding
    learned_: Landmarks

    def __init__(
        self,
        embedding: Any = "auto",
        *,
        n_landmarks: int | float | None = None,
        pull: float | str = "auto",
        scoring: str = "average_precision",
        threshold: float | str = "micro_f1",
        cv: Any = "auto",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.embedding = embedding
        self.n_landmarks = n_landmarks
        self.pull = pull
        self.scoring = scoring
        self.threshold = threshold
        self.cv = cv
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def as_published(cls, linear: bool = False, **changes: Any) -> Any:
        """Return the system of the paper, which is a separate estimator.

        Parameters
        ----------
        linear : bool, default=False
            The paper's "Ours (linear)": a linear map in place of the network.
        **changes : dict
            Parameters of :class:`splmll.published.PublishedSPLMLL` to change.

        Returns
        -------
        estimator : PublishedSPLMLL

        Examples
        --------
        >>> from splmll import SPLMLL
        >>> type(SPLMLL.as_published()).__name__
        'PublishedSPLMLL'
        """
        from splmll.published import PublishedSPLMLL

        return PublishedSPLMLL(linear=linear, **changes)

    def set_params(self, **params: Any) -> SPLMLL:
        """Set parameters; those of the embedding as ``embedding__dropout``, even if it is a name.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self : SPLMLL

        Examples
        --------
        >>> from splmll import SPLMLL
        >>> SPLMLL("linear").set_params(embedding__ridge=0.1)
        SPLMLL(embedding=Linear(ridge=0.1))
        """
        if any(name.startswith("embedding__") for name in params):
            kind = params.get("embedding", self.embedding)
            if isinstance(kind, str) and kind == "auto":
                raise ValueError(
                    'embedding="auto" has no parameters before it has seen the data: name the '
                    f"embedding first, one of {', '.join(map(repr, EMBEDDING_NAMES))}."
                )
            if not hasattr(kind, "set_params"):
                params = {**params, "embedding": embedding_of(kind)}
        super().set_params(**params)
        return self

    # Learning -----------------------------------------------------------------------------------

    @with_callbacks
    def fit(
        self, X: Any, Y: Any = None, *, sample_weight: Any = None, groups: Any = None
    ) -> SPLMLL:
        """Learn to predict labels, select the landmarks and learn to recover all labels from them.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features. With a torch module as embedding, also an array with more dimensions (images)
            or a torch Dataset. With a linear embedding, also Dask arrays and data frames.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels; NaN means not known. May be omitted only if X is a torch Dataset of
            (features, labels) pairs.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in the embedding, if it can use them, in the recovery, and in
            everything chosen out of fold. A row of weight 2 counts like two rows; a row of weight 0
            is left out.
        groups : array-like of shape (n_rows,), optional
            The group of each row: rows of a group are in the same fold. Passed to ``cv`` if it is a
            splitter.

        Returns
        -------
        self : SPLMLL

        Examples
        --------
        >>> import numpy as np
        >>> from splmll import SPLMLL
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 4))
        >>> Y = (X[:, :3] + rng.normal(size=(300, 3)) > 1.5).astype(int)
        >>> plain = SPLMLL("linear", random_state=0).fit(X, Y)
        >>> weights = np.where(Y.any(axis=1), 3.0, 1.0)
        >>> weighted = SPLMLL("linear", random_state=0).fit(X, Y, sample_weight=weights)
        >>> bool(weighted.transform(X).mean() > plain.transform(X).mean())
        True
        """
        self._check_parameters()
        if hasattr(X, "__dask_graph__"):
            from splmll.landmarks.distributed import fit_distributed

            if sample_weight is not None or groups is not None:
                raise ValueError(
                    "A fit on Dask collections accepts neither sample_weight nor groups: leave "
                    "them out, or pass the rows in memory."
                )
            return fit_distributed(self, X, Y)
        self._fit_rows(X, Y, None, sample_weight, groups)
        return self

    @with_callbacks
    def fit_out_of_fold(
        self,
        X: Any,
        Y: Any = None,
        on_progress: Progress | None = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> OutOfFold:
        """Learn as :meth:`fit` does, and return predictions of models that had not seen the rows.

        Parameters
        ----------
        X, Y : as for :meth:`fit`
            Features and labels.
        on_progress : callable, optional
            Called with what is being done and the share that is done, from 0 to 1:
            ``on_progress("linear classifiers", 0.25)``.
        sample_weight, groups : array-like of shape (n_rows,), optional
            As for :meth:`fit`.

        Returns
        -------
        out_of_fold : OutOfFold
            Gives honest measures of the model, with no rows held out.
        """
        self._check_parameters()
        return self._fit_rows(X, Y, on_progress, sample_weight, groups)

    def _fit_rows(
        self, X: Any, Y: Any, on_progress: Progress | None, sample_weight: Any, groups: Any
    ) -> OutOfFold:
        if not self.verbose or on_progress is not None:
            return self._fit_quietly(X, Y, on_progress, sample_weight, groups)
        with ProgressLine() as line:
            found = self._fit_quietly(X, Y, line, sample_weight, groups)
        print(self.summary_)
        return found

    def _fit_quietly(
        self, X: Any, Y: Any, on_progress: Progress | None, sample_weight: Any, groups: Any
    ) -> OutOfFold:
        plain = sample_weight is None and groups is None
        if plain and self._comes_in_chunks(X):
            return self._fit_chunks(X, Y)
        before = self._width() if self.warm_start and hasattr(self, "embedding_") else None
        X, Y = self._check_fit(X, Y)
        if before is not None and before != self._width():
            raise ValueError(
                "warm_start=True continues the previous fit, which had {} labels and {} "
                "features; these rows have {} and {}. Set warm_start=False to start over.".format(
                    *before, *self._width()
                )
            )
        embedding = self._make_embedding(X)
        seed = embedding.agreed_seed(self._seed())
        weights = None if sample_weight is None else checked_weights(sample_weight, X)
        if weights is not None:
            embedding.check_weights()
        with FitProgress(self, X, Y) as progress:
            X, Y, weights, fold = self._dealt(X, Y, weights, groups, seed, embedding)
            varying = varying_labels(Y)
            parts = label_sums(Y, fold, weights)
            moments, alone = LabelMoments(sum_of(parts)), embedding.one_per_label
            candidates = moments.candidates(varying, one_per_label=alone)
            stages = Stages(on_progress)
            stages.begin(*PREDICTING)
            if alone:
                candidates = screened(X, Y, fold, candidates, self._budget(), seed, weights)
            targets = Y if len(candidates) == Y.shape[1] else Y[:, candidates]
            context = replace(self._context(seed, progress, stages), sample_weight=weights)
            embedding.fit(X, targets, fold, context)
            judged = out_of_core.judged_rows(Y.shape[0], Y.shape[1], seed, weights)
            evidence = Evidence.of_rows(
                embedding.out_of_fold_, Y, fold, candidates, varying, judged, seed, weights
            )
            found = self._learn(embedding, evidence, parts, X, targets, stages)
        self._forget_stream()
        return found

    @available_if(_learns_from_sums)
    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> SPLMLL:
        """Add rows to a linear model: sums add up, so chunks give the same model as one fit.

        Rows are assigned to folds by their numbers, as ``fit`` does beyond 25,000 rows. Choices
        made out of fold need scores, not sums, and are made on a uniform random sample of the rows
        seen so far.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of the new rows.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels)
            Labels of the new rows, the same labels every time.
        classes : array-like, optional
            The two values of a 1-D target, if the first chunk may lack one of them.

        Returns
        -------
        self : SPLMLL
        """
        self._check_parameters()
        self._stream = self._add(getattr(self, "_stream", None), X, Y, classes)
        return self.learn_from(self._stream)

    @available_if(_learns_from_batches)
    def fit_batches(self, batches: Any, classes: Any = None) -> SPLMLL:
        """Learn from batches of rows, for data that do not fit into memory.

        Up to 25,000 rows are collected and fitted together, unless the embedding is "sgd". Beyond
        that, "linear" keeps only sums over the rows and a sample of them, in one pass, and the
        model is that of :meth:`fit` on all rows. "sgd" learns by stochastic gradient descent, in
        several passes if the batches can be read again; it accepts wide sparse rows. "auto" uses
        "sgd" for rows that are sparse or too wide for sums, and "linear" for others.

        Parameters
        ----------
        batches : iterable of (X, Y) pairs, or callable that returns one
            Features and labels of some rows at a time, such as
            :func:`splmll.datasets.batches.read_batches` gives for files and folders. Y has a column
            for every label in every batch. An iterator is read once; a list or a callable as often
            as needed.
        classes : array-like, optional
            The two values of a 1-D target, if a batch may lack one of them.

        Returns
        -------
        self : SPLMLL

        Examples
        --------
        >>> import numpy as np
        >>> from splmll import SPLMLL
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(600, 4))
        >>> Y = (X[:, :3] + rng.normal(size=(600, 3)) > 0).astype(int)
        >>> batches = [(X[i : i + 100], Y[i : i + 100]) for i in range(0, 600, 100)]
        >>> model = SPLMLL("linear", random_state=0).fit_batches(batches)
        >>> whole = SPLMLL("linear", random_state=0).fit(X, Y)
        >>> bool(np.allclose(model.decision_function(X), whole.decision_function(X)))
        True
        >>> SPLMLL("sgd", random_state=0).fit_batches(batches).score(X, Y) > 0.2
        True
        """
        self.fit_batches_out_of_fold(batches, classes)
        return self

    @available_if(_learns_from_batches)
    def fit_batches_out_of_fold(self, batches: Any, classes: Any = None) -> OutOfFold:
        """Learn as :meth:`fit_batches` does, and return predictions of unseen rows.

        Parameters
        ----------
        batches, classes : as for :meth:`fit_batches`
            Features and labels of some rows at a time.

        Returns
        -------
        out_of_fold : OutOfFold
            Of all rows, or of a uniform sample of them.
        """
        self._check_parameters()
        first, again = passes.beginnings(batches)
        if self.is_stochastic:
            return self._fit_in_passes(embedding_of(self.embedding), first, again, classes)
        whole, chunks = out_of_core.gathered(first)
        if whole is not None:
            return self.fit_out_of_fold(*whole)
        if not self.is_linear:
            X, Y = next(chunks)
            chunks = chain([(X, Y)], chunks)
            if sparse.issparse(X) or out_of_core.is_too_wide(X.shape[1], FOLDS):
                return self._fit_in_passes(Stochastic(), chunks, again, classes)
        stream = None
        for X, Y in chunks:
            stream = self._add(stream, X, Y, classes)
        assert stream is not None
        found = self._learn_from(stream)
        self._forget_stream()
        return found

    def begin_stream(self, X: Any, Y: Any, classes: Any = None) -> dict[str, Any]:
        """Look at the first rows of a stream and return the settings of its parts.

        For streams that are kept elsewhere, such as one for each block of a cluster's data:
        ``Stream(**settings)`` with these settings, their rows added, merged, and handed to
        :meth:`learn_from`.

        Parameters
        ----------
        X, Y : array-like, sparse matrix or DataFrame
            Some rows.
        classes : array-like, optional
            The two values of a 1-D target, if these rows may lack one of them.

        Returns
        -------
        settings : dict
        """
        n_features = self._begin(X, Y, classes)
        n_folds = self._n_folds(Linear())
        out_of_core.check_width(n_features, n_folds)
        return {
            "n_features": n_features,
            "n_labels": self.label_format_.n_labels,
            "n_folds": n_folds,
            "seed": self._seed(),
        }

    def learn_from(self, stream: out_of_core.Stream) -> SPLMLL:
        """Learn a linear model from sums over rows that are no longer available.

        Parameters
        ----------
        stream : Stream
            Sums over the rows and a sample of them; :meth:`begin_stream` gives its settings.

        Returns
        -------
        self : SPLMLL
        """
        self._learn_from(stream)
        return self

    def _learn_from(self, stream: out_of_core.Stream) -> OutOfFold:
        embedding = embedding_of(self.embedding if self.is_linear else "linear")
        varying = stream.varying()
        total = sum_of(stream.folds)
        candidates = LabelMoments(total.labels_only()).candidates(varying)
        parts = stream.folds
        if len(candidates) < len(varying):
            parts = [part.of_labels(candidates) for part in parts]
        assert isinstance(embedding, Linear)
        embedding.fit_statistics(parts, sparse_rows=stream.sparse_rows)
        X, Y, fold = stream.sample()
        maps = embedding.fold_maps_
        sums = [part.mapped(W) for part, W in zip(stream.folds, maps, strict=True)]
        evidence = Evidence(
            candidates=candidates,
            F=embedding.predict_folds(X, fold),
            Y=Y,
            fold=fold,
            varying=varying,
            sums=lambda softness, lean: sums,
            may_soften=False,
            seed=stream.seed,
        )
        label_parts = [part.labels_only() for part in stream.folds]
        return self._learn(embedding, evidence, label_parts, None, None, Stages(None))

    # Pieces of learning -------------------------------------------------------------------------

    def _learn(
        self,
        embedding: Embedding,
        evidence: Evidence,
        label_parts: Any,
        X: Any,
        targets: Any,
        stages: Stages,
    ) -> OutOfFold:
        """Landmarks, recovery, threshold: everything that follows from out-of-fold predictions."""
        stages.begin(*CHOOSING)
        stages("landmarks and recovery", 0.0)
        learner = self._learner(evidence)
        learned, scores = learner.learn(self._budget())
        stages.begin(*FINISHING)
        embedding.finish(X, targets, learned.outputs)
        self.embedding_, self.learned_ = embedding, learned
        self.representativeness_ = LabelMoments(sum_of(label_parts)).representativeness()
        self.probability_slope_ = PLAIN_SLOPE
        if isinstance(self.threshold, str):
            self._set_threshold(fit_threshold(self.threshold, evidence.Y, scores))
            self.probability_slope_ = probability_slope(evidence.Y, scores - self.offset_)
        else:
            self._set_threshold(GlobalThreshold(float(self.threshold)))
        self.completion_ = Completion.learned(
            label_parts,
            learned.labels,
            evidence.Y,
            evidence.fold,
            self.threshold,
            self.threshold_,
        )
        self.answer_model_ = AnswerModel.learned(
            scores,
            evidence.Y,
            evidence.fold,
            learned.labels,
            self.threshold,
            self.threshold_,
            self.probability_slope_,
        )
        stages("done", 1.0)
        return OutOfFold(evidence.Y, scores, learner.as_they_are(evidence.F), self.threshold)

    def _make_embedding(self, X: Any) -> Embedding:
        if isinstance(self.embedding, str) and self.embedding == "auto":
            embedding = automatic_embedding(X, self.label_format_.n_labels)
        else:
            embedding = embedding_of(self.embedding)
        embedding.check()
        return embedding

    def _context(self, seed: int, progress: FitProgress, on_progress: Progress) -> FitContext:
        previous = getattr(self, "embedding_", None) if self.warm_start else None
        if not progress.active:
            return FitContext(seed, self.n_jobs, None, previous, on_progress, worth_after_recovery)

        def report(fold: int, epochs: int, snapshot: Any) -> bool:
            return progress.epoch(fold, epochs, lambda: self._state_with(snapshot()))

        # Callbacks live in this process, so networks are trained here.
        return FitContext(seed, None, report, previous, on_progress, worth_after_recovery)

    def _state_with(self, f: Embedding) -> dict[str, Any]:
        """The fitted attributes that prediction would need if training stopped now."""
        labels = np.arange(self.label_format_.n_labels)
        threshold = GlobalThreshold(0.5 if isinstance(self.threshold, str) else self.threshold)
        return {
            "embedding_": f,
            "learned_": Landmarks.unmixed(labels, np.zeros(len(labels))),
            "label_format_": self.label_format_,
            "classes_": self.classes_,
            "n_features_in_": getattr(self, "n_features_in_", None),
            "probability_slope_": PLAIN_SLOPE,
            "threshold_": threshold,
            "thresholds_": threshold.per_label(len(labels)),
            "offset_": threshold.offset,
        }

    def _budget(self) -> int | None:
        n_labels = self.label_format_.n_labels
        if self.n_landmarks is None:
            return None
        if isinstance(self.n_landmarks, Integral):
            budget = int(self.n_landmarks)
        else:
            budget = max(1, round(float(self.n_landmarks) * n_labels))
        if budget > n_labels:
            raise ValueError(
                f"n_landmarks={self.n_landmarks} asks for {budget} landmarks, but there are "
                f"{n_labels} labels: give a number from 1 to {n_labels}, or a share up to 1.0."
            )
        return budget

    def _n_folds(self, embedding: Embedding) -> int:
        if not is_number(self.cv):
            raise ValueError(
                "Rows that come in chunks are assigned to folds by their numbers: give cv as a "
                "number of folds, or fit all rows at once."
            )
        return number_of_folds(self.cv, int(getattr(embedding, "preferred_folds", FOLDS)))

    def _folds(self, X: Any, Y: Any, groups: Any, seed: int, embedding: Embedding) -> np.ndarray:
        """Return the fold number of every row."""
        if is_number(self.cv):
            return stratified_folds(Y, self._n_folds(embedding), seed, groups)
        return given_folds(self.cv, X, Y, groups)

    def _dealt(
        self,
        X: Any,
        Y: Any,
        weights: np.ndarray | None,
        groups: Any,
        seed: int,
        embedding: Embedding,
    ) -> tuple[Any, Any, np.ndarray | None, np.ndarray]:
        """Return the rows that count, their weights and their folds."""
        if weights is None or weights.all():
            return X, Y, weights, self._folds(X, Y, groups, seed, embedding)
        if is_torch_dataset(X):
            raise ValueError("Leave rows of weight 0 out of the torch Dataset and of the weights.")
        kept = np.flatnonzero(weights)
        if is_number(self.cv) or hasattr(self.cv, "split"):
            # Folds are those of the same rows without the others.
            X, Y, weights = take_rows(X, kept), Y[kept], weights[kept]
            groups = None if groups is None else np.asarray(groups)[kept]
            fold = self._folds(X, Y, groups, seed, embedding)
        else:
            fold = self._folds(X, Y, groups, seed, embedding)[kept]
            fold = np.unique(fold, return_inverse=True)[1].reshape(-1)
            X, Y, weights = take_rows(X, kept), Y[kept], weights[kept]
        if fold.max() == 0:
            raise ValueError("All rows with a weight above 0 are in one fold: use other folds.")
        return X, Y, None if (weights == 1).all() else weights, fold

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _width(self) -> tuple[int, int | None]:
        return self.label_format_.n_labels, getattr(self, "n_features_in_", None)

    # Rows that come in chunks -------------------------------------------------------------------

    @property
    def is_linear(self) -> bool:
        """Whether the embedding learns from sums over rows."""
        return isinstance(self.embedding, Linear) or (
            isinstance(self.embedding, str) and self.embedding == "linear"
        )

    @property
    def is_stochastic(self) -> bool:
        """Whether the embedding learns from chunks of rows, by gradient descent."""
        return isinstance(self.embedding, Stochastic) or (
            isinstance(self.embedding, str) and self.embedding == "sgd"
        )

    def _comes_in_chunks(self, X: Any) -> bool:
        """Whether ``fit`` takes these rows block by block, so that memory stays bounded."""
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if not self.is_linear or len(shape) != 2 or shape[0] <= LARGE_ROWS:
            return False
        if not is_number(self.cv):
            return False
        return choose_solver(shape[0], shape[1], self._n_folds(Linear())) == "features"

    def _fit_chunks(self, X: Any, Y: Any) -> OutOfFold:
        if Y is None:
            read_labels(Y)  # raises with scikit-learn's words
        check_consistent_length(X, Y)
        stream, classes, label_format = None, None, None
        if is_tags(Y) or is_polars(Y):
            # Read as a whole: a chunk of tags does not show all labels.
            Y, label_format = read_labels(Y, allow_unknown=True)
        if not (sparse.issparse(Y) or isinstance(Y, (pd.DataFrame, pd.Series, np.memmap))):
            Y = np.asarray(Y)
        if getattr(Y, "ndim", 2) == 1:
            classes = read_labels(Y)[1].classes
        X, Y = (data.tocsr() if sparse.issparse(data) else data for data in (X, Y))
        for rows in out_of_core.slices(X.shape[0]):
            stream = self._add(stream, take_rows(X, rows), take_rows(Y, rows), classes)
        assert stream is not None
        if label_format is not None:
            self._remember(label_format)
        found = self._learn_from(stream)
        self._forget_stream()
        return found

    def _fit_in_passes(
        self,
        embedding: Embedding,
        first: Iterator[tuple[Any, Any]],
        again: Callable[[], Iterable[tuple[Any, Any]]] | None,
        classes: Any,
    ) -> OutOfFold:
        assert isinstance(embedding, Stochastic)
        start = next(first, None)
        if start is None:
            raise ValueError(out_of_core.NO_BATCHES)
        self._begin(*start, classes)

        def checked(batches: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
            return (self._checked(X, Y, classes) for X, Y in batches)

        rows, evidence = passes.learn_in_passes(
            embedding,
            checked(chain([start], first)),
            None if again is None else lambda: checked(again()),
            self.label_format_.n_labels,
            self._n_folds(embedding),
            FitContext(self._seed(), self.n_jobs),
        )
        found = self._learn(embedding, evidence, rows.folds, None, None, Stages(None))
        self._forget_stream()
        return found

    def _add(
        self, stream: out_of_core.Stream | None, X: Any, Y: Any, classes: Any
    ) -> out_of_core.Stream:
        """Check some rows and add them to a stream, to a new one with the first."""
        if stream is None:
            stream = out_of_core.Stream(**self.begin_stream(X, Y, classes))
        stream.add(*self._checked(X, Y, classes))
        return stream

    def _begin(self, X: Any, Y: Any, classes: Any) -> int:
        """Remember what the first chunk says of features and labels; return the width."""
        refuse_tags(Y)
        X = self._check_features(X, reset=True)
        _, label_format = read_labels(Y, allow_unknown=True, classes=classes)
        self._remember(label_format)
        return int(X.shape[1])

    def _checked(self, X: Any, Y: Any, classes: Any) -> tuple[Any, Any]:
        """Check that a chunk is like the first one."""
        refuse_tags(Y)
        X = self._check_features(X, reset=False)
        labels, label_format = read_labels(Y, allow_unknown=True, classes=classes)
        check_consistent_length(X, labels)
        if label_format.n_labels != self.label_format_.n_labels:
            raise ValueError(
                f"This chunk has {label_format.n_labels} labels, but the first had "
                f"{self.label_format_.n_labels}: every chunk must have the same label columns."
            )
        return X, labels

    def _forget_stream(self) -> None:
        """A full fit ends what partial_fit began."""
        forget(self, "_stream")

    # What was learned ---------------------------------------------------------------------------

    @property
    def landmarks_(self) -> np.ndarray:
        """Names of the landmarks, those that explain most first."""
        return self.label_format_.names_of(self.learned_.labels)

    @property
    def recovery_(self) -> np.ndarray:
        """What the prediction of each landmark counts for each label."""
        return self.learned_.map.recovery

    @property
    def intercept_(self) -> np.ndarray:
        """Score of every label before any landmark speaks."""
        return self.learned_.map.intercept

    @property
    def selection_(self) -> np.ndarray:
        """1 where a label is a landmark, else 0."""
        selection = np.zeros(self.label_format_.n_labels)
        selection[self.learned_.labels] = 1.0
        return selection

    @property
    def landmark_weights_(self) -> np.ndarray:
        """The same as ``recovery_``: the weight of each landmark in the score of each label."""
        return self.recovery_

    @property
    def landmark_strengths_(self) -> np.ndarray:
        """Share of the variance of all labels that each landmark adds to those before it."""
        return self.learned_.explained

    @property
    def predictability_(self) -> np.ndarray:
        """Share of each label's variance that its own prediction explains out of fold."""
        return self.learned_.predictability

    @property
    def pull_(self) -> float:
        """The pull given or chosen."""
        return self.learned_.setting.pull

    @property
    def path_(self) -> pd.DataFrame:
        """Measures of every number of landmarks that was looked at, out of fold."""
        return self.learned_.path

    @property
    def measures_(self) -> pd.DataFrame:
        """Out-of-fold measures of the embedding alone and of the model."""
        return self.learned_.measures

    @property
    def summary_(self) -> str:
        """What was learned, in a few sentences."""
        n_landmarks, n_labels = len(self.landmarks_), self.label_format_.n_labels
        if n_landmarks == n_labels:
            lines = [
                f"All {n_labels} labels are landmarks: every label is needed, and none is saved."
            ]
        else:
            lines = [f"{n_landmarks} of {n_labels} labels are landmarks."]
        if np.isinf(self.pull_):
            kept = "as it is" if self.learned_.setting.as_it_is else "rescaled"
            why = ": combining them gains nothing" if self.pull == "auto" else ""
            lines.append(f"Each keeps its own prediction, {kept}{why}.")
        if len(self.measures_):
            alone, together = (self.measures_.iloc[k] for k in (0, -1))
            lines.append(
                "Out of fold, the embedding alone and with landmarks: "
                + ", ".join(
                    f"{title[0].lower()}{title[1:]} {alone[name]:.3f} and {together[name]:.3f}"
                    for name, title in ((name, MEASURES[name].title) for name in together.index)
                )
                + "."
            )
        automatic = isinstance(self.embedding, str) and self.embedding == "auto"
        if automatic and left_out_networks(self.embedding_):
            lines.append(
                'PyTorch is not installed, so networks were left out: pip install "splmll[torch]".'
            )
        return " ".join(lines)

    # Prediction ---------------------------------------------------------------------------------

    def _scores(self, X: Any) -> np.ndarray:
        if len(self.learned_.labels) == 0:
            return np.tile(self.intercept_, (n_rows(X), 1))
        return self.learned_.scores(self.embedding_.predict(X))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        # Through 1/2 where decision_function is 0, so that both agree with predict.
        return np.asarray(expit(self.probability_slope_ * (scores - self.offset_)))

    def transform(self, X: Any) -> np.ndarray:
        """Return the predictions of the landmarks, f(x), in the order of ``landmarks_``.

        Parameters
        ----------
        {X}

        Returns
        -------
        landmark_scores : ndarray of shape (n_rows, n_landmarks)
        """
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        if len(self.learned_.labels) == 0:
            return np.zeros((n_rows(X), 0))
        return self.embedding_.predict(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`: the landmarks."""
        check_is_fitted(self)
        names = self.landmarks_.tolist()
        if self.label_format_.names is None:
            names = [f"landmark{number}" for number in names]
        return np.asarray(names, dtype=object)

    def explain(self, X: Any) -> Explanation:
        """Break every score down into the contributions of the landmarks.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features; the result has n_rows x n_landmarks x n_labels numbers, so pass a few rows at
            a time.

        Returns
        -------
        explanation : Explanation
            Contributions that add up to the score, and a table for any row.
        """
        predicted = self.transform(X)
        contributions = self.learned_.contributions(predicted)
        scores = contributions.sum(axis=1) + self.intercept_
        everything = np.arange(len(self.intercept_))
        return Explanation(
            base=self.intercept_.copy(),
            contributions=contributions,
            landmarks=np.asarray(self.landmarks_),
            labels=np.asarray(self.label_format_.names_of(everything)),
            predicted=self.threshold_.apply(scores),
        )

    def recover(self, Y_landmarks: Any, *, return_scores: bool = False) -> Any:
        """Fill in all labels from the labels of the landmarks alone.

        People annotate the few landmarks, and this method fills in the rest with the best linear
        prediction from the known landmarks of each row, learned from the training labels. If this
        gained nothing out of fold, unknown labels are left blank. If you have the features,
        :meth:`complete` does better.

        Parameters
        ----------
        Y_landmarks : array-like or DataFrame of shape (n_rows, n_landmarks)
            0/1 labels of the landmarks, columns in the order of ``landmarks_`` (a DataFrame: by
            name, in any order); NaN where unknown.
        return_scores : bool, default=False
            Return real scores instead of labels.

        Returns
        -------
        labels : ndarray, CSR array or DataFrame of shape (n_rows, n_labels)
            All labels in the form in which ``fit`` received them; known landmarks keep their
            values.
        """
        check_is_fitted(self)
        index = None
        if isinstance(Y_landmarks, pd.DataFrame):
            index = Y_landmarks.index
            names = [str(name) for name in self.landmarks_]
            by_name = Y_landmarks.set_axis([str(name) for name in Y_landmarks.columns], axis=1)
            missing = [name for name in names if name not in by_name.columns]
            if missing:
                raise ValueError(
                    f"The landmarks {missing} have no column. Give one column for each of "
                    f"{names}; use NaN for values that are not known."
                )
            Y_landmarks = by_name[names]
        known, _ = read_labels(Y_landmarks, allow_unknown=True, accept_sparse=False)
        if known.shape[1] != len(self.landmarks_):
            raise ValueError(
                f"Got {known.shape[1]} columns for {len(self.landmarks_)} landmarks: give one "
                f"column for each of {list(self.landmarks_)}, with NaN for unknown values."
            )
        if return_scores:
            return self.completion_.scores(known)
        return self.label_format_.restore(self.completion_.labels(known), index)

    def complete(self, X: Any, Y_partial: Any, *, return_scores: bool = False) -> Any:
        """Return all labels, from the features and from people's answers.

        The prediction is combined with what the answers say about the open labels: an answer that
        the features did not predict changes related labels. Answers themselves are never changed.

        Parameters
        ----------
        {X}
        Y_partial : array-like or DataFrame of shape (n_rows, n_labels)
            Answers, 0 or 1; NaN if nobody was asked. A DataFrame has labels by name and may omit
            those that nobody was asked about.
        return_scores : bool, default=False
            Return numbers between 0 and 1 on the scale of ``predict_proba`` instead of labels: open
            labels are predicted from 1/2, and answers are 0 or 1.

        Returns
        -------
        labels : ndarray, CSR array or DataFrame of shape (n_rows, n_labels)
            All labels in the form in which ``fit`` received them. Without answers they are those of
            ``predict``.

        Examples
        --------
        >>> import numpy as np
        >>> from splmll import SPLMLL
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 4))
        >>> rain = X[:, 0] + rng.normal(size=300) > 0
        >>> Y = np.column_stack([rain, rain ^ (rng.random(300) < 0.05)]).astype(int)
        >>> model = SPLMLL("linear", random_state=0).fit(X, Y)
        >>> model.complete(X[:1], [[1, np.nan]]), model.complete(X[:1], [[0, np.nan]])
        (array([[1, 1]]), array([[0, 0]]))
        """
        check_is_fitted(self)
        scores, answers = self._scores_and_answers(X, Y_partial)
        labels, values = self._answer_model().complete(scores, answers)
        if return_scores:
            return values
        index = next(
            (data.index for data in (Y_partial, X) if isinstance(data, pd.DataFrame)), None
        )
        return self.label_format_.restore(labels, index)

    def ask(
        self, X: Any, Y_partial: Any = None, n: int = 1, *, enough: float | None = None
    ) -> Questions:
        """Return the labels to ask about next, row by row.

        The best question is the one whose answer is expected to remove the most errors, in its own
        label and in related labels.

        Parameters
        ----------
        {X}
        Y_partial : array-like or DataFrame of shape (n_rows, n_labels), optional
            The answers so far, as for :meth:`complete`.
        n : int, default=1
            Questions per row. Later ones assume the likelier answers to earlier ones.
        enough : float, optional
            When to stop: no question is asked about a row with fewer expected wrong labels.

        Returns
        -------
        questions : Questions
            The labels (None if there is nothing to ask) and the expected errors.

        Examples
        --------
        >>> import numpy as np
        >>> from splmll import SPLMLL
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 3))
        >>> Y = (X + [[0.1, 1, 3]] * rng.normal(size=(300, 3)) > 0).astype(int)
        >>> model = SPLMLL("linear", random_state=0).fit(X, Y)
        >>> questions = model.ask(X[:50])
        >>> bool((questions.labels == 2).mean() > 0.5)  # which the features tell least
        True
        >>> bool((model.ask(X[:50], Y[:50]).labels == None).all())
        True
        """
        check_is_fitted(self)
        if n < 1:
            raise ValueError(f"n={n}: ask for at least one question.")
        scores, answers = self._scores_and_answers(X, Y_partial)
        found, errors = self._answer_model().ask(scores, answers, min(n, scores.shape[1]), enough)
        names = np.full(scores.shape[1] + 1, None, dtype=object)
        names[:-1] = self.label_format_.names_of(np.arange(scores.shape[1]))
        return Questions(names[found], errors)

    def rank_rows(self, X: Any, n: int | None = None) -> np.ndarray:
        """Order rows that have no labels yet so that a model learns fastest from them.

        Rows with uncertain labels come first, each different from those before it in its features
        or in what is uncertain about it. Repeated rows come last.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of rows without labels.
        n : int, optional
            How many rows are wanted; by default all.

        Returns
        -------
        rows : ndarray of int
            Numbers of rows, in the order in which to label them.

        Examples
        --------
        >>> import numpy as np
        >>> from splmll import SPLMLL
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 3))
        >>> Y = (X + rng.normal(size=(300, 3)) > 0).astype(int)
        >>> model = SPLMLL("linear", random_state=0).fit(X[:100], Y[:100])
        >>> model.rank_rows(X[100:], n=5).shape
        (5,)
        """
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        P = self._answer_model().curve.probabilities(self._scores(X))
        features = None if is_torch_dataset(X) else X
        return order_of_rows(features, P, len(P) if n is None else min(int(n), len(P)))

    def _answer_model(self) -> AnswerModel:
        # Models of earlier versions kept nothing for answers: theirs stand for themselves.
        n_labels = self.label_format_.n_labels
        plain = AnswerModel.unlearned(self.threshold_, self.probability_slope_, n_labels)
        return getattr(self, "answer_model_", plain)

    def _scores_and_answers(self, X: Any, Y_partial: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of rows, and what was answered; NaN where nothing was."""
        scores = self._checked_scores(X)
        answers = np.full(scores.shape, np.nan)
        if Y_partial is None:
            return scores, answers
        columns: Any = slice(None)
        if isinstance(Y_partial, pd.DataFrame):
            if Y_partial.shape[1] == 0:
                return scores, answers
            columns = self._columns_of(Y_partial.columns)
        given, _ = read_labels(Y_partial, allow_unknown=True, accept_sparse=False)
        check_consistent_length(X, given)
        if given.shape[1] != answers[:, columns].shape[1]:
            raise ValueError(
                f"Got answers for {given.shape[1]} labels, but the model has {scores.shape[1]}: "
                "give one column for each label, with NaN if nobody was asked, or a DataFrame "
                "with names."
            )
        answers[:, columns] = given
        return scores, answers

    def _columns_of(self, names: Any) -> np.ndarray:
        """Return the numbers of labels that are given by name."""
        known = self.label_format_.names_of(np.arange(self.label_format_.n_labels))
        number = {str(name): k for k, name in enumerate(known)}
        unknown = [str(name) for name in names if str(name) not in number]
        if unknown:
            raise ValueError(
                f"The model has no label {', '.join(map(repr, unknown[:5]))}: leave these columns "
                f"out, and name the others by labels of the model, such as {str(known[0])!r}."
            )
        return np.array([number[str(name)] for name in names], dtype=np.intp)

    def landmark_path(
        self, X: Any, Y: Any, *, counts: Any = None, groups: Any = None
    ) -> LandmarkPath:
        """Measure the model for a growing number of landmarks.

        The embedding is learned once. For every number, the landmarks are selected again and
        measured on out-of-fold scores, so the measures are honest. The estimator itself is not
        changed.

        Parameters
        ----------
        {X}
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels)
            0/1 labels.
        counts : sequence of int, optional
            Numbers of landmarks to try; by default all up to 20 and a growing grid beyond.
        groups : array-like of shape (n_rows,), optional
            As for :meth:`fit`.

        Returns
        -------
        path : LandmarkPath
            A table (``to_frame``) and a figure (``plot``).
        """
        model, X, Y, fold, seed = self._rehearsal(X, Y, groups)
        varying = varying_labels(Y)
        most = int(varying.sum())
        wanted = counts_up_to(most) if counts is None else [int(count) for count in counts]
        if min(wanted) < 1 or max(wanted) > most:
            raise ValueError(f"counts must lie between 1 and {most}, the number of varying labels.")
        evidence = model._evidence_of_all(X, Y, fold, seed)
        F = evidence.F
        found = model._learner(evidence).path(wanted)
        rows = [_measures(self.threshold, Y, scores) for _, scores in found]
        return LandmarkPath(
            counts=np.asarray(wanted),
            measures={name: np.array([row[name] for row in rows]) for name in rows[0]},
            landmarks=[model.label_format_.names_of(labels) for labels, _ in found],
            without=_measures(self.threshold, Y, F),
        )

    def annotation_path(
        self, X: Any, Y: Any, *, counts: Any = None, groups: Any = None
    ) -> AnnotationPath:
        """Measure the completed labels for a growing number of questions per row.

        Questions are chosen adaptively (:meth:`ask`), or are about the landmarks in their order,
        the most frequent labels, or random labels. The rest is filled in by :meth:`complete`, and
        labels that were asked about count as correct. Everything is measured on unseen rows. The
        estimator itself is not changed.

        Parameters
        ----------
        {X}
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels)
            0/1 labels; rows with unknown labels are not used for questions.
        counts : sequence of int, optional
            Numbers of questions to try; by default up to 24.
        groups : array-like of shape (n_rows,), optional
            As for :meth:`fit`.

        Returns
        -------
        path : AnnotationPath
            A table (``to_frame``) and a figure (``plot``).

        Examples
        --------
        >>> import numpy as np
        >>> from splmll import SPLMLL
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 4))
        >>> Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(200, 5)) > 0).astype(int)
        >>> path = SPLMLL("linear", random_state=0).annotation_path(X, Y, counts=[0, 1, 5])
        >>> wrong = path.to_frame().loc["adaptive", "wrong_labels"]
        >>> bool(wrong[0] > wrong[1] > wrong[5] == 0)
        True
        """
        model, X, Y, fold, seed = self._rehearsal(X, Y, groups)
        wanted = sorted({int(count) for count in (PATH_COUNTS if counts is None else counts)})
        if counts is None:
            wanted = [count for count in wanted if count <= Y.shape[1]]
        if not wanted or wanted[0] < 0 or wanted[-1] > Y.shape[1]:
            raise ValueError(
                f"counts must lie between 0 and {Y.shape[1]}, the number of labels; got {counts}."
            )
        learner = model._learner(model._evidence_of_all(X, Y, fold, seed))
        learned, scores = learner.learn(model._budget())
        models = []
        for k in range(int(fold.max()) + 1):
            rows = fold != k
            threshold = fit_threshold(self.threshold, Y[rows], scores[rows])
            slope = probability_slope(Y[rows], scores[rows] - threshold.offset)
            models.append(
                AnswerModel.learned(
                    scores[rows],
                    Y[rows],
                    fold[rows],
                    learned.labels,
                    self.threshold,
                    threshold,
                    slope,
                )
            )
        truth = dense(Y)
        rows = np.flatnonzero(~np.isnan(truth).any(axis=1))
        rows = rows[np.random.default_rng(seed).permutation(len(rows))[:PATH_ROWS]]
        return follow_path(models, scores[rows], truth[rows], fold[rows], learned.labels, wanted)

    def audit(self, X: Any, Y: Any, *, groups: Any = None) -> pd.DataFrame:
        """Find labels that are probably wrong or missing.

        Every label is judged by models that have not seen its row, and by the row's other labels.
        The estimator itself is not changed; this takes about as long as two fits.

        Parameters
        ----------
        {X}
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels)
            0/1 labels; NaN where unknown.
        groups : array-like of shape (n_rows,), optional
            As for :meth:`fit`.

        Returns
        -------
        suspects : DataFrame
            The labels that are more likely wrong than right, most suspicious first: "row" (its
            number), "label", "given" (0 or 1), "probability" (of the label, given everything but
            itself) and "reason".

        Examples
        --------
        >>> import numpy as np
        >>> from splmll import SPLMLL
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 3))
        >>> Y = (X > 0).astype(int)
        >>> Y[5, 1] = 1 - Y[5, 1]
        >>> suspects = SPLMLL("linear", random_state=0).audit(10 * X, Y)
        >>> bool(((suspects["row"] == 5) & (suspects["label"] == 1)).any())
        True
        """
        model, X, Y, fold, seed = self._rehearsal(X, Y, groups)
        truth = dense(Y).astype(np.float64)

        def scores(labels: Any) -> np.ndarray:
            learner = model._learner(model._evidence_of_all(X, labels, fold, seed))
            return learner.learn(model._budget())[1]

        first, undoubted = first_look(scores(Y), truth)
        second = probabilities_of(scores(undoubted), truth)
        P = probability_of_truth(first, second, truth, fold)
        names = model.label_format_.names_of(np.arange(truth.shape[1]))
        return suspects(P, second, truth, names)

    def _rehearsal(self, X: Any, Y: Any, groups: Any) -> tuple[SPLMLL, Any, Any, np.ndarray, int]:
        """Return a copy of the estimator that may be tried out, the checked data, folds, a seed."""
        self._check_parameters()
        model = type(self)(**self.get_params(deep=False))
        X, Y = model._check_fit(X, Y)
        if not varying_labels(Y).any():
            raise ValueError("Every label is constant: there is nothing to learn from these rows.")
        embedding = model._make_embedding(X)
        seed = embedding.agreed_seed(model._seed())
        return model, X, Y, model._folds(X, Y, groups, seed, embedding), seed

    def _evidence_of_all(self, X: Any, Y: Any, fold: np.ndarray, seed: int) -> Evidence:
        """Return out-of-fold predictions of all labels of all rows."""
        embedding, every = self._make_embedding(X), np.arange(Y.shape[1])
        embedding.fit(X, Y, fold, FitContext(seed, self.n_jobs, worth=worth_after_recovery))
        F, varying = embedding.out_of_fold_, varying_labels(Y)
        return Evidence.of_rows(F, Y, fold, every, varying, slice(None), seed)

    def _learner(self, evidence: Evidence) -> Learner:
        return Learner(evidence, self.pull, self.scoring, self.threshold)

    def estimate_cost(self, X: Any, Y: Any) -> Cost:
        """Estimate the cost of ``fit``: memory and floating-point operations.

        The estimate uses only shapes and settings; nothing is fitted.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features), or that shape
            Features.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or that shape
            Labels.

        Returns
        -------
        cost : Cost
            Can be printed; :func:`splmll.landmarks.cost.check_memory` raises an error if it does
            not fit.

        Examples
        --------
        >>> from splmll import SPLMLL
        >>> cost = SPLMLL("linear").estimate_cost((10_000, 2**20), (10_000, 100))
        >>> cost.route
        'linear, iteratively'
        """
        self._check_parameters()
        return estimate_cost(self, X, Y)

    # Checks -------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        self._validate_params()
        if not (isinstance(self.embedding, str) and self.embedding == "auto"):
            embedding_of(self.embedding).check()

    def _check_features(self, X: Any, reset: bool) -> Any:
        if not self._takes_pictures():
            return super()._check_features(X, reset)
        if is_torch_dataset(X):
            return X
        return validate_data(self, X, dtype=np.float32, allow_nd=True, reset=reset)

    def _takes_pictures(self) -> bool:
        """Whether X may have more dimensions, or be a torch Dataset."""
        return is_torch_module(self.embedding) or hasattr(self.embedding, "module")

    def _check_fit(self, X: Any, Y: Any) -> tuple[Any, Any]:
        if Y is None and is_torch_dataset(X):
            first = X[0]
            if not (isinstance(first, (tuple, list)) and len(first) == 2):
                raise ValueError(
                    "This torch Dataset returns only features: let it return (features, labels) "
                    "pairs, or pass the labels as Y."
                )
            Y = np.stack([np.asarray(X[i][1]) for i in range(n_rows(X))])
        return super()._check_fit(X, Y)


def probability_slope(Y: Any, decisions: np.ndarray) -> float:
    """Return the slope of the logistic curve through zero that fits out-of-fold decisions best.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.classifier import probability_slope
    >>> decisions = np.random.default_rng(0).normal(size=(400, 1))
    >>> probability_slope((decisions > 0) * 1.0, decisions) > 4
    True
    """
    from sklearn.linear_model import LogisticRegression

    most = min(SLOPE_ROWS, max(1, SLOPE_CELLS // decisions.shape[1]))
    rows = np.random.default_rng(0).permutation(len(decisions))[:most]
    labels = dense(Y[rows]).ravel()
    known = ~np.isnan(labels)
    target, decision = labels[known], decisions[rows].ravel()[known]
    if len(target) < MIN_ROWS or target.min() == target.max():
        return PLAIN_SLOPE
    curve = LogisticRegression(fit_intercept=False).fit(decision[:, None], target)
    return max(float(curve.coef_[0, 0]), 1e-3)


def _measures(rule: Any, Y: Any, scores: np.ndarray) -> dict[str, float]:
    """The paper's measures; rows with unknown labels are left out."""
    predicted = fit_threshold(rule, Y, scores).apply(scores)
    complete = ~np.isnan(dense(Y)).any(axis=1)
    return evaluate(Y[complete], scores[complete], predicted[complete])
