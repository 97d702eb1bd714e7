"""A model, the table that it learned from, and a table to annotate; made once."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from annotated_notes import N_ROWS, Made

from splmll.annotation import AnswerStore
from splmll.tagging import Tagger, read_examples
from tagged_notes import write_notes


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("annotation")
    notes = write_notes(folder / "notes.csv", 120)
    data, reading = read_examples(notes, ["tags"], text=["body"], ignore=["id"])
    tagger = Tagger.fit(data, reading=reading)
    tagger.save(folder / "model")
    write_notes(folder / "new.csv", N_ROWS, seed=1)
    with (folder / "new.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    with (folder / "new.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "body", "hours", "site"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(lines)
    return Made(folder, tagger, [set(filter(None, line["tags"].split(";"))) for line in lines])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        yield store
