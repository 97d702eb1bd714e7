"""What the estimators around another estimator share: its scores on rows it was not trained on.

Features go to the inner estimator as they came (DataFrame, text, sparse), labels as 0/1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, Tags, _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_is_fitted

from splmll.arrays import dense
from splmll.base import Capabilities, MultilabelClassifier
from splmll.constraints import LEARNER, N_JOBS, RANDOM_STATE
from splmll.docstrings import with_paragraphs
from splmll.model_selection.stratification import MultilabelStratifiedKFold
from splmll.sample_weights import checked_weights, rows_by_weight
from splmll.scores import scores_of
from splmll.thresholds import informed_cells


@dataclass(frozen=True, eq=False)
class OutOfFoldScores:
    """Scores of rows by models that were fitted without them.

    Parameters
    ----------
    scores : ndarray of shape (n_scored_rows, n_labels)
        The scores, in the order in which the splitter gave the rows; with ``sample_weight``, each
        row as often as its weight says.
    labels : ndarray or CSR array of shape (n_scored_rows, n_labels)
        The labels of these rows.
    informed : bool array of shape (n_scored_rows, n_labels)
        False where the model of the fold had seen one value of the label only.
    """

    scores: np.ndarray
    labels: Any
    informed: np.ndarray


@with_paragraphs
class MetaMultilabelClassifier(MultilabelClassifier):
    """Base of classifiers around another one, which checks the features itself.

    A subclass has the parameters ``estimator``, ``cv``, ``n_jobs`` and ``random_state``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [LEARNER],
        "cv": ["cv_object"],
        "n_jobs": N_JOBS,
        "random_state": RANDOM_STATE,
    }

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
        return replace(own, sparse_labels=True)

    def fit(self, X: Any, Y: Any, groups: Any = None, **params: Any) -> Any:
        """Learn from features and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features, as the inner estimator takes them.
        {Y}
        groups : array-like of shape (n_rows,), optional
            Passed on to ``cv``: rows of one group are not in two folds.
        **params : dict
            Passed on to ``fit`` of the inner estimator, such as ``sample_weight``, which also
            counts in what is learnt from its scores. With scikit-learn's metadata routing, only
            what was requested is.

        Returns
        -------
        {fitted_self}
        """
        X, Y = self._check_fit(X, Y)
        self._routed = self._routed_params(groups, params)
        try:
            self._fit(X, Y)
        finally:
            del self._routed
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where ``fit`` passes metadata on to: the inner estimator and the splitter.

        Returns
        -------
        routing : MetadataRouter
        """
        return (
            MetadataRouter(owner=self)
            .add(
                estimator=self.estimator,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
            .add(
                splitter=self._splitter(),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )

    def _routed_params(self, groups: Any, params: dict[str, Any]) -> Bunch:
        """Return what goes to ``fit`` of the inner estimator and to ``split`` of the splitter."""
        if get_config()["enable_metadata_routing"]:
            given = params if groups is None else {**params, "groups": groups}
            return process_routing(self, "fit", **given)
        return Bunch(estimator=Bunch(fit=params), splitter=Bunch(split={"groups": groups}))

    def _check_features(self, X: Any, reset: bool) -> Any:
        # Only made fit for taking rows: all else is the inner estimator's to judge.
        return indexable(X)[0]

    def _fit_inner(self, X: Any, Y: Any) -> None:
        """Fit the inner estimator on all rows."""
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(X, self._inner_labels(Y), **self._routed.estimator.fit)

    def _out_of_fold(self, X: Any, Y: Any, method: str) -> OutOfFoldScores:
        """Return scores of every row by a model fitted without it.

        A splitter that leaves rows out, or tests them twice, is fine: rows come as it gives them.
        """
        labels = self._inner_labels(Y)
        routed = getattr(self, "_routed", self._routed_params(None, {}))
        params, split_params = routed.estimator.fit, routed.splitter.split
        folds = list(self._splitter().split(X, _without_unknown(labels), **split_params))
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_and_score)(
                clone(self.estimator), X, labels, train, test, Y.shape[1], method, params
            )
            for train, test in folds
        )
        informed = [informed_cells(Y[train], scores) for (train, _), scores in zip(folds, parts)]
        tested = np.concatenate([test for _, test in folds])
        scores, known = np.concatenate(parts), np.concatenate(informed)
        weights = checked_weights(params.get("sample_weight"), X)
        if weights is not None:
            counted = np.flatnonzero(weights[tested])
            copies = counted[rows_by_weight(weights[tested[counted]])]
            tested, scores, known = tested[copies], scores[copies], known[copies]
        return OutOfFoldScores(scores, Y[tested], known)

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
    params: dict[str, Any],
) -> np.ndarray:
    of_train = _check_method_params(X, params, indices=train)
    estimator.fit(_safe_indexing(X, train), _safe_indexing(labels, train), **of_train)
    return scores_of(estimator, _safe_indexing(X, test), n_labels, method)


def _without_unknown(Y: Any) -> Any:
    """Return the labels with 0 for unknown ones, for splitters that cannot have NaN."""
    if not sparse.issparse(Y):
        return np.nan_to_num(Y)
    Y = Y.copy()
    Y.data = np.nan_to_num(Y.data)
    return Y
