"""The guard answers for one class and is invisible for several."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import ClassifierChain
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from splmll.methods._constant import ConstantGuard


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize("value", [0, 1])
def test_one_class_is_predicted_for_sure(X: np.ndarray, value: int) -> None:
    guard = ConstantGuard(LogisticRegression(), classes=(0, 1)).fit(X, np.full(40, value))
    assert_array_equal(guard.predict_proba(X), np.tile([1 - value, value], (40, 1)))
    assert_array_equal(guard.predict(X), np.full(40, value))


def test_without_classes_the_columns_are_those_found(X: np.ndarray) -> None:
    guard = ConstantGuard(LogisticRegression()).fit(X, np.full(40, 7))
    assert_array_equal(guard.classes_, [7])
    assert_array_equal(guard.predict_proba(X), np.ones((40, 1)))


def test_several_classes_are_the_base_learners(X: np.ndarray) -> None:
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    learner = LogisticRegression().fit(X, y)
    guard = ConstantGuard(LogisticRegression()).fit(X, y)
    assert_array_equal(guard.predict_proba(X), learner.predict_proba(X))
    assert_array_equal(guard.predict(X), learner.predict(X))


def test_classes_missing_from_the_target_get_zero_columns(X: np.ndarray) -> None:
    y = np.where(X[:, 0] > 0, 3, 1)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    probabilities = ConstantGuard(tree, classes=(0, 1, 2, 3)).fit(X, y).predict_proba(X)
    assert_array_equal(probabilities[:, [1, 3]], tree.fit(X, y).predict_proba(X))
    assert not probabilities[:, [0, 2]].any()


def test_margins_are_squashed(X: np.ndarray) -> None:
    two = (X[:, 0] > 0).astype(int)
    three = two + (X[:, 1] > 0)
    svm = LinearSVC(random_state=0)
    margins = svm.fit(X, two).decision_function(X)
    assert_allclose(ConstantGuard(svm).fit(X, two).predict_proba(X)[:, 1], expit(margins))
    margins = svm.fit(X, three).decision_function(X)
    squashed = ConstantGuard(svm).fit(X, three).predict_proba(X)
    assert_allclose(squashed, softmax(margins, axis=1))


def test_chains_of_scikit_learn_run_over_constant_labels(X: np.ndarray) -> None:
    Y = np.column_stack([X[:, 0] > 0, np.zeros(40), np.ones(40)]).astype(int)
    with pytest.raises(ValueError, match="class"):
        ClassifierChain(LogisticRegression()).fit(X, Y)
    guard = ConstantGuard(LogisticRegression(), classes=(0, 1))
    probabilities = ClassifierChain(guard).fit(X, Y).predict_proba(X)
    assert_array_equal(probabilities[:, 1:], Y[:, 1:])


def test_what_cannot_score_is_refused(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"Ridge has neither.*use a classifier"):
        ConstantGuard(Ridge()).fit(X, np.ones(40))


def test_values_outside_the_classes_are_refused(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"2.*not one of the classes \[0, 1\].*add it"):
        ConstantGuard(LogisticRegression(), classes=(0, 1)).fit(X, np.arange(40) % 3)
