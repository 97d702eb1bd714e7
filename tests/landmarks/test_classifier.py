"""What a fitted SPLMLL says of itself, and that prediction is f(x) M."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, make_problem, quick_network
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score

from splmll import SPLMLL, PublishedSPLMLL, evaluate, load_dataset
from splmll.embeddings import Blend, Linear, Network, Trees
from splmll.landmarks.learning import predictability
from splmll.statistics import Statistics
from splmll.thresholds import RULES, GlobalThreshold

MODELS = {
    "linear": SPLMLL("linear", random_state=0),
    "three": SPLMLL("linear", n_landmarks=3, random_state=0),
    "kernel": SPLMLL("kernel", random_state=0),
    "svm": SPLMLL("svm", random_state=0),
    "svm, three": SPLMLL("svm", n_landmarks=3, random_state=0),
    "network": SPLMLL(quick_network(), cv=3, random_state=0),
    "regressor": SPLMLL(Ridge(), cv=3, random_state=0),
    "list": SPLMLL(["linear", "kernel"], cv=3, random_state=0),
    "trees": SPLMLL(Trees(n_estimators=10), cv=3, random_state=0),
    "given pull": SPLMLL("linear", pull=0.1, random_state=0),
}


@pytest.fixture(scope="module")
def fitted() -> dict[str, SPLMLL]:
    X, Y = make_problem()
    return {name: model.fit(X, Y) for name, model in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_the_decision_is_f_times_m(fitted: dict[str, SPLMLL], name: str) -> None:
    model = fitted[name]
    X, Y = make_problem(50, seed=1)
    f = model.transform(X)
    assert f.shape == (50, len(model.landmarks_))
    assert model.recovery_.shape == (len(model.landmarks_), Y.shape[1])
    assert_array_equal(model.landmark_weights_, model.recovery_)
    setting = model.learned_.setting
    flat = f
    if setting.shape != (1.0, 0.0):
        flat = expit(setting.softness * (logit(np.clip(f, 1e-9, 1)) + setting.lean))
    by_hand = flat @ model.recovery_ + model.intercept_
    if setting.tail:
        by_hand[:, model.landmarks_] += setting.tail * np.log10(np.maximum(f, 1e-9))
    assert_allclose(model.decision_function(X), by_hand - model.offset_, rtol=0, atol=1e-6)


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
def test_the_landmarks_are_the_selected_labels(fitted: dict[str, SPLMLL], name: str) -> None:
    model = fitted[name]
    assert_array_equal(np.sort(model.landmarks_), np.flatnonzero(model.selection_))
    assert set(model.selection_) <= {0.0, 1.0}
    assert len(model.landmarks_) > 0
    strengths = model.landmark_strengths_
    assert strengths.shape == model.landmarks_.shape
    assert (strengths >= -1e-9).all()
    assert strengths.sum() <= 1
    assert strengths[0] == strengths.max()


@pytest.mark.parametrize("name", MODELS)
def test_measures_of_f_alone_and_of_the_model(fitted: dict[str, SPLMLL], name: str) -> None:
    measures = fitted[name].measures_
    assert list(measures.index) == ["embedding alone", "with landmarks"]
    assert {"average_precision", "ranking_loss", "micro_f1"} <= set(measures.columns)
    assert ((measures >= 0) & (measures <= 1)).all().all()
    # They are those of rows that were not seen: about what new rows give.
    X, Y = make_problem(1000, seed=1)
    found = evaluate(Y, fitted[name].decision_function(X), None, ["average_precision"])
    honest = measures.loc["with landmarks", "average_precision"]
    assert honest == pytest.approx(found["average_precision"], abs=0.05)


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
    model = SPLMLL(Linear(ridge=1e-6), n_landmarks=2, random_state=0).fit(X, Y)
    seen = model.transform(X)
    assert min(np.corrcoef(seen[:, i], Y[:, j])[0, 1] for i, j in enumerate(model.landmarks_)) > 0.7
    assert model.predictability_.max() < 0.1


def test_predictability_is_the_squared_correlation() -> None:
    X, Y = make_problem()
    fold = np.arange(200) % 4
    F = Linear(ridge=0.1).fit(X, Y, fold).out_of_fold_
    sums = Statistics.of(F, Y.astype(float), label_pairs=False)
    found = predictability(sums, np.arange(8), np.ones(8, dtype=bool))
    for j in range(8):
        correlation = np.corrcoef(F[:, j], Y[:, j])[0, 1]
        assert found[j] == pytest.approx(max(correlation, 0.0) ** 2)


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
    linear = Linear(scale="standard")
    expected = SPLMLL(linear, random_state=0).fit(X, Y).decision_function(X)
    frame = pd.DataFrame(X).add_prefix("f")
    for x in (sparse.csr_array(X), frame):
        for y in (sparse.csr_array(Y), pd.DataFrame(Y, columns=NAMES)):
            model = SPLMLL(linear, random_state=0).fit(x, y)
            assert_allclose(model.decision_function(x), expected, atol=1e-8)
    assert sparse.issparse(SPLMLL("linear").fit(X, sparse.csr_array(Y)).predict(X))


def test_score_is_the_share_of_rows_with_all_labels_right() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear").fit(X, Y)
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X))
    assert model.score(X, Y) > 0.2


@pytest.mark.parametrize("name", ["linear", "svm", "trees", "list"])
def test_progress_never_falls_and_stays_within_the_whole(name: str) -> None:
    X, Y = make_problem(120)
    told: list[tuple[str, float]] = []
    clone(MODELS[name]).fit_out_of_fold(X, Y, lambda *what: told.append(what))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] <= 1
    choosing = [what for what, _ in told].index("landmarks and recovery")
    assert 0.5 < shares[choosing] < 1  # predictions take most of the time


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


@pytest.mark.parametrize(
    "embedding", ["linear", "svm", quick_network(), Trees(n_estimators=5)], ids=str
)
def test_the_same_seed_gives_the_same_model(embedding: Any) -> None:
    X, Y = make_problem()
    one, again = (SPLMLL(embedding, cv=2, random_state=0).fit(X, Y) for _ in range(2))
    assert_array_equal(one.landmarks_, again.landmarks_)
    assert_array_equal(one.decision_function(X), again.decision_function(X))
    pd.testing.assert_frame_equal(one.path_, again.path_)
    other = SPLMLL(embedding, cv=2, random_state=1).fit(X, Y)
    assert np.abs(one.decision_function(X) - other.decision_function(X)).max() > 1e-6


# Thresholds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [*RULES, 0.3])
def test_every_threshold_rule(rule: Any) -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", threshold=rule, random_state=0).fit(X, Y)
    X_test, Y_test = make_problem(300, seed=1)
    predicted = model.predict(X_test)
    assert evaluate(Y_test, model.decision_function(X_test), predicted)["micro_f1"] > 0.6
    assert model.thresholds_.shape == (8,)
    if rule == "per_label":
        assert len(np.unique(model.thresholds_)) > 1
    elif rule in ("top_r", "linear"):
        assert np.isnan(model.thresholds_).all()
    else:
        assert_allclose(model.thresholds_, model.offset_)
        assert_array_equal(predicted == 1, model.decision_function(X_test) > 0)
    if rule == 0.3:
        assert model.threshold_ == GlobalThreshold(0.3)


def test_too_few_rows_keep_the_default_threshold() -> None:
    X, Y = make_problem(49)
    assert SPLMLL("linear").fit(X, Y).threshold_ == GlobalThreshold(0.5)
    X, Y = make_problem(60)
    assert SPLMLL("linear", random_state=0).fit(X, Y).threshold_ != GlobalThreshold(0.5)


def test_scoring_decides() -> None:
    X, Y = make_problem(150)
    for name in ("hamming_loss", "macro_f1"):
        model = SPLMLL("linear", scoring=name, random_state=0).fit(X, Y)
        assert name in model.path_.columns
        assert name in model.measures_.columns


# Warm start -------------------------------------------------------------------------------------


def test_warm_start_continues_a_network() -> None:
    X, Y = make_problem()
    short = quick_network(max_epochs=3)
    cold = SPLMLL(short, cv=3, random_state=0).fit(X, Y)
    warm = SPLMLL(short, cv=3, warm_start=True, random_state=0).fit(X, Y)
    assert_array_equal(cold.decision_function(X), warm.decision_function(X))
    first = warm.predictability_[:3].mean()
    for _ in range(3):
        warm.fit(X, Y)
        cold.fit(X, Y)
    # Twelve epochs in four parts are better than three epochs four times.
    assert warm.predictability_[:3].mean() > first + 0.02
    assert cold.predictability_[:3].mean() == pytest.approx(first)


def test_warm_start_continues_the_networks_of_a_blend() -> None:
    X, Y = make_problem()
    blend = Blend([quick_network(max_epochs=3), Linear()])
    settings = {"cv": 2, "n_landmarks": 1.0, "random_state": 0}
    warm = SPLMLL(blend, warm_start=True, **settings).fit(X, Y)
    before = warm.embedding_.members_[0].predict(X)
    again = warm.fit(X, Y).embedding_.members_[0].predict(X)
    cold = SPLMLL(blend, **settings).fit(X, Y).embedding_.members_[0].predict(X)
    assert_allclose(cold, before, atol=1e-6)
    assert np.abs(again - before).max() > 1e-3


def test_warm_start_needs_the_same_labels_and_features() -> None:
    X, Y = make_problem(60)
    model = SPLMLL(quick_network(max_epochs=1), cv=2, warm_start=True)
    with pytest.raises(ValueError, match=r"8 labels and 10 features; these rows have 5 and 10"):
        model.fit(X, Y).fit(X, Y[:, :5])
    with pytest.raises(ValueError, match=r"and 10 features; these rows have 8 and 4.*start over"):
        clone(model).fit(X, Y).fit(X[:, :4], Y)
    model.set_params(warm_start=False).fit(X, Y[:, :5])
    assert model.predict(X).shape == (60, 5)


def test_the_published_system_is_an_estimator_of_its_own() -> None:
    published = SPLMLL.as_published(linear=True, lambda1=0.7)
    assert isinstance(published, PublishedSPLMLL)
    assert (published.linear, published.lambda1) == (True, 0.7)


# Real data -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "floors"),
    [
        pytest.param(SPLMLL("linear", random_state=0), (0.20, 0.765, 0.655), id="linear"),
        pytest.param(
            SPLMLL(Network((64,)), cv=3, random_state=0), (0.18, 0.78, 0.68), id="network"
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
