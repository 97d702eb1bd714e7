"""What methods built from a base learner share: its default, its seed and its features.

Without a base learner of the caller's, all of them use logistic regression. Dense features are
standardised for it, once for all the learners of a model; sparse ones, such as the weights of
words, are left as they are.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, check_random_state, get_tags

from splmll.constraints import LEARNER, RANDOM_STATE, Choice
from splmll.feature_scaling import DenseStandardScaler, fitted_scaler, scaled
from splmll.methods._row_weights import WeightedRowsClassifier
from splmll.thresholds import THRESHOLD_CONSTRAINT

# For a search: the default base learner, and the same with other strengths of its penalty.
LOGISTIC_REGRESSIONS = (
    None,
    *(
        make_pipeline(DenseStandardScaler(), LogisticRegression(C=C, max_iter=1000))
        for C in (0.001, 0.01, 0.1, 10.0, 100.0, 1000.0)
    ),
)

#: Average probabilities, or 0/1 votes; a row of ``_parameter_constraints``.
VOTING_CONSTRAINT: list[Any] = [Choice("soft", "hard")]

# C of logistic regression on sparse rows of mean squared length 1. Held-out training rows of
# reuters and goemotions (tf-idf, unit length) are ranked best with 30 and more, those of bibtex,
# tmc2007, delicious and imdb (0/1 words, squared lengths of 17 to 68) with 0.03 to 0.3;
# scikit-learn's 1 is kept where it is larger.
SHORT_ROWS_C = 20.0


class BaseLearnerClassifier(WeightedRowsClassifier):
    """Base of methods with the parameters ``estimator`` and ``random_state``.

    ``_fit`` calls ``_prepare_learner`` once and trains clones of what it returns;
    ``_scores`` passes X through ``_learner_features`` first. Scores are probabilities.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [LEARNER, None],
        "threshold": THRESHOLD_CONSTRAINT,
        "random_state": RANDOM_STATE,
    }

    estimator: Any
    random_state: Any
    scaler_: StandardScaler | None

    def _prepare_learner(self, X: Any, sample_weight: np.ndarray | None = None) -> tuple[Any, Any]:
        """Return the learner to clone and the features to train it on."""
        if self.estimator is not None:
            self.scaler_ = None
            return with_seed(self.estimator, self.random_state), X
        self.scaler_ = fitted_scaler(X, "auto", sample_weight)
        if self.scaler_ is None:
            return LogisticRegression(C=_penalty(X, sample_weight), max_iter=1000), X
        return LogisticRegression(max_iter=1000), scaled(X, self.scaler_)

    def _learner_features(self, X: Any) -> Any:
        return scaled(X, self.scaler_)

    def _check_features(self, X: Any, reset: bool) -> Any:
        X = super()._check_features(X, reset)
        if reset:
            self._dense_rows = not sparse.issparse(X)
        elif self._dense_rows and sparse.issparse(X):
            # Some learners that were trained on dense rows refuse sparse ones.
            X = X.toarray()
        return X

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return scores

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
            tags.non_deterministic = get_tags(self.estimator).non_deterministic
        return tags


def _penalty(X: Any, sample_weight: np.ndarray | None = None) -> float:
    """Return C for rows as they are: short ones need large weights, which 1 would not allow."""
    of_rows = np.asarray(sparse.csr_array(X).power(2).sum(axis=1), dtype=np.float64)
    squares = float(np.average(of_rows, weights=sample_weight))
    return max(1.0, SHORT_ROWS_C / squares) if squares > 0 else 1.0


def for_raw_features(
    coef: np.ndarray, intercept: np.ndarray, scaler: StandardScaler | None
) -> tuple[np.ndarray, np.ndarray]:
    """Fold a standardisation into linear weights, so that they apply to features as given.

    Then one product serves all learners, and sparse features stay sparse.

    Parameters
    ----------
    coef : ndarray of shape (..., n_features)
        Weights of standardised features.
    intercept : ndarray of shape (...)
        Their intercepts.
    scaler : StandardScaler or None
        The standardisation; None leaves the weights as they are.

    Returns
    -------
    coef, intercept : ndarray
        New arrays of the same shapes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from splmll.methods._base_learner import for_raw_features
    >>> scaler = StandardScaler().fit([[1.0], [5.0]])
    >>> for_raw_features(np.array([[2.0]]), np.array([0.5]), scaler)
    (array([[1.]]), array([-2.5]))
    """
    if scaler is None:
        return coef, intercept
    coef = coef / scaler.scale_
    if scaler.with_mean:
        intercept = intercept - coef @ scaler.mean_
    return coef, intercept


def with_seed(estimator: Any, random_state: Any) -> Any:
    """Return a clone whose every ``random_state`` is one seed drawn from ``random_state``.

    None leaves the seeds as they are.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from splmll.methods._base_learner import with_seed
    >>> with_seed(RandomForestClassifier(), 0).random_state == with_seed(
    ...     RandomForestClassifier(n_estimators=3), 0
    ... ).random_state
    True
    """
    seeded = clone(estimator)
    if random_state is None:
        return seeded
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    names = [
        name
        for name in seeded.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    ]
    return seeded.set_params(**dict.fromkeys(names, seed))
