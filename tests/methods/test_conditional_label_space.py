"""CPLST minimises prediction plus encoding error; with nothing to predict from, it is PLST."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ortho_group
from sklearn.preprocessing import StandardScaler

from splmll.datasets import load_dataset
from splmll.methods.conditional_label_space import CPLST, ConditionalLabelSpace
from splmll.methods.principal_label_space import PLST, PrincipalLabelSpace
from splmll.metrics import evaluate

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1 on the standard splits, half as
# many codes as labels and ridge 10, computed once by an independent program.
REFERENCE = {
    "emotions": [0.1796, 0.2178, 0.7972, 0.6250, 0.6070],
    "yeast": [0.1813, 0.2027, 0.7525, 0.6308, 0.3536],
}

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(150, 5)) * [1, 5, 0.1, 1, 1] + 2
    Y = (X @ rng.normal(size=(5, 6)) + 3 * rng.normal(size=(150, 6)) > 4).astype(int)
    return X[:100], Y[:100], X[100:]


def total_error(X: np.ndarray, Y: np.ndarray, V: np.ndarray, ridge: float) -> float:
    """The objective of the paper, with the best weights for V."""
    F, centred = StandardScaler().fit_transform(X), Y - Y.mean(axis=0)
    Z = centred @ V
    W = np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T @ Z)
    prediction = np.sum((F @ W - Z) ** 2) + ridge * np.sum(W**2)
    return float(prediction + np.sum((centred - Z @ V.T) ** 2))


@pytest.mark.parametrize("ridge", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_no_other_directions_have_a_smaller_error(problem: Problem, ridge: float, k: int) -> None:
    X, Y, _ = problem
    encoder = ConditionalLabelSpace(k, ridge=ridge).fit(Y, X)
    best = total_error(X, Y, encoder.components_.T, ridge)
    assert best < total_error(X, Y, PrincipalLabelSpace(k).fit(Y).components_.T, ridge)
    for seed in range(20):
        assert best < total_error(X, Y, ortho_group.rvs(6, random_state=seed)[:, :k], ridge)
    # Each direction takes its share off the variance of the labels.
    variance = np.sum((Y - Y.mean(axis=0)) ** 2)
    assert_allclose(best, variance - encoder.predicted_.sum())


@pytest.mark.parametrize("k", [1, 3])
def test_is_reduced_rank_ridge_regression(problem: Problem, k: int) -> None:
    X, Y, _ = problem
    ridge = 3.0
    F = StandardScaler().fit_transform(X)
    weights = np.linalg.solve(F.T @ F + ridge * np.eye(5), F.T @ (Y - Y.mean(axis=0)))
    fitted = np.vstack([F, np.sqrt(ridge) * np.eye(5)]) @ weights
    V = np.linalg.svd(fitted)[2][:k].T
    components = ConditionalLabelSpace(k, ridge=ridge).fit(Y, X).components_
    assert_allclose(components.T @ components, V @ V.T, atol=1e-10)
    assert_allclose(components @ components.T, np.eye(k), atol=1e-12)


def test_features_that_explain_everything_give_plst() -> None:
    # More features than rows and hardly any ridge: the hat matrix is the identity.
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 60)), (rng.random((30, 5)) < 0.4).astype(int)
    X_new = rng.normal(size=(20, 60))
    conditional, plain = CPLST(2, ridge=1e-8).fit(X, Y), PLST(2, ridge=1e-8).fit(X, Y)
    assert_allclose(conditional.decision_function(X_new), plain.decision_function(X_new), atol=1e-6)


def test_without_ridge_linear_maps_of_the_features_do_not_matter(problem: Problem) -> None:
    X, Y, X_new = problem
    mixing = np.random.default_rng(0).normal(size=(5, 5))
    expected = CPLST(2, ridge=1e-9).fit(X, Y).decision_function(X_new)
    mixed = CPLST(2, ridge=1e-9).fit(X @ mixing, Y).decision_function(X_new @ mixing)
    assert_allclose(mixed, expected, atol=1e-6)


def test_prefers_what_the_features_can_predict() -> None:
    # Two labels of great variance that nothing predicts, one rarer label that is a feature.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    chance = rng.random(400) < 0.5
    Y = np.column_stack([chance, chance, X[:, 0] > 1]).astype(int)
    assert np.abs(PrincipalLabelSpace(1).fit(Y).components_[0]).argmax() < 2
    assert np.abs(ConditionalLabelSpace(1).fit(Y, X).components_[0]).argmax() == 2


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_reference_numbers(data_home: Path, name: str) -> None:
    X, Y, X_test, Y_test = load_dataset(name, data_home).split()
    model = CPLST(ridge=10.0).fit(X, Y)
    measured = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    assert_allclose(list(measured.values()), REFERENCE[name], rtol=0, atol=1e-3)
