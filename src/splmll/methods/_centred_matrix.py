"""Standardised features used through products only, so that centring leaves sparse cells sparse.

A sparse matrix minus the outer product of two vectors is never formed: its products are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from splmll.arrays import dense
from splmll.feature_scaling import standardises
from splmll.sample_weights import weighed


@dataclass(frozen=True)
class CentredMatrix:
    """A matrix that is used through its products, so that centring leaves sparse cells sparse.

    It is ``stored`` where ``centring`` is None. Otherwise that is a pair of vectors, one number per
    row and per column, and the matrix is ``stored - outer(*centring)``.
    """

    stored: Any
    centring: tuple[np.ndarray, np.ndarray] | None = None

    @classmethod
    def standardised(cls, X: Any, mean: np.ndarray, scale: np.ndarray) -> CentredMatrix:
        """(X - mean) / scale."""
        if not sparse.issparse(X):
            # Sums over rows stored column by column differ in the last digits.
            return cls((np.ascontiguousarray(X) - mean) / scale)
        stored = sparse.csr_array(X.astype(np.float64) @ sparse.diags_array(1 / scale))
        return cls(stored, (np.ones(X.shape[0]), mean / scale))

    def with_constant(self) -> CentredMatrix:
        """Append a column of ones."""
        ones = np.ones((self.stored.shape[0], 1))
        if self.centring is None:
            return CentredMatrix(np.hstack([self.stored, ones]))
        of_row, of_column = self.centring
        stored = sparse.csr_array(sparse.hstack([self.stored, ones]))
        return CentredMatrix(stored, (of_row, np.append(of_column, 0.0)))

    def rows(self, index: np.ndarray) -> CentredMatrix:
        """Return some of the rows."""
        if self.centring is None:
            return CentredMatrix(self.stored[index])
        return CentredMatrix(self.stored[index], (self.centring[0][index], self.centring[1]))

    def weighted(self, sample_weight: np.ndarray | None) -> CentredMatrix:
        """Multiply every row by the root of its weight, if there are weights."""
        if sample_weight is None:
            return self
        roots = np.sqrt(sample_weight)
        stored = weighed(self.stored, roots)
        if self.centring is None:
            return CentredMatrix(stored)
        return CentredMatrix(stored, (roots * self.centring[0], self.centring[1]))

    def times(self, V: np.ndarray) -> np.ndarray:
        """A V."""
        product = self.stored @ V
        if self.centring is not None:
            of_row, of_column = self.centring
            product -= np.outer(of_row, of_column @ V)
        return product

    def transposed_times(self, R: Any) -> np.ndarray:
        """A' R, also for sparse R."""
        product = self.stored.T @ R
        product = dense(product)
        if self.centring is not None:
            of_row, of_column = self.centring
            product -= np.outer(of_column, of_row @ R)
        return product

    def gram(self) -> np.ndarray:
        """A' A."""
        if self.centring is None:
            return self.stored.T @ self.stored
        of_row, of_column = self.centring
        cross = np.outer(of_column, self.stored.T @ of_row)
        squares = (self.stored.T @ self.stored).toarray()
        return squares - cross - cross.T + (of_row @ of_row) * np.outer(of_column, of_column)

    def row_gram(self) -> np.ndarray:
        """A A'."""
        squares = dense(self.stored @ self.stored.T)
        if self.centring is None:
            return squares
        of_row, of_column = self.centring
        # In place: row x row matrices are large.
        cross = np.outer(of_row, self.stored @ of_column)
        squares -= cross
        squares -= cross.T
        squares += np.outer((of_column @ of_column) * of_row, of_row)
        return squares

    def column_squares(self) -> np.ndarray:
        """Return the diagonal of A' A."""
        if self.centring is None:
            return np.einsum("ij,ij->j", self.stored, self.stored)
        of_row, of_column = self.centring
        squares = np.asarray(self.stored.multiply(self.stored).sum(axis=0)).ravel()
        cross = of_column * (self.stored.T @ of_row)
        return squares - 2 * cross + (of_row @ of_row) * of_column**2


def feature_scale(
    X: Any, scale: str | None, sample_weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each feature; 0 and 1 where they are not asked for.

    "auto" asks for those of dense features: words are compared as they are.
    """
    if not standardises(scale, sparse.issparse(X)):
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    if not sparse.issparse(X):
        X = np.ascontiguousarray(X)
    scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X, sample_weight=sample_weight)
    return scaler.mean_.astype(np.float64), scaler.scale_.astype(np.float64)
