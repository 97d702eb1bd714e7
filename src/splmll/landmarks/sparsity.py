"""lambda2: how few landmarks the data allow, judged on rows that f has not seen.

A penalty that suits one data set drops labels on another that can be predicted well but that no
other label tells. So several are tried, and the sparsest is kept that recovers all labels as well
as the best one, as far as the folds can tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from splmll.landmarks.statistics import split_unknown

# Multiples of the mean label variance, the sparsest first. With 0.1 hardly any label is dropped.
LAMBDA2_GRID = (1.0, 0.5, 0.2, 0.1)
# Where nothing can be measured: no folds, or landmarks recovered from true labels.
LAMBDA2_UNMEASURED = 0.5


def explained_by_fold(Y: Any, scores: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Return for each fold the share of a label's variance that the scores explain.

    The mean over labels, so that a rare label counts as much as a frequent one. A label that is
    unknown or constant in all rows does not count.

    Parameters
    ----------
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        Labels; NaN where unknown.
    scores : ndarray of shape (n_rows, n_labels)
        Scores of every row by a model that did not see it.
    fold : ndarray of int
        Fold number of every row.

    Returns
    -------
    shares : ndarray of shape (n_folds,)

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.sparsity import explained_by_fold
    >>> Y = np.array([[1.0], [0.0], [1.0], [0.0]])
    >>> explained_by_fold(Y, np.array([[1.0], [0.0], [0.5], [0.5]]), np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    filled, known = split_unknown(Y)
    known = np.ones(Y.shape) if known is None else np.asarray(known, dtype=np.float64)
    labels = filled.toarray() if sparse.issparse(filled) else filled
    error = known * (scores - labels) ** 2
    count = known.sum(axis=0)
    mean = labels.sum(axis=0) / np.maximum(count, 1)
    counted = mean * (1 - mean) > 0
    if not counted.any():
        return np.zeros(len(np.unique(fold)))
    variance = (mean * (1 - mean))[counted]
    shares = []
    for k in np.unique(fold):
        rows = fold == k
        mean_error = error[rows].sum(axis=0) / np.maximum(known[rows].sum(axis=0), 1)
        shares.append(1 - np.mean(mean_error[counted] / variance))
    return np.array(shares)


def sparsest_of_the_best(shares: np.ndarray) -> int:
    """Return the first candidate that the best one beats by no more than one standard error.

    Parameters
    ----------
    shares : ndarray of shape (n_candidates, n_folds)
        What each candidate explains in each fold, the sparsest candidate first.

    Returns
    -------
    candidate : int

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.sparsity import sparsest_of_the_best
    >>> sparsest_of_the_best(np.array([[0.1, 0.1], [0.3, 0.2], [0.3, 0.21]]))
    1
    """
    best = shares[np.argmax(shares.mean(axis=1))]
    # The folds are the same for all candidates, so their differences vary less than the shares.
    behind = best - shares
    n_folds = shares.shape[1]
    noise = behind.std(axis=1, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else np.zeros(len(shares))
    return int(np.argmax(behind.mean(axis=1) <= noise))
