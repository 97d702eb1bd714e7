"""The Dataset itself: what it refuses, what it hands out, how it prints."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from splmll.datasets import Dataset, DatasetError


def make(**changes: object) -> Dataset:
    fields: dict[str, object] = {
        "X": np.arange(8.0).reshape(4, 2),
        "Y": np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]], dtype=np.uint8),
        "feature_names": ["a", "b"],
        "label_names": ["x", "y", "z"],
        "name": "toy",
    }
    return Dataset(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"X": np.zeros((3, 2))}, "3 rows"),
        ({"X": np.zeros(4)}, "1 dimensions"),
        ({"feature_names": ["a"]}, "1 feature names for 2"),
        ({"feature_names": ["a", "a"]}, "'a' appears twice"),
        ({"label_names": ["x", "y"]}, "2 label names for 3"),
        ({"label_names": ["x", "y", "x"]}, "'x' appears twice"),
        ({"image_shape": (1, 3, 3)}, "9 pixels"),
        ({"texts": np.array(["one", "two"])}, "2 texts for 4 rows"),
    ],
)
def test_contradictions_are_refused(changes: dict[str, object], part: str) -> None:
    with pytest.raises(DatasetError, match="toy") as caught:
        make(**changes)
    assert part in str(caught.value)


def test_repr_is_one_line_without_arrays() -> None:
    big = make(X=np.zeros((4, 2)), train=np.array([0, 1, 2]), test=np.array([3]))
    assert repr(big) == "<Dataset 'toy': 4 rows, 2 features (dense), 3 labels, split 3 + 1>"
    assert "(sparse)" in repr(make(X=sparse.csr_array(np.zeros((4, 2)))))
    assert "(table)" in repr(make(X=pd.DataFrame({"a": [1.0] * 4, "b": ["u"] * 4})))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_split_takes_the_rows_of_the_split(container: type) -> None:
    X = np.arange(8.0).reshape(4, 2)
    data = make(X=container(X), train=np.array([2, 0]), test=np.array([3, 1]))
    X_train, Y_train, X_test, Y_test = data.split()
    as_array = lambda m: m.toarray() if sparse.issparse(m) else np.asarray(m)  # noqa: E731
    np.testing.assert_array_equal(as_array(X_train), X[[2, 0]])
    np.testing.assert_array_equal(as_array(X_test), X[[3, 1]])
    np.testing.assert_array_equal(Y_train, data.Y[[2, 0]])
    np.testing.assert_array_equal(Y_test, data.Y[[3, 1]])


def test_no_split_and_no_pictures_are_said() -> None:
    with pytest.raises(DatasetError, match="no standard split"):
        make().split()
    with pytest.raises(DatasetError, match="no pictures"):
        _ = make().images


def test_images_are_the_rows_reshaped() -> None:
    data = make(image_shape=(1, 1, 2))
    assert data.images.shape == (4, 1, 1, 2)
    np.testing.assert_array_equal(data.images.reshape(4, 2), data.X)
