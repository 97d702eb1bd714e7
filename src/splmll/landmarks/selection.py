"""B: which labels are landmarks, and with what weight.

``soft`` is the published choice, real weights b_j of which many are exactly zero; ``hard`` is the
constraint the paper starts from, b_j in {0, 1}, on the same objective. Both take a budget:
exactly ``n_landmarks`` labels. All work is on C x C statistics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from splmll.landmarks.exact import Solution, minimise, objective, solve_recovery
from splmll.landmarks.objective import Penalties

_BISECTIONS = 12
# Optimality asked for while searching; the result is solved to full accuracy.
ROUGH: dict[str, Any] = {"tol": 1e-3, "max_iter": 50}


def select_soft(
    G: np.ndarray,
    E: np.ndarray,
    penalties: Penalties,
    *,
    n_landmarks: int | None = None,
    support: np.ndarray | None = None,
    targets: np.ndarray | None = None,
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
        Mean squared error of each label's prediction.
    penalties : Penalties
        lambda1, lambda2 and rho; a budget replaces lambda2.
    n_landmarks : int, optional
        Exact number of landmarks.
    support : ndarray of bool, optional
        Labels that may become landmarks.
    targets : ndarray of shape (n_labels, n_targets), optional
        Moments with the labels to recover; see :func:`splmll.landmarks.exact.minimise`.

    Returns
    -------
    solution : Solution
        The weights, their recovery, and the path of the objective.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.objective import Penalties
    >>> from splmll.landmarks.selection import select_soft
    >>> G = np.array([[0.25, 0.2, 0.0], [0.2, 0.25, 0.0], [0.0, 0.0, 0.2]])
    >>> solution = select_soft(G, np.full(3, 0.1), Penalties(0.02, 0.1, 0.02), n_landmarks=2)
    >>> int((solution.selection != 0).sum())
    2
    """
    if n_landmarks is None:
        return minimise(G, E, penalties, support=support, targets=targets)
    support = np.ones(len(E), dtype=bool) if support is None else support.copy()

    def solve(lambda2: float, start: np.ndarray | None) -> Solution:
        weights = replace(penalties, lambda2=lambda2)
        return minimise(G, E, weights, support=support, start=start, targets=targets, **ROUGH)

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
        support[np.argsort(np.where(support, np.abs(above.selection), np.inf))[:strike]] = False
    return _keep_all(G, E, penalties, support, low, targets)


def _keep_all(
    G: np.ndarray,
    E: np.ndarray,
    penalties: Penalties,
    support: np.ndarray,
    lambda2: float,
    targets: np.ndarray | None,
) -> Solution:
    """Solve on a support with the largest lambda2, at most the given one, that keeps all of it."""
    for value in [*(lambda2 / 2**n for n in range(_BISECTIONS)), 0.0]:
        weights = replace(penalties, lambda2=value)
        solution = minimise(G, E, weights, support=support, targets=targets)
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
    targets: np.ndarray | None = None,
) -> Solution:
    """Select landmarks with weights 0 or 1 by addition, removal and swap.

    For a set S of landmarks the objective, minimised over A, is::

        J(S) = sum_{j in S} (E_j + lambda2 - lambda1) + lambda1 C + tr(R_S)
        R_S  = G - G_S' (G_SS + rho I)^-1 G_S          what the landmarks leave unexplained

    Adding j takes ||R_j||^2 / (R_jj + rho) from the trace and R loses a rank-one matrix, so one
    look at all additions costs O(C^2). The search starts from greedy addition and from greedy
    removal, improves both by the best single addition, removal or swap until none helps, and
    returns the better: never worse than greedy addition alone.

    Parameters
    ----------
    G, E, penalties, n_landmarks, support, targets
        As for :func:`select_soft`.

    Returns
    -------
    solution : Solution
        Weights of 0 and 1, their recovery, and the objective after every move.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.objective import Penalties
    >>> from splmll.landmarks.selection import select_hard
    >>> G = np.array([[0.25, 0.2, 0.0], [0.2, 0.25, 0.0], [0.0, 0.0, 0.2]])
    >>> E = np.array([0.05, 0.2, 0.05])
    >>> select_hard(G, E, Penalties(0.02, 0.05, 0.02), n_landmarks=2).selection
    array([1., 0., 1.])
    """
    candidates = np.ones(len(E), dtype=bool) if support is None else support
    targets = G if targets is None else targets
    ends = []
    for grow in (True, False):
        search = _Search(G, E, penalties, candidates, n_landmarks, full=not grow, targets=targets)
        search.run(grow)
        ends.append(search)
    best = min(ends, key=lambda search: search.value)
    history = []
    for inside in best.visited:
        selection = inside.astype(np.float64)
        recovery = solve_recovery(G, selection, penalties.rho, targets)
        history.append(objective(G, E, selection, recovery, penalties, targets))
    return Solution(selection, recovery, history)


def by_weight(selection: np.ndarray) -> np.ndarray:
    """Return the landmarks, largest weight first."""
    landmarks = np.flatnonzero(selection)
    return landmarks[np.argsort(-np.abs(selection[landmarks]), kind="stable")]


class _Search:
    """Local search over landmark sets; R and T are what the current set leaves unexplained.

    R of the labels themselves, T of the labels to recover: the same unless there are ``targets``.
    """

    def __init__(
        self,
        G: np.ndarray,
        E: np.ndarray,
        penalties: Penalties,
        candidates: np.ndarray,
        n_landmarks: int | None,
        *,
        full: bool,
        targets: np.ndarray | None = None,
    ) -> None:
        self.G, self.targets = G, G if targets is None else targets
        self.price = E + penalties.lambda2 - penalties.lambda1
        # rho = 0 would divide by zero once a label is explained completely.
        self.rho = max(penalties.rho, 1e-12 * max(float(np.trace(G)), 1e-300))
        self.candidates = candidates
        self.n_landmarks = n_landmarks
        self.inside = candidates.copy() if full else np.zeros(len(E), dtype=bool)
        self.tolerance = 1e-12 * (float(np.trace(G)) + float(np.abs(self.price).sum()) + 1e-300)
        self.value = penalties.lambda1 * len(E) + self.price[self.inside].sum()
        S, inverse = self.refresh()
        explained = np.sum(self.targets[S] * (inverse @ self.targets[S]))
        self.value += float(np.trace(G) - explained)
        self.visited = [self.inside.copy()]

    def inverse(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the landmarks and (G + rho I)^-1 on them."""
        S = np.flatnonzero(self.inside)
        return S, np.linalg.inv(self.G[np.ix_(S, S)] + self.rho * np.eye(len(S)))

    def refresh(self) -> tuple[np.ndarray, np.ndarray]:
        """Recompute R and T from scratch; return the landmarks and the inverse."""
        S, inverse = self.inverse()
        weights = self.G[:, S] @ inverse
        self.R = self.G - weights @ self.G[S]
        same = self.targets is self.G
        self.T = self.R if same else self.targets - weights @ self.targets[S]
        return S, inverse

    def run(self, grow: bool) -> None:
        step = self.add_best if grow else self.remove_best
        while self.n_landmarks is None or self.count() != self.n_landmarks:
            if not step(forced=self.n_landmarks is not None):
                break
        moves = [self.swap_best] if self.n_landmarks is not None else [
            self.add_best, self.remove_best, self.swap_best
        ]  # fmt: skip
        while any(move() for move in moves):
            pass

    def count(self) -> int:
        return int(self.inside.sum())

    def best_addition(self) -> tuple[int, float]:
        """Return the addition that lowers the objective most, and by how much."""
        explained = np.einsum("ij,ij->i", self.T, self.T) / (np.diag(self.R) + self.rho)
        gain = np.where(self.candidates & ~self.inside, explained - self.price, -np.inf)
        label = int(np.argmax(gain))
        return label, float(gain[label])

    def removals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the landmarks, what each removal gains, and how: R grows by u u', T by u v'."""
        S, inverse = self.inverse()
        scaled = inverse / np.sqrt(np.diag(inverse))
        in_R, in_T = self.G[:, S] @ scaled, self.targets[S].T @ scaled
        gain = self.price[S] - np.einsum("ij,ij->j", in_T, in_T)
        return S, gain, in_R, in_T

    def move(self, add: int | None, remove: int | None, gain: float) -> None:
        if add is not None:
            self.inside[add] = True
        if remove is not None:
            self.inside[remove] = False
        if remove is None and add is not None:
            column = self.R[:, add] / (self.R[add, add] + self.rho)
            same = self.targets is self.G
            R = self.R - np.outer(column, self.R[add])
            self.T = R if same else self.T - np.outer(column, self.T[add])
            self.R = R
        else:
            self.refresh()
        self.value -= gain
        self.visited.append(self.inside.copy())

    def add_best(self, forced: bool = False) -> bool:
        if not (self.candidates & ~self.inside).any():
            return False
        label, gain = self.best_addition()
        if not forced and gain <= self.tolerance:
            return False
        self.move(label, None, gain)
        return True

    def remove_best(self, forced: bool = False) -> bool:
        if not self.inside.any():
            return False
        S, gains, _, _ = self.removals()
        worst = int(np.argmax(gains))
        if not forced and gains[worst] <= self.tolerance:
            return False
        self.move(None, int(S[worst]), float(gains[worst]))
        return True

    def swap_best(self) -> bool:
        if not self.inside.any() or not (self.candidates & ~self.inside).any():
            return False
        S, gains, in_R, in_T = self.removals()
        best = (self.tolerance, -1, -1)
        # After a removal, R grows by u u' and T by u v'. What an addition would then gain needs
        # only the norms of T's rows, T v and v'v: O(C^2) for one removal, no new inverse.
        norms = np.einsum("ij,ij->i", self.T, self.T)
        diagonal = np.diag(self.R)
        Tv = self.T @ in_T
        free = self.candidates & ~self.inside
        for i, remove in enumerate(S):
            u, v = in_R[:, i], in_T[:, i]
            grown = norms + 2 * u * Tv[:, i] + u**2 * (v @ v)
            gain = grown / (diagonal + u**2 + self.rho) - self.price + gains[i]
            gain = np.where(free, gain, -np.inf)
            add = int(np.argmax(gain))
            if gain[add] > best[0]:
                best = (float(gain[add]), int(remove), add)
        if best[1] < 0:
            return False
        self.move(best[2], best[1], best[0])
        return True
