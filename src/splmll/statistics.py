"""Sums over rows that are all the exact solver needs: X'X, X'Y, Y'Y and their kin.

They add up over chunks, files and machines, and they subtract: the statistics of all folds
but one are the total less that fold. Unknown labels (NaN in Y) are counted pairwise: each sum
runs over the rows where what it needs is known. Rows may have weights: a row of weight 2 is summed
like two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from splmll.arrays import dense
from splmll.sample_weights import weighed

CHUNK_ROWS = 8192  # rows converted to float64 at a time
CHUNK_ENTRIES = 2**19  # or so many entries of sparse rows, if those are more rows
GATHERED = 2  # chunks put into the order of their folds at a time
MOST_DENSE_LABELS = 2000  # beyond so many labels Y'Y is kept sparse
# A sparse product handles one label of a row in the time of about twelve in a dense one. It pays
# for finding the labels only where there are features enough.
SPARSE_SHARE, MOST_FEATURES_FOR_DENSE = 0.04, 64

# A feature whose spread is smaller than this share of its size is constant but for rounding.
_CONSTANT = 1e-14

# What differences of weighted sums leave of nothing, relative to the weight of all rows.
_NOTHING = 1e-12


KnownSums = tuple[np.ndarray, np.ndarray, np.ndarray]


class Statistics:
    """Sums over the rows seen so far.

    The constant 1 is the first feature: ``xx[0, 0]`` counts rows, ``xx[0, 1:]`` sums features,
    ``xy[0]`` sums labels over the rows where they are known.

    Features may be measured from a reference point near their means, ``shift``. Means and
    covariances come out the same, but without the digits that large means would cost.

    Parameters
    ----------
    xx : ndarray of shape (n_features + 1, n_features + 1)
        Sum of x x'.
    xy : ndarray of shape (n_features + 1, n_labels)
        Sum of x y' over the rows where the label is known.
    yy : ndarray or CSR array of shape (n_labels, n_labels), or None
        Sum of y y' over the rows where both labels are known; None where it is not wanted.
    xk : ndarray of shape (n_features + 1, n_labels), optional
        Sum of x over the rows where the label is known. This and the next two may be left out
        where every label is known: they then follow from the others and take no memory.
    yk : ndarray of shape (n_labels, n_labels), optional
        ``yk[j, l]`` sums label j over the rows where j and l are known.
    kk : ndarray of shape (n_labels, n_labels), optional
        Number of rows where both labels are known.
    shift : ndarray of shape (n_features,), optional
        Where the features are measured from; zero by default.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.statistics import Statistics
    >>> X, Y = np.arange(6.0).reshape(3, 2), np.array([[1.0, 0], [0, 1], [1, 1]])
    >>> whole = Statistics.of(X, Y)
    >>> halves = Statistics.of(X[:1], Y[:1]) + Statistics.of(X[1:], Y[1:])
    >>> bool(np.allclose(whole.xy, halves.xy)), int(whole.n_rows)
    (True, 3)
    """

    def __init__(
        self,
        xx: np.ndarray,
        xy: np.ndarray,
        yy: Any,
        xk: np.ndarray | None = None,
        yk: np.ndarray | None = None,
        kk: np.ndarray | None = None,
        shift: np.ndarray | None = None,
    ) -> None:
        self.xx, self.xy, self.yy = xx, xy, yy
        self.known_sums: KnownSums | None = None
        if xk is not None and yk is not None and kk is not None:
            self.known_sums = xk, yk, kk
        self.shift = shift

    @classmethod
    def zeros(
        cls,
        n_features: int,
        n_labels: int,
        *,
        shift: np.ndarray | None = None,
        label_pairs: bool = True,
    ) -> Statistics:
        """Return the statistics of no row; without ``label_pairs`` Y'Y is left out."""
        D, C = n_features + 1, n_labels
        yy: Any = None
        if label_pairs:
            yy = np.zeros((C, C)) if C <= MOST_DENSE_LABELS else sparse.csr_array((C, C))
        return cls(np.zeros((D, D)), np.zeros((D, C)), yy, shift=shift)

    @classmethod
    def of(
        cls,
        X: Any,
        Y: Any,
        *,
        shift: np.ndarray | None = None,
        label_pairs: bool = True,
        weights: np.ndarray | None = None,
    ) -> Statistics:
        """Return the statistics of an in-memory data set, dense or sparse."""
        statistics = cls.zeros(X.shape[1], Y.shape[1], shift=shift, label_pairs=label_pairs)
        add_by_fold([statistics], X, Y, np.zeros(X.shape[0], dtype=np.intp), weights)
        return statistics

    # Sums -----------------------------------------------------------------------------------

    @property
    def n_rows(self) -> float:
        """Number of rows summed, or the sum of their weights."""
        return float(self.xx[0, 0])

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.xy.shape[1]

    @property
    def all_known(self) -> bool:
        """Whether every label of every row is known."""
        return self.known_sums is None or bool((self.known_sums[0][0] == self.n_rows).all())

    @property
    def xk(self) -> np.ndarray:
        """Sum of x over the rows where the label is known."""
        if self.known_sums is not None:
            return self.known_sums[0]
        return np.broadcast_to(self.xx[0][:, None], self.xy.shape)

    @property
    def yk(self) -> Any:
        """``yk[j, l]`` sums label j over the rows where j and l are known."""
        if self.known_sums is not None:
            return self.known_sums[1]
        return np.broadcast_to(self.xy[0][:, None], (self.n_labels, self.n_labels))

    @property
    def kk(self) -> Any:
        """Number of rows where both labels are known."""
        if self.known_sums is not None:
            return self.known_sums[2]
        return np.broadcast_to(self.n_rows, (self.n_labels, self.n_labels))

    def add(self, X: Any, Y: Any, weights: np.ndarray | None = None) -> None:
        """Add the rows of one chunk."""
        if sparse.issparse(X) and self.shift is not None:
            # Sparse rows stay sparse: they are summed as they are, and the sums are moved.
            self += Statistics.of(X, Y, label_pairs=self.yy is not None, weights=weights)
            return
        if self.shift is None:
            X = X.astype(np.float64, copy=False)
        else:
            X = np.subtract(X, self.shift, dtype=np.float64)
        self.add_shifted(X, Y, weights)

    def add_shifted(self, X: Any, Y: Any, weights: np.ndarray | None = None) -> None:
        """Add rows of float64 that are already measured from ``shift``."""
        Y, known = split_unknown(Y)
        if not sparse.issparse(Y) and known is None and (sparse.issparse(self.yy) or _few(X, Y)):
            Y = sparse.csr_array(Y)
        if known is not None and self.known_sums is None:
            self.known_sums = self.xk.copy(), self.yk.copy(), self.kk.copy()
        n_rows = X.shape[0] if weights is None else weights.sum()
        x_sum = np.concatenate([[n_rows], _column_sums(X, weights)])
        y_sum = _column_sums(Y, weights)
        k_sum = n_rows if known is None else _column_sums(known, weights)
        if weights is not None:
            # Every product below then has each row times its weight.
            root = np.sqrt(weights)
            X, Y = weighed(X, root), weighed(Y, root)
            known = None if known is None else weighed(known, root)
        # NumPy sees that both factors are the same and calls BLAS's syrk: half the work.
        self.xx[1:, 1:] += dense(X.T @ X)
        self.xx[0] += x_sum
        self.xx[1:, 0] += x_sum[1:]
        self.xy[0] += y_sum
        self.xy[1:] += dense(X.T @ Y)
        if sparse.issparse(self.yy):
            self.yy = self.yy + Y.T @ Y
        elif self.yy is not None:
            self.yy += dense(Y.T @ Y)
        if self.known_sums is None:
            return
        xk, yk, kk = self.known_sums
        if known is None:
            xk += x_sum[:, None]
            yk += y_sum[:, None]
            kk += n_rows
        else:
            xk[0] += k_sum
            xk[1:] += dense(X.T @ known)
            yk += dense(Y.T @ known)
            kk += known.T @ known

    def moved(self, shift: np.ndarray | None) -> Statistics:
        """Return the same statistics with the features measured from another point."""
        origin = np.zeros(len(self.xx) - 1)
        old, new = (origin if point is None else point for point in (self.shift, shift))
        step = old - new
        if not step.any():
            return self._like(self.xx, self.xy, self.yy, self.known_sums, shift)
        xx, n, x_sum = self.xx.copy(), self.n_rows, self.xx[0, 1:]
        xx[1:, 1:] += np.outer(step, x_sum) + np.outer(x_sum, step) + n * np.outer(step, step)
        xx[0, 1:] += n * step
        xx[1:, 0] += n * step
        xy, known_sums = self.xy.copy(), self.known_sums
        xy[1:] += np.outer(step, self.xy[0])
        if known_sums is not None:
            xk = known_sums[0].copy()
            xk[1:] += np.outer(step, xk[0])
            known_sums = xk, known_sums[1], known_sums[2]
        return self._like(xx, xy, self.yy, known_sums, shift)

    def __iadd__(self, other: Statistics) -> Statistics:
        if other.known_sums is not None and self.known_sums is None:
            self.known_sums = self.xk.copy(), self.yk.copy(), self.kk.copy()
        other = other if _same(other.shift, self.shift) else other.moved(self.shift)
        if self.known_sums is not None:
            for mine, its in zip(self.known_sums, (other.xk, other.yk, other.kk), strict=True):
                mine += its
        self.xx += other.xx
        self.xy += other.xy
        if self.yy is not None:
            self.yy = self.yy + other.yy if sparse.issparse(self.yy) else _plus(self.yy, other.yy)
        return self

    def __add__(self, other: Statistics) -> Statistics:
        result = self.copy()
        result += other
        return result

    def __sub__(self, other: Statistics) -> Statistics:
        other = other if _same(other.shift, self.shift) else other.moved(self.shift)
        known = None
        if self.known_sums is not None:
            known = (self.xk - other.xk, self.yk - other.yk, self.kk - other.kk)
        yy = None if self.yy is None else self.yy - other.yy
        return self._like(self.xx - other.xx, self.xy - other.xy, yy, known, self.shift)

    def copy(self) -> Statistics:
        """Return an independent copy."""
        yy = None if self.yy is None else self.yy.copy()
        known = None
        if self.known_sums is not None:
            known = self.xk.copy(), self.yk.copy(), self.kk.copy()
        return self._like(self.xx.copy(), self.xy.copy(), yy, known, self.shift)

    @staticmethod
    def _like(
        xx: np.ndarray, xy: np.ndarray, yy: Any, known: KnownSums | None, shift: np.ndarray | None
    ) -> Statistics:
        result = Statistics(xx, xy, yy, shift=shift)
        result.known_sums = known
        return result

    # Parts ----------------------------------------------------------------------------------

    def of_labels(self, labels: np.ndarray) -> Statistics:
        """Return the statistics of some of the labels."""
        pairs = np.ix_(labels, labels)
        yy = self.yy
        if sparse.issparse(yy):
            yy = yy[labels][:, labels].toarray()
        elif yy is not None:
            yy = yy[pairs]
        known = None
        if self.known_sums is not None:
            known = (self.xk[:, labels], self.yk[pairs], self.kk[pairs])
        return self._like(self.xx, self.xy[:, labels], yy, known, self.shift)

    def of_features(self, features: np.ndarray) -> Statistics:
        """Return the statistics of some of the features with all labels, without Y'Y."""
        kept = np.concatenate([[0], np.asarray(features, dtype=np.intp) + 1])
        known = None if self.known_sums is None else (self.xk[kept], self.yk, self.kk)
        shift = None if self.shift is None else self.shift[features]
        return self._like(self.xx[np.ix_(kept, kept)], self.xy[kept], None, known, shift)

    def labels_only(self) -> Statistics:
        """Return the statistics of no feature."""
        known = None if self.known_sums is None else (self.xk[:1], self.yk, self.kk)
        return self._like(self.xx[:1, :1], self.xy[:1], self.yy, known, None)

    def mapped(self, weights: np.ndarray) -> Statistics:
        """Return the statistics of the features [1, X] W without looking at a row again.

        Parameters
        ----------
        weights : ndarray of shape (n_features + 1, n_outputs)
            Intercept and weights for the features as they are, one above the other.
        """
        extended = np.column_stack([np.eye(len(weights))[:, 0], weights])  # keeps the constant
        if self.shift is not None:
            extended[0, 1:] += self.shift @ weights[1:]
        known = None
        if self.known_sums is not None:
            known = (extended.T @ self.xk, self.yk, self.kk)
        xx, xy = extended.T @ self.xx @ extended, extended.T @ self.xy
        return self._like(xx, xy, self.yy, known, None)

    # Means and covariances --------------------------------------------------------------------

    @property
    def shifted_mean(self) -> np.ndarray:
        """Mean of every feature, measured from ``shift``."""
        return self.xx[0, 1:] / self.n_rows

    @property
    def feature_mean(self) -> np.ndarray:
        """Mean of every feature."""
        return self.shifted_mean if self.shift is None else self.shift + self.shifted_mean

    @property
    def feature_variance(self) -> np.ndarray:
        """Variance of every feature."""
        square = np.diag(self.xx)[1:] / self.n_rows
        variance = square - self.shifted_mean**2
        # Rounding leaves a constant feature with a variance of the order of its square times eps.
        floor = 1e-12 * square
        if self.shift is not None:
            floor = floor + (_CONSTANT * self.shift) ** 2
        return np.where(variance > floor, variance, 0.0)

    @property
    def feature_scale(self) -> np.ndarray:
        """Standard deviation of every feature; 1 for a constant one."""
        variance = self.feature_variance
        return np.where(variance > 0, np.sqrt(variance), 1.0)

    @property
    def label_mean(self) -> np.ndarray:
        """Mean of every label over the rows where it is known (0 where it never is)."""
        mean = self.xy[0] / self._counted(self.xk[0])
        # Both sums are rounded where rows have weights: what is always true has the mean 1.
        return np.where(np.abs(mean - 1) < _NOTHING, 1.0, mean)

    def feature_covariance(self) -> np.ndarray:
        """Return the covariance of the features."""
        mean = self.shifted_mean
        return self.xx[1:, 1:] / self.n_rows - np.outer(mean, mean)

    def cross_covariance(self) -> np.ndarray:
        """Return the covariance of features and labels, each label over its known rows."""
        known = self._counted(self.xk[0])
        return self.xy[1:] / known - (self.xk[1:] / known) * self.label_mean

    def label_moments(self, center: bool) -> np.ndarray:
        """Return Y'Y / n (the covariance if ``center``), positive semi-definite.

        Pairwise-available moments need not be positive semi-definite; their negative
        eigenvalues are set to zero, which gives the nearest matrix that is.
        """
        if self.all_known:
            moments = dense(self.yy) / self.n_rows
            return moments - np.outer(self.label_mean, self.label_mean) if center else moments
        known = self._counted(self.kk)
        moments = self.yy / known
        if center:
            moments = moments - (self.yk / known) * (self.yk.T / known)
        values, vectors = np.linalg.eigh((moments + moments.T) / 2)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T

    def _counted(self, known: np.ndarray) -> np.ndarray:
        """Return what sums over known rows are divided by: 1 where there are none."""
        return np.where(known > _NOTHING * self.n_rows, known, 1.0)


def sum_of(parts: Sequence[Statistics]) -> Statistics:
    """Return the statistics of all rows from those of their parts."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def reference_point(X: Any) -> np.ndarray | None:
    """Return a point near the means of the features to measure them from; None for sparse rows.

    The mean of the first rows will do: what it saves is the distance to zero.
    """
    if sparse.issparse(X):
        return None
    return np.asarray(X[:CHUNK_ROWS].mean(axis=0, dtype=np.float64))


def add_by_fold(
    parts: Sequence[Statistics],
    X: Any,
    Y: Any,
    fold: np.ndarray,
    weights: np.ndarray | None = None,
) -> None:
    """Add rows to the statistics of their folds."""
    rows = _chunk_rows(X, Y)
    if len(parts) == 1:
        for start in range(0, X.shape[0], rows):
            chunk = slice(start, start + rows)
            parts[0].add(X[chunk], Y[chunk], None if weights is None else weights[chunk])
        return
    rows *= len(parts) if sparse.issparse(X) else GATHERED
    gather_X, gather_Y = _Gathering(X, rows), _Gathering(Y, rows)
    for start in range(0, X.shape[0], rows):
        numbers = fold[start : start + rows]
        in_order = np.argsort(numbers, kind="stable")
        edges = np.searchsorted(numbers[in_order], np.arange(len(parts) + 1))
        X_block, Y_block = gather_X(start, in_order), gather_Y(start, in_order)
        for k, statistics in enumerate(parts):
            if edges[k] == edges[k + 1]:
                continue
            of_fold = slice(edges[k], edges[k + 1])
            X_rows, Y_rows = X_block[of_fold], Y_block[of_fold]
            its = None if weights is None else weights[start + in_order[of_fold]]
            if gather_X.owned and X.dtype == np.float64 and statistics.shift is not None:
                X_rows -= statistics.shift
                statistics.add_shifted(X_rows, Y_rows, its)
            else:
                statistics.add(X_rows, Y_rows, its)


def _chunk_rows(X: Any, Y: Any) -> int:
    """Return how many rows are summed at a time; of sparse ones as many as a product is good at."""
    if not sparse.issparse(X):
        return CHUNK_ROWS
    rows = CHUNK_ENTRIES * X.shape[0] // max(1, X.nnz)
    if not sparse.issparse(Y):
        rows = min(rows, 4 * CHUNK_ENTRIES // max(1, Y.shape[1]))
    return max(CHUNK_ROWS, rows)


class _Gathering:
    """Rows of a table in a given order, dense ones always in the same piece of memory.

    New memory for every block would cost as much time as filling it.
    """

    def __init__(self, table: Any, most_rows: int) -> None:
        self.table, self.owned = table, not sparse.issparse(table)
        if self.owned:
            n_rows, width = table.shape
            self.memory = np.empty((min(most_rows, n_rows), width), dtype=table.dtype)

    def __call__(self, start: int, order: np.ndarray) -> Any:
        """Return the rows from ``start`` on in this order; they last until the next call."""
        block = self.table[start : start + len(order)]
        if not self.owned:
            return block[order]
        # Without a mode NumPy would gather into other memory first, in case an index is wrong.
        return np.take(block, order, axis=0, out=self.memory[: len(order)], mode="clip")


def fold_statistics(
    X: Any,
    Y: Any,
    fold: np.ndarray,
    *,
    center_features: bool = True,
    label_pairs: bool = True,
    weights: np.ndarray | None = None,
) -> list[Statistics]:
    """Return the statistics of every fold of an in-memory data set.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        Features.
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        Labels; NaN where unknown.
    fold : ndarray of int
        Fold number of every row.
    center_features : bool, default=True
        Measure dense features from a point near their means.
    label_pairs : bool, default=True
        Whether Y'Y is wanted.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows; 1 by default.

    Returns
    -------
    parts : list of Statistics
    """
    shift = reference_point(X) if center_features and X.shape[1] else None
    parts = [
        Statistics.zeros(X.shape[1], Y.shape[1], shift=shift, label_pairs=label_pairs)
        for _ in range(int(fold.max()) + 1)
    ]
    add_by_fold(parts, X, Y, fold, weights)
    return parts


def split_unknown(Y: Any) -> tuple[Any, np.ndarray | None]:
    """Return labels with unknown entries set to 0, and where they are known (None: everywhere)."""
    if sparse.issparse(Y):
        if not np.isnan(Y.data).any():
            return Y, None
        known = np.ones(Y.shape)
        coordinates = Y.tocoo()
        lost = np.isnan(coordinates.data)
        known[coordinates.row[lost], coordinates.col[lost]] = 0.0
        Y = Y.copy()
        Y.data = np.nan_to_num(Y.data)
        return Y, known
    known = ~np.isnan(Y)
    if known.all():
        return Y, None
    return np.where(known, Y, 0.0), known.astype(np.float64)


def _column_sums(table: Any, weights: np.ndarray | None) -> np.ndarray:
    sums = table.sum(axis=0) if weights is None else table.T @ weights
    return np.asarray(sums).ravel()


def _few(X: Any, Y: np.ndarray) -> bool:
    """Whether so few labels are true that a sparse product with dense rows is the faster one."""
    if sparse.issparse(X) or X.shape[1] < MOST_FEATURES_FOR_DENSE:
        return False
    return bool(np.count_nonzero(Y) <= SPARSE_SHARE * Y.size)


def _plus(matrix: np.ndarray, other: np.ndarray) -> np.ndarray:
    matrix += other
    return matrix


def _same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or np.array_equal(one, other)
