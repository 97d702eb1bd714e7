"""Label sets as classes: what label powerset, pruned sets and random k-labelsets share.

Every distinct row of the label matrix becomes a class of a multiclass learner, whose class
probabilities are turned back into a score for each label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import log_expit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from splmll.methods._base_learner import for_raw_features
from splmll.methods._constant import ConstantGuard
from splmll.methods._one_vs_rest import OneVsRestLogistic

# Class probabilities that are held at the same time (64 MB), however many sets there are.
_BLOCK_CELLS = 2**23

# Sums of so many distinct powers of two are exact in double precision.
_BITS = 52


@dataclass(frozen=True, eq=False)
class LabelSetLearner:
    """A multiclass learner whose classes are label sets.

    Attributes
    ----------
    guard : ConstantGuard
        The fitted base learner; it gives probabilities of the classes 0, 1, ...
    sets : CSR array of shape (n_sets, n_labels)
        The label set of each class.
    """

    guard: ConstantGuard
    sets: sparse.csr_array


class LabelSetEnsemble:
    """Label-set learners that answer together; a single one is label powerset.

    With soft voting the score of a label is the mean of its marginal probabilities, with hard
    voting the share of the learners whose most likely set contains it. Where all base learners
    are logistic regressions, one matrix product asks all of them.

    Parameters
    ----------
    members : sequence of LabelSetLearner
        The learners. All sets have a column for each label.
    n_voters : int or array-like of shape (n_labels,)
        How many of the learners have an opinion on each label.
    n_features : int
        Number of features.
    scaler : StandardScaler or None
        Standardisation of the features that logistic regressions were fitted on. It is folded
        into their weights: scores are asked for with features as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from splmll.methods._label_sets import LabelSetEnsemble, fit_label_sets
    >>> X, Y = np.zeros((4, 1)), np.array([[1, 0], [1, 0], [1, 1], [0, 0]])
    >>> ensemble = LabelSetEnsemble([fit_label_sets(DummyClassifier(), X, Y)], 1, 1)
    >>> ensemble.scores(X[:1], "soft")
    array([[0.75, 0.25]])
    >>> ensemble.scores(X[:1], "hard")
    array([[1., 0.]])
    """

    def __init__(
        self,
        members: Sequence[LabelSetLearner],
        n_voters: Any,
        n_features: int,
        scaler: StandardScaler | None = None,
    ) -> None:
        self.members = members
        self.n_voters = n_voters
        self._logistic = _StackedLogistic.build(members, n_features, scaler)

    def scores(self, X: Any, voting: str) -> np.ndarray:
        """Return the scores of the labels, between 0 and 1.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_rows, n_features)
            Features.
        voting : {"soft", "hard"}
            Average probabilities or votes.

        Returns
        -------
        scores : ndarray of shape (n_rows, n_labels)
            Mean over the learners that have an opinion on the label.
        """
        if self._logistic is not None:
            width = self._logistic.intercept.size
        else:
            width = max(member.sets.shape[0] for member in self.members)
        scores = np.empty((X.shape[0], self.members[0].sets.shape[1]))
        for rows in gen_batches(X.shape[0], max(1, _BLOCK_CELLS // width)):
            answers = self._answers(X[rows])
            votes = sum(_votes(probabilities, sets, voting) for probabilities, sets in answers)
            scores[rows] = votes / self.n_voters
        # Probabilities that add up to 1 do so up to rounding.
        return np.clip(scores, 0, 1, out=scores)

    def _answers(self, X: Any) -> Iterator[tuple[np.ndarray, sparse.csr_array]]:
        """Yield class probabilities of shape (n_rows, n_estimators, n_classes) and the sets."""
        if self._logistic is not None:
            yield self._logistic.probabilities(X), self._logistic.sets
        else:
            for member in self.members:
                yield member.guard.predict_proba(X)[:, None, :], member.sets


def find_label_sets(Y: Any) -> tuple[sparse.csr_array, np.ndarray]:
    """Number the distinct rows of a label matrix.

    They are numbered in the order in which they first appear, so that the numbers do not depend
    on the order of the labels.

    Parameters
    ----------
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        0/1 labels.

    Returns
    -------
    sets : CSR array of shape (n_sets, n_labels)
        The distinct rows; the empty set is one like the others.
    classes : ndarray of shape (n_rows,)
        The number of each row's set.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._label_sets import find_label_sets
    >>> sets, classes = find_label_sets(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> sets.toarray()
    array([[0., 1.],
           [1., 1.]])
    >>> classes
    array([0, 1, 0])
    """
    n_rows, n_labels = Y.shape
    label = np.arange(n_labels)
    powers = np.zeros((n_labels, -(-n_labels // _BITS)))
    powers[label, label // _BITS] = 2.0 ** (label % _BITS)
    # A row is a few whole numbers, one for every 52 labels. Two rows are equal where all are.
    words = np.asarray(Y @ powers)
    classes = np.zeros(n_rows, dtype=np.int64)
    for word in words.T:
        found, values = pd.factorize(word)
        classes, _ = pd.factorize(classes * len(values) + found)
    # Written backwards, the entry that stays is that of the first row.
    first = np.empty(classes.max() + 1, dtype=np.int64)
    first[classes[::-1]] = np.arange(n_rows)[::-1]
    return sparse.csr_array(Y[first], dtype=np.float64), classes


def fit_label_sets(
    base: Any, X: Any, Y: Any, sample_weight: np.ndarray | None = None
) -> LabelSetLearner:
    """Fit a clone of a base learner that predicts which of the label sets in Y a row has."""
    sets, classes = find_label_sets(Y)
    return LabelSetLearner(ConstantGuard(base).fit(X, classes, sample_weight), sets)


def _votes(probabilities: np.ndarray, sets: sparse.csr_array, voting: str) -> Any:
    """Sum over learners of marginals or votes, from class probabilities of shape (n, m, k)."""
    n_rows, n_estimators, n_classes = probabilities.shape
    if n_estimators * n_classes != sets.shape[0]:
        # A product of sparse matrices would follow a class without a set out of memory.
        raise ValueError(f"There are {n_estimators * n_classes} classes for {sets.shape[0]} sets.")
    if voting == "soft":
        return probabilities.reshape(n_rows, -1) @ sets
    best = np.argmax(probabilities, axis=2) + n_classes * np.arange(n_estimators)
    chosen = sparse.csr_array(
        (np.ones(best.size), best.ravel(), np.arange(n_rows + 1) * n_estimators),
        shape=(n_rows, sets.shape[0]),
    )
    return (chosen @ sets).toarray()


@dataclass(frozen=True, eq=False)
class _StackedLogistic:
    """The weights of all logistic regressions of an ensemble as one matrix.

    Asking the learners in turn costs each of them a validation of X. All are given as many
    classes as the one with most of them: the others have probability 0 and an empty set.
    """

    coef: np.ndarray  # (n_estimators * n_classes, n_features), for features as they are
    intercept: np.ndarray  # (n_estimators, n_classes)
    sets: sparse.csr_array  # (n_estimators * n_classes, n_labels)
    one_vs_rest: bool = False  # or multinomial

    @classmethod
    def build(
        cls, members: Sequence[LabelSetLearner], n_features: int, scaler: StandardScaler | None
    ) -> _StackedLogistic | None:
        """Return the weights, or None where a learner is something else."""
        learners = [member.guard.learner_ for member in members]
        kinds = {type(learner) for learner in learners if learner is not None}
        if not kinds <= {LogisticRegression} and kinds != {OneVsRestLogistic}:
            return None
        one_vs_rest = OneVsRestLogistic in kinds
        n_classes = max(member.sets.shape[0] for member in members)
        coef = np.zeros((len(members), n_classes, n_features))
        intercept = np.full((len(members), n_classes), -np.inf)
        sets = []
        for index, (member, learner) in enumerate(zip(members, learners)):
            n_sets, n_labels = member.sets.shape
            if learner is None:
                intercept[index, 0] = 0.0
            elif n_sets == 2 and not one_vs_rest:
                # Two classes share one row of weights, which belongs to the second.
                coef[index, 1] = learner.coef_[0]
                intercept[index, :2] = 0.0, learner.intercept_[0]
            else:
                coef[index, :n_sets] = learner.coef_
                intercept[index, :n_sets] = learner.intercept_
            sets += [member.sets, sparse.csr_array((n_classes - n_sets, n_labels))]
        coef, intercept = for_raw_features(coef, intercept, scaler)
        table = sparse.vstack(sets, format="csr")
        return cls(coef.reshape(-1, n_features), intercept, table, one_vs_rest)

    def probabilities(self, X: Any) -> np.ndarray:
        """Return class probabilities of shape (n_rows, n_estimators, n_classes)."""
        logits = np.asarray(X @ self.coef.T).reshape(-1, *self.intercept.shape)
        logits = logits + self.intercept
        if self.one_vs_rest:
            logits = log_expit(logits)
        logits -= logits.max(axis=2, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=2, keepdims=True)
        return logits
