"""A: all labels from the landmarks.

The published choice, fitted on true landmark labels, is a block of ``exact.py``.
``recover_crossfitted`` is fitted on the out-of-fold predictions it will be fed, so it knows how
far each landmark's prediction can be trusted; ``complete`` works from true labels of which some
are missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from splmll.landmarks.statistics import Statistics, sum_of


def recover_crossfitted(
    FF: np.ndarray,
    FY: np.ndarray,
    landmarks: np.ndarray,
    weights: np.ndarray,
    shrinkage: float,
) -> np.ndarray:
    """Return the landmark rows of A = argmin ||Y - F B A||^2 / n + rho ||A - P||^2.

    F are out-of-fold predictions and P the landmark rows of B^-1: A is pulled to "a landmark
    keeps its own prediction, the others are left to the data". rho is ``shrinkage`` times the mean
    diagonal of B F'F B / n.

    Parameters
    ----------
    FF : ndarray of shape (n_landmarks, n_landmarks)
        F'F / n of the landmarks' predictions.
    FY : ndarray of shape (n_landmarks, n_labels)
        F'Y / n of the landmarks' predictions with all labels.
    landmarks : ndarray of int
        Column of each landmark among all labels.
    weights : ndarray of shape (n_landmarks,)
        b of each landmark.
    shrinkage : float
        Weight of the pull towards P.

    Returns
    -------
    recovery : ndarray of shape (n_landmarks, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.recovery import recover_crossfitted
    >>> FF, FY = np.eye(1), np.array([[0.9, 0.3]])
    >>> recover_crossfitted(FF, FY, np.array([0]), np.ones(1), shrinkage=0.0)
    array([[0.9, 0.3]])
    """
    left = weights[:, None] * FF * weights
    prior = np.zeros(FY.shape)
    prior[np.arange(len(landmarks)), landmarks] = 1 / weights
    # Predictions that hardly vary (labels do by about 1) tell nothing: the pull decides.
    scale = max(float(np.mean(np.diag(left))), 1e-12)
    # A trace of ridge keeps the solve defined where two landmarks are predicted alike.
    rho = max(shrinkage, 1e-10) * scale
    right = weights[:, None] * FY + (shrinkage * scale) * prior
    left[np.diag_indices_from(left)] += rho
    return linalg.solve(left, right, assume_a="pos")


class HonestRecovery:
    """Recovery of every row by an A that was not fitted on that row.

    An A fitted on all rows fits their noise too: where labels are many, its scores on those rows
    look far better than on new ones. So each fold is recovered by the A of the other folds, which
    gives scores on which thresholds can be tuned and measures taken.

    Parameters
    ----------
    F : ndarray of shape (n_rows, n_landmarks)
        Out-of-fold predictions of the landmarks.
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        Labels; NaN where unknown.
    fold : ndarray of int
        Fold number of every row.
    landmarks, weights, shrinkage
        As for :func:`recover_crossfitted`.
    center : bool
        Whether predictions and labels are measured from their means.
    """

    def __init__(
        self,
        F: np.ndarray,
        Y: Any,
        fold: np.ndarray,
        landmarks: np.ndarray,
        weights: np.ndarray,
        shrinkage: float,
        center: bool,
    ) -> None:
        self.F, self.fold, self.center = F, fold, center
        self.landmarks, self.weights, self.shrinkage = landmarks, weights, shrinkage
        self.numbers = np.unique(fold)
        self.parts = [Statistics.of(F[fold == k], Y[fold == k]) for k in self.numbers]
        self.total = sum_of(self.parts)
        self.others = [self.total - part for part in self.parts]

    def recovery(self, statistics: Statistics) -> tuple[np.ndarray, np.ndarray]:
        """Return A, and the point from which predictions are measured, for some of the rows."""
        if self.center:
            FF, FY = statistics.feature_covariance(), statistics.cross_covariance()
            centre = statistics.feature_mean
        else:
            FF = statistics.xx[1:, 1:] / statistics.n_rows
            FY = statistics.xy[1:] / np.maximum(statistics.xk[0], 1)
            centre = np.zeros(len(FF))
        return recover_crossfitted(FF, FY, self.landmarks, self.weights, self.shrinkage), centre

    def _map(self, statistics: Statistics) -> np.ndarray:
        """Intercept and B A, one above the other."""
        A, centre = self.recovery(statistics)
        mixing = self.weights[:, None] * A
        mean = statistics.label_mean if self.center else np.zeros(A.shape[1])
        return np.vstack([mean - centre @ mixing, mixing])

    def scores(self) -> np.ndarray:
        """Return the recovered scores of every row."""
        result = np.empty((len(self.F), self.parts[0].xy.shape[1]))
        for k, others in zip(self.numbers, self.others, strict=True):
            W = self._map(others)
            rows = self.fold == k
            result[rows] = self.F[rows] @ W[1:] + W[0]
        return result


def complete(
    known: np.ndarray, landmarks: np.ndarray, mean: np.ndarray, G_rows: np.ndarray, rho: float
) -> np.ndarray:
    """Return scores of all labels from landmark labels of which some are unknown.

    For each pattern of known landmarks K this is the ridge regression of all labels on exactly
    those, mean + (y_K - mean_K) (G_KK + rho I)^-1 G_K: the best linear use of what is known.

    Parameters
    ----------
    known : ndarray of shape (n_rows, n_landmarks)
        Landmark labels; NaN where unknown.
    landmarks : ndarray of int
        Column of each landmark among all labels.
    mean : ndarray of shape (n_labels,)
        Point from which the moments are measured: label means, or zeros if uncentred.
    G_rows : ndarray of shape (n_landmarks, n_labels)
        Landmark rows of the label moments.
    rho : float
        Ridge.

    Returns
    -------
    scores : ndarray of shape (n_rows, n_labels)
    """
    scores = np.tile(mean, (len(known), 1))
    if len(landmarks) == 0:
        return scores
    patterns, member = np.unique(~np.isnan(known), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = member.ravel() == number
        K = np.flatnonzero(pattern)
        if len(K) == 0:
            continue
        left = G_rows[np.ix_(K, landmarks[K])] + rho * np.eye(len(K))
        A = linalg.solve(left, G_rows[K], assume_a="pos")
        scores[rows] += (known[np.ix_(rows, K)] - mean[landmarks[K]]) @ A
    return scores
