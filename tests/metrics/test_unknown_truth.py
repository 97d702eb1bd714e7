"""True labels that are not known: every measure is what the known cells alone give."""

from math import nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from splmll.metrics import MEASURES, SCORERS, evaluate, ndcg_at_k, precision_at_k, ranking_loss

RANKING = [name for name, measure in MEASURES.items() if measure.needs == "scores"]
OF_ROWS = ("jaccard", "subset_accuracy")
OF_LABELS = ("macro_f1", "macro_f1_of_means")
OF_CELLS = ("micro_f1", "hamming_loss")


@st.composite
def partly_known(draw):
    """Labels with any share of unknown cells, tied scores, and predictions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 10)), draw(st.integers(5, 30))
    Y = (rng.random(shape) < draw(st.sampled_from([0.1, 0.4, 0.9]))).astype(float)
    Y[rng.random(shape) < draw(st.sampled_from([0.0, 0.2, 0.9]))] = np.nan
    Y[rng.random(shape[0]) < 0.1] = np.nan
    Y[:, rng.random(shape[1]) < 0.1] = np.nan
    scores = rng.integers(-3, draw(st.sampled_from([0, 3, 1000])), shape, endpoint=True) / 3
    return Y, scores, (rng.random(shape) < 0.4).astype(int)


def mean(values):
    values = [value for value in values if not np.isnan(value)]
    return np.mean(values) if values else nan


def of_known_labels(name, y, scores, options):
    """A ranking measure of one row from which the unknown labels were cut out."""
    known = ~np.isnan(y)
    if not known.any():
        return nan
    truth, of_known = [y[known]], [scores[known]]
    if "_at_" not in name:
        return MEASURES[name].function(truth, of_known, **options)
    at_k = precision_at_k if name.startswith("precision") else ndcg_at_k
    return at_k(truth, of_known, k=min(int(name[-1]), int(known.sum())), **options)


@settings(max_examples=100, deadline=None)
@given(partly_known(), st.sampled_from(["error", "half"]), st.sampled_from(["perfect", "skip"]))
def test_ranking_measures_leave_unknown_labels_out_of_the_row(problem, ties, empty):
    Y, scores, _ = problem
    options = {"ties": ties, "empty": empty}
    for name in RANKING:
        expected = mean([of_known_labels(name, y, s, options) for y, s in zip(Y, scores)])
        for truth in (Y, sparse.csr_array(Y)):
            found = MEASURES[name].function(truth, scores, **options)
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True), name


@settings(max_examples=100, deadline=None)
@given(partly_known(), st.sampled_from([0.0, 1.0, nan]))
def test_measures_of_labels_count_known_cells_only(problem, zero_division):
    Y, _, P = problem
    known = ~np.isnan(Y)
    for name in (*OF_ROWS, *OF_CELLS, "macro_f1"):
        measure = MEASURES[name].function
        options = (
            {} if name in ("hamming_loss", "subset_accuracy") else {"zero_division": zero_division}
        )
        if name in OF_CELLS:
            # All known cells as one row.
            parts = [(Y[known], P[known])]
        elif name in OF_ROWS:
            parts = [(y[k], p[k]) for y, p, k in zip(Y, P, known)]
        else:
            parts = [(y[k], p[k]) for y, p, k in zip(Y.T, P.T, known.T)]
        values = []
        for y, p in parts:
            column = name == "macro_f1"
            shape = (-1, 1) if column else (1, -1)
            if y.size:
                values.append(measure(y.reshape(shape), p.reshape(shape), **options))
        assert measure(Y, P, **options) == pytest.approx(mean(values), abs=1e-12, nan_ok=True), name


def test_by_hand():
    """Two labels of the second row are not known; the third row is not known at all."""
    Y = [[1, 0, 0, 1], [nan, 1, 0, nan], [nan] * 4]
    scores = [[4, 3, 2, 1], [9, 2, 3, 9], [1, 2, 3, 4]]
    P = [[1, 1, 0, 0], [1, 1, 0, 1], [1, 1, 1, 1]]
    found = evaluate(Y, scores, P, list(MEASURES)[:10] + ["precision_at_3"])
    assert found == pytest.approx(
        {
            # Row 1: of four pairs two are wrong. Row 2: of one pair one.
            "ranking_loss": (2 / 4 + 1) / 2,
            "hamming_loss": 2 / 6,
            # Ranks 1 and 4 of four labels; rank 2 of two.
            "average_precision": ((1 + 2 / 4) / 2 + 1 / 2) / 2,
            # True positives 2, false positives 1, false negatives 1.
            "micro_f1": 4 / 6,
            "macro_f1": (1 + 2 / 3 + 0 + 0) / 4,
            "macro_f1_of_means": 2 * (1.5 / 4) * (2 / 4) / (1.5 / 4 + 2 / 4),
            "subset_accuracy": 1 / 2,
            "jaccard": (1 / 3 + 1) / 2,
            "one_error": 1 / 2,
            "coverage": (4 + 2) / 2,
            # Only two labels of row 2 are there to be looked at.
            "precision_at_3": (1 / 3 + 1 / 2) / 2,
        }
    )


def test_scores_of_unknown_labels_do_not_matter():
    Y = [[1, 0, nan]]
    for of_unknown in (-np.inf, 0.2, 0.5, np.inf):
        assert ranking_loss(Y, [[0.5, 0.2, of_unknown]]) == 0
        assert ranking_loss(Y, [[0.2, 0.5, of_unknown]]) == 1
    assert ranking_loss(Y, np.array([[2, 1, 255]], dtype=np.uint8)) == 0


def test_nothing_known_has_no_measure():
    Y, scores, P = [[nan, nan]], [[0.5, 0.2]], [[1, 0]]
    two = [name for name in MEASURES if "_at_3" not in name and "_at_5" not in name]
    assert all(np.isnan(value) for value in evaluate(Y, scores, P, two).values())


def test_nullable_columns_and_scorers():
    frame = pd.DataFrame({"a": [1, None], "b": [0, 1]}).astype("Int64")
    assert ranking_loss(frame, [[2, 1], [1, 2]]) == 0
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = (X > 0).astype(float)
    model = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    wrong = Y.copy()
    wrong[:30] = 1 - Y[:30]
    unknown = np.where(wrong == Y, Y, np.nan)
    assert SCORERS["ranking_loss"](model, X, unknown) == SCORERS["ranking_loss"](
        model, X[30:], Y[30:]
    )


def test_predictions_have_to_be_known():
    with pytest.raises(ValueError, match=r"Y_pred has NaN .*only true labels may be unknown"):
        evaluate([[1, nan]], None, [[1, nan]], ["micro_f1"])
