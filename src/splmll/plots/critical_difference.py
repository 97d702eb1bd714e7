"""The critical-difference diagram: average ranks on an axis, bars over methods that do not differ.

Two methods under one thick bar cannot be told apart by Nemenyi's test.
"""

from __future__ import annotations

from typing import Any, Self

import pandas as pd

from splmll.docstrings import with_paragraphs
from splmll.extras import required
from splmll.plots.display import Display, plain_text

# Inches: a new figure, and one of its lines of text.
WIDTH, LINE = 8.0, 0.23
# Lines above the axis: its numbers, then the critical difference with its name.
CRITICAL_LINE, LINES_ABOVE = 1.9, 3.2
# Share of the span of the ranks between the outermost marker and the names.
MARGIN = 0.05
# Blue bars on grey lines can be told apart in colour, in print and on dark pages.
BAR, THREAD = "#5b8fc7", "0.6"


@with_paragraphs
class CriticalDifferenceDisplay(Display):
    """Average ranks of methods with the critical difference of Nemenyi's test.

    Make one with `from_test`, from the result of :func:`splmll.experiments.statistics.nemenyi_test`
    on average ranks.

    Parameters
    ----------
    average : Series
        Average rank of every method.
    p_values : DataFrame
        p value of every pair of methods.
    critical_difference : float
        Two methods differ if their average ranks are further apart.
    level : float, default=0.05
        The level of the critical difference.
    over : str, default=""
        What the ranks are averaged over, for the axis.
    quantity : str, default="Average rank"
        What is averaged, for the axis.

    Attributes
    ----------
    labels_ : dict of str to matplotlib Text
        The name of every method.
    bars_ : list of matplotlib Line2D
        The bars over methods that do not differ.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.plots import CriticalDifferenceDisplay
    >>> average = pd.Series({"BR": 2.9, "ECC": 1.6, "SPL-MLL": 1.5})
    >>> p_values = pd.DataFrame(1.0, index=average.index, columns=average.index)
    >>> p_values.loc["BR", ["ECC", "SPL-MLL"]] = p_values.loc[["ECC", "SPL-MLL"], "BR"] = 0.01
    >>> display = CriticalDifferenceDisplay(average, p_values, 1.05).plot()
    >>> len(display.bars_)
    1
    """

    def __init__(
        self,
        average: pd.Series,
        p_values: pd.DataFrame,
        critical_difference: float,
        level: float = 0.05,
        over: str = "",
        quantity: str = "Average rank",
    ) -> None:
        self.average = average
        self.p_values = p_values
        self.critical_difference = critical_difference
        self.level = level
        self.over = over
        self.quantity = quantity

    @classmethod
    def from_test(cls, test: Any, *, ax: Any = None) -> CriticalDifferenceDisplay:
        """Draw the result of a test.

        Parameters
        ----------
        test : NemenyiResult
            From :func:`splmll.experiments.statistics.nemenyi_test`.
        {ax}

        Returns
        -------
        display : CriticalDifferenceDisplay
            The display, drawn.
        """
        over = f"over {test.ranks.where()}"
        # With several measures a data set places the methods by the mean of their ranks.
        quantity = "Average place" if len(test.ranks.measures) > 1 else "Average rank"
        display = cls(
            test.average, test.p_values, test.critical_difference, test.level, over, quantity
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the diagram into `ax`, or into a new figure that is as high as its names need.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        self : CriticalDifferenceDisplay
            The display, with `ax_` and `figure_`.
        """
        super().plot(ax)
        if ax is None:
            lowest, highest = self.ax_.get_ylim()
            self.figure_.set_size_inches(WIDTH, LINE * (highest - lowest + 1))
        return self

    def _size(self) -> tuple[float, float]:
        return WIDTH, WIDTH  # only what is drawn tells how many lines there are

    def _draw(self, ax: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        posthocs = required("scikit_posthocs", "experiments", "This diagram")

        average = self.average.sort_values(kind="stable")
        drawn = posthocs.critical_difference_diagram(
            average,
            self.p_values,
            alpha=self.level,
            ax=ax,
            label_fmt_left="{label}  {rank:.2f} ",
            label_fmt_right=" {rank:.2f}  {label}",
            text_h_margin=MARGIN * max(len(average) - 1, 1),
            elbow_props={"color": THREAD, "linewidth": 1},
            marker_props={"color": BAR, "s": 18},
            crossbar_props={"color": BAR, "linewidth": 4, "solid_joinstyle": "bevel"},
        )
        for label in drawn["labels"]:
            label.set_color("black")
        plain_text(*drawn["labels"])
        # The methods of the left half come first, best first; the right half is from the worst up.
        half = (len(average) + 1) // 2
        order = [*average.index[:half], *average.index[half:][::-1]]
        self.labels_ = dict(zip(order, drawn["labels"], strict=True))
        self.bars_ = [line for lines in drawn["crossbars"] for line in lines]
        self._draw_critical_difference(ax)
        ax.set_xlim(1, max(len(average), 2))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        lowest = min(label.get_position()[1] for label in drawn["labels"])
        ax.set_ylim(lowest - 1, LINES_ABOVE)
        ax.set_title(f"{self.quantity} {self.over}".strip(), fontsize="medium")

    def _draw_critical_difference(self, ax: Any) -> None:
        """A measure of the critical difference above the left end of the axis."""
        ends = [1, 1 + self.critical_difference]
        ax.plot(ends, [CRITICAL_LINE] * 2, color="black", marker="|", linewidth=1, clip_on=False)
        words = f"critical difference {self.critical_difference:.2f}"
        ax.text(1, CRITICAL_LINE + 0.3, words, ha="left", va="bottom", fontsize="small")
