"""What is true of the honest objective, each shown by experiment.

Throughout, F are predictions of rows that f did not see, Y the labels, and M has few rows that are
not zero: J(M) = ||Y - F M||^2 / n + rho ||M - P||^2. What is true of the published objective is
shown beside its code.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor

from splmll import SPLMLL, evaluate, load_dataset
from splmll.embeddings import Linear, OneVsRest
from splmll.landmarks.recovery import CrossFittedRecovery
from splmll.landmarks.selection import honest_problem, select
from splmll.statistics import Statistics, fold_statistics


def synthetic(
    seed: int = 0, n: int = 400, C: int = 8, n_causes: int = 3, noise: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Labels with few common causes, and features that show the causes."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, n_causes))
    X = np.hstack([causes + 0.5 * rng.normal(size=causes.shape), rng.normal(size=(n, 5))])
    Y = (causes @ rng.normal(size=(n_causes, C)) + noise * rng.normal(size=(n, C)) > 0.5) * 1.0
    return X, Y


def in_folds(n: int, K: int = 5) -> np.ndarray:
    return np.random.default_rng(0).permutation(np.arange(n) % K)


def chosen(F: np.ndarray, Y: np.ndarray, count: int) -> np.ndarray:
    sums = Statistics.of(F, Y, label_pairs=False)
    return select(honest_problem(sums, np.ones(F.shape[1], dtype=bool)), count)


def recovered(F: np.ndarray, Y: np.ndarray, fold: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """Out-of-fold scores of all labels from some landmarks, with a weak pull."""
    parts = fold_statistics(F[:, landmarks], Y, fold, center_features=False, label_pairs=False)
    recovery = CrossFittedRecovery(parts, landmarks, np.ptp(Y, axis=0) > 0)
    scores = np.empty(Y.shape)
    for k in np.unique(fold):
        rows = fold == k
        scores[rows] = recovery.map(0.01, without=int(k))(F[rows][:, landmarks])
    return scores


class TestFact3TheHonestObjective:
    """A label is a landmark if its prediction helps to recover all labels."""

    def test_there_is_no_scale_to_escape_through(self) -> None:
        """Whatever factor a prediction carries, the landmarks and the scores stay the same."""
        X, Y = synthetic()
        fold = in_folds(400)
        F = Linear(ridge=0.1).fit(X, Y, fold).out_of_fold_
        landmarks = chosen(F, Y, 3)
        scores = recovered(F, Y, fold, landmarks)
        for factor in (0.03, 10.0):
            assert chosen(factor * F, Y, 3).tolist() == landmarks.tolist()
            other = recovered(factor * F, Y, fold, landmarks)
            np.testing.assert_allclose(other, scores, atol=1e-6)

    def test_worse_predictions_lose_their_place(self) -> None:
        _, Y = synthetic()
        rng = np.random.default_rng(0)
        F = Y + 0.5 * rng.normal(size=Y.shape)
        first = chosen(F, Y, 1)[0]
        for noise in (0.5, 1.0, 3.0):
            worse = F.copy()
            worse[:, first] += noise * rng.normal(size=len(F))
            if chosen(worse, Y, 1)[0] != first:
                return
        pytest.fail("a prediction that is all but noise is still a landmark")

    def test_it_beats_the_same_greedy_on_labels_frequency_and_chance(self) -> None:
        """Labels of very different predictability: only predictions tell which to lean on."""
        rng = np.random.default_rng(1)
        _, Y = synthetic(1, n=1200, C=30, n_causes=5)
        noise = rng.choice([0.3, 3.0], size=30)
        F = Y + noise * rng.normal(size=Y.shape)
        fold = in_folds(1200)
        sets = {
            "honest": chosen(F, Y, 6),
            "labels": chosen(Y, Y, 6),
            "frequent": np.argsort(-Y.sum(axis=0))[:6],
            "random": rng.permutation(30)[:6],
        }
        quality = {
            name: evaluate(Y, recovered(F, Y, fold, landmarks), None, ["average_precision"])
            for name, landmarks in sets.items()
        }
        honest = quality.pop("honest")["average_precision"]
        assert all(honest > other["average_precision"] + 0.01 for other in quality.values())
        assert (noise[sets["honest"]] < 1).all()

    def test_on_corel5k(self, data_home: Path) -> None:
        """Real data, 260 labels, 26 landmarks."""
        X, Y, _, _ = load_dataset("corel5k", data_home=data_home).split()
        rows = np.random.default_rng(0).permutation(len(X))[:1500]
        columns = np.argsort(-X.var(axis=0))[:100]  # a slice of the data is enough to show it
        X, Y = X[rows][:, columns].astype(float), np.asarray(Y)[rows].astype(float)
        fold = in_folds(1500)
        F = Linear().fit(X, Y, fold).out_of_fold_
        varying = np.flatnonzero(np.ptp(Y, axis=0) > 0)
        F, Y = F[:, varying], Y[:, varying]
        rng = np.random.default_rng(0)
        found = {
            name: evaluate(Y, recovered(F, Y, fold, landmarks), None, ["average_precision"])
            for name, landmarks in (
                ("honest", chosen(F, Y, 26)),
                ("frequent", np.argsort(-Y.sum(axis=0))[:26]),
                ("random", rng.permutation(len(varying))[:26]),
            )
        }
        honest = found["honest"]["average_precision"]
        assert honest > found["frequent"]["average_precision"] - 0.002
        assert honest > found["random"]["average_precision"] + 0.02


class TestFact4NothingDependsOnTheNumberOfRows:
    """After the predictions, F'F and F'Y are all that is needed: sums over rows."""

    @pytest.mark.parametrize("copies", [2, 7])
    def test_every_row_several_times_changes_nothing(self, copies: int) -> None:
        X, Y = synthetic(n=100)
        fold = in_folds(100)
        small = Linear(ridge=0.1).fit(X, Y, fold)
        large = Linear(ridge=0.1).fit(
            np.tile(X, (copies, 1)), np.tile(Y, (copies, 1)), np.tile(fold, copies)
        )
        np.testing.assert_allclose(large.map_, small.map_, atol=1e-9)
        few = chosen(small.out_of_fold_, Y, 3)
        many = chosen(large.out_of_fold_, np.tile(Y, (copies, 1)), 3)
        assert few.tolist() == many.tolist()

    def test_predictions_need_not_be_written_out(self) -> None:
        """F'F = W'X'X W and F'Y = W'X'Y of the held-out rows."""
        X, Y = synthetic()
        fold = in_folds(400)
        f = Linear(ridge=0.1).fit(X, Y, fold)
        parts = [
            part.mapped(W)
            for part, W in zip(fold_statistics(X, Y, fold), f.fold_maps_, strict=True)
        ]
        for k, part in enumerate(parts):
            rows = fold == k
            direct = Statistics.of(f.out_of_fold_[rows], Y[rows])
            np.testing.assert_allclose(part.xx, direct.xx, atol=1e-8)
            np.testing.assert_allclose(part.xy, direct.xy, atol=1e-8)


class TestFact5PredictionsMustBeHonest:
    """A model that memorises has no training error, and then every label looks predictable."""

    def coin_and_rule(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 3))
        coin = rng.random(300) < 0.5
        copies = coin[:, None] ^ (rng.random((300, 3)) < 0.02)
        return X, np.column_stack([X[:, 0] > 0, coin, copies]).astype(float)

    def test_memorised_coins_look_predictable_until_they_are_held_out(self) -> None:
        X, Y = self.coin_and_rule()
        tree = DecisionTreeRegressor(random_state=0)
        seen = tree.fit(X, Y).predict(X)
        np.testing.assert_allclose(seen, Y)
        model = SPLMLL(tree, n_landmarks=1, random_state=0).fit(X, Y)
        assert model.predictability_[0] > 0.6
        assert model.predictability_[1:].max() < 0.05

    def test_the_coin_is_a_landmark_only_to_who_looks_at_training_errors(self) -> None:
        X, Y = self.coin_and_rule()
        tree = DecisionTreeRegressor(random_state=0)
        assert chosen(tree.fit(X, Y).predict(X), Y, 1)[0] != 0
        honest = OneVsRest(tree).fit(X, Y, in_folds(300)).out_of_fold_
        assert chosen(honest, Y, 1)[0] == 0

    def test_recovery_fitted_on_predictions_beats_recovery_fitted_on_labels(self) -> None:
        """M fitted on true labels trusts a landmark fully; what it will be fed is a noisy guess.

        One label is nearly a copy of another but hard to predict, a weaker sign of it is easy to
        predict: labels say lean on the copy, predictions say lean on what is seen well.
        """
        rng = np.random.default_rng(2)
        n = 1000
        cause = rng.normal(size=n)
        target = (cause + 0.3 * rng.normal(size=n) > 0).astype(float)
        copy = np.where(rng.random(n) < 0.05, 1 - target, target)
        weak = (cause + 1.0 * rng.normal(size=n) > 0).astype(float)
        Y = np.column_stack([copy, weak, target])
        F = np.column_stack([copy + 1.5 * rng.normal(size=n), weak + 0.1 * rng.normal(size=n)])
        train = np.arange(n) < 500
        landmarks, maps = np.array([0, 1]), []
        for inputs in (Y[:, :2], F):
            sums = [Statistics.of(inputs[train], Y[train], label_pairs=False)]
            maps.append(CrossFittedRecovery(sums, landmarks, np.ones(3, dtype=bool)).map(0.1))
        of_labels, of_predictions = maps
        errors = [np.mean((m(F[~train]) - Y[~train])[:, 2] ** 2) for m in maps]
        assert errors[1] < 0.5 * errors[0]
        assert of_labels.recovery[0, 2] > of_labels.recovery[1, 2]  # leans on the copy
        assert of_predictions.recovery[0, 2] < of_predictions.recovery[1, 2]


class TestFact6PredictionsMustBeBounded:
    """Recovery of raw margins is poor, of probabilities it is not."""

    def test_margins_and_probabilities(self) -> None:
        rng = np.random.default_rng(0)
        n, C = 1500, 20
        topic = rng.integers(5, size=n)
        Y = (rng.random((n, C)) < np.where(np.arange(C) // 4 == topic[:, None], 0.6, 0.02)) * 1.0
        margins = 2 * (Y - 0.5) + rng.normal(size=Y.shape)
        margins *= np.exp(rng.normal(size=(n, 1)))  # a few rows have margins of any size
        fold = in_folds(n)
        every = np.arange(C)
        scores = {
            "margins": recovered(margins, Y, fold, every),
            "probabilities": recovered(expit(3 * margins), Y, fold, every),
        }
        found = {
            name: evaluate(Y, S, None, ["average_precision"])["average_precision"]
            for name, S in scores.items()
        }
        assert found["probabilities"] > found["margins"] + 0.02


class TestFact7RecoveryIsNeutralWithFewLabelsAndAStrongF:
    """So "f alone" must be among the choices; see also ``test_predictable``."""

    def test_perfect_predictions_are_kept_as_they_are(self) -> None:
        _, Y = synthetic(n=200)
        rng = np.random.default_rng(0)
        X = Y + 0.05 * rng.normal(size=Y.shape)
        model = SPLMLL("linear", random_state=0).fit(X, Y)
        alone, landmarks = (model.measures_.loc[n] for n in ("embedding alone", "with landmarks"))
        assert alone["average_precision"] > 0.99
        assert landmarks["average_precision"] >= alone["average_precision"] - 1e-3


def test_landmarks_carry_the_others() -> None:
    """The promise as a whole: half of the predictors, no loss, on rows never seen."""
    X, Y = synthetic(5, n=1200, C=12, noise=0.3)
    X_test, Y_test, X, Y = X[600:], Y[600:], X[:600], Y[:600]
    half = SPLMLL("linear", n_landmarks=6, random_state=0).fit(X, Y)
    f = Linear().fit(X, Y, in_folds(600))
    scores = half.decision_function(X_test) + half.offset_
    alone = f.predict(X_test)
    assert np.mean((scores - Y_test) ** 2) < np.mean((alone - Y_test) ** 2) + 0.002
    assert np.mean((scores - Y_test) ** 2) < 0.8 * Y_test.var(axis=0).mean()
