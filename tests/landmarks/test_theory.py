"""What is true of the method: four facts the paper does not state, each shown by experiment.

Throughout, f(X) predicts labels Y, B = diag(b) selects landmarks, A recovers all labels from them,
and the score of a row is f(x) B A. E_j is the mean squared error of f on label j and G = Y'Y / n
holds the moments of the labels. The objective is::

    sum_j E_j b_j^2 + ||Y - Y B A||^2 / n + lambda1 ||b - 1||^2 + lambda2 |b|_1 + rho ||A||^2

with rho = 0 in the paper.
"""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor
from torch import nn

from splmll import evaluate, load_dataset
from splmll.landmarks.algorithm1 import algorithm1
from splmll.landmarks.embedding import LinearEmbedding, RegressorEmbedding
from splmll.landmarks.exact import minimise, objective, solve_recovery
from splmll.landmarks.moments import Moments
from splmll.landmarks.objective import Penalties, objective_terms
from splmll.landmarks.recovery import recover_crossfitted
from splmll.landmarks.selection import select_soft
from splmll.landmarks.statistics import Statistics
from splmll.neural import Training


def synthetic(seed=0, n=400, C=8, n_causes=3, noise=0.5):
    """Labels with few common causes, and features that show the causes."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, n_causes))
    X = np.hstack([causes + 0.5 * rng.normal(size=causes.shape), rng.normal(size=(n, 5))])
    Y = (causes @ rng.normal(size=(n_causes, C)) + noise * rng.normal(size=(n, C)) > 0.5) * 1.0
    return X, Y


def in_folds(n, K=5, seed=0):
    """Fold number of every row, drawn once."""
    return np.random.default_rng(seed).permutation(np.arange(n) % K)[None]


def linear_moments(X, Y, center=True):
    return LinearEmbedding().fit(X, Y, in_folds(len(X)), center)


def collapsed_selection(E, lambda1, lambda2):
    """What is left of the objective when A undoes B: each b_j on its own, in closed form."""
    return np.maximum(0.0, lambda1 - lambda2 / 2) / (E + lambda1)


class TestFact1ThePublishedObjectiveSelectsNothing:
    """Without a ridge on A, A = B^-1 recovers every label for free, and B A = I.

    What remains, sum_j E_j b_j^2 + lambda1 (b_j - 1)^2 + lambda2 |b_j|, falls apart into one small
    problem per label with the solution b_j = max(0, lambda1 - lambda2/2) / (E_j + lambda1).
    With the paper's lambda1 = lambda2 that is never zero: no label is dropped, f(x) B A = f(x).
    """

    @pytest.mark.parametrize(("lambda1", "lambda2"), [(0.1, 0.1), (0.1, 0.02), (0.5, 0.4)])
    @pytest.mark.parametrize("center", [False, True])
    def test_block_minimisation_collapses(self, lambda1, lambda2, center):
        X, Y = synthetic()
        f = linear_moments(X, Y, center)
        G, E = f.moments.G, f.moments.E
        solution = minimise(G, E, Penalties(lambda1, lambda2, rho=0.0))
        b, A = solution.selection, solution.recovery
        np.testing.assert_allclose(np.diag(b) @ A, np.eye(8), atol=1e-5)
        np.testing.assert_allclose(b, collapsed_selection(E, lambda1, lambda2), atol=1e-5)
        assert solution.history[-1]["representativeness"] == pytest.approx(0, abs=1e-10)
        F = f.predict(X)
        np.testing.assert_allclose(F @ np.diag(b) @ A, F, atol=1e-4)

    def test_with_the_paper_s_weights_no_label_is_ever_dropped(self):
        for seed in range(2):
            X, Y = synthetic(seed)
            Y[:, 0] = np.random.default_rng(seed).random(len(Y)) < 0.5  # a coin: unpredictable
            moments = linear_moments(X, Y).moments
            solution = minimise(moments.G, moments.E, Penalties(0.1, 0.1, rho=0.0))
            assert (solution.selection > 0.05).all()
            # Even the coin stays a landmark, and it recovers only itself.
            assert solution.recovery[0, 0] * solution.selection[0] == pytest.approx(1, abs=1e-4)

    def test_the_closed_form_is_the_minimum_of_the_raw_objective(self):
        """No b and A that one might try do better than b in closed form with A = B^-1."""
        X, Y = synthetic(1, C=4)
        F = LinearRegression().fit(X, Y).predict(X)
        E = np.mean((F - Y) ** 2, axis=0)
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
        X, Y = synthetic(2)
        moments = linear_moments(X, Y).moments
        penalties = Penalties(0.1, 0.3, rho=0.0)
        sizes = []
        for rounds in (5, 20, 80):
            solution = minimise(moments.G, moments.E, penalties, max_iter=rounds)
            b, A = solution.selection, solution.recovery
            np.testing.assert_allclose(b[:, None] * A, np.eye(8), atol=1e-4)
            sizes.append(b.max())
        assert sizes[0] > sizes[1] > sizes[2] > 0

    def test_labels_that_never_vary_take_no_part(self):
        """A label that is always or never there has no variance to recover."""
        X, Y = synthetic(3)
        Y[:, 2], Y[:, 5] = 0.0, 1.0
        moments = linear_moments(X, Y).moments
        solution = minimise(moments.G, moments.E, Penalties(0.1, 0.1, rho=0.0))
        BA = solution.selection[:, None] * solution.recovery
        varying = np.ptp(Y, axis=0) > 0
        np.testing.assert_allclose(BA[np.ix_(varying, varying)], np.eye(6), atol=1e-5)
        np.testing.assert_allclose(BA[~varying], 0, atol=1e-6)

    def test_yeast(self):
        """On real labels: B A = I, all 14 labels kept, and the measures are those of f alone."""
        X, Y, X_test, Y_test = load_dataset("yeast").split()
        f = linear_moments(X, Y)
        moments = f.moments
        solution = minimise(moments.G, moments.E, Penalties(0.1, 0.1, rho=0.0))
        b, A = solution.selection, solution.recovery
        assert (b > 0).all()
        np.testing.assert_allclose(b, collapsed_selection(moments.E, 0.1, 0.1), atol=1e-5)
        np.testing.assert_allclose(b[:, None] * A, np.eye(14), atol=1e-5)
        F = f.predict(X_test)
        S = moments.y_mean + (F - moments.y_mean) @ (b[:, None] * A)
        alone = evaluate(Y_test, F, F > 0.5)
        recovered = evaluate(Y_test, S, S > 0.5)
        for name, value in alone.items():
            assert recovered[name] == pytest.approx(value, abs=1e-3), name

    def test_algorithm_1_goes_the_same_way_only_slowly(self):
        """Its steps on A are stopped early; the longer they run, the nearer B A comes to I."""
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
            Penalties(0.1, 0.1, rho=0.0),
            training=Training(learning_rate=0.01, batch_size=200, max_epochs=600, patience=600),
            tol=0.0,
            seed=0,
            device=torch.device("cpu"),
            on_epoch=watch,
        )
        assert distances == sorted(distances, reverse=True)
        assert distances[0] > 1  # hardly anything is recovered yet: ||I|| = 2
        assert distances[-1] < 0.2 * distances[0]


class TestFact2ASmallRidgeRepairsIt:
    """With rho ||A||^2 a small b_j needs a large A_j, and that now costs something."""

    def test_shrinking_b_is_no_longer_free(self):
        """Scale b down and A up so that B A, hence every prediction, stays the same."""
        X, Y = synthetic()
        moments = linear_moments(X, Y).moments
        b = np.full(8, 0.8)
        A = solve_recovery(moments.G, b, 0.0)
        for rho in (0.0, 0.05):
            penalties = Penalties(0.0, 0.0, rho)
            values = [
                objective(moments.G, np.zeros(8), b * s, A / s, penalties)["objective"]
                for s in (1.0, 0.5, 0.1)
            ]
            if rho == 0:
                np.testing.assert_allclose(values, values[0], atol=1e-12)
            else:
                assert values[0] < values[1] < values[2]

    def test_labels_really_reach_zero(self):
        """The same data, the same price, with and without the ridge."""
        X, Y = synthetic()
        moments = linear_moments(X, Y).moments
        g = np.diag(moments.G).mean()
        kept = [
            np.count_nonzero(
                minimise(
                    moments.G, moments.E, Penalties(0.1 * g, g, rho * g), max_iter=100
                ).selection
            )
            for rho in (0.0, 0.3)
        ]
        assert kept[0] == 8
        assert 0 < kept[1] < 8

    def test_a_coin_is_dropped(self):
        """A label that cannot be predicted and tells nothing of others is no landmark."""
        for seed in range(3):
            X, Y = synthetic(seed)
            Y[:, 0] = np.random.default_rng(seed).random(len(Y)) < 0.5
            moments = linear_moments(X, Y).moments
            g = np.diag(moments.G).mean()
            b = minimise(moments.G, moments.E, Penalties(0.1 * g, g, 0.3 * g)).selection
            assert b[0] == 0
            assert np.count_nonzero(b) >= 3

    def test_b_a_is_no_longer_the_identity(self):
        X, Y = synthetic()
        moments = linear_moments(X, Y).moments
        g = np.diag(moments.G).mean()
        solution = minimise(moments.G, moments.E, Penalties(0.1 * g, g, 0.3 * g))
        BA = solution.selection[:, None] * solution.recovery
        hidden = solution.selection == 0
        assert hidden.any()
        # Labels without a predictor of their own are recovered from the landmarks.
        assert (np.abs(BA[:, hidden]).max(axis=0) > 0.05).all()


class TestFact3EveryBlockIsExactAndDoesNotDependOnTheNumberOfRows:
    """J(b, A) needs G and E and nothing else; each block is solved in one go.

    So a fit costs one pass over the rows, and the pass is a sum: over files, cores, machines.
    """

    def test_the_objective_of_rows_is_a_function_of_the_moments(self):
        X, Y = synthetic()
        F = LinearRegression().fit(X, Y).predict(X)
        moments = Moments.of(F, Y, center=False)
        penalties = Penalties(0.1, 0.2, 0.05)
        rng = np.random.default_rng(0)
        for _ in range(5):
            b, A = rng.normal(size=8), rng.normal(size=(8, 8))
            rows = sum(objective_terms(F, Y, np.diag(b), A, penalties).values())
            ours = objective(moments.G, moments.E, b, A, penalties)["objective"]
            assert ours == pytest.approx(rows, rel=1e-9)

    @pytest.mark.parametrize("copies", [2, 7])
    def test_every_row_several_times_changes_nothing(self, copies):
        X, Y = synthetic(n=100)
        fold = in_folds(100)
        small = LinearEmbedding(alpha=0.1).fit(X, Y, fold, True)
        large = LinearEmbedding(alpha=0.1).fit(
            np.tile(X, (copies, 1)), np.tile(Y, (copies, 1)), np.tile(fold, (1, copies)), True
        )
        np.testing.assert_allclose(large.map, small.map, atol=1e-9)
        penalties = Penalties(0.02, 0.1, 0.02)
        few = minimise(small.moments.G, small.moments.E, penalties)
        many = minimise(large.moments.G, large.moments.E, penalties)
        np.testing.assert_allclose(many.selection, few.selection, atol=1e-6)
        np.testing.assert_allclose(many.recovery, few.recovery, atol=1e-6)

    def test_rows_may_come_in_any_order_and_in_any_number_of_pieces(self):
        X, Y = synthetic(n=300)
        order = np.random.default_rng(0).permutation(300)
        fold = np.arange(300) % 3
        whole = LinearEmbedding().fit(X, Y, fold[None], True)
        parts = []
        for k in range(3):
            part = Statistics.zeros(X.shape[1], Y.shape[1])
            for i in order[fold[order] == k].reshape(-1, 20):
                part.add(X[i], Y[i])
            parts.append(part)
        pieces = LinearEmbedding().fit_statistics(parts, True)
        penalties = Penalties(0.02, 0.1, 0.02)
        np.testing.assert_allclose(
            minimise(pieces.moments.G, pieces.moments.E, penalties).selection,
            minimise(whole.moments.G, whole.moments.E, penalties).selection,
            atol=1e-6,
        )

    def test_alternating_gradients_end_no_lower_than_exact_blocks(self):
        """Yeast with f held fixed: many small steps against a few exact ones."""
        X, Y, _, _ = load_dataset("yeast").split()
        moments = linear_moments(X, Y, center=False).moments
        penalties = Penalties(0.1, 0.1, 0.02)
        exact = minimise(moments.G, moments.E, penalties)
        b, A = np.ones(14), 0.1 * np.random.default_rng(0).normal(size=(14, 14))
        G, E = moments.G, moments.E
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


class TestFact4PredictabilityMustBeMeasuredOnUnseenRows:
    """A model that memorises has no training error, and then every label looks predictable."""

    def test_memorised_coins_look_predictable_until_they_are_held_out(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 3))
        Y = np.column_stack([X[:, 0] > 0, rng.random(200) < 0.5]).astype(float)  # a rule, a coin
        tree = DecisionTreeRegressor(random_state=0)
        seen = RegressorEmbedding(regressor=tree).fit(X, Y, None, True).moments.E
        unseen = RegressorEmbedding(regressor=tree).fit(X, Y, in_folds(200), True).moments.E
        np.testing.assert_allclose(seen, 0, atol=1e-12)
        assert unseen[0] < 0.1
        assert unseen[1] > 0.4  # worse than guessing the mean, which errs by 0.25

    def test_the_coin_is_a_landmark_only_to_who_looks_at_training_errors(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(300, 3))
        Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, rng.random(300) < 0.5]).astype(float)
        tree = DecisionTreeRegressor(random_state=0)
        chosen = []
        for fold in (None, in_folds(300)):
            moments = RegressorEmbedding(regressor=tree).fit(X, Y, fold, True).moments
            g = np.diag(moments.G).mean()
            penalties = Penalties(0.1 * g, 0.5 * g, 0.3 * g)
            chosen.append((minimise(moments.G, moments.E, penalties).selection != 0).tolist())
        assert chosen == [[True, True, True], [True, True, False]]

    def test_recovery_fitted_on_predictions_beats_recovery_fitted_on_labels(self):
        """A fitted on true labels trusts a landmark fully; what it will be fed is a noisy guess.

        Two labels are nearly copies of a third that is hard to predict, and a fourth, weaker sign
        is easy to predict: labels say lean on the copy, predictions say lean on what is seen well.
        """
        rng = np.random.default_rng(2)
        n = 1000
        cause = rng.normal(size=n)
        target = (cause + 0.3 * rng.normal(size=n) > 0).astype(float)
        copy = np.where(rng.random(n) < 0.05, 1 - target, target)
        weak = (cause + 1.0 * rng.normal(size=n) > 0).astype(float)
        Y = np.column_stack([copy, weak, target])
        F = np.column_stack([copy + 1.5 * rng.normal(size=n), weak + 0.1 * rng.normal(size=n)])
        train, test = np.arange(n) < 500, np.arange(n) >= 500
        Yc, Fc = Y - Y[train].mean(axis=0), F - F[train].mean(axis=0)
        G = Yc[train].T @ Yc[train] / 500
        by_labels = solve_recovery(G, np.array([1.0, 1.0, 0.0]), 0.01)[:2]
        crossfit = recover_crossfitted(
            Fc[train].T @ Fc[train] / 500,
            Fc[train].T @ Yc[train] / 500,
            np.array([0, 1]),
            np.ones(2),
            shrinkage=0.1,
        )
        errors = [np.mean((Fc[test] @ A - Yc[test])[:, 2] ** 2) for A in (by_labels, crossfit)]
        assert errors[1] < 0.5 * errors[0]
        assert by_labels[0, 2] > by_labels[1, 2]  # leans on the copy
        assert crossfit[0, 2] < crossfit[1, 2]  # leans on the weak sign it sees well

    def test_few_landmarks_of_corel5k(self, data_home):
        """Real data, 260 labels, 40 landmarks: the same set, recovered in both ways."""
        X, Y, X_test, Y_test = load_dataset("corel5k", data_home=data_home).split()
        rows = np.random.default_rng(0).permutation(len(X))[:1500]
        columns = np.argsort(-X.var(axis=0))[:100]  # a slice of the data is enough to show it
        X, Y, X_test = X[rows][:, columns].astype(float), Y[rows], X_test[:, columns].astype(float)
        f = linear_moments(X, Y)
        m = f.moments
        varying = np.diag(m.G) > 0
        g = np.diag(m.G).mean()
        penalties = Penalties(0.1 * g, 0.5 * g, 0.1 * g)
        strength = m.E / np.maximum(np.diag(m.G), 1e-12)
        landmarks = np.argsort(np.where(varying, strength, np.inf))[:40]  # the most predictable
        weights = np.ones(40)
        b = np.zeros(len(m.E))
        b[landmarks] = 1.0
        of_labels = solve_recovery(m.G, b, penalties.rho)[landmarks]
        FF = m.FF[np.ix_(landmarks, landmarks)]
        crossfit = recover_crossfitted(FF, m.FY[landmarks], landmarks, weights, 0.1)
        F = f.predict(X_test)[:, landmarks]
        loss = {}
        for name, A, centre in (
            ("labels", of_labels, m.y_mean[landmarks]),
            ("crossfit", crossfit, m.f_mean[landmarks]),
        ):
            S = m.y_mean + (F - centre) @ A
            loss[name] = evaluate(Y_test, S, S > 0.5)["ranking_loss"]
        assert loss["crossfit"] < loss["labels"]


def test_landmarks_carry_the_others_on_synthetic_data():
    """The promise as a whole: half of the predictors, no loss, on rows never seen."""
    X, Y = synthetic(5, n=1200, C=12, noise=0.3)
    X_test, Y_test, X, Y = X[600:], Y[600:], X[:600], Y[:600]
    f = linear_moments(X, Y)
    m = f.moments
    g = np.diag(m.G).mean()
    solution = select_soft(m.G, m.E, Penalties(0.1 * g, 0.5 * g, 0.1 * g), n_landmarks=6)
    landmarks = np.flatnonzero(solution.selection)
    weights = solution.selection[landmarks]
    FF = m.FF[np.ix_(landmarks, landmarks)]
    A = recover_crossfitted(FF, m.FY[landmarks], landmarks, weights, 0.1)
    F = f.predict(X_test)
    S = m.y_mean + ((F - m.f_mean)[:, landmarks] * weights) @ A
    assert np.mean((S - Y_test) ** 2) < np.mean((F - Y_test) ** 2) + 0.002
    assert np.mean((S - Y_test) ** 2) < 0.8 * Y_test.var(axis=0).mean()
