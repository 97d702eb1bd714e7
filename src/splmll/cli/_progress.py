"""The progress of a long command on standard error: a bar with the time left, or plain lines."""

from __future__ import annotations

import sys
from types import TracebackType

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text


class TimeLeft(ProgressColumn):
    """The time that the rest will take at the same speed."""

    def render(self, task: Task) -> Text:
        """Return the time left, or nothing while it is not known."""
        began, share = task.fields.get("began"), task.completed
        if task.total is None or began is None or share <= began[1] or task.finished:
            return Text("")
        left = (task.get_time() - began[0]) * (1.0 - share) / (share - began[1])
        minutes, seconds = divmod(round(left), 60)
        return Text(f"{minutes}:{seconds:02d} left")


class Stages:
    """Shows what is being done, one stage after the other, and the overall progress.

    On a terminal there is a bar with the time left. Elsewhere a stage is one line, written when it
    begins.

    Examples
    --------
    >>> from splmll.cli._progress import Stages
    >>> with Stages() as stages:
    ...     stages("reading notes.csv")
    ...     stages("one model per label", 0.5)
    """

    def __init__(self) -> None:
        self._what: str | None = None
        self._began: tuple[float, float] | None = None  # when the share was first told, and which
        self._bars: Progress | None = None
        self._task = TaskID(0)
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), TimeLeft())
            self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bars.add_task("", total=None, began=None)

    def __call__(self, what: str, share: float | None = None) -> None:
        """Show what is being done, and the share that is done; None if it is not known."""
        begins, self._what = what != self._what, what
        if self._bars is None:
            if begins:
                typer.echo(what, err=True)
            return
        if share is None:
            self._began = None
            self._bars.reset(self._task, description=what, total=None, began=None)
            return
        if self._began is None:
            self._began = self._bars.get_time(), share
        self._bars.update(
            self._task,
            description=what,
            total=1.0,
            completed=min(1.0, max(0.0, share)),
            began=self._began,
        )
        if begins:
            self._bars.refresh()  # a short stage is seen, too

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
