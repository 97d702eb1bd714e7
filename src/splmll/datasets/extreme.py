"""Read the text files of the extreme-classification repository.

A header ``rows features labels`` is followed by rows of ``label,label index:value ...``, with
everything counted from 0.
"""

from __future__ import annotations

import re

import numpy as np

from splmll.datasets.compressed import unpacked_name
from splmll.datasets.dataset import Dataset
from splmll.datasets.libsvm import label_matrix, parse_rows
from splmll.datasets.sparse_rows import MAX_COLUMNS, make_csr
from splmll.datasets.text_files import PathLike, read_text, short, split_lines
from splmll.exceptions import DatasetError


def read_extreme(path: PathLike, *, name: str | None = None) -> Dataset:
    r"""Read a file of the extreme-classification repository.

    Parameters
    ----------
    path : path-like
        The file; it may be packed (`.gz`, `.bz2`, `.xz`). A row without labels begins with a blank
        or with its first ``index:value``.
    name : str, optional
        Name of the data set; the stem of the file name if not given.

    Returns
    -------
    Dataset
        `X` and `Y` are CSR arrays as wide as the header says; features and labels are named
        by their numbers.

    Raises
    ------
    DatasetError
        If the header does not fit the rows, or anything in a row is not as it must be;
        nothing is read then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from splmll.datasets.extreme import read_extreme
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "toy.txt"
    ...     _ = path.write_text("2 4 3\n0,2 1:0.5 3:1\n 0:2\n")
    ...     toy = read_extreme(path)
    >>> toy.Y.toarray()
    array([[1, 0, 1],
           [0, 0, 0]])
    """
    lines = split_lines(read_text(path))
    if not lines:
        raise DatasetError("the file is empty; check that it is the right file", path=path)
    n_rows, n_features, n_labels = _read_header(lines[0], path)
    # A blank line within the rows is a row without anything; after them it is nothing.
    while len(lines) > n_rows + 1 and not lines[-1].strip():
        lines.pop()
    if len(lines) != n_rows + 1:
        raise DatasetError(
            f"the header announces {n_rows} rows but {len(lines) - 1} follow; the file is cut "
            "off, or correct the header",
            path=path,
            line=len(lines),
        )
    rows = parse_rows(lines[1:], list(range(2, len(lines) + 1)), path)
    too_large = np.flatnonzero(rows.indices >= n_features)
    if len(too_large):
        raise rows.error_at(
            int(too_large[0]),
            f"the index {rows.indices[too_large[0]]} goes beyond the {n_features} features of "
            "the header; correct the row or the header",
        )
    X = make_csr(rows.lengths, rows.indices, rows.values, n_features)
    X.eliminate_zeros()
    return Dataset(
        X=X,
        Y=label_matrix(rows, n_labels),
        feature_names=[str(i) for i in range(n_features)],
        label_names=[str(i) for i in range(n_labels)],
        name=unpacked_name(path).stem if name is None else name,
    )


def _read_header(line: str, path: PathLike) -> tuple[int, int, int]:
    match = re.fullmatch(r"\s*([0-9]{1,15})\s+([0-9]{1,15})\s+([0-9]{1,15})\s*", line)
    if match is None:
        raise DatasetError(
            f"the header {short(line)} is not 'rows features labels'; if the file has none, read "
            "it with read_libsvm",
            path=path,
            line=1,
        )
    n_rows, n_features, n_labels = (int(part) for part in match.groups())
    if min(n_rows, n_features, n_labels) < 1 or max(n_features, n_labels) > MAX_COLUMNS:
        raise DatasetError(
            f"the header gives {n_rows} rows, {n_features} features and {n_labels} labels; each "
            f"must be at least 1, and at most {MAX_COLUMNS} features and labels; correct it",
            path=path,
            line=1,
        )
    return n_rows, n_features, n_labels
