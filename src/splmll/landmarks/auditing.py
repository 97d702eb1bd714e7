"""Labels that are probably wrong or missing, with the reason.

A label is judged twice by models that have not seen its row: from the features, the second time by
models that were not told what looked wrong at first, and from the row's other labels. A logistic
curve, learned from the rows of other folds, weighs these against each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from splmll.landmarks.calibration_curve import CalibrationCurve

DOUBTFUL = 0.9  # so unlikely labels are unknown to the second models
RIDGES = (0.1, 2.0)  # of the regression on other labels, relative to the mean residual variance
WEIGHED_CELLS = 300_000  # labels from which the weights are learned
MOST_REASONS = 3  # labels that are named
LEAST_REASON = 0.05  # what a label must add to a probability to be named


def first_look(scores: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how likely labels are by their features, and the labels without doubtful ones.

    Parameters
    ----------
    scores, Y : ndarray of shape (n_rows, n_labels)
        Out-of-fold scores and labels; NaN where unknown.
    """
    P = probabilities_of(scores, Y)
    return P, np.where(np.abs(Y - P) > DOUBTFUL, np.nan, Y)


def probabilities_of(scores: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return out-of-fold scores as probabilities."""
    curve = CalibrationCurve.learned(scores, Y)
    if curve is None:
        curve = CalibrationCurve.straight(4.0, 0.5, scores.shape[1])
    return curve.probabilities(scores)


@dataclass(frozen=True, eq=False)
class OtherLabels:
    """What the other labels of a row say about each, by regression of residuals on residuals.

    With Q the inverse of their covariance, a residual is expected to be -sum_k Q_uk r_k / Q_uu.

    Parameters
    ----------
    inverse : ndarray of shape (n_labels, n_labels)
        Q, each row divided by its diagonal.
    """

    inverse: np.ndarray

    @classmethod
    def learned(cls, residuals: np.ndarray, ridge: float) -> OtherLabels:
        """Learn from residuals; the ridge is relative to their mean variance."""
        covariance = residuals.T @ residuals / len(residuals)
        rho = max(ridge * float(np.diag(covariance).mean()), 1e-12)
        Q = np.linalg.inv(covariance + rho * np.eye(len(covariance)))
        return cls(Q / np.diag(Q)[:, None])

    def __call__(self, residuals: np.ndarray) -> np.ndarray:
        """Return the residuals that the others of their rows let expect."""
        return residuals - residuals @ self.inverse.T

    def parts(self, residuals: np.ndarray, label: int) -> np.ndarray:
        """Return what each label of one row adds to that."""
        parts = -self.inverse[label] * residuals
        parts[label] = 0.0
        return np.asarray(parts)


def probability_of_truth(
    first: np.ndarray, second: np.ndarray, Y: np.ndarray, fold: np.ndarray
) -> np.ndarray:
    """Return how likely every label is, whatever was given for it.

    Parameters
    ----------
    first, second : ndarray of shape (n_rows, n_labels)
        Probabilities by the features at first and second look.
    Y : ndarray of shape (n_rows, n_labels)
        Labels; NaN where unknown.
    fold : ndarray of int
        Rows of a fold are judged by what the other folds teach.
    """
    residual = residuals_of(Y, second)
    features = np.empty((*Y.shape, 2 + len(RIDGES)))
    features[..., 0], features[..., 1] = logit(first), logit(second)
    result = second.copy()
    rng = np.random.default_rng(0)
    folds = np.unique(fold)
    for k in folds:
        for number, ridge in enumerate(RIDGES):
            others = OtherLabels.learned(residual[fold != k], ridge)
            features[fold == k, :, 2 + number] = others(residual[fold == k])
    for k in folds:
        known = np.argwhere(~np.isnan(Y) & (fold != k)[:, None])
        if len(known) > WEIGHED_CELLS:
            known = known[rng.integers(len(known), size=WEIGHED_CELLS)]
        row, label = known.T
        truth, given = Y[row, label], features[row, label]
        if truth.min() == truth.max():
            continue
        centre, spread = given.mean(axis=0), given.std(axis=0) + 1e-9
        weigh = LogisticRegression().fit((given - centre) / spread, truth)
        judged = ((features[fold == k] - centre) / spread).reshape(-1, given.shape[1])
        result[fold == k] = weigh.predict_proba(judged)[:, 1].reshape(-1, Y.shape[1])
    return result


def residuals_of(Y: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Return Y - P, 0 where a label is not known."""
    return np.nan_to_num(Y - P)


def suspects(P: np.ndarray, second: np.ndarray, Y: np.ndarray, names: np.ndarray) -> pd.DataFrame:
    """Return the labels that are more likely wrong than right, the worst first.

    Parameters
    ----------
    P : ndarray of shape (n_rows, n_labels)
        How likely every label is, by everything but itself.
    second : ndarray of shape (n_rows, n_labels)
        How likely by the features alone.
    Y : ndarray of shape (n_rows, n_labels)
        What was given; NaN where unknown.
    names : ndarray
        Names of the labels.
    """
    wrong = np.nan_to_num(np.abs(Y - P))
    rows, labels = np.nonzero(wrong > 0.5)
    order = np.argsort(-wrong[rows, labels], kind="stable")
    rows, labels = rows[order], labels[order]
    residual = residuals_of(Y, second)
    others = OtherLabels.learned(residual, RIDGES[0])
    reasons = [
        _reason(bool(Y[i, j]), second[i, j], others.parts(residual[i], j), residual[i], names)
        for i, j in zip(rows.tolist(), labels.tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "row": rows,
            "label": names[labels],
            "given": Y[rows, labels].astype(int),
            "probability": P[rows, labels],
            "reason": np.asarray(reasons, dtype=object),
        }
    )


def _reason(
    given: bool, p: float, parts: np.ndarray, residual: np.ndarray, names: np.ndarray
) -> str:
    """Return in words what speaks against what was given."""
    against = -parts if given else parts
    strongest = np.argsort(-against, kind="stable")[:MOST_REASONS]
    named = [
        f"{names[k]}" if residual[k] > 0 else f"no {names[k]}"
        for k in strongest
        if against[k] >= LEAST_REASON
    ]
    words = f"{'given' if given else 'not given'}, though {p:.0%} likely by the features"
    if named:
        words += f"; {'against' if given else 'for'} it: {', '.join(named)}"
    return words
