"""Pictures with their labels: what colour a label gets and what is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from numpy.testing import assert_array_equal
from scipy import sparse

from splmll import SPLMLL
from splmll.plots import PredictionsDisplay

NAMES = ["sea", "boat", "fog", "snow"]


def test_every_combination_has_its_colour() -> None:
    # Every case of true, predicted and landmark, each a label of its own.
    cases = [(t, p, m) for t in (0, 1) for p in (0, 1) for m in (0, 1)]
    true, predicted, landmark = np.array(cases).T
    names = [f"{t}{p}{m}" for t, p, m in cases]
    display = PredictionsDisplay.from_predictions(
        np.zeros((1, 5, 5)), true[None], predicted[None], names, np.flatnonzero(landmark)
    )
    assert dict(display.labels_of(0)) == {
        "111": "landmark",
        "110": "correct",
        "100": "missed",
        "101": "missed",
        "010": "wrong",
        "011": "wrong",
    }
    expected = {"landmark": "red", "correct": "green", "missed": "grey", "wrong": "black"}
    kinds = dict(display.labels_of(0))
    texts = display.axes_[0].texts
    assert len(texts) == 6
    for text in texts:
        assert same_color(text.get_color(), expected[kinds[text.get_text()]])
    legend = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert legend == list(expected)


@pytest.mark.parametrize(
    "make", [np.asarray, sparse.csr_array, pd.DataFrame], ids=lambda m: m.__name__
)
def test_labels_in_every_form(make: Any) -> None:
    true, predicted = np.array([[1, 1, 0, 0]] * 3), np.array([[1, 0, 1, 0]] * 3)
    display = PredictionsDisplay.from_predictions(
        np.zeros((3, 5, 5)), make(true), make(predicted), NAMES, [0], n_columns=2
    )
    assert display.labels_of(2) == [("sea", "landmark"), ("boat", "missed"), ("fog", "wrong")]
    assert len(display.axes_) == 3
    assert len(display.figure_.axes) == 4  # two by two, the last one empty


@pytest.mark.parametrize(
    ("shape", "drawn"),
    [((2, 1, 6, 5), (6, 5)), ((2, 6, 5), (6, 5)), ((2, 3, 6, 5), (6, 5, 3))],
    ids=str,
)
def test_grey_and_coloured_pictures(shape: tuple[int, ...], drawn: tuple[int, ...]) -> None:
    pictures = np.random.default_rng(0).random(shape)
    labels = np.ones((2, 4))
    display = PredictionsDisplay.from_predictions(pictures, labels, labels, NAMES)
    image = display.axes_[1].images[0].get_array()
    assert image.shape == drawn
    channel = pictures[1] if pictures.ndim == 3 else pictures[1, 0]
    assert_array_equal(image if image.ndim == 2 else image[..., 0], channel)
    display.figure_.canvas.draw()


def test_from_an_estimator() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 9))
    Y = (X @ rng.normal(size=(9, 4)) > 0).astype(int)
    named = SPLMLL("linear", n_landmarks=2, random_state=0).fit(X, pd.DataFrame(Y, columns=NAMES))
    display = PredictionsDisplay.from_estimator(
        named, X[:6], Y[:6], pictures=X[:6].reshape(6, 3, 3)
    )
    assert display.label_names == NAMES
    assert {NAMES[j] for j in np.flatnonzero(display.landmarks)} == set(named.landmarks_)
    assert_array_equal(display.predicted, named.predict(X[:6]) == 1)
    numbered = SPLMLL("linear", n_landmarks=2, random_state=0).fit(X, Y)
    display = PredictionsDisplay.from_estimator(
        numbered, X[:6], Y[:6], pictures=X[:6].reshape(6, 3, 3)
    )
    assert display.label_names == ["0", "1", "2", "3"]
    assert_array_equal(np.flatnonzero(display.landmarks), np.sort(numbered.landmarks_))


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="3 pictures, 2 rows of true and 2 of predicted"):
        PredictionsDisplay.from_predictions(
            np.zeros((3, 5, 5)), np.ones((2, 4)), np.ones((2, 4)), NAMES
        )


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_rows_of_features_are_drawn_as_curves(store) -> None:
    rows = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0]])
    Y = np.array([[1, 0], [0, 1]])
    display = PredictionsDisplay.from_predictions(store(rows), Y, Y, ["sea", "boat"])
    for ax, row in zip(display.axes_, rows):
        assert_array_equal(ax.lines[0].get_ydata(), row)
        assert not ax.images
