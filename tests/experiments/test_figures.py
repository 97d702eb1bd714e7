"""The paper's figures from real data and real fits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from splmll import SPLMLL, load_dataset
from splmll.datasets import Dataset, make_digit_scenes
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


@pytest.fixture(scope="module")
def sample(data_home) -> Dataset:
    return load_dataset("emotions").sample(120)


def test_selection_shows_measured_and_printed_weights_and_our_order(sample: Dataset) -> None:
    X, Y, _, _ = parts(sample)
    model = SPLMLL("linear", n_landmarks=4, random_state=0).fit(X, Y)
    figure, caption = selection_figure([sample], [model])
    left, right = figure.axes
    widths = [bar.get_width() for bar in left.patches]
    assert len(widths) == 6
    assert widths == sorted(widths, reverse=True)
    # A printed value stands on the line of its label.
    names = [text.get_text() for text in left.get_yticklabels()]
    printed, _, small = left.lines  # the second is the axis
    values = zip(printed.get_ydata(), printed.get_xdata(), strict=True)
    assert {names[place]: value for place, value in values} == {
        "quiet-still": 0.31,
        "amazed-suprised": 0.29,
    }
    assert set(small.get_xdata()) == {0.08}
    assert len(small.get_ydata()) == 4

    ours = [text.get_text() for text in right.get_yticklabels()]
    assert ours[:4] == [sample.label_names[label] for label in model.landmarks_]
    np.testing.assert_array_equal(
        [bar.get_width() for bar in right.patches], [*model.landmark_strengths_, 0, 0]
    )
    assert "labels without a bar are no landmarks" in caption
    assert f"SPL-MLL begins with {ours[0]}, {ours[1]} and {ours[2]}" in caption
    assert f"largest weights to {names[0]}, {names[1]} and {names[2]}" in caption
    assert "without early stopping" in caption


def test_data_that_the_paper_does_not_show_have_no_printed_weights() -> None:
    scenes = make_digit_scenes(100, random_state=0)
    X, Y, _, _ = parts(scenes)
    figure, _ = selection_figure([scenes], [SPLMLL("linear", random_state=0).fit(X, Y)])
    assert len(figure.axes[0].lines) == 1  # the axis


def test_convergence_of_the_published_objective(sample: Dataset) -> None:
    figure, caption = convergence_figure([sample])
    total = figure.axes[0].lines[-1].get_ydata()
    assert total[-1] < total[0]
    assert f"{sample.name} {len(total)}" in caption


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
    (part,) = PROTOCOLS["held-out"].repetition(scenes, 0, 3)
    assert np.array_equal(parts(scenes, 3)[2], scenes.X[part.test])
