"""The objective and its gradients: against loops, automatic differentiation and differences."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from splmll.published.objective import (
    TERMS,
    Penalties,
    gradient_of_recovery,
    gradient_of_selection,
    objective_terms,
)

PENALTIES = Penalties(lambda1=0.3, lambda2=0.2, rho=0.07)


def problem(seed, diagonal, n=7, C=4):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, C)) < 0.4).astype(float)
    F = Y + rng.normal(scale=0.5, size=Y.shape)
    B, A = rng.normal(size=(2, C, C))
    return F, Y, np.diag(np.diag(B)) if diagonal else B, A


def total(F, Y, B, A, known=None):
    return sum(objective_terms(F, Y, B, A, PENALTIES, known).values())


def differences(function, at, step=1e-5):
    """The gradient of a function of a matrix by central differences."""
    slope = np.empty_like(at)
    for cell in np.ndindex(at.shape):
        move = np.zeros_like(at)
        move[cell] = step
        slope[cell] = (function(at + move) - function(at - move)) / (2 * step)
    return slope


@pytest.mark.parametrize("diagonal", [False, True])
def test_terms_are_what_loops_give(diagonal):
    F, Y, B, A = problem(0, diagonal)
    n, C = Y.shape
    predictability = representativeness = identity = sparsity = ridge = 0.0
    for i in range(n):
        for j in range(C):
            weighted = sum((F[i, k] - Y[i, k]) * B[k, j] for k in range(C))
            predictability += weighted**2
            recovered = sum(Y[i, k] * B[k, m] * A[m, j] for k in range(C) for m in range(C))
            representativeness += (Y[i, j] - recovered) ** 2
    for k in range(C):
        row = 0.0
        for j in range(C):
            identity += 0.3 * (B[k, j] - (k == j)) ** 2
            row += B[k, j] ** 2
            ridge += 0.07 * A[k, j] ** 2
        sparsity += 0.2 * row**0.5
    expected = [predictability, representativeness, identity, sparsity, ridge]
    terms = objective_terms(F, Y, B, A, PENALTIES)
    assert tuple(terms) == TERMS
    np.testing.assert_allclose(list(terms.values()), expected, rtol=1e-12)


def test_the_sparsity_of_a_diagonal_selection_is_the_sum_of_its_absolute_weights():
    F, Y, B, A = problem(1, diagonal=True)
    sparsity = objective_terms(F, Y, B, A, PENALTIES)["sparsity"]
    assert sparsity == pytest.approx(0.2 * np.abs(np.diag(B)).sum())


def test_sums_over_rows_not_means():
    """Every row twice doubles the terms and slopes of the rows and leaves the penalties alone."""
    F, Y, B, A = problem(2, diagonal=False)
    F2, Y2 = np.tile(F, (2, 1)), np.tile(Y, (2, 1))
    once, twice = objective_terms(F, Y, B, A, PENALTIES), objective_terms(F2, Y2, B, A, PENALTIES)
    for name in TERMS:
        times = 2 if name in ("predictability", "representativeness") else 1
        assert twice[name] == pytest.approx(times * once[name])
    none = Penalties(0.0, 0.0, 0.0)
    for of_rows, doubled in (
        (gradient_of_selection(F, Y, B, A, none), gradient_of_selection(F2, Y2, B, A, none)),
        (gradient_of_recovery(Y, B, A, none), gradient_of_recovery(Y2, B, A, none)),
    ):
        np.testing.assert_allclose(doubled, 2 * of_rows)


@given(seed=st.integers(0, 2**32 - 1), diagonal=st.booleans())
@settings(max_examples=25, deadline=None)
def test_gradients_are_those_of_autograd(seed, diagonal):
    F, Y, B, A = problem(seed, diagonal)
    tensors = [torch.as_tensor(matrix) for matrix in (F, Y, B, A)]
    b, a = (matrix.clone().requires_grad_() for matrix in tensors[2:])
    total(tensors[0], tensors[1], b, a).backward()
    in_B = gradient_of_selection(F, Y, B, A, PENALTIES)
    in_A = gradient_of_recovery(Y, B, A, PENALTIES)
    # A diagonal B has rows with zeros, but no zero row: the sum of row norms is smooth there.
    np.testing.assert_allclose(in_B, b.grad.numpy(), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(in_A, a.grad.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("diagonal", [False, True])
def test_gradients_are_the_limits_of_differences(diagonal):
    F, Y, B, A = problem(3, diagonal)
    in_B = differences(lambda moved: total(F, Y, moved, A), B)
    in_A = differences(lambda moved: total(F, Y, B, moved), A)
    np.testing.assert_allclose(gradient_of_selection(F, Y, B, A, PENALTIES), in_B, atol=1e-7)
    np.testing.assert_allclose(gradient_of_recovery(Y, B, A, PENALTIES), in_A, atol=1e-7)


def test_the_diagonal_of_the_gradient_is_the_gradient_of_b():
    F, Y, B, A = problem(4, diagonal=True)
    b = torch.as_tensor(np.diag(B).copy()).requires_grad_()
    total(torch.as_tensor(F), torch.as_tensor(Y), torch.diag(b), torch.as_tensor(A)).backward()
    slope = gradient_of_selection(F, Y, B, A, PENALTIES)
    np.testing.assert_allclose(np.diag(slope), b.grad.numpy(), rtol=1e-10)
    by_differences = differences(lambda moved: total(F, Y, np.diag(moved), A), np.diag(B).copy())
    np.testing.assert_allclose(np.diag(slope), by_differences, atol=1e-7)


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_zero_row_of_B_has_subgradient_zero(diagonal):
    """Where a label has dropped out, the sparsity term neither pushes nor pulls."""
    F, Y, B, A = problem(5, diagonal)
    B[2] = 0.0
    with_term = gradient_of_selection(F, Y, B, A, Penalties(0.3, 0.2, 0.07))
    without = gradient_of_selection(F, Y, B, A, Penalties(0.3, 0.0, 0.07))
    np.testing.assert_array_equal(with_term[2], without[2])
    others = [0, 1, 3]
    pushed = 0.2 * B[others] / np.linalg.norm(B[others], axis=1, keepdims=True)
    np.testing.assert_allclose((with_term - without)[others], pushed, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_arrays_and_tensors_agree(dtype):
    arrays = problem(6, diagonal=False)
    F, Y, B, A = (torch.as_tensor(matrix, dtype=dtype) for matrix in arrays)
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    terms, of_tensors = objective_terms(*arrays, PENALTIES), objective_terms(F, Y, B, A, PENALTIES)
    for name in TERMS:
        assert float(of_tensors[name]) == pytest.approx(terms[name], rel=tolerance)
    slope = gradient_of_selection(F, Y, B, A, PENALTIES)
    assert isinstance(slope, torch.Tensor)
    assert slope.dtype == dtype
    np.testing.assert_allclose(
        slope, gradient_of_selection(*arrays, PENALTIES), rtol=10 * tolerance, atol=tolerance
    )
    np.testing.assert_allclose(
        gradient_of_recovery(Y, B, A, PENALTIES),
        gradient_of_recovery(*arrays[1:], PENALTIES),
        rtol=10 * tolerance,
        atol=tolerance,
    )


def test_cells_that_are_not_known_need_not_be_predicted_or_recovered():
    F, Y, B, A = problem(7, diagonal=True)
    known = (np.random.default_rng(7).random(Y.shape) < 0.7).astype(float)
    Y = Y * known
    n, C = Y.shape
    predictability = representativeness = 0.0
    for i in range(n):
        for j in range(C):
            if known[i, j]:
                predictability += ((F[i, j] - Y[i, j]) * B[j, j]) ** 2
                recovered = sum(Y[i, k] * B[k, k] * A[k, j] for k in range(C) if known[i, k])
                representativeness += (Y[i, j] - recovered) ** 2
    terms = objective_terms(F, Y, B, A, PENALTIES, known)
    assert terms["predictability"] == pytest.approx(predictability)
    assert terms["representativeness"] == pytest.approx(representativeness)
    np.testing.assert_allclose(
        gradient_of_selection(F, Y, B, A, PENALTIES, known),
        differences(lambda moved: total(F, Y, moved, A, known), B),
        atol=1e-7,
    )
    np.testing.assert_allclose(
        gradient_of_recovery(Y, B, A, PENALTIES, known),
        differences(lambda moved: total(F, Y, B, moved, known), A),
        atol=1e-7,
    )
    other = np.where(known == 1, F, 99.0)
    np.testing.assert_array_equal(
        gradient_of_selection(F, Y, B, A, PENALTIES, known),
        gradient_of_selection(other, Y, B, A, PENALTIES, known),
    )
