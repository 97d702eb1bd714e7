"""Labels that are probably wrong, as a file and as a queue: "is this right?"."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from splmll.annotation.store import NO, SKIP, YES, AnswerStore
from splmll.annotation.table import AnnotationTable
from splmll.atomic import atomic_write
from splmll.datasets.columns import read_columns
from splmll.datasets.tabular import read_numbers
from splmll.names import check_columns
from splmll.tagging.output import check_suffix, check_writable

COLUMNS = ("row", "label", "given", "probability", "reason")
KEEP, CHANGE = "keep", "change"


@dataclass(frozen=True)
class Suspect:
    """A label of a row that is probably wrong.

    Attributes
    ----------
    row : int
        Number of the row, from 0.
    label : str
        The label.
    given : bool
        Whether the row has it now.
    probability : float
        The probability that it applies.
    reason : str
        Why it is suspicious.
    """

    row: int
    label: str
    given: bool
    probability: float
    reason: str


@dataclass(frozen=True)
class SuspectTask:
    """A label to check.

    Attributes
    ----------
    suspect : Suspect
        The suspicious label.
    cells : dict of str to str
        The content of the row.
    labels : list of str
        All labels that the row has now.
    judged, total : int
        How many suspects have been checked, and how many there are.
    """

    suspect: Suspect
    cells: dict[str, str]
    labels: list[str]
    judged: int
    total: int


class SuspectQueue:
    """Suspects one by one, the most suspicious first; decisions are stored as answers.

    Parameters
    ----------
    suspects : list of Suspect
        The worst first.
    table : AnnotationTable
        Their rows.
    store : AnswerStore
        Where answers are kept.
    label_names : list of str
        All labels, in the order of ``table.given``.
    """

    def __init__(
        self,
        suspects: list[Suspect],
        table: AnnotationTable,
        store: AnswerStore,
        label_names: list[str],
    ) -> None:
        self.suspects, self.table, self.store = suspects, table, store
        self.label_names = label_names

    def next(self, annotator: str) -> SuspectTask | None:
        """Return the next unchecked suspect; None if there is none.

        Parameters
        ----------
        annotator : str
            Who checks. Rows reserved by others are skipped.

        Returns
        -------
        task : SuspectTask or None
        """
        answers = dict(self.store.all_answers({each.row for each in self.suspects}))
        judged = [
            each.row in answers and each.label in answers[each.row].known for each in self.suspects
        ]
        for suspect, is_judged in zip(self.suspects, judged):
            if is_judged:
                continue
            found = answers.get(suspect.row)
            if found is not None and suspect.label in found.skipped.get(annotator, ()):
                continue
            if self.store.hold(annotator, suspect.row):
                return SuspectTask(
                    suspect,
                    self.table.cells(suspect.row),
                    [
                        name
                        for name, holds in zip(self.label_names, self.table.given[suspect.row])
                        if holds == 1
                    ],
                    sum(judged),
                    len(judged),
                )
        return None

    def answer(
        self, annotator: str, row: int, label: str, given: str, *, token: str | None = None
    ) -> SuspectTask | None:
        """Keep or change a label, and return the next suspect.

        Parameters
        ----------
        annotator, row, label, token
            As in :meth:`AnswerStore.answer`.
        given : {"keep", "change", "skip"}
            Whether the label is right as it is.

        Returns
        -------
        task : SuspectTask or None
        """
        if given not in (KEEP, CHANGE, SKIP):
            raise ValueError(f"{given!r} is not an answer; give one of keep, change, skip.")
        suspect = next(
            (each for each in self.suspects if each.row == row and each.label == label), None
        )
        if suspect is None:
            raise ValueError(f"The label {label!r} of row {row} is not a suspect.")
        holds = suspect.given if given == KEEP else not suspect.given
        said = SKIP if given == SKIP else YES if holds else NO
        self.store.answer(annotator, row, label, said, token=token)
        self.store.release(annotator, row)
        return self.next(annotator)

    def undo(self, annotator: str, *, token: str | None = None) -> SuspectTask | None:
        """Undo the annotator's last action, and return the next suspect."""
        self.store.undo(annotator, token=token)
        return self.next(annotator)


def write_suspects(path: str | Path, found: pd.DataFrame) -> None:
    """Write what :meth:`splmll.SPLMLL.audit` found; rows are counted from 1.

    Parameters
    ----------
    path : path-like
        A CSV file.
    found : DataFrame
        With the columns row (from 0), label, given, probability and reason.
    """
    place = Path(path)
    check_suspects_place(place)
    with atomic_write(place) as part:
        people_count(found).to_csv(part, index=False, lineterminator="\n", float_format="%.4f")


def people_count(found: pd.DataFrame) -> pd.DataFrame:
    """Return suspects with rows counted from 1, and what is given as 1 and 0."""
    written = found[list(COLUMNS)].copy()
    written["row"] = written["row"] + 1
    written["given"] = written["given"].astype(int)
    return written


def check_suspects_place(path: Path) -> None:
    """Raise DatasetError unless suspects can be written to such a file."""
    check_suffix(path, (".csv",), "suspects are")
    check_writable(path)


def read_suspects(
    path: str | Path, table: AnnotationTable, label_names: list[str]
) -> list[Suspect]:
    """Read what :func:`write_suspects` wrote.

    Parameters
    ----------
    path : path-like
        The file.
    table : AnnotationTable
        The rows that it is about.
    label_names : list of str
        All labels.

    Returns
    -------
    suspects : list of Suspect
    """
    columns = read_columns(path)
    check_columns(COLUMNS, columns.names, path)
    numbers = {}
    for name in ("row", "given", "probability"):
        values, _ = read_numbers(columns.columns[name])
        if values is None:
            raise columns.error(f"the column {name!r} contains values that are not numbers")
        numbers[name] = values
    texts: dict[str, list[Any]] = {
        name: columns.columns[name].to_pylist() for name in ("label", "reason")
    }
    known = set(label_names)
    suspects = []
    for line, row in enumerate(numbers["row"]):
        if not (row == int(row) and 1 <= row <= table.n_rows):
            raise columns.error(
                f"there is no row {row:g}: the table has {table.n_rows} rows; give the suspects "
                "of this table",
                line,
            )
        if texts["label"][line] not in known:
            raise columns.error(
                f"there is no label {texts['label'][line]!r}; give the suspects of this table", line
            )
        suspects.append(
            Suspect(
                int(row) - 1,
                texts["label"][line],
                bool(numbers["given"][line]),
                float(numbers["probability"][line]),
                texts["reason"][line] or "",
            )
        )
    return suspects
