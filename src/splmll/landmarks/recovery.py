"""A: all labels from the predictions of the landmarks.

A is fitted on out-of-fold predictions, the ones it will be fed, so it knows how far each landmark's
prediction can be trusted; and every row is recovered by an A that was not fitted on that row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import expit, logit

from splmll.statistics import Statistics, sum_of

# Predictions that hardly vary (labels do by about 1) tell nothing: the pull decides.
_LEAST_VARIANCE = 1e-12
# A trace of ridge keeps the solve defined where two landmarks are predicted alike.
_LEAST_PULL = 1e-8
CERTAIN = 1e-9  # how near to 0 and 1 a probability is taken to be


def softened(F: np.ndarray, softness: float, lean: float = 0.0) -> np.ndarray:
    """Flatten or steepen probabilities: their log-odds are shifted, then multiplied.

    A probability of .001 and one of .000001 rank labels, but next to each other in a sum they are
    the same. Flatter ones keep the ranks of unlikely labels at the expense of the likely ones.
    Rare labels hardly ever come near 1/2: leaning moves the steep part of the curve to where they
    are, and leaves what is all but impossible near 0.

    Parameters
    ----------
    F : ndarray
        Probabilities; anything if they are left as they are.
    softness : float
        Factor of the log-odds; 1 leaves them as they are.
    lean : float, default=0.0
        Added to the log-odds before.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.recovery import softened
    >>> softened(np.array([0.1, 0.5, 0.9]), 0.5)
    array([0.25, 0.5 , 0.75])
    """
    if softness == 1 and lean == 0:
        return F
    return np.asarray(expit(softness * (logit(np.clip(F, CERTAIN, 1 - CERTAIN)) + lean)))


def logarithm(F: np.ndarray) -> np.ndarray:
    """Return the decimal logarithm of probabilities, as far as they are told from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.recovery import logarithm
    >>> logarithm(np.array([0.0, 0.01, 1.0]))
    array([-9., -2.,  0.])
    """
    return np.log10(np.maximum(F, CERTAIN))


@dataclass(frozen=True, eq=False)
class Map:
    """From predictions F of the landmarks to scores of all labels: (F - centre) A + mean.

    Attributes
    ----------
    recovery : ndarray of shape (n_landmarks, n_labels)
        A.
    intercept : ndarray of shape (n_labels,)
        mean - centre A.
    """

    recovery: np.ndarray
    intercept: np.ndarray

    def __call__(self, F: np.ndarray) -> np.ndarray:
        """Return the scores of all labels."""
        return F @ self.recovery + self.intercept

    @classmethod
    def identity(cls, landmarks: np.ndarray, mean: np.ndarray) -> Map:
        """Return the map by which every landmark keeps its own prediction as it is.

        Parameters
        ----------
        landmarks : ndarray of int
            The label of every prediction.
        mean : ndarray of shape (n_labels,)
            The score of labels that are no landmarks.
        """
        recovery = np.zeros((len(landmarks), len(mean)))
        recovery[np.arange(len(landmarks)), landmarks] = 1.0
        intercept = mean.copy()
        intercept[landmarks] = 0.0
        return cls(recovery, intercept)


class CrossFittedRecovery:
    r"""Recovery of every row by an A that was not fitted on that row.

    With F the out-of-fold predictions of the landmarks and P their own slopes, A minimises
    :math:`\|Y - F A\|^2 / n + \rho \|A - P\|^2`: it is pulled towards "a landmark keeps its own
    prediction, rescaled". :math:`\rho` is ``pull`` times the mean variance of the predictions. An A
    fitted on all rows fits their noise too and looks far better on those rows than on new ones, so
    each fold is recovered by the A of the others.

    Parameters
    ----------
    parts : sequence of Statistics
        Sums of the landmarks' out-of-fold predictions with all labels, fold by fold.
    landmarks : ndarray of int
        The label of every prediction.
    varying : ndarray of bool
        Labels that are not constant; constant ones score their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.recovery import CrossFittedRecovery
    >>> from splmll.statistics import fold_statistics
    >>> rng = np.random.default_rng(0)
    >>> Y = (rng.random((200, 1)) < [0.3, 0.3]) * 1.0  # the same label twice
    >>> F, fold = Y[:, :1] + 0.1 * rng.normal(size=(200, 1)), np.arange(200) % 4
    >>> parts = fold_statistics(F, Y, fold, center_features=False, label_pairs=False)
    >>> recovery = CrossFittedRecovery(parts, np.array([0]), np.array([True, True]))
    >>> recovery.map(pull=0.0).recovery.round(1)
    array([[0.9, 0.9]])
    """

    def __init__(
        self, parts: Sequence[Statistics], landmarks: np.ndarray, varying: np.ndarray
    ) -> None:
        self.parts, self.landmarks, self.varying = list(parts), landmarks, varying
        self.total = sum_of(self.parts)

    def map(self, pull: float, without: int | None = None) -> Map:
        """Return the map learned from all folds, or from all but one.

        Parameters
        ----------
        pull : float
            Weight of the pull; ``inf`` leaves every landmark with nothing but its own prediction.
        without : int, optional
            Number of the fold that is left out.
        """
        sums = self.total if without is None else self.total - self.parts[without]
        covariance, crossed = sums.feature_covariance(), sums.cross_covariance()
        own, variance = self.own_slopes(covariance, crossed), np.diag(covariance)
        place = np.arange(len(self.landmarks)), self.landmarks
        if np.isinf(pull):
            recovery = np.zeros_like(crossed)
            recovery[place] = own
        else:
            mean = float(variance.mean()) if len(variance) else 0.0  # no label may vary
            rho = max(pull, _LEAST_PULL) * max(mean, _LEAST_VARIANCE)
            left, right = covariance.copy(), crossed.copy()
            left[np.diag_indices_from(left)] += rho
            right[place] += rho * own
            recovery = linalg.solve(left, right, assume_a="pos", check_finite=False)
        recovery = np.where(self.varying, recovery, 0.0)
        return Map(recovery, sums.label_mean - sums.feature_mean @ recovery)

    def own_slopes(self, covariance: np.ndarray, crossed: np.ndarray) -> np.ndarray:
        """Return P: by how much each label rises with its own prediction.

        A prediction that goes against its label out of fold says nothing: its slope is 0.
        """
        with_own = crossed[np.arange(len(self.landmarks)), self.landmarks]
        variance = np.maximum(np.diag(covariance), _LEAST_VARIANCE)
        return np.maximum(with_own / variance, 0.0)
