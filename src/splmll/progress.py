"""How far a fit is: told to whoever asked, as a share of all of its work."""

from __future__ import annotations

from collections.abc import Callable

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
