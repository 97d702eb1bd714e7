"""How the published objective fell while a model was fitted, term by term.

The terms are those of the objective: predictability, representativeness and the penalties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from splmll.docstrings import with_paragraphs
from splmll.plots.display import Display
from splmll.plots.label_input import last_estimator

TOTAL = "objective"
# Columns that are no terms: the number of a block, and the error on the held-out rows.
OTHERS = ["block", "validation_loss"]
# With more steps than this the axis is logarithmic: most of the fall is in the first few.
LONG = 30


@with_paragraphs
class ConvergenceDisplay(Display):
    """Every term of the objective, and their sum, against the steps of the solver.

    Make one with `from_estimator` or `from_history`.

    Parameters
    ----------
    history : DataFrame
        One line per step; the column ``objective`` holds the sum, the others its terms.
    step : str, default="step"
        What one line is, for the axis.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The curve of every term and of the sum.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.plots import ConvergenceDisplay
    >>> history = pd.DataFrame({"ridge": [1.0, 0.2], "objective": [1.0, 0.3]})
    >>> sorted(ConvergenceDisplay.from_history(history).lines_)
    ['objective', 'ridge']
    """

    def __init__(self, history: pd.DataFrame, step: str = "step") -> None:
        self.history = history
        self.step = step

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw the fit of a `PublishedSPLMLL`.

        Parameters
        ----------
        estimator : PublishedSPLMLL, Pipeline or search
            The fitted estimator, or a pipeline or a search around it.
        {ax}

        Returns
        -------
        display : ConvergenceDisplay
            The display, drawn.
        """
        model = last_estimator(estimator)
        if not hasattr(model, "objective_"):
            raise TypeError(
                f"{type(model).__name__} has no objective_ to draw: give a fitted PublishedSPLMLL, "
                "or a pipeline that ends with one."
            )
        step = "block that was minimised" if model.solver == "exact" else "epoch"
        return cls.from_history(model.objective_, step=step, ax=ax)

    @classmethod
    def from_history(
        cls, history: pd.DataFrame, *, step: str = "step", ax: Any = None
    ) -> ConvergenceDisplay:
        """Draw a table of objectives.

        Parameters
        ----------
        history : DataFrame
            One line per step, the sum in the column ``objective``.
        step : str, default="step"
            What one line is, for the axis.
        {ax}

        Returns
        -------
        display : ConvergenceDisplay
            The display, drawn.
        """
        if TOTAL not in history.columns:
            raise ValueError(
                f"The history has no column {TOTAL!r}; pass the attribute objective_ of a "
                "PublishedSPLMLL."
            )
        values = history.drop(columns=OTHERS, errors="ignore").reset_index(drop=True)
        return cls(values, step).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 6.5, 3.6

    def _draw(self, ax: Any) -> None:
        steps = np.arange(1, len(self.history) + 1)
        self.lines_ = {}
        for name in [column for column in self.history.columns if column != TOTAL] + [TOTAL]:
            values = self.history[name]
            look = {"label": "sum", "color": "black", "linewidth": 2} if name == TOTAL else {}
            # A single value has no line to be seen by.
            marker = "o" if values.count() == 1 else None
            (self.lines_[name],) = ax.plot(
                steps, values, **{"label": name, "marker": marker, **look}
            )
        ax.set(xlabel=self.step, ylabel="value")
        if len(steps) > LONG:
            ax.set_xscale("log")
        ax.set_ylim(bottom=min(0.0, float(self.history.min().min())))
        # Beside the curves: inside, it would cover some of them.
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
