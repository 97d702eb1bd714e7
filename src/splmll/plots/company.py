"""How often labels stand with another one: rows with and without, as bars (the paper's Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


class LabelCompanyDisplay:
    """Bars for pairs of labels: rows that have the first one, with and without the second.

    Make one with `from_labels`, or from the counts themselves.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Names of the given label and of the one that may stand with it.
    with_other, without_other : sequence of int
        How many rows with the given label have the other one, and how many have not.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

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
            Labels, 0 or 1.
        pairs : sequence of (str, str)
            Names of the given label and of the one that may stand with it.
        label_names : sequence of str, optional
            Names of the columns; by default those of a DataFrame.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display : LabelCompanyDisplay
            The display, drawn.
        """
        if label_names is None:
            if not hasattr(Y, "columns"):
                raise ValueError("Give label_names: an array does not tell the names of labels.")
            label_names = list(Y.columns)
        names = [str(name) for name in label_names]
        unknown = [name for pair in pairs for name in pair if name not in names]
        if unknown:
            raise ValueError(f"There is no label {unknown[0]!r}; there are {', '.join(names)}.")
        labels = (Y.toarray() if sparse.issparse(Y) else np.asarray(Y)) == 1
        given = labels[:, [names.index(first) for first, _ in pairs]]
        other = labels[:, [names.index(second) for _, second in pairs]]
        display = cls(pairs, (given & other).sum(axis=0), (given & ~other).sum(axis=0))
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> LabelCompanyDisplay:
        """Draw the bars into `ax`, or into a new figure."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(1.6 + 1.7 * len(self.pairs), 3.4), layout="constrained")
        places = np.arange(len(self.pairs))
        width = 0.38
        sides = ((-width / 2, self.with_other, "with"), (width / 2, self.without_other, "without"))
        for shift, counts, word in sides:
            bars = ax.bar(places + shift, counts, width, label=word)
            ax.bar_label(bars)
        ticks = [
            f"{first}\nand {second}\n{share:.0%}"
            for (first, second), share in zip(self.pairs, self.shares)
        ]
        ax.set_xticks(places, ticks)
        ax.set_ylabel("rows")
        ax.margins(y=0.12)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
