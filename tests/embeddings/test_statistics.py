"""Sums over rows: chunks add up and subtract, sparse equals dense, unknown labels pairwise."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from splmll import statistics as statistics_module
from splmll.statistics import (
    CHUNK_ROWS,
    Statistics,
    fold_statistics,
    reference_point,
    split_unknown,
    sum_of,
)

NAMES = ("xx", "xy", "yy", "xk", "yk", "kk")


def data(seed, n=30, D=4, C=3, unknown=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * (rng.random((n, D)) < 0.6)
    Y = (rng.random((n, C)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < unknown] = np.nan
    return X, Y


def assert_same(ours, theirs, rtol=1e-10):
    for name in NAMES:
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=rtol, atol=1e-10, err_msg=name
        )


@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(0, 30), max_size=5),
    unknown=st.sampled_from([0.0, 0.3, 1.0]),
)
@settings(max_examples=50, deadline=None)
def test_chunks_are_the_whole(seed, cuts, unknown):
    X, Y = data(seed, unknown=unknown)
    whole = Statistics.of(X, Y)
    edges = [0, *sorted(cuts), 30]
    parts = [Statistics.of(X[a:b], Y[a:b]) for a, b in pairwise(edges)]
    total = sum(parts[1:], parts[0])
    assert_same(total, whole)
    assert_same(whole - parts[0], sum(parts[1:], Statistics.zeros(4, 3)))
    streamed = Statistics.zeros(4, 3)
    for a, b in pairwise(edges):
        streamed.add(X[a:b], Y[a:b])
    assert_same(streamed, whole)
    assert streamed.n_rows == 30


def test_sums_are_what_loops_give():
    X, Y = data(0, n=12, unknown=0.3)
    ones = np.column_stack([np.ones(12), X])
    D, C = 5, 3
    xx, xy, xk = np.zeros((D, D)), np.zeros((D, C)), np.zeros((D, C))
    yy, yk, kk = np.zeros((3, C, C))
    for x, y in zip(ones, Y):
        xx += np.outer(x, x)
        for j in range(C):
            if not np.isnan(y[j]):
                xy[:, j] += x * y[j]
                xk[:, j] += x
            for m in range(C):
                if not np.isnan(y[j]) and not np.isnan(y[m]):
                    yy[j, m] += y[j] * y[m]
                    yk[j, m] += y[j]
                    kk[j, m] += 1
    assert_same(Statistics.of(X, Y), Statistics(xx, xy, yy, xk, yk, kk))


@pytest.mark.parametrize("unknown", [0.0, 0.3])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_is_dense(unknown, kind):
    X, Y = data(1, unknown=unknown)
    dense = Statistics.of(X, Y)
    for features, labels in ((kind(X), Y), (X, kind(Y)), (kind(X), kind(Y))):
        assert_same(Statistics.of(features, labels), dense)


def test_more_rows_than_one_chunk():
    rng = np.random.default_rng(2)
    n = 2 * CHUNK_ROWS + 17
    X, Y = rng.normal(size=(n, 2)), (rng.random((n, 2)) < 0.3).astype(float)
    statistics = Statistics.of(X, Y)
    assert statistics.n_rows == n
    np.testing.assert_allclose(statistics.xx[1:, 1:], X.T @ X)
    np.testing.assert_array_equal(statistics.yy, Y.T @ Y)


def test_single_precision_rows_are_summed_in_double_precision():
    """Large means and small spreads: in single precision the covariance would be noise."""
    rng = np.random.default_rng(3)
    X = (300 + 0.5 * rng.normal(size=(20_000, 3))).astype(np.float32)
    Y = (rng.random((20_000, 2)) < 0.3).astype(np.float32)
    single, double = Statistics.of(X, Y), Statistics.of(X.astype(float), Y.astype(float))
    assert_same(single, double, rtol=1e-12)
    covariance = np.cov(X.astype(float), rowvar=False, bias=True)
    np.testing.assert_allclose(single.feature_covariance(), covariance, atol=1e-8)
    assert single.xx.dtype == single.xy.dtype == np.float64
    # The test has teeth only if single precision would fail it.
    lost = (X.T @ X) / np.float32(len(X)) - np.outer(X.mean(0), X.mean(0))
    assert np.abs(lost - covariance).max() > 1e-4


def test_means_and_covariances_are_numpy_s():
    X, Y = data(4, n=50)
    statistics = Statistics.of(X, Y)
    np.testing.assert_allclose(statistics.feature_mean, X.mean(axis=0))
    np.testing.assert_allclose(statistics.feature_scale, X.std(axis=0))
    np.testing.assert_allclose(statistics.label_mean, Y.mean(axis=0))
    np.testing.assert_allclose(statistics.feature_covariance(), np.cov(X.T, bias=True))
    both = np.cov(np.hstack([X, Y]).T, bias=True)
    np.testing.assert_allclose(statistics.cross_covariance(), both[:4, 4:], atol=1e-14)
    np.testing.assert_allclose(statistics.label_moments(center=True), both[4:, 4:], atol=1e-14)
    np.testing.assert_allclose(statistics.label_moments(center=False), Y.T @ Y / 50)


@pytest.mark.parametrize("value", [0.0, 1.0, 1e6, -3e-7])
def test_a_constant_feature_has_scale_one(value):
    X = np.column_stack([np.full(1000, value), np.arange(1000.0)])
    scale = Statistics.of(X, np.zeros((1000, 1))).feature_scale
    assert scale[0] == 1.0
    assert Statistics.of(X, np.zeros((1000, 1))).feature_variance[0] == 0.0
    assert scale[1] == pytest.approx(np.arange(1000).std())


def pairwise_moments(Y, center):
    """Moments of every two labels over the rows where both are known, row by row."""
    C = Y.shape[1]
    G = np.zeros((C, C))
    for j in range(C):
        for m in range(C):
            both = [(y[j], y[m]) for y in Y if not np.isnan(y[j]) and not np.isnan(y[m])]
            if both:
                left, right = np.transpose(both)
                shift = left.mean() * right.mean() if center else 0.0
                G[j, m] = np.mean(left * right) - shift
    return G


@pytest.mark.parametrize("center", [False, True])
def test_pairwise_moments_are_those_of_the_known_pairs(center):
    rng = np.random.default_rng(5)
    cause = rng.normal(size=(200, 1))
    Y = (cause + rng.normal(size=(200, 4)) > 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    expected = pairwise_moments(Y, center)
    assert np.linalg.eigvalsh(expected).min() > 0  # so nothing needs to be repaired
    for labels in (Y, sparse.csr_array(Y)):
        statistics = Statistics.of(np.zeros((200, 0)), labels)
        np.testing.assert_allclose(statistics.label_moments(center), expected, atol=1e-12)


@given(
    seed=st.integers(0, 2**32 - 1),
    C=st.integers(1, 7),
    unknown=st.sampled_from([0.0, 0.5, 0.9]),
    center=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_label_moments_are_positive_semi_definite_and_nearest(seed, C, unknown, center):
    _, Y = data(seed, n=12, C=C, unknown=unknown)
    moments = Statistics.of(np.zeros((12, 0)), Y).label_moments(center)
    np.testing.assert_allclose(moments, moments.T, atol=1e-14)
    assert np.linalg.eigvalsh(moments).min() > -1e-12
    values, vectors = np.linalg.eigh(pairwise_moments(Y, center))
    nearest = sum(max(v, 0) * np.outer(u, u) for v, u in zip(values, vectors.T))
    np.testing.assert_allclose(moments, nearest, atol=1e-12)


def test_some_pairwise_moments_do_need_the_repair():
    needed = [
        np.linalg.eigvalsh(pairwise_moments(data(seed, n=12, C=6, unknown=0.5)[1], True)).min()
        for seed in range(10)
    ]
    assert min(needed) < -1e-3


def test_a_label_that_is_never_known_is_zero_not_nan():
    X, Y = data(6)
    Y[:, 1] = np.nan
    statistics = Statistics.of(X, Y)
    for values in (
        statistics.label_mean,
        statistics.cross_covariance(),
        statistics.label_moments(True),
    ):
        assert np.isfinite(values).all()
    assert statistics.label_mean[1] == 0
    assert not statistics.cross_covariance()[:, 1].any()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_unknown_cells_are_split_off_and_inputs_left_alone(kind):
    _, Y = data(7, unknown=0.4)
    given_labels = kind(Y)
    filled, known = split_unknown(given_labels)
    filled = filled.toarray() if sparse.issparse(filled) else filled
    np.testing.assert_array_equal(known, ~np.isnan(Y))
    np.testing.assert_array_equal(filled, np.nan_to_num(Y))
    after = given_labels.toarray() if sparse.issparse(given_labels) else given_labels
    np.testing.assert_array_equal(after, data(7, unknown=0.4)[1])
    assert split_unknown(kind(np.eye(3)))[1] is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("frequency", [0.02, 0.4])
def test_folds_of_rare_and_of_frequent_labels(frequency, dtype, monkeypatch):
    """Few labels are multiplied as a sparse matrix, and rows go through one piece of memory."""
    monkeypatch.setattr(statistics_module, "CHUNK_ROWS", 32)
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 70)) + 5).astype(dtype)
    Y = (rng.random((300, 6)) < frequency).astype(float)
    fold = rng.integers(4, size=300)
    kept = X.copy(), Y.copy()
    for k, part in enumerate(fold_statistics(X, Y, fold)):
        rows, labels = X[fold == k].astype(float) - part.shift, Y[fold == k]
        np.testing.assert_allclose(part.xx[1:, 1:], rows.T @ rows, atol=1e-10)
        np.testing.assert_allclose(part.xx[0, 1:], rows.sum(axis=0), atol=1e-10)
        np.testing.assert_allclose(part.xy[1:], rows.T @ labels, atol=1e-10)
        np.testing.assert_array_equal(part.yy, labels.T @ labels)
    np.testing.assert_array_equal(X, kept[0])
    np.testing.assert_array_equal(Y, kept[1])


# Sums measured from a point near the means ------------------------------------------------------


def far_from_zero(n):
    """Features with means of 10,000 and spreads of 1."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, 10))
    return X + 1e4, (X[:, :8] + rng.normal(size=(n, 8)) > 0).astype(float)


@pytest.mark.parametrize("mean", [0.0, 1e4, -1e7])
def test_a_large_mean_costs_no_digits(mean: float) -> None:
    rng = np.random.default_rng(0)
    X = mean + rng.normal(size=(5000, 3))
    Y = (rng.random((5000, 2)) < 0.3).astype(float)
    exact = X.astype(np.longdouble)
    exact -= exact.mean(axis=0)
    expected = (exact.T @ exact / 5000).astype(float)
    crossed = (exact.T @ (Y - Y.mean(axis=0)) / 5000).astype(float)
    parts = fold_statistics(X, Y, np.arange(5000) % 4)
    total = parts[0] + parts[1] + parts[2] + parts[3]
    np.testing.assert_allclose(total.feature_covariance(), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(total.cross_covariance(), crossed, atol=1e-9)
    np.testing.assert_allclose(
        (total - parts[0]).feature_mean, X[np.arange(5000) % 4 != 0].mean(axis=0)
    )


def test_sums_move_from_one_point_to_another() -> None:
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(40, 3)), (rng.random((40, 2)) < 0.5).astype(float)
    Y[3, 1] = np.nan
    shift = np.array([1.0, -2.0, 0.5])
    there, here = Statistics.of(X, Y, shift=shift), Statistics.of(X, Y)
    for name in ("xx", "xy", "yy", "xk", "yk", "kk"):
        np.testing.assert_allclose(
            getattr(there.moved(None), name), getattr(here, name), atol=1e-12
        )
        np.testing.assert_allclose(
            getattr(here.moved(shift), name), getattr(there, name), atol=1e-12
        )


def test_sums_from_different_points_merge_in_any_order() -> None:
    X, Y = far_from_zero(200)
    pieces = [
        Statistics.of(X[a : a + 50], Y[a : a + 50], shift=reference_point(X[a : a + 50]))
        for a in range(0, 200, 50)
    ]
    pieces.append(Statistics.of(sparse.csr_array(X[:20] - 1e4), Y[:20]))
    a, b, c, d, e = pieces
    left, right = (((a + b) + c) + d) + e, (a + (b + (c + d))) + e
    other = (e + d) + (c + (b + a))
    for name in ("n_rows", "feature_mean", "feature_variance", "label_mean"):
        np.testing.assert_allclose(getattr(left, name), getattr(right, name), rtol=1e-11)
        np.testing.assert_allclose(getattr(left, name), getattr(other, name), rtol=1e-11)
    np.testing.assert_allclose(left.cross_covariance(), other.cross_covariance(), atol=1e-7)


def test_a_map_of_the_features_is_applied_to_the_sums() -> None:
    X, Y = far_from_zero(100)
    W = np.random.default_rng(2).normal(size=(11, 4))
    W[0] -= 1e4 * W[1:].sum(axis=0)
    mapped = Statistics.of(X, Y, shift=reference_point(X)).mapped(W)
    expected = Statistics.of(X @ W[1:] + W[0], Y.astype(float))
    np.testing.assert_allclose(mapped.xx, expected.xx, rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(mapped.xy, expected.xy, rtol=1e-7, atol=1e-6)


def test_some_features_and_some_labels_of_the_sums():
    X, Y = data(9, unknown=0.2)
    whole = Statistics.of(X, Y)
    np.testing.assert_allclose(
        whole.of_features(np.array([2, 0])).xx, Statistics.of(X[:, [2, 0]], Y).xx
    )
    assert_same(whole.of_labels(np.array([1])), Statistics.of(X, Y[:, [1]]))


def test_sums_without_pairs_of_labels():
    X, Y = data(10)
    lean = Statistics.of(X, Y, label_pairs=False)
    full = Statistics.of(X, Y)
    np.testing.assert_allclose(lean.cross_covariance(), full.cross_covariance())
    np.testing.assert_allclose(lean.label_mean, full.label_mean)


def test_the_sum_of_parts():
    X, Y = data(11)
    parts = [Statistics.of(X[a : a + 10], Y[a : a + 10]) for a in (0, 10, 20)]
    before = parts[0].xx.copy()
    assert_same(sum_of(parts), Statistics.of(X, Y))
    np.testing.assert_array_equal(parts[0].xx, before)
