"""How often labels occur with another label, as bars (the paper's Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from splmll.docstrings import with_paragraphs
from splmll.names import listed, suggestion
from splmll.plots.display import Display, plain_text
from splmll.plots.label_input import label_matrix, label_names_of


@with_paragraphs
class LabelCompanyDisplay(Display):
    """Bars for pairs of labels: rows that have the first one, with and without the second.

    Make one with `from_labels`, or from the counts themselves.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Names of the given label and of the other one.
    with_other, without_other : sequence of int
        How many rows with the given label have the other one, and how many do not.

    Attributes
    ----------
    bars_ : tuple of two matplotlib BarContainers
        Rows with the other label, and rows without it.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.plots import LabelCompanyDisplay
    >>> Y = np.array([[1, 1], [1, 1], [1, 0], [0, 1]])
    >>> display = LabelCompanyDisplay.from_labels(Y, [("sea", "boat")], ["sea", "boat"])
    >>> display.shares.round(2).tolist()
    [0.67]
    """

    def __init__(
        self,
        pairs: Sequence[tuple[str, str]],
        with_other: Sequence[int],
        without_other: Sequence[int],
    ) -> None:
        self.pairs = list(pairs)
        self.with_other = np.asarray(with_other)
        self.without_other = np.asarray(without_other)

    @property
    def shares(self) -> np.ndarray:
        """P(other | given) of every pair; NaN where the given label never occurs."""
        total = self.with_other + self.without_other
        return np.divide(self.with_other, total, out=np.full(total.shape, np.nan), where=total > 0)

    @classmethod
    def from_labels(
        cls,
        Y: Any,
        pairs: Sequence[tuple[str, str]],
        label_names: Sequence[str] | None = None,
        *,
        ax: Any = None,
    ) -> LabelCompanyDisplay:
        """Count the pairs in a label matrix and draw them.

        Parameters
        ----------
        Y : array, sparse array or DataFrame of shape (n_rows, n_labels)
            Labels, 0 or 1; a row in which one of a pair is NaN does not count for it.
        pairs : sequence of (str, str)
            Names of the given label and of the other one.
        label_names : sequence of str, optional
            Names of the columns; by default those of a DataFrame.
        {ax}

        Returns
        -------
        display : LabelCompanyDisplay
            The display, drawn.
        """
        if label_names is None and not hasattr(Y, "columns"):
            raise ValueError("Give label_names: an array has no names of labels.")
        labels = label_matrix(Y)
        names = label_names_of(labels.shape[1], Y, given=label_names)
        unknown = [name for pair in pairs for name in pair if name not in names]
        if unknown:
            raise ValueError(
                f"There is no label {unknown[0]!r}.{suggestion(unknown[0], names)} "
                f"The labels are {listed(names)}."
            )
        given = labels[:, [names.index(first) for first, _ in pairs]]
        other = labels[:, [names.index(second) for _, second in pairs]]
        with_other = ((given == 1) & (other == 1)).sum(axis=0)
        display = cls(pairs, with_other, ((given == 1) & (other == 0)).sum(axis=0))
        return display.plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 1.6 + 1.7 * len(self.pairs), 3.4

    def _draw(self, ax: Any) -> None:
        places = np.arange(len(self.pairs))
        width = 0.38
        self.bars_ = (
            ax.bar(places - width / 2, self.with_other, width, label="with"),
            ax.bar(places + width / 2, self.without_other, width, label="without"),
        )
        for bars in self.bars_:
            ax.bar_label(bars)
        ticks = [
            f"{first}\nand {second}\n{share:.0%}"
            for (first, second), share in zip(self.pairs, self.shares)
        ]
        ax.set_xticks(places, ticks)
        plain_text(*ax.get_xticklabels())
        ax.set_ylabel("rows")
        ax.margins(y=0.12)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
