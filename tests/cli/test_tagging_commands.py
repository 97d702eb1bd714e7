"""``splmll fit`` and what comes after it: real processes the whole way, bad input in this one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_runs import apart, here, trouble, typed
from splmll.cli._show import show_table
from splmll.datasets import Dataset, read_table
from splmll.persistence import load
from splmll.tagging import Tagger
from tagged_notes import write_notes


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with training notes, other notes and a model."""
    folder = tmp_path_factory.mktemp("tagging")
    write_notes(folder / "notes.csv", 200)
    write_notes(folder / "new.csv", 120, seed=1)
    ran = typed(
        "fit", folder / "notes.csv", "--text", "body", "--labels", "tags", "--ignore", "id",
        "--out", folder / "model",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    stages = [
        f"reading {folder / 'notes.csv'}",
        "counting words",
        "SPL-MLL learns from 200 rows",
        f"writing {folder / 'model'}",
    ]
    # Parts of a stage are said where it takes long, as on a busy machine.
    assert [line for line in ran.stderr.splitlines() if line in stages] == stages
    (folder / "fit.txt").write_text(ran.stdout)
    return folder


def test_fit_says_how_well_it_went(folder) -> None:
    said = (folder / "fit.txt").read_text()
    assert "200 rows, 4 labels" in said
    assert "body (text); hours (numeric); site (categorical)" in said
    assert "SPL-MLL (OneVsRest), out of fold: by models that had not seen the rows" in said
    assert "Micro-F1 ↑" in said
    assert "landmarks of 4 labels" in said
    assert "each label alone  with landmarks" in said
    assert "urgent" in said
    assert " kB" in said


def test_predict_as_a_process(folder) -> None:
    out = folder / "tags.csv"
    ran = apart("predict", folder / "model", folder / "new.csv", "--keep", "id", "--out", out)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("120 rows, ")
    assert ran.stdout.splitlines()[1] == str(out)
    found = pd.read_csv(out, keep_default_na=False)
    truth = pd.read_csv(folder / "new.csv", keep_default_na=False)
    assert list(found.columns) == ["id", "tags"]
    assert found["id"].tolist() == truth["id"].tolist()
    assert (found["tags"] == truth["tags"]).mean() > 0.8


def test_predictions_have_the_form_of_the_training_file(folder, capfd) -> None:
    out = folder / "again.csv"
    assert here(capfd, "predict", folder / "model", folder / "new.csv", "--out", out)[0] == 0
    labels = read_table(_with_feature(out), label_column="tags")
    assert labels.label_names == ["door", "oil", "pump", "urgent"]


def test_ignored_columns_stand_beside_the_tags(folder, capfd) -> None:
    rows = pd.read_csv(folder / "new.csv", keep_default_na=False)
    _, said, _ = here(capfd, "predict", folder / "model", folder / "new.csv")
    assert said.splitlines()[0] == "id,tags"
    assert said.splitlines()[1].startswith(f"{rows['id'][0]},")
    # Another file need not have them, and others can be asked for instead.
    rows.drop(columns="id").to_csv(folder / "nameless.csv", index=False)
    _, said, _ = here(capfd, "predict", folder / "model", folder / "nameless.csv")
    assert said.splitlines()[0] == "tags"
    _, said, _ = here(capfd, "predict", folder / "model", folder / "new.csv", "--keep", "site")
    assert said.splitlines()[0] == "site,tags"


def test_load_gives_a_tagger(folder) -> None:
    loaded = load(folder / "model")
    assert isinstance(loaded, Tagger)
    rows = pd.read_csv(folder / "new.csv", keep_default_na=False)
    expected = Tagger.load(folder / "model").scores(rows)
    pd.testing.assert_frame_equal(loaded.scores(rows), expected)


def test_tables_have_full_names_where_there_is_no_terminal(capfd, monkeypatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    long_name = "a label of very many words " * 8
    show_table("Labels", ["label", "carries"], [(long_name, long_name)], one_line=True)
    assert capfd.readouterr().out.count(long_name.strip()) == 2


def _with_feature(file: Path) -> Path:
    pd.read_csv(file, keep_default_na=False).assign(x=1).to_csv(file, index=False)
    return file


def test_chunks_give_what_the_whole_file_gives(folder, capfd, monkeypatch) -> None:
    command = ["predict", folder / "model", folder / "new.csv", "--scores"]
    status, whole, _ = here(capfd, *command)
    assert status == 0
    monkeypatch.setattr("splmll.cli.predict.CHUNK_ROWS", 17)
    _, in_chunks, _ = here(capfd, *command)
    assert in_chunks == whole
    assert len(whole.splitlines()) == 121
    assert whole.splitlines()[0] == "id,tags,score:door,score:oil,score:pump,score:urgent"


def test_csv_and_parquet_in_and_out(folder, capfd) -> None:
    pd.read_csv(folder / "new.csv", keep_default_na=False).assign(
        hours=lambda frame: pd.to_numeric(frame["hours"])
    ).to_parquet(folder / "new.parquet")
    for source, target in (("new.csv", "a.csv"), ("new.parquet", "b.parquet")):
        command = ["predict", folder / "model", folder / source, "--out", folder / target]
        assert here(capfd, *command, "--keep", "hours")[0] == 0
    texts = pd.read_csv(folder / "a.csv", keep_default_na=False)["tags"]
    lists = pd.read_parquet(folder / "b.parquet")["tags"]
    assert [";".join(tags) for tags in lists] == texts.tolist()
    assert pd.read_parquet(folder / "b.parquet")["hours"].equals(
        pd.read_csv(folder / "a.csv")["hours"]
    )


def test_evaluate(folder, capfd) -> None:
    command = ["evaluate", folder / "model", folder / "new.csv"]
    status, said, _ = here(capfd, *command)
    assert status == 0
    assert "SPL-MLL on 120 rows" in said
    status, said, _ = here(capfd, *command, "--json")
    found = json.loads(said)
    assert found["rows"] == 120
    assert found["measures"]["micro_f1"] > 0.8
    assert set(found["labels"]) == {"door", "oil", "pump", "urgent"}


def test_evaluate_names_labels_it_never_saw(folder, capfd) -> None:
    other = pd.read_csv(folder / "new.csv", keep_default_na=False)
    other.loc[0, "tags"] = "oil;ghost"
    other.to_csv(folder / "ghost.csv", index=False)
    status, _, complaint = here(capfd, "evaluate", folder / "model", folder / "ghost.csv")
    assert status == 0
    assert "the model has never seen them: 'ghost'" in complaint


def test_explain_shows_bars_that_add_up(folder, capfd) -> None:
    (folder / "one.csv").write_text("body,hours,site\ndoor,0,north\nrotor seal pump,0,north\n")
    command = ["explain", folder / "model", folder / "one.csv", "--row", 2]
    status, said, _ = here(capfd, *command)
    assert status == 0
    assert "pump: " in said
    assert "█" in said
    found = json.loads(here(capfd, *command, "--json")[1])
    assert found["predicted"] == ["pump"]
    pump = found["labels"]["pump"]
    assert pump["score"] == pytest.approx(pump["base"] + sum(pump["landmarks"].values()))


def test_explain_where_nothing_is_predicted(folder, capfd) -> None:
    (folder / "none.csv").write_text("body,hours,site\nhall,0,\n")
    status, said, _ = here(capfd, "explain", folder / "model", folder / "none.csv")
    assert status == 0
    assert "No label is predicted for row 1; these came closest." in said


def test_from_landmarks_to_recovered_labels(folder, capfd) -> None:
    _, said, _ = here(capfd, "landmarks", folder / "model", "--all")
    assert "predictability" in said
    names = [line["landmark"] for line in json.loads(
        here(capfd, "landmarks", folder / "model", "--json")[1]
    )]  # fmt: skip
    blanks = "," * (len(names) - 1)
    (folder / "seen.csv").write_text(f"{','.join(names)}\n1{blanks}\n0{blanks}\n")
    out = folder / "recovered.csv"
    ran = apart("recover", folder / "model", folder / "seen.csv", "--out", out)
    assert (ran.returncode, ran.stderr) == (0, "")
    found = pd.read_csv(out, keep_default_na=False)["tags"]
    assert names[0] in found[0].split(";")
    assert names[0] not in found[1].split(";")


def test_landmarks_that_save_and_carry_nothing(tmp_path, capfd) -> None:
    X = np.random.default_rng(0).normal(size=(150, 12))
    names = [f"label{k}" for k in range(12)]
    data = Dataset(X, (X > 0).astype(int), [f"x{k}" for k in range(12)], names)
    Tagger.fit(data, "SPL-MLL (linear)", settings={"pull": np.inf}, n_landmarks=12).save(
        tmp_path / "model"
    )
    _, said, _ = here(capfd, "landmarks", tmp_path / "model")
    assert " ".join(said.split()) == (
        "12 landmarks of 12 labels. Every label is a landmark: nothing is saved. "
        "12 carry only themselves."
    )
    _, said, _ = here(capfd, "landmarks", tmp_path / "model", "--all")
    assert sum(line.startswith(" label") for line in said.splitlines()) == 12
    assert len(json.loads(here(capfd, "landmarks", tmp_path / "model", "--json")[1])) == 12


def test_fit_in_json_with_zero_one_columns_and_another_method(folder, capfd) -> None:
    lines = ["x,y,is_right,is_up"]
    lines += [f"{k % 7 - 3},{k % 5 - 2},{int(k % 7 > 3)},{int(k % 5 > 2)}" for k in range(70)]
    (folder / "corners.csv").write_text("\n".join(lines) + "\n")
    model = folder / "corners.zip"
    command = ["fit", folder / "corners.csv", "--labels", "is_*", "-m", "br", "--out", model]
    status, said, complaint = here(capfd, *command, "--json")
    assert (status, trouble(complaint)) == (0, "")
    found = json.loads(said)
    assert found["method"] == "BR"
    assert found["label_names"] == ["right", "up"]
    assert found["landmarks"] is None
    assert (found["measured"]["how"], found["measured"]["rows"]) == ("held out", 14)
    assert found["measured"]["measures"]["micro_f1"] > 0.8
    assert found["bytes"] == model.stat().st_size
    _, said, _ = here(capfd, "predict", model, folder / "corners.csv")
    assert said.splitlines()[0] == "is_right,is_up"


@pytest.mark.parametrize("command", ["datasets", "methods"])
def test_lists(command, capfd) -> None:
    found = [each["name"] for each in json.loads(here(capfd, command, "--json")[1])]
    _, said, _ = here(capfd, command)
    assert {"datasets": "emotions", "methods": "SPL-MLL"}[command] in found
    assert all(name.split()[0] in said for name in found)


# Bad input: {f} is the folder of the fixture, OUT a file that must not come into being.
BAD = {
    "no such file": (["fit", "{f}/none.txt", "--out", "OUT"], "there is no such file"),
    "no tag column": (
        ["fit", "{f}/notes.csv", "--out", "OUT"],
        "name the column of tags with --labels COLUMN",
    ),
    "unknown tag column": (
        ["fit", "{f}/notes.csv", "--labels", "tag", "--out", "OUT"],
        "there is no column 'tag'. Did you mean 'tags'? The columns are 'id', 'body'",
    ),
    "unknown text column": (
        ["fit", "{f}/notes.csv", "--labels", "tags", "--text", "bdy", "--out", "OUT"],
        "there is no column 'bdy'. Did you mean 'body'?",
    ),
    "unknown method": (
        ["fit", "{f}/notes.csv", "--labels", "tags", "-m", "SPLMLL", "--out", "OUT"],
        "Did you mean 'SPL-MLL'?",
    ),
    "unknown threshold": (
        ["fit", "{f}/notes.csv", "--labels", "tags", "--threshold", "high", "--out", "OUT"],
        "high",
    ),
    "too many landmarks": (
        [
            "fit",
            "{f}/new.csv",
            "--labels",
            "tags",
            "--ignore",
            "id",
            "--landmarks",
            "9",
            "--out",
            "OUT",
        ],
        "there are 4 labels",
    ),
    "too few rows": (
        ["fit", "{f}/short.csv", "--labels", "tags", "--out", "OUT"],
        "2 rows are too few",
    ),
    "empty file": (
        ["fit", "{f}/empty.csv", "--labels", "tags", "--out", "OUT"],
        "the file is empty",
    ),
    "only tags": (
        ["fit", "{f}/only.csv", "--labels", "tags", "--out", "OUT"],
        "no column is left for the features",
    ),
    "folder of others": (["fit", "{f}/notes.csv", "--labels", "tags", "--out", "{f}"], "not part"),
    "no model there": (["predict", "{f}/mdel", "{f}/new.csv", "--out", "OUT.csv"], "mdel"),
    "no model folder": (
        ["predict", "{f}", "{f}/new.csv", "--out", "OUT.csv"],
        "there is no model in this folder. Give one written by `splmll fit`",
    ),
    "an id among the columns": (
        ["fit", "{f}/notes.csv", "--labels", "tags", "--out", "OUT"],
        "the column 'id' has no word that occurs in several rows; leave it out with --ignore id",
    ),
    "a table for a model": (
        ["predict", "{f}/new.csv", "{f}/model", "--out", "OUT.csv"],
        "new.csv",
    ),
    "columns that do not fit": (
        ["predict", "{f}/model", "{f}/other.csv", "--out", "OUT.csv"],
        "other.csv: there is no column 'body'. Did you mean 'Body'?",
    ),
    "words for numbers": (
        ["predict", "{f}/model", "{f}/words.csv", "--out", "OUT.csv"],
        "row 1: the column 'hours' contains 'ten', which is not a number",
    ),
    "predict from an empty file": (
        ["predict", "{f}/model", "{f}/empty.csv", "--out", "OUT.csv"],
        "the file is empty",
    ),
    "strange suffix": (
        ["predict", "{f}/model", "{f}/new.csv", "--out", "OUT.docx"],
        "predictions are written as .csv, .parquet",
    ),
    "unknown column to keep": (
        ["predict", "{f}/model", "{f}/new.csv", "--keep", "idd", "--out", "OUT.csv"],
        "Did you mean 'id'?",
    ),
    "a result column twice": (
        ["predict", "{f}/model", "{f}/new.csv", "--keep", "tags", "--out", "OUT.csv"],
        "'tags' appears twice",
    ),
    "evaluate without tags": (
        ["evaluate", "{f}/model", "{f}/words.csv"],
        "there is no column 'tags'",
    ),
    "row out of range": (
        ["explain", "{f}/model", "{f}/new.csv", "--row", "121"],
        "there is no row 121: the file has 120 rows; give --row 1 to 120",
    ),
    "landmark missing": (
        ["recover", "{f}/model", "{f}/other.csv", "--out", "OUT.csv"],
        "there is no column",
    ),
    "landmark neither 0 nor 1": (
        ["recover", "{f}/model", "{f}/maybe.csv", "--out", "OUT.csv"],
        "write 1 if the label applies, 0 if it does not, and nothing",
    ),
}


@pytest.fixture(scope="module")
def bad_files(folder) -> Path:
    for name, content in {
        "empty.csv": "",
        "short.csv": "body,tags\na b c d,x\ne f g h,y\n",
        "only.csv": "tags\na;b\n",
        "other.csv": "Body,hours,site\nx,1,north\n",
        "words.csv": "body,hours,site\nx,ten,north\n",
        "maybe.csv": "door,oil,pump,urgent\n1,maybe,,\n",
    }.items():
        (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize("case", BAD)
def test_bad_input_says_what_to_do(case, bad_files, tmp_path, capfd) -> None:
    arguments, words = BAD[case]
    filled = [
        each.replace("{f}", str(bad_files)).replace("OUT", str(tmp_path / "out"))
        for each in arguments
    ]
    before = sorted(bad_files.rglob("*"))
    status, said, complaint = here(capfd, *filled)
    assert status == 2
    assert said == ""
    assert words in trouble(complaint)
    assert len(trouble(complaint).splitlines()) <= 2
    assert "Traceback" not in complaint
    assert list(tmp_path.iterdir()) == []
    assert sorted(bad_files.rglob("*")) == before


def test_a_method_without_landmarks_says_so(folder, capfd) -> None:
    model = folder / "neighbours"
    command = ["fit", folder / "notes.csv", "--labels", "tags", "-m", "ML-kNN", "--out", model]
    command += ["--ignore", "id"]
    assert here(capfd, *command)[0] == 0
    for arguments in (["landmarks", model], ["explain", model, folder / "new.csv"]):
        status, _, complaint = here(capfd, *arguments)
        assert status == 2
        assert "ML-kNN of this model has no landmarks" in complaint
        assert "fit a model with the method SPL-MLL" in complaint
