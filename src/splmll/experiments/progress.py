"""How far an experiment has come: one live line in a terminal, silence anywhere else."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

# Seconds over which the speed is averaged: units can take hours.
SPEED_PERIOD = 86_400.0


class RunProgress(Progress):
    """Units done, running and failed, and the time left.

    Parameters
    ----------
    total : int
        Number of units.
    stream : text file, optional
        Where to show them, if it is a terminal; by default standard error.

    Examples
    --------
    >>> from splmll.experiments.progress import RunProgress
    >>> with RunProgress(2) as progress:
    ...     progress.count(running=1)
    ...     progress.count(running=-1, done=1)
    >>> progress.tasks[0].description
    '1 done, 0 running, 0 failed'
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        stream = sys.stderr if stream is None else stream
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(file=stream),
            speed_estimate_period=SPEED_PERIOD,
            disable=not stream.isatty(),
        )
        self._numbers = {"done": 0, "running": 0, "failed": 0}
        self._total = total
        self._units = self.add_task("", total=total)

    def leave_out(self) -> None:
        """Say that there is one unit less to do."""
        self._total -= 1
        self.update(self._units, total=self._total)

    def count(self, *, done: int = 0, running: int = 0, failed: int = 0) -> None:
        """Say how many more, or fewer, units are done, running and failed."""
        for kind, change in zip(self._numbers, (done, running, failed)):
            self._numbers[kind] += change
        words = ", ".join(f"{number} {kind}" for kind, number in self._numbers.items())
        over = self._numbers["done"] + self._numbers["failed"]
        self.update(self._units, description=words, completed=over)
