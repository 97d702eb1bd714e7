"""A threshold rule around any classifier, learnt from scores of rows it was not trained on.

The inner classifier is fitted once per fold to get those scores and once more on all rows.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from splmll.model_selection._out_of_fold import MetaMultilabelClassifier
from splmll.scores import choose_method, scores_of
from splmll.thresholds import MIN_ROWS, check_rule, fit_threshold

METHODS = ("predict_proba", "decision_function")


class ThresholdTuner(MetaMultilabelClassifier):
    """Learn from out-of-fold scores where to cut, and predict with these thresholds.

    Scores on training rows would not do: a model that memorises separates its own rows perfectly,
    at thresholds that are of no use for new ones.

    Parameters
    ----------
    estimator : classifier
        Any multi-label classifier with ``predict_proba`` or ``decision_function``, also one whose
        ``predict_proba`` is a list of arrays (trees, neighbours). It receives X as it was given,
        a DataFrame as a DataFrame. A ``sklearn.frozen.FrozenEstimator`` is not fitted again: the
        thresholds are then learnt from its scores on all rows of ``fit``, which should be rows it
        has not seen.
    rule : float or str, default="micro_f1"
        One of :data:`splmll.thresholds.RULES`, see :func:`splmll.thresholds.fit_threshold`, or a
        fixed threshold. With fewer than 50 rows, or a fixed threshold, nothing is tuned and no
        folds are fitted; the threshold is then 0.5 for probabilities and 0 for a decision function.
    never_empty : bool, default=False
        Give a row without a label its best-ranked one.
    cv : int, splitter or iterable of (train, test), default=5
        Number of folds, stratified by labels and shuffled, or any splitter of scikit-learn.
    method : {"auto", "predict_proba", "decision_function"}, default="auto"
        Which scores to cut. ``"auto"`` takes ``predict_proba`` where there is one, because
        probabilities of different labels can be compared.
    n_jobs : int or None, default=None
        How many folds to fit at the same time, as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds. The inner estimator keeps its own.

    Attributes
    ----------
    estimator_ : classifier
        The inner classifier, fitted on all rows.
    threshold_ : Threshold
        The fitted rule.
    thresholds_ : ndarray of shape (n_labels,)
        Threshold of each label, NaN where the rule has none.
    method_ : str
        The method whose scores are cut.

    Examples
    --------
    A forest whose votes for rare labels seldom reach one half:

    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from splmll.model_selection import ThresholdTuner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> Y = (X[:, :3] + rng.normal(size=(300, 3)) > 1.5).astype(int)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0)
    >>> model = ThresholdTuner(forest, "per_label", random_state=0).fit(X, Y)
    >>> bool((model.thresholds_ < 0.5).all())
    True
    >>> model.predict(X[:2]).shape
    (2, 3)
    """

    method_: str

    def __init__(
        self,
        estimator: Any,
        rule: float | str = "micro_f1",
        *,
        never_empty: bool = False,
        cv: Any = 5,
        method: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.never_empty = never_empty
        self.cv = cv
        self.method = method
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each label, by the inner estimator where it has them.

        Thresholds move the prediction, not the probability: a label can be predicted at a
        probability of 0.3. Only for a vector ``y`` the probabilities move with the threshold, as
        scikit-learn expects of a binary classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_labels)
            Values between 0 and 1. For a vector ``y`` one column for each of its values.
        """
        check_is_fitted(self)
        by_scores = self.method_ == "predict_proba" or self.label_format_.kind == "vector"
        if by_scores or not hasattr(self.estimator_, "predict_proba"):
            return super().predict_proba(X)
        by_probability = copy(self)  # shallow: the same fitted model, asked by the other method
        by_probability.method_ = "predict_proba"
        return by_probability.predict_proba(X)

    def _fit(self, X: Any, Y: Any) -> None:
        check_rule(self.rule)
        if self.method != "auto" and self.method not in METHODS:
            raise ValueError(
                f"Unknown method {self.method!r}: use 'auto', {' or '.join(map(repr, METHODS))}."
            )
        self._fit_inner(X, Y)
        names = METHODS if self.method == "auto" else (self.method,)
        self.method_ = choose_method(self.estimator_, *names)
        if isinstance(self.rule, str) and Y.shape[0] >= MIN_ROWS:
            scores, labels = self._out_of_fold(X, Y, self.method_)
        else:
            scores, labels = np.broadcast_to(0.0, Y.shape), Y  # nothing to tune: not looked at
        threshold = fit_threshold(
            self.rule,
            labels,
            scores,
            never_empty=self.never_empty,
            default=0.5 if self.method_ == "predict_proba" else 0.0,
        )
        self._set_threshold(threshold)

    def _scores(self, X: Any) -> np.ndarray:
        return scores_of(self.estimator_, X, self.label_format_.n_labels, self.method_)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if self.method_ == "predict_proba":
            return scores
        # No probabilities to be had: one half is where the single threshold is.
        return super()._probabilities(scores - self.offset_ + 0.5)
