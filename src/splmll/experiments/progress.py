"""How far an experiment has come: one live line in a terminal, plain lines anywhere else."""

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

from splmll.experiments.unit import Unit

# Seconds over which the speed is averaged: units can take hours.
SPEED_PERIOD = 86_400.0


class RunProgress:
    """Units done, running and failed, and the time left.

    Parameters
    ----------
    total : int
        Number of units.
    done, failed : int, default=0
        How many of them need not be run: finished or failed before.
    live : bool, default=True
        Show one live line where `stream` is a terminal.
    verbose : bool, default=False
        Where there is no live line, write a line for every finished unit.
    stream : text file, optional
        Where to; by default standard error.

    Examples
    --------
    >>> import sys
    >>> from splmll.experiments.progress import RunProgress
    >>> from splmll.experiments.protocol import PROTOCOLS
    >>> from splmll.experiments.unit import Unit
    >>> unit = Unit("ML-kNN", "emotions", PROTOCOLS["held-out"])
    >>> with RunProgress(2, verbose=True, stream=sys.stdout) as progress:
    ...     progress.start()
    ...     progress.finish(unit, "done")
    [1/2] emotions, ML-kNN, repetition 0, fold 0: done
    """

    def __init__(
        self,
        total: int,
        *,
        done: int = 0,
        failed: int = 0,
        live: bool = True,
        verbose: bool = False,
        stream: TextIO | None = None,
    ) -> None:
        self.total = total
        self.done = done
        self.failed = failed
        self.running = 0
        self.stream = sys.stderr if stream is None else stream
        self.verbose = verbose
        self._display = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(file=self.stream),
            speed_estimate_period=SPEED_PERIOD,
            disable=not (live and self.stream.isatty()),
        )
        self._task = self._display.add_task(self._counts(), total=total, completed=self._over)

    def __enter__(self) -> RunProgress:
        self._display.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._display.stop()

    def start(self) -> None:
        """Say that a unit has begun."""
        self.running += 1
        self._show()

    def finish(self, unit: Unit, status: str) -> None:
        """Say that a unit has ended, and how."""
        self.running -= 1
        self.skip(status)
        if self._display.disable and self.verbose:
            print(
                f"[{self._over}/{self.total}] {unit.data_name}, {unit.method}, repetition "
                f"{unit.repetition}, fold {unit.fold}: {status}",
                file=self.stream,
                flush=True,
            )

    def skip(self, status: str) -> None:
        """Say that another process has ended a unit, and how."""
        self.done += status == "done"
        self.failed += status != "done"
        self._show()

    @property
    def _over(self) -> int:
        return self.done + self.failed

    def _counts(self) -> str:
        return f"{self.done} done, {self.running} running, {self.failed} failed"

    def _show(self) -> None:
        self._display.update(self._task, description=self._counts(), completed=self._over)
