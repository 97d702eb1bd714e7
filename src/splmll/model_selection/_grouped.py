"""Folds that keep the rows of a group together, with label frequencies as even as that allows.

Groups are placed one after the other, the heaviest first, where they disturb the balance least;
then single groups are moved as long as that makes the folds more even.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, column_or_1d

from splmll.metrics._inputs import LabelMatrix

# Moves end by themselves, after few sweeps over the groups; this bounds very large tables.
_MAX_SWEEPS = 20

# Differences smaller than this are rounding.
_NOISE = 1e-9


def grouped_folds(
    labels: LabelMatrix, groups: Any, sizes: npt.NDArray[np.intp], rng: np.random.RandomState
) -> npt.NDArray[np.intp]:
    """Return the fold of every row, with all rows of a group in one fold.

    What is made small is the sum over folds and labels of ``deviation ** 2 / (share * count)``,
    with the deviation of a label's count in the fold from its share. The number of rows counts as
    much as all labels together.

    Parameters
    ----------
    labels : LabelMatrix
        The labels of the rows.
    groups : array-like of shape (n_rows,)
        The group of every row.
    sizes : ndarray of shape (n_folds,)
        The wanted sizes of the folds, met as nearly as the groups allow. None stays empty.
    rng : RandomState
        Breaks ties.

    Returns
    -------
    fold : ndarray of shape (n_rows,)
    """
    group_of = _numbers(groups, labels.shape[0])
    n_groups = int(group_of.max()) + 1
    wanted = np.flatnonzero(sizes)
    if n_groups < wanted.size:
        raise ValueError(
            f"{n_groups} groups cannot fill {wanted.size} parts, because no group may be split. "
            "Use fewer parts."
        )
    counts, weights = _group_counts(labels, group_of, n_groups)
    shares = sizes[wanted] / labels.shape[0]
    fold_of_group = _place(counts, weights, shares, rng)
    return wanted[fold_of_group[group_of]]


def _numbers(groups: Any, n_rows: int) -> npt.NDArray[np.intp]:
    groups = column_or_1d(groups)
    check_consistent_length(np.empty(n_rows), groups)
    if groups.dtype.kind == "f" and np.isnan(groups).any():
        raise ValueError(
            "groups contains NaN: every row needs a group, which may contain only that row."
        )
    return np.unique(groups, return_inverse=True)[1].reshape(-1)


def _group_counts(
    labels: LabelMatrix, group_of: npt.NDArray[np.intp], n_groups: int
) -> tuple[sparse.csr_array, npt.NDArray[np.float64]]:
    """Return label counts and, in the last column, rows of every group, and what each is worth."""
    n_rows, n_labels = labels.shape
    rows = np.concatenate([group_of[labels.rows], group_of])
    columns = np.concatenate([labels.indices, np.full(n_rows, n_labels)])
    counts = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(n_groups, n_labels + 1))
    totals = np.append(labels.column_counts, n_rows)
    weights = 1.0 / np.maximum(totals, 1)
    weights[-1] *= max(1, np.count_nonzero(labels.column_counts))
    return counts, weights


def _place(
    counts: sparse.csr_array,
    weights: npt.NDArray[np.float64],
    shares: npt.NDArray[np.float64],
    rng: np.random.RandomState,
) -> npt.NDArray[np.intp]:
    n_groups, n_folds = counts.shape[0], shares.size
    deviation = -np.outer(shares, np.asarray(counts.sum(axis=0)).ravel())
    members = np.zeros(n_folds, dtype=np.intp)
    fold_of = np.empty(n_groups, dtype=np.intp)

    def cost_of_adding(columns: Any, values: Any) -> npt.NDArray[np.float64]:
        """How much the sum rises in each fold when these counts come in."""
        change = (2 * deviation[:, columns] + values) * values * weights[columns]
        return np.asarray(change.sum(axis=1) / shares)

    def parts(group: int) -> tuple[Any, Any]:
        own = slice(counts.indptr[group], counts.indptr[group + 1])
        return counts.indices[own], counts.data[own]

    heaviness = (counts * counts) @ weights if n_groups else np.zeros(0)
    order = np.lexsort((rng.permutation(n_groups), -heaviness))
    for done, group in enumerate(order):
        columns, values = parts(group)
        cost = cost_of_adding(columns, values)
        if n_groups - done <= np.count_nonzero(members == 0):
            cost[members > 0] = np.inf  # the last groups go where there is none yet
        fold = int(np.argmin(cost))
        fold_of[group] = fold
        deviation[fold, columns] += values
        members[fold] += 1

    for _ in range(_MAX_SWEEPS):
        moved = False
        for group in rng.permutation(n_groups):
            here = fold_of[group]
            if members[here] == 1:
                continue
            columns, values = parts(group)
            deviation[here, columns] -= values
            cost = cost_of_adding(columns, values)
            there = int(np.argmin(cost))
            if cost[there] >= cost[here] - _NOISE:
                there = int(here)
            deviation[there, columns] += values
            if there != here:
                moved = True
                members[here] -= 1
                members[there] += 1
                fold_of[group] = there
        if not moved:
            break
    return fold_of
