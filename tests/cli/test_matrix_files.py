"""Files that hold numbers and labels already: ARFF with XML, LIBSVM; learn, measure, predict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
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


ANIMALS = """@relation animals
@attribute legs numeric
@attribute coat {fur,feathers,'none at all'}
@attribute flies {0,1}
@attribute swims {0,1}
@data
"""


@pytest.fixture
def animals(tmp_path: Path) -> Path:
    """A folder with training and test rows in ARFF files, one of their attributes nominal."""
    rows = ["4,fur,0,0", "2,feathers,1,0", "0,'none at all',0,1"]
    (tmp_path / "train.arff").write_text(ANIMALS + "\n".join(10 * rows))
    # The same attributes in another order.
    moved = ANIMALS.replace("@attribute legs numeric\n", "").replace(
        "@data", "@attribute legs numeric\n@data"
    )
    cells = [row.split(",") for row in rows]
    (tmp_path / "test.arff").write_text(
        moved + "\n".join(",".join([*row[1:], row[0]]) for row in cells)
    )
    (tmp_path / "wrong.arff").write_text(
        ANIMALS.replace("legs numeric", "legs {few,many}") + "few,fur,0,0\n"
    )
    labels = "".join(f'<label name="{name}"/>' for name in ("flies", "swims"))
    for name in ("train", "test", "wrong"):
        (tmp_path / f"{name}.xml").write_text(f"<labels>{labels}</labels>")
    return tmp_path


def test_attributes_that_are_not_numbers_are_found_by_name(animals, capfd) -> None:
    model = animals / "model"
    status, _, complaint = here(capfd, "fit", animals / "train.arff", "-m", "BR", "--out", model)
    assert (status, trouble(complaint)) == (0, "")
    status, said, _ = here(capfd, "evaluate", model, animals / "test.arff", "--json")
    assert status == 0
    assert json.loads(said)["measures"]["micro_f1"] == 1.0
    out = animals / "tags.csv"
    assert here(capfd, "predict", model, animals / "test.arff", "--out", out)[0] == 0
    assert pd.read_csv(out)["tags"].fillna("").tolist() == ["", "flies", "swims"]
    for command in ("evaluate", "predict"):
        status, _, complaint = here(capfd, command, model, animals / "wrong.arff")
        assert status == 2
        assert "'legs' is categorical, and the model learned it as numeric" in complaint


@pytest.mark.parametrize("sparse", [False, True])
def test_numbers_are_found_by_name_in_any_order(sparse, tmp_path, capfd) -> None:
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=60).round(3) for name in "abc"}
    for file, order in {"train": "ab", "turned": "cba", "lacking": "ac"}.items():
        columns = [*(values[name] for name in order), *((values[n] > 0).astype(int) for n in "ab")]
        rows = [",".join(map(str, row)) for row in zip(*columns)]
        if sparse:
            rows = [
                "{" + ",".join(f"{k} {cell}" for k, cell in enumerate(row.split(","))) + "}"
                for row in rows
            ]
        kinds = [*(f"{name} numeric" for name in order), "up {0,1}", "right {0,1}"]
        head = "".join(f"@attribute {kind}\n" for kind in kinds)
        text = f"@relation 'r: -C -2'\n{head}@data\n" + "\n".join(rows)
        (tmp_path / f"{file}.arff").write_text(text)
    model = tmp_path / "model"
    how = ("-m", "SPL-MLL (linear)", "--out", model)
    assert here(capfd, "fit", tmp_path / "train.arff", *how)[0] == 0
    for command in (["predict"], ["evaluate", "--json"], ["explain", "--row", 3]):
        said = [
            here(capfd, command[0], model, tmp_path / f"{file}.arff", *command[1:])
            for file in ("train", "turned", "lacking")
        ]
        assert said[0][0] == 0, command
        assert said[1][:2] == said[0][:2], command
        assert (said[2][0], "no column 'b'" in said[2][2]) == (2, True), command


def test_missing_values_are_filled_in_as_in_a_table(animals, capfd) -> None:
    whole, gaps = animals / "whole.arff", animals / "gaps.arff"
    head = "@relation 'r: -C -1'\n@attribute a numeric\n@attribute up {0,1}\n@data\n"
    rows = [f"{a},{int(a > 0)}" for a in range(-20, 20)]
    whole.write_text(head + "\n".join(rows))
    gaps.write_text(head + "\n".join(["?,0", "?,1", *rows]))
    for name, file in (("filled", gaps), ("strict", whole)):
        assert here(capfd, "fit", file, "-m", "BR", "--out", animals / name)[0] == 0
        status, said, _ = here(capfd, "evaluate", animals / name, whole, "--json")
        assert (status, json.loads(said)["rows"]) == (0, 40)
        assert json.loads(said)["measures"]["micro_f1"] > 0.9
    status, said, _ = here(capfd, "predict", animals / "filled", gaps)
    assert (status, len(said.splitlines())) == (0, 43)
    status, _, complaint = here(capfd, "predict", animals / "strict", gaps)
    assert (status, "the file has missing values" in complaint) == (2, True)


def test_a_pair_of_files_is_one_data_set(animals, capfd) -> None:
    pair = [animals / "train.arff", "--test", animals / "test.arff"]
    out = animals / "out"
    assert here(capfd, "compare", *pair, "-m", "BR", "--repeats", 1, "--out", out)[0] == 0
    (run,) = pd.read_csv(out / "results.csv").to_dict("records")
    assert (run["n_train"], run["n_test"], run["micro_f1"]) == (30, 3, 1.0)


@pytest.mark.parametrize("suffix", [".libsvm", ".arff"])
def test_a_pair_of_files_of_numbers_is_one_data_set(suffix, tmp_path, capfd) -> None:
    yeast = load_dataset("yeast").sample(120)
    X, Y, X_test, Y_test = yeast.split()
    for name, (features, labels) in {"a": (X, Y), "b": (X_test[:30], Y_test[:30])}.items():
        part = replace(yeast, X=features, Y=labels, train=None, test=None)
        write_dataset(part, tmp_path / f"{name}{suffix}")
    pair = [tmp_path / f"a{suffix}", "--test", tmp_path / f"b{suffix}"]
    out = tmp_path / "out"
    assert here(capfd, "compare", *pair, "-m", "ML-kNN", "--jobs", 1, "--out", out)[0] == 0
    (run,) = pd.read_csv(out / "results.csv").to_dict("records")
    assert (run["n_train"], run["n_test"]) == (X.shape[0], 30)


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
