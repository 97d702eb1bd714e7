"""What questions achieve: one measure against the number of questions, by how they are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from splmll.plots.display import Display

if TYPE_CHECKING:
    from splmll.landmarks.annotation_path import AnnotationPath


class AnnotationPathDisplay(Display):
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

    def __init__(self, path: AnnotationPath, measure: str = "micro_f1") -> None:
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
        measure: str = "micro_f1",
        ax: Any = None,
    ) -> AnnotationPathDisplay:
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
            Numbers of questions, see `SPLMLL.annotation_path`.
        measure : str, default="micro_f1"
            One of "micro_f1", "exact_match" and "wrong_labels".
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display : AnnotationPathDisplay
            The display, drawn.
        """
        path = estimator.annotation_path(X, Y, counts=counts)
        return cls.from_path(path, measure=measure, ax=ax)

    @classmethod
    def from_path(
        cls, path: AnnotationPath, *, measure: str = "micro_f1", ax: Any = None
    ) -> AnnotationPathDisplay:
        """Draw a path that was followed before.

        Parameters
        ----------
        path : AnnotationPath
            What `SPLMLL.annotation_path` returns.
        measure : str, default="micro_f1"
            One of the measures of the path.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display : AnnotationPathDisplay
            The display, drawn.
        """
        known = next(iter(path.measures.values()))
        if measure not in known:
            raise ValueError(f"The path has no measure {measure!r}; it has {', '.join(known)}.")
        return cls(path, measure).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 5.0, 3.4

    def _draw(self, ax: Any) -> None:
        self.lines_ = self.path.draw(ax, self.measure)
        ax.legend(frameon=False)
