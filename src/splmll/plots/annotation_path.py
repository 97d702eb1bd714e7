"""What questions achieve: one measure against the number of questions, by how they are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from splmll.plots.path_display import PathDisplay

if TYPE_CHECKING:
    from splmll.landmarks.annotation_path import AnnotationPath


class AnnotationPathDisplay(PathDisplay):
    """One measure against the number of questions per row.

    Make one with `from_estimator` or `from_path`. `AnnotationPath.plot` draws all measures at once.

    Parameters
    ----------
    path : AnnotationPath
        What `SPLMLL.annotation_path` returns.
    measure : str, default="micro_f1"
        One of the measures of the path.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        A curve for each way to choose questions.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> from splmll.plots import AnnotationPathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 4))
    >>> Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(150, 3)) > 0).astype(int)
    >>> model = SPLMLL("linear", random_state=0)
    >>> display = AnnotationPathDisplay.from_estimator(model, X, Y)
    >>> display.lines_["adaptive"].get_xdata()
    array([0, 1, 2, 3])
    """

    path: AnnotationPath
    method = "annotation_path"
    default_measure = "micro_f1"

    @property
    def known_measures(self) -> list[str]:
        """The measures of the path."""
        return list(next(iter(self.path.measures.values())))

    def _draw(self, ax: Any) -> None:
        self.lines_ = self.path.draw(ax, self.measure)
        ax.legend(frameon=False)
