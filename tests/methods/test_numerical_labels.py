"""Numerical labels are the minimum of a least-squares problem with bounds."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import lsq_linear

from splmll.datasets import load_dataset
from splmll.methods._bounded_quadratic import bounded_quadratic
from splmll.methods._numerical_labels import numerical_labels

# ||(I - W) mu||^2 of each label of the training part of emotions, and the same for mu = T, with
# z-scores, 7 neighbours and no regularisation, computed once with scipy alone.
OPTIMUM = [292.857, 295.912, 209.580, 151.721, 234.548, 223.341]
AT_THE_SIGNS = [312.78, 317.12, 231.61, 182.31, 254.40, 242.32]


def random_problem(seed: int, n_rows: int, n_labels: int) -> tuple[sparse.csr_array, np.ndarray]:
    rng = np.random.default_rng(seed)
    W = sparse.random_array((n_rows, n_rows), density=0.2, rng=rng, data_sampler=rng.normal)
    return sparse.csr_array(W), np.where(rng.random((n_rows, n_labels)) < 0.4, 1.0, -1.0)


def plain_weights(X: np.ndarray, k: int) -> np.ndarray:
    """Weights of locally linear embedding as in the paper: not regularised, one row at a time."""
    W = np.zeros((len(X), len(X)))
    for i, row in enumerate(X):
        distance = np.linalg.norm(X - row, axis=1)
        distance[i] = np.inf
        near = np.argsort(distance)[:k]
        w = np.linalg.solve((row - X[near]) @ (row - X[near]).T, np.ones(k))
        W[i, near] = w / w.sum()
    return W


@pytest.mark.parametrize(("lower", "upper"), [(1.0, np.inf), (1.0, 2.0), (0.5, 0.8)])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_lsq_linear(seed: int, lower: float, upper: float) -> None:
    W, signs = random_problem(seed, 60, 3)
    ours = numerical_labels(W, signs, lower, upper)
    residual = np.eye(60) - W.toarray()
    for label in range(3):
        low = np.where(signs[:, label] > 0, lower, -upper)
        high = np.where(signs[:, label] > 0, upper, -lower)
        peer = lsq_linear(residual, np.zeros(60), (low, high), method="bvls", tol=1e-14)
        assert_allclose(ours[:, label], peer.x, atol=1e-5)
        value = ((residual @ ours[:, label]) ** 2).sum()
        assert value <= 2 * peer.cost * (1 + 1e-9)


@pytest.mark.parametrize("upper", [np.inf, 1.5])
def test_optimality_conditions(upper: float) -> None:
    W, signs = random_problem(7, 200, 5)
    numbers = numerical_labels(W, signs, 1.0, upper)
    residual = np.eye(200) - W.toarray()
    size = signs * numbers
    slope = signs * (residual.T @ residual @ numbers)  # of the objective, towards larger sizes
    at_lower, at_upper = size <= 1.0, size >= upper
    assert size.min() >= 1.0
    assert size.max() <= upper
    assert slope[at_lower].min() >= -1e-6
    assert np.abs(slope[~at_lower & ~at_upper]).max() <= 1e-6
    assert at_lower.any(axis=0).all()
    if upper < np.inf:
        assert slope[at_upper].max() <= 1e-6
        assert at_upper.any()


def test_equal_bounds_leave_the_labels() -> None:
    W, signs = random_problem(0, 30, 4)
    assert_array_equal(numerical_labels(W, signs, 1.5, 1.5), 1.5 * signs)


def test_constant_labels_cost_nothing_where_weights_sum_to_one() -> None:
    W, _ = random_problem(1, 40, 1)
    W = np.abs(W.toarray()) + 0.01
    W /= W.sum(axis=1, keepdims=True)
    signs = np.tile([1.0, -1.0], (40, 1))
    assert_allclose(numerical_labels(sparse.csr_array(W), signs, 1.0), signs, atol=1e-9)


def test_labels_do_not_influence_each_other() -> None:
    W, signs = random_problem(2, 80, 6)
    together = numerical_labels(W, signs, 1.0, 3.0)
    for label in range(6):
        alone = numerical_labels(W, signs[:, [label]], 1.0, 3.0)
        assert_allclose(together[:, [label]], alone, atol=1e-6)


def test_bounded_quadratic_without_bounds_solves_the_system() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(20, 30))
    A, c = root @ root.T, rng.normal(size=(20, 3))
    free = np.full((20, 3), np.inf)
    norm = np.linalg.eigvalsh(A)[-1]
    x = bounded_quadratic(
        lambda V: A @ V, c, -free, free, np.zeros((20, 3)), norm=norm, tol=1e-10, max_iter=500
    )
    assert_allclose(x, np.linalg.solve(A, -c), atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_bounded_quadratic_never_rises(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(30, 12))  # singular: 30 variables, rank 12
    A, c = root @ root.T, rng.normal(size=(30, 2))
    lower, upper = -rng.random((30, 2)), rng.random((30, 2))
    norm = np.linalg.eigvalsh(A)[-1]
    values = []
    for steps in range(40):
        x = bounded_quadratic(
            lambda V: A @ V, c, lower, upper, lower, norm=norm, tol=1e-12, max_iter=steps
        )
        assert (lower <= x).all()
        assert (x <= upper).all()
        values.append((0.5 * x * (A @ x) + c * x).sum(axis=0))
    assert np.diff(values, axis=0).max() <= 1e-9
    assert (values[-1] < values[0]).all()


def test_reference_optimum_on_emotions(data_home: Path) -> None:
    X, Y, _, _ = load_dataset("emotions", data_home).split()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    signs = 2.0 * np.asarray(Y.toarray() if sparse.issparse(Y) else Y) - 1
    W = sparse.csr_array(plain_weights(X, 7))
    for numbers, expected, digits in (
        (numerical_labels(W, signs, 1.0), OPTIMUM, 1e-3),
        (signs, AT_THE_SIGNS, 1e-2),
    ):
        assert_allclose(((numbers - W @ numbers) ** 2).sum(axis=0), expected, rtol=0, atol=digits)
