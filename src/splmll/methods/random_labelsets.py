"""Random k-labelsets (RAkEL): label powerset on many small groups of labels.

A group of k labels has at most 2^k label sets, so that joint modelling stays cheap and every set
has many examples; a label is decided by all groups that contain it.

References
----------
Tsoumakas, Katakis, Vlahavas: Random k-labelsets for multilabel classification. IEEE Transactions
on Knowledge and Data Engineering 23(7), 2011.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from splmll.base import Capabilities
from splmll.constraints import COUNT, N_JOBS
from splmll.docstrings import with_paragraphs
from splmll.methods._base_learner import (
    LOGISTIC_REGRESSIONS,
    VOTING_CONSTRAINT,
    BaseLearnerClassifier,
)
from splmll.methods._label_sets import (
    LabelSetEnsemble,
    LabelSetLearner,
    fit_label_sets,
)
from splmll.methods._one_vs_rest import OneVsRestLogistic
from splmll.methods._own_rule import fit_own_rule


@with_paragraphs
class RAkEL(BaseLearnerClassifier):
    """Label powerset models on random groups of k labels (RAkEL).

    The groups are drawn without replacement from all groups of k labels, so that no two are
    equal, and labels that were drawn into none get further groups. The score of a label is the
    mean over the models whose group contains it.

    One label per group is binary relevance; one group with all labels is label powerset.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base learner, cloned for every group. None is multinomial logistic regression
        (``LogisticRegression(max_iter=1000)``) on features standardised once for all groups; sparse
        ones are left as they are, and every label set has a logistic regression against the rest,
        so that rare labels do not inherit weights of others in their group. Your own base learner
        receives X as it is.
    labelset_size : int, default=3
        Labels in a group (k), at most all of them. Larger groups model more of the dependence
        between labels, with up to ``2 ** labelset_size`` classes.
    n_estimators : int or None, default=None
        Number of groups (m), at most as many as there are different ones. None is twice the number
        of labels, the authors' choice. Groups that cover missing labels come on top. Has no effect
        without overlap.
    overlapping : bool, default=True
        Whether a label may be in several groups (RAkEL_o). False splits the labels at random
        into groups of k, the last one perhaps smaller (RAkEL_d): fewer models, one opinion each.
    voting : {"soft", "hard"}, default="soft"
        "hard" is the paper's: every model votes for the labels of its most likely set, and the
        score is the share of votes. A label is in six groups on average, so that many scores tie;
        half of the votes is enough for a threshold of 0.5. "soft" averages marginal probabilities,
        which ranks better and gives probabilities strictly between 0 and 1.
    threshold : float or str, default=0.5
        {threshold}
    n_jobs : int or None, default=None
        Number of groups to fit in parallel, as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed of the groups, and of base learners that have one. Groups are drawn by position:
        with another order of the labels the same seed draws other groups.

    Attributes
    ----------
    labelsets_ : list of ndarray
        The labels of each group, ascending.
    members_ : list of LabelSetLearner
        The models in the same order: ``guard`` is the fitted base learner, ``sets`` its label
        sets, one row per class with a column for every label of the problem. Default base
        learners work on standardised features.
    {scaler_}
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import RAkEL
    >>> X = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0)
    >>> Y = np.repeat([[1, 0, 0], [1, 1, 0], [0, 0, 1]], 10, axis=0)
    >>> model = RAkEL(labelset_size=2, random_state=0).fit(X, Y)
    >>> [labels.tolist() for labels in model.labelsets_]
    [[0, 1], [0, 2], [1, 2]]
    >>> model.predict([[0.0], [2.0]])
    array([[1, 0, 0],
           [0, 0, 1]])
    """

    _former_names: ClassVar[dict[str, str]] = {"n_models": "n_estimators"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseLearnerClassifier._parameter_constraints,
        "labelset_size": [COUNT],
        "n_estimators": [COUNT, None],
        "overlapping": ["boolean"],
        "voting": VOTING_CONSTRAINT,
        "n_jobs": N_JOBS,
    }
    capabilities = Capabilities(
        sparse_labels=True,
        probabilities=True,
        sample_weight=True,
        cost="2 C base fits with at most 2^k classes",
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "estimator": LOGISTIC_REGRESSIONS,
        "labelset_size": (2, 3, 4, 5),
    }

    labelsets_: list[np.ndarray]
    members_: list[LabelSetLearner]
    _ensemble: LabelSetEnsemble

    def __init__(
        self,
        estimator: Any = None,
        *,
        labelset_size: int = 3,
        n_estimators: int | None = None,
        overlapping: bool = True,
        voting: str = "soft",
        threshold: float | str = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.labelset_size = labelset_size
        self.n_estimators = n_estimators
        self.overlapping = overlapping
        self.voting = voting
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold, sample_weight=sample_weight))
        base, X = self._prepare_learner(X, sample_weight)
        if self.estimator is None and sparse.issparse(X):
            base = OneVsRestLogistic(base.C)
        n_labels = Y.shape[1]
        self.labelsets_ = self._draw(n_labels)
        columns = sparse.csc_array(Y)
        self.members_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_group)(base, X, columns[:, labels], labels, n_labels, sample_weight)
            for labels in self.labelsets_
        )
        n_voters = np.bincount(np.concatenate(self.labelsets_), minlength=n_labels)
        self._ensemble = LabelSetEnsemble(self.members_, n_voters, X.shape[1], self.scaler_)

    def _scores(self, X: Any) -> np.ndarray:
        return self._ensemble.scores(X, self.voting)

    def _draw(self, n_labels: int) -> list[np.ndarray]:
        random = check_random_state(self.random_state)
        size = min(self.labelset_size, n_labels)
        if not self.overlapping:
            return _partition(np.arange(n_labels), size, random)
        n_estimators = 2 * n_labels if self.n_estimators is None else self.n_estimators
        labelsets = _distinct_groups(n_labels, size, n_estimators, random)
        missing = np.setdiff1d(np.arange(n_labels), np.concatenate(labelsets))
        return labelsets + _covering(missing, n_labels, size, random)


def _distinct_groups(
    n_labels: int, size: int, n_groups: int, random: np.random.RandomState
) -> list[np.ndarray]:
    """Draw different groups of labels, all groups being equally likely."""
    n_possible = comb(n_labels, size)
    if 2 * n_groups >= n_possible:
        possible = list(combinations(range(n_labels), size))
        drawn = random.choice(n_possible, min(n_groups, n_possible), replace=False)
        return [np.array(possible[index]) for index in np.sort(drawn)]
    # More than half of the groups stay free to the end: two draws find a new one on average.
    found: set[tuple[int, ...]] = set()
    while len(found) < n_groups:
        found.add(tuple(sorted(random.choice(n_labels, size, replace=False).tolist())))
    return [np.array(labels) for labels in sorted(found)]


def _partition(labels: np.ndarray, size: int, random: np.random.RandomState) -> list[np.ndarray]:
    """Split labels at random into groups of a size, the last one perhaps smaller."""
    shuffled = random.permutation(labels)
    return [np.sort(shuffled[start : start + size]) for start in range(0, len(shuffled), size)]


def _covering(
    missing: np.ndarray, n_labels: int, size: int, random: np.random.RandomState
) -> list[np.ndarray]:
    """Return groups that cover the missing labels, filled up with others to the size."""
    groups = _partition(missing, size, random)
    if groups and len(groups[-1]) < size:
        others = np.setdiff1d(np.arange(n_labels), groups[-1])
        fill = random.choice(others, size - len(groups[-1]), replace=False)
        groups[-1] = np.sort(np.concatenate([groups[-1], fill]))
    return groups


def _fit_group(
    base: Any,
    X: Any,
    columns: sparse.csc_array,
    labels: np.ndarray,
    n_labels: int,
    sample_weight: np.ndarray | None,
) -> LabelSetLearner:
    learner = fit_label_sets(base, X, columns.toarray(), sample_weight)
    small = learner.sets
    # The same sets with a column for every label of the problem.
    sets = sparse.csr_array(
        (small.data, labels[small.indices], small.indptr), shape=(small.shape[0], n_labels)
    )
    return LabelSetLearner(learner.guard, sets)
