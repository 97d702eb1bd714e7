"""A heat map of which labels stand together, in the manner of scikit-learn's displays.

A cell is the share of the rows with the row's label that also carry the column's label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


class LabelCooccurrenceDisplay:
    """Heat map of P(column label | row label), the most frequent labels first.

    Make one with `from_dataset`, `from_labels` or `from_counts`.

    Parameters
    ----------
    conditional : ndarray of shape (n_shown, n_shown)
        Shares from 0 to 1; NaN in the row of a label that never occurs.
    label_names : list of str
        Names of the labels that are shown.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    im_ : matplotlib AxesImage
        The heat map.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.plots.cooccurrence import LabelCooccurrenceDisplay
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
            Names; by default the columns of a DataFrame, or label_000, label_001, ...
        max_labels : int
            Only so many labels are shown, the most frequent ones.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        """
        if label_names is None:
            columns = getattr(Y, "columns", None)
            label_names = (
                [f"label_{number:03d}" for number in range(Y.shape[1])]
                if columns is None
                else [str(column) for column in columns]
            )
        if sparse.issparse(Y):
            labels = sparse.csr_array(Y, dtype=np.int64, copy=True)
        else:
            values = np.nan_to_num(np.asarray(Y, dtype=np.float64))
            labels = sparse.csr_array((values != 0).astype(np.int64))
        return cls.from_counts(labels.T @ labels, label_names, max_labels=max_labels, ax=ax)

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

    def plot(self, ax: Any = None, *, cmap: Any = "viridis") -> LabelCooccurrenceDisplay:
        """Draw the heat map into `ax`, or into a new figure."""
        import matplotlib.pyplot as plt

        n_shown = len(self.label_names)
        if ax is None:
            side = min(max(4.0, 0.28 * n_shown + 2.0), 14.0)
            _, ax = plt.subplots(figsize=(side + 1.0, side), layout="constrained")
        image = ax.imshow(self.conditional, vmin=0.0, vmax=1.0, cmap=cmap)
        ax.set_facecolor("lightgrey")  # shows through where a label never occurs
        size = 9 if n_shown <= 15 else 7 if n_shown <= 40 else 4
        ax.set_xticks(range(n_shown), self.label_names, rotation=90, fontsize=size)
        ax.set_yticks(range(n_shown), self.label_names, fontsize=size)
        ax.set_xlabel("label that stands with it")
        ax.set_ylabel("label that is given")
        ax.figure.colorbar(image, ax=ax, label="P(column | row)")
        self.ax_ = ax
        self.figure_ = ax.figure
        self.im_ = image
        return self
