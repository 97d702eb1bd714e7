"""A save is whole or has not happened: with others at the same time, power cuts and full disks."""

from __future__ import annotations

import os
import resource
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from crash_states import recorded
from faults import FAULTS, Failing, calls_in, files_in
from splmll.persistence import ModelFileError, load, save, storage

PLACES = ("model", "model.zip")


def model_of(number: float) -> StandardScaler:
    """A model in which every attribute tells which one it is."""
    return StandardScaler().fit(np.full((2, 3), float(number)))


def number_in(path: Path) -> float:
    model = load(path)
    assert len(set(model.mean_)) == 1
    return float(model.mean_[0])


# Others at the same time -------------------------------------------------------------------------

WRITER = """
import sys
import numpy as np
from sklearn.preprocessing import StandardScaler
from splmll.persistence import save
path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for number in range(first, first + count):
    save(StandardScaler().fit(np.full((2, 3), float(number))), path)
print(first + count - 1)
"""

READER = """
import sys
from splmll.persistence import load
for loads in range(int(sys.argv[2])):
    assert len(set(load(sys.argv[1]).mean_)) == 1
print(loads)
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("name", PLACES)
def test_writers_and_readers_at_the_same_time(name: str, tmp_path: Path) -> None:
    """The last whole model wins, and nobody ever finds none."""
    path, count = tmp_path / name, 40
    save(model_of(0), path)
    writers = [start(WRITER, path, 1000 * k, count) for k in (1, 2, 3)]
    readers = [start(READER, path, 100)]
    last = []
    for each in writers + readers:
        out, error = each.communicate()
        assert each.returncode == 0, error
        last.append(float(out))
    assert number_in(path) in last[:3]
    assert [file.name for file in tmp_path.iterdir()] == [name]
    if name == "model":
        assert len(list(path.iterdir())) == 3


def test_a_model_replaced_while_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two members that are read, another model may take the place."""
    path, read, numbers = tmp_path / "model", storage._Folder._read, iter(range(2, 6))

    def slow(self: Any, name: str, size: int | None) -> bytes:
        data: bytes = read(self, name, size)
        number = next(numbers, None)
        if number is not None:
            save(model_of(number), path)
        return data

    save(model_of(1), path)
    monkeypatch.setattr(storage._Folder, "_read", slow)
    assert number_in(path) == 5


def test_a_zip_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = tmp_path / "model.zip", zipfile.ZipFile.read
    save(model_of(1), path)

    def replacing(self: zipfile.ZipFile, *arguments: Any) -> bytes:
        save(model_of(2), path)
        return read(self, *arguments)

    monkeypatch.setattr(zipfile.ZipFile, "read", replacing)
    assert number_in(path) == 1
    monkeypatch.undo()
    assert number_in(path) == 2


def test_whoever_unpacks_a_zip_file_can_read_it(tmp_path: Path) -> None:
    """Some programs give files the rights that the zip file notes; without any, nobody reads."""
    save(model_of(1), tmp_path / "model.zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        archive.extractall(tmp_path / "model")
        for entry in archive.infolist():
            noted = entry.external_attr >> 16
            assert stat.S_ISREG(noted)
            assert noted & 0o444 == 0o444
            (tmp_path / "model" / entry.filename).chmod(stat.S_IMODE(noted))
    assert number_in(tmp_path / "model") == 1


def test_a_damaged_model_is_told_at_once(tmp_path: Path) -> None:
    """What is not there is not waited for."""
    save(model_of(1), tmp_path / "model")
    next((tmp_path / "model").glob("arrays-*")).unlink()
    with pytest.raises(ModelFileError, match="incomplete"):
        load(tmp_path / "model")


# Power cuts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("earlier", [True, False])
def test_a_power_cut_leaves_the_old_model_or_the_new(
    name: str, earlier: bool, tmp_path: Path
) -> None:
    place, after = tmp_path / "place", tmp_path / "after"
    place.mkdir()
    after.mkdir()
    if earlier:
        save(model_of(1), place / name)
    with recorded(place) as disk:
        save(model_of(2), place / name)
    found = set()
    for call in disk.restore(after):
        try:
            found.add(number_in(after / name))
        except ModelFileError:
            assert not earlier, f"neither, after {call}"
            found.add(0.0)
    assert found == ({1.0, 2.0} if earlier else {0.0, 2.0})
    # When save() has returned, the new one is there to stay.
    disk.states.clear()
    disk.note("the end")
    assert [number_in(after / name) for _ in disk.restore(after)] == [2.0] * len(disk.states)


def test_the_model_of_the_disk_notices_a_missing_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: without bringing files to the disk it does."""
    place, after = tmp_path / "place", tmp_path / "after"
    place.mkdir()
    after.mkdir()
    save(model_of(1), place / "model")
    monkeypatch.setattr("splmll.atomic._flush_file", lambda path: None)
    with recorded(place) as disk:
        save(model_of(2), place / "model")
    lost = 0
    for _ in disk.restore(after):
        try:
            load(after / "model")
        except ModelFileError:
            lost += 1
    assert lost > 0


# Faults ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.parametrize("name", PLACES)
def test_every_fault_leaves_the_old_model(
    name: str, earlier: bool, fault: str, tmp_path: Path
) -> None:
    """The n-th call fails, for every n: an error, the old model, and nothing left beside it."""
    top = tmp_path / "top"
    path = top / "deep" / name
    top.mkdir()
    if earlier:
        save(model_of(1), path)
    before, failures = files_in(top), 0
    for n in calls_in(fault, lambda: save(model_of(2), tmp_path / "trial" / name)):
        with Failing(fault, n) as failing:
            try:
                save(model_of(2), path)
            except (OSError, MemoryError):
                failures += 1
            else:
                assert not failing.failed, n
        if path.exists() and number_in(path) == 2:
            # Only what comes after the switch can fail with the new model in place. Back to before:
            if earlier:
                save(model_of(1), path)
            else:
                shutil.rmtree(top / "deep")
        assert files_in(top) == before, n
    assert failures > 0


def test_what_killed_saves_left_goes_with_the_next(tmp_path: Path) -> None:
    program = """
import os, sys
from sklearn.preprocessing import StandardScaler
from splmll.persistence import save
os.replace = lambda *_: os._exit(9)
save(StandardScaler().fit([[1.0], [2.0]]), sys.argv[1])
"""
    for name in PLACES:
        path = tmp_path / name
        save(model_of(1), path)
        assert start(program, path).wait() == 9
        assert number_in(path) == 1
        assert any(".part" in file for file in files_in(tmp_path))
        save(model_of(2), path)
        assert not any(".part" in file for file in files_in(tmp_path))
        assert number_in(path) == 2


@contextmanager
def largest_file(n_bytes: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", PLACES)
def test_a_disk_that_is_full_at_any_byte(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    save(model_of(1), path)
    before = files_in(tmp_path)
    largest = max(map(len, before.values()))
    for n_bytes in range(0, largest, 97):
        with largest_file(n_bytes), pytest.raises(OSError, match="File too large"):
            save(model_of(2), path)
        assert files_in(tmp_path) == before
    assert number_in(path) == 1


def test_the_manifest_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is larger than any manifest is not read, and what is as large as allowed is."""
    save(model_of(1), tmp_path / "model")
    size = os.path.getsize(tmp_path / "model" / "manifest.json")
    monkeypatch.setattr(storage, "_LARGEST_MANIFEST", size)
    assert number_in(tmp_path / "model") == 1
    monkeypatch.setattr(storage, "_LARGEST_MANIFEST", size - 1)
    with pytest.raises(ModelFileError, match=f"manifest.json has {size} bytes, too many"):
        load(tmp_path / "model")
    monkeypatch.undo()
    # The real limit, with a file that takes no room on the disk.
    with (tmp_path / "model" / "manifest.json").open("r+b") as file:
        file.truncate(2**28 + 1)
    with pytest.raises(ModelFileError, match=r"has 268435457 bytes, too many for a manifest"):
        load(tmp_path / "model")
