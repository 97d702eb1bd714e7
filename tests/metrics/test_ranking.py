"""Ranking measures: equal to scikit-learn's, right under ties, and to be trusted on odd rows."""

import itertools
from math import nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import (
    coverage_error,
    label_ranking_average_precision_score,
    label_ranking_loss,
    ndcg_score,
)

from splmll.metrics import (
    _ranks,
    average_precision,
    coverage,
    ndcg_at_k,
    one_error,
    precision_at_k,
    ranking_loss,
)

MEASURES_OF_RANKS = {
    "ranking_loss": ranking_loss,
    "average_precision": average_precision,
    "one_error": one_error,
    "coverage": coverage,
    "precision_at_2": lambda Y, S, **kw: precision_at_k(Y, S, 2, **kw),
    "ndcg_at_2": lambda Y, S, **kw: ndcg_at_k(Y, S, 2, **kw),
}


@st.composite
def tied_problems(draw, min_labels=2, max_labels=40):
    """Labels of any density and scores with few distinct values, so that ties abound."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 12)), draw(st.integers(min_labels, max_labels))
    Y = (rng.random(shape) < draw(st.sampled_from([0.05, 0.3, 0.8]))).astype(int)
    Y[rng.random(shape[0]) < 0.1] = 0
    Y[rng.random(shape[0]) < 0.1] = 1
    scores = rng.integers(0, draw(st.sampled_from([1, 2, 5, 1000])), shape, endpoint=True) / 7
    return Y, scores


def in_every_order(measure, y, scores):
    """Mean of a measure over all ways to break the ties of one row, by brute force."""
    values = []
    for order in itertools.permutations(range(len(y))):
        jitter = np.empty(len(y))
        jitter[list(order)] = np.arange(len(y)) * 1e-6
        values.append(measure([y], [np.asarray(scores) + jitter]))
    return np.mean(values)


@settings(max_examples=150, deadline=None)
@given(tied_problems())
def test_equal_to_scikit_learn(problem):
    Y, scores = problem
    assert ranking_loss(Y, scores) == pytest.approx(label_ranking_loss(Y, scores), abs=1e-12)
    assert average_precision(Y, scores) == pytest.approx(
        label_ranking_average_precision_score(Y, scores), abs=1e-12
    )
    assert coverage(Y, scores) == pytest.approx(coverage_error(Y, scores), abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(tied_problems(), st.integers(1, 6))
def test_ndcg_with_half_ties_is_that_of_scikit_learn(problem, k):
    Y, scores = problem
    Y[Y.sum(axis=1) == 0, 0] = 1  # scikit-learn counts rows without a label as 0
    k = min(k, Y.shape[1])
    expected = ndcg_score(Y, scores, k=k)
    assert ndcg_at_k(Y, scores, k, ties="half") == pytest.approx(expected, abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(tied_problems(), st.booleans())
def test_sorting_and_comparing_give_the_same_counts(problem, strict):
    Y, scores = problem
    relevant_of = {i: np.flatnonzero(row) for i, row in enumerate(Y) if row.any()}
    for row, relevant in relevant_of.items():
        arguments = np.array([row]), scores[[row]], relevant[None, :], strict
        compared, sorted_ = _ranks._by_comparing(*arguments), _ranks._by_sorting(*arguments)
        # Relevant labels come in column order from one and in score order from the other.
        for name in ("at_least", "higher", "relevant_at_least", "relevant_higher"):
            assert sorted(getattr(compared, name)[0]) == sorted(getattr(sorted_, name)[0])


@settings(max_examples=60, deadline=None)
@given(tied_problems(max_labels=5), st.sampled_from(sorted(MEASURES_OF_RANKS)))
def test_half_ties_are_the_mean_over_all_orders(problem, name):
    Y, scores = problem
    measure = MEASURES_OF_RANKS[name]
    expected = in_every_order(measure, Y[0], scores[0])
    assert measure(Y[:1], scores[:1], ties="half") == pytest.approx(expected, abs=1e-12)


def test_tied_relevant_labels_help_each_other_in_average_precision():
    # The worst rank for all of a group is scikit-learn's rule, but not the worst of all orders.
    y, scores = [[0, 0, 1, 1]], [[0.5, 0.5, 0.5, 0.5]]
    assert average_precision(y, scores) == 2 / 4
    assert average_precision(y, [[0.8, 0.7, 0.6, 0.5]]) == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_half_ties_of_average_precision_agree_with_monte_carlo():
    rng = np.random.default_rng(3)
    Y = (rng.random((40, 30)) < 0.3).astype(int)
    scores = rng.integers(0, 4, Y.shape).astype(float)
    drawn = [average_precision(Y, scores + 1e-6 * rng.random(Y.shape)) for _ in range(1500)]
    error = np.std(drawn) / np.sqrt(len(drawn))
    assert average_precision(Y, scores, ties="half") == pytest.approx(np.mean(drawn), abs=5 * error)


@settings(max_examples=80, deadline=None)
@given(tied_problems(), st.sampled_from(sorted(set(MEASURES_OF_RANKS) - {"average_precision"})))
def test_error_ties_are_never_better_than_any_order(problem, name):
    Y, scores = problem
    measure = MEASURES_OF_RANKS[name]
    smaller_is_better = name in ("ranking_loss", "one_error", "coverage")
    sign = -1 if smaller_is_better else 1
    jitter = np.random.default_rng(0).random(Y.shape) * 1e-3
    worst = sign * measure(Y, scores)
    assert worst <= sign * measure(Y, scores, ties="half") + 1e-12
    assert worst <= sign * measure(Y, scores + jitter) + 1e-12


@settings(max_examples=60, deadline=None)
@given(
    tied_problems(), st.sampled_from(sorted(MEASURES_OF_RANKS)), st.sampled_from(["error", "half"])
)
def test_neither_order_of_labels_nor_monotone_scores_matter(problem, name, ties):
    Y, scores = problem
    measure = MEASURES_OF_RANKS[name]
    value = measure(Y, scores, ties=ties)
    columns = np.random.default_rng(1).permutation(Y.shape[1])
    assert measure(Y[:, columns], scores[:, columns], ties=ties) == pytest.approx(value, abs=1e-12)
    assert measure(Y, np.exp2(scores / 200), ties=ties) == pytest.approx(value, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    tied_problems(), st.sampled_from(sorted(MEASURES_OF_RANKS)), st.sampled_from(["error", "half"])
)
def test_skipping_is_measuring_the_other_rows(problem, name, ties):
    Y, scores = problem
    measure = MEASURES_OF_RANKS[name]
    kept = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])
    skipped = measure(Y, scores, ties=ties, empty="skip")
    if kept.any():
        expected = measure(Y[kept], scores[kept], ties=ties)
        assert skipped == pytest.approx(expected, abs=1e-12)
    else:
        assert np.isnan(skipped)


@pytest.mark.parametrize(
    ("name", "no_label", "all_labels"),
    [
        ("ranking_loss", 0, 0),
        ("average_precision", 1, 1),
        ("one_error", 0, 0),
        ("coverage", 0, 3),
        ("precision_at_2", 0, 1),
        ("ndcg_at_2", 1, 1),
    ],
)
def test_rows_that_leave_nothing_to_rank(name, no_label, all_labels):
    scores = [[0.3, 0.1, 0.2]]
    for ties in ("error", "half"):
        assert MEASURES_OF_RANKS[name]([[0, 0, 0]], scores, ties=ties) == no_label
        assert MEASURES_OF_RANKS[name]([[1, 1, 1]], scores, ties=ties) == all_labels


@pytest.mark.parametrize("name", sorted(set(MEASURES_OF_RANKS) - {"precision_at_2", "ndcg_at_2"}))
def test_one_label_only(name):
    Y, scores = np.array([[1], [0]]), np.array([[0.2], [0.8]])
    best = {"ranking_loss": 0, "average_precision": 1, "one_error": 0, "coverage": 0.5}[name]
    assert MEASURES_OF_RANKS[name](Y, scores) == best
    assert np.isnan(MEASURES_OF_RANKS[name](Y, scores, empty="skip"))
    assert ndcg_at_k(Y, scores, 1) == 1
    assert precision_at_k(Y, scores, 1) == 0.5


def test_worked_example():
    # Ranking: label 2, then 0 and 3 tied, then 1; relevant are 0 and 1.
    y, scores = [[1, 1, 0, 0]], [[0.5, 0.1, 0.9, 0.5]]
    assert ranking_loss(y, scores) == 4 / 4
    assert ranking_loss(y, scores, ties="half") == 3.5 / 4
    assert average_precision(y, scores) == pytest.approx((1 / 3 + 2 / 4) / 2)
    assert average_precision(y, scores, ties="half") == pytest.approx(
        ((1 / 2 + 1 / 3) / 2 + 2 / 4) / 2
    )
    assert coverage(y, scores) == 4
    assert one_error(y, scores) == 1
    assert precision_at_k(y, scores, 2) == 0
    assert precision_at_k(y, scores, 2, ties="half") == 0.25


@pytest.mark.parametrize("name", sorted(MEASURES_OF_RANKS))
def test_all_forms_of_input_give_the_same(name):
    rng = np.random.default_rng(5)
    Y = rng.random((30, 6)) < 0.4
    scores = rng.integers(0, 9, Y.shape)
    measure = MEASURES_OF_RANKS[name]
    expected = measure(Y, scores)
    names = list("abcdef")
    forms = [
        Y.astype(np.int8),
        Y.astype(float),
        np.asfortranarray(Y.astype(int)),
        Y.tolist(),
        sparse.csr_array(Y),
        sparse.csc_matrix(Y.astype(float)),
        sparse.coo_array(Y.astype(int)),
        sparse.lil_array(Y.astype(int)),
        pd.DataFrame(Y, columns=names),
        pd.DataFrame(Y, columns=names).astype("boolean"),
        pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(Y.astype(int)), columns=names),
    ]
    for form in forms:
        assert measure(form, scores) == expected
    for form in (scores.astype(np.float32), scores.astype(np.float16), scores.tolist()):
        assert measure(Y, form) == expected
    assert measure(forms[8], pd.DataFrame(scores, columns=names)) == expected


def test_stored_zeros_are_zeros_and_nothing_is_modified():
    Y = sparse.csr_array(np.array([[1, 0, 1], [0, 1, 0]]))
    with_zeros = sparse.csr_array(
        (np.array([1, 0, 1, 1, 0]), np.array([2, 1, 0, 1, 0]), np.array([0, 3, 5])), shape=(2, 3)
    )
    before = with_zeros.indices.copy(), with_zeros.data.copy()
    scores = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    assert ranking_loss(with_zeros, scores) == ranking_loss(Y, scores)
    np.testing.assert_array_equal(with_zeros.indices, before[0])
    np.testing.assert_array_equal(with_zeros.data, before[1])


def test_infinite_scores_are_ranked():
    y = [[1, 0, 0]]
    assert ranking_loss(y, [[np.inf, 0, -np.inf]]) == 0
    assert ranking_loss(y, [[-np.inf, 0, -np.inf]]) == 1
    assert ranking_loss(y, [[-np.inf, 0, -np.inf]], ties="half") == 0.75


def test_many_rows_and_labels_go_through_in_chunks():
    rng = np.random.default_rng(7)
    Y = rng.random((900, 700)) < 0.02
    Y[::50] = rng.random((18, 700)) < 0.4  # some rows are sorted, most are compared
    scores = rng.random(Y.shape).round(2)
    assert ranking_loss(Y, scores) == pytest.approx(label_ranking_loss(Y, scores), abs=1e-12)
    by_row = [ranking_loss(Y[i : i + 1], scores[i : i + 1], ties="half") for i in range(0, 900, 9)]
    assert ranking_loss(Y[::9], scores[::9], ties="half") == pytest.approx(np.mean(by_row))


@pytest.mark.parametrize(
    ("Y", "scores", "message"),
    [
        ([[1, 0]], [[0.1, 0.2, 0.3]], r"shape \(1, 2\) but scores has shape \(1, 3\)"),
        ([[1, 0]], [[0.1, nan]], "scores has NaN .*row 0, column 1"),
        ([[1, 0], [0, 2]], [[0.1, 0.2]] * 2, "value 2 .*row 1, column 1"),
        ([[1, -1]], [[0.1, 0.2]], "value -1 .*row 0, column 1"),
        (sparse.csr_array([[0, 0, 0], [0, 0, 3]]), np.zeros((2, 3)), "value 3 .*row 1, column 2"),
        ([1, 0], [0.1, 0.2], r"one dimension.*reshape\(-1, 1\)"),
        ([[[1]]], [[0.1]], "3 dimensions"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "at least one row"),
        ([["a", "b"]], [[0.1, 0.2]], "not a matrix of numbers"),
        ([[1, 0]], sparse.csr_array([[0.1, 0.2]]), "must be dense"),
        (
            pd.DataFrame([[1, 0]], columns=["a", "b"]),
            pd.DataFrame([[0.1, 0.2]], columns=["b", "a"]),
            "another order",
        ),
    ],
)
def test_errors_say_what_is_wrong(Y, scores, message):
    with pytest.raises(ValueError, match=message):
        ranking_loss(Y, scores)


def test_wrong_options_are_refused():
    y, scores = [[1, 0]], [[0.1, 0.2]]
    with pytest.raises(ValueError, match="ties must be"):
        ranking_loss(y, scores, ties="random")
    with pytest.raises(ValueError, match="empty must be"):
        average_precision(y, scores, empty="drop")
    for k in (0, 3, 1.5, True):
        with pytest.raises(ValueError, match="k must be an integer from 1 to 2"):
            precision_at_k(y, scores, k)
        with pytest.raises(ValueError, match="k must be an integer from 1 to 2"):
            ndcg_at_k(y, scores, k)
