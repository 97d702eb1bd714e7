"""Files that are there whole or not at all, also after a power cut.

A file is written beside its place, brought to the disk and moved there in one step; then its folder
is brought to the disk. So whenever the machine stops, the old file is there or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows, where files and folders cannot be locked in this way
    fcntl = None

_PART = ".part"  # before the suffix of a file that is being written
_RANDOM = "?" * 8  # what tempfile puts into a name
# Seconds after which a part counts as left behind where nobody can tell whether it is in use.
_ABANDONED = 24 * 3600.0
# Not every file system can bring a folder to the disk by itself; those do it in other ways.
_NO_SUCH_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file beside the target, which takes its place when the block ends well.

    If the block fails, or the process dies in it, an earlier file stays as it was. What a process
    that died has left is removed by the next one that writes the same file.

    Parameters
    ----------
    path : path-like
        The file to write; its folder is made where it is missing.

    Yields
    ------
    part : Path
        Where to write.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.atomic import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "note.txt"
    ...     with atomic_write(target) as part:
    ...         _ = part.write_text("done")
    ...         before = target.exists()
    ...     before, target.read_text(), len(list(Path(folder).iterdir()))
    (False, 'done', 1)
    """
    target = Path(path)
    with _named(target), made_folder(target.parent):
        _remove_abandoned(target)
        with _part_of(target) as part:
            yield part
            # A file made for a moment is private; the result is as readable as any other.
            mask = os.umask(0)
            os.umask(mask)
            part.chmod(0o666 & ~mask)
            _flush_file(part)
            os.replace(part, target)
        flush_folder(target.parent)


@contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Make a folder and those above it; where the block fails, those it made go again if empty."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    made: list[Path] = []
    try:
        for each in reversed(missing):
            with contextlib.suppress(FileExistsError):  # another process was faster
                each.mkdir()
                made.append(each)
                flush_folder(each.parent)
        yield
    except BaseException:
        for each in reversed(made):
            with contextlib.suppress(OSError):  # someone else has put something there
                each.rmdir()
        raise


class FolderInUse(OSError):
    """Another process holds a folder."""


@contextmanager
def locked_folder(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a folder that nobody else holds; it ends with the process at the latest.

    On Windows, which has no such locks for folders, everybody can hold it.

    Parameters
    ----------
    folder : Path
        An existing folder.
    wait : bool, default=True
        Whether to wait for whoever holds it.

    Raises
    ------
    FolderInUse
        If someone else holds it and is not waited for.
    """
    while True:
        handle = None if fcntl is None else os.open(folder, os.O_RDONLY)
        try:
            if fcntl is not None and handle is not None:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                except BlockingIOError:
                    raise FolderInUse(f"Another process is at work in {folder}.") from None
                except OSError:  # a file system without locks
                    pass
                if not _is_same(handle, folder):
                    continue  # removed while it was waited for
            yield
            return
        finally:
            if handle is not None:
                os.close(handle)


def flush_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    if fcntl is None:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SUCH_FLUSH:
            raise
    finally:
        os.close(handle)


@contextmanager
def _named(target: Path) -> Iterator[None]:
    """Say of an error without a file, such as that of a full disk, which file it hit."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(target)
        raise


def _flush_file(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def _part_of(target: Path) -> Iterator[Path]:
    """Give an empty file beside the target, locked as long as it is in use."""
    while True:
        # The suffix stays, for writers that go by it.
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.stem}-", suffix=f"{_PART}{target.suffix}"
        )
        part = Path(name)
        try:
            if fcntl is None:
                os.close(handle)
            else:
                with contextlib.suppress(OSError):
                    fcntl.flock(handle, fcntl.LOCK_EX)
                if not _is_same(handle, part):
                    continue  # taken for an abandoned one before it was locked
            yield part
            return
        finally:
            part.unlink(missing_ok=True)
            if fcntl is not None:
                os.close(handle)


def _remove_abandoned(target: Path) -> None:
    """Remove parts that processes left which are no more."""
    pattern = f".{glob.escape(target.stem)}-{_RANDOM}{_PART}{glob.escape(target.suffix)}"
    for part in target.parent.glob(pattern):
        with contextlib.suppress(OSError):  # in use, or someone else was faster
            if fcntl is None:
                if time.time() - part.stat().st_mtime > _ABANDONED:
                    part.unlink()
                continue
            handle = os.open(part, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
            finally:
                os.close(handle)


def _is_same(handle: int, path: Path) -> bool:
    """Whether an open file or folder still is the one that has its name."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
