"""Logistic regression over several classes, each against the rest: for label sets of sparse rows.

scikit-learn's ``OneVsRestClassifier`` does the same, but takes weights of rows only where metadata
routing is switched on, and asks its learners in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted


class OneVsRestLogistic(ClassifierMixin, BaseEstimator):
    r"""One logistic regression per class, their probabilities divided by their sum.

    Multinomial logistic regression penalises the weights of all classes together. Of three labels
    that hardly ever meet, the classes are "none" and one for each label; the cheapest weights of a
    label with few rows are then a third of those of the other two, as if it resembled them. Here
    the weights of a class are its own.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty.
    max_iter : int, default=1000
        Largest number of iterations for a class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, two or more.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights; those of two classes are opposite.
    intercept_ : ndarray of shape (n_classes,)
        What is added to them.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._one_vs_rest import OneVsRestLogistic
    >>> X = np.repeat(np.eye(3), 10, axis=0)
    >>> model = OneVsRestLogistic().fit(X, np.repeat([0, 1, 2], 10))
    >>> model.predict_proba(np.eye(3)[:1]).round(1)
    array([[0.8, 0.1, 0.1]])
    """

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, C: float = 1.0, max_iter: int = 1000) -> None:
        self.C = C
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> OneVsRestLogistic:
        """Learn every class against the rest.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_rows, n_features)
            Features.
        y : ndarray of shape (n_rows,)
            Classes, at least two of them.
        sample_weight : ndarray of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        self : OneVsRestLogistic
        """
        self.classes_ = np.unique(y)
        learner = LogisticRegression(C=self.C, max_iter=self.max_iter)
        targets = self.classes_ if len(self.classes_) > 2 else self.classes_[1:]
        coef, intercept = [], []
        for target in targets:
            learner.fit(X, y == target, sample_weight)
            coef.append(learner.coef_[0])
            intercept.append(learner.intercept_[0])
        if len(targets) == 1:
            coef, intercept = [-coef[0], coef[0]], [-intercept[0], intercept[0]]
        self.coef_, self.intercept_ = np.array(coef), np.array(intercept)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            They add up to 1.
        """
        check_is_fitted(self)
        # Dividing by the sum is the softmax of logarithms, which cannot be 0 / 0.
        return np.asarray(softmax(log_expit(X @ self.coef_.T + self.intercept_), axis=1))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most likely class of each row.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        classes : ndarray of shape (n_rows,)
        """
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
