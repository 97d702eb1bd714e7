"""All labels from some labels: what people who annotate only the landmarks leave open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from splmll.arrays import dense
from splmll.landmarks.label_moments import LabelMoments
from splmll.statistics import Statistics, sum_of
from splmll.thresholds import MIN_ROWS, GlobalThreshold, Threshold, fit_threshold

RIDGE = 0.1  # relative to the mean label variance
TRIED_CELLS = 2**20  # labels of rows on which thresholds are tuned
BELOW_HALF = float(np.nextafter(0.5, 0.0))


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
        From completed scores to labels, where nothing was tuned.
    counts : ndarray of int, optional
        Numbers of known landmarks, rising from 0, that have a threshold of their own.
    thresholds : list of Threshold or None, optional
        For so many known landmarks or more. None: what is not known is left blank, since filling it
        in gained nothing out of fold.
    """

    landmarks: np.ndarray
    mean: np.ndarray
    moments: np.ndarray
    ridge: float
    threshold: Threshold
    counts: np.ndarray | None = None
    thresholds: list[Threshold | None] | None = None

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
        """Learn from the sums of the labels; thresholds are tuned out of fold.

        Known landmarks count as right, and as many are known as someone who answers for them in
        their order may have answered.

        Parameters
        ----------
        parts : sequence of Statistics
            Sums of the labels, fold by fold.
        landmarks : ndarray of int
            Column of each landmark.
        Y : ndarray or CSR array
            Labels of the rows that thresholds are tuned on.
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
        whole = cls(landmarks, mean, moments.rows(landmarks), ridge, fallback)
        if not isinstance(rule, str):
            return replace(whole, threshold=GlobalThreshold(float(rule)))
        if Y.shape[0] < MIN_ROWS or len(landmarks) == 0:
            return whole
        most = max(MIN_ROWS, TRIED_CELLS // len(mean))
        rows = np.sort(np.random.default_rng(0).permutation(Y.shape[0])[:most])
        truth, fold = dense(Y[rows]), fold[rows]
        of_fold = {}
        for k in np.unique(fold):
            others = LabelMoments(total - parts[k])
            of_fold[k] = others.mean, others.rows(landmarks)
        counts = _numbers_known(len(landmarks))
        thresholds = []
        for count in counts:
            known = truth[:, landmarks].copy()
            known[:, count:] = np.nan
            scores = np.empty(truth.shape)
            for k, (its_mean, its_rows) in of_fold.items():
                scores[fold == k] = complete(known[fold == k], landmarks, its_mean, its_rows, ridge)
            thresholds.append(
                _worthwhile(rule, truth, scores, landmarks[:count], fold, always=mean >= 1)
            )
        return replace(whole, counts=counts, thresholds=thresholds)

    def scores(self, known: np.ndarray) -> np.ndarray:
        """Return scores of all labels; see :func:`complete`."""
        return complete(known, self.landmarks, self.mean, self.moments, self.ridge)

    def labels(self, known: np.ndarray) -> np.ndarray:
        """Return all labels; known landmarks keep their value."""
        scores = with_known(self.scores(known), known, self.landmarks)
        labels = np.empty(scores.shape, dtype=np.uint8)
        for rows, threshold in self._thresholds(known):
            # A label that was always true needs no evidence.
            always = np.broadcast_to(self.mean >= 1, scores[rows].shape)
            labels[rows] = always if threshold is None else threshold.apply(scores[rows])
        given = ~np.isnan(known)
        labels[:, self.landmarks] = np.where(given, known, labels[:, self.landmarks])
        return labels

    def probabilities(self, known: np.ndarray) -> np.ndarray:
        """Return scores between 0 and 1 on which 1/2 is where labels begin to be filled in.

        Known landmarks are 0 or 1.
        """
        scores = np.clip(self.scores(known), 0.0, 1.0)
        for rows, threshold in self._thresholds(known):
            if threshold is None:
                always = self.mean >= 1
                scores[rows] = np.where(always, 1.0, np.minimum(0.5 * scores[rows], BELOW_HALF))
                continue
            cut = threshold.per_label(len(self.mean))
            cut = np.where(np.isnan(cut), threshold.offset, cut)
            scores[rows] = _bent(scores[rows], np.clip(cut, 1e-9, 1 - 1e-9))
        given = ~np.isnan(known)
        scores[:, self.landmarks] = np.where(given, known, scores[:, self.landmarks])
        return scores

    def _thresholds(self, known: np.ndarray) -> Iterator[tuple[np.ndarray, Threshold | None]]:
        """Yield groups of rows and what turns their scores into labels."""
        if self.counts is None or self.thresholds is None:
            yield np.ones(len(known), dtype=bool), self.threshold
            return
        n_known = np.count_nonzero(~np.isnan(known), axis=1)
        level = np.searchsorted(self.counts, n_known, side="right") - 1
        for number in np.unique(level):
            yield level == number, self.thresholds[number]


def _bent(p: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """Bend numbers between 0 and 1 so that the cut of each label becomes 1/2."""
    return np.where(p < cut, np.minimum(0.5 * p / cut, BELOW_HALF), 1 - 0.5 * (1 - p) / (1 - cut))


def _numbers_known(most: int) -> np.ndarray:
    """Return 0, 1, 2, 4, 8, ... and the number of all landmarks."""
    doubled = 2 ** np.arange(max(most, 1).bit_length())
    return np.unique([0, *doubled[doubled < most], most]).astype(np.intp)


def with_known(scores: np.ndarray, known: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """Return scores with known labels at either end of their row, where no rule misses them."""
    scores = scores.copy()
    low = np.minimum(scores.min(axis=1), 0.0)[:, None]
    high = np.maximum(scores.max(axis=1), 1.0)[:, None]
    ends = np.where(known == 1, high, low)
    scores[:, landmarks] = np.where(np.isnan(known), scores[:, landmarks], ends)
    return scores


def _worthwhile(
    rule: str,
    Y: np.ndarray,
    scores: np.ndarray,
    known: np.ndarray,
    fold: np.ndarray,
    always: np.ndarray,
) -> Threshold | None:
    """Return the threshold by which filling in gains something beyond chance; None if it does not.

    Gains are in micro-F1 over leaving all blank but the known labels and those that are always
    true. They are taken fold by fold, and their mean must exceed its standard error.
    """
    threshold = fit_threshold(rule, Y, with_known(scores, Y[:, known], known))
    filled = threshold.apply(scores) * 1.0
    filled[:, known] = Y[:, known]
    blank = np.tile(always * 1.0, (len(Y), 1))
    blank[:, known] = Y[:, known]
    gains = [
        micro_f1(Y[rows], filled[rows]) - micro_f1(Y[rows], blank[rows])
        for rows in (fold == k for k in np.unique(fold))
    ]
    error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return threshold if np.mean(gains) > error else None


def micro_f1(Y: np.ndarray, labels: np.ndarray) -> float:
    """Return micro-F1 over the cells whose truth is known; NaN cells do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.completion import micro_f1
    >>> round(micro_f1(np.array([[1, 0, np.nan]]), np.array([[1, 1, 1]])), 3)
    0.667
    """
    counted = ~np.isnan(Y)
    truth, found = np.where(counted, Y, 0.0), np.where(counted, labels, 0.0)
    size = float(truth.sum() + found.sum())
    return 2 * float((truth * found).sum()) / size if size else 1.0


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
    if (observed == observed[:1]).all():
        # The usual case, and sorting all rows to find it out takes long.
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
