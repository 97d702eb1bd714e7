"""The random forest is scikit-learn's, cut at thresholds from rows its trees have not seen."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier

from splmll.datasets import load_dataset
from splmll.methods.random_forest import ThresholdedRandomForest
from splmll.metrics import evaluate
from splmll.thresholds import RULES, GlobalThreshold, fit_threshold

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(240, 5))
    Y = (X @ rng.normal(size=(5, 4)) + rng.normal(size=(240, 4)) > [0, 1, 2, 3]).astype(int)
    return X[:160], Y[:160], X[160:]


def reference(X: np.ndarray, Y: np.ndarray, n_trees: int = 60, **parameters: Any) -> Any:
    forest = RandomForestClassifier(n_trees, oob_score=True, random_state=0, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return forest.fit(X, Y)


def test_scores_are_those_of_the_forest(problem: Problem) -> None:
    X, Y, X_new = problem
    model = ThresholdedRandomForest(60, threshold=0.5, random_state=0).fit(X, Y)
    expected = np.column_stack([share[:, 1] for share in reference(X, Y).predict_proba(X_new)])
    assert_allclose(model.decision_function(X_new) + 0.5, expected, atol=1e-12)
    assert_array_equal(model.predict(X_new), expected >= 0.5)
    # One more tree that is undecided.
    assert_allclose(model.predict_proba(X_new), (60 * expected + 0.5) / 61)


@pytest.mark.parametrize("rule", RULES)
def test_rules_are_fitted_on_out_of_bag_scores(problem: Problem, rule: str) -> None:
    X, Y, X_new = problem
    model = ThresholdedRandomForest(60, threshold=rule, random_state=0).fit(X, Y)
    expected = fit_threshold(rule, Y, reference(X, Y).oob_decision_function_[:, 1])
    assert_allclose(model.thresholds_, expected.per_label(4))
    assert_array_equal(model.predict(X_new), expected.apply(model._scores(X_new)))


def test_rows_that_every_tree_has_seen_are_left_out(problem: Problem) -> None:
    X, Y, _ = problem
    peer = reference(X, Y, n_trees=3)
    shares = peer.oob_decision_function_
    unseen = shares.sum(axis=(1, 2)) > 0
    assert 50 < unseen.sum() < len(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ThresholdedRandomForest(3, random_state=0).fit(X, Y)
    assert model.threshold_ == fit_threshold("micro_f1", Y[unseen], shares[unseen, 1])


def test_settings_reach_the_forest(problem: Problem) -> None:
    X, Y, X_new = problem
    model = ThresholdedRandomForest(
        10, max_features=2, min_samples_leaf=7, threshold=0.5, random_state=0
    ).fit(X, Y)
    peer = reference(X, Y, 10, max_features=2, min_samples_leaf=7)
    expected = np.column_stack([share[:, 1] for share in peer.predict_proba(X_new)])
    assert_allclose(model._scores(X_new), expected)


def test_constant_labels_change_nothing_for_the_others(problem: Problem) -> None:
    X, Y, X_new = problem
    more = np.column_stack([np.ones(160), Y[:, :2], np.zeros(160), Y[:, 2:]])
    model = ThresholdedRandomForest(20, random_state=0).fit(X, more)
    scores = model._scores(X_new)
    assert_array_equal(scores[:, [0, 3]], np.tile([1.0, 0.0], (80, 1)))
    alone = ThresholdedRandomForest(20, random_state=0).fit(X, Y)
    assert_array_equal(scores[:, [1, 2, 4, 5]], alone._scores(X_new))
    assert_array_equal(model.constants_, [1, np.nan, np.nan, 0, np.nan, np.nan])


def test_nothing_but_constants_needs_no_forest(problem: Problem) -> None:
    X, _, X_new = problem
    model = ThresholdedRandomForest().fit(X, np.tile([1, 0], (160, 1)))
    assert model.forest_ is None
    assert_array_equal(model.predict(X_new), np.tile([1, 0], (80, 1)))


@pytest.mark.parametrize("n_labels", [1, 4])
def test_one_label_or_several(problem: Problem, n_labels: int) -> None:
    X, Y, X_new = problem
    model = ThresholdedRandomForest(20, random_state=0).fit(X, Y[:, :n_labels])
    assert model.predict_proba(X_new).shape == (80, n_labels)
    assert model.forest_ is not None
    assert model.forest_.n_outputs_ == n_labels


def test_few_rows_keep_the_default_threshold(problem: Problem) -> None:
    X, Y, _ = problem
    model = ThresholdedRandomForest(20, random_state=0).fit(X[:49], Y[:49])
    assert model.threshold_ == GlobalThreshold(0.5)


def test_unknown_rules_are_refused_before_the_forest_grows(problem: Problem) -> None:
    X, Y, _ = problem
    model = ThresholdedRandomForest(threshold="best")
    with pytest.raises(ValueError, match=r"'threshold' .* among \{'micro_f1', .*Got 'best'"):
        model.fit(X, Y)
    assert not hasattr(model, "forest_")


@pytest.mark.parametrize("name", ["emotions", "yeast"])
def test_tuned_threshold_is_worth_it_on_real_data(data_home: Path, name: str) -> None:
    X, Y, X_test, Y_test = load_dataset(name, data_home).split()
    model = ThresholdedRandomForest(60, random_state=0).fit(X, Y)
    scores = model.predict_proba(X_test)
    tuned = evaluate(Y_test, scores, model.predict(X_test))
    at_half = evaluate(Y_test, scores, scores >= 0.5)
    assert tuned["micro_f1"] > at_half["micro_f1"] + 0.01
    # Out-of-bag scores are like those of new rows: no threshold is much better on the test rows.
    best = max(
        evaluate(Y_test, scores, scores >= cut)["micro_f1"] for cut in np.arange(0.1, 0.6, 0.02)
    )
    assert tuned["micro_f1"] > best - 0.02
