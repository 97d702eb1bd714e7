"""PBR regresses the labels it draws and gives the others their frequency."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll.methods.random_label_subset import PBR

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 4))
    thresholds = [0, 1, -1, 2, 0.5]
    Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(150, 5)) > thresholds).astype(int)
    return X[:100], Y[:100], X[100:]


@pytest.mark.parametrize("k", [1, 2, 4])
def test_landmarks_are_regressed_and_the_others_get_their_mean(problem: Problem, k: int) -> None:
    X, Y, X_new = problem
    model = PBR(k, ridge=2.0, random_state=0).fit(X, Y)
    drawn = model.landmarks_
    assert len(drawn) == k
    scores = model.decision_function(X_new) + 0.5
    ridge = make_pipeline(StandardScaler(), Ridge(2.0)).fit(X, Y)
    assert_allclose(scores[:, drawn], ridge.predict(X_new)[:, drawn], atol=1e-10)
    left = np.setdiff1d(np.arange(5), drawn)
    assert_allclose(scores[:, left], np.tile(Y[:, left].mean(axis=0), (50, 1)), atol=1e-12)
    assert_array_equal(model.recovery_.sum(axis=1), np.ones(k))


def test_every_label_is_as_likely(problem: Problem) -> None:
    X, Y, _ = problem
    rng = np.random.RandomState(0)
    model = PBR(2, random_state=rng)
    pairs = Counter(tuple(model.fit(X[:40], Y[:40]).landmarks_.tolist()) for _ in range(400))
    assert len(pairs) == 10
    assert chisquare(list(pairs.values())).pvalue > 1e-3


def test_the_draw_does_not_depend_on_the_order_of_the_columns(problem: Problem) -> None:
    X, Y, _ = problem
    order = np.array([3, 1, 0, 4, 2])
    for seed in range(10):
        one = PBR(2, random_state=seed).fit(X, Y).landmarks_
        other = PBR(2, random_state=seed).fit(X, Y[:, order]).landmarks_
        assert set(order[other]) == set(one)


def test_constant_labels_are_never_drawn(problem: Problem) -> None:
    X, Y, X_new = problem
    Y = Y.copy()
    Y[:, 0], Y[:, 3] = 0, 1
    for seed in range(10):
        assert set(PBR(2, random_state=seed).fit(X, Y).landmarks_) <= {1, 2, 4}
    model = PBR(5).fit(X, pd.DataFrame(Y, columns=list("abcde")))
    assert list(model.landmarks_) == ["b", "c", "e"]
    assert_array_equal(model.predict(X_new)[["a", "d"]], np.tile([0, 1], (50, 1)))
    nothing = PBR(2).fit(X, np.zeros_like(Y))
    assert len(nothing.landmarks_) == 0
    assert not nothing.predict(X_new).any()


def test_a_discarded_label_is_predicted_where_most_rows_have_it(problem: Problem) -> None:
    X, Y, X_new = problem
    often = Y.mean(axis=0) >= 0.5
    assert often.any()
    assert not often.all()
    for seed in range(10):
        model = PBR(1, random_state=seed).fit(X, Y)
        left = np.setdiff1d(np.arange(5), model.landmarks_)
        assert_array_equal(model.predict(X_new)[:, left], np.tile(often[left], (50, 1)))
