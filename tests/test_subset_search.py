"""Subsets by addition, removal and swap: bookkeeping against sets evaluated from scratch."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splmll.subset_search import SubsetProblem, SubsetSearch, addition_order

seeds = st.integers(0, 2**32 - 1)


def problem(
    seed: int, size: int = 9, *, priced: bool = True, symmetric: bool = False
) -> SubsetProblem:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 3)) @ rng.normal(size=(3, size)) + rng.normal(size=(40, size))
    targets = rows[:, : max(1, size - 2)] + rng.normal(size=(40, max(1, size - 2)))
    G = rows.T @ rows / 40
    T = G if symmetric else rows.T @ targets / 40
    price = rng.uniform(0, 2, size=size) if priced else np.zeros(size)
    return SubsetProblem(G, T, price, 0.05, np.ones(size, dtype=bool), total=100.0)


def value(p: SubsetProblem, chosen: object) -> float:
    """J of a set, from the formula."""
    S = np.asarray(chosen, dtype=int)
    if len(S) == 0:
        return p.total
    left = p.moments[np.ix_(S, S)] + p.ridge * np.eye(len(S))
    explained = np.sum(p.targets[S] * np.linalg.solve(left, p.targets[S]))
    return float(p.total + p.price[S].sum() - explained)


def best_of_size(p: SubsetProblem, size: int) -> float:
    return min(value(p, S) for S in combinations(range(len(p.price)), size))


@given(seed=seeds, size=st.integers(1, 10), symmetric=st.booleans())
@settings(max_examples=40, deadline=None)
def test_addition_takes_the_best_row_every_time(seed: int, size: int, symmetric: bool) -> None:
    p = problem(seed, size, symmetric=symmetric)
    order, values = addition_order(p, size)
    assert sorted(order.tolist()) == list(range(size))
    for step in range(size):
        before = order[:step].tolist()
        trials = {j: value(p, [*before, j]) for j in range(size) if j not in before}
        assert values[step] == pytest.approx(min(trials.values()), abs=1e-8)
        assert trials[order[step]] == pytest.approx(values[step], abs=1e-8)


def test_the_search_adds_what_the_order_adds() -> None:
    for seed in range(20):
        p = problem(seed)
        order, values = addition_order(p, 6)
        search = SubsetSearch(p, [])
        search.grow_to(6)
        assert set(np.flatnonzero(search.inside)) == set(order.tolist())
        assert search.value == pytest.approx(values[-1])


def test_only_allowed_rows_are_added() -> None:
    p = problem(1)
    allowed = np.arange(9) % 2 == 0
    p = SubsetProblem(p.moments, p.targets, p.price, p.ridge, allowed, p.total)
    order, values = addition_order(p, 9)
    assert set(order.tolist()) == {0, 2, 4, 6, 8}
    assert len(values) == 5
    search = SubsetSearch(p, [])
    search.grow_to(9)
    search.move_while_it_gains()
    assert not search.inside[~allowed].any()


@pytest.mark.parametrize("move", ["add_best", "remove_best", "swap_best"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_every_move_is_the_best_of_its_kind(move: str, symmetric: bool) -> None:
    for seed in range(15):
        p = problem(seed, symmetric=symmetric)
        start = np.random.default_rng(seed).permutation(9)[:4].tolist()
        others = [j for j in range(9) if j not in start]
        around = {
            "add_best": [[*start, j] for j in others],
            "remove_best": [[i for i in start if i != j] for j in start],
            "swap_best": [[*(i for i in start if i != j), k] for j in start for k in others],
        }[move]
        best = min(value(p, S) for S in around)
        search = SubsetSearch(p, start)
        assert search.value == pytest.approx(value(p, start))
        moved = getattr(search, move)()
        assert moved == (best < value(p, start) - search.tolerance)
        if moved:
            assert search.value == pytest.approx(best)
            assert search.value == pytest.approx(value(p, np.flatnonzero(search.inside)))


def test_forced_moves_are_made_even_where_they_cost() -> None:
    p = problem(2)
    dear = SubsetProblem(p.moments, p.targets, p.price + 1e6, p.ridge, p.allowed, p.total)
    search = SubsetSearch(dear, [])
    search.grow_to(None)
    assert not search.inside.any()
    search.grow_to(3)
    assert search.inside.sum() == 3
    cheap = SubsetProblem(p.moments, p.targets, p.price - 1e6, p.ridge, p.allowed, p.total)
    search = SubsetSearch(cheap, np.arange(9))
    search.shrink_to(None)
    assert search.inside.all()
    search.shrink_to(4)
    assert search.inside.sum() == 4


@pytest.mark.parametrize("start", ["empty", "full"])
def test_what_is_left_is_that_of_the_rows_inside_after_many_moves(start: str) -> None:
    for seed in range(10):
        p = problem(seed, 14)
        search = SubsetSearch(p, [] if start == "empty" else np.arange(14))
        search.move_while_it_gains()
        S = np.flatnonzero(search.inside)
        weights = p.moments[:, S] @ np.linalg.inv(
            p.moments[np.ix_(S, S)] + p.ridge * np.eye(len(S))
        )
        np.testing.assert_allclose(search.left, p.moments - weights @ p.moments[S], atol=1e-9)
        np.testing.assert_allclose(
            search.targets_left, p.targets - weights @ p.targets[S], atol=1e-9
        )
        values = [value(p, np.flatnonzero(inside)) for inside in search.visited]
        assert (np.diff(values) < 0).all()
        assert search.value == pytest.approx(values[-1])


def test_swaps_keep_the_number_and_end_where_none_gains() -> None:
    optimal = 0
    for seed in range(40):
        p = problem(seed, priced=False)
        search = SubsetSearch(p, [0, 1, 2])
        search.swap_while_it_gains()
        assert search.inside.sum() == 3
        assert not search.swap_best()
        optimal += search.value <= best_of_size(p, 3) + 1e-9
    assert optimal >= 32


def test_prices_decide_on_the_number() -> None:
    for seed in range(10):
        p = problem(seed)
        counts = []
        for factor in (0.0, 1.0, 5.0, 1e3):
            priced = SubsetProblem(
                p.moments, p.targets, factor * p.price, p.ridge, p.allowed, p.total
            )
            search = SubsetSearch(priced, [])
            search.move_while_it_gains()
            counts.append(int(search.inside.sum()))
        assert counts[0] == 9
        assert counts == sorted(counts, reverse=True)
        assert counts[-1] == 0


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_rows_that_repeat_others(ridge: float) -> None:
    """Without a ridge the moments of copies are singular; a trace of it is used."""
    G = np.full((4, 4), 0.2)
    G[3] = G[:, 3] = 0.0
    G[3, 3] = 0.1
    p = SubsetProblem(G, G, np.zeros(4), ridge, np.ones(4, dtype=bool), total=0.7)
    order, values = addition_order(p, 4)
    assert set(order[:2].tolist()) == {0, 3}
    assert np.isfinite(values).all()
    search = SubsetSearch(p, np.arange(4))
    search.shrink_to(2)
    assert search.inside[3]
    assert search.value == pytest.approx(values[1], abs=1e-2)
