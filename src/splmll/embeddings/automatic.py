"""``embedding="auto"``: which embedding suits which data, and why.

======================================  ===========================================================
data                                    embedding
======================================  ===========================================================
sparse features, or more features than  ``OneVsRest()``: linear classifiers per label
rows
dense, up to 5000 rows                  ``Blend([Network(), Kernel(), Trees()])``
dense, more rows                        ``Blend([Network(), Kernel()])``
dense, more than 20,000,000 values      ``Linear()``
======================================  ===========================================================

The measurements behind every line are in ``docs/method.md``.
"""

from __future__ import annotations

from typing import Any

from scipy import sparse

from splmll.embeddings.base import Embedding

SMALL_DATA_ROWS = 5000  # up to so many rows trees cost less than they bring
LARGE_DATA_CELLS = 20_000_000  # beyond so many dense values networks take hours


def automatic_embedding(X: Any) -> Embedding:
    """Return the embedding that suits these features.

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_features)
        Features.

    Returns
    -------
    embedding : Embedding

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from splmll.embeddings import automatic_embedding
    >>> automatic_embedding(sparse.csr_array((100, 5000)))
    OneVsRest()
    """
    from splmll.embeddings import Blend, Kernel, Linear, Network, OneVsRest, Trees

    n_rows, n_features = X.shape
    if sparse.issparse(X) or n_features > n_rows:
        return OneVsRest()
    if n_rows * n_features > LARGE_DATA_CELLS:
        return Linear()
    members: list[Embedding] = [Network(), Kernel()]
    if n_rows <= SMALL_DATA_ROWS:
        members.append(Trees())
    return Blend(members)
