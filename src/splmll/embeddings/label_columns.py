"""Labels one by one, for models that learn one label at a time, and the curve that bounds these."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from splmll.statistics import split_unknown

CURVE_CELLS = 400_000  # decision values that the curve is fitted to
PLAIN_SLOPE = 3.0  # of the curve where there is nothing to fit it to


class LabelColumns:
    """Labels column by column.

    Parameters
    ----------
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        0/1 labels; NaN where unknown.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows.

    Attributes
    ----------
    positives, rate : ndarray of shape (n_labels,)
        In how many rows each label is true, and its share of the known ones by their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings.label_columns import LabelColumns
    >>> labels = LabelColumns(np.array([[1.0, 0.0], [np.nan, 1.0]]))
    >>> labels.column(0)
    (array([1., 0.]), array([ True, False]))
    """

    def __init__(self, Y: Any, weights: np.ndarray | None = None) -> None:
        filled, known = split_unknown(Y)
        self.shape: tuple[int, int] = Y.shape
        self.columns = sparse.csc_array(filled)
        self.known = None if known is None else known > 0
        count = self.shape[0] if known is None else np.maximum(known.sum(axis=0), 1)
        self.positives = np.asarray(self.columns.sum(axis=0)).ravel()
        self.weights, self.rate = weights, self.positives / count
        if weights is not None:
            total = weights.sum() if known is None else weights @ known
            self.rate = (weights @ self.columns) / np.where(total > 0, total, 1.0)

    def of(self, labels: np.ndarray) -> LabelColumns:
        """Return some of the labels."""
        part = object.__new__(LabelColumns)
        part.shape = (self.shape[0], len(labels))
        part.columns = self.columns[:, labels]
        part.known = None if self.known is None else self.known[:, labels]
        part.positives, part.rate = self.positives[labels], self.rate[labels]
        part.weights = self.weights
        return part

    def column(self, label: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return one label of all rows, and the rows where it is known."""
        start, end = self.columns.indptr[label : label + 2]
        y = np.zeros(self.shape[0])
        y[self.columns.indices[start:end]] = self.columns.data[start:end]
        return y, None if self.known is None else self.known[:, label]

    def sample(self, most: int) -> LabelColumns:
        """Return the labels that occur: all, or so many, some of every frequency."""
        order = np.argsort(-self.positives, kind="stable")
        order = order[self.positives[order] > 0]
        places = np.linspace(0, len(order) - 1, min(most, len(order)))
        return self.of(order[places.round().astype(int)])


def bounding_slope(margins: np.ndarray, targets: LabelColumns) -> float:
    """Return the slope of the logistic curve through (0, 1/2) that fits decision values best.

    Parameters
    ----------
    margins : ndarray of shape (n_rows, n_labels)
        Decision values of rows that the models did not see; NaN where there was no model.
    targets : LabelColumns
        The labels of these rows.
    """
    cells = np.flatnonzero(~np.isnan(margins))
    if len(cells) > CURVE_CELLS:
        cells = np.random.default_rng(0).choice(cells, CURVE_CELLS, replace=False)
    rows, labels = np.unravel_index(cells, margins.shape)
    y = np.zeros(len(cells))
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(margins.shape[1] + 1))
    for j in range(margins.shape[1]):
        mine = order[edges[j] : edges[j + 1]]
        if len(mine):
            column, known = targets.column(j)
            y[mine] = column[rows[mine]]
            if known is not None:
                y[mine[~known[rows[mine]]]] = np.nan
    usable = ~np.isnan(y)
    if not usable.any() or np.nanmin(y) == np.nanmax(y):
        return PLAIN_SLOPE
    curve = LogisticRegression(fit_intercept=False)
    weights = None if targets.weights is None else targets.weights[rows[usable]]
    curve.fit(margins.ravel()[cells[usable]][:, None], y[usable], weights)
    return max(float(curve.coef_[0, 0]), 1e-3)
