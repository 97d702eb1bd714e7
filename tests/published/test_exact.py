"""The exact solver on random problems: it falls, it stops at an optimum, its zeros are zeros."""

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from splmll.published.exact import (
    Point,
    Problem,
    minimise,
    objective,
    optimality_residual,
    solve_recovery,
)
from splmll.published.objective import TERMS, Penalties, objective_terms

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 8)
weights = st.sampled_from([0.01, 0.05, 0.1, 0.3, 1.0])


def data(seed, C, n=40):
    """Correlated labels and noisy predictions of them, some good and some bad.

    Divided by the root of the number of rows: sums over rows are then of the size of the penalties.
    """
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 3))
    Y = (causes @ rng.normal(size=(3, C)) + rng.normal(size=(n, C)) > 0.5).astype(float)
    F = Y + rng.random(C) * rng.normal(size=Y.shape)
    return F / np.sqrt(n), Y / np.sqrt(n)


def statistics(F, Y):
    return Y.T @ Y, np.sum((F - Y) ** 2, axis=0)


def first_order_violation(F, Y, b, A, penalties, support=None):
    """The optimality conditions of the raw objective, its smooth part differentiated by torch."""
    F, Y = torch.as_tensor(F), torch.as_tensor(Y)
    b_, A_ = (torch.as_tensor(np.array(part)).requires_grad_() for part in (b, A))
    terms = objective_terms(F, Y, torch.diag(b_), A_, penalties)
    sum(value for name, value in terms.items() if name != "sparsity").backward()
    slope = b_.grad.numpy()
    in_b = np.where(
        b != 0,
        np.abs(slope + penalties.lambda2 * np.sign(b)),
        np.maximum(np.abs(slope) - penalties.lambda2, 0),
    )
    in_b = in_b if support is None else in_b[support]
    return max(in_b.max(), np.abs(A_.grad.numpy()).max())


@given(seed=seeds, C=sizes, lambda1=weights, lambda2=weights, rho=weights)
@settings(max_examples=35, deadline=None)
def test_falls_at_every_block_and_ends_where_the_raw_objective_is_flat(
    seed, C, lambda1, lambda2, rho
):
    F, Y = data(seed, C)
    G, E = statistics(F, Y)
    penalties = Penalties(lambda1, lambda2, rho)
    solution = minimise(G, E, penalties)
    values = np.array([record["objective"] for record in solution.history])
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert [record["block"] for record in solution.history[:3]] == [0, 1, 0]
    assert first_order_violation(F, Y, solution.selection, solution.recovery, penalties) < 1e-6
    # What the solver says of itself is what the raw data say.
    assert optimality_residual(G, E, solution.selection, solution.recovery, None, penalties) < 1e-6


@given(seed=seeds, C=sizes)
@settings(max_examples=30, deadline=None)
def test_terms_from_statistics_are_terms_from_rows_with_a_linear_map(seed, C):
    rng = np.random.default_rng(seed)
    _, Y = data(seed, C)
    X = np.column_stack([np.ones(len(Y)), Y @ rng.normal(size=(C, 5)) + rng.normal(size=(40, 5))])
    W = np.linalg.lstsq(X, Y, rcond=None)[0]
    # E from sums over rows alone: y'y - 2 w'X'y + w'X'X w.
    XX, XY, G = X.T @ X, X.T @ Y, Y.T @ Y
    E = np.diag(G) - 2 * np.einsum("dj,dj->j", W, XY) + np.einsum("dj,de,ej->j", W, XX, W)
    b, A = rng.normal(size=C), rng.normal(size=(C, C))
    penalties = Penalties(0.2, 0.3, 0.1)
    ours = objective(G, E, b, A, penalties)
    raw = objective_terms(X @ W, Y, np.diag(b), A, penalties)
    assert tuple(raw) == TERMS
    for name in TERMS:
        assert ours[name] == pytest.approx(raw[name], rel=1e-8, abs=1e-10)
    assert ours["objective"] == pytest.approx(sum(raw.values()))


@given(seed=seeds, C=sizes, rho=weights)
@settings(max_examples=30, deadline=None)
def test_no_other_recovery_is_better(seed, C, rho):
    rng = np.random.default_rng(seed)
    G, E = statistics(*data(seed, C))
    b = rng.normal(size=C) * (rng.random(C) < 0.7)
    penalties = Penalties(0.1, 0.1, rho)
    A = solve_recovery(G, b, rho)
    best = objective(G, E, b, A, penalties)["objective"]
    for size in (1.0, 1e-2, 1e-4):
        other = A + size * rng.normal(size=A.shape)
        assert objective(G, E, b, other, penalties)["objective"] > best
    assert (A[b == 0] == 0).all()


@given(seed=seeds, C=sizes, lambda1=weights, lambda2=st.sampled_from([0.0, 0.1, 0.5]), rho=weights)
@settings(max_examples=40, deadline=None)
def test_the_selection_block_is_the_one_coordinate_descent_finds(seed, C, lambda1, lambda2, rho):
    """One round of the solver against soft thresholding written out, label after label."""
    G, E = statistics(*data(seed, C))
    penalties = Penalties(lambda1, lambda2, rho)
    A = solve_recovery(G, np.ones(C), rho)
    H = np.array([[G[j, k] * (A[j] @ A[k]) for k in range(C)] for j in range(C)])
    H += np.diag(E + lambda1)
    g = np.array([A[j] @ G[j] + lambda1 for j in range(C)])
    b = np.zeros(C)
    for _ in range(3000):
        for j in range(C):
            rest = g[j] - H[j] @ b + H[j, j] * b[j]
            b[j] = np.sign(rest) * max(abs(rest) - lambda2 / 2, 0) / H[j, j]
    ours = minimise(G, E, penalties, max_iter=1).selection
    np.testing.assert_allclose(ours, b, atol=1e-7)
    # and no small change of the weights is better
    rng = np.random.default_rng(seed)
    best = objective(G, E, ours, A, penalties)["objective"]
    for size in (0.3, 1e-2):
        other = ours + size * rng.normal(size=C)
        assert objective(G, E, other, A, penalties)["objective"] > best


@given(seed=seeds, C=st.integers(3, 8))
@settings(max_examples=25, deadline=None)
def test_labels_that_drop_out_are_exactly_zero(seed, C):
    G, E = statistics(*data(seed, C))
    solution = minimise(G, E, Penalties(0.02, 0.4, 0.05))
    out = solution.selection == 0
    assert (solution.recovery[out] == 0).all()
    everything = minimise(G, E, Penalties(0.02, 100.0, 0.05))
    assert not everything.selection.any()
    assert not everything.recovery.any()
    assert everything.objective == pytest.approx(np.trace(G) + 0.02 * C)


def test_some_drop_out_and_some_stay():
    counts = []
    for seed in range(10):
        G, E = statistics(*data(seed, 8))
        counts.append(np.count_nonzero(minimise(G, E, Penalties(0.02, 0.3, 0.05)).selection))
    assert min(counts) > 0
    assert max(counts) < 8


@given(seed=seeds, C=st.integers(2, 8))
@settings(max_examples=25, deadline=None)
def test_only_the_support_is_used(seed, C):
    rng = np.random.default_rng(seed)
    F, Y = data(seed, C)
    G, E = statistics(F, Y)
    support = rng.random(C) < 0.5
    support[rng.integers(C)] = True
    penalties = Penalties(0.1, 0.05, 0.05)
    solution = minimise(G, E, penalties, support=support)
    assert not solution.selection[~support].any()
    assert not solution.recovery[~support].any()
    assert first_order_violation(
        F, Y, solution.selection, solution.recovery, penalties, support
    ) < (1e-6)


def test_a_start_at_the_solution_stays_there():
    G, E = statistics(*data(3, 8))
    penalties = Penalties(0.05, 0.2, 0.05)
    first = minimise(G, E, penalties)
    again = minimise(G, E, penalties, start=first.selection)
    assert len(again.history) == 3
    np.testing.assert_allclose(again.selection, first.selection, atol=1e-6)


@given(
    seed=seeds,
    C=st.integers(2, 7),
    lambda1=st.sampled_from([0.0, 0.1]),
    lambda2=st.sampled_from([0.0, 0.1]),
    rho=st.sampled_from([0.0, 0.05]),
    kind=st.sampled_from(["zero", "duplicate", "always", "perfect"]),
)
@example(seed=0, C=2, lambda1=0.0, lambda2=0.0, rho=0.0, kind="duplicate")
@example(seed=0, C=2, lambda1=0.0, lambda2=0.1, rho=0.05, kind="perfect")
@settings(max_examples=35, deadline=None)
def test_degenerate_labels_and_missing_penalties(seed, C, lambda1, lambda2, rho, kind):
    """Never true, always true, two alike, never wrong: the objective still falls, all finite."""
    F, Y = data(seed, C)
    if kind == "zero":
        Y[:, 0] = F[:, 0] = 0.0
    elif kind == "duplicate":
        Y[:, 0], F[:, 0] = Y[:, 1], F[:, 1]
    elif kind == "always":
        Y[:, 0] = 1.0
    else:
        F = Y.copy()
    G, E = statistics(F, Y)
    penalties = Penalties(lambda1, lambda2, rho)
    solution = minimise(G, E, penalties, max_iter=100)
    assert np.isfinite(solution.selection).all()
    assert np.isfinite(solution.recovery).all()
    values = np.array([record["objective"] for record in solution.history])
    assert (np.diff(values) <= 1e-7 * (1 + values[0])).all()


def test_one_label():
    """b and A are numbers: b (E + l1) + ... can be minimised on a grid."""
    G, E = np.array([[0.3]]), np.array([0.1])
    penalties = Penalties(0.1, 0.15, 0.05)
    solution = minimise(G, E, penalties)
    b = np.linspace(0, 1.2, 4001)[:, None]
    a = np.linspace(0, 1.5, 1501)[None]
    J = 0.1 * b**2 + 0.3 * (1 - a * b) ** 2 + 0.1 * (b - 1) ** 2 + 0.15 * b + 0.05 * a**2
    assert solution.objective <= J.min() + 1e-9
    row, column = np.unravel_index(J.argmin(), J.shape)
    assert solution.selection[0] == pytest.approx(b[row, 0], abs=2e-3)
    assert solution.recovery[0, 0] == pytest.approx(a[0, column], abs=2e-3)


def test_inputs_are_left_alone():
    G, E = statistics(*data(1, 5))
    before, start, support = (G.copy(), E.copy()), np.full(5, 0.5), np.arange(5) < 3
    minimise(G, E, Penalties(0.1, 0.1, 0.1), start=start, support=support)
    np.testing.assert_array_equal(G, before[0])
    np.testing.assert_array_equal(E, before[1])
    np.testing.assert_array_equal(start, 0.5)
    assert support.sum() == 3


@given(seed=seeds, C=st.integers(2, 8), lambda1=weights, lambda2=weights, rho=weights)
@settings(max_examples=25, deadline=None)
def test_slope_and_curvature_are_those_of_the_objective(seed, C, lambda1, lambda2, rho):
    """With A solved for, J depends on b alone; central differences on the landmarks."""
    G, E = statistics(*data(seed, C))
    penalties = Penalties(lambda1, lambda2, rho)
    problem = Problem(G, E, penalties, np.ones(C, dtype=bool))
    b = np.random.default_rng(seed).uniform(0.3, 1.2, C)
    b[0] = 0.0
    landmarks, step = np.flatnonzero(b), 1e-5

    def J(b):
        return objective(G, E, b, solve_recovery(G, b, rho), penalties)["objective"]

    def moved(j, by):
        return b + by * (np.arange(C) == j)

    point = Point(problem, b)
    assert point.terms(b)["objective"] == pytest.approx(J(b), rel=1e-10)
    slope = [(J(moved(j, step)) - J(moved(j, -step))) / (4 * step) for j in landmarks]
    np.testing.assert_allclose(point.slope, slope, atol=1e-7)
    columns = [
        (Point(problem, moved(j, step)).slope - Point(problem, moved(j, -step)).slope) / (2 * step)
        for j in landmarks
    ]
    np.testing.assert_allclose(point.curvature(), columns, atol=1e-6)


def test_labels_that_are_given_up_slowly():
    """lambda2 = 2 lambda1 puts labels on the edge of being dropped: rounds alone take hundreds."""
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(2000, 10)) @ rng.normal(size=(10, 120))
    Y = causes + 6 * rng.normal(size=causes.shape) > rng.uniform(10, 20, 120)
    G = np.cov(Y.T.astype(float), bias=True)
    unit = np.mean(np.diag(G))
    E, penalties = 0.97 * np.diag(G), Penalties(0.1 * unit, 0.2 * unit, 0.1 * unit)
    solution = minimise(G, E, penalties)
    b, A = solution.selection, solution.recovery
    assert optimality_residual(G, E, b, A, None, penalties) < 1e-9 * unit
    assert 0 < np.count_nonzero(b) < len(b)
    assert len(solution.history) < 100
