"""Why a label got its score: what each landmark added to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Explanation:
    """Scores taken apart into what each landmark contributed.

    Attributes
    ----------
    base : ndarray of shape (n_labels,)
        What a label scores before any landmark speaks.
    contributions : ndarray of shape (n_rows, n_landmarks, n_labels)
        What each landmark adds to each label of each row. With ``base`` they sum to the score:
        ``explanation.base + explanation.contributions.sum(axis=1)``.
    landmarks, labels : ndarray
        Names (or numbers) of the landmarks and of all labels.
    predicted : ndarray of shape (n_rows, n_labels)
        The predicted labels, 0 or 1.
    """

    base: np.ndarray
    contributions: np.ndarray
    landmarks: np.ndarray
    labels: np.ndarray
    predicted: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """The scores that are explained."""
        return self.base + self.contributions.sum(axis=1)

    def to_frame(self, row: int = 0, *, only_predicted: bool = True) -> pd.DataFrame:
        """Return one row's labels against the landmarks that carried them.

        Parameters
        ----------
        row : int, default=0
            Which row.
        only_predicted : bool, default=True
            Whether to leave out the labels that were not predicted.

        Returns
        -------
        frame : DataFrame
            One line per label, best score first: the score, the base, one column per landmark.
        """
        scores = self.scores[row]
        shown = np.flatnonzero(self.predicted[row]) if only_predicted else np.arange(len(scores))
        shown = shown[np.argsort(-scores[shown], kind="stable")]
        frame = pd.DataFrame(
            self.contributions[row][:, shown].T,
            index=pd.Index(self.labels[shown], name="label"),
            columns=pd.Index(self.landmarks, name="landmark"),
        )
        frame.insert(0, "base", self.base[shown])
        frame.insert(0, "score", scores[shown])
        return frame
