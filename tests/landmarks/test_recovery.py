"""From the predictions of landmarks to all labels: the optimum, its limits, and honest folds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from splmll.landmarks.recovery import CrossFittedRecovery, Map, logarithm, softened
from splmll.statistics import fold_statistics

seeds = st.integers(0, 2**32 - 1)
FOLD = np.arange(80) % 4


def predictions(seed: int, C: int = 5, K: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(80, 2))
    Y = (causes @ rng.normal(size=(2, C)) + 0.5 * rng.normal(size=(80, C)) > 0).astype(float)
    Y[:2] = [[0.0], [1.0]]  # every label varies
    landmarks = rng.permutation(C)[:K]
    return 3 + Y[:, landmarks] + 0.5 * rng.normal(size=(80, K)), Y, landmarks


def recovery_of(F: np.ndarray, Y: np.ndarray, landmarks: np.ndarray) -> CrossFittedRecovery:
    parts = fold_statistics(F, Y, FOLD, center_features=False, label_pairs=False)
    return CrossFittedRecovery(parts, landmarks, np.ptp(Y, axis=0) > 0)


def own_slopes(F: np.ndarray, Y: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """P, row by row, from one regression after the other."""
    P = np.zeros((len(landmarks), Y.shape[1]))
    for row, label in enumerate(landmarks):
        slope = LinearRegression().fit(F[:, [row]], Y[:, label]).coef_[0]
        P[row, label] = max(slope, 0.0)
    return P


@given(seed=seeds, pull=st.sampled_from([1e-3, 0.1, 1.0, 10.0]))
@settings(max_examples=30, deadline=None)
def test_the_gradient_is_zero(seed: int, pull: float) -> None:
    """d/dA of ||Y - F A||^2 / n + rho ||A - P||^2 at the answer, from the rows."""
    F, Y, landmarks = predictions(seed)
    found = recovery_of(F, Y, landmarks).map(pull)
    Fc, Yc = F - F.mean(axis=0), Y - Y.mean(axis=0)
    rho = pull * np.mean(Fc.var(axis=0))
    A, P = found.recovery, own_slopes(F, Y, landmarks)
    slope = -2 * Fc.T @ (Yc - Fc @ A) / 80 + 2 * rho * (A - P)
    assert_allclose(slope, 0, atol=1e-9 * (1 + pull))
    assert_allclose(found(F).mean(axis=0), Y.mean(axis=0), atol=1e-9)


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_no_pull_is_least_squares(seed: int) -> None:
    F, Y, landmarks = predictions(seed)
    expected = LinearRegression().fit(F, Y).predict(F)
    assert_allclose(recovery_of(F, Y, landmarks).map(0.0)(F), expected, atol=1e-5)


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_all_pull_leaves_every_landmark_its_own_prediction(seed: int) -> None:
    F, Y, landmarks = predictions(seed)
    recovery = recovery_of(F, Y, landmarks)
    P = own_slopes(F, Y, landmarks)
    assert_allclose(recovery.map(np.inf).recovery, P, atol=1e-9)
    assert_allclose(recovery.map(1e9).recovery, P, atol=1e-6)


def test_a_prediction_that_goes_against_its_label_says_nothing_by_itself() -> None:
    F, Y, landmarks = predictions(3)
    F[:, 0] = -Y[:, landmarks[0]]
    assert not recovery_of(F, Y, landmarks).map(np.inf).recovery[0].any()


@pytest.mark.parametrize("pull", [0.1, np.inf])
def test_a_fold_is_recovered_by_the_others(pull: float) -> None:
    F, Y, landmarks = predictions(4)
    plain = recovery_of(F, Y, landmarks)
    changed = recovery_of(F, np.where((FOLD == 1)[:, None], 1 - Y, Y), landmarks)
    without = plain.map(pull, without=1), changed.map(pull, without=1)
    assert_allclose(without[0].recovery, without[1].recovery, atol=1e-9)
    assert_allclose(without[0].intercept, without[1].intercept, atol=1e-9)
    assert np.abs(plain.map(pull).recovery - changed.map(pull).recovery).max() > 0.01
    by_rows = recovery_of_rows(F, Y, landmarks, FOLD != 1, pull)
    assert_allclose(without[0].recovery, by_rows, atol=1e-9)


def recovery_of_rows(
    F: np.ndarray, Y: np.ndarray, landmarks: np.ndarray, rows: np.ndarray, pull: float
) -> np.ndarray:
    sums = fold_statistics(
        F[rows], Y[rows], np.zeros(rows.sum(), dtype=int), center_features=False, label_pairs=False
    )
    return CrossFittedRecovery(sums, landmarks, np.ones(Y.shape[1], dtype=bool)).map(pull).recovery


def test_the_unit_of_predictions_does_not_matter() -> None:
    F, Y, landmarks = predictions(1)
    for unit in (1e-4, 1e4):
        for pull in (0.0, 0.5, np.inf):
            one = recovery_of(F, Y, landmarks).map(pull)(F)
            other = recovery_of(unit * F, Y, landmarks).map(pull)(unit * F)
            assert_allclose(other, one, atol=1e-6)


def test_landmarks_that_are_predicted_alike_share_the_work() -> None:
    F, Y, landmarks = predictions(2)
    F[:, 1] = F[:, 0]
    found = recovery_of(F, Y, landmarks).map(0.0)
    assert np.isfinite(found.recovery).all()
    expected = LinearRegression().fit(F[:, [0, 2]], Y).predict(F[:, [0, 2]])
    assert_allclose(found(F), expected, atol=1e-4)


def test_constant_labels_score_their_mean() -> None:
    F, Y, landmarks = predictions(5)
    hidden = np.setdiff1d(np.arange(5), landmarks)
    Y[:, hidden[0]], Y[:, hidden[1]] = 0.0, 1.0
    scores = recovery_of(F, Y, landmarks).map(0.1)(F)
    assert_array_equal(scores[:, hidden], np.tile([0.0, 1.0], (80, 1)))


def test_as_it_is() -> None:
    F = np.array([[0.3, 0.6]])
    found = Map.identity(np.array([2, 0]), np.array([0.1, 0.2, 0.3]))
    assert_allclose(found(F), [[0.6, 0.2, 0.3]])


# Probabilities ----------------------------------------------------------------------------------


@given(st.floats(0.05, 1.0), st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_softened_probabilities_keep_their_order_and_middle(
    softness: float, values: list[float]
) -> None:
    F = np.sort(np.array(values))
    flat = softened(F, softness)
    assert (np.diff(flat) >= 0).all()
    assert flat.min() > 0 or softness == 1
    assert flat.max() < 1 or softness == 1
    assert (np.abs(flat - 0.5) <= np.abs(F - 0.5) + 1e-9).all()
    assert_allclose(softened(1 - F, softness), 1 - flat, atol=1e-6)
    assert softened(np.array([0.5]), softness)[0] == pytest.approx(0.5)


@given(st.floats(0.05, 3.0), st.floats(-3, 3), st.floats(0.001, 0.999))
def test_leaning_moves_the_middle(softness: float, lean: float, value: float) -> None:
    middle = 1 / (1 + np.exp(lean))
    assert softened(np.array([middle]), softness, lean)[0] == pytest.approx(0.5)
    odds = (value / (1 - value) * np.exp(lean)) ** softness
    assert softened(np.array([value]), softness, lean)[0] == pytest.approx(odds / (1 + odds))


def test_softness_one_changes_nothing_whatever_is_given() -> None:
    F = np.array([-3.0, 0.2, 7.0])
    assert_array_equal(softened(F, 1.0), F)


def test_what_leans_is_steepest_where_it_leans_to() -> None:
    log_odds = np.linspace(-6, 6, 1201)
    leaned = softened(1 / (1 + np.exp(-log_odds)), 2.0, 1.5)
    assert log_odds[np.argmax(np.gradient(leaned))] == pytest.approx(-1.5, abs=0.02)
    assert leaned[np.argmin(np.abs(log_odds + 1.5))] == pytest.approx(0.5)


def test_softening_twice_is_softening_once() -> None:
    F = np.random.default_rng(0).random(50)
    assert_allclose(softened(softened(F, 0.5), 0.6), softened(F, 0.3))


def test_the_logarithm_ends_where_nothing_is_told_apart() -> None:
    assert_allclose(logarithm(np.array([1.0, 0.1, 1e-9, 1e-12, 0.0])), [0, -1, -9, -9, -9])
