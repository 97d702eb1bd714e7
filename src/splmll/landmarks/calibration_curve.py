"""How likely a label is at a given score, learned from scores of rows that models had not seen.

One rising curve for all labels, and for every label a shift of its log-odds: rare labels have too
few rows for a curve of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression

MOST_PIECES = 40  # of the curve
POSITIVES_IN_A_PIECE = 20  # on average, where labels are few
SHIFT_SPREAD = 0.5  # standard deviation of the labels' shifts, as a prior
NEWTON_STEPS = 8
CURVE_CELLS = 2**21  # cells on which the curve is learned; more would not change it
LEAST_PROBABILITY = 1e-4  # no label is taken for more certain than this


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """From scores to probabilities and back.

    Attributes
    ----------
    scores, log_odds : ndarray of shape (n_knots,)
        The curve, both rising; straight lines between the knots and beyond.
    shift : ndarray of shape (n_labels,)
        Added to the log-odds of each label.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.calibration_curve import CalibrationCurve
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random((500, 2))
    >>> curve = CalibrationCurve.learned(scores, (rng.random((500, 2)) < scores**2) * 1.0)
    >>> bool(abs(curve.probabilities(np.array([[0.7, 0.7]])) - 0.49).max() < 0.1)
    True
    """

    scores: np.ndarray
    log_odds: np.ndarray
    shift: np.ndarray

    @classmethod
    def straight(cls, slope: float, centre: float, n_labels: int) -> CalibrationCurve:
        """Return the logistic curve with this slope through 1/2 at ``centre``, for all labels."""
        ends = np.array([-1.0, 1.0])
        return cls(centre + ends / slope, ends, np.zeros(n_labels))

    @classmethod
    def learned(cls, scores: np.ndarray, Y: np.ndarray) -> CalibrationCurve | None:
        """Learn the curve; None where the labels are too few or all alike.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_labels)
            Out-of-fold scores.
        Y : ndarray of shape (n_rows, n_labels)
            Labels; NaN where unknown.
        """
        known = ~np.isnan(Y)
        knots = _rising_curve(scores[known], Y[known])
        if knots is None:
            return None
        plain = cls(*knots, np.zeros(scores.shape[1]))
        log_odds = plain._at(scores)
        shift, stiffness = plain.shift, SHIFT_SPREAD**-2
        truth = np.where(known, Y, 0.0)
        for _ in range(NEWTON_STEPS):
            p = np.where(known, expit(log_odds + shift), 0.0)
            slope = (truth - p).sum(axis=0) - stiffness * shift
            shift = shift + np.clip(slope / ((p * (1 - p)).sum(axis=0) + stiffness), -1, 1)
        return cls(*knots, shift)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of every label."""
        p = expit(self._at(scores) + self.shift)
        return np.asarray(np.clip(p, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))

    def moved(self, scores: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return scores that have moved as far as probabilities have.

        Where a probability has not changed, nor has the score.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_labels)
            Scores.
        before, after : ndarray of shape (n_rows, n_labels)
            Their probabilities, and what became of them.
        """
        return (
            scores + self._back(logit(after) - self.shift) - self._back(logit(before) - self.shift)
        )

    def probability_at(self, score: float) -> float:
        """Return how likely a label without a shift is at a score."""
        return float(expit(self._at(np.array([score]))[0]))

    def _at(self, scores: np.ndarray) -> np.ndarray:
        return _straight_on(scores, self.scores, self.log_odds)

    def _back(self, log_odds: np.ndarray) -> np.ndarray:
        return _straight_on(log_odds, self.log_odds, self.scores)


def _rising_curve(scores: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return knots of the pooled curve; None where there is too little to draw one."""
    if len(scores) > CURVE_CELLS:
        some = np.random.default_rng(0).integers(len(scores), size=CURVE_CELLS)
        scores, truth = scores[some], truth[some]
    positives, share = float(truth.sum()), float(truth.mean()) if len(truth) else 0.0
    if not 0 < share < 1:
        return None
    order = np.argsort(scores, kind="stable")
    scores, truth = scores[order], truth[order]
    # Pieces hold about as many positives each, so that they are narrow where it matters.
    pieces = int(np.clip(positives // POSITIVES_IN_A_PIECE, 4, MOST_PIECES))
    filled = np.cumsum(truth + share)
    starts = np.searchsorted(filled, filled[-1] * np.arange(pieces) / pieces)
    starts = np.unique(np.append(starts[:-1], starts[-1]))
    starts[0] = 0
    sizes = np.diff(np.append(starts, len(scores)))
    middle = np.add.reduceat(scores, starts) / sizes
    # Half a row of average labels keeps every piece away from 0 and 1.
    rate = (np.add.reduceat(truth, starts) + 0.5 * share) / (sizes + 0.5)
    rising = isotonic_regression(rate, sample_weight=sizes.astype(float))
    # Pieces that were pooled become one knot, so that the curve rises and can be turned round.
    _, group = np.unique(rising, return_inverse=True)
    weight = np.bincount(group, sizes)
    x, p = (np.bincount(group, sizes * v) / weight for v in (middle, rising))
    distinct = np.concatenate([[True], np.diff(x) > 1e-12 * (1 + np.abs(x[1:]))])
    x, p = x[distinct], p[distinct]
    if len(x) < 2:
        return None
    return x, logit(np.clip(p, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))


def _straight_on(x: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Interpolate; beyond the knots go on at the mean slope of the whole curve."""
    slope = (values[-1] - values[0]) / (knots[-1] - knots[0])
    inside = np.interp(x, knots, values)
    beyond = np.where(x < knots[0], x - knots[0], np.where(x > knots[-1], x - knots[-1], 0.0))
    return np.asarray(inside + slope * beyond)
