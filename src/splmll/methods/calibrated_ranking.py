"""Calibrated label ranking (CLR): every two labels in a duel, and a virtual label as the cut.

A label's votes are the duels it wins; labels with more votes than the virtual label, which duels
with each of them for "not relevant", are predicted.

References
----------
Fürnkranz, Hüllermeier, Loza Mencía, Brinker: Multilabel classification via calibrated label
ranking. Machine Learning 73(2), 2008.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from splmll.base import Capabilities
from splmll.constraints import N_JOBS, Choice
from splmll.docstrings import with_paragraphs
from splmll.methods._base_learner import (
    LOGISTIC_REGRESSIONS,
    BaseLearnerClassifier,
)
from splmll.methods._constant import ConstantGuard
from splmll.methods._own_rule import fit_own_rule

VOTING = ("auto", "soft", "hard", "weighed")

# Say of the rivals in weighed votes. On held-out training rows of bibtex more of it costs average
# precision, and less of it ranking loss.
RIVALS_SHARE = 0.15

# Scores lie between 0 and 1 and a vote moves them by far more: what is closer is tied.
_TIE = 1e-9


@with_paragraphs
class CalibratedLabelRanking(BaseLearnerClassifier):
    r"""Pairwise label ranking, cut at the rank of a virtual label (CLR).

    The duel of labels a and b is a classifier trained on the rows where exactly one of them is
    relevant, to tell which. The duel of label a and the virtual label v is trained on all rows: a
    wins where it is relevant, v where it is not. With :math:`p_{ab} = 1 - p_{ba}` the probability
    that a wins against b, the votes for a new row are

    .. math:: s_a = \sum_{b \ne a} p_{ab} + p_{av}, \qquad s_v = \sum_a p_{va} ,

    in all :math:`C (C + 1) / 2`. The score of a label is :math:`(1 + (s_a - s_v) / C) / 2`, between
    0 and 1: at 1/2 a label has as many votes as the virtual one.

    Two labels that never differ in the training rows get half a vote each. Where only one of them
    ever occurs without the other, it wins every time.

    A duel knows rows with exactly one of its labels, yet votes on all. With many rare labels most
    votes come from duels that a row has nothing to do with, learnt from a few rows each, and
    bury the others. Weighed votes ask the virtual duels first: with :math:`r_a = p_{av}`,

    .. math:: w_{ab} = p_{ab} \, [r_a (1 - r_b) + r_b (1 - r_a)] + r_a r_b

    is the probability that a is relevant if the duel decides just those cases in which one of the
    two is. The score is 0.85 times :math:`r_a` and 0.15 times the mean of :math:`w_{ab}` over all
    rivals b.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base learner, cloned for every duel. None is logistic regression
        (``LogisticRegression(max_iter=1000)``) on standardised features, standardised once on all
        rows; sparse features are left as they are. Your own base learner receives X as it is.
    voting : {"auto", "soft", "hard", "weighed"}, default="auto"
        With "soft" votes are the probabilities :math:`p_{ab}`, with "hard" whole votes as in the
        paper: 1 where the probability is above 1/2, half a vote at 1/2. Whole votes leave many
        labels tied. "weighed" weights duels by how relevant they are to a row, as above. "auto" is
        "soft" for dense features and "weighed" for sparse ones.
    ties : {"exclude", "include"}, default="exclude"
        Whether a label with exactly as many votes as the virtual label is predicted. The paper
        ranks relevant labels above the virtual one; some programs include ties and so predict
        more labels. Soft and weighed votes are hardly ever tied.
    threshold : float or str, default=0.5
        A label is predicted if its score is at least the threshold; 0.5 is the virtual label. A
        name is a rule from :data:`splmll.thresholds.RULES`, fitted on out-of-fold scores of the
        training data.
    n_jobs : int or None, default=None
        Number of labels whose duels are fitted in parallel, as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed of base learners that have one, the same for every duel. None leaves base learners as
        they are.

    Attributes
    ----------
    duels_ : list
        For every label a its duels with the labels a + 1, ..., C - 1 and the virtual label. With
        logistic regression an array of shape (n_labels - a, n_features + 1) in single precision,
        weights first and intercept last, infinite where one side always wins: 300 labels have
        45,000 duels. With another base learner a list of ConstantGuard, None for labels that
        never differ.
    {scaler_}
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import CalibratedLabelRanking
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> Y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    >>> model = CalibratedLabelRanking(voting="hard").fit(X, Y)
    >>> model.predict([[0.9, 0.1]])
    array([[1, 0]])
    >>> label_votes, virtual_votes = model.votes([[0.9, 0.1]])
    >>> label_votes, virtual_votes
    (array([[2., 0.]]), array([1.]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseLearnerClassifier._parameter_constraints,
        "voting": [Choice(*VOTING)],
        "ties": [Choice("exclude", "include")],
        "n_jobs": N_JOBS,
    }
    capabilities = Capabilities(
        sample_weight=True, cost="C^2 / 2 base fits; cardinality + 1 times the rows of BR"
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "estimator": LOGISTIC_REGRESSIONS,
    }

    duels_: list[Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        voting: str = "auto",
        ties: str = "exclude",
        threshold: float | str = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.voting = voting
        self.ties = ties
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def votes(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return how many duels each label and the virtual label win.

        Parameters
        ----------
        {X}

        Returns
        -------
        label_votes : ndarray of shape (n_rows, n_labels)
            Votes of the labels, between 0 and ``n_labels``.
        virtual_votes : ndarray of shape (n_rows,)
            Votes of the virtual label; half of ``n_labels`` where votes are weighed.

        Examples
        --------
        >>> import numpy as np
        >>> from splmll.methods import CalibratedLabelRanking
        >>> X = np.arange(6.0).reshape(-1, 1)
        >>> model = CalibratedLabelRanking().fit(X, np.column_stack([X > 1, X > 3]))
        >>> label_votes, virtual_votes = model.votes(X)
        >>> label_votes.sum(axis=1) + virtual_votes
        array([3., 3., 3., 3., 3., 3.])
        """
        check_is_fitted(self)
        return self._votes(self._check_features(X, reset=False))

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold, sample_weight=sample_weight))
        base, X = self._prepare_learner(X, sample_weight)
        fit_duels = _fit_linear_duels if type(base) is LogisticRegression else _fit_duels
        relevant = Y == 1
        self.duels_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_duels)(base, X, relevant, label, sample_weight)
            for label in range(Y.shape[1])
        )

    def _votes(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        X = self._learner_features(X)
        n_labels = len(self.duels_)
        if self._weighs_votes():
            return n_labels * self._weighed(X), np.full(X.shape[0], n_labels / 2)
        votes = np.zeros((X.shape[0], n_labels + 1))  # the virtual label comes last
        for label, duels in enumerate(self.duels_):
            wins = _wins(duels, X)
            if self.voting == "hard":
                wins = np.heaviside(wins - 0.5, 0.5)
            votes[:, label] += wins.sum(axis=1)
            votes[:, label + 1 :] += 1 - wins
        return votes[:, :-1], votes[:, -1]

    def _weighs_votes(self) -> bool:
        return self.voting == "weighed" or (self.voting == "auto" and not self._dense_rows)

    def _weighed(self, X: Any) -> np.ndarray:
        """Scores from votes that count as far as their duel concerns the row."""
        relevance = np.column_stack([_wins(duels[-1:], X) for duels in self.duels_])
        n_labels = len(self.duels_)
        if n_labels == 1:
            return relevance
        votes = np.zeros_like(relevance)
        for label, duels in enumerate(self.duels_[:-1]):
            wins = _wins(duels[:-1], X)
            own, others = relevance[:, [label]], relevance[:, label + 1 :]
            both = own * others
            one_of_both = own + others - 2 * both
            votes[:, label] += (wins * one_of_both + both).sum(axis=1)
            votes[:, label + 1 :] += (1 - wins) * one_of_both + both
        return (1 - RIVALS_SHARE) * relevance + RIVALS_SHARE * votes / (n_labels - 1)

    def _scores(self, X: Any) -> np.ndarray:
        label_votes, virtual_votes = self._votes(X)
        lead = (label_votes - virtual_votes[:, None]) / len(self.duels_)
        if self._weighs_votes():
            lead *= 2  # from -1 to 1, as with other votes
        # A tie is moved off the threshold to the side it belongs; scores stay inside (0, 1).
        tie = -_TIE if self.ties == "exclude" else _TIE
        return 0.5 + tie + (0.5 - 2 * _TIE) * lead


def _fit_duels(
    base: Any, X: Any, relevant: np.ndarray, label: int, sample_weight: np.ndarray | None
) -> list[ConstantGuard | None]:
    """Fit the duels of a label with those after it and, last, with the virtual label.

    The target of a duel is 1 where ``label`` wins.
    """
    wins = relevant[:, label]
    duels: list[ConstantGuard | None] = []
    for rival in range(label + 1, relevant.shape[1]):
        rows = np.flatnonzero(wins != relevant[:, rival])
        weights = None if sample_weight is None else sample_weight[rows]
        duels.append(_fit_duel(base, X[rows], wins[rows], weights) if len(rows) else None)
    duels.append(_fit_duel(base, X, wins, sample_weight))
    return duels


def _fit_duel(
    base: Any, X: Any, wins: np.ndarray, sample_weight: np.ndarray | None
) -> ConstantGuard:
    return ConstantGuard(base, classes=(0, 1)).fit(X, wins.astype(np.int64), sample_weight)


def _fit_linear_duels(
    base: Any, X: Any, relevant: np.ndarray, label: int, sample_weight: np.ndarray | None
) -> np.ndarray:
    """Fit as ``_fit_duels`` does, and keep weights and intercepts only."""
    duels = _fit_duels(base, X, relevant, label, sample_weight)
    weights = np.zeros((len(duels), X.shape[1] + 1), dtype=np.float32)
    for row, duel in zip(weights, duels):
        if duel is None:
            continue  # zero weights: half a vote each
        if duel.learner_ is None:
            row[-1] = np.inf if duel.constant_ == 1 else -np.inf
        else:
            row[:-1], row[-1] = duel.learner_.coef_[0], duel.learner_.intercept_[0]
    return weights


def _wins(duels: Any, X: Any) -> np.ndarray:
    """Probabilities of shape (n_rows, n_duels) that a label wins its duels."""
    if isinstance(duels, np.ndarray):
        # Stored in single precision, multiplied in that of X, a few weights at a time.
        weights = duels.astype(X.dtype)
        return np.asarray(expit(X @ weights[:, :-1].T + weights[:, -1]))
    half = np.full(X.shape[0], 0.5)
    return np.column_stack(
        [half if duel is None else duel.predict_proba(X)[:, 1] for duel in duels]
    )
