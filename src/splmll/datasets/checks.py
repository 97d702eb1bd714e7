"""Checks that every reader makes before it hands out a data set.

Each of them turns one kind of bad input into a `DatasetError` that names the file and the remedy.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from splmll.exceptions import DatasetError

# Type of the labels that readers return. One byte would do for 0 and 1, but scikit-learn numbers
# the columns of a label matrix in its own type: with uint8 its one-vs-rest takes column 256 for
# column 0, without a word.
LABEL_TYPE = np.int64
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def existing_file(path: Any) -> Path:
    """Return `path` as a Path if it is a file with something in it, else raise DatasetError."""
    place = Path(path)
    try:
        if place.is_dir():
            raise DatasetError("this is a folder; give the path of one file in it", path=path)
        if not place.exists():
            raise DatasetError("there is no such file; check the path", path=path)
        if place.stat().st_size == 0:
            raise DatasetError("the file is empty; get it again from its source", path=path)
    except OSError as error:
        raise DatasetError(
            f"the file cannot be opened ({error.strerror or error}); check the path and its "
            "permissions",
            path=path,
        ) from error
    return place


def read_bytes(path: Any) -> bytes:
    """Return the whole content of a file that must not be empty."""
    place = existing_file(path)
    try:
        return place.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"the file cannot be read ({error.strerror or error}); check its permissions",
            path=path,
        ) from error


def decode(content: bytes, encoding: str, path: Any) -> str:
    """Return `content` as text, or say at which line it is not in `encoding`."""
    if content.startswith(_UTF_16) and encoding == "utf-8":
        raise DatasetError(
            "the file is UTF-16, which spreadsheets call Unicode text; save it as CSV in UTF-8",
            path=path,
        )
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"this is not {encoding} text; save the file as UTF-8, or in Python pass its encoding, "
            "for example encoding='latin-1'",
            path=path,
            line=content.count(b"\n", 0, error.start) + 1,
        ) from error
    except LookupError as error:
        raise DatasetError(f"there is no encoding {encoding!r}; use one Python knows") from error


def read_names(path: Any, encoding: str = "utf-8") -> list[str]:
    """Return the names in a text file that holds one name in each line."""
    lines = decode(read_bytes(path), encoding, path).removeprefix("\ufeff").splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    names = [line.strip() for line in lines]
    for number, name in enumerate(names, start=1):
        if not name:
            raise DatasetError("the line contains no name; remove it", path=path, line=number)
    check_unique(names, "name", path)
    return names


def check_unique(names: Sequence[str], what: str, path: Any) -> None:
    """Raise DatasetError if a name appears twice."""
    seen: dict[str, str] = {}
    for name in names:
        alike = one_spelling(name)
        if alike in seen:
            how = "" if seen[alike] == name else ", in two Unicode spellings (NFC and NFD)"
            raise DatasetError(
                f"the {what} {name!r} appears twice{how}; rename one of the two", path=path
            )
        seen[alike] = name


def one_spelling(text: str) -> str:
    r"""Return a text in the spelling (NFC) in which equal texts have equal characters.

    An accent may be a character of its own behind its letter (NFD), as some systems write it.

    Examples
    --------
    >>> from splmll.datasets.checks import one_spelling
    >>> one_spelling("cafe\u0301") == "caf\u00e9"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def check_count(names: Sequence[str], width: int, what: str, path: Any) -> None:
    """Raise DatasetError unless there is one name for each column."""
    if len(names) != width:
        raise DatasetError(
            f"there are {len(names)} {what} names for {width} {what} columns; give one for each",
            path=path,
        )


def zero_one(values: Any, what: str, path: Any) -> Any:
    """Return a label matrix as int64 (sparse stays sparse) if all its cells are 0 or 1."""
    cells = values.data if sparse.issparse(values) else values
    wrong = (cells != 0) & (cells != 1)
    if np.any(wrong):
        if sparse.issparse(values):
            first = int(np.flatnonzero(wrong)[0])
            row, column = (int(part[first]) for part in values.tocoo().coords)
        else:
            row, column = (int(part) for part in np.argwhere(wrong)[0])
        bad = values[row, column]
        raise DatasetError(
            f"{what} contains {bad} in row {row + 1}, column {column + 1}, but a label is 0 or 1; "
            "recode it",
            path=path,
        )
    return values.astype(LABEL_TYPE)


def check_finite(values: Any, what: str, path: Any, *, allow_missing: bool) -> None:
    """Raise DatasetError at the first infinite cell, or NaN unless missing ones are allowed."""
    cells = values.data if sparse.issparse(values) else values
    wrong = np.isinf(cells) if allow_missing else ~np.isfinite(cells)
    if not np.any(wrong):
        return
    if sparse.issparse(values):
        first = int(np.flatnonzero(wrong)[0])
        row, column = (int(part[first]) for part in values.tocoo().coords)
    else:
        row, column = (int(part) for part in np.argwhere(wrong)[0])
    if np.isnan(values[row, column]):
        problem = "a missing value (NaN)"
        remedy = "fill it in, or pass allow_missing=True and impute later"
    else:
        problem, remedy = "an infinite value", "correct it"
    raise DatasetError(
        f"{what} contains {problem} in row {row + 1}, column {column + 1}; {remedy}", path=path
    )
