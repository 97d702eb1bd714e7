"""What all displays promise: where they draw, what they take, and that they change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll import SPLMLL
from splmll.methods import MLkNN
from splmll.plots import (
    LabelCompanyDisplay,
    LabelCooccurrenceDisplay,
    LabelGraphDisplay,
    LabelPrecisionRecallDisplay,
    LandmarkHeatmapDisplay,
    PredictionsDisplay,
    ReliabilityDisplay,
    SelectionDisplay,
    ThresholdCurveDisplay,
)
from splmll.plots.display import Display, HeatmapDisplay

NAMES = ["sun", "sea", "sand", "fog"]
MODEL = SPLMLL("linear", n_landmarks=2, random_state=0)


def problem() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    Y = (X @ rng.normal(size=(5, 4)) + rng.normal(size=(120, 4)) > 0.3).astype(int)
    return pd.DataFrame(X, columns=list("abcde")), pd.DataFrame(Y, columns=NAMES)


# What is made of a fitted SPLMLL and of rows, and the numbers that it shows.
FROM_ESTIMATOR: dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    "heat map": lambda m, X, Y: (d := LandmarkHeatmapDisplay.from_estimator(m), d.weights),
    "graph": lambda m, X, Y: (d := LabelGraphDisplay.from_estimator(m), d.edges["weight"]),
    "selection": lambda m, X, Y: (d := SelectionDisplay.from_estimator(m), d.strengths),
    "predictions": lambda m, X, Y: (
        d := PredictionsDisplay.from_estimator(m, X[:4], Y[:4]),
        d.predicted,
    ),
    "reliability": lambda m, X, Y: (d := ReliabilityDisplay.from_estimator(m, X, Y), d.observed),
    "threshold": lambda m, X, Y: (d := ThresholdCurveDisplay.from_estimator(m, X, Y), d.curves),
    "labels": lambda m, X, Y: (d := LabelPrecisionRecallDisplay.from_estimator(m, X, Y), d.table),
}


@pytest.fixture(scope="module")
def fitted() -> tuple[Any, Any, Any, pd.DataFrame]:
    """A pipeline, a search over pipelines, their last step alone, and the rows that it gets."""
    X, Y = problem()
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(clone(scaler), clone(MODEL))
    search = GridSearchCV(clone(pipeline), {"splmll__n_landmarks": [2]}, cv=2)
    scaled = scaler.fit_transform(X)
    return pipeline.fit(X, Y), search.fit(X, Y), clone(MODEL).fit(scaled, Y), scaled


@pytest.mark.parametrize("name", FROM_ESTIMATOR)
def test_tables_pipelines_and_searches(name: str, fitted: tuple[Any, ...]) -> None:
    X, Y = problem()
    pipeline, search, model, scaled = fitted
    rows, labels = X.copy(), Y.copy()
    inside = FROM_ESTIMATOR[name](pipeline, X, Y)[1]
    searched = FROM_ESTIMATOR[name](search, X, Y)[1]
    alone, numbers = FROM_ESTIMATOR[name](model, scaled, Y)
    assert_array_equal(np.asarray(inside), np.asarray(numbers))
    assert_array_equal(np.asarray(searched), np.asarray(numbers))
    pd.testing.assert_frame_equal(X, rows)
    pd.testing.assert_frame_equal(Y, labels)
    for known in ("label_names", "order"):
        assert set(getattr(alone, known, NAMES)) == set(NAMES)


@pytest.mark.parametrize("name", ["heat map", "graph", "selection", "predictions"])
def test_a_model_without_landmarks_is_refused(name: str) -> None:
    X, Y = problem()
    with pytest.raises(TypeError, match="give a fitted SPLMLL, or a pipeline"):
        FROM_ESTIMATOR[name](MLkNN().fit(X, Y), X, Y)


def test_given_names_count_before_those_of_the_model() -> None:
    model = clone(MODEL).fit(*problem())
    for display in (LandmarkHeatmapDisplay, SelectionDisplay):
        assert display.from_estimator(model, label_names=list("wxyz")).label_names == list("wxyz")
        with pytest.raises(ValueError, match="3 label names for 4 labels: give one for each"):
            display.from_estimator(model, label_names=list("xyz"))


@pytest.mark.parametrize(
    "display",
    [
        LandmarkHeatmapDisplay(np.eye(2), ["a", "b"], ["a", "b"]),
        LabelCooccurrenceDisplay(np.eye(2), ["a", "b"]),
    ],
    ids=lambda display: type(display).__name__,
)
def test_heat_maps_can_have_other_colours(display: HeatmapDisplay) -> None:
    usual = display.plot().im_.get_cmap().name
    assert display.plot(cmap="magma").im_.get_cmap().name == "magma" != usual
    assert display.im_.colorbar.cmap.name == "magma"


def test_it_draws_again_where_it_is_told_and_remembers_the_last_place() -> None:
    display = LabelCompanyDisplay.from_labels(problem()[1], [("sun", "sea")])
    first = display.figure_
    figure, (left, right) = plt.subplots(1, 2)
    assert display.plot(ax=right) is display
    assert (display.ax_, display.figure_) == (right, figure)
    assert first is not figure
    assert not left.has_data()
    assert [bar.get_height() for bars in display.bars_ for bar in bars] == [
        *display.with_other,
        *display.without_other,
    ]


def test_a_row_with_an_unknown_label_counts_for_no_pair() -> None:
    Y = np.array([[1, 1], [1, 0], [1, np.nan], [np.nan, 1]])
    display = LabelCompanyDisplay.from_labels(Y, [("a", "b")], ["a", "b"])
    assert (display.with_other.tolist(), display.without_other.tolist()) == ([1], [1])


def test_dollars_in_names_are_no_formulas() -> None:
    display = SelectionDisplay([1.0, 0.5], ["$a_b", "c$"]).plot()
    display.figure_.canvas.draw()
    texts = display.ax_.get_yticklabels()
    assert [text.get_text() for text in texts] == ["$a_b", "c$"]
    assert not any(text.get_parse_math() for text in texts)


def test_a_display_must_say_how_it_is_drawn() -> None:
    class Nothing(Display):
        def _size(self) -> tuple[float, float]:
            return 1.0, 1.0

    with pytest.raises(TypeError, match=r"abstract class Nothing .*_draw"):
        Nothing()
