"""The published objective and its two gradients, as formulas.

With rows of predictions F = f(X) and labels Y, the selection B (the paper's landmark selection
matrix), the recovery A (its label correlation matrix) and I the identity::

    L(F, B, A) = ||(F - Y) B||^2            predictability: landmarks are easy to predict
               + ||Y - Y B A||^2            representativeness: landmarks recover all labels
               + lambda1 ||B - I||^2        identity: a landmark keeps its own label
               + lambda2 ||B||_{2,1}        sparsity: few landmarks (sum of the row norms of B)
               + rho ||A||^2                ridge: zero in the paper

The first two norms are sums over the rows of a batch, as they are written: with means instead,
lambda1 and lambda2 would count 64 times as much in a batch of 64 rows.

All functions take NumPy arrays or torch tensors; B is a full matrix, diagonal or not. ``known``
is 1 where a label is known and 0 where it is not: there Y holds a 0, which as an input to the
recovery says nothing, and as something to predict or recover the cell does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

TERMS = ("predictability", "representativeness", "identity", "sparsity", "ridge")


@dataclass(frozen=True)
class Penalties:
    """The weights of the objective's penalties."""

    lambda1: float
    lambda2: float
    rho: float = 0.0


def objective_terms(
    F: Any, Y: Any, B: Any, A: Any, penalties: Penalties, known: Any = None
) -> dict[str, Any]:
    """Return every term of the objective, weighted, by name.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.published.objective import Penalties, objective_terms
    >>> Y = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> terms = objective_terms(Y - 0.5, Y, np.eye(2), np.eye(2), Penalties(0.1, 0.1))
    >>> [round(float(value), 3) for value in terms.values()]
    [1.0, 0.0, 0.0, 0.2, 0.0]
    """
    values = (
        _square(_counted(F - Y, known) @ B),
        _square(_counted(Y - Y @ B @ A, known)),
        penalties.lambda1 * _square(B - identity_like(B)),
        penalties.lambda2 * _row_norms(B).sum(),
        penalties.rho * _square(A),
    )
    return dict(zip(TERMS, values, strict=True))


def gradient_of_selection(
    F: Any, Y: Any, B: Any, A: Any, penalties: Penalties, known: Any = None
) -> Any:
    """Return dL/dB, the paper's equation for B.

    The paper writes the last term 2 lambda2 D B with D_ii = 1 / (2 ||B_i||): that is
    lambda2 B_i / ||B_i||, the gradient of the sparsity term. A zero row has subgradient zero.
    """
    error = _counted(F - Y, known)
    residual = _counted(Y - Y @ B @ A, known)
    norms = _row_norms(B)
    D = 0.5 / (norms + (norms == 0))
    return (
        2 * (error.T @ (error @ B))
        - 2 * (Y.T @ (residual @ A.T))
        + 2 * penalties.lambda1 * (B - identity_like(B))
        + 2 * penalties.lambda2 * (D[:, None] * B)
    )


def gradient_of_recovery(Y: Any, B: Any, A: Any, penalties: Penalties, known: Any = None) -> Any:
    """Return dL/dA, the paper's equation for A (plus the ridge)."""
    residual = _counted(Y - Y @ B @ A, known)
    return -2 * (B.T @ (Y.T @ residual)) + 2 * penalties.rho * A


def identity_like(B: Any) -> Any:
    """Return the identity of B's size and kind."""
    if isinstance(B, np.ndarray):
        return np.eye(B.shape[0], dtype=B.dtype)
    import torch

    return torch.eye(B.shape[0], dtype=B.dtype, device=B.device)


def _counted(difference: Any, known: Any) -> Any:
    return difference if known is None else difference * known


def _square(matrix: Any) -> Any:
    return (matrix * matrix).sum()


def _row_norms(matrix: Any) -> Any:
    return (matrix * matrix).sum(1) ** 0.5
