"""Tables in which some labels are not known: read, learned from, measured on what is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from command_runs import here
from splmll.datasets import Dataset, read_table
from splmll.exceptions import DatasetError
from splmll.metrics import evaluate
from splmll.tagging import Tagger, read_examples
from splmll.tagging.measured import measure
from tagged_notes import WORDS, write_notes


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    """Notes with a column for each label, a third of the cells empty."""
    rows = pd.read_csv(write_notes(tmp_path / "notes.csv", 120), dtype=str, keep_default_na=False)
    rng = np.random.default_rng(0)
    for label in WORDS:
        has = [str(int(label in cell.split(";"))) for cell in rows["tags"]]
        rows[f"label:{label}"] = np.where(rng.random(len(rows)) < 1 / 3, "", has)
    rows.drop(columns="tags").to_csv(tmp_path / "partial.csv", index=False)
    return tmp_path / "partial.csv"


def test_empty_cells_are_unknown_only_where_that_is_allowed(partial: Path) -> None:
    with pytest.raises(DatasetError, match="'label:door' is empty"):
        read_table(partial, label_prefix="label:", allow_missing=True)
    data = read_table(partial, label_prefix="label:", allow_missing=True, allow_unknown=True)
    cells = pd.read_csv(partial)[[f"label:{name}" for name in data.label_names]]
    np.testing.assert_array_equal(data.Y, cells.to_numpy(dtype=float))
    assert np.isnan(data.Y).any()


def test_a_full_table_stays_whole_numbers(tmp_path: Path) -> None:
    path = tmp_path / "full.csv"
    path.write_text("x,is_a,is_b\n1,0,1\n2,true,FALSE\n", "utf-8")
    data = read_table(path, label_prefix="is_", allow_unknown=True)
    assert data.Y.dtype == np.int64
    assert data.Y.tolist() == [[0, 1], [1, 0]]


def test_fit_learns_from_what_is_known(partial: Path, tmp_path: Path, capfd: Any) -> None:
    options = ("--text", "body", "--labels", "label:*", "--ignore", "id", "--out", tmp_path / "m")
    status, said, problem = here(capfd, "fit", partial, *options)
    assert status == 0, problem
    tagger = Tagger.load(tmp_path / "m")
    assert tagger.label_names == list(WORDS)
    known = pd.read_csv(partial)[[f"label:{name}" for name in WORDS]]
    assert tagger.measured.labels["rows"].tolist() == known.sum().astype(int).tolist()
    assert tagger.measured.measures["micro_f1"] > 0.9
    assert "Micro-F1" in said
    # A method that needs all labels says so, and rows cannot be held out in proportion.
    status, _, problem = here(capfd, "fit", partial, *options, "--method", "BR")
    assert status == 2
    assert "BR needs all of them" in problem
    status, _, problem = here(capfd, "fit", partial, *options, "--test-size", "0.2")
    assert status == 2
    assert "leave out --test-size" in problem


def test_measures_of_known_labels_by_hand() -> None:
    nan = np.nan
    Y = np.array([[1, 0, nan], [0, 1, 1], [nan, nan, 0], [1, 0, 1]])
    labels = np.array([[1, 1, 1], [0, 1, 0], [1, 1, 0], [1, 0, 1]])
    scores = labels + np.arange(12).reshape(4, 3) / 100
    found = measure(Y, scores, labels, ["a", "b", "c"], how="other rows")
    # Known cells: 9; wrong are (0, b) and (1, c). Hits 4, present 5, predicted 5.
    assert found.measures["hamming_loss"] == pytest.approx(2 / 9)
    assert found.measures["micro_f1"] == pytest.approx(2 * 4 / 10)
    assert found.measures["macro_f1"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert found.labels["f1"].tolist() == pytest.approx([1, 2 / 3, 2 / 3])
    # What ranks the labels of a row is measured on the rows of which all are known.
    whole = [1, 3]
    ranked = evaluate(Y[whole], scores[whole], None, ["ranking_loss", "average_precision"])
    for name, value in ranked.items():
        assert found.measures[name] == pytest.approx(value)
    none_whole = measure(Y[[0, 2]], scores[[0, 2]], labels[[0, 2]], ["a", "b", "c"], how="x")
    assert set(none_whole.measures) == {"hamming_loss", "micro_f1", "macro_f1"}


def test_without_gaps_the_measures_are_those_of_always() -> None:
    rng = np.random.default_rng(1)
    Y, scores = rng.integers(0, 2, size=(30, 4)), rng.random((30, 4))
    labels = (scores > 0.5).astype(int)
    found = measure(Y, scores, labels, list("abcd"), how="x")
    assert found.measures == pytest.approx(evaluate(Y, scores, labels, ties="half"))


def test_refit_keeps_labels_apart(partial: Path) -> None:
    """Labels in another order, with gaps, go to their own columns."""
    data, reading = read_examples(
        partial, ["label:*"], text=["body"], ignore=["id"], allow_unknown=True
    )
    tagger = Tagger.fit(data, reading=reading)
    turned = Dataset(
        data.X,
        data.Y[:, ::-1],
        data.feature_names,
        data.label_names[::-1],
        column_kinds=data.column_kinds,
    )
    again = tagger.refit(turned)
    pd.testing.assert_frame_equal(again.scores(data.X), tagger.scores(data.X))
    assert again.measured.measures == tagger.measured.measures


def test_audit_finds_a_flipped_label(tmp_path: Path, capfd: Any) -> None:
    notes = write_notes(tmp_path / "notes.csv", 150)
    rows = pd.read_csv(notes, dtype=str, keep_default_na=False)
    row = next(k for k, tags in enumerate(rows["tags"]) if "pump" in tags.split(";") and k > 20)
    kept = [tag for tag in rows.loc[row, "tags"].split(";") if tag != "pump"]
    rows.loc[row, "tags"] = ";".join(kept)
    rows.to_csv(notes, index=False)
    out = tmp_path / "suspects.csv"
    options = ("--text", "body", "--labels", "tags", "--ignore", "id", "--out", out)
    status, said, problem = here(capfd, "audit", notes, *options)
    assert status == 0, problem
    found = pd.read_csv(out)
    flipped = found[(found["row"] == row + 1) & (found["label"] == "pump")]
    assert flipped["given"].tolist() == [0]  # the rows are counted from 1
    assert flipped["probability"].item() > 0.5
    assert len(found) < 10
    assert "probably wrong" in said


def test_reasons_of_an_audit_name_labels(tmp_path: Path, capfd: Any) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(300, 3)).round(4), columns=["a", "b", "c"])
    # The features do not tell of sand; desert always goes with it, but in one row.
    sand = (rng.random(300) < 0.5).astype(int)
    table["is_warm"] = (table["a"] > 0).astype(int)
    table["is_sand"], table["is_desert"] = sand, sand
    table.loc[7, ["is_sand", "is_desert"]] = [1, 0]
    table.to_csv(tmp_path / "places.csv", index=False)
    out = tmp_path / "suspects.csv"
    options = ("--labels", "is_*", "--out", out)
    assert here(capfd, "audit", tmp_path / "places.csv", *options)[0] == 0
    found = pd.read_csv(out).set_index(["row", "label"])["reason"]
    assert found[8, "sand"].endswith("against it: no desert")
