"""Weights of rows in ``fit``: what the methods that can use them share.

Rows of weight 0 are gone before a method sees them, so that it counts and draws the others
only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from splmll.base import MultilabelClassifier
from splmll.docstrings import with_paragraphs
from splmll.sample_weights import checked_weights


@with_paragraphs
class WeightedRowsClassifier(MultilabelClassifier):
    """Base of methods whose ``fit`` takes weights of the rows.

    ``_fit`` also gets the weights, none of them 0, or None.
    """

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Any:
        """Learn from features and labels.

        Parameters
        ----------
        {X}
        {Y}
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows. A learner given to the method must take them, too. A whole number
            counts a row that often, 0 leaves it out. A named threshold rule learns its scores
            with the weights, and counts every row once.

        Returns
        -------
        {fitted_self}
        """
        X, Y = self._check_fit(X, Y)
        weights = checked_weights(sample_weight, X)
        if weights is not None:
            kept = np.flatnonzero(weights)
            X, Y, weights = X[kept], Y[kept], weights[kept]
        self._fit(X, Y, weights)
        return self

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        raise NotImplementedError(f"{type(self).__name__} must write _fit")
