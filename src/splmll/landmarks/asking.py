"""Which label to ask about next: the one whose answer leaves the fewest errors to be expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from splmll.arrays import largest
from splmll.landmarks.belief import Belief

#: What a question is chosen by: the errors that its answer removes in all labels, or in its own.
CRITERIA = ("expected errors", "most uncertain")
MOST_CANDIDATES = 24  # labels of a row whose answers are thought through


@dataclass(frozen=True, eq=False)
class Questions:
    """What to ask about some rows.

    Attributes
    ----------
    labels : ndarray of object, shape (n_rows, n)
        Names of the labels to ask about (numbers where labels have no names), the best first; None
        where there is nothing to ask.
    expected_errors : ndarray of shape (n_rows,)
        How many labels of each row are expected to be wrong if nothing more is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.asking import Questions
    >>> questions = Questions(np.array([["rain"], [None]], dtype=object), np.array([0.8, 0.1]))
    >>> questions.to_frame()
      question  expected_errors
    0     rain              0.8
    1     None              0.1
    """

    labels: np.ndarray
    expected_errors: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return a table, one line per row: the questions and the errors to be expected."""
        n = self.labels.shape[1]
        names = ["question"] if n == 1 else [f"question_{k + 1}" for k in range(n)]
        frame = pd.DataFrame(self.labels, columns=names, dtype=object)
        frame["expected_errors"] = self.expected_errors
        return frame


def weighted_errors(P: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """Return what is to be expected of labels that are predicted from a probability on.

    A label predicted in error counts ``cut``, one that is missed ``1 - cut``: with these weights
    predicting from ``cut`` on is best.

    Parameters
    ----------
    P : ndarray
        Probabilities.
    cut : ndarray
        From where on a label is predicted, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.asking import weighted_errors
    >>> weighted_errors(np.array([0.1, 0.5, 0.8]), np.array(0.4))
    array([0.06, 0.2 , 0.08])
    """
    return np.minimum((1 - cut) * P, cut * (1 - P))


def best_questions(belief: Belief, cut: np.ndarray, criterion: str) -> np.ndarray:
    """Return for every row the label to ask about, -1 where all have been answered.

    Parameters
    ----------
    belief : Belief
        What is believed of the rows.
    cut : ndarray of shape (n_rows,)
        From which probability on a label is predicted.
    criterion : str
        One of :data:`CRITERIA`.

    Returns
    -------
    labels : ndarray of int, shape (n_rows,)
    """
    open_, P = belief.open, belief.probabilities()
    own = np.where(open_, weighted_errors(P, cut[:, None]), -1.0)
    n_candidates = min(MOST_CANDIDATES, own.shape[1])
    if criterion == "most uncertain" or n_candidates < 2:
        best = np.argmax(own, axis=1)
        return np.where(open_.any(axis=1), best, -1)
    # Labels whose own errors are largest: an answer that is known in advance tells nothing.
    candidates = largest(own, n_candidates)
    rows = np.arange(len(P))[:, None]
    p = P[rows, candidates]
    removed = expected_removal(belief, candidates, p, cut)
    removed = np.where(open_[rows, candidates], removed, -np.inf)
    # Of equals, which is seldom but for the first column, the more uncertain one.
    best = np.argmax(removed + 1e-9 * own[rows, candidates], axis=1)
    return np.where(open_.any(axis=1), candidates[rows[:, 0], best], -1)


def expected_removal(
    belief: Belief, candidates: np.ndarray, p: np.ndarray, cut: np.ndarray
) -> np.ndarray:
    """Return how many weighted errors the answer for each candidate is expected to remove.

    Parameters
    ----------
    belief : Belief
        What is believed of the rows.
    candidates : ndarray of int, shape (n_rows, n_candidates)
        Labels that may be asked about.
    p : ndarray of shape (n_rows, n_candidates)
        How likely they are.
    cut : ndarray of shape (n_rows,)
        From which probability on a label is predicted.
    """
    open_ = belief.open
    before = np.where(open_, weighted_errors(belief.probabilities(), cut[:, None]), 0.0).sum(axis=1)
    removed = np.broadcast_to(before[:, None], p.shape).copy()
    for chance, after in zip((p, 1 - p), belief.after(candidates), strict=True):
        left = np.where(open_[:, None], weighted_errors(after, cut[:, None, None]), 0.0)
        np.put_along_axis(left, candidates[:, :, None], 0.0, axis=2)
        removed -= chance * left.sum(axis=2)
    return removed
