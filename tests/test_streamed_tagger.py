"""fit_stream: a table in chunks, from its columns to a tagger like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from command_runs import here
from splmll.embeddings import stochastic
from splmll.embeddings.stochastic import hashed_width
from splmll.exceptions import DatasetError
from splmll.tagging import Tagger, Words, streaming
from splmll.tagging.streaming import fit_stream
from tagged_notes import WORDS, write_notes


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer hashed words: notes have few, and every pass is quicker."""
    monkeypatch.setattr(stochastic, "MOST_FEATURES", 2**12)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes.csv", 240)


def fitted(path: Path, **changes: Any) -> Tagger:
    settings: dict[str, Any] = {"text": ["body"], "ignore": ["id"]}
    return fit_stream(path, changes.pop("labels", ["tags"]), **{**settings, **changes})


def test_a_streamed_tagger_is_like_any_other(notes: Path, tmp_path: Path) -> None:
    tagger = fitted(notes)
    assert tagger.label_names == sorted(WORDS)
    assert tagger.column_kinds == {"body": "text", "hours": "numeric", "site": "categorical"}
    expected = {"label_column": "tags", "label_delimiter": ";", "ignore": ["id"]}
    assert tagger.reading == expected
    assert tagger.n_rows == tagger.measured.n_rows == 240
    assert tagger.measured.measures["micro_f1"] > 0.9
    assert list(tagger.measured.labels.index) == tagger.label_names
    tagger.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model")
    rows = pd.read_csv(write_notes(tmp_path / "others.csv", 60, seed=1))
    assert_array_equal(again.scores(rows).to_numpy(), tagger.scores(rows).to_numpy())
    truth = [sorted(str(cell).split(";")) if isinstance(cell, str) else [] for cell in rows["tags"]]
    assert np.mean([found == tags for found, tags in zip(again.tags(rows), truth)]) > 0.8


def test_the_size_of_chunks_does_not_matter(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = fitted(notes)
    monkeypatch.setattr(streaming, "CHUNK_ROWS", 37)
    other = fitted(notes)
    rows = pd.read_csv(notes)
    assert_allclose(other.scores(rows), one.scores(rows), atol=1e-4)


def test_words_are_weighed_by_all_rows(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = pd.read_csv(notes)[["body"]]
    whole = Words(hashed=True).fit(texts)
    for each in whole.vectorizers_:
        each.n_features = hashed_width(3) // len(whole.vectorizers_)
        each.fit_transform(texts["body"])
    monkeypatch.setattr(streaming, "CHUNK_ROWS", 50)
    streamed = fitted(notes).pipeline[0].named_transformers_["text"]
    assert isinstance(streamed, Words)
    assert_allclose(streamed.transform(texts).toarray(), whole.transform(texts).toarray())


def test_a_label_and_a_word_that_come_late(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "CHUNK_ROWS", 60)
    table = pd.read_csv(notes, dtype=str).fillna("")
    table.loc[200:, "tags"] += ";late"
    table.loc[200:, "body"] += " comet"
    table.loc[239, "hours"] = "unknown to us"  # all numbers before
    table.to_csv(tmp_path / "late.csv", index=False)
    tagger = fitted(tmp_path / "late.csv")
    assert "late" in tagger.label_names
    assert tagger.column_kinds["hours"] != "numeric"
    row = {"body": ["comet comet"], "hours": ["1"], "site": ["north"]}
    scores = tagger.scores(pd.DataFrame(row)).iloc[0]
    assert scores["late"] > scores.drop("late").max()


@pytest.mark.parametrize("labels", [["is_oil", "is_pump"], ["is_*"]], ids=["columns", "prefix"])
def test_labels_of_zeros_and_ones(notes: Path, tmp_path: Path, labels: list[str]) -> None:
    table = pd.read_csv(notes, dtype=str).fillna("")
    for tag in ("oil", "pump"):
        table[f"is_{tag}"] = table["tags"].str.contains(tag).astype(int)
    table.drop(columns="tags").to_parquet(tmp_path / "notes.parquet")
    tagger = fitted(tmp_path / "notes.parquet", labels=labels)
    assert tagger.label_names == (["oil", "pump"] if labels == ["is_*"] else labels)
    assert tagger.measured.measures["micro_f1"] > 0.9


def test_progress_is_told(notes: Path) -> None:
    told: list[tuple[str, float]] = []
    fitted(notes, on_progress=lambda what, share: told.append((what, share)))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] < 1
    assert len({what for what, _ in told}) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": []}, "name the column of tags"),
        ({"labels": ["tag"]}, "Did you mean 'tags'"),
        ({"ignore": ["id", "body"]}, "given as"),
        ({"text": [], "ignore": ["id", "body", "hours", "site"]}, "no column is left"),
    ],
    ids=["no labels", "unknown", "twice", "nothing left"],
)
def test_what_is_refused(notes: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        fitted(notes, **changes)


def test_tables_that_are_refused(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tmp_path / "few.csv"
    pd.read_csv(notes).head(9).to_csv(few, index=False)
    with pytest.raises(DatasetError, match="9 rows are too few"):
        fitted(few)
    (tmp_path / "rows.svm").write_text("0 1:1\n1 2:1\n")
    with pytest.raises(DatasetError, match="only tables can be read in chunks"):
        fitted(tmp_path / "rows.svm")
    monkeypatch.setattr(streaming, "MOST_DISTINCT", 2)
    with pytest.raises(DatasetError, match=r"column site has more than 2 .* --ignore site"):
        fitted(notes)


def test_the_command_streams_and_refuses_what_it_has_no_use_for(
    notes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["fit", notes, "--text", "body", "--labels", "tags", "--stream"]
    status, said, _ = here(capfd, *command, "--out", tmp_path / "model")
    assert status == 0
    assert "SPL-MLL (Stochastic), out of fold" in said
    assert Tagger.load(tmp_path / "model").n_rows == len(pd.read_csv(notes))
    status, _, trouble = here(capfd, *command, "--test-size", 0.2, "--out", tmp_path / "other")
    assert status != 0
    assert "leave out --test-size" in trouble
    assert not (tmp_path / "other").exists()
