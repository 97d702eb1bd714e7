"""Multi-label data sets of OpenML, through scikit-learn's download and cache.

There the labels are the target columns, with the words TRUE and FALSE in them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.datasets.checks import LABEL_TYPE, check_finite, check_unique
from splmll.datasets.dataset import Dataset
from splmll.exceptions import DatasetError

_TRUE = {"true", "1", "1.0"}
_FALSE = {"false", "0", "0.0"}


def read_openml(
    name: str,
    version: int | str = "active",
    data_home: str | Path | None = None,
    *,
    allow_missing: bool = False,
) -> Dataset:
    """Read a multi-label data set of OpenML; needs the network unless it is in the cache.

    Parameters
    ----------
    name : str
        Name of the data set, for example "yeast".
    version : int or "active"
        Version; the multi-label yeast is version 4.
    data_home : path-like, optional
        scikit-learn's cache folder.
    allow_missing : bool
        Whether features may be missing.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from splmll.datasets import read_openml
    >>> yeast = read_openml("yeast", version=4)  # doctest: +SKIP
    """
    from sklearn.datasets import fetch_openml

    place = f"OpenML {name!r}, version {version}"
    try:
        bunch = fetch_openml(
            name=name,
            version=version,
            data_home=None if data_home is None else str(data_home),
            as_frame=True,
            parser="auto",
        )
    except Exception as error:
        # No network, no such set, a damaged cache: scikit-learn, urllib and the ARFF parsers
        # raise a dozen different types, and the caller can do the same about each of them.
        raise DatasetError(
            f"could not be fetched ({type(error).__name__}: {error}); check the name, the version "
            "and the network, or read a downloaded file with read_dataset",
            path=place,
        ) from error
    targets = bunch.target
    if not isinstance(targets, pd.DataFrame) or targets.shape[1] < 2:
        raise DatasetError(
            "this version has no more than one target column, so it is not multi-label; try "
            "another version",
            path=place,
        )
    label_names = [str(column) for column in targets.columns]
    check_unique(label_names, "label name", place)
    columns = [_labels(targets[column], place) for column in targets.columns]
    X, kinds = _features(bunch.data, place, allow_missing)
    if X.shape[0] != len(targets):
        raise DatasetError(
            f"{X.shape[0]} rows of features but {len(targets)} of labels; clear the cache and "
            "fetch it again",
            path=place,
        )
    feature_names = [str(column) for column in bunch.data.columns]
    check_unique(feature_names, "feature name", place)
    return Dataset(
        X=X,
        Y=np.column_stack(columns).astype(LABEL_TYPE),
        feature_names=feature_names,
        label_names=label_names,
        name=name,
        column_kinds=kinds,
    )


def _labels(column: pd.Series, place: str) -> np.ndarray:
    words = column.astype(object).map(lambda value: str(value).strip().lower())
    known = words.isin(_TRUE | _FALSE).to_numpy()
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise DatasetError(
            f"the target {column.name!r} contains {str(column.iloc[row])!r} in row {row + 1}, "
            "but a label is TRUE/FALSE or 1/0; try another version",
            path=place,
        )
    return words.isin(_TRUE).to_numpy()


def _features(frame: Any, place: str, allow_missing: bool) -> tuple[Any, dict[str, str]]:
    numeric = [
        isinstance(dtype, pd.SparseDtype) or pd.api.types.is_numeric_dtype(dtype)
        for dtype in frame.dtypes
    ]
    kinds = {
        str(column): "numeric" if is_number else "categorical"
        for column, is_number in zip(frame.columns, numeric)
    }
    if all(numeric):
        if any(isinstance(dtype, pd.SparseDtype) for dtype in frame.dtypes):
            X: Any = sparse.csr_array(frame.sparse.to_coo()).astype(np.float64)
        else:
            X = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        check_finite(X, "the feature matrix", place, allow_missing=allow_missing)
        return X, kinds
    missing = frame.isna().to_numpy()
    if missing.any() and not allow_missing:
        row, column = (int(part) for part in np.argwhere(missing)[0])
        raise DatasetError(
            f"the feature {frame.columns[column]!r} is missing in row {row + 1}; pass "
            "allow_missing=True and impute later",
            path=place,
        )
    return frame.reset_index(drop=True).rename(columns=str), kinds
