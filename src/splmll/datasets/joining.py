"""Training and test rows as one data set with a split."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.arrays import dense
from splmll.datasets.dataset import Dataset
from splmll.exceptions import DatasetError


def with_test_rows(train: Dataset, test: Dataset) -> Dataset:
    """Return both as one data set whose standard split is the two.

    Both have the same features. A label that only the test rows have is left out: nothing can learn
    it. One that only the training rows have is absent from all test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.datasets.joining import with_test_rows
    >>> train = Dataset(np.zeros((3, 1)), np.eye(3)[:, :2], ["x"], ["a", "b"], name="notes")
    >>> test = Dataset(np.ones((2, 1)), np.eye(2), ["x"], ["b", "c"])
    >>> both = with_test_rows(train, test)
    >>> both.Y[both.test].tolist(), both.label_names
    ([[0.0, 1.0], [0.0, 0.0]], ['a', 'b'])
    """
    if list(train.feature_names) != list(test.feature_names):
        absent = [name for name in train.feature_names if name not in test.feature_names]
        what = f"lacks the feature {absent[0]!r}" if absent else "has other features"
        raise DatasetError(f"the file of test rows {what}; give one like {train.name}")
    labels = test.Y
    if list(train.label_names) != list(test.label_names):
        # Columns of the training rows' labels, in their order.
        named = pd.DataFrame(dense(test.Y), columns=list(test.label_names))
        labels = named.reindex(columns=list(train.label_names), fill_value=0).to_numpy()
    n_train, n_test = train.Y.shape[0], test.Y.shape[0]
    return replace(
        train,
        X=_stacked(train.X, test.X),
        Y=_stacked(train.Y, labels),
        train=np.arange(n_train),
        test=np.arange(n_train, n_train + n_test),
        texts=None if train.texts is None else np.concatenate([train.texts, test.texts]),
    )


def _stacked(upper: Any, lower: Any) -> Any:
    if isinstance(upper, pd.DataFrame):
        return pd.concat([upper, lower], ignore_index=True)
    if sparse.issparse(upper) or sparse.issparse(lower):
        blocks = [sparse.csr_array(upper), sparse.csr_array(lower)]
        return sparse.csr_array(sparse.vstack(blocks))
    return np.concatenate([upper, lower])
