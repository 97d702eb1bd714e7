"""B of the exact solver: which labels are landmarks, and with what weight.

``select_soft`` is the published choice, real weights b_j of which many are exactly zero;
``select_hard`` is the constraint the paper starts from, b_j in {0, 1}. Both minimise the same
objective and take a budget.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from splmll.published.exact import Solution, minimise, objective, solve_recovery
from splmll.published.objective import Penalties
from splmll.subset_search import SubsetProblem, SubsetSearch

_BISECTIONS = 12
# Optimality asked for while searching; the result is solved to full accuracy.
_ROUGH: dict[str, Any] = {"tol": 1e-3, "max_iter": 50}


def select_soft(
    G: np.ndarray,
    E: np.ndarray,
    penalties: Penalties,
    *,
    n_landmarks: int | None = None,
    support: np.ndarray | None = None,
) -> Solution:
    """Select landmarks with real weights.

    With a budget, lambda2 is searched so that exactly that many weights survive. The number of
    survivors can jump over the budget as lambda2 grows; then the labels with the smallest weights
    of the last solution above the budget are struck out and the rest is solved again.

    Parameters
    ----------
    G : ndarray of shape (n_labels, n_labels)
        Label moments.
    E : ndarray of shape (n_labels,)
        Squared error of each label's prediction, over as many rows as G.
    penalties : Penalties
        lambda1, lambda2 and rho; a budget replaces lambda2.
    n_landmarks : int, optional
        Exact number of landmarks.
    support : ndarray of bool, optional
        Labels that may become landmarks.

    Returns
    -------
    solution : Solution
        The weights, their recovery, and the path of the objective.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.published.objective import Penalties
    >>> from splmll.published.selection import select_soft
    >>> G = np.array([[0.25, 0.2, 0.0], [0.2, 0.25, 0.0], [0.0, 0.0, 0.2]])
    >>> solution = select_soft(G, np.full(3, 0.1), Penalties(0.02, 0.1, 0.02), n_landmarks=2)
    >>> int((solution.selection != 0).sum())
    2
    """
    if n_landmarks is None:
        return minimise(G, E, penalties, support=support)
    support = np.ones(len(E), dtype=bool) if support is None else support.copy()

    def solve(lambda2: float, start: np.ndarray | None) -> Solution:
        weights = replace(penalties, lambda2=lambda2)
        return minimise(G, E, weights, support=support, start=start, **_ROUGH)

    low, high = 0.0, max(penalties.lambda2, float(np.mean(np.diag(G))))
    above = solve(low, None)
    bracketed = False
    for _ in range(_BISECTIONS):
        if np.count_nonzero(above.selection) <= n_landmarks:
            break
        middle = (low + high) / 2 if bracketed else high
        trial = solve(middle, above.selection)
        if np.count_nonzero(trial.selection) >= n_landmarks:
            low, above = middle, trial
            high = high if bracketed else 2 * high
        else:
            high, bracketed = middle, True
    strike = np.count_nonzero(above.selection) - n_landmarks
    support = above.selection != 0
    if strike > 0:
        support[
            np.argsort(np.where(support, np.abs(above.selection), np.inf), kind="stable")[:strike]
        ] = False
    return _keep_all(G, E, penalties, support, low)


def _keep_all(
    G: np.ndarray, E: np.ndarray, penalties: Penalties, support: np.ndarray, lambda2: float
) -> Solution:
    """Solve on a support with the largest lambda2, at most the given one, that keeps all of it."""
    for value in [*(lambda2 / 2**n for n in range(_BISECTIONS)), 0.0]:
        solution = minimise(G, E, replace(penalties, lambda2=value), support=support)
        if np.count_nonzero(solution.selection) == support.sum():
            break
    return solution


def select_hard(
    G: np.ndarray,
    E: np.ndarray,
    penalties: Penalties,
    *,
    n_landmarks: int | None = None,
    support: np.ndarray | None = None,
) -> Solution:
    """Select landmarks with weights 0 or 1 by addition, removal and swap.

    For a set S of landmarks the objective, minimised over A, is::

        J(S) = sum_{j in S} (E_j + lambda2 - lambda1) + lambda1 C
               + tr( G - G_S' (G_SS + rho I)^-1 G_S )

    which is a problem of :mod:`splmll.subset_search`. The search starts from greedy addition and
    from greedy removal, improves both by single moves until none helps, and returns the better:
    never worse than greedy addition alone.

    Parameters
    ----------
    G, E, penalties, n_landmarks, support
        As for :func:`select_soft`.

    Returns
    -------
    solution : Solution
        Weights of 0 and 1, their recovery, and the objective after every move.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.published.objective import Penalties
    >>> from splmll.published.selection import select_hard
    >>> G = np.array([[0.25, 0.2, 0.0], [0.2, 0.25, 0.0], [0.0, 0.0, 0.2]])
    >>> E = np.array([0.05, 0.2, 0.05])
    >>> select_hard(G, E, Penalties(0.02, 0.05, 0.02), n_landmarks=2).selection
    array([1., 0., 1.])
    """
    problem = SubsetProblem(
        moments=G,
        targets=G,
        price=E + penalties.lambda2 - penalties.lambda1,
        ridge=penalties.rho,
        allowed=np.ones(len(E), dtype=bool) if support is None else support,
        total=penalties.lambda1 * len(E) + float(np.trace(G)),
    )
    grown, shrunk = (
        SubsetSearch(problem, []),
        SubsetSearch(problem, np.flatnonzero(problem.allowed)),
    )
    grown.grow_to(n_landmarks)
    shrunk.shrink_to(n_landmarks)
    for search in (grown, shrunk):
        if n_landmarks is None:
            search.move_while_it_gains()
        else:
            search.swap_while_it_gains()
    best = min((grown, shrunk), key=lambda search: search.value)
    history = []
    for inside in best.visited:
        selection = inside.astype(np.float64)
        recovery = solve_recovery(G, selection, penalties.rho)
        history.append(objective(G, E, selection, recovery, penalties))
    return Solution(selection, recovery, history)
