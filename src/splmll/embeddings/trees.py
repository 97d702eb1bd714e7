"""Extremely randomised trees: one forest of all labels for each fold."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from splmll.arrays import dense
from splmll.constraints import COUNT, SHARE, Choice
from splmll.embeddings.base import FitContext, FoldModels
from splmll.statistics import split_unknown


class Trees(FoldModels):
    """Extremely randomised trees that predict all labels together.

    Parameters
    ----------
    n_estimators : int, default=150
        Number of trees in a forest; there is one forest for each fold.
    min_samples_leaf : int, default=2
        Minimum number of rows in a leaf.
    max_features : {"sqrt", "log2"}, int or float, default="sqrt"
        Number of features considered for a split, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings import Trees
    >>> X = np.random.default_rng(0).normal(size=(90, 3))
    >>> f = Trees(n_estimators=20).fit(X, (X[:, :2] > 0) * 1.0, fold=np.arange(90) % 3)
    >>> bool(0 <= f.out_of_fold_.min() and f.out_of_fold_.max() <= 1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_estimators": [COUNT],
        "min_samples_leaf": [COUNT],
        "max_features": [Choice("sqrt", "log2"), COUNT, SHARE],
    }

    uses_weights: ClassVar[bool] = True

    def __init__(
        self,
        n_estimators: int = 150,
        min_samples_leaf: int = 2,
        max_features: str | int | float = "sqrt",
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features

    def _fit_one(
        self, X: Any, Y: Any, rows: np.ndarray, held: np.ndarray, k: int, context: FitContext
    ) -> Any:
        forest = ExtraTreesRegressor(
            self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            random_state=(context.seed + k) % 2**31,
        )
        weights = context.weights_of(rows)
        return forest.fit(X[rows], known_targets(Y[rows], weights), weights)

    def _predict_one(self, model: Any, X: Any) -> np.ndarray:
        return np.asarray(model.predict(X), dtype=np.float64).reshape(X.shape[0], -1)


def known_targets(Y: Any, weights: np.ndarray | None = None) -> np.ndarray:
    """Return labels without gaps: where a label is unknown its mean says nothing either way.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings.trees import known_targets
    >>> known_targets(np.array([[1.0], [0.0], [np.nan]])).ravel()
    array([1. , 0. , 0.5])
    """
    targets, known = split_unknown(dense(Y))
    if known is not None:
        ones = np.ones(len(targets)) if weights is None else weights
        count = ones @ known
        mean = (ones @ targets) / np.where(count > 0, count, 1.0)
        targets = np.where(known > 0, targets, mean)
    return targets[:, 0] if targets.shape[1] == 1 else targets
