"""Data of any size for the benchmarks: labels follow the features through a few directions."""

from __future__ import annotations

import numpy as np
from scipy import sparse

CARDINALITY = 4.7  # labels of a row, as in espgame
DIRECTIONS = 10


def dense_problem(
    n_rows: int, n_features: int, n_labels: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return Gaussian features, and labels that depend on them; their frequencies fall off."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    signal = X @ rng.normal(size=(n_features, DIRECTIONS)) / np.sqrt(n_features)
    signal = signal @ rng.normal(size=(DIRECTIONS, n_labels)) / np.sqrt(DIRECTIONS)
    signal += 0.5 * rng.normal(size=signal.shape)
    frequency = 1.0 / np.arange(2, n_labels + 2)
    frequency *= min(CARDINALITY, n_labels / 3) / frequency.sum()
    cuts = np.array([np.quantile(signal[:, j], 1 - frequency[j]) for j in range(n_labels)])
    return X, (signal > cuts).astype(np.int8)


def text_problem(
    n_rows: int,
    n_features: int,
    n_labels: int,
    *,
    words: int = 70,
    labels: int = 3,
    seed: int = 0,
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return documents of about so many different words, and a few labels of each, both sparse.

    Words and labels are as frequent as the power law says. A label has a vocabulary of its own; a
    document takes a quarter of its words from those of its labels. Rows have unit length.
    """
    rng = np.random.default_rng(seed)
    own_words = 30
    vocabulary = _power_law(rng, n_features, (n_labels, own_words))
    tags = _power_law(rng, n_labels, (n_rows, labels))
    from_labels = words // 4
    source = tags[np.arange(n_rows)[:, None], rng.integers(labels, size=(n_rows, from_labels))]
    chosen = vocabulary[source, rng.integers(own_words, size=source.shape)]
    noise = _power_law(rng, n_features, (n_rows, words - from_labels))
    X = _indicator(np.hstack([chosen, noise]), n_features)
    X.data = 1 + np.log(X.data)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    Y = _indicator(tags, n_labels)
    Y.data[:] = 1.0
    return X, Y


def _power_law(rng: np.random.Generator, n: int, shape: tuple[int, ...]) -> np.ndarray:
    """Draw numbers below n; the j-th is about as frequent as 1 / (j + 10)."""
    share = 1.0 / (np.arange(n) + 10)
    edges = np.cumsum(share / share.sum())
    return np.minimum(np.searchsorted(edges, rng.random(shape)), n - 1)


def _indicator(columns: np.ndarray, width: int) -> sparse.csr_array:
    """Return how often each row names each column."""
    n_rows, per_row = columns.shape
    # Some peers know 32-bit positions only.
    ends = np.arange(0, columns.size + 1, per_row, dtype=np.int32)
    table = sparse.csr_array(
        (np.ones(columns.size), columns.ravel().astype(np.int32), ends), shape=(n_rows, width)
    )
    table.sum_duplicates()
    return table
