"""Steps of scikit-learn before a model: scalers, missing values, categories, columns by name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from onnx_runs import TOLERANCE, export_and_compare, run
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from splmll import SPLMLL
from splmll.datasets import Dataset
from splmll.methods import CPLST, BinaryRelevance, NetworkRegressor
from splmll.model_selection import ThresholdTuner
from splmll.onnx_export import CannotExportError, export_onnx, largest_difference
from splmll.tagging import Tagger

N_ROWS = 150


def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    hidden = rng.normal(size=(N_ROWS, 5))
    X = hidden * [1.0, 1e3, 1e-3, 5.0, 1.0] + [0.0, 1.7e9, 0.0, 7.0, 1.0]
    return X, (hidden[:, :3] + 0.4 * rng.normal(size=(N_ROWS, 3)) > 0.2).astype(int)


def with_gaps(X: np.ndarray) -> np.ndarray:
    return np.where(np.random.default_rng(0).random(X.shape) < 0.15, np.nan, X)


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with gaps, and two columns of categories between them; "rare" occurs twice."""
    X, Y = numbers()
    rng = np.random.default_rng(1)
    sites = rng.choice(["north", "south", "Öst", ""], N_ROWS)
    sites[:2] = "rare"
    frame = pd.DataFrame(with_gaps(X)[:, :3], columns=["size", "time", "weight"])
    frame.insert(1, "site", sites.astype(object))
    frame["kind"] = np.where(Y[:, 0] | (rng.random(N_ROWS) < 0.2), "x", "y").astype(object)
    return frame, Y


def inputs_of(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    return {
        "features": frame[["size", "time", "weight"]].to_numpy(dtype=np.float64),
        "categories": frame[["site", "kind"]].to_numpy(dtype=object),
    }


SCALERS: list[Any] = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler(),
    MinMaxScaler(clip=True),
    MaxAbsScaler(),
    RobustScaler(),
    PCA(3),
    PCA(3, whiten=True),
    TruncatedSVD(2),
    VarianceThreshold(),
    FunctionTransformer(),
    "passthrough",
    make_pipeline(MinMaxScaler(), SelectKBest(chi2, k=2)),
]


def without_address(scaler: Any) -> str:
    return re.sub(r" at 0x\w+", "", " ".join(str(scaler).split()))


@pytest.mark.parametrize("scaler", SCALERS, ids=without_address)
@pytest.mark.parametrize("input_type", ["float64", "float32"])
def test_scalers(scaler: Any, input_type: str, tmp_path: Path) -> None:
    X, Y = numbers()
    if input_type == "float32":
        X = X - [0.0, 1.7e9, 0.0, 0.0, 0.0]  # single precision cannot hold that column
        X = X.astype(np.float32).astype(np.float64)
    model = make_pipeline(scaler, BinaryRelevance()).fit(X, Y)
    file = export_onnx(model, tmp_path / "model.onnx", input_type=input_type)
    found = run(file, features=X.astype(input_type))
    assert_allclose(found["scores"], model.decision_function(X), rtol=0, atol=TOLERANCE)
    assert_array_equal(found["labels"], model.predict(X))


@pytest.mark.parametrize(
    "imputer",
    [
        SimpleImputer(),
        SimpleImputer(strategy="median", keep_empty_features=True),
        SimpleImputer(strategy="most_frequent"),
        SimpleImputer(strategy="constant", fill_value=-3.0),
        SimpleImputer(add_indicator=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("empty_column", [False, True])
@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_missing_values(imputer: SimpleImputer, empty_column: bool, tmp_path: Path) -> None:
    X, Y = numbers()
    gaps = with_gaps(X)
    if empty_column:
        gaps[:, 2] = np.nan
    model = make_pipeline(imputer, StandardScaler(), SPLMLL("linear", random_state=0))
    model.fit(gaps[:100], Y[:100])
    file = export_onnx(model, tmp_path / "model.onnx")
    rows = np.vstack([gaps, X, np.full((1, 5), np.nan)])
    found = run(file, features=rows)
    assert_allclose(found["scores"], model.decision_function(rows), rtol=0, atol=TOLERANCE)
    assert_array_equal(found["labels"], model.predict(rows))


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=10, drop="first"),
        OneHotEncoder(handle_unknown="ignore", drop="if_binary", sparse_output=False),
    ],
    ids=lambda encoder: " ".join(str(encoder).split()),
)
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_categories(encoder: OneHotEncoder, tmp_path: Path) -> None:
    frame, Y = table()
    columns = ColumnTransformer(
        [
            ("texts", encoder, ["kind", "site"]),
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["weight", "size"]),
        ],
        transformer_weights={"numbers": 2.0},
    )
    model = make_pipeline(columns, SPLMLL("linear", random_state=0)).fit(frame, Y)
    rows = pd.concat([frame, frame.head(3).assign(site="never seen")], ignore_index=True)
    found = run(export_onnx(model, tmp_path / "model.onnx"), **inputs_of(rows))
    assert_allclose(found["scores"], model.decision_function(rows), rtol=0, atol=TOLERANCE)
    assert_array_equal(found["labels"], model.predict(rows))


def test_an_unknown_category_that_would_be_an_error_gives_no_scores(tmp_path: Path) -> None:
    frame, Y = table()
    columns = ColumnTransformer([("texts", OneHotEncoder(), ["site", "kind"])])
    model = make_pipeline(columns, BinaryRelevance()).fit(frame, Y)
    rows = frame.head(3).assign(site=["north", "never seen", "rare"])
    found = run(export_onnx(model, tmp_path / "model.onnx"), **inputs_of(rows))
    assert np.isnan(found["scores"]).all(axis=1).tolist() == [False, True, False]
    assert found["labels"][1].tolist() == [0, 0, 0]


def test_categories_alone(tmp_path: Path) -> None:
    frame, Y = table()
    frame = frame[["site", "kind"]]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), BinaryRelevance()).fit(frame, Y)
    file = export_onnx(model, tmp_path / "model.onnx")
    assert [each.name for each in onnx.load(file).graph.input] == ["categories"]
    texts = frame.to_numpy(dtype=object)
    found = run(file, categories=texts)
    assert_allclose(found["scores"], model.decision_function(frame), rtol=0, atol=TOLERANCE)
    nameless = make_pipeline(OneHotEncoder(handle_unknown="ignore"), BinaryRelevance())
    nameless.fit(texts, Y)
    assert largest_difference(nameless, export_onnx(nameless, file)) <= TOLERANCE


@pytest.mark.parametrize(
    "columns", [[1, 3], slice(1, 4), [False, True, False, True, True]], ids=str
)
def test_columns_by_number(columns: Any, tmp_path: Path) -> None:
    X, Y = numbers()
    step = ColumnTransformer([("some", StandardScaler(), columns)], remainder="passthrough")
    export_model = make_pipeline(step, CPLST()).fit(X, Y)
    found = run(export_onnx(export_model, tmp_path / "model.onnx"), features=X)
    assert_allclose(found["scores"], export_model.decision_function(X), rtol=0, atol=TOLERANCE)


def test_a_tuner_around_a_pipeline(tmp_path: Path) -> None:
    X, Y = numbers()
    inner = make_pipeline(StandardScaler(), SPLMLL("linear", random_state=0))
    export_and_compare(ThresholdTuner(inner, random_state=0).fit(X, Y), X, tmp_path)


def test_a_regressor_with_steps_of_its_own(tmp_path: Path) -> None:
    X, Y = numbers()
    network = NetworkRegressor((8,), max_epochs=5, random_state=0)
    model = CPLST(regressor=make_pipeline(MinMaxScaler(), network)).fit(X, Y)
    export_and_compare(model, X, tmp_path)


@pytest.mark.parametrize(
    "learner",
    [
        make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=0.1)),
        make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        make_pipeline(StandardScaler(), RidgeClassifier()),
    ],
    ids=["logistic", "hinge", "ridge"],
)
def test_binary_relevance_with_a_scaler_for_every_label(learner: Any, tmp_path: Path) -> None:
    X, Y = numbers()
    Y[:, 1] = 1
    export_and_compare(BinaryRelevance(learner).fit(X, Y), X, tmp_path)


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (PolynomialFeatures(2), "PolynomialFeatures"),
        (FunctionTransformer(np.abs), "FunctionTransformer"),
        (SimpleImputer(missing_values=7.0), "NaN"),
        (ColumnTransformer([("a", OneHotEncoder(handle_unknown="ignore"), [0])]), "of numbers"),
    ],
    ids=["polynomials", "function", "seven is missing", "categories that are numbers"],
)
def test_steps_that_cannot_be_exported_are_named(step: Any, word: str, tmp_path: Path) -> None:
    X, Y = numbers()
    model = make_pipeline(step, BinaryRelevance()).fit(X, Y)
    with pytest.raises(CannotExportError, match=word):
        export_onnx(model, tmp_path / "model.onnx")


def test_learners_that_are_not_logistic_are_named(tmp_path: Path) -> None:
    X, Y = numbers()
    model = BinaryRelevance(SGDClassifier(loss="modified_huber", random_state=0)).fit(X, Y)
    with pytest.raises(CannotExportError, match="SGDClassifier"):
        export_onnx(model, tmp_path / "model.onnx")


# Taggers -------------------------------------------------------------------------------------


def tagger_of(frame: pd.DataFrame, kinds: dict[str, str], Y: np.ndarray, method: str) -> Tagger:
    data = Dataset(frame, Y, list(frame.columns), ["oak", "elm", "fir"], column_kinds=kinds)
    return Tagger.fit(data, method)


@pytest.mark.parametrize("method", ["SPL-MLL (linear)", "BR", "ML-CSSP"])
def test_a_tagger_of_numbers_and_categories(method: str, tmp_path: Path) -> None:
    frame, Y = table()
    kinds = {
        "size": "numeric", "site": "categorical", "time": "numeric", "weight": "numeric",
        "kind": "categorical",
    }  # fmt: skip
    tagger = tagger_of(frame, kinds, Y, method)
    file = export_onnx(tagger, tmp_path / "model.onnx")
    rows = frame.assign(site=frame["site"].replace("south", "never seen"))
    found = run(file, **inputs_of(rows))
    assert_allclose(found["probabilities"], tagger.scores(rows), rtol=0, atol=TOLERANCE)
    assert_array_equal(found["labels"], tagger.predict(rows))
    assert largest_difference(tagger, file) <= TOLERANCE
    said = {each.key: json.loads(each.value) for each in onnx.load(file).metadata_props}
    assert said["feature_names"] == ["size", "time", "weight"]
    assert said["category_names"] == ["site", "kind"]
    assert said["label_names"] == ["oak", "elm", "fir"]
    assert set(said.get("landmark_names", [])) <= {"oak", "elm", "fir"}


def test_a_tagger_of_a_matrix(tmp_path: Path) -> None:
    X, Y = numbers()
    data = Dataset(X, Y, [f"f{k}" for k in range(5)], ["oak", "elm", "fir"])
    tagger = Tagger.fit(data, "SPL-MLL (linear)")
    found = run(export_onnx(tagger, tmp_path / "model.onnx"), features=X)
    assert_array_equal(found["labels"], tagger.predict(X))
    assert_allclose(found["probabilities"], tagger.scores(X), rtol=0, atol=TOLERANCE)


def test_a_column_of_texts_is_named(tmp_path: Path) -> None:
    X, Y = numbers()
    words = np.where(Y[:, 0], "the pump leaks", "paint the door")
    frame = pd.DataFrame({"body": words, "size": X[:, 0]})
    tagger = tagger_of(frame, {"body": "text", "size": "numeric"}, Y, "BR")
    with pytest.raises(CannotExportError, match=r"column 'body' holds texts.*as Words does"):
        export_onnx(tagger, tmp_path / "model.onnx")
    alone = make_pipeline(TfidfVectorizer(), BinaryRelevance()).fit(words, Y)
    with pytest.raises(CannotExportError):
        export_onnx(alone, tmp_path / "model.onnx")
