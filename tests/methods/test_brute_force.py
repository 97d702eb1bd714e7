"""Single precision first, double where in doubt: the same rows as comparing all in double."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from splmll.methods import _brute_force
from splmll.methods._brute_force import BruteForceSearch
from splmll.methods._neighbours import NeighbourSearch


def sparse_rows(n_rows: int, n_features: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_features))
    rows[rng.random(rows.shape) < 0.8] = 0.0
    return rows


def sorted_distances(rows: np.ndarray, train: np.ndarray, found: np.ndarray) -> np.ndarray:
    return np.sort([cdist([row], train[near])[0] for row, near in zip(rows, found)], axis=1)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("k", [1, 7, 149])
def test_distances_are_the_smallest_whatever_the_unit(store, scale, k):
    train, rows = sparse_rows(150, 30, 0) * scale, sparse_rows(40, 30, 1) * scale
    found = BruteForceSearch(store(train)).of(store(rows), k)
    expected = np.sort(cdist(rows, train), axis=1)[:, :k]
    np.testing.assert_allclose(sorted_distances(rows, train, found), expected, rtol=1e-9)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_row_far_outside_the_range_of_single_precision(store):
    train = sparse_rows(50, 20, 0)
    rows = np.vstack([1e60 * train[0], train[1]])
    found = BruteForceSearch(store(train)).of(store(rows), 1)
    assert found.ravel().tolist() == [int(np.argmax(train @ train[0])), 1]


def test_rows_far_from_the_origin():
    rows = 1e6 + sparse_rows(80, 20, 0)
    found = BruteForceSearch(rows).of_training_rows(4)
    exact = cdist(rows, rows)
    np.fill_diagonal(exact, np.inf)
    expected = np.sort(exact, axis=1)[:, :4]
    np.testing.assert_allclose(sorted_distances(rows, rows, found), expected, rtol=1e-9)


def test_rows_too_close_together_for_single_precision():
    rng = np.random.default_rng(0)
    # Squared distances of 1e-9 beside squares of 8, which have single precision's rounding of 1e-6.
    rows = 1.0 + 1e-5 * rng.normal(size=(60, 8))
    found = BruteForceSearch(sparse.csr_array(rows)).of_training_rows(5)
    exact = cdist(rows, rows)
    np.fill_diagonal(exact, np.inf)
    np.testing.assert_allclose(
        sorted_distances(rows, rows, found), np.sort(exact, axis=1)[:, :5], rtol=1e-5
    )


def test_of_equal_rows_the_first_are_taken_and_never_the_row_itself():
    rows = sparse.csr_array(np.repeat([[1.0, 0.0], [0.0, 3.0]], 4, axis=0))
    found = np.sort(BruteForceSearch(rows).of_training_rows(2), axis=1)
    assert found.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [5, 6], [4, 6], [4, 5], [4, 5]]


def test_blocks_and_jobs_change_nothing(monkeypatch):
    rows = sparse.csr_array(sparse_rows(90, 12, 3))
    at_once = BruteForceSearch(rows).of_training_rows(4)
    monkeypatch.setattr(_brute_force, "_BLOCK_CELLS", 700)
    in_blocks = BruteForceSearch(rows, n_jobs=2).of_training_rows(4)
    assert np.array_equal(np.sort(at_once, axis=1), np.sort(in_blocks, axis=1))


def test_all_rows_are_neighbours_when_as_many_are_wanted():
    search = BruteForceSearch(sparse.csr_array(sparse_rows(5, 3, 0)))
    assert search.of(sparse.csr_array(sparse_rows(2, 3, 1)), 5).tolist() == [[0, 1, 2, 3, 4]] * 2


def test_rows_of_zeros_only_are_rows_too():
    rows = np.zeros((6, 4))
    rows[4:, 0] = [1.0, 2.0]
    found = BruteForceSearch(sparse.csr_array(rows)).of_training_rows(3)
    assert np.sort(found, axis=1)[0].tolist() == [1, 2, 3]
    assert np.sort(found, axis=1)[5].tolist() == [0, 1, 4]


def test_used_where_it_is_faster_than_the_alternatives():
    rows = sparse_rows(30, 20, 0)

    def is_used(X, metric="euclidean"):
        return isinstance(NeighbourSearch("exact", 2, metric).fit(X).index, BruteForceSearch)

    assert is_used(rows)
    assert is_used(sparse.csr_array(rows[:, :5]))
    assert not is_used(rows[:, :5])
    assert not is_used(rows, "cosine")
    assert not BruteForceSearch.takes(sparse.csr_array((2000, 2**18)), "euclidean")


def test_survives_a_pickle():
    rows = sparse.csr_array(sparse_rows(40, 6, 0))
    search = NeighbourSearch("exact", 3).fit(rows)
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(search.of_training_rows(), again.of_training_rows())
