"""What each number of landmarks achieves, one measure in one pair of axes.

The dashes show the same embedding without landmarks: where the curve meets them, more landmarks
buy nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from splmll.metrics import MEASURES
from splmll.plots.display import Display

if TYPE_CHECKING:
    from splmll.landmarks.path import LandmarkPath


class LandmarkPathDisplay(Display):
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

    def __init__(self, path: LandmarkPath, measure: str = "average_precision") -> None:
        self.path = path
        self.measure = measure

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        counts: Any = None,
        measure: str = "average_precision",
        ax: Any = None,
    ) -> LandmarkPathDisplay:
        """Follow the path of an `SPLMLL`, which need not be fitted, and draw it.

        Parameters
        ----------
        estimator : SPLMLL
            Its settings are used; it is not changed.
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels)
            0/1 labels.
        counts : sequence of int, optional
            Numbers of landmarks, see `SPLMLL.landmark_path`.
        measure : str, default="average_precision"
            One of the five measures of the paper.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display : LandmarkPathDisplay
            The display, drawn.
        """
        path = estimator.landmark_path(X, Y, counts=counts)
        return cls.from_path(path, measure=measure, ax=ax)

    @classmethod
    def from_path(
        cls, path: LandmarkPath, *, measure: str = "average_precision", ax: Any = None
    ) -> LandmarkPathDisplay:
        """Draw a path that was followed before.

        Parameters
        ----------
        path : LandmarkPath
            What `SPLMLL.landmark_path` returns.
        measure : str, default="average_precision"
            One of the measures of the path.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display : LandmarkPathDisplay
            The display, drawn.
        """
        if measure not in path.measures:
            known = ", ".join(path.measures)
            raise ValueError(f"The path has no measure {measure!r}; it has {known}.")
        return cls(path, measure).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 5.0, 3.4

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
