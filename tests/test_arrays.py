"""Arrays, sparse matrices, frames and torch Datasets behind one face."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_array_equal
from scipy import sparse

from splmll.arrays import dense, is_torch_dataset, is_torch_module, largest, n_rows, take_rows

X = np.arange(12.0).reshape(4, 3)
DATASET = torch.utils.data.TensorDataset(torch.as_tensor(X))
TABLES = [X, sparse.csr_array(X), sparse.csr_matrix(X), pd.DataFrame(X), DATASET]


def values(table: Any) -> np.ndarray:
    if is_torch_dataset(table):
        return np.stack([table[i][0].numpy() for i in range(len(table))])
    return dense(table)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
def test_rows_of_any_table(table: Any) -> None:
    assert n_rows(table) == 4
    for rows in (np.array([3, 0]), slice(1, 3), slice(None, 10), np.array([], dtype=int)):
        taken = take_rows(table, rows)
        assert n_rows(taken) == len(X[rows])
        if len(X[rows]):
            assert_array_equal(values(taken), X[rows])


def test_a_slice_of_an_array_is_a_view() -> None:
    assert np.shares_memory(take_rows(X, slice(1, 3)), X)


@pytest.mark.parametrize("table", [X, sparse.csr_array(X), sparse.coo_matrix(X), X.tolist()])
def test_dense(table: Any) -> None:
    found = dense(table)
    assert type(found) is np.ndarray
    assert_array_equal(found, X)


def test_what_is_of_torch() -> None:
    assert is_torch_dataset(DATASET)
    assert is_torch_dataset(torch.utils.data.Subset(DATASET, [1]))
    assert not is_torch_dataset(torch.as_tensor(X))
    assert not is_torch_dataset(X)
    assert is_torch_module(torch.nn.Linear(2, 3))
    assert not is_torch_module(torch.nn.Linear)
    assert not is_torch_module(None)


def test_torch_that_another_thread_is_importing_is_no_error(monkeypatch) -> None:
    """A service that loads a model beside others meets it half imported."""
    half = ModuleType("torch")
    monkeypatch.setitem(sys.modules, "torch", half)
    assert not is_torch_module("mlp")
    assert not is_torch_dataset([1, 2])
    half.nn = ModuleType("torch.nn")
    assert not is_torch_module("mlp")


def test_the_largest_values_and_of_equal_ones_the_first() -> None:
    rng = np.random.default_rng(0)
    for count in (1, 3, 7, 8, 9):
        values = rng.integers(0, 4, size=(50, 8)) * 1.0
        stable = np.argsort(-values, axis=1, kind="stable")[:, :count]
        assert_array_equal(largest(values, count), np.sort(stable, axis=1))
        assert_array_equal(largest(values[0], count), np.sort(stable[0]))
