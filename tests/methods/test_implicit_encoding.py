"""FaIE's factored form is its eigenproblem, and without features it is uncentred PLST."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import ortho_group
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll.datasets import load_dataset
from splmll.methods import _ridge
from splmll.methods.implicit_encoding import FaIE, ImplicitLabelSpace
from splmll.methods.principal_label_space import PLST
from splmll.metrics import evaluate

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1 on the standard splits, half as
# many codes as labels and ridge 10, computed once by an independent program.
REFERENCE = {
    ("emotions", 0.1): [0.1928, 0.2153, 0.7813, 0.6245, 0.6069],
    ("emotions", 100.0): [0.1874, 0.2145, 0.7925, 0.6467, 0.6431],
    ("yeast", 0.1): [0.1822, 0.2025, 0.7513, 0.6292, 0.3507],
    ("yeast", 100.0): [0.1878, 0.2080, 0.7458, 0.6272, 0.3676],
}

SHAPES = [(80, 5), (15, 40)]  # more rows than features, and fewer


def make_problem(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, n_features)) + 1
    Y = (X[:, :3] @ rng.normal(size=(3, 6)) + rng.normal(size=(n_rows, 6)) > 0.5).astype(float)
    return X, Y


def omega(X: np.ndarray, Y: np.ndarray, alpha: float, ridge: float, center: bool) -> np.ndarray:
    """The row x row matrix of the paper; the constant is a feature unless labels are centred."""
    F = StandardScaler().fit_transform(X)
    if center:
        Y = Y - Y.mean(axis=0)
    else:
        F = np.column_stack([F, np.ones(len(F))])
    hat = F @ np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T)
    return Y @ Y.T + alpha * hat


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", [0.0, 0.1, 20.0, 1e4])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_codes_solve_the_eigenproblem(
    shape: tuple[int, int], alpha: float, center: bool, stored: Any
) -> None:
    X, Y = make_problem(*shape)
    X = StandardScaler().fit_transform(X)  # as dense features would be anyway
    k = 4
    encoder = ImplicitLabelSpace(k, alpha, center=center, ridge=2.0)
    Z = encoder.fit_transform(stored(Y), stored(X))
    values, vectors = np.linalg.eigh(omega(X, Y, alpha, 2.0, center))
    assert_allclose(encoder.eigenvalues_, values[::-1][:k], rtol=1e-9)
    assert_allclose(Z @ Z.T, vectors[:, -k:] @ vectors[:, -k:].T, atol=1e-7)
    assert_allclose(Z.T @ Z, np.eye(k), atol=1e-8)
    labels = Y - Y.mean(axis=0) if center else Y
    assert_allclose(encoder.components_, np.linalg.lstsq(Z, labels)[0], atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", [0.0, 0.1, 20.0, 1e4])
@pytest.mark.parametrize("center", [False, True])
def test_iteration_finds_the_same_codes(
    shape: tuple[int, int], alpha: float, center: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = make_problem(*shape)
    X = sparse.csr_array(StandardScaler().fit_transform(X))
    encoder = ImplicitLabelSpace(3, alpha, center=center, ridge=2.0)
    expected = encoder.fit_transform(Y, X)
    values = encoder.eigenvalues_
    monkeypatch.setattr(_ridge, "LARGEST_SPARSE_FACTOR", 0)
    assert_allclose(encoder.fit_transform(sparse.csr_array(Y), X), expected, atol=1e-4)
    assert_allclose(encoder.eigenvalues_, values, rtol=1e-5)


def test_directions_that_tie_leave_codes_that_are_zero_or_codes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No row has the last labels: their codes are among as many eigenvectors as there are rows."""
    monkeypatch.setattr(_ridge, "LARGEST_SPARSE_FACTOR", 0)
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((300, 400)) < 0.02).astype(float)
    Y = np.hstack([rng.random((300, 3)) < 0.3, np.zeros((300, 3))]) * 1.0
    Z = ImplicitLabelSpace(1.0, 0.1).fit_transform(Y, X)
    inner = Z.T @ Z
    assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-6)
    assert set(np.diag(inner).round(6)) <= {0.0, 1.0}
    assert np.diag(inner)[:3].min() > 0.99


def test_no_other_codes_do_better() -> None:
    X, Y = make_problem(40, 5)
    Z = ImplicitLabelSpace(3, 10.0).fit_transform(Y, X)
    matrix = omega(X, Y, 10.0, 1.0, center=False)
    best = np.trace(Z.T @ matrix @ Z)
    for seed in range(20):
        other = ortho_group.rvs(40, random_state=seed)[:, :3]
        assert np.trace(other.T @ matrix @ other) < best


def test_without_features_it_is_plst_without_centring() -> None:
    X, Y = make_problem(80, 5)
    X_new = make_problem(30, 5)[0]
    V = np.linalg.svd(Y)[2][:3].T
    ridge = make_pipeline(StandardScaler(), Ridge(2.0)).fit(X, Y @ V)
    scores = FaIE(3, predictability_weight=0.0, ridge=2.0).fit(X, Y).decision_function(X_new) + 0.5
    assert_allclose(scores, ridge.predict(X_new) @ V.T, atol=1e-9)


def test_without_features_but_centred_it_is_plst() -> None:
    X, Y = make_problem(80, 5)
    X_new = make_problem(30, 5)[0]
    scores = FaIE(3, predictability_weight=0.0, center=True).fit(X, Y).decision_function(X_new)
    assert_allclose(scores, PLST(3).fit(X, Y).decision_function(X_new), atol=1e-9)


@pytest.mark.parametrize("center", [False, True])
def test_codes_of_new_labels_decode_closest(center: bool) -> None:
    X, Y = make_problem(80, 5)
    encoder = ImplicitLabelSpace(3, 50.0, center=center).fit(Y, X)
    new = (np.random.default_rng(0).random((10, 6)) < 0.5).astype(float)
    expected = np.linalg.lstsq(encoder.components_.T, (new - encoder.label_mean_).T)[0].T
    assert_allclose(encoder.transform(new), expected, atol=1e-10)
    plain = ImplicitLabelSpace(3, 0.0, center=center)
    codes = plain.fit_transform(Y, X)
    assert_allclose(plain.transform(Y), codes, atol=1e-9)


def test_a_large_alpha_leaves_codes_that_features_predict() -> None:
    X, Y = make_problem(80, 5)
    F = np.column_stack([StandardScaler().fit_transform(X), np.ones(80)])
    outside = np.eye(80) - F @ np.linalg.pinv(F)
    by_labels = ImplicitLabelSpace(3, 0.0).fit_transform(Y, X)
    by_features = ImplicitLabelSpace(3, 1e9).fit_transform(Y, X)
    assert np.linalg.norm(outside @ by_features) < 1e-5
    assert np.linalg.norm(outside @ by_labels) > 0.5


@pytest.mark.parametrize("shape", [(80, 1), (3, 10)])
def test_codes_beyond_the_rank_are_zero(shape: tuple[int, int]) -> None:
    X, Y = make_problem(*shape) if shape[1] > 3 else (make_problem(80, 3)[0][:, :1], None)
    Y = np.zeros((80, 6)) if Y is None else Y
    Z = ImplicitLabelSpace(1.0, 1.0).fit_transform(Y, X)
    assert Z.shape == (shape[0], 6)
    squares = np.sum(Z**2, axis=0)
    rank = min(3, shape[1] + 1) if shape[0] == 3 else 2
    assert_allclose(squares, np.repeat([1.0, 0.0], [rank, 6 - rank]), atol=1e-8)


@pytest.mark.parametrize("alpha", [-1.0, np.inf, np.nan, "1"])
def test_an_impossible_alpha_is_refused(alpha: Any) -> None:
    with pytest.raises(ValueError, match=r"'predictability_weight' .* \[0\.0, inf\)\. Got"):
        FaIE(predictability_weight=alpha).fit(*make_problem(80, 5))


@pytest.mark.parametrize(("name", "alpha"), sorted(REFERENCE))
def test_reference_numbers(data_home: Path, name: str, alpha: float) -> None:
    X, Y, X_test, Y_test = load_dataset(name, data_home).split()
    model = FaIE(predictability_weight=alpha, ridge=10.0).fit(X, Y)
    measured = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    assert_allclose(list(measured.values()), REFERENCE[name, alpha], rtol=0, atol=1e-3)
