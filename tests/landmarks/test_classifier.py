"""What a fitted SPLMLL says of itself, and that prediction is f(x) B A."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, QUICK_NETWORK, make_problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score

from splmll import SPLMLL, evaluate, load_dataset

MODELS = {
    "linear": SPLMLL("linear", random_state=0),
    "hard": SPLMLL("linear", selection="hard", n_landmarks=3, random_state=0),
    "labels": SPLMLL("linear", recovery="labels", random_state=0),
    "uncentred": SPLMLL("linear", center=False, random_state=0),
    "kernel": SPLMLL("kernel", random_state=0),
    "network": SPLMLL("mlp", **QUICK_NETWORK),
    "regressor": SPLMLL(Ridge(), cv=3, random_state=0),
    "list": SPLMLL(["linear", "kernel"], cv=3, random_state=0),
    "two steps": SPLMLL("linear", joint=False, random_state=0),
    "all": SPLMLL("linear", selection="all", random_state=0),
    "algorithm1": SPLMLL.as_published(linear=True, max_epochs=20, random_state=0),
    "algorithm1 with folds": SPLMLL(
        "linear", solver="algorithm1", cv=2, max_epochs=20, learning_rate=0.02, random_state=0
    ),
    "algorithm1 with a budget": SPLMLL.as_published(
        linear=True, max_epochs=10, n_landmarks=3, random_state=0
    ),
}


@pytest.fixture(scope="module")
def fitted() -> dict[str, SPLMLL]:
    X, Y = make_problem()
    return {name: model.fit(X, Y) for name, model in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_the_decision_is_f_b_a(fitted: dict[str, SPLMLL], name: str) -> None:
    model = fitted[name]
    X, Y = make_problem(50, seed=1)
    f = model.transform(X)
    assert f.shape == (50, len(model.landmarks_))
    assert model.recovery_.shape == (len(model.landmarks_), Y.shape[1])
    weights = model.selection_[model.landmarks_]
    by_hand = (f * weights) @ model.recovery_ + model.intercept_ - model.offset_
    assert_allclose(model.decision_function(X), by_hand, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", MODELS)
def test_probability_decision_and_label_agree(fitted: dict[str, SPLMLL], name: str) -> None:
    model = fitted[name]
    X, _ = make_problem(300, seed=1)
    decision, probability = model.decision_function(X), model.predict_proba(X)
    assert probability.min() >= 0
    assert probability.max() <= 1
    assert_array_equal(probability > 0.5, decision > 0)
    assert_array_equal(model.predict(X) == 1, decision > 0)
    assert 0 < model.predict(X).mean() < 1


@pytest.mark.parametrize("name", MODELS)
def test_the_landmarks_are_the_labels_with_weight(fitted: dict[str, SPLMLL], name: str) -> None:
    model = fitted[name]
    assert_array_equal(np.sort(model.landmarks_), np.flatnonzero(model.selection_))
    strength = np.abs(model.selection_[model.landmarks_])
    assert (np.diff(strength) <= 0).all()
    assert len(model.landmarks_) > 0
    assert model.n_iter_ >= 1


@pytest.mark.parametrize("name", ["linear", "labels", "two steps", "algorithm1", "uncentred"])
def test_the_terms_of_the_objective_add_up(fitted: dict[str, SPLMLL], name: str) -> None:
    table = fitted[name].objective_
    terms = ["predictability", "representativeness", "identity", "sparsity", "ridge"]
    assert_allclose(table[terms].sum(axis=1), table["objective"], rtol=1e-6)
    assert (table[terms] >= -1e-9).all().all()
    assert table["objective"].iloc[-1] < table["objective"].iloc[0]
    if fitted[name].solver == "exact":
        assert table["objective"].diff().max() <= 1e-9


def test_a_label_that_others_tell_is_no_landmark() -> None:
    X, Y = make_problem()
    unpredictable = np.random.default_rng(0).permutation(Y[:, 0])
    # Three labels that are almost one: no more than one of them is needed.
    flips = np.random.default_rng(1).random((200, 2)) < 0.02
    copies = unpredictable[:, None] ^ flips
    labels = np.column_stack([Y[:, :3], unpredictable, copies])
    model = SPLMLL("linear", random_state=0).fit(X, labels)
    assert len(set(model.landmarks_) & {3, 4, 5}) == 1
    assert set(model.landmarks_) >= {0, 1, 2}


def test_predictability_and_representativeness(fitted: dict[str, SPLMLL]) -> None:
    model = fitted["linear"]
    assert model.predictability_[:3].min() > 0.3
    assert model.predictability_[7] < 0.05
    assert (model.predictability_ <= 1).all()
    assert model.representativeness_.argmin() == 7
    assert ((model.representativeness_ > 0) & (model.representativeness_ <= 1)).all()


def test_a_copied_label_is_more_representative() -> None:
    X, Y = make_problem()
    alone = SPLMLL("linear").fit(X, Y[:, [0, 1, 2, 7]]).representativeness_
    copied = SPLMLL("linear").fit(X, Y[:, [0, 1, 2, 7, 7]]).representativeness_
    assert copied[3] > alone[3]
    assert copied[3] == pytest.approx(copied[4])
    single = SPLMLL("linear").fit(X, Y[:, :1])
    assert single.representativeness_ == pytest.approx([1.0])


def test_predictability_is_measured_out_of_fold() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 40)), rng.integers(0, 2, (60, 2))
    # Forty features fit sixty rows of pure noise well, but only those rows.
    in_sample = SPLMLL("linear", cv=None, recovery="labels", threshold=0.5, alpha=1e-6).fit(X, Y)
    honest = SPLMLL("linear", alpha=1e-6, random_state=0).fit(X, Y)
    assert in_sample.predictability_.min() > 0.4
    assert honest.predictability_.max() < 0.0


def test_names_of_labels() -> None:
    X, Y = make_problem()
    frame = pd.DataFrame(Y, columns=NAMES)
    named, numbered = (SPLMLL("linear", random_state=0).fit(X, labels) for labels in (frame, Y))
    assert list(named.label_names_in_) == NAMES
    assert list(named.landmarks_) == [NAMES[j] for j in numbered.landmarks_]
    assert numbered.landmarks_.dtype.kind == "i"
    assert not hasattr(numbered, "label_names_in_")
    predicted = named.predict(X[:5])
    assert list(predicted.columns) == NAMES
    assert_array_equal(predicted.to_numpy(), numbered.predict(X[:5]))


def test_features_and_labels_in_every_form() -> None:
    X, Y = make_problem()
    expected = SPLMLL("linear", random_state=0).fit(X, Y).decision_function(X)
    frame = pd.DataFrame(X).add_prefix("f")
    for x in (sparse.csr_array(X), frame):
        for y in (sparse.csr_array(Y), pd.DataFrame(Y, columns=NAMES)):
            model = SPLMLL("linear", random_state=0).fit(x, y)
            assert_allclose(model.decision_function(x), expected, atol=1e-8)
    assert sparse.issparse(SPLMLL("linear").fit(X, sparse.csr_array(Y)).predict(X))


def test_score_is_the_share_of_rows_with_all_labels_right() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear").fit(X, Y)
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X))
    assert model.score(X, Y) > 0.2


def test_a_vector_is_one_label() -> None:
    X, Y = make_problem()
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = SPLMLL("linear", random_state=0).fit(X, y)
    assert list(model.classes_) == ["no", "yes"]
    assert model.decision_function(X).shape == (200,)
    assert model.predict_proba(X).shape == (200, 2)
    assert model.score(X, y) > 0.8
    column = SPLMLL("linear", random_state=0).fit(X, Y[:, [0]])
    assert_array_equal(column.predict(X)[:, 0] == 1, model.predict(X) == "yes")


def test_transform_gives_named_columns() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=0).fit(X, pd.DataFrame(Y, columns=NAMES))
    assert list(model.get_feature_names_out()) == list(model.landmarks_)
    plain = model.transform(X)
    frame = model.set_output(transform="pandas").transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(model.landmarks_)
    assert_array_equal(frame.to_numpy(), plain)
    # f(x) of a landmark goes with its own label.
    for column, name in enumerate(model.landmarks_):
        label = Y[:, NAMES.index(name)]
        assert np.corrcoef(plain[:, column], label)[0, 1] > 0.1
    numbered = SPLMLL("linear", random_state=0).fit(X, Y)
    assert list(numbered.get_feature_names_out()) == [f"landmark{j}" for j in numbered.landmarks_]


def test_the_same_seed_gives_the_same_model_and_another_seed_another() -> None:
    X, Y = make_problem()
    one = SPLMLL("mlp", **QUICK_NETWORK).fit(X, Y)
    again = SPLMLL("mlp", **QUICK_NETWORK).fit(X, Y)
    other = SPLMLL("mlp", **{**QUICK_NETWORK, "random_state": 1}).fit(X, Y)
    assert_array_equal(one.decision_function(X), again.decision_function(X))
    assert np.abs(one.decision_function(X) - other.decision_function(X)).max() > 1e-3


def test_the_random_state_of_torch_is_left_alone() -> None:
    import torch

    X, Y = make_problem()
    before = torch.random.get_rng_state()
    SPLMLL("mlp", **QUICK_NETWORK).fit(X, Y)
    SPLMLL.as_published(linear=True, max_epochs=2).fit(X, Y)
    assert torch.equal(torch.random.get_rng_state(), before)


# Warm start ------------------------------------------------------------------------------------


def test_warm_start_continues_a_network() -> None:
    X, Y = make_problem()
    short = {**QUICK_NETWORK, "max_epochs": 3}
    cold = SPLMLL("mlp", **short).fit(X, Y)
    warm = SPLMLL("mlp", warm_start=True, **short).fit(X, Y)
    assert_array_equal(cold.decision_function(X), warm.decision_function(X))
    first = warm.predictability_[:3].mean()
    for _ in range(3):
        warm.fit(X, Y)
        cold.fit(X, Y)
    # Twelve epochs in four parts are better than three epochs four times.
    assert warm.predictability_[:3].mean() > first + 0.05
    assert cold.predictability_[:3].mean() == pytest.approx(first)


def test_warm_start_continues_algorithm1() -> None:
    X, Y = make_problem()
    model = SPLMLL.as_published(linear=True, max_epochs=8, warm_start=True, random_state=0)
    end = model.fit(X, Y).objective_["objective"].iloc[-1]
    again = model.fit(X, Y).objective_["objective"]
    assert again.iloc[0] == pytest.approx(end, rel=1e-5)
    assert again.iloc[-1] < end
    cold = SPLMLL.as_published(linear=True, max_epochs=8, random_state=0)
    start = cold.fit(X, Y).objective_["objective"].iloc[0]
    assert cold.fit(X, Y).objective_["objective"].iloc[0] == pytest.approx(start)
    assert start > 1.5 * end


@pytest.mark.parametrize(
    "model",
    [
        SPLMLL("mlp", warm_start=True, **{**QUICK_NETWORK, "max_epochs": 1}),
        SPLMLL.as_published(linear=True, max_epochs=1, warm_start=True),
    ],
    ids=["network", "algorithm1"],
)
def test_warm_start_needs_the_same_labels_and_features(model: SPLMLL) -> None:
    X, Y = make_problem(60)
    with pytest.raises(ValueError, match=r"8 labels and 10 features; these rows have 5 and 10"):
        model.fit(X, Y).fit(X, Y[:, :5])
    with pytest.raises(ValueError, match=r"and 10 features; these rows have 8 and 4.*begin anew"):
        clone(model).fit(X, Y).fit(X[:, :4], Y)
    model.set_params(warm_start=False).fit(X, Y[:, :5])
    assert model.predict(X).shape == (60, 5)


# Real data -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "floors"),
    [
        pytest.param(SPLMLL("linear", random_state=0), (0.20, 0.765, 0.655), id="linear"),
        pytest.param(
            SPLMLL("mlp", hidden_layer_sizes=(64,), n_repeats=1, cv=3, random_state=0),
            (0.17, 0.79, 0.68),
            id="network",
        ),
    ],
)
def test_floors_on_emotions(data_home: Any, model: SPLMLL, floors: tuple[float, ...]) -> None:
    X, Y, X_test, Y_test = load_dataset("emotions", data_home=data_home).split()
    model.fit(X, Y)
    measures = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    assert measures["ranking_loss"] <= floors[0]
    assert measures["average_precision"] >= floors[1]
    assert measures["micro_f1"] >= floors[2]
