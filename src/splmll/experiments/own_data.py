"""One's own training and test file as one data set with a split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.arrays import dense
from splmll.datasets import Dataset
from splmll.exceptions import DatasetError


def with_test_rows(train: Dataset, test: Dataset) -> Dataset:
    """Return both as one data set whose standard split is the two.

    Both have the same features. A label that only the test rows have is left out: nothing can learn
    it. One that only the training rows have is absent from all test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.experiments.own_data import with_test_rows
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
    # Columns of the training rows' labels, in their order.
    labels = pd.DataFrame(dense(test.Y), columns=list(test.label_names))
    labels = labels.reindex(columns=list(train.label_names), fill_value=0)
    n_train, n_test = train.Y.shape[0], len(labels)
    return Dataset(
        _stacked(train.X, test.X),
        _stacked(train.Y, labels.to_numpy()),
        train.feature_names,
        train.label_names,
        name=train.name,
        train=np.arange(n_train),
        test=np.arange(n_train, n_train + n_test),
        column_kinds=train.column_kinds,
    )


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, pd.DataFrame):
        return pd.concat([first, second], ignore_index=True)
    if sparse.issparse(first):
        return sparse.csr_array(sparse.vstack([first, sparse.csr_array(second)]))
    return np.vstack([first, np.asarray(second)])
