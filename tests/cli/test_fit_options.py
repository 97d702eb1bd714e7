"""``splmll fit``: devices, settings of the method, and a YAML file for everything."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from scipy import sparse

from command_runs import here, trouble
from splmll.tagging import Tagger
from splmll.tagging.settings import check_device, checked_settings
from tagged_notes import write_notes


@pytest.fixture(scope="module")
def notes(tmp_path_factory) -> Path:
    return write_notes(tmp_path_factory.mktemp("notes") / "notes.csv", 80)


def fit(capfd, notes, out, *options: object) -> tuple[int, str, str]:
    return here(
        capfd, "fit", notes, "--labels", "tags", "--ignore", "id", "--out", out, "--json", *options
    )


# Settings ---------------------------------------------------------------------------------------


def given(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def test_settings_reach_the_method(notes, tmp_path, capfd) -> None:
    settings = given("pull=2e-1", "cv=4", "scoring=ranking_loss", "embedding=linear")
    status, said, _ = fit(capfd, notes, tmp_path / "m", *settings)
    assert status == 0
    found = json.loads(said)
    assert found["measured"]["how"] == "out of fold"
    changed = found["settings"]
    expected = {"pull": 0.2, "cv": 4, "scoring": "ranking_loss", "embedding": "linear"}
    assert changed.items() >= expected.items()


@pytest.mark.parametrize("dot", [".", "__"])
def test_settings_reach_the_embedding(dot, notes, tmp_path, capfd) -> None:
    settings = given("embedding=mlp", f"embedding{dot}hidden_layer_sizes=[8, 4]",
                     f"embedding{dot}max_epochs=1")  # fmt: skip
    status, _, complaint = fit(capfd, notes, tmp_path / "m", *settings)
    assert (status, trouble(complaint)) == (0, "")
    embedding = Tagger.load(tmp_path / "m").pipeline[-1].embedding_
    assert (embedding.hidden_layer_sizes, embedding.max_epochs) == ((8, 4), 1)


def test_settings_reach_the_members_of_a_blend() -> None:
    from splmll import SPLMLL

    model = SPLMLL()
    settings = {"embedding": ["trees", "kernel"], "embedding.trees.n_estimators": 7}
    model.set_params(**checked_settings(model, "SPL-MLL", settings))
    assert model.embedding.members[0].n_estimators == 7


BAD_SETTINGS = {
    "no value": (["pull"], "write it as NAME=VALUE"),
    "unknown": (["pul=1"], "SPL-MLL has no setting 'pul'. Did you mean 'pull'?"),
    "a word": (["pull=many"], "'pull' parameter of SPLMLL must be a float"),
    "no truth": (["warm_start=3"], "'warm_start' must be true or false, not 3"),
    "an option": (["random_state=3"], "has its own option: --seed"),
    "an option of a part": (
        ["embedding=mlp", "embedding.device=cpu"],
        "has its own option: --device",
    ),
    "refused by the method": (["embedding=cubic"], "embedding='cubic' is not one of 'auto'"),
    "unknown of the embedding": (
        ["embedding=mlp", "embedding.dropot=0.2"],
        "Did you mean 'embedding__dropout'?",
    ),
    "refused by the embedding": (
        ["embedding=mlp", "embedding.dropout=2"],
        "'dropout' parameter of Network must be",
    ),
    "of any embedding": (["embedding.dropout=0.2"], "choose one with --set embedding"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_bad_settings(case, notes, tmp_path, capfd) -> None:
    settings, words = BAD_SETTINGS[case]
    status, said, complaint = fit(capfd, notes, tmp_path / "m", *given(*settings))
    assert (status, said) == (2, "")
    assert words in complaint
    assert list(tmp_path.iterdir()) == []


def test_a_word_for_a_number_is_refused_before_the_fit() -> None:
    from splmll.methods import MLkNN

    assert checked_settings(MLkNN(), "ML-kNN", {"n_neighbors": 7}) == {"n_neighbors": 7}
    with pytest.raises(ValueError, match="'n_neighbors' must be a number such as 10, not None"):
        checked_settings(MLkNN(), "ML-kNN", {"n_neighbors": None})


# Devices ----------------------------------------------------------------------------------------


def test_the_device_reaches_the_network(notes, tmp_path, capfd) -> None:
    options = ["--device", "cpu", *given("embedding=mlp", "embedding.max_epochs=1")]
    assert fit(capfd, notes, tmp_path / "m", *options)[0] == 0
    assert Tagger.load(tmp_path / "m").pipeline[-1].embedding.device == "cpu"


def test_the_device_reaches_networks_that_the_features_call_for() -> None:
    from splmll import SPLMLL
    from splmll.tagging.pipeline import place_networks

    model = SPLMLL()
    place_networks(model, "SPL-MLL", "cpu", np.zeros((50, 3)), 5)
    devices = {k: v for k, v in model.get_params().items() if k.endswith("device")}
    assert devices == {"embedding__network__device": "cpu"}
    words = SPLMLL()
    place_networks(words, "SPL-MLL", "cpu", sparse.csr_array((50, 300)), 5)  # needs none
    with pytest.raises(ValueError, match="OneVsRest trains no network"):
        place_networks(SPLMLL(), "SPL-MLL", "cuda", sparse.csr_array((50, 300)), 5)


def test_the_device_reaches_a_network_inside_a_method(notes) -> None:
    from splmll.tagging import read_examples
    from splmll.tagging.pipeline import build_pipeline

    data, _ = read_examples(notes, ["tags"], ignore=["id"])
    assert build_pipeline(data, "Deep CPLST", device="cpu")[-1].regressor.device == "cpu"
    assert build_pipeline(data, "BR", device="cpu")[-1].get_params()  # has none and needs none


def test_a_device_that_is_not_there(notes, tmp_path, capfd) -> None:
    status, _, complaint = fit(capfd, notes, tmp_path / "m", "--device", "cuda:77")
    assert status == 2
    assert "There is no device 'cuda:77' here; available are auto, cpu" in complaint
    assert list(tmp_path.iterdir()) == []


def test_a_device_for_nothing(notes, monkeypatch, tmp_path, capfd) -> None:
    # As on a machine that has one.
    monkeypatch.setattr("splmll.tagging.pipeline.check_device", lambda name: None)
    status, _, complaint = fit(capfd, notes, tmp_path / "m", "--device", "cuda")
    assert status == 2
    assert "SPL-MLL with its embedding OneVsRest trains no network" in complaint
    assert "--set embedding=mlp" in complaint
    status, _, complaint = fit(capfd, notes, tmp_path / "m", "--device", "cuda", "-m", "BR")
    assert "BR trains no network" in complaint


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_is_there() -> None:
    check_device("cuda")


# YAML -------------------------------------------------------------------------------------------


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_from_a_file(notes, tmp_path, capfd) -> None:
    config = write(
        tmp_path / "run.yaml",
        f"file: {notes}\nlabels: tags\ntext: [body]\nignore:\n  - id\n  - site\nthreshold: 0.4\n"
        f"landmarks: 2\nseed: 3\nout: {tmp_path / 'm'}\njson: true\n"
        "settings:\n  pull: 1e-2\n  cv: 3\n  embedding: linear\n  embedding.ridge: 0.1\n",
    )
    status, said, complaint = here(capfd, "fit", "--config", config)
    assert (status, trouble(complaint)) == (0, "")
    found = json.loads(said)
    assert found["columns"] == {"body": "text", "hours": "numeric"}
    assert len(found["landmarks"]) == 2
    model = Tagger.load(tmp_path / "m").pipeline[-1]
    assert (model.threshold, model.random_state, model.pull, model.cv) == (0.4, 3, 0.01, 3)
    assert model.embedding.ridge == 0.1


def test_what_is_typed_wins(notes, tmp_path, capfd) -> None:
    config = write(
        tmp_path / "run.yaml",
        f"file: nowhere.csv\nlabels: [a, b]\nignore: id\nseed: 3\nout: {tmp_path / 'no'}\n"
        "settings: {pull: 0.5, cv: 4}\n",
    )
    out = tmp_path / "m"
    typed = ["--labels", "tags", "--seed", 5, "--set", "pull=0.25", "--out", out]
    status, _, complaint = here(capfd, "fit", notes, "--config", config, *typed)
    assert (status, trouble(complaint)) == (0, "")
    model = Tagger.load(out).pipeline[-1]
    assert (model.random_state, model.pull, model.cv) == (5, 0.25, 4)
    assert not (tmp_path / "no").exists()


def test_a_run_can_be_repeated(notes, tmp_path, capfd) -> None:
    first, again, config = tmp_path / "first", tmp_path / "again", tmp_path / "run.yaml"
    typed = ["--seed", 4, "--landmarks", 2, "--set", "pull=0.2", "--save-config", config]
    assert fit(capfd, notes, first, *typed)[0] == 0
    assert yaml.safe_load(config.read_text())["settings"] == {"pull": 0.2}
    assert here(capfd, "fit", "--config", config, "--out", again)[0] == 0
    names = sorted(file.name for file in first.iterdir() if file.name.startswith("arrays"))
    # The checksum of all arrays is part of the name.
    assert sorted(f.name for f in again.iterdir() if f.name.startswith("arrays")) == names


BAD_FILES = {
    "unknown key": ("labls: tags\n", "there is no option 'labls'. Did you mean 'labels'?"),
    "config in config": ("config: other.yaml\n", "there is no option 'config'"),
    "no mapping": ("- labels\n", "it contains no options"),
    "no YAML": ("labels: [tags\n", "line 2: this is not YAML"),
    "a Python object": ("labels: !!python/name:os.system\n", "this is not YAML"),
    "not a number": ("seed: soon\n", "Invalid value for '--seed'"),
    "half a number": ("seed: 1.5\n", "Invalid value for '--seed'"),
    "too small": ("landmarks: 0\n", "Invalid value for '--landmarks'"),
    "several": ("method: [BR, LP]\n", "the option 'method' takes one value, not several"),
    "settings": ("settings: 3\n", "write one setting per line, indented, below `settings:`"),
    "unknown setting": ("settings: {pul: 3}\n", "Did you mean 'pull'?"),
    "empty": ("", "the file is empty"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(case, notes, tmp_path, capfd) -> None:
    text, words = BAD_FILES[case]
    config = write(tmp_path / "run.yaml", text)
    out = tmp_path / "m"
    status, _, complaint = fit(capfd, notes, out, "--config", config)
    assert status == 2
    assert words in complaint
    assert len(trouble(complaint).splitlines()) <= 2
    assert not out.exists()


def test_options_are_saved_as_yaml_only(notes, tmp_path, capfd) -> None:
    place = tmp_path / "run.json"
    status, _, complaint = fit(capfd, notes, tmp_path / "m", "--save-config", place)
    assert status == 2
    assert "options are written as .yaml, .yml" in complaint
    assert list(tmp_path.iterdir()) == []


# Cost -------------------------------------------------------------------------------------------


def test_what_a_fit_will_cost_is_said(notes, tmp_path, capfd) -> None:
    status, said, _ = fit(capfd, notes, tmp_path / "m")
    assert status == 0
    assert "of memory beside" in json.loads(said)["expected_cost"]


def test_a_fit_beyond_the_memory_is_refused_before_it_begins(
    notes, tmp_path, capfd, monkeypatch
) -> None:
    import psutil

    there_is = psutil.virtual_memory()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: there_is._replace(available=1000))
    status, _, complaint = fit(capfd, notes, tmp_path / "m")
    assert status == 1
    assert "This fit needs about" in complaint
    assert "Use fewer features or labels" in complaint
    assert not (tmp_path / "m").exists()
