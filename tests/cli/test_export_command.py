"""``splmll export``: a real process from a model to an ONNX file, and what it says if it cannot."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from command_runs import here, typed
from splmll.datasets import Dataset
from splmll.tagging import Tagger

KINDS = {"size": "numeric", "site": "categorical", "hours": "numeric"}


def rows(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(200, 30, n_rows),
            "site": rng.choice(["north", "south", ""], n_rows).astype(object),
            "hours": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows)),
        }
    )
    big, late = frame["size"] > 210, frame["hours"].fillna(0) > 0.2
    return frame, np.column_stack([big, late, big & (frame["site"] == "north")]).astype(int)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with models that can be exported, and with one that cannot."""
    folder = tmp_path_factory.mktemp("export")
    frame, Y = rows(120, 0)
    data = Dataset(frame, Y, list(frame.columns), ["big", "late", "both"], column_kinds=KINDS)
    for name, method in (("linear", "SPL-MLL (linear)"), ("neighbours", "ML-kNN")):
        Tagger.fit(data, method).save(folder / name)
    return folder


@pytest.mark.slow
def test_export_as_a_process(folder: Path) -> None:
    file = folder / "model.onnx"
    ran = typed("export", folder / "linear", file)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"Wrote {file} (" in ran.stdout
    assert "Input features: 2 columns" in ran.stdout
    assert "Input categories: 1 column." in ran.stdout
    assert "onnxruntime gives the same scores; largest difference" in ran.stdout
    tagger, (frame, _) = Tagger.load(folder / "linear"), rows(50, 1)
    session = onnxruntime.InferenceSession(file)
    labels, probabilities = session.run(
        ["labels", "probabilities"],
        {
            "features": frame[["size", "hours"]].to_numpy(),
            "categories": frame[["site"]].to_numpy(dtype=object),
        },
    )
    assert_array_equal(labels, tagger.predict(frame))
    assert_allclose(probabilities, tagger.scores(frame), rtol=0, atol=1e-5)


def test_json(folder: Path, capfd) -> None:
    file = folder / "again.onnx"
    status, said, _ = here(capfd, "export", folder / "linear", file, "--json")
    assert status == 0
    found = json.loads(said)
    assert found.pop("largest_difference") < 1e-5
    assert found == {
        "file": str(file),
        "bytes": file.stat().st_size,
        "inputs": {"features": ["size", "hours"], "categories": ["site"]},
        "labels": ["big", "late", "both"],
    }


def test_single_precision(folder: Path, capfd) -> None:
    file = folder / "single.onnx"
    status, said, _ = here(capfd, "export", folder / "linear", file, "--float32")
    assert status == 0
    assert "largest difference" in said
    types = {each.name: each.type for each in onnxruntime.InferenceSession(file).get_inputs()}
    assert types == {"features": "tensor(float)", "categories": "tensor(string)"}


def test_a_method_that_cannot_be_exported(folder: Path, capfd) -> None:
    status, said, error = here(capfd, "export", folder / "neighbours", folder / "no.onnx")
    assert (status, said) == (2, "")
    assert "ML-kNN (MLkNN) cannot be exported" in error
    assert "SPL-MLL" in error
    assert "Traceback" not in error
    assert not (folder / "no.onnx").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["linear", "model.txt"], "ends in .onnx"),
        (["nowhere", "model.onnx"], "there is no such file or folder"),
    ],
    ids=["name of the file", "no model"],
)
def test_bad_arguments(folder: Path, capfd, arguments: list[str], words: str) -> None:
    status, _, error = here(capfd, "export", *(folder / each for each in arguments))
    assert status == 2
    assert words in " ".join(error.split())


def test_without_onnx_it_says_what_to_install(folder: Path, capfd, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    status, _, error = here(capfd, "export", folder / "linear", folder / "no.onnx")
    assert status == 2
    assert 'pip install "splmll[onnx]"' in error


def test_without_onnxruntime_it_says_that_nothing_was_compared(
    folder: Path, capfd, monkeypatch
) -> None:
    monkeypatch.setattr("splmll.cli.export.find_spec", lambda name: None)
    status, said, _ = here(capfd, "export", folder / "linear", folder / "unrun.onnx")
    assert status == 0
    assert "Not compared with the model" in said


def test_a_file_that_differs_from_the_model_is_a_failure(folder: Path, capfd, monkeypatch) -> None:
    monkeypatch.setattr("splmll.onnx_export.largest_difference", lambda *_: 0.5)
    status, _, error = here(capfd, "export", folder / "linear", folder / "wrong.onnx", "--float32")
    assert status == 1
    assert "differed from those of the model by 5.0e-01" in error
    assert "without --float32" in error
    assert not (folder / "wrong.onnx").exists()


def test_help_has_an_example(capfd) -> None:
    status, said, _ = here(capfd, "export", "--help")
    assert status == 0
    assert "splmll export model model.onnx" in said
