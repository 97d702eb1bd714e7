"""Ranks and tests: examples by hand, the libraries' own numbers, and words about small data."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from splmll.experiments.statistics import (
    Ranks,
    average_ranks,
    friedman_test,
    nemenyi_test,
    wilcoxon_test,
)

# 14 data sets and 4 methods; rounded so far that there are ties.
SCORES = np.round(np.random.default_rng(3).random((14, 4)) + 0.1 * np.arange(4), 1)


def results_of(
    values: np.ndarray, measure: str = "micro_f1", n_repetitions: int = 1
) -> pd.DataFrame:
    """Data sets d0, d1, ... in rows, methods m0, m1, ... in columns."""
    lines = [
        {
            "data": f"d{i}",
            "method": f"m{j}",
            "repetition": repetition,
            "fold": 0,
            "seed": repetition,
            "protocol": "held-out",
            "preprocessing": "none",
            "threshold": "own",
            "search": "none",
            "status": "done" if np.isfinite(value) else "failed",
            measure: value,
        }
        for (i, j), value in np.ndenumerate(values)
        for repetition in range(n_repetitions)
    ]
    return pd.DataFrame(lines)


def ranks_of(values: np.ndarray, measure: str = "micro_f1") -> Ranks:
    return average_ranks(results_of(values, measure), measure)


def two_measures(first: np.ndarray, second: np.ndarray) -> pd.DataFrame:
    frame = results_of(first, "micro_f1")
    return frame.assign(hamming_loss=results_of(second, "hamming_loss")["hamming_loss"])


# Ranks ------------------------------------------------------------------------------------------


def test_ranks_are_those_of_scipy_with_ties() -> None:
    assert any(len(set(row)) < 4 for row in SCORES)
    expected = stats.rankdata(-SCORES, axis=1).mean(axis=0)
    frame = ranks_of(SCORES).frame
    assert_allclose(frame.loc[["m0", "m1", "m2", "m3"], "all"], expected)
    assert frame["all"].is_monotonic_increasing


def test_direction_of_the_measure() -> None:
    values = np.array([[0.1, 0.2, 0.3], [0.3, 0.4, 0.5]])
    assert list(ranks_of(values, "hamming_loss").frame.index) == ["m0", "m1", "m2"]
    assert list(ranks_of(values, "micro_f1").frame.index) == ["m2", "m1", "m0"]


def test_several_measures_by_hand() -> None:
    # Ranks under micro-F1: 1 2 3 and 1.5 1.5 3; under Hamming loss: 3 1 2 and 2 1 3.
    frame = two_measures(
        np.array([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]]), np.array([[0.3, 0.1, 0.2], [0.2, 0.1, 0.3]])
    )
    ranks = average_ranks(frame, ["micro_f1", "hamming_loss"])
    assert ranks.measures == ["micro_f1", "hamming_loss"]
    assert ranks.frame.loc["m0"].tolist() == [1.25, 2.5, 1.875]
    assert ranks.frame.loc["m1"].tolist() == [1.75, 1.0, 1.375]
    assert ranks.frame.loc["m2"].tolist() == [3.0, 2.5, 2.75]
    assert list(ranks.frame.index) == ["m1", "m0", "m2"]
    # A data set is one block, with the mean rank of a method.
    assert ranks.blocks.loc["d0", ["m0", "m1", "m2"]].tolist() == [2.0, 1.5, 2.5]
    assert ranks.blocks.loc["d1", ["m0", "m1", "m2"]].tolist() == [1.75, 1.25, 3.0]
    assert "2 data sets under 2 measures (a block each)" in ranks.describe()


def test_repetitions_are_no_blocks() -> None:
    once = average_ranks(results_of(SCORES), "micro_f1")
    often = average_ranks(results_of(SCORES, n_repetitions=9), "micro_f1")
    assert often.blocks.shape == once.blocks.shape == (14, 4)
    assert friedman_test(often).p_value == pytest.approx(friedman_test(once).p_value)


def test_methods_with_missing_results_are_left_out_and_named() -> None:
    values = np.array([[1.0, 2, 3], [4, np.nan, 6], [7, 8, 9]]) / 10
    frame, words = results_of(values), "Left out: m1 (no results on d1)."
    ranks = average_ranks(frame, "micro_f1")
    assert set(ranks.frame.index) == {"m0", "m2"}
    assert ranks.data == ("d0", "d1", "d2")
    assert ranks.left_out == words
    assert ranks.describe().endswith(words)
    # A method that was never run there is missing as much as one that failed.
    never = average_ranks(frame[frame["status"] == "done"], "micro_f1")
    pd.testing.assert_frame_equal(never.frame, ranks.frame)
    for test in (nemenyi_test, wilcoxon_test):
        assert test(ranks).describe().endswith(words)


def test_nothing_left_and_mixed_protocols_are_refused() -> None:
    frame = results_of(np.array([[1.0, np.nan], [np.nan, 1.0]]))
    with pytest.raises(ValueError, match="leave data sets out, or run what failed"):
        average_ranks(frame, "micro_f1")
    mixed = pd.concat([results_of(SCORES), results_of(SCORES).assign(protocol="cv")])
    with pytest.raises(ValueError, match="2 values of protocol"):
        average_ranks(mixed, "micro_f1")


# Friedman ---------------------------------------------------------------------------------------


def test_friedman_by_hand() -> None:
    # Ranks 1 2 3, 1 2 3, 2 1 3, 1 3 2: sums 5, 8, 11, so that
    # chi-square = 12 / (4 * 3 * 4) * (25 + 64 + 121) - 3 * 4 * 4 = 52.5 - 48
    # and F = 3 * 4.5 / (4 * 2 - 4.5).
    values = -np.array([[1.0, 2, 3], [1, 2, 3], [2, 1, 3], [1, 3, 2]])
    result = friedman_test(ranks_of(values))
    assert result.statistic == pytest.approx(4.5)
    assert result.p_value == pytest.approx(np.exp(-4.5 / 2))  # two degrees of freedom
    assert result.f_statistic == pytest.approx(13.5 / 3.5)
    assert result.f_p_value == pytest.approx(stats.f.sf(13.5 / 3.5, 2, 6))


def test_friedman_is_that_of_scipy_with_ties() -> None:
    result = friedman_test(ranks_of(SCORES))
    assert_allclose((result.statistic, result.p_value), stats.friedmanchisquare(*SCORES.T))


def test_blocks_that_all_agree_and_blocks_of_ties() -> None:
    same_order = np.tile([0.1, 0.2, 0.3], (6, 1))
    sure = friedman_test(ranks_of(same_order))
    assert sure.statistic == pytest.approx(12.0)
    assert (sure.f_statistic, sure.f_p_value) == (np.inf, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tied = friedman_test(ranks_of(np.full((6, 3), 0.5)))
    assert (tied.statistic, tied.p_value, tied.f_p_value) == (0.0, 1.0, 1.0)
    assert "the methods cannot be told apart" in tied.describe()
    assert "the methods differ" in sure.describe()


@given(seed=st.integers(0, 10_000), n_blocks=st.integers(2, 12), n_methods=st.integers(3, 6))
@settings(max_examples=10, deadline=None)
def test_names_and_scale_do_not_matter(seed: int, n_blocks: int, n_methods: int) -> None:
    values = np.random.default_rng(seed).random((n_blocks, n_methods))
    expected = friedman_test(ranks_of(values))
    moved = friedman_test(ranks_of(np.sqrt(values[:, ::-1]) / 2))
    assert moved.p_value == pytest.approx(expected.p_value)
    assert 0 <= expected.f_p_value <= 1


# Nemenyi ----------------------------------------------------------------------------------------


def test_critical_difference_from_tabulated_values() -> None:
    # The tables of Nemenyi's test have 2.569 for four methods.
    result = nemenyi_test(ranks_of(SCORES))
    expected = 2.569 * np.sqrt(4 * 5 / (6 * 14))
    assert result.critical_difference == pytest.approx(expected, abs=5e-4)
    assert "at the 5% level" in result.describe()


def test_nemenyi_names_those_that_differ_from_the_best() -> None:
    # Always in the same order; 2.344 * sqrt(3 * 4 / 60) = 1.05 lies between one rank and two.
    result = nemenyi_test(ranks_of(np.tile([0.1, 0.2, 0.3], (10, 1))))
    assert "m2 has the best, 1.00; significantly different from it are m0." in result.describe()
    few = nemenyi_test(ranks_of(np.tile([0.1, 0.2, 0.3], (2, 1))))
    assert "significantly different from it are none." in few.describe()


def test_nemenyi_is_that_of_scikit_posthocs() -> None:
    # The example of its documentation.
    values = np.array(
        [[31, 27, 24], [31, 28, 31], [45, 29, 46], [21, 18, 48], [42, 36, 46], [32, 17, 40]]
    )
    result = nemenyi_test(ranks_of(values.astype(float)))
    expected = scikit_posthocs.posthoc_nemenyi_friedman(values)
    names = ["m0", "m1", "m2"]
    assert_allclose(result.p_values.loc[names, names], expected)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=8, deadline=None)
def test_p_values_and_critical_difference_say_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    result = nemenyi_test(ranks_of(rng.random((9, 5)) + 0.2 * np.arange(5)))
    apart = np.abs(np.subtract.outer(result.average.to_numpy(), result.average.to_numpy()))
    assert ((apart > result.critical_difference) == (result.p_values < result.level)).all(axis=None)


# Wilcoxon ---------------------------------------------------------------------------------------


def test_wilcoxon_with_holm_by_hand() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((10, 3)) + [0.0, 0.1, 0.6]
    single = {
        (i, j): stats.wilcoxon(values[:, i], values[:, j]).pvalue
        for i, j in [(0, 1), (0, 2), (1, 2)]
    }
    # The smallest of three is tripled, the next doubled, and none may be below the one before.
    order = sorted(single, key=single.__getitem__)
    corrected, lowest = {}, 0.0
    for factor, pair in zip((3, 2, 1), order):
        lowest = max(lowest, min(1.0, factor * single[pair]))
        corrected[pair] = lowest
    result = wilcoxon_test(ranks_of(values))
    for (i, j), expected in corrected.items():
        assert result.p_values.loc[f"m{i}", f"m{j}"] == pytest.approx(expected)
        assert result.p_values.loc[f"m{j}", f"m{i}"] == pytest.approx(expected)
    assert result.p_values.index[0] == "m2"


def test_methods_that_never_differ_have_p_one_without_a_warning() -> None:
    values = np.tile(np.arange(8.0)[:, None], (1, 2)) / 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = wilcoxon_test(ranks_of(values))
    assert_allclose(result.p_values, 1.0)


@pytest.mark.parametrize(("n_data", "hopeless"), [(5, True), (6, False)])
def test_too_few_blocks_for_any_result_are_said(n_data: int, hopeless: bool) -> None:
    # Five signs that agree have a probability of 2 / 32, more than 5 %; six of 2 / 64.
    values = np.column_stack([np.zeros(n_data), 0.1 * np.arange(1, n_data + 1)])
    result = wilcoxon_test(ranks_of(values))
    assert result.p_values.loc["m0", "m1"] == pytest.approx(2.0 ** (1 - n_data))
    assert (f"below {2.0 ** (1 - n_data):.2g} after" in result.describe()) == hopeless
    assert ("whatever the results are" in result.describe()) == hopeless


# Words and limits -------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_data", "words"), [(2, "2 data sets are too few"), (5, "")])
def test_few_data_sets_are_warned_of(n_data: int, words: str) -> None:
    ranks = ranks_of(SCORES[:n_data])
    for test in (friedman_test, nemenyi_test, wilcoxon_test):
        said = test(ranks).describe()
        assert f"4 methods over {n_data} data sets (Micro-F1)" in said
        assert ("too few" in said) == bool(words)
        assert words in said


def test_too_few_methods_or_blocks_are_refused() -> None:
    two, one, single = ranks_of(SCORES[:, :2]), ranks_of(SCORES[:, :1]), ranks_of(SCORES[:1])
    with pytest.raises(ValueError, match=r"at least 3 methods, but there are 2.*wilcoxon_test"):
        friedman_test(two)
    for test in (friedman_test, nemenyi_test, wilcoxon_test):
        with pytest.raises(ValueError, match="methods, but there is 1; add methods"):
            test(one)
        with pytest.raises(ValueError, match="Repetitions on the same data do not count"):
            test(single)
    assert single.frame.shape == (4, 2)
    assert one.describe() == "Average ranks over 14 data sets (Micro-F1): m0 1.00."
