"""LandmarkHeatmapDisplay: its cells are the weights in the scores, whatever is shown of them."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from splmll import SPLMLL, PublishedSPLMLL
from splmll.plots import LandmarkHeatmapDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    names = ["sun", "sea", "sand", "fog", "snow", "ice"]
    Y = (X @ rng.normal(size=(5, 6)) + rng.normal(size=(120, 6)) > 0.3).astype(int)
    return X, pd.DataFrame(Y, columns=names)


@pytest.fixture(scope="module")
def model(data):
    return SPLMLL("linear", n_landmarks=3, random_state=0).fit(*data)


def test_cells_are_the_weights_of_the_landmarks_in_the_scores(data, model):
    X, _ = data
    display = LandmarkHeatmapDisplay.from_estimator(model)
    scores = model.transform(X) @ display.weights + model.intercept_ - model.offset_
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-10)
    np.testing.assert_array_equal(display.im_.get_array(), display.weights)


def test_names_stand_at_rows_and_columns(model):
    display = LandmarkHeatmapDisplay.from_estimator(model)
    rows = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    columns = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert [row.split()[0] for row in rows] == list(model.landmarks_)
    assert columns == list(model.label_names_in_)


def test_frames_mark_the_own_labels(model):
    display = LandmarkHeatmapDisplay.from_estimator(model)
    frames = [patch for patch in display.ax_.patches if isinstance(patch, Rectangle)]
    cells = {(round(f.get_y() + 0.5), round(f.get_x() + 0.5)) for f in frames}
    names = list(model.label_names_in_)
    assert cells == {(row, names.index(name)) for row, name in enumerate(model.landmarks_)}


def test_scale_is_symmetric_and_made_for_the_other_labels():
    weights = np.array([[1.0, -0.2], [0.1, 0.9]])
    display = LandmarkHeatmapDisplay(weights, ["a", "b"], ["a", "b"]).plot()
    assert display.im_.get_clim() == (-0.2, 0.2)


def test_weights_of_zero_can_be_drawn():
    display = LandmarkHeatmapDisplay(np.zeros((1, 2)), ["a"], ["a", "b"]).plot()
    low, high = display.im_.get_clim()
    assert low == -high < 0


def test_few_landmarks_and_labels_are_shown_when_asked(model):
    whole = LandmarkHeatmapDisplay.from_estimator(model)
    part = LandmarkHeatmapDisplay.from_estimator(model, max_landmarks=2, max_labels=4)
    assert part.weights.shape == (2, 4)
    assert part.landmark_names == list(model.landmarks_[:2])
    assert set(part.landmark_names) <= set(part.label_names)
    columns = [whole.label_names.index(name) for name in part.label_names]
    assert columns == sorted(columns)
    np.testing.assert_array_equal(part.weights, whole.weights[:2, columns])
    left_out = [name for name in whole.label_names if name not in part.label_names]
    reach = pd.Series(np.abs(whole.weights[:2]).max(axis=0), index=whole.label_names)
    chosen = [name for name in part.label_names if name not in part.landmark_names]
    assert reach[chosen].min() >= reach[left_out].max()


def test_labels_without_names_are_numbered(data):
    X, Y = data
    model = SPLMLL("linear", n_landmarks=2, random_state=0).fit(X, Y.to_numpy())
    display = LandmarkHeatmapDisplay.from_estimator(model)
    assert display.label_names == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize("selection", ["soft", "full"])
def test_selection_and_recovery_of_the_published_system_are_multiplied_out(data, selection):
    X, Y = data
    model = PublishedSPLMLL(linear=True, selection=selection, max_epochs=2, random_state=0)
    display = LandmarkHeatmapDisplay.from_estimator(model.fit(X, Y))
    B = model.selection_ if selection == "full" else np.diag(model.selection_)
    rows = [list(Y.columns).index(name) for name in display.landmark_names]
    A = model.recovery_ if selection == "full" else np.zeros((6, 6))
    if selection == "soft":
        A[rows] = model.recovery_
    np.testing.assert_allclose(display.weights, (B @ A)[rows], atol=1e-12)


def test_given_axes_are_used(model):
    figure, ax = plt.subplots()
    display = LandmarkHeatmapDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure


def test_model_without_landmarks_is_refused(data):
    X, Y = data
    model = SPLMLL("linear", random_state=0).fit(X, np.ones_like(Y))
    assert len(model.landmarks_) == 0
    with pytest.raises(ValueError, match="all labels are constant"):
        LandmarkHeatmapDisplay.from_estimator(model)


def test_nothing_to_show_is_refused(model):
    with pytest.raises(ValueError, match="at least one"):
        LandmarkHeatmapDisplay.from_estimator(model, max_labels=0)
