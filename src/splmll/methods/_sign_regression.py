"""Kernel regression of several outputs that also pays for predictions of the wrong sign (AMSVR).

References
----------
Hou, Geng, Zhang: Multi-label manifold learning. AAAI 2016.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.utils import check_random_state

from splmll.methods._bounded_quadratic import bounded_quadratic

# Up to so many training rows the kernel matrix is used as it is: 72 MB, factorised in seconds.
EXACT_ROWS = 3000
# Beyond, kernel features of so many random training rows take its place (Nystroem).
N_LANDMARKS = 1000

# Predictions at the kink of the sign loss are 0 to this accuracy; targets are 1 or more in size.
_KINK_TOLERANCE = 1e-7
_MAX_STEPS = 2000


class SignRegression:
    r"""Multi-output regression with an insensitive row loss and a sign loss.

    With an RBF feature map :math:`\psi`, :math:`f_j(x) = \psi(x)'\theta_j + b_j` minimises

    .. math:: \frac12 \sum_j \|\theta_j\|^2 + C_1 \sum_i \max(0, \|\mu_i - f(x_i)\| - \epsilon)^2
        + C_2 \sum_{ij} \max(0, -T_{ij} f_j(x_i)) - C_3 \sum_i m_i ,

    where the margin :math:`m_i` is the mean of :math:`f_j(x_i)` over the labels with
    :math:`T_{ij} = 1` less that over the others (a mean over no label is left out).

    The authors solve reweighted systems with the signs of the last step and a line search. That
    can stop short of the minimum: predictions jump over 0, where the sign loss has its kink. Here

    - the row loss is the squared distance of f to a ball of radius :math:`\epsilon` around
      :math:`\mu_i`. It lies below the squared distance to the point p of the ball that is nearest
      to the current f, and touches it there. Minimising with p in its place therefore never
      raises the objective, and the system, kernel ridge regression with ridge
      :math:`1 / (2 C_1)`, stays the same in all steps: it is factorised once;
    - the sign loss is kept exact. A share :math:`\sigma_{ij} \in [0, 1]` of its force
      :math:`C_2 T_{ij}` acts on each prediction: 0 where the sign is right, 1 where it is wrong,
      between them where the prediction is 0. The shares solve a quadratic programme with bounds.

    Parameters
    ----------
    fit_weight, sign_weight, margin_weight : float
        The weights :math:`C_1 > 0`, :math:`C_2` and :math:`C_3`.
    epsilon : float
        Radius within which a row costs nothing.
    width : float or None
        The kernel is :math:`\exp(-d^2 / (2 w^2))`. None is the mean distance of the training rows.
    tol : float, default=1e-5
        Stop when the objective falls by a smaller part of itself.
    max_iter : int, default=1000
        Stop after so many steps in any case.
    random_state : int, RandomState instance or None
        Draws the ``N_LANDMARKS`` rows beyond ``EXACT_ROWS``.

    Attributes
    ----------
    objective_ : ndarray of shape (n_steps,)
        The objective after each step.
    fitted_ : ndarray of shape (n_rows, n_outputs)
        Predictions for the training rows.
    sign_share_ : ndarray of shape (n_rows, n_outputs)
        The shares :math:`\sigma`.
    width_ : float
        The width of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._sign_regression import SignRegression
    >>> X, signs = np.array([[0.0], [1.0], [4.0]]), np.array([[1.0], [1.0], [-1.0]])
    >>> model = SignRegression(10.0, 1.0, 0.0, epsilon=0.0, width=None).fit(X, signs, signs)
    >>> model.predict(np.array([[0.5], [3.9]])).round(1)
    array([[ 1. ],
           [-0.9]])
    """

    objective_: np.ndarray
    fitted_: np.ndarray
    sign_share_: np.ndarray
    width_: float

    def __init__(
        self,
        fit_weight: float,
        sign_weight: float,
        margin_weight: float,
        *,
        epsilon: float,
        width: float | None,
        tol: float = 1e-5,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.fit_weight = fit_weight
        self.sign_weight = sign_weight
        self.margin_weight = margin_weight
        self.epsilon = epsilon
        self.width = width
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, targets: np.ndarray, signs: np.ndarray) -> SignRegression:
        r"""Learn targets :math:`\mu` and signs T of shape (n_rows, n_outputs)."""
        ridge = self._kernel_ridge(X)
        strength = 2.0 * self.fit_weight
        pull = self.margin_weight * _margin_force(signs)
        nearest = targets  # the points p
        force = np.zeros_like(targets)  # sigma T
        objective: list[float] = []
        for _ in range(self.max_iter):
            force = self._sign_force(ridge, nearest + pull / strength, signs, force)
            pulled = nearest + (pull + self.sign_weight * force) / strength
            fitted = ridge.fitted(pulled)
            gap = fitted - targets
            distance = np.linalg.norm(gap, axis=1, keepdims=True)
            # At the solution of a ridge regression ||theta||^2 = <beta, f>, beta = 2 C1 (pulled-f).
            penalty = 0.5 * strength * ((pulled - fitted) * fitted).sum()
            row_loss = (np.maximum(distance - self.epsilon, 0.0) ** 2).sum()
            sign_loss = np.maximum(-signs * fitted, 0.0).sum()
            objective.append(
                penalty
                + self.fit_weight * row_loss
                + self.sign_weight * sign_loss
                - (pull * fitted).sum()
            )
            if self.epsilon == 0 or (
                len(objective) > 1
                and objective[-2] - objective[-1] <= self.tol * abs(objective[-2])
            ):
                break
            nearest = targets + gap * (self.epsilon / np.maximum(distance, self.epsilon))
        self.objective_ = np.array(objective)
        self.fitted_ = fitted
        self.sign_share_ = force * signs
        self._coefficients, self._bias = ridge.coefficients(pulled)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return f(x) for every row, of shape (n_rows, n_outputs)."""
        return np.asarray(self._features.transform(X) @ self._coefficients + self._bias)

    def _kernel_ridge(self, X: Any) -> _KernelRidge | _FeatureRidge:
        ridge = 1.0 / (2.0 * self.fit_weight)
        if X.shape[0] <= EXACT_ROWS:
            self.width_ = mean_distance(X) if self.width is None else float(self.width)
            self._features = _KernelColumns(X, _gamma(self.width_))
            return _KernelRidge(self._features.transform(X), ridge)
        random = check_random_state(self.random_state)
        landmarks = X[np.sort(random.choice(X.shape[0], N_LANDMARKS, replace=False))]
        self.width_ = mean_distance(landmarks) if self.width is None else float(self.width)
        # All landmarks become components: there is nothing left to draw.
        self._features = Nystroem(
            gamma=_gamma(self.width_), n_components=N_LANDMARKS, random_state=0
        ).fit(landmarks)
        return _FeatureRidge(self._features.transform(X), ridge)

    def _sign_force(
        self,
        ridge: _KernelRidge | _FeatureRidge,
        targets: np.ndarray,
        signs: np.ndarray,
        start: np.ndarray,
    ) -> np.ndarray:
        """The force of the sign loss at the minimum: sigma T, between 0 and T."""
        if self.sign_weight == 0:
            return start
        per_force = self.sign_weight / (2.0 * self.fit_weight)
        # The gradient of the dual is f, and f is the ridge fit of targets + per_force * force.
        return bounded_quadratic(
            lambda forces: per_force * ridge.fitted(forces),
            ridge.fitted(targets),
            np.minimum(signs, 0.0),
            np.maximum(signs, 0.0),
            start,
            norm=per_force,  # a ridge fit shortens everything but a constant
            tol=_KINK_TOLERANCE,
            max_iter=_MAX_STEPS,
        )


class _KernelColumns:
    """The kernel of any rows with all training rows."""

    def __init__(self, rows: Any, gamma: float) -> None:
        self.rows, self.gamma = rows, gamma

    def transform(self, X: Any) -> np.ndarray:
        return np.asarray(rbf_kernel(X, self.rows, gamma=self.gamma))


class _KernelRidge:
    """Kernel ridge regression with bias; all targets share one factorisation.

    Solves ``K beta + ridge * beta + b = h`` with ``sum(beta) = 0`` for targets h; fitted values
    are ``K beta + b = h - ridge * beta``.
    """

    def __init__(self, kernel: np.ndarray, ridge: float) -> None:
        self.ridge = ridge
        self.factor = _ridge_factor(kernel, ridge)
        self.of_ones = cho_solve(self.factor, np.ones(len(kernel)), check_finite=False)

    def coefficients(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bias = self.of_ones @ targets / self.of_ones.sum()
        return cho_solve(self.factor, targets - bias, check_finite=False), bias

    def fitted(self, targets: np.ndarray) -> np.ndarray:
        return targets - self.ridge * self.coefficients(targets)[0]


class _FeatureRidge:
    """The same with features Z of few columns, ``Z Z'`` in place of the kernel matrix."""

    def __init__(self, features: np.ndarray, ridge: float) -> None:
        # A bias that costs nothing makes ridge regression one on centred features.
        self.mean = features.mean(axis=0)
        self.centred = features
        self.centred -= self.mean
        self.factor = _ridge_factor(self.centred.T @ self.centred, ridge)

    def coefficients(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        solved = cho_solve(self.factor, self.centred.T @ targets, check_finite=False)
        return solved, targets.mean(axis=0) - self.mean @ solved

    def fitted(self, targets: np.ndarray) -> np.ndarray:
        solved = self.coefficients(targets)[0]
        return targets.mean(axis=0) + self.centred @ solved


def _ridge_factor(matrix: np.ndarray, ridge: float) -> Any:
    matrix.flat[:: len(matrix) + 1] += ridge
    return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)


def mean_distance(X: Any) -> float:
    """Return the mean Euclidean distance of different rows, 1 where all rows are equal."""
    n_rows = X.shape[0]
    total = euclidean_distances(X).sum()
    return float(total / (n_rows * (n_rows - 1))) if total > 0 else 1.0


def _gamma(width: float) -> float:
    return 1.0 / (2.0 * width**2)


def _margin_force(signs: np.ndarray) -> np.ndarray:
    """The gradient of the margins: 1 / |R_i| for relevant labels, -1 / |I_i| for the others."""
    relevant = signs > 0
    count = relevant.sum(axis=1, keepdims=True)
    of_relevant = 1.0 / np.maximum(count, 1)
    of_others = 1.0 / np.maximum(signs.shape[1] - count, 1)
    return np.where(relevant, of_relevant, -of_others)
