"""Measures of groups of rows: what a row adds is counted once, and groups only add it up.

A standard error over ten groups then costs about as much as one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from splmll.metrics import bipartition, ranking
from splmll.metrics._inputs import LabelMatrix, check_labels, check_pair
from splmll.metrics.bipartition import Counts
from splmll.metrics.ranking import OfRows

# Means over rows of what scores are worth.
_RANKED: dict[str, Callable[[LabelMatrix, npt.NDArray[Any]], OfRows]] = {
    "ranking_loss": ranking.ranking_loss_of_rows,
    "average_precision": ranking.average_precision_of_rows,
    "one_error": ranking.one_error_of_rows,
    "coverage": ranking.coverage_of_rows,
    **{f"precision_at_{k}": partial(ranking.precision_at_k_of_rows, k=k) for k in (1, 3, 5)},
    **{f"ndcg_at_{k}": partial(ranking.ndcg_at_k_of_rows, k=k) for k in (1, 3, 5)},
}


def _hamming_loss(true: Counts, predicted: Counts, both: Counts, n_labels: int) -> OfRows:
    return (true + predicted - 2 * both) / n_labels


def _subset_accuracy(true: Counts, predicted: Counts, both: Counts, _: int) -> OfRows:
    return ((true == both) & (predicted == both)).astype(np.float64)


def _jaccard(true: Counts, predicted: Counts, both: Counts, _: int) -> OfRows:
    return both / np.maximum(true + predicted - both, 1)


# Means over rows of what their labels are worth: how many are true, predicted, and both.
_OF_ROWS: dict[str, Callable[[Counts, Counts, Counts, int], OfRows]] = {
    "hamming_loss": _hamming_loss,
    "subset_accuracy": _subset_accuracy,
    "jaccard": _jaccard,
}

# Ratios of sums over rows: how often each label is true, predicted, and both.
_OF_COUNTS: dict[str, Callable[[Counts, Counts, Counts], float]] = {
    "micro_f1": bipartition.micro_f1_of_counts,
    "macro_f1": bipartition.macro_f1_of_counts,
    "macro_f1_of_means": bipartition.macro_f1_of_means_of_counts,
}


def measure_groups(
    Y_true: Any, scores: Any, Y_pred: Any, group: npt.NDArray[np.intp], names: Iterable[str]
) -> dict[str, npt.NDArray[np.float64]]:
    """Return measures of every group of rows, as they are of its rows alone.

    Parameters
    ----------
    Y_true : array, sparse matrix or DataFrame of shape (n_rows, n_labels)
        True labels, 0 or 1, all of them known.
    scores : array or DataFrame of shape (n_rows, n_labels), or None
        Scores, larger for labels that are more likely to be relevant. None if no measure needs it.
    Y_pred : array, sparse matrix or DataFrame of shape (n_rows, n_labels), or None
        Predicted labels, 0 or 1. None if no measure needs it.
    group : ndarray of int of shape (n_rows,)
        The group of every row: 0, 1, ..., none of them empty.
    names : iterable of str
        Names in :data:`splmll.metrics.MEASURES`.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.metrics.grouped import measure_groups
    >>> Y = [[1, 0], [0, 1], [1, 1]]
    >>> predicted = [[1, 0], [1, 0], [1, 1]]
    >>> measure_groups(Y, None, predicted, np.array([0, 1, 0]), ["hamming_loss", "micro_f1"])
    {'hamming_loss': array([0., 1.]), 'micro_f1': array([1., 0.])}
    """
    truth = check_labels(Y_true, "Y_true")
    n_labels = truth.shape[1]
    sizes = np.bincount(group)
    found = {}
    both = None
    for name in names:
        if name in _RANKED:
            _, values = check_pair(truth, scores, "scores", other_are_scores=True)
            of_rows = _RANKED[name](truth, values)
            found[name] = np.bincount(group, of_rows) / sizes
            continue
        if both is None:
            _, predicted = check_pair(truth, Y_pred, "Y_pred", other_are_scores=False)
            both = truth, predicted, truth.intersect(predicted)
        if name in _OF_ROWS:
            n_true, n_predicted, n_both = (labels.row_counts for labels in both)
            of_rows = _OF_ROWS[name](n_true, n_predicted, n_both, n_labels)
            found[name] = np.bincount(group, of_rows) / sizes
        else:
            counts = [_column_counts(labels, group, len(sizes)) for labels in both]
            found[name] = np.array([_OF_COUNTS[name](*of_group) for of_group in zip(*counts)])
    return found


def _column_counts(labels: LabelMatrix, group: npt.NDArray[np.intp], n_groups: int) -> Counts:
    """Return how often every label is 1 in every group."""
    n_labels = labels.shape[1]
    cells = group[labels.rows] * n_labels + labels.indices
    return np.bincount(cells, minlength=n_groups * n_labels).reshape(n_groups, n_labels)
