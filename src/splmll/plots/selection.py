"""A picture of the selection matrix B: how strongly each label is a landmark (the paper's Fig. 3).

With a diagonal B only the diagonal can be seen; a full one shows what else the steps moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class SelectionDisplay:
    """Heat map of the selection matrix B.

    Make one with `from_estimator`, or from the matrix itself.

    Parameters
    ----------
    selection : ndarray of shape (n_labels, n_labels)
        The matrix B.
    label_names : sequence of str
        Names of rows and columns.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    im_ : matplotlib AxesImage
        The heat map.

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
        estimator : SPLMLL
            The fitted estimator.
        label_names : sequence of str, optional
            Names; by default those the estimator has seen, or the numbers of the labels.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display : SelectionDisplay
            The display, drawn.
        """
        selection = np.asarray(estimator.selection_)
        matrix = np.diag(selection) if selection.ndim == 1 else selection
        if label_names is None:
            label_names = estimator.label_format_.names_of(np.arange(len(matrix)))
        return cls(matrix, label_names).plot(ax=ax)

    def plot(self, ax: Any = None, *, cmap: Any = "viridis") -> SelectionDisplay:
        """Draw the heat map into `ax`, or into a new figure."""
        import matplotlib.pyplot as plt

        n_labels = len(self.label_names)
        if ax is None:
            side = min(max(3.5, 0.3 * n_labels + 2.0), 14.0)
            _, ax = plt.subplots(figsize=(side + 0.8, side), layout="constrained")
        image = ax.imshow(self.selection, cmap=cmap)
        size = 9 if n_labels <= 15 else 7 if n_labels <= 40 else 4
        ax.set_xticks(range(n_labels), self.label_names, rotation=45, ha="right", fontsize=size)
        ax.set_yticks(range(n_labels), self.label_names, fontsize=size)
        ax.figure.colorbar(image, ax=ax, label="B")
        self.ax_ = ax
        self.figure_ = ax.figure
        self.im_ = image
        return self
