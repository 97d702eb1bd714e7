"""Rows of column numbers and values on their way to a CSR array.

Shared by the readers of sparse text formats.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from splmll.datasets.text_files import short
from splmll.exceptions import DatasetError

# More columns than this are taken for damage: their names alone would fill the memory.
MAX_COLUMNS = 5_000_000
# More cells than this are not spread out into a dense table (1.6 GB of numbers).
MAX_CELLS = 200_000_000


def make_csr(
    lengths: Sequence[int], indices: np.ndarray, values: np.ndarray, width: int
) -> sparse.csr_array:
    """Build a CSR array from row lengths, column numbers and values.

    Column numbers have 32 bits where they fit, as compiled solvers want them.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets.sparse_rows import make_csr
    >>> make_csr([1, 0], np.array([2]), np.array([5.0]), 3).toarray()
    array([[0., 0., 5.],
           [0., 0., 0.]])
    """
    largest = max(width, len(values))
    kind = np.int32 if largest <= np.iinfo(np.int32).max else np.int64
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(kind)
    return sparse.csr_array((values, indices.astype(kind), starts), shape=(len(lengths), width))


def increases_within_rows(indices: np.ndarray, lengths: Sequence[int]) -> bool:
    """Say whether the column numbers of every row rise strictly.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets.sparse_rows import increases_within_rows
    >>> increases_within_rows(np.array([1, 5, 2]), [2, 1])
    True
    """
    rises = np.ones(len(indices), dtype=bool)
    rises[1:] = np.diff(indices) > 0
    starts = np.cumsum(lengths)[:-1]
    rises[starts[starts < len(indices)]] = True
    return bool(rises.all())


def row_index(token: str, previous: int, width: int) -> int:
    """Return the index a token stands for; ValueError says what is wrong with it.

    Examples
    --------
    >>> from splmll.datasets.sparse_rows import row_index
    >>> row_index("7", previous=3, width=10)
    7
    """
    try:
        index = int(token) if token.isascii() and "_" not in token else -1
    except ValueError:
        index = -1
    if not 0 <= index < width:
        raise ValueError(
            f"the index {short(token)} is not an integer from 0 to {width - 1}; correct the row"
        )
    if index == previous:
        raise ValueError(f"the index {index} appears twice in the row; remove one of the two")
    if index < previous:
        raise ValueError(f"the index {index} follows {previous}; indexes must rise within a row")
    return index


def check_cells(n_rows: int, n_columns: int, path: object) -> None:
    """Refuse to spread out a sparse table that would not fit into memory.

    Examples
    --------
    >>> from splmll.datasets.sparse_rows import check_cells
    >>> check_cells(10**6, 10**6, "toy.arff")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    splmll.exceptions.DatasetError: toy.arff: 1000000 rows by 1000000 columns are too many ...
    """
    if n_rows * n_columns > MAX_CELLS:
        raise DatasetError(
            f"{n_rows} rows by {n_columns} columns are too many to make dense; keep the data "
            "sparse and numeric, or split them",
            path=path,
        )
