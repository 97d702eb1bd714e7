"""Categories as columns of zeros and ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from splmll.datasets import Dataset, DatasetError
from splmll.datasets.nominal import with_numbers_only


def make(**columns: object) -> Dataset:
    return Dataset(pd.DataFrame(columns), np.ones((3, 1)), list(columns), ["l"], "toy")


def test_two_values_are_one_column_and_missing_ones_stay_missing() -> None:
    sex = pd.Categorical(["m", None, "f"], categories=["m", "f"])
    size = pd.Categorical(["s", "l", None], categories=["s", "m", "l"])
    data = with_numbers_only(make(sex=sex, age=[1, 2, 3], size=size))
    assert data.feature_names == ["sex=f", "age", "size=s", "size=m", "size=l"]
    expected = [[0, 1, 1, 0, 0], [np.nan, 2, 0, 0, 1], [1, 3, np.nan, np.nan, np.nan]]
    np.testing.assert_array_equal(data.X, expected)
    assert (data.X.dtype, data.column_kinds) == (np.float64, {})


def test_texts_have_to_be_left_out() -> None:
    data = make(age=[1.0, 2.0, 3.0], note=["a b", "c", "d"])
    with pytest.raises(DatasetError, match="'note' is text"):
        with_numbers_only(data)
    assert with_numbers_only(data, ["note"]).X.tolist() == [[1], [2], [3]]
