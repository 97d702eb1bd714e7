"""LabelPrecisionRecallDisplay: the numbers of every label, and which labels are drawn."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import precision_recall_fscore_support
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll.methods import BinaryRelevance
from splmll.plots import LabelPrecisionRecallDisplay

NAMES = ["sea", "boat", "fog", "snow"]
# sea: 2 of 3 found, 1 wrong; boat: all; fog: never predicted; snow: never true, predicted once.
TRUE = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]])
PREDICTED = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 0, 0]])


@pytest.mark.parametrize(
    "make",
    [np.asarray, sparse.csr_array, pd.DataFrame, lambda Y: Y.tolist()],
    ids=["array", "sparse", "frame", "list"],
)
def test_numbers_by_hand(make: Any) -> None:
    display = LabelPrecisionRecallDisplay.from_predictions(
        make(TRUE), make(PREDICTED), label_names=NAMES
    )
    table = display.table
    assert list(table.index) == ["boat", "sea", "fog", "snow"]  # by F1, then by rows
    assert_allclose(table["precision"], [1, 2 / 3, np.nan, 0])
    assert_allclose(table["recall"], [1, 2 / 3, 0, np.nan])
    assert_allclose(table["f1"], [1, 2 / 3, 0, 0])
    assert_array_equal(table["rows"], [2, 3, 1, 0])
    assert_array_equal(table["predicted"], [2, 3, 0, 1])


def test_numbers_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    Y, P = (rng.random((2, 200, 7)) < 0.3).astype(int)
    table = LabelPrecisionRecallDisplay.from_predictions(Y, P).table
    expected = precision_recall_fscore_support(Y, P, average=None)
    order = table.index.astype(int)
    for column, values in zip(["precision", "recall", "f1", "rows"], expected):
        assert_allclose(table[column], values[order])
    assert table["f1"].is_monotonic_decreasing


def test_markers_and_names_are_those_of_the_table() -> None:
    display = LabelPrecisionRecallDisplay.from_predictions(TRUE, PREDICTED, label_names=NAMES)
    places = dict(zip(display.ax_.get_yticks(), display.ax_.get_yticklabels()))
    for kind in ("precision", "recall", "f1"):
        points = np.ma.filled(getattr(display, f"{kind}_").get_offsets(), np.nan)
        assert_allclose(points[:, 0], display.shown[kind])
        written = [places[place].get_text() for place in range(4)]
        assert written == ["boat (2)", "sea (3)", "fog (1)", "snow (0)"]
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the best label, at place 0, is at the top
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["F1", "precision", "recall"]


def test_of_many_labels_the_best_and_the_worst_are_drawn() -> None:
    # Label j is found in j of its rows; labels 0, 1 and 2 are never found, 1 is the most frequent.
    Y = np.zeros((60, 20), dtype=int)
    P = np.zeros_like(Y)
    for label in range(20):
        Y[: 20 + 10 * (label == 1), label] = 1
        P[: label if label > 2 else 0, label] = 1
    display = LabelPrecisionRecallDisplay.from_predictions(Y, P, max_labels=5)
    assert list(display.shown.index) == ["19", "18", "17", "0", "1"]
    assert len(display.table) == 20
    assert_allclose(display.recall_.get_offsets()[:, 0], display.shown["recall"])
    assert_allclose(display.recall_.get_offsets()[:, 1], [0, 1, 2, 4, 5])
    assert [text.get_text() for text in display.ax_.texts] == ["... 15 more ..."]
    whole = LabelPrecisionRecallDisplay.from_predictions(Y, P, max_labels=20)
    assert len(whole.shown) == 20
    assert not whole.ax_.texts


def test_equally_good_labels_are_drawn_once() -> None:
    Y = np.ones((3, 9), dtype=int)
    display = LabelPrecisionRecallDisplay.from_predictions(Y, np.zeros_like(Y), max_labels=4)
    assert display.shown.index.is_unique
    assert len(display.shown) == 4


def test_unknown_cells_are_left_out() -> None:
    hidden = TRUE.astype(float)
    hidden[3, 0] = np.nan  # the wrong prediction of sea
    display = LabelPrecisionRecallDisplay.from_predictions(hidden, PREDICTED, label_names=NAMES)
    assert display.table.loc["sea", ["precision", "recall"]].tolist() == [1.0, 2 / 3]
    assert display.table.loc["sea", "predicted"] == 2


def test_labels_without_anything_to_show_stay_in_the_table() -> None:
    Y, P = np.array([[1, 0], [0, 0]]), np.array([[1, 0], [1, 0]])
    display = LabelPrecisionRecallDisplay.from_predictions(Y, P)
    assert list(display.shown.index) == ["0"]
    assert np.isnan(display.table.loc["1", "f1"])


def test_tables_are_matched_by_name_and_not_changed() -> None:
    Y, P = (pd.DataFrame(cells, columns=NAMES) for cells in (TRUE, PREDICTED))
    turned = P[NAMES[::-1]]
    before = turned.copy()
    display = LabelPrecisionRecallDisplay.from_predictions(Y, turned)
    expected = LabelPrecisionRecallDisplay.from_predictions(TRUE, PREDICTED, label_names=NAMES)
    pd.testing.assert_frame_equal(display.table, expected.table)
    pd.testing.assert_frame_equal(turned, before)
    assert_array_equal(Y, TRUE)


def test_from_an_estimator_inside_a_pipeline() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    Y = pd.DataFrame((X @ rng.normal(size=(6, 4)) > 0.5).astype(int), columns=NAMES)
    model = make_pipeline(StandardScaler(), BinaryRelevance()).fit(X[:150], Y[:150])
    figure, ax = plt.subplots()
    # The names are those the model knows.
    display = LabelPrecisionRecallDisplay.from_estimator(model, X[150:], Y[150:].to_numpy(), ax=ax)
    expected = LabelPrecisionRecallDisplay.from_predictions(Y[150:], model.predict(X[150:]))
    pd.testing.assert_frame_equal(display.table, expected.table)
    assert (display.ax_, display.figure_) == (ax, figure)


def test_a_vector_is_one_label() -> None:
    y = pd.Series([1, 1, 0, 0], name="sea")
    display = LabelPrecisionRecallDisplay.from_predictions(y, [1, 0, 0, 0])
    assert display.table.loc["sea", ["precision", "recall"]].tolist() == [1.0, 0.5]


def test_errors_say_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"Predictions of shape .* one column per label"):
        LabelPrecisionRecallDisplay.from_predictions(TRUE, PREDICTED[:, :2])
    with pytest.raises(ValueError, match="Labels must be 0 or 1"):
        LabelPrecisionRecallDisplay.from_predictions(TRUE, PREDICTED * 0.5)
    with pytest.raises(ValueError, match="at least the best and the worst"):
        LabelPrecisionRecallDisplay.from_predictions(TRUE, PREDICTED, max_labels=1)
    with pytest.raises(ValueError, match="give rows with labels"):
        LabelPrecisionRecallDisplay.from_predictions(0 * TRUE, 0 * TRUE)
