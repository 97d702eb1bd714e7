"""Labels as numbers that follow the features, and the classifiers that learn from them.

A row is written as a combination of other rows. Numerical labels keep the sign of the 0/1 labels
and obey the same combinations as far as they can; a regression then learns them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit

from splmll.base import MultilabelClassifier
from splmll.constraints import N_JOBS, NOT_NEGATIVE, POSITIVE, RANDOM_STATE
from splmll.feature_scaling import DISTANCE_SCALE_CONSTRAINT
from splmll.methods._bounded_quadratic import bounded_quadratic
from splmll.methods._feature_scale import FeatureScale
from splmll.methods._own_rule import fit_own_rule
from splmll.methods._sign_regression import SignRegression
from splmll.thresholds import THRESHOLD_CONSTRAINT

# No component of the projected gradient is larger at the solution; labels are about 1 in size.
_TOLERANCE = 1e-7
# Far more than needed: 20,000 rows take some thousand steps.
_MAX_STEPS = 20_000
# So many power iterations give the largest eigenvalue to a few per cent.
_POWER_STEPS = 20


# Added to all scores. The sign loss has its kink at the cut, and its minimum puts many training
# rows exactly there; they count as relevant, instead of as rounding errors will have it. The
# regression is ten times as accurate.
ABOVE_THE_KINK = 1e-6


class NumericalLabelClassifier(MultilabelClassifier):
    """Base of methods in three steps: reconstruct the rows, number the labels, regress.

    A subclass writes ``_reconstruction(X)``, the sparse weights of the first step for scaled
    features, and calls ``_fit_steps`` with the bounds of the second.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "fit_weight": [POSITIVE],
        "sign_weight": [NOT_NEGATIVE],
        "epsilon": [NOT_NEGATIVE],
        "width": [POSITIVE, None],
        "scale": DISTANCE_SCALE_CONSTRAINT,
        "threshold": THRESHOLD_CONSTRAINT,
        "n_jobs": N_JOBS,
        "random_state": RANDOM_STATE,
    }

    fit_weight: float
    sign_weight: float
    epsilon: float
    width: float | None
    scale: str | None
    threshold: float | str
    random_state: Any

    reconstruction_: sparse.csr_array
    numerical_labels_: np.ndarray
    regression_: SignRegression
    objective_: np.ndarray
    feature_scale_: FeatureScale

    def _reconstruction(self, X: Any) -> sparse.csr_array:
        raise NotImplementedError(f"{type(self).__name__} must write _reconstruction")

    def _fit_steps(
        self, X: Any, Y: np.ndarray, lower: float, upper: float, margin_weight: float = 0.0
    ) -> None:
        if X.shape[0] < 2:
            raise ValueError(
                f"{type(self).__name__} found n_samples = 1: give it at least 2 rows to compare."
            )
        # Scores are signed: without a learnt rule the cut is at 0.
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold, default=0.0))
        X = X.astype(np.float64) if sparse.issparse(X) else np.ascontiguousarray(X, np.float64)
        self.feature_scale_ = FeatureScale(X, self.scale)
        X = self.feature_scale_.apply(X)
        signs = 2.0 * Y - 1.0
        self.reconstruction_ = self._reconstruction(X)
        self.numerical_labels_ = numerical_labels(self.reconstruction_, signs, lower, upper)
        self.regression_ = SignRegression(
            self.fit_weight,
            self.sign_weight,
            margin_weight,
            epsilon=self.epsilon,
            width=self.width,
            random_state=self.random_state,
        ).fit(X, self.numerical_labels_, signs)
        self.objective_ = self.regression_.objective_

    def _scores(self, X: Any) -> np.ndarray:
        return self.regression_.predict(self.feature_scale_.apply(X)) + ABOVE_THE_KINK

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        # Scores regressed on -1 and +1: the curve of 0/1 labels, twice as wide and around 0.
        return np.asarray(expit(2.0 * scores))


def numerical_labels(
    reconstruction: sparse.csr_array, signs: np.ndarray, lower: float, upper: float = np.inf
) -> np.ndarray:
    r"""Return the numerical labels that obey the reconstruction of the rows best.

    For every label j on its own, with W the reconstruction and T the signs,

    .. math:: \min_{\mu_j} \|(I - W) \mu_j\|^2 \quad\text{subject to}\quad
        T_{ij} \mu_{ij} \ge l, \; |\mu_{ij}| \le u .

    That is least squares with bounds, which ``scipy.optimize.lsq_linear`` solves for one label at
    a time. All labels share the matrix, so they are solved together here, by products with the
    sparse matrix alone: minutes become seconds at 20,000 rows.

    Parameters
    ----------
    reconstruction : CSR array of shape (n_rows, n_rows)
        The weights W, each row those of one reconstructed row.
    signs : ndarray of shape (n_rows, n_labels)
        Labels T, +1 where relevant and -1 elsewhere.
    lower, upper : float
        The smallest and largest absolute value of a numerical label.

    Returns
    -------
    numbers : ndarray of shape (n_rows, n_labels)
        The numerical labels :math:`\mu`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from splmll.methods._numerical_labels import numerical_labels
    >>> W = sparse.csr_array([[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]])
    >>> numerical_labels(W, np.array([[1.0], [1.0], [-1.0]]), lower=1.0).ravel()
    array([ 1.,  1., -1.])
    """
    residual = sparse.csr_array(sparse.eye_array(reconstruction.shape[0]) - reconstruction)
    # Rows that take part in many others have a far larger curvature. In units that give all rows
    # the same, the number of steps falls to a fraction; bounds stay bounds.
    unit = np.sqrt(np.asarray(residual.multiply(residual).sum(axis=0)))
    unit = np.where(unit > 0, unit, 1.0)
    scaled = sparse.csr_array(residual * (1.0 / unit)[None, :])
    transposed = sparse.csr_array(scaled.T)

    def product(values: np.ndarray) -> np.ndarray:
        return transposed @ (scaled @ values)

    lowest, highest = np.where(signs > 0, lower, -upper), np.where(signs > 0, upper, -lower)
    low, high = lowest * unit[:, None], highest * unit[:, None]
    solution = bounded_quadratic(
        product,
        np.zeros_like(signs),
        low,
        high,
        lower * signs * unit[:, None],
        norm=_largest_eigenvalue(product, len(signs)),
        tol=_TOLERANCE,
        max_iter=_MAX_STEPS,
    )
    # What is at a bound stays there exactly, whatever a change of units rounds.
    return np.select(
        [solution <= low, solution >= high], [lowest, highest], solution / unit[:, None]
    )


def _largest_eigenvalue(product: Any, size: int) -> float:
    # Any start with a share in the leading eigenvector does; a fixed seed keeps fits repeatable.
    vector = np.random.default_rng(0).normal(size=(size, 1))
    length = 1.0
    for _ in range(_POWER_STEPS):
        vector = product(vector / np.linalg.norm(vector))
        length = float(np.linalg.norm(vector))
        if length == 0:
            return 1.0
    return length
