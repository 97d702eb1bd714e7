"""From landmarks to all labels: the optimum, its two limits, and landmarks partly known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge

from splmll.landmarks.exact import solve_recovery
from splmll.landmarks.recovery import complete, recover_crossfitted

seeds = st.integers(0, 2**32 - 1)


def predictions(seed, n=80, C=5, K=3):
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 2))
    Y = (causes @ rng.normal(size=(2, C)) + 0.5 * rng.normal(size=(n, C)) > 0).astype(float)
    landmarks = rng.permutation(C)[:K]
    F = Y[:, landmarks] + 0.5 * rng.normal(size=(n, K))
    Y, F = Y - Y.mean(axis=0), F - F.mean(axis=0)
    return F, Y, landmarks, rng.uniform(0.2, 1.5, size=K)


def recover(F, Y, landmarks, weights, shrinkage):
    n = len(Y)
    return recover_crossfitted(F.T @ F / n, F.T @ Y / n, landmarks, weights, shrinkage)


def prior(landmarks, weights, C):
    P = np.zeros((len(landmarks), C))
    for row, (label, b) in enumerate(zip(landmarks, weights)):
        P[row, label] = 1 / b
    return P


@given(seed=seeds, shrinkage=st.sampled_from([1e-3, 0.1, 1.0, 10.0]))
@settings(max_examples=30, deadline=None)
def test_the_gradient_is_zero(seed, shrinkage):
    """d/dA of ||Y - F B A||^2 / n + rho ||A - P||^2 at the answer, from the rows."""
    F, Y, landmarks, weights = predictions(seed)
    A = recover(F, Y, landmarks, weights, shrinkage)
    FB = F * weights
    rho = shrinkage * np.mean((FB**2).mean(axis=0))
    slope = -2 * FB.T @ (Y - FB @ A) / len(Y) + 2 * rho * (A - prior(landmarks, weights, 5))
    np.testing.assert_allclose(slope, 0, atol=1e-12 * (1 + shrinkage))


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_no_shrinkage_is_least_squares(seed):
    F, Y, landmarks, weights = predictions(seed)
    A = recover(F, Y, landmarks, weights, 0.0)
    plain = LinearRegression(fit_intercept=False).fit(F * weights, Y).coef_.T
    np.testing.assert_allclose(A, plain, rtol=1e-5, atol=1e-7)
    # so the weights cancel: B A does not depend on them
    same = recover(F, Y, landmarks, np.ones(3), 0.0)
    np.testing.assert_allclose(weights[:, None] * A, same, rtol=1e-5, atol=1e-7)


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_much_shrinkage_lets_a_landmark_keep_its_own_prediction(seed):
    F, Y, landmarks, weights = predictions(seed)
    BA = weights[:, None] * recover(F, Y, landmarks, weights, 1e9)
    np.testing.assert_allclose(BA, np.eye(5)[landmarks], atol=1e-6)


def test_shrinkage_does_not_depend_on_the_unit_of_predictions():
    F, Y, landmarks, _ = predictions(1)
    for unit in (1e-4, 1e4):
        plain = recover(F, Y, landmarks, np.ones(3), 0.0)
        scaled = recover(unit * F, Y, landmarks, np.ones(3), 0.0)
        np.testing.assert_allclose(unit * scaled, plain, rtol=1e-5)
        # with shrinkage the pull is as strong as before, towards the prediction as it now is
        pull = recover(F, Y / unit, landmarks, np.ones(3), 0.5)
        np.testing.assert_allclose(recover(unit * F, Y, landmarks, np.ones(3), 0.5), pull)


def test_landmarks_that_are_predicted_alike_share_the_work():
    F, Y, landmarks, _ = predictions(2)
    F[:, 1] = F[:, 0]
    A = recover(F, Y, landmarks, np.ones(3), 0.0)
    assert np.isfinite(A).all()
    single = LinearRegression(fit_intercept=False).fit(F[:, [0, 2]], Y)
    np.testing.assert_allclose(F @ A, single.predict(F[:, [0, 2]]), atol=1e-5)


def labels(seed, n=60, C=5):
    rng = np.random.default_rng(seed)
    Y = (rng.normal(size=(n, 2)) @ rng.normal(size=(2, C)) > 0.2).astype(float)
    Y[:, 0] = rng.random(n) < 0.5
    return Y, Y.mean(axis=0), np.cov(Y.T, bias=True)


def test_all_known_is_the_ridge_regression_from_landmark_labels():
    Y, mean, G = labels(0)
    landmarks = np.array([3, 0])
    scores = complete(Y[:, landmarks], landmarks, mean, G[landmarks], rho=0.02)
    ridge = Ridge(alpha=0.02 * len(Y)).fit(Y[:, landmarks], Y)
    np.testing.assert_allclose(scores, ridge.predict(Y[:, landmarks]), atol=1e-10)
    # and the published recovery: the block of the exact solver for b in {0, 1}
    A = solve_recovery(G, np.isin(np.arange(5), landmarks).astype(float), 0.02)
    np.testing.assert_allclose(scores, mean + (Y - mean) @ A, atol=1e-10)


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_partly_known_is_the_regression_on_what_is_known(seed):
    Y, mean, G = labels(seed)
    rng = np.random.default_rng(seed)
    landmarks = np.array([4, 1, 2])
    given_labels = Y[:25, landmarks].copy()
    given_labels[rng.random(given_labels.shape) < 0.5] = np.nan
    before = given_labels.copy()
    scores = complete(given_labels, landmarks, mean, G[landmarks], rho=0.05)
    for row, score in zip(given_labels, scores):
        K = landmarks[~np.isnan(row)]
        if len(K) == 0:
            np.testing.assert_array_equal(score, mean)
            continue
        ridge = Ridge(alpha=0.05 * len(Y)).fit(Y[:, K], Y)
        expected = ridge.predict(row[~np.isnan(row)][None])[0]
        np.testing.assert_allclose(score, expected, atol=1e-9)
    np.testing.assert_array_equal(given_labels, before)


def test_nothing_known_is_the_mean():
    _, mean, G = labels(1)
    landmarks = np.array([0, 2])
    scores = complete(np.full((4, 2), np.nan), landmarks, mean, G[landmarks], rho=0.1)
    np.testing.assert_array_equal(scores, np.tile(mean, (4, 1)))
    none = complete(np.zeros((4, 0)), np.zeros(0, dtype=int), mean, np.zeros((0, 5)), rho=0.1)
    np.testing.assert_array_equal(none, np.tile(mean, (4, 1)))


def test_knowing_more_never_recovers_worse_on_the_rows_learned_from():
    Y, mean, G = labels(2, n=200)
    landmarks = np.array([0, 1, 2])
    errors = []
    for n_known in range(4):
        given_labels = np.where(np.arange(3) < n_known, Y[:, landmarks], np.nan)
        scores = complete(given_labels, landmarks, mean, G[landmarks], rho=1e-9)
        errors.append(np.mean((scores - Y) ** 2))
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == pytest.approx(Y.var(axis=0).mean())
