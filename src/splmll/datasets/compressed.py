"""Files packed with gzip, bzip2 or xz, read as if they were not packed.

Nothing is trusted: what an archive unpacks to is read piece by piece and, where a reader wants all
of it in memory, only up to a limit.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import IO, Any

from splmll.datasets.checks import existing_file, read_bytes
from splmll.exceptions import DatasetError

# More than this is not unpacked into memory: a few kilobytes can claim to be terabytes.
MAX_UNPACKED = 1 << 30
_PIECE = 1 << 20

_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
_FIRST_BYTES = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
# bzip2's three letters may well begin a text, so its first block must follow, or its end.
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")


def open_unpacked(path: Any) -> IO[bytes]:
    r"""Open a file to read its bytes; what is packed with gzip, bzip2 or xz comes out unpacked.

    The first bytes say whether it is packed. A packed file that turns out to be broken raises
    DatasetError at the place where it is.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    file : binary file object
        To be closed by the caller.

    Examples
    --------
    >>> import bz2, pathlib, tempfile
    >>> from splmll.datasets.compressed import open_unpacked
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.txt.bz2"
    ...     _ = path.write_bytes(bz2.compress(b"one\ntwo\n"))
    ...     with open_unpacked(path) as file:
    ...         file.readlines()
    [b'one\n', b'two\n']
    """
    packing = packing_of(path)
    if packing is None:
        return Path(path).open("rb")
    opener: Any = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[packing]
    return io.BufferedReader(_Unpacking(opener(path, "rb"), packing, path), _PIECE)


def read_unpacked(path: Any) -> bytes:
    """Return the whole content of a file that must not be empty, unpacked if it is packed.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> from splmll.datasets.compressed import read_unpacked
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.txt.gz"
    ...     _ = path.write_bytes(gzip.compress(b"one"))
    ...     read_unpacked(path)
    b'one'
    """
    if packing_of(path) is None:
        return read_bytes(path)
    content = bytearray()
    with open_unpacked(path) as file:
        while piece := file.read(_PIECE):
            content += piece
            if len(content) > MAX_UNPACKED:
                raise DatasetError(
                    f"the file expands to more than {MAX_UNPACKED >> 20} MiB; if that is right, "
                    "decompress it and read the result",
                    path=path,
                )
    if not content:
        raise DatasetError("the file is empty; get it again from its source", path=path)
    return bytes(content)


def packing_of(path: Any) -> str | None:
    """Return how the first bytes of a file show it to be packed: gzip, bzip2, xz or None.

    A file whose name promises a packing that it does not have raises DatasetError.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> from splmll.datasets.compressed import packing_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.txt"
    ...     _ = path.write_bytes(gzip.compress(b"one"))
    ...     packing_of(path)
    'gzip'
    """
    place = existing_file(path)
    try:
        with place.open("rb") as file:
            start = file.read(10)
    except OSError as error:
        raise DatasetError(
            f"the file cannot be read ({error.strerror or error}); check its permissions",
            path=path,
        ) from error
    for first, packing in _FIRST_BYTES.items():
        if start.startswith(first) and (packing != "bzip2" or start[4:] in _BZIP2_BLOCKS):
            return packing
    promised = _SUFFIXES.get(place.suffix.lower())
    if promised is not None:
        raise DatasetError(
            f"the name says {promised} but the content is not {promised}; get the file again, "
            "or rename it",
            path=path,
        )
    return None


def unpacked_name(path: Any) -> Path:
    """Return the path without the suffix of its packing.

    Examples
    --------
    >>> from splmll.datasets.compressed import unpacked_name
    >>> unpacked_name("films.arff.bz2").name, unpacked_name("films.arff").name
    ('films.arff', 'films.arff')
    """
    place = Path(path)
    return place.with_suffix("") if place.suffix.lower() in _SUFFIXES else place


class _Unpacking(io.RawIOBase):
    """The unpacked bytes of a file, whose errors say which file is broken."""

    def __init__(self, file: Any, packing: str, path: Any) -> None:
        self._file, self._packing, self._path = file, packing, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._file.read(len(buffer))
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise DatasetError(
                f"the file is not whole {self._packing} data ({error}); get it again",
                path=self._path,
            ) from error
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()
