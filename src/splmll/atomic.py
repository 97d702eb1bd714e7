"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file beside the target, which takes its place when the block ends well.

    If the block fails, or the process dies in it, an earlier file stays as it was.

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
    target.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays, for writers that go by it.
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix
    )
    os.close(handle)
    part = Path(name)
    try:
        yield part
        # A file made for a moment is private; the result is as readable as any other.
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
