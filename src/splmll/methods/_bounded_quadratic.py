"""Quadratic programmes with bounds on every variable, many of them with one matrix.

A conjugate gradient method that works on the variables between their bounds and lets others go
when that promises more (MPRGP, with projected conjugate steps). It needs products with the matrix
only, so that the matrix may be sparse or never be formed, and one product serves all programmes.

References
----------
Dostal, Schoeberl: Minimizing quadratic functions subject to bound constraints with the rate of
convergence and finite termination. Computational Optimization and Applications 30(1), 2005.
Kruzik, Horak, Cermak, Pospisil, Pecha: Active set expansion strategies in MPRGP algorithm. Advances
in Engineering Software 149, 2020.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Usual in the literature (Gamma): bounds are reconsidered when the gradient at them is the larger.
_PROPORTION = 1.0


def bounded_quadratic(
    product: Callable[[np.ndarray], np.ndarray],
    linear: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    start: np.ndarray,
    *,
    norm: float,
    tol: float,
    max_iter: int,
) -> np.ndarray:
    """Minimise ``x'Ax / 2 + c'x`` subject to ``lower <= x <= upper``, column by column.

    Parameters
    ----------
    product : callable
        Gives ``A @ V`` for a matrix V with any number of columns; A is symmetric and positive
        semi-definite.
    linear : ndarray of shape (n, n_columns)
        The vectors c.
    lower, upper : ndarray of shape (n, n_columns)
        Bounds; infinite ones are allowed where the minimum exists.
    start : ndarray of shape (n, n_columns)
        First guess, moved between the bounds.
    norm : float
        The largest eigenvalue of A, or more than half of it: the inverse is the length of a plain
        gradient step.
    tol : float
        Stop when no component of the projected gradient is larger.
    max_iter : int
        Stop after so many steps in any case.

    Returns
    -------
    solution : ndarray of shape (n, n_columns)
        Between the bounds; its objective is not above that of ``start``.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._bounded_quadratic import bounded_quadratic
    >>> A, c = np.diag([1.0, 2.0]), np.array([[-3.0], [-1.0]])
    >>> box = np.zeros((2, 1)), np.ones((2, 1))
    >>> bounded_quadratic(
    ...     lambda V: A @ V, c, *box, box[0], norm=2.0, tol=1e-9, max_iter=10
    ... ).ravel()
    array([1. , 0.5])
    """
    solution = np.clip(start, lower, upper)
    columns = np.arange(solution.shape[1])
    x, gradient = solution, linear + product(solution)
    direction = _split(x, gradient, lower, upper)[0]
    for _ in range(max_iter):
        free, held = _split(x, gradient, lower, upper)
        # Columns that are done leave, so that the last ones do not pay for all.
        still = np.abs(free + held).max(axis=0, initial=0.0) > tol
        if not still.all():
            solution[:, columns] = x
            columns = columns[still]
            if not len(columns):
                return solution
            x, gradient, direction, free, held, lower, upper, linear = (
                part[:, still]
                for part in (x, gradient, direction, free, held, lower, upper, linear)
            )
        # As much of the free gradient as one plain step could use before it meets the bounds.
        usable = np.clip(free, norm * (x - upper), norm * (x - lower))
        along_face = (held**2).sum(axis=0) <= _PROPORTION**2 * (usable * free).sum(axis=0)
        direction = np.where(along_face, direction, held)

        image = product(direction)
        curvature = (direction * image).sum(axis=0)
        slope = (direction * gradient).sum(axis=0)
        best = np.divide(slope, curvature, out=np.full_like(slope, np.inf), where=curvature > 0)
        room = _room(x, direction, lower, upper)
        step = np.minimum(best, room)
        step[~np.isfinite(step)] = 0.0
        blocked = along_face & (room < best) & np.isfinite(best)
        whole = np.clip(x - np.where(blocked, best, step) * direction, lower, upper)
        x = np.clip(x - step * direction, lower, upper)
        gradient = gradient - step * image

        if blocked.any():
            # A bound stops the step. The whole step, cut at the bounds, meets many of them at once
            # and nearly always goes down; a plain gradient step, cut likewise, never goes up.
            value = (x * (gradient + linear)).sum(axis=0)
            gradient_whole = linear + product(whole)
            risen = blocked & ((whole * (gradient_whole + linear)).sum(axis=0) > value)
            if risen.any():
                free = _split(x, gradient, lower, upper)[0]
                whole = np.where(risen, np.clip(x - free / norm, lower, upper), whole)
                gradient_whole = linear + product(whole)
            x, gradient = whole, gradient_whole
        free = _split(x, gradient, lower, upper)[0]
        conjugate = np.divide(
            (free * image).sum(axis=0),
            curvature,
            out=np.zeros_like(curvature),
            where=along_face & ~blocked & (curvature > 0),
        )
        direction = free - conjugate * direction
    solution[:, columns] = x
    return solution


def _split(
    x: np.ndarray, gradient: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of free variables, and of variables at a bound that want to leave it."""
    at_lower, at_upper = x <= lower, x >= upper
    free = np.where(at_lower | at_upper, 0.0, gradient)
    leaving = (at_lower & ~at_upper & (gradient < 0)) | (at_upper & ~at_lower & (gradient > 0))
    return free, np.where(leaving, gradient, 0.0)


def _room(x: np.ndarray, direction: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """How far each column can go down its direction before it meets a bound."""
    ahead = np.where(direction > 0, x - lower, x - upper)
    length = np.divide(ahead, direction, out=np.full_like(x, np.inf), where=direction != 0)
    return length.min(axis=0, initial=np.inf)
