"""Rows that are not in memory together: chunks, files, and what is kept of them.

Sums over rows are all that the linear embedding and the recovery need. Only choices need scores;
they are made on a sample that is uniform over all rows seen. Both depend on the numbers of the rows
and not on the chunks, so streams that saw different rows can be merged.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.embeddings.wide_ridge import DIRECT_BYTES, by_features_bytes
from splmll.landmarks.folds import LARGE_ROWS, folds_by_row, row_keys
from splmll.sample_weights import MOST_COPIES, rows_by_weight
from splmll.statistics import CHUNK_ROWS, Statistics, add_by_fold, reference_point, sum_of

SAMPLE_ROWS = 5000
# Scores of the sampled rows for all labels are held at once: with very many labels, fewer rows.
SAMPLE_CELLS = 2**24
MIN_SAMPLE_ROWS = 200
_SAFETY = 8  # standard deviations

NO_BATCHES = "There are no batches: give at least one pair of X and Y."


def sample_size(n_labels: int) -> int:
    """Return the number of rows that thresholds of so many labels are tuned on.

    Examples
    --------
    >>> from splmll.landmarks.out_of_core import sample_size
    >>> sample_size(100), sample_size(50_000)
    (5000, 335)
    """
    return min(SAMPLE_ROWS, max(MIN_SAMPLE_ROWS, SAMPLE_CELLS // n_labels))


class Stream:
    """What is kept of a stream of rows.

    Parameters
    ----------
    n_features, n_labels : int
        Width of the chunks.
    n_folds : int
        Rows are dealt by their numbers into this many folds.
    seed : int
        Seed of the folds and of the sample.
    first : int, default=0
        Number of the first row, where others see the rows before it.
    shift : ndarray of shape (n_features,), optional
        Point that features are measured from; by default the mean of the first chunk.
    n_rows_of_all : int, optional
        Number of rows that all streams together see, where it is known. Rows that cannot be in
        the sample of them all are then not kept for it.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.out_of_core import Stream
    >>> stream = Stream(n_features=2, n_labels=1, n_folds=2, seed=0)
    >>> for _ in range(3):
    ...     stream.add(np.ones((4, 2)), np.ones((4, 1)))
    >>> sum(fold.n_rows for fold in stream.folds)
    12.0
    """

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        n_folds: int,
        seed: int,
        first: int = 0,
        shift: np.ndarray | None = None,
        n_rows_of_all: int | None = None,
    ) -> None:
        self.seed, self.sparse_rows = seed, False
        self._n_rows_of_all = n_rows_of_all
        self.next_row = first
        self.n_rows = 0
        self.folds = [Statistics.zeros(n_features, n_labels, shift=shift) for _ in range(n_folds)]
        # Pieces of the sample: keys, row numbers, folds, features, labels. The smallest keys win.
        self._pieces: list[tuple[np.ndarray, np.ndarray, np.ndarray, Any, Any]] = []

    def add(self, X: Any, Y: Any) -> None:
        """Add one chunk."""
        n = X.shape[0]
        self.sparse_rows = self.sparse_rows or sparse.issparse(X)
        summed = self._summed(X)
        if self.n_rows == 0 and self.folds[0].shift is None:
            shift = reference_point(summed)
            for statistics in self.folds:
                statistics.shift = shift
        fold = folds_by_row(self.next_row, n, len(self.folds), self.seed)
        add_by_fold(self.folds, summed, Y, fold)
        # A source of its own: the sample must not favour a fold.
        keys = row_keys(self.next_row, n, self.seed + 1)
        wanted = keys <= self._largest_key()
        numbers = self.next_row + np.flatnonzero(wanted)
        self._pieces.append((keys[wanted], numbers, fold[wanted], X[wanted], Y[wanted]))
        self.next_row += n
        self.n_rows += n
        if sum(len(piece[0]) for piece in self._pieces) > 2 * self._size():
            self._condense()

    def sample(self) -> tuple[Any, Any, np.ndarray]:
        """Return features, labels and fold numbers of the sampled rows, in their order."""
        self._condense()
        _, _, fold, X, Y = self._pieces[0]
        return X, Y, fold

    def varying(self) -> np.ndarray:
        """Return which labels are neither always nor never true where they are known."""
        positives = np.sum([part.xy[0] for part in self.folds], axis=0)
        known = np.sum([part.xk[0] for part in self.folds], axis=0).reshape(len(positives))
        return np.asarray((positives > 0) & (positives < known))

    def _summed(self, X: Any) -> Any:
        """The features whose products are summed."""
        return X

    def _size(self) -> int:
        return sample_size(self.folds[0].n_labels)

    def _largest_key(self) -> np.uint64:
        """The key from which a row cannot be among the sample any more."""
        largest = int(np.iinfo(np.uint64).max)
        if self._n_rows_of_all is not None:
            # Keys are uniform: with so many expected below, enough are, but for one in 10^14.
            wanted = self._size() + _SAFETY * self._size() ** 0.5
            largest = min(largest, int(largest * min(1.0, wanted / self._n_rows_of_all)))
        if self._pieces and len(self._pieces[0][0]) >= self._size():
            largest = min(largest, int(self._pieces[0][0].max()))
        return np.uint64(largest)

    def _condense(self) -> None:
        if len(self._pieces) == 0:
            return
        keys, numbers, fold = (
            np.concatenate([piece[i] for piece in self._pieces]) for i in (0, 1, 2)
        )
        kept = np.argsort(keys, kind="stable")[: self._size()]
        kept = kept[np.argsort(numbers[kept], kind="stable")]
        X, Y = (stack([piece[i] for piece in self._pieces])[kept] for i in (3, 4))
        self._pieces = [(keys[kept], numbers[kept], fold[kept], X, Y)]


def merged(streams: Sequence[Stream]) -> Stream:
    """Return what is kept of the rows of several streams; they stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.out_of_core import Stream, merged
    >>> one, other = (Stream(2, 1, 2, seed=0, first=first) for first in (0, 4))
    >>> for stream in (one, other):
    ...     stream.add(np.ones((4, 2)), np.ones((4, 1)))
    >>> merged([one, other]).n_rows
    8
    """
    result = copy.copy(streams[0])
    result.folds = [sum_of(parts) for parts in zip(*(stream.folds for stream in streams))]
    result.n_rows = sum(stream.n_rows for stream in streams)
    result.sparse_rows = any(stream.sparse_rows for stream in streams)
    result.next_row = max(stream.next_row for stream in streams)
    result._pieces = [piece for stream in streams for piece in stream._pieces]
    result._condense()
    return result


def is_too_wide(n_features: int, n_folds: int) -> bool:
    """Return whether sums of products of so many features would take too much memory.

    Examples
    --------
    >>> from splmll.landmarks.out_of_core import is_too_wide
    >>> is_too_wide(500, n_folds=5), is_too_wide(2**18, n_folds=5)
    (False, True)
    """
    return by_features_bytes(n_features, n_folds) > DIRECT_BYTES


def check_width(n_features: int, n_folds: int) -> None:
    """Refuse rows that are too wide for sums of their products.

    Examples
    --------
    >>> from splmll.landmarks.out_of_core import check_width
    >>> check_width(500, n_folds=5)
    """
    if is_too_wide(n_features, n_folds):
        needed = by_features_bytes(n_features, n_folds)
        raise ValueError(
            f"{n_features} features are too many for rows that come in chunks: their moments "
            f'would take {needed / 2**30:.1f} GiB. Use embedding="sgd" with fit_batches, which '
            "learns from chunks of wide rows, or give all rows to fit at once, which solves "
            "iteratively."
        )


def gathered(batches: Iterable[tuple[Any, Any]]) -> tuple[Any, Iterator[tuple[Any, Any]]]:
    """Look how much there is: everything together, or what comes piece by piece.

    Parameters
    ----------
    batches : iterable of (X, Y) pairs
        Features and labels of some rows at a time.

    Returns
    -------
    whole : (X, Y) or None
        All rows, where they are few.
    chunks : iterator of (X, Y) pairs
        Otherwise the rows in chunks of a good size: small batches together are quicker.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.out_of_core import gathered
    >>> whole, _ = gathered((np.zeros((2, 1)), np.zeros((2, 3))) for _ in range(4))
    >>> whole[0].shape, whole[1].shape
    ((8, 1), (8, 3))
    """
    source = iter(batches)
    waiting: list[tuple[Any, Any]] = []
    n_rows = 0
    for X, Y in source:
        waiting.append((X, Y))
        n_rows += X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows > LARGE_ROWS:
            return None, _chunks(waiting, source)
    if n_rows == 0:
        raise ValueError(NO_BATCHES)
    return (stack([X for X, _ in waiting]), stack([Y for _, Y in waiting])), iter(())


def _chunks(
    waiting: list[tuple[Any, Any]], source: Iterator[tuple[Any, Any]]
) -> Iterator[tuple[Any, Any]]:
    while waiting:  # each is forgotten as soon as the next is asked for
        yield waiting.pop(0)
    n_rows = 0
    for X, Y in source:
        waiting.append((X, Y))
        n_rows += X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows >= CHUNK_ROWS:
            yield stack([X for X, _ in waiting]), stack([Y for _, Y in waiting])
            waiting, n_rows = [], 0
    if waiting:
        yield stack([X for X, _ in waiting]), stack([Y for _, Y in waiting])


def slices(n_rows: int) -> Iterator[slice]:
    """Return slices of a good size that cover so many rows."""
    for start in range(0, n_rows, CHUNK_ROWS):
        yield slice(start, min(start + CHUNK_ROWS, n_rows))


def judged_rows(
    n_rows: int, n_labels: int, seed: int, weights: np.ndarray | None = None
) -> np.ndarray | slice:
    """Return the rows that choices are made on: all, or a sample where labels are very many.

    Measures take no weights: with weights, a row is there as often as its weight says.

    Examples
    --------
    >>> from splmll.landmarks.out_of_core import judged_rows
    >>> judged_rows(1000, 100, seed=0)
    slice(None, None, None)
    >>> len(judged_rows(10_000, 10_000, seed=0))
    1677
    """
    most = max(MIN_SAMPLE_ROWS, SAMPLE_CELLS // n_labels)
    if n_rows <= most:
        if weights is None:
            return slice(None)
        return rows_by_weight(weights, max(n_rows, min(most, MOST_COPIES * n_rows)), seed)
    keys = row_keys(0, n_rows, seed + 1)
    rows = np.sort(np.argsort(keys, kind="stable")[:most])
    return rows if weights is None else rows[rows_by_weight(weights[rows], most, seed)]


def stack(pieces: list[Any]) -> Any:
    """Return rows one below the other: arrays, sparse matrices or data frames.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.out_of_core import stack
    >>> stack([np.zeros((2, 3)), np.zeros((1, 3))]).shape
    (3, 3)
    """
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], (pd.DataFrame, pd.Series)):
        return pd.concat(pieces, ignore_index=True)
    if any(sparse.issparse(piece) for piece in pieces):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(piece) for piece in pieces]))
    return np.concatenate([np.asarray(piece) for piece in pieces])
