"""How strongly each label is a landmark, as bars (the paper's Fig. 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from splmll.docstrings import with_paragraphs
from splmll.landmarks import SPLMLL
from splmll.names import suggestion
from splmll.plots.display import Display, name_size, plain_text
from splmll.plots.label_input import label_names_of
from splmll.plots.landmark_weights import landmark_model, landmark_numbers


@with_paragraphs
class SelectionDisplay(Display):
    """A bar for every label: how strongly it is a landmark, zero where it is none.

    Make one with `from_estimator`, or from the numbers themselves.

    Parameters
    ----------
    strengths : array-like of shape (n_labels,)
        The length of each bar.
    label_names : sequence of str
        Names of the bars, from top to bottom.
    marked : mapping of str to float, optional
        Label -> a value to compare with, drawn as a diamond beside the bar.
    measure : str, default="weight b"
        What the bars are, for the axis.
    mark : str, default="printed in the paper"
        What the diamonds are, for the legend.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The bars, in the order of the labels.
    marks_ : matplotlib Line2D or None
        The diamonds.

    Examples
    --------
    >>> from splmll.plots import SelectionDisplay
    >>> display = SelectionDisplay([0.9, 0.0], ["sea", "boat"], marked={"sea": 0.8}).plot()
    >>> [float(bar.get_width()) for bar in display.bars_]
    [0.9, 0.0]
    >>> display.marks_.get_xdata().tolist()
    [0.8]
    """

    def __init__(
        self,
        strengths: Any,
        label_names: Sequence[str],
        marked: Mapping[str, float] | None = None,
        measure: str = "weight b",
        mark: str = "printed in the paper",
    ) -> None:
        self.strengths = np.asarray(strengths, dtype=np.float64)
        self.label_names = [str(name) for name in label_names]
        self.marked = dict(marked or {})
        self.measure = measure
        self.mark = mark
        for name in self.marked:
            if name not in self.label_names:
                raise ValueError(
                    f"There is no label {name!r} to mark.{suggestion(name, self.label_names)}"
                )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        label_names: Sequence[str] | None = None,
        marked: Mapping[str, float] | None = None,
        mark: str = "printed in the paper",
        ax: Any = None,
    ) -> SelectionDisplay:
        """Draw the landmarks of a fitted `SPLMLL` or `PublishedSPLMLL` among all labels.

        The bars of `PublishedSPLMLL` are b, or the norms of the rows of a full B. `SPLMLL` selects
        a label or does not; its bars are the share of the variance that each landmark adds.

        Parameters
        ----------
        {estimator_with_landmarks}
        {label_names}
        marked : mapping of str to float, optional
            Label -> a value to compare with.
        mark : str, default="printed in the paper"
            What these values are, for the legend.
        {ax}

        Returns
        -------
        display : SelectionDisplay
            The display, drawn.
        """
        model = landmark_model(estimator)
        strengths = np.zeros(model.label_format_.n_labels)
        strengths[landmark_numbers(model)] = model.landmark_strengths_
        names = label_names_of(len(strengths), model, given=label_names)
        if isinstance(model, SPLMLL):
            measure = "variance of all labels that it adds"
        else:
            measure = "weight b" if model.selection_.ndim == 1 else "norm of the row of B"
        return cls(strengths, names, marked, measure, mark).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 5.0, min(max(2.5, 0.25 * len(self.label_names) + 1.0), 14.0)

    def _draw(self, ax: Any) -> None:
        places = np.arange(len(self.label_names))
        self.bars_ = ax.barh(places, self.strengths, color="C0", label="learned")
        self.marks_ = None
        if self.marked:
            rows = [self.label_names.index(name) for name in self.marked]
            values = np.array(list(self.marked.values()), dtype=np.float64)
            (self.marks_,) = ax.plot(values, rows, "D", color="C3", ms=5, label=self.mark)
            # Above the bars: inside, it would cover some of them.
            ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        ax.set_yticks(places, self.label_names, fontsize=name_size(len(places)))
        plain_text(*ax.get_yticklabels())
        ax.invert_yaxis()  # the first label on top
        ax.axvline(0.0, color="black", lw=0.8)
        ax.set_xlabel(self.measure)
        ax.spines[["top", "right"]].set_visible(False)
