"""MLML: its weights, its three steps together, and numbers on real data."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import ortho_group
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from splmll.datasets import load_dataset
from splmll.methods import _sign_regression
from splmll.methods.manifold_learning import MLML, locally_linear_weights
from splmll.metrics import evaluate
from splmll.thresholds import GlobalThreshold

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1 on the standard split of
# emotions with 7 neighbours and weights that are not regularised, by an independent program that
# used the reweighting of the paper; its three digits and its tolerance allow 2e-3.
PUBLISHED_WEIGHTS = {
    1.0: [0.157, 0.201, 0.807, 0.665, 0.655],
    10.0: [0.150, 0.201, 0.816, 0.676, 0.669],
}

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(110, 5))
    Y = (X @ rng.normal(size=(5, 3)) + rng.normal(size=(110, 3)) > 0.3).astype(int)
    return X[:80], Y[:80], X[80:]


class PlainWeights(MLML):
    """With the weights of the paper, not regularised."""

    def _reconstruction(self, X: Any) -> sparse.csr_array:
        k = self.label_format_.n_labels + 1
        W = np.zeros((len(X), len(X)))
        distance = euclidean_distances(X)
        np.fill_diagonal(distance, np.inf)
        for i, row in enumerate(X):
            near = np.argsort(distance[i])[:k]
            w = np.linalg.solve((row - X[near]) @ (row - X[near]).T, np.ones(k))
            W[i, near] = w / w.sum()
        return sparse.csr_array(W)


@pytest.mark.parametrize("k", [1, 4, 9])
def test_weights_agree_with_scikit_learn(problem: Problem, k: int) -> None:
    X = problem[0]
    ours = locally_linear_weights(X, k)
    assert_allclose(ours.toarray(), barycenter_kneighbors_graph(X, k).toarray(), atol=1e-10)
    assert_allclose(ours.sum(axis=1), 1.0, atol=1e-12)
    assert_array_equal(ours.diagonal(), 0)


def test_weights_do_not_depend_on_place_turn_or_unit(problem: Problem) -> None:
    X = problem[0]
    expected = locally_linear_weights(X, 4).toarray()
    for moved in (X + 100.0, X @ ortho_group.rvs(5, random_state=0), 0.01 * X):
        assert_allclose(locally_linear_weights(moved, 4).toarray(), expected, atol=1e-8)


def test_weights_of_equal_rows_and_of_many_neighbours(problem: Problem) -> None:
    X = np.repeat(problem[0][:10], 3, axis=0)
    for k in (2, 5, 29, 100):
        weights = locally_linear_weights(X, k)
        assert weights.nnz == 30 * min(k, 29)
        assert np.isfinite(weights.data).all()
        assert_allclose(weights.sum(axis=1), 1.0)
    # Two twins rebuild each row perfectly, each with half the weight.
    assert_allclose(locally_linear_weights(X, 2).data, 0.5)


def test_sparse_rows_have_the_same_weights(problem: Problem) -> None:
    X = np.where(np.abs(problem[0]) < 0.4, 0.0, problem[0])
    stored = locally_linear_weights(sparse.csr_array(X), 6)
    assert_allclose(stored.toarray(), locally_linear_weights(X, 6).toarray(), atol=1e-8)


def test_number_of_neighbours_defaults_to_labels_plus_one(problem: Problem) -> None:
    X, Y, _ = problem
    model = MLML().fit(X, Y)
    assert_array_equal(np.diff(model.reconstruction_.indptr), 4)
    assert_array_equal(np.diff(MLML(500).fit(X, Y).reconstruction_.indptr), 79)
    chosen = MLML(4).fit(X, Y)
    assert_array_equal(chosen.numerical_labels_, model.numerical_labels_)


def test_without_tube_and_signs_it_is_kernel_ridge_on_the_numerical_labels(
    problem: Problem,
) -> None:
    X, Y, X_new = problem
    model = MLML(fit_weight=3.0, sign_weight=0.0, epsilon=0.0).fit(X, Y)
    Z, Z_new = ((part - X.mean(axis=0)) / X.std(axis=0) for part in (X, X_new))
    mu = model.numerical_labels_
    distance = euclidean_distances(Z)
    gamma = 1 / (2 * distance[np.triu_indices(80, k=1)].mean() ** 2)
    ones = np.ones((80, 1))
    system = np.block(
        [[rbf_kernel(Z, gamma=gamma) + np.eye(80) / 6, ones], [ones.T, np.zeros((1, 1))]]
    )
    solved = np.linalg.solve(system, np.vstack([mu, np.zeros((1, 3))]))
    expected = rbf_kernel(Z_new, Z, gamma=gamma) @ solved[:-1] + solved[-1]
    assert_allclose(model.decision_function(X_new), expected + 1e-6, atol=1e-7)
    assert_array_equal(model.predict(X_new), (expected >= 0).astype(int))


def test_steps_do_what_they_promise(problem: Problem) -> None:
    X, Y, _ = problem
    model = MLML().fit(X, Y)
    signs, mu, W = 2 * Y - 1, model.numerical_labels_, model.reconstruction_
    assert (signs * mu).min() >= 1
    assert (((mu - W @ mu) ** 2).sum(axis=0) < ((signs - W @ signs) ** 2).sum(axis=0)).all()
    assert np.diff(model.objective_).max() <= 1e-9 * model.objective_[0]


def test_labels_are_cut_at_zero_even_where_a_rule_cannot_be_learnt(problem: Problem) -> None:
    X, Y, _ = problem
    assert MLML().fit(X, Y).threshold_ == GlobalThreshold(0.0)
    assert MLML(threshold="micro_f1").fit(X[:40], Y[:40]).threshold_ == GlobalThreshold(0.0)
    probabilities = MLML().fit(X, Y).predict_proba(X)
    assert_array_equal(probabilities >= 0.5, MLML().fit(X, Y).predict(X) == 1)


def test_rows_at_the_kink_count_as_relevant(problem: Problem) -> None:
    X, Y, _ = problem
    model = MLML(sign_weight=5.0).fit(X, Y)
    share = model.regression_.sign_share_
    at_kink = (share > 0) & (share < 1)
    assert at_kink.any()
    assert_allclose(model.decision_function(X)[at_kink], 1e-6, atol=2e-7)
    assert model.predict(X)[at_kink].all()


def test_units_of_the_features_do_not_matter(problem: Problem) -> None:
    X, Y, X_new = problem
    factor, shift = np.array([1e-3, 50.0, -2.0, 1.0, 7.0]), np.array([0.0, 3.0, 1.0, -9.0, 100.0])
    expected = MLML().fit(X, Y).decision_function(X_new)
    changed = MLML().fit(X * factor + shift, Y).decision_function(X_new * factor + shift)
    assert_allclose(changed, expected, atol=1e-5)
    raw = MLML(scale=None).fit(X * factor, Y).decision_function(X_new * factor)
    assert np.abs(raw - expected).max() > 0.1


def test_many_rows_use_kernel_features(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, X_new = problem
    exact = MLML(random_state=0).fit(X, Y).decision_function(X_new)
    monkeypatch.setattr(_sign_regression, "EXACT_ROWS", 60)
    monkeypatch.setattr(_sign_regression, "N_LANDMARKS", 50)
    model = MLML(random_state=0).fit(X, Y)
    assert model.regression_._coefficients.shape == (50, 3)
    assert np.abs(model.decision_function(X_new) - exact).mean() < 0.1
    again = MLML(random_state=0).fit(X, Y).decision_function(X_new)
    assert_array_equal(model.decision_function(X_new), again)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, r"'n_neighbors' .* in the range \[1, inf\) or None\. Got 0"),
        ({"fit_weight": 0.0}, r"'fit_weight' .* in the range \(0\.0, inf\)\. Got 0\.0"),
        ({"sign_weight": -1.0}, r"'sign_weight' .* in the range \[0\.0, inf\)\. Got -1\.0"),
        ({"epsilon": np.inf}, r"'epsilon' .* in the range \[0\.0, inf\)\. Got inf"),
        ({"width": 0.0}, r"'width' .* in the range \(0\.0, inf\) or None\. Got 0\.0"),
        ({"scale": "robust"}, r"among \{'auto', 'minmax', 'standard'\} or None\. Got 'robust'"),
    ],
)
def test_impossible_parameters_are_refused(
    problem: Problem, parameters: dict[str, Any], message: str
) -> None:
    X, Y, _ = problem
    with pytest.raises(ValueError, match=message):
        MLML(**parameters).fit(X, Y)


def test_a_single_row_is_refused() -> None:
    with pytest.raises(ValueError, match=r"MLML found n_samples = 1: give it at least 2 rows"):
        MLML().fit([[1.0, 2.0]], [[1, 0]])


@pytest.mark.parametrize("fit_weight", sorted(PUBLISHED_WEIGHTS))
def test_reference_numbers(data_home: Path, fit_weight: float) -> None:
    X, Y, X_test, Y_test = load_dataset("emotions", data_home).split()
    model = PlainWeights(fit_weight=fit_weight).fit(X, Y)
    measured = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    assert_allclose(list(measured.values()), PUBLISHED_WEIGHTS[fit_weight], rtol=0, atol=1e-3)


def test_regularised_weights_change_little(data_home: Path) -> None:
    X, Y, X_test, Y_test = load_dataset("emotions", data_home).split()
    ours, plain = MLML().fit(X, Y), PlainWeights().fit(X, Y)
    for name, value in evaluate(
        Y_test, ours.decision_function(X_test), ours.predict(X_test)
    ).items():
        other = evaluate(Y_test, plain.decision_function(X_test), plain.predict(X_test))[name]
        assert value == pytest.approx(other, abs=5e-3)
