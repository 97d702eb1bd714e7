"""Sums over rows that are all the exact solver needs: X'X, X'Y, Y'Y and their kin.

They add up over chunks, files and machines, and they subtract: the statistics of all folds
but one are the total less that fold. Unknown labels (NaN in Y) are counted pairwise: each sum
runs over the rows where what it needs is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

CHUNK_ROWS = 8192  # rows converted to float64 at a time


@dataclass
class Statistics:
    """Sums over the rows seen so far.

    The constant 1 is the first feature: ``xx[0, 0]`` counts rows, ``xx[0, 1:]`` sums features,
    ``xy[0]`` sums labels over the rows where they are known.

    Parameters
    ----------
    xx : ndarray of shape (n_features + 1, n_features + 1)
        Sum of x x'.
    xy : ndarray of shape (n_features + 1, n_labels)
        Sum of x y' over the rows where the label is known.
    yy : ndarray of shape (n_labels, n_labels)
        Sum of y y' over the rows where both labels are known.
    xk : ndarray of shape (n_features + 1, n_labels)
        Sum of x over the rows where the label is known.
    yk : ndarray of shape (n_labels, n_labels)
        ``yk[j, l]`` sums label j over the rows where j and l are known.
    kk : ndarray of shape (n_labels, n_labels)
        Number of rows where both labels are known.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.statistics import Statistics
    >>> X, Y = np.arange(6.0).reshape(3, 2), np.array([[1.0, 0], [0, 1], [1, 1]])
    >>> whole = Statistics.of(X, Y)
    >>> halves = Statistics.of(X[:1], Y[:1]) + Statistics.of(X[1:], Y[1:])
    >>> bool(np.allclose(whole.xy, halves.xy)), int(whole.n_rows)
    (True, 3)
    """

    xx: np.ndarray
    xy: np.ndarray
    yy: np.ndarray
    xk: np.ndarray
    yk: np.ndarray
    kk: np.ndarray

    @property
    def n_rows(self) -> float:
        """Number of rows summed."""
        return float(self.xx[0, 0])

    @classmethod
    def zeros(cls, n_features: int, n_labels: int) -> Statistics:
        """Return the statistics of no row."""
        D, C = n_features + 1, n_labels
        shapes = (D, D), (D, C), (C, C), (D, C), (C, C), (C, C)
        return cls(*(np.zeros(shape) for shape in shapes))

    @classmethod
    def of(cls, X: Any, Y: Any) -> Statistics:
        """Return the statistics of an in-memory data set, dense or sparse."""
        statistics = cls.zeros(X.shape[1], Y.shape[1])
        for start in range(0, X.shape[0], CHUNK_ROWS):
            statistics.add(X[start : start + CHUNK_ROWS], Y[start : start + CHUNK_ROWS])
        return statistics

    def add(self, X: Any, Y: Any) -> None:
        """Add the rows of one chunk."""
        X = X.astype(np.float64, copy=False)
        Y, known = split_unknown(Y)
        x_sum = np.concatenate([[X.shape[0]], np.asarray(X.sum(axis=0)).ravel()])
        y_sum = np.asarray(Y.sum(axis=0)).ravel()
        self.xx[1:, 1:] += _dense(X.T @ X)
        self.xx[0] += x_sum
        self.xx[1:, 0] += x_sum[1:]
        self.xy[0] += y_sum
        self.xy[1:] += _dense(X.T @ Y)
        self.yy += _dense(Y.T @ Y)
        if known is None:
            self.xk += x_sum[:, None]
            self.yk += y_sum[:, None]
            self.kk += X.shape[0]
        else:
            self.xk[0] += known.sum(axis=0)
            self.xk[1:] += _dense(X.T @ known)
            self.yk += _dense(Y.T @ known)
            self.kk += known.T @ known

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(*(a + b for a, b in zip(self._sums(), other._sums(), strict=True)))

    def __sub__(self, other: Statistics) -> Statistics:
        return Statistics(*(a - b for a, b in zip(self._sums(), other._sums(), strict=True)))

    def _sums(self) -> tuple[np.ndarray, ...]:
        return self.xx, self.xy, self.yy, self.xk, self.yk, self.kk

    def of_labels(self, labels: np.ndarray) -> Statistics:
        """Return the statistics of some of the labels."""
        pairs = np.ix_(labels, labels)
        return Statistics(
            self.xx,
            self.xy[:, labels],
            self.yy[pairs],
            self.xk[:, labels],
            self.yk[pairs],
            self.kk[pairs],
        )

    @property
    def feature_mean(self) -> np.ndarray:
        """Mean of every feature."""
        return self.xx[0, 1:] / self.n_rows

    @property
    def feature_variance(self) -> np.ndarray:
        """Variance of every feature."""
        variance = np.diag(self.xx)[1:] / self.n_rows - self.feature_mean**2
        # Rounding leaves a constant feature with a variance of the order of its square times eps.
        floor = 1e-12 * (np.diag(self.xx)[1:] / self.n_rows)
        return np.where(variance > floor, variance, 0.0)

    @property
    def feature_scale(self) -> np.ndarray:
        """Standard deviation of every feature; 1 for a constant one."""
        variance = self.feature_variance
        return np.where(variance > 0, np.sqrt(variance), 1.0)

    @property
    def label_mean(self) -> np.ndarray:
        """Mean of every label over the rows where it is known (0 where it never is)."""
        return self.xy[0] / np.maximum(self.xk[0], 1)

    def feature_covariance(self) -> np.ndarray:
        """Return the covariance of the features."""
        return self.xx[1:, 1:] / self.n_rows - np.outer(self.feature_mean, self.feature_mean)

    def cross_covariance(self) -> np.ndarray:
        """Return the covariance of features and labels, each label over its known rows."""
        known = np.maximum(self.xk[0], 1)
        return self.xy[1:] / known - (self.xk[1:] / known) * self.label_mean

    def label_moments(self, center: bool) -> np.ndarray:
        """Return Y'Y / n (the covariance if ``center``), positive semi-definite.

        Pairwise-available moments need not be positive semi-definite; their negative
        eigenvalues are set to zero, which gives the nearest matrix that is.
        """
        known = np.maximum(self.kk, 1)
        moments = self.yy / known
        if center:
            moments = moments - (self.yk / known) * (self.yk.T / known)
        if not (self.kk == self.n_rows).all():
            values, vectors = np.linalg.eigh((moments + moments.T) / 2)
            moments = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return moments


def sum_of(parts: Sequence[Statistics]) -> Statistics:
    """Return the statistics of all rows from those of their parts."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def split_unknown(Y: Any) -> tuple[Any, np.ndarray | None]:
    """Return labels with unknown entries set to 0, and where they are known (None: everywhere)."""
    if sparse.issparse(Y):
        if not np.isnan(Y.data).any():
            return Y, None
        known = np.ones(Y.shape)
        coordinates = Y.tocoo()
        lost = np.isnan(coordinates.data)
        known[coordinates.row[lost], coordinates.col[lost]] = 0.0
        Y = Y.copy()
        Y.data = np.nan_to_num(Y.data)
        return Y, known
    known = ~np.isnan(Y)
    if known.all():
        return Y, None
    return np.where(known, Y, 0.0), known.astype(np.float64)


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
