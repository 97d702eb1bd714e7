"""Multi-label manifold learning (ML2, also printed as MLML): labels become numbers on the manifold.

The weights that rebuild each row from its neighbours are asked to rebuild its labels as well,
which turns 0/1 labels into numbers; a kernel regression learns these.

References
----------
Hou, Geng, Zhang: Multi-label manifold learning. AAAI 2016.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from splmll.base import Capabilities
from splmll.constraints import COUNT
from splmll.docstrings import with_paragraphs
from splmll.methods._numerical_labels import NumericalLabelClassifier

# Share of the trace added to the diagonal of every local Gram matrix. The authors add it only
# where there are more neighbours than features, but equal rows make any of them singular.
_REGULARISATION = 1e-3

# Cells of the differences to neighbours that are held at the same time (32 MB).
_CHUNK_CELLS = 2**22


@with_paragraphs
class MLML(NumericalLabelClassifier):
    r"""Multi-label manifold learning.

    Labels are coded :math:`T \in \{-1, +1\}`. Three steps:

    1. Every row is rebuilt from its K nearest neighbours: weights W with row sums 1 minimise
       :math:`\|x_i - \sum_l W_{il} x_l\|^2` (those of locally linear embedding).
    2. Numerical labels :math:`\mu_j` of each label minimise :math:`\|(I - W) \mu_j\|^2` subject
       to :math:`T_{ij} \mu_{ij} \ge 1`.
    3. A kernel regression f with bias minimises

       .. math:: \frac12 \sum_j \|\theta_j\|^2
           + C_1 \sum_i \max(0, \|\mu_i - f(x_i)\| - \epsilon)^2
           + C_2 \sum_{ij} \max(0, -T_{ij} f_j(x_i)) .

    The score of a label is :math:`f_j(x)`; it is predicted where the score is not negative. The
    minimum of the third step puts many training rows at exactly 0, where its last term has a kink:
    scores are raised by 1e-6, so that these count as relevant whatever the rounding.

    With many rows the steps stay as they are except the third: beyond 3,000 rows, kernel features
    of 1,000 random training rows (Nystroem) replace the kernel matrix.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        How many neighbours rebuild a row (K). None is the number of labels plus one; with fewer
        other rows than that, all of them.
    fit_weight : float, default=1.0
        Weight of the distance to the numerical labels (:math:`C_1`): smaller is smoother. Try
        0.1, 1 and 10.
    sign_weight : float, default=1.0
        Weight of predictions with the wrong sign (:math:`C_2`). Try 0.1, 1 and 10; 0 leaves
        kernel ridge regression on the numerical labels.
    epsilon : float, default=0.001
        Distance within which a row costs nothing.
    width : float or None, default=None
        Width w of the kernel :math:`\exp(-d^2 / (2 w^2))`. None is the mean distance of the
        training rows.
    {scale_of_distances}
        Neighbours and kernel use distances, in which a feature with large numbers would decide
        alone.
        {standard_for_dense}
    threshold : float or str, default=0.0
        {threshold}
    {jobs_of_search}
    {seed_of_kernel_rows}

    Attributes
    ----------
    {numerical_labels_}
    {feature_scale_}
    {thresholds_}

    Notes
    -----
    Numbers of the paper that are not known for certain are K, the weights and the convention of
    the kernel width; the defaults are those of later work of the same group.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import MLML
    >>> X = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> model = MLML(n_neighbors=2).fit(X, Y)
    >>> model.predict([[0.5], [7.5]])
    array([[1, 0],
           [0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NumericalLabelClassifier._parameter_constraints,
        "n_neighbors": [COUNT, None],
    }
    capabilities = Capabilities(cost="N^2 D + N^3, beyond 3,000 rows N^2 D")
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "fit_weight": (0.1, 1.0, 10.0),
        "sign_weight": (0.1, 1.0, 10.0),
    }

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        fit_weight: float = 1.0,
        sign_weight: float = 1.0,
        epsilon: float = 0.001,
        width: float | None = None,
        scale: str | None = "auto",
        threshold: float | str = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.fit_weight = fit_weight
        self.sign_weight = sign_weight
        self.epsilon = epsilon
        self.width = width
        self.scale = scale
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, Y: np.ndarray) -> None:
        # No upper bound on the numerical labels: the capped variant is MLFE.
        self._fit_steps(X, Y, lower=1.0, upper=np.inf)

    def _reconstruction(self, X: Any) -> sparse.csr_array:
        n_neighbors = self.n_neighbors
        if n_neighbors is None:
            n_neighbors = self.label_format_.n_labels + 1
        return locally_linear_weights(X, n_neighbors, self.n_jobs)


@with_paragraphs
def locally_linear_weights(X: Any, n_neighbors: int, n_jobs: int | None = None) -> sparse.csr_array:
    """Return the weights that rebuild every row from its nearest other rows, with sum 1.

    With :math:`G_{jl} = (x_i - x_j)'(x_i - x_l)` over the neighbours of row i and a thousandth of
    its trace added to its diagonal, the weights solve :math:`G w = 1`, divided by their sum.
    Moving, turning or scaling all rows changes nothing.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        Rows, at least two.
    n_neighbors : int
        How many neighbours; all other rows where there are fewer.
    {jobs_of_search}

    Returns
    -------
    weights : CSR array of shape (n_rows, n_rows)
        Row i holds the weights of row i.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods.manifold_learning import locally_linear_weights
    >>> locally_linear_weights(np.array([[0.0], [1.0], [3.0]]), 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    n_rows, n_features = X.shape
    n_neighbors = min(n_neighbors, n_rows - 1)
    search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(X)
    # Without an argument the search leaves each row out of its own neighbours.
    found = search.kneighbors(return_distance=False)
    weights = np.empty(found.shape)
    step = max(1, _CHUNK_CELLS // (n_neighbors * n_features))
    for start in range(0, n_rows, step):
        rows = slice(start, min(start + step, n_rows))
        centres, neighbours = X[rows], X[found[rows].ravel()]
        if sparse.issparse(X):
            centres, neighbours = centres.toarray(), neighbours.toarray()
        differences = centres[:, None] - neighbours.reshape(len(centres), n_neighbors, n_features)
        gram = differences @ differences.transpose(0, 2, 1)
        trace = np.trace(gram, axis1=1, axis2=2)
        added = _REGULARISATION * np.where(trace > 0, trace, 1.0)
        gram[:, np.arange(n_neighbors), np.arange(n_neighbors)] += added[:, None]
        solved = np.linalg.solve(gram, np.ones((len(gram), n_neighbors, 1)))[:, :, 0]
        weights[rows] = solved / solved.sum(axis=1, keepdims=True)
    return sparse.csr_array(
        (weights.ravel(), found.ravel(), np.arange(n_rows + 1) * n_neighbors),
        shape=(n_rows, n_rows),
    )
