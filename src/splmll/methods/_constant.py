"""A guard around a base learner that copes with targets of one value.

Rare labels, bags and folds leave columns with a single class, which most classifiers refuse;
the guard stores that class instead, and always answers with probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from splmll.arrays import n_rows
from splmll.sample_weights import weight_arguments


class ConstantGuard(ClassifierMixin, BaseEstimator):
    """A classifier that also learns targets with a single value.

    A target with several values is handed to a clone of ``estimator``. A target with one value
    is remembered, and predicted with probability 1.

    Parameters
    ----------
    estimator : classifier
        The base learner, with ``predict_proba`` or ``decision_function``. A margin is squashed
        into a probability: the logistic function for two classes, softmax for more.
    classes : sequence or None, default=None
        All values the target may have. They are the columns of ``predict_proba``, also where
        the training target lacks some; None takes the values found.

    Attributes
    ----------
    classes_ : ndarray
        The columns of ``predict_proba``.
    learner_ : classifier or None
        The fitted base learner, None where the target had one value.
    constant_ : object
        That one value, None where there were several.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from splmll.methods._constant import ConstantGuard
    >>> guard = ConstantGuard(LogisticRegression(), classes=(0, 1))
    >>> guard.fit([[0.0], [1.0]], [1, 1]).predict_proba([[5.0]])
    array([[0., 1.]])
    """

    classes_: np.ndarray
    learner_: Any
    constant_: Any

    def __init__(self, estimator: Any, classes: Sequence[Any] | None = None) -> None:
        self.estimator = estimator
        self.classes = classes

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> ConstantGuard:
        """Learn a target, or remember it where it has a single value.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.
        y : array-like of shape (n_rows,)
            Target.
        sample_weight : ndarray of shape (n_rows,), optional
            Weights of the rows, for a base learner that takes them.

        Returns
        -------
        self : ConstantGuard
            The fitted guard.
        """
        check_gives_scores(self.estimator)
        found = np.unique(y)
        self.classes_ = found if self.classes is None else np.unique(self.classes)
        strangers = np.setdiff1d(found, self.classes_)
        if strangers.size:
            raise ValueError(
                f"The target holds {strangers[0]!r}, which is not one of the classes "
                f"{self.classes_.tolist()}: add it to classes or leave classes out."
            )
        if len(found) == 1:
            self.learner_, self.constant_ = None, found[0]
        else:
            weights = weight_arguments(self.estimator, sample_weight)
            self.learner_, self.constant_ = clone(self.estimator).fit(X, y, **weights), None
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            One column for each of ``classes_``.
        """
        check_is_fitted(self)
        if self.learner_ is None:
            return np.tile((self.classes_ == self.constant_).astype(np.float64), (n_rows(X), 1))
        found = class_probabilities(self.learner_, X)
        if len(self.learner_.classes_) == len(self.classes_):
            return found
        # Base learners order their columns by value, and so does classes_.
        probabilities = np.zeros((found.shape[0], len(self.classes_)))
        probabilities[:, np.searchsorted(self.classes_, self.learner_.classes_)] = found
        return probabilities

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.

        Returns
        -------
        classes : ndarray of shape (n_rows,)
            What the base learner predicts, or the constant.
        """
        check_is_fitted(self)
        if self.learner_ is None:
            return np.repeat(np.asarray([self.constant_]), n_rows(X))
        return np.asarray(self.learner_.predict(X))


def check_gives_scores(estimator: Any) -> None:
    """Refuse a base learner that offers neither probabilities nor margins."""
    if not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        raise ValueError(
            f"{type(estimator).__name__} has neither predict_proba nor decision_function, so it "
            "cannot score labels: use a classifier that has one of them."
        )


def class_probabilities(learner: Any, X: Any) -> np.ndarray:
    """Return ``predict_proba`` of a fitted classifier, or its squashed margins."""
    if hasattr(learner, "predict_proba"):
        return np.asarray(learner.predict_proba(X))
    margins = np.asarray(learner.decision_function(X))
    if margins.ndim == 1:
        positive = expit(margins)
        return np.column_stack([1 - positive, positive])
    return np.asarray(softmax(margins, axis=1))
