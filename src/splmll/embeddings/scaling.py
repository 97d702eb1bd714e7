"""Standardised features, for embeddings that compare or add up features of different sizes."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.preprocessing import StandardScaler


def fitted_scaler(X: Any, scale: bool | str) -> StandardScaler | None:
    """Return a scaler for these features, or None where they are left as they are.

    Parameters
    ----------
    X : ndarray or CSR array
        Features.
    scale : bool or "auto"
        "auto" standardises dense features and leaves sparse ones, such as the weights of words, as
        they are.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings.scaling import fitted_scaler
    >>> fitted_scaler(np.array([[1.0], [3.0]]), "auto").mean_
    array([2.])
    """
    is_sparse = sparse.issparse(X)
    if not (not is_sparse if scale == "auto" else scale):
        return None
    return StandardScaler(with_mean=not is_sparse).fit(X)


def scaled(X: Any, scaler: StandardScaler | None) -> Any:
    """Return the features as the scaler wants them; as they are without one.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings.scaling import fitted_scaler, scaled
    >>> X = np.array([[1.0], [3.0]])
    >>> scaled(X, fitted_scaler(X, True)).ravel()
    array([-1.,  1.])
    """
    if scaler is None:
        return X
    if scaler.with_mean and sparse.issparse(X):
        X = X.toarray()  # a model of dense rows centres them
    return scaler.transform(X)
