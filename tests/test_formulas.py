"""CSV cells that a spreadsheet would compute: with an apostrophe unless they are numbers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from splmll.cli import main
from splmll.datasets import Dataset
from splmll.tagging import Tagger
from splmll.tagging.formulas import without_formula
from splmll.tagging.output import prediction_writer

ATTACK = "=cmd|' /C calc'!A0"


@pytest.mark.parametrize(
    "cell",
    [
        *("", "oil", "a=b", "a-b", "a @ b", "1-2", "x;y", "it's", "oil; pump", "a\nb"),
        *("-1", "+1", "-1.5", "-.5", "+3.", "-1e5", "-2.5E-10", "x;-3", "1;-2.5;+3", " -7 "),
        *(None, -1, -1.5, True, float("-inf")),
    ],
)
def test_harmless_cells_stay(cell) -> None:
    assert without_formula(cell) == cell


@pytest.mark.parametrize(
    "cell",
    [ATTACK, "=1", "+a", "-a", "@sum(a1)", "\t=1", "\r=1", " =1", "--1", "-1-1", "+1+1", "-1 a"]
    + ["=-1", "\uff1d1+1", "\uff0b1+1", "\uff0da", "\uff20a", "-", "=", "-1e", "+49 170 1234"],
)
def test_formulas_become_text(cell) -> None:
    assert without_formula(cell).startswith("'")
    # Also behind a semicolon, a tab or a line end, where some spreadsheets begin a new cell.
    for end in ";\t\r\n":
        assert f"{end}'" in without_formula(f"oil{end}{cell}")
    assert without_formula(without_formula(cell)) == without_formula(cell)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    """A model with labels that are formulas, and rows with an id and a text that are."""
    folder = tmp_path_factory.mktemp("formulas")
    X = np.random.default_rng(0).normal(size=(60, 2))
    Y = np.column_stack([X > 0, X[:, :1] > -9]).astype(int)
    kinds = {"x": "numeric", "y": "numeric"}
    data = Dataset(X, Y, ["x", "y"], [ATTACK, "+up", "-1"], column_kinds=kinds)
    reading = {"label_column": "tags", "label_delimiter": ";"}
    Tagger.fit(data, "SPL-MLL (linear)", reading=reading).save(folder / "tags")
    reading = {"labels": [ATTACK, "+up", "-1"]}
    Tagger.fit(data, "SPL-MLL (linear)", reading=reading).save(folder / "columns")
    (folder / "new.csv").write_text(
        'id,note,x,y\n-7,=1+1,3,3\n8,"see;@a1",3,-3\n-9.50,plain,-3,-3\n'
    )
    return str(folder)


def lines(model: str, tmp_path, form: str, *options: str) -> list[str]:
    out = tmp_path / "tags.csv"
    with pytest.raises(SystemExit) as end:
        main(["predict", f"{model}/{form}", f"{model}/new.csv", "--out", str(out), *options])
    assert not end.value.code
    return out.read_text().splitlines()


def test_predictions_of_the_command_line(model, tmp_path, capfd) -> None:
    keep = ["--keep", "id", "--keep", "note"]
    assert lines(model, tmp_path, "tags", *keep) == [
        "id,note,tags",
        f"-7,'=1+1,'{ATTACK};'+up;-1",
        f"8,see;'@a1,'{ATTACK};-1",
        "-9.50,plain,-1",
    ]
    assert lines(model, tmp_path, "columns", "--keep", "id") == [
        f"id,'{ATTACK},'+up,-1",
        "-7,1,1,1",
        "8,1,0,1",
        "-9.50,0,0,1",
    ]
    explained = lines(model, tmp_path, "tags", "--explain")
    assert explained[1].split(",")[1].startswith(f"'{ATTACK}: ")
    assert ";' +up: " in explained[1]


def test_as_they_are_where_that_is_asked_for(model, tmp_path, capfd) -> None:
    assert lines(model, tmp_path, "tags", "--keep", "note", "--formulas")[1:3] == [
        f"=1+1,{ATTACK};+up;-1",
        f"see;@a1,{ATTACK};-1",
    ]
    # Other forms hold what was given in any case: no program computes them.
    capfd.readouterr()
    with pytest.raises(SystemExit):
        main(["predict", f"{model}/tags", f"{model}/new.csv", "--keep", "note", "--json"])
    first = json.loads(capfd.readouterr().out.splitlines()[0])
    assert first == {"note": "=1+1", "tags": [ATTACK, "+up", "-1"]}


def test_columns_that_become_equal_are_refused(tmp_path) -> None:
    labels = pd.DataFrame([[1, 0]], columns=["=a", "'=a"])
    with (
        pytest.raises(ValueError, match="appears twice"),
        prediction_writer(tmp_path / "t.csv", {"labels": ["=a", "'=a"]}, ["=a", "'=a"]) as writer,
    ):
        writer.write(labels, None, {})
