"""Counts, for every relevant label, the labels that are ranked above it or tied with it.

All ranking measures are sums over these counts, so ties and speed are dealt with here once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from splmll.metrics._inputs import CHUNK_CELLS, LabelMatrix

# Comparing a row with each of its relevant labels costs one pass per label, sorting the row about
# as much as this many passes (measured for 50 to 3000 labels).
SORTING_PAYS_FROM = 20

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RankCounts:
    """Counts for rows that have the same number of relevant labels.

    All four arrays have one row for every row in ``rows`` and one column for every relevant label
    of it: the labels scored at least as high (itself included) and those scored higher, among
    all labels and among the relevant ones.
    """

    rows: npt.NDArray[np.intp]
    at_least: Counts
    higher: Counts
    relevant_at_least: Counts
    relevant_higher: Counts

    @property
    def tied(self) -> Counts:
        """Labels with the same score, itself included."""
        return self.at_least - self.higher

    @property
    def relevant_tied(self) -> Counts:
        """Relevant labels with the same score, itself included."""
        return self.relevant_at_least - self.relevant_higher


def rank_counts(
    truth: LabelMatrix, scores: npt.NDArray[Any], *, strict: bool
) -> Iterator[RankCounts]:
    """Yield the counts for all rows that have a relevant and an irrelevant label.

    Unknown labels have to be scored lower than all others. Without ``strict`` the two "higher"
    counts are not computed and hold zeros: that saves half of the work where ties count as errors.
    """
    n_labels = truth.shape[1]
    row_counts = truth.row_counts
    order = np.argsort(row_counts, kind="stable")
    order = order[(row_counts[order] > 0) & (row_counts[order] < truth.known_in_rows[order])]
    counts_in_order = row_counts[order]
    for n_relevant in np.unique(counts_in_order):
        first, last = np.searchsorted(counts_in_order, [n_relevant, n_relevant + 1])
        rows_alike = order[first:last]
        by_sorting = n_relevant >= SORTING_PAYS_FROM
        # Pairs of relevant labels are compared all at once, so they count as cells as well.
        cells = n_labels if by_sorting else max(n_labels, n_relevant**2)
        step = max(1, CHUNK_CELLS // int(cells))
        for start in range(0, rows_alike.size, step):
            rows = rows_alike[start : start + step]
            places = truth.indptr[rows][:, None] + np.arange(n_relevant)
            count = _by_sorting if by_sorting else _by_comparing
            yield count(rows, scores[rows], truth.indices[places], strict)


def _by_comparing(
    rows: npt.NDArray[np.intp],
    scores: npt.NDArray[Any],
    relevant: npt.NDArray[np.intp],
    strict: bool,
) -> RankCounts:
    """Compare every row with the scores of its relevant labels, one label at a time."""
    own = np.take_along_axis(scores, relevant, axis=1)
    at_least = np.empty(own.shape, dtype=np.int64)
    higher = np.zeros(own.shape, dtype=np.int64)
    hits = np.empty(scores.shape, dtype=bool)
    for column in range(own.shape[1]):
        threshold = own[:, column, None]
        np.greater_equal(scores, threshold, out=hits)
        at_least[:, column] = _count_true(hits)
        if strict:
            np.greater(scores, threshold, out=hits)
            higher[:, column] = _count_true(hits)
    relevant_at_least = _count_true(own[:, None, :] >= own[:, :, None])
    relevant_higher = np.zeros_like(higher)
    if strict:
        relevant_higher = _count_true(own[:, None, :] > own[:, :, None])
    return RankCounts(rows, at_least, higher, relevant_at_least, relevant_higher)


def _count_true(hits: npt.NDArray[np.bool_]) -> Counts:
    """Count along the last axis; bytes into short integers is faster than in 64 bits at once."""
    short = np.uint16 if hits.shape[-1] < 2**16 else np.uint32
    return np.add.reduce(hits.view(np.uint8), axis=-1, dtype=short).astype(np.int64)


def _by_sorting(
    rows: npt.NDArray[np.intp],
    scores: npt.NDArray[Any],
    relevant: npt.NDArray[np.intp],
    strict: bool,
) -> RankCounts:
    """Sort every row and read all counts off the borders of its groups of equal scores."""
    n_rows, n_labels = scores.shape
    is_relevant = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(is_relevant, relevant, True, axis=1)
    ascending = np.argsort(scores, axis=1)
    sorted_scores = np.take_along_axis(scores, ascending, axis=1)
    sorted_relevant = np.take_along_axis(is_relevant, ascending, axis=1)
    positions = np.arange(n_labels)
    changes = sorted_scores[:, 1:] != sorted_scores[:, :-1]

    # First position of the group a position belongs to: the last change at or before it.
    first = np.zeros(scores.shape, dtype=np.int64)
    np.multiply(changes, positions[1:], out=first[:, 1:])
    np.maximum.accumulate(first, axis=1, out=first)
    # Relevant labels at lower positions; one column more, so that "below the end" exists too.
    relevant_below = np.zeros((n_rows, n_labels + 1), dtype=np.int64)
    np.cumsum(sorted_relevant, axis=1, out=relevant_below[:, 1:])

    shape = relevant.shape
    first_of_relevant = first[sorted_relevant].reshape(shape)
    at_least = n_labels - first_of_relevant
    n_relevant = relevant.shape[1]
    relevant_at_least = n_relevant - np.take_along_axis(relevant_below, first_of_relevant, axis=1)
    higher = np.zeros(shape, dtype=np.int64)
    relevant_higher = np.zeros(shape, dtype=np.int64)
    if strict:
        # Position behind the group: the first change after it, found from the right.
        behind = np.full(scores.shape, n_labels, dtype=np.int64)
        behind[:, :-1][changes] = np.broadcast_to(positions[1:], changes.shape)[changes]
        from_right = np.minimum.accumulate(behind[:, ::-1], axis=1)[:, ::-1]
        behind_relevant = from_right[sorted_relevant].reshape(shape)
        higher = n_labels - behind_relevant
        relevant_higher = n_relevant - np.take_along_axis(relevant_below, behind_relevant, axis=1)
    return RankCounts(rows, at_least, higher, relevant_at_least, relevant_higher)
