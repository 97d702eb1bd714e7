"""Read multi-label LIBSVM files: lines of ``label,label index:value index:value``.

The rows are also those of the extreme-classification repository, whose reader shares the parser.
"""

# scikit-learn's load_svmlight_file is not used: it takes no label that is not a number, lets NaN
# pass and names no line. The parser below needs about the same time, labels included, and the
# tests hold the two against each other.

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from splmll.datasets.checks import LABEL_TYPE
from splmll.datasets.compressed import unpacked_name
from splmll.datasets.dataset import Dataset
from splmll.datasets.sparse_rows import MAX_COLUMNS, increases_within_rows, make_csr, row_index
from splmll.datasets.text_files import PathLike, finite_number, read_text, short, split_lines
from splmll.exceptions import DatasetError

# A first line that begins so goes on with a JSON object of names; to others it is a comment.
NAMES_PREFIX = "# splmll-names "


def read_libsvm(
    path: PathLike,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    name: str | None = None,
) -> Dataset:
    r"""Read a multi-label file in LIBSVM (SVMlight) format.

    A row is ``l1,l2 i:v i:v``; a row without labels begins with its first ``i:v``. What
    follows ``#`` is a comment; blank lines and comment lines are no rows.

    Parameters
    ----------
    path : path-like
        The file; it may be packed (`.gz`, `.bz2`, `.xz`).
    n_features : int, optional
        Number of features; the largest index decides if not given. Give it where a training
        and a test part have to agree.
    n_labels : int, optional
        Number of labels, which must then be the whole numbers 0 to n_labels - 1. Without it
        the labels are those that occur.
    zero_based : bool or "auto", default="auto"
        Whether feature indexes count from 0. "auto" takes them so if an index 0 occurs.
    name : str, optional
        Name of the data set; the stem of the file name if not given.

    Returns
    -------
    Dataset
        `X` and `Y` are CSR arrays. Labels that are all whole numbers are sorted as numbers,
        others as text. A feature is named by its index as the file counts it. Files written
        by :func:`splmll.datasets.writers.write_dataset` bring their own names along.

    Raises
    ------
    DatasetError
        If anything in the file is not as it must be; nothing is read then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from splmll.datasets.libsvm import read_libsvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "toy.svm"
    ...     _ = path.write_text("2,10 1:0.5 3:1\n3:2 # a row without labels\n")
    ...     toy = read_libsvm(path)
    >>> toy.label_names, toy.feature_names
    (['2', '10'], ['1', '2', '3'])
    >>> toy.X.toarray()
    array([[0.5, 0. , 1. ],
           [0. , 0. , 2. ]])
    """
    for what, given in (("n_features", n_features), ("n_labels", n_labels)):
        if given is not None and not 0 < given <= MAX_COLUMNS:
            raise DatasetError(f"{what}={given} must be from 1 to {MAX_COLUMNS}", path=path)
    if zero_based not in (True, False, "auto"):
        raise DatasetError(
            f"zero_based={short(zero_based)} must be True, False or 'auto'", path=path
        )
    lines = split_lines(read_text(path))
    names = _read_names(lines, path)
    rows, numbers = [], []
    for number, line in enumerate(lines, start=1):
        line = line.partition("#")[0].strip()
        if line:
            rows.append(line)
            numbers.append(number)
    if not rows:
        raise DatasetError("no data rows; check that it is the right file", path=path)
    parsed = parse_rows(rows, numbers, path)
    if names is None:
        X, feature_names = _features(parsed, n_features, zero_based)
        label_names = _label_names(parsed, n_labels)
    else:
        feature_names, label_names = names
        for what, given, found in (
            ("n_features", n_features, len(feature_names)),
            ("n_labels", n_labels, len(label_names)),
        ):
            if given is not None and given != found:
                raise DatasetError(
                    f"{what}={given}, but the file names {found}; leave {what} out",
                    path=path,
                    line=1,
                )
        X, _ = _features(parsed, len(feature_names), zero_based is True)
    are_numbers = names is not None or n_labels is not None
    return Dataset(
        X=X,
        Y=label_matrix(parsed, len(label_names), None if are_numbers else label_names),
        feature_names=feature_names,
        label_names=label_names,
        name=unpacked_name(path).stem if name is None else name,
    )


# --- rows, shared with the extreme-classification format --------------------------------------


@dataclass(frozen=True)
class ParsedRows:
    """Label tokens and features of all rows; indexes as they stand in the file.

    Examples
    --------
    >>> from splmll.datasets.libsvm import parse_rows
    >>> print(parse_rows(["a 1:2", "b 4:1"], [1, 2], "toy.svm").error_at(1, "index too large"))
    toy.svm, line 2: index too large
    """

    labels: list[list[str]]
    lengths: list[int]
    indices: np.ndarray
    values: np.ndarray
    numbers: list[int]
    path: PathLike

    def error_at(self, position: int, message: str) -> DatasetError:
        """Return an error for the row of the feature at this position."""
        row = int(np.searchsorted(np.cumsum(self.lengths), position, side="right"))
        return DatasetError(message, path=self.path, line=self.numbers[row])


_PLAIN_PAIRS = re.compile(r"[0-9]+:[^\s:]+(?:\s+[0-9]+:[^\s:]+)*")
_BLOCK = 256  # rows that are converted at once; small enough that one odd row slows few others


def parse_rows(rows: Sequence[str], numbers: list[int], path: PathLike) -> ParsedRows:
    """Parse rows of ``label,label index:value ...``; `numbers` are their line numbers.

    Indexes rise strictly within a row and values are finite, or there is a DatasetError.

    Examples
    --------
    >>> from splmll.datasets.libsvm import parse_rows
    >>> parsed = parse_rows(["a,b 1:2", "4:0.5"], [1, 2], "toy.svm")
    >>> parsed.labels, parsed.indices.tolist(), parsed.values.tolist()
    ([['a', 'b'], []], [1, 4], [2.0, 0.5])
    """
    labels: list[list[str]] = []
    lengths: list[int] = []
    indices = [np.zeros(0, np.int64)]
    values = [np.zeros(0, np.float64)]
    for start in range(0, len(rows), _BLOCK):
        pairs: list[str] = []
        lines = numbers[start : start + _BLOCK]
        for row, line in zip(rows[start : start + _BLOCK], lines):
            first, *rest = row.split(None, 1) or [""]
            if first and ":" not in first:
                labels.append(_split_labels(first, path, line))
                pairs.append(rest[0] if rest else "")
            else:
                labels.append([])
                pairs.append(row)
        # One colon to a pair; the careful conversion counts the same, or refuses the row.
        block_lengths = [row.count(":") for row in pairs]
        found = _convert_block(pairs, block_lengths) or _convert_slowly(pairs, lines, path)
        lengths += block_lengths
        indices.append(found[0])
        values.append(found[1])
    return ParsedRows(
        labels, lengths, np.concatenate(indices), np.concatenate(values), numbers, path
    )


def label_matrix(
    rows: ParsedRows, width: int, names: Sequence[str] | None = None
) -> sparse.csr_array:
    """Return the 0/1 matrix of the labels.

    `names` are the tokens of the columns; without them the tokens are column numbers.

    Examples
    --------
    >>> from splmll.datasets.libsvm import label_matrix, parse_rows
    >>> label_matrix(parse_rows(["2,0 1:2"], [1], "toy.svm"), 3).toarray()
    array([[1, 0, 1]])
    """
    columns = {name: i for i, name in enumerate(names or [])}
    lengths, indices = [], []
    for row, line in zip(rows.labels, rows.numbers):
        found = set()
        for token in row:
            column = columns.get(token)
            if column is None:  # not met before, or written as 1.0 or 01
                number = _whole_number(token)
                column = number if names is None else columns.get(str(number))
            if column is None or not 0 <= column < width:
                raise DatasetError(
                    f"the label {short(token)} is not an integer from 0 to {width - 1}; "
                    "correct the row or the number of labels",
                    path=rows.path,
                    line=line,
                )
            if column in found:
                raise DatasetError(
                    f"the label {short(token)} appears twice in the row; remove one of the two",
                    path=rows.path,
                    line=line,
                )
            columns[token] = column
            found.add(column)
        lengths.append(len(found))
        indices += sorted(found)
    ones = np.ones(len(indices), dtype=LABEL_TYPE)
    return make_csr(lengths, np.array(indices, dtype=np.int64), ones, width)


def _split_labels(token: str, path: PathLike, line: int) -> list[str]:
    labels = token.split(",")
    if "" in labels:
        raise DatasetError(
            f"an empty label in {short(token)}; separate labels by one comma without spaces",
            path=path,
            line=line,
        )
    return labels


def _convert_block(rows: list[str], lengths: list[int]) -> tuple[np.ndarray, np.ndarray] | None:
    """Convert rows of ``index:value`` at once; None if anything is wrong with one of them."""
    text = " ".join(rows).strip()
    if not text:
        return np.zeros(0, np.int64), np.zeros(0, np.float64)
    # Only where every pair has two parts do all parts alternate between index and value.
    if "_" in text or not text.isascii() or _PLAIN_PAIRS.fullmatch(text) is None:
        return None
    parts = text.replace(":", " ").split()
    try:
        indices = np.array(list(map(int, parts[::2])), dtype=np.int64)
        values = np.array(list(map(float, parts[1::2])))
    except (ValueError, OverflowError):
        return None
    if (
        indices.min() < 0
        or indices.max() >= MAX_COLUMNS
        or not np.isfinite(values).all()
        or not increases_within_rows(indices, lengths)
    ):
        return None
    return indices, values


def _convert_slowly(
    rows: list[str], numbers: list[int], path: PathLike
) -> tuple[np.ndarray, np.ndarray]:
    indices: list[int] = []
    values: list[float] = []
    for row, line in zip(rows, numbers):
        previous = -1
        for pair in row.split():
            index, colon, value = pair.partition(":")
            try:
                if not colon:
                    raise ValueError(
                        f"expected index:value, found {short(pair)}; labels come first and "
                        "are separated by commas without spaces"
                    )
                previous = row_index(index, previous, MAX_COLUMNS)
                indices.append(previous)
                values.append(finite_number(value))
            except ValueError as problem:
                raise DatasetError(str(problem), path=path, line=line) from None
    return np.array(indices, dtype=np.int64), np.array(values, dtype=np.float64)


# --- what the indexes and labels of a LIBSVM file mean ----------------------------------------


def _features(
    rows: ParsedRows, n_features: int | None, zero_based: bool | Literal["auto"]
) -> tuple[sparse.csr_array, list[str]]:
    if n_features is None and not len(rows.indices):
        raise DatasetError("no row has a feature; pass n_features", path=rows.path)
    zeros = np.flatnonzero(rows.indices == 0)
    if zero_based == "auto":
        zero_based = len(zeros) > 0
    base = 0 if zero_based else 1
    if base and len(zeros):
        raise rows.error_at(
            int(zeros[0]), "the index 0 occurs in a file that counts from 1; pass zero_based=True"
        )
    indices = rows.indices - base
    if n_features is None:
        n_features = int(indices.max()) + 1
    too_large = np.flatnonzero(indices >= n_features)
    if len(too_large):
        raise rows.error_at(
            int(too_large[0]),
            f"the index {rows.indices[too_large[0]]} goes beyond {n_features} features counted "
            f"from {base}; correct the row or the number of features",
        )
    X = make_csr(rows.lengths, indices, rows.values, n_features)
    X.eliminate_zeros()
    return X, [str(i) for i in range(base, n_features + base)]


def _whole_number(token: str) -> int | None:
    try:
        number = finite_number(token)
    except ValueError:
        return None
    # Beyond 2**53 different whole numbers are the same float.
    return int(number) if number.is_integer() and abs(number) < 2**53 else None


def _label_names(rows: ParsedRows, n_labels: int | None) -> list[str]:
    if n_labels is not None:
        return [str(i) for i in range(n_labels)]
    tokens = {token for row in rows.labels for token in row}
    if not tokens:
        raise DatasetError("no row has a label; pass n_labels", path=rows.path)
    numbers = {_whole_number(token) for token in tokens}
    if None in numbers:
        return sorted(tokens)
    return [str(number) for number in sorted(n for n in numbers if n is not None)]


def _read_names(lines: list[str], path: PathLike) -> tuple[list[str], list[str]] | None:
    if not lines or not lines[0].startswith(NAMES_PREFIX):
        return None
    try:
        content = json.loads(lines[0].removeprefix(NAMES_PREFIX))
        names = content["features"], content["labels"]
        "".join(names[0] + names[1]).encode("utf-8")  # half of a surrogate pair is no name
    except (ValueError, KeyError, TypeError, RecursionError):
        names = None, None
    for part in names:
        if (
            not isinstance(part, list)
            or not part
            or not all(isinstance(name, str) for name in part)
            or len(set(part)) != len(part)
        ):
            raise DatasetError(
                "the line of names is damaged; correct its JSON, or remove the line to read the "
                "file without names",
                path=path,
                line=1,
            )
    return names
