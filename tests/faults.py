"""Calls that fail when their turn comes: those of the file system, and memory that is not there.

Memory is refused at the n-th call of a function of the library that takes part in writing.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

_CALLS = {"create": "open", "rename": "replace", "fsync": "fsync"}
FAULTS = (*_CALLS, "memory")
WRITING = ("splmll/persistence/", "splmll/atomic.py", "splmll/tagging/output.py")


class Failing:
    """A block in which the n-th call fails, from 0 on; without a number calls are only counted.

    Attributes
    ----------
    calls : int
        How many there were.
    """

    def __init__(self, fault: str, number: int | None = None) -> None:
        self.fault, self.number, self.calls = fault, number, 0

    @property
    def failed(self) -> bool:
        """Whether a call has failed."""
        return self.number is not None and self.calls > self.number

    def __enter__(self) -> Failing:
        self._patch, self._trace = pytest.MonkeyPatch(), sys.gettrace()
        if self.fault == "memory":
            sys.settrace(self._trace_calls)
            return self
        name = _CALLS[self.fault]
        real = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            if (name != "open" or arguments[1] & os.O_CREAT) and self._is_due():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments, **options)

        self._patch.setattr(os, name, call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._trace)
        self._patch.undo()

    def _is_due(self) -> bool:
        self.calls += 1
        return self.calls - 1 == self.number

    def _trace_calls(self, frame: FrameType, event: str, _: Any) -> None:
        place, name = frame.f_code.co_filename, frame.f_code.co_name
        # Nobody hears of an error in a generator expression that is being thrown away.
        ours = any(part in place for part in WRITING) and name != "<genexpr>"
        if event == "call" and ours and self._is_due():
            raise MemoryError


def calls_in(fault: str, action: Callable[[], object]) -> range:
    """Return the numbers of the calls that an action makes."""
    with Failing(fault) as counting:
        action()
    assert counting.calls > 0
    return range(counting.calls)


def files_in(folder: Path) -> dict[str, bytes]:
    """Return everything under a folder, path -> content; folders end in a slash."""
    paths = sorted(folder.rglob("*"))
    folders = {f"{path.relative_to(folder)}/": b"" for path in paths if path.is_dir()}
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}
    return {**folders, **files}
