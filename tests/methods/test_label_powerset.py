"""Label powerset is one multiclass learner over the label sets of the training rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from skmultilearn.problem_transform import LabelPowerset as TheirLabelPowerset

from splmll.datasets import load_dataset
from splmll.methods.label_powerset import LabelPowerset
from splmll.metrics import evaluate
from splmll.thresholds import GlobalThreshold

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1 of the marginals at 0.5, then
# subset accuracy of the most likely set, on the standard splits: computed once with scikit-learn
# alone, LogisticRegression(C=1, max_iter=1000) on z-scores.
REFERENCE = {
    "emotions": ([0.1604, 0.2244, 0.8047, 0.6449, 0.6435], 0.2624),
    "scene": ([0.0992, 0.1077, 0.8289, 0.6924, 0.6981], 0.6288),
    "yeast": ([0.1798, 0.2223, 0.7442, 0.6067, 0.4077], 0.1876),
}
# Hamming loss, micro-F1, macro-F1 of the most likely set.
REFERENCE_SET_EMOTIONS = [0.2442, 0.6263, 0.6255]

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(180, 6))
    Y = (X @ rng.normal(size=(6, 4)) + rng.normal(size=(180, 4)) > 0.8).astype(int)
    return X[:120], Y[:120], X[120:]


@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(C=0.3, max_iter=1000, tol=1e-8),
        DecisionTreeClassifier(max_depth=4, random_state=0),
        KNeighborsClassifier(5),
    ],
)
def test_is_a_multiclass_learner(problem: Problem, learner: Any) -> None:
    X, Y, X_new = problem
    distinct, first, classes = np.unique(Y, axis=0, return_index=True, return_inverse=True)
    # Of equally likely sets the one seen first is predicted: number them in that order.
    order = np.argsort(first)
    classes = np.argsort(order)[classes.ravel()]
    distinct = distinct[order]
    model = LabelPowerset(learner).fit(X, Y)
    alone = learner.fit(X, classes)
    marginals = alone.predict_proba(X_new) @ distinct
    assert_allclose(model.predict_proba(X_new), marginals, atol=1e-6)
    assert_allclose(model.decision_function(X_new), marginals - 0.5, atol=1e-6)
    assert_array_equal(model.predict(X_new), distinct[alone.predict(X_new)])
    assert_array_equal(model.label_sets_.toarray(), distinct)


def test_predicts_seen_sets_only_unless_given_a_number(problem: Problem) -> None:
    X, _, X_new = problem
    # Three sets that overlap: where none is above 1/2, all labels are.
    Y = np.repeat([[1, 1, 0], [1, 0, 1], [0, 1, 1]], 40, axis=0)
    seen = {tuple(row) for row in Y}
    by_set = LabelPowerset().fit(X, Y).predict(X_new)
    by_number = LabelPowerset(threshold=0.5).fit(X, Y).predict(X_new)
    assert {tuple(row) for row in by_set} <= seen
    assert (1, 1, 1) in {tuple(row) for row in by_number}


def test_the_two_rules_by_hand() -> None:
    X = np.zeros((5, 1))
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])
    model = LabelPowerset(DummyClassifier(strategy="prior")).fit(X, Y)
    assert_allclose(model.predict_proba(X[:1]), [[0.6, 0.6]])
    assert_array_equal(model.predict(X[:1]), [[1, 0]])
    assert np.isnan(model.thresholds_).all()
    marginals = LabelPowerset(DummyClassifier(strategy="prior"), threshold=0.5).fit(X, Y)
    assert_array_equal(marginals.predict(X[:1]), [[1, 1]])
    assert_array_equal(marginals.thresholds_, [0.5, 0.5])


def test_the_rule_cannot_be_read_off_scores(problem: Problem) -> None:
    X, Y, X_new = problem
    model = LabelPowerset().fit(X, Y)
    with pytest.raises(TypeError, match="call predict"):
        model.threshold_.apply(model.predict_proba(X_new))


def test_disjoint_labels_are_a_multiclass_problem(problem: Problem) -> None:
    X, _, X_new = problem
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    model = LabelPowerset(GaussianNB()).fit(X, np.eye(3, dtype=int)[y])
    alone = GaussianNB().fit(X, y)
    assert_allclose(model.predict_proba(X_new), alone.predict_proba(X_new), atol=1e-12)
    assert_array_equal(model.predict(X_new).argmax(axis=1), alone.predict(X_new))


def test_one_label_is_the_base_learner(problem: Problem) -> None:
    X, Y, X_new = problem
    alone = KNeighborsClassifier(3).fit(X, Y[:, 0])
    model = LabelPowerset(KNeighborsClassifier(3)).fit(X, Y[:, 0])
    assert_allclose(model.predict_proba(X_new), alone.predict_proba(X_new), atol=1e-12)
    assert_array_equal(model.predict(X_new), alone.predict(X_new))


@pytest.mark.parametrize("learner", [GaussianNB(), DecisionTreeClassifier(random_state=0)])
def test_equals_scikit_multilearn(problem: Problem, learner: Any) -> None:
    X, Y, X_new = problem
    theirs = TheirLabelPowerset(learner, require_dense=[True, True]).fit(X, Y)
    ours = LabelPowerset(learner).fit(X, Y)
    assert_allclose(ours.predict_proba(X_new), theirs.predict_proba(X_new).toarray(), atol=1e-12)
    assert_array_equal(ours.predict(X_new), theirs.predict(X_new).toarray())


def test_margins_will_do(problem: Problem) -> None:
    X, Y, X_new = problem
    model = LabelPowerset(LinearSVC(random_state=0)).fit(X, Y)
    best = model.estimator_.learner_.predict(X_new)
    assert_array_equal(model.predict(X_new), model.label_sets_.toarray()[best])


def test_the_empty_set_is_a_set() -> None:
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    Y = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    assert_array_equal(LabelPowerset().fit(X, Y).predict([[0.0], [5.0]]), [[0, 0], [1, 1]])


def test_seed_reaches_the_learner(problem: Problem) -> None:
    X, Y, X_new = problem
    forest = RandomForestClassifier(n_estimators=3)
    one, same, other = (
        LabelPowerset(forest, random_state=seed).fit(X, Y).predict_proba(X_new)
        for seed in (1, 1, 2)
    )
    assert_array_equal(one, same)
    assert (one != other).any()


def test_rules_use_the_marginals(problem: Problem) -> None:
    X, Y, X_new = problem
    model = LabelPowerset(GaussianNB(), threshold="micro_f1").fit(X, Y)
    assert isinstance(model.threshold_, GlobalThreshold)
    assert model.offset_ != 0.5
    assert_array_equal(model.predict(X_new), model.predict_proba(X_new) >= model.offset_)


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_reference_numbers(data_home: Path, name: str) -> None:
    X, Y, X_test, Y_test = load_dataset(name, data_home).split()
    expected, subset_accuracy = REFERENCE[name]
    model = LabelPowerset().fit(X, Y)
    marginals = model.predict_proba(X_test)
    at_half = evaluate(Y_test, marginals, (marginals >= 0.5).astype(int))
    assert_allclose(list(at_half.values()), expected, rtol=0, atol=2e-3)

    predicted, truth = (sparse.csr_array(table) for table in (model.predict(X_test), Y_test))
    wrong = abs(predicted - truth).sum(axis=1)
    assert np.mean(wrong == 0) == pytest.approx(subset_accuracy, abs=1e-3)
    if name == "emotions":
        of_set = evaluate(Y_test, marginals, model.predict(X_test))
        found = [of_set[measure] for measure in ("hamming_loss", "micro_f1", "macro_f1")]
        assert_allclose(found, REFERENCE_SET_EMOTIONS, rtol=0, atol=2e-3)
