"""FaIE: free codes from which the labels can be recovered and which the features can predict.

No encoder maps labels to codes; the codes of the training rows are themselves the unknowns of an
eigenproblem, solved here in a factored form that never holds a row x row matrix.

References
----------
Lin, Ding, Hu, Wang: Multi-label classification via feature-aware implicit label space encoding.
ICML 2014.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from splmll.arrays import dense
from splmll.base import Capabilities
from splmll.constraints import NOT_NEGATIVE, POSITIVE
from splmll.docstrings import with_paragraphs
from splmll.methods._label_embedding import (
    LabelSpace,
    LabelSpaceClassifier,
    count_of,
    label_gram,
    top_eigenvectors,
    with_fixed_signs,
)
from splmll.methods._ridge import FactorisedRidge, IterativeRidge, RidgeSystem, column_means

# Of the largest eigenvalue: below it, rounding decides what a code is.
_RANK_TOLERANCE = 1e-12
# Relative error of an eigenvalue found by iteration, and how often the iteration may begin anew.
_LANCZOS_TOLERANCE = 1e-6
_RESTARTS = 20


@with_paragraphs
class FaIE(LabelSpaceClassifier):
    r"""Feature-aware implicit label space encoding (FaIE).

    The codes Z of the training rows (k orthonormal columns) maximise recoverability of the labels
    plus predictability from the features,

    .. math:: \mathrm{tr}\, Z' (Y Y' + \alpha H) Z ,

    H being the hat matrix of ridge regression on standardised features with a constant among them.
    The best Z are the first k eigenvectors; the labels are recovered by :math:`Q = Z'Y`. A
    regression from features to codes gives z, and the scores are :math:`S = z Q`.

    With :math:`\alpha = 0` the codes are the left singular vectors of the labels, that is, PLST
    without centring.

    Deep FaIE is this method with a network in place of the ridge:
    ``FaIE(regressor=NetworkRegressor())``.

    Parameters
    ----------
    n_components : int or float, default=0.5
        Number of codes (k), or their share of the labels.
    predictability_weight : float, default=0.1
        Weight of predictability. The eigenvalues of YY' grow with the number of rows while those
        of H stay below 1: the default, from the authors' comparison, has hardly any influence on
        thousands of rows. Values of the order of the number of rows per label matter.
    center : bool, default=False
        Measure the labels from their mean and add it to the scores. As published they are not:
        the first code is then close to a constant.
    regressor : regressor or None, default=None
        Learns the codes from the features; any with scikit-learn's API, cloned. It receives X as
        it is, and codes of mean square 1 over the number of rows. None is ridge regression on
        standardised features.
    ridge : float, default=1.0
        Penalty of the ridge regression in H and of the default regressor, as ``alpha`` of
        :class:`sklearn.linear_model.Ridge`.
    threshold : float or str, default=0.5
        {threshold}

    Attributes
    ----------
    encoder_ : ImplicitLabelSpace
        The fitted encoder, with ``components_`` (Q) and ``eigenvalues_``.
    {regressor_of_codes_}
    {label_mean_}
    {thresholds_}

    Notes
    -----
    A label that is always present gets the score 1, a label never present 0, whatever Q says.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import FaIE
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    >>> FaIE(n_components=2).fit(X, Y).predict([[0.2], [2.9]])
    array([[1, 1, 0],
           [0, 0, 1]])
    """

    _former_names: ClassVar[dict[str, str]] = {"alpha": "predictability_weight"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelSpaceClassifier._parameter_constraints,
        "predictability_weight": [NOT_NEGATIVE],
        "center": ["boolean"],
    }
    capabilities = Capabilities(
        sparse_labels=True, sample_weight=True, cost="N D^2 + N D C + (C + D)^3"
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "n_components": (0.25, 0.5, 0.75, 1.0),
        "predictability_weight": (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0),
        "ridge": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    }

    def __init__(
        self,
        n_components: int | float = 0.5,
        predictability_weight: float = 0.1,
        *,
        center: bool = False,
        regressor: Any = None,
        ridge: float = 1.0,
        threshold: float | str = 0.5,
    ) -> None:
        self.n_components = n_components
        self.predictability_weight = predictability_weight
        self.center = center
        self.regressor = regressor
        self.ridge = ridge
        self.threshold = threshold

    def _make_encoder(self) -> LabelSpace:
        return ImplicitLabelSpace(
            self.n_components, self.predictability_weight, center=self.center, ridge=self.ridge
        )


class ImplicitLabelSpace(LabelSpace):
    r"""The encoder of FaIE: free codes of the training rows, and their linear decoder.

    ``fit_transform(Y, X)`` takes the labels first and the features second, and returns the codes
    that solve the eigenproblem of :class:`FaIE`. Other labels have no such codes: ``transform``
    returns the codes that decode closest to them, which for the training rows is the same only
    with ``predictability_weight=0``. Codes beyond the rank of the problem are zero.

    Parameters
    ----------
    n_components : int or float, default=0.5
        Number of codes, or their share of the labels.
    predictability_weight : float, default=0.1
        Weight of predictability.
    center : bool, default=False
        Measure the labels from their mean.
    ridge : float, default=1.0
        Penalty of the ridge regression, on standardised features; sparse ones are only centred.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_labels)
        The decoder (Q).
    label_mean_ : ndarray of shape (n_labels,)
        What is added to decoded codes: the mean of the labels, or zero without ``center``.
    eigenvalues_ : ndarray of shape (n_components,)
        Recoverability plus alpha times predictability of each code, largest first.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import ImplicitLabelSpace
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    >>> encoder = ImplicitLabelSpace(n_components=2)
    >>> codes = encoder.fit_transform(Y, X)
    >>> bool(np.allclose(codes.T @ codes, np.eye(2)))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelSpace._parameter_constraints,
        "predictability_weight": [NOT_NEGATIVE],
        "center": ["boolean"],
        "ridge": [POSITIVE],
    }
    uses_features = True

    eigenvalues_: np.ndarray

    _former_names: ClassVar[dict[str, str]] = {"alpha": "predictability_weight"}

    def __init__(
        self,
        n_components: int | float = 0.5,
        predictability_weight: float = 0.1,
        *,
        center: bool = False,
        ridge: float = 1.0,
    ) -> None:
        self.n_components = n_components
        self.predictability_weight = predictability_weight
        self.center = center
        self.ridge = ridge

    def _learn(
        self, Y: Any, system: RidgeSystem | None, sample_weight: np.ndarray | None
    ) -> np.ndarray:
        assert system is not None
        n_components = count_of(self.n_components, Y.shape[1], "n_components")
        self.label_mean_ = column_means(Y, sample_weight) if self.center else np.zeros(Y.shape[1])
        # Without centring the constant is one more feature, with the same penalty as the others.
        constant = 0.0 if self.center else 1.0 / (system.total + system.ridge)
        roots = np.ones(Y.shape[0]) if system.roots is None else system.roots
        rest = self.predictability_weight, constant, n_components
        if isinstance(system, FactorisedRidge):
            solve = _codes_by_rows if system.dual else _codes_by_columns
            values, codes = solve(Y, roots, self.label_mean_, system, *rest)
        else:
            assert isinstance(system, IterativeRidge)
            values, codes = _codes_by_iteration(Y, roots, self.label_mean_, system, *rest)
        # Q = Z'Y, with the labels centred implicitly.
        weighted = roots[:, None] ** 2 * codes
        decoder = np.asarray(weighted.T @ Y) - np.outer(weighted.sum(axis=0), self.label_mean_)
        signs = with_fixed_signs(decoder)
        self.components_, self.eigenvalues_ = signs[:, None] * decoder, values
        return codes * signs

    def _project(self, Y: Any) -> np.ndarray:
        inverse = np.linalg.pinv(self.components_)
        return np.asarray(Y @ inverse - self.label_mean_ @ inverse)


def _codes_by_columns(
    Y: Any,
    roots: np.ndarray,
    mean: np.ndarray,
    system: FactorisedRidge,
    alpha: float,
    constant: float,
    count: int,
) -> tuple[np.ndarray, np.ndarray]:
    r"""First eigenvalues and eigenvectors of YY' + alpha (H + constant 11').

    The matrix is G G' for :math:`G = [Y, \sqrt{\alpha} B, \sqrt{\alpha\,constant}\, 1]` with H = B
    B'. An eigenvector u of the smaller G'G with eigenvalue s^2 gives the eigenvector G u / s.

    With weights, rows of G are multiplied by their roots, and those of the eigenvectors divided by
    them again: copies of a row would have equal codes.
    """
    n_labels = Y.shape[1]
    root = np.sqrt(alpha)
    weight = root * np.sqrt(constant)
    totals = np.asarray(roots**2 @ Y) - system.total * mean
    with_features = root * system.half(Y)
    inner = alpha * system.half_gram()
    size = n_labels + len(inner)
    gram = np.zeros((size + 1, size + 1))
    gram[:n_labels, :n_labels] = label_gram(Y, roots**2) - system.total * np.outer(mean, mean)
    gram[n_labels:size, :n_labels] = with_features
    gram[:n_labels, n_labels:size] = with_features.T
    gram[n_labels:size, n_labels:size] = inner
    gram[:n_labels, size] = gram[size, :n_labels] = weight * totals
    gram[size, size] = weight**2 * system.total
    values, vectors = top_eigenvectors(gram, count)
    vectors = vectors * _inverse_roots(values)
    codes = np.asarray(Y @ vectors[:n_labels] - mean @ vectors[:n_labels])
    codes += root * system.half_product(vectors[n_labels:size]) / roots[:, None]
    codes += weight * vectors[size]
    return values, codes


def _codes_by_rows(
    Y: Any,
    roots: np.ndarray,
    mean: np.ndarray,
    system: FactorisedRidge,
    alpha: float,
    constant: float,
    count: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The same, where the rows are fewer than the features and their matrix is the smaller one."""
    labels = roots[:, None] * (dense(Y) - mean)
    ones = constant * np.outer(roots, roots)
    omega = labels @ labels.T + alpha * (system.hat_matrix() + ones)
    found = min(count, len(omega))
    values, codes = np.zeros(count), np.zeros((len(omega), count))
    values[:found], codes[:, :found] = top_eigenvectors(omega, found)
    return values, codes * (_inverse_roots(values) > 0) / roots[:, None]


def _codes_by_iteration(
    Y: Any,
    roots: np.ndarray,
    mean: np.ndarray,
    system: IterativeRidge,
    alpha: float,
    constant: float,
    count: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The same, where rows and features are too many for a matrix of either: by Lanczos steps.

    An eigenvector that has not converged lies among many that nearly tie: its code stays zero.
    """
    n_rows = Y.shape[0]

    def times(z: np.ndarray) -> np.ndarray:
        z = z.ravel()
        codes = Y.T @ (roots * z) - (roots @ z) * mean
        of_labels = roots * (Y @ codes - mean @ codes)
        of_features = system.fitted(z[:, None])[:, 0] + constant * (roots @ z) * roots
        return np.asarray(of_labels + alpha * of_features)

    omega = LinearOperator((n_rows, n_rows), matvec=times, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n_rows)
    try:
        found, vectors = eigsh(omega, count, v0=start, tol=_LANCZOS_TOLERANCE, maxiter=_RESTARTS)
    except ArpackNoConvergence as error:
        found, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(-found, kind="stable")
    values, codes = np.zeros(count), np.zeros((n_rows, count))
    values[: len(order)], codes[:, : len(order)] = found[order], vectors[:, order]
    return values, codes * (_inverse_roots(values) > 0) / roots[:, None]


def _inverse_roots(values: np.ndarray) -> np.ndarray:
    """One over the square root of eigenvalues, 0 for those that are rounding errors."""
    useful = values > _RANK_TOLERANCE * max(values[0], 0.0)
    return np.where(useful, 1.0 / np.sqrt(np.where(useful, values, 1.0)), 0.0)
