"""What the displays of paths have in common: one measure against a number that grows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

from splmll.docstrings import with_paragraphs
from splmll.plots.display import Display


@with_paragraphs
class PathDisplay(Display):
    """Base of the displays of paths: a subclass says which method follows its path.

    Parameters
    ----------
    path : LandmarkPath or AnnotationPath
        What the method of an `SPLMLL` returns.
    measure : str, optional
        One of the measures of the path.

    Attributes
    ----------
    method : str
        The method of an `SPLMLL` that follows the path.
    default_measure : str
        What is drawn if no measure is named.
    """

    method: ClassVar[str]
    default_measure: ClassVar[str]

    def __init__(self, path: Any, measure: str | None = None) -> None:
        self.path = path
        self.measure = self.default_measure if measure is None else measure
        if self.measure not in self.known_measures:
            known = ", ".join(self.known_measures)
            raise ValueError(f"The path has no measure {measure!r}; it has {known}.")

    @property
    @abstractmethod
    def known_measures(self) -> list[str]:
        """The measures of the path."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        counts: Any = None,
        measure: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Compute the path of an `SPLMLL`, which need not be fitted, and draw it.

        Parameters
        ----------
        estimator : SPLMLL
            Its settings are used; it is not changed.
        {X}
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels)
            0/1 labels.
        counts : sequence of int, optional
            The numbers to try, see the method of `SPLMLL`.
        measure : str, optional
            One of the measures of the path.
        {ax}

        Returns
        -------
        display : PathDisplay
            The display, drawn.
        """
        path = getattr(estimator, cls.method)(X, Y, counts=counts)
        return cls.from_path(path, measure=measure, ax=ax)

    @classmethod
    def from_path(cls, path: Any, *, measure: str | None = None, ax: Any = None) -> Self:
        """Draw an existing path.

        Parameters
        ----------
        path : LandmarkPath or AnnotationPath
            What the method of an `SPLMLL` returned.
        measure : str, optional
            One of the measures of the path.
        {ax}

        Returns
        -------
        display : PathDisplay
            The display, drawn.
        """
        return cls(path, measure).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 5.0, 3.4
