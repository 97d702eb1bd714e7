"""CriticalDifferenceDisplay: every method is there, bars join those that do not differ."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from splmll.experiments.statistics import average_ranks, nemenyi_test
from splmll.plots import CriticalDifferenceDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt


def results(n_data: int, names: list[str], step: float) -> pd.DataFrame:
    """Each method is worse than the one before by about `step`."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {
                "data": f"d{d}",
                "method": name,
                "repetition": 0,
                "fold": 0,
                "seed": 0,
                "protocol": "held-out",
                "preprocessing": "none",
                "threshold": "own",
                "search": "none",
                "status": "done",
                "micro_f1": 0.9 - step * place + 0.1 * rng.random(),
            }
            for d in range(n_data)
            for place, name in enumerate(names)
        ]
    )


def drawn(frame: pd.DataFrame, ax: Any = None) -> CriticalDifferenceDisplay:
    """The diagram of the ranks by micro-F1."""
    ranks = average_ranks(frame, "micro_f1")
    return CriticalDifferenceDisplay.from_test(nemenyi_test(ranks), ax=ax)


def test_every_method_with_its_rank_in_order() -> None:
    frame = results(20, ["a", "b", "c", "d", "e"], 0.03)
    display = drawn(frame)
    expected = average_ranks(frame, ["micro_f1"]).frame["all"]
    assert set(display.labels_) == set("abcde")
    for name, label in display.labels_.items():
        assert name in label.get_text()
        assert f"{expected[name]:.2f}" in label.get_text()
    # The better half on the left, best at the top; the other half mirrored.
    places = {name: label.get_position() for name, label in display.labels_.items()}
    left, right = places["a"][0], places["e"][0]
    assert [places[name][0] for name in "abcde"] == [left] * 3 + [right] * 2
    assert places["a"][1] > places["b"][1] > places["c"][1]
    assert places["e"][1] > places["d"][1]
    assert left < right
    assert "20 data sets (Micro-F1)" in display.ax_.get_title()


def test_bars_are_the_largest_groups_that_do_not_differ() -> None:
    test = nemenyi_test(average_ranks(results(20, list("abcdefgh"), 0.02), ["micro_f1"]))
    display = CriticalDifferenceDisplay.from_test(test)
    bars = {
        (round(min(bar.get_xdata()), 6), round(max(bar.get_xdata()), 6)) for bar in display.bars_
    }
    # By definition: a span no longer than the critical difference that cannot be made longer.
    values = sorted(test.average)
    spans = [
        (low, max(high for high in values if high - low <= test.critical_difference))
        for low in values
    ]
    expected = {
        (round(low, 6), round(high, 6))
        for low, high in spans
        if low < high and not any(a < low and b >= high for a, b in spans)
    }
    assert len(expected) > 1
    assert bars == expected


def test_no_bar_where_all_differ_and_one_where_none_does() -> None:
    apart = drawn(results(40, ["a", "b", "c"], 0.3))
    assert apart.bars_ == []
    alike = drawn(results(3, ["a", "b", "c"], 0.0))
    assert len(alike.bars_) == 1


@pytest.mark.parametrize("n_methods", [2, 3, 12, 23])
def test_nothing_overlaps_and_nothing_is_cut_off(n_methods: int) -> None:
    names = [f"SPL-MLL as published {i}" for i in range(n_methods)]
    display = drawn(results(8, names, 0.01))
    figure = display.figure_
    figure.canvas.draw()
    words = [*display.ax_.texts, display.ax_.title, *display.ax_.get_xticklabels()]
    boxes = [text.get_window_extent() for text in words if text.get_text()]
    assert len(boxes) >= n_methods + 2
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)
    for box in boxes:
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.y1


def test_names_are_not_formulas() -> None:
    display = drawn(results(6, ["$a_b", "c$"], 0.1))
    display.figure_.canvas.draw()
    assert not any(label.get_parse_math() for label in display.labels_.values())


def test_given_axes_are_used_and_keep_their_size() -> None:
    figure, ax = plt.subplots(figsize=(5, 2))
    frame = results(6, ["a", "b", "c"], 0.1)
    before = frame.copy()
    display = drawn(frame, ax=ax)
    assert display.figure_ is figure
    assert display.ax_ is ax
    assert figure.get_size_inches().tolist() == [5, 2]
    pd.testing.assert_frame_equal(frame, before)


def test_left_out_methods_are_not_drawn() -> None:
    frame = results(6, ["a", "b", "c"], 0.1)
    frame.loc[0, "status"] = "failed"
    display = drawn(frame)
    assert set(display.labels_) == {"b", "c"}
    whole = drawn(frame[frame["data"] != "d0"])
    assert set(whole.labels_) == {"a", "b", "c"}
    assert "5 data sets" in whole.ax_.get_title()
