"""The nearest rows, however they are searched."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from splmll.methods import MLkNN, _neighbours
from splmll.methods._neighbours import NeighbourSearch


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(400, 5))


def brute(X: np.ndarray, Z: np.ndarray, k: int) -> np.ndarray:
    distance = ((X[:, None] - Z[None]) ** 2).sum(axis=2)
    return np.argsort(distance, axis=1)[:, :k]


def recall(found: np.ndarray, true: np.ndarray) -> float:
    return float(np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, true, strict=True)]))


def test_exact_neighbours_are_the_nearest_rows(rows: np.ndarray) -> None:
    search = NeighbourSearch("exact", 7).fit(rows[:300])
    assert_array_equal(search.of(rows[300:]), brute(rows[300:], rows[:300], 7))
    assert_array_equal(search.of_training_rows(), brute(rows[:300], rows[:300], 8)[:, 1:])


def test_approximate_neighbours_are_nearly_all_of_them(rows: np.ndarray) -> None:
    search = NeighbourSearch("approximate", 7).fit(rows[:300])
    assert recall(search.of(rows[300:]), brute(rows[300:], rows[:300], 7)) > 0.95
    own = search.of_training_rows()
    assert recall(own, brute(rows[:300], rows[:300], 8)[:, 1:]) > 0.95
    again = pickle.loads(pickle.dumps(search))
    assert_array_equal(again.of(rows[300:]), search.of(rows[300:]))


@pytest.mark.parametrize("kind", ["exact", "approximate"])
def test_no_row_is_its_own_neighbour_even_among_copies(kind: str) -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 2)), 20, axis=0)
    own = NeighbourSearch(kind, 5).fit(X).of_training_rows()
    assert own.shape == (60, 5)
    assert not (own == np.arange(60)[:, None]).any()


def test_auto_is_approximate_for_many_rows(
    rows: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not NeighbourSearch("auto", 3).fit(rows).approximate
    monkeypatch.setattr(_neighbours, "APPROXIMATE_ROWS", 400)
    assert NeighbourSearch("auto", 3).fit(rows).approximate
    monkeypatch.setattr(_neighbours, "find_spec", lambda name: None)
    assert not NeighbourSearch("auto", 3).fit(rows).approximate
    with pytest.raises(ImportError, match=r"splmll\[neighbours\]"):
        NeighbourSearch("approximate", 3).fit(rows)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_ml_knn_hardly_notices(rows: np.ndarray, metric: str) -> None:
    Y = (rows[:, :3] + rows[:, 1:4] > 0.5).astype(int)
    exact = MLkNN(5, metric=metric).fit(rows[:300], Y[:300])
    near = MLkNN(5, metric=metric, search="approximate").fit(rows[:300], Y[:300])
    off = np.abs(near.predict_proba(rows[300:]) - exact.predict_proba(rows[300:]))
    assert np.mean(off > 0.1) < 0.05


def test_rows_whose_cells_hold_too_few_are_searched_everywhere(rows: np.ndarray) -> None:
    search = NeighbourSearch("approximate", 250).fit(rows[:300])
    search.index.nprobe = 1
    found = search.of(rows[300:])
    assert found.min() >= 0
    assert_array_equal(np.sort(found[0]), np.unique(found[0]))


def test_what_the_index_cannot_take_is_said(rows: np.ndarray) -> None:
    for X, metric in ((sparse.csr_array(rows), "euclidean"), (rows, "manhattan")):
        with pytest.raises(ValueError, match=r'use search="exact"'):
            NeighbourSearch("approximate", 3, metric).fit(X)
        assert not NeighbourSearch("auto", 3, metric).fit(X).approximate


def test_other_words_are_refused(rows: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"'search' parameter of MLkNN must be .*Got 'fast'"):
        MLkNN(search="fast").fit(rows, rows > 0)
