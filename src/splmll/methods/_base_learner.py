"""What methods built from a base learner share: its default, its seed and its features.

Without a base learner of the caller's, all of them use logistic regression. Dense features are
standardised for it, once for all the learners of a model; sparse ones, such as the weights of
words, are left as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import _check_sample_weight

from splmll.base import MultilabelClassifier
from splmll.feature_scaling import DenseStandardScaler, fitted_scaler, scaled

# For a search: the default base learner, and the same with other strengths of its penalty.
LOGISTIC_REGRESSIONS = (
    None,
    *(
        make_pipeline(DenseStandardScaler(), LogisticRegression(C=C, max_iter=1000))
        for C in (0.001, 0.01, 0.1, 10.0, 100.0, 1000.0)
    ),
)


# C of logistic regression on sparse rows of mean squared length 1. Held-out training rows of
# reuters and goemotions (tf-idf, unit length) are ranked best with 30 and more, those of bibtex,
# tmc2007, delicious and imdb (0/1 words, squared lengths of 17 to 68) with 0.03 to 0.3;
# scikit-learn's 1 is kept where it is larger.
SHORT_ROWS_C = 20.0


class BaseLearnerClassifier(MultilabelClassifier):
    """Base of methods with the parameters ``estimator`` and ``random_state``.

    ``_fit`` also gets weights of the rows, none of them 0, or None. It calls
    ``_prepare_learner`` once and trains clones of what it returns;
    ``_scores`` passes X through ``_learner_features`` first. Scores are probabilities.
    """

    estimator: Any
    random_state: Any
    scaler_: StandardScaler | None

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Any:
        """Learn from features and labels.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels; a vector is one label.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows, for base learners that take them. A whole number counts a row that
            often, 0 leaves it out. A named threshold rule learns its scores with the weights, and
            counts every row once.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, Y = self._check_fit(X, Y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            kept = np.flatnonzero(sample_weight)
            if not kept.size:
                raise ValueError("Sample weights must contain at least one non-zero number.")
            X, Y, sample_weight = X[kept], Y[kept], sample_weight[kept]
        self._fit(X, Y, sample_weight)
        return self

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        raise NotImplementedError(f"{type(self).__name__} must write _fit")

    def _prepare_learner(self, X: Any, sample_weight: np.ndarray | None = None) -> tuple[Any, Any]:
        """Return the learner to clone and the features to train it on."""
        if self.estimator is not None:
            self.scaler_ = None
            return with_seed(self.estimator, self.random_state), X
        self.scaler_ = fitted_scaler(X, "auto", sample_weight)
        return LogisticRegression(C=_penalty(X, sample_weight), max_iter=1000), scaled(
            X, self.scaler_
        )

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
    """Return C of the default: short rows need large weights, which C = 1 would not allow."""
    if not sparse.issparse(X):
        return 1.0
    if sample_weight is None:
        squares = float(np.sum(np.square(X.data), dtype=np.float64)) / X.shape[0]
    else:
        of_rows = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
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


def check_voting(voting: Any) -> None:
    """Refuse what is not a kind of voting."""
    if voting not in ("soft", "hard"):
        raise ValueError(
            'voting must be "soft" (average probabilities) or "hard" (average 0/1 votes), got '
            f"{voting!r}."
        )


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
