"""The exact nearest rows by comparing all pairs: products in single precision, doubts in double.

scikit-learn compares all pairs in double precision, which took twice as long on dense and four
times as long on sparse rows. Single precision decides nearly every row; where rounding leaves a
doubt, double precision decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from splmll.arrays import dense

SPARSE_CELLS = 2**28  # sparse rows get a dense copy in single precision of at most so many numbers
FEWEST_FEATURES = 16  # below, scikit-learn's trees are faster than comparing all pairs
_BLOCK_CELLS = 2**23  # pairs in work at a time
_HUGE = 1e30  # a row this many times as long as the longest training row leaves single precision


class BruteForceSearch:
    """The k nearest training rows in Euclidean distance.

    A row is nearest where <x, row> - |row|^2 / 2 is largest. If the k-th and the next of these
    differ in single precision by more than rounding can explain, the k rows are certain; otherwise
    double precision decides between those in doubt. Among equally near rows the first are taken.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_features)
        Training rows.
    n_jobs : int or None
        Number of parallel jobs.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._brute_force import BruteForceSearch
    >>> search = BruteForceSearch(np.array([[0.0], [1.0], [5.0]]))
    >>> search.of_training_rows(1).ravel()
    array([1, 0, 1])
    """

    def __init__(self, X: Any, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs
        # Distances do not change with the origin, and rounding is least around the centre.
        self.centre = None if sparse.issparse(X) else np.asarray(X, np.float64).mean(axis=0)
        self.scale = 1.0
        self.scale = _lengths(self._centred(X)).max() or 1.0
        self.rows = self._centred(X)
        self.half_squares = _lengths(self.rows) ** 2 / 2
        # One more feature, always 1, takes the squares off within the product.
        self.transposed = np.vstack([dense(self.rows).T, -self.half_squares]).astype(np.float32)

    @staticmethod
    def takes(X: Any, metric: Any) -> bool:
        """Whether this search is made for such rows."""
        if metric != "euclidean":
            return False
        if sparse.issparse(X):
            return bool(np.prod(X.shape) <= SPARSE_CELLS)
        return bool(X.shape[1] >= FEWEST_FEATURES)

    def of(self, X: Any, n_neighbors: int) -> np.ndarray:
        """Return the numbers of the nearest training rows of other rows."""
        return self._search(self._centred(X), n_neighbors, itself=True)

    def of_training_rows(self, n_neighbors: int) -> np.ndarray:
        """Return the neighbours of every training row, of which it is none itself."""
        return self._search(self.rows, n_neighbors, itself=False)

    def _centred(self, X: Any) -> Any:
        """Return rows around the centre, the longest training row of length 1."""
        if self.centre is None:
            X = X if sparse.issparse(X) else np.asarray(X)
            return sparse.csr_array(X, dtype=np.float64) / self.scale
        X = dense(X)
        return (X - self.centre) / self.scale

    def _search(self, X: Any, k: int, *, itself: bool) -> np.ndarray:
        n_train = self.rows.shape[0]
        if k == n_train:
            return np.tile(np.arange(n_train), (X.shape[0], 1))
        step = max(1, _BLOCK_CELLS // n_train)
        starts = range(0, X.shape[0], step)
        if len(starts) == 1:  # a single row should not pay for a pool of workers
            return self._block(X, k, None if itself else 0)
        # The products let go of the interpreter's lock, so threads do.
        found = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._block)(X[start : start + step], k, None if itself else start)
            for start in starts
        )
        return np.concatenate(found)

    def _block(self, X: Any, k: int, first: int | None) -> np.ndarray:
        lengths = _lengths(X)
        rounding = self._rounding(X, lengths)
        closeness = self._single_precision(X, lengths > _HUGE) @ self.transposed
        rounding[lengths > _HUGE] = np.inf
        if first is not None:
            own = np.arange(X.shape[0])
            closeness[own, first + own] = -np.inf

        found, values = _largest(closeness, k + 1)
        doubtful = np.flatnonzero(~(values[:, k - 1] - values[:, k] > rounding))
        found = found[:, :k]
        for row in doubtful:
            surely = closeness[row] > values[row, k - 1] + rounding[row]
            possibly = closeness[row] >= values[row, k - 1] - rounding[row]
            if first is not None:
                possibly[first + row] = False
            x = X[[row]].toarray()[0] if sparse.issparse(X) else X[row]
            found[row] = self._decide(x, k, surely, np.flatnonzero(possibly & ~surely))
        return found

    def _decide(self, x: np.ndarray, k: int, surely: np.ndarray, open_: np.ndarray) -> np.ndarray:
        """Fill up the rows that are surely among the k nearest with the nearest of the others."""
        certain = np.flatnonzero(surely)
        closeness = self.rows[open_] @ x - self.half_squares[open_]
        best = np.argsort(-closeness, kind="stable")[: k - certain.size]
        return np.concatenate([certain, open_[best]])

    def _single_precision(self, X: Any, left_out: np.ndarray) -> Any:
        """Return the rows with a feature that is always 1, those left out with zeros for X."""
        one = np.ones((X.shape[0], 1), dtype=np.float32)
        if left_out.any():
            X = sparse.diags_array(np.where(left_out, 0.0, 1.0)) @ X
        if sparse.issparse(X):
            return sparse.hstack([X.astype(np.float32), sparse.csr_array(one)], format="csr")
        return np.hstack([X, one], dtype=np.float32, casting="same_kind")

    def _rounding(self, X: Any, lengths: np.ndarray) -> np.ndarray:
        """Bound of what rounding can do to the difference of two values, for every row of X."""
        n_terms = np.diff(X.indptr) if sparse.issparse(X) else X.shape[1]
        # Beside the sum: the conversions of both factors, the square and its difference.
        return 2 * (n_terms + 5) * np.finfo(np.float32).eps * (lengths + 0.5)


def _lengths(X: Any) -> np.ndarray:
    """Return the Euclidean lengths of rows."""
    if sparse.issparse(X):
        largest = np.abs(X).max(axis=1).toarray().ravel()
        largest[largest == 0] = 1.0
        scaled = sparse.diags_array(1 / largest) @ X
        return largest * np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    return np.linalg.norm(X, axis=1)


def _largest(values: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and values of the k largest values of each row, the largest first.

    Each of the k largest values lies in a group of columns whose maximum is among the k largest
    maxima, so most groups need one look only: faster than a partition of whole rows.
    """
    n_rows, n_columns = values.shape
    size = max(1, int(np.sqrt(n_columns / k)))
    n_groups = n_columns // size
    maxima = values[:, : size * n_groups].reshape(n_rows, size, n_groups).max(axis=1)
    groups = np.argpartition(maxima, -k, axis=1)[:, -k:]
    members = (groups[:, :, None] + n_groups * np.arange(size)).reshape(n_rows, k * size)
    left_over = np.arange(size * n_groups, n_columns)
    members = np.hstack([members, np.tile(left_over, (n_rows, 1))])
    candidates = np.take_along_axis(values, members, axis=1)
    best = np.argpartition(candidates, -k, axis=1)[:, -k:]
    best_values = np.take_along_axis(candidates, best, axis=1)
    order = np.argsort(-best_values, axis=1, kind="stable")
    columns = np.take_along_axis(members, np.take_along_axis(best, order, axis=1), axis=1)
    return columns, np.take_along_axis(best_values, order, axis=1).astype(np.float64)
