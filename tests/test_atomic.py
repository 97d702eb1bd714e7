"""Files are there whole or not at all."""

from __future__ import annotations

import os
import stat

import pytest

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
