"""The judge: what is worse, what hurts, and that unknown labels do not count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from splmll import evaluate
from splmll.landmarks import judging
from splmll.landmarks.judging import KEPT, Judge

RNG = np.random.default_rng(0)
Y = (RNG.random((400, 6)) < 0.3) * 1.0
GOOD = Y + 0.5 * RNG.normal(size=Y.shape)
FAIR = Y + 1.0 * RNG.normal(size=Y.shape)


def judge(labels: Any = Y, scoring: str = "average_precision") -> Judge:
    return Judge(labels, scoring, "micro_f1", seed=0)


def test_measures_of_groups_are_those_of_their_rows() -> None:
    measured = judge().measure(GOOD)
    expected = evaluate(Y, GOOD, None, ["average_precision", "ranking_loss"])
    assert {len(values) for values in measured.values()} == {judging.GROUPS}
    # Groups have 40 rows each; the mean of means is that of all, but for rows without labels.
    for name, value in expected.items():
        assert measured[name].mean() == pytest.approx(value, abs=0.01)


def test_noise_is_worse_and_the_same_is_not() -> None:
    the_judge = judge()
    good, fair = the_judge.measure(GOOD), the_judge.measure(FAIR)
    assert the_judge.value(good) > the_judge.value(fair)
    assert the_judge.is_worse(fair, good)
    assert the_judge.is_better(good, fair)
    assert not the_judge.is_worse(good, fair)
    assert not the_judge.is_worse(good, good)
    assert not the_judge.is_better(good, good)


def test_what_chance_does_is_not_better() -> None:
    """Of many candidates that differ by nothing but noise, few are called better."""
    the_judge, rng = judge(), np.random.default_rng(1)
    drawn = [the_judge.measure(Y + rng.normal(size=Y.shape)) for _ in range(80)]
    called = [the_judge.is_better(a, b) for a, b in zip(drawn[::2], drawn[1::2], strict=True)]
    assert 0 < np.mean(called) < 0.35  # one in six is expected


def test_a_loss_is_one_standard_error_or_the_largest_that_is_allowed() -> None:
    the_judge, names = judge(), ("average_precision", *KEPT)
    groups = 0.8 + np.linspace(-0.1, 0.1, judging.GROUPS)
    before = dict.fromkeys(names, groups)

    def behind(by: np.ndarray) -> bool:
        return the_judge.is_worse({**before, "average_precision": groups - by}, before)

    wide = np.linspace(-0.1, 0.1, judging.GROUPS)  # its standard error is .02
    assert not behind(0.9 * judging.LARGEST_LOSS + wide)
    assert behind(1.1 * judging.LARGEST_LOSS + wide)
    narrow = wide / 100  # its standard error is .0002, with n - 1 in the variance
    error = narrow.std(ddof=1) / np.sqrt(judging.GROUPS)
    assert not behind(0.99 * error + narrow)
    assert behind(1.01 * error + narrow)


@pytest.mark.parametrize("scoring", ["hamming_loss", "macro_f1", "one_error"])
def test_any_measure_may_decide_and_the_guarded_are_there(scoring: str) -> None:
    the_judge = judge(scoring=scoring)
    measured = the_judge.measure(GOOD)
    assert set(measured) == {scoring, *KEPT}
    assert the_judge.value(measured) > the_judge.value(the_judge.measure(FAIR))


def test_worse_in_anything_guarded_hurts() -> None:
    the_judge = judge(scoring="micro_f1")
    # Cells that are not predicted are ranked at random: labels stay as good, ranks do not.
    shuffled = np.where(GOOD > 0.5, GOOD, -5 + np.random.default_rng(2).random(Y.shape))
    ranked, unranked = the_judge.measure(GOOD), the_judge.measure(shuffled)
    assert not the_judge.is_worse(unranked, ranked)
    assert the_judge.hurts(unranked, ranked)
    assert the_judge.loses(unranked, ranked)
    assert not the_judge.hurts(ranked, ranked)
    assert not the_judge.loses(ranked, ranked)


def test_unknown_labels_do_not_count() -> None:
    partly = Y.copy()
    hidden = np.random.default_rng(3).random(Y.shape) < 0.3
    partly[hidden] = np.nan
    plain = judge(partly).measure(GOOD)
    absurd = np.where(hidden, 100.0, GOOD)
    for name, values in judge(partly).measure(absurd).items():
        assert_allclose(values, plain[name])


def test_sparse_labels_are_dense_ones() -> None:
    dense, stored = judge().measure(GOOD), judge(sparse.csr_array(Y)).measure(GOOD)
    for name, values in dense.items():
        assert_allclose(stored[name], values)


def test_only_some_rows_of_very_many_labels_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "JUDGED_CELLS", 600)
    the_judge = judge()
    assert len(the_judge.rows) == 100
    assert len(set(the_judge.rows.tolist())) == 100
    assert the_judge.measure(GOOD[the_judge.rows])["average_precision"].mean() > 0.8


def test_few_rows() -> None:
    the_judge = judge(Y[:3])
    assert np.isfinite(the_judge.value(the_judge.measure(GOOD[:3])))
    alone = judge(Y[:1])
    assert not alone.is_worse(alone.measure(GOOD[:1]), alone.measure(GOOD[:1]))


@pytest.mark.parametrize(("behind", "worse"), [(0.56, False), (0.59, True)])
def test_the_standard_error_is_that_of_a_sample(behind: float, worse: bool) -> None:
    """Of 4 groups that differ by -1, 1, -1, 1 around their mean it is sqrt(4 / 3) / 2 = 0.577.

    Divided by 4 in place of 3 it would be 0.5, by 2 it would be 0.707.
    """
    # In thousandths: a larger loss counts whatever its error.
    behind, around = behind / 1000, np.array([-1.0, 1.0, -1.0, 1.0]) / 1000
    better = {name: np.zeros(4) for name in KEPT}
    candidate = {**better, "average_precision": -(behind + around)}
    assert judge().is_worse(candidate, better) is worse
    assert judge().is_better(better, candidate) is worse
    assert judge().loses(candidate, better) is worse
    assert judge().hurts(candidate, better) is worse
    # However uncertain f's own measure is, as it is with few rows.
    noise = np.array([0.2, -0.2, 0.3, -0.3])
    noisy = [{**better, "average_precision": of["average_precision"] + noise}
             for of in (candidate, better)]  # fmt: skip
    assert judge().hurts(*noisy) is worse
    # Measures that do not decide are compared with the error of f's own.
    alone = {**better, "ranking_loss": around}
    assert judge().hurts({**better, "ranking_loss": np.full(4, behind)}, alone) is worse
