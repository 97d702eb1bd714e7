"""The answers: kept from the moment they are given, each by whom it was, never overwritten."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from splmll.annotation import AnswerStore
from splmll.exceptions import DatasetError

DIGESTS = [f"digest {row}" for row in range(6)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        store.open_table(DIGESTS)
        yield store


def plain(store: AnswerStore) -> list[tuple[str, int, str, str | None]]:
    return [(each.annotator, each.row, each.kind, each.label) for each in store.history()]


# Killed at any moment ---------------------------------------------------------------------------

KILLS = 40


def write_until_killed(path: Path, turn: int, say: Connection) -> None:
    """Answer as fast as it goes and say so after each, as the service does."""
    with AnswerStore(path) as store:
        store.open_table(DIGESTS)
        for number in itertools.count():
            token = f"{turn}-{number}"
            if number % 5 == 4:
                store.undo("ann", token=token)
            else:
                store.answer("ann", number % 6, f"label {number % 7}", "yes", token=token)
            say.send(token)


def test_nothing_that_was_confirmed_is_lost_by_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    rng = np.random.default_rng(0)
    processes = multiprocessing.get_context("fork")  # quick, for many moments to be killed at
    confirmed: set[str] = set()
    for turn in range(KILLS):
        ours, theirs = processes.Pipe(duplex=False)
        writer = processes.Process(target=write_until_killed, args=(path, turn, theirs))
        writer.start()
        theirs.close()
        confirmed.add(ours.recv())
        # Anywhere between two answers, or in the middle of one.
        time.sleep(float(rng.uniform(0, 0.04)))
        writer.kill()
        writer.join()
        with contextlib.suppress(EOFError):
            while True:
                confirmed.add(ours.recv())
        base = sqlite3.connect(path)
        kept = {token for (token,) in base.execute("SELECT token FROM entries")}
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        base.close()
        assert kept >= confirmed
        # Beyond what was confirmed there is at most the one answer that was on its way.
        assert len(kept) <= len(confirmed) + turn + 1
    with AnswerStore(path) as store:
        store.open_table(DIGESTS)
        # What is counted quickly is what the entries say.
        assert store.counts().answers == sum(len(store.answers(row).known) for row in range(6))


def test_a_power_cut_leaves_every_answer_that_was_confirmed(
    store: AnswerStore, tmp_path: Path
) -> None:
    """Of the log there may be any part on the disk, but no less than when an answer was confirmed.

    What was not brought to the disk is missing, or there and empty.
    """
    log = tmp_path / "answers.sqlite-wal"
    assert store._base.execute("PRAGMA synchronous").fetchone() == (2,)  # each commit is brought
    confirmed = []
    for number in range(5):
        store.answer("ann", number, "oil", "yes")
        confirmed.append(log.stat().st_size)
    file, whole, history = store.path.read_bytes(), log.read_bytes(), plain(store)
    assert confirmed == sorted(set(confirmed))
    edges = {size + step for size in confirmed for step in (-1, 0, 1)}
    copy = tmp_path / "cut" / "answers.sqlite"
    copy.parent.mkdir()
    for size in sorted({*range(0, len(whole), 997), *edges} & set(range(len(whole) + 1))):
        for rest in (b"", bytes(len(whole) - size)):
            copy.write_bytes(file)
            copy.with_name(log.name).write_bytes(whole[:size] + rest)
            copy.with_name("answers.sqlite-shm").unlink(missing_ok=True)
            with AnswerStore(copy) as found:
                kept = plain(found)
            assert kept == history[: len(kept)]
            assert len(kept) >= sum(each <= size for each in confirmed)
    assert len(kept) == 5


def test_closed_all_answers_are_in_the_one_file(store: AnswerStore, tmp_path: Path) -> None:
    store.answer("ann", 0, "oil", "yes")
    store.close()
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(store.path.read_bytes())
    with AnswerStore(copy) as copied:
        assert plain(copied) == [("ann", 0, "yes", "oil")]


# Entries ----------------------------------------------------------------------------------------


def test_an_answer_that_is_sent_again_is_kept_once(store: AnswerStore) -> None:
    first = store.answer("ann", 0, "oil", "yes", token="a")
    assert store.answer("ann", 0, "oil", "yes", token="a") == first
    assert store.undo("ann", token="b") == first
    assert store.undo("ann", token="b") == first
    assert plain(store) == [("ann", 0, "yes", "oil"), ("ann", 0, "undo", None)]
    assert store.undo("ann", token="c") is None


def test_undo_goes_back_step_by_step_and_is_an_entry(store: AnswerStore) -> None:
    store.answer("ann", 0, "oil", "yes")
    store.answer("ann", 0, "oil", "no")
    store.answer("bob", 0, "pump", "yes")
    assert store.answers(0).known == {"oil": False, "pump": True}
    store.undo("ann")
    assert store.answers(0).known == {"oil": True, "pump": True}
    store.undo("ann")
    assert store.answers(0).known == {"pump": True}
    assert store.undo("ann") is None
    assert [each.kind for each in store.history()] == ["yes", "no", "yes", "undo", "undo"]


def test_undo_takes_back_the_end_of_a_row_with_the_answer_that_brought_it(
    store: AnswerStore,
) -> None:
    store.answer("ann", 0, "oil", "yes")
    assert store.lease("ann", [0, 4], enough=0) == 4
    assert store.finished() == {0}
    undone = store.undo("ann")
    assert undone is not None
    assert undone.label == "oil"
    assert store.finished() == set()
    # An end by hand is a step of its own.
    store.answer("ann", 1, "oil", "yes")
    store.finish("ann", 1)
    undone = store.undo("ann")
    assert undone is not None
    assert undone.kind == "done"
    assert store.answers(1).known == {"oil": True}


def test_entries_cannot_be_changed_or_deleted(store: AnswerStore) -> None:
    store.answer("ann", 0, "oil", "yes")
    base = sqlite3.connect(store.path)
    for statement in ("UPDATE entries SET kind = 'no'", "DELETE FROM entries"):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            base.execute(statement)
    base.close()


def test_the_majority_counts_and_in_a_tie_the_latest(store: AnswerStore) -> None:
    store.answer("ann", 0, "oil", "yes")
    store.answer("bob", 0, "oil", "no")
    found = store.answers(0)
    assert found.known == {"oil": False}
    assert found.disputed == {"oil"}
    store.answer("cleo", 0, "oil", "yes")
    assert store.answers(0).known == {"oil": True}
    # Changing one's mind is no second vote.
    store.answer("bob", 0, "oil", "no")
    store.answer("bob", 0, "oil", "no")
    assert store.answers(0).known == {"oil": True}
    store.answer("bob", 0, "oil", "skip")
    found = store.answers(0)
    assert found.disputed == set()
    assert found.skipped == {"bob": {"oil"}}
    assert len(store.history()) == 6


# Several annotators -----------------------------------------------------------------------------


def test_two_annotators_get_different_rows_and_their_own_again(store: AnswerStore) -> None:
    order = [4, 2, 0]
    assert store.lease("ann", order) == 4
    assert store.lease("bob", order) == 2
    assert store.lease("ann", order) == 4
    store.finish("ann", 4)
    assert store.lease("ann", order) == 0
    assert store.lease("cleo", order) is None


def test_a_row_that_was_left_goes_to_someone_else_and_both_answers_stay(tmp_path: Path) -> None:
    now = [1000.0]
    with AnswerStore(tmp_path / "answers.sqlite", clock=lambda: now[0]) as store:
        store.open_table(DIGESTS)
        assert store.lease("ann", [3], seconds=60) == 3
        now[0] += 59
        assert store.lease("bob", [3]) is None
        store.answer("ann", 3, "oil", "yes")  # a sign of life
        now[0] += 59
        assert store.lease("bob", [3]) is None
        now[0] += 3600
        assert store.lease("bob", [3]) == 3
        assert not store.hold("ann", 3)
        store.answer("bob", 3, "oil", "no")
        store.answer("ann", 3, "pump", "yes")
        assert plain(store) == [
            ("ann", 3, "yes", "oil"),
            ("bob", 3, "no", "oil"),
            ("ann", 3, "yes", "pump"),
        ]


def test_many_threads_and_two_connections_at_once(store: AnswerStore) -> None:
    with AnswerStore(store.path) as other, ThreadPoolExecutor(8) as pool:

        def work(number: int) -> int | None:
            own = store if number % 2 else other
            row = own.lease(f"annotator {number}", range(6))
            if row is not None:
                own.answer(f"annotator {number}", row, "oil", "yes")
            return row

        rows = list(pool.map(work, range(12)))
    assert sorted(row for row in rows if row is not None) == list(range(6))
    assert len(store.history()) == 6
    assert store.counts().answers == 6


# Tables -----------------------------------------------------------------------------------------


def test_the_same_table_goes_on_and_a_longer_one_too(store: AnswerStore) -> None:
    store.answer("ann", 5, "oil", "yes")
    store.open_table(DIGESTS, {"table": "notes.csv"})
    store.open_table([*DIGESTS, "digest of a new row"])
    assert store.counts().rows == 7
    assert store.facts() == {"table": "notes.csv"}
    store.answer("ann", 6, "oil", "no")


@pytest.mark.parametrize(
    ("digests", "words"),
    [
        ([*DIGESTS[:2], "another", *DIGESTS[3:]], r"of its 6 rows, 1 are different .*\(row 3\)"),
        (DIGESTS[:4], r"2 are different or missing \(row 5, 6\)"),
        (DIGESTS[::-1], r"row 1, 2, 3, \.\.\."),
    ],
)
def test_another_table_is_refused(store: AnswerStore, digests: list[str], words: str) -> None:
    with pytest.raises(DatasetError, match=words):
        store.open_table(digests)


@pytest.mark.parametrize("content", [b"id,body\n1,pump\n" * 100, b"SQLite format 3\0 damaged"])
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match="not a file of answers"):
        AnswerStore(path)
    assert path.read_bytes() == content


def test_the_file_of_another_program_is_refused(tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / "other.sqlite")
    base.execute("CREATE TABLE songs (name TEXT)")
    base.commit()
    base.close()
    with pytest.raises(DatasetError, match="of another program"):
        AnswerStore(tmp_path / "other.sqlite")


def test_wrong_answers_are_refused(store: AnswerStore) -> None:
    with pytest.raises(ValueError, match="'maybe' is not an answer"):
        store.answer("ann", 0, "oil", "maybe")
    with pytest.raises(ValueError, match="no row 99"):
        store.answer("ann", 99, "oil", "yes")
    with pytest.raises(ValueError, match="name of its annotator"):
        store.answer(" ", 0, "oil", "yes")
    assert store.history() == []
