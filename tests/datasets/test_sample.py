"""A data set with fewer training rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from splmll.datasets import Dataset, DatasetError


def numbers(split: bool, store=np.asarray) -> Dataset:
    X = np.arange(30.0).reshape(-1, 1)
    train, test = (np.arange(5, 25), np.r_[0:5, 25:30]) if split else (None, None)
    return Dataset(store(X), (X > 9).astype(int), ["x"], ["y"], "numbers", train, test)


@pytest.mark.parametrize(
    "store", [np.asarray, sparse.csr_array, lambda X: pd.DataFrame(X, columns=["x"])]
)
def test_training_rows_are_drawn_and_test_rows_kept(store) -> None:
    whole = numbers(True, store)
    part = whole.sample(7, random_state=0)
    X, Y, X_test, Y_test = part.split()
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    X_test = X_test.toarray() if sparse.issparse(X_test) else np.asarray(X_test)
    assert len(set(X.ravel())) == 7
    assert set(X.ravel()) <= set(range(5, 25))
    assert X_test.ravel().tolist() == [0, 1, 2, 3, 4, 25, 26, 27, 28, 29]
    assert np.array_equal(Y.ravel(), X.ravel() > 9)
    assert np.array_equal(Y_test.ravel(), X_test.ravel() > 9)
    assert part.name == "numbers, 7 rows"
    assert whole.X.shape == (30, 1)


def test_without_a_split_all_rows_may_be_drawn() -> None:
    part = numbers(False).sample(7)
    assert part.X.shape == (7, 1)
    assert part.train is None
    assert np.array_equal(part.Y, part.X > 9)


def test_the_seed_decides() -> None:
    first, same, other = (numbers(False).sample(7, seed).X.ravel() for seed in (0, 0, 1))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_what_is_small_enough_stays_as_it_is() -> None:
    whole = numbers(True)
    assert whole.sample(20) is whole


def test_no_rows_are_refused() -> None:
    with pytest.raises(DatasetError, match="at least 1"):
        numbers(True).sample(0)


def test_texts_stay_with_their_rows() -> None:
    whole = numbers(True)
    texts = np.array([f"text {x:.0f}" for x in whole.X.ravel()], dtype=object)
    part = replace(whole, texts=texts).sample(7)
    assert part.texts.tolist() == [f"text {x:.0f}" for x in part.X.ravel()]
