"""What numpy, scipy, pandas, polars and torch do differently, in one place."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy import sparse


def dense(matrix: Any) -> np.ndarray:
    """Return a matrix as an array.

    Examples
    --------
    >>> from scipy import sparse
    >>> from splmll.arrays import dense
    >>> dense(sparse.eye_array(2))
    array([[1., 0.],
           [0., 1.]])
    """
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def n_rows(X: Any) -> int:
    """Return the number of rows of an array, a sparse matrix, a data frame or a torch Dataset.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.arrays import n_rows
    >>> n_rows(np.zeros((3, 2))), n_rows([1, 2])
    (3, 2)
    """
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: Any) -> Any:
    """Return some rows of an array, a sparse matrix, a data frame, a list or a torch Dataset.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.arrays import take_rows
    >>> take_rows(np.arange(4), slice(1, 3))
    array([1, 2])
    """
    if is_torch_dataset(X):
        from torch.utils.data import Subset

        numbers = range(*rows.indices(len(X))) if isinstance(rows, slice) else rows.tolist()
        return Subset(X, list(numbers))
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if isinstance(X, list | tuple) and not isinstance(rows, slice):
        return [X[row] for row in rows]
    return X[rows]


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the positions of the largest values along the last axis, in ascending order.

    Of equal values the first ones are taken. Which of them ``np.argpartition`` takes depends on the
    processor, and with it everything that is built on the choice.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n_rows, n)
        Numbers; no NaN.
    count : int
        How many, at most n.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.arrays import largest
    >>> largest(np.array([1, 3, 2, 2, 2]), 3)
    array([1, 2, 3])
    """
    n = values.shape[-1]
    if count >= n:
        return np.broadcast_to(np.arange(n), values.shape)
    border = np.partition(values, n - count, axis=-1)[..., n - count : n - count + 1]
    above, equal = values > border, values == border
    wanted = count - np.count_nonzero(above, axis=-1, keepdims=True)
    chosen = above | (equal & (np.cumsum(equal, axis=-1) <= wanted))
    return np.nonzero(chosen)[-1].reshape(*values.shape[:-1], count)


def forget(holder: Any, *names: str) -> None:
    """Delete those attributes of an object that it has.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from splmll.arrays import forget
    >>> holder = SimpleNamespace(a=1, b=2)
    >>> forget(holder, "a", "c")
    >>> holder
    namespace(b=2)
    """
    for name in names:
        holder.__dict__.pop(name, None)


def is_polars(value: Any, kind: str = "DataFrame") -> bool:
    """Return whether this is a polars DataFrame or Series, without importing polars to find out.

    Examples
    --------
    >>> from splmll.arrays import is_polars
    >>> is_polars([1, 2]), is_polars([1, 2], "Series")
    (False, False)
    """
    return _is_of("polars", value, kind)


def is_torch_dataset(X: Any) -> bool:
    """Return whether this is a torch Dataset, without importing torch to find out.

    Examples
    --------
    >>> from splmll.arrays import is_torch_dataset
    >>> is_torch_dataset([1, 2])
    False
    """
    return _is_of("torch", X, "utils", "data", "Dataset")


def is_torch_module(value: Any) -> bool:
    """Return whether this is a torch module, without importing torch to find out.

    Examples
    --------
    >>> from splmll.arrays import is_torch_module
    >>> is_torch_module("mlp")
    False
    """
    return _is_of("torch", value, "nn", "Module")


def _is_of(module: str, value: Any, *names: str) -> bool:
    kind: Any = sys.modules.get(module)
    for name in names:
        # Another thread may be importing it: what is not there yet, nothing can be made of.
        kind = getattr(kind, name, None)
    return kind is not None and isinstance(value, kind)
