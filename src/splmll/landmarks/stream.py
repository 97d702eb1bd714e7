"""Rows that arrive in chunks: statistics of each fold, and a bounded sample of rows.

Statistics are all that the linear model needs. Only thresholds need scores; they are tuned on
the sample, which is uniform over all rows seen (Vitter's algorithm R).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from splmll.landmarks.statistics import Statistics

SAMPLE_ROWS = 5000


class Stream:
    """What is kept of a stream of rows.

    Parameters
    ----------
    n_features, n_labels : int
        Width of the chunks.
    n_folds : int or None
        Rows are dealt at random into this many folds; None keeps them together.
    seed : int
        Seed of the folds and of the sample.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.stream import Stream
    >>> stream = Stream(n_features=2, n_labels=1, n_folds=2, seed=0)
    >>> for _ in range(3):
    ...     stream.add(np.ones((4, 2)), np.ones((4, 1)))
    >>> sum(fold.n_rows for fold in stream.folds)
    12.0
    """

    def __init__(self, n_features: int, n_labels: int, n_folds: int | None, seed: int) -> None:
        # Two sources, so that the fold of a row does not depend on how rows come in chunks.
        self.random_fold, self.random_place = np.random.default_rng(seed).spawn(2)
        self.folds = [Statistics.zeros(n_features, n_labels) for _ in range(n_folds or 1)]
        self.n_rows = 0
        self._rows: list[tuple[Any, Any, int]] = []

    def add(self, X: Any, Y: Any) -> None:
        """Add one chunk."""
        n = X.shape[0]
        fold = self.random_fold.integers(len(self.folds), size=n)
        for k, statistics in enumerate(self.folds):
            rows = fold == k
            if rows.any():
                statistics.add(X[rows], Y[rows])
        # Row number t (from 0) enters a full sample with probability SAMPLE_ROWS / (t + 1).
        number = self.n_rows + np.arange(n)
        place = np.where(number < SAMPLE_ROWS, number, self.random_place.integers(number + 1))
        for i in np.flatnonzero(place < SAMPLE_ROWS):
            row = (X[[i]], Y[[i]], int(fold[i]))
            if place[i] < len(self._rows):
                self._rows[place[i]] = row
            else:
                self._rows.append(row)
        self.n_rows += n

    def sample(self) -> tuple[Any, Any, np.ndarray]:
        """Return features, labels and fold numbers of the sampled rows."""
        X, Y, fold = zip(*self._rows, strict=True)
        return _stack(X), _stack(Y), np.asarray(fold, dtype=np.intp)


def _stack(rows: tuple[Any, ...]) -> Any:
    if any(sparse.issparse(row) for row in rows):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(row) for row in rows]))
    return np.vstack(rows)
