"""The search for settings: what is tried, on which rows, and that the best is taken."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiment_problems import Noting, small_data
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from splmll import SPLMLL
from splmll.catalogue import METHODS
from splmll.embeddings import Linear, Network
from splmll.experiments.contestants import CONTESTANTS
from splmll.experiments.protocol import PROTOCOLS
from splmll.experiments.runner import Experiment
from splmll.experiments.search import Search, candidates, choose_settings, search_space
from splmll.experiments.unit import Unit, run_unit
from splmll.methods import MLkNN, RAkEL
from splmll.model_selection import ThresholdTuner

# Settings that cannot be fitted are part of these tests.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test"
)

DATA = small_data(n_rows=240, split=True)


class Tunable(Noting):
    """The nearer `a` is to 7, the less noise is in its scores; counts the fits."""

    search_space = {"a": range(1, 10), "b": ("x", "y")}  # noqa: RUF012
    fitted_on: list[Any] = []  # noqa: RUF012

    def __init__(self, a: int = 1, b: str = "x", random_state: int | None = None) -> None:
        self.a = a
        self.b = b
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> Any:
        if self.a == 9:
            raise ValueError("nine is impossible")
        self.fitted_on.append((self.a, self.b, X))
        self.n_labels_ = Y.shape[1]
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        noise = np.random.default_rng(0).normal(size=(len(X), 3))
        truth = np.array([DATA.Y[row] for row in map(self._row, X)])
        return truth + abs(self.a - 7) * noise

    @staticmethod
    def _row(x: np.ndarray) -> int:
        return int(np.flatnonzero((x == DATA.X).all(axis=1))[0])

    def predict(self, X: Any) -> np.ndarray:
        return (self.decision_function(X) > 0.5).astype(int)


@pytest.fixture(autouse=True)
def forget() -> None:
    Tunable.fitted_on.clear()


def test_the_best_of_all_is_found() -> None:
    unit = Unit("t", DATA, PROTOCOLS["held-out"], estimator=Tunable(), search=Search("grid", 30))
    result = run_unit(unit)
    assert result.settings is not None
    assert result.settings["a"] == 7
    assert result.measures["average_precision"] == 1.0
    assert result.search_seconds > 0


def test_the_search_sees_training_rows_only() -> None:
    run_unit(Unit("t", DATA, PROTOCOLS["held-out"], estimator=Tunable(), search=Search("grid", 4)))
    test_rows = {tuple(x) for x in DATA.X[DATA.test]}
    seen = {tuple(x) for _, _, X in Tunable.fitted_on for x in X}
    assert seen
    assert not seen & test_rows
    assert len(Tunable.fitted_on[-1][2]) == 120  # the last fit has all training rows


def test_validation_rows_judge_and_are_never_learnt_from() -> None:
    unit = Unit("t", DATA, PROTOCOLS["paper"], estimator=Tunable(), search=Search("grid", 5))
    (part,) = unit.protocol.repetition(DATA, 0)
    assert part.validation is not None
    run_unit(unit)
    for _, _, X in Tunable.fitted_on:
        assert {tuple(x) for x in X} <= {tuple(x) for x in DATA.X[part.train]}
    assert len(Tunable.fitted_on[-1][2]) == len(part.train)


def test_when_nothing_can_be_fitted_the_error_says_why() -> None:
    class Impossible(Tunable):
        search_space = {"b": ("x", "y", "z")}  # noqa: RUF012

        def fit(self, X: Any, Y: Any) -> Any:
            raise ValueError("nothing is possible")

    with pytest.raises(ValueError, match="nothing is possible"):
        choose_settings(Search("grid"), Impossible(), DATA.X, DATA.Y)


def test_every_candidate_is_tried_on_every_fold() -> None:
    search = Search("grid", n_candidates=6, n_folds=4)
    run_unit(Unit("t", DATA, PROTOCOLS["held-out"], estimator=Tunable(), search=search))
    settings = {(a, b) for a, b, _ in Tunable.fitted_on[:-1]}
    assert (1, "x") in settings  # what the method comes with
    impossible = {c["a"] for c in candidates(Tunable(), Tunable.search_space, 6, 0)} & {9}
    assert len(settings) == 6 - len(impossible)
    assert len(Tunable.fitted_on) == 4 * len(settings) + 1


def test_the_budget_is_the_same_for_all_methods() -> None:
    for name, method in CONTESTANTS.items():
        model = method.make()
        space = search_space(model)
        n_points = int(np.prod([len(values) for values in space.values()]))
        tried = candidates(model, space, 5, seed=0)
        assert len(tried) <= 5, name
        assert len(tried) >= min(5, n_points), name


def test_candidates_are_different_and_drawn_by_the_seed() -> None:
    space = {"a": range(10), "b": range(10)}
    first, again, other = (candidates(Tunable(), space, 20, seed) for seed in (0, 0, 1))
    assert first == again != other
    assert len({tuple(settings.items()) for settings in first}) == 20
    assert first[0] == {"a": 1, "b": "x"}
    everything = candidates(Tunable(), {"a": (1, 2), "b": ("x", "y")}, 99, 0)
    assert len(everything) == 4


def test_what_was_chosen_on_purpose_stays() -> None:
    assert set(search_space(MLkNN())) == {"n_neighbors", "scale"}
    assert set(search_space(MLkNN(scale=None))) == {"n_neighbors"}
    svm = search_space(METHODS["BR-SVM"].make())
    assert set(svm) == {"estimator__svc__C"}
    assert "estimator" in search_space(METHODS["BR"].make())
    assert set(search_space(SPLMLL())) == {"embedding", "scoring", "n_landmarks"}
    assert set(search_space(SPLMLL("linear", n_landmarks=3))) == {"scoring"}
    assert search_space(CONTESTANTS["SPL-MLL as published"].make()) == {}


def test_an_embedding_that_is_an_object_is_searched_too() -> None:
    assert "embedding__dropout" in search_space(SPLMLL(Network((8,))))
    assert "embedding__ridge" in search_space(SPLMLL(Linear()))
    assert "embedding__ridge" not in search_space(SPLMLL(Linear(ridge=0.5)))


@pytest.mark.parametrize("embedding", ["auto", Network((8,)), Linear()])
def test_every_value_of_spl_mll_is_one_it_takes(embedding: Any) -> None:
    for name, values in search_space(SPLMLL(embedding)).items():
        for value in values:
            SPLMLL(embedding).set_params(**{name: value}).estimate_cost(DATA.X, DATA.Y)


def test_the_method_is_found_inside_pipelines_and_tuners() -> None:
    model = make_pipeline(MinMaxScaler(), ThresholdTuner(RAkEL()))
    names = set(search_space(model))
    assert names == {
        "thresholdtuner__estimator__estimator",
        "thresholdtuner__estimator__labelset_size",
    }
    assert names <= set(model.get_params())
    assert search_space(MinMaxScaler()) == {}


@pytest.mark.parametrize("name", list(METHODS))
def test_all_values_of_all_methods_can_be_set(name: str) -> None:
    model = METHODS[name].make()
    space = search_space(model)
    assert space, "there is nothing to search"
    for parameter, values in space.items():
        assert len(values) > 1
        for value in values:
            assert model.set_params(**{parameter: value}).get_params()[parameter] is value
        model = METHODS[name].make()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ML-kNN", "RAkEL", "BR", "CPLST", "HNOML", "SPL-MLL (linear)"])
def test_real_methods(name: str) -> None:
    unit = Unit(name, small_data(split=True), PROTOCOLS["held-out"], search=Search("grid", 4))
    result = run_unit(unit)
    assert result.status == "done"
    json.dumps(result.settings)


def test_nothing_to_search_is_no_search() -> None:
    assert choose_settings(Search("grid"), Noting(), DATA.X, DATA.Y) == {}
    assert choose_settings(Search(), MLkNN(), DATA.X, DATA.Y) == {}


def test_searched_units_go_into_the_store(tmp_path: Path) -> None:
    experiment = Experiment(
        DATA, [("t", Tunable())], repetitions=2, search=Search("grid", 30), preprocessing="none"
    )
    results = experiment.run(tmp_path, isolate=False)
    assert [json.loads(text)["a"] for text in results["settings"]] == [7, 7]
    assert results["settings_hash"].nunique() == 1
    assert set(results["search_description"]) == {
        "Settings by grid search: 30 candidates each, judged by average precision."
    }


def test_a_search_of_some_parameters_leaves_the_others_alone() -> None:
    found = choose_settings(Search("grid", 30, parameters=("b",)), Tunable(), DATA.X, DATA.Y)
    assert list(found) == ["b"]
    assert {a for a, _, _ in Tunable.fitted_on} == {1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "bayes"}, "Unknown search 'bayes': use one of none, grid"),
        ({"scoring": "f1"}, "Unknown measure 'f1' to search by"),
        ({"n_candidates": 0}, "n_candidates must be at least 1"),
    ],
)
def test_impossible_searches_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Search(**options)
