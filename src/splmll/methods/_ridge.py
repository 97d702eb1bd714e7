"""Ridge regression factorised once: all outputs, and what the hat matrix says about labels.

Dense features are standardised on the way, sparse ones only centred. scikit-learn's ``Ridge`` keeps
its factorisation to itself and solves sparse features with an intercept by iteration; here both are
needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.preprocessing import StandardScaler

from splmll.arrays import dense
from splmll.sample_weights import weighed


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


class RidgeSystem:
    r"""Ridge regression on one set of features, ready for any outputs.

    With :math:`X_c` the standardised (sparse: centred) features and :math:`\lambda` the ridge, one
    Cholesky factorisation of :math:`X_c'X_c + \lambda I` gives, for any outputs T,

    .. math:: \min_{W, w_0} \|X_c W + 1 w_0' - T\|^2 + \lambda \|W\|^2

    and products with the hat matrix :math:`H = X_c (X_c'X_c + \lambda I)^{-1} X_c'` that turns
    centred outputs into fitted ones. With more features than rows the smaller matrix
    :math:`X_c X_c' + \lambda I` is factorised instead. Sparse features stay sparse: their mean is
    taken off the products.

    With weights of the rows the first term is a weighted sum: all of the above holds for rows
    multiplied by the roots of their weights, and means are weighted ones.

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
    dual : bool
        Whether the rows are fewer than the features, so that matrices are rows x rows.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._ridge import RidgeSystem
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> RidgeSystem(X, 1e-9).solve(2 * X + 1).predict(np.array([[10.0]])).round(6)
    array([[21.]])
    """

    def __init__(self, X: Any, ridge: float, sample_weight: np.ndarray | None = None) -> None:
        self.ridge = float(ridge)
        n_rows, n_features = X.shape
        self._weights = sample_weight
        self.roots = None if sample_weight is None else np.sqrt(sample_weight)
        self.total = float(n_rows if sample_weight is None else sample_weight.sum())
        self.dual = n_features > n_rows
        self._standardise(X)
        # Centring takes the mean off every row: F'F - n m m', and likewise for F F'.
        if self.dual:
            gram = dense(self._F @ self._F.T)
            if sparse.issparse(self._F):
                projected = self._F @ self._mean
                ones = np.ones(n_rows) if self.roots is None else self.roots
                crossed = np.outer(projected, ones)
                gram -= crossed + crossed.T - (self._mean @ self._mean) * np.outer(ones, ones)
        else:
            gram = dense(self._F.T @ self._F)
            if sparse.issparse(self._F):
                gram -= self.total * np.outer(self._mean, self._mean)
        gram[np.diag_indices_from(gram)] += self.ridge
        self._lower = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)

    def _standardise(self, X: Any) -> None:
        """Set F, the features with rows multiplied by ``roots``, dense ones centred, too."""
        if sparse.issparse(X):
            self._centre = column_means(X, self._weights)
            self._scale = np.ones(X.shape[1])
            self._F: Any = weighed(sparse.csr_array(X), self.roots)
            self._mean = self._centre
        else:
            scaler = StandardScaler().fit(X, sample_weight=self._weights)
            self._scale = np.asarray(scaler.scale_, dtype=np.float64)
            self._centre = np.asarray(scaler.mean_, dtype=np.float64)
            self._F = X - self._centre
            self._F /= self._scale
            self._F = weighed(self._F, self.roots)
            self._mean = np.zeros(X.shape[1])

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
        factor = self._lower, True
        if self.dual:
            duals = linalg.cho_solve(factor, self._centred(targets), check_finite=False)
            weights = self._cross(duals)
        else:
            right = self._cross(weighed(targets, self.roots))
            weights = linalg.cho_solve(factor, right, check_finite=False)
        weights /= self._scale[:, None]
        intercept = column_means(targets, self._weights) - self._centre @ weights
        return LinearMap(np.ascontiguousarray(weights.T), intercept)

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
        if self.dual:
            right = self._centred(targets)
        else:
            right = self._cross(weighed(targets, self.roots))
        return np.asarray(
            linalg.solve_triangular(self._lower, right, lower=True, check_finite=False)
        )

    def half_gram(self) -> np.ndarray:
        """Return B'B of the factor H = B B' (see :meth:`half`)."""
        inverse = self._inverse_factor()
        gram = -self.ridge * (inverse @ inverse.T)
        gram[np.diag_indices_from(gram)] += 1.0
        return gram

    def half_product(self, weights: np.ndarray) -> np.ndarray:
        """Return B times weights (see :meth:`half`), one row for every row of the features."""
        weights = linalg.solve_triangular(
            self._lower, weights, lower=True, trans="T", check_finite=False
        )
        return np.asarray(self._F @ weights - self._of_means(weights))

    def hat_matrix(self) -> np.ndarray:
        """Return H itself where the rows are fewer than the features."""
        inverse = self._inverse_factor()
        hat = -self.ridge * (inverse.T @ inverse)
        hat[np.diag_indices_from(hat)] += 1.0
        return hat

    def _inverse_factor(self) -> np.ndarray:
        identity = np.eye(len(self._lower))
        return np.asarray(
            linalg.solve_triangular(self._lower, identity, lower=True, check_finite=False)
        )

    def _cross(self, targets: Any) -> np.ndarray:
        """X_c' times outputs whose rows have been multiplied by ``roots``."""
        product = dense(self._F.T @ targets)
        if sparse.issparse(self._F):
            if self.roots is None:
                totals = np.asarray(targets.sum(axis=0)).ravel()
            else:
                totals = np.asarray(self.roots @ targets).ravel()
            product = product - np.outer(self._mean, totals)
        return product

    def _centred(self, targets: Any) -> np.ndarray:
        """Outputs less their means, the rows multiplied by ``roots``."""
        centred = dense(targets) - column_means(targets, self._weights)
        return np.asarray(weighed(centred, self.roots))

    def _of_means(self, weights: np.ndarray) -> np.ndarray:
        """What centring takes off a product of F with weights."""
        product = np.asarray(self._mean @ weights)
        return product if self.roots is None else np.outer(self.roots, product)


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
