"""The MATLAB level 5 file format, as far as matrices of real numbers need it.

Every length and type is checked before it is believed.

Why no library: of 400 files with a small sparse matrix and one byte changed at random, 60 ended the
process with a segmentation fault when SciPy 1.17.1 had read them and made the matrix dense.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from splmll.exceptions import DatasetError

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_INT8, _INT32, _UINT32 = 1, 5, 6
# Number types of stored data, without their byte order.
_STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_SPARSE = 5
# Classes of arrays, and the type that the numbers have in MATLAB, where they are numbers.
_CLASSES = {
    1: ("cell", None),
    2: ("struct", None),
    3: ("object", None),
    4: ("char", None),
    5: ("sparse", None),
    6: ("double", "f8"),
    7: ("single", "f4"),
    8: ("int8", "i1"),
    9: ("uint8", "u1"),
    10: ("int16", "i2"),
    11: ("uint16", "u2"),
    12: ("int32", "i4"),
    13: ("uint32", "u4"),
    14: ("int64", "i8"),
    15: ("uint64", "u8"),
}
# A sparse matrix with more rows than both of these allow is taken for damaged.
_ROWS_UNASKED = 1_000_000
_ROWS_PER_NUMBER = 100
_COMPLEX = 0x0800
_LOGICAL = 0x0200


@dataclass(frozen=True)
class MatVariable:
    """One variable of a file: what it is called and what it claims to be; see `matrix`."""

    name: str
    kind: str
    shape: tuple[int, ...]
    is_complex: bool
    dtype: str | None
    data: _Elements

    def __str__(self) -> str:
        return f"{self.name} ({' x '.join(map(str, self.shape))} {self.kind})"

    def matrix(self) -> Any:
        """Return the variable as an array or a CSC array of real numbers, or raise DatasetError."""
        path = self.data.path
        if self.is_complex or len(self.shape) != 2 or not (self.dtype or self.kind == "sparse"):
            what = "complex" if self.is_complex else self.kind
            raise DatasetError(
                f"the variable {self.name!r} ({' x '.join(map(str, self.shape))} {what}) is not a "
                "matrix of real numbers; name another one",
                path=path,
            )
        elements = self.data.copy()
        if self.kind == "sparse":
            return self._sparse(elements)
        values = elements.numbers()
        if values.size != prod(self.shape):
            raise damaged(
                f"the variable {self.name!r} has {values.size} numbers for {prod(self.shape)} "
                "places",
                path,
            )
        with np.errstate(all="ignore"):  # what does not fit its class wraps, as in MATLAB's files
            return values.astype(self.dtype).reshape(self.shape, order="F")

    def _sparse(self, elements: _Elements) -> sparse.csc_array:
        n_rows, n_columns = self.shape
        rows, starts, values = (elements.numbers() for _ in range(3))
        count = int(starts[-1]) if starts.size and starts.dtype.kind in "iu" else -1
        # MATLAB may reserve more places than it uses, so the arrays can be longer than the count.
        if not (
            rows.dtype.kind in "iu"
            and starts.size == n_columns + 1
            and int(starts[0]) == 0
            and np.all(starts[:-1] <= starts[1:])
            and 0 <= count <= min(rows.size, values.size)
            and (count == 0 or (rows[:count].min() >= 0 and rows[:count].max() < n_rows))
        ):
            raise damaged(f"the sparse variable {self.name!r} contradicts itself", self.data.path)
        # Every claim but the number of rows has its bytes in the file, and memory is taken for it.
        if n_rows > max(_ROWS_UNASKED, _ROWS_PER_NUMBER * count):
            raise damaged(
                f"the sparse variable {self.name!r} claims {n_rows} rows for {count} numbers",
                self.data.path,
            )
        matrix = sparse.csc_array(
            (
                values[:count].copy(),
                rows[:count].astype(np.int64),
                starts.astype(np.int64),
            ),
            shape=(n_rows, n_columns),
        )
        matrix.sum_duplicates()
        return matrix


def mat_variables(content: bytes, path: Any) -> Iterator[MatVariable]:
    """Go through the variables of a MATLAB file of version 5 to 7.

    Parameters
    ----------
    content : bytes
        The whole file.
    path : path-like
        Its name, for the messages.

    Yields
    ------
    MatVariable
        One for each variable, in the order of the file.

    Raises
    ------
    DatasetError
        If it is another version, no MATLAB file at all, or damaged.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from scipy.io import savemat
    >>> from splmll.datasets.mat5 import mat_variables
    >>> file = io.BytesIO()
    >>> savemat(file, {"X": np.arange(6.0).reshape(2, 3)})
    >>> [X] = mat_variables(file.getvalue(), "toy.mat")
    >>> print(X)
    X (2 x 3 double)
    >>> X.matrix().tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    # Version 7.3 writes MATLAB's text header before an HDF5 file, whose signature follows at 512.
    if content[:10] == b"MATLAB 7.3" or b"\x89HDF\r\n\x1a\n" in (content[:8], content[512:520]):
        raise DatasetError(
            "this is a MATLAB 7.3 (HDF5) file; save it in MATLAB with save(..., '-v7')", path=path
        )
    mark = content[_HEADER - 2 : _HEADER]
    if mark not in (b"IM", b"MI"):
        raise DatasetError(
            "this is not a MATLAB file of version 5 to 7; save it in MATLAB with save(..., '-v7')",
            path=path,
        )
    file = _Elements(content, _HEADER, len(content), "<" if mark == b"IM" else ">", path)
    while file.more():
        kind, start, end = file.next()
        if kind == _COMPRESSED:
            inner = _inflate(content[start:end], path)
            unpacked = _Elements(inner, 0, len(inner), file.order, path)
            kind, start, end = unpacked.next()
            body = _Elements(inner, start, end, file.order, path)
        else:
            body = _Elements(content, start, end, file.order, path)
        if kind == _MATRIX and body.more():
            variable = _variable(body)
            if variable is not None:
                yield variable


def damaged(what: str, path: Any) -> DatasetError:
    """Return the error for a file that does not keep to its format."""
    return DatasetError(f"the file is damaged: {what}; get it again", path=path)


def _variable(body: _Elements) -> MatVariable | None:
    """Read the head of a matrix; None for the nameless and opaque ones that MATLAB adds itself."""
    path = body.path
    flags = body.numbers(_UINT32)
    if flags.size < 1:
        raise damaged("a variable has no class", path)
    word = int(flags[0])
    if word & 0xFF not in _CLASSES:
        return None
    kind, dtype = _CLASSES[word & 0xFF]
    shape = tuple(int(length) for length in body.numbers(_INT32))
    if len(shape) < 2 or min(shape) < 0:
        raise damaged(f"a variable has the shape {shape}", path)
    name = body.numbers(_INT8).tobytes().decode("utf-8", errors="replace")
    if not name:
        return None
    if word & _LOGICAL and kind != "sparse":
        kind = "logical"
    return MatVariable(name, kind, shape, bool(word & _COMPLEX), dtype, body)


def _inflate(content: bytes, path: Any) -> bytes:
    try:
        return zlib.decompressobj().decompress(content)
    except zlib.error as error:
        raise damaged(f"a compressed variable cannot be unpacked ({error})", path) from error


class _Elements:
    """A cursor over the data elements between two places of a byte string."""

    def __init__(self, content: bytes, start: int, end: int, order: str, path: Any) -> None:
        self.content = content
        self.at = start
        self.end = end
        self.order = order
        self.path = path

    def copy(self) -> _Elements:
        return _Elements(self.content, self.at, self.end, self.order, self.path)

    def more(self) -> bool:
        return self.at < self.end

    def next(self) -> tuple[int, int, int]:
        """Return type, start and end of the next element, and step behind it."""
        if self.end - self.at < 8:
            raise damaged("it ends within an element", self.path)
        kind, length = (int(word) for word in self._words())
        if kind >> 16:  # the short form: length and type in one word, up to four bytes behind it
            kind, length = kind & 0xFFFF, kind >> 16
            start, following = self.at + 4, self.at + 8
            if length > 4:
                raise damaged("a short element is longer than four bytes", self.path)
        else:
            start = self.at + 8
            following = start + length
            if kind != _COMPRESSED:
                following += -length % 8
        if start + length > self.end:
            raise damaged("it ends within an element", self.path)
        self.at = following
        return kind, start, start + length

    def numbers(self, expected: int | None = None) -> np.ndarray:
        """Return the numbers of the next element, which may have to be of one type."""
        kind, start, end = self.next()
        if kind not in _STORED or (expected is not None and kind != expected):
            raise damaged(f"an element has the unexpected type {kind}", self.path)
        dtype = np.dtype(self.order + _STORED[kind])
        if (end - start) % dtype.itemsize:
            raise damaged("an element holds no whole number of numbers", self.path)
        count = (end - start) // dtype.itemsize
        return np.frombuffer(self.content, dtype, count, start).astype(dtype.newbyteorder("="))

    def _words(self) -> np.ndarray:
        return np.frombuffer(self.content, self.order + "u4", 2, self.at)
