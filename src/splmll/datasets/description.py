"""What one wants to know of a multi-label data set before learning from it.

Counts, cardinality, imbalance and concurrence of the labels, and which labels occur together.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

if TYPE_CHECKING:
    from splmll.datasets.dataset import Dataset
    from splmll.plots.cooccurrence import LabelCooccurrenceDisplay


@dataclass(frozen=True, eq=False, repr=False)
class DatasetDescription:
    r"""Statistics of the labels of a data set.

    With :math:`n` rows, :math:`C` labels, :math:`Y_i` the labels of row :math:`i` and
    :math:`c_l` the number of rows that carry label :math:`l` (unknown labels count as absent):

    * cardinality :math:`\frac1n\sum_i |Y_i|`, density = cardinality / :math:`C`;
    * :math:`\mathrm{IRLbl}(l) = \max_k c_k / c_l`, the imbalance ratio of a label;
      it is infinite for a label that no row carries;
    * :math:`\mathrm{MeanIR}` = mean of IRLbl over the labels that occur;
    * :math:`\mathrm{SCUMBLE}_i = 1 - \frac{(\prod_{l\in Y_i}\mathrm{IRLbl}(l))^{1/|Y_i|}}
      {\frac{1}{|Y_i|}\sum_{l\in Y_i}\mathrm{IRLbl}(l)}`, one minus the ratio of the geometric to
      the arithmetic mean, 0 for a row without labels; SCUMBLE is its mean over the rows.
      It is high where rare and frequent labels stand in the same rows.

    Parameters
    ----------
    name : str
        Name of the data set.
    n_rows, n_features, n_labels : int
        Its size.
    label_names : list of str
        The labels, in column order.
    label_counts : ndarray of int of shape (n_labels,)
        In how many rows each label stands.
    cooccurrence : CSR array of int of shape (n_labels, n_labels)
        In how many rows two labels stand together; the diagonal is `label_counts`.
    n_distinct_label_sets : int
        How many different combinations of labels occur.
    n_unlabelled_rows : int
        How many rows have no label at all.
    n_unknown : int
        How many cells of Y are unknown (NaN).
    scumble : float
        Concurrence of rare and frequent labels, from 0 to 1.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera: Addressing imbalance in multilabel
    classification: Measures and random resampling algorithms. Neurocomputing 163, 2015 (IRLbl,
    MeanIR). The same: Concurrence among imbalanced labels and its influence on multilabel
    resampling algorithms. HAIS 2014 (SCUMBLE).

    Examples
    --------
    >>> from splmll.datasets import make_digit_scenes
    >>> description = make_digit_scenes(n_train=60, n_test=20).describe()
    >>> description.n_rows, description.n_labels
    (80, 10)
    >>> description.table_row()["features"]
    576
    """

    name: str
    n_rows: int
    n_features: int
    n_labels: int
    label_names: list[str]
    label_counts: np.ndarray
    cooccurrence: Any
    n_distinct_label_sets: int
    n_unlabelled_rows: int
    n_unknown: int
    scumble: float

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> DatasetDescription:
        """Count what is to be counted in a data set."""
        labels, n_unknown = _as_counts(dataset.Y)
        label_counts = np.asarray(labels.sum(axis=0)).ravel().astype(np.int64)
        row_sizes = np.diff(labels.indptr)
        return cls(
            name=dataset.name,
            n_rows=int(dataset.X.shape[0]),
            n_features=int(dataset.X.shape[1]),
            n_labels=int(labels.shape[1]),
            label_names=list(dataset.label_names),
            label_counts=label_counts,
            cooccurrence=sparse.csr_array(labels.T @ labels),
            n_distinct_label_sets=_count_distinct_rows(labels),
            n_unlabelled_rows=int(np.sum(row_sizes == 0)),
            n_unknown=n_unknown,
            scumble=_scumble(labels, _imbalance(label_counts)),
        )

    @property
    def cardinality(self) -> float:
        """Mean number of labels of a row."""
        return float(self.label_counts.sum() / self.n_rows) if self.n_rows else 0.0

    @property
    def density(self) -> float:
        """Cardinality divided by the number of labels."""
        return self.cardinality / self.n_labels if self.n_labels else 0.0

    @property
    def label_frequencies(self) -> np.ndarray:
        """Share of the rows that carry each label."""
        return self.label_counts / max(self.n_rows, 1)

    @property
    def imbalance(self) -> np.ndarray:
        """IRLbl of each label; infinite where the label never occurs."""
        return _imbalance(self.label_counts)

    @property
    def mean_imbalance(self) -> float:
        """MeanIR: mean IRLbl of the labels that occur; NaN if none does."""
        ratios = self.imbalance
        ratios = ratios[np.isfinite(ratios)]
        return float(ratios.mean()) if ratios.size else float("nan")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per label: its count, its frequency and its imbalance ratio."""
        return pd.DataFrame(
            {
                "count": self.label_counts,
                "frequency": self.label_frequencies,
                "imbalance": self.imbalance,
            },
            index=pd.Index(self.label_names, name="label"),
        )

    def table_row(self) -> dict[str, Any]:
        """Return the columns of a usual table of data sets, cardinality to one digit."""
        return {
            "dataset": self.name,
            "instances": self.n_rows,
            "features": self.n_features,
            "labels": self.n_labels,
            "cardinality": round(self.cardinality, 1),
        }

    def plot(self, ax: Any = None, *, max_labels: int = 30) -> LabelCooccurrenceDisplay:
        """Draw which labels occur together: P(column label | row label) as a heat map."""
        from splmll.plots.cooccurrence import LabelCooccurrenceDisplay

        return LabelCooccurrenceDisplay.from_counts(
            self.cooccurrence, self.label_names, max_labels=max_labels, ax=ax
        )

    def __repr__(self) -> str:
        return (
            f"<DatasetDescription {self.name!r}: {self.n_rows} rows, {self.n_labels} labels, "
            f"cardinality {self.cardinality:.2f}>"
        )

    def __str__(self) -> str:
        width = max(len(what) for what, _ in self._lines())
        return "\n".join(
            [self.name] + [f"  {what:<{width}}  {value}" for what, value in self._lines()]
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th style="text-align:left">{html.escape(what)}</th>'
            f"<td>{html.escape(value)}</td></tr>"
            for what, value in self._lines()
        )
        return f"<table><caption>{html.escape(self.name)}</caption><tbody>{rows}</tbody></table>"

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            ("rows", f"{self.n_rows}"),
            ("features", f"{self.n_features}"),
            ("labels", f"{self.n_labels}"),
            ("cardinality", f"{self.cardinality:.3f}"),
            ("density", f"{self.density:.4f}"),
            ("distinct label sets", f"{self.n_distinct_label_sets}"),
            ("rows without a label", f"{self.n_unlabelled_rows}"),
            ("mean imbalance (MeanIR)", f"{self.mean_imbalance:.3f}"),
            ("concurrence (SCUMBLE)", f"{self.scumble:.4f}"),
        ]
        if self.n_unknown:
            lines.append(("unknown label cells", f"{self.n_unknown}"))
        if self.n_labels:
            most, least = int(self.label_counts.argmax()), int(self.label_counts.argmin())
            for what, label in (("most frequent label", most), ("rarest label", least)):
                lines.append((what, f"{self.label_names[label]} ({self.label_counts[label]})"))
        return lines


def _as_counts(Y: Any) -> tuple[sparse.csr_array, int]:
    """Return the labels as a CSR array of int64 without stored zeros, and the number of NaN."""
    if sparse.issparse(Y):
        labels = sparse.csr_array(Y, dtype=np.int64, copy=True)
        n_unknown = 0
    else:
        values = np.asarray(Y, dtype=np.float64)
        n_unknown = int(np.isnan(values).sum())
        labels = sparse.csr_array((np.nan_to_num(values) != 0).astype(np.int64))
    # An explicitly stored zero would count as a label of its row.
    labels.eliminate_zeros()
    labels.sort_indices()
    return labels, n_unknown


def _count_distinct_rows(labels: sparse.csr_array) -> int:
    starts, columns = labels.indptr, labels.indices
    return len({columns[a:b].tobytes() for a, b in pairwise(starts)})


def _imbalance(label_counts: np.ndarray) -> np.ndarray:
    ratios = np.full(len(label_counts), np.inf)
    occurs = label_counts > 0
    ratios[occurs] = label_counts.max(initial=0) / label_counts[occurs]
    return ratios


def _scumble(labels: sparse.csr_array, imbalance: np.ndarray) -> float:
    # Labels that never occur stand in no row; 1 keeps 0 * inf out of the products.
    ratios = np.where(np.isfinite(imbalance), imbalance, 1.0)
    row_sizes = np.diff(labels.indptr)
    if not len(row_sizes):
        return 0.0
    labelled = row_sizes > 0
    sizes = row_sizes[labelled]
    geometric = np.exp((labels @ np.log(ratios))[labelled] / sizes)
    arithmetic = (labels @ ratios)[labelled] / sizes
    # No mean is above the arithmetic one, but rounding may put it there.
    return float(np.sum(np.maximum(1.0 - geometric / arithmetic, 0.0)) / len(row_sizes))
