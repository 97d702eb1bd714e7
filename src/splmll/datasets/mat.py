"""MATLAB files of version 5 to 7: features and labels by the names of their variables.

Version 7.3 files are HDF5 inside and are refused with a message that says how to save them anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from splmll.datasets.checks import (
    check_count,
    check_finite,
    check_unique,
    read_bytes,
    read_names,
    zero_one,
)
from splmll.datasets.dataset import Dataset
from splmll.datasets.hvecs import numbered_names
from splmll.datasets.mat5 import mat_variables
from splmll.exceptions import DatasetError


def read_mat(
    path: str | Path,
    *,
    features: str | None = None,
    labels: str | None = None,
    labels_path: str | Path | None = None,
    label_names: str | Path | Sequence[str] | None = None,
    allow_missing: bool = False,
    name: str | None = None,
) -> Dataset:
    """Read a data set from the variables of one or two MATLAB files.

    Parameters
    ----------
    path : path-like
        The `.mat` file with the features.
    features, labels : str
        Names of the variables: a matrix of numbers and a matrix of zeros and ones, each with
        one row for every example. Sparse matrices stay sparse.
    labels_path : path-like, optional
        The file with the labels, where they are not in `path`.
    label_names : path-like or sequence of str, optional
        Names of the labels, or a text file with one name in each line; by default label_000, ...
    allow_missing : bool
        Whether features may be NaN.
    name : str, optional
        Name of the data set; by default the name of the file.

    Returns
    -------
    Dataset
        With float64 features and int64 labels.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> from scipy.io import savemat
    >>> from splmll.datasets import read_mat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "toy.mat"
    ...     savemat(file, {"X": np.eye(3), "Y": np.array([[1, 0], [0, 1], [1, 1]])})
    ...     read_mat(file, features="X", labels="Y", label_names=["sun", "sea"])
    <Dataset 'toy': 3 rows, 3 features (dense), 2 labels, no standard split>
    """
    X = _matrix(path, features, "features").astype(np.float64)
    check_finite(X, f"the variable {features!r}", path, allow_missing=allow_missing)
    place = path if labels_path is None else labels_path
    Y = zero_one(_matrix(place, labels, "labels"), f"the variable {labels!r}", place)
    if X.shape[0] != Y.shape[0]:
        hint = (
            "; it seems to be transposed, so save it with one row for each example"
            if X.shape[0] == Y.shape[1]
            else "; give the labels of the same examples"
        )
        raise DatasetError(
            f"the variable {labels!r} has {Y.shape[0]} rows but {features!r} has {X.shape[0]}"
            f"{hint}",
            path=place,
        )
    if label_names is None:
        names = numbered_names("label", Y.shape[1])
    elif isinstance(label_names, str | Path):
        names = read_names(label_names)
        check_count(names, Y.shape[1], "label", label_names)
    else:
        names = [str(one) for one in label_names]
        check_count(names, Y.shape[1], "label", place)
        check_unique(names, "label name", place)
    return Dataset(
        X=X,
        Y=Y,
        feature_names=numbered_names("feature", X.shape[1]),
        label_names=names,
        name=Path(path).stem if name is None else name,
    )


def _matrix(path: Any, variable: str | None, what: str) -> Any:
    """Return one variable as a 2-D array or CSR array of real numbers."""
    content = read_bytes(path)
    if variable is None:
        raise DatasetError(
            f"name the variable of the {what} with {what}='...'; {_present(content, path)}",
            path=path,
        )
    found = next((one for one in mat_variables(content, path) if one.name == variable), None)
    if found is None:
        raise DatasetError(
            f"there is no variable {variable!r} for the {what}; {_present(content, path)}",
            path=path,
        )
    if not all(found.shape):
        raise DatasetError(f"the variable {found} is empty; name another one", path=path)
    value = found.matrix()
    return sparse.csr_array(value) if sparse.issparse(value) else value


def _present(content: bytes, path: Any) -> str:
    names = [str(variable) for variable in mat_variables(content, path)]
    return f"it has {', '.join(names)}" if names else "it has no variables"
