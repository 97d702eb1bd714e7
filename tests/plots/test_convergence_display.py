"""ConvergenceDisplay: all terms are drawn, and they are those of the fit."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from splmll import SPLMLL, PublishedSPLMLL
from splmll.plots import ConvergenceDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt

TERMS = {"predictability", "representativeness", "identity", "sparsity", "ridge"}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    return X, (X @ rng.normal(size=(4, 3)) > 0).astype(int)


def published(**settings):
    return PublishedSPLMLL(linear=True, random_state=0, **settings)


@pytest.mark.parametrize(
    "model",
    [
        published(solver="exact", rho=1.0),
        published(solver="exact", rho=1.0, selection="hard", n_landmarks=2),
        published(max_epochs=3),
    ],
    ids=["exact", "hard", "algorithm1"],
)
def test_every_term_is_a_curve_and_they_add_up(model, data):
    display = ConvergenceDisplay.from_estimator(model.fit(*data))
    assert set(display.lines_) == TERMS | {"objective"}
    values = {name: line.get_ydata() for name, line in display.lines_.items()}
    np.testing.assert_array_equal(values["objective"], model.objective_["objective"])
    total = sum(np.asarray(values[name], dtype=float) for name in TERMS)
    np.testing.assert_allclose(total, np.asarray(values["objective"]))


def test_axis_says_what_a_step_is(data):
    exact = ConvergenceDisplay.from_estimator(published(solver="exact", rho=1.0).fit(*data))
    epochs = ConvergenceDisplay.from_estimator(published(max_epochs=2).fit(*data))
    assert "block" in exact.ax_.get_xlabel()
    assert epochs.ax_.get_xlabel() == "epoch"


@pytest.mark.parametrize(("n_steps", "scale"), [(5, "linear"), (200, "log")])
def test_long_histories_get_a_logarithmic_axis(n_steps, scale):
    history = pd.DataFrame({"ridge": 1.0, "objective": np.linspace(2, 1, n_steps)})
    display = ConvergenceDisplay.from_history(history)
    assert display.ax_.get_xscale() == scale


def test_single_step_is_visible():
    display = ConvergenceDisplay.from_history(pd.DataFrame({"objective": [1.0]}))
    assert display.lines_["objective"].get_marker() == "o"


def test_given_axes_are_used_and_the_table_is_not_changed():
    history = pd.DataFrame({"block": [0.0, 1.0], "objective": [2.0, 1.0]})
    before = history.copy()
    figure, ax = plt.subplots()
    display = ConvergenceDisplay.from_history(history, ax=ax)
    assert display.figure_ is figure
    assert set(display.lines_) == {"objective"}
    pd.testing.assert_frame_equal(history, before)


def test_table_without_the_sum_is_refused():
    with pytest.raises(ValueError, match="objective_"):
        ConvergenceDisplay.from_history(pd.DataFrame({"ridge": [1.0]}))


def test_model_without_the_published_objective_is_refused(data):
    model = SPLMLL("linear", random_state=0).fit(*data)
    with pytest.raises(TypeError, match="give a fitted PublishedSPLMLL"):
        ConvergenceDisplay.from_estimator(model)
