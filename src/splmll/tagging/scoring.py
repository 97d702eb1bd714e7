"""Labels, scores and explanations of rows, from a single pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from splmll.arrays import dense
from splmll.base import has_landmarks
from splmll.landmarks import SPLMLL

_LEAST_ADDED = 0.01  # what a landmark adds to one score, to be named
_CELLS_AT_ONCE = 5_000_000  # numbers of an explanation that are in memory at the same time

Carriers = list[dict[str, dict[str, float]]]
"""For every row: predicted label -> landmark -> what it added to the score of the label."""


@dataclass(frozen=True, eq=False)
class Scored:
    """What a method predicted for rows.

    Attributes
    ----------
    labels : ndarray of shape (n_rows, n_labels)
        The predicted labels, 0 or 1.
    probabilities : ndarray of shape (n_rows, n_labels)
        The score of each label, from 0 to 1.
    landmarks : ndarray of shape (n_rows, n_landmarks), optional
        What SPL-MLL predicted for its landmarks, from which everything else follows.
    """

    labels: np.ndarray
    probabilities: np.ndarray
    landmarks: np.ndarray | None = None


def score(method: Any, X: Any) -> Scored:
    """Return labels and probabilities of rows; the method scores them once.

    Parameters
    ----------
    method : MultilabelClassifier
        Fitted.
    X : array or sparse matrix of shape (n_rows, n_features)
        Features.

    Returns
    -------
    scored : Scored

    Examples
    --------
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> from splmll.tagging.scoring import score
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> model = SPLMLL("linear", random_state=0).fit(X, (X > 0).astype(int))
    >>> found = score(model, X)
    >>> bool((found.labels == model.predict(X)).all())
    True
    """
    if not has_landmarks(method):
        labels, probabilities = method.predict_with_probabilities(X)
        return Scored(dense(labels), np.asarray(probabilities))
    landmarks = method.transform(X)
    scores = _scores(method, landmarks)
    labels = method.label_format_.restore(method.threshold_.apply(scores))
    return Scored(
        labels=dense(labels),
        probabilities=expit(method.probability_slope_ * (scores - method.offset_)),
        landmarks=landmarks,
    )


def plain_scores(method: SPLMLL, X: Any) -> np.ndarray:
    """Return scores of rows as SPL-MLL computes them, before its threshold is taken off.

    Parameters
    ----------
    method : SPLMLL
        Fitted.
    X : array or sparse matrix of shape (n_rows, n_features)
        Features.

    Returns
    -------
    scores : ndarray of shape (n_rows, n_labels)
        What ``method.answer_model_`` takes.
    """
    return _scores(method, method.transform(X))


def _scores(method: SPLMLL, landmarks: np.ndarray) -> np.ndarray:
    if landmarks.shape[1]:
        return method.learned_.scores(landmarks)
    return np.tile(method.intercept_, (len(landmarks), 1))


def carriers(
    method: SPLMLL,
    scored: Scored,
    landmark_names: Sequence[str],
    label_names: Sequence[str],
    most: int,
) -> Carriers:
    """Return for every row its labels and the landmarks that carried each of them.

    Parameters
    ----------
    method : SPLMLL
        Fitted.
    scored : Scored
        What it found out about the rows.
    landmark_names, label_names : sequence of str
        Names of the landmarks, strongest first, and of all labels.
    most : int
        How many landmarks to name for a label.

    Returns
    -------
    carriers : list of dict
        Predicted label -> landmark -> what it added to the score of the label, the landmark that
        changed it most first. The others only if they changed it by 0.01 or more.
    """
    assert scored.landmarks is not None
    at_once = max(1, _CELLS_AT_ONCE // max(1, len(landmark_names) * len(label_names)))
    found: Carriers = []
    for start in range(0, len(scored.landmarks), at_once):
        part = slice(start, start + at_once)
        cube = method.learned_.contributions(scored.landmarks[part])
        for added, predicted in zip(cube, scored.labels[part]):
            labels = np.flatnonzero(predicted)
            order = np.argsort(-np.abs(added[:, labels]), axis=0, kind="stable")[:most]
            found.append(
                {
                    label_names[label]: {
                        landmark_names[place]: float(added[place, label])
                        for rank, place in enumerate(column)
                        if rank == 0 or abs(added[place, label]) >= _LEAST_ADDED
                    }
                    for label, column in zip(labels.tolist(), order.T.tolist())
                }
            )
    return found
