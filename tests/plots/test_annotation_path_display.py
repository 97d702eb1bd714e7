"""AnnotationPathDisplay: one measure against the number of questions."""

import matplotlib as mpl
import numpy as np
import pytest

from splmll import SPLMLL
from splmll.plots import AnnotationPathDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, (X @ rng.normal(size=(4, 4)) + rng.normal(size=(120, 4)) > 0).astype(int)


@pytest.fixture(scope="module")
def path(data):
    return SPLMLL("linear", random_state=0).annotation_path(*data)


@pytest.mark.parametrize("measure", ["micro_f1", "wrong_labels"])
def test_curves_are_those_of_the_path(path, measure):
    display = AnnotationPathDisplay.from_path(path, measure=measure)
    assert list(display.lines_) == ["adaptive", "landmarks", "frequent", "random"]
    for strategy, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), path.counts)
        np.testing.assert_array_equal(line.get_ydata(), path.measures[strategy][measure])
    plt.close("all")


def test_estimator_is_followed_into_given_axes(data):
    figure, ax = plt.subplots()
    model = SPLMLL("linear", random_state=0)
    display = AnnotationPathDisplay.from_estimator(model, *data, counts=[0, 2], ax=ax)
    assert display.path.counts.tolist() == [0, 2]
    assert (display.ax_, display.figure_) == (ax, figure)
    plt.close("all")


def test_all_measures_at_once(path):
    figure = path.plot()
    assert [len(ax.lines) for ax in figure.axes] == [4, 4, 4]
    assert len({ax.get_ylabel() for ax in figure.axes}) == 3
    plt.close("all")


def test_unknown_measures_are_refused(path):
    with pytest.raises(ValueError, match="no measure 'recall'; it has micro_f1, exact_match"):
        AnnotationPathDisplay.from_path(path, measure="recall")
