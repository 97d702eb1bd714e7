"""Splits with groups: no group in two parts, labels as even as that allows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier

from splmll.metrics import SCORERS
from splmll.model_selection import (
    MultilabelCalibrator,
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    ThresholdTuner,
    multilabel_train_test_split,
)


def grouped_rows(seed, n_rows=300, n_groups=40, n_labels=6):
    """Rows whose labels depend on their group, which makes balance hard."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, n_groups, n_rows)
    groups[:n_groups] = np.arange(n_groups)
    tendency = rng.normal(size=(n_groups, n_labels))
    Y = (tendency[groups] + rng.normal(size=(n_rows, n_labels)) > 1).astype(int)
    return Y, groups


def unevenness(Y, folds):
    totals = np.maximum(Y.sum(axis=0), 1)
    return sum(
        ((Y[test].sum(axis=0) - totals * len(test) / len(Y)) ** 2 / totals).sum()
        for _, test in folds
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(0, 60), st.sampled_from([1, 2, 7]))
def test_no_group_is_in_two_folds_and_no_fold_is_empty(seed, n_splits, more_groups, n_labels):
    n_groups = n_splits + more_groups
    Y, groups = grouped_rows(seed, n_rows=n_groups + 30, n_groups=n_groups, n_labels=n_labels)
    names = np.array([f"group {number}" for number in groups])
    tested = np.zeros(len(Y), dtype=int)
    folds = list(MultilabelStratifiedKFold(n_splits, random_state=seed).split(Y, Y, names))
    assert len(folds) == n_splits
    for train, test in folds:
        assert test.size > 0
        assert not set(names[train]) & set(names[test])
        assert train.size + test.size == len(Y)
        tested[test] += 1
    assert (tested == 1).all()


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_more_even_than_with_folds_that_know_no_labels(seed):
    Y, groups = grouped_rows(seed)
    folds = MultilabelStratifiedKFold(5, random_state=0).split(Y, Y, groups)
    assert unevenness(Y, folds) < 0.6 * unevenness(Y, GroupKFold(5).split(Y, Y, groups))


@pytest.mark.parametrize("seed", range(3))
def test_sizes_are_nearly_even(seed):
    Y, groups = grouped_rows(seed)
    sizes = [
        len(test) for _, test in MultilabelStratifiedKFold(5, random_state=0).split(Y, Y, groups)
    ]
    assert max(sizes) - min(sizes) <= np.bincount(groups).max()


def test_groups_of_one_row_are_dealt_out_like_rows():
    Y = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], 10, axis=0)
    for _, test in MultilabelStratifiedKFold(5, random_state=0).split(Y, Y, np.arange(40)):
        assert len(test) == 8
        assert Y[test].sum(axis=0).tolist() == [4, 4]


def test_same_seed_same_folds_and_none_is_no_groups():
    Y, groups = grouped_rows(0)
    folds = MultilabelStratifiedKFold(3, random_state=1)
    for one, other in zip(folds.split(Y, Y, groups), folds.split(Y, Y, groups)):
        np.testing.assert_array_equal(one[1], other[1])
    for one, other in zip(folds.split(Y, Y), folds.split(Y, Y, None)):
        np.testing.assert_array_equal(one[1], other[1])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.25, 0.5]))
def test_splits_in_two_keep_groups_together(seed, test_size):
    Y, groups = grouped_rows(seed)
    largest = np.bincount(groups).max()
    splits = MultilabelStratifiedShuffleSplit(
        2, test_size=test_size, train_size=0.4, random_state=seed
    )
    for train, test in splits.split(Y, Y, groups):
        assert not set(groups[train]) & set(groups[test])
        assert abs(len(test) - test_size * len(Y)) <= largest
        assert abs(len(train) - 0.4 * len(Y)) <= largest


def test_train_test_split_with_groups():
    Y, groups = grouped_rows(0)
    X = np.arange(len(Y))
    parts = multilabel_train_test_split(X, groups, Y, test_size=0.2, groups=groups, random_state=0)
    X_train, X_test, groups_train, groups_test, _, _ = parts
    assert not set(groups_train) & set(groups_test)
    np.testing.assert_array_equal(groups[X_test], groups_test)
    assert len(X_train) + len(X_test) == len(Y)


def test_bad_groups_are_refused():
    Y, groups = grouped_rows(0)
    folds = MultilabelStratifiedKFold(3)
    with pytest.raises(ValueError, match="2 groups cannot fill 3 parts"):
        list(folds.split(Y, Y, groups > 10))
    with pytest.raises(ValueError, match="inconsistent"):
        list(folds.split(Y, Y, groups[:-1]))
    with pytest.raises(ValueError, match="groups contains NaN"):
        list(folds.split(Y, Y, np.where(groups > 3, np.nan, groups)))


def leaking_problem():
    """Every row four times: folds that part copies see the labels of the rows they score."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 5)), 4, axis=0)
    Y = np.repeat((rng.random((60, 3)) < 0.3).astype(int), 4, axis=0)
    return X, Y, np.repeat(np.arange(60), 4)


class Recorded(OneVsRestClassifier):
    """Remembers the rows it was fitted on."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        type(self).seen.append(X[:, 0])
        return super().fit(X, y)


@pytest.mark.parametrize("wrapper", [ThresholdTuner, MultilabelCalibrator])
def test_tuner_and_calibrator_pass_groups_on(wrapper):
    X, Y, groups = leaking_problem()
    Recorded.seen = []
    model = wrapper(Recorded(LogisticRegression()), cv=3, random_state=0)
    model.fit(X, Y, groups=groups)
    everything, *of_folds = Recorded.seen
    assert len(everything) == 240
    for rows in of_folds:
        assert set(np.unique(rows, return_counts=True)[1]) == {4}
    by_group = wrapper(Recorded(LogisticRegression()), cv=GroupKFold(3))
    by_group.fit(X, Y, groups=groups)
    with pytest.raises(ValueError, match="groups"):
        by_group.fit(X, Y)


def test_cross_validation_passes_groups_on():
    X, Y, groups = leaking_problem()
    Recorded.seen = []
    folds = MultilabelStratifiedKFold(3, random_state=0)
    cross_val_score(
        Recorded(LogisticRegression()),
        X,
        Y,
        cv=folds,
        groups=groups,
        scoring=SCORERS["ranking_loss"],
    )
    for rows in Recorded.seen:
        assert set(np.unique(rows, return_counts=True)[1]) == {4}
