"""Feature-induced labelling information enrichment (MLFE): sparse reconstruction enriches labels.

Every row is rebuilt sparsely from all the others; labels become numbers, within bounds, that
follow the same reconstruction, and a kernel regression learns these.

References
----------
Zhang, Zhong, Zhang: Feature-induced labeling information enrichment for multi-label learning.
AAAI 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from scipy.linalg import lstsq
from scipy.linalg.lapack import dposv
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_even_slices
from sklearn.utils.parallel import Parallel, delayed

from splmll.arrays import dense
from splmll.base import Capabilities
from splmll.constraints import NOT_NEGATIVE, Condition
from splmll.docstrings import with_paragraphs
from splmll.methods._numerical_labels import NumericalLabelClassifier
from splmll.methods._sign_regression import EXACT_ROWS

# The penalty of a row is this share of the one from which on all its weights are 0 (the authors').
PENALTY_SHARE = 0.01

# Beyond EXACT_ROWS rows, how many nearest neighbours may rebuild a row.
N_CANDIDATES = 200

# Variables are taken in, so many at a time, if they violate their condition by this share.
_NEWCOMERS = 10
_SLACK = 1e-8
# Added to the diagonal, as a share of its largest value: equal rows would make a system singular.
_RIDGE_SHARE = 1e-11
# Far more than needed; ends the search if rounding errors lead it in circles.
_MAX_ROUNDS = 2000


def _are_bounds(value: Any) -> bool:
    try:
        lower, upper = (float(bound) for bound in value)
    except (TypeError, ValueError):
        return False
    return 0 < lower <= upper and lower < np.inf


BOUNDS = Condition(
    "two numbers, the first positive and finite and the second not smaller", _are_bounds
)


@with_paragraphs
class MLFE(NumericalLabelClassifier):
    r"""Multi-label learning with feature-induced labelling information enrichment.

    Labels are coded :math:`T \in \{-1, +1\}`, and rows are measured from their mean. Three steps:

    1. Every row is rebuilt sparsely from all others: the weights of row i minimise
       :math:`\frac12 \|x_i - \sum_{l \ne i} W_{il} x_l\|^2 + \lambda_i \sum_l |W_{il}|` with
       :math:`\lambda_i = 0.01 \max_{l \ne i} |x_l' x_i|`.
    2. Numerical labels :math:`\mu_j` of each label minimise :math:`\|(I - W) \mu_j\|^2` subject
       to :math:`T_{ij} \mu_{ij} \ge c_1` and :math:`|\mu_{ij}| \le c_2`.
    3. A kernel regression f with bias minimises

       .. math:: \frac12 \sum_j \|\theta_j\|^2
           + \beta_1 \sum_i \max(0, \|\mu_i - f(x_i)\| - \epsilon)^2
           + \beta_2 \sum_{ij} \max(0, -T_{ij} f_j(x_i)) - \beta_3 \sum_i m_i .

    The score of a label is :math:`f_j(x)`; it is predicted where the score is not negative. Scores
    are raised by 1e-6, for the reason given with :class:`~splmll.methods.MLML`.

    **The third penalty is ours.** The paper has three penalties in its last step. The text and
    code of the third were not available; the term with the margin :math:`m_i`, the mean score of
    the relevant labels of a row less that of the others, is one reading, used by the same group
    elsewhere. It is therefore off by default (``margin_weight=0``).

    With many rows two steps are approximations: beyond 3,000 rows, only the 200 nearest
    neighbours of a row may rebuild it, and kernel features of 1,000 random training rows
    (Nystroem) replace the kernel matrix.

    Parameters
    ----------
    fit_weight : float, default=1.0
        Weight of the distance to the numerical labels (:math:`\beta_1`): smaller is smoother. Try
        1 to 10.
    sign_weight : float, default=1.0
        Weight of predictions with the wrong sign (:math:`\beta_2`). Try 1, 10 and 15.
    margin_weight : float, default=0.0
        Weight of the margins (:math:`\beta_3`), see above.
    label_bounds : tuple of two floats, default=(1.0, 2.0)
        The smallest and the largest size of a numerical label (:math:`c_1, c_2`). If both are
        equal the labels stay as they are.
    epsilon : float, default=0.001
        Distance within which a row costs nothing.
    width : float or None, default=None
        Width w of the kernel :math:`\exp(-d^2 / (2 w^2))`. None is the mean distance of the
        training rows.
    {scale_of_distances}
        A feature with large numbers would decide alone.
        {standard_for_dense}
    threshold : float or str, default=0.0
        {threshold}
    n_jobs : int or None, default=None
        How many parts of the rows to rebuild at the same time, as in joblib.
    {seed_of_kernel_rows}

    Attributes
    ----------
    {numerical_labels_}
    {feature_scale_}
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import MLFE
    >>> X = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> model = MLFE().fit(X, Y)
    >>> model.predict([[0.5], [7.5]])
    array([[1, 0],
           [0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NumericalLabelClassifier._parameter_constraints,
        "margin_weight": [NOT_NEGATIVE],
        "label_bounds": [BOUNDS],
    }
    capabilities = Capabilities(cost="N sparse regressions on N rows + N^3")
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "fit_weight": (1.0, 2.0, 5.0, 10.0),
        "sign_weight": (1.0, 10.0, 15.0),
    }

    def __init__(
        self,
        *,
        fit_weight: float = 1.0,
        sign_weight: float = 1.0,
        margin_weight: float = 0.0,
        label_bounds: tuple[float, float] = (1.0, 2.0),
        epsilon: float = 0.001,
        width: float | None = None,
        scale: str | None = "auto",
        threshold: float | str = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fit_weight = fit_weight
        self.sign_weight = sign_weight
        self.margin_weight = margin_weight
        self.label_bounds = label_bounds
        self.epsilon = epsilon
        self.width = width
        self.scale = scale
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, Y: np.ndarray) -> None:
        lower, upper = map(float, self.label_bounds)
        self._fit_steps(X, Y, lower, upper, float(self.margin_weight))

    def _reconstruction(self, X: Any) -> sparse.csr_array:
        return sparse_weights(X, n_jobs=self.n_jobs)


def sparse_weights(
    X: Any, *, exact_rows: int = EXACT_ROWS, n_jobs: int | None = None
) -> sparse.csr_array:
    r"""Return the weights that rebuild every row sparsely from the others.

    Rows are measured from their mean, so that it does not matter where the origin lies. Row i of
    the result minimises :math:`\frac12 \|x_i - \sum_l w_l x_l\|^2 + \lambda_i \|w\|_1` with
    :math:`w_i = 0` and :math:`\lambda_i = 0.01 \max_{l \ne i} |x_l' x_i|`.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        Rows, at least two.
    exact_rows : int, default=3000
        With more rows than that, a row is rebuilt from its ``N_CANDIDATES`` (200) nearest
        neighbours only, and its penalty is taken over these.
    n_jobs : int or None, default=None
        How many parts of the rows to work on at the same time.

    Returns
    -------
    weights : CSR array of shape (n_rows, n_rows)
        Row i holds the weights of row i.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods.feature_enrichment import sparse_weights
    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> sparse_weights(X).toarray()[:3].round(3)
    array([[ 0.   ,  0.   , -0.495,  0.   ,  0.   ],
           [ 0.   ,  0.   , -0.495,  0.   ,  0.   ],
           [-0.99 , -0.99 ,  0.   ,  0.   ,  0.   ]])
    """
    n_rows = X.shape[0]
    centre = np.asarray(X.mean(axis=0)).ravel()
    rebuild: Callable[[Any, np.ndarray, np.ndarray, np.ndarray], sparse.csr_array]
    if n_rows <= exact_rows:
        rebuild, shared = _rebuild_from_all, _products(X, X, centre)
    else:
        search = NearestNeighbors(n_neighbors=N_CANDIDATES, n_jobs=n_jobs).fit(X)
        rebuild, shared = _rebuild_from_neighbours, search.kneighbors(return_distance=False)
    parts = list(gen_even_slices(n_rows, min(n_rows, 4 * effective_n_jobs(n_jobs))))
    blocks = Parallel(n_jobs=n_jobs)(
        delayed(rebuild)(X, centre, shared, np.arange(part.start, part.stop)) for part in parts
    )
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def _rebuild_from_all(
    X: Any, centre: np.ndarray, products: np.ndarray, rows: np.ndarray
) -> sparse.csr_array:
    """Rebuild some rows from all others."""
    found = []
    for row in rows:
        alike = products[row].copy()
        alike[row] = 0.0  # a row does not rebuild itself, nor count in its own penalty
        found.append(_lasso(products, alike, PENALTY_SHARE * np.abs(alike).max(), leave_out=row))
    return _stacked(found, X.shape[0])


def _rebuild_from_neighbours(
    X: Any, centre: np.ndarray, neighbours: np.ndarray, rows: np.ndarray
) -> sparse.csr_array:
    """Rebuild some rows from their nearest neighbours."""
    found = []
    for row in rows:
        near = X[neighbours[row]]
        alike = _products(X[[row]], near, centre)[0]
        products = _products(near, near, centre)
        used, weights = _lasso(products, alike, PENALTY_SHARE * np.abs(alike).max())
        found.append((neighbours[row][used], weights))
    return _stacked(found, X.shape[0])


def _lasso(
    gram: np.ndarray, alike: np.ndarray, penalty: float, leave_out: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise ``w'Gw / 2 - c'w + penalty * |w|_1``; return the non-zero positions and weights.

    An active set method: solve for the weights in use as if their signs were known, drop those
    that would change sign on the way there, and take in the variables that violate their
    optimality condition most. It ends after finitely many solutions of small systems with the
    minimum itself, where coordinate descent creeps because rows are nearly dependent.
    """
    used = np.empty(0, dtype=np.intp)
    weights, signs = np.empty(0), np.empty(0)
    residual = alike
    ridge = _RIDGE_SHARE * float(gram.diagonal().max(initial=0.0))
    for _ in range(_MAX_ROUNDS):
        violation = np.abs(residual) - (1 + _SLACK) * penalty
        violation[used] = -np.inf
        if leave_out is not None:
            violation[leave_out] = -np.inf
        newcomers = np.flatnonzero(violation > 0)
        if not len(newcomers):
            break
        newcomers = newcomers[np.argsort(-violation[newcomers], kind="stable")[:_NEWCOMERS]]
        used = np.concatenate([used, newcomers])
        weights = np.concatenate([weights, np.zeros(len(newcomers))])
        signs = np.concatenate([signs, np.sign(residual[newcomers])])
        while len(used):
            system = gram[used[:, None], used]
            system.flat[:: len(used) + 1] += ridge
            # The bare LAPACK routine: checks would take longer than such small systems.
            _, aim, failed = dposv(system, alike[used] - penalty * signs, lower=True)
            if failed:
                aim = lstsq(system, alike[used] - penalty * signs)[0]
            against = aim * signs <= 0
            if not against.any():
                weights = aim
                break
            # Go until the first weight reaches 0. Among newcomers, which start there, at least one
            # agrees with its sign, so that something is always gained.
            share = np.full_like(aim, np.inf)
            share[against] = np.abs(weights[against]) / np.maximum(
                np.abs(weights[against] - aim[against]), np.finfo(np.float64).tiny
            )
            step = share.min()
            stay = share > step
            weights = (weights + step * (aim - weights))[stay]
            used, signs = used[stay], signs[stay]
        residual = alike - weights @ gram[used]
    return used, weights


def _products(one: Any, other: Any, centre: np.ndarray) -> np.ndarray:
    """Inner products of rows measured from the centre; sparse rows stay sparse."""
    if not sparse.issparse(one):
        return np.asarray((one - centre) @ (other - centre).T)
    products = dense(one @ other.T)
    return products - (one @ centre)[:, None] - other @ centre + centre @ centre


def _stacked(found: list[tuple[np.ndarray, np.ndarray]], n_columns: int) -> sparse.csr_array:
    ends = np.cumsum([0] + [len(columns) for columns, _ in found])
    columns = np.concatenate([columns for columns, _ in found])
    weights = np.concatenate([weights for _, weights in found])
    return sparse.csr_array((weights, columns, ends), shape=(len(found), n_columns))
