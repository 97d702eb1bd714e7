"""One-vs-rest logistic regression beside scikit-learn's, and why label sets need it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from splmll.methods._one_vs_rest import OneVsRestLogistic


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_equals_scikit_learn(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((150, 8)) * (rng.random((150, 8)) < 0.5))
    y = rng.integers(n_classes, size=150) * 2
    ours = OneVsRestLogistic(C=5.0).fit(X, y)
    peer = OneVsRestClassifier(LogisticRegression(C=5.0, max_iter=1000)).fit(X, y)
    assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    assert_array_equal(ours.predict(X), peer.predict(X))


def test_far_away_rows_have_probabilities() -> None:
    X = np.eye(3)
    model = OneVsRestLogistic(C=1e3).fit(X, np.arange(3))
    assert_allclose(model.predict_proba(-1e6 * np.ones((1, 3))).sum(axis=1), 1.0)


def test_a_rare_class_inherits_no_weights() -> None:
    # Words 0, 1 and 2 tell of classes 1, 2 and 3; only the last, with two rows, is rare.
    y = np.repeat([0, 1, 2, 3], [100, 40, 40, 2])
    X = np.eye(4)[y][:, 1:]
    ours = OneVsRestLogistic().fit(X, y).coef_
    assert (ours[3, :2] < 0).all()
    shared = LogisticRegression().fit(X, y).coef_
    assert (shared[3] - shared[0])[:2].min() > 0.1
