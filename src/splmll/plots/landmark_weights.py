"""What a fitted model has to show: the weight of every landmark in the score of every label.

The heat map and the graph draw the same numbers, taken from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from splmll.docstrings import with_paragraphs
from splmll.plots.label_input import label_names_of, last_estimator


@dataclass(frozen=True, eq=False)
@with_paragraphs
class LandmarkWeights:
    """Landmarks against the labels that they recover.

    Make one with `from_estimator`.

    Attributes
    ----------
    weights : ndarray of shape (n_landmarks, n_labels)
        The weight of each landmark for each label.
    landmarks, labels : list of str
        Names of rows and columns.
    strengths : ndarray of shape (n_landmarks,)
        ``landmark_strengths_`` of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> from splmll.plots.landmark_weights import LandmarkWeights
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 4))
    >>> Y = (X @ rng.normal(size=(4, 3)) > 0).astype(int)
    >>> model = SPLMLL("linear", n_landmarks=2, random_state=0).fit(X, Y)
    >>> LandmarkWeights.from_estimator(model).weights.shape
    (2, 3)
    """

    weights: np.ndarray
    landmarks: list[str]
    labels: list[str]
    strengths: np.ndarray

    @classmethod
    def from_estimator(
        cls, estimator: Any, label_names: Sequence[str] | None = None
    ) -> LandmarkWeights:
        """Take the landmarks of a model, strongest first.

        Parameters
        ----------
        {estimator_with_landmarks}
        {label_names}

        Returns
        -------
        found : LandmarkWeights
        """
        model = landmark_model(estimator)
        landmarks = landmark_numbers(model)
        if len(landmarks) == 0:
            raise ValueError(
                "The estimator has no landmarks, so there is nothing to draw: all labels are "
                "constant in the rows it learned from."
            )
        names = label_names_of(model.label_format_.n_labels, model, given=label_names)
        own = [names[number] for number in landmarks]
        return cls(model.landmark_weights_, own, names, model.landmark_strengths_)

    def strongest(self, max_landmarks: int, max_labels: int) -> LandmarkWeights:
        """Keep some landmarks and labels.

        Parameters
        ----------
        max_landmarks : int
            This many landmarks are kept, the strongest.
        max_labels : int
            This many labels are kept: those landmarks themselves, then the labels that they recover
            with the largest weights. They keep their order.

        Returns
        -------
        part : LandmarkWeights
        """
        for name, value in (("max_landmarks", max_landmarks), ("max_labels", max_labels)):
            if value < 1:
                raise ValueError(f"{name} is {value}; show at least one.")
        landmarks, weights = self.landmarks[:max_landmarks], self.weights[:max_landmarks]
        reach = np.abs(weights).max(axis=0)
        reach[np.isin(self.labels, landmarks)] = np.inf
        kept = np.sort(np.argsort(-reach, kind="stable")[:max_labels])
        labels = [self.labels[column] for column in kept]
        return LandmarkWeights(weights[:, kept], landmarks, labels, self.strengths[:max_landmarks])


def landmark_model(estimator: Any) -> Any:
    """Return the fitted model with landmarks, which may be inside of a pipeline or a search."""
    model = last_estimator(estimator)
    check_is_fitted(model)
    if not hasattr(model, "landmark_weights_"):
        raise TypeError(
            f"{type(model).__name__} has no landmarks to draw: give a fitted SPLMLL, or a pipeline "
            "that ends with one."
        )
    return model


def landmark_numbers(model: Any) -> np.ndarray:
    """Return the numbers of the labels that are landmarks, the strongest first."""
    form = model.label_format_
    place = {name: number for number, name in enumerate(form.names_of(range(form.n_labels)))}
    return np.array([place[name] for name in model.landmarks_], dtype=np.intp)
