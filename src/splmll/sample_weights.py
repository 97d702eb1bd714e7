"""Weights of rows: a weight says how many rows a row stands for.

Sums and most learners take weights as they are. What takes none, such as a measure, is given each
row as often as its weight says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _check_sample_weight, has_fit_parameter

MOST_COPIES = 4  # of a row on average, where weights are written out as copies


def checked_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Return weights as numbers, none of them negative; None where they change nothing.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,) or None
        What the caller gave.
    X : array-like or sparse matrix of shape (n_rows, n_features)
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.sample_weights import checked_weights
    >>> checked_weights([0, 2], np.zeros((2, 3)))
    array([0., 2.])
    >>> checked_weights([1, 1], np.zeros((2, 3))) is None
    True
    """
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return None if (weights == 1).all() else np.asarray(weights)


def weight_arguments(estimator: Any, sample_weight: np.ndarray | None) -> dict[str, Any]:
    """Return what ``fit`` has to be called with for the weights to reach the learner.

    Weights of a pipeline go to its last step.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from splmll.sample_weights import weight_arguments
    >>> weight_arguments(make_pipeline(StandardScaler(), LinearSVC()), [1.0])
    {'linearsvc__sample_weight': [1.0]}
    """
    if sample_weight is None:
        return {}
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_arguments(last, sample_weight)
        return {f"{name}__{argument}": value for argument, value in inner.items()}
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{type(estimator).__name__} takes no sample_weight: use a learner that does, such as "
            "LogisticRegression or Ridge, or leave the weights out."
        )
    return {"sample_weight": sample_weight}


def rows_by_weight(weights: np.ndarray, most: int | None = None, seed: int = 0) -> np.ndarray:
    """Return the numbers of rows, each as often as its weight says, in ascending order.

    The lightest row comes once and the others in proportion, unless that makes too many; shares
    of a copy are rounded so that the sums over many rows are right.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Positive weights.
    most : int, optional
        Largest number of copies in all; by default four times the number of rows.
    seed : int, default=0
        Seed of the order in which shares of copies are rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.sample_weights import rows_by_weight
    >>> rows_by_weight(np.array([1.0, 3.0, 1.0]))
    array([0, 1, 1, 1, 2])
    >>> rows_by_weight(np.full(3, 0.2))
    array([0, 1, 2])
    """
    most = MOST_COPIES * len(weights) if most is None else most
    wanted = weights / weights.min()
    wanted *= min(1.0, most / wanted.sum())
    order = np.random.default_rng(seed).permutation(len(weights))
    copies = np.empty(len(weights), dtype=np.intp)
    copies[order] = np.diff(np.floor(np.cumsum(wanted[order]) + 0.5), prepend=0).astype(np.intp)
    return np.repeat(np.arange(len(weights)), copies)


def weighed(table: Any, weights: np.ndarray | None) -> Any:
    """Return the rows of a table times their weights; sparse rows stay sparse.

    None leaves them as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.sample_weights import weighed
    >>> weighed(np.ones((2, 2)), np.array([1.0, 3.0]))
    array([[1., 1.],
           [3., 3.]])
    """
    if weights is None:
        return table
    if sparse.issparse(table):
        return sparse.csr_array(sparse.diags_array(weights) @ table)
    return table * weights[:, None]
