"""Landmark sets: against all subsets, against greedy addition, and budgets met exactly."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splmll.published.exact import minimise, objective, optimality_residual, solve_recovery
from splmll.published.objective import Penalties
from splmll.published.selection import select_hard, select_soft

seeds = st.integers(0, 2**32 - 1)


def statistics(seed, C, n=60):
    """Label moments and prediction errors of correlated random labels."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 3))
    Y = (causes @ rng.normal(size=(3, C)) + rng.normal(size=(n, C)) > 0.5).astype(float)
    Y -= Y.mean(axis=0)
    return Y.T @ Y / n, rng.random(C) * np.diag(Y.T @ Y / n)


def random_penalties(seed, G):
    g = np.diag(G).mean()
    lambda1, lambda2, rho = np.random.default_rng(seed).choice([0.02, 0.1, 0.3, 0.8], size=3)
    return Penalties(lambda1 * g, lambda2 * g, rho * g)


def every_subset(C):
    return (np.arange(2**C)[:, None] >> np.arange(C)) % 2 == 1


def values_of(subsets, G, E, penalties):
    """The objective of many landmark sets, each with its own best recovery, from the formula."""
    b = subsets.astype(float)
    BG = b[:, :, None] * G
    A = np.linalg.solve(BG * b[:, None, :] + penalties.rho * np.eye(len(E)), BG)
    left = np.trace(G) - np.einsum("sij,sij->s", A, BG)  # ||Y - Y B A||^2 + rho ||A||^2 at best A
    own = b @ (E + penalties.lambda2) + penalties.lambda1 * (1 - b).sum(axis=1)
    return left + own


def value_of(inside, G, E, penalties):
    return float(values_of(np.asarray(inside, dtype=bool)[None], G, E, penalties)[0])


def greedy_addition(G, E, penalties, n_landmarks=None):
    """Add the best label until nothing helps, every set evaluated from scratch."""
    inside, order = np.zeros(len(E), dtype=bool), []
    while not inside.all():
        outside = np.flatnonzero(~inside)
        trials = np.tile(inside, (len(outside), 1))
        trials[np.arange(len(outside)), outside] = True
        values = values_of(trials, G, E, penalties)
        if n_landmarks is None and values.min() >= value_of(inside, G, E, penalties):
            break
        if n_landmarks is not None and inside.sum() == n_landmarks:
            break
        inside = trials[values.argmin()]
        order.append(int(outside[values.argmin()]))
    return inside, order


def test_the_formula_of_these_tests_is_the_objective():
    G, E = statistics(0, 6)
    penalties = Penalties(0.05, 0.1, 0.03)
    for inside in every_subset(6)[::7]:
        b = inside.astype(float)
        expected = objective(G, E, b, solve_recovery(G, b, 0.03), penalties)["objective"]
        assert value_of(inside, G, E, penalties) == pytest.approx(expected)


def test_hard_selection_is_the_best_of_all_subsets():
    equal, worst = 0, 0.0
    for seed in range(100):
        C = 4 + seed % 7
        G, E = statistics(seed, C)
        penalties = random_penalties(seed, G)
        best = values_of(every_subset(C), G, E, penalties).min()
        reached = select_hard(G, E, penalties).objective
        equal += reached <= best * (1 + 1e-9)
        worst = max(worst, reached / best)
    assert equal >= 95
    assert worst <= 1.01


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_hard_selection_with_a_budget_is_the_best_of_all_sets_of_that_size(share):
    equal, worst = 0, 0.0
    for seed in range(100):
        C = 4 + seed % 6
        k = max(1, round(share * C))
        G, E = statistics(seed, C)
        penalties = random_penalties(seed, G)
        subsets = every_subset(C)
        best = values_of(subsets[subsets.sum(axis=1) == k], G, E, penalties).min()
        reached = select_hard(G, E, penalties, n_landmarks=k).objective
        equal += reached <= best * (1 + 1e-9)
        worst = max(worst, reached / best)
    assert equal >= 95
    assert worst <= 1.01


@given(seed=seeds, C=st.integers(1, 15), budget=st.booleans())
@settings(max_examples=60, deadline=None)
def test_never_worse_than_greedy_addition_alone(seed, C, budget):
    G, E = statistics(seed, C)
    penalties = random_penalties(seed, G)
    k = 1 + seed % C if budget else None
    greedy, _ = greedy_addition(G, E, penalties, k)
    solution = select_hard(G, E, penalties, n_landmarks=k)
    assert solution.objective <= value_of(greedy, G, E, penalties) + 1e-12
    assert set(np.unique(solution.selection)) <= {0.0, 1.0}
    np.testing.assert_allclose(
        solution.recovery, solve_recovery(G, solution.selection, penalties.rho)
    )


def test_removal_and_swap_find_what_addition_misses():
    """Greedy addition alone is worse somewhere, or the rest of the search would be idle."""
    worse = 0
    for seed in range(100):
        G, E = statistics(seed, 12)
        penalties = random_penalties(seed, G)
        greedy, _ = greedy_addition(G, E, penalties)
        reached = select_hard(G, E, penalties).objective
        worse += value_of(greedy, G, E, penalties) > reached * (1 + 1e-6)
    assert worse >= 5


def neighbours(inside, with_budget):
    """All sets one addition, removal or swap away (with a budget: one swap away)."""
    sets = []
    for j in np.flatnonzero(inside):
        for k in np.flatnonzero(~inside):
            swapped = inside.copy()
            swapped[[j, k]] = swapped[[k, j]]
            sets.append(swapped)
    if not with_budget:
        for j in range(len(inside)):
            changed = inside.copy()
            changed[j] = ~changed[j]
            sets.append(changed)
    return np.array(sets)


@pytest.mark.parametrize("budget", [False, True])
def test_no_single_move_improves_the_result(budget):
    for seed in range(60):
        C = 14
        G, E = statistics(seed, C)
        penalties = random_penalties(seed, G)
        k = 2 + seed % 10 if budget else None
        solution = select_hard(G, E, penalties, n_landmarks=k)
        around = values_of(neighbours(solution.selection == 1, budget), G, E, penalties)
        assert solution.objective <= around.min() + 1e-10


@given(seed=seeds, C=st.integers(2, 9))
@settings(max_examples=40, deadline=None)
def test_every_value_on_the_way_is_that_of_some_set_and_they_fall(seed, C):
    G, E = statistics(seed, C)
    penalties = random_penalties(seed, G)
    values = np.array([record["objective"] for record in select_hard(G, E, penalties).history])
    assert (np.diff(values) < 1e-12).all()
    possible = values_of(every_subset(C), G, E, penalties)
    for value in values:
        assert np.abs(possible - value).min() < 1e-10


@pytest.mark.parametrize("select", [select_soft, select_hard])
@pytest.mark.parametrize("C", [1, 3, 10])
def test_a_budget_gives_exactly_that_many(select, C):
    for seed in range(2):
        G, E = statistics(seed, C)
        penalties = random_penalties(seed + 10, G)
        for k in range(1, C + 1):
            solution = select(G, E, penalties, n_landmarks=k)
            assert np.count_nonzero(solution.selection) == k
            assert (solution.recovery[solution.selection == 0] == 0).all()


@pytest.mark.parametrize("select", [select_soft, select_hard])
def test_a_budget_among_labels_that_are_alike(select):
    """Copies of one label cannot be told apart; the budget is met all the same."""
    G, E = np.full((5, 5), 0.2), np.full(5, 0.1)
    for k in range(1, 6):
        chosen = select(G, E, Penalties(0.02, 0.1, 0.02), n_landmarks=k).selection
        assert np.count_nonzero(chosen) == k


def test_a_soft_budget_is_an_optimum_of_the_chosen_labels():
    G, E = statistics(1, 12)
    for k in (3, 6, 9):
        solution = select_soft(G, E, Penalties(0.05, 0.1, 0.03), n_landmarks=k)
        b = solution.selection
        terms = solution.history[-1]
        lambda2 = terms["sparsity"] / np.abs(b).sum()
        residual = optimality_residual(
            G, E, b, solution.recovery, b != 0, Penalties(0.05, lambda2, 0.03)
        )
        assert residual < 1e-6


def test_without_a_budget_soft_selection_is_the_minimiser():
    G, E = statistics(2, 8)
    penalties = Penalties(0.05, 0.1, 0.03)
    np.testing.assert_array_equal(
        select_soft(G, E, penalties).selection, minimise(G, E, penalties).selection
    )


def test_the_solver_stops_when_rounding_lets_it_get_no_nearer():
    """Here coordinate descent alone stops short of the tolerance and never moves again."""
    G, E = statistics(5, 10)
    chosen = select_soft(
        G, E, Penalties(0.1, 0.01, 0.02), n_landmarks=3, support=np.arange(10) % 2 == 0
    )
    solution = minimise(G, E, Penalties(0.1, 0.8438738, 0.02), support=chosen.selection != 0)
    assert len(solution.history) < 100


def test_a_higher_price_never_buys_more_landmarks():
    for seed in range(25):
        C = 4 + seed % 5
        G, E = statistics(seed, C)
        g = np.diag(G).mean()
        counts = []
        for lambda2 in np.array([0.0, 0.1, 0.3, 0.6, 1.0, 2.0, 5.0]) * g:
            penalties = Penalties(0.1 * g, lambda2, 0.05 * g)
            solution = select_hard(G, E, penalties)
            best = values_of(every_subset(C), G, E, penalties).min()
            if solution.objective <= best * (1 + 1e-9):  # true of the optimum, so ask there
                counts.append(int(solution.selection.sum()))
        assert len(counts) >= 5
        assert all(more >= fewer for more, fewer in pairwise(counts))
        assert counts[0] > counts[-1]


@pytest.mark.parametrize("select", [select_soft, select_hard])
@pytest.mark.parametrize("k", [None, 4])
def test_the_order_of_labels_does_not_matter(select, k):
    for seed in range(4):
        G, E = statistics(seed, 9)
        penalties = Penalties(0.03, 0.08, 0.02)
        order = np.random.default_rng(seed).permutation(9)
        plain = select(G, E, penalties, n_landmarks=k).selection
        moved = select(G[np.ix_(order, order)], E[order], penalties, n_landmarks=k).selection
        np.testing.assert_allclose(moved, plain[order], atol=1e-5)


@pytest.mark.parametrize("select", [select_soft, select_hard])
@pytest.mark.parametrize("k", [None, 3])
def test_only_the_support_is_selected(select, k):
    G, E = statistics(5, 10)
    support = np.arange(10) % 2 == 0
    solution = select(G, E, Penalties(0.1, 0.01, 0.02), n_landmarks=k, support=support)
    assert not solution.selection[~support].any()
    assert np.count_nonzero(solution.selection) == (5 if k is None else k)
    assert support.sum() == 5


def test_a_hard_label_that_is_representative_loses_to_an_easy_copy():
    """The trade the method is about: the same information, one label easier to predict."""
    G = np.array([[0.25, 0.25, 0.1], [0.25, 0.25, 0.1], [0.1, 0.1, 0.2]])
    easy, hard = np.array([0.01, 0.2, 0.1]), np.array([0.2, 0.01, 0.1])
    penalties = Penalties(0.02, 0.1, 0.02)
    assert select_hard(G, easy, penalties, n_landmarks=1).selection.tolist() == [1, 0, 0]
    assert select_hard(G, hard, penalties, n_landmarks=1).selection.tolist() == [0, 1, 0]
    assert select_soft(G, easy, penalties).selection[1] == 0
    assert select_soft(G, hard, penalties).selection[0] == 0


def test_no_ridge_is_allowed():
    G, E = statistics(7, 6)
    G = np.pad(G, (0, 1), mode="edge")  # the last label is a copy: G is singular
    E = np.append(E, E[-1])
    solution = select_hard(G, E, Penalties(0.02, 0.05, 0.0))
    assert np.isfinite(solution.objective)
    assert solution.selection[-2:].sum() <= 1
