"""Which features are standardised where nobody says: those that are no words."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from splmll.embeddings import FitContext, OneVsRest
from splmll.feature_scaling import fitted_scaler
from splmll.methods import BinaryRelevance


def words(share: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Rows of zeros and a few ones, and two labels that some of the columns tell."""
    rng = np.random.default_rng(0)
    X = (rng.random((150, 60)) < share) * 1.0
    Y = np.column_stack([X[:, :10].any(axis=1), X[:, 5:20].any(axis=1)]).astype(int)
    return X, Y


def test_only_what_is_mostly_zero_is_left_alone() -> None:
    X, _ = words()
    assert fitted_scaler(X, "auto") is None
    assert fitted_scaler(X, "standard") is not None
    many, _ = words(share=0.3)
    assert fitted_scaler(many, "auto") is not None


def test_words_mean_the_same_in_a_dense_table() -> None:
    X, Y = words()
    dense, stored = (BinaryRelevance().fit(rows, Y) for rows in (X, sparse.csr_array(X)))
    assert_allclose(dense.decision_function(X), stored.decision_function(X), atol=1e-3)
    fold = np.arange(len(X)) % 3
    one, other = (
        OneVsRest().fit(rows, Y.astype(float), fold, FitContext(seed=0))
        for rows in (X, sparse.csr_array(X))
    )
    assert_allclose(one.out_of_fold_, other.out_of_fold_, atol=1e-2)
