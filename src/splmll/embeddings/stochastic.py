"""Linear classifiers by stochastic gradient descent, which learn from chunks of rows.

One ``SGDClassifier`` per label and fold sees each chunk of rows once in every pass, so the data
need not fit into memory. In the end, all folds together form one linear model per label: the mean
of their decision values is the decision value of their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import SGDClassifier

from splmll.arrays import dense, forget, take_rows
from splmll.constraints import COUNT, POSITIVE, Choice
from splmll.embeddings.base import Embedding, FitContext
from splmll.embeddings.label_columns import LabelColumns, bounding_slope
from splmll.embeddings.one_vs_rest import LinearModels
from splmll.feature_scaling import fitted_scaler, scaled
from splmll.metrics import average_precision

# n_passes="auto": so many rows are seen in all, in at most so many passes.
ROWS_TO_SEE, MOST_PASSES = 200_000, 10
CLASSES = np.array([0.0, 1.0])

# ridge="auto": what is tried, from START on while it gets better, on so many labels of every
# frequency and in at most so many passes.
RIDGES, START = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2), 3e-4
JUDGED_LABELS, SEARCH_PASSES = 20, 5

# Weights of all labels and folds together take at most so many bytes: the width of hashed rows.
WEIGHT_BYTES = 2**29
MOST_FEATURES, LEAST_FEATURES = 2**18, 2**12

Models = list[SGDClassifier | None]
"""One model for each label; None as long as nothing is known of it."""


class Stochastic(Embedding):
    """Linear classifiers by stochastic gradient descent, one per label and fold.

    For rows in chunks, if they do not fit into memory: ``SPLMLL("sgd").fit_batches(...)``. Rows
    should be in random order. Dense features are standardised by the first chunk.

    Parameters
    ----------
    ridge : float or "auto", default="auto"
        Weight of the ridge penalty; it also sets the learning rate. "auto" chooses the value that
        ranks held-out rows of the first chunk best.
    n_passes : int or "auto", default="auto"
        Number of passes over all rows. "auto" makes up to ten passes over few rows and one over
        more than 200,000.

    Attributes
    ----------
    ridge_ : float
        The ridge given or chosen.
    slope_ : float
        Slope of the logistic curve through (0, 1/2) that bounds decision values.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings import Stochastic
    >>> X = np.random.default_rng(0).normal(size=(90, 3))
    >>> f = Stochastic().fit(X, (X[:, :2] > 0) * 1.0, np.arange(90) % 3)
    >>> bool(0 <= f.out_of_fold_.min() and f.out_of_fold_.max() <= 1)
    True
    """

    _former_names: ClassVar[dict[str, str]] = {"alpha": "ridge"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "ridge": [POSITIVE, Choice("auto")],
        "n_passes": [COUNT, Choice("auto")],
    }

    #: Folds that serve as well as more: every fold is another set of models in memory.
    preferred_folds: ClassVar[int] = 3
    one_per_label: ClassVar[bool] = True

    def __init__(self, ridge: float | str = "auto", n_passes: int | str = "auto") -> None:
        self.ridge = ridge
        self.n_passes = n_passes

    def fit(
        self, X: Any, Y: Any, fold: np.ndarray, context: FitContext | None = None
    ) -> Stochastic:
        """Learn from rows in memory, all of them one chunk."""
        context = FitContext() if context is None else context
        self.begin(X, Y, fold, int(fold.max()) + 1, context)
        n_passes = self.passes(X.shape[0])
        for number in range(n_passes):
            self.learn(X, Y, fold)
            context.tell("linear classifiers, by passes", (number + 1) / n_passes)
        self.settle(X, Y, fold)
        return self

    # Rows in chunks -----------------------------------------------------------------------------

    def begin(self, X: Any, Y: Any, fold: np.ndarray, n_folds: int, context: FitContext) -> None:
        """Get ready to learn: look at the first chunk.

        Parameters
        ----------
        X, Y, fold : as for ``learn``
            The first chunk; it sets how features are scaled, and the ridge.
        n_folds : int
            In how many folds is learned.
        context : FitContext
            Seed and jobs.
        """
        self.check()
        self._context = context
        self.scaler_ = fitted_scaler(X, "auto")
        self._length = 1.0
        rows = self._prepared(X)
        squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
        # The learning rate suits rows of length 1, as weighted words are.
        self._length = float(np.sqrt(squares.sum() / X.shape[0])) or 1.0
        if self.ridge == "auto":
            self.ridge_ = self._best_ridge(self._prepared(X), LabelColumns(Y), fold)
        else:
            self.ridge_ = float(self.ridge)
        n_outputs = Y.shape[1]
        self._models: list[Models] = [[None] * n_outputs for _ in range(n_folds)]
        self._positives, self._known = np.zeros(n_outputs), np.zeros(n_outputs)

    def passes(self, n_rows: int) -> int:
        """Return how often so many rows are gone through.

        Examples
        --------
        >>> from splmll.embeddings import Stochastic
        >>> [Stochastic().passes(n_rows) for n_rows in (5000, 50_000, 1_000_000)]
        [10, 4, 1]
        """
        if self.n_passes != "auto":
            return int(self.n_passes)
        return int(np.clip(-(-ROWS_TO_SEE // n_rows), 1, MOST_PASSES))

    def learn(self, X: Any, Y: Any, fold: np.ndarray) -> None:
        """Learn from a chunk: the models of a fold from the rows that are not in it.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_rows, n_features)
            Features.
        Y : ndarray or CSR array of shape (n_rows, n_outputs)
            Labels 0 and 1; NaN where unknown.
        fold : ndarray of int
            Fold number of every row.
        """
        X, targets = self._prepared(X), LabelColumns(Y)
        self._positives += targets.positives
        self._known += X.shape[0] if targets.known is None else targets.known.sum(axis=0)
        for k, models in enumerate(self._models):
            rows = np.flatnonzero(fold != k)
            if len(rows) == 0:
                continue
            self._models[k] = self._learned(models, take_rows(X, rows), targets, rows, self.ridge_)

    def settle(self, X: Any, Y: Any, fold: np.ndarray) -> None:
        """Fit the curve that bounds decision values, and predict these rows out of fold.

        Parameters
        ----------
        X, Y, fold : as for ``learn``
            Some of the rows, or all.
        """
        X, margins = self._prepared(X), np.full(Y.shape, np.nan)
        for k, models in enumerate(self._models):
            rows = np.flatnonzero(fold == k)
            if len(rows):
                margins[rows] = _together([[model] for model in models]).decide(take_rows(X, rows))
        self.slope_ = bounding_slope(margins, LabelColumns(Y))
        self.rate_ = self._positives / np.maximum(self._known, 1)
        self.out_of_fold_ = self._bounded(margins)

    # The end ------------------------------------------------------------------------------------

    def finish(self, X: Any, Y: Any, outputs: np.ndarray) -> None:
        """Keep the mean of the folds' models for the wanted outputs."""
        models = _together([[of_fold[j] for of_fold in self._models] for j in outputs])
        self.models_ = LinearModels(
            models.weights / np.float32(self._length), models.intercepts.astype(np.float64)
        )
        self.rate_ = self.rate_[outputs]
        forget(self, "out_of_fold_", "_context", "_models", "_length", "_positives", "_known")

    def predict(self, X: Any) -> np.ndarray:
        """Return the probability of every output."""
        return self._bounded(self.models_.decide(_single(scaled(X, self.scaler_))))

    # Pieces -------------------------------------------------------------------------------------

    def _learned(
        self, models: Models, X: Any, targets: LabelColumns, rows: np.ndarray, ridge: float
    ) -> Models:
        """Return the models of a fold after one more chunk, X the rows that they learn from."""
        seed = self._context.seed % 2**31
        settings = {"loss": "modified_huber", "alpha": ridge, "random_state": seed}
        # Gradient descent leaves Python alone: threads are enough, and share the rows.
        return list(
            Parallel(n_jobs=self._context.n_jobs, require="sharedmem")(
                delayed(_learned)(model, settings, X, targets, j, rows)
                for j, model in enumerate(models)
            )
        )

    def _best_ridge(self, X: Any, targets: LabelColumns, fold: np.ndarray) -> float:
        """Return the ridge that ranks the labels of the first fold's rows best."""
        judged = targets.sample(JUDGED_LABELS)
        rows, held = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
        truth = dense(judged.columns[held])
        counted = np.asarray(truth.any(axis=1))
        if len(rows) == 0 or not counted.any():
            return START
        X_rows, X_held = take_rows(X, rows), take_rows(X, held[counted])
        n_passes = min(self.passes(len(rows)), SEARCH_PASSES)
        scores: dict[int, float] = {}

        def score(place: int) -> float:
            if place not in scores:
                models: Models = [None] * judged.shape[1]
                for _ in range(n_passes):
                    models = self._learned(models, X_rows, judged, rows, RIDGES[place])
                margins = np.nan_to_num(_together([[model] for model in models]).decide(X_held))
                scores[place] = average_precision(truth[counted], margins)
            return scores[place]

        place = RIDGES.index(START)
        for step in (1, -1):
            while 0 <= place + step < len(RIDGES) and score(place + step) > score(place):
                place += step
        return RIDGES[place]

    def _prepared(self, X: Any) -> Any:
        X = _single(scaled(X, self.scaler_))
        return X if self._length == 1.0 else X * np.float32(1 / self._length)

    def _bounded(self, margins: np.ndarray) -> np.ndarray:
        """Return probabilities; where no model was learned, the rate of the label."""
        unknown = np.isnan(margins)
        bounded = expit(self.slope_ * margins)
        return np.where(unknown, self.rate_, bounded) if unknown.any() else bounded


def hashed_width(n_labels: int) -> int:
    """Return how many features hashed rows may have, so that the weights stay in bounds.

    Examples
    --------
    >>> from splmll.embeddings.stochastic import hashed_width
    >>> hashed_width(90), hashed_width(1000)
    (262144, 32768)
    """
    bytes_per_feature = 4 * n_labels * (Stochastic.preferred_folds + 1)  # and their mean
    width = MOST_FEATURES
    while width > LEAST_FEATURES and width * bytes_per_feature > WEIGHT_BYTES:
        width //= 2
    return width


def _learned(
    model: SGDClassifier | None,
    settings: dict[str, Any],
    X: Any,
    targets: LabelColumns,
    label: int,
    rows: np.ndarray,
) -> SGDClassifier | None:
    """Return the model of a label after one more chunk; None as long as no row had the label."""
    y, known = targets.column(label)
    y = y[rows]
    if known is not None:
        usable = known[rows]
        if not usable.any():
            return model
        X, y = X[usable], y[usable]
    model = SGDClassifier(**settings) if model is None else model
    return model.partial_fit(X, y, classes=CLASSES)


def _together(models: Sequence[Models]) -> LinearModels:
    """Return one model per label, the mean of those it has; NaN for a label without any."""
    fitted = [[each for each in of_label if each is not None] for of_label in models]
    width = next((of_label[0].coef_.shape[1] for of_label in fitted if of_label), 0)
    weights = np.full((width, len(models)), np.nan, dtype=np.float32)
    intercepts = np.full(len(models), np.nan, dtype=np.float32)
    for j, of_label in enumerate(fitted):
        if of_label:
            weights[:, j] = sum(each.coef_[0] for each in of_label) / len(of_label)
            intercepts[j] = sum(each.intercept_[0] for each in of_label) / len(of_label)
    return LinearModels(weights, intercepts)


def _single(X: Any) -> Any:
    """Return rows in single precision, with the narrow indices that scikit-learn wants."""
    if not sparse.issparse(X):
        return np.asarray(X, dtype=np.float32)
    X = sparse.csr_array(X, dtype=np.float32)
    if X.indices.dtype == np.int64:
        narrow = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = sparse.csr_array((X.data, *narrow), shape=X.shape)
    return X
