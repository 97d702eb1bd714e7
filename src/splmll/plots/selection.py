"""A picture of the selection matrix B: how strongly each label is a landmark (the paper's Fig. 3).

With a diagonal B only the diagonal can be seen; a full one shows what else the steps moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from splmll.plots.display import HeatmapDisplay
from splmll.plots.label_input import label_names_of
from splmll.plots.landmark_weights import landmark_model


class SelectionDisplay(HeatmapDisplay):
    """Heat map of the selection matrix B.

    Make one with `from_estimator`, or from the matrix itself.

    Parameters
    ----------
    selection : ndarray of shape (n_labels, n_labels)
        The matrix B.
    label_names : sequence of str
        Names of rows and columns.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.plots import SelectionDisplay
    >>> display = SelectionDisplay(np.diag([0.9, 0.0]), ["sea", "boat"]).plot()
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['sea', 'boat']
    """

    def __init__(self, selection: np.ndarray, label_names: Sequence[str]) -> None:
        self.selection = selection
        self.label_names = [str(name) for name in label_names]

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, label_names: Sequence[str] | None = None, ax: Any = None
    ) -> SelectionDisplay:
        """Draw the selection of a fitted `SPLMLL`.

        Parameters
        ----------
        estimator : SPLMLL, Pipeline or search
            The fitted estimator, or a pipeline or a search around it.
        label_names : sequence of str, optional
            Names; by default those the estimator has seen, or the numbers of the labels.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display : SelectionDisplay
            The display, drawn.
        """
        model = landmark_model(estimator)
        selection = np.asarray(model.selection_)
        matrix = np.diag(selection) if selection.ndim == 1 else selection
        names = label_names_of(len(matrix), model, given=label_names)
        return cls(matrix, names).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        side = min(max(3.5, 0.3 * len(self.label_names) + 2.0), 14.0)
        return side + 0.8, side

    def _draw(self, ax: Any) -> None:
        self._draw_cells(ax, self.selection, self.label_names, self.label_names, "B", tilt=45)
