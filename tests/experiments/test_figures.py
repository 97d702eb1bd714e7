"""The paper's figures from real data and real fits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from splmll import SPLMLL, load_dataset
from splmll.datasets import make_digit_scenes
from splmll.experiments.figures import (
    company_figure,
    convergence_figure,
    parts,
    predictions_figure,
    selection_figure,
)


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    yield
    plt.close("all")


def test_company_says_what_was_counted_and_what_is_printed(data_home) -> None:
    figure, caption = company_figure(load_dataset("emotions"))
    assert [bar.get_height() for bar in figure.axes[0].patches] == [92, 104, 105, 81, 44, 43]
    assert "angry-aggresive given amazed-suprised: counted 53%, printed 56%" in caption
    assert "relaxing-calm given quiet-still: counted 70%, printed 70%" in caption
    assert "sad-lonely given quiet-still: counted 71%, printed 71%" in caption


@pytest.mark.slow
def test_selection_and_convergence_on_a_sample(data_home) -> None:
    data = load_dataset("emotions").sample(120)
    X, Y, _, _ = parts(data)
    figure, caption = selection_figure([data], [SPLMLL("linear", random_state=0).fit(X, Y)])
    published, exact = (np.asarray(ax.images[0].get_array()) for ax in figure.axes[:2])
    assert published.shape == exact.shape == (6, 6)
    assert np.count_nonzero(exact - np.diag(np.diag(exact))) == 0
    assert any(f"{name} and" in caption for name in data.label_names)

    figure, caption = convergence_figure([data])
    total = figure.axes[0].lines[-1].get_ydata()
    assert total[-1] < total[0]
    assert f"{data.name} {len(total)}" in caption


def test_predictions_show_rows_or_pictures(data_home) -> None:
    rows = load_dataset("emotions")
    X, Y, _, _ = parts(rows)
    figure, caption = predictions_figure(rows, SPLMLL("linear", random_state=0).fit(X, Y))
    assert all(ax.lines and not ax.images for ax in figure.axes)
    assert caption.startswith("8 test rows")

    scenes = make_digit_scenes(200, random_state=0)
    X, Y, _, _ = parts(scenes)
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    figure, caption = predictions_figure(scenes, model)
    assert all(ax.images and not ax.lines for ax in figure.axes)
    assert caption.startswith("8 test pictures")


def test_the_same_rows_are_held_out_as_in_experiments() -> None:
    from splmll.experiments.protocol import PROTOCOLS

    scenes = make_digit_scenes(50, random_state=0)
    part = next(iter(PROTOCOLS["held-out"].parts(scenes, 3)))
    assert np.array_equal(parts(scenes, 3)[2], scenes.X[part.test])
