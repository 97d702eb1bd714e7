"""LEML: one linear model for all labels whose weight matrix has low rank.

The weights are a product of a factor of the features and a factor of the labels, learnt in turns
with any of three losses, and from incomplete label matrices too.

References
----------
Yu, Jain, Kar, Dhillon: Large-scale multi-label learning with missing labels. International
Conference on Machine Learning, 2014.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from splmll.arrays import dense
from splmll.base import Capabilities
from splmll.constraints import COUNT, NOT_NEGATIVE, Choice
from splmll.docstrings import with_paragraphs
from splmll.feature_scaling import SCALE_CONSTRAINT
from splmll.methods._centred_matrix import CentredMatrix, feature_scale
from splmll.methods._label_embedding import CODES_CONSTRAINT, count_of
from splmll.methods._own_rule import fit_own_rule
from splmll.methods._row_weights import WeightedRowsClassifier
from splmll.sample_weights import weighed
from splmll.thresholds import THRESHOLD_CONSTRAINT

# Up to this many features one eigendecomposition of X'X is cheaper than conjugate gradients.
DIRECT_FEATURES = 4000

# Newton's method and conjugate gradients as in the authors' program: few and inexact steps, since
# the other factor moves next.
NEWTON_STEPS = 5
CG_STEPS = 20
CG_TOLERANCE = 0.1

# A step must gain at least this share of what the gradient promises (Armijo); it is halved until
# it does.
SUFFICIENT = 1e-4
SHORTEST_STEP = 1e-10


@with_paragraphs
class LEML(WeightedRowsClassifier):
    r"""Low-rank empirical risk minimisation for multi-label learning (LEML).

    With W of shape (n_features, k) and H of shape (n_labels, k), the score of label j for a row
    is :math:`x^\top W h_j`. Over the known cells :math:`\Omega` of Y the method minimises

    .. math::

        \sum_{(i, j) \in \Omega} \ell(y_{ij}, x_i^\top W h_j)
        + \frac{\lambda}{2} (\|W\|_F^2 + \|H\|_F^2) ,

    which penalises the trace norm of :math:`W H^\top`. W and H are updated in turns. After each
    turn the same product is split again into the two factors of least norm, so that
    :math:`W^\top W = H^\top H`: without it, small :math:`\lambda` needs hundreds of turns.

    With the squared loss and all labels known, both updates are exact: the eigenvectors of
    :math:`X^\top X` turn them into divisions, and a turn costs nothing that grows with the number
    of rows. With more features than that pays for, only the update of H is exact; that of W takes a
    few steps of conjugate gradients. With other losses or unknown labels W and H take Newton steps,
    computed by conjugate gradients from products with the Hessian alone. The objective never rises.
    The start are the leading right singular vectors of :math:`X^\top Y`, so nothing is random.

    Parameters
    ----------
    n_components : int or float, default=0.5
        Rank k of the weights: a number of components, or a fraction of the number of labels.
    loss : {"squared", "logistic", "squared_hinge"}, default="squared"
        :math:`\frac12 (y - s)^2` with labels 0 and 1; with labels -1 and 1,
        :math:`\log(1 + e^{-ys})` or :math:`\max(0, 1 - ys)^2`. The squared loss is by far the
        fastest.
    ridge : float, default=1.0
        Weight :math:`\lambda` of the penalty, 0 or more. The loss is a sum over rows, so data with
        more rows need more of it. Try powers of ten from 1e-3 to 1e3.
    fit_intercept : bool, default=True
        Append a constant column to the features. Its weights are penalised like the others.
    {scale}
        Sparse features stay sparse.
    max_iter : int, default=100
        Largest number of turns.
    tol : float, default=1e-5
        Stop when a turn lowers the objective by less than this share of it.
    solver : {"auto", "direct", "cg"}, default="auto"
        How to update the factors: exactly through one eigendecomposition ("direct", only for the
        squared loss with all labels known) or by conjugate gradients. "auto" is direct where it
        can be and there are at most ``DIRECT_FEATURES`` (4000) features.
    threshold : float or str, default=0.5
        A label is predicted if its score is at least the threshold. Scores of all losses are
        brought to the scale of 0/1 labels: probabilities with the logistic loss, (margin + 1) / 2
        with the squared hinge. A name is a rule from :data:`splmll.thresholds.RULES`, fitted on
        out-of-fold scores of the training data. Regressed scores of rare labels hardly ever reach
        0.5: with many such labels use "micro_f1".

    Attributes
    ----------
    n_components_ : int
        The rank k, at most the number of features (with the constant column).
    feature_factors_ : ndarray of shape (n_features, n_components)
        W, for features as they are used.
    label_factors_ : ndarray of shape (n_labels, n_components)
        H.
    intercept_factors_ : ndarray of shape (n_components,)
        The row of W for the constant column; zeros without it.
    mean_, scale_ : ndarray of shape (n_features,)
        Features are used as ``(X - mean_) / scale_``.
    objective_ : ndarray of shape (n_iter,)
        The objective after every turn.
    n_iter_ : int
        Number of turns.
    {thresholds_}

    Notes
    -----
    With the squared loss and all labels known, sparse labels stay sparse. Newton steps hold several
    dense matrices of one number per row and label.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import LEML
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> Y = np.array([[0, 1, 0], [1, 0, 1], [1, 1, np.nan], [0, 0, 0]])
    >>> model = LEML(n_components=2, ridge=0.01).fit(X, Y)
    >>> model.predict([[0.9, 0.1]]).astype(int)
    array([[1, 0, 1]])
    >>> model.label_factors_.shape
    (3, 2)
    """

    _former_names: ClassVar[dict[str, str]] = {"lam": "ridge"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": CODES_CONSTRAINT,
        "loss": [Choice("squared", "logistic", "squared_hinge")],
        "ridge": [NOT_NEGATIVE],
        "fit_intercept": ["boolean"],
        "scale": SCALE_CONSTRAINT,
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "solver": [Choice("auto", "direct", "cg")],
        "threshold": THRESHOLD_CONSTRAINT,
    }
    capabilities = Capabilities(
        sparse_labels=True,
        unknown_labels=True,
        sample_weight=True,
        cost="N D^2 + D^3, then D C k a turn; by conjugate gradients N (D + C) k a step",
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "n_components": (0.2, 0.4, 0.6, 0.8, 1.0),
        "ridge": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    }

    n_components_: int
    feature_factors_: np.ndarray
    label_factors_: np.ndarray
    intercept_factors_: np.ndarray
    mean_: np.ndarray
    scale_: np.ndarray
    objective_: np.ndarray
    n_iter_: int

    def __init__(
        self,
        n_components: int | float = 0.5,
        *,
        loss: str = "squared",
        ridge: float = 1.0,
        fit_intercept: bool = True,
        scale: str | None = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        solver: str = "auto",
        threshold: float | str = 0.5,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.threshold = threshold

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        n_components = count_of(self.n_components, Y.shape[1], "n_components")
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold, sample_weight=sample_weight))
        self.mean_, self.scale_ = feature_scale(X, self.scale, sample_weight)
        features = CentredMatrix.standardised(X, self.mean_, self.scale_)
        if self.fit_intercept:
            features = features.with_constant()
        width = features.stored.shape[1]
        self.n_components_ = min(n_components, width)
        steps = self._steps(features, Y, sample_weight)

        label_factors = _leading_right_vectors(steps.cross, self.n_components_)
        feature_factors = np.zeros((width, self.n_components_))
        objective: list[float] = []
        for _ in range(self.max_iter):
            feature_factors = steps.update_features(feature_factors, label_factors)
            label_factors = steps.update_labels(feature_factors, label_factors)
            feature_factors, label_factors = _balanced(feature_factors, label_factors)
            objective.append(steps.objective(feature_factors, label_factors))
            if len(objective) > 1 and objective[-2] - objective[-1] <= self.tol * objective[-2]:
                break

        weights = steps.back(feature_factors)
        self.feature_factors_ = weights[: X.shape[1]]
        self.intercept_factors_ = weights[X.shape[1] :].sum(axis=0)
        self.label_factors_ = label_factors
        self.objective_, self.n_iter_ = np.array(objective), len(objective)

    def _scores(self, X: Any) -> np.ndarray:
        weights = self.feature_factors_ / self.scale_[:, None]
        projected = X @ weights + (self.intercept_factors_ - self.mean_ @ weights)
        return LOSSES[self.loss].to_score(projected @ self.label_factors_.T)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return scores if self.loss == "logistic" else super()._probabilities(scores)

    def _steps(
        self, features: CentredMatrix, Y: Any, sample_weight: np.ndarray | None
    ) -> _DirectSteps | _SquaredSteps | _NewtonSteps:
        known = _known_cells(Y)
        exact = self.loss == "squared" and known is None
        if self.solver == "direct" and not exact:
            raise ValueError(
                'solver="direct" needs the squared loss and a label matrix without unknown '
                'entries: use solver="auto" or "cg".'
            )
        many = features.stored.shape[1] > DIRECT_FEATURES
        if exact and (self.solver == "direct" or (self.solver == "auto" and not many)):
            return _DirectSteps.of(features, Y, self.ridge, sample_weight)
        if exact:
            return _SquaredSteps.of(features, Y, self.ridge, sample_weight)
        labels = dense(Y)
        loss = LOSSES[self.loss]
        targets = loss.code(labels if known is None else np.where(known, labels, 0.0))
        return _NewtonSteps(
            features, targets, _cell_weights(known, sample_weight), loss, self.ridge
        )


# Losses ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """A loss of scores against coded labels, with two derivatives by the score."""

    code: Callable[[np.ndarray], np.ndarray]
    value: Callable[[np.ndarray, np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray, np.ndarray], np.ndarray]
    curvature: Callable[[np.ndarray, np.ndarray], np.ndarray]
    to_score: Callable[[np.ndarray], np.ndarray]


def _signs(Y: np.ndarray) -> np.ndarray:
    return 2.0 * Y - 1.0


def _logistic_curvature(s: np.ndarray, t: np.ndarray) -> np.ndarray:
    p = expit(s)
    return p * (1 - p)


LOSSES = {
    "squared": Loss(
        code=lambda Y: Y,
        value=lambda s, t: 0.5 * (t - s) ** 2,
        slope=lambda s, t: s - t,
        curvature=lambda s, t: np.ones_like(s),
        to_score=lambda s: s,
    ),
    "logistic": Loss(
        code=_signs,
        value=lambda s, t: np.logaddexp(0.0, -t * s),
        slope=lambda s, t: -t * expit(-t * s),
        curvature=_logistic_curvature,
        to_score=lambda s: np.asarray(expit(s)),
    ),
    "squared_hinge": Loss(
        code=_signs,
        value=lambda s, t: np.maximum(0.0, 1.0 - t * s) ** 2,
        slope=lambda s, t: -2.0 * t * np.maximum(0.0, 1.0 - t * s),
        # The second derivative jumps from 0 to 2 at the margin: the usual generalised one.
        curvature=lambda s, t: 2.0 * (t * s < 1.0),
        to_score=lambda s: 0.5 * (s + 1.0),
    ),
}


# Updates of the two factors ----------------------------------------------------------------------


class _SquaredLoss(ABC):
    """What both ways with the squared loss share: the update of H, which is exact, and the loss."""

    cross: np.ndarray
    label_square: float
    ridge: float

    @abstractmethod
    def _projected_gram(self, W: np.ndarray) -> np.ndarray:
        """F'F with F = XW."""

    def update_labels(self, W: np.ndarray, H: np.ndarray) -> np.ndarray:
        """Solve H (F'F + ridge I) = Y'F with F = XW."""
        squares, rotation = linalg.eigh(self._projected_gram(W))
        scaled = np.maximum(squares, 0.0) + self.ridge
        return _divide(self.cross.T @ (W @ rotation), scaled[None, :]) @ rotation.T

    def objective(self, W: np.ndarray, H: np.ndarray) -> float:
        """Return what is minimised; Y is 0/1, so its sum is its square."""
        fitted = np.vdot(self.cross.T @ W, H)
        square = np.vdot(self._projected_gram(W), H.T @ H)
        return float(0.5 * (self.label_square - 2 * fitted + square)) + _penalty(self.ridge, W, H)


@dataclass(frozen=True)
class _DirectSteps(_SquaredLoss):
    """Exact updates for the squared loss and a full label matrix.

    W is kept in the basis of the eigenvectors of X'X, where X'X is diagonal (``values``) and X'Y
    is ``cross``.
    """

    values: np.ndarray
    vectors: np.ndarray
    cross: np.ndarray
    label_square: float
    ridge: float

    @classmethod
    def of(
        cls, features: CentredMatrix, Y: Any, ridge: float, sample_weight: np.ndarray | None
    ) -> _DirectSteps:
        """Collect X'X and X'Y, with rows weighted."""
        values, vectors = linalg.eigh(features.weighted(sample_weight).gram(), check_finite=False)
        Y = weighed(Y, sample_weight)
        cross = vectors.T @ features.transposed_times(Y)
        return cls(np.maximum(values, 0.0), vectors, cross, float(Y.sum()), ridge)

    def update_features(self, W: np.ndarray, H: np.ndarray) -> np.ndarray:
        """Solve X'X W H'H + ridge W = X'Y H."""
        squares, rotation = linalg.eigh(H.T @ H)
        scaled = np.outer(self.values, np.maximum(squares, 0.0)) + self.ridge
        return _divide(self.cross @ (H @ rotation), scaled) @ rotation.T

    def back(self, W: np.ndarray) -> np.ndarray:
        """Return W for the features themselves."""
        return self.vectors @ W

    def _projected_gram(self, W: np.ndarray) -> np.ndarray:
        return W.T @ (self.values[:, None] * W)


@dataclass(frozen=True)
class _SquaredSteps(_SquaredLoss):
    """Updates for the squared loss, a full label matrix and many features.

    The update of H is exact. That of W goes on from the last W by conjugate gradients, which need
    products of X with k columns and nothing of the size of Y.
    """

    features: CentredMatrix
    cross: np.ndarray
    label_square: float
    ridge: float

    @classmethod
    def of(
        cls, features: CentredMatrix, Y: Any, ridge: float, sample_weight: np.ndarray | None
    ) -> _SquaredSteps:
        """Collect X'Y, with rows weighted."""
        Y = weighed(Y, sample_weight)
        cross = features.transposed_times(Y)
        return cls(features.weighted(sample_weight), cross, float(Y.sum()), ridge)

    def update_features(self, W: np.ndarray, H: np.ndarray) -> np.ndarray:
        """Approach the solution of X'X W H'H + ridge W = X'Y H, column by column of a basis."""
        squares, rotation = linalg.eigh(H.T @ H)
        squares = np.maximum(squares, 0.0)

        def times_hessian(V: np.ndarray) -> np.ndarray:
            product = self.features.transposed_times(self.features.times(V))
            return product * squares + self.ridge * V

        V = W @ rotation
        residual = self.cross @ (H @ rotation) - times_hessian(V)
        direction, length = residual, (residual**2).sum(axis=0)
        enough = CG_TOLERANCE**4 * length
        for _ in range(CG_STEPS):
            if (length <= enough).all():
                break
            curved = times_hessian(direction)
            step = _share(length, (direction * curved).sum(axis=0))
            V, residual = V + step * direction, residual - step * curved
            before, length = length, (residual**2).sum(axis=0)
            direction = residual + _share(length, before) * direction
        return V @ rotation.T

    def back(self, W: np.ndarray) -> np.ndarray:
        """Return W as it is."""
        return W

    def _projected_gram(self, W: np.ndarray) -> np.ndarray:
        projected = self.features.times(W)
        return projected.T @ projected


@dataclass(frozen=True)
class _NewtonSteps:
    """Newton steps by conjugate gradients, for every loss and for unknown labels.

    The loss of a cell counts as much as its row weighs, and 0 where the label is not known.
    """

    features: CentredMatrix
    targets: np.ndarray
    cell_weights: np.ndarray | None
    loss: Loss
    ridge: float

    @property
    def cross(self) -> np.ndarray:
        """X'Y over the known cells, where the start is read off."""
        return self.features.transposed_times(self._weighted(self.targets))

    def update_features(self, W: np.ndarray, H: np.ndarray) -> np.ndarray:
        """Improve W: scores are X W H'."""
        return self._newton(
            W,
            lambda V: self.features.times(V) @ H.T,
            lambda R: self.features.transposed_times(R @ H),
        )

    def update_labels(self, W: np.ndarray, H: np.ndarray) -> np.ndarray:
        """Improve H: scores are F H' with F = XW."""
        projected = self.features.times(W)
        return self._newton(H, lambda V: projected @ V.T, lambda R: R.T @ projected)

    def objective(self, W: np.ndarray, H: np.ndarray) -> float:
        """Return what is minimised."""
        return self._total_loss(self.features.times(W) @ H.T) + _penalty(self.ridge, W, H)

    def back(self, W: np.ndarray) -> np.ndarray:
        """Return W as it is."""
        return W

    def _weighted(self, cells: np.ndarray) -> np.ndarray:
        return cells if self.cell_weights is None else cells * self.cell_weights

    def _total_loss(self, scores: np.ndarray) -> float:
        return float(self._weighted(self.loss.value(scores, self.targets)).sum())

    def _newton(
        self,
        V: np.ndarray,
        to_scores: Callable[[np.ndarray], np.ndarray],
        from_scores: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """Lower the objective in one factor V; the scores are linear in it.

        ``to_scores`` is that linear map and ``from_scores`` its transpose.
        """
        scores = to_scores(V)
        value = self._total_loss(scores) + _penalty(self.ridge, V)
        enough = 0.0
        for _ in range(NEWTON_STEPS):
            slope = self._weighted(self.loss.slope(scores, self.targets))
            gradient = from_scores(slope) + self.ridge * V
            if linalg.norm(gradient) <= enough:
                break
            enough = enough or CG_TOLERANCE**2 * linalg.norm(gradient)
            curvature = self._weighted(self.loss.curvature(scores, self.targets))
            step = self._newton_step(gradient, curvature, to_scores, from_scores)
            change, promised = to_scores(step), float(np.vdot(gradient, step))
            length = 1.0
            while length >= SHORTEST_STEP:
                moved, moved_scores = V + length * step, scores + length * change
                new = self._total_loss(moved_scores) + _penalty(self.ridge, moved)
                if new <= value + SUFFICIENT * length * promised:
                    break
                length /= 2
            else:
                break  # nothing left to gain but rounding
            V, scores, value = moved, moved_scores, new
        return V

    def _newton_step(
        self,
        gradient: np.ndarray,
        curvature: np.ndarray,
        to_scores: Callable[[np.ndarray], np.ndarray],
        from_scores: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """Solve Hessian step = -gradient by conjugate gradients."""

        def times_hessian(flat: np.ndarray) -> np.ndarray:
            S = flat.reshape(gradient.shape)
            return (from_scores(curvature * to_scores(S)) + self.ridge * S).ravel()

        size = gradient.size
        hessian = LinearOperator((size, size), matvec=times_hessian, dtype=np.float64)
        step, _ = cg(hessian, -gradient.ravel(), rtol=CG_TOLERANCE, maxiter=CG_STEPS)
        return step.reshape(gradient.shape)


def _penalty(ridge: float, *factors: np.ndarray) -> float:
    return 0.5 * ridge * sum(float(np.vdot(V, V)) for V in factors)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide, with 0 for columns that are solved."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide, with 0 in directions that features or labels do not have (only for ridge = 0)."""
    smallest = np.finfo(np.float64).eps * denominator.max(initial=0.0) * len(denominator)
    divisor = np.where(denominator > smallest, denominator, np.inf)
    return numerator / divisor


def _leading_right_vectors(cross: np.ndarray, k: int) -> np.ndarray:
    """Return the k leading right singular vectors of X'Y, as columns."""
    return linalg.svd(cross, full_matrices=False, check_finite=False)[2][:k].T


def _balanced(W: np.ndarray, H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split W H' into the factors with the least sum of squares: those with W'W = H'H."""
    W_basis, W_rest = linalg.qr(W, mode="economic")
    H_basis, H_rest = linalg.qr(H, mode="economic")
    left, singular, right = linalg.svd(W_rest @ H_rest.T)
    root = np.sqrt(singular)
    return W_basis @ (left * root), H_basis @ (right.T * root)


def _cell_weights(known: np.ndarray | None, sample_weight: np.ndarray | None) -> np.ndarray | None:
    """How much each cell counts; None where all count the same."""
    if sample_weight is None:
        return known
    return sample_weight[:, None] * (1.0 if known is None else known)


def _known_cells(Y: Any) -> np.ndarray | None:
    """Which labels are known; None where all are."""
    if sparse.issparse(Y):
        if not np.isnan(Y.data).any():
            return None
        Y = Y.toarray()
    known = ~np.isnan(Y)
    return None if known.all() else known
