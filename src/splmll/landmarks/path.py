"""The landmark path: measures against the number of landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from splmll.extras import required
from splmll.metrics import MEASURES


@dataclass(frozen=True)
class LandmarkPath:
    """What each number of landmarks achieves, out of fold.

    Attributes
    ----------
    counts : ndarray of int
        Numbers of landmarks.
    measures : dict of str to ndarray
        The paper's five measures of out-of-fold scores.
    landmarks : list of ndarray
        The landmarks chosen for every number, those that explain most first.
    without : dict of str to float
        The same measures for the embedding alone, every label with its own prediction.
    """

    counts: np.ndarray
    measures: dict[str, np.ndarray]
    landmarks: list[np.ndarray]
    without: dict[str, float]

    def to_frame(self) -> pd.DataFrame:
        """Return the path as a table, one line per number of landmarks."""
        frame = pd.DataFrame(self.measures, index=self.counts)
        frame.index.name = "n_landmarks"
        return frame

    def plot(self, axes: Any = None) -> Any:
        """Draw every measure; dashes show the embedding without landmarks.

        Parameters
        ----------
        axes : array of matplotlib Axes, optional
            Five axes to draw into.

        Returns
        -------
        figure : matplotlib Figure
        """
        plt = required("matplotlib.pyplot", "plots", "Drawing")
        from matplotlib.ticker import MaxNLocator

        if axes is None:
            _, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
            axes.ravel()[-1].set_visible(False)
        axes = np.asarray(axes).ravel()
        for ax, (name, values) in zip(axes, self.measures.items(), strict=False):
            ax.plot(self.counts, values, marker=".", color="C0", label="landmarks")
            ax.axhline(self.without[name], ls="--", color="C3", label="without landmarks")
            ax.set_title(f"{MEASURES[name].title} {MEASURES[name].arrow}")
            ax.set_xlabel("landmarks")
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes[0].legend(frameon=False)
        return axes[0].figure
