"""Ridge regression where features are too many for their D x D matrix.

With fewer rows than features the N x N matrix of the rows' inner products gives the same answer.
Where both are many, conjugate gradients solve for all labels at once with nothing but products
with the data, which stays sparse if it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from scipy import linalg, sparse

from splmll.arrays import dense
from splmll.sample_weights import weighed
from splmll.statistics import split_unknown

# The largest size of the square matrices of a direct solution: with five folds 2990 features, or
# 2590 rows. Beyond, it also takes longer than the iteration, for rows earlier than for features.
DIRECT_BYTES = 2**30
DIRECT_BYTES_OF_ROWS = 2**28

# The iteration ends when the residual has fallen to this share of the right-hand side. Scores
# then differ by less than the noise of any measure.
TOLERANCE = 1e-5
MAX_ITERATIONS = 1000

BLOCK_BYTES = 2**29  # of the vectors of one iteration; labels are solved in blocks of that size
_VECTORS = 5  # weights, residual, direction, its image and a temporary

_NUMBER = 8  # bytes
_ROUNDING = 1e-12  # a smaller share of a feature's mean square is no variance


def by_features_bytes(n_features: int, n_folds: int) -> int:
    """Return the memory of D x D matrices: statistics and eigenvectors of every fold.

    Examples
    --------
    >>> from splmll.embeddings.wide_ridge import by_features_bytes
    >>> by_features_bytes(1000, n_folds=5)
    120000000
    """
    return (2 * n_folds + 5) * n_features**2 * _NUMBER


def by_rows_bytes(n_rows: int) -> int:
    """Return the memory of N x N matrices: inner products, eigenvectors, those of held-out rows.

    Examples
    --------
    >>> from splmll.embeddings.wide_ridge import by_rows_bytes
    >>> by_rows_bytes(1000)
    40000000
    """
    return 5 * n_rows**2 * _NUMBER


def choose_solver(n_rows: int, n_features: int, n_folds: int) -> str:
    """Return "features", "rows" or "iterative": which matrix to solve with, if any.

    Examples
    --------
    >>> from splmll.embeddings.wide_ridge import choose_solver
    >>> choose_solver(10**6, 500, 5), choose_solver(2000, 50_000, 5), choose_solver(10**5, 2**20, 5)
    ('features', 'rows', 'iterative')
    """
    if n_rows < n_features and by_rows_bytes(n_rows) <= DIRECT_BYTES_OF_ROWS:
        return "rows"
    if by_features_bytes(n_features, n_folds) <= DIRECT_BYTES:
        return "features"
    return "iterative"


Predictor = Callable[[float], np.ndarray]


class Ridge(Protocol):
    """Ridge regression of some rows."""

    def predictor(self, X: Any) -> Predictor:
        """Return the predictions of other rows for all labels, as a function of alpha."""

    def map(self, alpha: float, labels: np.ndarray) -> np.ndarray:
        """Return intercept and weights for raw features, one above the other."""


def ridge_of(X: Any, Y: Any, scale: bool, solver: str, weights: np.ndarray | None = None) -> Ridge:
    """Return the ridge regression of these rows, not yet solved for any alpha."""
    return (RowRidge if solver == "rows" else IterativeRidge)(X, Y, scale, weights)


class StandardRows:
    """Rows measured from their means in units of their spread, sparse rows without writing it out.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        Features.
    mean, unit : ndarray of shape (n_features,)
        What is subtracted, and what is divided by then.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from splmll.embeddings.wide_ridge import StandardRows
    >>> X = np.array([[1.0, 0.0], [3.0, 0.0]])
    >>> rows = StandardRows(sparse.csr_array(X), np.array([2.0, 0.0]), np.ones(2))
    >>> rows @ np.array([[1.0], [5.0]])
    array([[-1.],
           [ 1.]])
    """

    def __init__(self, X: Any, mean: np.ndarray, unit: np.ndarray) -> None:
        if sparse.issparse(X):
            self.rows = sparse.csr_array(X, dtype=np.float64, copy=True)
            self.rows.data /= unit[self.rows.indices]
            self.centre = mean / unit  # what is still to be subtracted
        else:
            self.rows = (X.astype(np.float64, copy=False) - mean) / unit
            self.centre = np.zeros(len(mean))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and features."""
        return self.rows.shape

    def __matmul__(self, weights: np.ndarray) -> np.ndarray:
        return self.rows @ weights - self.centre @ weights

    def transposed(self, values: np.ndarray) -> np.ndarray:
        """Return the product of the transposed matrix with one value for every row."""
        return self.rows.T @ values - np.outer(self.centre, values.sum(axis=0))

    def inner(self, other: StandardRows) -> np.ndarray:
        """Return the inner products of these rows with others."""
        products = self.rows @ other.rows.T
        if not sparse.issparse(products):
            return products
        mine, its = self.rows @ self.centre, other.rows @ self.centre
        return products.toarray() - mine[:, None] - its + self.centre @ self.centre


class _RidgeBase:
    """Means and units of some rows, and their labels measured from the means."""

    def __init__(self, X: Any, Y: Any, scale: bool, weights: np.ndarray | None = None) -> None:
        self.row_weights = weights
        self.n_rows = X.shape[0] if weights is None else float(weights.sum())
        self.mean, variance = _mean_and_variance(X, weights)
        if scale:
            self.unit = np.where(variance > 0, np.sqrt(variance), 1.0)
        else:
            spread = np.sqrt(variance.mean()) if variance.any() else 1.0
            self.unit = np.full_like(variance, spread)
        self.rows = StandardRows(X, self.mean, self.unit)
        self.variance = variance / self.unit**2  # in these units
        labels, known = split_unknown(Y)
        labels = dense(labels)
        counts = known if weights is None or known is None else weighed(known, weights)
        count = self.n_rows if counts is None else counts.sum(axis=0)
        count = np.where(np.asarray(count) > 0, count, 1.0)
        sums = labels.sum(axis=0) if weights is None else weights @ labels
        self.label_mean = sums / count
        # Rows where a label is unknown do not count for it.
        self.targets = (labels - self.label_mean) * (1 if known is None else known) / count
        if weights is not None:
            self.targets = weighed(self.targets, weights)

    def _standard(self, X: Any) -> StandardRows:
        return StandardRows(X, self.mean, self.unit)

    def _raw(self, weights: np.ndarray, labels: np.ndarray) -> np.ndarray:
        weights = weights / self.unit[:, None]
        return np.vstack([self.label_mean[labels] - self.mean @ weights, weights])


class RowRidge(_RidgeBase):
    """The solution through the rows: X'(X X' / n + alpha I)^-1 T, for any alpha at once."""

    def __init__(self, X: Any, Y: Any, scale: bool, weights: np.ndarray | None = None) -> None:
        super().__init__(X, Y, scale, weights)
        inner, targets = self.rows.inner(self.rows) / self.n_rows, self.targets
        # A row of weight w counts as one that is the square root of w times as long.
        self.root = None if weights is None else np.sqrt(weights)
        if self.root is not None:
            inner *= np.outer(self.root, self.root)
            targets = weighed(targets, 1 / self.root)
        self.values, self.vectors = linalg.eigh(inner, overwrite_a=True, check_finite=False)
        self.rotated = self.vectors.T @ targets

    def predictor(self, X: Any) -> Predictor:
        """Return the predictions of other rows for all labels, as a function of alpha.

        The function keeps nothing of the N x N matrices but the part that these rows need.
        """
        vectors = weighed(self.vectors, self.root)
        projected = self._standard(X).inner(self.rows) @ vectors
        values, rotated, label_mean = self.values, self.rotated, self.label_mean
        return lambda alpha: projected @ _shrunk(rotated, values, alpha) + label_mean

    def map(self, alpha: float, labels: np.ndarray) -> np.ndarray:
        """Return intercept and weights for raw features, one above the other."""
        shrunk = _shrunk(self.rotated[:, labels], self.values, alpha)
        of_rows = self.vectors @ shrunk
        of_rows = weighed(of_rows, self.root)
        return self._raw(self.rows.transposed(of_rows), labels)


def _shrunk(rotated: np.ndarray, values: np.ndarray, alpha: float) -> np.ndarray:
    return rotated / (np.maximum(values, 0) + alpha)[:, None]


class IterativeRidge(_RidgeBase):
    """The solution of (X'X / n + alpha I) W = X'T by conjugate gradients, in blocks of labels."""

    def predictor(self, X: Any) -> Predictor:
        """Return the predictions of other rows for all labels, as a function of alpha."""
        rows = self._standard(X)

        def predict(alpha: float) -> np.ndarray:
            result = np.empty((rows.shape[0], self.targets.shape[1]))
            for block in label_blocks(self.rows.shape[1], self.targets.shape[1]):
                result[:, block] = rows @ self.weights(alpha, block) + self.label_mean[block]
            return result

        return predict

    def map(self, alpha: float, labels: np.ndarray) -> np.ndarray:
        """Return intercept and weights for raw features, one above the other."""
        weights = np.empty((self.rows.shape[1], len(labels)))
        for block in label_blocks(*weights.shape):
            weights[:, block] = self.weights(alpha, labels[block])
        return self._raw(weights, labels)

    def weights(self, alpha: float, labels: Any, start: np.ndarray | None = None) -> np.ndarray:
        """Return the weights of standardised features for some labels.

        They are sought in units in which the matrix has a constant diagonal: where features are
        not scaled, as words, that takes far fewer iterations.
        """
        n_rows, row_weights = self.n_rows, self.row_weights
        unit = 1 / np.sqrt(self.variance + alpha)[:, None]

        def times(direction: np.ndarray) -> np.ndarray:
            direction = unit * direction
            of_rows = self.rows @ direction
            of_rows = weighed(of_rows, row_weights)
            image = self.rows.transposed(of_rows)
            image /= n_rows
            image += alpha * direction
            image *= unit
            return image

        right = unit * self.rows.transposed(self.targets[:, labels])
        begin = None if start is None else start / unit
        return unit * conjugate_gradients(times, right, begin)


def conjugate_gradients(
    times: Any,
    right: np.ndarray,
    start: np.ndarray | None = None,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITERATIONS,
) -> np.ndarray:
    """Solve A W = R for a positive definite A, all columns of R at once.

    Every column has its own step lengths; the products with A, which are all the cost, are shared.
    It converges best where the diagonal of A is constant.

    Parameters
    ----------
    times : callable
        Multiplies A by a matrix of the shape of ``right``.
    right : ndarray of shape (n, n_columns)
        R.
    start : ndarray of the same shape, optional
        Where to begin; 0 by default.
    tol : float
        Largest length of a column's residual, relative to that of the column of R.
    max_iter : int
        Largest number of products.

    Returns
    -------
    solution : ndarray of the same shape

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings.wide_ridge import conjugate_gradients
    >>> A, R = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[3.0], [5.0]])
    >>> conjugate_gradients(lambda W: A @ W, R).round(6)
    array([[0.8],
           [1.4]])
    """
    solution = np.zeros_like(right) if start is None else start.copy()
    residual = right.copy() if start is None else right - times(solution)
    goal = tol**2 * np.einsum("ij,ij->j", right, right)
    square = np.einsum("ij,ij->j", residual, residual)
    direction = residual.copy()
    for _ in range(max_iter):
        if (square <= goal).all():
            break
        image = times(direction)
        slope = np.einsum("ij,ij->j", direction, image)
        step = np.divide(square, slope, out=np.zeros_like(square), where=slope > 0)
        solution += step * direction
        image *= step
        residual -= image
        before, square = square, np.einsum("ij,ij->j", residual, residual)
        direction *= np.divide(square, before, out=np.zeros_like(square), where=before > 0)
        direction += residual
    return solution


def label_blocks(n_features: int, n_labels: int) -> list[slice]:
    """Return blocks of labels whose vectors fit into ``BLOCK_BYTES``."""
    size = max(1, BLOCK_BYTES // (_VECTORS * _NUMBER * n_features))
    return [slice(start, min(start + size, n_labels)) for start in range(0, n_labels, size)]


class Explained:
    """How much of all labels' variance predictions explain after the best scaling of each.

    Recovery rescales every prediction, so what counts is how well it goes with its label.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings.wide_ridge import Explained
    >>> explained = Explained()
    >>> explained.add(np.array([[0.1], [0.3]]), np.array([[0.0], [1.0]]))
    >>> round(explained.total(), 6)
    0.25
    """

    def __init__(self) -> None:
        self.sums: Any = 0.0
        self.n_rows = 0.0

    def add(self, F: np.ndarray, Y: Any, weights: np.ndarray | None = None) -> None:
        """Add rows: their predictions and labels."""
        labels, known = split_unknown(dense(Y))
        known = np.ones(labels.shape) if known is None else known
        sums = F, F * F, F * labels, F * known, labels, known
        if weights is not None:
            sums = tuple(weighed(part, weights) for part in sums)
        self.sums = self.sums + np.stack([part.sum(axis=0) for part in sums])
        self.n_rows += len(F) if weights is None else float(weights.sum())

    def total(self) -> float:
        """Return the sum over the labels."""
        f, ff, fy, fk, y, known = self.sums
        known = np.where(known > 0, known, 1.0)
        variance = ff / self.n_rows - (f / self.n_rows) ** 2
        covariance = fy / known - (fk / known) * (y / known)
        return float(np.sum(covariance**2 / np.maximum(variance, 1e-300)))


def choose_alpha(
    Y: Any,
    folds: Sequence[np.ndarray],
    predict: Sequence[Predictor],
    alphas: Sequence[float],
    weights: np.ndarray | None = None,
) -> float:
    """Return the alpha that explains most out of fold, all of them tried.

    Parameters
    ----------
    Y : ndarray or CSR array
        Labels of all rows.
    folds : sequence of ndarray of int
        The rows of each fold.
    predict : sequence of callable
        Predictions of the rows of each fold by the other rows, as a function of alpha.
    alphas : sequence of float
        What to try.
    weights : ndarray of shape (n_rows,), optional
        Weights of all rows.
    """
    explained = []
    for alpha in alphas:
        tried = Explained()
        for rows, of_fold in zip(folds, predict, strict=True):
            tried.add(of_fold(alpha), Y[rows], None if weights is None else weights[rows])
        explained.append(tried.total())
    return alphas[int(np.argmax(explained))]


def choose_alpha_iteratively(
    X: Any,
    Y: Any,
    folds: Sequence[np.ndarray],
    scale: bool,
    alphas: Sequence[float],
    weights: np.ndarray | None = None,
) -> float:
    """Return the alpha that explains most out of fold, the most frequent labels deciding.

    A large alpha takes few iterations, and the solution for it is a good start for the next
    smaller one. In each fold they are tried in this order until one explains less than the one
    before. The labels that fit into one block decide: the sum is mostly that of frequent labels.
    """
    every = np.arange(Y.shape[0])
    positives = np.nan_to_num(np.asarray(split_unknown(Y)[0].sum(axis=0)).ravel())
    size = label_blocks(X.shape[1], Y.shape[1])[0].stop
    labels = np.sort(np.argsort(-positives, kind="stable")[:size])
    downwards = sorted(alphas, reverse=True)
    explained = [Explained() for _ in alphas]
    tried = len(alphas)
    for rows in folds:
        others = np.setdiff1d(every, rows)
        of_held, of_others = (None if weights is None else weights[r] for r in (rows, others))
        ridge = IterativeRidge(X[others], Y[others][:, labels], scale, of_others)
        held, held_labels = StandardRows(X[rows], ridge.mean, ridge.unit), Y[rows][:, labels]
        solved, best = None, -np.inf
        for number, alpha in enumerate(downwards[:tried]):
            solved = ridge.weights(alpha, slice(None), solved)
            predicted = held @ solved + ridge.label_mean
            explained[number].add(predicted, held_labels, of_held)
            here = Explained()
            here.add(predicted, held_labels, of_held)
            if here.total() < best:
                tried = number + 1
                break
            best = here.total()
    totals = [explained[number].total() for number in range(tried)]
    return downwards[int(np.argmax(totals))]


def _mean_and_variance(X: Any, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance of every feature; 0 for one that only rounding moves."""
    if weights is not None:
        mean = np.asarray(weights @ X).ravel() / weights.sum()
        if sparse.issparse(X):
            variance = np.asarray(weights @ X.multiply(X)).ravel() / weights.sum() - mean**2
        else:
            variance = weights @ (X - mean) ** 2 / weights.sum()
    elif sparse.issparse(X):
        sums = np.bincount(X.indices, weights=X.data, minlength=X.shape[1])
        squares = np.bincount(X.indices, weights=X.data**2, minlength=X.shape[1])
        mean = sums / X.shape[0]
        variance = squares / X.shape[0] - mean**2
    else:
        mean = X.mean(axis=0, dtype=np.float64)
        variance = X.var(axis=0, dtype=np.float64)
    return mean, np.where(variance > _ROUNDING * (variance + mean**2), variance, 0.0)
