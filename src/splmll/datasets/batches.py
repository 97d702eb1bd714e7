"""Files and folders of any size as batches of features and labels.

For estimators that learn from batches, such as ``SPLMLL("linear").fit_batches``. Only one batch is
in memory at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.datasets.checks import existing_file, zero_one
from splmll.datasets.chunks import Chunk, read_chunks
from splmll.datasets.compressed import open_unpacked, unpacked_name
from splmll.datasets.libsvm import NAMES_PREFIX, label_matrix, parse_rows
from splmll.datasets.sparse_rows import make_csr
from splmll.datasets.tabular import read_numbers
from splmll.exceptions import DatasetError
from splmll.names import check_columns

BATCH_ROWS = 8192
TABLES = (".parquet", ".pq", ".csv", ".tsv")


def read_batches(
    path: Any,
    *,
    labels: Sequence[str] | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
    rows: int = BATCH_ROWS,
) -> Iterator[tuple[Any, Any]]:
    r"""Read a Parquet, CSV or LIBSVM file, or a folder of them, in batches of rows.

    Parameters
    ----------
    path : path-like
        A file, or a folder whose files (except hidden ones) are read in the order of their names.
        Files that end in ``.parquet``, ``.pq``, ``.csv`` or ``.tsv`` are tables; others are LIBSVM
        files, ``label,label index:value ...``. All but Parquet may be compressed, and then end in
        ``.gz``, ``.bz2`` or ``.xz``.
    labels : sequence of str, optional
        Names of the label columns of a table, which contain 0 and 1. The other columns are features
        and contain numbers.
    n_features, n_labels : int, optional
        Width of LIBSVM files. Features count from 1, or from 0 if an index 0 occurs; labels are
        integers from 0. Values that are not given are determined by reading the files once
        beforehand; if ``n_features`` is given, this pass is skipped, and features count from 1.
    rows : int, default=8192
        Maximum number of rows in a batch.

    Yields
    ------
    X, Y : DataFrame or CSR array
        Features and labels of some rows: data frames from tables, sparse from LIBSVM files.

    Raises
    ------
    DatasetError
        If a file is invalid; the message names the file and the place.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets.batches import read_batches
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "toy.svm"
    ...     _ = file.write_text("0,2 1:0.5 3:1\n3:2\n1 2:4\n")
    ...     [(X.shape, Y.toarray().tolist()) for X, Y in read_batches(file, rows=2)]
    [((2, 3), [[1, 0, 1], [0, 0, 0]]), ((1, 3), [[0, 1, 0]])]
    """
    files = _files(path)
    if all(_is_table(file) for file in files):
        if labels is None:
            raise DatasetError("name the label columns with labels=[...]", path=path)
        for file in files:
            for chunk in read_chunks(file, rows):
                yield _table_batch(chunk, list(labels))
        return
    if any(_is_table(file) for file in files):
        raise DatasetError("the folder contains tables and other files; separate them", path=path)
    width = _Width.of(files, n_features, n_labels)
    for file in files:
        for lines in _line_batches(file, rows):
            yield width.batch(*lines, file)


def _files(path: Any) -> list[Path]:
    place = Path(path)
    if not place.is_dir():
        return [existing_file(place)]
    files = sorted(file for file in place.iterdir() if not file.name.startswith((".", "_")))
    files = [file for file in files if file.is_file()]
    if not files:
        raise DatasetError("the folder contains no files; check the path", path=path)
    return files


def _is_table(file: Path) -> bool:
    return unpacked_name(file).suffix.lower() in TABLES


def _table_batch(chunk: Chunk, labels: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    check_columns(labels, chunk.columns, chunk.path)
    features: dict[str, np.ndarray] = {}
    targets: dict[str, np.ndarray] = {}
    for name, cells in chunk.columns.items():
        values, words = read_numbers(cells)
        if values is None:
            word = next((repr(word) for word in words if word is not None), "no numbers")
            raise chunk.error(
                f"the column {name!r} contains {word}; batches take columns of numbers only: leave "
                "it out, or turn it into numbers"
            )
        if np.isnan(values).any():
            row = int(np.flatnonzero(np.isnan(values))[0])
            raise chunk.error(f"the column {name!r} has a missing value; fill it in", row)
        (targets if name in labels else features)[name] = values
    if not features:
        raise chunk.error("there is no feature column besides the labels; add one")
    Y = pd.DataFrame({name: targets[name] for name in labels})
    return pd.DataFrame(features), Y.set_axis(labels, axis=1).astype(
        zero_one(Y.to_numpy(), "a label column", chunk.path).dtype
    )


# LIBSVM files ----------------------------------------------------------------------------------


def _line_batches(file: Path, rows: int) -> Iterator[tuple[list[str], list[int]]]:
    """Yield the rows of a file and their line numbers, without comments and blank lines."""
    try:
        with TextIOWrapper(open_unpacked(file), encoding="utf-8") as lines:
            plain = (
                (line.partition("#")[0].strip(), number)
                for number, line in enumerate(lines, start=1)
            )
            found = (pair for pair in plain if pair[0])
            while batch := list(islice(found, rows)):
                yield [text for text, _ in batch], [number for _, number in batch]
    except UnicodeDecodeError as error:
        raise DatasetError("this is not a text file; check the path", path=file) from error


class _Width:
    """How many features and labels LIBSVM files have, and from where features count."""

    def __init__(self, n_features: int, n_labels: int, base: int) -> None:
        self.n_features, self.n_labels, self.base = n_features, n_labels, base

    @classmethod
    def of(cls, files: list[Path], n_features: int | None, n_labels: int | None) -> _Width:
        named = _named_width(files[0])
        if named is not None:
            return cls(*named, base=1)
        if n_features is not None and n_labels is not None:
            return cls(n_features, n_labels, base=1)
        lowest, highest, last_label = 1, 0, -1
        for file in files:
            for lines in _line_batches(file, BATCH_ROWS):
                parsed = parse_rows(*lines, file)
                if len(parsed.indices):
                    lowest = min(lowest, int(parsed.indices.min()))
                    highest = max(highest, int(parsed.indices.max()))
                tokens = {token for row in parsed.labels for token in row}
                numbers = [int(token) for token in tokens if token.isdecimal()]
                if len(numbers) < len(tokens):
                    strange = min(token for token in tokens if not token.isdecimal())
                    raise DatasetError(
                        f"the label {strange!r} is not an integer from 0; batches need "
                        "numbered labels: number them, or read the whole file with read_libsvm",
                        path=file,
                    )
                last_label = max([last_label, *numbers])
        base = 0 if lowest == 0 and n_features is None else 1
        return cls(n_features or highest + 1 - base, n_labels or last_label + 1, base)

    def batch(
        self, texts: list[str], numbers: list[int], file: Path
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        parsed = parse_rows(texts, numbers, file)
        indices = parsed.indices - self.base
        outside = np.flatnonzero((indices < 0) | (indices >= self.n_features))
        if len(outside):
            raise parsed.error_at(
                int(outside[0]),
                f"the index {parsed.indices[outside[0]]} is outside the {self.n_features} features "
                f"counted from {self.base}; correct the row, or leave n_features out",
            )
        X = make_csr(parsed.lengths, indices, parsed.values, self.n_features)
        return X, label_matrix(parsed, self.n_labels)


def _named_width(file: Path) -> tuple[int, int] | None:
    """The width from the line of names that this library writes."""
    with TextIOWrapper(open_unpacked(file), encoding="utf-8", errors="replace") as lines:
        first = next(lines, "")
    if not first.startswith(NAMES_PREFIX):
        return None
    try:
        names = json.loads(first.removeprefix(NAMES_PREFIX))
        return len(names["features"]), len(names["labels"])
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(
            "the line of names is damaged; correct its JSON, or remove the line", path=file, line=1
        ) from error
