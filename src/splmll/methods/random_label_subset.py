"""PBR, partial binary relevance: regress some labels drawn at random and give up the others.

The simplest way to have fewer outputs, and the baseline of label-space reduction: a method that
chooses its landmarks must beat it.

References
----------
Chen, Lin: Feature-aware label space dimension reduction for multi-label classification. NIPS 2012.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from splmll.base import Capabilities
from splmll.constraints import RANDOM_STATE
from splmll.docstrings import with_paragraphs
from splmll.methods._label_subset import LabelSubsetClassifier, order_by_content
from splmll.methods._ridge import column_means


@with_paragraphs
class PBR(LabelSubsetClassifier):
    """Partial binary relevance (PBR), binary relevance with random discarding.

    k labels are drawn, each as likely as any other, and regressed on the features. Every other
    label gets its mean in the training rows as its score for all rows: it is predicted always if
    more than half of them carry it, else never. (The authors' comparison gives discarded labels the
    score that lies exactly on the decision boundary and calls it irrelevant; the mean ranks them by
    frequency.)

    With as many landmarks as labels this is one regression per label.

    Parameters
    ----------
    n_landmarks : int or float, default=0.5
        Number of labels to regress (k), or their share of the labels. Labels with one value in the
        training rows need no regression and are never drawn; where fewer others remain, all of
        them are taken.
    regressor : regressor or None, default=None
        Learns the labels drawn.
        {regressor}
    ridge : float, default=1.0
        {ridge}
    threshold : float or str, default=0.5
        {threshold}
    random_state : int, RandomState instance or None, default=None
        Seed of the draw. The same seed gives the same labels, whatever the order of their columns.
        Results vary a lot between seeds: report several.

    Attributes
    ----------
    landmarks_ : ndarray
        Names of the labels drawn (numbers if labels have no names), in label order.
    recovery_ : ndarray of shape (n_landmarks, n_labels)
        1 where a landmark is the label, else 0.
    intercept_ : ndarray of shape (n_labels,)
        Score of the discarded labels, 0 for the landmarks.
    {regressor_of_landmarks_}
    {label_mean_}
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import PBR
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    >>> model = PBR(n_landmarks=2, random_state=0).fit(X, Y)
    >>> discarded = np.setdiff1d(np.arange(3), model.landmarks_)
    >>> bool(np.ptp(model.decision_function(X)[:, discarded]) == 0)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelSubsetClassifier._parameter_constraints,
        "random_state": RANDOM_STATE,
    }
    capabilities = Capabilities(sparse_labels=True, sample_weight=True, cost="N D^2 + N D C")
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "n_landmarks": (0.25, 0.5, 0.75, 1.0),
        "ridge": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    }

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
        mean = column_means(Y)
        order = order_by_content(Y, rng)
        varying = order[(mean[order] > 0) & (mean[order] < 1)]
        drawn = rng.permutation(varying)[:n_landmarks]
        landmarks = np.sort(drawn)
        self.recovery_ = np.eye(Y.shape[1])[landmarks]
        self.intercept_ = column_means(Y, sample_weight)
        self.intercept_[landmarks] = 0.0
        return landmarks
