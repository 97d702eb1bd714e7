"""How far a long command is, on the standard error: a bar with the time left, or plain lines."""

from __future__ import annotations

import sys
from types import TracebackType

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text


class TimeLeft(ProgressColumn):
    """The time that the rest will take, if it goes on as it began."""

    def render(self, task: Task) -> Text:
        """Return the time left; nothing before it can be told."""
        if task.total is None or not task.completed or not task.elapsed or task.finished:
            return Text("")
        left = task.elapsed * (task.total - task.completed) / task.completed
        minutes, seconds = divmod(round(left), 60)
        return Text(f"{minutes}:{seconds:02d} left")


class Stages:
    """Says what is being done, one stage after the other.

    On a terminal every stage has a bar and the time left. Elsewhere it is one line, written when
    the stage begins.

    Examples
    --------
    >>> from splmll.cli._progress import Stages
    >>> with Stages() as stages:
    ...     stages("reading notes.csv")
    ...     stages("linear classifiers", 0.5)
    """

    def __init__(self) -> None:
        self._what: str | None = None
        self._bars: Progress | None = None
        self._task: TaskID | None = None
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), TimeLeft())
            self._bars = Progress(*columns, console=Console(stderr=True), transient=True)

    def __call__(self, what: str, share: float | None = None) -> None:
        """Say what is being done, and which share of it is done; None where nobody knows."""
        begins = what != self._what
        self._what = what
        if self._bars is None:
            if begins:
                typer.echo(what, err=True)
            return
        if begins or self._task is None:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(what, total=None)
        if share is not None:
            self._bars.update(self._task, total=1.0, completed=min(1.0, max(0.0, share)))

    def say(self, words: str) -> None:
        """Print a line that stays, on a terminal only."""
        if self._bars is not None:
            self._bars.console.print(words, highlight=False)

    def __enter__(self) -> Stages:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()
