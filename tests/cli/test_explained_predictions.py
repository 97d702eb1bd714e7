"""``predict --explain``, JSON Lines, and the figure of ``splmll landmarks``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_runs import here
from splmll.cli import main
from splmll.embeddings import OneVsRest
from splmll.tagging import Tagger
from splmll.tagging.files import iterate_rows
from splmll.tagging.output import explanation_text
from tagged_notes import write_notes


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("explained")
    write_notes(folder / "notes.csv", 150)
    write_notes(folder / "new.csv", 40, seed=1)
    with pytest.raises(SystemExit) as end:
        main(
            f"fit {folder}/notes.csv --labels tags --ignore id --landmarks 3 "
            f"--out {folder}/model".split()
        )
    assert not end.value.code
    return folder


@pytest.fixture(scope="module")
def tagger(folder) -> Tagger:
    return Tagger.load(folder / "model")


@pytest.fixture(scope="module")
def rows(folder, tagger) -> pd.DataFrame:
    return next(iterate_rows(folder / "new.csv", tagger.reading, tagger.column_kinds, rows=40))[0]


# In Python --------------------------------------------------------------------------------------


def test_carriers_are_what_explain_says(tagger, rows) -> None:
    for row, carriers in enumerate(tagger.carriers(rows, most=2)):
        table = tagger.explain(rows, row)
        assert set(carriers) == set(table.index)
        for label, landmarks in carriers.items():
            added = table.loc[label].iloc[2:].astype(float)
            order = added.abs().sort_values(ascending=False, kind="stable").index[:2]
            expected = {name: added[name] for name in order if abs(added[name]) >= 0.01}
            assert list(landmarks) == list(expected)
            assert landmarks == pytest.approx(expected)


def test_carriers_in_small_parts_are_the_same(tagger, rows, monkeypatch) -> None:
    whole = tagger.carriers(rows)
    monkeypatch.setattr("splmll.tagging.scoring._CELLS_AT_ONCE", 40)  # three rows
    for part, all_at_once in zip(tagger.carriers(rows), whole, strict=True):
        assert part.keys() == all_at_once.keys()
        for label in part:
            assert part[label] == pytest.approx(all_at_once[label])


def test_a_line_that_people_and_programs_can_read() -> None:
    carriers = {"oil": {"leak": 0.41234, "not; so": -0.02}, 'a "b"': {"x:y": 1.0}, " c": {"d": 0.5}}
    line = explanation_text(carriers)
    assert line == r'oil: leak +0.412, "not; so" -0.020; "a \"b\"": "x:y" +1.000; " c": d +0.500'
    assert explanation_text({}) == ""


# The command ------------------------------------------------------------------------------------


def test_a_column_that_explains(folder, tagger, rows, capfd, monkeypatch) -> None:
    monkeypatch.setattr("splmll.cli.predict.CHUNK_ROWS", 7)
    out = folder / "tags.csv"
    command = ["predict", folder / "model", folder / "new.csv", "--explain", "--keep", "id"]
    assert here(capfd, *command, "--out", out)[0] == 0
    found = pd.read_csv(out, keep_default_na=False)
    assert list(found.columns) == ["id", "tags", "explanation"]
    for tags, text, carriers in zip(found["tags"], found["explanation"], tagger.carriers(rows)):
        read = {
            label: dict(re.findall(r"(\w+) ([+-]\d\.\d{3})", landmarks))
            for label, landmarks in re.findall(r"(\w+): ([^;]+)", text)
        }
        assert list(read) == [tag for tag in tags.split(";") if tag]
        assert {label: list(names) for label, names in read.items()} == {
            label: list(names) for label, names in carriers.items()
        }
    assert here(capfd, *command, "--out", folder / "tags.parquet")[0] == 0
    assert pd.read_parquet(folder / "tags.parquet")["explanation"].tolist() == (
        found["explanation"].tolist()
    )


def test_a_chunk_is_scored_once(folder, capfd, monkeypatch) -> None:
    calls = []
    predict = OneVsRest.predict
    monkeypatch.setattr(OneVsRest, "predict", lambda *a: calls.append(1) or predict(*a))
    monkeypatch.setattr("splmll.cli.predict.CHUNK_ROWS", 20)
    command = ["predict", folder / "model", folder / "new.csv", "--scores", "--explain"]
    assert here(capfd, *command, "--out", folder / "once.csv")[0] == 0
    assert len(calls) == 2  # for 40 rows


def test_json_lines(folder, tagger, rows, capfd, monkeypatch) -> None:
    monkeypatch.setattr("splmll.cli.predict.CHUNK_ROWS", 9)
    command = ["predict", folder / "model", folder / "new.csv", "--scores", "--explain"]
    status, said, _ = here(capfd, *command, "--keep", "id", "--json")
    assert status == 0
    lines = [json.loads(line) for line in said.splitlines()]
    assert [line["tags"] for line in lines] == tagger.tags(rows)
    assert [line["id"] for line in lines] == [f"n{k}" for k in range(40)]
    scores = pd.DataFrame([line["scores"] for line in lines])
    assert np.allclose(scores, tagger.scores(rows), atol=1e-6)
    for line, carriers in zip(lines, tagger.carriers(rows)):
        assert list(line["explanation"]) == list(carriers)
        for label, landmarks in carriers.items():
            assert line["explanation"][label] == pytest.approx(landmarks)
    assert here(capfd, *command, "--keep", "id", "--out", folder / "t.jsonl")[0] == 0
    assert (folder / "t.jsonl").read_text() == said


def test_json_has_no_nan(folder, capfd) -> None:
    table = pd.read_csv(folder / "new.csv")
    assert table["hours"].isna().any()
    table.to_parquet(folder / "gaps.parquet")
    command = ["predict", folder / "model", folder / "gaps.parquet", "--keep", "hours", "--json"]
    status, said, _ = here(capfd, *command)
    assert status == 0
    found = [json.loads(line, parse_constant=pytest.fail)["hours"] for line in said.splitlines()]
    assert [each is None for each in found] == table["hours"].isna().tolist()


def test_a_summary_in_json(folder, capfd) -> None:
    out = folder / "summary.csv"
    status, said, _ = here(
        capfd, "predict", folder / "model", folder / "new.csv", "--out", out, "--json"
    )
    tags = [[tag for tag in cell.split(";") if tag]
            for cell in pd.read_csv(out, keep_default_na=False)["tags"]]  # fmt: skip
    assert status == 0
    assert json.loads(said) == {
        "rows": 40,
        "tags": sum(map(len, tags)),
        "rows_without_tags": tags.count([]),
        "rows_without_known_words": 0,
        "out": str(out),
    }


def test_recovered_labels_as_json(folder, tagger, capfd) -> None:
    names = tagger.landmark_names
    (folder / "seen.csv").write_text(f"{','.join(names)}\n1,1,1\n0,0,\n")
    status, said, _ = here(capfd, "recover", folder / "model", folder / "seen.csv", "--json")
    assert status == 0
    first, second = (json.loads(line)["tags"] for line in said.splitlines())
    assert set(names) <= set(first)
    assert not {names[0], names[1]} & set(second)


def test_a_name_that_is_taken(folder, capfd) -> None:
    pd.read_csv(folder / "new.csv").assign(explanation=1).to_csv(folder / "taken.csv", index=False)
    out = folder / "none.csv"
    command = ["predict", folder / "model", folder / "taken.csv", "--keep", "explanation"]
    status, _, complaint = here(capfd, *command, "--explain", "--out", out)
    assert status == 2
    assert "'explanation' appears twice" in complaint
    assert not out.exists()


def test_a_method_without_landmarks_explains_nothing(folder, capfd) -> None:
    assert here(capfd, "fit", folder / "notes.csv", "--labels", "tags", "--ignore", "id",
               "-m", "BR", "--out", folder / "plain")[0] == 0  # fmt: skip
    out = folder / "never.csv"
    command = ["predict", folder / "plain", folder / "new.csv", "--explain", "--out", out]
    status, _, complaint = here(capfd, *command)
    assert status == 2
    assert "BR of this model has no landmarks" in complaint
    assert not out.exists()


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_the_figure_of_the_path(folder, capfd, suffix, start) -> None:
    figure = folder / f"path{suffix}"
    command = ["landmarks", folder / "model", "--figure", figure, "--data", folder / "notes.csv"]
    status, said, complaint = here(capfd, *command)
    assert (status, complaint) == (0, "")
    assert "3 landmarks of 4 labels" in said
    assert said.splitlines()[-1] == str(figure)
    assert figure.read_bytes().startswith(start)


def test_the_path_counts_all_landmarks(folder, tagger) -> None:
    from splmll.tagging.files import read_alike

    path = tagger.landmark_path(
        read_alike(folder / "notes.csv", tagger.reading, tagger.column_kinds)
    )
    assert path.counts.tolist() == [1, 2, 3, 4]
    assert path.measures["micro_f1"][-1] > path.measures["micro_f1"][0]
