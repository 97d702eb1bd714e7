"""The members of a model file, in a folder or in a zip file, written as a whole or not at all.

Members carry their checksum in their name and the manifest names them. So a folder is changed by
the one step in which its new manifest takes the place of the old. Who writes to a folder holds it
until the members of the old model are gone; who reads takes a manifest and its members, and begins
again where the manifest was replaced meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from splmll.atomic import atomic_write, locked_folder, made_folder
from splmll.persistence.errors import ModelFileError

MANIFEST = "manifest.json"
MEMBER_NAME = re.compile(r"(objects-[0-9a-f]{16}\.json|arrays-[0-9a-f]{16}\.safetensors)")
# Members and manifests that are being written.
_PART_NAME = re.compile(r"\.(objects|arrays|manifest)[0-9a-f-]*-\w{8}(\.part)?\.(json|safetensors)")
ZIP_SUFFIX = ".zip"
_LARGEST_MANIFEST = 2**28
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the same model gives the same file
_MAX_ZIP_MEMBERS = 3


def write_members(path: Path, members: dict[str, bytes], manifest: bytes) -> None:
    """Write all members; an earlier model at this path stays until the new one is complete."""
    if path.suffix.lower() == ZIP_SUFFIX:
        _write_zip(path, {MANIFEST: manifest, **members})
    else:
        _write_folder(path, members, manifest)


@contextmanager
def open_members(path: Path) -> Iterator[Members]:
    """Open a folder or zip file to read its members.

    Parameters
    ----------
    path : Path
        A folder or a zip file. The latter is opened once, so that all members are those of one
        file, whatever takes its place meanwhile.
    """
    if path.is_dir():
        yield _Folder(path)
        return
    with _explained(path, "it"):
        archive = _Zip(path)
    try:
        yield archive
    finally:
        archive.close()


class Members(ABC):
    """The members of one model."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str, size: int | None = None) -> bytes:
        """Return the bytes of one member.

        Parameters
        ----------
        name : str
            The member.
        size : int, optional
            Its number of bytes; a member of another size is not read. None: that of a manifest.
        """
        with _explained(self.path, name):
            return self._read(name, size)

    @abstractmethod
    def _read(self, name: str, size: int | None) -> bytes: ...

    def were_replaced(self) -> bool:
        """Whether another model has taken this place since the members were opened."""
        return False


@contextmanager
def _explained(path: Path, name: str) -> Iterator[None]:
    """Tell what is wrong with a file, with its path."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except FileNotFoundError:
        whole = "the model is incomplete" if path.exists() else "there is no such file or folder"
        raise ModelFileError(f"{path}: {whole}. Give the path that save() was given.") from None
    except (OSError, zipfile.BadZipFile, EOFError, ValueError, RuntimeError) as error:
        # RuntimeError and its subclass NotImplementedError: members that are encrypted or of
        # unknown form.
        raise ModelFileError(f"{path}: {name} cannot be read ({error}).") from error


def _check_size(name: str, found: int, wanted: int | None) -> None:
    if wanted is None and found > _LARGEST_MANIFEST:
        raise ModelFileError(f"{name} has {found} bytes, too many for a manifest.")
    if wanted is not None and found != wanted:
        raise ModelFileError(f"{name} has {found} bytes instead of {wanted}: it is damaged.")


# Folders -----------------------------------------------------------------------------------------


def _write_folder(folder: Path, members: dict[str, bytes], manifest: bytes) -> None:
    if folder.exists():
        members_of(folder)  # refuse those of other people before waiting for anyone
    with made_folder(folder), locked_folder(folder):
        before = members_of(folder)
        _remove_parts(folder)
        written = []
        try:
            for name, data in members.items():
                if name not in before:
                    written.append(folder / name)
                _write_file(folder / name, data)
            _write_file(folder / MANIFEST, manifest)
        except BaseException:
            if _manifest_is(folder, manifest):
                raise  # in place, but perhaps not on the disk: the members of both models stay
            for file in written:
                file.unlink(missing_ok=True)
            raise
        for name in before - members.keys():
            (folder / name).unlink(missing_ok=True)


def _manifest_is(folder: Path, manifest: bytes) -> bool:
    with contextlib.suppress(OSError):
        return (folder / MANIFEST).read_bytes() == manifest
    return False


def _remove_parts(folder: Path) -> None:
    """Remove what killed processes have left: whoever holds the folder is alone in it."""
    for file in folder.iterdir():
        if _PART_NAME.fullmatch(file.name):
            file.unlink(missing_ok=True)


def members_of(folder: Path) -> set[str]:
    """Return the members in a folder; a folder with other files is not ours to write to."""
    if not folder.is_dir():
        raise ModelFileError(
            f"{folder} is a file. Give a folder to write to, or a name that ends in {ZIP_SUFFIX}."
        )
    names = {file.name for file in folder.iterdir() if not file.name.startswith(".")} - {MANIFEST}
    strange = sorted(name for name in names if not MEMBER_NAME.fullmatch(name))
    if strange:
        raise ModelFileError(
            f"{folder} holds {strange[0]!r}, which is not part of a model. Give a new or empty "
            "folder, or one with an earlier model."
        )
    return names


def _write_file(path: Path, data: bytes) -> None:
    with atomic_write(path) as part:
        part.write_bytes(data)


class _Folder(Members):
    """Members that are files."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._state = self._manifest_state()

    def _read(self, name: str, size: int | None) -> bytes:
        # Neither a link to elsewhere is followed nor a pipe waited for.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(self.path / name, flags | getattr(os, "O_BINARY", 0))
        with open(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ModelFileError(f"{name} is not a plain file.")
            _check_size(name, status.st_size, size)
            return file.read(status.st_size)

    def were_replaced(self) -> bool:
        return self._manifest_state() != self._state

    def _manifest_state(self) -> tuple[int, ...]:
        """Return what differs between two manifests, even if they say the same."""
        try:
            status = os.stat(self.path / MANIFEST)
        except OSError:
            return ()
        return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size


# Zip files ---------------------------------------------------------------------------------------


def _write_zip(path: Path, members: dict[str, bytes]) -> None:
    with atomic_write(path) as part, zipfile.ZipFile(part, "w") as archive:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name, _ZIP_TIME)
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)


class _Zip(Members):
    """Members in a zip file that stays open."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file = path.open("rb")
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            self._archive = zipfile.ZipFile(self._file)
            self._check()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._archive.close()
        self._file.close()

    def _check(self) -> None:
        entries = self._archive.infolist()
        names = [entry.filename for entry in entries]
        if len(set(names)) != len(names) or len(names) > _MAX_ZIP_MEMBERS:
            raise ModelFileError("a member appears twice, or there are too many.")
        for entry in entries:
            if entry.filename != MANIFEST and not MEMBER_NAME.fullmatch(entry.filename):
                raise ModelFileError(f"{entry.filename!r} is not part of a model.")
            # Some programs note no kind of file, only who may read it.
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG):
                raise ModelFileError(f"{entry.filename} is not a plain file.")
            # A member that is not compressed cannot be larger than the file it is in.
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > entry.compress_size:
                raise ModelFileError(
                    f"{entry.filename} is compressed. Store it uncompressed, for instance with "
                    "zip -0, or let save() write the file."
                )

    def _read(self, name: str, size: int | None) -> bytes:
        if name not in self._archive.namelist():
            raise ModelFileError(f"{name} is missing.")
        entry = self._archive.getinfo(name)
        _check_size(name, entry.file_size, size)
        if entry.file_size > self._size:
            raise ModelFileError(f"{name} is larger than the file it is in.")
        return self._archive.read(entry)
