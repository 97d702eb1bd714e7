"""What every embedding keeps: honest predictions, the outputs asked for, nothing else touched."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_problems import data, every_embedding, small_network
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from splmll.embeddings import (
    Blend,
    Embedding,
    FitContext,
    Kernel,
    KernelSVM,
    Linear,
    OneVsRest,
    Stochastic,
    Trees,
)

EVERY = every_embedding()
every = pytest.mark.parametrize("embedding", EVERY.values(), ids=EVERY)


def finished(embedding: Embedding, X, Y, fold, outputs=None) -> Embedding:
    f = clone(embedding).fit(X, Y, fold, FitContext(seed=1))
    f.finish(X, Y, np.arange(Y.shape[1]) if outputs is None else outputs)
    return f


@every
def test_what_is_told_of_the_progress_never_falls(embedding: Embedding) -> None:
    X, Y, fold = data()
    told: list[float] = []
    context = FitContext(seed=1, on_progress=lambda what, share: told.append(share))
    clone(embedding).fit(X, Y, fold, context)
    assert told == sorted(told)
    assert all(0 <= share <= 1 for share in told)


@every
def test_it_learns(embedding: Embedding) -> None:
    X, Y, fold = data(n=150)
    out_of_fold = clone(embedding).fit(X, Y, fold).out_of_fold_
    assert out_of_fold.shape == Y.shape
    for j in range(3):
        assert np.corrcoef(out_of_fold[:, j], Y[:, j])[0, 1] > 0.25
    assert_predicts_like_training(finished(embedding, X, Y, fold).predict(X), Y)


def assert_predicts_like_training(predicted: np.ndarray, Y: np.ndarray) -> None:
    for j in range(Y.shape[1]):
        assert np.corrcoef(predicted[:, j], Y[:, j])[0, 1] > 0.4


@every
def test_the_outputs_asked_for_in_that_order(embedding: Embedding) -> None:
    X, Y, fold = data(C=4)
    everything = finished(embedding, X, Y, fold).predict(X)
    some = finished(embedding, X, Y, fold, np.array([2, 0]))
    assert_allclose(some.predict(X), everything[:, [2, 0]], atol=1e-6)
    assert not hasattr(some, "out_of_fold_")  # forgotten: it has the size of the data


@every
def test_what_the_caller_gave_is_left_alone(embedding: Embedding) -> None:
    X, Y, fold = data()
    Y[3, 1] = np.nan
    copies = X.copy(), Y.copy(), fold.copy()
    finished(embedding, X, Y, fold).predict(X)
    for given, copied in zip((X, Y, fold), copies, strict=True):
        assert_array_equal(given, copied)


@every
def test_the_same_seed_gives_the_same(embedding: Embedding) -> None:
    X, Y, fold = data()
    one, other = (finished(embedding, X, Y, fold).predict(X) for _ in range(2))
    assert_array_equal(one, other)


# Rows that a fold holds out ---------------------------------------------------------------------


def predictions_of(embedding: Embedding, X, Y, fold) -> np.ndarray:
    f = clone(embedding).fit(X, Y, fold, FitContext(seed=1))
    slope = getattr(f, "slope_", None)
    # One slope bounds the decision values of all folds; they themselves must not change.
    return f.out_of_fold_ if slope is None else logit(f.out_of_fold_) / slope


@pytest.mark.parametrize(
    "embedding",
    [
        Linear(ridge=0.1),
        Kernel(ridge=0.1),
        KernelSVM(),
        OneVsRest(LogisticRegression()),
        Stochastic(ridge=0.001),
        Trees(n_estimators=10),
    ],
    ids=["linear", "kernel", "kernel svm", "logistic", "sgd", "trees"],
)
def test_a_fold_is_predicted_by_models_that_did_not_see_it(embedding: Embedding) -> None:
    X, Y, fold = data()
    plain = predictions_of(embedding, X, Y, fold)
    for k in range(3):
        flipped = np.where((fold == k)[:, None], 1 - Y, Y)
        changed = predictions_of(embedding, X, flipped, fold)
        assert_allclose(changed[fold == k], plain[fold == k], atol=1e-8)
        for other in {0, 1, 2} - {k}:
            assert np.abs(changed[fold == other] - plain[fold == other]).max() > 0.05


# Labels -----------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_labels(embedding: Embedding, value: float) -> None:
    X, Y, fold = data()
    Y[:, 1] = value
    f = clone(embedding).fit(X, Y, fold)
    assert np.isfinite(f.out_of_fold_).all()
    f.finish(X, Y, np.arange(3))
    predicted = f.predict(X)
    assert np.isfinite(predicted).all()
    assert np.abs(predicted[:, 1] - value).mean() < 0.35  # a network takes its time to learn it


@every
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_unknown_labels(embedding: Embedding, share: float) -> None:
    X, Y, fold = data(n=120)
    hidden = np.random.default_rng(0).random(120) < share
    partly = Y.copy()
    partly[hidden, 1] = np.nan
    f = finished(embedding, X, partly, fold)
    predicted = f.predict(X)
    assert np.isfinite(predicted).all()
    if share < 1:
        assert np.corrcoef(predicted[:, 1], Y[:, 1])[0, 1] > 0.3


@every
def test_sparse_labels_are_dense_ones(embedding: Embedding) -> None:
    X, Y, fold = data()
    Y[::7, 1] = np.nan
    one = finished(embedding, X, Y, fold).predict(X)
    other = finished(embedding, X, sparse.csr_array(Y), fold).predict(X)
    assert_allclose(other, one, atol=1e-9)


@every
def test_one_label(embedding: Embedding) -> None:
    X, Y, fold = data(C=1)
    assert clone(embedding).fit(X, Y, fold).out_of_fold_.shape == (90, 1)
    assert finished(embedding, X, Y, fold).predict(X[:5]).shape == (5, 1)


# Jobs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "embedding",
    [
        OneVsRest(),
        Stochastic(n_passes=1),
        KernelSVM(),
        small_network(max_epochs=2),
        Blend([small_network(max_epochs=2), Trees(n_estimators=3)]),
    ],
    ids=["svm", "sgd", "kernel svm", "network", "blend"],
)
def test_jobs_do_not_change_the_result(embedding: Embedding) -> None:
    X, Y, fold = data(n=60, C=40)
    one, two = (
        clone(embedding).fit(X, Y, fold, FitContext(seed=1, n_jobs=n_jobs)) for n_jobs in (None, 2)
    )
    assert_array_equal(one.out_of_fold_, two.out_of_fold_)
    for f in (one, two):
        f.finish(X, Y, np.arange(40))
    assert_array_equal(one.predict(X), two.predict(X))
