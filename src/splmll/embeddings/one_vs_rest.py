"""One classifier or regressor for every label: by default linear classifiers, for text.

Labels are fitted in parallel, on sparse rows as they are. One logistic curve for all labels, fitted
out of fold, turns decision values into probabilities, because predictions that are combined must be
bounded.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.special import expit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from splmll.arrays import dense, forget, take_rows
from splmll.constraints import REGRESSOR, Choice
from splmll.embeddings.base import Embedding, FitContext
from splmll.embeddings.label_columns import LabelColumns, bounding_slope
from splmll.feature_scaling import SCALE_CONSTRAINT, fitted_scaler, scaled
from splmll.metrics import average_precision
from splmll.progress import Stages
from splmll.sample_weights import rows_by_weight, weight_arguments

# What estimator="auto" tries: a first C, then its neighbours while they are better.
SVM_C = (0.03, 0.1, 0.3, 1.0)
START = 1  # where the search begins in this list
LOGISTIC_C = (0.1, 0.3, 1.0, 3.0, 10.0)
AHEAD = 1  # logistic regression wants about ten times the C: its place in the list above, plus this
JUDGED_LABELS = 60  # labels that decide where there are more: every so many in order of frequency

LABELS_AT_ONCE = 32  # labels that one job fits, at most
TURNS = 4  # jobs for every worker, at least: labels take different times
ATTEMPTS = 3  # where workers of a cluster are lost
SEARCH_SHARE = 0.25  # of the work until out-of-fold predictions are there, for who watches it


class OneVsRest(Embedding):
    """One model per label.

    Parameters
    ----------
    estimator : "auto", classifier or regressor, default="auto"
        "auto" fits linear classifiers by coordinate descent: support vector machines or logistic
        regression, with the setting that ranks held-out rows best. Any other classifier or
        regressor with scikit-learn's API works, too. Decision values are turned into probabilities;
        a classifier without decision values returns its own probabilities, and a regressor its
        predictions, clipped to 0 and 1.
    scale : {"auto", "standard"} or None, default="auto"
        Whether to standardise the features; "auto" does so only for ``estimator="auto"`` and dense
        features that are not nearly all zero.

    Attributes
    ----------
    estimator_ : estimator
        The estimator that was fitted for every label.
    scores_ : dict
        With ``estimator="auto"``: the worth of every setting on held-out rows (see
        ``FitContext.worth``).
    slope_ : float or None
        Slope of the logistic curve through (0, 1/2) that bounds decision values; None if the
        estimator has none.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from splmll.embeddings import OneVsRest
    >>> X = np.random.default_rng(0).normal(size=(90, 3))
    >>> f = OneVsRest(LogisticRegression(C=3)).fit(X, (X[:, :2] > 0) * 1.0, np.arange(90) % 3)
    >>> bool(0 < f.out_of_fold_.min() and f.out_of_fold_.max() < 1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [Choice("auto"), REGRESSOR],
        "scale": SCALE_CONSTRAINT,
    }

    #: Folds that serve as well as more: a model of two thirds of the rows is near enough.
    preferred_folds: ClassVar[int] = 3
    one_per_label: ClassVar[bool] = True
    uses_weights: ClassVar[bool] = True

    def __init__(self, estimator: Any = "auto", scale: str | None = "auto") -> None:
        self.estimator = estimator
        self.scale = scale

    def fit(self, X: Any, Y: Any, fold: np.ndarray, context: FitContext | None = None) -> OneVsRest:
        """Learn one model per label and fold."""
        self.check()
        self._context = context = FitContext() if context is None else context
        own = isinstance(self.estimator, str)
        # Who brings an estimator knows what it wants: counts must not become negative.
        scale = None if self.scale == "auto" and not own else self.scale
        self.scaler_ = fitted_scaler(X, scale, context.sample_weight)
        X, targets = scaled(X, self.scaler_), LabelColumns(Y, context.sample_weight)
        first = None
        if own:
            self.estimator_, self.scores_, first = _search(X, targets, fold, context)
        else:
            self.estimator_ = self.estimator
        margins = np.full(targets.shape, np.nan)
        n_folds, searched = int(fold.max()) + 1, SEARCH_SHARE if own else 0.0
        stages = Stages(context.on_progress)
        context = replace(context, on_progress=stages)
        for k in range(n_folds):
            start, end = (searched + (1 - searched) * (k + step) / n_folds for step in (0, 1))
            stages.begin(start, end)
            held = np.flatnonzero(fold == k)
            if k == 0 and first is not None:
                models = first
            else:
                models = _fit_labels(
                    self.estimator_, X, targets, np.flatnonzero(fold != k), context, seed_offset=k
                )
            margins[held] = models.decide(take_rows(X, held))
        bounded = not hasattr(self.estimator_, "decision_function")
        self.slope_ = None if bounded else bounding_slope(margins, targets)
        # A label that the other folds do not have is as likely as anywhere.
        self.rate_ = targets.rate
        self.out_of_fold_ = self._bounded(margins)
        return self

    def check_weights(self) -> None:
        """Refuse weights of rows that the estimator does not take."""
        if not isinstance(self.estimator, str):
            weight_arguments(self.estimator, np.ones(1))

    def finish(self, X: Any, Y: Any, outputs: np.ndarray) -> None:
        """Fit the wanted outputs on all rows: models of rare labels need every one of them."""
        targets = LabelColumns(Y).of(outputs)
        rows = np.arange(targets.shape[0])
        X = scaled(X, self.scaler_)
        self.models_ = _fit_labels(self.estimator_, X, targets, rows, self._context)
        self.rate_ = self.rate_[outputs]
        forget(self, "out_of_fold_", "_context")

    def predict(self, X: Any) -> np.ndarray:
        """Return the probability of every output."""
        return self._bounded(self.models_.decide(scaled(X, self.scaler_)))

    def _bounded(self, margins: np.ndarray) -> np.ndarray:
        """Return probabilities; where no model was learned, the rate of the label."""
        bounded = np.clip(margins, 0, 1) if self.slope_ is None else expit(self.slope_ * margins)
        unknown = np.isnan(margins)
        return np.where(unknown, self.rate_, bounded) if unknown.any() else bounded


# Models -----------------------------------------------------------------------------------------


class LinearModels:
    """Linear models of several labels: one product decides on all of them.

    Parameters
    ----------
    weights : ndarray of shape (n_features, n_labels)
        A column of NaN marks a label that could not be learned.
    intercepts : ndarray of shape (n_labels,)
    """

    def __init__(self, weights: np.ndarray, intercepts: np.ndarray) -> None:
        self.weights, self.intercepts = weights, intercepts

    def decide(self, X: Any) -> np.ndarray:
        """Return the decision values."""
        return np.asarray(X @ self.weights, dtype=np.float64) + self.intercepts

    def of(self, labels: np.ndarray) -> LinearModels:
        """Return the models of some labels."""
        return LinearModels(self.weights[:, labels], self.intercepts[labels])


class LabelModels:
    """One fitted estimator for every label; None for a label that could not be learned."""

    def __init__(self, estimators: list[Any]) -> None:
        self.estimators = estimators

    def decide(self, X: Any) -> np.ndarray:
        """Return decision values, probabilities or predictions."""
        result = np.full((X.shape[0], len(self.estimators)), np.nan)
        for j, estimator in enumerate(self.estimators):
            if estimator is not None:
                result[:, j] = _decision(estimator, X)
        return result

    def of(self, labels: np.ndarray) -> LabelModels:
        """Return the models of some labels."""
        return LabelModels([self.estimators[j] for j in labels])


def _decision(estimator: Any, X: Any) -> np.ndarray:
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X)[:, 1], dtype=np.float64)
    return np.asarray(estimator.predict(X), dtype=np.float64).ravel()


def _fit_labels(
    estimator: Any,
    X: Any,
    targets: LabelColumns,
    rows: np.ndarray,
    context: FitContext,
    seed_offset: int = 0,
) -> Any:
    """Fit the estimator to every label on some rows."""
    taken, weights = take_rows(X, rows), context.weights_of(rows)
    n_labels = targets.shape[1]
    size = _labels_at_once(n_labels, context.n_jobs)
    blocks = [range(start, min(start + size, n_labels)) for start in range(0, n_labels, size)]
    linear = isinstance(estimator, (LinearSVC, LogisticRegression))
    seeded = _seeded(estimator, context.seed + seed_offset)
    # Processes, not threads: those share liblinear's random numbers, and no two fits are the same.
    estimators: list[Any] = []
    for attempt in range(ATTEMPTS):
        jobs = (
            delayed(_fit_block)(seeded, taken, [targets.column(j) for j in block], rows, weights)
            for block in blocks[len(estimators) // size :]
        )
        try:
            for block in Parallel(n_jobs=context.n_jobs, return_as="generator")(jobs):
                estimators += block
                context.tell("one model per label", len(estimators) / n_labels)
            break
        except CancelledError:
            # A worker of a cluster was lost, and with it the rows it held: hand them out again.
            if attempt == ATTEMPTS - 1:
                raise
    if not linear:
        return LabelModels(estimators)
    weights = np.full((X.shape[1], n_labels), np.nan, dtype=np.float32)
    intercepts = np.full(n_labels, np.nan)
    for j, each in enumerate(estimators):
        if each is not None:
            weights[:, j], intercepts[j] = each.coef_[0], each.intercept_[0]
    return LinearModels(weights, intercepts)


def _labels_at_once(n_labels: int, n_jobs: int | None) -> int:
    """How many labels one job fits, so that every worker has some."""
    workers = effective_n_jobs(n_jobs)
    shared = LABELS_AT_ONCE if workers == 1 else -(-n_labels // (TURNS * workers))
    return max(1, min(shared, LABELS_AT_ONCE))


def _fit_block(
    estimator: Any,
    X: Any,
    columns: Iterable[tuple[np.ndarray, np.ndarray | None]],
    rows: np.ndarray,
    weights: np.ndarray | None,
) -> list[Any]:
    """Fit some labels; a label that does not vary in these rows has no model."""
    fitted: list[Any] = []
    with warnings.catch_warnings():
        # Rough solutions rank as well as exact ones; see the tolerance of the linear settings.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for y, known in columns:
            y, part, its = y[rows], X, weights
            if known is not None and not known[rows].all():
                y, part = y[known[rows]], take_rows(X, np.flatnonzero(known[rows]))
                its = None if weights is None else weights[known[rows]]
            varies = len(y) > 0 and y.min() < y.max()
            arguments = weight_arguments(estimator, its)
            fitted.append(clone(estimator).fit(part, y, **arguments) if varies else None)
    return fitted


def _seeded(estimator: Any, seed: int) -> Any:
    model = clone(estimator)
    wanted = {
        name: seed % 2**31
        for name, value in model.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return model.set_params(**wanted)


# Choices ----------------------------------------------------------------------------------------


def linear_setting(loss: str, C: float) -> Any:
    """Return a linear classifier by coordinate descent in the dual.

    Solved to a tolerance beyond which rankings no longer change: logistic regression on bibtex and
    delicious takes half the time, and decision values move by .003 on average.

    Examples
    --------
    >>> from splmll.embeddings.one_vs_rest import linear_setting
    >>> linear_setting("squared_hinge", 0.1).C
    0.1
    """
    if loss == "squared_hinge":
        return LinearSVC(C=C, dual=True, tol=1e-2, max_iter=300)
    return LogisticRegression(C=C, solver="liblinear", dual=True, tol=1e-1, max_iter=300)


def _search(
    X: Any, targets: LabelColumns, fold: np.ndarray, context: FitContext
) -> tuple[Any, dict[tuple[str, float], float], Any]:
    """Return the best setting, what each one scored, and its models of the first fold if whole."""
    judged = targets.sample(JUDGED_LABELS)
    silent = replace(context, on_progress=None)
    train, held = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    if context.sample_weight is not None:
        held = held[rows_by_weight(context.sample_weight[held], seed=context.seed)]
    X_held, truth = take_rows(X, held), dense(judged.columns[held])
    held_targets, worth = LabelColumns(truth), context.worth or precision
    scores: dict[tuple[str, float], float] = {}
    fitted: dict[tuple[str, float], Any] = {}

    def score(loss: str, C: float) -> float:
        if (loss, C) not in scores:
            share = SEARCH_SHARE * len(scores) / (len(SVM_C) + len(LOGISTIC_C))
            context.tell("choosing the linear classifiers", share)
            models = _fit_labels(linear_setting(loss, C), X, judged, train, silent)
            fitted[loss, C] = models
            margins = models.decide(X_held)
            bounded = expit(bounding_slope(margins, held_targets) * margins)
            scores[loss, C] = worth(np.nan_to_num(bounded, nan=0.0), truth)
        return scores[loss, C]

    def climb(loss: str, values: Sequence[float], place: int) -> int:
        start = place
        for step in (-1, 1):  # a smaller C is solved sooner
            while 0 <= place + step < len(values) and score(loss, values[place + step]) > score(
                loss, values[place]
            ):
                place += step
            if place != start:
                break
        return place

    place = climb("squared_hinge", SVM_C, START)
    machines = sorted(scores.values(), reverse=True)
    # Logistic regression at the C that matches: if it is behind by more than another C costs the
    # machines, no other C of its own will make up for that.
    if score("logistic", LOGISTIC_C[place + AHEAD]) >= machines[1]:
        climb("logistic", LOGISTIC_C, place + AHEAD)
    best = max(scores, key=lambda setting: scores[setting])
    whole = judged.shape[1] == targets.shape[1]
    first = None
    if whole:
        # The sample holds all labels, in the order of their frequency: put them back.
        order = np.argsort(np.argsort(-targets.positives, kind="stable"), kind="stable")
        first = fitted[best].of(order)
    return linear_setting(*best), scores, first


def precision(F: np.ndarray, Y: np.ndarray) -> float:
    """Return the average precision of probabilities, where nobody wants anything else of them.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings.one_vs_rest import precision
    >>> precision(np.array([[0.9, 0.1], [0.8, 0.3]]), np.array([[1, 0], [0, 1]]))
    0.75
    """
    counted = Y.any(axis=1)
    return average_precision(Y[counted], F[counted]) if counted.any() else 0.0


def is_one_per_label(value: Any) -> bool:
    """Return whether this is a classifier or regressor that ``OneVsRest`` can take.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from splmll.embeddings.one_vs_rest import is_one_per_label
    >>> is_one_per_label(Ridge()), is_one_per_label("svm")
    (True, False)
    """
    return hasattr(value, "fit") and (is_classifier(value) or is_regressor(value))
