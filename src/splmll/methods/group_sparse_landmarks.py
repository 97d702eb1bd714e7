"""MOPLMS: landmarks chosen by letting all labels represent the label matrix, sparsely by rows.

A convex problem on the label Gram matrix leaves most labels without a part in representing the
others; those that remain are regressed, and all labels are recovered from them.

References
----------
Balasubramanian, Lebanon: The landmark selection method for multiple output prediction. ICML 2012.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from splmll.base import Capabilities
from splmll.constraints import NOT_NEGATIVE
from splmll.docstrings import with_paragraphs
from splmll.methods._label_embedding import label_gram
from splmll.methods._label_subset import LabelSubsetClassifier, least_squares_recovery

# The search for a number of landmarks: lambda1 falls by this factor until there are too many, but
# no further than to this share of its largest value, and is then bisected.
_PATH_STEP = 0.7
_PATH_END = 1e-5
_BISECTIONS = 12
_NUDGE = 0.99

# Largest change of a row in the last sweep, as a share of the longest row of the Gram matrix: while
# searching, and in the end.
_ROUGH = 1e-6
_FINE = 1e-12
_MAX_SWEEPS = 20_000
_DEPTH = 5  # sweeps between two extrapolations


@with_paragraphs
class MOPLMS(LabelSubsetClassifier):
    r"""Multiple output prediction by landmark selection (MOPLMS).

    The label matrix represents itself,

    .. math:: \min_A \tfrac{1}{2N} \|Y - Y A\|^2 + \lambda_1 \sum_j \|A_j\|_2
              + \lambda_2 \sum_{jl} |A_{jl}| ,

    and the rows :math:`A_j` that do not vanish belong to the landmarks L. These are regressed on
    the features, and all labels are recovered from them, :math:`S = g(x) A_L`. The penalties
    shrink A so much that scores rarely come near 1/2. Hence ``refit``: once the landmarks are
    known, they recover the labels by plain least squares, :math:`A_L = Y_L^+ Y`.

    Only Y'Y enters, so that a step costs the same for any number of rows. Given the others, the
    best row of A has a closed form; the rows are visited in turn until none changes.

    Parameters
    ----------
    n_landmarks : int or float, default=0.5
        Largest number of landmarks, or their share of the labels: :math:`\lambda_1` is searched for
        as many as possible and no more. Their number jumps as it falls, so fewer may be found.
        Unused where ``lambda1`` is given.
    lambda1 : float or None, default=None
        Weight of the rows' lengths; larger for fewer landmarks. At the largest length of a row of
        Y'Y / N there are none left (for ``lambda2=0``). None searches it for ``n_landmarks``.
    lambda2 : float, default=0.0
        Weight of single entries; larger lets each landmark recover fewer labels. Of the size of
        an entry of Y'Y / N.
    refit : bool, default=True
        Recover the labels from the landmarks by least squares. False uses the shrunken A, as
        published; give it a tuned threshold, for instance ``threshold="micro_f1"``.
    regressor : regressor or None, default=None
        Learns the landmarks from the features.
        {regressor}
    ridge : float, default=1.0
        {ridge}
    threshold : float or str, default=0.5
        {threshold}

    Attributes
    ----------
    landmarks_ : ndarray
        Names of the landmarks (numbers if labels have no names), longest row of A first.
    recovery_ : ndarray of shape (n_landmarks, n_labels)
        How each label is recovered from the landmarks.
    intercept_ : ndarray of shape (n_labels,)
        What is added to the recovered scores: zero.
    representation_ : ndarray of shape (n_labels, n_labels)
        A, with exact zeros.
    lambda1_ : float
        The weight used.
    path_ : ndarray of shape (n_tried, 2)
        Every lambda1 tried and its number of landmarks, largest lambda1 first.
    objective_ : ndarray
        Value of the objective after each sweep over the rows; it never rises.
    {regressor_of_landmarks_}
    {label_mean_}
    {thresholds_}

    Notes
    -----
    Labels are not centred, so frequent labels are favoured and a label that never occurs cannot
    be a landmark. Of labels with equal columns one takes the weight of all: the problem leaves open
    how they share it, and one landmark is enough.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import MOPLMS
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]])
    >>> model = MOPLMS(n_landmarks=2).fit(X, Y)
    >>> sorted(model.landmarks_.tolist())
    [0, 2]
    >>> model.recovery_.round(2)  # half of the rows with the first label have the second
    array([[1. , 0.5, 0. ],
           [0. , 0. , 1. ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelSubsetClassifier._parameter_constraints,
        "lambda1": [NOT_NEGATIVE, None],
        "lambda2": [NOT_NEGATIVE],
        "refit": ["boolean"],
    }
    capabilities = Capabilities(
        sparse_labels=True, sample_weight=True, cost="N D^2 + N C^2, then C^3 per sweep"
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "n_landmarks": (0.25, 0.5, 0.75, 1.0),
        "ridge": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    }

    representation_: np.ndarray
    lambda1_: float
    path_: np.ndarray
    objective_: np.ndarray

    def __init__(
        self,
        n_landmarks: int | float = 0.5,
        *,
        lambda1: float | None = None,
        lambda2: float = 0.0,
        refit: bool = True,
        regressor: Any = None,
        ridge: float = 1.0,
        threshold: float | str = 0.5,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.refit = refit
        self.regressor = regressor
        self.ridge = ridge
        self.threshold = threshold

    def _select(self, Y: Any, n_landmarks: int, sample_weight: np.ndarray | None) -> np.ndarray:
        total = Y.shape[0] if sample_weight is None else sample_weight.sum()
        gram = label_gram(Y, sample_weight) / total
        if self.lambda1 is None:
            found, self.path_ = _search(gram, float(self.lambda2), n_landmarks)
        else:
            found = represent(gram, float(self.lambda1), float(self.lambda2))
            self.path_ = np.array([[found.lambda1, found.n_landmarks]])
        self.lambda1_, self.representation_ = found.lambda1, found.matrix
        self.objective_ = np.asarray(found.objective)
        lengths = np.linalg.norm(found.matrix, axis=1)
        # Ties in length are broken by the frequency and not by the position of the label.
        order = np.lexsort((-np.diag(gram), -lengths.round(9)))
        landmarks = order[lengths[order] > 0]
        if self.refit:
            self.recovery_ = least_squares_recovery(gram, landmarks)
        else:
            self.recovery_ = found.matrix[landmarks]
        self.intercept_ = np.zeros(len(gram))
        return landmarks


@dataclass(frozen=True, eq=False)
class Representation:
    """A solution of the self-representation problem.

    Attributes
    ----------
    matrix : ndarray of shape (n_labels, n_labels)
        A; its zero rows are exactly zero.
    lambda1 : float
        The weight of the rows it belongs to.
    objective : list of float
        The objective after every sweep over the rows.
    """

    matrix: np.ndarray
    lambda1: float
    objective: list[float]

    @property
    def n_landmarks(self) -> int:
        """Number of rows that are not zero."""
        return int(np.count_nonzero(self.matrix.any(axis=1)))


def represent(
    gram: np.ndarray,
    lambda1: float,
    lambda2: float = 0.0,
    *,
    start: np.ndarray | None = None,
    tol: float = _FINE,
) -> Representation:
    r"""Minimise tr((I - A)'G(I - A)) / 2 + lambda1 sum_j ||A_j|| + lambda2 sum |A_jl|.

    Parameters
    ----------
    gram : ndarray of shape (n_labels, n_labels)
        G = Y'Y / N.
    lambda1, lambda2 : float
        Weights of the lengths of rows and of single entries. With both 0 the answer is the
        projection :math:`Y^+ Y`.
    start : ndarray of shape (n_labels, n_labels), optional
        Where to begin; zero by default.
    tol : float
        Stop when no row moves further than this share of the longest row of G, as a gradient.

    Returns
    -------
    solution : Representation
        A, and the objective after every sweep.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods.group_sparse_landmarks import represent
    >>> represent(np.diag([0.5, 0.1]), lambda1=0.2).matrix
    array([[0.6, 0. ],
           [0. , 0. ]])
    """
    accuracy = tol * float(np.linalg.norm(gram, axis=1).max())
    A = np.zeros_like(gram) if start is None else start.copy()
    history = [objective(gram, A, lambda1, lambda2)]
    if lambda1 == lambda2 == 0:
        A = least_squares_recovery(gram, np.arange(len(gram)))
        A[np.diag(gram) == 0] = 0.0  # a label that never occurs represents nothing
        return Representation(A, lambda1, [*history, objective(gram, A, lambda1, lambda2)])
    active = A.any(axis=1)
    while True:
        # A row at zero stays there unless the rest left to represent pulls it harder than lambda1.
        pull = np.linalg.norm(shrink(gram - gram[:, active] @ A[active], 0.0, lambda2), axis=1)
        entering = ~active & (pull > lambda1 + accuracy)
        if not entering.any() and len(history) > 1:
            break
        rows = np.flatnonzero(active | entering)
        recent: list[np.ndarray] = []
        while len(history) <= _MAX_SWEEPS:
            moved = _sweep(gram, A, rows, lambda1, lambda2)
            history.append(objective(gram, A, lambda1, lambda2))
            if moved <= accuracy:
                break
            recent.append(A[rows])
            if len(recent) > _DEPTH:
                ahead = A.copy()
                ahead[rows] = _extrapolate(np.array(recent))
                value = objective(gram, ahead, lambda1, lambda2)
                if value < history[-1]:
                    A, history = ahead, [*history, value]
                rows, recent = rows[A[rows].any(axis=1)], []
        active = A.any(axis=1)
        if len(history) > _MAX_SWEEPS:
            warnings.warn(
                f"The representation still moves after {_MAX_SWEEPS} sweeps: its landmarks may not "
                "be final. A larger lambda1 or lambda2 makes the problem easier.",
                ConvergenceWarning,
                stacklevel=2,
            )
            break
    return Representation(A, lambda1, history)


def _sweep(
    gram: np.ndarray, A: np.ndarray, rows: np.ndarray, lambda1: float, lambda2: float
) -> float:
    """Give each of some rows of A its best value in turn; return the largest move."""
    among, part = gram[np.ix_(rows, rows)], A[rows]
    largest = 0.0
    for i, j in enumerate(rows):
        weight = gram[j, j]
        target = gram[j] - among[i] @ part + weight * part[i]
        # This is ``shrink`` of one row, without its cost for a whole matrix.
        if lambda2 > 0:
            target = np.sign(target) * np.maximum(np.abs(target) - lambda2, 0.0)
        length = math.sqrt(target @ target)
        best = target * (max(1.0 - lambda1 / length, 0.0) / weight if length > 0 else 0.0)
        largest = max(largest, weight * float(np.abs(best - part[i]).max()))
        part[i] = best
    A[rows] = part
    return largest


def _extrapolate(iterates: np.ndarray) -> np.ndarray:
    """The combination of the last iterates in which their steps cancel best (Anderson).

    Labels with nearly equal columns make sweeps converge slowly along one line; this finds its end.
    """
    steps = np.diff(iterates, axis=0).reshape(len(iterates) - 1, -1)
    products = steps @ steps.T
    # Steps become parallel; a little weight on the diagonal keeps the combination finite.
    products[np.diag_indices_from(products)] += 1e-12 * np.trace(products)
    mix = np.linalg.solve(products, np.ones(len(products)))
    return np.tensordot(mix / mix.sum(), iterates[1:], axes=1)


def objective(gram: np.ndarray, A: np.ndarray, lambda1: float, lambda2: float) -> float:
    """Return tr((I - A)'G(I - A)) / 2 + lambda1 sum_j ||A_j|| + lambda2 sum |A_jl|.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods.group_sparse_landmarks import objective
    >>> objective(np.eye(2), np.diag([1.0, 0.0]), lambda1=0.25, lambda2=0.0)
    0.75
    """
    rows = np.flatnonzero(A.any(axis=1))
    part = A[rows]
    rest = 2 * gram[rows] - gram[np.ix_(rows, rows)] @ part
    loss = 0.5 * (np.trace(gram) - np.sum(part * rest))
    lengths = np.linalg.norm(part, axis=1).sum()
    return float(loss + lambda1 * lengths + lambda2 * np.abs(part).sum())


def shrink(matrix: np.ndarray, by_row: float, by_entry: float) -> np.ndarray:
    """Move every entry towards zero by ``by_entry``, then every row's length by ``by_row``.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods.group_sparse_landmarks import shrink
    >>> shrink(np.array([[4.0, -5.0], [1.0, 0.0]]), by_row=2.5, by_entry=1.0)
    array([[ 1.5, -2. ],
           [ 0. ,  0. ]])
    """
    if by_entry > 0:
        matrix = np.sign(matrix) * np.maximum(np.abs(matrix) - by_entry, 0.0)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    kept = np.where(lengths > by_row, 1.0 - by_row / np.where(lengths > 0, lengths, 1.0), 0.0)
    return kept * matrix


def _search(gram: np.ndarray, lambda2: float, most: int) -> tuple[Representation, np.ndarray]:
    """The solution with the most landmarks, but no more than asked for, and all that was tried."""
    occurring = int(np.count_nonzero(np.diag(gram)))
    if most >= occurring and lambda2 == 0:
        whole = represent(gram, 0.0)
        return whole, np.array([[0.0, whole.n_landmarks]])
    largest = float(np.linalg.norm(shrink(gram, 0.0, lambda2), axis=1).max())
    tried: list[tuple[float, int]] = [(largest, 0)]
    best = above = represent(gram, largest, lambda2, tol=_ROUGH)

    def attempt(lambda1: float, start: np.ndarray) -> Representation:
        trial = represent(gram, lambda1, lambda2, start=start, tol=_ROUGH)
        tried.append((lambda1, trial.n_landmarks))
        return trial

    low, high = largest, largest
    while low > _PATH_END * largest:
        low *= _PATH_STEP
        trial = attempt(low, above.matrix)
        if trial.n_landmarks > most:
            break
        above, high = trial, low
        best = max(best, trial, key=lambda found: found.n_landmarks)
    else:
        low = high  # all of them fit: nothing to bisect
    for _ in range(_BISECTIONS):
        if best.n_landmarks == most or low == high:
            break
        middle = np.sqrt(low * high)
        trial = attempt(middle, above.matrix)
        if trial.n_landmarks > most:
            low = middle
        else:
            above, high = trial, middle
            best = max(best, trial, key=lambda found: found.n_landmarks)
    # The search is rough: solved to the end, a row may come or go.
    found = represent(gram, best.lambda1, lambda2, start=best.matrix)
    while found.n_landmarks > most:
        found = represent(gram, found.lambda1 / _NUDGE, lambda2, start=found.matrix)
    return found, np.array(sorted(tried, reverse=True))
