"""What each number of landmarks achieves, one measure in one pair of axes.

The dashed line shows the same embedding without landmarks: where the curve meets it, more landmarks
gain nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from splmll.metrics import MEASURES
from splmll.plots.path_display import PathDisplay

if TYPE_CHECKING:
    from splmll.landmarks.path import LandmarkPath


class LandmarkPathDisplay(PathDisplay):
    """One measure against the number of landmarks.

    Make one with `from_estimator` or `from_path`. `LandmarkPath.plot` draws all measures at once.

    Parameters
    ----------
    path : LandmarkPath
        What `SPLMLL.landmark_path` returns.
    measure : str, default="average_precision"
        One of the measures of the path.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The path.
    without_ : matplotlib Line2D
        The dashes.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> from splmll.plots import LandmarkPathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 4))
    >>> Y = (X @ rng.normal(size=(4, 3)) > 0).astype(int)
    >>> model = SPLMLL("linear", random_state=0)
    >>> display = LandmarkPathDisplay.from_estimator(model, X, Y, measure="ranking_loss")
    >>> display.line_.get_xdata()
    array([1, 2, 3])
    """

    path: LandmarkPath
    method = "landmark_path"
    default_measure = "average_precision"

    @property
    def known_measures(self) -> list[str]:
        """The measures of the path."""
        return list(self.path.measures)

    def _draw(self, ax: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        (self.line_,) = ax.plot(
            self.path.counts,
            self.path.measures[self.measure],
            marker=".",
            color="C0",
            label="with landmarks",
        )
        self.without_ = ax.axhline(
            self.path.without[self.measure], ls="--", color="C3", label="without landmarks"
        )
        title = f"{MEASURES[self.measure].title} {MEASURES[self.measure].arrow}"
        ax.set(xlabel="number of landmarks", ylabel=title)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend(frameon=False)
