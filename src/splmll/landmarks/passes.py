"""Passes over rows that are not in memory together, for classifiers that learn from chunks.

Beside the classifiers, the sums of the labels and a uniform sample of the rows are kept. Landmarks,
recovery and thresholds are learned from the sample, whose predictions come from the models of
folds that did not see its rows. So far as the rows stay the same, nothing depends on the batches
they come in: they are put together into blocks of one size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from splmll.embeddings.base import FitContext
from splmll.embeddings.stochastic import Stochastic
from splmll.landmarks.folds import folds_by_row
from splmll.landmarks.label_moments import LabelMoments
from splmll.landmarks.learning import Evidence
from splmll.landmarks.out_of_core import MIN_SAMPLE_ROWS, Stream, stack
from splmll.statistics import sum_of

Pairs = Iterable[tuple[Any, Any]]

# Rows that are learned from at a time. The first block sets the ridge: the fewer rows, the larger
# the ridge that seems best.
BLOCK_ROWS = 2**15
# Rows that everything but the classifiers is learned from; with very many labels fewer.
SAMPLE_ROWS, SAMPLE_CELLS = 30_000, 2**23


def beginnings(batches: Any) -> tuple[Iterator[Any], Callable[[], Iterable[Any]] | None]:
    """Return an iterator over batches, and how to begin again where that is possible.

    Parameters
    ----------
    batches : iterable, or callable that returns one
        A list begins again, and so does what a function returns; an iterator does not.

    Examples
    --------
    >>> from splmll.landmarks.passes import beginnings
    >>> first, again = beginnings([1, 2])
    >>> list(first), list(again())
    ([1, 2], [1, 2])
    >>> beginnings(iter([1, 2]))[1] is None
    True
    """
    if callable(batches):
        return iter(batches()), batches
    first = iter(batches)
    return first, None if first is batches else lambda: batches


def even_blocks(batches: Pairs, rows: int) -> Iterator[tuple[Any, Any]]:
    """Return the rows of batches in blocks of so many rows, the last one smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.passes import even_blocks
    >>> batches = ((np.zeros((n, 2)), np.zeros((n, 1))) for n in (1, 7, 3))
    >>> [len(X) for X, _ in even_blocks(batches, 4)]
    [4, 4, 3]
    """
    waiting: list[tuple[Any, Any]] = []
    n_rows = 0
    for X, Y in batches:
        waiting.append((X, Y))
        n_rows += X.shape[0]
        if n_rows < rows:
            continue
        X, Y = (stack([pair[i] for pair in waiting]) for i in (0, 1))
        whole = n_rows - n_rows % rows
        for start in range(0, whole, rows):
            yield X[start : start + rows], Y[start : start + rows]
        waiting = [(X[whole:], Y[whole:])] if whole < n_rows else []
        n_rows -= whole
    if waiting:
        yield stack([X for X, _ in waiting]), stack([Y for _, Y in waiting])


class LabelStream(Stream):
    """Sums of the labels alone, and a larger sample of the rows."""

    def __init__(self, n_labels: int, n_folds: int, seed: int) -> None:
        super().__init__(0, n_labels, n_folds, seed)

    def _summed(self, X: Any) -> Any:
        return np.zeros((X.shape[0], 0))

    def _size(self) -> int:
        most = max(MIN_SAMPLE_ROWS, SAMPLE_CELLS // self.folds[0].n_labels)
        return min(SAMPLE_ROWS, most)


def learn_in_passes(
    embedding: Stochastic,
    first: Pairs,
    again: Callable[[], Pairs] | None,
    n_labels: int,
    n_folds: int,
    context: FitContext,
) -> tuple[LabelStream, Evidence]:
    """Learn from all rows, chunk by chunk, as often as the embedding wants and the rows come.

    Parameters
    ----------
    embedding : Stochastic
        What learns.
    first : iterable of (X, Y) pairs
        All rows.
    again : callable or None
        Returns the same rows once more, for further passes.
    n_labels, n_folds : int
        Number of labels, and of folds.
    context : FitContext
        Seed and jobs.

    Returns
    -------
    rows : LabelStream
        What was kept of the rows.
    evidence : Evidence
        What landmarks are learned from.
    """
    rows = LabelStream(n_labels, n_folds, context.seed)
    candidates = np.arange(0)
    for X, Y in even_blocks(first, BLOCK_ROWS):
        start = rows.next_row
        rows.add(X, Y)
        if start == 0:
            # Labels that the first block lacks can be no candidates, where not all are.
            moments = LabelMoments(sum_of(rows.folds))
            candidates = moments.candidates(rows.varying(), one_per_label=True)
        fold, wanted = folds_by_row(start, X.shape[0], n_folds, context.seed), _some(Y, candidates)
        if start == 0:
            embedding.begin(X, wanted, fold, n_folds, context)
        embedding.learn(X, wanted, fold)
    for _ in range(1, embedding.passes(rows.n_rows) if again is not None else 1):
        assert again is not None
        _repeat(embedding, again(), rows, candidates, context.seed)
    X, Y, fold = rows.sample()
    embedding.settle(X, _some(Y, candidates), fold)
    evidence = Evidence.of_rows(
        embedding.out_of_fold_, Y, fold, candidates, rows.varying(), slice(None), context.seed
    )
    return rows, evidence


def _repeat(
    embedding: Stochastic, batches: Pairs, rows: LabelStream, candidates: np.ndarray, seed: int
) -> None:
    """One more pass over the same rows."""
    start = 0
    for X, Y in even_blocks(batches, BLOCK_ROWS):
        fold = folds_by_row(start, X.shape[0], len(rows.folds), seed)
        embedding.learn(X, _some(Y, candidates), fold)
        start += X.shape[0]
    if start != rows.n_rows:
        raise ValueError(
            f"The batches held {rows.n_rows} rows the first time and {start} the next: give the "
            "same rows every time, or an iterator, which is read only once."
        )


def _some(Y: Any, labels: np.ndarray) -> Any:
    return Y if len(labels) == Y.shape[1] else Y[:, labels]
