"""Every method of the catalogue is exported faithfully, or says that it cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from catalogue import ESTIMATORS, SMALL_REGRESSOR
from contract import fresh, make_problem
from onnx_runs import export_and_compare

from splmll import SPLMLL
from splmll.catalogue import METHODS, make_method
from splmll.embeddings import Trees
from splmll.methods import C2AE
from splmll.onnx_export import CannotExportError, export_onnx

CANNOT = {
    "ML-kNN", "LP", "EPS", "RAkEL", "ECC", "CLR", "MLML", "MLFE", "SLEEC", "BR-SVM", "RF",
}  # fmt: skip
QUICK: dict[str, dict[str, Any]] = {
    "Deep CPLST": {"regressor": SMALL_REGRESSOR},
    "Deep FaIE": {"regressor": SMALL_REGRESSOR},
    "C2AE": {"feature_layer_sizes": (16,), "label_layer_sizes": (16,), "max_epochs": 10},
    "SLEEC": {"n_neighbors": 5},
    "RF": {"n_estimators": 5},
}


def one_line(estimator: Any) -> str:
    return " ".join(repr(estimator).split())


def test_methods_that_cannot_be_exported_are_in_the_catalogue() -> None:
    assert set(METHODS) > CANNOT


@pytest.mark.parametrize("name", [name for name in METHODS if name not in CANNOT])
def test_method_gives_the_same_in_onnxruntime(name: str, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = fresh(make_method(name, **QUICK.get(name, {}))).fit(X[:40], Y[:40])
    export_and_compare(model, X, tmp_path)


@pytest.mark.parametrize("name", sorted(CANNOT))
def test_method_says_that_it_cannot(name: str, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = fresh(make_method(name, **QUICK.get(name, {}))).fit(X, Y)
    with pytest.raises(CannotExportError) as error:
        export_onnx(model, tmp_path / "model.onnx")
    assert type(model).__name__ in str(error.value)
    assert "SPL-MLL" in str(error.value) or "LogisticRegression" in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=one_line)
def test_other_settings_are_exported_or_refused_alike(estimator: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = fresh(estimator).fit(X, Y)
    classes_that_cannot = {METHODS[name].estimator for name in CANNOT - {"BR-SVM"}}
    trees = isinstance(model, SPLMLL) and isinstance(model.embedding_, Trees)
    if type(model) in classes_that_cannot or trees or "SVC()" in repr(estimator):
        with pytest.raises(CannotExportError):
            export_onnx(model, tmp_path / "model.onnx")
    else:
        export_and_compare(model, X, tmp_path)


def test_constant_labels_keep_their_value(tmp_path: Path) -> None:
    X, Y = make_problem()
    Y[:, 0], Y[:, 2] = 0, 1
    for name in METHODS:
        if name not in CANNOT:
            model = fresh(make_method(name, **QUICK.get(name, {}))).fit(X, Y)
            export_and_compare(model, X, tmp_path)
    export_and_compare(SPLMLL("linear", random_state=0).fit(X, Y), X, tmp_path)


def test_a_model_of_constant_labels_alone(tmp_path: Path) -> None:
    X, Y = make_problem()
    Y[:] = [0, 1, 0, 1]
    for model in (SPLMLL("linear"), C2AE(), make_method("PBR"), make_method("BR")):
        export_and_compare(fresh(model).fit(X, Y), X[:5], tmp_path)
