"""LabelGraphDisplay: its curves are the largest weights, and names can be read."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll import SPLMLL
from splmll.methods import MLkNN
from splmll.plots import LabelGraphDisplay, LandmarkHeatmapDisplay

NAMES = ["sun", "sea", "sand", "fog", "snow", "ice"]


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, pd.DataFrame]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    Y = (X @ rng.normal(size=(5, 6)) + rng.normal(size=(120, 6)) > 0.3).astype(int)
    return X, pd.DataFrame(Y, columns=NAMES)


@pytest.fixture(scope="module")
def model(data: tuple[np.ndarray, pd.DataFrame]) -> SPLMLL:
    return SPLMLL("linear", n_landmarks=3, random_state=0).fit(*data)


def random_graph(n_landmarks: int, n_labels: int, **options: Any) -> LabelGraphDisplay:
    """Landmarks are the first labels; each has a large weight for its own one."""
    weights = np.random.default_rng(1).normal(scale=0.2, size=(n_landmarks, n_labels))
    weights[np.arange(n_landmarks), np.arange(n_landmarks)] = 1.0
    names = [f"label number {j}" for j in range(n_labels)]
    return LabelGraphDisplay(weights, names[:n_landmarks], names, **options).plot()


def test_edges_are_the_largest_weights_of_each_label() -> None:
    display = random_graph(5, 12, edges_per_label=2)
    weights = pd.DataFrame(
        display.weights, index=display.landmark_names, columns=display.label_names
    )
    for label in display.label_names:
        edges = display.edges[display.edges["label"] == label].set_index("landmark")["weight"]
        largest = weights[label].abs().nlargest(2)
        expected = largest[largest >= 0.05 * weights.abs().to_numpy().max()].index
        assert set(edges.index) == set(expected)
        assert_array_equal(edges, weights[label][edges.index])
    assert display.edges["weight"].abs().is_monotonic_increasing


def test_edges_of_a_model_have_the_weights_of_its_heat_map(model: SPLMLL) -> None:
    display = LabelGraphDisplay.from_estimator(model)
    heat_map = LandmarkHeatmapDisplay.from_estimator(model)
    cells = pd.DataFrame(
        heat_map.weights, index=heat_map.landmark_names, columns=heat_map.label_names
    )
    assert set(display.landmark_order) == set(model.landmarks_)
    assert set(display.order) == set(NAMES)
    assert len(display.edges) > len(NAMES)
    for landmark, label, weight in display.edges.itertuples(index=False):
        assert weight == cells.loc[landmark, label]


def test_curves_lead_from_landmarks_to_labels_and_show_their_weights() -> None:
    display = random_graph(4, 10)
    hubs = dict(zip(display.landmark_order, display.landmark_points_.get_offsets()))
    points = dict(zip(display.order, display.label_points_.get_offsets()))
    paths = display.curves_.get_paths()
    assert len(paths) == len(display.edges)
    for path, landmark, label in zip(paths, display.edges["landmark"], display.edges["label"]):
        assert_allclose(path.vertices[0], hubs[landmark])
        assert_allclose(path.vertices[-1], points[label])
    widths = np.asarray(display.curves_.get_linewidths())
    assert_allclose(np.argsort(widths), np.arange(len(widths)))
    negative = (display.edges["weight"] < 0).to_numpy()
    assert 0 < negative.sum() < len(negative)
    dashed = np.array([dashes is not None for _, dashes in display.curves_.get_linestyles()])
    assert_array_equal(dashed, negative)
    colours = display.curves_.get_edgecolors()
    assert all(same_color(c[:3], "C3" if n else "C0") for c, n in zip(colours, negative))


def test_labels_stand_around_the_landmark_that_carries_them_most() -> None:
    # Landmark a carries c most, then e, then d; b carries f; nothing carries g.
    weights = np.array([[1.0, 0, 0.6, -0.3, 0.5, 0.1, 0], [0, 1.0, 0.2, 0.0, 0.0, 0.4, 0]])
    display = LabelGraphDisplay(weights, ["a", "b"], list("abcdefg")).plot()
    assert display.order == ["d", "c", "a", "e", "f", "b", "g"]
    assert "g" not in set(display.edges["label"])
    bold = {name for name, text in display.names_.items() if text.get_fontweight() == "bold"}
    assert bold == {"a", "b"}
    # A landmark stands on the line from the centre to its own label.
    hubs = dict(zip(display.landmark_order, display.landmark_points_.get_offsets()))
    points = dict(zip(display.order, display.label_points_.get_offsets()))
    for name in "ab":
        assert_allclose(np.cross([*hubs[name], 0], [*points[name], 0]), 0, atol=1e-12)
        assert 0 < np.linalg.norm(hubs[name]) < np.linalg.norm(points[name])


@pytest.mark.parametrize(("n_landmarks", "n_labels"), [(4, 14), (11, 14), (20, 268), (150, 268)])
def test_names_do_not_touch_and_none_is_cut_off(n_landmarks: int, n_labels: int) -> None:
    display = random_graph(n_landmarks, n_labels)
    figure = display.figure_
    figure.canvas.draw()
    texts = list(display.names_.values())
    assert len(texts) == n_labels
    boxes = [text.get_window_extent() for text in texts]
    for box in [*boxes, display.ax_.get_legend().get_window_extent()]:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
    if n_labels < 20:
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    else:
        # Names point outwards: two neighbours are furthest from each other at their outer ends.
        anchors = [display.ax_.transData.transform(text.get_position()) for text in texts]
        height = texts[0].get_fontsize() * figure.dpi / 72
        assert height > 5 * figure.dpi / 72
        for one, other in pairwise([*anchors, anchors[0]]):
            assert np.linalg.norm(one - other) > height


def test_names_are_shortened_and_are_not_formulas() -> None:
    long = "a very long name of a label with $ in it"
    display = LabelGraphDisplay(np.array([[1.0, 0.5]]), [long], [long, "b$"]).plot()
    display.figure_.canvas.draw()
    assert display.names_[long].get_text() == "a very long name of a lab…"
    assert display.names_["b$"].get_text() == "b$"
    assert not display.names_["b$"].get_parse_math()


def test_few_labels_are_shown_when_asked(model: SPLMLL) -> None:
    display = LabelGraphDisplay.from_estimator(model, max_labels=4)
    assert len(display.order) == 4
    assert set(model.landmarks_) < set(display.order)


def test_given_names_and_axes_are_used(data: tuple[np.ndarray, pd.DataFrame]) -> None:
    X, Y = data
    model = SPLMLL("linear", n_landmarks=3, random_state=0).fit(X, Y.to_numpy())
    assert set(LabelGraphDisplay.from_estimator(model).order) == set("012345")
    figure, ax = plt.subplots()
    display = LabelGraphDisplay.from_estimator(model, label_names=NAMES, ax=ax)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert set(display.landmark_order) == {NAMES[number] for number in model.landmarks_}
    with pytest.raises(ValueError, match="2 label names for 6 labels: give one for each"):
        LabelGraphDisplay.from_estimator(model, label_names=["a", "b"])


def test_pipelines_and_searches_are_looked_into(data: tuple[np.ndarray, pd.DataFrame]) -> None:
    X, Y = data
    pipeline = make_pipeline(StandardScaler(), SPLMLL("linear", random_state=0))
    search = GridSearchCV(pipeline, {"splmll__n_landmarks": [2]}, cv=2).fit(X, Y)
    display = LabelGraphDisplay.from_estimator(search)
    assert set(display.landmark_order) == set(search.best_estimator_[-1].landmarks_)
    assert set(display.order) == set(NAMES)


def test_what_cannot_be_drawn_is_refused(data: tuple[np.ndarray, pd.DataFrame]) -> None:
    X, Y = data
    with pytest.raises(TypeError, match="MLkNN has no landmarks to draw: give a fitted SPLMLL"):
        LabelGraphDisplay.from_estimator(MLkNN().fit(X, Y))
    with pytest.raises(ValueError, match="not fitted"):
        LabelGraphDisplay.from_estimator(SPLMLL())
    with pytest.raises(ValueError, match="edges_per_label is 0; draw at least one"):
        LabelGraphDisplay(np.eye(2), ["a", "b"], ["a", "b"], edges_per_label=0)
    with pytest.raises(ValueError, match="all labels are constant"):
        LabelGraphDisplay.from_estimator(SPLMLL("linear").fit(X, np.ones_like(Y)))
