"""Algorithm 1 of the paper: alternating stochastic gradient steps on f, B and A.

Input: features X, labels Y, lambda1, lambda2. Initialise B = I and A at random. While not
converged, update the parameters of f by back-propagation, B by its gradient and A by its
gradient. Output: f, B, A.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from splmll.neural import Rows, forward, reproducible
from splmll.published.objective import (
    Penalties,
    gradient_of_recovery,
    gradient_of_selection,
    objective_terms,
)

FULL_BATCH_STEPS = 10  # steps of an epoch where a batch is all rows, as in the released code
ROWS_AT_A_TIME = 4096  # when the objective is evaluated

JOINT = "joint"
SEPARATED = "separated"
SIMULTANEOUS = "simultaneous"
EMBEDDING_ONLY = "embedding only"


@dataclass(frozen=True)
class Steps:
    """How many steps are taken, on how many rows at a time, and how long those of f are.

    Parameters
    ----------
    learning_rate : float
        Step size of Adam.
    batch_size : int or None
        Rows per step; None takes all rows at once, ten times in an epoch.
    max_epochs : int
        Largest number of passes over the training rows.
    patience : int
        Epochs without improvement on the held-out rows before training stops.
    """

    learning_rate: float
    batch_size: int | None = 64
    max_epochs: int = 200
    patience: int = 10

    def batches(self, index: Tensor) -> Iterator[Tensor]:
        """Return the rows of one epoch, step by step."""
        if self.batch_size is None:
            return iter([index] * FULL_BATCH_STEPS)
        return iter(index[torch.randperm(len(index))].split(self.batch_size))


@dataclass
class Alternation:
    """What Algorithm 1 returns: f, B, A and the objective after every epoch."""

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
    steps: Steps,
    seed: int,
    device: torch.device,
    rows: np.ndarray | None = None,
    held_out: np.ndarray | None = None,
    order: str = JOINT,
    full_selection: bool = False,
    support: np.ndarray | None = None,
    start: Alternation | None = None,
    on_epoch: Callable[[int, Alternation], bool] | None = None,
) -> Alternation:
    """Minimise the published objective by gradient steps on batches of rows.

    Parameters
    ----------
    build : callable
        Makes the network f.
    X : ndarray or CSR array
        Features.
    Y : ndarray of shape (n_rows, n_labels)
        Labels, NaN where unknown: such cells need not be predicted or recovered.
    penalties : Penalties
        lambda1, lambda2 and the ridge on A (zero as published).
    steps : Steps
        Batches, epochs and the step of f.
    seed : int
        Seed of everything random.
    device : torch.device
        Where to train.
    rows : ndarray of int, optional
        Rows to learn from; all by default.
    held_out : ndarray of int, optional
        Rows that decide when to stop and which epoch is kept: the one whose f(x) B A has the
        smallest squared error on them. Without them every epoch is run and the last is kept.
    order : {"joint", "separated", "simultaneous", "embedding only"}, default="joint"
        "joint" is the paper's cycle. "separated" is its ablation: B and A from labels alone in
        the first half of the epochs, f in the second. "simultaneous" is the released code: one
        step of Adam on f, B and A at once. "embedding only" leaves B = A = I.
    full_selection : bool, default=False
        Keep B full, as the paper's soft constraint allows, instead of setting its off-diagonal
        to zero in every step, as its experiments do.
    support : ndarray of bool, optional
        Labels that may be landmarks; the other rows of B stay zero.
    start : Alternation, optional
        Continue from here instead of the published start.
    on_epoch : callable, optional
        ``on_epoch(epoch, state)``; returning True stops.

    Returns
    -------
    state : Alternation
        f in evaluation mode, B, A and the history. Terms that are sums over rows are given for an
        average batch there, so that all terms have the weights they have in the steps.
    """
    source = Rows(X, device)
    labels = torch.as_tensor(np.nan_to_num(Y), dtype=torch.float32).to(device)
    known = None
    if np.isnan(Y).any():
        known = torch.as_tensor(~np.isnan(Y), dtype=torch.float32).to(device)
    index = torch.as_tensor(np.arange(len(Y)) if rows is None else rows)
    watched = None if held_out is None else torch.as_tensor(held_out)
    rows_per_step = min(steps.batch_size or len(index), len(index))

    with reproducible(seed, device):
        # Initialise B = I and A at random.
        model = _Model(build, labels.shape[1], penalties, device, start, full_selection, support)
        if order == EMBEDDING_ONLY:
            model.A = torch.eye(labels.shape[1], device=device)
        model.prepare(steps.learning_rate, everything=order == SIMULTANEOUS)
        history = [model.terms(source, labels, known, index, rows_per_step)]
        best, kept, waited = np.inf, None, 0
        for epoch in range(steps.max_epochs):  # while not converged
            labels_only = order == SEPARATED and epoch < steps.max_epochs // 2
            model.f.train()
            for batch in steps.batches(index):
                x, y = source.take(batch), labels[batch]
                k = None if known is None else known[batch]
                if order == SIMULTANEOUS:
                    model.update_everything(x, y, k)
                    continue
                if not labels_only:
                    # Update the parameters of f
                    model.update_embedding(x, y, k)
                if order == JOINT or labels_only:
                    # Update B by its gradient
                    model.update_selection(None if labels_only else x, y, k)
                    # Update A by its gradient
                    model.update_recovery(y, k)
            record = model.terms(source, labels, known, index, rows_per_step)
            _check_finite(record["objective"], epoch, steps)
            history.append(record)
            if watched is not None:
                record["validation_loss"] = model.error(source, labels, known, watched)
                if record["validation_loss"] < best:
                    best, kept, waited = record["validation_loss"], model.snapshot(), 0
                elif not labels_only:
                    waited += 1
            if on_epoch is not None and on_epoch(epoch, model.state(history)):
                break
            if waited >= steps.patience:
                break
        if kept is not None:
            model.go_back_to(kept)
    return model.state(history)


def initial_recovery(n_labels: int) -> Tensor:
    """Return the random start of A, uniform between 0 and 1.

    Where A_jj starts below 0, b_j can turn negative too: that predicts as well, but reads badly.
    """
    return torch.rand(n_labels, n_labels)


class _Model:
    """f, B and A with the step of each.

    Adam moves f. B and A move down their gradients, by one over an upper bound of the curvature on
    the batch: that step needs no tuning and never overshoots.
    """

    def __init__(
        self,
        build: Callable[[], nn.Module],
        n_labels: int,
        penalties: Penalties,
        device: torch.device,
        start: Alternation | None,
        full_selection: bool,
        support: np.ndarray | None,
    ) -> None:
        self.penalties, self.full_selection = penalties, full_selection
        self.mask = None
        if support is not None:
            self.mask = torch.as_tensor(support, dtype=torch.float32).to(device)[:, None]
        if start is None:
            self.f = build().to(device)
            self.B = torch.eye(n_labels, device=device)
            self.A = initial_recovery(n_labels).to(device)
        else:
            self.f = copy.deepcopy(start.module)
            self.B = torch.as_tensor(start.selection, dtype=torch.float32).to(device)
            self.A = torch.as_tensor(start.recovery, dtype=torch.float32).to(device)
        self.B = self.project(self.B)

    def project(self, B: Tensor) -> Tensor:
        """Return what the constraints leave of B."""
        B = B if self.full_selection else torch.diag(torch.diagonal(B))
        return B if self.mask is None else self.mask * B

    def prepare(self, learning_rate: float, everything: bool) -> None:
        """Set up Adam, for f or for everything."""
        moved = list(self.f.parameters()) + ([self.B, self.A] if everything else [])
        fused = moved[0].device.type in ("cpu", "cuda")  # one kernel for all parameters
        self.optimiser = torch.optim.Adam(moved, lr=learning_rate, fused=fused)

    def update_embedding(self, x: Tensor, y: Tensor, known: Tensor | None) -> None:
        """Take one step of Adam on f, by back-propagation of ||(f(X) - Y) B||^2."""
        self.optimiser.zero_grad(set_to_none=True)
        loss = ((_counted(self.f(x) - y, known) @ self.B) ** 2).sum()
        loss.backward()
        self.optimiser.step()

    @torch.no_grad()
    def update_selection(self, x: Tensor | None, y: Tensor, known: Tensor | None) -> None:
        """Take one gradient step on B; without x as if every label were predicted perfectly."""
        F = y if x is None else self.f(x)
        slope = gradient_of_selection(F, y, self.B, self.A, self.penalties, known)
        error = _counted(F - y, known)
        curvature = _norm(error.T @ error) + _norm(y.T @ y) * _norm(self.A @ self.A.T)
        curvature = 2 * (curvature + self.penalties.lambda1) + self.penalties.lambda2
        self.B = self.project(self.B - slope / curvature)

    @torch.no_grad()
    def update_recovery(self, y: Tensor, known: Tensor | None) -> None:
        """Take one gradient step on A."""
        slope = gradient_of_recovery(y, self.B, self.A, self.penalties, known)
        selected = y @ self.B
        curvature = 2 * (_norm(selected.T @ selected) + self.penalties.rho)
        self.A = self.A - slope / (curvature + 1e-12)  # a batch without any label has none

    def update_everything(self, x: Tensor, y: Tensor, known: Tensor | None) -> None:
        """Take one step of Adam on f, B and A at once, as the released code does."""
        self.optimiser.zero_grad(set_to_none=True)
        F = self.f(x)
        ((_counted(F - y, known) @ self.B) ** 2).sum().backward()
        with torch.no_grad():
            self.B.grad = gradient_of_selection(F, y, self.B, self.A, self.penalties, known)
            self.A.grad = gradient_of_recovery(y, self.B, self.A, self.penalties, known)
        self.optimiser.step()
        self.B.copy_(self.project(self.B))

    def terms(
        self, source: Rows, labels: Tensor, known: Tensor | None, index: Tensor, rows_per_step: int
    ) -> dict[str, float]:
        """Return every term of the objective for an average batch, f in evaluation mode."""
        totals: dict[str, float] = {}
        for part in index.split(ROWS_AT_A_TIME):
            k = None if known is None else known[part]
            F = forward(self.f, source, part)
            terms = objective_terms(F, labels[part], self.B, self.A, self.penalties, k)
            for name, term in terms.items():
                of_rows = name in ("predictability", "representativeness")
                share = rows_per_step / len(index) if of_rows else len(part) / len(index)
                totals[name] = totals.get(name, 0.0) + share * float(term)
        return {**totals, "objective": sum(totals.values())}

    def error(self, source: Rows, labels: Tensor, known: Tensor | None, index: Tensor) -> float:
        """Return the mean over rows of ||y - f(x) B A||^2."""
        k = None if known is None else known[index]
        scores = forward(self.f, source, index) @ self.B @ self.A
        return float((_counted(scores - labels[index], k) ** 2).sum()) / len(index)

    def snapshot(self) -> tuple[dict[str, Tensor], Tensor, Tensor]:
        """Return copies of everything learned."""
        return copy.deepcopy(self.f.state_dict()), self.B.clone(), self.A.clone()

    def go_back_to(self, snapshot: tuple[dict[str, Tensor], Tensor, Tensor]) -> None:
        """Restore what was learned by then."""
        weights, self.B, self.A = snapshot
        self.f.load_state_dict(weights)

    def state(self, history: list[dict[str, float]]) -> Alternation:
        """Return f, B and A as they are now."""
        return Alternation(self.f.eval(), _numpy(self.B), _numpy(self.A), history)


def _check_finite(objective: float, epoch: int, steps: Steps) -> None:
    if not np.isfinite(objective):
        raise FloatingPointError(
            f"The objective became {objective} in epoch {epoch + 1}: the steps of f are too long. "
            f"Lower learning_rate (now {steps.learning_rate:g})."
        )


def _counted(difference: Tensor, known: Tensor | None) -> Tensor:
    return difference if known is None else difference * known


def _norm(matrix: Tensor) -> Tensor:
    return torch.linalg.matrix_norm(matrix)


def _numpy(matrix: Tensor) -> np.ndarray:
    return matrix.detach().cpu().numpy().astype(np.float64)
