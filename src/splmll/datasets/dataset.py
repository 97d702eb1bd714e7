"""What every reader returns: features, labels, their names and the standard split.

A `Dataset` is checked when it is made, so that whoever receives one can rely on its shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_random_state

from splmll.arrays import take_rows
from splmll.exceptions import DatasetError

if TYPE_CHECKING:
    from splmll.datasets.description import DatasetDescription


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features, labels and names of one multi-label data set.

    Parameters
    ----------
    X : ndarray, CSR array or DataFrame of shape (n_rows, n_features)
        Features: an array or CSR array of numbers; a DataFrame only where a table had
        categorical or text columns, so that a pipeline can be built from them.
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        Labels, 0 or 1. A dense array may hold NaN where the reader was told that labels
        can be unknown.
    feature_names, label_names : sequence of str
        Unique names, in column order.
    name : str
        Name of the data set.
    train, test : ndarray of int or None
        Row numbers of the standard split, where the data set has one.
    column_kinds : dict of str to str
        For table data: feature name -> "numeric", "categorical" or "text".
    image_shape : tuple of int or None
        For pictures: the shape (channels, height, width) of one row of X; see `images`.
    texts : ndarray of str or None
        For data sets of texts: the text of every row, from which X was made.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> data = Dataset(
    ...     X=np.zeros((3, 2)), Y=np.array([[1, 0], [1, 1], [0, 0]]),
    ...     feature_names=["width", "height"], label_names=["round", "red"], name="things",
    ... )
    >>> data
    <Dataset 'things': 3 rows, 2 features (dense), 2 labels, no standard split>
    >>> data.describe().cardinality
    1.0
    """

    X: Any
    Y: Any
    feature_names: Sequence[str]
    label_names: Sequence[str]
    name: str = "dataset"
    train: np.ndarray | None = None
    test: np.ndarray | None = None
    column_kinds: dict[str, str] = field(default_factory=dict)
    image_shape: tuple[int, ...] | None = None
    texts: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", [str(name) for name in self.feature_names])
        object.__setattr__(self, "label_names", [str(name) for name in self.label_names])
        for what, matrix in (("features", self.X), ("labels", self.Y)):
            if len(matrix.shape) != 2:
                raise DatasetError(
                    f"{what} have {len(matrix.shape)} dimensions but need 2, rows and columns; "
                    "reshape them",
                    path=self.name,
                )
        if self.X.shape[0] != self.Y.shape[0]:
            raise DatasetError(
                f"features have {self.X.shape[0]} rows but labels have {self.Y.shape[0]}; "
                "give both for the same rows",
                path=self.name,
            )
        for what, names, width in (
            ("feature", self.feature_names, self.X.shape[1]),
            ("label", self.label_names, self.Y.shape[1]),
        ):
            if len(names) != width:
                raise DatasetError(
                    f"{len(names)} {what} names for {width} {what} columns; give one for each",
                    path=self.name,
                )
            if len(set(names)) != len(names):
                twice = next(n for i, n in enumerate(names) if n in names[:i])
                raise DatasetError(
                    f"the {what} name {twice!r} appears twice; rename one of the two",
                    path=self.name,
                )
        if self.image_shape is not None and prod(self.image_shape) != self.X.shape[1]:
            raise DatasetError(
                f"pictures of shape {self.image_shape} have {prod(self.image_shape)} pixels but "
                f"X has {self.X.shape[1]} columns; make the two agree",
                path=self.name,
            )
        if self.texts is not None and len(self.texts) != self.X.shape[0]:
            raise DatasetError(
                f"{len(self.texts)} texts for {self.X.shape[0]} rows; give one for each, or none",
                path=self.name,
            )

    @property
    def images(self) -> np.ndarray:
        """Features as pictures, an array of shape (n_rows, channels, height, width)."""
        if self.image_shape is None:
            raise DatasetError("this data set has no pictures; use X", path=self.name)
        return np.asarray(self.X).reshape(-1, *self.image_shape)

    def split(self) -> tuple[Any, Any, Any, Any]:
        """Return ``X_train, Y_train, X_test, Y_test`` of the standard split."""
        if self.train is None or self.test is None:
            raise DatasetError(
                "this data set has no standard split; "
                "use splmll.model_selection.multilabel_train_test_split",
                path=self.name,
            )
        return (
            take_rows(self.X, self.train),
            take_rows(self.Y, self.train),
            take_rows(self.X, self.test),
            take_rows(self.Y, self.test),
        )

    def sample(self, n_rows: int, random_state: Any = 0) -> Dataset:
        """Return the data set with fewer training rows, drawn by chance, and all its test rows.

        Without a standard split so many of all rows are drawn.

        Parameters
        ----------
        n_rows : int
            How many training rows to keep; a smaller data set is returned as it is.
        random_state : int, RandomState instance or None, default=0
            Seed of the draw.

        Returns
        -------
        dataset : Dataset
            Its name says how many rows it kept.

        Examples
        --------
        >>> import numpy as np
        >>> from splmll.datasets import Dataset
        >>> X = np.arange(10.0).reshape(-1, 1)
        >>> data = Dataset(X, (X > 4).astype(int), ["x"], ["large"], name="numbers")
        >>> data.sample(4)
        <Dataset 'numbers, 4 rows': 4 rows, 1 features (dense), 1 labels, no standard split>
        """
        if n_rows < 1:
            raise DatasetError(f"{n_rows} rows cannot be drawn; keep at least 1", path=self.name)
        split = self.train is not None and self.test is not None
        available = np.asarray(self.train) if split else np.arange(self.X.shape[0])
        if len(available) <= n_rows:
            return self
        drawn = np.sort(check_random_state(random_state).choice(available, n_rows, replace=False))
        kept = np.concatenate([drawn, np.asarray(self.test)]) if split else drawn
        return replace(
            self,
            X=take_rows(self.X, kept),
            Y=take_rows(self.Y, kept),
            name=f"{self.name}, {n_rows} rows",
            train=np.arange(n_rows) if split else None,
            test=np.arange(n_rows, len(kept)) if split else None,
            texts=None if self.texts is None else self.texts[kept],
        )

    def describe(self) -> DatasetDescription:
        """Return the statistics of the labels: cardinality, imbalance, co-occurrence and more."""
        from splmll.datasets.description import DatasetDescription

        return DatasetDescription.from_dataset(self)

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        if isinstance(self.X, pd.DataFrame):
            storage = "table"
        else:
            storage = "sparse" if sparse.issparse(self.X) else "dense"
        if self.train is None or self.test is None:
            split = "no standard split"
        else:
            split = f"split {len(self.train)} + {len(self.test)}"
        return (
            f"<Dataset {self.name!r}: {n_rows} rows, {n_features} features ({storage}), "
            f"{self.Y.shape[1]} labels, {split}>"
        )
