"""What all displays have in common: where they draw, and how heat maps look.

A display holds numbers; `plot` draws them into given axes or into a new figure and keeps both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from splmll.extras import required

# Sizes of names on an axis: for so many names, so many points; smaller ones beyond.
NAME_SIZES = ((15, 9), (40, 7))
SMALLEST_NAMES = 4


class Display(ABC):
    """Base of the displays: a subclass says how large a new figure is and how it is drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from splmll.plots.display import Display
    >>> class Diagonal(Display):
    ...     def _size(self):
    ...         return 3.0, 3.0
    ...     def _draw(self, ax):
    ...         (self.line_,) = ax.plot([0, 1], [0, 1])
    >>> display = Diagonal().plot()
    >>> display.line_.axes is display.ax_
    True
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw into `ax`, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        self : Display
            The display, with `ax_` and `figure_`.
        """
        if ax is None:
            plt = required("matplotlib.pyplot", "plots", "Drawing")

            _, ax = plt.subplots(figsize=self._size(), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        return self

    @abstractmethod
    def _size(self) -> tuple[float, float]:
        """Return width and height of a new figure in inches."""

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw into these axes."""


class HeatmapDisplay(Display):
    """Base of the heat maps: named rows and columns and a scale of colours.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        The heat map.
    """

    im_: Any

    def plot(self, ax: Any = None, *, cmap: Any = None) -> Self:
        """Draw the heat map into `ax`, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        cmap : str or Colormap, optional
            Other colours than those of the display.

        Returns
        -------
        self : Display
            The display, with `ax_`, `figure_` and `im_`.
        """
        super().plot(ax)
        if cmap is not None:
            self.im_.set_cmap(cmap)
        return self

    def _draw_cells(
        self,
        ax: Any,
        values: np.ndarray,
        rows: Sequence[str],
        columns: Sequence[str],
        scale: str,
        *,
        tilt: int = 90,
        extend: str = "neither",
        **look: Any,
    ) -> None:
        """Draw the cells, the names of rows and columns, and the scale with its title."""
        self.im_ = ax.imshow(values, **look)
        end = "center" if tilt == 90 else "right"
        size = name_size(len(columns))
        ax.set_xticks(range(len(columns)), columns, rotation=tilt, ha=end, fontsize=size)
        ax.set_yticks(range(len(rows)), rows, fontsize=name_size(len(rows)))
        plain_text(*ax.get_xticklabels(), *ax.get_yticklabels())
        ax.figure.colorbar(self.im_, ax=ax, label=scale, extend=extend)


def name_size(n_names: int) -> float:
    """Return how large so many names on one axis may be, in points."""
    return next((size for most, size in NAME_SIZES if n_names <= most), SMALLEST_NAMES)


def plain_text(*texts: Any) -> None:
    """Take names literally: a dollar in a name is a dollar and begins no formula."""
    for text in texts:
        text.set_parse_math(False)
