"""SPLMLL in its variants as ONNX: embeddings, mixing, thresholds, kinds of input and of labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from onnx_runs import TOLERANCE, assert_same_outputs, export_and_compare, run
from scipy import sparse
from sklearn.linear_model import Perceptron, Ridge, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from torch import nn

from splmll import SPLMLL, PublishedSPLMLL
from splmll.embeddings import (
    Blend,
    Kernel,
    KernelSVM,
    Linear,
    Network,
    OneVsRest,
    TorchModule,
    Trees,
)
from splmll.landmarks.learning import AS_IT_IS, Setting
from splmll.methods import BinaryRelevance, NetworkRegressor
from splmll.model_selection import MultilabelCalibrator, ThresholdTuner
from splmll.onnx_export import CannotExportError, export_onnx, largest_difference
from splmll.onnx_export.verification import example_rows
from splmll.thresholds import RULES


def problem(n_rows: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """Features of very different sizes, and five labels of which two follow from others."""
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(n_rows, 6))
    X = hidden * [1.0, 1e-3, 50.0, 1.0, 1e3, 1.0] + [0.0, 1.0, 1000.0, -2.0, 1e5, 0.0]
    Y = (hidden[:, :3] + 0.3 * rng.normal(size=(n_rows, 3)) > 0.3).astype(int)
    return X, np.column_stack([Y, Y[:, 0] & Y[:, 1], Y[:, 1] | Y[:, 2]])


def small_network(**settings: Any) -> Network:
    return Network(**{"hidden_layer_sizes": (8,), "max_epochs": 5, "dropout": 0.1, **settings})


SMALL: dict[str, Any] = {
    "linear": Linear(),
    "mlp": small_network(),
    "kernel": Kernel(),
    "machines": KernelSVM(),
}
ALTERNATION: dict[str, Any] = {"learning_rate": 0.05, "max_epochs": 8}

VARIANTS: dict[str, Any] = {
    "linear": SPLMLL("linear"),
    "linear, not scaled": SPLMLL(Linear(scale=None)),
    "linear, few landmarks": SPLMLL("linear", n_landmarks=2),
    "linear, each label on its own": SPLMLL("linear", pull=np.inf),
    "network": SPLMLL(small_network(), cv=2),
    "network, squared error": SPLMLL(small_network(loss="squared"), cv=2),
    "network, two hidden layers": SPLMLL(small_network(hidden_layer_sizes=(8, 4)), cv=2),
    "network, few landmarks": SPLMLL(small_network(), n_landmarks=2, cv=2),
    "kernel": SPLMLL("kernel", cv=3),
    "kernel of few rows": SPLMLL(Kernel(n_components=20, scale=None, gamma=1e-7), cv=3),
    "linear classifiers": SPLMLL(make_pipeline(StandardScaler(), SGDClassifier()), cv=2),
    "ridge classifiers": SPLMLL(RidgeClassifier(), cv=2),
    "perceptrons": SPLMLL(make_pipeline(StandardScaler(), Perceptron()), cv=2),
    "blend": SPLMLL([Linear(), Kernel(), small_network(), RidgeClassifier()], cv=2),
    "blend, few landmarks": SPLMLL(Blend(["linear", "kernel"]), n_landmarks=2, cv=2),
    "regressors": SPLMLL(Ridge(), cv=2),
    "pipelines of regressors": SPLMLL(make_pipeline(StandardScaler(), Ridge()), cv=2),
    "networks as regressors": SPLMLL(NetworkRegressor((8,), max_epochs=5), cv=2),
    "as published": PublishedSPLMLL(hidden_layer_sizes=(8,), **ALTERNATION),
    "as published, linear": PublishedSPLMLL(linear=True, **ALTERNATION),
    "as published, without a sigmoid": PublishedSPLMLL(
        hidden_layer_sizes=(8,), output="identity", **ALTERNATION
    ),
    "as published, few landmarks": PublishedSPLMLL(
        linear=True, solver="exact", selection="hard", rho=1.0, n_landmarks=2
    ),
    "as released": PublishedSPLMLL.as_released(
        hidden_layer_sizes=(8,), max_epochs=5, learning_rate=0.05
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_variants(name: str, tmp_path: Path) -> None:
    X, Y = problem()
    model = VARIANTS[name].set_params(random_state=0).fit(X[:120], Y[:120])
    export_and_compare(model, X, tmp_path)


def test_linear_svms(tmp_path: Path) -> None:
    X, Y = problem()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SPLMLL("svm", random_state=0).fit(X[:120], Y[:120])
    export_and_compare(model, X, tmp_path)


@pytest.mark.parametrize(
    "setting",
    [
        Setting(),
        Setting(softness=0.5),
        Setting(tail=0.05),
        Setting(softness=0.35, tail=0.1),
        Setting(softness=2.0, lean=2.0),
        Setting(lean=1.0, tail=0.02),
        AS_IT_IS,
    ],
    ids=repr,
)
@pytest.mark.parametrize("certain", [False, True])
def test_every_way_of_mixing(setting: Setting, certain: bool, tmp_path: Path) -> None:
    """What is chosen depends on the data: here each is set by hand."""
    X, Y = problem()
    model = SPLMLL(OneVsRest(Ridge()), n_landmarks=3, cv=2, random_state=0).fit(X, Y)
    model.learned_ = replace(model.learned_, setting=setting)
    # Far out a regressor's predictions are cut off at 0 and 1, whose log-odds are infinite.
    rows = X.mean(axis=0) + 20 * (X - X.mean(axis=0)) if certain else X
    assert (np.isin(model.transform(rows), [0, 1]).mean() > 0.5) == certain
    export_and_compare(model, rows, tmp_path)


@pytest.mark.parametrize("estimator", ["auto", make_pipeline(StandardScaler(), RidgeClassifier())])
def test_a_label_that_no_model_was_learned_for(estimator: Any, tmp_path: Path) -> None:
    X, Y = problem()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SPLMLL(OneVsRest(estimator), pull=np.inf, random_state=0).fit(X, Y)
    models = model.embedding_.models_
    if estimator == "auto":
        models.weights[:, 1] = models.intercepts[1] = np.nan
    else:
        models.estimators[1] = None
    assert np.ptp(model.transform(X)[:, 1]) == 0
    export_and_compare(model, X, tmp_path)


@pytest.mark.parametrize("rule", [0.3, *RULES])
def test_threshold_rules(rule: Any, tmp_path: Path) -> None:
    X, Y = problem()
    model = SPLMLL("linear", threshold=rule, random_state=0).fit(X[:120], Y[:120])
    export_and_compare(model, X, tmp_path)


@pytest.mark.parametrize(
    ("method", "rule"),
    [
        ("predict_proba", 0.9),
        ("predict_proba", "per_label"),
        ("predict_proba", "top_r"),
        ("decision_function", 0.9),
        ("decision_function", "micro_f1"),
    ],
)
def test_a_tuned_model_that_never_predicts_nothing(method, rule, tmp_path: Path) -> None:
    X, Y = problem()
    inner = SPLMLL("linear", n_landmarks=3, pull=1.0, random_state=0)
    tuner = ThresholdTuner(inner, rule, method=method, never_empty=True, random_state=0)
    model = tuner.fit(X[:120], Y[:120])
    assert model.predict(X).sum(axis=1).min() >= 1
    export_and_compare(model, X, tmp_path)


def test_a_tuned_model_with_constant_labels(tmp_path: Path) -> None:
    X, Y = problem()
    Y[:, 0], Y[:, 1] = 0, 1
    # A threshold that the decision function of an empty label, as it comes, is above.
    tuner = ThresholdTuner(SPLMLL("linear", random_state=0), -5.0, method="decision_function")
    model = tuner.fit(X[:120], Y[:120])
    assert not model.predict(X)[:, 0].any()
    export_and_compare(model, X, tmp_path)


def test_a_calibrated_model(tmp_path: Path) -> None:
    X, Y = problem()
    inner = SPLMLL("linear", n_landmarks=3, pull=1.0, random_state=0)
    export_and_compare(MultilabelCalibrator(inner, random_state=0).fit(X, Y), X, tmp_path)
    steps = MultilabelCalibrator(inner, "isotonic", random_state=0).fit(X, Y)
    with pytest.raises(CannotExportError, match="sigmoid"):
        export_onnx(steps, tmp_path / "other.onnx")


@pytest.mark.parametrize("embedding", ["linear", "mlp"])
@pytest.mark.parametrize("n_rows", [1, 2, 37])
def test_any_number_of_rows(embedding: str, n_rows: int, tmp_path: Path) -> None:
    X, Y = problem()
    model = SPLMLL(SMALL[embedding], cv=2, random_state=0).fit(X, Y)
    export_and_compare(model, X[:n_rows], tmp_path)


@pytest.mark.parametrize("embedding", ["linear", "mlp"])
def test_single_precision(embedding: str, tmp_path: Path) -> None:
    X, Y = problem()
    X = X.astype(np.float32)
    model = SPLMLL(SMALL[embedding], cv=2, random_state=0).fit(X, Y)
    file = export_onnx(model, tmp_path / "model.onnx", input_type="float32")
    assert_same_outputs(model, X, run(file, features=X))
    # The same model takes double precision in a file of its own.
    export_and_compare(model, X.astype(np.float64), tmp_path)


def test_large_features_need_double_precision(tmp_path: Path) -> None:
    X, Y = problem()
    X = 1.7e9 + 1e3 * (X - X.mean(axis=0)) / X.std(axis=0)  # as times in seconds are
    model = BinaryRelevance().fit(X, Y)
    double = export_onnx(model, tmp_path / "double.onnx")
    single = export_onnx(model, tmp_path / "single.onnx", input_type="float32")
    assert largest_difference(model, double, X) <= TOLERANCE
    assert largest_difference(model, single, X) > 100 * TOLERANCE


@pytest.mark.parametrize("embedding", ["linear", "mlp", "kernel", "svm"])
def test_a_model_of_sparse_features_takes_dense_ones(embedding: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12)) * (rng.random((120, 12)) < 0.3)
    Y = (X[:, :3] + 0.2 * rng.normal(size=(120, 3)) > 0.1).astype(int)
    model = SPLMLL(SMALL.get(embedding, embedding), cv=2, random_state=0)
    model.fit(sparse.csr_array(X), sparse.csr_array(Y))
    found = run(export_onnx(model, tmp_path / "model.onnx"), features=X)
    assert_same_outputs(model, sparse.csr_array(X), found)


def test_a_vector_is_one_label_and_its_values_stand_in_the_metadata(tmp_path: Path) -> None:
    X, Y = problem()
    y = np.where(Y[:, 3], "yes", "no")
    for model in (
        SPLMLL("linear", random_state=0),
        BinaryRelevance(threshold="micro_f1"),
        ThresholdTuner(SPLMLL("linear"), method="decision_function", random_state=0),
    ):
        model.fit(X, y)
        found = run(export_onnx(model, tmp_path / "model.onnx"), features=X)
        assert_allclose(found["scores"][:, 0], model.decision_function(X), atol=TOLERANCE)
        assert_allclose(found["probabilities"][:, 0], model.predict_proba(X)[:, 1], atol=TOLERANCE)
        assert_array_equal(np.array(["no", "yes"])[found["labels"][:, 0]], model.predict(X))


def test_a_torch_module_of_known_layers(tmp_path: Path) -> None:
    X, Y = problem()
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Linear(6, 7, bias=False), nn.Tanh(), nn.Linear(7, 7), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(7, 6), nn.LeakyReLU(0.3), nn.Linear(6, 5), nn.Sigmoid(),
    )  # fmt: skip
    model = SPLMLL(TorchModule(module, max_epochs=3), random_state=0, cv=2).fit(X, Y)
    found = run(export_onnx(model, tmp_path / "model.onnx", input_type="float32"), features=X)
    assert_same_outputs(model, X, found)


@pytest.mark.parametrize(
    ("embedding", "word"),
    [
        (TorchModule(nn.Sequential(nn.Linear(6, 5), nn.Softsign()), max_epochs=1), "Softsign"),
        (Trees(n_estimators=2), "Trees"),
        ([Linear(), Trees(n_estimators=2)], "Trees"),
        (DecisionTreeClassifier(max_depth=2), "DecisionTreeClassifier"),
    ],
    ids=["layer", "trees", "trees in a blend", "a tree for each label"],
)
def test_what_has_no_faithful_form_is_named(embedding: Any, word: str, tmp_path: Path) -> None:
    X, Y = problem()
    model = SPLMLL(embedding, random_state=0, cv=2).fit(X, Y)
    with pytest.raises(CannotExportError, match=word):
        export_onnx(model, tmp_path / "model.onnx")


@pytest.mark.parametrize(
    "model",
    [
        PublishedSPLMLL(hidden_layer_sizes=(4,), max_epochs=2),
        SPLMLL(Blend([Linear(), small_network()]), cv=2),
    ],
    ids=["published", "blend"],
)
def test_rows_are_drawn_like_those_that_a_network_has_seen(model: Any, tmp_path: Path) -> None:
    X, Y = problem()
    model.set_params(random_state=0).fit(X, Y)
    drawn = example_rows(model)
    assert np.abs((drawn.mean(axis=0) - X.mean(axis=0)) / X.std(axis=0)).max() < 1
    assert largest_difference(model, export_onnx(model, tmp_path / "model.onnx")) <= TOLERANCE


def test_names_of_a_table_do_not_change_the_scores(tmp_path: Path) -> None:
    X, Y = problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    labels = pd.DataFrame(Y, columns=["oak", "elm", "fir", "ash", "yew"])
    model = SPLMLL("linear", random_state=0).fit(frame, labels)
    found = run(export_onnx(model, tmp_path / "model.onnx"), features=X)
    assert_same_outputs(model, frame, found)
