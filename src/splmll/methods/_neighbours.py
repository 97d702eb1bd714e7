"""The nearest training rows of other rows and of each other: exact, or by an approximate index.

The exact search compares every pair of rows. The approximate one sorts the training rows into cells
around centres and compares a row with those of the nearest cells only.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from splmll.arrays import dense
from splmll.constraints import Choice
from splmll.methods._brute_force import BruteForceSearch

#: What ``search`` may be, as a row of ``_parameter_constraints``.
SEARCH_CONSTRAINT: list[Any] = [Choice("exact", "approximate", "auto")]
APPROXIMATE_ROWS = 100_000  # "auto": from so many rows on the approximate index is used
# The makers of faiss advise 4 to 16 times sqrt(n) cells and at least 39 rows for each.
_CELLS_PER_ROOT = 4
_ROWS_PER_CELL = 39
# Share of the cells that is searched. In trials 1/16 found 97% and more of the neighbours.
_SEARCHED = 1 / 16
_FEWEST_SEARCHED = 8


class NeighbourSearch:
    """The k nearest training rows.

    Parameters
    ----------
    search : {"exact", "approximate", "auto"}
        "auto" is approximate from ``APPROXIMATE_ROWS`` (100,000) training rows on, where the
        package faiss is installed and can take the data, and exact otherwise.
    n_neighbors : int
        How many neighbours (k).
    metric : str or callable
        Distance.
    n_jobs : int or None
        Number of parallel jobs.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._neighbours import NeighbourSearch
    >>> search = NeighbourSearch("exact", 1).fit(np.array([[0.0], [1.0], [5.0]]))
    >>> search.of_training_rows().ravel()
    array([1, 0, 1])
    >>> search.of(np.array([[4.0]])).ravel()
    array([2])
    """

    def __init__(
        self, search: str, n_neighbors: int, metric: Any = "euclidean", n_jobs: int | None = None
    ) -> None:
        self.search = search
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X: Any) -> NeighbourSearch:
        """Remember the training rows."""
        self.approximate = self._is_approximate(X)
        if self.approximate:
            self.index: Any = self._build(X)
        elif BruteForceSearch.takes(X, self.metric):
            self.index = BruteForceSearch(X, self.n_jobs)
        else:
            self.index = NearestNeighbors(
                n_neighbors=self.n_neighbors, metric=self.metric, n_jobs=self.n_jobs
            ).fit(X)
        return self

    def of(self, X: Any, n_neighbors: int | None = None) -> np.ndarray:
        """Return the numbers of the nearest training rows, shape (n_rows, n_neighbors)."""
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if self.approximate:
            return self._look_up(self._vectors(X), k)
        if isinstance(self.index, BruteForceSearch):
            return self.index.of(X, k)
        return np.asarray(self.index.kneighbors(X, n_neighbors=k, return_distance=False))

    def of_training_rows(self) -> np.ndarray:
        """Return the neighbours of every training row, of which it is none itself."""
        if isinstance(self.index, BruteForceSearch):
            return self.index.of_training_rows(self.n_neighbors)
        if not self.approximate:
            # Without an argument the search leaves each row out of its own neighbours.
            return np.asarray(self.index.kneighbors(return_distance=False))
        found = self._look_up(self.index.reconstruct_n(0, self.index.ntotal), self.n_neighbors + 1)
        itself = found == np.arange(len(found))[:, None]
        # A row with many copies may be missing from its own list; then the farthest one goes.
        itself[~itself.any(axis=1), -1] = True
        return found[~itself].reshape(len(found), self.n_neighbors)

    def _is_approximate(self, X: Any) -> bool:
        check_search(self.search)
        possible = not sparse.issparse(X) and self.metric in ("euclidean", "cosine")
        if self.search == "approximate" and not possible:
            raise ValueError(
                'search="approximate" works on dense features with the metric "euclidean" or '
                '"cosine": use search="exact", or make the features dense and few, for instance '
                "with TruncatedSVD."
            )
        if self.search == "auto":
            return possible and X.shape[0] >= APPROXIMATE_ROWS and find_spec("faiss") is not None
        return self.search == "approximate"

    def _vectors(self, X: Any) -> np.ndarray:
        X = dense(X)
        if self.metric == "cosine":
            # Between rows of length 1 the Euclidean distance grows with the angle.
            X = normalize(X)
        return np.ascontiguousarray(X, dtype=np.float32)

    def _build(self, X: Any) -> Any:
        import faiss

        vectors = self._vectors(X)
        n_rows, width = vectors.shape
        n_cells = min(int(_CELLS_PER_ROOT * np.sqrt(n_rows)), n_rows // _ROWS_PER_CELL)
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(width), width, max(1, n_cells))
        index.nprobe = min(index.nlist, max(_FEWEST_SEARCHED, round(_SEARCHED * index.nlist)))
        index.cp.seed = 0  # the centres start by chance; a method stays deterministic
        index.train(vectors)
        index.add(vectors)
        index.make_direct_map()
        return index

    def _look_up(self, vectors: np.ndarray, n_neighbors: int) -> np.ndarray:
        import faiss

        found = self.index.search(vectors, n_neighbors)[1]
        short = np.flatnonzero((found < 0).any(axis=1))
        if short.size:
            # Too few rows in the cells searched: for these rows all cells.
            everywhere = faiss.SearchParametersIVF()
            everywhere.nprobe = self.index.nlist
            found[short] = self.index.search(vectors[short], n_neighbors, params=everywhere)[1]
        return found

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self).copy()
        if state.get("approximate"):
            import faiss

            state["index"] = faiss.serialize_index(self.index)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if state.get("approximate"):
            import faiss

            self.index = faiss.deserialize_index(state["index"])


def check_search(search: str) -> None:
    """Refuse an approximate search without its package."""
    if search == "approximate" and find_spec("faiss") is None:
        raise ImportError(
            'search="approximate" needs the package faiss: pip install "splmll[neighbours]", '
            'or set search="exact".'
        )
