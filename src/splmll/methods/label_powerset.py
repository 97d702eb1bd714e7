"""Label powerset (LP): every label set seen in training is a class of one multiclass learner.

It models the labels jointly, and can predict no set that it has not seen.

References
----------
Boutell, Luo, Shen, Brown: Learning multi-label scene classification. Pattern Recognition 37(9),
2004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from splmll.base import Capabilities
from splmll.constraints import Choice
from splmll.docstrings import with_paragraphs
from splmll.methods._base_learner import LOGISTIC_REGRESSIONS, BaseLearnerClassifier
from splmll.methods._constant import ConstantGuard
from splmll.methods._label_sets import LabelSetEnsemble, fit_label_sets
from splmll.methods._own_rule import fit_own_rule
from splmll.thresholds import THRESHOLD_CONSTRAINT


@with_paragraphs
class LabelPowerset(BaseLearnerClassifier):
    r"""One multiclass classifier whose classes are the label sets of the training rows.

    With :math:`P(L | x)` the probability of label set L, the score of label j is its marginal
    probability

    .. math:: S_j = \sum_{L \ni j} P(L | x) ,

    and the prediction is the most likely set :math:`\arg\max_L P(L | x)`, the best one for
    subset accuracy. The empty set is a set like the others.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base learner.
        {base_learner}
        The number of classes is that of the distinct label sets, which may come close to the number
        of rows: then choose nearest neighbours, whose fit does not depend on it (memory of a
        logistic regression grows with sets times features, that of a tree with sets times leaves),
        or :class:`EnsembleOfPrunedSets` or :class:`RAkEL`, which keep the classes few. Base
        learners that stratify folds inside fail on sets that occur once.
    threshold : "set", float or str, default="set"
        "set" predicts the most likely label set. With a number a label is predicted where its
        marginal is at least the threshold, which may give sets never seen; 0.5 is best for
        Hamming loss. Another name is a rule of :data:`splmll.thresholds.RULES`, fitted on
        out-of-fold marginals of the training data.
    random_state : int, RandomState instance or None, default=None
        Seed of a base learner that has one. None leaves it as it is.

    Attributes
    ----------
    label_sets_ : CSR array of shape (n_sets, n_labels)
        The distinct label sets in the order in which they first appear.
    estimator_ : ConstantGuard
        The fitted base learner; its classes are the row numbers of ``label_sets_``. The default
        base learner works on standardised features, if they are dense.
    scaler_ : StandardScaler or None
        The standardisation of the default base learner.
    thresholds_ : ndarray of shape (n_labels,)
        Threshold of each label, NaN where the rule has none, as for "set".

    Notes
    -----
    ``decision_function`` is the marginal minus 0.5 with "set". The most likely set may contain a
    label whose marginal is below 0.5, or lack one above it.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import LabelPowerset
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> model = LabelPowerset().fit(X, Y)
    >>> model.label_sets_.toarray().astype(int)
    array([[1, 0],
           [1, 1],
           [0, 0]])
    >>> model.predict([[0.0], [2.0]])
    array([[1, 0],
           [0, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseLearnerClassifier._parameter_constraints,
        "threshold": [*THRESHOLD_CONSTRAINT, Choice("set")],
    }
    capabilities = Capabilities(
        sparse_labels=True,
        probabilities=True,
        sample_weight=True,
        cost="one base fit with a class for each label set",
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "estimator": LOGISTIC_REGRESSIONS,
    }

    label_sets_: sparse.csr_array
    estimator_: ConstantGuard
    _ensemble: LabelSetEnsemble

    def __init__(
        self,
        estimator: Any = None,
        *,
        threshold: float | str = "set",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.random_state = random_state

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        if self.threshold == "set":
            self._set_threshold(MostLikelySet())
        else:
            self._set_threshold(
                fit_own_rule(self, X, Y, self.threshold, sample_weight=sample_weight)
            )
        base, X = self._prepare_learner(X, sample_weight)
        learner = fit_label_sets(base, X, Y, sample_weight)
        self.label_sets_, self.estimator_ = learner.sets, learner.guard
        self._ensemble = LabelSetEnsemble([learner], 1, X.shape[1], self.scaler_)

    def _scores(self, X: Any) -> np.ndarray:
        return self._ensemble.scores(X, "soft")

    def _labels(self, X: Any) -> np.ndarray:
        if isinstance(self.threshold_, MostLikelySet):
            return self._ensemble.scores(X, "hard").astype(np.uint8)
        return super()._labels(X)


@dataclass(frozen=True)
class MostLikelySet:
    """The rule "the most likely label set", which is read off sets and not off scores."""

    offset: float = 0.5

    def per_label(self, n_labels: int) -> np.ndarray:
        """Return NaN for every label: this rule compares sets, not scores with a number."""
        return np.full(n_labels, np.nan)

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Refuse: different sets may be likeliest for the same marginals."""
        raise TypeError(
            "Scores of labels do not tell which label set is the most likely: call predict with "
            "the features, or fit with a number as threshold."
        )
