"""Binary relevance is C separate learners, however it computes them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from splmll.datasets import load_dataset
from splmll.methods import BinaryRelevance
from splmll.methods._base_learner import with_seed
from splmll.metrics import evaluate
from splmll.thresholds import RULES, GlobalThreshold, fit_threshold

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1 on the standard splits, computed
# once with scikit-learn alone: LogisticRegression(C=1) on z-scores.
REFERENCE = {
    "emotions": [0.1614, 0.2211, 0.8111, 0.6408, 0.6262],
    "scene": [0.1091, 0.1299, 0.8185, 0.6362, 0.6434],
    "yeast": [0.1863, 0.2109, 0.7420, 0.6249, 0.3986],
}

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Features of very different sizes and places, labels, and new rows."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 6))
    Y = (X @ rng.normal(size=(6, 5)) + rng.normal(size=(150, 5)) > 0.5).astype(int)
    X = X * [1, 10, 0.01, 1, 1, 1] + [0, 100, 0, -5, 0, 0]
    return X[:100], Y[:100], X[100:]


@pytest.mark.parametrize(
    ("learner", "method"),
    [
        (LogisticRegression(C=0.3), "predict_proba"),
        (DecisionTreeClassifier(max_depth=3, random_state=0), "predict_proba"),
        (LinearSVC(C=0.01, random_state=0), "decision_function"),
        (RidgeClassifier(), "decision_function"),
    ],
)
def test_equals_separate_fits(problem: Problem, learner: Any, method: str) -> None:
    X, Y, X_new = problem
    model = BinaryRelevance(learner).fit(X, Y)
    for label in range(5):
        alone = clone(learner).fit(X, Y[:, label])
        output = getattr(alone, method)(X_new)
        expected = output[:, 1] if method == "predict_proba" else expit(output)
        assert_allclose(model.predict_proba(X_new)[:, label], expected, atol=1e-10)
        if method == "decision_function":
            # A margin of 0 is a probability of 1/2, so the decisions are the learner's own.
            assert_array_equal(model.predict(X_new)[:, label], alone.predict(X_new))


def test_default_is_logistic_regression_on_standardised_features(problem: Problem) -> None:
    X, Y, X_new = problem
    model = BinaryRelevance().fit(X, Y)
    for label in range(5):
        alone = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        expected = alone.fit(X, Y[:, label]).predict_proba(X_new)[:, 1]
        assert_allclose(model.predict_proba(X_new)[:, label], expected, atol=1e-10)
    logits = X_new @ model.coef_.T + model.intercept_
    assert_allclose(model.predict_proba(X_new), expit(logits), atol=1e-12)


def test_equals_one_vs_rest(problem: Problem) -> None:
    X, Y, X_new = problem
    forest = RandomForestClassifier(n_estimators=5, random_state=0)
    expected = OneVsRestClassifier(forest).fit(X, Y).predict_proba(X_new)
    assert_allclose(BinaryRelevance(forest).fit(X, Y).predict_proba(X_new), expected)


def test_agrees_with_scikit_multilearn(problem: Problem) -> None:
    peers = pytest.importorskip("skmultilearn.problem_transform")
    X, Y, X_new = problem
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    peer = peers.BinaryRelevance(tree, require_dense=[True, True]).fit(X, Y)
    ours = BinaryRelevance(tree).fit(X, Y)
    probabilities = ours.predict_proba(X_new)
    assert_allclose(probabilities, peer.predict_proba(X_new).toarray(), atol=1e-12)
    # At exactly 1/2 a tree decides for 0 and this library for 1.
    decided = probabilities != 0.5
    assert_array_equal(ours.predict(X_new)[decided], peer.predict(X_new).toarray()[decided])


def test_one_label_is_the_base_learner(problem: Problem) -> None:
    X, Y, X_new = problem
    y = np.where(Y[:, 0] == 1, "yes", "no")
    # An odd number of votes: at a probability of exactly 1/2 the contract and the learner differ.
    alone = KNeighborsClassifier(n_neighbors=3).fit(X, y)
    model = BinaryRelevance(KNeighborsClassifier(n_neighbors=3)).fit(X, y)
    assert_allclose(model.predict_proba(X_new), alone.predict_proba(X_new), atol=1e-12)
    assert_array_equal(model.predict(X_new), alone.predict(X_new))


def test_a_logistic_regression_with_its_own_probabilities_is_asked(problem: Problem) -> None:
    class Hesitant(LogisticRegression):
        def predict_proba(self, X: Any) -> np.ndarray:
            return 0.5 * super().predict_proba(X) + 0.25

    X, Y, X_new = problem
    scores = BinaryRelevance(Hesitant(max_iter=1000)).fit(X, Y).predict_proba(X_new)
    plain = BinaryRelevance(LogisticRegression(max_iter=1000)).fit(X, Y).predict_proba(X_new)
    assert_allclose(scores, 0.5 * plain + 0.25, atol=1e-10)


@pytest.mark.parametrize("learner", [None, LogisticRegression(max_iter=1000), RidgeClassifier()])
def test_constant_labels_are_certain(problem: Problem, learner: Any) -> None:
    X, Y, X_new = problem
    constant = Y.copy()
    constant[:, 0], constant[:, 1] = 0, 1
    probabilities = BinaryRelevance(learner).fit(X, constant).predict_proba(X_new)
    assert_array_equal(probabilities[:, :2], np.tile([0.0, 1.0], (50, 1)))
    others = BinaryRelevance(learner).fit(X, Y[:, 2:]).predict_proba(X_new)
    assert_allclose(probabilities[:, 2:], others, atol=1e-10)


def test_the_default_leaves_sparse_features_as_they_are(problem: Problem) -> None:
    X, Y, _ = problem
    stored = sparse.csr_array(np.where(np.abs(X) > 1, 7 * X, 0.0))
    model = BinaryRelevance().fit(stored, Y)
    alone = LogisticRegression(max_iter=1000).fit(stored, Y[:, 2])
    assert_allclose(
        model.predict_proba(stored)[:, 2], alone.predict_proba(stored)[:, 1], atol=1e-10
    )


def test_the_given_learner_is_left_alone(problem: Problem) -> None:
    X, Y, _ = problem
    learner = DecisionTreeClassifier()
    BinaryRelevance(learner, random_state=0).fit(X, Y)
    assert learner.random_state is None
    with pytest.raises(NotFittedError):
        check_is_fitted(learner)


def test_seed_reaches_the_learners_and_is_the_same_for_every_label(problem: Problem) -> None:
    X, Y, X_new = problem
    forest = RandomForestClassifier(n_estimators=3)
    twice = np.column_stack([Y[:, 0], Y[:, 1], Y[:, 0]])
    scores = BinaryRelevance(forest, random_state=1).fit(X, twice).predict_proba(X_new)
    assert_array_equal(scores[:, 0], scores[:, 2])
    again = BinaryRelevance(forest, random_state=1).fit(X, twice).predict_proba(X_new)
    assert_array_equal(scores, again)
    other = BinaryRelevance(forest, random_state=2).fit(X, twice).predict_proba(X_new)
    assert (scores != other).any()


def test_seeds_reach_nested_learners_only_when_asked() -> None:
    nested = make_pipeline(StandardScaler(), RandomForestClassifier(random_state=5))
    assert with_seed(nested, None).get_params()["randomforestclassifier__random_state"] == 5
    seed = with_seed(nested, 7).get_params()["randomforestclassifier__random_state"]
    assert seed == with_seed(RandomForestClassifier(), 7).random_state
    assert seed != with_seed(nested, 8).get_params()["randomforestclassifier__random_state"]
    assert nested.get_params()["randomforestclassifier__random_state"] == 5


@pytest.mark.parametrize("rule", RULES)
def test_rules_are_fitted_on_out_of_fold_scores(problem: Problem, rule: str) -> None:
    X, Y, X_new = problem
    model = BinaryRelevance(threshold=rule).fit(X, Y)
    folds = KFold(5, shuffle=True, random_state=0)
    unseen = cross_val_predict(BinaryRelevance(), X, Y, cv=folds, method="predict_proba")
    expected = fit_threshold(rule, Y, unseen)
    assert_allclose(model.thresholds_, expected.per_label(5))
    assert model.offset_ == pytest.approx(expected.offset)
    scores = BinaryRelevance().fit(X, Y).predict_proba(X_new)
    assert_array_equal(model.predict_proba(X_new), scores)
    assert_array_equal(model.predict(X_new), expected.apply(scores))


def test_few_rows_keep_the_default_threshold(problem: Problem) -> None:
    X, Y, _ = problem
    model = BinaryRelevance(threshold="per_label").fit(X[:49], Y[:49])
    assert model.threshold_ == GlobalThreshold(0.5)


@pytest.mark.parametrize("n_rows", [40, 100])
def test_unknown_rules_are_refused(problem: Problem, n_rows: int) -> None:
    X, Y, _ = problem
    with pytest.raises(ValueError, match=r"'threshold' .* among \{'micro_f1', .*Got 'best'"):
        BinaryRelevance(threshold="best").fit(X[:n_rows], Y[:n_rows])


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_reference_numbers(data_home: Path, name: str) -> None:
    X, Y, X_test, Y_test = load_dataset(name, data_home).split()
    model = BinaryRelevance().fit(X, Y)
    measured = evaluate(Y_test, model.predict_proba(X_test), model.predict(X_test))
    assert_allclose(list(measured.values()), REFERENCE[name], rtol=0, atol=1e-3)
