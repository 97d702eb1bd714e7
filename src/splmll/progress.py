"""How far a fit is: told to whoever asked, as a share of all of its work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

Progress = Callable[[str, float], object]
"""(what is being done, share of the work that is done, from 0 to 1) -> ignored."""


class Stages:
    """Work that is done one stage after the other, each a share of the whole.

    Parameters
    ----------
    tell : callable or None
        Told of the whole; None if nobody listens.

    Examples
    --------
    >>> from splmll.progress import Stages
    >>> stages = Stages(lambda what, share: print(f"{what}: {share:.0%}"))
    >>> stages.begin(0.5, 1.0)
    >>> stages("second half", 0.5)
    second half: 75%
    """

    def __init__(self, tell: Progress | None) -> None:
        self._tell = tell
        self.begin(0.0, 1.0)

    def begin(self, start: float, end: float) -> None:
        """From now on shares are those of the stage between these shares of the whole."""
        self._start, self._end = start, end

    def __call__(self, what: str, share: float) -> None:
        """Say how far the present stage is."""
        if self._tell is not None:
            self._tell(what, self._start + share * (self._end - self._start))


class ProgressLine:
    """One line that says what a fit is doing, how far it is, and how long the rest will take.

    The line is rewritten on a terminal and in a notebook. Elsewhere, such as in a log file, every
    stage is a line of its own.

    Parameters
    ----------
    stream : text stream, optional
        Where to write, by default the standard output.
    clock : callable, optional
        Returns the time in seconds.

    Examples
    --------
    >>> from splmll.progress import ProgressLine
    >>> with ProgressLine() as line:
    ...     line("linear classifiers", 0.25)
    ...     line("choosing landmarks", 0.75)
    linear classifiers
    choosing landmarks
    """

    WIDTH = 20  # of the bar

    def __init__(self, stream: Any = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._clock = clock
        self._rewrites = self._stream.isatty() or type(self._stream).__module__.startswith(
            "ipykernel."
        )
        self._start = clock()
        self._written = ""
        self._what: str | None = None

    def __call__(self, what: str, share: float) -> None:
        """Say what is being done and which share of all work is done."""
        begins, self._what = what != self._what, what
        if not self._rewrites:
            if begins:
                self._write(f"{what}\n")
            return
        done = round(self.WIDTH * share)
        line = f"{what} [{'#' * done}{'.' * (self.WIDTH - done)}] {share:.0%}{self._left(share)}"
        if line != self._written:
            # Blanks cover what is left of a longer line.
            self._write(f"\r{line.ljust(len(self._written))}")
            self._written = line

    def _left(self, share: float) -> str:
        """Return the time left, if the rest goes on like the work so far."""
        if not 0.0 < share < 1.0:
            return ""
        minutes, seconds = divmod(round((self._clock() - self._start) / share * (1 - share)), 60)
        return f", {minutes}:{seconds:02d} left"

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *details: object) -> None:
        if self._written:
            self._write("\r" + " " * len(self._written) + "\r")
