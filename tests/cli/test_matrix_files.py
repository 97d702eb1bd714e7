"""Files that hold numbers and labels already: ARFF with XML, LIBSVM; learn, measure, predict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from command_runs import here, trouble
from splmll import evaluate, load_dataset
from splmll.catalogue import make_method
from splmll.datasets import write_dataset


def test_the_files_of_mulan(data_home, tmp_path, capfd) -> None:
    folder = Path(data_home) / "emotions"
    training, test = folder / "emotions-train.arff", folder / "emotions-test.arff"
    status, _, complaint = here(capfd, "fit", training, "-m", "BR", "--out", tmp_path / "model")
    assert (status, trouble(complaint)) == (0, "")
    status, said, _ = here(capfd, "evaluate", tmp_path / "model", test, "--json")
    assert status == 0
    X, Y, X_test, Y_test = load_dataset("emotions").split()
    own = make_method("BR", random_state=0).fit(X, Y)
    expected = evaluate(Y_test, own.decision_function(X_test), own.predict(X_test))
    assert json.loads(said)["measures"] == pytest.approx(expected, abs=0.01)

    out = tmp_path / "tags.csv"
    assert here(capfd, "predict", tmp_path / "model", test, "--out", out)[0] == 0
    assert len(pd.read_csv(out)) == Y_test.shape[0]


@pytest.mark.parametrize("suffix", [".libsvm", ".arff"])
def test_written_by_us(suffix, tmp_path, capfd) -> None:
    yeast = load_dataset("yeast").sample(150)
    X, Y, X_test, Y_test = yeast.split()
    parts = {"training": (X, Y), "new": (X_test[:40], Y_test[:40])}
    for name, (features, labels) in parts.items():
        part = replace(yeast, X=features, Y=labels, train=None, test=None)
        write_dataset(part, tmp_path / f"{name}{suffix}")
    model = tmp_path / "model"
    status, said, complaint = here(
        capfd, "fit", tmp_path / f"training{suffix}", "-m", "SPL-MLL (linear)", "--landmarks", 5,
        "--out", model, "--json",
    )  # fmt: skip
    assert (status, trouble(complaint)) == (0, "")
    assert len(json.loads(said)["landmarks"]) == 5
    status, said, _ = here(capfd, "evaluate", model, tmp_path / f"new{suffix}", "--json")
    assert status == 0
    assert json.loads(said)["rows"] == 40
    assert 0.45 < json.loads(said)["measures"]["micro_f1"] < 0.8
