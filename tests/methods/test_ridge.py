"""Factorised or iterated, it is scikit-learn's ridge, with the hat matrix by definition."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll.methods import ConditionalLabelSpace
from splmll.methods._ridge import FactorisedRidge, IterativeRidge, RidgeSystem

# How exact each is.
SYSTEMS: dict[type[RidgeSystem], float] = {FactorisedRidge: 1e-9, IterativeRidge: 1e-5}
SHAPES = [(60, 8), (12, 30)]  # more rows than features, and fewer


def make_problem(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Features with zeros, of different sizes and places, one constant, and outputs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)) * rng.uniform(0.1, 20, n_features) + 5
    X[rng.random(X.shape) < 0.4] = 0.0
    X[:, 2] = 7.0
    return X, (rng.random((n_rows, 5)) < 0.4).astype(float)


def centred_or_scaled(stored: Any) -> StandardScaler:
    """Dense features are standardised, sparse ones only centred."""
    return StandardScaler(with_std=stored is np.asarray)


def hat_by_definition(X: np.ndarray, ridge: float, stored: Any) -> np.ndarray:
    F = centred_or_scaled(stored).fit_transform(X)
    return F @ np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ridge", [0.1, 1.0, 300.0])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("outputs", [np.asarray, sparse.csr_array])
def test_equals_ridge_on_prepared_features(
    system: type[RidgeSystem], shape: tuple[int, int], ridge: float, stored: Any, outputs: Any
) -> None:
    X, T = make_problem(*shape)
    X_new = make_problem(30, shape[1])[0]
    ours = system(stored(X), ridge).solve(outputs(T))
    peer = make_pipeline(centred_or_scaled(stored), Ridge(ridge)).fit(X, T)
    assert_allclose(ours.predict(stored(X_new)), peer.predict(X_new), atol=SYSTEMS[system])
    assert ours.coef_.shape == (5, shape[1])


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_explained_is_the_quadratic_form_of_the_hat_matrix(
    system: type[RidgeSystem], shape: tuple[int, int], stored: Any
) -> None:
    X, T = make_problem(*shape)
    prepared = system(stored(X), 2.0)
    expected = T.T @ hat_by_definition(X, 2.0, stored) @ T
    assert_allclose(prepared.explained(T), expected, atol=SYSTEMS[system])
    assert_allclose(prepared.explained(sparse.csr_array(T)), expected, atol=SYSTEMS[system])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_a_row_of_weight_two_is_two_rows_for_both_systems(
    shape: tuple[int, int], stored: Any
) -> None:
    X, T = make_problem(*shape)
    weights = np.arange(len(X)) % 3 + 1
    copies = np.repeat(np.arange(len(X)), weights)
    expected = FactorisedRidge(stored(X[copies]), 2.0)
    for system, tolerance in SYSTEMS.items():
        found = system(stored(X), 2.0, weights.astype(float))
        assert_allclose(found.explained(T), expected.explained(T[copies]), atol=tolerance)
        predicted = found.solve(T).predict(X)
        assert_allclose(predicted, expected.solve(T[copies]).predict(X), atol=tolerance)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_fitted_values_are_those_of_the_hat_matrix(stored: Any) -> None:
    X, T = make_problem(60, 8)
    fitted = IterativeRidge(stored(X), 2.0).fitted(T)
    assert_allclose(fitted, hat_by_definition(X, 2.0, stored) @ T, atol=SYSTEMS[IterativeRidge])


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_the_halves_make_up_the_hat_matrix(stored: Any) -> None:
    X, T = make_problem(60, 8)
    system = FactorisedRidge(stored(X), 2.0)
    half = system.half_product(np.eye(8))
    assert_allclose(half @ half.T, hat_by_definition(X, 2.0, stored), atol=1e-10)
    assert_allclose(system.half_gram(), half.T @ half, atol=1e-10)
    assert_allclose(system.half(T), half.T @ T, atol=1e-10)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_the_hat_matrix_itself_where_rows_are_few(stored: Any) -> None:
    X, _ = make_problem(12, 30)
    system = FactorisedRidge(stored(X), 2.0)
    assert system.dual
    assert_allclose(system.hat_matrix(), hat_by_definition(X, 2.0, stored), atol=1e-10)


def test_large_means_cost_no_digits() -> None:
    X, T = make_problem(60, 8)
    expected = FactorisedRidge(X, 1.0).explained(T)
    assert_allclose(FactorisedRidge(X + 1e7, 1.0).explained(T), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("ridge", [0, 0.0, -1.0, np.inf, np.nan, "1", None, True])
def test_impossible_penalties_are_refused(ridge: Any) -> None:
    with pytest.raises(ValueError, match=r"'ridge' .* in the range \(0\.0, inf\)\. Got"):
        ConditionalLabelSpace(1, ridge=ridge).fit(np.eye(3), np.eye(3))
