"""Features made comparable, for methods that compare them: distances, kernels, penalties.

A feature with large numbers would otherwise decide alone. Sparse features, such as the weights of
words, are left as they are unless a scale is asked for by name: dividing by their spread blows up
the rare ones. They are divided then and not shifted, so that they stay sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from splmll.arrays import dense


class FeatureScale:
    """Features as ``(X - shift) / scale``, by what the training rows tell.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        The training rows.
    kind : {"auto", "minmax", "standard"} or None
        Divide by the range, by the standard deviation, or not at all. "auto" is ``of_dense`` for
        dense features and nothing for sparse ones.
    of_dense : {"minmax", "standard"}, default="standard"
        What "auto" does to dense features.
    with_shift : bool, default=True
        Whether dense features are moved to start at 0, or to have mean 0.

    Attributes
    ----------
    shift, scale : ndarray of shape (n_features,)
        Constant features are only shifted.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods._feature_scale import FeatureScale
    >>> FeatureScale(np.array([[0.0, 5.0], [4.0, 5.0]]), "minmax").apply(np.array([[1.0, 7.0]]))
    array([[0.25, 2.  ]])
    """

    def __init__(
        self, X: Any, kind: str | None, of_dense: str = "standard", with_shift: bool = True
    ) -> None:
        n_features = X.shape[1]
        shift, spread = np.zeros(n_features, X.dtype), np.ones(n_features, X.dtype)
        self.is_sparse = sparse.issparse(X)
        if kind == "auto":
            kind = None if self.is_sparse else of_dense
        if kind is None:
            pass
        elif self.is_sparse and kind == "minmax":
            low, high = min_max_axis(X, axis=0)
            spread = high - low
        elif self.is_sparse:
            spread = np.sqrt(mean_variance_axis(X, axis=0)[1])
        elif kind == "minmax":
            shift, spread = X.min(axis=0), np.ptp(X, axis=0)
        else:
            shift, spread = X.mean(axis=0), X.std(axis=0)
        self.shift = shift if with_shift else np.zeros(n_features, X.dtype)
        self.scale = np.where(spread > 0, spread, 1).astype(X.dtype)

    def apply(self, X: Any) -> Any:
        """Return scaled rows in the storage of the training rows, so that like meets like."""
        if self.is_sparse:
            X = sparse.csr_array(X)
            data = X.data / self.scale[X.indices]
            return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
        # Sums over rows stored column by column differ in the last digits.
        X = np.ascontiguousarray(dense(X))
        return (X - self.shift) / self.scale
