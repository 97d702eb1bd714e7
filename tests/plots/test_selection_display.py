"""The selection matrix as a heat map."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from splmll import SPLMLL
from splmll.plots import SelectionDisplay


def problem() -> tuple[np.ndarray, pd.DataFrame]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    Y = (X @ rng.normal(size=(5, 3)) > 0).astype(int)
    return X, pd.DataFrame(Y, columns=["sea", "boat", "fog"])


def test_a_diagonal_selection_becomes_a_matrix_with_the_names_of_labels() -> None:
    X, Y = problem()
    model = SPLMLL("linear", n_landmarks=2, random_state=0).fit(X, Y)
    display = SelectionDisplay.from_estimator(model)
    drawn = np.asarray(display.im_.get_array())
    assert np.count_nonzero(drawn) == 2
    assert_array_equal(np.diag(drawn), model.selection_)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["sea", "boat", "fog"]


def test_a_full_selection_is_drawn_as_it_is() -> None:
    X, Y = problem()
    model = SPLMLL.as_published(linear=True, full_selection=True, max_epochs=3, random_state=0).fit(
        X, Y
    )
    display = SelectionDisplay.from_estimator(model, label_names=["a", "b", "c"])
    assert_array_equal(np.asarray(display.im_.get_array()), model.selection_)
    assert display.label_names == ["a", "b", "c"]


def test_draws_where_it_is_told() -> None:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    display = SelectionDisplay(np.eye(2), ["a", "b"]).plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
