"""SPLMLL in its variants as ONNX: embeddings, thresholds, kinds of input and of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from catalogue import SMALL_ALTERNATION, SMALL_NETWORK
from numpy.testing import assert_allclose, assert_array_equal
from onnx_runs import TOLERANCE, assert_same_outputs, export_and_compare, run
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from splmll import SPLMLL
from splmll.methods import BinaryRelevance, NetworkRegressor
from splmll.model_selection import MultilabelCalibrator, ThresholdTuner
from splmll.onnx_export import CannotExportError, export_onnx, largest_difference
from splmll.thresholds import RULES


def problem(n_rows: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """Features of very different sizes, and five labels of which two follow from others."""
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(n_rows, 6))
    X = hidden * [1.0, 1e-3, 50.0, 1.0, 1e3, 1.0] + [0.0, 1.0, 1000.0, -2.0, 1e5, 0.0]
    Y = (hidden[:, :3] + 0.3 * rng.normal(size=(n_rows, 3)) > 0.3).astype(int)
    return X, np.column_stack([Y, Y[:, 0] & Y[:, 1], Y[:, 1] | Y[:, 2]])


SMALL: dict[str, Any] = {**SMALL_NETWORK, "max_epochs": 5}
VARIANTS: dict[str, SPLMLL] = {
    "linear": SPLMLL("linear"),
    "linear, not scaled": SPLMLL("linear", scale=False),
    "linear, not centred": SPLMLL("linear", center=False),
    "linear, two steps": SPLMLL("linear", joint=False, n_landmarks=3),
    "linear, no landmarks": SPLMLL("linear", selection="all"),
    "linear, hard": SPLMLL("linear", selection="hard", n_landmarks=2),
    "network": SPLMLL("mlp", **SMALL),
    "network, two draws": SPLMLL("mlp", **{**SMALL, "n_repeats": 2}),
    "network, squared error": SPLMLL("mlp", loss="squared", **SMALL),
    "network, not centred": SPLMLL("mlp", center=False, **SMALL),
    "network, two hidden layers": SPLMLL("mlp", **{**SMALL, "hidden_layer_sizes": (8, 4)}),
    "network, no folds": SPLMLL(
        "mlp", **{**SMALL, "cv": None, "recovery": "labels", "threshold": 0.4}
    ),
    "as published": SPLMLL.as_published(**{**SMALL_ALTERNATION, "max_epochs": 8}),
    "as published, linear": SPLMLL.as_published(
        linear=True, **{**SMALL_ALTERNATION, "learning_rate": 0.1, "max_epochs": 8}
    ),
    "as published, full B": SPLMLL.as_published(
        full_selection=True, **{**SMALL_ALTERNATION, "max_epochs": 8}
    ),
    "kernel": SPLMLL("kernel", cv=3),
    "kernel of few rows": SPLMLL("kernel", cv=3, n_components=20, scale=False, gamma=1e-7),
    "blend": SPLMLL(["linear", "kernel", "mlp"], **SMALL),
    "a regressor of one's own": SPLMLL(Ridge(), cv=2),
    "a pipeline of one's own": SPLMLL(make_pipeline(StandardScaler(), Ridge()), cv=2),
    "the network as a regressor": SPLMLL(NetworkRegressor((8,), max_epochs=5), cv=2),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_variants(name: str, tmp_path: Path) -> None:
    X, Y = problem()
    model = VARIANTS[name].set_params(random_state=0).fit(X[:120], Y[:120])
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
        ("predict_proba", "per-label"),
        ("predict_proba", "top-r"),
        ("decision_function", 0.9),
        ("decision_function", "micro-f1"),
    ],
)
def test_a_tuned_model_that_never_predicts_nothing(method, rule, tmp_path: Path) -> None:
    X, Y = problem()
    inner = SPLMLL("linear", random_state=0)
    tuner = ThresholdTuner(inner, rule, method=method, never_empty=True, random_state=0)
    model = tuner.fit(X[:120], Y[:120])
    assert model.predict(X).sum(axis=1).min() >= 1
    export_and_compare(model, X, tmp_path)


def test_a_calibrated_model(tmp_path: Path) -> None:
    X, Y = problem()
    inner = SPLMLL("linear", random_state=0)
    export_and_compare(MultilabelCalibrator(inner, random_state=0).fit(X, Y), X, tmp_path)
    steps = MultilabelCalibrator(inner, "isotonic", random_state=0).fit(X, Y)
    with pytest.raises(CannotExportError, match="sigmoid"):
        export_onnx(steps, tmp_path / "other.onnx")


@pytest.mark.parametrize("embedding", ["linear", "mlp"])
@pytest.mark.parametrize("n_rows", [1, 2, 37])
def test_any_number_of_rows(embedding: str, n_rows: int, tmp_path: Path) -> None:
    X, Y = problem()
    model = SPLMLL(embedding, random_state=0, **SMALL).fit(X, Y)
    export_and_compare(model, X[:n_rows], tmp_path)


@pytest.mark.parametrize("embedding", ["linear", "mlp"])
def test_single_precision(embedding: str, tmp_path: Path) -> None:
    X, Y = problem()
    X = X.astype(np.float32)
    model = SPLMLL(embedding, random_state=0, **SMALL).fit(X, Y)
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


@pytest.mark.parametrize("embedding", ["linear", "mlp", "kernel"])
def test_a_model_of_sparse_features_takes_dense_ones(embedding: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12)) * (rng.random((120, 12)) < 0.3)
    Y = (X[:, :3] + 0.2 * rng.normal(size=(120, 3)) > 0.1).astype(int)
    model = SPLMLL(embedding, random_state=0, **SMALL)
    model.fit(sparse.csr_array(X), sparse.csr_array(Y))
    found = run(export_onnx(model, tmp_path / "model.onnx"), features=X)
    assert_same_outputs(model, sparse.csr_array(X), found)


def test_a_vector_is_one_label_and_its_values_stand_in_the_metadata(tmp_path: Path) -> None:
    X, Y = problem()
    y = np.where(Y[:, 3], "yes", "no")
    for model in (
        SPLMLL("linear", random_state=0),
        BinaryRelevance(threshold="micro-f1"),
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
    model = SPLMLL(module, random_state=0, max_epochs=3, cv=2).fit(X, Y)
    found = run(export_onnx(model, tmp_path / "model.onnx", input_type="float32"), features=X)
    assert_same_outputs(model, X, found)


def test_what_has_no_faithful_form_is_named(tmp_path: Path) -> None:
    X, Y = problem()
    odd = nn.Sequential(nn.Linear(6, 5), nn.Softsign())
    trees = ExtraTreesRegressor(n_estimators=2)
    for embedding, word in ((odd, "Softsign"), (trees, "ExtraTreesRegressor")):
        model = SPLMLL(embedding, random_state=0, max_epochs=1, cv=2).fit(X, Y)
        with pytest.raises(CannotExportError, match=word):
            export_onnx(model, tmp_path / "model.onnx")


def test_names_of_a_table_do_not_change_the_scores(tmp_path: Path) -> None:
    X, Y = problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    labels = pd.DataFrame(Y, columns=["oak", "elm", "fir", "ash", "yew"])
    model = SPLMLL("linear", random_state=0).fit(frame, labels)
    found = run(export_onnx(model, tmp_path / "model.onnx"), features=X)
    assert_same_outputs(model, frame, found)
