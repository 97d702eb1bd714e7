"""Which rows to label first: those whose labels are uncertain, and that differ from one another.

A row teaches as much as its labels are uncertain, and twice the same lesson is worth no more than
once. Rows are drawn with the chance of the squared distance of their lesson to all lessons before
(as in k-means++, and in BADGE: Ash, Zhang, Krishnamurthy, Langford and Agarwal, ICLR 2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

MOST_DRAWN = 3000  # rows that are drawn one by one; the others follow by what they still add
SAME = 1e-6  # share of its own lesson that a row must add to those before it
BY_FEATURES = 0.5  # share of a lesson that is about rows with such features, not about all rows


def order_of_rows(X: Any, P: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    """Return numbers of rows, those to label first in front.

    The lesson of a row is the standard deviation of each of its labels, times the direction of its
    features. Rows that are alike have the same lesson: all but one of them come last.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, ...), or None
        Features; None where rows cannot be compared by them.
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
    >>> X = np.array([[1.0, 2], [1, 2], [3, 2], [0, 1]])
    >>> sorted(order_of_rows(X, P, 4)[:2].tolist()) in ([0, 2], [1, 2])
    True
    """
    rng = np.random.default_rng(seed)
    lesson = np.sqrt(P * (1 - P))
    length = np.einsum("ij,ij->i", lesson, lesson)
    directions = _directions(X)
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
        alike = (lesson @ lesson[row]) * _likeness(directions, row)
        new = np.minimum(new, np.maximum(length + length[row] - 2 * alike, 0.0))
    rest = np.flatnonzero(free)
    rest = rest[np.argsort(-new[rest], kind="stable")]
    return np.concatenate([np.asarray(drawn, dtype=np.intp), rest])[:n]


def _directions(X: Any) -> Any:
    """Return features as rows of length 1; dense ones are centred and scaled before."""
    if X is None:
        return None
    if sparse.issparse(X):
        norm = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sparse.csr_array(sparse.diags_array(1 / np.where(norm > 0, norm, 1.0)) @ X)
    X = X.reshape(len(X), -1)
    spread = X.std(axis=0)
    centred = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    norm = np.linalg.norm(centred, axis=1, keepdims=True)
    return centred / np.where(norm > 0, norm, 1.0)


def _likeness(directions: Any, row: int) -> Any:
    """Return how far what is learned from one row goes for the others."""
    if directions is None:
        return 1.0
    if sparse.issparse(directions):
        cosine = directions @ directions[[row]].toarray()[0]
    else:
        cosine = directions @ directions[row]
    return 1 - BY_FEATURES + BY_FEATURES * cosine
