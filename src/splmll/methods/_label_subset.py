"""What landmark methods share: some labels are regressed, and all are recovered from them.

They speak the language of :class:`splmll.SPLMLL`: ``n_landmarks``, ``landmarks_``, ``recovery_``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from splmll.methods._label_embedding import CODES_CONSTRAINT, CodeClassifier, count_of
from splmll.methods._ridge import RidgeSystem

# Of the largest eigenvalue of a label Gram matrix: what is below it is rounding of a zero.
RANK_TOLERANCE = 1e-12


class LabelSubsetClassifier(CodeClassifier):
    """Base of methods with ``landmarks_``: scores are g(x) ``recovery_`` + ``intercept_``.

    g regresses the columns of the landmarks. A subclass writes
    ``_select(Y, n_landmarks, sample_weight)``, which returns the numbers of the landmarks and
    sets ``recovery_`` and ``intercept_``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CodeClassifier._parameter_constraints,
        "n_landmarks": CODES_CONSTRAINT,
    }

    n_landmarks: int | float

    landmarks_: np.ndarray
    recovery_: np.ndarray
    intercept_: np.ndarray

    def _encode(self, Y: Any, system: RidgeSystem | None, sample_weight: np.ndarray | None) -> Any:
        n_landmarks = count_of(self.n_landmarks, Y.shape[1], "n_landmarks")
        landmarks = self._select(Y, n_landmarks, sample_weight)
        self.landmarks_ = self.label_format_.names_of(landmarks)
        return Y[:, landmarks]

    def _decode(self, codes: np.ndarray) -> np.ndarray:
        return codes @ self.recovery_ + self.intercept_

    def _select(self, Y: Any, n_landmarks: int, sample_weight: np.ndarray | None) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} must write _select")


def least_squares_recovery(gram: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """Return the matrix A with the smallest error ||Y - Y_L A||, from Y'Y alone.

    Landmarks that are combinations of others share their part, as a pseudo-inverse does.

    Parameters
    ----------
    gram : ndarray of shape (n_labels, n_labels)
        Y'Y, or a multiple of it.
    landmarks : ndarray of int
        Columns of Y in Y_L.

    Returns
    -------
    recovery : ndarray of shape (n_landmarks, n_labels)
        A.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._label_subset import least_squares_recovery
    >>> Y = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    >>> least_squares_recovery(Y.T @ Y, np.array([0, 2])).round(6)
    array([[1., 1., 0.],
           [0., 0., 1.]])
    """
    among = gram[np.ix_(landmarks, landmarks)]
    return np.asarray(np.linalg.pinv(among, rcond=RANK_TOLERANCE, hermitian=True) @ gram[landmarks])


def order_by_content(Y: Any, rng: np.random.RandomState) -> np.ndarray:
    """Return the labels in an order that depends on their columns and not on their positions.

    A draw in this order gives the same labels however the columns of Y are arranged. Equal columns
    are interchangeable and come in any order.

    Parameters
    ----------
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        Labels.
    rng : RandomState
        Gives every row a random weight; labels are sorted by the sum of theirs.

    Returns
    -------
    order : ndarray of int
        A permutation of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._label_subset import order_by_content
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    >>> one = Y[:, order_by_content(Y, np.random.RandomState(0))]
    >>> other = Y[:, ::-1][:, order_by_content(Y[:, ::-1], np.random.RandomState(0))]
    >>> bool((one == other).all())
    True
    """
    return np.argsort(Y.T @ rng.uniform(size=Y.shape[0]), kind="stable")
