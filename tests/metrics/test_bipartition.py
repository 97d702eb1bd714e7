"""Measures of label sets: equal to scikit-learn's, and clear about 0/0."""

from math import nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as sk

from splmll.metrics import (
    hamming_loss,
    jaccard,
    macro_f1,
    macro_f1_of_means,
    micro_f1,
    subset_accuracy,
)

ZERO_DIVISIONS = [0.0, 1.0, nan]


@st.composite
def predictions(draw):
    """Two 0/1 matrices with empty rows and labels in either of them or in both."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 15)), draw(st.integers(2, 8))
    density = draw(st.sampled_from([0.05, 0.3, 0.9]))
    Y, P = (rng.random((2, *shape)) < density).astype(int)
    return Y, P


def same(ours, theirs):
    assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)


@settings(max_examples=150, deadline=None)
@given(predictions(), st.sampled_from(ZERO_DIVISIONS))
def test_equal_to_scikit_learn(problem, zero_division):
    Y, P = problem
    same(hamming_loss(Y, P), sk.hamming_loss(Y, P))
    same(subset_accuracy(Y, P), sk.accuracy_score(Y, P))
    for ours, average in ((micro_f1, "micro"), (macro_f1, "macro")):
        theirs = sk.f1_score(Y, P, average=average, zero_division=zero_division)
        same(ours(Y, P, zero_division=zero_division), theirs)
    if zero_division == zero_division:
        theirs = sk.jaccard_score(Y, P, average="samples", zero_division=zero_division)
        same(jaccard(Y, P, zero_division=zero_division), theirs)


@settings(max_examples=80, deadline=None)
@given(predictions(), st.sampled_from(ZERO_DIVISIONS))
def test_f1_of_means_is_made_of_macro_precision_and_recall(problem, zero_division):
    Y, P = problem
    how = {"average": "macro", "zero_division": zero_division}
    precision, recall = sk.precision_score(Y, P, **how), sk.recall_score(Y, P, **how)
    expected = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    same(macro_f1_of_means(Y, P, zero_division=zero_division), expected)


@settings(max_examples=60, deadline=None)
@given(predictions())
def test_sparse_and_dense_mix(problem):
    Y, P = problem
    frame = pd.DataFrame(P)
    for measure in (hamming_loss, micro_f1, macro_f1, macro_f1_of_means, subset_accuracy, jaccard):
        expected = measure(Y, P)
        assert measure(sparse.csr_array(Y), P) == expected
        assert measure(Y, sparse.csc_matrix(P)) == expected
        assert measure(sparse.coo_array(Y), sparse.lil_array(P)) == expected
        assert measure(Y.astype(bool), frame) == expected


def test_measures_are_symmetric_or_swap_precision_and_recall():
    Y, P = (np.random.default_rng(2).random((2, 50, 7)) < 0.3).astype(int)
    for measure in (hamming_loss, micro_f1, macro_f1, macro_f1_of_means, subset_accuracy, jaccard):
        assert measure(Y, P) == pytest.approx(measure(P, Y))


def test_the_two_macro_f1_differ():
    # One label is always predicted, the other one rarely.
    Y, P = [[1, 1], [0, 1], [0, 1]], [[1, 1], [1, 0], [1, 0]]
    assert macro_f1(Y, P) == pytest.approx((0.5 + 0.5) / 2)
    precision, recall = (1 / 3 + 1) / 2, (1 + 1 / 3) / 2
    assert macro_f1_of_means(Y, P) == pytest.approx(2 * precision * recall / (precision + recall))


def test_labels_neither_true_nor_predicted():
    Y, P = [[1, 0], [1, 0]], [[1, 0], [0, 0]]
    f1 = 2 / 3
    assert macro_f1(Y, P) == pytest.approx(f1 / 2)
    assert macro_f1(Y, P, zero_division=1.0) == pytest.approx((f1 + 1) / 2)
    assert macro_f1(Y, P, zero_division=nan) == pytest.approx(f1)
    nothing = [[0, 0]]
    assert micro_f1(nothing, nothing) == 0
    assert micro_f1(nothing, nothing, zero_division=1.0) == 1
    for measure in (micro_f1, macro_f1, macro_f1_of_means, jaccard):
        assert np.isnan(measure(nothing, nothing, zero_division=nan))
    assert jaccard(nothing + [[1, 0]], nothing + [[1, 1]], zero_division=nan) == 0.5


def test_one_label_only():
    Y, P = [[1], [0], [1]], [[1], [1], [0]]
    assert hamming_loss(Y, P) == pytest.approx(2 / 3)
    assert micro_f1(Y, P) == macro_f1(Y, P) == macro_f1_of_means(Y, P) == 0.5
    assert subset_accuracy(Y, P) == jaccard(Y, P) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("Y", "P", "message"),
    [
        ([[1, 0]], [[1, 0], [1, 0]], "Y_pred has shape"),
        ([[1, 0]], [[0.7, 0]], "Y_pred has the value 0.7.*threshold"),
        ([[1, 0]], [[nan, 0]], "Y_pred has NaN"),
        ([[1, 0]], sparse.csr_array([[1.0, nan]]), "Y_pred has NaN .*column 1"),
    ],
)
def test_errors_say_what_is_wrong(Y, P, message):
    with pytest.raises(ValueError, match=message):
        hamming_loss(Y, P)


@pytest.mark.parametrize("value", [0.5, "warn", None])
def test_zero_division_is_checked(value):
    with pytest.raises(ValueError, match=r"zero_division must be 0.0, 1.0 or nan"):
        macro_f1([[1]], [[1]], zero_division=value)
