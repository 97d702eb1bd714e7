"""Ridge regression prepared once: all outputs, and what the hat matrix says about labels.

Dense features are standardised on the way, sparse ones only centred. scikit-learn's ``Ridge`` keeps
its factorisation to itself and solves sparse features with an intercept by iteration; here both are
needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.preprocessing import StandardScaler

from splmll.arrays import dense
from splmll.embeddings.wide_ridge import conjugate_gradients
from splmll.methods._centred_matrix import CentredMatrix
from splmll.sample_weights import weighed

# The largest matrix that is factorised, in bytes. Products with sparse features cost so much less
# than those with dense ones that iteration pays earlier.
LARGEST_FACTOR = 2**31
LARGEST_SPARSE_FACTOR = 2**28

# The iteration ends when the residual has fallen to this share of the right-hand side.
TOLERANCE = 1e-9

_NUMBER = 8  # bytes


@dataclass(frozen=True, eq=False)
class LinearMap:
    """A fitted linear regression for features as they are given.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights.
    intercept_ : ndarray of shape (n_outputs,)
        What is added to them.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._ridge import LinearMap
    >>> LinearMap(np.array([[2.0, 0.0]]), np.array([1.0])).predict(np.array([[3.0, 5.0]]))
    array([[7.]])
    """

    coef_: np.ndarray
    intercept_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return outputs of shape (n_rows, n_outputs)."""
        return np.asarray(X @ self.coef_.T + self.intercept_)


class RidgeSystem(ABC):
    r"""Ridge regression on one set of features, ready for any outputs.

    With :math:`X_c` the standardised (sparse: centred) features and :math:`\lambda` the ridge, it
    gives for any outputs T

    .. math:: \min_{W, w_0} \|X_c W + 1 w_0' - T\|^2 + \lambda \|W\|^2

    and products with the hat matrix :math:`H = X_c (X_c'X_c + \lambda I)^{-1} X_c'` that turns
    centred outputs into fitted ones. Sparse features stay sparse: their mean is taken off the
    products.

    With weights of the rows the first term is a weighted sum: all of the above holds for rows
    multiplied by the roots of their weights, and means are weighted ones.

    :func:`ridge_system` makes one: :class:`FactorisedRidge`, or :class:`IterativeRidge` if the
    matrix to factorise would be too large.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        Features. Dense ones are divided by their standard deviations; sparse ones, such as the
        weights of words, are not: rare words would count as much as telling ones.
    ridge : float
        Weight of the penalty, above 0, on the scale of scikit-learn's ``Ridge(alpha=...)``. The
        intercept is not penalised.
    sample_weight : ndarray of shape (n_rows,) or None
        Weights of the rows, all above 0.

    Attributes
    ----------
    total : float
        Sum of the weights; without them the number of rows.
    roots : ndarray of shape (n_rows,) or None
        Square roots of the weights.
    """

    def __init__(self, X: Any, ridge: float, sample_weight: np.ndarray | None = None) -> None:
        self.ridge = float(ridge)
        self._row_weights = sample_weight
        self.roots = None if sample_weight is None else np.sqrt(sample_weight)
        self.total = float(X.shape[0] if sample_weight is None else sample_weight.sum())
        if sparse.issparse(X):
            self._mean, self._scale = column_means(X, sample_weight), np.ones(X.shape[1])
        else:
            scaler = StandardScaler().fit(X, sample_weight=sample_weight)
            self._mean = np.asarray(scaler.mean_, dtype=np.float64)
            self._scale = np.asarray(scaler.scale_, dtype=np.float64)
        standardised = CentredMatrix.standardised(X, self._mean, self._scale)
        self._F = standardised.weighted(sample_weight)

    def solve(self, targets: Any) -> LinearMap:
        """Return the ridge regression of some outputs.

        Parameters
        ----------
        targets : ndarray or sparse matrix of shape (n_rows, n_outputs)
            Outputs.

        Returns
        -------
        regression : LinearMap
            For features as they were given, not standardised.
        """
        weights = self._weights(targets) / self._scale[:, None]
        intercept = column_means(targets, self._row_weights) - self._mean @ weights
        return LinearMap(np.ascontiguousarray(weights.T), intercept)

    @abstractmethod
    def explained(self, targets: Any) -> np.ndarray:
        """Return T'HT, the part of the centred outputs' T'T that the features explain."""

    @abstractmethod
    def _weights(self, targets: Any) -> np.ndarray:
        """Return the weights of standardised features."""

    def _cross(self, targets: Any) -> np.ndarray:
        """X_c' times outputs; their means are lost in the product."""
        return self._F.transposed_times(weighed(targets, self.roots))

    def _centred(self, targets: Any) -> np.ndarray:
        """Outputs less their means, the rows multiplied by ``roots``."""
        centred = dense(targets) - column_means(targets, self._row_weights)
        return np.asarray(weighed(centred, self.roots))


class FactorisedRidge(RidgeSystem):
    r"""The system with one Cholesky factorisation of :math:`X_c'X_c + \lambda I`.

    With more features than rows the smaller matrix :math:`X_c X_c' + \lambda I` is factorised
    instead.

    Attributes
    ----------
    dual : bool
        Whether the rows are fewer than the features, so that matrices are rows x rows.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._ridge import FactorisedRidge
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> FactorisedRidge(X, 1e-9).solve(2 * X + 1).predict(np.array([[10.0]])).round(6)
    array([[21.]])
    """

    def __init__(self, X: Any, ridge: float, sample_weight: np.ndarray | None = None) -> None:
        super().__init__(X, ridge, sample_weight)
        self.dual = X.shape[1] > X.shape[0]
        gram = self._F.row_gram() if self.dual else self._F.gram()
        gram[np.diag_indices_from(gram)] += self.ridge
        self._lower = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)

    def explained(self, targets: Any) -> np.ndarray:
        """Return T'HT, the part of the centred outputs' T'T that the features explain."""
        half = self.half(targets)
        if self.dual:
            centred = self._centred(targets)
            return centred.T @ centred - self.ridge * half.T @ half
        return half.T @ half

    def half(self, targets: Any) -> np.ndarray:
        r"""Return :math:`L^{-1} X_c'T`, or :math:`L^{-1} T_c` for more features than rows.

        L is the Cholesky factor. In the first form H = B B' with :math:`B = X_c L^{-T}`, and this
        is B'T.
        """
        right = self._centred(targets) if self.dual else self._cross(targets)
        return np.asarray(
            linalg.solve_triangular(self._lower, right, lower=True, check_finite=False)
        )

    def half_gram(self) -> np.ndarray:
        """Return B'B of the factor H = B B' (see :meth:`half`)."""
        inverse = inverse_of_lower(self._lower)
        gram = -self.ridge * (inverse @ inverse.T)
        gram[np.diag_indices_from(gram)] += 1.0
        return gram

    def half_product(self, weights: np.ndarray) -> np.ndarray:
        """Return B times weights (see :meth:`half`), one row for every row of the features."""
        weights = linalg.solve_triangular(
            self._lower, weights, lower=True, trans="T", check_finite=False
        )
        return self._F.times(weights)

    def hat_matrix(self) -> np.ndarray:
        """Return H itself where the rows are fewer than the features."""
        inverse = inverse_of_lower(self._lower)
        hat = -self.ridge * (inverse.T @ inverse)
        hat[np.diag_indices_from(hat)] += 1.0
        return hat

    def _weights(self, targets: Any) -> np.ndarray:
        factor = self._lower, True
        if self.dual:
            duals = linalg.cho_solve(factor, self._centred(targets), check_finite=False)
            return self._F.transposed_times(duals)
        return np.asarray(linalg.cho_solve(factor, self._cross(targets), check_finite=False))


class IterativeRidge(RidgeSystem):
    """The system solved by conjugate gradients, for many rows of many features.

    It takes nothing but products with the features, and no memory beside them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from splmll.methods._ridge import FactorisedRidge, IterativeRidge
    >>> X = sparse.random_array((50, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    >>> Y = X[:, :3].toarray() > 0
    >>> factorised, iterative = FactorisedRidge(X, 1.0), IterativeRidge(X, 1.0)
    >>> np.allclose(iterative.solve(Y).coef_, factorised.solve(Y).coef_, atol=1e-6)
    True
    """

    def __init__(self, X: Any, ridge: float, sample_weight: np.ndarray | None = None) -> None:
        super().__init__(X, ridge, sample_weight)
        # In units in which the matrix has a constant diagonal it takes far fewer iterations.
        self._unit = 1 / np.sqrt(self._F.column_squares() + self.ridge)[:, None]

    def explained(self, targets: Any) -> np.ndarray:
        """Return T'HT, the part of the centred outputs' T'T that the features explain."""
        right = self._cross(targets)
        half = right.T @ self._solved(right)
        return (half + half.T) / 2

    def fitted(self, values: np.ndarray) -> np.ndarray:
        """Return H times values for the rows, which are multiplied by ``roots`` already."""
        return self._F.times(self._solved(self._F.transposed_times(values)))

    def _weights(self, targets: Any) -> np.ndarray:
        return self._solved(self._cross(targets))

    def _solved(self, right: np.ndarray) -> np.ndarray:
        """Return the solution W of (X_c'X_c + ridge I) W = right."""

        def times(direction: np.ndarray) -> np.ndarray:
            direction = self._unit * direction
            image = self._F.transposed_times(self._F.times(direction))
            return self._unit * (image + self.ridge * direction)

        return self._unit * conjugate_gradients(times, self._unit * right, tol=TOLERANCE)


def ridge_system(X: Any, ridge: float, sample_weight: np.ndarray | None = None) -> RidgeSystem:
    """Return the ridge regression on these features, factorised unless that takes too much.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        Features.
    ridge : float
        Weight of the penalty.
    sample_weight : ndarray of shape (n_rows,) or None
        Weights of the rows, all above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from splmll.methods._ridge import ridge_system
    >>> type(ridge_system(np.eye(3), 1.0)).__name__
    'FactorisedRidge'
    >>> type(ridge_system(sparse.eye_array(10_000, format="csr"), 1.0)).__name__
    'IterativeRidge'
    """
    largest = LARGEST_SPARSE_FACTOR if sparse.issparse(X) else LARGEST_FACTOR
    small = _NUMBER * min(X.shape) ** 2 <= largest
    return (FactorisedRidge if small else IterativeRidge)(X, ridge, sample_weight)


def inverse_of_lower(factor: np.ndarray) -> np.ndarray:
    """Return the inverse of a lower triangular matrix, in a third of the time of solving for it.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._ridge import inverse_of_lower
    >>> inverse_of_lower(np.array([[2.0, 0.0], [1.0, 1.0]]))
    array([[ 0.5,  0. ],
           [-0.5,  1. ]])
    """
    inverse, _ = linalg.lapack.dtrtri(factor, lower=1)
    return np.asarray(inverse)


def column_means(table: Any, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Return the mean of every column of an array or sparse matrix.

    Parameters
    ----------
    table : ndarray or sparse matrix of shape (n_rows, n_columns)
        The columns.
    sample_weight : ndarray of shape (n_rows,) or None
        Weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._ridge import column_means
    >>> column_means(np.array([[1.0, 0.0], [0.0, 0.0]]))
    array([0.5, 0. ])
    >>> column_means(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([3.0, 1.0]))
    array([0.75, 0.  ])
    """
    if sample_weight is None:
        return np.asarray(table.sum(axis=0, dtype=np.float64)).ravel() / table.shape[0]
    return np.asarray(sample_weight @ table, dtype=np.float64).ravel() / sample_weight.sum()
