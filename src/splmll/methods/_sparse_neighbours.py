"""The exact nearest rows among sparse rows, by products with a dense copy in single precision.

scikit-learn compares sparse rows one pair at a time, which took three times as long on text. Single
precision decides nearly every row; where it leaves a doubt, double precision decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

DENSE_CELLS = 2**28  # the dense copy holds at most so many numbers: 1 GB
_BLOCK_CELLS = 2**22  # distances in work at a time


class SparseRowSearch:
    """The k nearest training rows in Euclidean distance, for sparse rows.

    A row is nearest where <x, row> - |row|^2 / 2 is largest. If the k-th and the next of these
    differ in single precision by more than rounding can explain, the k rows are certain; otherwise
    double precision decides between those in doubt. Among equally near rows the first ones are
    taken.

    Parameters
    ----------
    X : sparse array of shape (n_rows, n_features)
        Training rows.
    n_jobs : int or None
        Number of parallel jobs.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from splmll.methods._sparse_neighbours import SparseRowSearch
    >>> search = SparseRowSearch(sparse.csr_array([[0.0], [1.0], [5.0]]))
    >>> search.of_training_rows(1).ravel()
    array([1, 0, 1])
    """

    def __init__(self, X: Any, n_jobs: int | None = None) -> None:
        self.rows = sparse.csr_array(X, dtype=np.float64)
        self.n_jobs = n_jobs
        squares = self.rows.multiply(self.rows).sum(axis=1)
        self.half_squares = np.asarray(squares).ravel() / 2
        self.longest = np.sqrt(2 * self.half_squares.max())
        with np.errstate(over="ignore"):
            self.transposed = np.ascontiguousarray(self.rows.T.toarray(), dtype=np.float32)
            self.half_squares_single = self.half_squares.astype(np.float32)

    @staticmethod
    def takes(X: Any, metric: Any) -> bool:
        """Whether this search is made for such rows."""
        return sparse.issparse(X) and metric == "euclidean" and np.prod(X.shape) <= DENSE_CELLS

    def of(self, X: Any, n_neighbors: int) -> np.ndarray:
        """Return the numbers of the nearest training rows of other rows, in no certain order."""
        return self._search(sparse.csr_array(X, dtype=np.float64), n_neighbors, itself=True)

    def of_training_rows(self, n_neighbors: int) -> np.ndarray:
        """Return the neighbours of every training row, of which it is none itself."""
        return self._search(self.rows, n_neighbors, itself=False)

    def _search(self, X: sparse.csr_array, k: int, *, itself: bool) -> np.ndarray:
        step = max(1, _BLOCK_CELLS // self.rows.shape[0])
        # The products let go of the interpreter's lock, so threads do.
        found = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._block)(X[start : start + step], k, None if itself else start)
            for start in range(0, X.shape[0], step)
        )
        return np.concatenate(found)

    def _block(self, X: sparse.csr_array, k: int, first: int | None) -> np.ndarray:
        n_train = self.rows.shape[0]
        if k == n_train:
            return np.tile(np.arange(n_train), (X.shape[0], 1))
        with np.errstate(over="ignore", invalid="ignore"):
            closeness = X.astype(np.float32) @ self.transposed
            closeness -= self.half_squares_single
            if first is not None:
                own = np.arange(X.shape[0])
                closeness[own, first + own] = -np.inf
            # Of the k + 1 nearest the first is the farthest. A view would keep all the others.
            order = np.argpartition(closeness, n_train - k - 1, axis=1)[:, n_train - k - 1 :].copy()
            nearest = np.take_along_axis(closeness, order, axis=1).astype(np.float64)
            farthest = nearest[:, 1:].min(axis=1)
            rounding = self._rounding(X)
            found = order[:, 1:]
            for row in np.flatnonzero(~(farthest - nearest[:, 0] > rounding)):
                surely = closeness[row] > farthest[row] + rounding[row]
                surely_not = closeness[row] < farthest[row] - rounding[row]
                x = X[[row]].toarray().ravel()
                found[row] = self._decide(x, k, surely, np.flatnonzero(~(surely | surely_not)))
        return found

    def _decide(self, x: np.ndarray, k: int, surely: np.ndarray, open_: np.ndarray) -> np.ndarray:
        """Fill up the rows that are surely among the k nearest with the nearest of the others."""
        certain = np.flatnonzero(surely)
        closeness = self.rows[open_] @ x - self.half_squares[open_]
        best = np.argsort(-closeness, kind="stable")[: k - certain.size]
        return np.concatenate([certain, open_[best]])

    def _rounding(self, X: sparse.csr_array) -> np.ndarray:
        """Bound of what rounding can do to the difference of two values, for every row of X."""
        terms = np.diff(X.indptr) + 4  # additions, their products, the conversion, the square
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        largest = lengths * self.longest + self.longest**2 / 2
        return 2 * terms * np.finfo(np.float32).eps * largest
