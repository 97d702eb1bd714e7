"""The published objective solved exactly, block by block, on sufficient statistics.

With diagonal selection B = diag(b), label moments G = Y'Y and prediction errors
E_j = ||f_j - y_j||^2 the objective of ``objective.py`` is a function of C x C matrices only::

    J(b, A) = sum_j E_j b_j^2 + tr(G) - 2 tr(A'BG) + tr(A'BGBA)
              + lambda1 ||b - 1||^2 + lambda2 ||b||_1 + rho ||A||^2

Each block has an exact solution, so J falls at every block and no step depends on the number
of rows::

    A:  (B G B + rho I) A = B G
    b:  minimise b'H b - 2 g'b + lambda2 ||b||_1   with H = G o (A A') + diag(E) + lambda1 I
                                                   and  g_j = A_j . G_j + lambda1

The second is a lasso in disguise (o is the elementwise product), solved by scikit-learn's
coordinate descent, which leaves exact zeros: the labels that are no landmarks. Between the rounds
a Newton step in b, with A solved for, speeds up the approach once the landmarks are settled.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from splmll.published.objective import TERMS, Penalties

# Relative differences of the objective that may be rounding.
_ROUNDING = 1e-13


@dataclass
class Solution:
    """A selection b, a recovery A (zero rows off the landmarks) and how they were reached."""

    selection: np.ndarray
    recovery: np.ndarray
    history: list[dict[str, float]] = field(default_factory=list)

    @property
    def objective(self) -> float:
        """The last value of the objective."""
        return self.history[-1]["objective"]


def minimise(
    G: np.ndarray,
    E: np.ndarray,
    penalties: Penalties,
    *,
    support: np.ndarray | None = None,
    start: np.ndarray | None = None,
    tol: float = 1e-10,
    max_iter: int = 2000,
) -> Solution:
    """Alternate the two blocks until the optimality conditions hold.

    Parameters
    ----------
    G : ndarray of shape (n_labels, n_labels)
        Label moments, positive semi-definite.
    E : ndarray of shape (n_labels,)
        Squared error of each label's prediction, over as many rows as G.
    penalties : Penalties
        lambda1, lambda2 and rho.
    support : ndarray of bool, optional
        Labels that may become landmarks; all by default.
    start : ndarray of shape (n_labels,), optional
        Where b starts; 1 on the support by default.
    tol : float, default=1e-10
        Largest violation of the optimality conditions, relative to the mean label moment.
    max_iter : int, default=2000
        Largest number of rounds.

    Returns
    -------
    solution : Solution
        b, A and every term of the objective after every block.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.published.exact import minimise
    >>> from splmll.published.objective import TERMS, Penalties
    >>> G = np.array([[0.25, 0.24, 0.0], [0.24, 0.25, 0.0], [0.0, 0.0, 0.2]])
    >>> E = np.array([0.05, 0.2, 0.05])  # the second label copies the first and is harder
    >>> solution = minimise(G, E, Penalties(lambda1=0.02, lambda2=0.1, rho=0.02))
    >>> (solution.selection != 0).tolist()
    [True, False, True]
    """
    support = np.ones(len(E), dtype=bool) if support is None else support
    b = np.where(support, 1.0 if start is None else start, 0.0).astype(np.float64)
    problem = Problem(G, E, penalties, support)
    point = Point(problem, b)
    history = [{"block": 0.0, **point.terms(point.b)}]
    wanted = tol * max(float(np.mean(np.diag(G))), np.finfo(float).tiny)
    for number in range(max_iter):
        if number:
            # The rounds converge along a line. A step ahead is kept only where it lowers J or,
            # where J no longer shows a difference, where it comes nearer to the optimum.
            ahead = Point(problem, point.newton_step())
            terms = ahead.terms(ahead.b)
            change = terms["objective"] - history[-1]["objective"]
            level = abs(change) <= _ROUNDING * abs(terms["objective"])
            if ahead.violation < point.violation if level else change < 0:
                point = ahead
                history.append({"block": 0.0, **terms})
        b = point.best_selection()
        history.append({"block": 1.0, **point.terms(b)})
        same = np.array_equal(b, point.b)  # all that floating point gives
        point = Point(problem, b)
        history.append({"block": 0.0, **point.terms(b)})
        if same or point.violation <= wanted:
            break
    return Solution(point.b, solve_recovery(G, point.b, penalties.rho), history)


@dataclass
class Problem:
    """Everything that stays the same while b and A are sought."""

    G: np.ndarray
    E: np.ndarray
    penalties: Penalties
    support: np.ndarray


class Point:
    """A selection b, and what is needed of its best recovery A: A A' and A_j . T_j.

    Rows of A off the landmarks are zero, so all matrices are of the landmarks only.
    """

    def __init__(self, problem: Problem, b: np.ndarray) -> None:
        self.problem, self.b = problem, b
        self.landmarks = np.flatnonzero(b)
        self.rho = problem.penalties.rho
        chosen = b[self.landmarks]
        T = problem.G[self.landmarks]
        G = problem.G[np.ix_(self.landmarks, self.landmarks)]
        self.left = chosen[:, None] * G * chosen
        A = _solve_ridge(self.left, chosen[:, None] * T, self.rho)
        self.AA = A @ A.T
        self.AT = np.einsum("jl,jl->j", A, T)
        lambda1 = problem.penalties.lambda1
        self.overlap = G * self.AA
        self.H = self.overlap.copy()
        self.H[np.diag_indices_from(self.H)] += problem.E[self.landmarks] + lambda1
        self.g = self.AT + lambda1
        self.slope = self.H @ chosen - self.g + problem.penalties.lambda2 / 2 * np.sign(chosen)

    def terms(self, b: np.ndarray) -> dict[str, float]:
        """Return the terms of J with this recovery and a selection b, perhaps another one."""
        problem, chosen = self.problem, b[self.landmarks]
        left_over = np.trace(problem.G) - 2 * chosen @ self.AT
        left_over += chosen @ self.overlap @ chosen
        return _all_terms(problem.E, b, left_over, float(np.trace(self.AA)), problem.penalties)

    @property
    def violation(self) -> float:
        """Largest violation of the first-order conditions in b; those in A hold."""
        alone = self._alone()
        off = 2 * np.abs(alone * (self.problem.E + self.problem.penalties.lambda1))
        return float(max(2 * np.abs(self.slope).max(initial=0.0), off.max(initial=0.0)))

    def _alone(self) -> np.ndarray:
        """The best weights of the labels that are no landmarks, zero for the landmarks.

        A label that dropped out has a zero row in A: it can only come back for its own sake.
        """
        lambda1, lambda2 = self.problem.penalties.lambda1, self.problem.penalties.lambda2
        result = np.zeros_like(self.b)
        if lambda1 > lambda2 / 2:
            outside = self.problem.support & (self.b == 0)
            result[outside] = (lambda1 - lambda2 / 2) / (self.problem.E[outside] + lambda1)
        return result

    def best_selection(self) -> np.ndarray:
        """Return the best selection for this recovery; exact zeros where a label is dropped."""
        result = self._alone()
        if len(self.landmarks):
            lambda2, chosen = self.problem.penalties.lambda2, self.b[self.landmarks]
            same = _solve_on(self.H, self.g, chosen, lambda2)
            if same is None:
                same = _descend(self.H, self.g, chosen, lambda2)
            result[self.landmarks] = same
        return result

    def curvature(self) -> np.ndarray:
        """Return half the second derivative of J in the landmarks' weights, A solved for.

        With M = (B G B + rho I)^-1 it is::

            diag(E + lambda1) + (A A') o (3 rho I - 4 rho^2 M) / (b b')
        """
        k, chosen = len(self.landmarks), self.b[self.landmarks]
        result = np.diag(self.problem.E[self.landmarks] + self.problem.penalties.lambda1)
        if self.rho > 0:
            M = _solve_ridge(self.left, np.eye(k), self.rho)
            bend = self.AA * (3 * self.rho * np.eye(k) - 4 * self.rho**2 * M)
            result += bend / np.outer(chosen, chosen)
        return result

    def newton_step(self) -> np.ndarray:
        """Return where Newton's method goes from here.

        The step keeps the zeros and signs of b, so that no landmark comes or goes by it.
        """
        ahead = self.b.copy()
        if len(self.landmarks) == 0:
            return ahead
        curvature, chosen = self.curvature(), self.b[self.landmarks]
        try:
            step = linalg.cho_solve(linalg.cho_factor(curvature, lower=True), self.slope)
        except linalg.LinAlgError:
            # J bends down somewhere, as where a landmark is slowly given up: go down there too.
            values, vectors = linalg.eigh(curvature)
            size = np.maximum(np.abs(values), max(1e-6 * np.abs(values).max(), 1e-300))
            step = vectors @ ((vectors.T @ self.slope) / size)
        # The longest part of the step that leaves every weight a tenth of itself.
        with np.errstate(over="ignore"):
            longest = 0.9 / max(float(np.max(step / chosen)), 0.9)
        if longest < 1 and self.rho == 0:
            return ahead  # b falls to 0 while A grows against it for free: there is no minimum
        ahead[self.landmarks] = chosen - longest * step
        return ahead


def solve_recovery(G: np.ndarray, b: np.ndarray, rho: float) -> np.ndarray:
    """Return the best recovery for a selection: (B G B + rho I) A = B G on the landmark rows."""
    A = np.zeros(G.shape)
    landmarks = np.flatnonzero(b)
    if len(landmarks) == 0:
        return A
    chosen = b[landmarks]
    left = chosen[:, None] * G[np.ix_(landmarks, landmarks)] * chosen
    right = chosen[:, None] * G[landmarks]
    A[landmarks] = _solve_ridge(left, right, rho)
    return A


def _solve_ridge(left: np.ndarray, right: np.ndarray, rho: float) -> np.ndarray:
    """Return (left + rho I)^-1 right; without a ridge the smallest solution."""
    if rho == 0:
        return linalg.lstsq(left, right)[0]
    ridged = left.copy()
    ridged[np.diag_indices_from(ridged)] += rho
    return linalg.cho_solve(linalg.cho_factor(ridged, lower=True), right)


def _solve_on(H: np.ndarray, g: np.ndarray, b: np.ndarray, lambda2: float) -> np.ndarray | None:
    """Return the minimiser if it has the zeros and signs of b, else None.

    The problem is convex, so a point that meets the optimality conditions is the answer. After a
    few rounds the landmarks no longer change, and this one solve replaces the descent.
    """
    active = np.flatnonzero(b)
    if len(active) == 0:
        return None
    sign = np.sign(b[active])
    lower = _cholesky(H[np.ix_(active, active)])
    exact = linalg.cho_solve((lower, True), g[active] - lambda2 / 2 * sign)
    if not (np.sign(exact) == sign).all():
        return None
    result = np.zeros_like(b)
    result[active] = exact
    pull = np.abs(g - H[:, active] @ exact)
    pull[active] = 0.0
    return result if pull.max(initial=0.0) <= lambda2 / 2 else None


def _descend(H: np.ndarray, g: np.ndarray, b: np.ndarray, lambda2: float) -> np.ndarray:
    """Minimise by scikit-learn's coordinate descent, which leaves exact zeros."""
    lower = _cholesky(H)
    target = linalg.solve_triangular(lower, g, lower=True)
    if lambda2 == 0:
        return linalg.solve_triangular(lower, target, lower=True, trans="T")
    # min ||target - L'b||^2 + lambda2 |b|_1; scikit-learn halves and divides by the rows of L'.
    lasso = Lasso(
        alpha=lambda2 / (2 * len(b)),
        fit_intercept=False,
        tol=1e-14,
        max_iter=100_000,
        warm_start=True,
        random_state=0,  # unused by cyclic descent, but None would draw from the global state
    )
    lasso.coef_ = b.copy()
    with warnings.catch_warnings():
        # The tolerance asks for the last digit; reaching it or not is judged by the
        # optimality conditions of the whole problem, not here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        lasso.fit(lower.T, target)
    found = lasso.coef_
    # Descent stops at half the digits; with its zeros and signs one solve gives the rest.
    polished = _solve_on(H, g, found, lambda2)
    return found if polished is None else polished


def _cholesky(H: np.ndarray) -> np.ndarray:
    try:
        return linalg.cholesky(H, lower=True)
    except linalg.LinAlgError:  # lambda1 = 0 and a label that is never wrong: nearly singular
        return linalg.cholesky(H + 1e-10 * np.trace(H) / len(H) * np.eye(len(H)), lower=True)


def _quadratic(
    G: np.ndarray, E: np.ndarray, A: np.ndarray, penalties: Penalties
) -> tuple[np.ndarray, np.ndarray]:
    H = G * (A @ A.T)
    H[np.diag_indices_from(H)] += E + penalties.lambda1
    g = np.einsum("jl,jl->j", A, G) + penalties.lambda1
    return H, g


def objective(
    G: np.ndarray,
    E: np.ndarray,
    b: np.ndarray,
    A: np.ndarray,
    penalties: Penalties,
) -> dict[str, float]:
    """Return every term of J(b, A) by name, and their sum as ``objective``."""
    landmarks = np.flatnonzero(b)
    chosen, rows = b[landmarks, None], A[landmarks]
    weighted = chosen * G[landmarks]
    among = chosen * G[np.ix_(landmarks, landmarks)] * chosen.T
    left_over = np.trace(G) - 2 * np.sum(rows * weighted) + np.sum(rows * (among @ rows))
    return _all_terms(E, b, left_over, float(np.sum(A**2)), penalties)


def _all_terms(
    E: np.ndarray, b: np.ndarray, left_over: Any, A_square: float, penalties: Penalties
) -> dict[str, float]:
    values = (
        float(E @ b**2),
        float(left_over),
        penalties.lambda1 * float(np.sum((b - 1) ** 2)),
        penalties.lambda2 * float(np.sum(np.abs(b))),
        penalties.rho * A_square,
    )
    return {**dict(zip(TERMS, values, strict=True)), "objective": sum(values)}


def optimality_residual(
    G: np.ndarray,
    E: np.ndarray,
    b: np.ndarray,
    A: np.ndarray,
    support: np.ndarray | None,
    penalties: Penalties,
) -> float:
    """Return the largest violation of the first-order conditions in b and in A."""
    H, g = _quadratic(G, E, A, penalties)
    slope = 2 * (H @ b - g)
    in_b = np.where(
        b != 0,
        np.abs(slope + penalties.lambda2 * np.sign(b)),
        np.maximum(np.abs(slope) - penalties.lambda2, 0.0),
    )
    if support is not None:
        in_b = in_b[support]
    in_A = 2 * ((b[:, None] * G * b) @ A + penalties.rho * A - b[:, None] * G)
    return float(max(in_b.max(initial=0.0), np.abs(in_A).max(initial=0.0)))
