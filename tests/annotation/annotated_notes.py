"""What tests of annotation know about the notes that are annotated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from splmll.annotation import AnnotationTable
from splmll.tagging import Tagger

N_ROWS = 30


@dataclass(frozen=True)
class Made:
    """A folder with notes.csv, new.csv and model."""

    folder: Path
    tagger: Tagger
    truth: list[set[str]]  # the tags of new.csv, which are not in it

    @property
    def table(self) -> AnnotationTable:
        return AnnotationTable.read(self.folder / "new.csv", self.tagger)
