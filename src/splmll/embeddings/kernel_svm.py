"""Support vector machines with an RBF kernel, one per label on one matrix of inner products."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import expit
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from sklearn.utils.sparsefuncs import mean_variance_axis

from splmll.arrays import forget
from splmll.constraints import POSITIVE, Choice
from splmll.docstrings import with_paragraphs
from splmll.embeddings.base import Embedding, FitContext
from splmll.embeddings.label_columns import LabelColumns, bounding_slope
from splmll.feature_scaling import SCALE_CONSTRAINT, fitted_scaler, scaled

TOLERANCE = 1e-2  # rankings do not change beyond; a third less time than scikit-learn's 1e-3


@with_paragraphs
class KernelSVM(Embedding):
    """RBF support vector machines, one per label.

    The kernel is computed once for all labels and folds: on yeast that is four times as fast as one
    ``SVC`` after the other. Its matrix has as many rows and columns as there are rows, so this is
    for a few thousand rows. One logistic curve for all labels, fitted out of fold, turns decision
    values into probabilities.

    Parameters
    ----------
    C : float, default=2.0
        Weight of the errors.
    gamma : float or "auto", default="auto"
        RBF width; "auto" is one over the sum of the variances of all features.
    {scale}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings import KernelSVM
    >>> X = np.random.default_rng(0).normal(size=(90, 3))
    >>> Y = (X[:, :1] ** 2 > 0.5) * 1.0
    >>> f = KernelSVM().fit(X, Y, fold=np.arange(90) % 3)
    >>> bool(np.mean((f.out_of_fold_ > 0.5) == Y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [POSITIVE],
        "gamma": [POSITIVE, Choice("auto")],
        "scale": SCALE_CONSTRAINT,
    }

    uses_weights: ClassVar[bool] = True

    def __init__(
        self, C: float = 2.0, gamma: float | str = "auto", scale: str | None = "auto"
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.scale = scale

    def fit(self, X: Any, Y: Any, fold: np.ndarray, context: FitContext | None = None) -> KernelSVM:
        """Learn one machine per label and fold."""
        self.check()
        context = FitContext() if context is None else context
        weights = context.sample_weight
        self.scaler_ = fitted_scaler(X, self.scale, weights)
        Z = scaled(X, self.scaler_)
        self.gamma_ = _width(Z, weights) if self.gamma == "auto" else float(self.gamma)
        self._kernel, self._context = rbf_kernel(Z, gamma=self.gamma_), context
        targets = LabelColumns(Y, weights)
        margins = np.full(targets.shape, np.nan)
        for k in range(int(fold.max()) + 1):
            held, rows = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
            machines, intercepts = self._machines(targets, rows)
            margins[held] = self._kernel[np.ix_(held, rows)] @ machines[rows] + intercepts
        self.slope_, self.rate_ = bounding_slope(margins, targets), targets.rate
        self.out_of_fold_ = self._bounded(margins)
        return self

    def finish(self, X: Any, Y: Any, outputs: np.ndarray) -> None:
        """Fit the wanted outputs on all rows and keep their support vectors."""
        targets = LabelColumns(Y).of(outputs)
        weights, self.intercepts_ = self._machines(targets, np.arange(targets.shape[0]))
        support = np.flatnonzero(np.nan_to_num(weights).any(axis=1))
        self.weights_ = weights[support]
        # Where no label varies there are none, which a scaler would refuse.
        self.support_ = scaled(X[support], self.scaler_) if len(support) else X[support]
        self.rate_ = self.rate_[outputs]
        forget(self, "out_of_fold_", "_kernel", "_context")

    def predict(self, X: Any) -> np.ndarray:
        """Return the probability of every output."""
        X = scaled(X, self.scaler_)
        if len(self.weights_) == 0:
            return np.tile(self._bounded(self.intercepts_[None]), (X.shape[0], 1))
        kernel = rbf_kernel(X, self.support_, gamma=self.gamma_)
        return self._bounded(kernel @ self.weights_ + self.intercepts_)

    def _machines(self, targets: LabelColumns, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights of all rows and intercepts, NaN for a label that does not vary."""
        kernel = self._kernel[np.ix_(rows, rows)]
        weights_of_rows = self._context.weights_of(rows)
        found = Parallel(n_jobs=self._context.n_jobs, prefer="threads")(
            delayed(_fit_one)(self.C, kernel, rows, *targets.column(j), weights_of_rows)
            for j in range(targets.shape[1])
        )
        weights = np.zeros((targets.shape[0], targets.shape[1]))
        intercepts = np.full(targets.shape[1], np.nan)
        for j, (support, coefficients, intercept) in enumerate(found):
            weights[support, j], intercepts[j] = coefficients, intercept
        return weights, intercepts

    def _bounded(self, margins: np.ndarray) -> np.ndarray:
        """Return probabilities; where no machine was learned, the rate of the label."""
        return np.where(np.isnan(margins), self.rate_, expit(self.slope_ * margins))


def _fit_one(
    C: float,
    kernel: np.ndarray,
    rows: np.ndarray,
    y: np.ndarray,
    known: np.ndarray | None,
    weights: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the support rows of one label, their weights and the intercept."""
    y = y[rows]
    if known is not None and not known[rows].all():
        among = np.flatnonzero(known[rows])
        kernel, rows, y = kernel[np.ix_(among, among)], rows[among], y[among]
        weights = None if weights is None else weights[among]
    if len(y) == 0 or y.min() == y.max():
        return np.zeros(0, dtype=np.intp), np.zeros(0), np.nan
    machine = SVC(C=C, kernel="precomputed", tol=TOLERANCE).fit(kernel, y, weights)
    return rows[machine.support_], machine.dual_coef_[0], float(machine.intercept_[0])


def _width(X: Any, weights: np.ndarray | None = None) -> float:
    """One over the variances of all features together, wherever these are measured from."""
    if sparse.issparse(X):
        rows = sparse.csr_matrix(X)
        variance = float(mean_variance_axis(rows, axis=0, weights=weights)[1].sum())
    elif weights is not None:
        share = weights / weights.sum()
        variance = float((share @ (X - share @ X) ** 2).sum())
    else:
        variance = float(X.var(axis=0).sum())
    return 1.0 / variance if variance > 0 else 1.0
