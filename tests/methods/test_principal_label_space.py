"""PLST is PCA of the labels, a regression, and the way back."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import ortho_group
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll.datasets import load_dataset
from splmll.methods.principal_label_space import PLST, PrincipalLabelSpace
from splmll.metrics import evaluate

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1 on the standard splits with
# ridge 10, computed once by an independent program. All labels: one ridge regression per label.
REFERENCE = {
    ("emotions", 0.5): [0.1868, 0.2170, 0.7888, 0.6259, 0.6085],
    ("emotions", 1.0): [0.1889, 0.2170, 0.7951, 0.6311, 0.6153],
    ("yeast", 0.5): [0.1811, 0.2020, 0.7528, 0.6306, 0.3543],
    ("yeast", 1.0): [0.1832, 0.2030, 0.7507, 0.6312, 0.3568],
}

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(150, 5))
    Y = (X @ rng.normal(size=(5, 6)) + rng.normal(size=(150, 6)) > 0.4).astype(int)
    return X[:100], Y[:100], X[100:]


@pytest.mark.parametrize("k", [1, 3, 6])
def test_equals_a_ridge_of_the_principal_components(problem: Problem, k: int) -> None:
    X, Y, X_new = problem
    peer = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), Ridge(2.0)), transformer=PCA(k), check_inverse=False
    )
    expected = peer.fit(X, Y).predict(X_new)
    scores = PLST(k, ridge=2.0).fit(X, Y).decision_function(X_new) + 0.5
    assert_allclose(scores, expected, atol=1e-10)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_components_are_those_of_pca(problem: Problem, k: int) -> None:
    _, Y, _ = problem
    ours, peer = PrincipalLabelSpace(k).fit(sparse.csr_array(Y)), PCA(k).fit(Y)
    projection = peer.components_.T @ peer.components_
    assert_allclose(ours.components_.T @ ours.components_, projection, atol=1e-10)
    assert_allclose(ours.explained_variance_ratio_, peer.explained_variance_ratio_, atol=1e-10)
    assert_allclose(ours.label_mean_, Y.mean(axis=0))


def test_works_as_a_transformer_of_targets(problem: Problem) -> None:
    X, Y, X_new = problem
    peer = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), Ridge(1.0)),
        transformer=PrincipalLabelSpace(2),
        check_inverse=False,
    )
    scores = PLST(2).fit(X, Y).decision_function(X_new) + 0.5
    assert_allclose(peer.fit(X, Y).predict(X_new), scores, atol=1e-10)


@given(seed=st.integers(0, 10_000), k=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_error_splits_into_prediction_and_encoding_error(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    Y = (rng.random((40, 6)) < rng.uniform(0.1, 0.9, 6)).astype(float)
    encoder = PrincipalLabelSpace(k).fit(Y)
    z = rng.normal(size=(40, k))
    scores = encoder.inverse_transform(z)
    total = np.sum((scores - Y) ** 2)
    prediction = np.sum((z - encoder.transform(Y)) ** 2)
    encoding = np.sum((encoder.inverse_transform(encoder.transform(Y)) - Y) ** 2)
    assert_allclose(total, prediction + encoding)
    # A wrong side of 1/2 is an error of at least 1/4.
    assert np.mean((scores >= 0.5) != Y) <= 4 * total / Y.size + 1e-12


def test_no_other_directions_encode_better(problem: Problem) -> None:
    _, Y, _ = problem
    encoder = PrincipalLabelSpace(2).fit(Y)
    best = np.sum((encoder.inverse_transform(encoder.transform(Y)) - Y) ** 2)
    centred = Y - Y.mean(axis=0)
    for seed in range(20):
        V = ortho_group.rvs(6, random_state=seed)[:, :2]
        assert np.sum((centred - centred @ V @ V.T) ** 2) > best


def test_codes_beyond_the_rank_change_nothing(problem: Problem) -> None:
    X, Y, X_new = problem
    Y = Y[:, [0, 1, 0, 1, 0]]
    expected = PLST(2).fit(X, Y).decision_function(X_new)
    for k in (3, 5):
        assert_allclose(PLST(k).fit(X, Y).decision_function(X_new), expected, atol=1e-9)


def test_labels_without_variance_have_no_share_to_explain() -> None:
    Y = np.tile([1.0, 0.0, 1.0], (5, 1))
    encoder = PrincipalLabelSpace(2).fit(Y)
    assert_allclose(encoder.explained_variance_ratio_, [0, 0])
    assert_allclose(encoder.inverse_transform(encoder.transform(Y)), Y, atol=1e-12)


@pytest.mark.parametrize(("name", "share"), sorted(REFERENCE))
def test_reference_numbers(data_home: Path, name: str, share: float) -> None:
    X, Y, X_test, Y_test = load_dataset(name, data_home).split()
    model = PLST(share, ridge=10.0).fit(X, Y)
    measured = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    assert_allclose(list(measured.values()), REFERENCE[name, share], rtol=0, atol=1e-3)
