"""Protocols: which rows are trained and measured on, and that all methods get the same."""

from dataclasses import replace

import numpy as np
import pytest
from experiment_problems import small_data
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from splmll.datasets import Dataset
from splmll.experiments.protocol import (
    PROTOCOLS,
    CrossValidation,
    HeldOut,
    PaperProtocol,
    Resubstitution,
    standard_split,
)

SPLIT = small_data(split=True)
WHOLE = small_data(split=False)


def data_of(labels: np.ndarray) -> Dataset:
    n_rows, n_labels = labels.shape
    return Dataset(np.zeros((n_rows, 1)), labels, ["x"], [f"y{j}" for j in range(n_labels)])


@pytest.mark.parametrize("name", ["held-out", "cv", "paper"])
@pytest.mark.parametrize("data", [SPLIT, WHOLE], ids=["split", "whole"])
def test_rows_are_used_for_one_thing_only(name: str, data: Dataset) -> None:
    for part in PROTOCOLS[name].parts(data, seed=3):
        groups = [part.train, part.test, *([] if part.validation is None else [part.validation])]
        used = np.concatenate(groups)
        assert len(np.unique(used)) == len(used)
        assert len(used) == 120  # and none is left over


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_the_same_seed_gives_the_same_parts_and_another_does_not(name: str) -> None:
    protocol = PROTOCOLS[name]
    first, again, other = (list(protocol.parts(WHOLE, seed)) for seed in (0, 0, 1))
    assert len(first) == protocol.repetitions * protocol.folds
    for one, two in zip(first, again):
        assert_array_equal(one.train, two.train)
        assert_array_equal(one.test, two.test)
    assert any(not np.array_equal(one.train, two.train) for one, two in zip(first, other))


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_one_repetition_alone_is_as_among_all(name: str) -> None:
    protocol = replace(PROTOCOLS[name], repetitions=3)
    among_all = [part for part in protocol.parts(SPLIT, 5) if part.repetition == 2]
    alone = protocol.repetition(SPLIT, 2, 5)
    assert [(p.repetition, p.fold, p.seed) for p in alone] == [
        (2, fold, 7) for fold in range(protocol.folds)
    ]
    for one, two in zip(among_all, alone, strict=True):
        assert_array_equal(one.train, two.train)
        assert_array_equal(one.test, two.test)


def test_held_out_keeps_the_split_and_changes_the_seed() -> None:
    parts = list(HeldOut(4).parts(SPLIT, seed=10))
    assert [part.seed for part in parts] == [10, 11, 12, 13]
    for part in parts:
        assert_array_equal(part.train, SPLIT.train)
        assert_array_equal(part.test, SPLIT.test)
        assert part.validation is None


def test_held_out_takes_a_random_tenth_where_there_is_no_split() -> None:
    first, second = HeldOut(2).parts(WHOLE)
    assert_array_equal(first.test, second.test)
    assert len(first.test) == 12
    assert not np.array_equal(np.sort(first.test), np.arange(12))


@given(n_rows=st.integers(2, 60), seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_a_random_tenth_always_leaves_rows_for_both(n_rows: int, seed: int) -> None:
    train, test = standard_split(data_of(np.zeros((n_rows, 1))), seed)
    assert len(test) == max(1, n_rows // 10)
    assert_array_equal(np.sort(np.r_[train, test]), np.arange(n_rows))


def test_folds_cover_all_rows_once_in_every_repetition() -> None:
    parts = list(CrossValidation(repetitions=2, n_folds=4).parts(SPLIT))
    assert [(part.repetition, part.fold) for part in parts] == [
        (repetition, fold) for repetition in range(2) for fold in range(4)
    ]
    for repetition in (0, 1):
        tested = [part.test for part in parts if part.repetition == repetition]
        assert_array_equal(np.sort(np.concatenate(tested)), np.arange(120))
    assert not np.array_equal(parts[0].test, parts[4].test)


def test_stratified_folds_have_the_same_label_counts_and_plain_ones_do_not() -> None:
    # 40 rows in four groups of ten by their labels: of five folds each gets two of each group.
    labels = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 10, axis=0)
    data = data_of(labels)
    stratified = CrossValidation(n_folds=5).parts(data)
    assert [labels[part.test].sum(axis=0).tolist() for part in stratified] == [[4, 4]] * 5
    plain = CrossValidation(n_folds=5, stratified=False).parts(data)
    assert [labels[part.test].sum(axis=0).tolist() for part in plain] != [[4, 4]] * 5


def test_the_paper_sets_another_tenth_apart_each_time() -> None:
    parts = list(PaperProtocol().parts(SPLIT))
    assert len(parts) == 10
    assert len({tuple(part.validation) for part in parts}) == 10
    for part in parts:
        assert len(part.validation) == 6
        assert_array_equal(np.sort(np.r_[part.train, part.validation]), SPLIT.train)
        assert_array_equal(part.test, SPLIT.test)


def test_resubstitution_says_what_it_is() -> None:
    (part,) = Resubstitution().parts(SPLIT)
    assert_array_equal(part.train, SPLIT.train)
    assert_array_equal(part.test, SPLIT.train)
    warning = "Measured on the training rows: no result for new rows"
    warned = [name for name, protocol in PROTOCOLS.items() if warning in protocol.describe()]
    assert warned == ["resubstitution"]


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        (HeldOut(5), ["standard split", "5 seeds"]),
        (CrossValidation(3, 10), ["10 folds", "multi-label stratified", "drawn 3 times"]),
        (PaperProtocol(), ["10 repetitions", "tenth of the training rows set apart"]),
        (Resubstitution(), ["the same rows", "tmc2007"]),
    ],
)
def test_captions(protocol: HeldOut, words: list[str]) -> None:
    sentence = protocol.describe()
    assert sentence.endswith(".")
    for word in words:
        assert word in sentence


def test_repetitions_must_be_positive() -> None:
    with pytest.raises(ValueError, match="repetitions must be a whole number of at least 1, got 0"):
        HeldOut(0)
