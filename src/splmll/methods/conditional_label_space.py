"""CPLST: label directions that carry much variance and that the features can predict.

PLST looks at the labels alone and may spend a code on what no feature tells; CPLST weighs
encoding error and prediction error together, which is reduced-rank ridge regression.

References
----------
Chen, Lin: Feature-aware label space dimension reduction for multi-label classification. NIPS 2012.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from splmll.base import Capabilities
from splmll.constraints import POSITIVE
from splmll.docstrings import with_paragraphs
from splmll.methods._label_embedding import (
    LabelSpace,
    LabelSpaceClassifier,
    count_of,
    top_eigenvectors,
    with_fixed_signs,
)
from splmll.methods._ridge import RidgeSystem, column_means


@with_paragraphs
class CPLST(LabelSpaceClassifier):
    r"""Conditional principal label space transformation (CPLST).

    With m the mean of the labels and :math:`Y_c = Y - 1m'`, the orthonormal directions V (k
    columns) and the weights W together minimise prediction error and encoding error,

    .. math:: \|X_c W - Y_c V\|^2 + \lambda \|W\|^2 + \|Y_c - Y_c V V'\|^2 ,

    :math:`X_c` being the standardised features. The best V are the first k eigenvectors of
    :math:`Y_c' H Y_c` with the hat matrix :math:`H = X_c (X_c'X_c + \lambda I)^{-1} X_c'` of the
    ridge regression; scores are :math:`S = z V' + m'`, as in :class:`PLST`. The factorisation that
    gives V gives W too, and H itself is never formed. With k the number of labels this is one
    regression per label.

    Deep CPLST is this method with a network in place of the ridge:
    ``CPLST(regressor=NetworkRegressor())``.

    Parameters
    ----------
    n_components : int or float, default=0.5
        Number of codes (k), or their share of the labels. A few are often enough: on the usual
        data sets the measures hardly change from a quarter of the labels on.
    regressor : regressor or None, default=None
        Learns the codes from the features; any with scikit-learn's API, cloned. It receives X as
        it is. None is the ridge regression that V was chosen for.
    ridge : float, default=1.0
        Penalty :math:`\lambda`, as ``alpha`` of :class:`sklearn.linear_model.Ridge`; it shapes V
        also where another regressor learns the codes. Larger for many features and few rows.
    threshold : float or str, default=0.5
        {threshold}

    Attributes
    ----------
    encoder_ : ConditionalLabelSpace
        The fitted encoder, with ``components_`` (V').
    {regressor_of_codes_}
    label_mean_ : ndarray of shape (n_labels,)
        Share of the training rows with each label (m).
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import CPLST
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 1, 1]])
    >>> model = CPLST(n_components=1).fit(X, Y)
    >>> np.abs(model.encoder_.components_).round(2)  # the middle label does not depend on X
    array([[0.8, 0. , 0.6]])
    >>> model.predict([[0.2], [2.9]])[:, 0]
    array([1, 0])
    """

    capabilities = Capabilities(
        sparse_labels=True, sample_weight=True, cost="N D^2 + N D C + D^3 + C^3"
    )
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
        return ConditionalLabelSpace(self.n_components, ridge=self.ridge)


class ConditionalLabelSpace(LabelSpace):
    r"""The encoder of CPLST: label directions that ridge regression predicts best.

    ``fit(Y, X)`` takes the labels first, as every encoder, and the features second. The codes can
    be learnt by any regressor.

    Parameters
    ----------
    n_components : int or float, default=0.5
        Number of codes, or their share of the labels.
    ridge : float, default=1.0
        Penalty of the ridge regression, on standardised features; sparse ones are only
        centred.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_labels)
        Orthonormal directions (V'), the best predicted variance first.
    label_mean_ : ndarray of shape (n_labels,)
        Mean of the labels.
    predicted_ : ndarray of shape (n_components,)
        What each direction v takes off the objective, :math:`v' Y_c' H Y_c v`.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import ConditionalLabelSpace
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]])
    >>> ConditionalLabelSpace(n_components=1).fit_transform(Y, X).shape
    (4, 1)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelSpace._parameter_constraints,
        "ridge": [POSITIVE],
    }
    uses_features = True

    predicted_: np.ndarray

    def __init__(self, n_components: int | float = 0.5, *, ridge: float = 1.0) -> None:
        self.n_components = n_components
        self.ridge = ridge

    def _learn(
        self, Y: Any, system: RidgeSystem | None, sample_weight: np.ndarray | None
    ) -> np.ndarray:
        assert system is not None
        n_components = count_of(self.n_components, Y.shape[1], "n_components")
        self.label_mean_ = column_means(Y, sample_weight)
        self.predicted_, directions = top_eigenvectors(system.explained(Y), n_components)
        self.components_ = with_fixed_signs(directions.T)[:, None] * directions.T
        return self._project(Y)
