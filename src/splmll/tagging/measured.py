"""How well a tagger did on rows whose labels are known: the measures, and each label by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.landmarks.out_of_fold import OutOfFold
from splmll.metrics import PAPER_MEASURES, evaluate
from splmll.tagging.rows import has_unknown, label_counts

OUT_OF_FOLD, HELD_OUT, OTHER_ROWS = "out of fold", "held out", "other rows"


@dataclass(frozen=True, eq=False)
class Measured:
    """How well a tagger did on rows whose labels are known.

    Attributes
    ----------
    n_rows : int
        Number of these rows.
    measures : dict of str to float
        The paper's five measures, see :func:`splmll.evaluate`.
    labels : DataFrame
        One line per label: the number of ``rows`` that have it, the number of rows for which it was
        ``predicted``, and its ``f1`` (NaN if no row has it).
    unknown_labels : list of str
        Labels of these rows that the tagger has never seen; they are not measured.
    how : {"out of fold", "held out", "other rows"}
        Which rows these are. "out of fold": all training rows, each judged by a model of the other
        folds, which had not seen it. "held out": a share of the rows, judged by a model of all
        others. "other rows": those given to :meth:`splmll.tagging.Tagger.evaluate`.
    alone : dict of str to float
        The same measures for the embedding alone, with every label predicted on its own: what a
        plain one-vs-rest model achieves. Empty if it was not measured.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.tagging import Measured
    >>> labels = pd.DataFrame({"rows": [30, 2], "f1": [0.8, 1.0]}, index=["pump", "oil"])
    >>> measured = Measured(40, {"micro_f1": 0.81}, labels)
    >>> list(measured.best().index), list(measured.best(least_rows=10).index)
    (['oil', 'pump'], ['pump'])
    """

    n_rows: int
    measures: dict[str, float]
    labels: pd.DataFrame
    unknown_labels: list[str] = field(default_factory=list)
    how: str = HELD_OUT
    alone: dict[str, float] = field(default_factory=dict)

    def best(self, n: int = 5, least_rows: int = 1) -> pd.DataFrame:
        """Return the labels with the highest F1; ties are ordered by frequency.

        Parameters
        ----------
        n : int, default=5
            How many.
        least_rows : int, default=1
            Labels with fewer rows are left out.

        Returns
        -------
        labels : DataFrame
        """
        return self._by_f1(least_rows, ascending=False).head(n)

    def worst(self, n: int = 5, least_rows: int = 1) -> pd.DataFrame:
        """Return the labels with the lowest F1; ties are ordered by frequency.

        Parameters
        ----------
        n, least_rows : int
            As in :meth:`best`.

        Returns
        -------
        labels : DataFrame
        """
        return self._by_f1(least_rows, ascending=True).head(n)

    def _by_f1(self, least_rows: int, ascending: bool) -> pd.DataFrame:
        enough = self.labels[self.labels["rows"] >= max(1, least_rows)]
        return enough.sort_values(["f1", "rows"], ascending=[ascending, False], kind="stable")

    def to_dict(self) -> dict[str, Any]:
        """Return everything in a form that JSON can represent."""
        return {
            "how": self.how,
            "rows": self.n_rows,
            "measures": self.measures,
            "alone": self.alone,
            "labels": {
                str(label): {
                    **{name: int(line[name]) for name in ("rows", "predicted") if name in line},
                    "f1": None if np.isnan(line["f1"]) else float(line["f1"]),
                }
                for label, line in self.labels.iterrows()
            },
            "unknown_labels": self.unknown_labels,
        }


def measure(
    Y: Any,
    scores: np.ndarray,
    labels: Any,
    label_names: Sequence[str],
    *,
    how: str,
    unknown: Sequence[str] = (),
) -> Measured:
    """Return how good scores and labels of rows are.

    Parameters
    ----------
    Y : array or sparse matrix of shape (n_rows, n_labels)
        The labels that the rows have.
    scores : ndarray of shape (n_rows, n_labels)
        Larger for more relevant labels.
    labels : array or sparse matrix of shape (n_rows, n_labels)
        The labels that were predicted.
    label_names : sequence of str
        Names of the labels.
    how : str
        Which rows these are, see :class:`Measured`.
    unknown : sequence of str
        Labels of the rows that were left out of Y.

    Returns
    -------
    measured : Measured
    """
    known = None
    if has_unknown(Y):
        known = ~np.isnan(Y)
        labels = np.where(known, labels, 0)
    present, predicted = label_counts(Y), label_counts(labels)
    hits = label_counts(Y.multiply(labels) if sparse.issparse(Y) else labels * Y)
    f1 = np.full(len(present), np.nan)
    np.divide(2.0 * hits, present + predicted, out=f1, where=present > 0)
    table = pd.DataFrame(
        {"rows": present, "predicted": predicted, "f1": f1},
        index=pd.Index(list(label_names), name="label", dtype=object),
    )
    return Measured(
        n_rows=int(Y.shape[0]),
        measures=_measures(Y, scores, labels, known),
        labels=table,
        unknown_labels=list(unknown),
        how=how,
    )


def measure_out_of_fold(found: OutOfFold, label_names: Sequence[str]) -> Measured:
    """Return how well models did on unseen rows, with and without landmarks.

    Parameters
    ----------
    found : OutOfFold
        What :meth:`splmll.SPLMLL.fit_out_of_fold` returned.
    label_names : sequence of str
        Names of the labels.

    Returns
    -------
    measured : Measured
    """
    measured = measure(found.truth, found.scores, found.labels, label_names, how=OUT_OF_FOLD)
    known = ~np.isnan(found.truth) if has_unknown(found.truth) else None
    measured.alone.update(_measures(found.truth, found.alone, found.labels_alone, known))
    return measured


def _measures(
    Y: Any, scores: np.ndarray, labels: Any, known: np.ndarray | None
) -> dict[str, float]:
    if known is None:
        found = evaluate(Y, scores, labels, ties="half")
        return {name: float(value) for name, value in found.items()}
    # What is counted label by label is counted on all known labels, what ranks the labels of a row
    # on rows of which all are known.
    truth, said = np.where(known, Y, 0), np.where(known, labels, 0)
    pooled = evaluate(truth, None, said, measures=["micro_f1", "macro_f1"])
    pooled["hamming_loss"] = float((truth != said).sum() / known.sum())
    whole = known.all(axis=1)
    if whole.any():
        ranked = ["ranking_loss", "average_precision"]
        pooled |= evaluate(Y[whole], scores[whole], None, measures=ranked, ties="half")
    return {name: float(pooled[name]) for name in PAPER_MEASURES if name in pooled}
