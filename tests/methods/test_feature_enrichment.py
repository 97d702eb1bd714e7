"""MLFE: sparse reconstructions, reductions to its relatives, and numbers on real data."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Lasso

from splmll.datasets import load_dataset
from splmll.methods import feature_enrichment
from splmll.methods._sign_regression import SignRegression
from splmll.methods.feature_enrichment import MLFE, sparse_weights
from splmll.methods.manifold_learning import MLML, locally_linear_weights
from splmll.metrics import evaluate

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1 on the standard split of
# emotions, by an independent program.
REFERENCE = [0.143, 0.191, 0.824, 0.687, 0.675]

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, 6))
    Y = (X @ rng.normal(size=(6, 3)) + rng.normal(size=(100, 3)) > 0.3).astype(int)
    return X[:70], Y[:70], X[70:]


def assert_optimal(X: np.ndarray, W: np.ndarray, row: int, others: np.ndarray) -> None:
    """The optimality conditions of a sparse reconstruction from other rows."""
    X = X - X.mean(axis=0)
    penalty = 0.01 * np.abs(X[others] @ X[row]).max()
    pull = X[others] @ (X[row] - W[row] @ X)
    assert np.abs(pull).max() <= penalty * (1 + 1e-6)
    used = W[row, others] != 0
    assert_allclose(pull[used], penalty * np.sign(W[row, others][used]), rtol=1e-6)
    outside = np.setdiff1d(np.arange(len(X)), others)
    assert_array_equal(W[row, outside], 0)


@pytest.mark.parametrize("shape", [(40, 6), (60, 30), (25, 80)])
def test_optimality_conditions(shape: tuple[int, int]) -> None:
    X = np.random.default_rng(0).normal(size=shape) + 1.0
    W = sparse_weights(X).toarray()
    for row in range(len(X)):
        assert_optimal(X, W, row, np.delete(np.arange(len(X)), row))
    assert (W != 0).sum() > 2 * len(X)


def test_agrees_with_scikit_learn(problem: Problem) -> None:
    X = problem[0] - problem[0].mean(axis=0)
    W = sparse_weights(problem[0]).toarray()
    for row in range(0, 70, 9):
        others = np.delete(np.arange(70), row)
        penalty = 0.01 * np.abs(X[others] @ X[row]).max()
        peer = Lasso(penalty / 6, fit_intercept=False, tol=1e-12, max_iter=100_000)
        peer.fit(X[others].T, X[row])
        assert_allclose(W[row] @ X, peer.coef_ @ X[others], atol=1e-6)
        assert np.abs(W[row]).sum() == pytest.approx(np.abs(peer.coef_).sum(), rel=1e-5)


def test_equal_and_central_rows() -> None:
    X = np.repeat(np.random.default_rng(1).normal(size=(8, 3)), 3, axis=0)
    X = np.vstack([X, X.mean(axis=0)])
    W = sparse_weights(X)
    assert np.isfinite(W.data).all()
    for row in range(24):
        assert_optimal(X, W.toarray(), row, np.delete(np.arange(25), row))
    # The last row lies at the centre: there is nothing to rebuild.
    assert W[[24]].nnz == 0
    assert sparse_weights(np.ones((5, 2))).nnz == 0


def test_place_storage_and_jobs_do_not_matter(problem: Problem) -> None:
    X = np.where(np.abs(problem[0]) < 0.4, 0.0, problem[0])
    expected = sparse_weights(X).toarray()
    assert_allclose(sparse_weights(X + 10.0).toarray(), expected, atol=1e-6)
    assert_allclose(sparse_weights(sparse.csr_array(X)).toarray(), expected, atol=1e-6)
    assert_allclose(sparse_weights(X, n_jobs=2).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("stored", [False, True])
def test_many_rows_are_rebuilt_from_neighbours(
    problem: Problem, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    X = problem[0]
    monkeypatch.setattr(feature_enrichment, "N_CANDIDATES", 15)
    W = sparse_weights(sparse.csr_array(X) if stored else X, exact_rows=50).toarray()
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    for row in range(70):
        assert_optimal(X, W, row, np.sort(np.argsort(distance[row])[:15]))


def test_all_neighbours_are_all_rows(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    X = problem[0]
    monkeypatch.setattr(feature_enrichment, "N_CANDIDATES", 69)
    restricted = sparse_weights(X, exact_rows=50).toarray()
    assert_allclose(restricted @ X, sparse_weights(X).toarray() @ X, atol=1e-7)


def test_with_weights_of_neighbours_and_no_cap_it_is_mlml(problem: Problem) -> None:
    class Neighbours(MLFE):
        def _reconstruction(self, X: Any) -> sparse.csr_array:
            return locally_linear_weights(X, 4)

    X, Y, X_new = problem
    settings: dict[str, Any] = {"fit_weight": 3.0, "sign_weight": 2.0}
    reduced = Neighbours(label_bounds=(1.0, np.inf), **settings).fit(X, Y)
    expected = MLML(4, **settings).fit(X, Y)
    assert_array_equal(reduced.numerical_labels_, expected.numerical_labels_)
    assert_array_equal(reduced.decision_function(X_new), expected.decision_function(X_new))
    # The cap and the sparse weights are what makes the difference.
    assert (MLFE(**settings).fit(X, Y).predict_proba(X_new) != expected.predict_proba(X_new)).all()


def test_equal_bounds_regress_the_labels_themselves(problem: Problem) -> None:
    X, Y, X_new = problem
    model = MLFE(label_bounds=(1.5, 1.5)).fit(X, Y)
    signs = 2.0 * Y - 1
    Z, Z_new = ((part - X.mean(axis=0)) / X.std(axis=0) for part in (X, X_new))
    alone = SignRegression(1.0, 1.0, 0.0, epsilon=0.001, width=None).fit(Z, 1.5 * signs, signs)
    assert_allclose(model.decision_function(X_new), alone.predict(Z_new) + 1e-6, atol=1e-9)


def test_numerical_labels_stay_within_their_bounds(problem: Problem) -> None:
    X, Y, _ = problem
    size = (2 * Y - 1) * MLFE(label_bounds=(0.5, 0.7)).fit(X, Y).numerical_labels_
    assert size.min() == 0.5
    assert size.max() == 0.7
    assert ((size > 0.5) & (size < 0.7)).any()


def test_margin_weight_widens_the_margins(problem: Problem) -> None:
    X, Y, _ = problem

    def margin(weight: float) -> float:
        scores = MLFE(margin_weight=weight).fit(X, Y).decision_function(X)
        both = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 3)
        relevant = np.nanmean(np.where(Y == 1, scores, np.nan)[both], axis=1)
        others = np.nanmean(np.where(Y == 0, scores, np.nan)[both], axis=1)
        return float((relevant - others).mean())

    assert margin(0.0) < margin(1.0) < margin(5.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"label_bounds": (2.0, 1.0)}, r"the second not smaller\. Got \(2.0, 1.0\)"),
        ({"label_bounds": (0.0, 1.0)}, r"the first positive and finite"),
        ({"label_bounds": 1.0}, "'label_bounds' .* must be two numbers"),
        ({"margin_weight": -1.0}, r"'margin_weight' .* in the range \[0\.0, inf\)\. Got -1\.0"),
        ({"fit_weight": np.nan}, r"'fit_weight' .* in the range \(0\.0, inf\)\. Got nan"),
    ],
)
def test_impossible_parameters_are_refused(
    problem: Problem, parameters: dict[str, Any], message: str
) -> None:
    X, Y, _ = problem
    with pytest.raises(ValueError, match=message):
        MLFE(**parameters).fit(X, Y)


def test_a_single_row_is_refused() -> None:
    with pytest.raises(ValueError, match=r"MLFE found n_samples = 1: give it at least 2 rows"):
        MLFE().fit([[1.0, 2.0]], [[1, 0]])


def test_reference_numbers(data_home: Path) -> None:
    X, Y, X_test, Y_test = load_dataset("emotions", data_home).split()
    model = MLFE().fit(X, Y)
    # On average 56 other rows take part, and the weights of a row sum to about a half.
    assert model.reconstruction_.nnz / len(X) == pytest.approx(56, abs=1)
    assert model.reconstruction_.sum(axis=1).mean() == pytest.approx(0.48, abs=0.01)
    measured = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    assert_allclose(list(measured.values()), REFERENCE, rtol=0, atol=1e-3)
