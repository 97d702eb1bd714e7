"""``embedding="auto"``: which embedding suits which data, and why.

============================================  =====================================================
data                                          embedding
============================================  =====================================================
sparse, or more features than rows            ``OneVsRest()``: linear classifiers per label
sparse, at most 1000 features and 100         ``Blend([OneVsRest(), Network((256, 64),``
labels, 20 times as many rows as features     ``patience=4, scale="standard")])``
dense, up to 5000 rows                        ``Blend([Network(), Kernel(), KernelSVM(), Trees()])``
the same, fewer than two rows for every       ``Blend([OneVsRest(), Kernel(), KernelSVM(),``
feature, at most 100 labels                   ``Trees()])``
dense, up to 5000 rows, where rows times      the same without ``Trees()``
labels are more than 200,000
dense, more rows                              ``Blend([Network(), Kernel()])``
dense, more than 20,000,000 values            ``Linear()``
============================================  =====================================================

Without PyTorch, which is an extra, networks are left out, and ``SPLMLL.summary_`` says so.

The measurements behind every line are in the documentation (docs/method.md).
"""

from __future__ import annotations

from typing import Any

from scipy import sparse

from splmll.embeddings.base import Embedding
from splmll.extras import installed

SMALL_DATA_ROWS = 5000  # up to so many rows kernel machines and trees cost less than they bring
FEW_ROWS = 2  # for every feature: with fewer, lines do what a network would do
# Sparse data from which a network learns what lines cannot, without taking too long: at most so
# many features, so many rows for each of them, and at most so many labels.
NARROW_FEATURES, MANY_ROWS, FEW_LABELS = 1000, 20, 100
FOREST_CELLS = 200_000  # rows times labels: the leaves of more would take more than a gigabyte
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
    from splmll import embeddings as e  # networks only where they are wanted: they need PyTorch

    networks = installed("torch")
    n_rows, n_features = X.shape
    small, few_labels = n_rows <= SMALL_DATA_ROWS, n_labels <= FEW_LABELS
    if sparse.issparse(X):
        narrow = n_features <= NARROW_FEATURES and n_rows >= MANY_ROWS * n_features
        if narrow and few_labels and networks:
            # Of 500 words a network learns faster and better if they are scaled.
            return e.Blend([e.OneVsRest(), e.Network((256, 64), patience=4, scale="standard")])
        return e.OneVsRest()
    machines = [e.Kernel(), e.KernelSVM()]
    if n_rows * n_labels <= FOREST_CELLS:
        machines.append(e.Trees())
    if small and few_labels and n_rows < FEW_ROWS * n_features:
        # Lines separate such rows as well as a network, in a fraction of its time.
        return e.Blend([e.OneVsRest(), *machines])
    if n_features > n_rows:
        return e.OneVsRest()
    if n_rows * n_features > LARGE_DATA_CELLS:
        return e.Linear()
    if small:
        return e.Blend([e.Network(), *machines] if networks else machines)
    return e.Blend([e.Network(), e.Kernel()]) if networks else e.Kernel()


def left_out_networks(embedding: Embedding) -> bool:
    """Return whether this is what "auto" takes for dense data only where PyTorch is missing.

    Examples
    --------
    >>> from splmll.embeddings import Kernel, Linear
    >>> from splmll.embeddings.automatic import left_out_networks
    >>> left_out_networks(Kernel()), left_out_networks(Linear())
    (True, False)
    """
    from splmll.embeddings import Blend, Kernel, KernelSVM, Trees

    parts = embedding.members if isinstance(embedding, Blend) else [embedding]
    return all(isinstance(part, Kernel | KernelSVM | Trees) for part in parts)
