"""Small steps around a fit: which labels vary, rows to tune on, the slope of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from splmll.landmarks.folds import row_keys
from splmll.landmarks.label_moments import are_many
from splmll.landmarks.statistics import Statistics, fold_statistics, split_unknown
from splmll.landmarks.stream import sample_size
from splmll.thresholds import MIN_ROWS

SLOPE_ROWS = 2000  # rows on which the slope of the probabilities is fitted
SLOPE_CELLS = 2**22  # labels of those rows, where labels are very many
PLAIN_SLOPE = 4.0  # probabilities follow scores with slope 1 around the threshold


def varying_labels(Y: Any) -> np.ndarray:
    """Return which labels are neither always nor never true where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.tuning import varying_labels
    >>> varying_labels(np.array([[1.0, 0, 1], [1, 1, np.nan]]))
    array([False,  True, False])
    """
    labels, known = split_unknown(Y)
    positives = np.asarray(labels.sum(axis=0)).ravel()
    return (positives > 0) & (positives < (Y.shape[0] if known is None else known.sum(axis=0)))


def label_statistics(Y: Any, folds: np.ndarray | None) -> list[Statistics]:
    """Return the label statistics of every fold (one for all rows without folds)."""
    fold = np.zeros(Y.shape[0], dtype=np.intp) if folds is None else folds[0]
    return fold_statistics(np.zeros((Y.shape[0], 0)), Y, fold)


def tuning_rows(Y: Any, seed: int) -> np.ndarray | slice:
    """Return the rows that thresholds are tuned on: all, or a sample where labels are very many."""
    if not are_many(Y) or Y.shape[0] <= sample_size(Y.shape[1]):
        return slice(None)
    keys = row_keys(0, Y.shape[0], seed + 1)
    return np.sort(np.argsort(keys, kind="stable")[: sample_size(Y.shape[1])])


def probability_slope(Y: Any, decisions: np.ndarray) -> float:
    """Return the slope of the logistic curve through zero that fits out-of-fold decisions best."""
    most = min(SLOPE_ROWS, max(1, SLOPE_CELLS // decisions.shape[1]))
    rows = np.random.default_rng(0).permutation(len(decisions))[:most]
    labels = Y[rows]
    labels = (labels.toarray() if sparse.issparse(labels) else labels).ravel()
    known = ~np.isnan(labels)
    target, decision = labels[known], decisions[rows].ravel()[known]
    if len(target) < MIN_ROWS or target.min() == target.max():
        return PLAIN_SLOPE
    curve = LogisticRegression(fit_intercept=False).fit(decision[:, None], target)
    return max(float(curve.coef_[0, 0]), 1e-3)


def len_of(X: Any) -> int:
    """Return the number of rows of an array, a sparse matrix or a torch Dataset."""
    return X.shape[0] if hasattr(X, "shape") else len(X)
