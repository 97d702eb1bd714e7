"""How well a tagger did on rows whose labels are known: the measures, and each label by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import f1_score
from sklearn.pipeline import Pipeline

from splmll.metrics import evaluate
from splmll.tagging.rows import dense


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
        One line per label: ``rows`` that have it, rows for which it was ``predicted``, and its
        ``f1`` (NaN where no row has it).
    unknown_labels : list of str
        Labels of these rows that the tagger has never seen; they are not measured.
    """

    n_rows: int
    measures: dict[str, float]
    labels: pd.DataFrame
    unknown_labels: list[str] = field(default_factory=list)

    def best(self, n: int = 5) -> pd.DataFrame:
        """Return the labels with the highest F1, of equal ones the most frequent first."""
        return self._by_f1(ascending=False).head(n)

    def worst(self, n: int = 5) -> pd.DataFrame:
        """Return the labels with the lowest F1, of equal ones the most frequent first."""
        return self._by_f1(ascending=True).head(n)

    def _by_f1(self, ascending: bool) -> pd.DataFrame:
        return self.labels.dropna().sort_values(
            ["f1", "rows"], ascending=[ascending, False], kind="stable"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            "rows": self.n_rows,
            "measures": self.measures,
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
    pipeline: Pipeline, X: Any, Y: Any, label_names: Sequence[str], unknown: Sequence[str] = ()
) -> Measured:
    """Return how well a fitted pipeline does on rows; ``unknown`` names labels left out of Y."""
    scores, labels = pipeline.decision_function(X), pipeline.predict(X)
    support = np.asarray(Y.sum(axis=0)).ravel()
    f1 = np.atleast_1d(_f1(Y, labels))
    table = pd.DataFrame(
        {
            "rows": support.astype(int),
            "predicted": np.asarray(labels.sum(axis=0)).ravel().astype(int),
            "f1": np.where(support > 0, f1, np.nan),
        },
        index=pd.Index(list(label_names), name="label", dtype=object),
    )
    measures = evaluate(Y, scores, labels, ties="half")
    return Measured(
        n_rows=int(Y.shape[0]),
        measures={name: float(value) for name, value in measures.items()},
        labels=table,
        unknown_labels=list(unknown),
    )


def _f1(Y: Any, labels: Any) -> np.ndarray:
    if Y.shape[1] == 1:
        # One column would be taken for a binary problem, with an F1 for "not" too.
        return f1_score(dense(Y).ravel(), dense(labels).ravel(), zero_division=0)
    return f1_score(Y, labels, average=None, zero_division=0)
