"""What a power cut can leave of a file system, at every moment of something that writes.

The calls that change folders or bring something to the disk are recorded. Between two of them the
machine may stop, and then there is on the disk: of every file what was last brought there, nothing
if that never happened; of the names in a folder those brought there, and any of the later changes.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

Names = dict[str, int]
MOST_SUBSETS = 8  # changes of names of which every selection is tried


class Disk:
    """A model of the disk, told of every call by wrappers around those of :mod:`os`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.numbers: dict[tuple[int, int], int] = {}  # device and inode -> number of a file
        self.data: dict[int, bytes | None] = {}  # number -> what is on the disk; None: a folder
        self.names: Names = {}  # path -> number, as they are on the disk
        self.pending: list[tuple[Path, dict[str, int | None]]] = []  # folder, changes of its names
        self.calls: list[str] = []
        self.states: dict[tuple[Any, ...], str] = {}  # what may be found -> after which call
        for path in sorted(root.rglob("*")):
            self.names[str(path)] = self._number(path)
            self.data[self._number(path)] = None if path.is_dir() else path.read_bytes()

    def _number(self, path: Path | int) -> int:
        status = os.stat(path)
        return self.numbers.setdefault((status.st_dev, status.st_ino), len(self.numbers))

    def change(self, folder: Path, **names: Any) -> None:
        self.pending.append((folder, names["names"]))

    def flush(self, handle: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{handle}"))
        if path.is_dir():
            for _, names in [each for each in self.pending if each[0] == path]:
                _apply(self.names, names)
            self.pending = [each for each in self.pending if each[0] != path]
        else:
            self.data[self._number(path)] = path.read_bytes()

    def note(self, call: str) -> None:
        """Take down everything that may be found if the machine stops here."""
        self.calls.append(call)
        later = [names for _, names in self.pending]
        sizes = range(len(later) + 1) if len(later) <= MOST_SUBSETS else (0, len(later))
        for size in sizes:
            for chosen in combinations(later, size):
                names = dict(self.names)
                for each in chosen:
                    _apply(names, each)
                self.states.setdefault(self._found(names), call)

    def _found(self, names: Names) -> tuple[Any, ...]:
        folders = {str(self.root)} | {p for p, n in names.items() if self.data.get(n, b"") is None}
        return tuple(
            (os.path.relpath(path, self.root), self.data.get(number, b""))
            for path, number in sorted(names.items())
            if str(Path(path).parent) in folders
        )

    def restore(self, target: Path) -> Iterator[str]:
        """Put each state in turn into a folder; yield the call after which it may be found."""
        for found, call in self.states.items():
            for path in sorted(target.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            for name, data in found:
                if data is None:
                    (target / name).mkdir()
                else:
                    (target / name).write_bytes(data)
            yield call


def _apply(names: Names, changes: dict[str, int | None]) -> None:
    for path, number in changes.items():
        if number is None:
            names.pop(path, None)
        else:
            names[path] = number


@contextmanager
def recorded(root: Path) -> Iterator[Disk]:
    """Record what a block does to the files under a folder."""
    disk = Disk(root)
    real = {name: getattr(os, name) for name in ("open", "mkdir", "rmdir", "unlink", "replace")}
    real |= {"fsync": os.fsync, "link": os.link}
    real_open = builtins.open

    def inside(path: Any) -> bool:
        return not isinstance(path, int) and Path(os.fsdecode(path)).is_relative_to(root)

    def add(path: Any) -> None:
        path = Path(os.fsdecode(path))
        number = disk._number(path)
        disk.data.setdefault(number, None if path.is_dir() else b"")
        disk.change(path.parent, names={str(path): number})

    def wrap(name: str, after: Callable[..., None]) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            result = real[name](*arguments, **options)
            after(*arguments)
            disk.note(f"{name} {arguments}")
            return result

        return call

    def open_(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        new = inside(path) and bool(flags & os.O_CREAT) and not os.path.lexists(path)
        handle: int = real["open"](path, flags, *rest, **options)
        if new:
            add(path)
            disk.note(f"create {path}")
        return handle

    def plain_open(path: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
        new = not isinstance(path, int) and inside(path) and not os.path.lexists(path)
        file = real_open(path, mode, *rest, **options)
        if new and os.path.lexists(path):
            add(path)
            disk.note(f"create {path}")
        return file

    def removed(path: Any) -> None:
        if inside(path):
            path = Path(os.fsdecode(path))
            disk.change(path.parent, names={str(path): None})

    def replaced(source: Any, target: Any) -> None:
        if inside(target):
            source, target = Path(os.fsdecode(source)), Path(os.fsdecode(target))
            disk.change(target.parent, names={str(source): None, str(target): disk._number(target)})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", open_)
        patch.setattr("builtins.open", plain_open)
        patch.setattr("io.open", plain_open)
        patch.setattr(os, "mkdir", wrap("mkdir", lambda path, *_: inside(path) and add(path)))
        patch.setattr(os, "link", wrap("link", lambda _, path: inside(path) and add(path)))
        patch.setattr(os, "rmdir", wrap("rmdir", removed))
        patch.setattr(os, "unlink", wrap("unlink", removed))
        patch.setattr(os, "replace", wrap("replace", replaced))
        patch.setattr(os, "fsync", wrap("fsync", disk.flush))
        disk.note("nothing yet")
        yield disk
