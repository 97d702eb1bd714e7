"""A threshold rule around any classifier, learnt from scores of rows it was not trained on.

The inner classifier is fitted once per fold to get those scores and once more on all rows.
"""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from splmll.constraints import Choice
from splmll.docstrings import with_paragraphs
from splmll.model_selection._out_of_fold import MetaMultilabelClassifier, OutOfFoldScores
from splmll.scores import choose_method, scores_of
from splmll.thresholds import MIN_ROWS, THRESHOLD_CONSTRAINT, fit_threshold, informed_cells

METHODS = ("predict_proba", "decision_function")

# Rows that show whether a label has the same score everywhere.
_SAMPLE_ROWS = 200


@with_paragraphs
class ThresholdTuner(MetaMultilabelClassifier):
    """Learn thresholds from out-of-fold scores, and predict with them.

    Scores on training rows would not work: a model that memorises separates its own rows perfectly,
    with thresholds that are useless for new rows.

    Parameters
    ----------
    estimator : classifier
        Any multi-label classifier with ``predict_proba`` or ``decision_function``, including those
        whose ``predict_proba`` returns a list of arrays (trees, neighbours).
        {inner_estimator}
    rule : float or str, default="micro_f1"
        One of :data:`splmll.thresholds.RULES`, see :func:`splmll.thresholds.fit_threshold`, or a
        fixed threshold. With fewer than 50 rows, or a fixed threshold, nothing is tuned and no
        folds are fitted; the threshold is then 0.5 for probabilities and 0 for a decision function.
    never_empty : bool, default=False
        Whether a row without a label gets its best-ranked one.
    {cv}
    method : {"auto", "predict_proba", "decision_function"}, default="auto"
        The scores to use. ``"auto"`` uses ``predict_proba`` if available, because probabilities of
        different labels can be compared.
    n_jobs : int or None, default=None
        Number of folds to fit in parallel, as in joblib.
    {seed_of_folds}

    Attributes
    ----------
    estimator_ : classifier
        The inner classifier, fitted on all rows.
    threshold_ : Threshold
        The fitted rule.
    {thresholds_}
    method_ : str
        The method whose scores are used.
    constant_scores_ : ndarray of shape (n_labels,)
        The ``decision_function`` of labels that had one value in ``fit`` and that the inner
        classifier scores alike everywhere: below all thresholds or above. NaN for other labels.

    Notes
    -----
    A label that is missing from the training rows of a fold has the same score in all rows of the
    fold; a margin is then higher than most. Such scores are ignored in the tuning.

    Examples
    --------
    A forest whose votes for rare labels rarely reach one half:

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MetaMultilabelClassifier._parameter_constraints,
        "rule": THRESHOLD_CONSTRAINT,
        "never_empty": ["boolean"],
        "method": [Choice("auto", *METHODS)],
    }

    method_: str
    constant_scores_: np.ndarray

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
        """Return the probability of each label, from the inner estimator if it has them.

        Thresholds change the prediction, not the probability: a label can be predicted at a
        probability of 0.3. Only for a vector ``y`` do the probabilities move with the threshold, as
        scikit-learn expects of a binary classifier.

        Parameters
        ----------
        {X}

        Returns
        -------
        {probabilities}
        """
        check_is_fitted(self)
        by_scores = self.method_ == "predict_proba" or self.label_format_.kind == "vector"
        if by_scores or not hasattr(self.estimator_, "predict_proba"):
            return super().predict_proba(X)
        by_probability = copy(self)  # shallow: the same fitted model, asked by the other method
        by_probability.method_ = "predict_proba"
        return by_probability.predict_proba(X)

    def _fit(self, X: Any, Y: Any) -> None:
        self._fit_inner(X, Y)
        names = METHODS if self.method == "auto" else (self.method,)
        self.method_ = choose_method(self.estimator_, *names)
        default = 0.5 if self.method_ == "predict_proba" else 0.0
        if isinstance(self.rule, str) and Y.shape[0] >= MIN_ROWS:
            found = self._out_of_fold(X, Y, self.method_)
        else:  # nothing to tune: not looked at
            nothing = np.broadcast_to(0.0, Y.shape)
            found = OutOfFoldScores(nothing, Y, np.broadcast_to(True, Y.shape))
        threshold = fit_threshold(
            self.rule,
            found.labels,
            found.scores,
            informed=found.informed,
            never_empty=self.never_empty,
            default=default,
        )
        self._set_threshold(threshold)
        self.constant_scores_ = self._settle_constants(X, Y)

    def _settle_constants(self, X: Any, Y: Any) -> np.ndarray:
        """Return scores for labels with one value that no threshold can get wrong.

        The inner margin of such a label is often 0, which a threshold below 0 would predict.
        """
        constants = np.full(Y.shape[1], np.nan)
        if self.method_ == "predict_proba":  # 0 and 1 are as far out as can be
            return constants
        sample = slice(0, _SAMPLE_ROWS)
        scores = scores_of(self.estimator_, _safe_indexing(X, sample), Y.shape[1], self.method_)
        fixed = ~informed_cells(Y, scores)[0]
        if fixed.any():
            bounds = np.append(scores.ravel(), [*self.thresholds_, self.offset_])
            always = np.asarray((Y == 1).sum(axis=0)).ravel() > 0
            constants[fixed & ~always] = np.nanmin(bounds) - 1
            constants[fixed & always] = np.nanmax(bounds) + 1
        return constants

    def _scores(self, X: Any) -> np.ndarray:
        scores = scores_of(self.estimator_, X, self.label_format_.n_labels, self.method_)
        constants = getattr(self, "constant_scores_", None)  # not in files of earlier versions
        if self.method_ == "predict_proba" or constants is None or np.isnan(constants).all():
            return scores
        return np.where(np.isnan(constants), scores, constants)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if self.method_ == "predict_proba":
            return scores
        # There are no probabilities: one half is where the single threshold is.
        return super()._probabilities(scores - self.offset_ + 0.5)
