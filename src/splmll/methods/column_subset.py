"""ML-CSSP: landmarks drawn by how much of the label space they span.

Column subset selection on the label matrix: labels with large leverage scores are likely to be
drawn, they are regressed, and all labels are recovered from them by least squares.

References
----------
Bi, Kwok: Efficient multi-label classification with many labels. ICML 2013.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from splmll.base import Capabilities
from splmll.constraints import RANDOM_STATE
from splmll.docstrings import with_paragraphs
from splmll.methods._label_embedding import label_gram, top_eigenvectors
from splmll.methods._label_subset import (
    RANK_TOLERANCE,
    LabelSubsetClassifier,
    least_squares_recovery,
    order_by_content,
)


@with_paragraphs
class MLCSSP(LabelSubsetClassifier):
    r"""Multi-label classification by column subset selection (ML-CSSP).

    With :math:`V_k` the first k right singular vectors of the 0/1 label matrix Y, the leverage
    score of label j is the squared length of row j of :math:`V_k`; the scores sum to k. Labels are
    drawn with probabilities proportional to them until k different ones are found. These landmarks
    L are regressed on the features, and all labels are recovered by

    .. math:: S = g(x)\, Y_L^+ Y .

    With as many landmarks as labels this is one regression per label.

    Parameters
    ----------
    n_landmarks : int or float, default=0.5
        Number of landmarks (k), or their share of the labels. Where fewer labels have a positive
        leverage score, because labels never occur, those are the landmarks.
    regressor : regressor or None, default=None
        Learns the landmarks from the features.
        {regressor}
    ridge : float, default=1.0
        {ridge}
    threshold : float or str, default=0.5
        {threshold}
    random_state : int, RandomState instance or None, default=None
        Seed of the draw. The same seed gives the same labels in whatever order their columns
        stand. With few labels results differ much from seed to seed: report several.

    Attributes
    ----------
    landmarks_ : ndarray
        Names of the landmarks (numbers if labels have no names), largest leverage first.
    recovery_ : ndarray of shape (n_landmarks, n_labels)
        :math:`Y_L^+ Y`: how each label is recovered from the landmarks.
    intercept_ : ndarray of shape (n_labels,)
        What is added to the recovered scores: zero.
    leverage_ : ndarray of shape (n_labels,)
        Leverage scores, from 0 to 1. They sum to k, or to the rank of Y if that is smaller.
    {regressor_of_landmarks_}
    {label_mean_}
    {thresholds_}

    Notes
    -----
    Leverage scores depend on the coding of the labels: those of a -1/+1 matrix differ. The coding
    0/1 keeps sparse labels sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import MLCSSP
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    >>> model = MLCSSP(n_landmarks=2, random_state=0).fit(X, Y)
    >>> model.leverage_.round(2)
    array([0.5, 0.5, 1. ])
    >>> model.predict([[0.2], [2.9]])
    array([[1, 1, 0],
           [0, 0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelSubsetClassifier._parameter_constraints,
        "random_state": RANDOM_STATE,
    }
    capabilities = Capabilities(
        sparse_labels=True, sample_weight=True, cost="N D^2 + nnz(Y) C + C^3"
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "n_landmarks": (0.25, 0.5, 0.75, 1.0),
        "ridge": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    }

    leverage_: np.ndarray

    def __init__(
        self,
        n_landmarks: int | float = 0.5,
        *,
        regressor: Any = None,
        ridge: float = 1.0,
        threshold: float | str = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.regressor = regressor
        self.ridge = ridge
        self.threshold = threshold
        self.random_state = random_state

    def _select(self, Y: Any, n_landmarks: int, sample_weight: np.ndarray | None) -> np.ndarray:
        rng = check_random_state(self.random_state)
        gram = label_gram(Y, sample_weight)
        self.leverage_ = leverage_scores(gram, n_landmarks)
        order = order_by_content(Y, rng)
        possible = order[self.leverage_[order] > 0]
        chance = self.leverage_[possible] / max(self.leverage_.sum(), 1.0)
        count = min(n_landmarks, len(possible))
        # Drawing without replacement has the law of drawing until so many are different.
        drawn = rng.choice(possible, count, replace=False, p=chance) if count else possible
        landmarks = drawn[np.argsort(-self.leverage_[drawn], kind="stable")]
        self.recovery_ = least_squares_recovery(gram, landmarks)
        self.intercept_ = np.zeros(Y.shape[1])
        return landmarks


def leverage_scores(gram: np.ndarray, n_vectors: int) -> np.ndarray:
    """Return the squared row lengths of the first right singular vectors of Y, from Y'Y.

    Parameters
    ----------
    gram : ndarray of shape (n_labels, n_labels)
        Y'Y.
    n_vectors : int
        Number of singular vectors; those with the singular value 0 are left out.

    Returns
    -------
    scores : ndarray of shape (n_labels,)
        From 0 to 1; exactly 0 where rounding leaves no more.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods.column_subset import leverage_scores
    >>> leverage_scores(np.diag([2.0, 5.0, 0.0]), 3)
    array([1., 1., 0.])
    """
    values, vectors = top_eigenvectors(gram, n_vectors)
    vectors = vectors[:, values > RANK_TOLERANCE * max(values[0], 0.0)]
    scores = np.minimum((vectors**2).sum(axis=1), 1.0)
    return np.where(scores > RANK_TOLERANCE, scores, 0.0)
