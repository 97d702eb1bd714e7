"""Moments of predictions and labels: from arrays, and from fold statistics without the rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from splmll.landmarks.moments import Moments
from splmll.landmarks.statistics import Statistics


def problem(seed, n=60, D=4, C=3, K=3, unknown=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=1.0, size=(n, D))
    Y = (X @ rng.normal(size=(D, C)) + rng.normal(size=(n, C)) > 0).astype(float)
    Y[rng.random(Y.shape) < unknown] = np.nan
    folds = np.arange(n) % K
    maps = [rng.normal(size=(D + 1, C)) for _ in range(K)]
    F = np.empty((n, C))
    for k in range(K):
        F[folds == k] = X[folds == k] @ maps[k][1:] + maps[k][0]
    parts = [Statistics.of(X[folds == k], Y[folds == k]) for k in range(K)]
    return F, Y, parts, maps


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_moments_of_arrays_are_means_of_products(center, kind):
    F, Y, _, _ = problem(0)
    moments = Moments.of(F, kind(Y), center)
    f = F - F.mean(axis=0) if center else F
    y = Y - Y.mean(axis=0) if center else Y
    np.testing.assert_allclose(moments.G, y.T @ y / 60, atol=1e-13)
    np.testing.assert_allclose(moments.FF, f.T @ f / 60, atol=1e-12)
    np.testing.assert_allclose(moments.FY, f.T @ y / 60, atol=1e-12)
    np.testing.assert_allclose(moments.E, np.mean((F - Y) ** 2, axis=0))
    np.testing.assert_allclose(moments.frequency, Y.mean(axis=0))
    np.testing.assert_allclose(moments.f_mean, F.mean(axis=0) if center else np.zeros(3))
    np.testing.assert_allclose(moments.y_mean, Y.mean(axis=0) if center else np.zeros(3))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_unknown_labels_count_only_where_they_are_known(center, kind):
    F, Y, _, _ = problem(1, unknown=0.3)
    moments = Moments.of(F, kind(Y), center)
    for j in range(3):
        rows = ~np.isnan(Y[:, j])
        f, y = F[rows], Y[rows, j]
        assert moments.E[j] == pytest.approx(np.mean((f[:, j] - y) ** 2))
        assert moments.frequency[j] == pytest.approx(y.mean())
        crossed = (f - f.mean(axis=0)).T @ (y - y.mean()) if center else f.T @ y
        np.testing.assert_allclose(moments.FY[:, j], crossed / len(y), atol=1e-12)
    other = np.where(np.isnan(Y), 77.0, F)
    np.testing.assert_allclose(Moments.of(other, kind(Y), center).E, moments.E)


@given(
    seed=st.integers(0, 2**32 - 1),
    C=st.integers(1, 4),
    K=st.integers(1, 5),
    center=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_fold_statistics_give_the_moments_of_out_of_fold_predictions(seed, C, K, center):
    F, Y, parts, maps = problem(seed, C=C, K=K)
    rows, sums = Moments.of(F, Y, center), Moments.out_of_fold(parts, maps, center)
    for name in ("G", "FF", "FY", "E", "f_mean", "y_mean", "frequency"):
        np.testing.assert_allclose(
            getattr(sums, name), getattr(rows, name), rtol=1e-8, atol=1e-10, err_msg=name
        )


@pytest.mark.parametrize("center", [False, True])
def test_fold_statistics_with_unknown_labels(center):
    """All the same but E: the squares of predictions are averaged over all rows."""
    F, Y, parts, maps = problem(2, n=90, unknown=0.3)
    rows, sums = Moments.of(F, Y, center), Moments.out_of_fold(parts, maps, center)
    for name in ("G", "FF", "FY", "f_mean", "y_mean", "frequency"):
        np.testing.assert_allclose(
            getattr(sums, name), getattr(rows, name), rtol=1e-8, atol=1e-10, err_msg=name
        )
    crossed = np.nanmean(F * Y, axis=0)
    expected = np.mean(F**2, axis=0) - 2 * crossed + np.nanmean(Y**2, axis=0)
    np.testing.assert_allclose(sums.E, np.maximum(expected, 0))


def test_errors_from_statistics_are_never_negative():
    """A label that is predicted perfectly has error 0, whatever rounding says."""
    rng = np.random.default_rng(3)
    X = np.column_stack([1e3 * rng.normal(size=40), rng.integers(0, 2, 40)])
    Y = X[:, 1:]
    folds = [Statistics.of(X[::2], Y[::2]), Statistics.of(X[1::2], Y[1::2])]
    W = np.array([[0.0], [0.0], [1.0]])
    assert Moments.out_of_fold(folds, [W, W], center=True).E[0] == pytest.approx(0, abs=1e-12)
    assert Moments.out_of_fold(folds, [W, W], center=True).E[0] >= 0
