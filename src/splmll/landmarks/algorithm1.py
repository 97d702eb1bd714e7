"""Algorithm 1 of the paper: alternating stochastic gradient steps on f, B and A.

Input: features X, labels Y, lambda1, lambda2. Initialise B = I and A at random. While not
converged, update the parameters of f by back-propagation, B by its gradient and A by its
gradient. Output: f, B, A.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from splmll.landmarks.objective import (
    Penalties,
    gradient_of_recovery,
    gradient_of_selection,
    objective_terms,
)
from splmll.neural import Rows, Training, forward, reproducible

INITIAL_RECOVERY_SCALE = 0.1  # standard deviation of the random start of A
STEP_DECAY = (0.1, 0.01)  # how the step of f is shortened whenever the objective stalls
OBJECTIVE_ROWS = 4096  # rows at a time when the objective is evaluated


@dataclass
class Alternation:
    """What Algorithm 1 works on and returns: f, B, A and the objective after every epoch."""

    module: nn.Module
    selection: np.ndarray
    recovery: np.ndarray
    history: list[dict[str, float]]


def algorithm1(
    build: Callable[[], nn.Module],
    X: Any,
    Y: np.ndarray,
    penalties: Penalties,
    *,
    training: Training,
    tol: float,
    seed: int,
    device: torch.device,
    rows: np.ndarray | None = None,
    full_selection: bool = False,
    joint: bool = True,
    support: np.ndarray | None = None,
    start: Alternation | None = None,
    on_epoch: Callable[[int, Alternation], bool] | None = None,
) -> Alternation:
    """Minimise the published objective by alternating gradient steps on mini-batches.

    Parameters
    ----------
    build : callable
        Makes the network f.
    X : ndarray, CSR array or torch Dataset
        Features.
    Y : ndarray of shape (n_rows, n_labels)
        Labels, NaN where unknown: such cells need not be predicted or recovered.
    penalties : Penalties
        lambda1, lambda2 and the ridge on A (zero as published).
    training : Training
        Batches, epochs and the step of f. After ``patience`` epochs without a relative fall of the
        objective by ``tol`` the step is shortened; after the shortest step it is converged.
    tol : float
        See ``training``.
    seed : int
        Seed of everything random.
    device : torch.device
        Where to train.
    rows : ndarray of int, optional
        Rows to learn from; all by default.
    full_selection : bool, default=False
        Keep B full, as the paper's soft constraint allows, instead of setting its off-diagonal
        to zero in every step, as its experiments do.
    joint : bool, default=True
        False separates the two steps of the paper's ablation: B and A first, from labels
        alone, and f afterwards for the landmarks found.
    support : ndarray of bool, optional
        Labels that may be landmarks; the other rows of B stay zero.
    start : Alternation, optional
        Continue from here instead of the published start.
    on_epoch : callable, optional
        ``on_epoch(epoch, state)``; returning True stops.

    Returns
    -------
    state : Alternation
        f in evaluation mode, B, A and the history.
    """
    source = Rows(X, device)
    labels = torch.as_tensor(np.nan_to_num(Y), dtype=torch.float32).to(device)
    known = None
    if np.isnan(Y).any():
        known = torch.as_tensor(~np.isnan(Y), dtype=torch.float32).to(device)
    index = torch.as_tensor(np.arange(len(Y)) if rows is None else rows)
    mask = None if support is None else torch.as_tensor(support, dtype=torch.float32).to(device)

    def project(B: Tensor) -> Tensor:
        B = B if full_selection else torch.diag(torch.diagonal(B))
        return B if mask is None else mask[:, None] * B

    with reproducible(seed, device):
        # Initialise: B = I, A random.
        f, B, A = _start(build, labels.shape[1], device, start)
        B = project(B)
        optimiser = torch.optim.AdamW(
            f.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay
        )
        history = [_objective(f, source, labels, known, index, B, A, penalties)]
        state = Alternation(f, _numpy(B), _numpy(A), history)
        best, waited, halts = history[0]["objective"], 0, 0
        for epoch in range(training.max_epochs):  # while not converged
            two_step = epoch < training.max_epochs // 2 and not joint
            f.train()
            for batch in index[torch.randperm(len(index))].split(training.batch_size):
                x, y = source.take(batch), labels[batch]
                k = None if known is None else known[batch]
                if not two_step:
                    # Update the parameters of f.
                    optimiser.zero_grad(set_to_none=True)
                    error = _mask(f(x) - y, k)
                    loss = ((error @ B) ** 2).sum() / len(batch)
                    loss.backward()
                    optimiser.step()
                if joint or two_step:
                    with torch.no_grad():
                        # What is predicted; the labels themselves while f has no say.
                        F = y + _mask(f(x) - y, k) if joint else y
                        # Update B by its gradient.
                        slope = gradient_of_selection(F, y, B, A, penalties, k)
                        B = project(B - slope / _curvature_of_selection(F, y, A, penalties))
                        # Update A by its gradient.
                        slope = gradient_of_recovery(y, B, A, penalties, k)
                        A = A - slope / _curvature_of_recovery(y, B, penalties)
            history.append(_objective(f, source, labels, known, index, B, A, penalties))
            state.selection, state.recovery = _numpy(B), _numpy(A)
            value = history[-1]["objective"]
            if not np.isfinite(value):
                raise FloatingPointError(
                    f"The objective became {value} in epoch {epoch + 1}: the steps of f are too "
                    f"long or the features too large. Lower learning_rate (now "
                    f"{training.learning_rate:g}) or keep the scaling of features switched on."
                )
            if on_epoch is not None and on_epoch(epoch, state):
                break
            if two_step or value < best * (1 - tol):
                best, waited = value, 0
                continue
            waited += 1
            if waited < training.patience:
                continue
            # Steps of constant length end in a ball around the minimum: shorten them, and call it
            # converged when even the shortest no longer help.
            if halts == len(STEP_DECAY):
                break
            for group in optimiser.param_groups:
                group["lr"] = training.learning_rate * STEP_DECAY[halts]
            waited, halts = 0, halts + 1
    state.module.eval()
    return state


def _start(
    build: Callable[[], nn.Module], n_labels: int, device: torch.device, start: Alternation | None
) -> tuple[nn.Module, Tensor, Tensor]:
    if start is None:
        f = build().to(device)
        B = torch.eye(n_labels, device=device)
        A = INITIAL_RECOVERY_SCALE * torch.randn(n_labels, n_labels, device=device)
        return f, B, A
    B = torch.as_tensor(start.selection, dtype=torch.float32).to(device)
    A = torch.as_tensor(start.recovery, dtype=torch.float32).to(device)
    return start.module, B, A


def _curvature_of_selection(F: Tensor, Y: Tensor, A: Tensor, penalties: Penalties) -> Tensor:
    """An upper bound of the curvature in B: a step of its inverse never overshoots."""
    n = len(Y)
    error = F - Y
    of_error = torch.linalg.matrix_norm(error.T @ error) / n
    of_labels = torch.linalg.matrix_norm(Y.T @ Y) / n * torch.linalg.matrix_norm(A @ A.T)
    return 2 * (of_error + of_labels + penalties.lambda1) + penalties.lambda2


def _curvature_of_recovery(Y: Tensor, B: Tensor, penalties: Penalties) -> Tensor:
    YB = Y @ B
    return 2 * (torch.linalg.matrix_norm(YB.T @ YB) / len(Y) + penalties.rho) + 1e-12


def _mask(error: Tensor, known: Tensor | None) -> Tensor:
    return error if known is None else error * known


def _objective(
    f: nn.Module,
    source: Rows,
    labels: Tensor,
    known: Tensor | None,
    index: Tensor,
    B: Tensor,
    A: Tensor,
    penalties: Penalties,
) -> dict[str, float]:
    """Every term of the objective over all rows, f in evaluation mode."""
    totals: dict[str, float] = {}
    for part in index.split(OBJECTIVE_ROWS):
        y = labels[part]
        F, k = forward(f, source, part), None if known is None else known[part]
        for name, term in objective_terms(F, y, B, A, penalties, k).items():
            of_rows = name in ("predictability", "representativeness")
            share = len(part) / len(index)
            totals[name] = totals.get(name, 0.0) + float(term) * share if of_rows else float(term)
    return {**totals, "objective": sum(totals.values())}


def _numpy(matrix: Tensor) -> np.ndarray:
    return matrix.detach().cpu().numpy().astype(np.float64)
