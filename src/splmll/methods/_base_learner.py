"""What methods built from a base learner share: its default, its seed and its features.

Without a base learner of the caller's, all of them use logistic regression on standardised
features, standardised once for all the learners of a model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, check_random_state, get_tags

from splmll.base import MultilabelClassifier


class BaseLearnerClassifier(MultilabelClassifier):
    """Base of methods with the parameters ``estimator`` and ``random_state``.

    ``_fit`` calls ``_prepare_learner`` once and trains clones of what it returns;
    ``_scores`` passes X through ``_learner_features`` first. Scores are probabilities.
    """

    estimator: Any
    random_state: Any
    scaler_: StandardScaler | None

    def _prepare_learner(self, X: Any) -> tuple[Any, Any]:
        """Return the learner to clone and the features to train it on."""
        if self.estimator is not None:
            self.scaler_ = None
            return with_seed(self.estimator, self.random_state), X
        self.scaler_ = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
        return LogisticRegression(max_iter=1000), self.scaler_.transform(X)

    def _learner_features(self, X: Any) -> Any:
        if self.scaler_ is None:
            return X
        if self.scaler_.with_mean and sparse.issparse(X):
            X = X.toarray()
        return self.scaler_.transform(X)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return scores

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
            tags.non_deterministic = get_tags(self.estimator).non_deterministic
        return tags


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
