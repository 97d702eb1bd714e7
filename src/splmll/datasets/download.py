"""Fetch one file from the network: resumable, checked by its SHA-256, renamed only when whole.

Whatever goes wrong, the destination is either absent or the right file.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from splmll.exceptions import DatasetError
from splmll.extras import installed

_CHUNK = 1 << 16
_TIMEOUT = 30.0  # seconds without a byte


def download(url: str, destination: str | Path, sha256: str) -> Path:
    """Download a file, continuing an interrupted attempt.

    The bytes go to ``destination`` + ``.part``; that file stays when the connection breaks and the
    next call asks the server for the rest only. When the SHA-256 is right it is renamed.

    Parameters
    ----------
    url : str
        Where the file is (http, https or file).
    destination : path-like
        Where it is to be; folders are made.
    sha256 : str
        The checksum it must have, in hexadecimal.

    Returns
    -------
    Path
        The destination.

    Raises
    ------
    DatasetError
        If the network fails or the checksum is wrong.

    Examples
    --------
    >>> import hashlib, tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets.download import download
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = Path(folder) / "source.txt"
    ...     _ = source.write_bytes(b"yeast")
    ...     copy = download(
    ...         source.as_uri(), Path(folder) / "copy.txt", hashlib.sha256(b"yeast").hexdigest()
    ...     )
    ...     copy.read_bytes()
    b'yeast'
    """
    target = Path(destination)
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _fetch(url, part)
        found = _sha256(part)
        if found != sha256:
            part.unlink()
            raise DatasetError(
                f"{url} has the SHA-256 {found} instead of {sha256}, so it was damaged on the way "
                "or has changed; it was deleted, try again later",
                path=target,
            )
        os.replace(part, target)
    except urllib.error.HTTPError as error:
        raise DatasetError(
            f"{url} could not be downloaded (the server says {error.code}: {error.reason}); try "
            "again later",
            path=target,
        ) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, DatasetError):
            raise
        reason = getattr(error, "reason", None) or error
        raise DatasetError(
            f"{url} could not be downloaded ({reason}); check the network and try again, the "
            "part that has arrived is kept",
            path=target,
        ) from error
    return target


def _fetch(url: str, part: Path) -> None:
    """Append to `part` what it lacks."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "splmll"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        # Nothing is left to ask for: the last attempt ended between the last byte and the rename,
        # or the file has changed. The checksum tells which.
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            return
        raise
    with response:
        # A server that knows no ranges, or answers with another one, sends all of it again.
        resumed = (
            have > 0
            and response.status == http.client.PARTIAL_CONTENT
            and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        )
        start = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = None if length is None else start + int(length)
        arrived = start
        with part.open("ab" if resumed else "wb") as file, _progress(part.stem, total) as advance:
            advance(start)
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                arrived += len(chunk)
                advance(len(chunk))
    if total is not None and arrived < total:
        raise ConnectionError(f"the connection broke after {arrived} of {total} bytes")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _progress(name: str, total: int | None) -> Iterator[Any]:
    """Yield a function that counts bytes; it draws a bar only on a terminal."""
    if not (sys.stderr.isatty() and installed("rich")):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda count: bar.advance(task, count)
