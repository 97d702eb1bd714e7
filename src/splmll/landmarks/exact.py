"""Block-exact minimisation of the objective on sufficient statistics.

With diagonal selection B = diag(b), label moments G = Y'Y / n and honest prediction errors E the
objective of ``objective.py`` is a function of C x C matrices only::

    J(b, A) = sum_j E_j b_j^2 + tr(G) - 2 tr(A'BG) + tr(A'BGBA)
              + lambda1 ||b - 1||^2 + lambda2 ||b||_1 + rho ||A||^2

Each block has an exact solution, so J falls at every block and no step depends on the number
of rows::

    A:  (B G B + rho I) A = B G
    b:  minimise b'H b - 2 g'b + lambda2 ||b||_1   with H = G o (A A') + diag(E) + lambda1 I
                                                   and  g_j = A_j . G_j + lambda1

The second is a lasso in disguise (o is the elementwise product), solved by scikit-learn's
coordinate descent, which leaves exact zeros: the labels that are no landmarks.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from splmll.landmarks.objective import Penalties

TERMS = ("predictability", "representativeness", "identity", "sparsity", "ridge")


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
    targets: np.ndarray | None = None,
    tol: float = 1e-10,
    max_iter: int = 2000,
) -> Solution:
    """Alternate the two blocks until the optimality conditions hold.

    Parameters
    ----------
    G : ndarray of shape (n_labels, n_labels)
        Label moments, positive semi-definite.
    E : ndarray of shape (n_labels,)
        Mean squared error of each label's prediction.
    penalties : Penalties
        lambda1, lambda2 and rho.
    support : ndarray of bool, optional
        Labels that may become landmarks; all by default.
    start : ndarray of shape (n_labels,), optional
        Where b starts; 1 on the support by default.
    targets : ndarray of shape (n_labels, n_targets), optional
        Moments of these labels with the labels that they recover, where those are not just
        themselves. The objective then lacks the variance of the others, a constant.
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
    >>> from splmll.landmarks.exact import minimise
    >>> from splmll.landmarks.objective import Penalties
    >>> G = np.array([[0.25, 0.24, 0.0], [0.24, 0.25, 0.0], [0.0, 0.0, 0.2]])
    >>> E = np.array([0.05, 0.2, 0.05])  # the second label copies the first and is harder
    >>> solution = minimise(G, E, Penalties(lambda1=0.02, lambda2=0.1, rho=0.02))
    >>> (solution.selection != 0).tolist()
    [True, False, True]
    """
    n_labels = len(E)
    support = np.ones(n_labels, dtype=bool) if support is None else support
    b = np.where(support, 1.0 if start is None else start, 0.0).astype(np.float64)
    targets = G if targets is None else targets
    A = solve_recovery(G, b, penalties.rho, targets)
    history = [{"block": 0.0, **objective(G, E, b, A, penalties, targets)}]
    scale = max(float(np.mean(np.diag(G))), np.finfo(float).tiny)
    memory = _Anderson()
    for _ in range(max_iter):
        previous, b = b, _solve_selection(G, E, A, b, support, penalties, targets)
        history.append({"block": 1.0, **objective(G, E, b, A, penalties, targets)})
        A = solve_recovery(G, b, penalties.rho, targets)
        history.append({"block": 0.0, **objective(G, E, b, A, penalties, targets)})
        if optimality_residual(G, E, b, A, support, penalties, targets) <= tol * scale:
            break
        if np.array_equal(b, previous):  # all that floating point gives
            break
        # The rounds converge along a line; a step ahead is kept only where it lowers J.
        ahead = memory.extrapolate(previous, b)
        if ahead is not None:
            A_ahead = solve_recovery(G, ahead, penalties.rho, targets)
            terms = objective(G, E, ahead, A_ahead, penalties, targets)
            if terms["objective"] < history[-1]["objective"]:
                b, A = ahead, A_ahead
                history.append({"block": 0.0, **terms})
    return Solution(b, A, history)


class _Anderson:
    """Anderson's acceleration of the rounds b -> b*: a combination of the last few that cancels.

    It only proposes points with the zeros and signs of b*, so that no landmark comes or goes by
    extrapolation.
    """

    depth = 5

    def __init__(self) -> None:
        self.steps: list[np.ndarray] = []
        self.images: list[np.ndarray] = []

    def extrapolate(self, b: np.ndarray, image: np.ndarray) -> np.ndarray | None:
        """Return a point ahead of ``image``, what a round made of ``b``, or None."""
        if self.images and (np.sign(self.images[-1]) != np.sign(image)).any():
            self.steps, self.images = [], []
        self.steps = [*self.steps, image - b][-self.depth :]
        self.images = [*self.images, image][-self.depth :]
        if len(self.steps) < 2:
            return None
        last = self.steps[-1]
        differences = np.column_stack([last - step for step in self.steps[:-1]])
        mix = linalg.lstsq(differences, last)[0]
        moved = np.column_stack([image - other for other in self.images[:-1]])
        ahead = image - moved @ mix
        return ahead if (np.sign(ahead) == np.sign(image)).all() else None


def solve_recovery(
    G: np.ndarray, b: np.ndarray, rho: float, targets: np.ndarray | None = None
) -> np.ndarray:
    """Return the best recovery for a selection: (B G B + rho I) A = B G on the landmark rows.

    Where the recovered labels are not those of G, ``targets`` stands on the right.
    """
    targets = G if targets is None else targets
    A = np.zeros(targets.shape)
    landmarks = np.flatnonzero(b)
    if len(landmarks) == 0:
        return A
    chosen = b[landmarks]
    left = chosen[:, None] * G[np.ix_(landmarks, landmarks)] * chosen
    right = chosen[:, None] * targets[landmarks]
    if rho > 0:
        left[np.diag_indices_from(left)] += rho
        A[landmarks] = linalg.solve(left, right, assume_a="pos")
    else:
        A[landmarks] = linalg.lstsq(left, right)[0]
    return A


def _solve_selection(
    G: np.ndarray,
    E: np.ndarray,
    A: np.ndarray,
    b: np.ndarray,
    support: np.ndarray,
    penalties: Penalties,
    targets: np.ndarray,
) -> np.ndarray:
    """Return the best selection for a recovery; exact zeros where a label is no landmark."""
    H, g = _quadratic(G, E, A, penalties, targets)
    # A label that dropped out has a zero row in A: with A_j = 0 it can only come back for its
    # own sake, b_j = (lambda1 - lambda2 / 2) / (E_j + lambda1), which the same lasso decides.
    inside = np.flatnonzero(support)
    H, g = H[np.ix_(inside, inside)], g[inside]
    result = np.zeros_like(b)
    same = _solve_on(H, g, b[inside], penalties.lambda2)
    if same is None:
        same = _descend(H, g, b[inside], penalties.lambda2)
    result[inside] = same
    return result


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
    G: np.ndarray, E: np.ndarray, A: np.ndarray, penalties: Penalties, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    H = G * (A @ A.T)
    H[np.diag_indices_from(H)] += E + penalties.lambda1
    g = np.einsum("jl,jl->j", A, targets) + penalties.lambda1
    return H, g


def objective(
    G: np.ndarray,
    E: np.ndarray,
    b: np.ndarray,
    A: np.ndarray,
    penalties: Penalties,
    targets: np.ndarray | None = None,
) -> dict[str, float]:
    """Return every term of J(b, A) by name, and their sum as ``objective``."""
    landmarks = np.flatnonzero(b)
    chosen, rows = b[landmarks, None], A[landmarks]
    weighted = chosen * (G if targets is None else targets)[landmarks]
    among = chosen * G[np.ix_(landmarks, landmarks)] * chosen.T
    terms = {
        "predictability": float(E @ b**2),
        "representativeness": float(
            np.trace(G) - 2 * np.sum(rows * weighted) + np.sum(rows * (among @ rows))
        ),
        "identity": penalties.lambda1 * float(np.sum((b - 1) ** 2)),
        "sparsity": penalties.lambda2 * float(np.sum(np.abs(b))),
        "ridge": penalties.rho * float(np.sum(A**2)),
    }
    return {**terms, "objective": sum(terms.values())}


def optimality_residual(
    G: np.ndarray,
    E: np.ndarray,
    b: np.ndarray,
    A: np.ndarray,
    support: np.ndarray | None,
    penalties: Penalties,
    targets: np.ndarray | None = None,
) -> float:
    """Return the largest violation of the first-order conditions in b and in A."""
    targets = G if targets is None else targets
    H, g = _quadratic(G, E, A, penalties, targets)
    slope = 2 * (H @ b - g)
    in_b = np.where(
        b != 0,
        np.abs(slope + penalties.lambda2 * np.sign(b)),
        np.maximum(np.abs(slope) - penalties.lambda2, 0.0),
    )
    if support is not None:
        in_b = in_b[support]
    in_A = 2 * ((b[:, None] * G * b) @ A + penalties.rho * A - b[:, None] * targets)
    return float(max(in_b.max(initial=0.0), np.abs(in_A).max(initial=0.0)))
