"""Selection by the honest objective: against all subsets, and what it does not depend on."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splmll.landmarks import selection
from splmll.landmarks.selection import by_what_they_explain, honest_problem, select
from splmll.statistics import Statistics
from splmll.subset_search import SubsetProblem

seeds = st.integers(0, 2**32 - 1)


def predictions(seed: int, n_labels: int, n_rows: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Correlated labels, and predictions of them of very different quality."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n_rows, 3))
    signal = causes @ rng.normal(size=(3, n_labels)) + rng.normal(size=(n_rows, n_labels))
    Y = (signal > rng.uniform(-1, 2, size=n_labels)).astype(float)
    noise = rng.choice([0.1, 0.5, 2.0], size=n_labels)
    return Y * rng.uniform(0.3, 1, size=n_labels) + noise * rng.normal(size=Y.shape), Y


def problem_of(F: np.ndarray, Y: np.ndarray, allowed: np.ndarray | None = None) -> SubsetProblem:
    allowed = np.ones(F.shape[1], dtype=bool) if allowed is None else allowed
    return honest_problem(Statistics.of(F, Y, label_pairs=False), allowed)


def error(F: np.ndarray, Y: np.ndarray, chosen: np.ndarray) -> float:
    """||Y - F M||^2 / n + ridge ||M||^2 with the best M, from the rows."""
    centred, labels = F - F.mean(axis=0), Y - Y.mean(axis=0)
    ridge = selection.SELECTION_RIDGE * np.mean(centred.var(axis=0))
    used = centred[:, chosen]
    left = used.T @ used / len(Y) + ridge * np.eye(len(chosen))
    M = np.linalg.solve(left, used.T @ labels / len(Y))
    return float(np.mean(((labels - used @ M) ** 2).sum(axis=1)) + ridge * np.sum(M**2))


def test_against_all_subsets() -> None:
    optimal, worst = 0, 1.0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n_labels = int(rng.integers(3, 11))
        count = int(rng.integers(1, n_labels))
        F, Y = predictions(seed, n_labels)
        best = min(error(F, Y, np.array(each)) for each in combinations(range(n_labels), count))
        reached = error(F, Y, select(problem_of(F, Y), count))
        optimal += reached <= best * (1 + 1e-9)
        worst = max(worst, reached / best)
    assert optimal >= 95
    assert worst <= 1.01


def test_swaps_find_what_addition_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    better = 0
    for seed in range(40):
        F, Y = predictions(seed, 14)
        problem = problem_of(F, Y)
        with monkeypatch.context() as patch:
            patch.setattr(selection, "MOST_FOR_SWAPS", 0)
            added = error(F, Y, select(problem, 4))
        searched = error(F, Y, select(problem, 4))
        assert searched <= added + 1e-12
        better += searched < added - 1e-9
    assert better >= 3


@given(seed=seeds, n_labels=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_a_budget_is_met_with_different_labels(seed: int, n_labels: int) -> None:
    F, Y = predictions(seed, n_labels)
    for count in range(1, n_labels + 1):
        found = select(problem_of(F, Y), count)
        assert len(found) == len(set(found.tolist())) == count


def test_labels_that_are_alike_are_a_budget_too() -> None:
    rng = np.random.default_rng(0)
    Y = np.repeat((rng.random((60, 1)) < 0.4) * 1.0, 5, axis=1)
    F = np.repeat(Y[:, :1] + rng.normal(size=(60, 1)), 5, axis=1)
    for count in range(1, 6):
        assert len(set(select(problem_of(F, Y), count).tolist())) == count


@pytest.mark.parametrize("count", [2, 5])
def test_only_what_is_allowed_is_chosen(count: int) -> None:
    allowed = np.arange(10) % 2 == 0
    for seed in range(10):
        F, Y = predictions(seed, 10)
        assert allowed[select(problem_of(F, Y, allowed), count)].all()


def test_the_order_of_labels_does_not_matter() -> None:
    for seed in range(10):
        F, Y = predictions(seed, 9)
        order = np.random.default_rng(seed).permutation(9)
        plain = select(problem_of(F, Y), 4)
        moved = select(problem_of(F[:, order], Y[:, order]), 4)
        assert order[moved].tolist() == plain.tolist()


def test_the_unit_of_all_predictions_does_not_matter() -> None:
    F, Y = predictions(1, 9)
    plain = select(problem_of(F, Y), 4).tolist()
    for unit in (1e-3, 1e3):
        assert select(problem_of(unit * F + 5, Y), 4).tolist() == plain


def test_those_that_explain_most_come_first() -> None:
    F, Y = predictions(4, 9)
    problem = problem_of(F, Y)
    chosen = by_what_they_explain(problem, np.array([7, 1, 4]))
    assert sorted(chosen.tolist()) == [1, 4, 7]
    alone = [error(F, Y, np.array([label])) for label in chosen]
    assert alone[0] == min(alone)
    pairs = [error(F, Y, np.array([chosen[0], label])) for label in chosen[1:]]
    assert pairs[0] == min(pairs)


def test_an_easy_copy_beats_a_label_that_is_hard_to_predict() -> None:
    rng = np.random.default_rng(5)
    label = (rng.random(300) < 0.5) * 1.0
    Y = np.column_stack([label, label, rng.random(300) < 0.3])
    for easy in (0, 1):
        noise = np.where(np.arange(3) == easy, 0.1, 1.0)
        F = Y + noise * rng.normal(size=Y.shape)
        assert select(problem_of(F, Y), 1).tolist() == [easy]
