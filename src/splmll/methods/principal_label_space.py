"""PLST: regress the principal components of the labels instead of the labels.

A few orthogonal combinations of the labels carry most of their variance; they are predicted, and
the labels are read off them.

References
----------
Tai, Lin: Multilabel classification with principal label space transformation. Neural Computation
24(9), 2012.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from splmll.base import Capabilities
from splmll.docstrings import with_paragraphs
from splmll.methods._label_embedding import (
    LabelSpace,
    LabelSpaceClassifier,
    count_of,
    label_gram,
    top_eigenvectors,
    with_fixed_signs,
)
from splmll.methods._ridge import RidgeSystem, column_means


@with_paragraphs
class PLST(LabelSpaceClassifier):
    r"""Principal label space transformation (PLST).

    With m the mean of the labels, :math:`Y_c = Y - 1m'` and V the first k right singular vectors
    of :math:`Y_c`, the codes :math:`Z = Y_c V` are regressed on the features; a prediction z is
    decoded to the scores

    .. math:: S = z V' + m' .

    V has the smallest encoding error :math:`\|Y_c - Y_c V V'\|` of all orthonormal matrices with k
    columns, and the error of the scores splits exactly:
    :math:`\|S - Y\|^2 = \|z - Y_c V\|^2 + \|Y_c - Y_c V V'\|^2`. With k the number of labels this
    is one regression per label.

    Parameters
    ----------
    n_components : int or float, default=0.5
        Number of codes (k), or their share of the labels. Fewer are faster to learn and drop what
        is rare; more come closer to one regression per label.
    regressor : regressor or None, default=None
        Learns the codes from the features.
        {regressor}
        One factorisation serves all codes.
    ridge : float, default=1.0
        {ridge}
        Larger for many features and few rows.
    threshold : float or str, default=0.5
        {threshold}

    Attributes
    ----------
    encoder_ : PrincipalLabelSpace
        The fitted encoder, with ``components_`` (V') and ``explained_variance_ratio_``.
    {regressor_of_codes_}
    label_mean_ : ndarray of shape (n_labels,)
        Share of the training rows with each label (m).
    {thresholds_}

    See Also
    --------
    CPLST : Codes that the features can predict.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import PLST
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    >>> PLST(n_components=1).fit(X, Y).predict([[0.2], [2.9]])
    array([[1, 1, 0],
           [0, 0, 1]])
    """

    capabilities = Capabilities(sparse_labels=True, sample_weight=True, cost="N D^2 + N C^2 + C^3")
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "n_components": (0.25, 0.5, 0.75, 1.0),
        "ridge": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    }

    def __init__(
        self,
        n_components: int | float = 0.5,
        *,
        regressor: Any = None,
        ridge: float = 1.0,
        threshold: float | str = 0.5,
    ) -> None:
        self.n_components = n_components
        self.regressor = regressor
        self.ridge = ridge
        self.threshold = threshold

    def _make_encoder(self) -> LabelSpace:
        return PrincipalLabelSpace(self.n_components)


class PrincipalLabelSpace(LabelSpace):
    r"""The encoder of PLST: principal components of a label matrix, dense or sparse.

    The same as :class:`sklearn.decomposition.PCA`, from the label covariance alone: a sparse label
    matrix is neither made dense nor centred. The codes can be learnt by any regressor.

    Parameters
    ----------
    n_components : int or float, default=0.5
        Number of codes, or their share of the labels.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_labels)
        Orthonormal directions (V'), most variance first.
    label_mean_ : ndarray of shape (n_labels,)
        Mean of the labels.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the labels' variance that each code carries.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import PrincipalLabelSpace
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]])
    >>> encoder = PrincipalLabelSpace(n_components=2)
    >>> codes = encoder.fit_transform(Y)
    >>> codes.shape
    (4, 2)
    >>> bool(np.allclose(encoder.inverse_transform(codes), Y))  # two codes carry all
    True

    With your own regressor, for instance a forest:

    >>> from sklearn.compose import TransformedTargetRegressor
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> model = TransformedTargetRegressor(
    ...     RandomForestRegressor(random_state=0), transformer=encoder, check_inverse=False
    ... )
    >>> model.fit(np.arange(4.0).reshape(-1, 1), Y).predict([[0.0]]).shape
    (1, 3)
    """

    explained_variance_ratio_: np.ndarray

    def __init__(self, n_components: int | float = 0.5) -> None:
        self.n_components = n_components

    def _learn(
        self, Y: Any, system: RidgeSystem | None, sample_weight: np.ndarray | None
    ) -> np.ndarray:
        n_components = count_of(self.n_components, Y.shape[1], "n_components")
        self.label_mean_ = column_means(Y, sample_weight)
        total = Y.shape[0] if sample_weight is None else sample_weight.sum()
        spread = label_gram(Y, sample_weight) - total * np.outer(self.label_mean_, self.label_mean_)
        variances, directions = top_eigenvectors(spread, n_components)
        self.components_ = with_fixed_signs(directions.T)[:, None] * directions.T
        variance = np.trace(spread)
        self.explained_variance_ratio_ = (
            np.maximum(variances, 0.0) / variance if variance > 0 else np.zeros(n_components)
        )
        return self._project(Y)
