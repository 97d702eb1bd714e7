"""A landmark is predictable *and* representative, and recovery does not hurt: the promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from landmark_problems import make_problem

from splmll import SPLMLL, load_dataset
from splmll.landmarks.selection import honest_problem, select
from splmll.statistics import Statistics


def followers(rng: np.random.Generator, label: np.ndarray, count: int) -> np.ndarray:
    """Labels that are the given one but for every twentieth row."""
    return label[:, None] ^ (rng.random((len(label), count)) < 0.05)


def unseen_and_seen(seed: int, n_rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Twelve labels: the first seven go together and cannot be seen, the last five can."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    unseen = rng.random(n_rows) < 0.5
    seen = X[:, 0] + 0.5 * rng.normal(size=n_rows) > 0
    first = np.column_stack([unseen, followers(rng, unseen, 6)])
    last = np.column_stack([seen, followers(rng, seen, 4)])
    return X, np.hstack([first, last]).astype(int)


@pytest.mark.parametrize("seed", range(10))
def test_a_label_that_cannot_be_seen_is_no_landmark_however_much_it_tells(seed: int) -> None:
    X, Y = unseen_and_seen(seed)
    model = SPLMLL("linear", n_landmarks=1, random_state=seed).fit(X, Y)
    assert model.representativeness_[:7].min() > model.representativeness_[7:].max()
    assert model.landmarks_[0] >= 7


def test_the_two_groups_swap_with_what_can_be_seen() -> None:
    X, Y = unseen_and_seen(0)
    shown = X.copy()
    shown[:, 0] = Y[:, 0] + 0.5 * X[:, 1]  # now the first group can be seen, the last cannot
    model = SPLMLL("linear", n_landmarks=1, random_state=0).fit(shown, Y)
    assert model.landmarks_[0] < 7


def chosen(F: np.ndarray, Y: np.ndarray, count: int) -> set[int]:
    sums = Statistics.of(F, Y, label_pairs=False)
    return set(select(honest_problem(sums, np.ones(F.shape[1], dtype=bool)), count).tolist())


def test_shuffled_predictions_choose_other_landmarks() -> None:
    """The labels are the same, so whatever changes is the work of the predictions."""
    _, Y = make_problem(400)
    rng = np.random.default_rng(0)
    Y = Y.astype(float)
    F = np.column_stack([Y[:, j] + rng.normal(size=400) for j in range(8)])
    plain = chosen(F, Y, 3)
    different = 0
    for label in range(8):
        shuffled = F.copy()
        shuffled[:, label] = rng.permutation(F[:, label])
        found = chosen(shuffled, Y, 3)
        assert label not in found
        different += found != plain
    assert different == len(plain)


def test_landmarks_of_scene_are_predictable(data_home: Path) -> None:
    """The published soft selection takes the three least predictable labels here."""
    X, Y, _, _ = load_dataset("scene", data_home=data_home).split()
    model = SPLMLL("linear", n_landmarks=3, random_state=0).fit(X, Y)
    places = np.flatnonzero(model.selection_)
    assert model.predictability_[places].mean() > np.median(model.predictability_)


# How many ---------------------------------------------------------------------------------------


def independent_labels(n_rows: int = 500, n_labels: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_labels))
    return X, (X + 0.5 * rng.normal(size=X.shape) > 0.3).astype(int)


def test_where_every_label_is_needed_all_are_kept() -> None:
    X, Y = independent_labels()
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    assert len(model.landmarks_) == 6


def test_where_labels_are_copies_few_are_kept() -> None:
    X, Y = independent_labels(2000, n_labels=3)
    rng = np.random.default_rng(1)
    Y = np.hstack([followers(rng, label.astype(bool), 5) for label in Y.T]).astype(int)
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    assert 3 <= len(model.landmarks_) <= 8
    assert {j // 5 for j in model.landmarks_} == {0, 1, 2}


@pytest.mark.parametrize(
    ("budget", "count"), [(1, 1), (3, 3), (8, 8), (0.5, 4), (1.0, 8), (0.01, 1), (0.3, 2)]
)
def test_a_budget_is_met_exactly(budget: float, count: int) -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", n_landmarks=budget, random_state=0).fit(X, Y)
    assert len(model.landmarks_) == count
    assert model.selection_.sum() == count
    assert model.recovery_.shape == (count, 8)
    assert model.transform(X).shape == (200, count)
    assert model.path_["n_landmarks"].tolist() == [count]


def test_a_budget_counts_only_labels_that_vary() -> None:
    X, Y = make_problem()
    Y[:, [1, 4]] = 0
    assert len(SPLMLL("linear", n_landmarks=8, random_state=0).fit(X, Y).landmarks_) == 6


def test_the_path_that_was_followed() -> None:
    X, Y = make_problem(300)
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    path = model.path_
    assert path["n_landmarks"].is_monotonic_increasing
    assert path["n_landmarks"].iloc[-1] == 8
    assert len(model.landmarks_) in path["n_landmarks"].tolist()
    assert {"pull", "average_precision", "ranking_loss", "micro_f1"} <= set(path.columns)
    best = path["average_precision"].max()
    at = path.set_index("n_landmarks")["average_precision"]
    assert at[len(model.landmarks_)] > best - 0.02


# Never worse ------------------------------------------------------------------------------------


def not_worse_by_more_than(model: SPLMLL, margin: float) -> None:
    alone, landmarks = (model.measures_.loc[n] for n in ("embedding alone", "with landmarks"))
    assert landmarks["average_precision"] >= alone["average_precision"] - margin
    assert landmarks["ranking_loss"] <= alone["ranking_loss"] + margin
    assert landmarks["micro_f1"] >= alone["micro_f1"] - margin


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("embedding", ["linear", "svm"])
def test_labels_that_tell_nothing_of_each_other_lose_nothing(embedding: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 8))
    Y = (X + rng.normal(size=(80, 8)) > 0.4).astype(int)
    # With 80 rows a measure has a standard error of about .02.
    not_worse_by_more_than(SPLMLL(embedding, random_state=seed).fit(X, Y), 0.02)


@pytest.mark.parametrize("name", ["emotions", "yeast"])
@pytest.mark.parametrize("embedding", ["linear", "svm"])
def test_recovery_does_not_hurt_on_real_data(embedding: str, name: str, data_home: Path) -> None:
    X, Y, _, _ = load_dataset(name, data_home=data_home).split()
    not_worse_by_more_than(SPLMLL(embedding, random_state=0).fit(X, Y), 0.01)


def test_a_recovery_that_hurts_is_refused() -> None:
    """Asked for, mixing may be as bad as it is; chosen, it is not."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 12))
    Y = (X + rng.normal(size=X.shape) > 0.4).astype(int)
    forced = SPLMLL("linear", pull=0.0, n_landmarks=1.0, random_state=0).fit(X, Y).measures_
    chosen_pull = SPLMLL("linear", random_state=0).fit(X, Y)
    name = "average_precision"
    assert forced.loc["with landmarks", name] < forced.loc["embedding alone", name] - 0.01
    not_worse_by_more_than(chosen_pull, 0.02)
    assert chosen_pull.pull_ > 0.1
