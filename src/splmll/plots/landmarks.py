"""Which landmark recovers which label, as a heat map in the manner of scikit-learn's displays.

A cell is the weight with which the landmark's prediction enters the label's score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class LandmarkHeatmapDisplay:
    """Heat map of the landmarks (rows) against the labels they recover (columns).

    The score of a label is the sum over landmarks of f(x) times the weight in its column, so a
    column shows where a label comes from and a row what a landmark is good for. The frame marks
    the cell in which a landmark meets its own label; the colour scale is made for the other cells.

    Make one with `from_estimator`, or from the weights themselves.

    Parameters
    ----------
    weights : ndarray of shape (n_landmarks, n_labels)
        Rows of B A that belong to the landmarks.
    landmark_names, label_names : sequence of str
        Names of rows and columns.
    selection : ndarray of shape (n_landmarks,) or None, default=None
        The weight b of each landmark, written beside its name.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    im_ : matplotlib AxesImage
        The heat map.

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
        selection: np.ndarray | None = None,
    ) -> None:
        self.weights = weights
        self.landmark_names = [str(name) for name in landmark_names]
        self.label_names = [str(name) for name in label_names]
        self.selection = selection

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, max_landmarks: int = 30, max_labels: int = 40, ax: Any = None
    ) -> LandmarkHeatmapDisplay:
        """Draw the landmarks of a fitted `SPLMLL`.

        Parameters
        ----------
        estimator : SPLMLL
            The fitted estimator.
        max_landmarks : int, default=30
            Only so many landmarks are shown, those with the largest weight.
        max_labels : int, default=40
            Only so many labels are shown: those landmarks themselves, then the labels
            that they recover with the largest weights. They keep their order in the data.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display : LandmarkHeatmapDisplay
            The display, drawn.
        """
        if max_landmarks < 1 or max_labels < 1:
            raise ValueError(
                f"max_landmarks is {max_landmarks} and max_labels is {max_labels}; show at least "
                "one of each."
            )
        if len(estimator.landmarks_) == 0:
            raise ValueError(
                "The estimator selected no landmark, so there is nothing to draw; lower lambda2 or "
                "ask for a number of landmarks with n_landmarks."
            )
        names = estimator.label_format_.names_of(np.arange(estimator.label_format_.n_labels))
        position = {name: number for number, name in enumerate(names)}
        landmarks = np.array([position[name] for name in estimator.landmarks_])
        selection = estimator.selection_
        if selection.ndim == 1:
            weights = selection[landmarks, None] * estimator.recovery_
            strength = selection[landmarks]
        else:  # B was kept full, and then all rows of A count
            weights = (selection @ estimator.recovery_)[landmarks]
            strength = np.linalg.norm(selection[landmarks], axis=1)
        weights, strength = weights[:max_landmarks], strength[:max_landmarks]
        landmarks = landmarks[:max_landmarks]

        reach = np.abs(weights).max(axis=0)
        reach[landmarks] = np.inf
        shown = np.sort(np.argsort(-reach, kind="stable")[:max_labels])
        display = cls(weights[:, shown], names[landmarks], names[shown], strength)
        return display.plot(ax=ax)

    def plot(self, ax: Any = None, *, cmap: Any = "RdBu_r") -> LandmarkHeatmapDisplay:
        """Draw the heat map into `ax`, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        cmap : str or Colormap, default="RdBu_r"
            Colours for weights from the most negative to the most positive.

        Returns
        -------
        self : LandmarkHeatmapDisplay
            The display.
        """
        import matplotlib.pyplot as plt
        from matplotlib.patches import Rectangle

        n_landmarks, n_labels = self.weights.shape
        if ax is None:
            width = min(max(5.0, 0.32 * n_labels + 3.0), 16.0)
            height = min(max(3.0, 0.32 * n_landmarks + 1.6), 14.0)
            _, ax = plt.subplots(figsize=(width, height), layout="constrained")
        column_of = {name: column for column, name in enumerate(self.label_names)}
        own = [
            (row, column_of[name])
            for row, name in enumerate(self.landmark_names)
            if name in column_of
        ]
        limit, clipped = self._limit(own)
        # Zero is the neutral colour, so the scale has to be symmetric.
        image = ax.imshow(self.weights, vmin=-limit, vmax=limit, cmap=cmap, aspect="auto")
        for row, column in own:
            corner = (column - 0.5, row - 0.5)
            ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="gold", linewidth=1.8))
        size = 9 if n_labels <= 20 else 7
        ax.set_xticks(range(n_labels), self.label_names, rotation=90, fontsize=size)
        rows = self.landmark_names
        if self.selection is not None:
            rows = [f"{name} ({b:.2f})" for name, b in zip(rows, self.selection)]
        ax.set_yticks(range(n_landmarks), rows, fontsize=9 if n_landmarks <= 20 else 7)
        ax.set_xlabel("label that is recovered")
        ax.set_ylabel("landmark" if self.selection is None else "landmark (its weight b)")
        ax.figure.colorbar(
            image,
            ax=ax,
            label="weight in the label's score",
            extend="both" if clipped else "neither",
        )
        self.ax_ = ax
        self.figure_ = ax.figure
        self.im_ = image
        return self

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
