"""Standardised features, for models that compare or add up features of different sizes.

Sparse features, such as the weights of words, are left as they are unless someone insists: a rare
word would otherwise count as much as a telling one. So are dense ones that are nearly all zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from splmll.constraints import Choice

FLOATS = (np.float64, np.float32)
MOSTLY_ZERO = 0.1  # share of numbers other than 0 below which dense features are like words

# Truth values, as they were before "auto" and other scales came.
_FORMER_SCALES = {True: "standard", False: None}

#: What ``scale`` may be in every estimator, as a row of ``_parameter_constraints``.
SCALE_CONSTRAINT: list[Any] = [Choice("auto", "standard", former=_FORMER_SCALES), None]

#: The same where distances are compared, which the range suits.
DISTANCE_SCALE_CONSTRAINT: list[Any] = [
    Choice("auto", "minmax", "standard", former=_FORMER_SCALES),
    None,
]


def fitted_scaler(
    X: Any, scale: str | None, sample_weight: np.ndarray | None = None
) -> StandardScaler | None:
    """Return a scaler for these features, or None where they are left as they are.

    Parameters
    ----------
    X : ndarray or CSR array
        Features.
    scale : {"auto", "standard"} or None
        "standard" asks for a scaler, None for none. "auto" standardises dense features and leaves
        sparse ones, such as the weights of words, as they are, and dense ones that are nearly all
        zero.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.feature_scaling import fitted_scaler
    >>> fitted_scaler(np.array([[1.0], [3.0]]), "auto").mean_
    array([2.])
    """
    is_sparse = sparse.issparse(X)
    like_words = is_sparse or np.count_nonzero(X) < MOSTLY_ZERO * X.size
    if not standardises(scale, like_words):
        return None
    return StandardScaler(with_mean=not is_sparse).fit(X, sample_weight=sample_weight)


def standardises(scale: str | None, sparse_rows: bool) -> bool:
    """Return whether features are standardised, for rows that are sparse or not.

    Examples
    --------
    >>> from splmll.feature_scaling import standardises
    >>> standardises("auto", sparse_rows=True), standardises("standard", sparse_rows=True)
    (False, True)
    """
    return not sparse_rows if scale == "auto" else scale is not None


def scaled(X: Any, scaler: StandardScaler | None) -> Any:
    """Return the features as the scaler wants them; as they are without one.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.feature_scaling import fitted_scaler, scaled
    >>> X = np.array([[1.0], [3.0]])
    >>> scaled(X, fitted_scaler(X, "standard")).ravel()
    array([-1.,  1.])
    """
    if scaler is None:
        return X
    if scaler.with_mean and sparse.issparse(X):
        X = X.toarray()  # a model of dense rows centres them
    return scaler.transform(X)


class DenseStandardScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Standardise dense features; leave sparse ones as they are.

    Attributes
    ----------
    scaler_ : StandardScaler or None
        None where the training rows were sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from splmll.feature_scaling import DenseStandardScaler
    >>> X = np.array([[1.0], [3.0]])
    >>> DenseStandardScaler().fit_transform(X).ravel()
    array([-1.,  1.])
    >>> DenseStandardScaler().fit_transform(sparse.csr_array(X)).toarray().ravel()
    array([1., 3.])
    """

    scaler_: StandardScaler | None

    def fit(self, X: Any, y: Any = None) -> DenseStandardScaler:
        """Learn means and standard deviations of dense features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.
        y : ignored

        Returns
        -------
        self : DenseStandardScaler
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        self.scaler_ = fitted_scaler(X, "auto")
        return self

    def transform(self, X: Any) -> Any:
        """Return the features as learned.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.

        Returns
        -------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        return scaled(X, self.scaler_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
