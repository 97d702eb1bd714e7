"""Stratified splits: true partitions, balanced at least as well as a well-known package's."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold as PeerKFold
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_val_score
from sklearn.multiclass import OneVsRestClassifier

from splmll.datasets import load_dataset
from splmll.metrics import SCORERS
from splmll.metrics._inputs import check_labels
from splmll.model_selection import stratification
from splmll.model_selection.stratification import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    multilabel_train_test_split,
)


def random_labels(n_rows, n_labels, cardinality=3.0, seed=0):
    rng = np.random.default_rng(seed)
    frequency = np.arange(1, n_labels + 1) ** -0.8
    frequency = np.minimum(0.9, frequency * cardinality / frequency.sum())
    return (rng.random((n_rows, n_labels)) < frequency).astype(int)


@st.composite
def label_matrices(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(2, 60)), draw(st.integers(1, 12))
    return (rng.random(shape) < draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))).astype(int)


def folds_of(splitter, Y):
    """Fold number of every row; fails unless the tests are a partition of the rows."""
    fold_of = np.full(Y.shape[0], -1)
    for fold, (train, test) in enumerate(splitter.split(np.zeros(Y.shape[0]), Y)):
        assert np.all(fold_of[test] == -1)
        fold_of[test] = fold
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(Y.shape[0]))
        assert np.intersect1d(train, test).size == 0
    assert np.all(fold_of >= 0)
    return fold_of


def deviations(Y, fold_of):
    """Mean difference of label odds (LD) and label-pair odds (LPD) between folds and all rows."""
    labels = sparse.csr_array(Y, dtype=float)
    upper = np.triu_indices(Y.shape[1], 1)

    def odds(part):
        together = (part.T @ part).toarray()
        counts = np.concatenate([together.diagonal(), together[upper]])
        return counts / (part.shape[0] - counts)

    expected = odds(labels)
    difference = [np.abs(odds(labels[fold_of == fold]) - expected) for fold in np.unique(fold_of)]
    difference = np.mean(difference, axis=0)
    is_pair = np.arange(expected.size) >= Y.shape[1]
    return (
        difference[~is_pair & (expected > 0)].mean(),
        difference[is_pair & (expected > 0)].mean(),
    )


def spread(Y, fold_of, n_folds):
    """What the exchanges are to make small: squared deviations of label counts over shares."""
    total = 0.0
    for fold in range(n_folds):
        share = np.mean(fold_of == fold)
        total += np.sum((Y[fold_of == fold].sum(axis=0) - share * Y.sum(axis=0)) ** 2) / share
    return total


@settings(max_examples=60, deadline=None)
@given(label_matrices(), st.integers(2, 7), st.booleans())
def test_folds_are_a_partition_into_equal_sizes(Y, n_splits, shuffle):
    n_splits = min(n_splits, len(Y))
    seed = 0 if shuffle else None
    splitter = MultilabelStratifiedKFold(n_splits, shuffle=shuffle, random_state=seed)
    sizes = np.bincount(folds_of(splitter, Y), minlength=n_splits)
    assert sizes.max() - sizes.min() <= 1
    assert splitter.get_n_splits(Y, Y) == n_splits


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_one_label_per_row_is_split_exactly(seed, n_splits):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 5, 80)
    Y = np.eye(5, dtype=int)[label]
    Y[label == 4] = 0  # these rows have no label and are to be spread as well
    fold_of = folds_of(MultilabelStratifiedKFold(n_splits, random_state=seed), Y)
    for kind in range(5):
        counts = np.bincount(fold_of[label == kind], minlength=n_splits)
        assert counts.max() - counts.min() <= 1


def test_equal_label_sets_are_shared_out_equally():
    sets = random_labels(12, 9, 4.0, seed=1)
    Y = np.random.default_rng(0).permutation(np.repeat(sets, 10, axis=0))
    fold_of = folds_of(MultilabelStratifiedKFold(5, random_state=3), Y)
    distinct, set_of = np.unique(Y, axis=0, return_inverse=True)
    for number in range(len(distinct)):
        counts = np.bincount(fold_of[set_of == number], minlength=5)
        assert counts.min() == counts.max()


@settings(max_examples=40, deadline=None)
@given(label_matrices(), st.integers(0, 1000))
def test_exchanges_only_ever_even_out(Y, seed):
    rng = np.random.RandomState(seed)
    sizes = np.array([len(Y) - len(Y) // 3, len(Y) // 3])
    sizes = sizes[sizes > 0]
    fold_of = rng.permutation(np.repeat(np.arange(sizes.size), sizes))
    before = spread(Y, fold_of, sizes.size)
    stratification._exchange(check_labels(Y, "Y"), fold_of, sizes, rng)
    after = spread(Y, fold_of, sizes.size)
    assert after <= before + 1e-6
    np.testing.assert_array_equal(np.bincount(fold_of, minlength=sizes.size), sizes)


def test_no_single_exchange_could_do_better():
    Y = random_labels(60, 6, 2.0)
    fold_of = folds_of(MultilabelStratifiedKFold(3, random_state=0), Y)
    best = spread(Y, fold_of, 3)
    for i in range(60):
        for j in range(i):
            swapped = fold_of.copy()
            swapped[[i, j]] = fold_of[[j, i]]
            assert spread(Y, swapped, 3) >= best - 1e-6


@pytest.mark.parametrize("shape", [(4000, 60), (1500, 200)])
def test_balanced_at_least_as_well_as_iterative_stratification(shape):
    check_balance(random_labels(*shape), n_seeds=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["emotions", "yeast", "tmc2007", "corel5k", "espgame-densehue"])
def test_balanced_at_least_as_well_on_real_data(name, data_home):
    Y = load_dataset(name, data_home).Y
    check_balance(Y.toarray() if sparse.issparse(Y) else np.asarray(Y), n_seeds=2)


def check_balance(Y, n_seeds):
    Y = Y.astype(np.int8)
    ours, peers = [], []
    for seed in range(n_seeds):
        ours.append(deviations(Y, folds_of(MultilabelStratifiedKFold(5, random_state=seed), Y)))
        peer = PeerKFold(5, shuffle=True, random_state=seed)
        peers.append(deviations(Y, folds_of(peer, Y)))
    slack = 1.01
    assert np.all(np.mean(ours, axis=0) <= slack * np.mean(peers, axis=0))


def test_seeds_decide():
    Y = random_labels(200, 8)

    def folds(seed):
        return folds_of(MultilabelStratifiedKFold(4, random_state=seed), Y)

    np.testing.assert_array_equal(folds(1), folds(1))
    assert np.any(folds(1) != folds(2))
    fixed = MultilabelStratifiedKFold(4, shuffle=False)
    np.testing.assert_array_equal(folds_of(fixed, Y), folds_of(fixed, Y))
    splits = MultilabelStratifiedShuffleSplit(3, random_state=0)
    first, second = list(splits.split(Y, Y)), list(splits.split(Y, Y))
    for (train, test), (train_again, test_again) in zip(first, second, strict=True):
        np.testing.assert_array_equal(train, train_again)
        np.testing.assert_array_equal(test, test_again)
    for (_, test), (_, next_test) in pairwise(first):
        assert set(test) != set(next_test)


def test_all_forms_of_labels_give_the_same_folds():
    Y = random_labels(150, 7)
    splitter = MultilabelStratifiedKFold(3, random_state=5)
    expected = folds_of(splitter, Y)
    unknown = Y.astype(float)
    unknown[Y == 0] = np.where(np.arange(np.sum(Y == 0)) % 3 == 0, np.nan, 0.0)
    before = unknown.copy()
    forms = [
        Y.astype(bool),
        Y.astype(np.float32),
        sparse.csr_array(Y),
        sparse.csc_matrix(Y),
        sparse.coo_array(Y),
        pd.DataFrame(Y),
        pd.DataFrame(Y).astype("Int64"),
        unknown,
    ]
    for form in forms:
        np.testing.assert_array_equal(folds_of(splitter, form), expected)
    np.testing.assert_array_equal(unknown, before)
    assert all(len(test) == 50 for _, test in splitter.split(np.zeros(150), Y.tolist()))
    # One label may come as a vector.
    np.testing.assert_array_equal(folds_of(splitter, Y[:, 0]), folds_of(splitter, Y[:, [0]]))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(10, 80),
    st.sampled_from([(None, None), (0.3, None), (None, 0.6), (0.2, 0.5), (4, 3), (1, None)]),
)
def test_shuffle_splits_have_the_sizes_of_scikit_learn(n_rows, sizes):
    Y = random_labels(n_rows, 5, 2.0, seed=n_rows)
    how = {"n_splits": 2, "test_size": sizes[0], "train_size": sizes[1], "random_state": 0}
    ours = MultilabelStratifiedShuffleSplit(**how)
    assert ours.get_n_splits() == 2
    pairs = zip(ours.split(Y, Y), ShuffleSplit(**how).split(Y), strict=True)
    for (train, test), (their_train, their_test) in pairs:
        assert (train.size, test.size) == (their_train.size, their_test.size)
        assert np.unique(np.concatenate([train, test])).size == train.size + test.size


def test_shuffle_splits_keep_label_frequencies():
    Y = random_labels(2000, 40)
    splits = MultilabelStratifiedShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=1)
    for train, test in splits.split(np.zeros(2000), Y):
        for rows, share in ((train, 0.5), (test, 0.2)):
            assert np.abs(Y[rows].sum(axis=0) - share * Y.sum(axis=0)).max() <= 1
        assert np.any(np.diff(train) < 0)  # in random order


def test_train_test_split_returns_what_scikit_learn_would():
    Y = random_labels(80, 6)
    X = np.arange(160).reshape(80, 2)
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(80)])
    names = [f"r{i}" for i in range(80)]
    parts = multilabel_train_test_split(
        X, sparse.coo_array(X), frame, names, frame[0], Y, random_state=0
    )
    assert len(parts) == 12
    train, test = parts[0][:, 0] // 2, parts[1][:, 0] // 2
    assert (train.size, test.size) == (60, 20)
    for rows, offset in ((train, 0), (test, 1)):
        assert parts[2 + offset].format == "csr"
        np.testing.assert_array_equal(parts[2 + offset].toarray(), X[rows])
        pd.testing.assert_frame_equal(parts[4 + offset], frame.iloc[rows])
        assert parts[6 + offset] == [names[row] for row in rows]
        pd.testing.assert_series_equal(parts[8 + offset], frame[0].iloc[rows])
        np.testing.assert_array_equal(parts[10 + offset], Y[rows])


def test_train_test_split_by_other_labels():
    Y = random_labels(400, 6)
    X = np.random.default_rng(0).normal(size=(400, 2))
    _, X_test = multilabel_train_test_split(X, test_size=0.25, random_state=0, stratify=Y)
    rows = [int(np.flatnonzero(X[:, 0] == value)[0]) for value in X_test[:, 0]]
    assert np.abs(Y[rows].sum(axis=0) - 0.25 * Y.sum(axis=0)).max() <= 1
    with pytest.raises(ValueError, match=r"last array is not a 0/1 label matrix.*stratify="):
        multilabel_train_test_split(Y, X)
    with pytest.raises(ValueError, match="At least one array"):
        multilabel_train_test_split()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        multilabel_train_test_split(X[:10], Y)


@pytest.mark.parametrize(
    "cv",
    [
        MultilabelStratifiedKFold(3, random_state=0),
        MultilabelStratifiedShuffleSplit(3, test_size=0.3, random_state=0),
    ],
)
def test_in_the_hands_of_scikit_learn(cv):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(90, 5)) > 0.5).astype(int)
    model = OneVsRestClassifier(LogisticRegression())
    by_hand = [
        SCORERS["micro_f1"](model.fit(X[train], Y[train]), X[test], Y[test])
        for train, test in cv.split(X, Y)
    ]
    scores = cross_val_score(model, X, Y, cv=cv, scoring=SCORERS["micro_f1"])
    np.testing.assert_allclose(scores, by_hand)
    for labels in (Y, sparse.csr_array(Y)):
        search = GridSearchCV(
            model, {"estimator__C": [0.1, 1.0]}, cv=cv, scoring=SCORERS["ranking_loss"]
        )
        assert search.fit(X, labels).cv_results_["mean_test_score"].shape == (2,)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MultilabelStratifiedKFold(1), ValueError, "at least 2"),
        (lambda: MultilabelStratifiedKFold(2.5), ValueError, "integer"),
        (lambda: MultilabelStratifiedKFold(3, shuffle="yes"), TypeError, "True or False"),
        (
            lambda: MultilabelStratifiedKFold(3, shuffle=False, random_state=0),
            ValueError,
            "random_state has no effect",
        ),
        (
            lambda: next(MultilabelStratifiedKFold(5).split(np.zeros(4), np.eye(4))),
            ValueError,
            "n_splits=5 greater than the number of samples: n_samples=4",
        ),
        (lambda: next(MultilabelStratifiedKFold().split(np.zeros(4))), ValueError, "labels y"),
        (
            lambda: next(MultilabelStratifiedKFold(2).split(np.zeros(5), np.eye(4))),
            ValueError,
            "inconsistent numbers of samples",
        ),
        (
            lambda: next(MultilabelStratifiedKFold(2).split(np.zeros(4), [0, 1, 2, 1])),
            ValueError,
            "value 2 .*StratifiedKFold",
        ),
        (
            lambda: next(
                MultilabelStratifiedShuffleSplit(test_size=9).split(np.zeros(4), np.eye(4))
            ),
            ValueError,
            "test_size=9",
        ),
    ],
)
def test_errors_say_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_repr_shows_the_settings():
    assert repr(MultilabelStratifiedKFold(3, random_state=1)) == (
        "MultilabelStratifiedKFold(n_splits=3, random_state=1, shuffle=True)"
    )


def test_splits_do_not_depend_on_the_processor() -> None:
    # Vector instructions sort and partition in another order: without them splits are the same.
    script = """
import numpy as np
from splmll.model_selection import MultilabelStratifiedShuffleSplit
Y = (np.random.default_rng(0).random((400, 6)) < 0.3) * 1
splits = MultilabelStratifiedShuffleSplit(1, test_size=0.2, random_state=0).split(Y, Y)
print([rows.tolist() for _, rows in splits])
"""
    here = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    plain = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(vector_instructions())}
    there = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, env=plain
    )
    assert here.stdout == there.stdout


def vector_instructions() -> list[str]:
    """Those that numpy uses on this processor beyond what it needs to start."""
    from numpy._core import _multiarray_umath as core

    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]
