"""What the answers for some labels of a row say about its other labels, beside its features.

Behind every label stands a normal variable that is positive where the label is true. Its mean is
given by the label's probability, and the correlations of all of them are those that make the
residuals Y - P of rows that models had not seen vary together as they do. An answer tells the
sign of one variable, and all others follow as in any normal distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from splmll.landmarks.calibration_curve import LEAST_PROBABILITY

MOST_LABELS = 1000  # those that vary most have correlations: 4 MB
RESIDUAL_CELLS = 2**23  # labels of rows that correlations are learned from
LARGEST = 0.99  # no two labels are taken for the same
LEAST_EIGENVALUE = 0.02
BISECTIONS = 14
# An answer that moves its own variable by less, in standard deviations, tells nothing.
NEGLIGIBLE = 0.01
_LOG_ROOT_2PI = 0.5 * float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class LabelCorrelations:
    """Correlations of the variables behind the labels.

    Attributes
    ----------
    labels : ndarray of int
        The labels that have some; all others are on their own.
    matrix : ndarray of float32, shape (len(labels), len(labels))
        Positive definite, with ones on the diagonal.
    n_labels : int
        Number of all labels.
    """

    labels: np.ndarray
    matrix: np.ndarray
    n_labels: int

    @classmethod
    def none(cls, n_labels: int) -> LabelCorrelations:
        """Return those of labels that tell nothing of each other."""
        return cls(np.zeros(0, dtype=np.intp), np.zeros((0, 0), dtype=np.float32), n_labels)

    @classmethod
    def learned(cls, P: np.ndarray, Y: np.ndarray, labels: np.ndarray) -> LabelCorrelations:
        """Learn them from out-of-fold probabilities and true labels.

        Parameters
        ----------
        P, Y : ndarray of shape (n_rows, n_labels)
            Probabilities and labels; NaN where a label is not known.
        labels : ndarray of int
            The labels to look at.
        """
        rows = slice(max(1, RESIDUAL_CELLS // max(1, len(labels))))
        matrix = latent_correlations(P[rows][:, labels], Y[rows][:, labels])
        return cls(labels, matrix.astype(np.float32), P.shape[1])

    def weakened(self, strength: float) -> LabelCorrelations:
        """Return the same with all correlations multiplied by a number up to 1."""
        weaker = (strength * self.matrix).astype(np.float32)
        np.fill_diagonal(weaker, 1.0)
        return LabelCorrelations(self.labels, weaker, self.n_labels)

    def of(self, label: np.ndarray) -> np.ndarray:
        """Return the correlations of some labels with all labels, ``label.shape + (n_labels,)``."""
        if len(self.labels) == self.n_labels:
            return self.matrix[label].astype(np.float64)
        result = np.zeros((*label.shape, self.n_labels))
        np.put_along_axis(result, label[..., None], 1.0, axis=-1)
        if len(self.labels):
            place = np.minimum(np.searchsorted(self.labels, label), len(self.labels) - 1)
            has = self.labels[place] == label
            where = tuple(index[:, None] for index in np.nonzero(has))
            result[(*where, self.labels[None])] = self.matrix[place[has]]
        return result


def latent_correlations(P: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the correlations of normal variables behind labels, from residuals Y - P.

    With means m = probit(P), two residuals of a row have the covariance sum_n r^n / n! h_n(m_u)
    h_n(m_k), where h_n is the (n - 1)th Hermite polynomial times the normal density (the
    tetrachoric series, Pearson 1900). Its first four terms, summed over the rows, are set equal to
    the sum of products of residuals, which is drawn towards zero as far as chance explains it.

    Parameters
    ----------
    P, Y : ndarray of shape (n_rows, n_labels)
        Probabilities and labels; NaN where a label is not known.

    Returns
    -------
    correlations : ndarray of shape (n_labels, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.belief import latent_correlations
    >>> rng = np.random.default_rng(0)
    >>> z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=20_000)
    >>> found = latent_correlations(np.full((20_000, 2), 0.5), (z > 0) * 1.0)
    >>> bool(abs(found[0, 1] - 0.6) < 0.03)
    True
    """
    known = ~np.isnan(Y)
    # Single precision: sums of some thousand numbers between -1 and 1.
    p = np.clip(P, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    mean = ndtri(p).astype(np.float32)
    density = np.where(known, np.exp(-0.5 * mean * mean - _LOG_ROOT_2PI), 0.0).astype(np.float32)
    residual = np.where(known, np.where(known, Y, 0.0) - p, 0.0).astype(np.float32)
    spread = np.where(known, p * (1 - p), 0.0).astype(np.float32)
    together = (residual.T @ residual).astype(np.float64)
    by_chance = (spread.T @ spread).astype(np.float64)
    np.fill_diagonal(together, 0.0)
    tiny = np.finfo(np.float64).tiny
    together *= together**2 / (together**2 + by_chance + tiny)
    square = mean * mean
    hermite = (np.float32(1), mean, square - 1, mean * (square - 3))
    series = []
    for polynomial, factorial in zip(hermite, (1.0, 2.0, 6.0, 24.0), strict=True):
        term = polynomial * density
        series.append((term.T @ term).astype(np.float64) / factorial)
    low, high = np.full_like(together, -LARGEST), np.full_like(together, LARGEST)
    for _ in range(BISECTIONS):
        r = 0.5 * (low + high)
        value = r * (series[0] + r * (series[1] + r * (series[2] + r * series[3])))
        above = value < together
        low, high = np.where(above, r, low), np.where(above, high, r)
    found = np.where(together == 0, 0.0, 0.5 * (low + high))
    return nearest_correlations(found)


def nearest_correlations(found: np.ndarray) -> np.ndarray:
    """Return a positive definite matrix with ones on the diagonal near a symmetric one.

    Pair by pair, correlations need not fit together: eigenvalues that are too small are raised.
    """
    found = 0.5 * (found + found.T)
    np.fill_diagonal(found, 1.0)
    values, vectors = np.linalg.eigh(found)
    if values[0] >= LEAST_EIGENVALUE:
        return found
    found = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    scale = 1 / np.sqrt(np.diag(found))
    found = found * scale * scale[:, None]
    np.fill_diagonal(found, 1.0)
    return found


@dataclass(eq=False)
class Belief:
    """What is believed of some rows; it changes with every answer.

    Parameters
    ----------
    P : ndarray of shape (n_rows, n_labels)
        Probabilities before any answer.
    correlations : LabelCorrelations
        Of the variables behind the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.belief import Belief, LabelCorrelations
    >>> both = LabelCorrelations(np.arange(2), np.array([[1, 0.8], [0.8, 1]]), 2)
    >>> belief = Belief(np.array([[0.5, 0.5]]), both)
    >>> belief.tell(np.array([0]), np.array([0]), np.array([1.0]))
    >>> bool(abs(belief.probabilities()[0, 1] - (0.5 + np.arcsin(0.8) / np.pi)) < 0.01)
    True
    """

    P: np.ndarray
    correlations: LabelCorrelations
    mean: np.ndarray = field(init=False)
    variance: np.ndarray = field(init=False)
    answered: np.ndarray = field(init=False)
    # The covariances are those of the start less a matrix of low rank: one factor an answer, in
    # an array of shape (n_rows, room, n_labels) that grows.
    _factors: np.ndarray = field(init=False, repr=False)
    _n_factors: int = field(init=False, default=0, repr=False)

    def __post_init__(self) -> None:
        self.mean = ndtri(np.clip(self.P, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
        self.variance = np.ones_like(self.mean)
        self.answered = np.full(self.mean.shape, np.nan)
        self._factors = np.empty((len(self.mean), 0, self.mean.shape[1]))

    @property
    def open(self) -> np.ndarray:
        """Which labels nobody has answered for."""
        return np.isnan(self.answered)

    def probabilities(self) -> np.ndarray:
        """Return how likely every label is now; 0 or 1 where it was answered."""
        p = ndtr(self.mean / np.sqrt(self.variance))
        p = np.clip(p, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        return np.where(self.open, p, self.answered)

    def tell(self, rows: np.ndarray, labels: np.ndarray, answers: np.ndarray) -> None:
        """Take in one answer for each of some rows.

        The sign of a normal variable changes its mean and variance, which are known in closed form;
        the others follow by regression on it.
        """
        covariance = self._covariances(rows, labels[:, None])[:, 0]
        shift, shrinkage = _truncated(
            self.mean[rows, labels], covariance[np.arange(len(rows)), labels], answers
        )
        self.mean[rows] += covariance * shift[:, None]
        factor = np.zeros_like(self.mean)
        factor[rows] = covariance * np.sqrt(shrinkage)[:, None]
        self._add_factor(factor)
        self.variance = np.maximum(self.variance - factor**2, LEAST_EIGENVALUE)
        self.answered[rows, labels] = answers

    def take_in(self, answers: np.ndarray) -> None:
        """Take in all answers, those first that tell most; the order they came in is no matter.

        Parameters
        ----------
        answers : ndarray of shape (n_rows, n_labels)
            0 or 1; NaN where nobody was asked.
        """
        pending = ~np.isnan(answers)
        side = np.where(answers == 1, 1.0, -1.0)
        # Rows without an open label have nothing left to say.
        pending[pending.all(axis=1)] = False
        while pending.any():
            rows = np.flatnonzero(pending.any(axis=1))
            distance = (side[rows] * self.mean[rows]) / np.sqrt(self.variance[rows])
            distance = np.where(pending[rows], distance, np.inf)
            most = np.argmin(distance, axis=1)
            tells = _inverse_mills(distance[np.arange(len(rows)), most]) > NEGLIGIBLE
            pending[rows[~tells]] = False
            rows, most = rows[tells], most[tells]
            if len(rows):
                pending[rows, most] = False
                self.tell(rows, most, answers[rows, most])
        self.answered = np.where(np.isnan(answers), self.answered, answers)

    def after(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities of all labels after "yes" and after "no".

        Parameters
        ----------
        labels : ndarray of shape (n_rows, n_candidates)
            For every row the labels that may be asked about.

        Returns
        -------
        yes, no : ndarray of shape (n_rows, n_candidates, n_labels)
        """
        covariance = self._covariances(np.arange(len(labels)), labels)
        own = np.take_along_axis(covariance, labels[:, :, None], axis=2)[:, :, 0]
        mean = np.take_along_axis(self.mean, labels, axis=1)
        found = []
        for answer in (1.0, 0.0):
            shift, shrinkage = _truncated(mean, own, np.full(labels.shape, answer))
            variance = self.variance[:, None] - covariance**2 * shrinkage[:, :, None]
            moved = self.mean[:, None] + covariance * shift[:, :, None]
            found.append(ndtr(moved / np.sqrt(np.maximum(variance, LEAST_EIGENVALUE))))
        return found[0], found[1]

    def _add_factor(self, factor: np.ndarray) -> None:
        room = self._factors.shape[1]
        if self._n_factors == room:
            n_rows, n_labels = factor.shape
            more = np.empty((n_rows, max(4, room), n_labels))
            self._factors = np.concatenate([self._factors, more], axis=1)
        self._factors[:, self._n_factors] = factor
        self._n_factors += 1

    def _covariances(self, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the covariances of labels of each row with all labels, as they are now."""
        found = self.correlations.of(labels)
        if self._n_factors:
            factors = self._factors[:, : self._n_factors]
            factors = factors if len(rows) == len(factors) else factors[rows]
            own = np.take_along_axis(factors, labels[:, None, :], axis=2)
            found -= own.transpose(0, 2, 1) @ factors
        place = labels[:, :, None]
        variance = np.take_along_axis(found, place, axis=2)
        np.put_along_axis(found, place, np.maximum(variance, LEAST_EIGENVALUE), axis=2)
        return found


def _inverse_mills(x: np.ndarray) -> np.ndarray:
    """Return the density over the distribution function of the standard normal."""
    return np.asarray(np.exp(-0.5 * x * x - _LOG_ROOT_2PI - log_ndtr(x)))


def _truncated(mean: Any, variance: Any, answers: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what the sign of a normal variable changes.

    Returns
    -------
    shift, shrinkage : ndarray
        A variable with covariance c to it has its mean moved by c shift and its variance reduced
        by c^2 shrinkage.
    """
    side = np.where(answers == 1, 1.0, -1.0)
    deviation = np.sqrt(variance)
    x = side * mean / deviation
    ratio = _inverse_mills(x)
    return side * ratio / deviation, np.maximum(ratio * (ratio + x), 0.0) / variance
