"""The file itself: what it says, that it is whole, and that it needs nothing of this library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from onnx_runs import run
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import splmll
from splmll import SPLMLL
from splmll.methods import MLkNN
from splmll.onnx_export import CannotExportError, export_onnx, largest_difference


def problem() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["heat", "light", "noise"])
    Y = pd.DataFrame(
        {
            "warm": X["heat"] > 0,
            "gemütlich": (X["heat"] > 0) & (X["noise"] < 0.5),
            "quiet": X["noise"] < 0,
        }
    )
    return X, Y.astype(int)


def fitted(**settings: Any) -> SPLMLL:
    return SPLMLL("linear", random_state=0, **settings).fit(*problem())


def metadata_of(file: Path) -> dict[str, Any]:
    return {each.key: json.loads(each.value) for each in onnx.load(file).metadata_props}


def test_metadata_name_everything(tmp_path: Path) -> None:
    model = fitted(n_landmarks=2)
    said = metadata_of(export_onnx(model, tmp_path / "model.onnx"))
    assert said == {
        "splmll_version": splmll.__version__,
        "model": "SPLMLL",
        "label_names": ["warm", "gemütlich", "quiet"],
        "feature_names": ["heat", "light", "noise"],
        "landmark_names": [str(name) for name in model.landmarks_],
    }
    assert len(said["landmark_names"]) == 2


def test_things_without_names_are_numbered(tmp_path: Path) -> None:
    X, Y = problem()
    model = SPLMLL("linear", random_state=0).fit(X.to_numpy(), Y.to_numpy())
    said = metadata_of(export_onnx(model, tmp_path / "model.onnx"))
    assert said["label_names"] == ["0", "1", "2"]
    assert said["feature_names"] == ["x0", "x1", "x2"]
    assert set(said["landmark_names"]) <= {"0", "1", "2"}


def test_the_values_of_a_vector_are_told(tmp_path: Path) -> None:
    X, Y = problem()
    model = SPLMLL("linear").fit(X, np.where(Y["warm"], "warm", "cold"))
    assert metadata_of(export_onnx(model, tmp_path / "m.onnx"))["classes"] == ["cold", "warm"]


def test_inputs_and_outputs(tmp_path: Path) -> None:
    graph = onnx.load(export_onnx(fitted(), tmp_path / "model.onnx")).graph
    described = {
        each.name: (
            onnx.TensorProto.DataType.Name(each.type.tensor_type.elem_type),
            [axis.dim_param or axis.dim_value for axis in each.type.tensor_type.shape.dim],
        )
        for each in [*graph.input, *graph.output]
    }
    assert described == {
        "features": ("DOUBLE", ["rows", 3]),
        "labels": ("INT64", ["rows", 3]),
        "scores": ("DOUBLE", ["rows", 3]),
        "probabilities": ("DOUBLE", ["rows", 3]),
    }


def test_scores_are_those_of_the_formula(tmp_path: Path) -> None:
    model = fitted(threshold=0.4)
    file = export_onnx(model, tmp_path / "model.onnx")
    row = np.array([[0.5, -1.0, 2.0]])
    landmarks = model.transform(pd.DataFrame(row, columns=["heat", "light", "noise"]))
    by_hand = landmarks @ model.recovery_ + model.intercept_
    found = run(file, features=row)
    assert_allclose(found["scores"], by_hand - 0.4, rtol=0, atol=1e-12)
    assert_allclose(found["probabilities"], 1 / (1 + np.exp(-4 * (by_hand - 0.4))), atol=1e-12)
    assert_array_equal(found["labels"], by_hand >= 0.4)


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    X, Y = problem()
    contents = []
    for number in range(2):
        model = make_pipeline(StandardScaler(), SPLMLL("linear", random_state=0)).fit(X, Y)
        file = export_onnx(model, tmp_path / f"folder {number}" / "model.onnx")
        contents.append(file.read_bytes())
    assert contents[0] == contents[1]
    assert str(tmp_path).encode() not in contents[0]
    assert str(Path.home()).encode() not in contents[0]


def test_the_file_runs_without_this_library(tmp_path: Path) -> None:
    X, _ = problem()
    model = fitted()
    export_onnx(model, tmp_path / "model.onnx")
    np.save(tmp_path / "X.npy", X.to_numpy())
    program = """
import json, sys
import numpy as np
import onnxruntime
session = onnxruntime.InferenceSession("model.onnx")
labels, scores = session.run(["labels", "scores"], {"features": np.load("X.npy")})
names = json.loads(session.get_modelmeta().custom_metadata_map["label_names"])
np.savez("found.npz", labels=labels, scores=scores, names=np.array(names))
strangers = {"splmll", "sklearn", "torch", "onnx", "skl2onnx", "pandas", "scipy"}
print(sorted(strangers & set(sys.modules)))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (ran.stdout, ran.returncode) == ("[]\n", 0), ran.stderr
    found = np.load(tmp_path / "found.npz")
    assert_array_equal(found["labels"], model.predict(X))
    assert_allclose(found["scores"], model.decision_function(X), rtol=0, atol=1e-5)
    assert found["names"].tolist() == ["warm", "gemütlich", "quiet"]


def test_an_export_that_fails_leaves_the_earlier_file(tmp_path: Path) -> None:
    file = export_onnx(fitted(), tmp_path / "model.onnx")
    before = file.read_bytes()
    with pytest.raises(CannotExportError):
        export_onnx(MLkNN().fit(*problem()), file)
    assert file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]


def test_the_model_is_not_changed(tmp_path: Path) -> None:
    X, _ = problem()
    model = fitted()
    before, attributes = model.decision_function(X), sorted(vars(model))
    export_onnx(model, tmp_path / "model.onnx")
    assert_array_equal(model.decision_function(X), before)
    assert sorted(vars(model)) == attributes


def test_bad_arguments_are_explained(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.onnx"):
        export_onnx(fitted(), tmp_path / "model.bin")
    with pytest.raises(ValueError, match="float32"):
        export_onnx(fitted(), tmp_path / "model.onnx", input_type="float16")
    with pytest.raises(NotFittedError):
        export_onnx(SPLMLL("linear"), tmp_path / "model.onnx")
    with pytest.raises(CannotExportError, match="StandardScaler"):
        export_onnx(StandardScaler().fit(problem()[0]), tmp_path / "model.onnx")


def test_missing_packages_say_what_to_install(tmp_path: Path, monkeypatch) -> None:
    model = fitted()
    file = export_onnx(model, tmp_path / "model.onnx")
    scaled = make_pipeline(StandardScaler(), SPLMLL("linear")).fit(*problem())
    for package, call in (
        ("onnx", lambda: export_onnx(model, tmp_path / "other.onnx")),
        ("skl2onnx", lambda: export_onnx(scaled, tmp_path / "other.onnx")),
        ("onnxruntime", lambda: largest_difference(model, file)),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(ImportError, match=rf"{package}: pip install .splmll\[onnx\]"):
                call()


def test_a_wrong_file_is_far_from_the_model(tmp_path: Path) -> None:
    file = export_onnx(fitted(threshold=0.4), tmp_path / "model.onnx")
    assert largest_difference(fitted(threshold=0.4), file) < 1e-12
    # The zero point of the scores has moved by a tenth.
    assert largest_difference(fitted(threshold=0.5), file) > 0.05
