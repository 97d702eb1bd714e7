"""Which labels can become landmarks at all, told by something cheap.

Where every label has a model of its own and few landmarks are wanted, most of these models would be
trained for nothing. Ridge regression of all labels at once, on a narrow summary of the features,
costs little and knows well enough which labels are predictable and representative: half as many
again as wanted are kept, and the selection is made among them, on the predictions of the embedding
itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD

from splmll.embeddings.base import FitContext
from splmll.embeddings.linear import Linear
from splmll.landmarks.label_moments import varying_labels
from splmll.landmarks.selection import honest_problem
from splmll.statistics import fold_statistics, sum_of
from splmll.subset_search import addition_order

KEPT_PER_LANDMARK = 1.5
LEAST_KEPT = 20  # so few cost nothing
MOST_FEATURES = 200  # wider rows are summarised


def screened(
    X: Any,
    Y: Any,
    fold: np.ndarray,
    candidates: np.ndarray,
    budget: int | None,
    seed: int,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the candidates worth a model of their own.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        Features.
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        0/1 labels; NaN where unknown.
    fold : ndarray of int
        Fold number of every row.
    candidates : ndarray of int
        Labels that may become landmarks.
    budget : int or None
        Number of landmarks wanted; None keeps all candidates.
    seed : int
        Seed of the summary.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    kept : ndarray of int
        In ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.screening import screened
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> Y = (rng.random((300, 50)) < 0.5) * 1.0
    >>> Y[:, 7] = X[:, 0] > 0  # the only label that can be told from the features
    >>> kept = screened(X, Y, np.arange(300) % 3, np.arange(50), budget=1, seed=0)
    >>> len(kept), 7 in kept
    (20, True)
    """
    kept = max(int(KEPT_PER_LANDMARK * (budget or 0)), LEAST_KEPT)
    if budget is None or kept >= len(candidates):
        return candidates
    context = FitContext(sample_weight=weights)
    F = Linear().fit(_summarised(X, seed), Y[:, candidates], fold, context).out_of_fold_
    sums = sum_of(
        fold_statistics(F, Y, fold, center_features=False, label_pairs=False, weights=weights)
    )
    problem = honest_problem(sums, varying_labels(Y)[candidates])
    order, _ = addition_order(problem, min(kept, int(problem.allowed.sum())))
    return np.sort(candidates[order])


def _summarised(X: Any, seed: int) -> Any:
    """Return the directions in which rows differ most, where features are many."""
    if X.shape[1] <= MOST_FEATURES:
        return X
    directions = min(MOST_FEATURES, X.shape[0] - 1)
    return TruncatedSVD(directions, n_iter=2, random_state=seed % 2**31).fit_transform(X)
