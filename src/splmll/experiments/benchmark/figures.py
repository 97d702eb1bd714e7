"""The benchmark's figures, fit for print: vector graphics, few colours, names that can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from splmll.experiments.benchmark.analysis import Standing
from splmll.metrics import MEASURES, PAPER_MEASURES
from splmll.plots.display import plain_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, OTHERS, SHADE, FRONT = "#0b6b73", "#7d8b96", "#dcefe2", "#c2562e"
# Where a name may stand beside its point, the best first: points to the right and up.
_BESIDE = (
    ((4, 3), "left", "bottom"),
    ((4, -3), "left", "top"),
    ((-4, 3), "right", "bottom"),
    ((-4, -3), "right", "top"),
    ((4, 11), "left", "bottom"),
    ((4, -11), "left", "top"),
)


def rank_figure(standing: Standing) -> Figure:
    """Draw average ranks, overall and by measure; the shaded band is a critical difference wide."""
    average = standing.average
    columns = ["all", *PAPER_MEASURES]
    figure, axes = _subplots(1, len(columns), 10.0, 1.1 + 0.2 * len(average))
    places = np.arange(len(average))
    for column, ax in zip(columns, axes[0]):
        ranks = average[column]
        reach = standing.critical_difference(column)
        if np.isfinite(reach):
            ax.axvspan(ranks.min(), ranks.min() + reach, color=SHADE, zorder=0)
        colours = [OURS if name == standing.reference else OTHERS for name in average.index]
        ax.hlines(places, 1, ranks, color="#d5dbe0", linewidth=0.8)
        ax.scatter(ranks, places, c=colours, s=22, zorder=3)
        ax.set_title("All measures" if column == "all" else MEASURES[column].title, fontsize=8.5)
        ax.set_xlim(1, len(average))
        ax.set_yticks(places, [] if column != "all" else average.index, fontsize=8.5)
        ax.tick_params(axis="x", labelsize=7.5)
        ax.set_ylim(len(average) - 0.4, -0.6)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
    for text in axes[0, 0].get_yticklabels():
        plain_text(text)
        if text.get_text() == standing.reference:
            text.set(color=OURS, fontweight="bold")
    figure.supxlabel("average rank, 1 is best", fontsize=9)
    return figure


def duel_figure(standing: Standing) -> Figure:
    """Draw wins, ties and losses against every other method, the hardest opponent on top."""
    duels = standing.against()
    figure, axes = _subplots(1, 1, 7.0, 1.0 + 0.2 * len(duels))
    ax = axes[0, 0]
    places = np.arange(len(duels))
    start = np.zeros(len(duels))
    for kind, colour in (("losses", FRONT), ("ties", "#d5dbe0"), ("wins", OURS)):
        ax.barh(places, duels[kind], left=start, color=colour, label=kind, height=0.75)
        start += duels[kind].to_numpy()
    names = [f"{name} *" if beaten else name for name, beaten in duels["beaten"].items()]
    for text in ax.set_yticks(places, names, fontsize=7.5) and ax.get_yticklabels():
        plain_text(text)
    ax.set_ylim(len(duels) - 0.4, -0.6)
    words = f"data sets and measures on which {standing.reference} loses, ties, wins"
    ax.set_xlabel(words, fontsize=9)
    ax.legend(ncols=3, frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1.0))
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def name_points(ax: Any, x: Any, y: Any, names: Sequence[str], size: float) -> None:
    """Write names beside points, each where it covers no other name and no edge, if there is room.

    Parameters
    ----------
    ax : Axes
        Where the points are; its limits must be final.
    x, y : sequence of float
        The points.
    names : sequence of str
        Their names.
    size : float
        Of the letters.
    """
    from matplotlib.transforms import Bbox

    ax.figure.draw_without_rendering()  # until then nobody knows where things are
    places = ax.transData.transform(np.column_stack([x, y]))
    taken: list[Any] = [Bbox.from_bounds(left - 2, low - 2, 4, 4) for left, low in places]
    frame = ax.get_window_extent()
    for place in zip(x, y, names):
        tried = []
        for step, horizontal, vertical in _BESIDE:
            text = ax.annotate(
                place[2], place[:2], xytext=step, textcoords="offset points", fontsize=size,
                ha=horizontal, va=vertical,
            )  # fmt: skip
            plain_text(text)
            box = text.get_window_extent()
            outside = box.x1 > frame.x1 or box.x0 < frame.x0 or box.y0 < frame.y0
            tried.append((sum(box.overlaps(other) for other in taken) + outside, text, box))
            if tried[-1][0] == 0:
                break
        best = min(tried, key=lambda each: each[0])
        for each in tried:
            if each is not best:
                each[1].remove()
        taken.append(best[2])


def cost_figure(standing: Standing, measure: str = "average_precision") -> Figure:
    """Draw accuracy against CPU time on every data set, with the Pareto front."""
    sets = list(standing.attempted.index)
    n_columns = min(4, int(np.ceil(np.sqrt(len(sets)))))
    n_rows = -(-len(sets) // n_columns)
    figure, axes = _subplots(n_rows, n_columns, 3.1 * n_columns, 2.5 * n_rows)
    for ax in axes.ravel()[len(sets) :]:
        ax.set_visible(False)
    for data, ax in zip(sets, axes.ravel()):
        values = standing.cells.loc[(data, measure)].dropna()
        seconds = standing.seconds.loc[data].reindex(values.index).clip(lower=1e-3)
        ax.scatter(seconds, values, s=10, color=OTHERS, alpha=0.8)
        front = standing.front(data, measure)
        ax.plot(
            seconds[front], values[front], "-", color=FRONT, linewidth=1, drawstyle="steps-post"
        )
        ax.scatter(seconds[front], values[front], s=14, color=FRONT, zorder=3)
        if standing.reference in values:
            ax.scatter(
                seconds[standing.reference], values[standing.reference], s=55, marker="*",
                color=OURS, zorder=4, label=standing.reference,
            )  # fmt: skip
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter("")  # within one decade their numbers would overlap
        ax.set_title(data, fontsize=9)
        # The worst ones would squeeze all the others together.
        low = values.quantile(0.15)
        ax.set_ylim(low - 0.15 * (values.max() - low), values.max() + 0.08 * (values.max() - low))
        ax.tick_params(labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
        ax.margins(x=0.12)
    for data, ax in zip(sets, axes.ravel()):
        values, seconds = standing.cells.loc[(data, measure)], standing.seconds.loc[data]
        front = [n for n in standing.front(data, measure) if values[n] >= ax.get_ylim()[0]]
        name_points(ax, seconds[front].clip(lower=1e-3), values[front], front, 5.5)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", frameon=False, fontsize=8)
    figure.supxlabel("CPU seconds for fit and prediction", fontsize=9)
    figure.supylabel(MEASURES[measure].title, fontsize=9)
    return figure


def gain_figure(standing: Standing, measure: str = "average_precision") -> Figure:
    """Draw what landmarks gain against properties of the labels."""
    gains = standing.gains(measure)
    titles = {
        "labels": "labels",
        "cardinality": "labels per row",
        "correlation": "mean of each label's largest correlation",
    }
    figure, axes = _subplots(1, 3, 11.0, 3.6)
    for (column, title), ax in zip(titles.items(), axes[0]):
        ax.axhline(0, color="#b9c3cb", linewidth=0.8)
        ax.scatter(gains[column], 100 * gains["gain"], s=24, color=OURS)
        if column != "correlation":
            ax.set_xscale("log")
        if len(gains) > 3:
            tendency = stats.spearmanr(gains[column], gains["gain"]).statistic
            title += f"   (Spearman {tendency:+.2f})"
        ax.set_xlabel(title, fontsize=8.5)
        ax.margins(x=0.15)
        ax.tick_params(labelsize=7.5)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel(f"gain in {MEASURES[measure].title.lower()}, points", fontsize=8.5)
    names = [str(name).removesuffix("-densehue") for name in gains.index]
    for column, ax in zip(titles, axes[0]):
        name_points(ax, gains[column], 100 * gains["gain"], names, 7)
    return figure


CAPTIONS = {
    "ranks": "Average ranks of {methods} methods over {sets} data sets, for all measures and for "
    "each of the five; 1 is best. The shaded band is a critical difference wide (Nemenyi, 5%).",
    "duels": "{reference} against every other method: combinations of data set and measure lost, "
    "tied and won, the hardest opponent on top. A star marks methods that {reference} beats "
    "significantly (Wilcoxon over data sets with Holm's correction, 5%).",
    "cost": "Average precision against CPU seconds. The line is the Pareto front: every method on "
    "it is better than all that are at least as fast. The lowest methods are cut off.",
    "gains": "What landmarks gain in average precision, compared with the same embedding in which "
    "every label keeps its own prediction, against properties of the labels.",
}


def all_figures(standing: Standing) -> dict[str, tuple[Figure, str]]:
    """Return the figures and their captions by name.

    Parameters
    ----------
    standing : Standing
        What is drawn.

    Returns
    -------
    figures : dict of str to (Figure, str)
    """
    facts = {
        "sets": len(standing.data),
        "methods": len(standing.methods),
        "reference": standing.reference,
    }
    made: dict[str, Any] = {
        "ranks": rank_figure,
        "duels": duel_figure,
        "cost": cost_figure,
        "gains": gain_figure,
    }
    if standing.gains().empty:
        del made["gains"]
    if len(standing.methods) < 2:
        del made["duels"]
    return {name: (draw(standing), CAPTIONS[name].format(**facts)) for name, draw in made.items()}


def _subplots(n_rows: int, n_columns: int, width: float, height: float) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)
