"""How well each label is predicted: its precision and its recall, the best labels first.

Labels differ far more than one measure over all of them shows; the worst ones need the most work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from splmll.docstrings import with_paragraphs
from splmll.plots.display import Display, plain_text
from splmll.plots.label_input import (
    check_same_shape,
    label_matrix,
    label_names_of,
    same_columns,
)

WIDTH, LINE, AROUND = 6.5, 0.21, 1.1  # inches: a new figure, one label of it, and what is around


@with_paragraphs
class LabelPrecisionRecallDisplay(Display):
    """Precision, recall and F1 of every label, with the number of rows that have it.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    table : DataFrame
        One line for each label, best first: ``precision`` (NaN where the label is never
        predicted), ``recall`` (NaN where it never occurs), ``f1`` (NaN where both are), ``rows``
        that have the label and rows for which it is ``predicted``.
    max_labels : int, default=40
        With more labels, only the best and the worst are drawn, half of this number each.

    Attributes
    ----------
    shown : DataFrame
        The lines of the table that are drawn. Labels that never occur and are never predicted
        have nothing to show.
    precision_, recall_, f1_ : matplotlib PathCollection
        The markers, in the order of `shown`.

    Examples
    --------
    >>> from splmll.plots import LabelPrecisionRecallDisplay
    >>> Y = [[1, 0], [1, 1], [0, 1], [0, 1]]
    >>> P = [[1, 0], [1, 0], [1, 1], [0, 0]]
    >>> display = LabelPrecisionRecallDisplay.from_predictions(Y, P, label_names=["sea", "boat"])
    >>> display.table.loc["boat"].round(2).to_dict()
    {'precision': 1.0, 'recall': 0.33, 'f1': 0.5, 'rows': 3.0, 'predicted': 1.0}
    """

    def __init__(self, table: pd.DataFrame, max_labels: int = 40) -> None:
        if max_labels < 2:
            raise ValueError(f"max_labels is {max_labels}; show at least the best and the worst.")
        self.table = table
        self.max_labels = max_labels
        there = table[table["f1"].notna()]
        if there.empty:
            raise ValueError(
                "No label occurs or is predicted in these rows, so there is nothing to draw: give "
                "rows with labels."
            )
        self._cut = max_labels - max_labels // 2 if len(there) > max_labels else None
        self.shown = there if self._cut is None else self._ends(there, self._cut)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        label_names: Sequence[str] | None = None,
        max_labels: int = 40,
        ax: Any = None,
    ) -> LabelPrecisionRecallDisplay:
        """Predict rows the classifier has not seen and draw how well each label is predicted.

        Parameters
        ----------
        estimator : classifier
            Fitted multi-label classifier, pipeline or `Tagger`.
        {X}
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels; NaN cells are left out.
        label_names : sequence of str, optional
            Names; by default those Y or the estimator has, or the numbers of the labels.
        max_labels : int, default=40
            With more labels, only the best and the worst are drawn, half of this number each.
        {ax}

        Returns
        -------
        display : LabelPrecisionRecallDisplay
            The display, drawn.
        """
        n_labels = label_matrix(Y).shape[1]
        names = label_names_of(n_labels, Y, estimator, given=label_names)
        return cls.from_predictions(
            Y, estimator.predict(X), label_names=names, max_labels=max_labels, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        Y: Any,
        predicted: Any,
        *,
        label_names: Sequence[str] | None = None,
        max_labels: int = 40,
        ax: Any = None,
    ) -> LabelPrecisionRecallDisplay:
        """Draw predicted labels against true ones.

        Parameters
        ----------
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels; NaN cells are left out.
        predicted : array-like, sparse matrix or DataFrame of the same shape
            Predicted labels, 0 or 1. Of two tables the columns are matched by name.
        label_names : sequence of str, optional
            Names; by default the columns of a DataFrame, or the numbers of the labels.
        max_labels : int, default=40
            With more labels, only the best and the worst are drawn, half of this number each.
        {ax}

        Returns
        -------
        display : LabelPrecisionRecallDisplay
            The display, drawn.
        """
        labels, found = label_matrix(Y), label_matrix(same_columns(Y, predicted))
        check_same_shape(labels, found, "Predictions")
        names = label_names_of(labels.shape[1], Y, predicted, given=label_names)
        known = ~np.isnan(labels)
        hits = ((labels == 1) & (found == 1)).sum(axis=0)
        rows = (labels == 1).sum(axis=0)
        chosen = (known & (found == 1)).sum(axis=0)
        table = pd.DataFrame(
            {
                "precision": _share(hits, chosen),
                "recall": _share(hits, rows),
                "f1": _share(2 * hits, rows + chosen),
                "rows": rows,
                "predicted": chosen,
            },
            index=pd.Index(names, name="label", dtype=object),
        )
        # Of equally good labels the more frequent one first.
        table = table.sort_values(["f1", "rows"], ascending=False, kind="stable")
        return cls(table, max_labels).plot(ax=ax)

    def _ends(self, there: pd.DataFrame, n_best: int) -> pd.DataFrame:
        # Of equally bad labels the frequent ones, at which more can be gained; the worst goes last.
        others = there.iloc[n_best:]
        worst = others.sort_values(["f1", "rows"], ascending=[True, False], kind="stable")
        return pd.concat([there.head(n_best), worst.head(self.max_labels - n_best)[::-1]])

    def _size(self) -> tuple[float, float]:
        return WIDTH, AROUND + LINE * (len(self.shown) + (self._cut is not None))

    def _draw(self, ax: Any) -> None:
        places = np.arange(len(self.shown), dtype=float)
        ticks = [f"{name} ({rows})" for name, rows in self.shown["rows"].items()]
        if self._cut is not None:
            places[self._cut :] += 1  # a line between the best and the worst
            hidden = int(self.table["f1"].notna().sum()) - len(self.shown)
            words = f"... {hidden} more ..."
            ax.text(0.5, self._cut, words, ha="center", va="center", fontsize=8, color="0.4")
        low = self.shown[["precision", "recall"]].min(axis=1)
        high = self.shown[["precision", "recall"]].max(axis=1)
        ax.hlines(places, low, high, color="0.8", linewidth=2, zorder=1)
        marks = {"zorder": 2, "clip_on": False}
        self.f1_ = ax.scatter(
            self.shown["f1"], places, marker="|", color="0.3", label="F1", **marks
        )
        self.precision_ = ax.scatter(
            self.shown["precision"], places, color="C0", label="precision", **marks
        )
        self.recall_ = ax.scatter(
            self.shown["recall"], places, marker="D", s=28, color="C1", label="recall", **marks
        )
        ax.set_yticks(places, ticks, fontsize=8)
        plain_text(*ax.get_yticklabels())
        ax.set(xlim=(0, 1), xlabel="share", ylabel="label (rows that have it)")
        ax.set_ylim(places[-1] + 0.7, -0.7)  # best at the top
        ax.grid(axis="x", color="0.92")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
