"""``cv``: numbers, splitters and pairs of rows become folds, or are refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

from splmll import SPLMLL
from splmll.landmarks.splitting import fold_numbers, stratified_folds
from splmll.persistence import ModelFileError, load, save

N_ROWS = 120


def rows(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 4))
    return X, (X[:, :3] + rng.normal(size=(N_ROWS, 3)) > 0).astype(int)


def scores(cv: Any, **fitted: Any) -> np.ndarray:
    X, Y = rows()
    return SPLMLL("linear", cv=cv, random_state=0).fit(X, Y, **fitted).decision_function(X)


def test_a_splitter_its_pairs_and_masks_are_the_same_folds() -> None:
    X, _ = rows()
    splitter = KFold(4, shuffle=True, random_state=1)
    pairs = list(splitter.split(X))
    masks = [tuple(np.isin(np.arange(N_ROWS), part) for part in pair) for pair in pairs]
    expected = scores(splitter)
    for cv in (pairs, masks, iter(pairs)):
        np.testing.assert_array_equal(scores(cv), expected)
    assert np.abs(scores(KFold(4)) - expected).max() > 1e-6


def test_out_of_fold_scores_come_from_models_of_the_other_rows() -> None:
    X, Y = rows()
    fold = np.arange(N_ROWS) % 3
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    model = SPLMLL("linear", cv=pairs, pull=np.inf, random_state=0)
    alone = model.fit_out_of_fold(X, Y).alone
    changed = Y.copy()
    changed[fold == 0] = 1 - changed[fold == 0]
    other = SPLMLL("linear", cv=pairs, pull=np.inf, random_state=0).set_params(
        embedding__ridge=model.embedding_.ridge_
    )
    # What a row of the first fold scores does not depend on the labels of that fold.
    np.testing.assert_allclose(
        other.fit_out_of_fold(X, changed).alone[fold == 0], alone[fold == 0], atol=1e-12
    )


def test_groups_stay_together_with_and_without_a_splitter() -> None:
    _, Y = rows()
    groups = np.arange(N_ROWS) // 10
    fold = stratified_folds(Y * 1.0, 5, seed=0, groups=groups)
    assert all(len(set(fold[groups == group])) == 1 for group in np.unique(groups))
    assert len(set(fold)) == 5
    assert np.abs(scores(5, groups=groups) - scores(5)).max() > 1e-6
    by_group = scores(LeaveOneGroupOut(), groups=groups)
    by_pairs = scores(
        [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in range(12)]
    )
    np.testing.assert_array_equal(by_group, by_pairs)
    X, Y = rows()
    model = SPLMLL("linear", cv=GroupKFold(3), random_state=0)
    with pytest.raises(ValueError, match="groups"):
        model.landmark_path(X, Y)
    assert len(model.landmark_path(X, Y, groups=groups).counts) == 3


def test_two_groups_are_the_least() -> None:
    with pytest.raises(ValueError, match="at least 2 groups"):
        scores(3, groups=np.zeros(N_ROWS))
    with pytest.raises(ValueError, match="groups has no effect"):
        scores(list(KFold(3).split(np.zeros(N_ROWS))), groups=np.arange(N_ROWS))


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (RepeatedKFold(n_splits=3, n_repeats=2), "in two parts"),
        (TimeSeriesSplit(3), "training rows of a part must be all rows"),
        (ShuffleSplit(1, test_size=0.5, random_state=0), "gives 1 parts"),
        ([], "gives 0 parts"),
        ([([0], [1])], "training rows of a part must be all rows"),
        ([(["a"], ["b"])], "numbers from 0 to 119"),
        ([([0], [N_ROWS])], "numbers from 0 to 119"),
    ],
)
def test_splits_that_are_no_folds_are_refused(cv: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scores(cv)


def test_a_row_that_is_never_tested_is_named() -> None:
    with pytest.raises(ValueError, match="never tests row 3, and 1 rows in all"):
        fold_numbers([([1, 2, 3], [0]), ([0, 2, 3], [1]), ([0, 1, 3], [2])], 4)


def test_a_generator_is_good_for_one_fit() -> None:
    X, Y = rows()
    model = SPLMLL("linear", cv=KFold(3).split(X), random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="only once: give a list"):
        model.fit(X, Y)


@pytest.mark.parametrize("cv", ["five", 1, 2.5, None])
def test_what_is_no_split_at_all_is_refused(cv: Any) -> None:
    with pytest.raises(ValueError, match="'cv' parameter"):
        scores(cv)


def test_chunks_need_a_number_of_folds() -> None:
    X, Y = rows()
    with pytest.raises(ValueError, match="give cv as a number of folds"):
        SPLMLL("linear", cv=KFold(3)).partial_fit(X, Y)


def test_models_with_splitters_are_saved_and_generators_refused(tmp_path: Path) -> None:
    X, Y = rows()
    for cv in (KFold(3), list(KFold(3).split(X))):
        model = SPLMLL("linear", cv=cv, random_state=0).fit(X, Y)
        save(model, tmp_path / "model.zip")
        again = load(tmp_path / "model.zip")
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(
            again.fit(X, Y).decision_function(X), model.decision_function(X)
        )
    model = SPLMLL("linear", cv=KFold(3).split(X), random_state=0).fit(X, Y)
    with pytest.raises(ModelFileError, match="cv"):
        save(model, tmp_path / "generator.zip")
