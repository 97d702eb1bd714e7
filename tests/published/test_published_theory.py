"""What is true of the published objective: facts the paper does not state, each by experiment.

Throughout, f(X) predicts labels Y, B = diag(b) selects landmarks, A recovers all labels from them,
and the score of a row is f(x) B A. E_j is the squared error of f on label j and G = Y'Y holds the
moments of the labels, both here per row. The objective is::

    sum_j E_j b_j^2 + ||Y - Y B A||^2 + lambda1 ||b - 1||^2 + lambda2 |b|_1 + rho ||A||^2

with rho = 0 in the paper.
"""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression
from torch import nn

from splmll import evaluate, load_dataset
from splmll.neural import forward
from splmll.published.algorithm1 import Steps, algorithm1
from splmll.published.classifier import fit_ridge, label_moments
from splmll.published.exact import minimise, objective, solve_recovery
from splmll.published.objective import Penalties, objective_terms
from splmll.published.selection import select_hard, select_soft


def synthetic(seed=0, n=400, C=8, n_causes=3, noise=0.5):
    """Labels with few common causes, and features that show the causes."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, n_causes))
    X = np.hstack([causes + 0.5 * rng.normal(size=causes.shape), rng.normal(size=(n, 5))])
    Y = (causes @ rng.normal(size=(n_causes, C)) + noise * rng.normal(size=(n, C)) > 0.5) * 1.0
    return X, Y


def measured(X, Y, center=True):
    """Moments of the labels, and the errors of a linear f on rows it did not see."""
    _, E = fit_ridge(X, Y, seed=0)
    return label_moments(Y - Y.mean(axis=0) if center else Y), E


def collapsed_selection(E, lambda1, lambda2):
    """What is left of the objective when A undoes B: each b_j on its own, in closed form."""
    return np.maximum(0.0, lambda1 - lambda2 / 2) / (E + lambda1)


class TestThePublishedObjectiveSelectsNothing:
    """A is not penalised, so A = B^-1 recovers every label for any b; B A = I and f B A = f."""

    @pytest.mark.parametrize(("lambda1", "lambda2"), [(0.1, 0.1), (0.1, 0.02), (0.5, 0.4)])
    @pytest.mark.parametrize("center", [False, True])
    def test_block_minimisation_collapses(self, lambda1, lambda2, center):
        G, E = measured(*synthetic(), center)
        solution = minimise(G, E, Penalties(lambda1, lambda2, rho=0.0))
        b, A = solution.selection, solution.recovery
        np.testing.assert_allclose(np.diag(b) @ A, np.eye(8), atol=1e-5)
        np.testing.assert_allclose(b, collapsed_selection(E, lambda1, lambda2), atol=1e-5)
        assert solution.history[-1]["representativeness"] == pytest.approx(0, abs=1e-10)

    def test_with_the_paper_s_weights_no_label_is_ever_dropped(self):
        for seed in range(2):
            X, Y = synthetic(seed)
            Y[:, 0] = np.random.default_rng(seed).random(len(Y)) < 0.5  # a coin: unpredictable
            solution = minimise(*measured(X, Y), Penalties(0.1, 0.1, rho=0.0))
            assert (solution.selection > 0.05).all()
            # Even the coin stays a landmark, and it recovers only itself.
            assert solution.recovery[0, 0] * solution.selection[0] == pytest.approx(1, abs=1e-4)

    def test_the_closed_form_is_the_minimum_of_the_raw_objective(self):
        """No b and A that one might try do better than b in closed form with A = B^-1."""
        X, Y = synthetic(1, C=4)
        Y = Y / np.sqrt(len(Y))
        F = LinearRegression().fit(X, Y).predict(X)
        E = np.sum((F - Y) ** 2, axis=0)
        penalties = Penalties(0.2, 0.1, rho=0.0)
        b = collapsed_selection(E, 0.2, 0.1)

        def value(b, A):
            return sum(objective_terms(F, Y, np.diag(b), A, penalties).values())

        best = value(b, np.diag(1 / b))
        rng = np.random.default_rng(1)
        for size in (1.0, 0.1, 0.01):
            for _ in range(50):
                other = b + size * rng.normal(size=4)
                assert value(other, np.diag(1 / b) + size * rng.normal(size=(4, 4))) > best
                assert value(other, np.linalg.pinv(np.diag(other))) > best

    def test_a_high_price_shrinks_all_labels_towards_zero_and_still_selects_none(self):
        """With lambda2 >= 2 lambda1 every b_j falls towards 0 alike, while A grows against it.

        B A stays I all the way, so the predictions never change.
        """
        G, E = measured(*synthetic(2))
        sizes = []
        for rounds in (5, 20, 80):
            solution = minimise(G, E, Penalties(0.1, 0.3, rho=0.0), max_iter=rounds)
            b, A = solution.selection, solution.recovery
            np.testing.assert_allclose(b[:, None] * A, np.eye(8), atol=1e-4)
            sizes.append(b.max())
        assert sizes[0] > sizes[1] > sizes[2] > 0

    def test_labels_that_never_vary_take_no_part(self):
        """A label that is always or never there has no variance to recover."""
        X, Y = synthetic(3)
        Y[:, 2], Y[:, 5] = 0.0, 1.0
        solution = minimise(*measured(X, Y), Penalties(0.1, 0.1, rho=0.0))
        BA = solution.selection[:, None] * solution.recovery
        varying = np.ptp(Y, axis=0) > 0
        np.testing.assert_allclose(BA[np.ix_(varying, varying)], np.eye(6), atol=1e-5)
        np.testing.assert_allclose(BA[~varying], 0, atol=1e-6)

    def test_yeast(self):
        """On real labels: B A = I, all 14 labels kept, and the measures are those of f alone."""
        X, Y, X_test, Y_test = load_dataset("yeast").split()
        f, E = fit_ridge(X, Y, seed=0)
        solution = minimise(label_moments(Y), E, Penalties(0.1, 0.1, rho=0.0))
        b, A = solution.selection, solution.recovery
        assert (b > 0).all()
        np.testing.assert_allclose(b, collapsed_selection(E, 0.1, 0.1), atol=1e-5)
        np.testing.assert_allclose(b[:, None] * A, np.eye(14), atol=1e-5)
        F = forward(f.float(), X_test).numpy()
        S = F @ (b[:, None] * A)
        alone, recovered = evaluate(Y_test, F, F > 0.5), evaluate(Y_test, S, S > 0.5)
        for name, value in alone.items():
            assert recovered[name] == pytest.approx(value, abs=1e-3), name

    def test_algorithm_1_goes_the_same_way_only_slowly(self):
        """The longer its steps on A run, the nearer B A comes to I."""
        X, Y = synthetic(4, n=200, C=4)
        Y[:, 3] = np.random.default_rng(4).random(200) < 0.5
        distances = []

        def watch(epoch, state):
            if epoch in (0, 10, 100, 599):
                distances.append(np.linalg.norm(state.selection @ state.recovery - np.eye(4)))

        algorithm1(
            lambda: nn.Linear(8, 4),
            X,
            Y,
            Penalties(0.1, 0.1),
            steps=Steps(learning_rate=0.01, batch_size=200, max_epochs=600),
            seed=0,
            device=torch.device("cpu"),
            on_epoch=watch,
        )
        assert distances == sorted(distances, reverse=True)
        assert distances[0] > 1  # hardly anything is recovered yet: ||I|| = 2
        assert distances[-1] < 0.2 * distances[0]


class TestARidgeOnTheRecoveryDropsLabels:
    """With rho ||A||^2 a small b_j needs a large A_j, and that now costs something."""

    def test_shrinking_b_is_no_longer_free(self):
        """Scale b down and A up so that B A, hence every prediction, stays the same."""
        G, _ = measured(*synthetic())
        b = np.full(8, 0.8)
        A = solve_recovery(G, b, 0.0)
        for rho in (0.0, 0.05):
            penalties = Penalties(0.0, 0.0, rho)
            values = [
                objective(G, np.zeros(8), b * s, A / s, penalties)["objective"]
                for s in (1.0, 0.5, 0.1)
            ]
            if rho == 0:
                np.testing.assert_allclose(values, values[0], atol=1e-12)
            else:
                assert values[0] < values[1] < values[2]

    def test_labels_really_reach_zero(self):
        """The same data, the same price, with and without the ridge."""
        G, E = measured(*synthetic())
        g = np.diag(G).mean()
        kept = [
            minimise(G, E, Penalties(0.1 * g, g, rho * g), max_iter=100).selection != 0
            for rho in (0.0, 0.3)
        ]
        assert kept[0].all()
        assert 0 < kept[1].sum() < 8

    def test_what_is_dropped_is_recovered_from_the_rest(self):
        G, E = measured(*synthetic())
        g = np.diag(G).mean()
        solution = minimise(G, E, Penalties(0.1 * g, g, 0.3 * g))
        BA = solution.selection[:, None] * solution.recovery
        hidden = solution.selection == 0
        assert hidden.any()
        assert (np.abs(BA[:, hidden]).max(axis=0) > 0.05).all()


class TestSoftLandmarksAreNotChosenForPredictability:
    """The first term depends on B alone, the score on B A: a hard label shrinks b and grows A.

    So the errors of f hardly matter to which labels are chosen, unless b may only be 0 or 1.
    """

    def choices(self, select, G, E, k):
        """The landmarks with no errors, with those of other labels, and with the true ones."""
        g = np.diag(G).mean()
        penalties = Penalties(0.1 * g, 0.5 * g, 0.01 * g)
        shuffled = np.random.default_rng(0).permutation(E)
        return [
            frozenset(np.flatnonzero(select(G, errors, penalties, n_landmarks=k).selection))
            for errors in (np.zeros_like(E), shuffled, E)
        ]

    @pytest.mark.parametrize(("name", "counts"), [("scene", (2, 3, 4)), ("yeast", (4, 7))])
    def test_no_errors_shuffled_errors_and_true_errors_choose_the_same(
        self, name, counts, data_home
    ):
        X, Y, _, _ = load_dataset(name, data_home=data_home).split()
        G, E = measured(X.astype(float), Y.astype(float))
        for k in counts:
            assert len(set(self.choices(select_soft, G, E, k))) == 1
            blind, _, seeing = self.choices(select_hard, G, E, k)
            assert blind != seeing

    def test_soft_takes_the_unpredictable_and_hard_does_not(self):
        """Eight labels without any relation, half of them a little larger but pure chance."""
        G = np.diag(np.r_[np.full(4, 0.25), np.full(4, 0.2)])
        E = np.r_[np.full(4, 0.25), np.full(4, 0.1)]
        chance, predictable = frozenset(range(4)), frozenset(range(4, 8))
        soft, hard = (self.choices(select, G, E, 4) for select in (select_soft, select_hard))
        assert (soft[0], soft[2]) == (chance, chance)
        assert (hard[0], hard[2]) == (chance, predictable)


class TestEveryBlockIsExactAndDoesNotDependOnTheNumberOfRows:
    """The objective needs G and E and nothing else; each block is solved in one go."""

    def test_the_objective_of_rows_is_a_function_of_the_moments(self):
        X, Y = synthetic()
        F = LinearRegression().fit(X, Y).predict(X)
        G, E = Y.T @ Y, np.sum((F - Y) ** 2, axis=0)
        penalties = Penalties(0.1, 0.2, 0.05)
        rng = np.random.default_rng(0)
        for _ in range(5):
            b, A = rng.normal(size=8), rng.normal(size=(8, 8))
            rows = sum(objective_terms(F, Y, np.diag(b), A, penalties).values())
            assert objective(G, E, b, A, penalties)["objective"] == pytest.approx(rows, rel=1e-9)

    def test_alternating_gradients_end_no_lower_than_exact_blocks(self):
        """Yeast with f held fixed: many small steps against a few exact ones."""
        X, Y, _, _ = load_dataset("yeast").split()
        G, E = measured(X, Y, center=False)
        penalties = Penalties(0.1, 0.1, 0.02)
        exact = minimise(G, E, penalties)
        b, A = np.ones(14), 0.1 * np.random.default_rng(0).normal(size=(14, 14))
        reached = []
        for _ in range(300):
            slope = 2 * (E * b + np.einsum("jl,jl->j", (G * b) @ A - G, A) + 0.1 * (b - 1))
            bound = np.linalg.norm(G) * np.linalg.norm(A @ A.T) + E.max() + 0.1
            b = b - (slope + 0.1 * np.sign(b)) / (2 * bound + 0.1)
            slope = 2 * (b[:, None] * ((G * b) @ A - G) + 0.02 * A)
            A = A - slope / (2 * np.linalg.norm(b[:, None] * G * b) + 0.04)
            reached.append(objective(G, E, b, A, penalties)["objective"])
        assert reached[0] > reached[10] > reached[-1]  # they do descend
        assert exact.objective < reached[-1]
        assert exact.history[6]["objective"] < reached[30]  # three exact rounds, thirty steps
