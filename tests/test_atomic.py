"""Files are there whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from crash_states import recorded
from faults import Failing, calls_in
from splmll.atomic import atomic_write


def test_a_failure_leaves_what_stood_there(tmp_path) -> None:
    target = tmp_path / "note.txt"
    target.write_text("before")

    def fail_halfway() -> None:
        with atomic_write(target) as part:
            part.write_text("aft")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway()
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_folders_are_made_and_the_suffix_is_kept(tmp_path) -> None:
    target = tmp_path / "deep" / "down" / "table.parquet"
    with atomic_write(target) as part:
        assert part.suffix == ".parquet"
        assert part.parent == target.parent
        part.write_text("x")
    assert target.read_text() == "x"


def test_others_may_read_it_as_the_mask_says(tmp_path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "a") as part:
            part.write_text("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_power_cut_leaves_the_old_file_or_the_new(tmp_path) -> None:
    place, after = tmp_path / "place", tmp_path / "after"
    after.mkdir()
    for earlier in (False, True):
        if earlier:
            (place / "deep" / "tags.csv").write_text("old")
        else:
            place.mkdir()
        with recorded(place) as disk, atomic_write(place / "deep" / "tags.csv") as part:
            part.write_text("new")
        found = set()
        for _ in disk.restore(after):
            file = after / "deep" / "tags.csv"
            found.add(file.read_text() if file.exists() else None)
        assert found == ({"old", "new"} if earlier else {None, "new"})
        disk.states.clear()
        disk.note("the end")
        for _ in disk.restore(after):
            assert (after / "deep" / "tags.csv").read_text() == "new"


@pytest.mark.parametrize("fault", ["create", "rename", "fsync", "memory"])
def test_every_fault_leaves_the_old_file(fault: str, tmp_path) -> None:
    def write(target) -> None:
        with atomic_write(target) as part:
            part.write_text("new")

    target = tmp_path / "tags.csv"
    for n in calls_in(fault, lambda: write(tmp_path / "trial")):
        (tmp_path / "trial").unlink(missing_ok=True)
        target.write_text("old")
        with Failing(fault, n) as failing, pytest.raises((OSError, MemoryError)) as error:
            write(target)
        assert failing.failed
        assert list(tmp_path.iterdir()) == [target]
        # The last flush comes after the switch.
        assert target.read_text() == "old" or (fault in ("fsync", "memory") and n > 0)
        if isinstance(error.value, OSError):
            assert str(target) in str(error.value)


def test_folders_made_for_nothing_go_again(tmp_path) -> None:
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "a" / "b" / "c.txt"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_parts_of_killed_processes_go_and_those_in_use_stay(tmp_path) -> None:
    target = tmp_path / "tags.csv"
    dying = f"""
import os
from splmll.atomic import atomic_write
with atomic_write({str(target)!r}) as part:
    part.write_text("half")
    os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", dying]).returncode == 9
    (left,) = tmp_path.iterdir()
    (tmp_path / ".tags-mine.csv").write_text("someone's own")
    with atomic_write(target) as first:
        assert not left.exists()
        with atomic_write(target) as second:
            second.write_text("second")
        assert first.exists()
        first.write_text("first")
    assert target.read_text() == "first"
    assert sorted(file.name for file in tmp_path.iterdir()) == [".tags-mine.csv", "tags.csv"]
