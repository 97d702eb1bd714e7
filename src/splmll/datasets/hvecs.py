"""LEAR's `.hvecs` files: vectors of little-endian 16-bit counts, each preceded by its dimension.

The picture features and annotations of Corel5k, ESP Game and Pascal VOC 2007 are published so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from splmll.datasets.checks import check_count, read_bytes, read_names, zero_one
from splmll.datasets.dataset import Dataset
from splmll.exceptions import DatasetError


def read_hvecs(path: str | Path) -> np.ndarray:
    """Read the vectors of one `.hvecs` file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    ndarray of uint16 of shape (n_vectors, dimension)

    Raises
    ------
    DatasetError
        If the file is empty or truncated, or its vectors differ in dimension.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets import read_hvecs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "two.hvecs"
    ...     _ = file.write_bytes(np.array([3, 7, 8, 9, 3, 0, 1, 2], dtype="<u2").tobytes())
    ...     read_hvecs(file).tolist()
    [[7, 8, 9], [0, 1, 2]]
    """
    # The file is in memory already, so nothing that it claims can make us allocate more.
    content = read_bytes(path)
    if len(content) % 2:
        raise DatasetError(
            f"{len(content)} bytes do not divide into 16-bit values, so the file is truncated or "
            "not an .hvecs file; get it again",
            path=path,
        )
    words = np.frombuffer(content, dtype="<u2")
    dimension = int(words[0])
    if dimension == 0:
        raise DatasetError(
            "the first vector has dimension 0, so this is not an .hvecs file; get it again",
            path=path,
        )
    rest = len(words) % (dimension + 1)
    if rest:
        raise DatasetError(
            f"the last vector has {rest - 1} of {dimension} values, so the file is truncated or "
            "its vectors differ in dimension; get it again",
            path=path,
        )
    vectors = words.reshape(-1, dimension + 1)
    lying = np.flatnonzero(vectors[:, 0] != dimension)
    if lying.size:
        first = int(lying[0])
        raise DatasetError(
            f"vector {first + 1} has dimension {int(vectors[first, 0])} but the first has "
            f"{dimension}; the file is damaged, get it again",
            path=path,
        )
    return vectors[:, 1:].astype(np.uint16)


def read_lear(
    features: str | Path,
    annotations: str | Path,
    dictionary: str | Path | None = None,
    *,
    name: str | None = None,
) -> Dataset:
    """Read a data set from LEAR's files.

    Parameters
    ----------
    features : path-like
        `.hvecs` file with one vector of counts for each picture.
    annotations : path-like
        `.hvecs` file with one vector of zeros and ones for each picture.
    dictionary : path-like, optional
        Text file with the name of one label in each line; without it the labels are called
        label_000, label_001, ...
    name : str, optional
        Name of the data set; by default the name of the features' file.

    Returns
    -------
    Dataset
        With float64 features and int64 labels.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets import read_lear
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     x, y = Path(folder) / "x.hvecs", Path(folder) / "y.hvecs"
    ...     _ = x.write_bytes(np.array([2, 5, 6, 2, 7, 8], dtype="<u2").tobytes())
    ...     _ = y.write_bytes(np.array([1, 0, 1, 1], dtype="<u2").tobytes())
    ...     read_lear(x, y)
    <Dataset 'x': 2 rows, 2 features (dense), 1 labels, no standard split>
    """
    counts = read_hvecs(features)
    labels = zero_one(read_hvecs(annotations), "an annotation", annotations)
    if len(counts) != len(labels):
        raise DatasetError(
            f"{len(labels)} annotations for the {len(counts)} pictures of {features}; give the "
            "two files of the same part",
            path=annotations,
        )
    if dictionary is None:
        label_names = numbered_names("label", labels.shape[1])
    else:
        label_names = read_names(dictionary)
        check_count(label_names, labels.shape[1], "label", dictionary)
    return Dataset(
        X=counts.astype(np.float64),
        Y=labels,
        feature_names=numbered_names("feature", counts.shape[1]),
        label_names=label_names,
        name=Path(features).stem if name is None else name,
    )


def numbered_names(what: str, count: Any) -> list[str]:
    """Return names such as label_000, label_001 for columns that have none."""
    digits = max(3, len(str(max(int(count) - 1, 0))))
    return [f"{what}_{number:0{digits}d}" for number in range(count)]
