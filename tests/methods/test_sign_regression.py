"""The regression with a sign loss: optimality, special cases and the low-rank form."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from splmll.methods import _sign_regression
from splmll.methods._sign_regression import SignRegression, mean_distance

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Noisy labels, so that many training predictions have the wrong sign."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 4))
    signs = np.where(X @ rng.normal(size=(4, 5)) + rng.normal(size=(90, 5)) > 0.4, 1.0, -1.0)
    return X, signs * (1 + rng.random((90, 5))), signs


def objective(
    model: SignRegression, K: np.ndarray, problem: Problem, beta: np.ndarray, bias: np.ndarray
) -> float:
    _, targets, signs = problem
    f = K @ beta + bias
    distance = np.linalg.norm(targets - f, axis=1)
    total = 0.5 * (beta * (K @ beta)).sum()
    total += model.fit_weight * (np.maximum(distance - model.epsilon, 0) ** 2).sum()
    total += model.sign_weight * np.maximum(-signs * f, 0).sum()
    for i, row in enumerate(f):
        relevant = signs[i] > 0
        for group, factor in ((relevant, 1), (~relevant, -1)):
            if group.any():
                total -= model.margin_weight * factor * row[group].mean()
    return total


SETTINGS = [
    (1.0, 0.0, 0.0, 0.0),
    (1.0, 1.0, 0.0, 0.001),
    (0.3, 5.0, 0.0, 0.001),
    (10.0, 1.0, 0.5, 0.1),
    (0.5, 3.0, 0.2, 0.0),
]


@pytest.mark.parametrize("weights", SETTINGS)
def test_stationarity(problem: Problem, weights: tuple[float, ...]) -> None:
    X, targets, signs = problem
    C1, C2, C3, eps = weights
    model = SignRegression(C1, C2, C3, epsilon=eps, width=None, tol=1e-12)
    model.fit(X, targets, signs)
    K = rbf_kernel(X, gamma=1 / (2 * model.width_**2))
    f = model.predict(X)
    assert_allclose(f, model.fitted_, atol=1e-9)
    u = np.linalg.norm(targets - f, axis=1, keepdims=True)
    a = np.where(u >= eps, 2 * (u - eps) / np.maximum(u, 1e-300), 0.0)
    sigma = model.sign_share_
    assert sigma.min() >= 0
    assert sigma.max() <= 1
    count = (signs > 0).sum(axis=1, keepdims=True)
    margin = np.where(signs > 0, 1 / np.maximum(count, 1), -1 / np.maximum(5 - count, 1))
    beta = C1 * a * (targets - f) + C2 * sigma * signs + C3 * margin
    # f is the expansion with these coefficients, which sum to 0, plus a bias.
    assert_allclose(beta.sum(axis=0), 0, atol=1e-4)
    rest = f - K @ beta
    assert_allclose(rest, np.tile(rest.mean(axis=0), (90, 1)), atol=1e-4)
    if C2 > 0:
        # Shares: 0 for a right sign, 1 for a wrong one, anything at the kink, which does occur.
        assert_array_equal(sigma[signs * f > 1e-6], 0)
        assert_array_equal(sigma[signs * f < -1e-6], 1)
        assert (sigma == 1).any()
        assert ((sigma > 0) & (sigma < 1)).any()


@pytest.mark.parametrize("weights", SETTINGS)
def test_nothing_nearby_is_better(problem: Problem, weights: tuple[float, ...]) -> None:
    X, targets, signs = problem
    model = SignRegression(*weights[:3], epsilon=weights[3], width=2.0, tol=1e-12)
    model.fit(X, targets, signs)
    K = rbf_kernel(X, gamma=1 / 8)
    beta, bias = model._coefficients, model._bias
    best = objective(model, K, problem, beta, bias)
    assert model.objective_[-1] == pytest.approx(best, rel=1e-8)
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(10):
            moved = objective(
                model, K, problem, beta + size * rng.normal(size=beta.shape), bias + size
            )
            assert moved > best


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0])
def test_objective_never_rises(problem: Problem, epsilon: float) -> None:
    X, targets, signs = problem
    model = SignRegression(2.0, 1.0, 0.1, epsilon=epsilon, width=None, tol=1e-9)
    path = model.fit(X, targets, signs).objective_
    assert len(path) > 2
    assert np.diff(path).max() <= 1e-9 * abs(path[0])
    assert path[-1] < path[0]


@pytest.mark.parametrize("fit_weight", [0.1, 1.0, 20.0])
def test_without_tube_and_signs_it_is_kernel_ridge(problem: Problem, fit_weight: float) -> None:
    X, targets, signs = problem
    model = SignRegression(fit_weight, 0.0, 0.0, epsilon=0.0, width=1.5).fit(X, targets, signs)
    K = rbf_kernel(X, gamma=1 / (2 * 1.5**2))
    n = len(X)
    system = np.block(
        [[K + np.eye(n) / (2 * fit_weight), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]]
    )
    solved = np.linalg.solve(system, np.vstack([targets, np.zeros((1, 5))]))
    X_new = X[:20] + 0.3
    expected = rbf_kernel(X_new, X, gamma=1 / (2 * 1.5**2)) @ solved[:-1] + solved[-1]
    assert_allclose(model.predict(X_new), expected, atol=1e-8)


def test_beats_the_reweighting_of_the_paper(problem: Problem) -> None:
    """The reweighted least squares of the authors, with their line search, ends not lower."""
    X, targets, signs = problem
    C1, C2, eps = 0.3, 5.0, 0.001
    model = SignRegression(C1, C2, 0.0, epsilon=eps, width=2.0, tol=1e-10)
    ours = model.fit(X, targets, signs).objective_[-1]
    K, n = rbf_kernel(X, gamma=1 / 8), len(X)
    beta, bias = np.zeros((n, 5)), np.zeros(5)
    value = start = objective(model, K, problem, beta, bias)
    for _ in range(100):
        f = K @ beta + bias
        u = np.linalg.norm(targets - f, axis=1, keepdims=True)
        weight = C1 * 2 * (u - eps) / u
        system = np.block(
            [[K + np.diag(1 / weight[:, 0]), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]]
        )
        right = targets + C2 * (signs * f < 0) * signs / weight
        solved = np.linalg.solve(system, np.vstack([right, np.zeros((1, 5))]))
        step, before = 1.0, value
        while step > 1e-12:
            trial = beta + step * (solved[:-1] - beta), bias + step * (solved[-1] - bias)
            if objective(model, K, problem, *trial) <= value:
                (beta, bias), value = trial, objective(model, K, problem, *trial)
                break
            step /= 10
        if before - value < 1e-9 * before:
            break
    assert value < start
    assert ours <= value * (1 + 1e-9)
    # Both are after the same minimum.
    assert value < ours + 0.05 * (start - ours)


def test_a_tube_around_everything_leaves_nothing_to_learn(problem: Problem) -> None:
    X, targets, signs = problem
    model = SignRegression(1.0, 1.0, 0.0, epsilon=100.0, width=None, tol=1e-12, max_iter=20_000)
    assert model.fit(X, targets, signs).objective_[-1] < 1e-3 * model.objective_[0]


def test_kernel_features_of_all_rows_are_the_kernel(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, targets, signs = problem
    settings: dict[str, Any] = {"epsilon": 0.001, "width": 1.0, "tol": 1e-10}
    exact = SignRegression(1.0, 1.0, 0.2, **settings).fit(X, targets, signs)
    monkeypatch.setattr(_sign_regression, "EXACT_ROWS", 50)
    monkeypatch.setattr(_sign_regression, "N_LANDMARKS", 90)
    features = SignRegression(1.0, 1.0, 0.2, **settings).fit(X, targets, signs)
    assert_allclose(features.objective_, exact.objective_, rtol=1e-6)
    assert_allclose(features.predict(X + 0.2), exact.predict(X + 0.2), atol=1e-4)


def test_few_landmarks_are_close_and_seeded(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, targets, signs = problem

    def fit(X: Any, seed: int) -> SignRegression:
        model = SignRegression(1.0, 1.0, 0.0, epsilon=0.001, width=3.0, random_state=seed)
        return model.fit(X, targets, signs)

    exact = fit(X, 0).predict(X)
    monkeypatch.setattr(_sign_regression, "EXACT_ROWS", 50)
    monkeypatch.setattr(_sign_regression, "N_LANDMARKS", 40)
    low_rank = fit(X, 0).predict(X)
    assert np.abs(low_rank - exact).mean() < 0.1 * np.abs(exact).mean()
    assert_array_equal(fit(X, 0).predict(X), low_rank)
    assert (fit(X, 1).predict(X) != low_rank).any()
    stored = fit(sparse.csr_array(X), 0).predict(sparse.csr_array(X))
    assert_allclose(stored, low_rank, atol=1e-6)


def test_width_is_the_mean_distance(problem: Problem) -> None:
    X, targets, signs = problem
    pairs = euclidean_distances(X)[np.triu_indices(90, k=1)]
    assert mean_distance(X) == pytest.approx(pairs.mean())
    assert mean_distance(np.ones((5, 2))) == 1.0
    model = SignRegression(1.0, 1.0, 0.0, epsilon=0.0, width=None).fit(X, targets, signs)
    assert model.width_ == pytest.approx(pairs.mean())
