"""What the labels alone tell: how each goes with all others, for a handful or for very many.

Few labels: the C x C matrix of their moments. Very many: Y'Y stays sparse, and some hundred labels
from which the others are explained best are picked as candidates for landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from splmll.statistics import Statistics, fold_statistics, split_unknown

MOST_CANDIDATES = 500  # labels that may become landmarks where there are very many ...
MOST_MODELS = 2000  # ... or so many, where each has a model of its own that only it needs
CANDIDATE_RIDGE = 0.1  # of the regression on candidates, relative to the mean label variance

# A label that adds less than this share of what the first one explained is no candidate.
_NOTHING_LEFT = 1e-12


def varying_labels(Y: Any) -> np.ndarray:
    """Return which labels are neither always nor never true where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.label_moments import varying_labels
    >>> varying_labels(np.array([[1.0, 0, 1], [1, 1, np.nan]]))
    array([False,  True, False])
    """
    labels, known = split_unknown(Y)
    positives = np.asarray(labels.sum(axis=0)).ravel()
    return (positives > 0) & (positives < (Y.shape[0] if known is None else known.sum(axis=0)))


def label_sums(Y: Any, fold: np.ndarray, weights: np.ndarray | None = None) -> list[Statistics]:
    """Return the sums of the labels alone, fold by fold."""
    return fold_statistics(np.zeros((Y.shape[0], 0)), Y, fold, weights=weights)


@dataclass(frozen=True, eq=False)
class LabelMoments:
    """Covariances of the labels, as far as they are needed.

    Parameters
    ----------
    sums : Statistics
        With Y'Y, which is sparse where labels are very many.
    """

    sums: Statistics

    @property
    def mean(self) -> np.ndarray:
        """Mean of every label over the rows where it is known."""
        return self.sums.label_mean

    def rows(self, labels: np.ndarray) -> np.ndarray:
        """Return the covariances of some labels with all labels, (n, n_labels).

        Examples
        --------
        >>> import numpy as np
        >>> from splmll.landmarks.label_moments import LabelMoments
        >>> from splmll.statistics import Statistics
        >>> Y = np.array([[1.0, 0], [1, 0], [0, 1], [0, 0]])
        >>> LabelMoments(Statistics.of(np.zeros((4, 0)), Y)).rows(np.array([0]))
        array([[ 0.25 , -0.125]])
        """
        if not sparse.issparse(self.sums.yy):
            return self.sums.label_moments(center=True)[labels]
        rows = self.sums.yy[labels].toarray() / self.sums.n_rows
        return rows - np.outer(self.mean[labels], self.mean)

    def representativeness(self) -> np.ndarray:
        """Return the share of the variance of all labels that each label alone explains."""
        if sparse.issparse(self.sums.yy):
            operator = self._operator()
            squares, variance = operator.column_squares, self.mean - self.mean**2
        else:
            covariance = self.sums.label_moments(center=True)
            squares, variance = (covariance**2).sum(axis=0), np.diag(covariance)
        explained = np.where(variance > 0, squares / np.where(variance > 0, variance, 1.0), 0.0)
        return explained / max(float(variance.sum()), np.finfo(float).tiny)

    def candidates(self, varying: np.ndarray, *, one_per_label: bool = False) -> np.ndarray:
        """Return the labels that may become landmarks: all, or those that explain most.

        Parameters
        ----------
        varying : ndarray of bool
            Labels that are not constant.
        one_per_label : bool, default=False
            Whether every candidate has a model of its own: then those that vary most are taken, for
            which their own prediction matters most.
        """
        if not sparse.issparse(self.sums.yy):
            return np.arange(len(varying))
        if one_per_label:
            variance = np.where(varying, self.mean - self.mean**2, -1.0)
            most = min(MOST_MODELS, int(varying.sum()))
            return np.sort(np.argsort(-variance, kind="stable")[:most])
        operator = self._operator()
        ridge = CANDIDATE_RIDGE * float(np.mean(operator.diagonal))
        return pick_candidates(operator, varying, MOST_CANDIDATES, ridge)

    def _operator(self) -> SparseMoments:
        return SparseMoments(sparse.csr_array(self.sums.yy / self.sums.n_rows), self.mean)


class SparseMoments:
    """The matrix Z - m m' with Z sparse, which is never written out.

    Parameters
    ----------
    pairs : CSR array of shape (n_labels, n_labels)
        Z, the share of rows with both labels.
    mean : ndarray of shape (n_labels,)
        m; zeros where labels are not centred.
    """

    def __init__(self, pairs: sparse.csr_array, mean: np.ndarray) -> None:
        self.pairs, self.mean = pairs, mean
        self.diagonal = pairs.diagonal() - mean**2
        self.pairs_mean = pairs @ mean
        self.column_squares = np.maximum(
            np.asarray((pairs * pairs).sum(axis=0)).ravel()
            - 2 * mean * self.pairs_mean
            + mean**2 * (mean @ mean),
            0.0,
        )

    def __matmul__(self, vector: np.ndarray) -> np.ndarray:
        return self.pairs @ vector - self.mean * (self.mean @ vector)

    def column(self, label: int) -> np.ndarray:
        """Return one column."""
        return self.pairs[[label]].toarray()[0] - self.mean * self.mean[label]


def pick_candidates(
    moments: SparseMoments, allowed: np.ndarray, n_candidates: int, rho: float
) -> np.ndarray:
    """Return the labels from which, one after the other, the others are explained best.

    With R what the labels taken so far leave unexplained, the next is the one with the largest
    ``||R_j||^2 / (R_jj + rho)``, and R loses a rank-one matrix: the pivoted Cholesky
    decomposition with another pivot. R = G - L L' is not written out; a step costs one product
    with the sparse G and two with L, and the memory is that of L, ``n_labels x n_candidates``.

    Parameters
    ----------
    moments : SparseMoments
        G.
    allowed : ndarray of bool
        Labels that may be taken.
    n_candidates : int
        How many to take at most.
    rho : float
        Ridge of the recovery.

    Returns
    -------
    candidates : ndarray of int
        In ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from splmll.landmarks.label_moments import SparseMoments, pick_candidates
    >>> G = np.array([[0.2, 0.19, 0.0], [0.19, 0.2, 0.0], [0.0, 0.0, 0.1]])
    >>> moments = SparseMoments(sparse.csr_array(G), np.zeros(3))
    >>> pick_candidates(moments, np.ones(3, dtype=bool), 2, rho=0.01)
    array([0, 2])
    """
    n_candidates = min(n_candidates, int(allowed.sum()))
    if n_candidates == allowed.sum():
        return np.flatnonzero(allowed)
    factors = np.zeros((n_candidates, len(allowed)))  # L', one row after the other
    diagonal, squares = moments.diagonal.copy(), moments.column_squares.copy()
    free, taken = allowed.copy(), []
    rho = max(rho, 1e-12 * float(diagonal.max()))
    first = None
    for step in range(n_candidates):
        gain = np.where(free, squares / (diagonal + rho), -np.inf)
        label = int(np.argmax(gain))
        first = gain[label] if first is None else first
        if gain[label] <= _NOTHING_LEFT * first:
            break
        free[label] = False
        taken.append(label)
        before = factors[:step]
        column = moments.column(label) - before[:, label] @ before
        u = column / np.sqrt(diagonal[label] + rho)
        Ru = moments @ u - (before @ u) @ before
        squares = np.maximum(squares - 2 * u * Ru + u**2 * (u @ u), 0.0)
        diagonal = np.maximum(diagonal - u**2, 0.0)
        factors[step] = u
    return np.sort(np.asarray(taken, dtype=np.intp))
