"""The linear embedding: ridge regression, from rows or from sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from embedding_problems import data
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from splmll.embeddings import Linear
from splmll.embeddings.linear import RIDGES, explained_after_scaling
from splmll.statistics import Statistics, fold_statistics


def ridge(X: np.ndarray, Y: np.ndarray, strength: float) -> Callable[[np.ndarray], np.ndarray]:
    """scikit-learn's ridge on standardised features; its penalty counts rows, ours does not."""
    scaler = StandardScaler().fit(X)
    model = Ridge(alpha=strength * len(X)).fit(scaler.transform(X), Y)
    return lambda new: model.predict(scaler.transform(new))


@given(seed=st.integers(0, 2**32 - 1), strength=st.sampled_from([1e-3, 0.1, 3.0]))
@settings(max_examples=20, deadline=None)
def test_it_is_ridge_regression_with_a_free_intercept(seed: int, strength: float) -> None:
    X, Y, fold = data(seed)
    f = Linear(ridge=strength).fit(X, Y, fold)
    new = data(seed + 1)[0]
    assert_allclose(f.predict(new), ridge(X, Y, strength)(new), atol=1e-8)
    for k in range(3):
        rest, held = fold != k, fold == k
        expected = ridge(X[rest], Y[rest], strength)(X[held])
        assert_allclose(f.out_of_fold_[held], expected, atol=1e-8)


def test_much_ridge_leaves_the_label_means() -> None:
    X, Y, fold = data()
    f = Linear(ridge=1e9).fit(X, Y, fold)
    assert_allclose(f.predict(X), np.tile(Y.mean(axis=0), (90, 1)), atol=1e-6)


def test_unscaled_ridge_is_relative_to_the_mean_variance_of_a_feature() -> None:
    X, Y, fold = data()
    X[:, 2] = 4.0  # a constant feature: its variance is 0, not 1
    f = Linear(ridge=0.3, scale=None).fit(X, Y, fold)
    model = Ridge(alpha=0.3 * len(X) * X.var(axis=0).mean()).fit(X, Y)
    assert_allclose(f.predict(X), model.predict(X), atol=1e-8)


def test_scaled_features_may_come_in_any_unit() -> None:
    X, Y, fold = data()
    plain = Linear(ridge=0.1).fit(X, Y, fold)
    moved = Linear(ridge=0.1).fit(1e3 * X - 50, Y, fold)
    assert_allclose(moved.predict(1e3 * X - 50), plain.predict(X), atol=1e-8)


def test_dense_features_are_scaled_and_sparse_ones_are_not() -> None:
    X, Y, fold = data()
    dense = Linear(ridge=0.1).fit(X, Y, fold).predict(X)
    stored = Linear(ridge=0.1).fit(sparse.csr_array(X), Y, fold).predict(X)
    assert_allclose(dense, Linear(ridge=0.1, scale="standard").fit(X, Y, fold).predict(X))
    assert_allclose(stored, Linear(ridge=0.1, scale=None).fit(X, Y, fold).predict(X), atol=1e-9)
    assert np.abs(dense - stored).max() > 0.01


def test_statistics_are_enough() -> None:
    """Fitted from the sums of the folds, without the rows."""
    X, Y, fold = data()
    parts = [Statistics.of(X[fold == k], Y[fold == k]) for k in range(3)]
    from_sums = Linear().fit_statistics(parts)
    from_rows = Linear().fit(X, Y, fold)
    assert from_sums.ridge_ == from_rows.ridge_
    assert_allclose(from_sums.map_, from_rows.map_, rtol=1e-8)
    assert not hasattr(from_sums, "out_of_fold_")


def explained(F: np.ndarray, Y: np.ndarray) -> float:
    """Mean squared correlation, weighted by variance: recovery rescales every prediction."""
    return sum(np.corrcoef(F[:, j], Y[:, j])[0, 1] ** 2 * Y[:, j].var() for j in range(Y.shape[1]))


def test_what_maps_explain_follows_from_sums() -> None:
    X, Y, fold = data()
    f = Linear(ridge=0.1).fit(X, Y, fold)
    found = explained_after_scaling(fold_statistics(X, Y, fold), f.fold_maps_)
    assert found == pytest.approx(explained(f.out_of_fold_, Y))


@pytest.mark.parametrize(("seed", "noise"), [(0, 0.1), (1, 2.0), (2, 10.0)])
def test_the_ridge_that_is_chosen_predicts_best_out_of_fold(seed: int, noise: float) -> None:
    X, Y, fold = data(seed, n=60, D=15, noise=noise)
    quality = {r: explained(Linear(ridge=r).fit(X, Y, fold).out_of_fold_, Y) for r in RIDGES}
    chosen = Linear().fit(X, Y, fold).ridge_
    # Its search stops at the first value that is not better: at least no neighbour is.
    place = RIDGES.index(chosen)
    around = RIDGES[max(0, place - 1) : place + 2]
    assert quality[chosen] == max(quality[r] for r in around)
    assert quality[chosen] > 0.98 * max(quality.values())


def test_more_noise_wants_more_ridge() -> None:
    chosen = [Linear().fit(*data(0, n=60, D=15, noise=noise)).ridge_ for noise in (0.1, 5.0)]
    assert chosen[0] < chosen[1]


@pytest.mark.parametrize("unknown", [False, True])
def test_sparse_features_and_labels_are_dense_ones(unknown: bool) -> None:
    X, Y, fold = data()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    if unknown:
        Y[::7, 1] = np.nan
    dense = Linear(scale="standard").fit(X, Y, fold)
    for labels in (Y, sparse.csr_array(Y)):
        f = Linear(scale="standard").fit(sparse.csr_array(X), labels, fold)
        assert f.ridge_ == dense.ridge_
        assert_allclose(f.predict(sparse.csr_array(X)), dense.predict(X), atol=1e-9)
        assert_allclose(f.out_of_fold_, dense.out_of_fold_, atol=1e-9)


def test_labels_are_averaged_over_the_rows_where_they_are_known() -> None:
    X, Y, fold = data(n=200)
    Y[np.random.default_rng(0).random(200) < 0.4, 0] = np.nan
    f = Linear(ridge=0.1).fit(X, Y, fold)
    assert f.predict(X)[:, 0].mean() == pytest.approx(np.nanmean(Y[:, 0]), abs=1e-8)


def test_features_that_repeat_others_without_a_ridge_to_speak_of() -> None:
    X, Y, fold = data()
    twice = np.hstack([X, X])
    one = Linear(ridge=1e-12).fit(X, Y, fold).predict(X)
    assert_allclose(Linear(ridge=1e-12).fit(twice, Y, fold).predict(twice), one, atol=1e-4)
