"""The search among sparse rows finds what comparing every pair in double precision finds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from splmll.methods import _sparse_neighbours
from splmll.methods._neighbours import NeighbourSearch
from splmll.methods._sparse_neighbours import SparseRowSearch


def sparse_rows(n_rows: int, n_features: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_features))
    rows[rng.random(rows.shape) < 0.8] = 0.0
    return rows


def sorted_distances(rows: np.ndarray, train: np.ndarray, found: np.ndarray) -> np.ndarray:
    return np.sort([cdist([row], train[near])[0] for row, near in zip(rows, found)], axis=1)


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("k", [1, 7, 149])
def test_distances_are_the_smallest_whatever_the_unit(scale, k):
    train, rows = sparse_rows(150, 30, 0) * scale, sparse_rows(40, 30, 1) * scale
    found = SparseRowSearch(sparse.csr_array(train)).of(sparse.csr_array(rows), k)
    expected = np.sort(cdist(rows, train), axis=1)[:, :k]
    np.testing.assert_allclose(sorted_distances(rows, train, found), expected, rtol=1e-9)


def test_rows_too_close_together_for_single_precision():
    rng = np.random.default_rng(0)
    # Squared distances of 1e-9 beside squares of 8, which have single precision's rounding of 1e-6.
    rows = 1.0 + 1e-5 * rng.normal(size=(60, 8))
    found = SparseRowSearch(sparse.csr_array(rows)).of_training_rows(5)
    exact = cdist(rows, rows)
    np.fill_diagonal(exact, np.inf)
    np.testing.assert_allclose(
        sorted_distances(rows, rows, found), np.sort(exact, axis=1)[:, :5], rtol=1e-5
    )


def test_of_equal_rows_the_first_are_taken_and_never_the_row_itself():
    rows = sparse.csr_array(np.repeat([[1.0, 0.0], [0.0, 3.0]], 4, axis=0))
    found = np.sort(SparseRowSearch(rows).of_training_rows(2), axis=1)
    assert found.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [5, 6], [4, 6], [4, 5], [4, 5]]


def test_blocks_and_jobs_change_nothing(monkeypatch):
    rows = sparse.csr_array(sparse_rows(90, 12, 3))
    at_once = SparseRowSearch(rows).of_training_rows(4)
    monkeypatch.setattr(_sparse_neighbours, "_BLOCK_CELLS", 700)
    in_blocks = SparseRowSearch(rows, n_jobs=2).of_training_rows(4)
    assert np.array_equal(np.sort(at_once, axis=1), np.sort(in_blocks, axis=1))


def test_all_rows_are_neighbours_when_as_many_are_wanted():
    search = SparseRowSearch(sparse.csr_array(sparse_rows(5, 3, 0)))
    assert search.of(sparse.csr_array(sparse_rows(2, 3, 1)), 5).tolist() == [[0, 1, 2, 3, 4]] * 2


def test_rows_of_zeros_only_are_rows_too():
    rows = np.zeros((6, 4))
    rows[4:, 0] = [1.0, 2.0]
    found = SparseRowSearch(sparse.csr_array(rows)).of_training_rows(3)
    assert np.sort(found, axis=1)[0].tolist() == [1, 2, 3]
    assert np.sort(found, axis=1)[5].tolist() == [0, 1, 4]


def test_used_for_sparse_rows_of_moderate_width_only():
    rows = sparse_rows(30, 5, 0)
    assert isinstance(
        NeighbourSearch("exact", 2).fit(sparse.csr_array(rows)).index, SparseRowSearch
    )
    assert not isinstance(NeighbourSearch("exact", 2).fit(rows).index, SparseRowSearch)
    by_angle = NeighbourSearch("exact", 2, "cosine").fit(sparse.csr_array(rows))
    assert not isinstance(by_angle.index, SparseRowSearch)
    wide = sparse.csr_array((2000, 2**18))
    assert not SparseRowSearch.takes(wide, "euclidean")


def test_survives_a_pickle():
    rows = sparse.csr_array(sparse_rows(40, 6, 0))
    search = NeighbourSearch("exact", 3).fit(rows)
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(search.of_training_rows(), again.of_training_rows())
