"""Ridge regression of very wide rows: through the rows, and by iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from splmll.embeddings import Linear, wide_ridge
from splmll.embeddings import linear as linear_module
from splmll.embeddings.wide_ridge import (
    IterativeRidge,
    RowRidge,
    StandardRows,
    choose_solver,
    conjugate_gradients,
)


def words(n_rows: int, n_words: int, n_labels: int) -> tuple[Any, Any]:
    """Sparse rows, and labels that depend on them."""
    rng = np.random.default_rng(0)
    X = (rng.random((n_rows, n_words)) < 0.1) * 1.0
    signal = X @ rng.normal(size=(n_words, n_labels)) + rng.normal(size=(n_rows, n_labels))
    return sparse.csr_array(X), sparse.csr_array((signal > 0.5) * 1.0)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_rows_and_iteration_give_the_map_of_the_features(kind, scale: bool, unknown: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 25)) * (rng.random((60, 25)) < 0.5)
    X[:, 4] = 3.0  # constant
    Y = (X[:, :6] + rng.normal(size=(60, 6)) > 0.5).astype(float)
    Y[rng.random(Y.shape) < unknown] = np.nan
    fold = np.arange(60) % 3
    for alpha in (1e-2, 3.0):
        f = Linear(ridge=alpha, scale="standard" if scale else None).fit(kind(X), Y, fold)
        by_rows = RowRidge(kind(X), Y, scale)
        assert_allclose(by_rows.map(alpha, np.arange(6)), f.map_, atol=1e-9)
        expected = f.predict(X[:7])
        assert_allclose(by_rows.predictor(kind(X[:7]))(alpha), expected, atol=1e-9)
        iterative = IterativeRidge(kind(X), Y, scale)
        assert_allclose(iterative.predictor(kind(X[:7]))(alpha), expected, atol=1e-4)
        assert_allclose(iterative.map(alpha, np.array([4, 1])), f.map_[:, [4, 1]], atol=1e-3)


def test_conjugate_gradients_against_a_direct_solution() -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(30, 50))
    A = A @ A.T / 50 + 0.1 * np.eye(30)
    right = rng.normal(size=(30, 4))
    right[:, 2] = 0.0
    expected = np.linalg.solve(A, right)
    products = []

    def times(W: np.ndarray) -> np.ndarray:
        products.append(W.shape)
        return A @ W

    assert_allclose(conjugate_gradients(times, right, tol=1e-12), expected, atol=1e-9)
    assert len(products) <= 60
    before = len(products)
    assert_allclose(conjugate_gradients(times, right, expected, tol=1e-9), expected, atol=1e-9)
    assert len(products) == before + 1  # a good start is seen to be one


def test_features_of_very_different_spread_take_few_iterations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Words are not scaled: some are a thousand times as frequent as others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60)) * np.logspace(-1.5, 1.5, 60)
    Y = (X @ rng.normal(size=(60, 3)) > 0).astype(float)
    products = []

    def counted(times: Any, *arguments: Any, **options: Any) -> np.ndarray:
        def counting(direction: np.ndarray) -> np.ndarray:
            products.append(direction)
            return times(direction)

        return conjugate_gradients(counting, *arguments, **options)

    monkeypatch.setattr(wide_ridge, "conjugate_gradients", counted)
    ridge = wide_ridge.IterativeRidge(X, Y, scale=False)
    weights = ridge.weights(1e-3, slice(None))
    n_rows, rows = len(X), ridge.rows.rows
    expected = np.linalg.solve(rows.T @ rows / n_rows + 1e-3 * np.eye(60), rows.T @ ridge.targets)
    assert_allclose(weights, expected, atol=1e-3 * np.abs(expected).max())
    assert len(products) < 30


def test_blocks_of_labels_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = words(200, 80, 12)
    ridge = IterativeRidge(X, Y, scale=True)
    whole = ridge.map(1.0, np.arange(12))
    monkeypatch.setattr(wide_ridge, "BLOCK_BYTES", 5 * 8 * 80 * 5)
    assert [(b.start, b.stop) for b in wide_ridge.label_blocks(80, 12)] == [
        (0, 5),
        (5, 10),
        (10, 12),
    ]
    assert_allclose(ridge.map(1.0, np.arange(12)), whole, atol=1e-12)


def test_standard_rows_are_never_written_out() -> None:
    rng = np.random.default_rng(2)
    X = rng.random((9, 5)) * (rng.random((9, 5)) < 0.5)
    mean, unit = rng.random(5), 1 + rng.random(5)
    dense = (X - mean) / unit
    rows = StandardRows(sparse.csr_array(X), mean, unit)
    other = StandardRows(sparse.csr_array(X[:3]), mean, unit)
    W, R = rng.normal(size=(5, 2)), rng.normal(size=(9, 2))
    assert rows.rows.nnz == np.count_nonzero(X)
    assert_allclose(rows @ W, dense @ W)
    assert_allclose(rows.transposed(R), dense.T @ R)
    assert_allclose(rows.inner(other), dense @ dense[:3].T)


@pytest.mark.parametrize("solver", ["rows", "iterative"])
@pytest.mark.parametrize("ridge", [0.3, "auto"])
def test_every_route_is_the_same_embedding(
    solver: str, ridge: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = words(120, 40, 5)
    fold = np.arange(120) % 3
    expected = Linear(ridge=ridge).fit(X, Y, fold)
    monkeypatch.setattr(linear_module, "choose_solver", lambda *shape: solver)
    found = Linear(ridge=ridge).fit(X, Y, fold)
    assert found.ridge_ == expected.ridge_
    assert_allclose(found.out_of_fold_, expected.out_of_fold_, atol=1e-4)
    for f in (found, expected):
        f.finish(X, Y, np.array([3, 1]))
    assert_allclose(found.predict(X), expected.predict(X), atol=1e-4)


def test_the_solver_follows_from_the_shape() -> None:
    assert choose_solver(10_000, 500, 5) == "features"
    assert choose_solver(1000, 50_000, 5) == "rows"
    assert choose_solver(100_000, 2**20, 5) == "iterative"
    # More folds need more matrices.
    assert choose_solver(10**6, 2900, 5) == "features"
    assert choose_solver(10**6, 2900, 20) == "iterative"
