"""The network regressor learns, stops, and keeps scikit-learn's contract."""

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from splmll.methods.conditional_label_space import CPLST
from splmll.methods.implicit_encoding import FaIE
from splmll.methods.network_regressor import NetworkRegressor

SMALL: dict[str, Any] = {"hidden_layer_sizes": (16,), "dropout": 0.0, "learning_rate": 0.02}

Problem = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Two outputs that no linear model learns."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(500, 3))
    T = np.column_stack([np.abs(X[:, 0]), X[:, 1] * X[:, 2]])
    return X[:400], T[:400], X[400:], T[400:]


@parametrize_with_checks([NetworkRegressor(**SMALL, max_epochs=20, random_state=0)])
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_learns_what_no_line_can(problem: Problem) -> None:
    X, T, X_new, T_new = problem
    assert LinearRegression().fit(X, T).score(X_new, T_new) < 0.1
    model = NetworkRegressor((64,), dropout=0.0, learning_rate=0.02, max_epochs=60, random_state=0)
    assert model.fit(X, T).score(X_new, T_new) > 0.9


def test_without_hidden_layers_it_is_linear_regression(problem: Problem) -> None:
    X, _, X_new, _ = problem
    rng = np.random.default_rng(0)
    T = X @ rng.normal(size=(3, 2)) + 0.1 * rng.normal(size=(400, 2))
    model = NetworkRegressor(
        (),
        learning_rate=0.02,
        weight_decay=0.0,
        max_epochs=60,
        validation_fraction=0,
        random_state=0,
    ).fit(X, T)
    expected = LinearRegression().fit(X, T).predict(X_new)
    assert_allclose(model.predict(X_new), expected, atol=0.02)


def test_units_do_not_matter(problem: Problem) -> None:
    X, T, X_new, _ = problem
    model = NetworkRegressor(**SMALL, max_epochs=10, random_state=0)
    expected = model.fit(X, T).predict(X_new)
    changed = model.fit(1024 * X, T / 1024).predict(1024 * X_new)
    assert_allclose(1024 * changed, expected, atol=1e-4)


def test_stops_when_held_back_rows_no_longer_improve(problem: Problem) -> None:
    X, _, _, _ = problem
    noise = np.random.default_rng(0).normal(size=400)
    model = NetworkRegressor(**SMALL, patience=4, random_state=0).fit(X, noise)
    assert len(model.loss_curve_) == len(model.validation_loss_curve_) < 100
    assert np.argmin(model.validation_loss_curve_) == len(model.loss_curve_) - 5


@pytest.mark.parametrize(("n_rows", "fraction"), [(49, 0.1), (100, 0.0)])
def test_few_rows_are_all_trained_on(problem: Problem, n_rows: int, fraction: float) -> None:
    X, T, _, _ = problem
    model = NetworkRegressor(
        **SMALL, max_epochs=7, patience=1, validation_fraction=fraction, random_state=0
    ).fit(X[:n_rows], T[:n_rows])
    assert len(model.loss_curve_) == 7
    assert model.validation_loss_curve_ == []


def test_constant_targets_are_kept(problem: Problem) -> None:
    X, T, X_new, _ = problem
    model = NetworkRegressor(**SMALL, random_state=0, max_epochs=50)
    T = np.column_stack([T[:, 0], np.full(400, 3.0)])
    assert_allclose(model.fit(X, T).predict(X_new)[:, 1], 3.0, atol=0.1)


def test_sparse_features_are_left_as_they_are(problem: Problem) -> None:
    X, T, X_new, _ = problem
    X = sparse.csr_array(np.where(np.abs(X) < 0.5, 0, X))
    model = NetworkRegressor(**SMALL, max_epochs=5, random_state=0).fit(X, T)
    from_sparse = model.predict(sparse.csr_array(X_new))
    assert_allclose(from_sparse, model.predict(X_new), atol=1e-5)
    standardise = model.module_[1][0]
    assert_array_equal(standardise.mean, np.zeros(X.shape[1]))
    assert_array_equal(standardise.scale, np.ones(X.shape[1]))


def test_seeds(problem: Problem) -> None:
    X, T, X_new, _ = problem
    before = torch.get_rng_state()
    models = [NetworkRegressor(**SMALL, max_epochs=3, random_state=s) for s in (0, 0, 1)]
    one, same, other = (model.fit(X, T).predict(X_new) for model in models)
    assert_array_equal(one, same)
    assert (one != other).all()
    assert torch.equal(torch.get_rng_state(), before)
    assert_array_equal(pickle.loads(pickle.dumps(models[0])).predict(X_new), one)


@pytest.mark.parametrize("name", ["dropout", "validation_fraction"])
@pytest.mark.parametrize("value", [-0.1, 1.0, "half"])
def test_impossible_shares_are_refused(problem: Problem, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"'{name}' .* in the range \[0\.0, 1\.0\)\. Got"):
        NetworkRegressor(**{name: value}).fit(*problem[:2])


@pytest.mark.parametrize("method", [CPLST, FaIE])
def test_deep_variants_learn_what_the_linear_ones_cannot(problem: Problem, method: Any) -> None:
    X, T, X_new, T_new = problem
    Y, Y_new = (np.column_stack([part > 1, part <= 1]).astype(int) for part in (T, T_new))
    network = NetworkRegressor((64,), dropout=0, learning_rate=0.02, max_epochs=60, random_state=0)
    errors = {
        name: np.mean(method(3, regressor=regressor).fit(X, Y).predict(X_new) != Y_new)
        for name, regressor in (("linear", None), ("deep", network))
    }
    assert errors["deep"] < 0.12
    assert errors["linear"] > 0.3
