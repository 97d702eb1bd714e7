"""Which rows to label first: those that the model is unsure of and that differ from one another.

A label teaches a model in the direction of its row's features, as strongly as it comes as a
surprise. Rows are drawn so that what they are expected to teach differs from what those before them
teach (after BADGE: Ash, Zhang, Krishnamurthy, Langford and Agarwal, ICLR 2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

MOST_DRAWN = 3000  # rows that are drawn one by one; the others follow by what they still add
SAME = 1e-6  # share of its own lesson that a row must add to those before it to count as new


def order_of_rows(X: Any, P: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Return numbers of rows, those to label first in front.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features), or None
        Features; None where rows cannot be compared by them.
    P : ndarray of shape (n_rows, n_labels)
        How likely each label is.
    n : int
        How many rows are wanted.
    seed : int
        Seed of the draws.

    Returns
    -------
    rows : ndarray of int, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.row_order import order_of_rows
    >>> X = np.array([[1.0, 0], [1, 0], [0, 1], [1, 0.5]])
    >>> P = np.array([[0.5], [0.5], [0.4], [0.001]])
    >>> sorted(order_of_rows(X, P, 4, seed=0)[:2].tolist()) in ([0, 2], [1, 2])
    True
    """
    rng = np.random.default_rng(seed)
    surprise = np.sqrt(P * (1 - P))  # the standard deviation of each label
    directions = _directions(X, len(P))
    length = np.einsum("ij,ij->i", surprise, surprise)
    new = length.copy()  # squared distance to the nearest lesson before
    free = np.ones(len(P), dtype=bool)
    drawn: list[int] = []
    for _ in range(min(n, MOST_DRAWN, len(P))):
        weight = np.where(free & (new > SAME * length), new, 0.0)
        total = float(weight.sum())
        if total <= 0:
            break
        row = int(np.searchsorted(np.cumsum(weight), rng.random() * total, side="right"))
        row = min(row, len(P) - 1)
        drawn.append(row)
        free[row] = False
        together = (surprise @ surprise[row]) * _products(directions, row)
        new = np.minimum(new, np.maximum(length + length[row] - 2 * together, 0.0))
    rest = np.flatnonzero(free)
    rest = rest[np.argsort(-new[rest], kind="stable")]
    return np.concatenate([np.asarray(drawn, dtype=np.intp), rest])[:n]


def _directions(X: Any, n_rows: int) -> Any:
    """Return rows of length 1; dense features are measured from their means in their spreads."""
    if X is None or getattr(X, "ndim", 2) != 2:
        return None
    if sparse.issparse(X):
        norm = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sparse.csr_array(sparse.diags_array(1 / np.where(norm > 0, norm, 1.0)) @ X)
    spread = X.std(axis=0)
    centred = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    norm = np.linalg.norm(centred, axis=1, keepdims=True)
    return centred / np.where(norm > 0, norm, 1.0)


def _products(directions: Any, row: int) -> Any:
    """Return the product of one direction with all."""
    if directions is None:
        return 1.0
    if sparse.issparse(directions):
        return directions @ directions[[row]].toarray()[0]
    return directions @ directions[row]
