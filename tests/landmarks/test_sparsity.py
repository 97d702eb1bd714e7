"""lambda2="auto" drops labels that cost nothing to drop, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from splmll import SPLMLL
from splmll.landmarks.sparsity import LAMBDA2_GRID, explained_by_fold, sparsest_of_the_best


def make_problem(n_rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Four labels that belong together, a rare one of its own that X tells, and two of noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    together = X[:, :1] + 0.3 * rng.normal(size=(n_rows, 4)) > 0
    rare = X[:, 1:2] > 1.7
    noise = rng.random((n_rows, 2)) < 0.05
    return X, np.hstack([together, rare, noise]).astype(float)


RARE, NOISE = 4, [5, 6]


def test_a_rare_label_that_no_other_tells_is_kept() -> None:
    X, Y = make_problem()
    # A linear map tells a threshold in X only roughly, but far better than the other labels do.
    dropped = SPLMLL("linear", lambda2=0.5, random_state=0).fit(X, Y)
    assert dropped.selection_[RARE] == 0
    chosen = SPLMLL("linear", random_state=0).fit(X, Y)
    assert chosen.selection_[RARE] > 0
    assert chosen.lambda2_ < 0.5


def test_labels_of_noise_are_dropped() -> None:
    X, Y = make_problem()
    Y = np.delete(Y, RARE, axis=1)
    chosen = SPLMLL("linear", random_state=0).fit(X, Y)
    assert not chosen.selection_[-2:].any()
    assert chosen.selection_.any()


@pytest.mark.parametrize("selection", ["soft", "hard"])
def test_the_chosen_fit_is_the_fit_with_that_number(selection: str) -> None:
    X, Y = make_problem()
    chosen = SPLMLL("linear", selection=selection, random_state=0).fit(X, Y)
    assert chosen.lambda2_ in LAMBDA2_GRID
    given = SPLMLL("linear", selection=selection, lambda2=chosen.lambda2_, random_state=0)
    assert_array_equal(given.fit(X, Y).selection_, chosen.selection_)
    assert_array_equal(given.decision_function(X), chosen.decision_function(X))
    assert given.lambda2_ == chosen.lambda2_


@pytest.mark.parametrize(
    "settings",
    [
        {"recovery": "labels", "threshold": 0.5, "cv": None},
        {"recovery": "labels"},
        {"joint": False},
        {"n_landmarks": 3},
        {"selection": "all"},
    ],
    ids=str,
)
def test_where_nothing_is_measured_it_is_one_half(settings: dict) -> None:
    X, Y = make_problem(200)
    chosen = SPLMLL("linear", random_state=0, **settings).fit(X, Y)
    given = SPLMLL("linear", random_state=0, lambda2=0.5, **settings).fit(X, Y)
    assert chosen.lambda2_ == 0.5
    assert_array_equal(chosen.selection_, given.selection_)


def test_another_word_is_refused() -> None:
    X, Y = make_problem(60)
    with pytest.raises(ValueError, match='a number or "auto"'):
        SPLMLL("linear", lambda2="small").fit(X, Y)


def test_nothing_to_choose_among_constant_labels() -> None:
    X, _ = make_problem(60)
    model = SPLMLL("linear", random_state=0).fit(X, np.ones((60, 3)))
    assert len(model.landmarks_) == 0


# What is explained ---------------------------------------------------------------------------


def test_perfect_scores_explain_all_and_means_nothing() -> None:
    _, Y = make_problem(100)
    fold = np.arange(100) % 4
    assert_allclose(explained_by_fold(Y, Y, fold), 1)
    means = np.tile(Y.mean(axis=0), (100, 1))
    # The folds differ in how often a label occurs; together they hold exactly all the variance.
    assert_allclose(explained_by_fold(Y, means, fold).mean(), 0, atol=1e-12)


def test_every_label_counts_alike() -> None:
    _, Y = make_problem(100)
    fold = np.zeros(100, dtype=int)
    for label in range(Y.shape[1]):
        scores = np.tile(Y.mean(axis=0), (100, 1))
        scores[:, label] = Y[:, label]
        assert_allclose(explained_by_fold(Y, scores, fold), 1 / Y.shape[1])


def test_unknown_and_constant_labels_do_not_count() -> None:
    rng = np.random.default_rng(1)
    _, Y = make_problem(100)
    fold = np.arange(100) % 4
    scores = Y + 0.1 * rng.normal(size=Y.shape)
    expected = explained_by_fold(Y, scores, fold)
    wider = np.column_stack([Y, np.ones(100), np.full(100, np.nan)])
    found = explained_by_fold(wider, np.column_stack([scores, scores[:, :2]]), fold)
    assert_allclose(found, expected)
    partly = Y.copy()
    partly[::7, 2] = np.nan
    elsewhere = scores.copy()
    elsewhere[::7, 2] = 1e6
    assert explained_by_fold(partly, elsewhere, fold).min() > 0.5
    assert_allclose(explained_by_fold(sparse.csr_array(Y), scores, fold), expected)


def test_a_denser_selection_must_be_better_than_noise() -> None:
    sparse_one = np.array([0.50, 0.52, 0.48, 0.50])
    noisy = sparse_one + [0.03, -0.02, 0.02, -0.02]
    clear = sparse_one + [0.03, 0.02, 0.02, 0.03]
    assert sparsest_of_the_best(np.array([sparse_one, noisy])) == 0
    assert sparsest_of_the_best(np.array([sparse_one, clear])) == 1
    assert sparsest_of_the_best(np.array([sparse_one, sparse_one])) == 0
