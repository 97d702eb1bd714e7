"""How strongly each label is a landmark, as bars."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from splmll import SPLMLL, PublishedSPLMLL
from splmll.plots import SelectionDisplay

NAMES = ["sea", "boat", "fog"]


def problem() -> tuple[np.ndarray, pd.DataFrame]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    Y = (X @ rng.normal(size=(5, 3)) > 0).astype(int)
    return X, pd.DataFrame(Y, columns=NAMES)


def lengths(display: SelectionDisplay) -> np.ndarray:
    return np.array([bar.get_width() for bar in display.bars_])


def test_landmarks_have_bars_at_their_names() -> None:
    model = SPLMLL("linear", n_landmarks=2, random_state=0).fit(*problem())
    display = SelectionDisplay.from_estimator(model)
    drawn = dict(zip(NAMES, lengths(display)))
    assert {name for name in NAMES if drawn[name] > 0} == set(model.landmarks_)
    assert max(drawn, key=drawn.get) == model.landmarks_[0]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == NAMES


@pytest.mark.parametrize("selection", ["soft", "full"])
def test_the_published_system_shows_b(selection: str) -> None:
    model = PublishedSPLMLL(linear=True, selection=selection, max_epochs=3, random_state=0)
    display = SelectionDisplay.from_estimator(model.fit(*problem()), label_names=list("abc"))
    B = model.selection_ if selection == "full" else np.diag(model.selection_)
    assert_allclose(np.abs(lengths(display)), np.linalg.norm(B, axis=1))
    assert display.label_names == ["a", "b", "c"]
    assert ("norm" in display.ax_.get_xlabel()) == (selection == "full")


def test_printed_values_stand_beside_the_bars() -> None:
    display = SelectionDisplay([0.9, 0.2, 0.4], NAMES, marked={"fog": 0.5, "sea": 0.8}).plot()
    middle = {bar.get_y() + bar.get_height() / 2: name for bar, name in zip(display.bars_, NAMES)}
    x, y = display.marks_.get_data()
    assert {middle[row]: value for row, value in zip(y, x)} == {"fog": 0.5, "sea": 0.8}
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "printed in the paper" in texts
    with pytest.raises(ValueError, match=r"no label 'boot' to mark\. Did you mean 'boat'\?"):
        SelectionDisplay([0.9, 0.2, 0.4], NAMES, marked={"boot": 1.0})


def test_draws_where_it_is_told() -> None:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    display = SelectionDisplay([1.0, 0.5], ["a", "b"]).plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.marks_ is None
