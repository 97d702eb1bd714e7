r"""Which labels are landmarks: those whose predictions recover all labels best.

The honest objective charges what a prediction really costs, on rows that f did not see:
:math:`J(M) = \|Y - F M\|^2 / n` where F are out-of-fold predictions and M has few rows that are not
zero. A label is a landmark if its *prediction* helps to recover all labels: that makes it
predictable and representative at once, and there is no scale to escape through. J needs only F'F
and F'Y, so after the predictions its cost does not depend on the number of rows.
"""

from __future__ import annotations

import numpy as np

from splmll.statistics import Statistics
from splmll.subset_search import SubsetProblem, SubsetSearch, addition_order

# Relative to the mean variance of a prediction: labels that are predicted alike do not add up.
SELECTION_RIDGE = 1e-3
LEAST_RIDGE = 1e-9  # predictions that hardly vary must not be divided by what rounding leaves
MOST_FOR_REMOVAL = 60  # up to so many labels the search also starts from all of them
MOST_FOR_SWAPS = 1500  # and up to so many swaps are tried


def honest_problem(sums: Statistics, allowed: np.ndarray) -> SubsetProblem:
    """Return the honest objective of predictions and labels as a problem over subsets.

    Parameters
    ----------
    sums : Statistics
        Sums of the out-of-fold predictions F (as features) and the labels Y.
    allowed : ndarray of bool
        Predictions that may become landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.selection import honest_problem, select
    >>> from splmll.statistics import Statistics
    >>> rng = np.random.default_rng(0)
    >>> Y = np.repeat((rng.random((300, 2)) < 0.5) * 1.0, [3, 2], axis=1)
    >>> F = Y.copy()
    >>> F[:, :3] = rng.random((300, 3))  # the first three cannot be predicted
    >>> problem = honest_problem(Statistics.of(F, Y, label_pairs=False), np.ones(5, dtype=bool))
    >>> int(select(problem, 1)[0]) in (3, 4)
    True
    """
    covariance, crossed = sums.feature_covariance(), sums.cross_covariance()
    mean = sums.label_mean
    ridge = max(SELECTION_RIDGE * float(np.diag(covariance).mean()), LEAST_RIDGE)
    return SubsetProblem(
        moments=covariance,
        targets=crossed,
        price=np.zeros(len(covariance)),
        ridge=ridge,
        allowed=allowed,
        total=float(np.sum(mean - mean**2)),  # 0/1 labels are their own squares
    )


def select(problem: SubsetProblem, n_landmarks: int, order: np.ndarray | None = None) -> np.ndarray:
    """Return a set of exactly so many landmarks, those that explain most first.

    Forward addition, improved by swaps until none helps; of few labels removal from all of them is
    tried as well, and the better of the two is kept.

    Parameters
    ----------
    problem : SubsetProblem
        What :func:`honest_problem` returns.
    n_landmarks : int
        Their number; at most as many as are allowed.
    order : ndarray of int, optional
        The order of addition, where it is known already.

    Returns
    -------
    landmarks : ndarray of int
        Places in the problem.
    """
    if order is None:
        order, _ = addition_order(problem, n_landmarks)
    chosen, size = order[:n_landmarks], len(problem.price)
    if n_landmarks < int(problem.allowed.sum()) and size <= MOST_FOR_SWAPS:
        searches = [SubsetSearch(problem, chosen)]
        if size <= MOST_FOR_REMOVAL:
            searches.append(SubsetSearch(problem, np.flatnonzero(problem.allowed)))
            searches[1].shrink_to(n_landmarks)
        for search in searches:
            search.swap_while_it_gains()
        best = min(searches, key=lambda search: search.value)
        chosen = np.flatnonzero(best.inside)
    return by_what_they_explain(problem, chosen)


def by_what_they_explain(problem: SubsetProblem, chosen: np.ndarray) -> np.ndarray:
    """Return the chosen ones in the order in which addition would take them."""
    only = np.zeros(len(problem.price), dtype=bool)
    only[chosen] = True
    among = SubsetProblem(
        problem.moments, problem.targets, problem.price, problem.ridge, only, problem.total
    )
    return addition_order(among, len(chosen))[0]
