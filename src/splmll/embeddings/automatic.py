"""``embedding="auto"``: which embedding suits which data, and why.

============================================  =====================================================
data                                          embedding
============================================  =====================================================
sparse, or more features than rows            ``OneVsRest()``: linear classifiers per label
sparse, at most 1000 features and 100         ``Blend([OneVsRest(), Network((256, 64),``
labels, 20 times as many rows as features     ``patience=4, scale="standard")])``
dense, up to 5000 rows                        ``Blend([Network(), Kernel(), KernelSVM(), Trees()])``
dense, more rows                              ``Blend([Network(), Kernel()])``
dense, more than 20,000,000 values            ``Linear()``
============================================  =====================================================

The measurements behind every line are in the documentation (docs/method.md).
"""

from __future__ import annotations

from typing import Any

from scipy import sparse

from splmll.embeddings.base import Embedding

SMALL_DATA_ROWS = 5000  # up to so many rows kernel machines and trees cost less than they bring
# Sparse data from which a network learns what lines cannot, without taking too long: at most so
# many features, so many rows for each of them, and at most so many labels.
NARROW_FEATURES, MANY_ROWS, FEW_LABELS = 1000, 20, 100
LARGE_DATA_CELLS = 20_000_000  # beyond so many dense values networks take hours


def automatic_embedding(X: Any, n_labels: int) -> Embedding:
    """Return the embedding that suits these features.

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_features)
        Features.
    n_labels : int
        Number of labels.

    Returns
    -------
    embedding : Embedding

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from splmll.embeddings import automatic_embedding
    >>> automatic_embedding(sparse.csr_array((100, 5000)), n_labels=20)
    OneVsRest()
    """
    from splmll.embeddings import Blend, Kernel, Linear, Network, OneVsRest, embedding_of

    n_rows, n_features = X.shape
    if sparse.issparse(X):
        narrow = n_features <= NARROW_FEATURES and n_rows >= MANY_ROWS * n_features
        if narrow and n_labels <= FEW_LABELS:
            # Of 500 words a network learns faster and better if they are scaled.
            return Blend([OneVsRest(), Network((256, 64), patience=4, scale="standard")])
        return OneVsRest()
    if n_features > n_rows:
        return OneVsRest()
    if n_rows * n_features > LARGE_DATA_CELLS:
        return Linear()
    if n_rows <= SMALL_DATA_ROWS:
        return embedding_of("blend")
    return Blend([Network(), Kernel()])
