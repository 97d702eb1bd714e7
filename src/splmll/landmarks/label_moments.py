"""What selection needs to know of the labels alone, for a handful of labels or for very many.

Few labels: the C x C matrix of their moments. Very many: Y'Y stays sparse, some hundred labels are
picked as candidates for landmarks, and only their moments, with each other and with all labels,
are worked on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from splmll.landmarks.statistics import MOST_DENSE_LABELS, Statistics

MOST_CANDIDATES = 500  # labels that may become landmarks where there are very many

# A label that adds less than this share of what the first one explained is no candidate.
_NOTHING_LEFT = 1e-12


@dataclass(frozen=True)
class LabelMoments:
    """Moments of the labels, as far as selection and recovery need them.

    Parameters
    ----------
    candidates : ndarray of int
        The labels that may become landmarks: all of them where labels are few.
    G : ndarray of shape (n_candidates, n_candidates)
        Their moments.
    targets : ndarray of shape (n_candidates, n_targets)
        Their moments with all labels, G itself where all are candidates. Of very many labels only
        inner products of these rows matter, so they are rotated into ``n_candidates`` columns.
    mean, variance : ndarray of shape (n_labels,)
        Of every label.
    explained : ndarray of shape (n_labels,)
        How much of the variance of all labels each label alone explains.
    unit : float
        Mean diagonal of the moments of all labels, what penalties are multiples of.
    """

    candidates: np.ndarray
    G: np.ndarray
    targets: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    explained: np.ndarray
    unit: float
    statistics: Statistics
    center: bool

    @classmethod
    def of(
        cls,
        statistics: Statistics,
        center: bool,
        varying: np.ndarray,
        rho: float,
        *,
        every: bool = False,
    ) -> LabelMoments:
        """Return the moments from the statistics of all rows.

        Parameters
        ----------
        statistics : Statistics
            With Y'Y, which is sparse where labels are very many.
        center : bool
            Whether labels are measured from their means.
        varying : ndarray of bool
            Labels that are not constant; others cannot be candidates.
        rho : float
            Ridge of the recovery, relative to ``unit`` (as given to SPLMLL).
        every : bool, default=False
            Take all labels as candidates, however many.

        Examples
        --------
        >>> import numpy as np
        >>> from splmll.landmarks.label_moments import LabelMoments
        >>> from splmll.landmarks.statistics import Statistics
        >>> Y = np.array([[1.0, 0], [1, 0], [0, 1], [0, 0]])
        >>> sums = Statistics.of(np.zeros((4, 0)), Y)
        >>> LabelMoments.of(sums, True, np.array([True, True]), rho=0.1).G
        array([[ 0.25  , -0.125 ],
               [-0.125 ,  0.1875]])
        """
        if every or not sparse.issparse(statistics.yy):
            G = statistics.label_moments(center)
            covariance = G if center else statistics.label_moments(center=True)
            variance = np.diag(covariance).copy()
            explained = _ratio((covariance**2).sum(axis=0), variance)
            everything = np.arange(len(G))
            unit = float(np.mean(np.diag(G)))
            mean = statistics.label_mean
            return cls(everything, G, G, mean, variance, explained, unit, statistics, center)
        return cls._of_many(statistics, center, varying, rho)

    @classmethod
    def _of_many(
        cls, statistics: Statistics, center: bool, varying: np.ndarray, rho: float
    ) -> LabelMoments:
        mean = statistics.label_mean
        pairs = sparse.csr_array(statistics.yy / statistics.n_rows)
        variance = mean - mean**2  # 0/1 labels are their own squares
        operator = SparseMoments(pairs, mean if center else np.zeros_like(mean))
        unit = float(np.mean(operator.diagonal))
        candidates = pick_candidates(operator, varying, MOST_CANDIDATES, rho * unit)
        rows = pairs[candidates]
        products = operator.row_products(rows, candidates)
        centred = operator if center else SparseMoments(pairs, mean)
        return cls(
            candidates,
            operator.among(rows, candidates),
            _square_root(products),
            mean,
            variance,
            _ratio(centred.column_squares, variance),
            unit,
            statistics,
            center,
        )

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.mean)

    @property
    def all_are_candidates(self) -> bool:
        """Whether the moments are those of all labels."""
        return len(self.candidates) == self.n_labels

    def rows(self, labels: np.ndarray) -> np.ndarray:
        """Return the moments of some labels with all labels, (n, n_labels)."""
        if self.all_are_candidates:
            return self.G[labels]
        return moment_rows(self.statistics, labels, self.center)

    def spread(self, values: np.ndarray, fill: float = 0.0) -> np.ndarray:
        """Return values of the candidates as values of all labels."""
        result = np.full((self.n_labels, *values.shape[1:]), fill)
        result[self.candidates] = values
        return result


def moment_rows(statistics: Statistics, labels: np.ndarray, center: bool) -> np.ndarray:
    """Return the moments of some labels with all labels, (n, n_labels)."""
    if not sparse.issparse(statistics.yy):
        return statistics.label_moments(center)[labels]
    rows = statistics.yy[labels].toarray() / statistics.n_rows
    mean = statistics.label_mean
    return rows - np.outer(mean[labels], mean) if center else rows


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

    def among(self, rows: sparse.csr_array, labels: np.ndarray) -> np.ndarray:
        """Return the block of some labels; ``rows`` are their rows of Z."""
        return rows[:, labels].toarray() - np.outer(self.mean[labels], self.mean[labels])

    def row_products(self, rows: sparse.csr_array, labels: np.ndarray) -> np.ndarray:
        """Return the inner products of some rows of the matrix; ``rows`` are those of Z."""
        mean, cross = self.mean[labels], self.pairs_mean[labels]
        products = (rows @ rows.T).toarray() - np.outer(cross, mean) - np.outer(mean, cross)
        return products + (self.mean @ self.mean) * np.outer(mean, mean)


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


def _square_root(products: np.ndarray) -> np.ndarray:
    """Return a square matrix whose rows have these inner products."""
    values, vectors = linalg.eigh(products)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _ratio(squares: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return np.where(variance > 0, squares / np.where(variance > 0, variance, 1.0), 0.0)


def are_many(Y: Any) -> bool:
    """Whether labels are so many that only candidates are considered as landmarks.

    Where labels are unknown, all pairs of labels have to be counted one by one: then never.
    """
    if Y.shape[1] <= MOST_DENSE_LABELS:
        return False
    return not np.isnan(Y.data if sparse.issparse(Y) else Y).any()
