"""The catalogue: every method of the paper by its name, and what it says of each is true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC

from splmll.base import MultilabelClassifier
from splmll.catalogue import GROUPS, METHODS, OURS, make_method
from splmll.experiments.published import published
from splmll.methods import BinaryRelevance
from splmll.published import PublishedSPLMLL

# Members that take a moment on 80 rows, made smaller.
QUICK: dict[str, dict[str, Any]] = {
    "Deep CPLST": {"regressor__hidden_layer_sizes": (8,), "regressor__max_epochs": 3},
    "Deep FaIE": {"regressor__hidden_layer_sizes": (8,), "regressor__max_epochs": 3},
    "RF": {"n_estimators": 15},
    "C2AE": {"feature_layer_sizes": (8,), "label_layer_sizes": (8,), "max_epochs": 3},
}

every_method = pytest.mark.parametrize("name", METHODS)


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    return X, (X @ rng.normal(size=(5, 4)) > 0).astype(int)


def test_every_compared_method_of_the_tables_is_there() -> None:
    printed = published()
    compared = set(printed.loc[printed["table"] == 2, "method"]) - {"SPL-MLL", "SPL-MLL (linear)"}
    assert compared == {name for name, method in METHODS.items() if method.group == "general"}
    reduced = set(printed.loc[printed["table"] == 3, "method"]) - {"SPL-MLL"}
    # PLST, on which CPLST builds, has no row of its own there.
    assert reduced | {"PLST"} == {
        name for name, method in METHODS.items() if method.group == "label space"
    }
    assert {method.group for method in METHODS.values()} == set(GROUPS)


@every_method
def test_a_new_estimator_every_time(name: str) -> None:
    one, other = METHODS[name].make(), METHODS[name].make()
    assert isinstance(one, MultilabelClassifier)
    assert one is not other
    for key, value in one.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            assert value is not other.get_params(deep=False)[key]
    assert repr(clone(one)) == repr(one)


@every_method
def test_it_says_where_it_comes_from(name: str) -> None:
    method = METHODS[name]
    assert method.name == name
    assert any(str(year) in method.reference for year in range(1990, 2021))
    assert method.capabilities.cost


@every_method
def test_capabilities_are_true(name: str, problem: tuple[np.ndarray, np.ndarray]) -> None:
    X, Y = problem
    method = METHODS[name]
    unknown = Y.astype(float)
    unknown[0, 0] = np.nan
    model = method.make(**QUICK.get(name, {}))
    attempts = {
        "sparse_features": (sparse.csr_array(X), Y),
        "unknown_labels": (X, unknown),
    }
    for capability, (features, labels) in attempts.items():
        if getattr(method.capabilities, capability):
            assert np.isfinite(clone(model).fit(features, labels).decision_function(X)).all()
        else:
            with pytest.raises((TypeError, ValueError)):
                clone(model).fit(features, labels)
    if method.capabilities.ranking_only:
        # No fixed cut: more rows with the label move it.
        rare = clone(model).fit(X, (Y.sum(axis=1, keepdims=True) > [3, 3, 2, 2]).astype(int))
        assert rare.offset_ != clone(model).fit(X, Y).offset_


def test_parameters_go_to_the_estimator_and_its_parts() -> None:
    assert make_method("ML-kNN", n_neighbors=3).n_neighbors == 3
    machine = make_method("BR-SVM", estimator__svc__C=7.0)
    assert isinstance(machine, BinaryRelevance)
    assert isinstance(machine.estimator[-1], SVC)
    assert machine.estimator[-1].C == 7.0
    # The catalogue itself is not touched by it.
    assert make_method("BR-SVM").estimator[-1].C == SVC().C
    with pytest.raises(ValueError, match="n_neighbours"):
        make_method("ML-kNN", n_neighbours=3)


def test_ours_are_known_by_name_too() -> None:
    assert repr(make_method("spl-mll (LINEAR)", pull=0.3)) == "SPLMLL(embedding='linear', pull=0.3)"
    assert repr(make_method("SPL-MLL as published")) == "PublishedSPLMLL()"
    assert make_method("SPL-MLL (linear) as published").linear
    released = make_method("SPL-MLL as released")
    assert released.get_params() == PublishedSPLMLL.as_released().get_params()
    assert not OURS.keys() & METHODS.keys()


def test_names_in_any_case_and_a_hint_for_typos() -> None:
    assert type(make_method("rakel")) is type(make_method("RAkEL"))
    with pytest.raises(ValueError, match="Did you mean 'RAkEL'"):
        make_method("rakle")
    with pytest.raises(ValueError, match=r"no method 'xyz'. There are BR, LP"):
        make_method("xyz")


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.seedless])
def test_what_needs_no_seed_is_the_same_with_any(
    name: str, problem: tuple[np.ndarray, np.ndarray]
) -> None:
    X, Y = problem
    one, other = (METHODS[name].make(random_state=seed).fit(X, Y) for seed in (0, 1))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
