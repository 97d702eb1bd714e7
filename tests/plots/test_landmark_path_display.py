"""LandmarkPathDisplay: one measure of a path in one pair of axes."""

import matplotlib as mpl
import numpy as np
import pytest

from splmll import SPLMLL
from splmll.plots import LandmarkPathDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    return X, (X @ rng.normal(size=(4, 4)) + rng.normal(size=(100, 4)) > 0).astype(int)


@pytest.fixture(scope="module")
def path(data):
    return SPLMLL("linear", random_state=0).landmark_path(*data)


@pytest.mark.parametrize("measure", ["ranking_loss", "macro_f1"])
def test_curve_and_dashes_are_those_of_the_path(path, measure):
    display = LandmarkPathDisplay.from_path(path, measure=measure)
    np.testing.assert_array_equal(display.line_.get_xdata(), path.counts)
    np.testing.assert_array_equal(display.line_.get_ydata(), path.measures[measure])
    assert set(display.without_.get_ydata()) == {path.without[measure]}


def test_estimator_is_followed_and_not_changed(data):
    model = SPLMLL("linear", random_state=0)
    figure, ax = plt.subplots()
    display = LandmarkPathDisplay.from_estimator(model, *data, counts=[1, 3], ax=ax)
    assert display.path.counts.tolist() == [1, 3]
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert not hasattr(model, "embedding_")


def test_unknown_measure_is_refused_with_the_known_ones(path):
    with pytest.raises(ValueError, match="it has ranking_loss"):
        LandmarkPathDisplay.from_path(path, measure="speed")
