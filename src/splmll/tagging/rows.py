"""Rows of any storage as a pipeline takes them: columns by name, of their kind, nothing missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.datasets.checks import one_spelling
from splmll.exceptions import DatasetError
from splmll.names import check_columns

# Larger numbers overflow when they are squared and summed, in single precision at once.
MOST_NUMBER = 1e30


def checked_rows(rows: Any, feature_names: Sequence[str], kinds: dict[str, str]) -> Any:
    """Return the features of rows as the pipeline takes them."""
    if isinstance(rows, pd.DataFrame):
        check_columns(feature_names, rows.columns)
    elif rows.shape[1] != len(feature_names):
        raise ValueError(
            f"These rows have {rows.shape[1]} features, but the model has {len(feature_names)}; "
            "give rows with the features it learned from."
        )
    if not kinds:
        return rows[list(feature_names)].to_numpy() if isinstance(rows, pd.DataFrame) else rows
    frame = rows if isinstance(rows, pd.DataFrame) else named_columns(rows, feature_names)
    columns = {name: _column(frame[name], kinds[name]) for name in feature_names}
    return pd.DataFrame(columns, index=frame.index)


def _column(values: pd.Series, kind: str) -> pd.Series:
    if kind == "numeric":
        try:
            return pd.to_numeric(values).astype(float)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"The column {values.name!r} must contain numbers: {error}. Correct it."
            ) from error
    # A missing category is one of its own, a missing text has no words.
    words = values.astype(object).where(values.notna(), "").map(str)
    return words.map(one_spelling).astype(object)


def named_columns(X: Any, names: Sequence[str]) -> Any:
    """Return a matrix of numbers as a table; sparse ones stay what they are."""
    if isinstance(X, pd.DataFrame) or sparse.issparse(X):
        return X
    return pd.DataFrame(X, columns=list(names))


def in_order(X: Any, names: Sequence[str], wanted: Sequence[str], path: Any = None) -> Any:
    """Return the columns that are wanted, found by name in a matrix or table of any storage.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.tagging.rows import in_order
    >>> in_order(np.array([[1, 2, 3]]), ["a", "b", "c"], ["c", "a"])
    array([[3, 1]])
    """
    if list(names) == list(wanted):
        return X
    check_columns(wanted, names, path)
    if isinstance(X, pd.DataFrame):
        return X[list(wanted)]
    place = {name: k for k, name in enumerate(names)}
    return X[:, [place[name] for name in wanted]]


def check_size(X: Any, names: Sequence[str], path: Any, first: int = 0) -> None:
    """Raise DatasetError where a number is too large for a model to compute with.

    Parameters
    ----------
    X : DataFrame, ndarray or sparse array
        Features; missing values are left alone.
    names : sequence of str
        Names of the features.
    path : path-like
        Where they come from.
    first : int
        How many rows of the file come before these.
    """
    if isinstance(X, pd.DataFrame):
        numeric = [k for k, name in enumerate(X.columns) if X[name].dtype.kind == "f"]
        values = X.iloc[:, numeric].to_numpy(dtype=float)
    else:
        values, numeric = X, list(range(X.shape[1]))
    cells = values.data if sparse.issparse(values) else values
    with np.errstate(invalid="ignore"):
        if not (np.abs(cells) > MOST_NUMBER).any():
            return
        row, column = (int(part[0]) for part in (abs(values) > MOST_NUMBER).nonzero())
    name = names[numeric[column]]
    raise DatasetError(
        f"row {first + row + 1}: the column {name!r} contains {values[row, column]:g}, but "
        f"models can only use numbers up to {MOST_NUMBER:g}; correct it, change the unit of the "
        "column, or leave it out",
        path=path,
    )


def label_counts(Y: Any) -> np.ndarray:
    """Return how many rows are known to have each label.

    Parameters
    ----------
    Y : array or sparse matrix of shape (n_rows, n_labels)
        0 and 1; NaN where a label is not known.

    Returns
    -------
    counts : ndarray of int of shape (n_labels,)
    """
    known = Y if sparse.issparse(Y) else np.nan_to_num(np.asarray(Y))
    return np.asarray(known.sum(axis=0)).ravel().astype(int)


def has_unknown(Y: Any) -> bool:
    """Return whether some label of some row is not known."""
    values = Y.data if sparse.issparse(Y) else np.asarray(Y)
    return bool(np.issubdtype(values.dtype, np.floating) and np.isnan(values).any())
