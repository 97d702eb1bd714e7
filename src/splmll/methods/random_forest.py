"""A random forest over all labels at once, with thresholds from its out-of-bag rows.

A strong method that needs no tuning and no scaling: what a user would try first, and therefore a
reference for all others.

References
----------
Breiman: Random forests. Machine Learning 45(1), 2001.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from splmll.base import Capabilities
from splmll.constraints import COUNT, N_JOBS, RANDOM_STATE, SHARE, Choice, Range
from splmll.docstrings import with_paragraphs
from splmll.methods._row_weights import WeightedRowsClassifier
from splmll.thresholds import THRESHOLD_CONSTRAINT, fit_threshold


@with_paragraphs
class ThresholdedRandomForest(WeightedRowsClassifier):
    """Random forest whose trees predict all labels, with a threshold from out-of-bag rows.

    The trees of :class:`sklearn.ensemble.RandomForestClassifier` split for all labels together: a
    split is good where it makes the label rows of its two sides purer on average. The score of a
    label is the mean over the trees of its share in the leaf the row falls into.

    Shares of rare labels seldom reach 1/2, so the threshold is tuned. About a third of the rows is
    not drawn for a tree; the mean over the trees that have not seen a row, its out-of-bag score, is
    what the rule is fitted on. That costs no further fits.

    A label with one value in the training data gets the score 0 or 1. Probabilities are the scores
    with one more tree that is undecided, so that they are never 0 or 1.

    Parameters
    ----------
    n_estimators : int, default=300
        Number of trees. More of them take longer and are never worse except by chance.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features tried at each split, as in scikit-learn.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf. Larger values make trees smaller, also in memory.
    threshold : float or str, default="micro_f1"
        A rule from :data:`splmll.thresholds.RULES`, fitted on out-of-bag scores. A number is a
        fixed threshold: a label is predicted if its score is at least that.
    n_jobs : int or None, default=None
        Number of trees to fit and evaluate in parallel.
    random_state : int, RandomState instance or None, default=None
        Seed of the forest.

    Attributes
    ----------
    forest_ : RandomForestClassifier or None
        The forest over the labels with two values, None where there are none.
    constants_ : ndarray of shape (n_labels,)
        0 or 1 for a label with one value, NaN for the labels of the forest.
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import ThresholdedRandomForest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 0] * X[:, 1] > 0]).astype(int)
    >>> model = ThresholdedRandomForest(n_estimators=50, random_state=0).fit(X, Y)
    >>> model.predict([[1.0, -1.0, 0.0], [-1.0, -1.0, 0.0]])
    array([[1, 0],
           [0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_estimators": [COUNT],
        "max_features": [COUNT, SHARE, Choice("sqrt", "log2"), None],
        "min_samples_leaf": [COUNT, Range(Real, 0, 1, closed="neither")],
        "threshold": THRESHOLD_CONSTRAINT,
        "n_jobs": N_JOBS,
        "random_state": RANDOM_STATE,
    }
    capabilities = Capabilities(
        probabilities=True, sample_weight=True, cost="trees x sqrt(D) N log N"
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "max_features": ("sqrt", 0.2, 0.5),
        "min_samples_leaf": (1, 2, 5),
    }

    forest_: RandomForestClassifier | None
    constants_: np.ndarray

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        max_features: Any = "sqrt",
        min_samples_leaf: float = 1,
        threshold: float | str = "micro_f1",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, Y: np.ndarray, sample_weight: np.ndarray | None = None) -> None:
        self.constants_ = np.where(Y.min(axis=0) == Y.max(axis=0), Y[0], np.nan)
        varied = np.isnan(self.constants_)
        self.forest_ = self._grow(X, Y[:, varied], sample_weight) if varied.any() else None
        # A fixed number needs no scores.
        rows, scores = self._out_of_bag(Y) if isinstance(self.threshold, str) else (Y, Y)
        self._set_threshold(fit_threshold(self.threshold, rows, scores))

    def _out_of_bag(self, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Labels and out-of-bag scores of the rows that at least one tree has not seen."""
        scores = np.tile(self.constants_, (len(Y), 1))
        if self.forest_ is None:
            return Y, scores
        # Of shape (n_rows, 2, n_labels), the last axis dropped for one label.
        shares = self.forest_.oob_decision_function_.reshape(len(Y), 2, -1)
        scores[:, np.isnan(self.constants_)] = shares[:, 1]
        # A row that every tree was given has no share, neither of 0 nor of 1.
        unseen = shares[:, :, 0].any(axis=1)
        return Y[unseen], scores[unseen]

    def _grow(
        self, X: Any, Y: np.ndarray, sample_weight: np.ndarray | None
    ) -> RandomForestClassifier:
        forest = RandomForestClassifier(
            self.n_estimators,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            oob_score=isinstance(self.threshold, str),
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            # Rows that were never out of bag are left out of the tuning.
            warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
            return forest.fit(X, Y.ravel() if Y.shape[1] == 1 else Y, sample_weight)

    def _scores(self, X: Any) -> np.ndarray:
        scores = np.tile(self.constants_, (X.shape[0], 1))
        if self.forest_ is not None:
            shares = self.forest_.predict_proba(X)
            shares = shares if isinstance(shares, list) else [shares]
            scores[:, np.isnan(self.constants_)] = np.column_stack([s[:, 1] for s in shares])
        return scores

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        # As if one more tree were undecided: no finite number of trees makes an outcome certain.
        return (self.n_estimators * scores + 0.5) / (self.n_estimators + 1)
