"""Weights of rows in SPLMLL: a whole number is that many copies, all the way to the thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from splmll import SPLMLL
from splmll.embeddings import (
    Blend,
    Kernel,
    KernelSVM,
    Linear,
    Network,
    OneVsRest,
    Stochastic,
    Trees,
)
from splmll.embeddings.wide_ridge import IterativeRidge, RowRidge

N_ROWS, N_LABELS, N_FOLDS = 160, 6, 4
QUICK = Network((8,), learning_rate=0.02, max_epochs=10)
USERS = [
    Linear(),
    OneVsRest(),
    OneVsRest(make_pipeline(MaxAbsScaler(), LogisticRegression())),
    Kernel(),
    KernelSVM(),
    Trees(n_estimators=20),
    QUICK,
    Blend([Linear(), Trees(n_estimators=20)]),
]


def weighted_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 5))
    Y = (X @ rng.normal(size=(5, N_LABELS)) + 2 * rng.normal(size=(N_ROWS, N_LABELS)) > 1) * 1.0
    return X, Y, rng.integers(0, 4, N_ROWS).astype(float)


def pairs(fold: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(N_FOLDS)]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("settings", [{}, {"n_landmarks": 3}, {"threshold": "per_label"}])
def test_weights_are_copies(make: Any, unknown: bool, settings: dict[str, Any]) -> None:
    X, Y, weights = weighted_rows()
    if unknown:
        Y[np.random.default_rng(1).random(Y.shape) < 0.1] = np.nan
    copies, fold = np.repeat(np.arange(N_ROWS), weights.astype(int)), np.arange(N_ROWS) % N_FOLDS
    one = SPLMLL("linear", cv=pairs(fold), random_state=0, **settings)
    other = SPLMLL("linear", cv=pairs(fold[copies]), random_state=0, **settings)
    one.fit(make(X), Y, sample_weight=weights)
    other.fit(make(X[copies]), Y[copies])
    assert_array_equal(one.landmarks_, other.landmarks_)
    assert one.pull_ == other.pull_
    assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-10)
    assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-5)
    assert_allclose(one.thresholds_, other.thresholds_, atol=1e-10)
    assert_allclose(one.representativeness_, other.representativeness_, atol=1e-10)
    answers = np.where(np.arange(N_LABELS) == 1, np.nan_to_num(Y), np.nan)
    assert_array_equal(one.complete(X, answers), other.complete(X, answers))


def test_weights_count_and_their_scale_does_not() -> None:
    X, Y, weights = weighted_rows()
    weights += 1
    plain, weighted, tenth = (
        SPLMLL("linear", random_state=0).fit(X, Y, sample_weight=w).decision_function(X)
        for w in (None, weights, weights / 10)
    )
    assert np.abs(weighted - plain).max() > 0.01
    assert_allclose(tenth, weighted, atol=1e-10)


@pytest.mark.parametrize("embedding", USERS, ids=lambda e: type(e).__name__)
def test_no_weight_weight_one_and_weight_zero(embedding: Any) -> None:
    X, Y, weights = weighted_rows()

    def scores(X_train: np.ndarray, Y_train: np.ndarray, w: Any) -> np.ndarray:
        model = SPLMLL(embedding, cv=3, random_state=0).fit(X_train, Y_train, sample_weight=w)
        return model.decision_function(X)

    assert_array_equal(scores(X, Y, np.ones(N_ROWS)), scores(X, Y, None))
    kept = weights > 0
    assert_array_equal(scores(X, Y, weights), scores(X[kept], Y[kept], weights[kept]))
    assert_array_equal(scores(X, Y, kept * 1.0), scores(X[kept], Y[kept], None))


@pytest.mark.parametrize("embedding", USERS, ids=lambda e: type(e).__name__)
def test_heavy_rows_pull_predictions_to_their_labels(embedding: Any) -> None:
    X, Y, _ = weighted_rows()
    plain, heavy = (
        SPLMLL(embedding, cv=3, random_state=0).fit(X, Y[:, :1], sample_weight=w).transform(X)
        for w in (None, np.where(Y[:, 0] == 1, 6.0, 1.0))
    )
    assert heavy.mean() > plain.mean() + 0.1


def test_weight_zero_may_empty_a_fold_but_not_all_but_one() -> None:
    X, Y, _ = weighted_rows()
    fold = np.arange(N_ROWS) % N_FOLDS
    without = SPLMLL("linear", cv=pairs(fold), random_state=0)
    without.fit(X, Y, sample_weight=(fold != 1) * 1.0)
    assert np.isfinite(without.decision_function(X)).all()
    with pytest.raises(ValueError, match="in one fold"):
        without.fit(X, Y, sample_weight=(fold == 1) * 1.0)


@pytest.mark.parametrize("ridge", [RowRidge, IterativeRidge])
def test_wide_rows_with_weights_are_copies(ridge: Any) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 50)), (rng.random((30, 3)) < 0.4) * 1.0
    Y[0, 0] = np.nan
    weights = rng.integers(1, 4, 30).astype(float)
    copies, labels = np.repeat(np.arange(30), weights.astype(int)), np.arange(3)
    for rows in (X, sparse.csr_array(np.maximum(X, 0))):
        one, other = ridge(rows, Y, True, weights), ridge(rows[copies], Y[copies], True)
        assert_allclose(one.map(0.1, labels), other.map(0.1, labels), atol=1e-3)
        predicted = [each.predictor(rows)(0.1) for each in (one, other)]
        assert_allclose(*predicted, atol=1e-3)


def test_wide_rows_use_weights_in_a_whole_fit() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 200))
    Y = (X[:, :3] + rng.normal(size=(80, 3)) > 0) * 1.0
    weights = rng.integers(1, 4, 80).astype(float)
    copies, fold = np.repeat(np.arange(80), weights.astype(int)), np.arange(80) % N_FOLDS
    one = SPLMLL("linear", cv=pairs(fold), random_state=0).fit(X, Y, sample_weight=weights)
    other = SPLMLL("linear", cv=pairs(fold[copies]), random_state=0).fit(X[copies], Y[copies])
    assert one.embedding_.ridge_ == other.embedding_.ridge_
    assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-8)


@pytest.mark.parametrize(
    ("embedding", "name"),
    [
        (Stochastic(), "Stochastic"),
        ([Linear(), Stochastic()], "Stochastic"),
        (KNeighborsClassifier(), "KNeighborsClassifier"),
    ],
)
def test_who_cannot_use_weights_is_named(embedding: Any, name: str) -> None:
    X, Y, weights = weighted_rows()
    with pytest.raises(ValueError, match=rf"{name} (cannot use|takes no) sample_weight"):
        SPLMLL(embedding).fit(X, Y, sample_weight=weights)


def test_bad_weights_are_refused() -> None:
    X, Y, weights = weighted_rows()
    model = SPLMLL("linear")
    for wrong, message in (
        (weights[:-1], r"sample_weight\.shape"),
        (weights - 1, "[Nn]egative"),
        (0 * weights, "at least one non-zero"),
        (np.full(N_ROWS, np.nan), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y, sample_weight=wrong)


def test_weights_are_not_modified() -> None:
    X, Y, weights = weighted_rows()
    given = weights.copy()
    SPLMLL([Linear(), QUICK], random_state=0).fit(X, Y, sample_weight=weights)
    assert_array_equal(weights, given)
