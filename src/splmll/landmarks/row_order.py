"""Which rows to label first: those whose labels are uncertain, each in another way than the others.

A row teaches as much as its labels are uncertain, and twice the same lesson is worth no more than
once. Rows are drawn with the chance of the squared distance of their lesson to all lessons before
(as in k-means++, and in BADGE: Ash, Zhang, Krishnamurthy, Langford and Agarwal, ICLR 2020).
"""

from __future__ import annotations

import numpy as np

MOST_DRAWN = 3000  # rows that are drawn one by one; the others follow by what they still add
SAME = 1e-6  # share of its own lesson that a row must add to those before it


def order_of_rows(P: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    """Return numbers of rows, those to label first in front.

    The lesson of a row is the standard deviation of each of its labels. Rows that are alike have
    the same lesson: all but one of them come last.

    Parameters
    ----------
    P : ndarray of shape (n_rows, n_labels)
        How likely each label is.
    n : int
        How many rows are wanted.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    rows : ndarray of int, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.row_order import order_of_rows
    >>> P = np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 0.4], [0.0, 0.0]])
    >>> sorted(order_of_rows(P, 4)[:2].tolist()) in ([0, 2], [1, 2])
    True
    """
    rng = np.random.default_rng(seed)
    lesson = np.sqrt(P * (1 - P))
    length = np.einsum("ij,ij->i", lesson, lesson)
    new = length.copy()  # squared distance to the nearest lesson before; nothing was learned yet
    free = np.ones(len(P), dtype=bool)
    drawn: list[int] = []
    while len(drawn) < min(n, MOST_DRAWN):
        chance = np.cumsum(np.where(free & (new > SAME * length), new, 0.0))
        if chance[-1] <= 0:
            break
        row = int(np.searchsorted(chance, rng.random() * chance[-1], side="right"))
        drawn.append(row)
        free[row] = False
        distance = length + length[row] - 2 * (lesson @ lesson[row])
        new = np.minimum(new, np.maximum(distance, 0.0))
    rest = np.flatnonzero(free)
    rest = rest[np.argsort(-new[rest], kind="stable")]
    return np.concatenate([np.asarray(drawn, dtype=np.intp), rest])[:n]
