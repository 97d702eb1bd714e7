"""All labels from landmarks that are known, or partly known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from splmll.landmarks.completion import Completion, _worthwhile, complete
from splmll.landmarks.label_moments import label_sums
from splmll.thresholds import GlobalThreshold

seeds = st.integers(0, 2**32 - 1)


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


def learned(Y, landmarks, rule="micro_f1"):
    fold = np.arange(len(Y)) % 4
    fallback = GlobalThreshold(0.5)
    return Completion.learned(label_sums(Y, fold), landmarks, Y, fold, rule, fallback)


def test_the_threshold_counts_what_is_known_as_right():
    rng = np.random.default_rng(3)
    known = (rng.random((400, 1)) < 0.5) * 1.0
    # Followers that are true in a third of the rows where the landmark is: never above one half.
    followers = known * (rng.random((400, 4)) < 0.35)
    Y = np.hstack([known, followers])
    completion = learned(Y, np.array([0]))
    assert completion.counts.tolist() == [0, 1]
    assert completion.thresholds[1].value < 0.4
    assert completion.labels(np.array([[1.0]])).tolist() == [[1, 1, 1, 1, 1]]
    assert completion.labels(np.array([[0.0]])).tolist() == [[0, 0, 0, 0, 0]]
    fixed = learned(Y, np.array([0]), rule=0.9)
    assert fixed.labels(np.array([[1.0]])).tolist() == [[1, 0, 0, 0, 0]]


def test_nothing_is_filled_in_where_nothing_is_gained():
    rng = np.random.default_rng(4)
    Y = (rng.random((400, 5)) < [0.5, 0.03, 0.03, 0.03, 1.1]) * 1.0  # strangers, one always true
    completion = learned(Y, np.array([0]))
    assert completion.thresholds[1] is None
    known = np.array([[1.0], [0.0]])
    assert completion.labels(known).tolist() == [[1, 0, 0, 0, 1], [0, 0, 0, 0, 1]]
    np.testing.assert_array_equal(completion.probabilities(known) >= 0.5, completion.labels(known))


@pytest.mark.parametrize(("true", "false", "is_kept"), [(2, 0, True), (0, 2, False)])
def test_of_two_folds_both_must_gain(true, false, is_kept):
    """The mean of two gains exceeds its standard error, half their distance, if both are above 0.

    The first gains 0.2. With the variance divided by 2 in place of 1, the second might lose 0.02.
    """
    fold = np.repeat([0, 1], 40)
    Y = np.column_stack([np.ones(80), np.arange(80) < 20])
    Y[40 : 40 + true, 1] = 1
    scores = Y.copy()
    scores[40 : 40 + false, 1] = 1
    found = _worthwhile("hamming", Y, scores, np.array([0]), fold, np.array([False, False]))
    assert (found is not None) is is_kept


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_one_half_is_where_labels_begin(seed):
    rng = np.random.default_rng(seed)
    Y, _, _ = labels(seed)
    completion = learned(Y, np.array([2, 0, 4]), rule=rng.choice(["micro_f1", "per_label"]))
    known = rng.integers(0, 2, (30, 3)).astype(float)
    known[rng.random(known.shape) < 0.4] = np.nan
    p = completion.probabilities(known)
    np.testing.assert_array_equal(p >= 0.5, completion.labels(known) == 1)
    assert ((p >= 0) & (p <= 1)).all()


def test_no_landmark_nothing_to_tune():
    Y, mean, _ = labels(4)
    completion = learned(Y, np.zeros(0, dtype=int))
    assert completion.threshold == GlobalThreshold(0.5)
    np.testing.assert_allclose(completion.scores(np.zeros((2, 0))), np.tile(mean, (2, 1)))
