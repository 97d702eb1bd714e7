"""Every command with bad input of every kind: what it says, its status, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command_runs import trouble
from splmll.cli import main
from tagged_notes import write_notes

# {file} and {model} are what is wrong, {good} and {fine} what is right, {out} must not come to be.
OF_FILES = {
    "doctor": "doctor {file} --labels tags",
    "fit": "fit {file} --labels tags --out {out}",
    "predict": "predict {fine} {file} --out {out}.csv",
    "evaluate": "evaluate {fine} {file}",
    "explain": "explain {fine} {file}",
    "landmarks": "landmarks {fine} --data {file} --figure {out}.png",
    "recover": "recover {fine} {file} --out {out}.csv",
    "doctor with test": "doctor {good} --labels tags --ignore id --test {file}",
    "fit with config": "fit {good} --labels tags --ignore id --out {out} --config {file}",
}
FILES = {
    "missing": "there is no such file",
    "a folder": "this is a folder",
    "empty": "the file is empty",
    "rubbish": "",
    "other columns": "",
}
OF_MODELS = {
    "doctor": "doctor {model}",
    "predict": "predict {model} {good} --out {out}.csv",
    "evaluate": "evaluate {model} {good}",
    "explain": "explain {model} {good}",
    "landmarks": "landmarks {model}",
    "recover": "recover {model} {good} --out {out}.csv",
}
MODELS = ("missing", "a folder", "a table", "no zip")
VALUES = {
    "doctor": "doctor {good} --labels tag",
    "fit, seed": "fit {good} --labels tags --seed first --out {out}",
    "fit, landmarks": "fit {good} --labels tags --landmarks 0 --out {out}",
    "fit, method": "fit {good} --labels tags --method NN --out {out}",
    "fit, threshold": "fit {good} --labels tags --threshold much --out {out}",
    "predict, keep": "predict {fine} {good} --keep nothing --out {out}.csv",
    "explain, row": "explain {fine} {good} --row 0",
    "explain, row beyond": "explain {fine} {good} --row 1000",
    "landmarks, figure alone": "landmarks {fine} --figure {out}.png",
    "landmarks, data alone": "landmarks {fine} --data {good}",
    "compare": "compare nothing-known --out {out}",
    "reproduce": "reproduce table9 --out {out}",
    "datasets": "datasets --all",
    "methods": "methods extra",
    "no such command": "predcit {fine} {good}",
}
# A file where a folder is needed, and a folder where a file is.
PLACES = {
    "fit, below a file": "fit {good} --labels tags --out {good}/model",
    "fit, a file": "fit {good} --labels tags --out {good}",
    "fit, zip below a file": "fit {good} --labels tags --out {good}/model.zip",
    "fit, config below a file": "fit {good} --labels tags --out {out} --save-config {good}/a.yaml",
    "predict, below a file": "predict {fine} {good} --out {good}/tags.csv",
    "predict, a folder": "predict {fine} {good} --out {place}",
    "predict, suffix": "predict {fine} {good} --out {out}.xlsx",
    "recover, below a file": "recover {fine} {good} --out {good}/tags.csv",
    "landmarks, below a file": "landmarks {fine} --data {good} --figure {good}/path.png",
    "landmarks, suffix": "landmarks {fine} --data {good} --figure {out}.bmp",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    write_notes(folder / "good.csv", 60)
    with pytest.raises(SystemExit) as end:
        main(f"fit {folder}/good.csv --labels tags --ignore id --out {folder}/fine".split())
    assert not end.value.code
    (folder / "a folder").mkdir()
    (folder / "a.csv").mkdir()
    (folder / "empty").touch()
    (folder / "rubbish").write_bytes(np.random.default_rng(0).bytes(5000))
    (folder / "other columns").write_text("a;b\n1;2\n3;4\n")
    (folder / "a table").write_text("a,b\n1,2\n")
    (folder / "no zip").write_bytes(b"PK\x03\x04 and then nothing")
    return folder


def contents(folder: Path) -> dict[str, bytes | None]:
    files = sorted(folder.rglob("*"))
    return {str(file): file.read_bytes() if file.is_file() else None for file in files}


def refused(capfd, folder: Path, tmp_path: Path, command: str, **names: Path) -> str:
    """Run a command that must be refused; return what it says."""
    names = {"good": folder / "good.csv", "fine": folder / "fine", "out": tmp_path / "out", **names}
    before = contents(folder)
    capfd.readouterr()
    with pytest.raises(SystemExit) as end:
        main([word.format(**names) for word in command.split()])
    printed = capfd.readouterr()
    assert end.value.code == 2
    assert printed.out == ""
    told = trouble(printed.err)
    assert 1 <= len(told.splitlines()) <= 2
    assert "Traceback" not in printed.err
    assert list(tmp_path.iterdir()) == []
    assert contents(folder) == before
    return told


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("command", OF_FILES)
def test_files(command, kind, folder, tmp_path, capfd) -> None:
    suffix = ".yaml" if "config" in command else ".csv"
    place = folder / kind
    if kind in ("empty", "rubbish", "other columns"):
        place = place.with_name(f"{kind}{suffix}")
        shutil.copyfile(folder / kind, place)
    said = refused(capfd, folder, tmp_path, OF_FILES[command], file=place)
    if command == "doctor" and kind == "a folder":
        assert "folders and zip files are read as models" in said
    else:
        assert str(place) in said
        assert FILES[kind] in said


# To doctor a table is data to look at, and a damaged zip file something to report.
@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (command, kind)
        for command in OF_MODELS
        for kind in MODELS
        if command != "doctor" or kind not in ("a table", "no zip")
    ],
)
def test_models(command, kind, folder, tmp_path, capfd) -> None:
    place = folder / kind
    if kind == "no zip":
        place = folder / "no.zip"
        shutil.copyfile(folder / kind, place)
    said = refused(capfd, folder, tmp_path, OF_MODELS[command], model=place)
    assert str(place) in said


@pytest.mark.parametrize("case", VALUES)
def test_values(case, folder, tmp_path, capfd) -> None:
    refused(capfd, folder, tmp_path, VALUES[case])


@pytest.mark.parametrize("case", PLACES)
def test_places(case, folder, tmp_path, capfd) -> None:
    said = refused(capfd, folder, tmp_path, PLACES[case], place=folder / "a.csv")
    assert "give" in said.lower()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize(
    "command",
    ["fit {good} --labels tags --out {shut}/model", "predict {fine} {good} --out {shut}/t.csv"],
    ids=["fit", "predict"],
)
def test_a_folder_without_permission(command, folder, tmp_path, capfd) -> None:
    shut = folder / "a folder"
    shut.chmod(0o500)
    try:
        assert "do not have permission to write" in refused(
            capfd, folder, tmp_path, command, shut=shut
        )
    finally:
        shut.chmod(0o700)


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "doctor", "landmarks"])
def test_an_option_that_is_not_there(command, capfd) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--optoin"])
    complaint = capfd.readouterr().err
    assert end.value.code == 2
    assert "No such option: --optoin" in complaint
    assert f"{command} --help" in complaint


@pytest.mark.slow
def test_rubbish_in_a_real_process_is_told_in_a_line(folder, tmp_path) -> None:
    shutil.copyfile(folder / "rubbish", tmp_path / "rubbish.csv")
    command = [sys.executable, "-m", "splmll", "predict", folder / "fine", tmp_path / "rubbish.csv"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert len(ran.stderr.splitlines()) == 1
    assert "is not plain text" in ran.stderr


def test_debug_shows_where(folder, capfd) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--debug", "landmarks", str(folder / "missing")])
    complaint = capfd.readouterr().err
    assert end.value.code == 2
    assert "Traceback" in complaint
    assert "ModelFileError" in complaint


def test_a_failure_is_no_bad_input(folder, capfd, monkeypatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("the sky is falling")

    monkeypatch.setattr("splmll.tagging.Tagger.landmarks", fails)
    with pytest.raises(SystemExit) as end:
        main(["landmarks", str(folder / "fine")])
    complaint = capfd.readouterr().err
    assert end.value.code == 1
    assert complaint == (
        "splmll: RuntimeError: the sky is falling\nRun again with --debug to see where.\n"
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_a_failure(folder) -> None:
    command = [sys.executable, "-m", "splmll", "landmarks", str(folder / "fine")]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert ran.returncode == 1
    assert "No space left" in ran.stderr
    assert "Traceback" not in ran.stderr
