"""The torch training loop, written once for every network in the library.

It trains any module by Adam on mini-batches, watches validation rows, stops when they no longer
improve, and gives the best weights back. It never touches the caller's random state. Under
``torchrun`` several processes train the same network together.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from splmll.parallel_training import training_processes

# torch draws initial weights and dropout from one global generator; whoever trains holds it.
_RANDOM_STATE = threading.Lock()

LEAKY_SLOPE = 0.01
MANY_VALUES = 2**16  # in a batch of a layer, beyond which dropout draws bytes
DENSE_BYTES = 2**28  # sparse features up to this size are laid out once instead of in every batch
MOST_ROWS = 4096  # that a trained network is given at a time


@dataclass(frozen=True)
class Training:
    """How a network is trained.

    Parameters
    ----------
    learning_rate : float
        Step size of Adam.
    weight_decay : float
        Decoupled weight decay.
    batch_size : int
        Rows per step.
    max_epochs : int
        Largest number of passes over the training rows.
    patience : int
        Epochs without improvement on the validation rows before training stops.
    averaging : float
        The weights that are validated and kept are a moving average of those that are trained,
        with this decay per step (0: none). It smooths out the noise of small batches: one network
        then predicts nearly as well as the mean of several.
    """

    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    batch_size: int = 64
    max_epochs: int = 200
    patience: int = 15
    averaging: float = 0.99


class Standardise(nn.Module):
    """Subtract the mean and divide by the scale of every feature: part of the network."""

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: np.ndarray, scale: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("mean", torch.as_tensor(mean, dtype=torch.float32))
        self.register_buffer("scale", torch.as_tensor(scale, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        """Return standardised features."""
        return (x - self.mean) / self.scale


class Logistic(nn.Module):
    """The logistic function of a network's outputs."""

    def __init__(self, logits: nn.Module) -> None:
        super().__init__()
        self.logits = logits

    def forward(self, x: Any) -> Tensor:
        """Return values between 0 and 1."""
        return torch.sigmoid(self.logits(x))


class Dropout(nn.Dropout):
    """torch's dropout at a quarter of its time: one byte of chance decides on a value.

    torch draws a number for every value, which on a CPU was a quarter of a fit with large batches.
    The share that is dropped is a whole number of 256ths. Small batches are left to torch.

    Examples
    --------
    >>> import torch
    >>> from splmll.neural import Dropout
    >>> Dropout(0.5)(torch.ones(256, 512)).unique().tolist()
    [0.0, 2.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the values with some of them 0 and the others larger by as much."""
        cut, n = round(256 * self.p), input.numel()
        if not self.training or n <= MANY_VALUES or cut in (0, 256):
            return super().forward(input)
        draws = torch.empty(-(-n // 8), dtype=torch.int64, device=input.device)
        chance = draws.random_(-(2**63), None).view(torch.uint8)[:n].view(input.shape)
        return input * ((chance >= cut).to(input.dtype) * (256 / (256 - cut)))


def multilayer_perceptron(
    n_inputs: int, hidden: Sequence[int], n_outputs: int, *, dropout: float
) -> nn.Sequential:
    """Return fully connected layers with leaky ReLU and dropout, without an output function.

    Examples
    --------
    >>> from splmll.neural import multilayer_perceptron
    >>> [type(layer).__name__ for layer in multilayer_perceptron(10, (4,), 3, dropout=0.5)]
    ['Linear', 'LeakyReLU', 'Dropout', 'Linear']
    """
    layers: list[nn.Module] = []
    width = n_inputs
    for size in hidden:
        layers += [nn.Linear(width, size), nn.LeakyReLU(LEAKY_SLOPE)]
        if dropout > 0:
            layers.append(Dropout(dropout))
        width = size
    layers.append(nn.Linear(width, n_outputs))
    return nn.Sequential(*layers)


class Rows:
    """Rows of features that can be taken in batches: an array, a CSR array or a torch Dataset."""

    def __init__(self, X: Any, device: torch.device) -> None:
        self.device = device
        if sparse.issparse(X) and 4 * X.shape[0] * X.shape[1] <= DENSE_BYTES:
            X = X.toarray()
        if isinstance(X, torch.utils.data.TensorDataset):
            self.X: Any = X.tensors[0].to(device, dtype=torch.float32)
        elif isinstance(X, np.ndarray):
            # torch warns of arrays it may not write to; a float32 copy is ours to write to.
            self.X = torch.as_tensor(np.array(X, dtype=np.float32)).to(device)
        else:
            self.X = X

    def __len__(self) -> int:
        return len(self.X) if not sparse.issparse(self.X) else self.X.shape[0]

    def take(self, index: Tensor) -> Tensor:
        """Return some rows as one float tensor."""
        if isinstance(self.X, Tensor):
            return self.X[index.to(self.device)]
        if sparse.issparse(self.X):
            batch = self.X[index.numpy()].astype(np.float32).toarray()
            return torch.as_tensor(batch).to(self.device)
        # Only a Dataset of the caller's own gives rows one by one, as torch's loaders ask for them.
        batch = [_features_of(self.X[i]) for i in index.tolist()]
        return torch.stack(batch).to(self.device, dtype=torch.float32)

    def blocks(self, index: Tensor) -> tuple[Tensor, ...]:
        """Return the numbers of some rows in parts that can be laid out one after the other."""
        most = DENSE_BYTES // (4 * self.X.shape[1]) if sparse.issparse(self.X) else MOST_ROWS
        return index.split(min(MOST_ROWS, max(1, most)))


def _features_of(item: Any) -> Tensor:
    return torch.as_tensor(item[0] if isinstance(item, (tuple, list)) else item)


Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(outputs, targets with NaN replaced by 0, known mask) -> one number, a mean over rows."""


def squared_error(outputs: Tensor, targets: Tensor, known: Tensor) -> Tensor:
    """Squared error summed over known labels, averaged over rows."""
    return (known * (outputs - targets) ** 2).sum(1).mean()


def cross_entropy(outputs: Tensor, targets: Tensor, known: Tensor) -> Tensor:
    """Binary cross-entropy of logits summed over known labels, averaged over rows."""
    loss = nn.functional.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
    return (known * loss).sum(1).mean()


def train(
    build: Callable[[], nn.Module],
    X: Any,
    Y: np.ndarray,
    *,
    loss: Loss,
    training: Training,
    seed: int,
    device: torch.device,
    rows: np.ndarray | None = None,
    validation: np.ndarray | None = None,
    on_epoch: Callable[[int, float], bool] | None = None,
    sample_weight: np.ndarray | None = None,
) -> tuple[nn.Module, list[dict[str, float]]]:
    """Train a module and return it with its history.

    Where several processes run this together (see :mod:`splmll.parallel_training`), each works on
    its share of every batch, and all return the same weights and history: those of one process, but
    for rounding and the places that dropout strikes. A loss with terms over the whole batch sees
    only the share there.

    Parameters
    ----------
    build : callable
        Makes the module; called with the random state set from ``seed``.
    X : ndarray, CSR array, Rows or torch Dataset
        Features of all rows.
    Y : ndarray of shape (n_rows, n_outputs)
        Targets; NaN where unknown.
    loss : callable
        ``loss(outputs, targets, known)``.
    training : Training
        Optimiser and stopping.
    seed : int
        Seed of initial weights, order of rows and dropout.
    device : torch.device
        Where to train.
    rows, validation : ndarray of int, optional
        Rows to train on (all by default) and rows to watch. Without validation rows training runs
        for ``max_epochs``.
    on_epoch : callable, optional
        ``on_epoch(epoch, loss)``; returning True stops training.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of all rows in the loss, by which their known labels are multiplied. Only their
        proportions count: the steps are as long as without weights.

    Returns
    -------
    module : nn.Module
        In evaluation mode, with the weights of the best epoch.
    history : list of dict
        Training and validation loss of every epoch.
    """
    source = X if isinstance(X, Rows) else Rows(X, device)
    known = torch.as_tensor(~np.isnan(Y), dtype=torch.float32).to(device)
    targets = torch.as_tensor(np.nan_to_num(Y), dtype=torch.float32).to(device)
    if sample_weight is not None:
        share = sample_weight / sample_weight.mean()
        known *= torch.as_tensor(share, dtype=torch.float32)[:, None].to(device)
    everything_known = bool((known == 1).all())
    index = torch.as_tensor(np.arange(len(Y)) if rows is None else rows)
    watched = None if validation is None else torch.as_tensor(validation)
    processes = training_processes(device)
    processes.check_same(seed, training, Y, rows, validation, sample_weight)
    with reproducible(seed, device):
        module = build().to(device)
        replica = processes.replicate(module, seed)
        optimiser = torch.optim.AdamW(
            module.parameters(),
            lr=training.learning_rate,
            weight_decay=training.weight_decay,
            fused=True,  # one pass over the weights instead of a dozen: a quarter of the fit
        )
        average = _Average(module, training.averaging)
        history: list[dict[str, float]] = []
        best, best_weights, waited = np.inf, None, 0
        for epoch in range(training.max_epochs):
            module.train()
            total = torch.zeros((), device=device)
            order = processes.from_first(torch.randperm(len(index)))
            for batch in index[order].split(training.batch_size):
                optimiser.zero_grad(set_to_none=True)
                part = processes.share(batch)
                # Ones need not be gathered.
                mask = known[: len(part)] if everything_known else known[part]
                value = loss(replica(source.take(part)), targets[part], mask)
                value = processes.weigh(value, batch)
                value.backward()
                optimiser.step()
                average.step()
                total += value.detach() * len(batch)
            processes.share_buffers(module, average.module)
            record = {"epoch": float(epoch), "loss": float(processes.mean(total)) / len(index)}
            if not np.isfinite(record["loss"]):
                raise FloatingPointError(
                    f"The training loss became {record['loss']} in epoch {epoch + 1}: the steps "
                    f"are too long or the features too large. Lower learning_rate (now "
                    f"{training.learning_rate:g}) or keep the scaling of features switched on."
                )
            if watched is not None:
                part = processes.share(watched)
                value = loss(forward(average.module, source, part), targets[part], known[part])
                record["validation_loss"] = float(processes.mean(processes.weigh(value, watched)))
            history.append(record)
            stop = on_epoch is not None and on_epoch(epoch, record["loss"])
            if watched is not None:
                if record["validation_loss"] < best - 1e-6 * abs(best if np.isfinite(best) else 0):
                    best, waited = record["validation_loss"], 0
                    best_weights = copy.deepcopy(average.module.state_dict())
                else:
                    waited += 1
                    stop = stop or waited >= training.patience
            if processes.any(stop):
                break
        kept = average.module
        if best_weights is not None:
            kept.load_state_dict(best_weights)
    return kept.eval(), history


class _Average:
    """A moving average of a module's weights; the module itself where there is no averaging."""

    every = 4  # steps between two updates: as good as every step, at a quarter of the cost

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.module = copy.deepcopy(module) if decay > 0 else module
        self.decay, self.steps = decay, 0
        self.trained = list(module.state_dict().values())
        self.averaged = list(self.module.state_dict().values())
        self.smooth = [i for i, tensor in enumerate(self.trained) if tensor.is_floating_point()]

    def step(self) -> None:
        """Follow the trained weights after one step."""
        self.steps += 1
        if self.decay == 0 or self.steps % self.every:
            return
        # Early on the average follows closely, or it would remember the random start.
        decay = min(self.decay**self.every, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            torch._foreach_lerp_(
                [self.averaged[i] for i in self.smooth],
                [self.trained[i] for i in self.smooth],
                1 - decay,
            )
            for i, tensor in enumerate(self.trained):
                if not tensor.is_floating_point():  # counters of normalisation layers
                    self.averaged[i].copy_(tensor)


@contextmanager
def reproducible(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch inside the block, one thread, and give the caller's state back after it."""
    devices = [] if device.type != "cuda" else [device.index or 0]
    threads = torch.get_num_threads()
    with _RANDOM_STATE, torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        # Layers of this size do not fill a second core: more threads only wait for each other,
        # and the order of their sums would make the result depend on the machine.
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def forward(module: nn.Module, X: Any, index: Tensor | None = None) -> Tensor:
    """Return the outputs of a module in evaluation mode for all rows or some of them."""
    source = X if isinstance(X, Rows) else Rows(X, next_device(module))
    index = torch.arange(len(source)) if index is None else index
    module.eval()
    with torch.no_grad():
        parts = [module(source.take(batch)) for batch in source.blocks(index)]
    return torch.cat(parts)


def next_device(module: nn.Module) -> torch.device:
    """Return the device a module lives on."""
    return next((p.device for p in module.parameters()), torch.device("cpu"))
