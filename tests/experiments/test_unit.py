"""Units of work: what they measure, and when two of them are the same."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from experiment_problems import Noting, small_data
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from splmll.catalogue import make_method
from splmll.datasets import Dataset
from splmll.experiments.protocol import PROTOCOLS, CrossValidation, HeldOut
from splmll.experiments.search import Search
from splmll.experiments.unit import (
    Unit,
    compact,
    fingerprint,
    run_unit,
)
from splmll.methods import MLkNN, RAkEL
from splmll.metrics import MEASURES, evaluate
from splmll.model_selection import ThresholdTuner
from splmll.parameters import changed_settings

DATA = small_data(split=True)
HELD_OUT = PROTOCOLS["held-out"]


def test_measures_are_those_of_a_fit_by_hand() -> None:
    X, Y, X_test, Y_test = DATA.split()
    model = RAkEL(random_state=2).fit(X, Y)
    scores, labels = model.decision_function(X_test), model.predict(X_test)
    result = run_unit(Unit("RAkEL", DATA, HELD_OUT, repetition=2))
    expected = evaluate(Y_test, scores, labels, ["ranking_loss", "micro_f1", "coverage"])
    assert {name: result.measures[name] for name in expected} == expected
    assert result.arrays is not None
    assert_allclose(result.arrays.scores, scores, atol=1e-6)
    assert_array_equal(result.arrays.labels, labels)
    assert_array_equal(result.arrays.truth, Y_test)
    assert (result.n_train, result.n_test, result.n_labels, result.n_features) == (60, 60, 3, 4)
    assert min(result.fit_seconds, result.predict_seconds, result.peak_memory_mb) > 0


def test_all_measures_but_those_of_more_labels_than_there_are() -> None:
    measures = run_unit(Unit("ML-kNN", DATA, HELD_OUT)).measures
    assert list(measures) == list(MEASURES)
    missing = {name for name, value in measures.items() if np.isnan(value)}
    assert missing == {"precision_at_5", "ndcg_at_5"}


def test_the_seed_reaches_every_part_of_a_method() -> None:
    nested = MultiOutputClassifier(RandomForestClassifier())
    unit = Unit("mine", DATA, HELD_OUT, repetition=3, estimator=nested, base_seed=40)
    assert unit.seed == 43
    assert unit.make_model(DATA.X).estimator.random_state == 43
    deep = Unit("Deep CPLST", DATA, HELD_OUT, repetition=1).make_model(DATA.X)
    assert deep.regressor.random_state == 1
    assert nested.estimator.random_state is None


@pytest.mark.parametrize(
    ("name", "scaler"), [("standard", StandardScaler), ("minmax", MinMaxScaler)]
)
def test_preprocessing_learns_from_the_training_rows_alone(name: str, scaler: Any) -> None:
    far = DATA.X.copy()
    far[DATA.test] *= 100  # test rows must not move the scale
    data = replace(DATA, X=far)
    fitted = scaler().fit(far[DATA.train])
    model = MLkNN(scale=None).fit(fitted.transform(far[DATA.train]), DATA.Y[DATA.train])
    expected = model.decision_function(fitted.transform(far[DATA.test]))
    unit = Unit("mine", data, HELD_OUT, estimator=MLkNN(scale=None), preprocessing=name)
    arrays = run_unit(unit).arrays
    assert arrays is not None
    assert_allclose(arrays.scores, expected, atol=1e-6)


@pytest.mark.parametrize("preprocessing", ["standard", "minmax"])
def test_sparse_features_stay_sparse(preprocessing: str) -> None:
    seen = []

    class Looking(Noting):
        def fit(self, X: Any, Y: Any) -> Any:
            seen.append(X)
            return super().fit(X, Y)

        def decision_function(self, X: Any) -> np.ndarray:
            return X.toarray()[:, :3]

    X = np.where(DATA.X > 0, 5 * DATA.X, 0.0)
    data = replace(DATA, X=sparse.csr_array(X))
    run_unit(Unit("mine", data, HELD_OUT, estimator=Looking(), preprocessing=preprocessing))
    assert sparse.issparse(seen[0])
    assert_array_equal(seen[0].toarray() == 0, X[DATA.train] == 0)
    spread = np.std if preprocessing == "standard" else np.max
    assert_allclose(spread(seen[0].toarray(), axis=0), 1.0)


def test_a_threshold_for_all_methods() -> None:
    own = run_unit(Unit("ML-kNN", DATA, HELD_OUT)).arrays
    high = run_unit(Unit("ML-kNN", DATA, HELD_OUT, threshold="0.9")).arrays
    assert own is not None
    assert high is not None
    probabilities = MLkNN().fit(*DATA.split()[:2]).predict_proba(DATA.split()[2])
    assert_array_equal(high.labels, probabilities >= 0.9)
    assert_array_equal(own.labels, probabilities >= 0.5)
    # From the stored scores the labels of one threshold follow from a run with another.
    assert_array_equal(own.cut(0.9), high.labels)
    assert_array_equal(high.cut(0.5), own.labels)


def test_other_libraries_get_their_threshold_from_a_tuner() -> None:
    unit = Unit("kNN", DATA, HELD_OUT, estimator=KNeighborsClassifier(), threshold="micro_f1")
    model = unit.make_model(DATA.X)
    assert isinstance(model, ThresholdTuner)
    assert (model.rule, model.random_state) == ("micro_f1", 0)
    expected = ThresholdTuner(KNeighborsClassifier(), "micro_f1", random_state=0)
    X, Y, X_test, _ = DATA.split()
    arrays = run_unit(unit).arrays
    assert arrays is not None
    assert_array_equal(arrays.labels, expected.fit(X, Y).predict(X_test))


def test_the_papers_threshold_is_a_number_and_a_rule_needs_a_tuner() -> None:
    rule, number = (
        Unit("joint + linear", DATA, HELD_OUT, threshold=threshold).make_model(DATA.X)
        for threshold in ("micro_f1", "0.3")
    )
    assert isinstance(rule, ThresholdTuner)
    assert rule.rule == "micro_f1"
    assert number.threshold == 0.3


def test_a_tuner_is_not_put_into_a_tuner() -> None:
    tuner = ThresholdTuner(KNeighborsClassifier(), "hamming")
    unit = Unit("kNN", DATA, HELD_OUT, estimator=tuner, threshold="0.3")
    assert unit.make_model(DATA.X).rule == 0.3
    assert tuner.rule == "hamming"


@pytest.mark.parametrize(
    "estimator", [KNeighborsClassifier(), MultiOutputClassifier(LogisticRegression())]
)
def test_other_libraries_get_dense_labels(estimator: Any) -> None:
    data = replace(DATA, Y=sparse.csr_array(DATA.Y))
    expected, found = (
        run_unit(Unit("other", given, HELD_OUT, estimator=estimator)).measures
        for given in (DATA, data)
    )
    assert_array_equal(list(found.values()), list(expected.values()))


def test_tables_reach_a_pipeline_as_tables() -> None:
    seen = []

    class Reading(Noting):
        def fit(self, X: Any, Y: Any) -> Any:
            seen.append(list(X["word"]))
            return super().fit(X, Y)

        def decision_function(self, X: Any) -> np.ndarray:
            return np.zeros((len(X), 1)) + X["word"].str.len().to_numpy()[:, None]

    table = pd.DataFrame({"word": ["a", "bb", "ccc", "dddd"] * 5})
    data = Dataset(table, np.tile([[0], [1]], (10, 1)), ["word"], ["even"], train=np.arange(4))
    data = replace(data, test=np.arange(4, 20))
    assert run_unit(Unit("mine", data, HELD_OUT, estimator=Reading())).status == "done"
    assert seen == [["a", "bb", "ccc", "dddd"]]


def test_validation_rows_are_not_trained_on_but_scored() -> None:
    result = run_unit(Unit("ML-kNN", DATA, PROTOCOLS["paper"]))
    assert result.n_train == 54
    assert result.arrays is not None
    assert result.arrays.validation_scores is not None
    assert result.arrays.validation_scores.shape == (6, 3)


def test_unknown_labels_take_no_part_in_learning_and_measuring() -> None:
    Y = DATA.Y.astype(float)
    Y[DATA.train[:5], 0] = np.nan
    known = run_unit(Unit("LEML", replace(DATA, Y=Y), HELD_OUT))
    assert known.status == "done"
    Y[DATA.test[0]] = np.nan  # nothing is known of this row, so it cannot change a mean of cells
    partly = run_unit(Unit("LEML", replace(DATA, Y=Y), HELD_OUT))
    assert partly.status == "done"
    n, wrong = len(DATA.test), known.measures["hamming_loss"] * DATA.Y[DATA.test].size
    of_row = wrong - partly.measures["hamming_loss"] * (n - 1) * DATA.Y.shape[1]
    assert of_row == pytest.approx(round(of_row))  # a whole number of cells
    assert 0 <= round(of_row) <= DATA.Y.shape[1]


# Keys --------------------------------------------------------------------------------------------

BASE: dict[str, Any] = {"method": "RAkEL", "data": DATA, "protocol": HELD_OUT}
OTHERS: dict[str, dict[str, Any]] = {
    "method": {"method": "BR"},
    "name": {"method": "mine", "estimator": RAkEL()},
    "settings": {"estimator": RAkEL(labelset_size=2)},
    "nested settings": {"estimator": RAkEL(LogisticRegression(C=3))},
    "data": {"data": "emotions"},
    "features": {"data": replace(DATA, X=DATA.X + 1e-9)},
    "labels": {"data": replace(DATA, Y=1 - DATA.Y)},
    "split": {"data": replace(DATA, train=DATA.test, test=DATA.train)},
    "protocol": {"protocol": PROTOCOLS["paper"]},
    "folds": {"protocol": CrossValidation(n_folds=5)},
    "more folds": {"protocol": CrossValidation(n_folds=6)},
    "plain folds": {"protocol": CrossValidation(stratified=False)},
    "repetition": {"repetition": 1},
    "preprocessing": {"preprocessing": "standard"},
    "threshold": {"threshold": "0.4"},
    "default threshold": {"threshold": "0.5"},
    "search": {"search": Search("grid")},
    "budget": {"search": Search("grid", n_candidates=3)},
    "seed": {"base_seed": 1},
}


def test_everything_that_determines_the_result_is_in_the_key() -> None:
    keys = {name: Unit(**{**BASE, **change}).key for name, change in OTHERS.items()}
    keys["as it is"] = Unit(**BASE).key
    assert len(set(keys.values())) == len(keys)


@pytest.mark.parametrize(
    "change",
    [
        {"data": small_data(split=True)},
        {"estimator": RAkEL()},
        {"estimator": RAkEL(n_jobs=2)},
        {"estimator": RAkEL(random_state=9)},
        {"protocol": HeldOut(20)},
        {"threshold": "own"},
    ],
)
def test_what_changes_nothing_is_not(change: dict[str, Any]) -> None:
    assert Unit(**{**BASE, **change}).key == Unit(**BASE).key


@pytest.mark.slow
def test_keys_are_the_same_in_another_process() -> None:
    program = """
import sys
from experiment_problems import small_data
from splmll.experiments.protocol import PROTOCOLS
from splmll.experiments.unit import Unit
print(Unit("BR-SVM", small_data(split=True), PROTOCOLS["cv"], 1, 2, threshold="linear").key)
"""
    answer = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{program}"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "123"},
    )
    unit = Unit("BR-SVM", DATA, PROTOCOLS["cv"], 1, 2, threshold="linear")
    assert answer.stdout.strip() == unit.key


def test_fingerprints_know_the_content_and_not_the_form() -> None:
    stored = replace(DATA, X=sparse.csr_array(DATA.X))
    doubled = replace(DATA, X=sparse.csr_array(DATA.X) * 2)
    assert fingerprint(stored) == fingerprint(replace(stored, X=stored.X.copy()))
    assert fingerprint(stored) != fingerprint(doubled)
    table = pd.DataFrame({name: DATA.X[:, i] for i, name in enumerate("abcd")})
    other = table.assign(a=table["a"].round(3))
    assert fingerprint(replace(DATA, X=table)) == fingerprint(replace(DATA, X=table.copy()))
    assert fingerprint(replace(DATA, X=table)) != fingerprint(replace(DATA, X=other))


@pytest.mark.parametrize(
    ("unit", "same"),
    [
        (Unit("ML-kNN", DATA, HELD_OUT), True),
        (Unit("RAkEL", DATA, HELD_OUT), False),
        # It takes a seed, but its learner draws nothing.
        (Unit("BR", DATA, HELD_OUT), True),
        (Unit("BR", DATA, HELD_OUT, threshold="linear"), False),
        (Unit("Deep CPLST", DATA, HELD_OUT), False),
        (Unit("ML-kNN", DATA, PROTOCOLS["cv"]), False),
        (Unit("ML-kNN", DATA, PROTOCOLS["paper"]), False),
        (Unit("ML-kNN", DATA, PROTOCOLS["resubstitution"]), True),
        (Unit("ML-kNN", DATA, HELD_OUT, search=Search("grid")), False),
        (Unit("k", DATA, HELD_OUT, estimator=KNeighborsClassifier()), True),
        # A tuner draws folds.
        (Unit("k", DATA, HELD_OUT, estimator=KNeighborsClassifier(), threshold="linear"), False),
    ],
)
def test_what_repetitions_change(unit: Unit, same: bool) -> None:
    assert unit.same_in_every_repetition is same


def test_settings_are_what_differs_from_the_defaults() -> None:
    svm = changed_settings(make_method("BR-SVM", n_jobs=2, random_state=3))
    assert list(svm) == ["estimator"]
    assert json.loads(json.dumps(svm)) == svm
    (_, scaler), (_, machine) = svm["estimator"]["steps"]
    assert scaler == {"class": "splmll.feature_scaling.DenseStandardScaler"}
    assert machine == {"class": "sklearn.svm._classes.SVC"}


def test_rounding_that_would_tie_scores_is_not_done() -> None:
    close = np.array([[0.5, 0.5 + 1e-9], [0.1, 0.2]])
    assert compact(close) is close
    assert compact(close[:, [0, 0]]).dtype == np.float32  # equal before, equal after


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preprocessing": "robust"}, "Unknown preprocessing 'robust': use one of none, standard"),
        ({"threshold": "mikro"}, "Unknown threshold rule 'mikro': pass a number or one of"),
        ({"threshold": "nan"}, "A fixed threshold must be a finite number"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Unit("BR", DATA, HELD_OUT, **options)
