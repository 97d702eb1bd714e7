"""All labels from some labels: what people who annotate only the landmarks leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from splmll.arrays import dense
from splmll.landmarks.label_moments import LabelMoments
from splmll.statistics import Statistics, sum_of
from splmll.thresholds import GlobalThreshold, Threshold, fit_threshold

RIDGE = 0.1  # relative to the mean label variance


@dataclass(frozen=True, eq=False)
class Completion:
    """Completes labels of which the landmarks, or some of them, are known.

    Attributes
    ----------
    landmarks : ndarray of int
        Column of each landmark among all labels.
    mean : ndarray of shape (n_labels,)
        Mean of every label.
    moments : ndarray of shape (n_landmarks, n_labels)
        Covariances of the landmarks with all labels.
    ridge : float
        Of the regression on known landmarks.
    threshold : Threshold
        From completed scores to labels.
    """

    landmarks: np.ndarray
    mean: np.ndarray
    moments: np.ndarray
    ridge: float
    threshold: Threshold

    @classmethod
    def learned(
        cls,
        parts: Sequence[Statistics],
        landmarks: np.ndarray,
        Y: Any,
        fold: np.ndarray,
        rule: str | float,
        fallback: Threshold,
    ) -> Completion:
        """Learn from the sums of the labels; the threshold is tuned out of fold.

        Parameters
        ----------
        parts : sequence of Statistics
            Sums of the labels, fold by fold.
        landmarks : ndarray of int
            Column of each landmark.
        Y : ndarray or CSR array
            Labels of the rows that the threshold is tuned on.
        fold : ndarray of int
            Fold of these rows.
        rule : str or float
            The threshold rule.
        fallback : Threshold
            What is used where there is nothing to tune.
        """
        total = sum_of(parts)
        moments = LabelMoments(total)
        mean = moments.mean
        ridge = max(RIDGE * float(np.mean(mean - mean**2)), 1e-12)
        threshold: Threshold = fallback
        hidden = np.setdiff1d(np.arange(len(mean)), landmarks)
        if not isinstance(rule, str):
            threshold = GlobalThreshold(float(rule))
        elif len(hidden) and len(landmarks):
            known = dense(Y[:, landmarks])
            scores = np.empty((len(known), len(mean)))
            for k in np.unique(fold):
                others = LabelMoments(total - parts[k])
                rows = fold == k
                scores[rows] = complete(
                    known[rows], landmarks, others.mean, others.rows(landmarks), ridge
                )
            tuned = fit_threshold(rule, Y[:, hidden], scores[:, hidden])
            threshold = tuned if isinstance(tuned, GlobalThreshold) else fallback
        return cls(landmarks, mean, moments.rows(landmarks), ridge, threshold)

    def scores(self, known: np.ndarray) -> np.ndarray:
        """Return scores of all labels; see :func:`complete`."""
        return complete(known, self.landmarks, self.mean, self.moments, self.ridge)

    def labels(self, known: np.ndarray) -> np.ndarray:
        """Return all labels; known landmarks keep their value."""
        labels = self.threshold.apply(self.scores(known))
        given = ~np.isnan(known)
        labels[:, self.landmarks] = np.where(given, known, labels[:, self.landmarks])
        return labels


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
        Label means, from which the moments are measured.
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
