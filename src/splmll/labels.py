"""Label matrices as people hand them over, and back again in the same form.

Every estimator works inside on one form, a float array or CSR array of 0 and 1 (NaN for an
unknown label). :class:`LabelFormat` remembers what the caller used (a vector, an array, a
sparse matrix, a DataFrame with names, lists of tags) so that predictions come back in that form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, column_or_1d

from splmll.arrays import is_polars


@dataclass(frozen=True)
class LabelFormat:
    """The form in which labels were given.

    Parameters
    ----------
    kind : {"vector", "array", "sparse", "frame", "polars", "tags", "tag_series", "polars_tags"}
        A 1-D target (one label), a 2-D array, a sparse matrix, a DataFrame of pandas or polars, or
        the tags of each row in a list or in a Series of pandas or polars.
    dtype : dtype
        Type of the values; predictions use it again.
    n_labels : int
        Number of labels.
    classes : ndarray
        For a vector the one or two values found in it, smaller first.
    names : ndarray of str or None
        Label names, where the labels came with names.
    container : {"list", "tuple", "set"}, default="list"
        What holds the tags of a row.
    """

    kind: str
    dtype: np.dtype
    n_labels: int
    classes: np.ndarray
    names: np.ndarray | None = None
    container: str = "list"

    def restore(self, labels: np.ndarray, index: Any = None) -> Any:
        """Give 0/1 predictions of shape (n, n_labels) the form the caller used."""
        if self.kind == "vector":
            return self.classes[np.minimum(labels[:, 0].astype(np.intp), len(self.classes) - 1)]
        if self.kind in TAG_KINDS:
            return self._restore_tags(labels, index)
        labels = labels.astype(self.dtype)
        if self.kind == "sparse":
            return sparse.csr_array(labels)
        if self.kind == "frame":
            return pd.DataFrame(labels, columns=self.names, index=index)
        if self.kind == "polars":
            import polars as pl

            assert self.names is not None
            return pl.DataFrame(labels, schema=self.names.tolist())
        return labels

    def _restore_tags(self, labels: np.ndarray, index: Any) -> Any:
        assert self.names is not None
        make: Any = CONTAINERS[self.container]
        rows = [make(self.names[np.flatnonzero(row)].tolist()) for row in labels]
        if self.kind == "tag_series":
            return pd.Series(rows, index=index, dtype=object)
        if self.kind == "polars_tags":
            import polars as pl

            return pl.Series(rows, dtype=pl.List(pl.String))
        return rows

    def names_of(self, labels: Any) -> np.ndarray:
        """Return the names of labels, or their numbers where they have none."""
        labels = np.asarray(labels, dtype=np.intp)
        return labels if self.names is None else self.names[labels]


CONTAINERS = {"list": list, "tuple": tuple, "set": set}
TAG_KINDS = ("tags", "tag_series", "polars_tags")


def read_labels(
    Y: Any, *, allow_unknown: bool = False, accept_sparse: bool = True, classes: Any = None
) -> tuple[Any, LabelFormat]:
    """Check a label matrix and bring it into the inner form.

    Parameters
    ----------
    Y : array-like, sparse matrix, DataFrame or Series
        0/1 labels of shape (n_rows, n_labels), or a vector with at most two values for one
        label. NaN means "not known" and is accepted only with ``allow_unknown``. Or the tags of
        every row: a list or a Series of lists, tuples or sets of text. Their labels are sorted.
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
    >>> labels, form = read_labels([["quiet", "happy"], [], ["quiet"]])
    >>> labels
    array([[1., 1.],
           [0., 0.],
           [0., 1.]])
    >>> form.restore(labels)
    [['happy', 'quiet'], [], ['quiet']]
    """
    if Y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: "
            "pass the labels as the second argument."
        )
    if sparse.issparse(Y):
        return _read_sparse(Y, allow_unknown, accept_sparse)
    if is_tags(Y):
        return _read_tags(Y)
    if isinstance(Y, pd.DataFrame) or is_polars(Y):
        names = np.asarray([str(column) for column in Y.columns], dtype=object)
        if len(set(names)) != len(names):
            raise ValueError(f"Label names must be unique, got {names.tolist()}.")
        values = Y.to_numpy()
        values = _as_numbers(values) if values.dtype == object else values
        dtype = np.result_type(values.dtype)
        kind = "frame" if isinstance(Y, pd.DataFrame) else "polars"
        return _check_binary(values, allow_unknown), LabelFormat(
            kind, dtype, values.shape[1], np.array([0, 1]), names
        )
    try:
        array = np.asarray(Y)
    except ValueError as error:
        raise ValueError(f"The rows of the labels have different lengths. {_BINARISE}") from error
    if array.ndim == 2:
        array = _as_numbers(array) if array.dtype == object else array
        dtype = array.dtype
        return _check_binary(array, allow_unknown), LabelFormat(
            "array", dtype, array.shape[1], np.array([0, 1])
        )
    return _read_vector(Y, array, classes)


_BINARISE = (
    "Pass a 0/1 matrix with one column per label, or the tags of each row as a list of text. "
    "Convert anything else to a matrix with sklearn.preprocessing.MultiLabelBinarizer."
)


def is_tags(Y: Any) -> bool:
    """Return whether every row of these labels is a collection of tags, such as ``["a", "b"]``.

    Examples
    --------
    >>> from splmll.labels import is_tags
    >>> is_tags([["a", "b"], ["c"]]), is_tags([{"a"}, set()]), is_tags([[1, 0], [0, 1]])
    (True, True, False)
    """
    if is_polars(Y, "Series"):
        return str(Y.dtype).startswith("List")
    if isinstance(Y, np.ndarray | pd.Series):
        if Y.ndim != 1 or Y.dtype.kind != "O":
            return False
    elif not isinstance(Y, list | tuple):
        return False
    for row in Y:
        if isinstance(row, set | frozenset):
            return True
        if not isinstance(row, list | tuple | np.ndarray):
            return False
        if np.ndim(row) > 1 or (len(row) > 0 and not isinstance(row[0], str)):
            return False
        if len(row) > 0:
            return True
    return False


def refuse_tags(Y: Any) -> None:
    """Refuse tags in a chunk of rows: another chunk may have other tags, and so other labels."""
    if is_tags(Y):
        raise ValueError(
            "Lists of tags cannot come in chunks, because one chunk does not show all labels. "
            "Turn them into 0/1 columns first: "
            "MultiLabelBinarizer(classes=[...]).fit_transform(tags)."
        )


def _read_tags(Y: Any) -> tuple[np.ndarray, LabelFormat]:
    rows = Y.to_list() if hasattr(Y, "to_list") else list(Y)
    for number, row in enumerate(rows):
        if not isinstance(row, list | tuple | set | frozenset | np.ndarray):
            raise ValueError(
                f"Row {number} of the tags is {row!r}. Every row must be a list, tuple or set of "
                "strings, empty for a row without labels."
            )
        if not all(isinstance(tag, str) for tag in row):
            raise ValueError(
                f"Row {number} of the tags, {row!r}, contains values that are not "
                f"strings. {_BINARISE}"
            )
    names = sorted({tag for row in rows for tag in row})
    if not names:
        raise ValueError("No row has a tag: at least one label is needed.")
    number_of = {name: number for number, name in enumerate(names)}
    labels = np.zeros((len(rows), len(names)))
    for row_number, row in enumerate(rows):
        labels[row_number, [number_of[tag] for tag in row]] = 1
    if is_polars(Y, "Series"):
        kind = "polars_tags"
    else:
        kind = "tag_series" if isinstance(Y, pd.Series) else "tags"
    container = "list"
    if isinstance(rows[0], tuple):
        container = "tuple"
    elif isinstance(rows[0], set | frozenset):
        container = "set"
    return labels, LabelFormat(
        kind,
        np.dtype(np.int64),
        len(names),
        np.array([0, 1]),
        np.asarray(names, dtype=object),
        container,
    )


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
            "Pass several labels as a 0/1 matrix with one column per label, and tags in one text "
            'as lists, for instance y.str.split(";"), or use '
            "sklearn.preprocessing.MultiLabelBinarizer."
        )
    labels = (vector == classes[-1]) if len(classes) == 2 else np.zeros(len(vector))
    name = getattr(y, "name", None)
    # A polars Series that was not given a name has an empty one.
    names = None if name is None or name == "" else np.asarray([str(name)], dtype=object)
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
            f"is supported. The type of the target is unknown. {_BINARISE}"
        )
    if min(shape or values.shape) == 0:
        raise ValueError(
            f"Labels of shape {shape or values.shape}: at least one row and one column are needed."
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
