"""Threshold rules: optimal against brute force, honest about ties, and safe with little data."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from splmll.metrics import hamming_loss, jaccard, macro_f1, micro_f1
from splmll.thresholds import (
    MIN_ROWS,
    RULES,
    GlobalThreshold,
    LinearThreshold,
    NeverEmpty,
    PerLabelThreshold,
    TopRanked,
    fit_threshold,
)

SINGLE_RULES = ("micro_f1", "macro_f1", "hamming", "jaccard")


@st.composite
def problems(draw, unknown=False, min_labels=1):
    """Labels and scores of a few dozen rows; few distinct scores, so that most are tied."""
    shape = (draw(st.integers(MIN_ROWS, MIN_ROWS + 10)), draw(st.integers(min_labels, 4)))
    values = [0.0, 1.0, np.nan] if unknown else [0.0, 1.0]
    Y = draw(hnp.arrays(np.float64, shape, elements=st.sampled_from(values)))
    levels = draw(st.integers(1, 30))
    grid = st.integers(0, levels).map(lambda level: level / 7 - 1)
    scores = draw(hnp.arrays(np.float64, shape, elements=grid))
    return Y, scores


def quality(rule, Y, predicted):
    """The measure a rule optimises, larger is better, written out cell by cell."""
    known = ~np.isnan(Y)
    hit = (predicted == 1) & (Y == 1)
    wrong = known & (predicted != Y)
    if rule == "hamming":
        return -int(wrong.sum())
    if rule == "micro_f1":
        return 2 * hit.sum() / max(2 * hit.sum() + wrong.sum(), 1)
    if rule == "macro_f1":
        return np.mean(2 * hit.sum(0) / np.maximum(2 * hit.sum(0) + wrong.sum(0), 1))
    union = hit.sum(1) + wrong.sum(1)
    return np.mean(np.where(union == 0, 1.0, hit.sum(1) / np.maximum(union, 1)))


def all_cuts(scores):
    return np.append(np.unique(scores), np.inf)


@pytest.mark.parametrize("rule", SINGLE_RULES)
@given(problem=problems(unknown=True))
@settings(max_examples=40, deadline=None)
def test_one_threshold_is_the_best_of_all_cuts_but_for_chance(rule, problem):
    Y, scores = problem
    if rule != "hamming" and not (Y == 1).any():
        return
    reached = quality(rule, Y, fit_threshold(rule, Y, scores).apply(scores))
    cuts = [(scores >= cut).astype(int) for cut in all_cuts(scores)]
    best = max(quality(rule, Y, predicted) for predicted in cuts)
    chance = 0.0
    if rule in ("micro_f1", "hamming"):
        # Part of the standard deviation of the errors of the best cut that is furthest off.
        known = ~np.isnan(Y)
        of_best = [P for P in cuts if quality(rule, Y, P) >= best - 1e-12]
        errors = max(np.count_nonzero((Y != P) & known) for P in of_best)
        size = min(np.count_nonzero((P == 1) & known) + np.count_nonzero(Y == 1) for P in of_best)
        chance = 0.4 * errors**0.5 / (size if rule == "micro_f1" else 1)
    assert best - chance - 1e-12 <= reached <= best + 1e-12


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("rule", ["macro_f1", "jaccard"])
def test_the_sums_over_labels_or_rows_are_highest_at_the_best_of_all_cuts(rule, share):
    """Rows as they are, of which many have no label: there it may be best to predict nothing."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        Y = (rng.random((MIN_ROWS, 3)) < share).astype(float)
        Y[0, 0] = 1
        scores = 0.4 * Y + rng.normal(size=Y.shape)
        reached = quality(rule, Y, fit_threshold(rule, Y, scores).apply(scores))
        best = max(quality(rule, Y, (scores >= cut).astype(int)) for cut in all_cuts(scores))
        assert reached == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("rule", ["micro_f1", "hamming"])
def test_the_middle_of_what_is_as_good_does_better_on_other_rows(rule):
    # Jagged curves: the highest point of a few rows is not that of the others.
    measure = {"micro_f1": micro_f1, "hamming": lambda Y, P: -hamming_loss(Y, P)}[rule]
    steady, highest = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(2000, 3))
        Y = (scores + 1.5 * rng.normal(size=scores.shape) > 0.8).astype(int)
        mine, others = slice(0, 60), slice(60, None)
        cut = max(
            np.unique(scores[mine]), key=lambda c: measure(Y[mine], (scores[mine] >= c).astype(int))
        )
        highest.append(measure(Y[others], (scores[others] >= cut).astype(int)))
        fitted = fit_threshold(rule, Y[mine], scores[mine])
        steady.append(measure(Y[others], fitted.apply(scores[others])))
    assert np.mean(steady) > np.mean(highest)


def test_the_qualities_of_these_tests_are_the_measures_of_the_library():
    rng = np.random.default_rng(0)
    Y, P = (rng.random((60, 4)) < 0.3).astype(float), (rng.random((60, 4)) < 0.3).astype(int)
    assert quality("micro_f1", Y, P) == pytest.approx(micro_f1(Y, P))
    assert quality("macro_f1", Y, P) == pytest.approx(macro_f1(Y, P))
    assert quality("jaccard", Y, P) == pytest.approx(jaccard(Y, P, zero_division=1.0))
    assert quality("hamming", Y, P) == pytest.approx(-hamming_loss(Y, P) * Y.size)


@given(problem=problems(unknown=True))
@settings(max_examples=40, deadline=None)
def test_per_label_is_the_best_of_all_cuts_of_each_label(problem):
    Y, scores = problem
    predicted = fit_threshold("per_label", Y, scores).apply(scores)
    for j in range(Y.shape[1]):
        if (Y[:, j] == 1).sum() < 5:
            continue
        column, own = Y[:, [j]], scores[:, [j]]
        best = max(quality("micro_f1", column, (own >= cut).astype(int)) for cut in all_cuts(own))
        assert quality("micro_f1", column, predicted[:, [j]]) == pytest.approx(best, abs=1e-12)


@given(problem=problems())
@settings(max_examples=40, deadline=None)
def test_per_label_is_at_least_as_good_as_the_best_single_threshold(problem):
    Y, scores = problem
    if (Y == 1).sum(axis=0).min() < 5:
        return
    own = quality("macro_f1", Y, fit_threshold("per_label", Y, scores).apply(scores))
    single = quality("macro_f1", Y, fit_threshold("macro_f1", Y, scores).apply(scores))
    assert own >= single - 1e-12


def test_per_label_uses_the_common_threshold_for_rare_labels():
    rng = np.random.default_rng(1)
    Y = (rng.random((200, 3)) < 0.3).astype(float)
    Y[:, 2] = 0
    Y[:4, 2] = 1  # one fewer than needed
    scores = 0.3 * Y + 0.5 * rng.random(Y.shape)
    common = fit_threshold("micro_f1", Y, scores).offset
    fitted = fit_threshold("per_label", Y, scores)
    assert fitted.per_label(3)[2] == common == fitted.offset
    Y[4, 2] = 1
    assert (
        fit_threshold("per_label", Y, scores).per_label(3)[2]
        != fit_threshold("micro_f1", Y, scores).offset
    )


def test_cardinality_is_reproduced_without_ties():
    rng = np.random.default_rng(2)
    for n_rows in (50, 333):
        Y = (rng.random((n_rows, 7)) < 0.25).astype(float)
        scores = rng.normal(size=Y.shape)
        predicted = fit_threshold("cardinality", Y, scores).apply(scores)
        assert predicted.sum() == Y.sum()


@given(problem=problems(unknown=True))
@settings(max_examples=40, deadline=None)
def test_cardinality_is_as_near_as_ties_allow(problem):
    Y, scores = problem
    known = ~np.isnan(Y)
    predicted = fit_threshold("cardinality", Y, scores).apply(scores)
    wanted = (Y == 1).sum()
    nearest = min(abs((known & (scores >= cut)).sum() - wanted) for cut in all_cuts(scores))
    assert abs(predicted[known].sum() - wanted) == nearest


@given(problem=problems(min_labels=2))
@settings(max_examples=40, deadline=None)
def test_top_r_rows_have_r_labels_and_none_better_is_left_out(problem):
    Y, scores = problem
    fitted = fit_threshold("top_r", Y, scores)
    predicted = fitted.apply(scores)
    r = max(1, int(np.floor(Y.sum() / len(Y) + 0.5)))
    assert (predicted.sum(axis=1) == r).all()
    chosen = np.where(predicted == 1, scores, np.inf).min(axis=1)
    left = np.where(predicted == 0, scores, -np.inf).max(axis=1)
    assert (chosen >= left).all()
    assert np.isnan(fitted.per_label(Y.shape[1])).all()


def test_linear_separates_rows_whose_thresholds_are_linear():
    rng = np.random.default_rng(3)
    n_rows = 120
    # Rows on very different levels: no single threshold can separate them.
    level, gap = rng.normal(scale=10, size=(2, n_rows, 1))
    gap = np.abs(gap) + 0.1
    scores = np.hstack([level + gap, level - gap, level + 2 * gap, level - 3 * gap])
    Y = np.tile([1.0, 0.0, 1.0, 0.0], (n_rows, 1))
    fitted = fit_threshold("linear", Y, scores)
    assert isinstance(fitted, LinearThreshold)
    np.testing.assert_array_equal(fitted.apply(scores), Y)
    assert fit_threshold("hamming", Y, scores).apply(scores).tolist() != Y.tolist()


@given(problem=problems(unknown=True, min_labels=2))
@settings(max_examples=40, deadline=None)
def test_linear_targets_make_the_fewest_errors_of_each_row(problem):
    from splmll.thresholds import _row_thresholds

    Y, scores = problem
    known = ~np.isnan(Y)
    targets = _row_thresholds(scores, Y == 1, known, 0.1)
    for y, s, t in zip(Y, scores, targets, strict=True):
        is_known = ~np.isnan(y)
        if not is_known.any():
            assert np.isnan(t)
            continue
        y, s = y[is_known], s[is_known]
        errors = [np.sum((s >= cut) != y) for cut in all_cuts(s)]
        assert np.sum((s >= t) != y) == min(errors)
        assert not np.isin(t, s)  # an interval's inside, so both strict forms agree


def test_linear_survives_scores_that_sum_to_one():
    rng = np.random.default_rng(4)
    scores = rng.dirichlet(np.ones(5), size=100)
    Y = (scores > 0.25).astype(float)
    fitted = fit_threshold("linear", Y, scores)
    assert np.isfinite(fitted.weights).all()
    assert hamming_loss(Y, fitted.apply(scores)) < 0.15


def test_unknown_labels_count_nowhere():
    rng = np.random.default_rng(5)
    Y = (rng.random((150, 4)) < 0.3).astype(float)
    scores = Y * 0.3 + rng.random(Y.shape)
    hidden = rng.random(Y.shape) < 0.3
    Y[hidden] = np.nan
    other = scores.copy()
    other[hidden] = rng.normal(scale=100, size=hidden.sum())
    for rule in ("micro_f1", "macro_f1", "hamming", "jaccard", "per_label", "cardinality"):
        np.testing.assert_array_equal(
            fit_threshold(rule, Y, scores).per_label(4), fit_threshold(rule, Y, other).per_label(4)
        )


@pytest.mark.parametrize("rule", RULES)
def test_sparse_labels_give_the_same_rule(rule):
    rng = np.random.default_rng(6)
    Y = (rng.random((80, 5)) < 0.3).astype(float)
    Y[3, 2] = Y[7, 0] = np.nan
    scores = Y.round() * 0.2 + rng.random(Y.shape)
    scores = np.nan_to_num(scores)
    dense = fit_threshold(rule, Y, scores)
    compact = fit_threshold(rule, sparse.csr_array(Y), scores)
    assert dense.offset == compact.offset
    np.testing.assert_array_equal(dense.apply(scores), compact.apply(scores))


@pytest.mark.parametrize("rule", RULES)
def test_few_rows_keep_the_default(rule):
    rng = np.random.default_rng(7)
    Y = (rng.random((MIN_ROWS, 3)) < 0.4).astype(float)
    scores = rng.random(Y.shape)
    assert fit_threshold(rule, Y[:-1], scores[:-1], default=0.3) == GlobalThreshold(0.3)
    assert fit_threshold(rule, Y, scores, default=0.3) != GlobalThreshold(0.3)


@pytest.mark.parametrize("rule", ["micro_f1", "macro_f1", "jaccard", "per_label"])
def test_no_relevant_label_keeps_the_default(rule):
    Y, scores = np.zeros((60, 2)), np.linspace(0, 1, 120).reshape(60, 2)
    np.testing.assert_array_equal(fit_threshold(rule, Y, scores).per_label(2), [0.5, 0.5])


@pytest.mark.parametrize("rule", RULES)
def test_nothing_known_gives_a_usable_rule(rule):
    scores = np.linspace(0, 1, 120).reshape(60, 2)
    fitted = fit_threshold(rule, np.full((60, 2), np.nan), scores)
    assert fitted.apply(scores).shape == scores.shape
    assert fitted.offset == 0.5


@pytest.mark.parametrize("rule", [*RULES, 0.5])
def test_never_empty_changes_empty_rows_only(rule):
    rng = np.random.default_rng(8)
    Y = (rng.random((90, 4)) < 0.3).astype(float)
    scores = 0.2 * Y + 0.7 * rng.random(Y.shape)
    scores[:5] -= 1.0
    plain = fit_threshold(rule, Y, scores).apply(scores)
    fitted = fit_threshold(rule, Y, scores, never_empty=True)
    full = fitted.apply(scores)
    empty = ~plain.any(axis=1)
    np.testing.assert_array_equal(full[~empty], plain[~empty])
    np.testing.assert_array_equal(full[empty].sum(axis=1), 1)
    np.testing.assert_array_equal(full[empty].argmax(axis=1), scores[empty].argmax(axis=1))
    assert isinstance(fitted, NeverEmpty)
    assert fitted.offset == fit_threshold(rule, Y, scores).offset


@pytest.mark.parametrize("rule", RULES)
def test_one_label_is_cut_by_a_single_threshold(rule):
    rng = np.random.default_rng(9)
    Y = (rng.random((90, 1)) < 0.3).astype(float)
    scores = 0.5 * Y + 0.4 * rng.random(Y.shape)
    fitted = fit_threshold(rule, Y, scores, never_empty=True)
    np.testing.assert_array_equal(fitted.apply(scores), Y)
    np.testing.assert_array_equal(fitted.per_label(1), [fitted.offset])


@pytest.mark.parametrize("rule", SINGLE_RULES + ("cardinality",))
def test_the_offset_is_exceeded_exactly_where_labels_are_predicted(rule):
    rng = np.random.default_rng(10)
    for density in (0.0, 0.3, 1.0):
        Y = (rng.random((60, 3)) < density).astype(float)
        scores = rng.integers(0, 6, size=Y.shape) / 5.0
        fitted = fit_threshold(rule, Y, scores)
        np.testing.assert_array_equal(scores - fitted.offset > 0, fitted.apply(scores) == 1)


def test_neighbouring_floating_point_scores_are_separated():
    low = np.float64(0.1)
    high = np.nextafter(low, 1)
    scores = np.where(np.arange(60) % 2, high, low)[:, None]
    Y = (scores == high).astype(float)
    np.testing.assert_array_equal(fit_threshold("hamming", Y, scores).apply(scores), Y)
    single = scores.astype(np.float32)
    single[Y == 1] = np.nextafter(single[0, 0], np.float32(1))
    np.testing.assert_array_equal(fit_threshold("micro_f1", Y, single).apply(single), Y)


def test_thresholds_are_midpoints():
    scores = np.repeat([[0.2], [0.6], [0.8]], 30, axis=0)
    Y = (scores > 0.5).astype(float)
    for rule in (*SINGLE_RULES, "per_label", "cardinality"):
        assert fit_threshold(rule, Y, scores).per_label(1) == pytest.approx([0.4])


@pytest.mark.parametrize("rule", RULES)
def test_shifting_and_scaling_scores_changes_no_prediction(rule):
    rng = np.random.default_rng(11)
    Y = (rng.random((100, 4)) < 0.4).astype(float)
    scores = Y * 0.5 + rng.random(Y.shape)
    moved = 8 * scores - 3
    np.testing.assert_array_equal(
        fit_threshold(rule, Y, scores).apply(scores), fit_threshold(rule, Y, moved).apply(moved)
    )


def test_inputs_are_left_alone():
    rng = np.random.default_rng(12)
    Y = (rng.random((60, 3)) < 0.4).astype(float)
    Y[0, 0] = np.nan
    scores = rng.random(Y.shape)
    before = Y.copy(), scores.copy()
    for rule in RULES:
        fit_threshold(rule, Y, scores, never_empty=True).apply(scores)
    np.testing.assert_array_equal(Y, before[0])
    np.testing.assert_array_equal(scores, before[1])


def test_fixed_rules_need_no_data_to_learn_from():
    scores = np.array([[0.1, 0.4], [0.4, 0.9]])
    fitted = fit_threshold(0.4, np.zeros((2, 2)), scores)
    assert fitted == GlobalThreshold(0.4)
    assert fitted.apply(scores).tolist() == [[0, 1], [1, 1]]
    assert fit_threshold(0, np.zeros((2, 2)), scores) == GlobalThreshold(0.0)


def test_errors_say_what_to_do():
    Y, scores = np.zeros((60, 2)), np.zeros((60, 2))
    with pytest.raises(ValueError, match="'per_label'"):
        fit_threshold("best", Y, scores)
    with pytest.raises(ValueError, match="one column per label"):
        fit_threshold("hamming", Y[:, :1], scores)
    with pytest.raises(ValueError, match="finite scores"):
        fit_threshold("hamming", Y, np.full((60, 2), np.nan))
    with pytest.raises(ValueError, match="finite number"):
        fit_threshold(np.inf, Y, scores)


def test_equal_scores_are_ranked_by_label_order_in_top_r():
    assert TopRanked(2).apply(np.ones((1, 4))).tolist() == [[1, 1, 0, 0]]


def test_the_best_label_alone_unless_more_are_asked_for():
    scores = np.random.default_rng(13).normal(size=(30, 4))
    np.testing.assert_array_equal(TopRanked().apply(scores), scores == scores.max(axis=1)[:, None])


def test_returned_thresholds_can_be_changed_without_changing_the_rule():
    rule = PerLabelThreshold(np.array([0.2, 0.6]))
    rule.per_label(2)[:] = 9
    assert rule.per_label(2).tolist() == [0.2, 0.6]
