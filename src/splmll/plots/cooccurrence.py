"""A heat map of which labels occur together, like scikit-learn's displays.

A cell shows, of the rows with the row's label, the share that also have the column's label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from splmll.docstrings import with_paragraphs
from splmll.plots.display import HeatmapDisplay
from splmll.plots.label_input import label_names_of


@with_paragraphs
class LabelCooccurrenceDisplay(HeatmapDisplay):
    """Heat map of P(column label | row label), the most frequent labels first.

    Make one with `from_dataset`, `from_labels` or `from_counts`.

    Parameters
    ----------
    conditional : ndarray of shape (n_shown, n_shown)
        Shares from 0 to 1; NaN in the row of a label that never occurs.
    label_names : list of str
        Names of the labels that are shown.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.plots import LabelCooccurrenceDisplay
    >>> Y = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]])
    >>> display = LabelCooccurrenceDisplay.from_labels(Y, ["sea", "boat", "fog"])
    >>> float(display.conditional[0, 1])  # half of the pictures with sea show a boat
    0.5
    """

    def __init__(self, conditional: np.ndarray, label_names: list[str]) -> None:
        self.conditional = conditional
        self.label_names = label_names

    @classmethod
    def from_dataset(
        cls, dataset: Any, *, max_labels: int = 30, ax: Any = None
    ) -> LabelCooccurrenceDisplay:
        """Draw the labels of a `Dataset`; see `from_labels`."""
        return cls.from_labels(dataset.Y, dataset.label_names, max_labels=max_labels, ax=ax)

    @classmethod
    def from_labels(
        cls,
        Y: Any,
        label_names: Sequence[str] | None = None,
        *,
        max_labels: int = 30,
        ax: Any = None,
    ) -> LabelCooccurrenceDisplay:
        """Draw a label matrix.

        Parameters
        ----------
        Y : array, sparse array or DataFrame of shape (n_rows, n_labels)
            Labels, 0 or 1; NaN counts as absent.
        label_names : sequence of str, optional
            Names; by default the columns of a DataFrame, or the numbers of the labels.
        max_labels : int
            At most this many labels are shown, the most frequent ones.
        {ax}
        """
        names = label_names_of(np.shape(Y)[1], Y, given=label_names)
        if sparse.issparse(Y):
            labels = sparse.csr_array(Y, dtype=np.int64, copy=True)
        else:
            values = np.nan_to_num(np.asarray(Y, dtype=np.float64))
            labels = sparse.csr_array((values != 0).astype(np.int64))
        return cls.from_counts(labels.T @ labels, names, max_labels=max_labels, ax=ax)

    @classmethod
    def from_counts(
        cls, counts: Any, label_names: Sequence[str], *, max_labels: int = 30, ax: Any = None
    ) -> LabelCooccurrenceDisplay:
        """Draw a matrix of co-occurrence counts, whose diagonal counts each label alone."""
        if max_labels < 1:
            raise ValueError(f"max_labels is {max_labels}; show at least one label")
        diagonal = np.asarray(counts.diagonal())
        # Stable, so that equally frequent labels keep their order in the data.
        shown = np.argsort(-diagonal, kind="stable")[:max_labels]
        if sparse.issparse(counts):
            together = sparse.csr_array(counts)[shown][:, shown].toarray()
        else:
            together = np.asarray(counts)[np.ix_(shown, shown)]
        frequency = diagonal[shown].astype(np.float64)
        conditional = np.full(together.shape, np.nan)
        occurs = frequency > 0
        conditional[occurs] = together[occurs] / frequency[occurs, None]
        display = cls(conditional, [str(label_names[number]) for number in shown])
        return display.plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        side = min(max(4.0, 0.28 * len(self.label_names) + 2.0), 14.0)
        return side + 1.0, side

    def _draw(self, ax: Any) -> None:
        names = self.label_names
        self._draw_cells(ax, self.conditional, names, names, "P(column | row)", vmin=0.0, vmax=1.0)
        ax.set_facecolor("lightgrey")  # shows through where a label never occurs
        ax.set(xlabel="label that occurs with it", ylabel="given label")
