"""Saving and loading: the manifest and the checks that come before anything is built."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from safetensors import numpy as safetensors

import splmll
from splmll.extras import versions
from splmll.persistence.array_kinds import ARRAY_KINDS
from splmll.persistence.codec import Kind, Reader, Writer
from splmll.persistence.errors import ModelFileError, expect
from splmll.persistence.object_kinds import OBJECT_KINDS
from splmll.persistence.plain_kinds import PLAIN_KINDS
from splmll.persistence.registry import Registry
from splmll.persistence.storage import MANIFEST, MEMBER_NAME, Members, open_members, write_members

FORMAT = "splmll model"
FORMAT_VERSION = 2  # 2: classes by their public names; see splmll.persistence.moved
LIBRARIES = ("numpy", "pandas", "scikit-learn", "scipy", "torch")

# What a dictionary says it holds -> the class that is made of it. By name: files know no taggers.
HOLDERS = {"splmll tagger 1": "splmll.tagging.Tagger"}

_STARTS = ("objects", "arrays")  # of the names of members
# Lists and dictionaries that JSON may hold: any number up to the first, then one in so many bytes.
_FREE_BRACKETS = 2**16
_BYTES_PER_BRACKET = 8

KINDS: list[Kind] = [*PLAIN_KINDS, *ARRAY_KINDS, *OBJECT_KINDS]


def save(model: Any, path: str | os.PathLike[str], *, trusted: Iterable[Any] = ()) -> None:
    """Write a model to a folder or a zip file.

    The same model gives the same bytes. What cannot be written is refused before anything is
    touched, and an earlier model at this path stays until the new one is complete.

    Parameters
    ----------
    model : estimator
        Any estimator of the library, or a scikit-learn estimator or pipeline, fitted or not; or a
        dictionary, list or tuple of such.
    path : path-like
        A zip file where it ends in ``.zip``, a folder otherwise.
    trusted : iterable of classes and functions, default=()
        Your own ones in the model, such as a torch module class. :func:`load` needs them too: a
        file holds their data, not their code.

    Raises
    ------
    ModelFileError
        The model holds something that a file cannot hold. The message says where.

    See Also
    --------
    load : Read it again.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> from splmll.persistence import load, save
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 4))
    >>> Y = (X @ rng.normal(size=(4, 3)) > 0).astype(int)
    >>> model = SPLMLL("linear", random_state=0).fit(X, Y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.zip")
    ...     loaded = load(f"{folder}/model.zip")
    >>> bool((loaded.decision_function(X) == model.decision_function(X)).all())
    True
    """
    registry = Registry(trusted)
    writer = Writer(registry, KINDS, root=type(model).__name__)
    objects = _json_bytes(writer.write(model))
    if _is_hollow(objects):
        writer.refuse("it holds little but empty lists", "Turn them into one array.")
    arrays = safetensors.save(writer.arrays)
    members = {
        f"objects-{_checksum(objects)[:16]}.json": objects,
        f"arrays-{_checksum(arrays)[:16]}.safetensors": arrays,
    }
    manifest = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "model": registry.name_of_class(type(model)),
        "settings": _settings(model),
        "labels": _names(model, "label_names_in_"),
        "features": _names(model, "feature_names_in_"),
        "libraries": {**versions(LIBRARIES), "splmll": splmll.__version__},
        "classes": sorted(writer.classes),
        "members": {
            name: {"bytes": len(data), "sha256": _checksum(data)} for name, data in members.items()
        },
    }
    manifest["sha256"] = _manifest_checksum(manifest)
    write_members(Path(path), members, json.dumps(manifest, indent=1).encode())


def load(path: str | os.PathLike[str], *, trusted: Iterable[Any] = ()) -> Any:
    """Read a model that :func:`save` has written.

    Nothing from the file is executed: the file holds numbers, texts and names, and only classes and
    functions from a list, and those in ``trusted``, are looked up by their names. Damage is found
    by checksums. They are no signature: who can write the file decides what the model predicts.

    Parameters
    ----------
    path : path-like
        The folder or zip file.
    trusted : iterable of classes and functions, default=()
        Your own ones, as they were given to :func:`save`.

    Returns
    -------
    model : estimator or Tagger
        It predicts what the saved one did, bit by bit with the same libraries on the same machine.
        Networks are on the CPU. What ``splmll fit`` wrote is a :class:`splmll.tagging.Tagger`.

    Raises
    ------
    ModelFileError
        The file is damaged, of a newer format, or names what it may not name.

    Warns
    -----
    UserWarning
        It was written with another version of scikit-learn, whose estimators may keep other
        attributes.

    See Also
    --------
    save : Write it.
    read_manifest : What is in the file, without loading it.

    Examples
    --------
    >>> import tempfile
    >>> from splmll.methods import MLkNN
    >>> from splmll.persistence import load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(MLkNN(n_neighbors=7), folder)
    ...     load(folder)
    MLkNN(n_neighbors=7)
    """
    model = load_parts(path, trusted=trusted)
    mark = model.get("holds") if isinstance(model, dict) else None
    home = HOLDERS.get(mark) if isinstance(mark, str) else None
    if home is None:
        return model
    module, _, name = home.rpartition(".")
    return getattr(import_module(module), name).from_parts(model, path)


def load_parts(path: str | os.PathLike[str], *, trusted: Iterable[Any] = ()) -> Any:
    """Read what :func:`save` was given, also where it is the parts of a tagger as a dictionary.

    Parameters
    ----------
    path : path-like
        The folder or zip file.
    trusted : iterable of classes and functions, default=()
        As for :func:`load`.

    Returns
    -------
    saved : object
    """
    path, registry = Path(path), Registry(trusted)
    try:
        manifest, objects, arrays = _read_whole(path, registry)
        _warn_of_other_libraries(manifest)
        size = len(objects) + len(arrays)
        reader, tree = Reader(registry, KINDS, _read_arrays(arrays), size), parse(objects)
        model = reader.read(tree)
        expect(_class_in(tree) == manifest["model"], "it is another model")
        return model
    except ModelFileError as error:
        text = str(error)
        raise ModelFileError(text if text.startswith(str(path)) else f"{path}: {text}") from error
    except ImportError:
        raise  # says what to install
    except Exception as error:
        # Whatever a file that was not written by save() can bring about.
        raise ModelFileError(
            f"{path}: the model file is damaged or was not written by save(): its parts do not "
            f"fit together ({type(error).__name__}: {error})."
        ) from error


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says of itself, without loading the model.

    Parameters
    ----------
    path : path-like
        The folder or zip file.

    Returns
    -------
    manifest : dict
        ``model`` (class), ``settings``, ``labels`` and ``features`` (names, or None), ``libraries``
        (versions), ``classes``, ``members`` (size and checksum), ``version`` (of the format).

    Examples
    --------
    >>> import tempfile
    >>> from splmll.methods import MLkNN
    >>> from splmll.persistence import read_manifest, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(MLkNN(n_neighbors=7), folder)
    ...     read_manifest(folder)["settings"]["n_neighbors"]
    7
    """
    with open_members(Path(path)) as members:
        return _read_manifest(members)


def _read_whole(path: Path, registry: Registry) -> tuple[dict[str, Any], bytes, bytes]:
    """Return the manifest of a model and the two members that it names, all of one save."""
    while True:
        with open_members(path) as members:
            try:
                manifest = _read_manifest(members)
                for name in manifest["classes"]:
                    registry.check_class(name)
                objects, arrays = (_read_checked(members, manifest, s) for s in _STARTS)
                return manifest, objects, arrays
            except ModelFileError:
                if not members.were_replaced():
                    raise


def _read_manifest(members: Members) -> dict[str, Any]:
    """Return what a model file says of itself, if it is a manifest that can be read."""
    path, data = members.path, members.read(MANIFEST)
    try:
        manifest = parse(data)
        known = manifest["format"] == FORMAT and type(manifest["version"]) is int
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise ModelFileError(f"{path}: {MANIFEST} is damaged or does not belong to a model.")
    if manifest["version"] > FORMAT_VERSION:
        raise ModelFileError(
            f"{path}: the model has format {manifest['version']}, this splmll reads formats up to "
            f"{FORMAT_VERSION}. Install a newer splmll."
        )
    if manifest.pop("sha256", None) != _manifest_checksum(manifest):
        raise ModelFileError(f"{path}: {MANIFEST} does not match its checksum: it is damaged.")
    return manifest


def parse(data: bytes) -> Any:
    """Return what JSON says, unless it would take far more memory than it has bytes.

    A list costs Python about 64 bytes, and ``[],`` is three; what :func:`save` writes has a list or
    dictionary for every ten bytes at most, because something stands in it.

    Examples
    --------
    >>> from splmll.persistence.files import parse
    >>> parse(b'{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    expect(not _is_hollow(data), "it holds little but empty lists")
    return json.loads(data, parse_constant=_no_constant)


def _is_hollow(data: bytes) -> bool:
    """Whether JSON has so many lists and dictionaries that most have to be empty."""
    brackets = data.count(b"[") + data.count(b"{")
    return brackets > max(_FREE_BRACKETS, len(data) // _BYTES_PER_BRACKET)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json_bytes(node: Any) -> bytes:
    return json.dumps(node, separators=(",", ":"), allow_nan=False).encode()


def _manifest_checksum(manifest: dict[str, Any]) -> str:
    """Return the checksum of what a manifest says, however it is laid out."""
    try:
        return _checksum(json.dumps(manifest, sort_keys=True).encode())
    except (TypeError, ValueError, RecursionError):
        return ""


def _settings(model: Any) -> dict[str, Any]:
    """Return the parameters for people to read: as JSON where they are plain, else as text."""
    if not hasattr(model, "get_params"):
        return {}
    return {
        name: value if value is None or type(value) in (bool, int, str) else repr(value)
        for name, value in model.get_params(deep=False).items()
    }


def _names(model: Any, attribute: str) -> list[Any] | None:
    """Return names of labels or features, of the last step of a pipeline where need be."""
    names = getattr(model, attribute, None)
    if names is None and hasattr(model, "steps"):
        return _names(model.steps[-1][1], attribute) if attribute == "label_names_in_" else None
    return None if names is None else [n if type(n) in (int, str) else str(n) for n in names]


def _warn_of_other_libraries(manifest: dict[str, Any]) -> None:
    then, now = manifest["libraries"].get("scikit-learn"), sklearn.__version__
    uses_it = any(name.startswith("sklearn.") for name in manifest["classes"])
    if uses_it and str(then).split(".")[:2] != now.split(".")[:2]:
        warnings.warn(
            f"The model was saved with scikit-learn {then}, this is {now}: compare some "
            "predictions before relying on it, or train and save it again.",
            UserWarning,
            stacklevel=3,
        )


def _class_in(tree: Any) -> Any:
    """Return the name of the class of a model, None where the model is no object."""
    of_object = isinstance(tree, dict) and tree["is"] in ("object", "module")
    return tree["class"] if of_object else None


def _read_checked(members: Members, manifest: dict[str, Any], start: str) -> bytes:
    """Return the bytes of the member whose name begins so, if they are those of the manifest."""
    listed = manifest["members"]
    name = next((name for name in listed if name.startswith(f"{start}-")), "")
    expect(MEMBER_NAME.fullmatch(name), f"the manifest lists no {start}, or an unknown member")
    size, checksum = listed[name]["bytes"], listed[name]["sha256"]
    expect(type(size) is int, f"the manifest does not say how large {name} is")
    data = members.read(name, size)
    expect(_checksum(data) == checksum, f"{name} does not match its checksum")
    return data


def _read_arrays(data: bytes) -> dict[str, np.ndarray]:
    # Estimators may write to their arrays.
    return {
        name: array if array.flags.writeable else array.copy()
        for name, array in safetensors.load(data).items()
    }
