"""Hybrid noise-oriented multi-label learning (HNOML): robust to noisy features and noisy labels.

A linear model with row-sparse weights and a row-sparse error predicts enriched labels, which are
combinations of the given ones.

References
----------
Zhang, Yu, Fu, Zhu, Chen, Hu: Hybrid noise-oriented multilabel learning. IEEE Transactions on
Cybernetics 50(6), 2020. Only its abstract was available: what follows is a reconstruction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq, solve
from scipy.special import expit

from splmll.base import Capabilities, MultilabelClassifier
from splmll.constraints import COUNT, NOT_NEGATIVE, POSITIVE
from splmll.docstrings import with_paragraphs
from splmll.feature_scaling import DISTANCE_SCALE_CONSTRAINT
from splmll.methods._feature_scale import FeatureScale
from splmll.methods._own_rule import fit_own_rule
from splmll.thresholds import THRESHOLD_CONSTRAINT

# Added to squared row norms (e), so that a norm has a gradient at 0 as well.
SMOOTHING = 1e-10
# Weight of the size of B: decides only where labels coincide or never occur.
ENRICHMENT_RIDGE = 1e-6
# Ridge of the first fit as a share of the mean diagonal: any start leads to the same minimum.
_START_RIDGE = 1e-2


@with_paragraphs
class HNOML(MultilabelClassifier):
    r"""Hybrid noise-oriented multi-label learning, a reconstruction from the abstract.

    **This is not the published method to the letter.** Only the abstract of the paper was
    available. It speaks of noise in features and in labels, of bi-sparsity regularisation
    "bridged" by a label enrichment matrix that models label correlation and improves noisy
    labels, and of structured sparsity. The objective here is our reading of that:

    .. math:: F(W, B) = \|X W - Y B\|_{2,1} + \alpha \|Y - Y B\|_F^2 + \beta \|W\|_{2,1}
        + \gamma \|B\|_F^2 .

    :math:`\|A\|_{2,1}` is the sum of the Euclidean norms of the rows. In the first term it
    forgives single rows with wrong labels; on W it discards noisy features. B (labels x labels)
    enriches the labels. X has a constant column, whose row of W, the bias, is not penalised.
    :math:`\gamma = 10^{-6}` only makes B unique.

    F is convex in W and B together. It is minimised by reweighting: with
    :math:`d_i = 1 / (2 \sqrt{\|(XW - YB)_i\|^2 + e})` and
    :math:`v_r = 1 / (2 \sqrt{\|W_r\|^2 + e})`, :math:`e = 10^{-10}`, the next W and B minimise
    :math:`\sum_i d_i \|(XW - YB)_i\|^2 + \beta \sum_r v_r \|W_r\|^2` plus the other two terms,
    one linear system for both. F, with the smoothed norms, never rises.

    The score of a label is :math:`x'W_j` plus its bias. B pulls the enriched labels towards 0, and
    the scores with them, so that 0.5 is no natural cut: a threshold is learnt.

    Parameters
    ----------
    enrichment_weight : float, default=1.0
        How closely the enriched labels follow the given ones (:math:`\alpha`). Try 0.5 to 100.
        Large values leave the labels as they are; below 0.3 all scores collapse towards 0.
    sparsity_weight : float, default=5.0
        Weight of the size of W (:math:`\beta`): larger discards more features. Try 0.1, 1, 5, 20
        and 100; the errors are summed over rows, so more rows call for a larger value.
    {scale_of_distances}
        The penalty on W compares features, so they should be comparable.
        {standard_for_dense}
    threshold : float or str, default="cardinality"
        A rule from :data:`splmll.thresholds.RULES`, fitted on out-of-fold scores of the training
        data, which costs five further fits; or a number: a label is predicted if its score is at
        least that. With fewer than 50 rows the cut lies halfway between the mean enriched value of
        relevant and of irrelevant labels.
    tol : float, default=1e-5
        Stop when F falls by a smaller part of itself.
    max_iter : int, default=200
        Stop after so many steps in any case.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Weights for the features as given.
    intercept_ : ndarray of shape (n_labels,)
        The biases.
    feature_weights_ : ndarray of shape (n_features, n_labels)
        The matrix W, for scaled features; discarded features have rows of 0, up to rounding.
    enrichment_ : ndarray of shape (n_labels, n_labels)
        The matrix B: column j says how label j is put together.
    objective_ : ndarray of shape (n_iter + 1,)
        F at the start and after each step, with smoothed norms; it never rises.
    n_iter_ : int
        Number of steps.
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import HNOML
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> Y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    >>> model = HNOML(enrichment_weight=10.0, sparsity_weight=0.1).fit(X, Y)
    >>> model.predict([[0.9, 0.1]])
    array([[1, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "enrichment_weight": [POSITIVE],
        "sparsity_weight": [POSITIVE],
        "scale": DISTANCE_SCALE_CONSTRAINT,
        "threshold": THRESHOLD_CONSTRAINT,
        "tol": [NOT_NEGATIVE],
        "max_iter": [COUNT],
    }
    capabilities = Capabilities(ranking_only=True, cost="steps x (N D^2 + D^3)")
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "enrichment_weight": (0.1, 1.0, 10.0, 100.0),
        "sparsity_weight": (0.1, 1.0, 5.0, 20.0, 100.0),
    }

    coef_: np.ndarray
    intercept_: np.ndarray
    feature_weights_: np.ndarray
    enrichment_: np.ndarray
    objective_: np.ndarray
    n_iter_: int

    def __init__(
        self,
        enrichment_weight: float = 1.0,
        sparsity_weight: float = 5.0,
        *,
        scale: str | None = "auto",
        threshold: float | str = "cardinality",
        tol: float = 1e-5,
        max_iter: int = 200,
    ) -> None:
        self.enrichment_weight = enrichment_weight
        self.sparsity_weight = sparsity_weight
        self.scale = scale
        self.threshold = threshold
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, X: Any, Y: np.ndarray) -> None:
        X = X.astype(np.float64)
        # Sparse features are not shifted: the bias takes up any shift, and nothing else changes.
        features = FeatureScale(X, self.scale)
        weights, bias = self._minimise(features.apply(X), Y)
        self.feature_weights_ = weights
        self.coef_ = (weights / features.scale[:, None]).T
        self.intercept_ = bias - self.coef_ @ features.shift
        middle = _middle(Y, Y @ self.enrichment_)
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold, default=middle))

    def _scores(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        # The usual curve for 0/1 labels, through 1/2 at the learnt cut.
        return np.asarray(expit(4.0 * (scores - self.offset_)))

    def _minimise(self, X: Any, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_rows, n_features = X.shape
        # One regression for W, the bias and B: rows of [X, 1, -Y] times [W; b; B] are the errors.
        design = _beside(X, np.ones((n_rows, 1)), -Y)
        labels = slice(n_features + 1, None)
        fixed = np.zeros((design.shape[1], design.shape[1]))
        gram = Y.T @ Y
        fixed[labels, labels] = self.enrichment_weight * gram
        fixed[labels, labels].flat[:: Y.shape[1] + 1] += ENRICHMENT_RIDGE
        target = np.zeros((design.shape[1], Y.shape[1]))
        target[labels] = self.enrichment_weight * gram

        solution = self._start(design, Y, n_features)
        objective = [self._objective(design, Y, solution, n_features)]
        for _ in range(self.max_iter):
            row_weights = 0.5 / _smooth_norms(design @ solution)
            feature_weights = 0.5 / _smooth_norms(solution[:n_features])
            system = fixed + _weighted_gram(design, row_weights)
            system.flat[: n_features * (len(system) + 1) : len(system) + 1] += (
                self.sparsity_weight * feature_weights
            )
            solution = _solve(system, target)
            objective.append(self._objective(design, Y, solution, n_features))
            if objective[-2] - objective[-1] <= self.tol * abs(objective[-2]):
                break
        self.objective_, self.n_iter_ = np.array(objective), len(objective) - 1
        self.enrichment_ = solution[labels]
        return solution[:n_features], solution[n_features]

    def _start(self, design: Any, Y: np.ndarray, n_features: int) -> np.ndarray:
        """Labels as they are (B = I), and their ridge regression."""
        inputs = design[:, : n_features + 1]
        system = _weighted_gram(inputs, np.ones(len(Y)))
        diagonal = slice(None, n_features * (len(system) + 1), len(system) + 1)
        system.flat[diagonal] += _START_RIDGE * max(system.flat[diagonal].mean(), 1.0)
        return np.vstack([_solve(system, np.asarray(inputs.T @ Y)), np.eye(Y.shape[1])])

    def _objective(
        self, design: Any, Y: np.ndarray, solution: np.ndarray, n_features: int
    ) -> float:
        enrichment = solution[n_features + 1 :]
        return float(
            _smooth_norms(design @ solution).sum()
            + self.enrichment_weight * ((Y - Y @ enrichment) ** 2).sum()
            + self.sparsity_weight * _smooth_norms(solution[:n_features]).sum()
            + ENRICHMENT_RIDGE * (enrichment**2).sum()
        )


def _smooth_norms(matrix: np.ndarray) -> np.ndarray:
    """Euclidean norms of the rows, with a gradient at 0."""
    return np.sqrt((matrix**2).sum(axis=1) + SMOOTHING)


def _weighted_gram(matrix: Any, weights: np.ndarray) -> np.ndarray:
    if sparse.issparse(matrix):
        return np.asarray((matrix.T @ (matrix * weights[:, None])).toarray())
    return np.asarray(matrix.T @ (matrix * weights[:, None]))


def _solve(system: np.ndarray, target: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(solve(system, target, assume_a="pos"))
    except np.linalg.LinAlgError:
        return np.asarray(lstsq(system, target)[0])


def _beside(X: Any, *others: np.ndarray) -> Any:
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, *others], format="csr"))
    return np.hstack([X, *others])


def _middle(Y: np.ndarray, enriched: np.ndarray) -> float:
    """Halfway between the mean enriched value of relevant and of irrelevant labels."""
    relevant = Y == 1
    high = float(enriched[relevant].mean()) if relevant.any() else 1.0
    low = float(enriched[~relevant].mean()) if not relevant.all() else 0.0
    return 0.5 * (high + low)
