"""Protocols: which rows are trained and measured on, and that all methods get the same."""

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
    Part,
    Protocol,
    Resubstitution,
    standard_split,
)

SPLIT = small_data(split=True)
WHOLE = small_data(split=False)


def all_parts(protocol: Protocol, data: Dataset, seed: int = 0) -> list[Part]:
    """Return the parts of all repetitions."""
    numbers = range(protocol.repetitions)
    return [part for number in numbers for part in protocol.repetition(data, number, seed)]


def data_of(labels: np.ndarray) -> Dataset:
    n_rows, n_labels = labels.shape
    return Dataset(np.zeros((n_rows, 1)), labels, ["x"], [f"y{j}" for j in range(n_labels)])


@pytest.mark.parametrize("name", ["held-out", "cv", "paper"])
@pytest.mark.parametrize("data", [SPLIT, WHOLE], ids=["split", "whole"])
def test_rows_are_used_for_one_thing_only(name: str, data: Dataset) -> None:
    for part in all_parts(PROTOCOLS[name], data, seed=3):
        groups = [part.train, part.test, *([] if part.validation is None else [part.validation])]
        used = np.concatenate(groups)
        assert len(np.unique(used)) == len(used)
        assert len(used) == 120  # and none is left over


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_the_same_seed_gives_the_same_parts_and_another_does_not(name: str) -> None:
    protocol = PROTOCOLS[name]
    first, again, other = (all_parts(protocol, WHOLE, seed) for seed in (0, 0, 1))
    assert len(first) == protocol.repetitions * protocol.folds
    for one, two in zip(first, again):
        assert_array_equal(one.train, two.train)
        assert_array_equal(one.test, two.test)
    assert any(not np.array_equal(one.train, two.train) for one, two in zip(first, other))


def test_held_out_keeps_the_split() -> None:
    for part in all_parts(HeldOut(4), SPLIT, seed=10):
        assert_array_equal(part.train, SPLIT.train)
        assert_array_equal(part.test, SPLIT.test)
        assert part.validation is None


def test_held_out_takes_a_random_tenth_where_there_is_no_split() -> None:
    first, second = all_parts(HeldOut(2), WHOLE)
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
    first, second = (CrossValidation(2, n_folds=4).repetition(SPLIT, n) for n in (0, 1))
    assert len(first) == len(second) == 4
    for parts in (first, second):
        tested = np.concatenate([part.test for part in parts])
        assert_array_equal(np.sort(tested), np.arange(120))
    assert not np.array_equal(first[0].test, second[0].test)


def test_stratified_folds_have_the_same_label_counts_and_plain_ones_do_not() -> None:
    # 40 rows in four groups of ten by their labels: of five folds each gets two of each group.
    labels = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 10, axis=0)
    data = data_of(labels)
    stratified = CrossValidation(n_folds=5).repetition(data, 0)
    assert [labels[part.test].sum(axis=0).tolist() for part in stratified] == [[4, 4]] * 5
    plain = CrossValidation(n_folds=5, stratified=False).repetition(data, 0)
    assert [labels[part.test].sum(axis=0).tolist() for part in plain] != [[4, 4]] * 5


def test_the_paper_sets_another_tenth_apart_each_time() -> None:
    parts = all_parts(PaperProtocol(), SPLIT)
    assert len(parts) == 10
    assert len({tuple(part.validation) for part in parts}) == 10
    for part in parts:
        assert len(part.validation) == 6
        assert_array_equal(np.sort(np.r_[part.train, part.validation]), SPLIT.train)
        assert_array_equal(part.test, SPLIT.test)


def test_resubstitution_says_what_it_is() -> None:
    (part,) = Resubstitution().repetition(SPLIT, 0)
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
