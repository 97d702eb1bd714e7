"""What the estimators around another estimator share: its scores on rows it was not trained on.

Features go to the inner estimator as they came (DataFrame, text, sparse), labels as 0/1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, _safe_indexing, get_tags, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from splmll.arrays import dense
from splmll.base import Capabilities, MultilabelClassifier
from splmll.model_selection.stratification import MultilabelStratifiedKFold
from splmll.scores import scores_of
from splmll.thresholds import informed_cells


@dataclass(frozen=True, eq=False)
class OutOfFoldScores:
    """Scores of rows by models that were fitted without them.

    Parameters
    ----------
    scores : ndarray of shape (n_scored_rows, n_labels)
        The scores, in the order in which the splitter gave the rows.
    labels : ndarray or CSR array of shape (n_scored_rows, n_labels)
        The labels of these rows.
    informed : bool array of shape (n_scored_rows, n_labels)
        False where the model of the fold had seen one value of the label only.
    """

    scores: np.ndarray
    labels: Any
    informed: np.ndarray


class MetaMultilabelClassifier(MultilabelClassifier):
    """Base of classifiers around another one, which checks the features itself.

    A subclass has the parameters ``estimator``, ``cv``, ``n_jobs`` and ``random_state``.
    """

    estimator: Any
    cv: Any
    n_jobs: int | None
    random_state: Any
    estimator_: Any

    @property
    def n_features_in_(self) -> int:
        """Number of features, as the inner estimator counts them."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Feature names, where the inner estimator has them."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.feature_names_in_)

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        """Those of the inner estimator; labels stay sparse on the way to it."""
        inner = self.estimator
        while isinstance(inner, Pipeline):
            inner = inner[-1]
        own = getattr(inner, "capabilities", Capabilities())
        return replace(own, sparse_labels=True, sample_weight=False)

    def fit(self, X: Any, Y: Any, groups: Any = None) -> Any:
        """Learn from features and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features, as the inner estimator takes them.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels; a vector is one label.
        groups : array-like of shape (n_rows,), optional
            Passed on to ``cv``: rows of one group are not in two folds.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, Y = self._check_fit(X, Y)
        self._groups = groups
        try:
            self._fit(X, Y)
        finally:
            del self._groups
        return self

    def _check_features(self, X: Any, reset: bool) -> Any:
        # Only made fit for taking rows: all else is the inner estimator's to judge.
        return indexable(X)[0]

    def _fit_inner(self, X: Any, Y: Any) -> None:
        """Fit the inner estimator on all rows."""
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(X, self._inner_labels(Y))

    def _out_of_fold(self, X: Any, Y: Any, method: str) -> OutOfFoldScores:
        """Return scores of every row by a model fitted without it.

        A splitter that leaves rows out, or tests them twice, is fine: rows come as it gives them.
        """
        labels = self._inner_labels(Y)
        groups = getattr(self, "_groups", None)
        folds = list(self._splitter().split(X, _without_unknown(labels), groups))
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_and_score)(
                clone(self.estimator), X, labels, train, test, Y.shape[1], method
            )
            for train, test in folds
        )
        informed = [informed_cells(Y[train], scores) for (train, _), scores in zip(folds, parts)]
        tested = np.concatenate([test for _, test in folds])
        return OutOfFoldScores(np.concatenate(parts), Y[tested], np.concatenate(informed))

    def _splitter(self) -> Any:
        if isinstance(self.cv, int | np.integer):
            return MultilabelStratifiedKFold(int(self.cv), random_state=self.random_state)
        return check_cv(self.cv)

    def _inner_labels(self, Y: Any) -> Any:
        """Return labels as other libraries expect them: integers, and a vector for one label."""
        values = Y.data if sparse.issparse(Y) else Y
        if np.isnan(values).any():
            return Y
        if Y.shape[1] == 1:
            Y = dense(Y)[:, 0]
        return Y.astype(np.int64)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags


def _fit_and_score(
    estimator: Any,
    X: Any,
    labels: Any,
    train: np.ndarray,
    test: np.ndarray,
    n_labels: int,
    method: str,
) -> np.ndarray:
    estimator.fit(_safe_indexing(X, train), _safe_indexing(labels, train))
    return scores_of(estimator, _safe_indexing(X, test), n_labels, method)


def _without_unknown(Y: Any) -> Any:
    """Return the labels with 0 for unknown ones, for splitters that cannot have NaN."""
    if not sparse.issparse(Y):
        return np.nan_to_num(Y)
    Y = Y.copy()
    Y.data = np.nan_to_num(Y.data)
    return Y
