"""What is chosen out of fold: softness, lean, pull, tail, and the number of landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from landmark_problems import make_problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from splmll import SPLMLL
from splmll.landmarks import learning
from splmll.landmarks.learning import Evidence, Landmarks, Learner, Setting, counts_up_to, mixed
from splmll.landmarks.recovery import Map
from splmll.thresholds import MIN_ROWS


def evidence_of(F: np.ndarray, Y: np.ndarray) -> Evidence:
    n_rows, n_labels = Y.shape
    varying = np.ptp(Y, axis=0) > 0
    every = np.arange(n_labels)
    return Evidence.of_rows(F, Y, np.arange(n_rows) % 4, every, varying, slice(None), seed=0)


def learner_of(F: np.ndarray, Y: np.ndarray, pull: Any = "auto") -> Learner:
    return Learner(evidence_of(F, Y), pull, "average_precision", "micro_f1")


def probabilities(noise: float = 1.0, n_rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Predictions of eight labels as probabilities, and the labels."""
    _, Y = make_problem(n_rows)
    rng = np.random.default_rng(1)
    return expit(3 * (Y - 0.5) + noise * rng.normal(size=Y.shape)), Y.astype(float)


def many_unlikely(n_rows: int = 800) -> tuple[np.ndarray, np.ndarray]:
    """Forty labels, most of them very unlikely and some far more so than others."""
    rng = np.random.default_rng(2)
    rates = 10 ** rng.uniform(-4, -0.5, size=(n_rows, 40))
    return rates, (rng.random(rates.shape) < rates).astype(float)


def test_probabilities_may_be_softened_and_others_not() -> None:
    F, Y = probabilities()
    assert evidence_of(F, Y).may_soften
    assert not evidence_of(2 * F - 0.5, Y).may_soften
    raw, _ = learner_of(2 * F - 0.5, Y).learn(None)
    assert (*raw.setting.shape, raw.setting.tail) == (1.0, 0.0, 0.0)


def test_softness_or_tail_are_used_where_they_help() -> None:
    """A sum over all landmarks drowns small probabilities; these two bring them back."""
    F, Y = many_unlikely()
    found, _ = learner_of(F, Y, pull=0.3).learn(40)
    assert found.setting.softness < 1 or found.setting.tail > 0
    plain, _ = learner_of(F + 2, Y, pull=0.3).learn(40)
    name = "ranking_loss"
    assert found.measures.loc["with landmarks", name] < plain.measures.loc["with landmarks", name]


def test_out_of_fold_scores_of_a_fold_know_nothing_of_its_labels() -> None:
    """Landmarks too are chosen without the fold: of many labels, some fit its rows by chance."""
    rng = np.random.default_rng(4)
    F, Y = 2 + rng.random((80, 30)), (rng.random((80, 30)) < 0.3).astype(float)
    other = Y.copy()
    held = np.arange(80) % 4 == 0
    other[held] = 1 - Y[held]
    [(_, scores)], [(_, others)] = (learner_of(F, each, pull=0.1).path([3]) for each in (Y, other))
    assert_allclose(scores[held], others[held], atol=1e-12)
    assert np.abs(scores[~held] - others[~held]).max() > 0.01


@pytest.mark.parametrize("setting", [Setting(), Setting(softness=0.5, pull=0.1, tail=0.05)])
def test_contributions_sum_to_scores(setting: Setting) -> None:
    rng = np.random.default_rng(0)
    F, recovery = rng.random((6, 3)), rng.normal(size=(3, 5))
    labels = np.array([4, 0, 2])
    found = Map(recovery, rng.normal(size=5))
    model = Landmarks.unmixed(labels, np.zeros(5))
    model = Landmarks(**{**vars(model), "setting": setting, "map": found})
    scores = model.scores(F)
    assert_allclose(model.contributions(F).sum(axis=1) + found.intercept, scores, atol=1e-12)
    assert_allclose(scores, mixed(found, F, labels, setting), atol=1e-12)
    if setting.tail:
        # The tail moves a landmark's own score and no other.
        without = mixed(found, F, labels, Setting(softness=0.5, pull=0.1))
        assert_array_equal(
            np.abs(scores - without).max(axis=0) > 1e-9, [True, False, True, False, True]
        )


def test_a_model_that_mixes_nothing() -> None:
    model = Landmarks.unmixed(np.array([2, 0]), np.array([0.1, 0.2, 0.3]))
    assert_allclose(model.scores(np.array([[0.7, 0.4]])), [[0.4, 0.2, 0.7]])


def test_scores_are_recovered_by_maps_that_did_not_see_the_row() -> None:
    """Noise that is mixed a lot looks far better on the rows it was fitted on."""
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 25)) < 0.4).astype(float)
    F = rng.normal(size=(60, 25))
    found, scores = learner_of(F, Y, pull=0.0).learn(25)
    seen, unseen = (np.mean((S - Y) ** 2) for S in (found.scores(F[:, found.outputs]), scores))
    assert seen < 0.75 * Y.var(axis=0).mean()
    assert unseen > Y.var(axis=0).mean()


def test_flipping_the_labels_of_a_fold_changes_the_scores_of_the_others_only() -> None:
    F, Y = probabilities()
    fold = np.arange(300) % 4
    flipped = np.where((fold == 2)[:, None], 1 - Y, Y)
    scores = []
    for labels in (Y, flipped):
        learner = learner_of(F, labels, pull=0.3)
        setting = Setting(pull=0.3)
        evidence = learner.evidence
        scores.append(learner._scores(np.arange(8), setting, evidence.F, evidence.fold))
    assert_allclose(scores[0][fold == 2], scores[1][fold == 2], atol=1e-9)
    assert np.abs(scores[0] - scores[1])[fold != 2].max() > 0.05


def test_f_alone_is_among_the_choices() -> None:
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 12)) < 0.4).astype(float)
    F = expit(4 * (Y - 0.5) + rng.normal(size=Y.shape))
    found, _ = learner_of(F, Y).learn(None)
    alone, mixed_ = (found.measures.loc[n] for n in ("embedding alone", "with landmarks"))
    assert mixed_["average_precision"] >= alone["average_precision"] - 0.01


def test_mixing_is_used_where_it_helps() -> None:
    """Copies of one label, each with its own noise: their mean is far better than any."""
    rng = np.random.default_rng(0)
    Y = np.repeat((rng.random((300, 2)) < 0.4) * 1.0, 6, axis=1)
    F = expit(2 * (Y - 0.5) + 2 * rng.normal(size=Y.shape))
    found, _ = learner_of(F, Y).learn(None)
    alone, model = (found.measures.loc[n] for n in ("embedding alone", "with landmarks"))
    assert np.isfinite(found.setting.pull)
    assert model["average_precision"] > alone["average_precision"] + 0.05


@pytest.mark.parametrize("pull", [0.0, 0.7, np.inf])
def test_a_pull_that_is_given_is_taken(pull: float) -> None:
    F, Y = probabilities()
    for budget in (None, 3, 8):
        found, _ = learner_of(F, Y, pull).learn(budget)
        assert found.setting.pull == pull
        assert not found.setting.as_it_is


def test_a_budget_is_met_and_the_first_explain_most() -> None:
    F, Y = probabilities()
    for budget in range(1, 9):
        found, scores = learner_of(F, Y).learn(budget)
        assert len(found.labels) == len(set(found.labels.tolist())) == budget
        assert scores.shape == Y.shape
        assert found.explained[0] == found.explained.max()
        assert 0 < found.explained.sum() < 1


@pytest.mark.parametrize("budget", [None, 3, 8])
def test_too_few_rows_to_choose(budget: int | None) -> None:
    F, Y = probabilities(n_rows=MIN_ROWS - 1)
    found, scores = learner_of(F, Y).learn(budget)
    assert len(found.labels) == (budget or 8)
    assert np.isfinite(scores).all()
    assert found.path.empty


def test_no_label_varies() -> None:
    F, Y = probabilities()
    found, _ = learner_of(F, np.ones_like(Y)).learn(None)
    assert len(found.labels) == 0
    assert found.map.intercept.tolist() == [1.0] * 8


def test_a_path_over_numbers_of_landmarks() -> None:
    F, Y = probabilities()
    found = learner_of(F, Y).path([1, 3, 8])
    assert [len(labels) for labels, _ in found] == [1, 3, 8]
    errors = [np.mean((scores - Y) ** 2) for _, scores in found]
    assert errors[0] > errors[1] > errors[2] - 0.02


@pytest.mark.parametrize("most", [1, 20, 21, 100, 983])
def test_numbers_to_look_at(most: int) -> None:
    counts = counts_up_to(most)
    assert counts[0] == 1
    assert counts[-1] == most
    assert counts == sorted(set(counts))
    assert len(counts) <= 20


def test_a_hopeless_number_ends_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    Y = (X + 0.3 * rng.normal(size=X.shape) > 0.4).astype(int)
    path = SPLMLL("linear", random_state=0).fit(X, Y).path_
    assert path["n_landmarks"].min() > 1
    monkeypatch.setattr(learning, "HOPELESS", 1.0)
    assert SPLMLL("linear", random_state=0).fit(X, Y).path_["n_landmarks"].min() == 1
