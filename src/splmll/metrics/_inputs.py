"""Checks what is handed to a measure and brings labels into one form.

Labels become the list of their ones (as in a CSR matrix without data), which serves dense and
sparse input alike and makes every measure cost as much as there are ones, not cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from splmll.arrays import is_polars

# Cells looked at together: half a megabyte of doubles stays in the cache of one core.
CHUNK_CELLS = 2**16


@dataclass(frozen=True, eq=False)
class LabelMatrix:
    """The ones of a 0/1 matrix: row ``i`` has them at ``indices[indptr[i]:indptr[i + 1]]``.

    Cells that are not known are neither 0 nor 1: they are the ones of ``unknown``, None for none.
    """

    indptr: npt.NDArray[np.intp]
    indices: npt.NDArray[np.intp]
    shape: tuple[int, int]
    columns: pd.Index | None = None
    unknown: LabelMatrix | None = None

    @property
    def row_counts(self) -> npt.NDArray[np.intp]:
        """Number of ones in every row."""
        return np.diff(self.indptr)

    @property
    def column_counts(self) -> npt.NDArray[np.intp]:
        """Number of ones in every column."""
        return np.bincount(self.indices, minlength=self.shape[1])

    @property
    def rows(self) -> npt.NDArray[np.intp]:
        """Row number of every one."""
        return np.repeat(np.arange(self.shape[0]), self.row_counts)

    @property
    def known_in_rows(self) -> npt.NDArray[np.intp]:
        """Number of known cells in every row."""
        n_rows, n_columns = self.shape
        all_cells = np.full(n_rows, n_columns)
        return all_cells if self.unknown is None else all_cells - self.unknown.row_counts

    @property
    def known_in_columns(self) -> npt.NDArray[np.intp]:
        """Number of known cells in every column."""
        n_rows, n_columns = self.shape
        all_cells = np.full(n_columns, n_rows)
        return all_cells if self.unknown is None else all_cells - self.unknown.column_counts

    def without(self, other: LabelMatrix | None) -> LabelMatrix:
        """Return the ones that the other matrix does not have."""
        if other is None:
            return self
        cells = self.rows * self.shape[1] + self.indices
        taken = other.rows * self.shape[1] + other.indices
        return _from_cells(np.setdiff1d(cells, taken, assume_unique=True), self.shape)

    def intersect(self, other: LabelMatrix) -> LabelMatrix:
        """Return the ones that both matrices have."""
        common = self._to_csr().multiply(other._to_csr()).tocsr()
        common.sort_indices()
        return LabelMatrix(
            common.indptr.astype(np.intp), common.indices.astype(np.intp), self.shape
        )

    def _to_csr(self) -> sparse.csr_array:
        data = np.ones(self.indices.size, dtype=np.int8)
        return sparse.csr_array((data, self.indices, self.indptr), shape=self.shape)


def check_labels(labels: Any, name: str, *, allow_unknown: bool = False) -> LabelMatrix:
    """Return a 0/1 matrix (array, sparse matrix, DataFrame, nested list) as its ones.

    NaN is an error, or an unknown cell with ``allow_unknown``.
    """
    if isinstance(labels, LabelMatrix):
        return labels
    columns = _columns(labels)
    if isinstance(labels, pd.DataFrame) and _is_sparse_frame(labels):
        accessor: Any = labels.sparse
        labels = accessor.to_coo()
    if sparse.issparse(labels):
        return _from_sparse(labels, name, columns, allow_unknown)
    return _from_dense(_to_array(labels, name), name, columns, allow_unknown)


def check_scores(scores: Any, name: str = "scores") -> npt.NDArray[Any]:
    """Return the scores as a dense numeric matrix without NaN."""
    if sparse.issparse(scores):
        raise ValueError(
            f"{name} must be dense because a score of 0 is a score like any other; "
            "pass scores.toarray()."
        )
    array = _to_array(scores, name)
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    elif array.dtype == np.float16:
        array = array.astype(np.float32)
    # The minimum of a block is NaN as soon as one of its values is: no second matrix is needed.
    if array.dtype.kind == "f" and np.isnan(np.min(array)):
        row, column = np.argwhere(np.isnan(array))[0]
        raise ValueError(
            f"{name} has NaN (first in row {row}, column {column}); "
            "every label needs a number to be ranked by."
        )
    return array


def check_pair(
    Y_true: Any, other: Any, other_name: str, *, other_are_scores: bool
) -> tuple[LabelMatrix, Any]:
    """Check true labels together with scores or predicted labels of the same shape."""
    truth = check_labels(Y_true, "Y_true", allow_unknown=True)
    columns = _columns(other)
    checked = (
        check_scores(other, other_name) if other_are_scores else check_labels(other, other_name)
    )
    if truth.shape != checked.shape:
        raise ValueError(
            f"Y_true has shape {truth.shape} but {other_name} has shape {checked.shape}; "
            "both need one row for every example and one column for every label."
        )
    # Two tables with the same labels in another order would be compared cell by cell.
    if (
        columns is not None
        and truth.columns is not None
        and not columns.equals(truth.columns)
        and set(columns) == set(truth.columns)
    ):
        raise ValueError(
            f"Y_true and {other_name} have the same columns in another order; "
            f"pass {other_name}[Y_true.columns]."
        )
    return truth, checked


def _columns(table: Any) -> pd.Index | None:
    """Return the names of the columns of a DataFrame of pandas or polars."""
    if isinstance(table, pd.DataFrame):
        return table.columns
    return pd.Index(table.columns) if is_polars(table) else None


def _is_sparse_frame(frame: pd.DataFrame) -> bool:
    return len(frame.columns) > 0 and all(
        isinstance(dtype, pd.SparseDtype) for dtype in frame.dtypes
    )


def _to_array(values: Any, name: str) -> npt.NDArray[Any]:
    """Return a two-dimensional, non-empty array of numbers; copies only if it has to."""
    try:
        if isinstance(values, pd.DataFrame):
            plain = all(isinstance(dtype, np.dtype) for dtype in values.dtypes)
            # Nullable columns would become an array of objects, with pd.NA in it.
            array = values.to_numpy() if plain else values.to_numpy(dtype=float, na_value=np.nan)
        else:
            array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} is not a matrix of numbers; "
            "pass an array with one row for every example and one column for every label."
        ) from error
    _check_shape(array.shape, name)
    return array


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) == 1:
        raise ValueError(
            f"{name} has one dimension, expected two (rows and labels); "
            f"for a single label pass {name}.reshape(-1, 1)."
        )
    if len(shape) != 2:
        raise ValueError(f"{name} has {len(shape)} dimensions, expected two: rows and labels.")
    if 0 in shape:
        raise ValueError(
            f"{name} has shape {shape}; a measure needs at least one row and one label."
        )


def _not_binary(name: str, value: Any, row: int, column: int) -> ValueError:
    if np.isnan(value):
        return ValueError(
            f"{name} has NaN (first in row {row}, column {column}); only true labels may be "
            "unknown: fill in 0 or 1."
        )
    return ValueError(
        f"{name} has the value {value} (first in row {row}, column {column}), expected 0 or 1; "
        "turn scores into labels with a threshold first."
    )


def _from_dense(
    array: npt.NDArray[Any], name: str, columns: pd.Index | None, allow_unknown: bool
) -> LabelMatrix:
    n_rows, n_columns = array.shape
    step = max(1, CHUNK_CELLS // n_columns)
    flat_parts, unknown_parts = [], []
    for start in range(0, n_rows, step):
        block = array[start : start + step]
        ones = block if array.dtype.kind == "b" else block != 0
        positions = np.flatnonzero(ones)
        if array.dtype.kind != "b":
            # Only what is not 0 can be wrong, and of that there is little.
            values = block.reshape(-1)[positions] if block.flags.c_contiguous else block[ones]
            if allow_unknown and np.isnan(values).any():
                known = ~np.isnan(values)
                unknown_parts.append(positions[~known] + start * n_columns)
                values, positions = values[known], positions[known]
            if not np.all(values == 1):
                first = int(np.argmax(values != 1))
                row, column = divmod(int(positions[first]), n_columns)
                raise _not_binary(name, values[first], start + row, column)
        flat_parts.append(positions + start * n_columns)
    unknown = np.concatenate(unknown_parts) if unknown_parts else None
    return _from_cells(np.concatenate(flat_parts), (n_rows, n_columns), columns, unknown)


def _from_sparse(
    matrix: Any, name: str, columns: pd.Index | None, allow_unknown: bool
) -> LabelMatrix:
    _check_shape(matrix.shape, name)
    csr = matrix.tocsr()
    if not csr.has_canonical_format or np.any(csr.data == 0):
        csr = csr.copy()  # tocsr() may have returned the caller's own matrix
        csr.sum_duplicates()
        csr.eliminate_zeros()
    is_unknown = np.isnan(csr.data) if allow_unknown else np.zeros(csr.nnz, dtype=bool)
    wrong = (csr.data != 1) & ~is_unknown
    if wrong.any():
        first = int(np.argmax(wrong))
        row = int(np.searchsorted(csr.indptr, first, side="right")) - 1
        raise _not_binary(name, csr.data[first], row, int(csr.indices[first]))
    if is_unknown.any():
        rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        cells = rows * csr.shape[1] + csr.indices
        return _from_cells(cells[~is_unknown], csr.shape, columns, cells[is_unknown])
    n_rows, n_columns = csr.shape
    return LabelMatrix(
        csr.indptr.astype(np.intp), csr.indices.astype(np.intp), (n_rows, n_columns), columns
    )


def _from_cells(
    cells: npt.NDArray[np.intp],
    shape: tuple[int, int],
    columns: pd.Index | None = None,
    unknown: npt.NDArray[np.intp] | None = None,
) -> LabelMatrix:
    """Return the matrix with ones (and unknown cells) at these ascending positions."""
    n_rows, n_columns = shape
    rows, indices = np.divmod(cells, n_columns)
    indptr = np.zeros(n_rows + 1, dtype=np.intp)
    np.cumsum(np.bincount(rows, minlength=n_rows), out=indptr[1:])
    others = None if unknown is None else _from_cells(unknown, shape)
    return LabelMatrix(indptr, indices, (n_rows, n_columns), columns, others)
