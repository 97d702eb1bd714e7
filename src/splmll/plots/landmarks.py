"""Which landmark recovers which label, as a heat map like scikit-learn's displays.

A cell is the weight with which the landmark's prediction enters the label's score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from splmll.docstrings import with_paragraphs
from splmll.plots.display import HeatmapDisplay
from splmll.plots.landmark_weights import LandmarkWeights


@with_paragraphs
class LandmarkHeatmapDisplay(HeatmapDisplay):
    """Heat map of the landmarks (rows) against the labels they recover (columns).

    The score of a label is the sum over landmarks of their predictions times the weights in its
    column, so a column shows where a label comes from and a row what a landmark contributes. Frames
    mark the cells where a landmark meets its own label; the colour scale is chosen for the other
    cells.

    Make one with `from_estimator`, or from the weights themselves.

    Parameters
    ----------
    weights : ndarray of shape (n_landmarks, n_labels)
        The weight of each landmark for each label, ``landmark_weights_`` of the model.
    landmark_names, label_names : sequence of str
        Names of rows and columns.
    strengths : ndarray of shape (n_landmarks,) or None, default=None
        ``landmark_strengths_`` of the model, shown with the names of the landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> from splmll.plots import LandmarkHeatmapDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 4))
    >>> Y = (X @ rng.normal(size=(4, 3)) > 0).astype(int)
    >>> model = SPLMLL("linear", n_landmarks=2, random_state=0).fit(X, Y)
    >>> LandmarkHeatmapDisplay.from_estimator(model).weights.shape
    (2, 3)
    """

    def __init__(
        self,
        weights: np.ndarray,
        landmark_names: Sequence[str],
        label_names: Sequence[str],
        strengths: np.ndarray | None = None,
    ) -> None:
        self.weights = weights
        self.landmark_names = [str(name) for name in landmark_names]
        self.label_names = [str(name) for name in label_names]
        self.strengths = strengths

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        label_names: Sequence[str] | None = None,
        max_landmarks: int = 30,
        max_labels: int = 40,
        ax: Any = None,
    ) -> LandmarkHeatmapDisplay:
        """Draw the landmarks of a fitted `SPLMLL` or `PublishedSPLMLL`.

        Parameters
        ----------
        {estimator_with_landmarks}
        {label_names}
        max_landmarks : int, default=30
            At most this many landmarks are shown, the strongest.
        max_labels : int, default=40
            At most this many labels are shown: those landmarks themselves, then the labels that
            they recover with the largest weights. They keep their order in the data.
        {ax}

        Returns
        -------
        display : LandmarkHeatmapDisplay
            The display, drawn.
        """
        found = LandmarkWeights.from_estimator(estimator, label_names)
        part = found.strongest(max_landmarks, max_labels)
        return cls(part.weights, part.landmarks, part.labels, part.strengths).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        n_landmarks, n_labels = self.weights.shape
        width = min(max(5.0, 0.32 * n_labels + 3.0), 16.0)
        return width, min(max(3.0, 0.32 * n_landmarks + 1.6), 14.0)

    def _draw(self, ax: Any) -> None:
        from matplotlib.patches import Rectangle

        column_of = {name: column for column, name in enumerate(self.label_names)}
        own = [
            (row, column_of[name])
            for row, name in enumerate(self.landmark_names)
            if name in column_of
        ]
        rows = self.landmark_names
        if self.strengths is not None:
            rows = [f"{name} ({b:.2g})" for name, b in zip(rows, self.strengths)]
        limit, clipped = self._limit(own)
        self._draw_cells(
            ax,
            self.weights,
            rows,
            self.label_names,
            "weight in the label's score",
            extend="both" if clipped else "neither",
            # Zero is the neutral colour, so the scale has to be symmetric.
            vmin=-limit,
            vmax=limit,
            cmap="RdBu_r",
            aspect="auto",
        )
        for row, column in own:
            corner = (column - 0.5, row - 0.5)
            ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="gold", linewidth=1.8))
        ax.set_xlabel("recovered label")
        ax.set_ylabel("landmark" if self.strengths is None else "landmark (its strength)")

    def _limit(self, own: list[tuple[int, int]]) -> tuple[float, bool]:
        """Return the end of the colour scale and whether cells lie beyond it.

        A landmark counts most for its own label. The scale is made for the other cells, which
        tell what is recovered from where, and would be pale otherwise.
        """
        sizes = np.abs(self.weights)
        others = sizes.copy()
        for row, column in own:
            others[row, column] = 0.0
        limit = float(others.max(initial=0.0)) or float(sizes.max(initial=0.0)) or 1.0
        return limit, bool((sizes > limit).any())
