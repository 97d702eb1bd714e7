"""What ``splmll doctor MODEL`` finds: landmarks, labels, thresholds, libraries, damage."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest

from splmll.cli import main
from splmll.datasets import Dataset
from splmll.doctor import examine, examine_model_file
from splmll.persistence import ModelFileError, save
from splmll.tagging import Measured, Tagger


def corners(n_rows: int = 200, seed: int = 0) -> Dataset:
    """Four labels, two of which the others follow from, and both of which can be predicted."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 3))
    right, up = X[:, 0] > 0, X[:, 1] > 0
    Y = np.column_stack([right, up, right & up, right | up]).astype(int)
    return Dataset(X, Y, list("xyz"), ["right", "up", "both", "any"], name="corners")


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger.fit(corners(), "SPL-MLL (linear)", n_landmarks=3)


def checks(found) -> dict[str, object]:
    return {each.check: each for each in found}


def doctor(capfd, *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(["doctor", *map(str, arguments)])
    printed = capfd.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


def test_nothing_in_a_healthy_model(tagger, tmp_path, capfd) -> None:
    assert examine(tagger) == []
    assert examine(tagger, test=corners(seed=1)) == []
    tagger.save(tmp_path / "model")
    tagger.save(tmp_path / "model.zip")
    for name in ("model", "model.zip"):
        assert doctor(capfd, tmp_path / name) == (0, "No problems found.\n", "")


def test_a_healthy_model_of_another_method() -> None:
    assert examine(Tagger.fit(corners(), "BR")) == []


def test_no_landmarks() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    data = Dataset(X, np.tile([1, 0], (60, 1)), ["x", "y"], ["always", "never"])
    found = checks(examine(Tagger.fit(data, "SPL-MLL (linear)")))
    assert found["no-landmarks"].severity == "error"
    assert "every row gets the same labels" in found["no-landmarks"].what


def test_all_labels_are_landmarks() -> None:
    found = checks(examine(Tagger.fit(corners(), "SPL-MLL (linear)", n_landmarks=4)))
    assert set(found) == {"all-landmarks"}
    assert found["all-landmarks"].severity == "note"
    assert "--landmarks 2" in found["all-landmarks"].remedy


def test_a_label_that_no_landmark_carries() -> None:
    data = corners()
    alone = np.random.default_rng(5).random(200) < 0.02
    data = replace(
        data, Y=np.column_stack([data.Y, alone]).astype(int), label_names=[*data.label_names, "odd"]
    )
    found = checks(examine(Tagger.fit(data, "SPL-MLL (linear)", n_landmarks=2)))
    assert found["not-carried"].where == ["odd"]
    assert found["not-carried"].severity == "warning"


@pytest.mark.parametrize(("threshold", "words"), [(4.0, "nothing"), (-4.0, "every label")])
def test_thresholds_over_the_edge(threshold, words) -> None:
    tagger = Tagger.fit(corners(), "SPL-MLL (linear)", n_landmarks=2, threshold=threshold)
    found = checks(examine(tagger))
    assert found["edge-predictions"].severity == "error"
    assert f"{words} is predicted" in found["edge-predictions"].what
    assert found["edge-thresholds"].severity == "warning"
    assert f"({threshold:.3g})" in found["edge-thresholds"].what


def test_logarithms_take_scores_below_zero(tagger) -> None:
    tagger = Tagger.fit(corners(), "SPL-MLL (linear)", n_landmarks=3, threshold=-0.01)
    model = tagger.pipeline[-1]
    assert "edge-thresholds" in checks(examine(tagger))
    model.learned_ = replace(model.learned_, setting=replace(model.learned_.setting, tail=0.1))
    assert "edge-thresholds" not in checks(examine(tagger))


def test_a_threshold_of_zero_is_in_the_middle_for_some_methods() -> None:
    tagger = Tagger.fit(corners(), "MLFE")
    assert (tagger.pipeline[-1].thresholds_ == 0).all()
    assert "edge-thresholds" not in checks(examine(tagger))


def measured(tagger: Tagger, predicted: list[int]) -> Tagger:
    table = pd.DataFrame(
        {"rows": [20, 20, 10, 30], "predicted": predicted, "f1": 0.5}, index=tagger.label_names
    )
    return replace(tagger, measured=Measured(40, {}, table))


def test_labels_never_and_always_predicted(tagger) -> None:
    found = checks(examine(measured(tagger, [20, 21, 0, 40])))
    assert found["never-predicted"].where == ["both"]
    assert found["always-predicted"].where == ["any"]
    assert "--threshold per_label" in found["never-predicted"].remedy


def test_labels_never_predicted_for_the_rows_of_a_file(tmp_path, capfd) -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["x", "y"])
    table = table.assign(is_right=(table["x"] > 0).astype(int), is_up=(table["y"] > 0).astype(int))
    table.to_csv(tmp_path / "train.csv", index=False)
    table[table["x"] < -0.5].assign(is_right=1).to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(SystemExit):
        main(f"fit {tmp_path}/train.csv --labels is_* -m BR --out {tmp_path}/model".split())
    capfd.readouterr()
    status, said, _ = doctor(capfd, tmp_path / "model", "--test", tmp_path / "other.csv")
    assert status == 0
    assert "1 label is in the test rows, but predicted for none of them: 'right'." in said


def test_a_model_from_before_predictions_were_counted(tagger) -> None:
    old = replace(tagger.measured, labels=tagger.measured.labels.drop(columns="predicted"))
    assert examine(replace(tagger, measured=old)) == []


# Files ------------------------------------------------------------------------------------------


def test_other_libraries(tagger, tmp_path, capfd, monkeypatch) -> None:
    then = {"numpy": "1.0.0", "scikit-learn": "1.2.3", "torch": version("torch")}
    with monkeypatch.context() as patched:
        patched.setattr("splmll.persistence.files.versions", lambda names: then)
        tagger.save(tmp_path / "model")
    status, said, _ = doctor(capfd, tmp_path / "model", "--json")
    found = json.loads(said)["findings"]
    assert status == 0
    assert [(each["severity"], each["where"]) for each in found] == [
        ("warning", ["scikit-learn"]),
        ("note", ["numpy"]),
    ]
    assert f"scikit-learn 1.2.3 (here {version('scikit-learn')})" in found[0]["what"]


@pytest.mark.parametrize("part", ["manifest.json", "arrays-*", "objects-*"])
def test_damage(tagger, tmp_path, capfd, part) -> None:
    tagger.save(tmp_path / "model")
    [file] = (tmp_path / "model").glob(part)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    status, said, complaint = doctor(capfd, tmp_path / "model")
    assert (status, complaint) == (1, "")
    assert "error: damaged-file" in said
    assert "Copy it again" in " ".join(said.split())


def test_a_member_that_is_gone(tagger, tmp_path) -> None:
    tagger.save(tmp_path / "model")
    next((tmp_path / "model").glob("arrays-*")).unlink()
    [found] = examine_model_file(tmp_path / "model")
    assert (found.check, found.severity) == ("damaged-file", "error")


def test_what_is_no_model_is_bad_input(tmp_path, capfd) -> None:
    with pytest.raises(ModelFileError, match="there is no such file"):
        examine_model_file(tmp_path / "none.zip")
    status, _, complaint = doctor(capfd, tmp_path)
    assert status == 2
    assert len(complaint.splitlines()) == 1
    save({"nothing": 1}, tmp_path / "other")
    status, _, complaint = doctor(capfd, tmp_path / "other")
    assert status == 2
    assert "splmll fit" in complaint


def test_options_of_files_are_refused_for_models(tagger, tmp_path, capfd) -> None:
    tagger.save(tmp_path / "model")
    status, _, complaint = doctor(capfd, tmp_path / "model", "--labels", "tags")
    assert status == 2
    assert "models, which know their columns; leave out --labels, or give a file" in complaint
