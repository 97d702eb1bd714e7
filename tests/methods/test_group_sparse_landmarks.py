"""MOPLMS: the convex problem is solved, and its landmarks recover the labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import MultiTaskLasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll.datasets import load_dataset
from splmll.methods import group_sparse_landmarks
from splmll.methods.group_sparse_landmarks import MOPLMS, objective, represent, shrink
from splmll.metrics import evaluate

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Eight labels, of which several follow from others but for noise."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(260, 6))
    roots = (X @ rng.normal(size=(6, 3)) > 0).astype(int)
    Y = roots[:, [0, 1, 2, 0, 0, 1, 2, 2]]
    Y = np.where(rng.random(Y.shape) < 0.1, 1 - Y, Y)
    return X[:200], Y[:200], X[200:]


def gram_of(Y: np.ndarray) -> np.ndarray:
    return Y.T @ Y / len(Y)


def largest_lambda1(G: np.ndarray) -> float:
    return float(np.linalg.norm(G, axis=1).max())


@pytest.mark.parametrize("share", [0.9, 0.5, 0.2, 0.05, 0.01])
def test_equals_the_multi_task_lasso(problem: Problem, share: float) -> None:
    Y = problem[1].astype(float)
    lambda1 = share * largest_lambda1(gram_of(Y))
    peer = MultiTaskLasso(lambda1, fit_intercept=False, tol=1e-15, max_iter=100_000).fit(Y, Y)
    model = MOPLMS(lambda1=lambda1).fit(problem[0], problem[1])
    assert_allclose(model.representation_, peer.coef_.T, atol=1e-8)
    assert set(model.landmarks_) == set(np.flatnonzero(peer.coef_.any(axis=0)))


@pytest.mark.parametrize("lambda1", [0.2, 0.05, 0.01, 0.0])
@pytest.mark.parametrize("lambda2", [0.0, 0.001, 0.02, 0.1])
def test_optimality_conditions(problem: Problem, lambda1: float, lambda2: float) -> None:
    G = gram_of(problem[1])
    assert_optimal(G, represent(G, lambda1, lambda2).matrix, lambda1, lambda2)


def assert_optimal(G: np.ndarray, A: np.ndarray, lambda1: float, lambda2: float) -> None:
    pull = G @ (np.eye(len(G)) - A)  # minus the gradient of the loss
    landmark = A.any(axis=1)
    assert (np.linalg.norm(shrink(pull[~landmark], 0.0, lambda2), axis=1) <= lambda1 + 1e-9).all()
    direction = A[landmark] / np.linalg.norm(A[landmark], axis=1, keepdims=True)
    rest = pull[landmark] - lambda1 * direction
    present = A[landmark] != 0
    assert_allclose(rest[present], lambda2 * np.sign(A[landmark][present]), atol=1e-9)
    assert (np.abs(rest[~present]) <= lambda2 + 1e-9).all()


@pytest.mark.parametrize(("lambda1", "lambda2"), [(0.05, 0.0), (0.05, 0.01), (0.0, 0.03)])
def test_objective_never_rises(problem: Problem, lambda1: float, lambda2: float) -> None:
    X, Y, _ = problem
    model = MOPLMS(lambda1=lambda1, lambda2=lambda2).fit(X, Y)
    assert len(model.objective_) > 3
    assert np.diff(model.objective_).max() <= 1e-14
    A = model.representation_
    by_definition = (
        np.sum((Y - Y @ A) ** 2) / (2 * len(Y))
        + lambda1 * np.linalg.norm(A, axis=1).sum()
        + lambda2 * np.abs(A).sum()
    )
    assert_allclose(model.objective_[-1], by_definition)
    assert_allclose(objective(gram_of(Y), A, lambda1, lambda2), by_definition)


def test_nearly_equal_labels_are_solved_too() -> None:
    # Two columns that differ in one row: plain descent would creep along their difference.
    rng = np.random.default_rng(0)
    Y = (rng.random((2000, 5)) < 0.4).astype(float)
    Y[:, 4] = Y[:, 3]
    Y[0, 4] = 1 - Y[0, 3]
    G = gram_of(Y)
    solution = represent(G, 0.05)
    assert len(solution.objective) < 200
    assert_optimal(G, solution.matrix, 0.05, 0.0)


def test_an_unfinished_solution_is_said(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_sparse_landmarks, "_MAX_SWEEPS", 2)
    with pytest.warns(ConvergenceWarning, match=r"still moves after 2 sweeps.*larger lambda1"):
        represent(gram_of(problem[1]), 0.01)


def test_shrinking_entries_then_rows_is_the_map_of_both() -> None:
    # The proximal map is the minimiser; no point of a fine grid does better.
    row, by_row, by_entry = np.array([1.3, -0.4]), 0.3, 0.25
    grid = np.stack(np.meshgrid(*[np.linspace(-2, 2, 801)] * 2), axis=-1).reshape(-1, 2)
    value = (
        0.5 * np.sum((grid - row) ** 2, axis=1)
        + by_row * np.linalg.norm(grid, axis=1)
        + by_entry * np.abs(grid).sum(axis=1)
    )
    assert_allclose(shrink(row[None], by_row, by_entry)[0], grid[value.argmin()], atol=0.005)


def test_without_penalties_it_is_the_projection() -> None:
    rng = np.random.default_rng(0)
    Y = (rng.random((50, 4)) < 0.5).astype(float)
    G = gram_of(Y)
    assert_allclose(represent(G, 0.0).matrix, np.eye(4), atol=1e-9)
    twins = Y[:, [0, 1, 1, 2]]
    assert_allclose(represent(gram_of(twins), 0.0).matrix, np.linalg.pinv(twins) @ twins, atol=1e-9)


@pytest.mark.parametrize("lambda2", [0.0, 0.02])
def test_above_the_largest_lambda_there_are_no_landmarks(problem: Problem, lambda2: float) -> None:
    X, Y, X_new = problem
    largest = float(np.linalg.norm(shrink(gram_of(Y), 0.0, lambda2), axis=1).max())
    nothing = MOPLMS(lambda1=1.001 * largest, lambda2=lambda2).fit(X, Y)
    assert len(nothing.landmarks_) == 0
    assert nothing.recovery_.shape == (0, 8)
    assert_allclose(nothing.decision_function(X_new), np.full((60, 8), -0.5))
    assert len(MOPLMS(lambda1=0.999 * largest, lambda2=lambda2).fit(X, Y).landmarks_) > 0


@pytest.mark.parametrize("k", range(1, 9))
@pytest.mark.parametrize("lambda2", [0.0, 0.01])
def test_as_many_landmarks_as_possible_and_no_more(
    problem: Problem, k: int, lambda2: float
) -> None:
    X, Y, _ = problem
    model = MOPLMS(k, lambda2=lambda2).fit(X, Y)
    assert 1 <= len(model.landmarks_) <= k
    again = MOPLMS(lambda1=model.lambda1_, lambda2=lambda2).fit(X, Y)
    assert_allclose(again.representation_, model.representation_, atol=1e-7)
    # No lambda1 of a fine grid leaves more of them without leaving too many.
    G = gram_of(Y)
    for lambda1 in largest_lambda1(G) * np.geomspace(1e-3, 1, 20):
        count = represent(G, lambda1, lambda2, tol=1e-7).n_landmarks
        assert count > k or count <= len(model.landmarks_)
    assert (np.diff(model.path_[:, 0]) <= 0).all()


def test_landmarks_are_sorted_by_their_weight_and_named(problem: Problem) -> None:
    X, Y, _ = problem
    frame = pd.DataFrame(Y, columns=list("abcdefgh"))
    model, plain = MOPLMS(4).fit(X, frame), MOPLMS(4).fit(X, Y)
    assert list(model.landmarks_) == ["abcdefgh"[j] for j in plain.landmarks_]
    lengths = np.linalg.norm(plain.representation_[plain.landmarks_], axis=1)
    assert (np.diff(lengths) <= 1e-8).all()


def test_as_published_the_scores_come_from_the_shrunken_matrix(problem: Problem) -> None:
    X, Y, X_new = problem
    model = MOPLMS(3, refit=False, ridge=2.0).fit(X, Y)
    ridge = make_pipeline(StandardScaler(), Ridge(2.0)).fit(X, Y)
    expected = ridge.predict(X_new)[:, model.landmarks_] @ model.representation_[model.landmarks_]
    assert_allclose(model.decision_function(X_new) + 0.5, expected, atol=1e-10)


def test_refitted_the_landmarks_recover_by_least_squares(problem: Problem) -> None:
    X, Y, _ = problem
    model = MOPLMS(3).fit(X, Y)
    assert_allclose(model.recovery_, np.linalg.lstsq(Y[:, model.landmarks_], Y)[0], atol=1e-10)


def test_labels_that_never_occur_are_no_landmarks(problem: Problem) -> None:
    X, Y, X_new = problem
    Y = Y.copy()
    Y[:, 3] = 0
    model = MOPLMS(1.0).fit(X, Y)
    assert sorted(model.landmarks_) == [0, 1, 2, 4, 5, 6, 7]
    assert not model.predict(X_new)[:, 3].any()
    empty = MOPLMS(2).fit(X, sparse.csr_array(Y.shape))
    assert len(empty.landmarks_) == 0
    assert empty.predict(X_new).nnz == 0


def test_equal_labels_are_recovered_alike(problem: Problem) -> None:
    """Which of them is the landmark, or how they share it, is left to rounding."""
    X, Y, X_new = problem
    model = MOPLMS(lambda1=0.2).fit(X, Y[:, [0, 1, 1]])
    assert 0 in model.landmarks_
    assert {1, 2} & set(model.landmarks_)
    scores = model.decision_function(X_new)
    assert_allclose(scores[:, 1], scores[:, 2], atol=1e-10)


@pytest.mark.parametrize("name", ["lambda1", "lambda2"])
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "auto", True])
def test_impossible_penalties_are_refused(problem: Problem, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"'{name}' .* in the range \[0\.0, inf\).* Got"):
        MOPLMS(**{name: value}).fit(problem[0], problem[1])


def test_shrunken_scores_need_the_refit(data_home: Path) -> None:
    # On emotions three landmarks predict next to nothing as published.
    X, Y, X_test, Y_test = load_dataset("emotions", data_home).split()
    measured = {}
    for refit in (False, True):
        model = MOPLMS(3, refit=refit, ridge=10.0).fit(X, Y)
        assert len(model.landmarks_) == 3
        scores, labels = model.decision_function(X_test), model.predict(X_test)
        measured[refit] = evaluate(Y_test, scores, labels)["micro_f1"]
    assert measured[False] < 0.05
    assert measured[True] == pytest.approx(0.44, abs=0.02)
