"""A: all labels from the landmarks.

The published choice, fitted on true landmark labels, is a block of ``exact.py``.
``recover_crossfitted`` is fitted on the out-of-fold predictions it will be fed, so it knows how
far each landmark's prediction can be trusted; ``complete`` works from true labels of which some
are missing.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    left, right = _system(FF, FY, landmarks, weights, shrinkage)
    return linalg.solve(left, right, assume_a="pos")


def _system(
    FF: np.ndarray,
    FY: np.ndarray,
    landmarks: np.ndarray,
    weights: np.ndarray,
    shrinkage: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides of the equations for A."""
    left = weights[:, None] * FF * weights
    # Predictions that hardly vary (labels do by about 1) tell nothing: the pull decides.
    scale = max(float(np.mean(np.diag(left))), 1e-12)
    right = weights[:, None] * FY
    right[np.arange(len(landmarks)), landmarks] += shrinkage * scale / weights
    # A trace of ridge keeps the solve defined where two landmarks are predicted alike.
    left[np.diag_indices_from(left)] += max(shrinkage, 1e-10) * scale
    return left, right


class HonestRecovery:
    """Recovery of every row by an A that was not fitted on that row.

    An A fitted on all rows fits their noise too: where labels are many, its scores on those rows
    look far better than on new ones. So each fold is recovered by the A of the other folds, which
    gives scores on which thresholds can be tuned and measures taken.

    Parameters
    ----------
    parts : sequence of Statistics
        Statistics of the out-of-fold predictions of the landmarks and all labels, fold by fold.
    landmarks, weights, shrinkage
        As for :func:`recover_crossfitted`.
    center : bool
        Whether predictions and labels are measured from their means.
    """

    def __init__(
        self,
        parts: Sequence[Statistics],
        landmarks: np.ndarray,
        weights: np.ndarray,
        shrinkage: float,
        center: bool,
    ) -> None:
        # Predictions are near 0 and 1: nothing is lost by measuring them from 0.
        self.parts = [part if part.shift is None else part.moved(None) for part in parts]
        self.center = center
        self.landmarks, self.weights, self.shrinkage = landmarks, weights, shrinkage
        self.total = sum_of(self.parts)

    def recovery(self) -> tuple[np.ndarray, np.ndarray]:
        """Return A of all rows, and the point from which predictions are measured."""
        FF, FY, centre, _ = self._moments(self.total)
        A = recover_crossfitted(FF, FY, self.landmarks, self.weights, self.shrinkage)
        return A, centre

    def scores(self, F: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """Return the recovered scores of rows, some or all of those in ``parts``.

        Parameters
        ----------
        F : ndarray of shape (n_rows, n_landmarks)
            Out-of-fold predictions of the landmarks.
        fold : ndarray of int
            Fold number of every row.
        """
        result = np.empty((len(F), self.total.n_labels))
        for k in np.unique(fold):
            rows = fold == k
            FF, FY, centre, mean = self._moments(self.total - self.parts[k])
            left, right = _system(FF, FY, self.landmarks, self.weights, self.shrinkage)
            # A itself is not needed, and has a column for every label: the few rows go first.
            turned = linalg.solve(left, ((F[rows] - centre) * self.weights).T, assume_a="pos")
            result[rows] = turned.T @ right + mean
        return result

    def explained(self) -> np.ndarray:
        """Return for each fold the share of a label's variance that its scores explain.

        The same as :func:`splmll.landmarks.sparsity.explained_by_fold` of the scores of all rows,
        without the rows. (Where labels are unknown, the square of a score is averaged over all
        rows.)
        """
        mean = self.total.label_mean
        counted = mean * (1 - mean) > 0
        shares = []
        for k, part in enumerate(self.parts):
            if part.n_rows == 0:
                continue
            W, known = self._map(k), np.maximum(part.xk[0], 1)
            square = np.einsum("ij,ij->j", W, part.xx @ W) / part.n_rows
            crossed = np.einsum("ij,ij->j", W, part.xy) / known
            error = square - 2 * crossed + part.xy[0] / known  # 0/1 labels are their own squares
            lost = error[counted] / (mean * (1 - mean))[counted]
            shares.append(1 - np.mean(lost) if counted.any() else 0.0)
        return np.array(shares)

    def _map(self, k: int) -> np.ndarray:
        """Intercept and B A of all folds but one, one above the other."""
        FF, FY, centre, mean = self._moments(self.total - self.parts[k])
        A = recover_crossfitted(FF, FY, self.landmarks, self.weights, self.shrinkage)
        mixing = self.weights[:, None] * A
        return np.vstack([mean - centre @ mixing, mixing])

    def _moments(
        self, statistics: Statistics
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """F'F and F'Y of some rows, and the points they are measured from."""
        if self.center:
            FF, FY = statistics.feature_covariance(), statistics.cross_covariance()
            return FF, FY, statistics.feature_mean, statistics.label_mean
        FF = statistics.xx[1:, 1:] / statistics.n_rows
        FY = statistics.xy[1:] / np.maximum(statistics.xk[0], 1)
        return FF, FY, np.zeros(len(FF)), np.zeros(FY.shape[1])


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
    observed = ~np.isnan(known)
    if observed.all():
        patterns, member = observed[:1], np.zeros(len(known), dtype=np.intp)
    else:
        patterns, member = np.unique(observed, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = member.ravel() == number
        K = np.flatnonzero(pattern)
        if len(K) == 0:
            continue
        left = G_rows[np.ix_(K, landmarks[K])] + rho * np.eye(len(K))
        turned = linalg.solve(left, (known[np.ix_(rows, K)] - mean[landmarks[K]]).T, assume_a="pos")
        scores[rows] += turned.T @ G_rows[K]
    return scores
