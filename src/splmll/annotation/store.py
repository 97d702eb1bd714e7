"""The answers of annotators in one SQLite file, stored as soon as they are given.

Nothing is overwritten: an answer is an entry, and undoing it is another entry. A row belongs to one
annotator at a time, so two annotators never work on the same row unknowingly.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from splmll.exceptions import DatasetError

YES, NO, SKIP = ANSWERS = ("yes", "no", "skip")
ENOUGH, DONE, UNDO = "enough", "done", "undo"
LEASE_SECONDS = 15 * 60.0  # without an answer for so long, a row goes to whoever asks for one

_APPLICATION = 0x53504C41  # "SPLA", by which SQLite files of ours are told from others
_VERSION = 1
_BUSY_SECONDS = 30.0  # how long to wait for another process that writes
_SHOWN_ROWS = 3
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rows (
  row INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  finished INTEGER REFERENCES entries (id),
  answers INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at REAL NOT NULL,
  annotator TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES rows (row),
  kind TEXT NOT NULL CHECK (kind IN ('yes', 'no', 'skip', 'enough', 'done', 'undo')),
  label TEXT CHECK ((label IS NOT NULL) = (kind IN ('yes', 'no', 'skip'))),
  undoes INTEGER UNIQUE REFERENCES entries (id) CHECK ((undoes IS NOT NULL) = (kind = 'undo')),
  token TEXT UNIQUE
);
CREATE INDEX entries_of_rows ON entries (row);
CREATE INDEX entries_of_annotators ON entries (annotator, id);
CREATE INDEX finished_rows ON rows (finished, answers) WHERE finished IS NOT NULL;
CREATE TABLE leases (row INTEGER PRIMARY KEY REFERENCES rows (row), annotator TEXT NOT NULL,
  until REAL NOT NULL);
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN
  SELECT RAISE(ABORT, 'entries are never changed');
END;
CREATE TRIGGER entries_are_kept BEFORE DELETE ON entries BEGIN
  SELECT RAISE(ABORT, 'entries are never deleted');
END;
"""


@dataclass(frozen=True)
class Entry:
    """One action of an annotator.

    Attributes
    ----------
    id : int
        Increases in the order of events.
    at : float
        Seconds since 1970.
    annotator : str
        Who did it.
    row : int
        Number of the row, from 0.
    kind : {"yes", "no", "skip", "enough", "done", "undo"}
        The answer about a label; "enough" if the stop rule finished a row, "done" if the annotator
        did; "undo" reverts another entry.
    label : str or None
        The label that was answered.
    undoes : int or None
        The entry that was undone.
    """

    id: int
    at: float
    annotator: str
    row: int
    kind: str
    label: str | None = None
    undoes: int | None = None


@dataclass(frozen=True)
class RowAnswers:
    """What is known about one row.

    Attributes
    ----------
    known : dict of str to bool
        Label -> whether it applies. If annotators disagree, the majority counts, and in a tie the
        latest answer.
    skipped : dict of str to set of str
        Annotator -> labels that they could not answer.
    disputed : set of str
        Labels about which annotators disagree.
    """

    known: dict[str, bool]
    skipped: dict[str, set[str]]
    disputed: set[str]


@dataclass(frozen=True)
class Counts:
    """How far the work is.

    Attributes
    ----------
    rows, finished : int
        Rows of the table, and those that are done.
    answers : int
        Valid answers of yes or no.
    answers_in_finished : int
        Those in rows that are done.
    """

    rows: int
    finished: int
    answers: int
    answers_in_finished: int


class AnswerStore:
    """The answers about the rows of one table.

    An entry is on disk when the call that made it returns, so answers survive a crash at any
    moment. Several processes and threads can use the same file.

    Parameters
    ----------
    path : path-like
        An SQLite file, created if it does not exist.
    clock : callable, optional
        Returns the time in seconds since 1970.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.annotation import AnswerStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with AnswerStore(Path(folder) / "answers.sqlite") as store:
    ...         store.open_table(["digest of row 0", "digest of row 1"])
    ...         row = store.lease("ann", order=[1, 0])
    ...         _ = store.answer("ann", row, "oil", "yes")
    ...         _ = store.answer("ann", row, "pump", "no")
    ...         _ = store.undo("ann")
    ...         row, store.answers(row).known
    (1, {'oil': True})
    """

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path, self._clock = Path(path), clock
        self._lock = threading.RLock()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._base = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            # A commit is one write to a log beside the file, and waits until the disk has it. The
            # log becomes part of the file when it is closed, or opened again after a crash.
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
            self._base.execute("PRAGMA foreign_keys = ON")
            self._set_up()
        except sqlite3.DatabaseError as error:
            raise DatasetError(
                f"this is not a file of answers ({error}); give one written by `splmll "
                "annotate`, or a new name",
                path=path,
            ) from error

    def _set_up(self) -> None:
        with self._writing():
            application = self._number("PRAGMA application_id")
            version = self._number("PRAGMA user_version")
            tables = self._number("SELECT COUNT(*) FROM sqlite_master")
            if not tables:
                for statement in _statements(_SCHEMA):
                    self._base.execute(statement)
                self._base.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._base.execute(f"PRAGMA user_version = {_VERSION}")
            elif application != _APPLICATION:
                raise sqlite3.DatabaseError("an SQLite file of another program")
            elif version != _VERSION:
                raise sqlite3.DatabaseError(f"version {version}, this program reads {_VERSION}")

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __enter__(self) -> AnswerStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # The table -------------------------------------------------------------

    def open_table(self, digests: Sequence[str], facts: Mapping[str, str] | None = None) -> None:
        """Store the rows of a table, or refuse it if the answers are about another one.

        Rows may have been added at the end of the table since.

        Parameters
        ----------
        digests : sequence of str
            What identifies the content of each row.
        facts : mapping of str to str, optional
            Further values to store, such as the path of the table; see :meth:`facts`.
        """
        with self._writing():
            known = self._base.execute("SELECT digest FROM rows ORDER BY row").fetchall()
            other = [
                row
                for row, (digest,) in enumerate(known)
                if row >= len(digests) or digests[row] != digest
            ]
            if other:
                shown = ", ".join(str(row + 1) for row in other[:_SHOWN_ROWS])
                more = ", ..." if len(other) > _SHOWN_ROWS else ""
                raise DatasetError(
                    f"these answers are about another table: of its {len(known):,} rows, "
                    f"{len(other):,} are different or missing (row {shown}{more}). Give the "
                    "original table, or another file for the answers",
                    path=self.path,
                )
            new = list(enumerate(digests))[len(known) :]
            self._base.executemany("INSERT INTO rows (row, digest) VALUES (?, ?)", new)
            self._write_facts(facts or {})

    def remember(self, facts: Mapping[str, str]) -> None:
        """Store names and values, such as the path of the model; see :meth:`facts`."""
        with self._writing():
            self._write_facts(facts)

    def _write_facts(self, facts: Mapping[str, str]) -> None:
        self._base.executemany(
            "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", list(facts.items())
        )

    def facts(self) -> dict[str, str]:
        """Return the stored names and values."""
        with self._lock:
            return dict(self._base.execute("SELECT name, value FROM facts"))

    # Answers ---------------------------------------------------------------

    def answer(
        self,
        annotator: str,
        row: int,
        label: str,
        given: str,
        *,
        token: str | None = None,
        enough: bool = False,
        order: Iterable[int] = (),
    ) -> Entry:
        """Store one answer.

        Parameters
        ----------
        annotator : str
            Who answers.
        row : int
            Number of the row, from 0.
        label : str
            The label.
        given : {"yes", "no", "skip"}
            The answer; "skip" if the annotator does not know.
        token : str, optional
            Identifies this answer. An answer that is sent again, because its arrival was not
            confirmed, is stored once.
        enough : bool, default=False
            Whether the stop rule ends the row with this answer.
        order : iterable of int
            If so, the rows from which the annotator gets the next one, as in :meth:`lease`.

        Returns
        -------
        entry : Entry
        """
        if given not in ANSWERS:
            raise ValueError(f"{given!r} is not an answer; give one of {', '.join(ANSWERS)}.")
        return self._add(annotator, row, given, label, token, enough, order)

    def finish(
        self, annotator: str, row: int, *, token: str | None = None, order: Iterable[int] = ()
    ) -> Entry:
        """Mark a row as done by the annotator.

        Parameters
        ----------
        annotator, row, token, order
            As in :meth:`answer`.

        Returns
        -------
        entry : Entry
        """
        return self._add(annotator, row, DONE, None, token, False, order)

    def answer_all(
        self, annotator: str, row: int, given: Mapping[str, bool], *, token: str, done: bool = True
    ) -> bool:
        """Store answers about a row that were given elsewhere, and finish the row.

        Parameters
        ----------
        annotator : str
            Who answered.
        row : int
            Number of the row, from 0.
        given : mapping of str to bool
            Label -> whether it holds.
        token : str
            Identifies these answers; if they are sent again, they are stored once.
        done : bool, default=True
            Whether the row is done with them.

        Returns
        -------
        new : bool
            Whether they were new.
        """
        with self._writing():
            if self._sent_before(token) is not None:
                return False
            # They are one transaction, so the token of one of them stands for all.
            tokens = iter([token])
            for label, holds in given.items():
                self._insert(annotator, row, YES if holds else NO, label, None, next(tokens, None))
            if done:
                self._insert(annotator, row, DONE, None, None, next(tokens, None))
            self._refresh(row)
            return True

    def undo(self, annotator: str, *, token: str | None = None) -> Entry | None:
        """Undo the last action of an annotator.

        Later actions of the stop rule are undone as well. Answers of other annotators stay.

        Parameters
        ----------
        annotator : str
            Who undoes.
        token : str, optional
            As in :meth:`answer`.

        Returns
        -------
        undone : Entry or None
            What was undone; None if there was nothing.
        """
        with self._writing():
            before = self._sent_before(token)
            if before is not None:
                return self._entry(before.undoes)
            while True:
                found = self._base.execute(
                    f"SELECT {_FIELDS} FROM entries e WHERE annotator = ? AND kind != 'undo' AND "
                    "NOT EXISTS (SELECT 1 FROM entries u WHERE u.undoes = e.id) "
                    "ORDER BY id DESC LIMIT 1",
                    [annotator],
                ).fetchone()
                if found is None:
                    return None
                last = Entry(*found)
                by_rule = last.kind == ENOUGH
                self._insert(annotator, last.row, UNDO, None, last.id, None if by_rule else token)
                self._refresh(last.row)
                if not by_rule:
                    return last

    def answers(self, row: int) -> RowAnswers:
        """Return what is known about a row."""
        with self._lock:
            found = self._base.execute(
                f"SELECT {_FIELDS} FROM entries e WHERE row = ? AND {_STANDS} ORDER BY id", [row]
            )
            return _counting(Entry(*each) for each in found)

    def answers_with(self, annotator: str, row: int, label: str, given: str) -> RowAnswers:
        """Return what would be known about a row with one more answer."""
        with self._lock:
            found = self._base.execute(
                f"SELECT {_FIELDS} FROM entries e WHERE row = ? AND {_STANDS} ORDER BY id", [row]
            ).fetchall()
        entries = [Entry(*each) for each in found]
        last = entries[-1].id if entries else 0
        return _counting([*entries, Entry(last + 1, self._clock(), annotator, row, given, label)])

    def all_answers(self, rows: Collection[int] | None = None) -> Iterator[tuple[int, RowAnswers]]:
        """Yield every row with an answer, or those of some rows, and what is known about it."""
        among, values = "", []
        if rows is not None:
            among = "row IN (SELECT value FROM json_each(?)) AND"
            values = [json.dumps(sorted(rows))]
        with self._lock:
            entries = self._base.execute(
                f"SELECT {_FIELDS} FROM entries e WHERE {among} {_STANDS} ORDER BY row, id", values
            ).fetchall()
        for row, of_row in groupby((Entry(*each) for each in entries), key=lambda each: each.row):
            yield row, _counting(of_row)

    def history(self) -> list[Entry]:
        """Return all entries in order, including those that were undone."""
        with self._lock:
            found = self._base.execute(f"SELECT {_FIELDS} FROM entries e ORDER BY id")
            return [Entry(*each) for each in found]

    # Who works on what -----------------------------------------------------

    def lease(
        self,
        annotator: str,
        order: Iterable[int],
        *,
        enough: int | None = None,
        seconds: float = LEASE_SECONDS,
    ) -> int | None:
        """Return the row that an annotator has, or the next free one, and reserve it.

        Parameters
        ----------
        annotator : str
            Who wants to work.
        order : iterable of int
            Rows, the most useful first. Rows that are done are skipped.
        enough : int, optional
            A row of the annotator that the stop rule ends before.
        seconds : float
            How long the row is reserved. Every answer restarts this time.

        Returns
        -------
        row : int or None
            None if all rows are done or with other annotators.
        """
        with self._writing():
            now = self._clock()
            if enough is not None:
                self._insert(annotator, enough, ENOUGH, None, None, None)
                self._refresh(enough)
            return self._leased(annotator, order, now, seconds)

    def hold(self, annotator: str, row: int, *, seconds: float = LEASE_SECONDS) -> bool:
        """Reserve a given row for an annotator; return whether nobody else has it."""
        with self._writing():
            now = self._clock()
            other = self._base.execute(
                "SELECT 1 FROM leases WHERE row = ? AND annotator != ? AND until > ?",
                [row, annotator, now],
            ).fetchone()
            if other is None:
                self._hold(annotator, row, now + seconds)
            return other is None

    def release(self, annotator: str, row: int) -> None:
        """Release a row that an annotator had reserved."""
        with self._writing():
            self._base.execute(
                "DELETE FROM leases WHERE row = ? AND annotator = ?", [row, annotator]
            )

    def finished(self) -> set[int]:
        """Return the rows that are done."""
        with self._lock:
            found = self._base.execute("SELECT row FROM rows WHERE finished IS NOT NULL")
            return {row for (row,) in found}

    def touched(self) -> set[int]:
        """Return the rows about which there is any entry."""
        with self._lock:
            return {row for (row,) in self._base.execute("SELECT DISTINCT row FROM entries")}

    def counts(self) -> Counts:
        """Return how far the work is."""
        with self._lock:
            rows, answers = self._base.execute(
                "SELECT COUNT(*), TOTAL(answers) FROM rows"
            ).fetchone()
            finished, within = self._base.execute(
                "SELECT COUNT(*), TOTAL(answers) FROM rows WHERE finished IS NOT NULL"
            ).fetchone()
        return Counts(rows, finished, int(answers), int(within))

    # Pieces ----------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction that no other writer comes between; it counts whole or not at all."""
        with self._lock:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")

    def _add(
        self,
        annotator: str,
        row: int,
        kind: str,
        label: str | None,
        token: str | None,
        enough: bool,
        order: Iterable[int],
    ) -> Entry:
        if not annotator.strip():
            raise ValueError("An answer needs the name of its annotator.")
        # One transaction: a disk takes its time for each.
        with self._writing():
            before = self._sent_before(token)
            if before is not None:
                return before
            if self._base.execute("SELECT 1 FROM rows WHERE row = ?", [row]).fetchone() is None:
                raise ValueError(f"There is no row {row} in this table.")
            entry = self._insert(annotator, row, kind, label, None, token)
            if enough:
                self._insert(annotator, row, ENOUGH, None, None, None)
            self._refresh(row)
            now = self._clock()
            # An answer is a sign of life: the row stays with its annotator.
            self._base.execute(
                "UPDATE leases SET until = ? WHERE row = ? AND annotator = ?",
                [now + LEASE_SECONDS, row, annotator],
            )
            if enough or kind == DONE:
                self._leased(annotator, order, now, LEASE_SECONDS)
            return entry

    def _insert(
        self,
        annotator: str,
        row: int,
        kind: str,
        label: str | None,
        undoes: int | None,
        token: str | None,
    ) -> Entry:
        at = self._clock()
        done = self._base.execute(
            "INSERT INTO entries (at, annotator, row, kind, label, undoes, token) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [at, annotator, row, kind, label, undoes, token],
        )
        assert done.lastrowid is not None
        return Entry(done.lastrowid, at, annotator, row, kind, label, undoes)

    def _refresh(self, row: int) -> None:
        """Write down again what follows from the entries of a row, for quick counting."""
        finished = self._base.execute(
            f"SELECT MAX(id) FROM entries e WHERE row = ? AND kind IN ('enough', 'done') AND "
            f"{_STANDS}",
            [row],
        ).fetchone()[0]
        self._base.execute(
            "UPDATE rows SET finished = ?, answers = ? WHERE row = ?",
            [finished, len(self.answers(row).known), row],
        )

    def _sent_before(self, token: str | None) -> Entry | None:
        if token is None:
            return None
        found = self._base.execute(f"SELECT {_FIELDS} FROM entries e WHERE token = ?", [token])
        entry = found.fetchone()
        return None if entry is None else Entry(*entry)

    def _entry(self, id: int | None) -> Entry:
        found = self._base.execute(f"SELECT {_FIELDS} FROM entries e WHERE id = ?", [id])
        return Entry(*found.fetchone())

    def _leased(
        self, annotator: str, order: Iterable[int], now: float, seconds: float
    ) -> int | None:
        own = self._base.execute(
            "SELECT row, until FROM leases JOIN rows USING (row) WHERE annotator = ? AND "
            "finished IS NULL ORDER BY until DESC LIMIT 1",
            [annotator],
        ).fetchone()
        if own and own[1] > now + seconds / 2:
            return int(own[0])  # for long enough: nothing has to be written
        row = int(own[0]) if own else self._next_free(order, now)
        if row is not None:
            self._hold(annotator, row, now + seconds)
        return row

    def _next_free(self, order: Iterable[int], now: float) -> int | None:
        taken = self.finished()
        taken.update(
            row for (row,) in self._base.execute("SELECT row FROM leases WHERE until > ?", [now])
        )
        return next((int(row) for row in order if int(row) not in taken), None)

    def _hold(self, annotator: str, row: int, until: float) -> None:
        self._base.execute(
            "INSERT OR REPLACE INTO leases (row, annotator, until) VALUES (?, ?, ?)",
            [row, annotator, until],
        )

    def _number(self, statement: str) -> int:
        return int(self._base.execute(statement).fetchone()[0])


_FIELDS = "e.id, e.at, e.annotator, e.row, e.kind, e.label, e.undoes"
_STANDS = "kind != 'undo' AND NOT EXISTS (SELECT 1 FROM entries u WHERE u.undoes = e.id)"


def _counting(entries: Iterable[Entry]) -> RowAnswers:
    """Return what the standing entries of one row say, given in their order."""
    said: dict[str, dict[str, Entry]] = {}  # label -> annotator -> their latest answer
    for entry in entries:
        if entry.label is not None:
            said.setdefault(entry.label, {})[entry.annotator] = entry
    known: dict[str, bool] = {}
    skipped: dict[str, set[str]] = {}
    disputed = set()
    for label, by_annotator in said.items():
        votes = sorted((e for e in by_annotator.values() if e.kind != SKIP), key=lambda e: e.id)
        for annotator, entry in by_annotator.items():
            if entry.kind == SKIP:
                skipped.setdefault(annotator, set()).add(label)
        if not votes:
            continue
        yes = sum(entry.kind == YES for entry in votes)
        no = len(votes) - yes
        if yes and no:
            disputed.add(label)
        known[label] = votes[-1].kind == YES if yes == no else yes > no
    return RowAnswers(known, skipped, disputed)


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script, so that they can be part of a transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
