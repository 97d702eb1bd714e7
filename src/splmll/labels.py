"""Label matrices as people hand them over, and back again in the same form.

Every estimator works inside on one form, a float array or CSR array of 0 and 1 (NaN for an
unknown label). :class:`LabelFormat` remembers what the caller used (a vector, an array, a
sparse matrix, a DataFrame with names) so that predictions come back in that form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, column_or_1d


@dataclass(frozen=True)
class LabelFormat:
    """The form in which labels were given.

    Parameters
    ----------
    kind : {"vector", "array", "sparse", "frame"}
        A 1-D target (one label), a 2-D array, a sparse matrix or a DataFrame.
    dtype : dtype
        Type of the values; predictions use it again.
    n_labels : int
        Number of labels.
    classes : ndarray
        For a vector the one or two values found in it, smaller first.
    names : ndarray of str or None
        Label names, where the labels came with names.
    """

    kind: str
    dtype: np.dtype
    n_labels: int
    classes: np.ndarray
    names: np.ndarray | None = None

    def restore(self, labels: np.ndarray, index: Any = None) -> Any:
        """Give 0/1 predictions of shape (n, n_labels) the form the caller used."""
        if self.kind == "vector":
            return self.classes[np.minimum(labels[:, 0].astype(np.intp), len(self.classes) - 1)]
        labels = labels.astype(self.dtype)
        if self.kind == "sparse":
            return sparse.csr_array(labels)
        if self.kind == "frame":
            return pd.DataFrame(labels, columns=self.names, index=index)
        return labels

    def name_of(self, label: int) -> Any:
        """Return the name of a label, or its number where it has none."""
        return int(label) if self.names is None else self.names[label]

    def names_of(self, labels: Any) -> np.ndarray:
        """Return the names of several labels, or their numbers where they have none."""
        labels = np.asarray(labels, dtype=np.intp)
        return labels if self.names is None else self.names[labels]


def read_labels(
    Y: Any, *, allow_unknown: bool = False, accept_sparse: bool = True, classes: Any = None
) -> tuple[Any, LabelFormat]:
    """Check a label matrix and bring it into the inner form.

    Parameters
    ----------
    Y : array-like, sparse matrix, DataFrame or Series
        0/1 labels of shape (n_rows, n_labels), or a vector with at most two values for one
        label. NaN means "not known" and is accepted only with ``allow_unknown``.
    allow_unknown : bool, default=False
        Whether NaN entries are accepted.
    accept_sparse : bool, default=True
        Whether a sparse matrix stays sparse (CSR) or is turned into an array.
    classes : array-like, optional
        The values a vector may hold, for chunks that may lack one of them.

    Returns
    -------
    labels : ndarray or CSR array of float64, shape (n_rows, n_labels)
        A new matrix of 0 and 1 (and NaN).
    label_format : LabelFormat
        How to write predictions back.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.labels import read_labels
    >>> labels, form = read_labels(pd.DataFrame({"happy": [1, 0], "quiet": [0, 1]}))
    >>> labels
    array([[1., 0.],
           [0., 1.]])
    >>> form.names_of([1]).tolist()
    ['quiet']
    """
    if Y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: "
            "pass the labels as the second argument."
        )
    if sparse.issparse(Y):
        return _read_sparse(Y, allow_unknown, accept_sparse)
    if isinstance(Y, pd.DataFrame):
        names = np.asarray([str(column) for column in Y.columns], dtype=object)
        if len(set(names)) != len(names):
            raise ValueError(f"Label names must be unique, got {names.tolist()}.")
        values = Y.to_numpy()
        values = _as_numbers(values) if values.dtype == object else values
        dtype = np.result_type(values.dtype)
        return _check_binary(values, allow_unknown), LabelFormat(
            "frame", dtype, values.shape[1], np.array([0, 1]), names
        )
    array = np.asarray(Y)
    if array.ndim == 2:
        array = _as_numbers(array) if array.dtype == object else array
        dtype = array.dtype
        return _check_binary(array, allow_unknown), LabelFormat(
            "array", dtype, array.shape[1], np.array([0, 1])
        )
    return _read_vector(Y, array, classes)


def _read_vector(y: Any, vector: np.ndarray, given: Any = None) -> tuple[np.ndarray, LabelFormat]:
    vector = column_or_1d(vector, warn=True)
    if vector.dtype.kind == "f":
        check_array(vector, ensure_2d=False, input_name="y")  # scikit-learn's words for NaN, inf
    check_classification_targets(vector)
    kind = type_of_target(vector, input_name="y")
    classes = np.unique(vector) if given is None else np.unique(given)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "Pass several labels as a 0/1 matrix with one column per label."
        )
    labels = (vector == classes[-1]) if len(classes) == 2 else np.zeros(len(vector))
    name = getattr(y, "name", None)
    names = None if name is None else np.asarray([str(name)], dtype=object)
    form = LabelFormat("vector", vector.dtype, 1, classes, names)
    return labels.astype(np.float64)[:, None], form


def _read_sparse(Y: Any, allow_unknown: bool, accept_sparse: bool) -> tuple[Any, LabelFormat]:
    labels = sparse.csr_array(Y, dtype=np.float64, copy=True)
    labels.sum_duplicates()
    labels.data = _check_binary(labels.data[:, None], allow_unknown, shape=Y.shape)[:, 0]
    labels.eliminate_zeros()
    form = LabelFormat("sparse", Y.dtype, Y.shape[1], np.array([0, 1]))
    return (labels if accept_sparse else labels.toarray()), form


def _as_numbers(values: np.ndarray) -> np.ndarray:
    """Object columns (mixed, nullable) as floats; None and NA become NaN."""
    try:
        return np.asarray(pd.DataFrame(values).apply(pd.to_numeric).to_numpy(), dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(
            "Labels must be 0 or 1; found text. Only binary classification is supported. The type "
            "of the target is unknown. Binarise tags first, for instance with "
            "sklearn.preprocessing.MultiLabelBinarizer."
        ) from error


def _check_binary(
    values: np.ndarray, allow_unknown: bool, shape: tuple[int, int] | None = None
) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"Labels must be 0 or 1, got values of type {values.dtype}. Only binary classification "
            "is supported. The type of the target is unknown."
        )
    if min(shape or values.shape) == 0:
        raise ValueError(
            f"Labels of shape {shape or values.shape}: need at least one row and one column."
        )
    numbers = values.astype(np.float64)
    unknown = np.isnan(numbers)
    if np.isinf(numbers).any():
        raise ValueError("Input y contains infinity or a value too large: labels must be 0 or 1.")
    if unknown.any() and not allow_unknown:
        raise ValueError(
            "Input y contains NaN: this estimator does not support unknown labels. Fill them in, "
            "drop those rows, or use an estimator with the unknown-labels capability (SPLMLL)."
        )
    strange = numbers[~unknown & (numbers != 0) & (numbers != 1)]
    if strange.size:
        raise ValueError(
            f"Labels must be 0 or 1, found {strange[0]:g}. Only binary classification is supported."
            " The type of the target is "
            f"{type_of_target(strange) if values.shape[1] == 1 else 'multiclass-multioutput'}."
            " Turn classes into one 0/1 column each."
        )
    return numbers
