"""Binary relevance (BR): one binary learner per label, each trained as if alone.

The simplest multi-label method and the baseline: a method that uses the other labels must beat it.

References
----------
Tsoumakas, Katakis: Multi-label classification: an overview. International Journal of Data
Warehousing and Mining 3(3), 2007.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

from splmll.base import Capabilities
from splmll.constraints import N_JOBS
from splmll.docstrings import with_paragraphs
from splmll.methods._base_learner import (
    LOGISTIC_REGRESSIONS,
    BaseLearnerClassifier,
    for_raw_features,
)
from splmll.methods._constant import ConstantGuard
from splmll.methods._own_rule import fit_own_rule


@with_paragraphs
class BinaryRelevance(BaseLearnerClassifier):
    """One binary classifier per label, trained independently of the other labels.

    The score of label j is the probability :math:`P(y_j = 1 | x)` of its own classifier. A base
    learner without ``predict_proba`` gives its margin squashed by the logistic function, which
    keeps the order within a label; margins of different labels are comparable only as far as
    the learners are calibrated alike.

    A label with one value in the training data gets the probability 0 or 1.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base learner, cloned for every label.
        {base_learner}
        Put a scaler before this estimator, where it is fitted once, rather than into the base
        learner, where every label fits its own.
    threshold : float or str, default=0.5
        {threshold}
    n_jobs : int or None, default=None
        Number of labels to fit in parallel, as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed of base learners that have one. Every label receives the same seed, so that the
        result of a label does not depend on its position. None leaves base learners as they are.

    Attributes
    ----------
    estimators_ : list of ConstantGuard
        The fitted base learners in label order, each with its ``learner_`` (None for a constant
        label). With the default base learner they work on standardised dense features.
    {scaler_}
    coef_ : ndarray of shape (n_labels, n_features) or None
        With logistic regression, the weights of all labels for the features as given.
    intercept_ : ndarray of shape (n_labels,) or None
        Their intercepts, infinite for a constant label.
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import BinaryRelevance
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> Y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    >>> model = BinaryRelevance().fit(X, Y)
    >>> model.predict([[0.9, 0.1]])
    array([[1, 0]])
    >>> model.predict_proba([[0.5, 0.5]]).round(3)
    array([[0.5, 0.5]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseLearnerClassifier._parameter_constraints,
        "n_jobs": N_JOBS,
    }
    capabilities = Capabilities(
        sparse_labels=True, probabilities=True, sample_weight=True, cost="C base fits"
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "estimator": LOGISTIC_REGRESSIONS,
        "estimator__svc__C": (0.1, 1.0, 10.0, 100.0),
    }

    estimators_: list[ConstantGuard]
    coef_: np.ndarray | None
    intercept_: np.ndarray | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        threshold: float | str = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold, sample_weight=sample_weight))
        base, X = self._prepare_learner(X, sample_weight)
        columns = sparse.csc_array(Y)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_label)(base, X, columns[:, [label]], sample_weight)
            for label in range(Y.shape[1])
        )
        self.coef_, self.intercept_ = _stacked(self.estimators_, self.scaler_, X.shape[1])

    def _scores(self, X: Any) -> np.ndarray:
        if self.coef_ is not None:
            # One product for all labels: asking C learners in turn costs C validations of X.
            return np.asarray(expit(X @ self.coef_.T + self.intercept_))
        return np.column_stack([guard.predict_proba(X)[:, 1] for guard in self.estimators_])


def _fit_label(
    base: Any, X: Any, column: sparse.csc_array, sample_weight: np.ndarray | None
) -> ConstantGuard:
    target = column.toarray().ravel().astype(np.int64)
    return ConstantGuard(base, classes=(0, 1)).fit(X, target, sample_weight)


def _stacked(
    guards: list[ConstantGuard], scaler: StandardScaler | None, n_features: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Weights and intercepts of all labels, where every learner is a logistic regression.

    The standardisation is folded in, so that they apply to raw features, dense or sparse.
    """
    coef = np.zeros((len(guards), n_features))
    intercept = np.empty(len(guards))
    for label, guard in enumerate(guards):
        learner = guard.learner_
        if learner is None:
            intercept[label] = np.inf if guard.constant_ == 1 else -np.inf
        elif type(learner) is LogisticRegression:
            coef[label] = learner.coef_[0]
            intercept[label] = learner.intercept_[0]
        else:
            return None, None
    return for_raw_features(coef, intercept, scaler)
