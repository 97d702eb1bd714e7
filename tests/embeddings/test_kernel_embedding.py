"""Kernel machines: against their textbook forms."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_problems import data
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from splmll.embeddings import FitContext, Kernel, KernelSVM


def kernel_ridge(
    X: np.ndarray, Y: np.ndarray, new: np.ndarray, gamma: float, ridge: float
) -> np.ndarray:
    """Kernel ridge regression with a free intercept: the kernel is centred in feature space."""
    n = len(X)
    K, k = rbf_kernel(X, X, gamma), rbf_kernel(new, X, gamma)
    J = np.eye(n) - 1 / n
    Kc = J @ K @ J
    kc = (k - K.mean(axis=0)) @ J
    unit = np.trace(Kc) / n / n  # mean variance of the n kernel features
    dual = np.linalg.solve(Kc + ridge * unit * n * np.eye(n), Y - Y.mean(axis=0))
    return Y.mean(axis=0) + kc @ dual


@pytest.mark.parametrize("n_components", [90, 500])
def test_as_many_components_as_rows_is_kernel_ridge_regression(n_components: int) -> None:
    X, Y, fold = data()
    new = X[:30] + 0.3 * X.std(axis=0) * np.random.default_rng(1).normal(size=(30, 6))
    f = Kernel(gamma=0.2, ridge=3.0, n_components=n_components).fit(X, Y, fold)
    scaler = StandardScaler().fit(X)
    expected = kernel_ridge(scaler.transform(X), Y, scaler.transform(new), 0.2, 3.0)
    assert_allclose(f.predict(new), expected, atol=1e-5)
    assert expected.std() > 0.1


def test_the_width_of_the_kernel_is_the_mean_squared_distance_of_two_rows() -> None:
    X, Y, fold = data(n=40)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    for features in (X, sparse.csr_array(X)):
        f = Kernel(scale=None).fit(features, Y, fold)
        assert f.features_.gamma == pytest.approx(1 / distances.mean())


def test_fewer_components_approximate_and_are_reproducible() -> None:
    X, Y, fold = data(n=150)
    full = Kernel(ridge=0.1).fit(X, Y, fold).predict(X)

    def near(count: int) -> np.ndarray:
        f = Kernel(ridge=0.1 * count / 150, n_components=count).fit(X, Y, fold, FitContext(seed=1))
        assert f.features_.components_.shape == (count, 6)
        return f.predict(X)

    assert np.mean((near(120) - full) ** 2) < np.mean((near(20) - full) ** 2)
    assert_array_equal(near(20), near(20))


def test_a_kernel_that_sees_every_row_alone_knows_nothing_of_others() -> None:
    X, Y, fold = data(n=150)
    narrow = Kernel(gamma=1e4, ridge=1.0).fit(X, Y, fold).out_of_fold_
    assert np.ptp(narrow[fold == 0], axis=0).max() < 1e-6


def test_rows_may_be_dense_at_one_end_and_sparse_at_the_other() -> None:
    X, Y, fold = data()
    for make in (Kernel, KernelSVM):
        f = make(scale="standard").fit(X, Y, fold)
        f.finish(X, Y, np.arange(3))
        assert_allclose(f.predict(sparse.csr_array(X)), f.predict(X), atol=1e-9)
        stored = make(scale="standard").fit(sparse.csr_array(X), Y, fold)
        stored.finish(sparse.csr_array(X), Y, np.arange(3))
        # Distances do not depend on where features are measured from.
        assert_allclose(stored.predict(X), f.predict(X), atol=1e-2)


def test_one_kernel_for_all_is_one_machine_after_the_other() -> None:
    X, Y, fold = data()
    Y[::6, 2] = np.nan
    f = KernelSVM(C=1.5, gamma=0.1).fit(X, Y, fold)
    slope = f.slope_
    f.finish(X, Y, np.array([2, 0]))
    Z = StandardScaler().fit_transform(X)
    for place, label in enumerate((2, 0)):
        known = ~np.isnan(Y[:, label])
        machine = SVC(C=1.5, gamma=0.1, tol=1e-2).fit(Z[known], Y[known, label])
        margins = machine.decision_function(Z)
        expected = 1 / (1 + np.exp(-slope * margins))
        assert_allclose(f.predict(X)[:, place], expected, atol=0.01)


def test_only_support_vectors_are_kept() -> None:
    X, Y, fold = data(n=150, noise=0.1)
    f = KernelSVM().fit(X, Y, fold)
    f.finish(X, Y, np.array([0]))
    assert 0 < f.support_.shape[0] < 150
    assert not hasattr(f, "_kernel")
