"""ML-CSSP draws labels by leverage and recovers the others by least squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import chisquare
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll.methods.column_subset import MLCSSP, leverage_scores

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(150, 4))
    Y = (X @ rng.normal(size=(4, 6)) + rng.normal(size=(150, 6)) > rng.normal(size=6)).astype(int)
    return X[:100], Y[:100], X[100:]


@given(
    seed=st.integers(0, 10_000), k=st.integers(1, 7), n_rows=st.integers(1, 20), twins=st.booleans()
)
@settings(max_examples=50, deadline=None)
def test_leverage_scores_sum_to_the_number_of_vectors(
    seed: int, k: int, n_rows: int, twins: bool
) -> None:
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, 7)) < rng.uniform(0, 1, 7)).astype(float)
    if twins:
        Y[:, 4:] = Y[:, :3]
    scores = leverage_scores(Y.T @ Y, k)
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert_allclose(scores.sum(), min(k, np.linalg.matrix_rank(Y)), atol=1e-9)
    assert not scores[~Y.any(axis=0)].any()


@pytest.mark.parametrize("k", [1, 3, 6])
def test_leverage_scores_are_those_of_the_singular_vectors(problem: Problem, k: int) -> None:
    X, Y, _ = problem
    V = np.linalg.svd(Y)[2][:k].T
    expected = np.sum(V**2, axis=1)
    assert_allclose(MLCSSP(k).fit(X, Y).leverage_, expected, atol=1e-10)
    assert_allclose(MLCSSP(k).fit(X, sparse.csr_array(Y)).leverage_, expected, atol=1e-10)


def test_first_draw_follows_the_leverage_scores(problem: Problem) -> None:
    X, Y, _ = problem
    rng = np.random.RandomState(0)
    model = MLCSSP(1, random_state=rng)
    drawn = [int(model.fit(X[:40], Y[:40]).landmarks_[0]) for _ in range(500)]
    assert chisquare(np.bincount(drawn, minlength=6), 500 * model.leverage_).pvalue > 1e-3


def test_scores_are_recovered_from_the_landmarks(problem: Problem) -> None:
    X, Y, X_new = problem
    model = MLCSSP(3, ridge=2.0, random_state=1).fit(X, Y)
    landmarks = model.landmarks_
    assert len(set(landmarks)) == 3
    ridge = make_pipeline(StandardScaler(), Ridge(2.0)).fit(X, Y[:, landmarks])
    expected = ridge.predict(X_new) @ np.linalg.pinv(Y[:, landmarks]) @ Y
    assert_allclose(model.decision_function(X_new) + 0.5, expected, atol=1e-9)
    # A landmark recovers itself, and no three columns recover all better than three directions.
    assert_allclose(model.recovery_[:, landmarks], np.eye(3), atol=1e-10)
    error = np.linalg.norm(Y - Y[:, landmarks] @ model.recovery_)
    assert error >= np.linalg.norm(np.linalg.svd(Y)[1][3:]) - 1e-9


def test_the_draw_does_not_depend_on_the_order_of_the_columns(problem: Problem) -> None:
    X, Y, _ = problem
    order = np.array([3, 1, 5, 0, 4, 2])
    for seed in range(10):
        one = MLCSSP(2, random_state=seed).fit(X, Y).landmarks_
        other = MLCSSP(2, random_state=seed).fit(X, Y[:, order]).landmarks_
        assert_array_equal(order[other], one)


def test_seeds_give_different_landmarks(problem: Problem) -> None:
    X, Y, _ = problem
    sets = {frozenset(MLCSSP(2, random_state=s).fit(X, Y).landmarks_) for s in range(20)}
    assert len(sets) > 3


def test_labels_that_never_occur_are_never_drawn(problem: Problem) -> None:
    X, Y, X_new = problem
    Y = Y.copy()
    Y[:, [1, 4]] = 0
    for k in (3, 6):
        model = MLCSSP(k, random_state=0).fit(X, Y)
        assert set(model.landmarks_) <= {0, 2, 3, 5}
        assert len(model.landmarks_) == min(k, 4)
        assert not model.predict(X_new)[:, [1, 4]].any()
    nothing = MLCSSP(2).fit(X, np.zeros_like(Y))
    assert len(nothing.landmarks_) == 0
    assert not nothing.predict(X_new).any()


def test_collinear_landmarks_are_harmless(problem: Problem) -> None:
    X, Y, X_new = problem
    Y = Y[:, [0, 0, 1, 1]]
    model = MLCSSP(4, ridge=2.0, random_state=0).fit(X, Y)
    assert len(model.landmarks_) == 4
    expected = make_pipeline(StandardScaler(), Ridge(2.0)).fit(X, Y).predict(X_new)
    assert_allclose(model.decision_function(X_new) + 0.5, expected, atol=1e-8)
