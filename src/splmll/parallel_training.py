"""Several processes that train one network together, by PyTorch's own distributed package.

Every process holds all rows and the same weights. It computes the gradient of its share of each
batch, the gradients are averaged, and all take the same step: what one process would have done.
"""

from __future__ import annotations

import atexit
import multiprocessing
import zlib
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

# Distance between the seeds of two processes, far from seeds that follow each other.
_SEED_STEP = 1_000_003


def training_processes(device: torch.device) -> OneProcess:
    """Return the processes that train together: this one alone, or the group it belongs to.

    A group is used where ``torch.distributed`` is initialised. A script that was started by
    ``torchrun`` need not do so: its processes find each other here, over ``gloo``. For one GPU per
    process initialise the group yourself, with ``nccl``, and call ``torch.cuda.set_device``.

    Parameters
    ----------
    device : torch.device
        Where the network is trained.

    Returns
    -------
    processes : OneProcess or ProcessGroup

    Examples
    --------
    >>> import torch
    >>> from splmll.parallel_training import training_processes
    >>> training_processes(torch.device("cpu")).size
    1
    """
    if not distributed.is_available():
        return OneProcess()
    if not distributed.is_initialized() and distributed.is_torchelastic_launched():
        if multiprocessing.parent_process() is not None:
            raise RuntimeError(
                "This worker process was not started by torchrun itself, so that it cannot share "
                "in the training: leave n_jobs at None under torchrun, whose processes already "
                "work side by side."
            )
        distributed.init_process_group("gloo")
        atexit.register(_leave_group)
    if not distributed.is_initialized() or distributed.get_world_size() == 1:
        return OneProcess()
    return ProcessGroup(device)


def agreed_seed(seed: int) -> int:
    """Return the first process's seed in all processes that train together.

    Parameters
    ----------
    seed : int
        The seed this process would take.

    Returns
    -------
    seed : int
        Without other processes the seed as it was given.

    Examples
    --------
    >>> from splmll.parallel_training import agreed_seed
    >>> agreed_seed(7)
    7
    """
    device = torch.device("cpu")
    if distributed.is_available() and distributed.is_initialized():
        device = torch.device("cuda" if distributed.get_backend() == "nccl" else "cpu")
    return int(training_processes(device).from_first(torch.tensor(seed)))


class OneProcess:
    """Training in this process alone: nothing to share and nobody to ask.

    Examples
    --------
    >>> import torch
    >>> from splmll.parallel_training import OneProcess
    >>> OneProcess().share(torch.arange(3))
    tensor([0, 1, 2])
    """

    rank = 0
    size = 1

    def check_same(self, *parts: Any) -> None:
        """Raise an error where processes were given different data or settings."""

    def replicate(self, module: nn.Module, seed: int) -> nn.Module:
        """Return what is called in training; its gradients are those of all processes."""
        return module

    def from_first(self, value: Tensor) -> Tensor:
        """Return the tensor that the first process holds."""
        return value

    def share(self, rows: Tensor) -> Tensor:
        """Return the rows that this process works on, at least one."""
        return rows

    def weigh(self, value: Tensor, rows: Tensor) -> Tensor:
        """Weigh a mean over this process's share, so that the mean over processes is right."""
        return value

    def mean(self, value: Tensor) -> Tensor:
        """Return the mean over processes, the same number in all of them."""
        return value

    def any(self, flag: bool) -> bool:
        """Return whether any process says so."""
        return flag

    def share_buffers(self, *modules: nn.Module) -> None:
        """Give all processes the same running means and other states that are not learned."""


class ProcessGroup(OneProcess):
    """Training in all processes of the default group of ``torch.distributed``.

    Parameters
    ----------
    device : torch.device
        Where the network is trained, and tensors are exchanged.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def check_same(self, *parts: Any) -> None:
        """Raise an error in all processes where any of these differs between them."""
        mark = torch.tensor([_fingerprint(parts)], device=self.device)
        marks = [torch.empty_like(mark) for _ in range(self.size)]
        distributed.all_gather(marks, mark)
        if any(int(other) != int(mark) for other in marks):
            raise ValueError(
                f"The {self.size} processes were given different rows, labels, seeds or settings. "
                "Call fit in all of them with the same data and the same random_state, a number "
                "and not None: training itself shares out the rows of each batch."
            )

    def replicate(self, module: nn.Module, seed: int) -> nn.Module:
        """Return the module with the first process's weights; its gradients are averaged."""
        replica = DistributedDataParallel(module)
        if self.rank:
            # Dropout must not strike the same places in every share. The first process goes on
            # with its seed: it draws the order of the rows for all.
            torch.manual_seed(seed + _SEED_STEP * self.rank)
        return replica

    def from_first(self, value: Tensor) -> Tensor:
        """Return the tensor that the first process holds."""
        sent = value.to(self.device, copy=True).contiguous()
        distributed.broadcast(sent, src=0)
        return sent.to(value.device)

    def share(self, rows: Tensor) -> Tensor:
        """Return every so-manieth part of the rows; the first of all where that is empty."""
        part = rows.tensor_split(self.size)[self.rank]
        # Processes wait for each other in every step, so one without rows does as if: it weighs 0.
        return part if len(part) else rows[:1]

    def weigh(self, value: Tensor, rows: Tensor) -> Tensor:
        """Multiply by the rows of this share over the mean share."""
        own = len(rows.tensor_split(self.size)[self.rank])
        return value * (own * self.size / len(rows))

    def mean(self, value: Tensor) -> Tensor:
        """Return the mean over processes, the same number in all of them."""
        total = value.detach().clone().to(self.device)
        distributed.all_reduce(total)
        return total / self.size

    def any(self, flag: bool) -> bool:
        """Return whether any process says so."""
        return bool(self.mean(torch.tensor(float(flag))) > 0)

    def share_buffers(self, *modules: nn.Module) -> None:
        """Give all processes the first one's buffers, as PyTorch does: running means and such."""
        for module in modules:
            for buffer in module.buffers():
                distributed.broadcast(buffer, src=0)


def _fingerprint(parts: tuple[Any, ...]) -> int:
    """Return a number that differs between nearly all different arrays and settings."""
    mark = 0
    for part in parts:
        if isinstance(part, np.ndarray):
            mark = zlib.crc32(np.ascontiguousarray(part).view(np.uint8).data, mark)
        mark = zlib.crc32(repr(getattr(part, "shape", part)).encode(), mark)
    return mark


def _leave_group() -> None:
    if distributed.is_initialized():
        distributed.destroy_process_group()
