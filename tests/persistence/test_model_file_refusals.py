"""Files that are damaged, dangerous or of another time are refused; writing is all or nothing."""

import builtins
import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import numpy as safetensors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from splmll.persistence import ModelFileError, load, read_manifest, save, storage
from splmll.persistence.files import FORMAT_VERSION


def reseal(folder: Path, change: Callable[[Any, dict[str, Any]], Any]) -> None:
    """Change objects and arrays of a model and give the file correct checksums again."""
    manifest = json.loads((folder / "manifest.json").read_text())
    old = {name.partition("-")[0]: folder / name for name in manifest["members"]}
    objects = json.loads(old["objects"].read_bytes())
    arrays = safetensors.load(old["arrays"].read_bytes())
    objects = change(objects, arrays) or objects
    members = {}
    for start, suffix, data in (
        ("objects", "json", json.dumps(objects).encode()),
        ("arrays", "safetensors", safetensors.save(arrays)),
    ):
        old[start].unlink()
        digest = hashlib.sha256(data).hexdigest()
        name = f"{start}-{digest[:16]}.{suffix}"
        (folder / name).write_bytes(data)
        members[name] = {"bytes": len(data), "sha256": digest}
    seal_manifest(folder, members=members)


def seal_manifest(folder: Path, **changes: Any) -> None:
    manifest = {**json.loads((folder / "manifest.json").read_text()), **changes}
    manifest.pop("sha256", None)
    text = json.dumps(manifest, sort_keys=True)
    manifest["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(StandardScaler().fit(np.arange(6.0).reshape(3, 2)), tmp_path / "model")
    return tmp_path / "model"


def member(folder: Path, start: str) -> Path:
    return next(folder.glob(f"{start}-*"))


# Checksums, versions, members --------------------------------------------------------------------


@pytest.mark.parametrize("start", ["objects", "arrays"])
def test_a_changed_byte_is_found(folder: Path, start: str) -> None:
    file = member(folder, start)
    data = bytearray(file.read_bytes())
    data[-2] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelFileError, match=f"{start}-.* does not match its checksum"):
        load(folder)
    file.write_bytes(data[:-1])
    with pytest.raises(ModelFileError, match=r"bytes instead of \d+: it is damaged"):
        load(folder)
    file.unlink()
    with pytest.raises(ModelFileError, match="incomplete"):
        load(folder)


def test_a_changed_manifest_is_found(folder: Path) -> None:
    manifest = folder / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"with_mean": true', '"with_mean": false'))
    with pytest.raises(ModelFileError, match=r"manifest\.json does not match its checksum"):
        load(folder)
    # Another layout says the same.
    manifest.write_text(json.dumps(json.loads(text), indent=4))
    assert load(folder).with_mean


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", "null", "not json", '{"format": "x"}', "[" * 9999]
)
def test_a_manifest_of_something_else(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(ModelFileError, match="damaged or does not belong to a model"):
        read_manifest(folder)


def test_newer_formats(folder: Path) -> None:
    seal_manifest(folder, version=FORMAT_VERSION + 1)
    with pytest.raises(ModelFileError, match=r"has format \d+.*up to \d+\. Install a newer splmll"):
        load(folder)


def test_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such file or folder"):
        load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="incomplete"):
        load(tmp_path)
    (tmp_path / "note.txt").write_text("hello")
    with pytest.raises(ModelFileError, match="not a zip file"):
        load(tmp_path / "note.txt")


@pytest.mark.parametrize(
    "name",
    ["../secret", "/etc/passwd", "objects-../../x.json", "objects-0123456789abcdef.json/..", ""],
)
def test_members_that_lead_elsewhere(folder: Path, name: str) -> None:
    members = read_manifest(folder)["members"]
    arrays = next(n for n in members if n.startswith("arrays"))
    entry = {"bytes": 1, "sha256": ""}
    seal_manifest(folder, members={name: entry, arrays: members[arrays]})
    with pytest.raises(ModelFileError, match="unknown member"):
        load(folder)


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
def test_links_pipes_and_folders_in_place_of_members(folder: Path, tmp_path: Path) -> None:
    file = member(folder, "objects")
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(folder)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ModelFileError, match="not a plain file"):
        load(folder)
    file.unlink()
    file.mkdir()
    with pytest.raises(ModelFileError, match=r"cannot be read|not a plain file"):
        load(folder)


# Zip files ---------------------------------------------------------------------------------------


def zipped(folder: Path, target: Path, compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(target, "w", compression) as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    return target


def test_a_folder_put_into_a_zip_file_by_hand(folder: Path, tmp_path: Path) -> None:
    loaded = load(zipped(folder, tmp_path / "by-hand.zip"))
    assert loaded.mean_.tolist() == [2.0, 3.0]


def test_a_zip_file_that_notes_no_kind_of_file(folder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "plain.zip", "w") as archive:
        for file in folder.iterdir():
            archive.writestr(file.name, file.read_bytes())  # notes 0o600 and nothing else
    assert load(tmp_path / "plain.zip").mean_.tolist() == [2.0, 3.0]


def test_compressed_members(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"is compressed.*zip -0"):
        load(zipped(folder, tmp_path / "bomb.zip", zipfile.ZIP_DEFLATED))


def test_members_there_twice(folder: Path, tmp_path: Path) -> None:
    target = zipped(folder, tmp_path / "twice.zip")
    with zipfile.ZipFile(target, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.write(folder / "manifest.json", "manifest.json")
    with pytest.raises(ModelFileError, match="appears twice"):
        load(target)


def test_strange_members(folder: Path, tmp_path: Path) -> None:
    (member(folder, "arrays")).unlink()
    for name in ("../evil", "/evil", "notes.txt"):
        target = zipped(folder, tmp_path / "strange.zip")
        with zipfile.ZipFile(target, "a") as archive:
            archive.writestr(name, "x")
        with pytest.raises(ModelFileError, match="is not part of a model"):
            load(target)


def test_links_in_a_zip_file(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "link.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for file in folder.iterdir():
            entry = zipfile.ZipInfo(file.name)
            entry.external_attr = 0o120777 << 16
            archive.writestr(entry, file.read_bytes())
    with pytest.raises(ModelFileError, match="not a plain file"):
        load(target)


# Files with correct checksums that were not written by save() ------------------------------------


def test_nothing_is_pickled_or_executed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("executed")

    for name in ("eval", "exec", "compile"):
        monkeypatch.setattr(builtins, name, never)
    monkeypatch.setattr("pickle.loads", never)
    monkeypatch.setattr("pickle.load", never)
    monkeypatch.setattr(StandardScaler, "__init__", never)
    monkeypatch.setattr(StandardScaler, "__setstate__", never)
    assert load(folder).mean_.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"is": "object", "class": "subprocess.Popen", "number": 0, "state": {}}, "subprocess"),
        ({"is": "object", "class": "os.system", "number": 0, "state": {}}, r"os\.system"),
        ({"is": "object", "class": ["x"], "number": 0, "state": {}}, "do not fit|not one"),
        ({"is": "object", "class": "splmll.labels.np", "number": 0, "state": {}}, "labels.np"),
        (
            {"is": "object", "class": "splmll.methods.make_method", "number": 0, "state": {}},
            "make_method",
        ),
        (
            {"is": "object", "class": "splmll.landmarks.judging.Judge", "number": 0, "state": {}},
            "Judge",
        ),
        (
            # An old name, of a class that has changed, without what it had.
            {
                "is": "object",
                "class": "splmll.landmarks.classifier.SPLMLL",
                "number": 0,
                "state": {},
            },
            "do not fit",
        ),
        (
            {"is": "object", "class": "splmll.cli.app.Anything", "number": 0, "state": {}},
            "cli.app",
        ),
        ({"is": "function", "name": "os.system"}, r"function 'os\.system'"),
        ({"is": "function", "name": "numpy.load"}, r"function 'numpy\.load'"),
        ({"is": "type", "name": "subprocess.Popen"}, "is not known"),
        ({"is": "pickle"}, "kind of value: 'pickle'"),
        ({"is": "same", "number": 7}, "do not fit"),
        ({"is": "array", "number": 0, "dtype": "O8", "shape": [1], "data": "0"}, "damaged"),
        ({"is": "array", "number": 0, "dtype": "<f8", "shape": [9**9], "data": "0"}, "has shape"),
        ({"is": "array", "number": 0, "dtype": "<f8", "shape": [-1], "data": "0"}, "impossible"),
        ({"is": "array", "number": 0, "dtype": "<f4", "shape": [2], "data": "0"}, "has shape"),
        ({"is": "array", "number": 0, "dtype": "<f8", "shape": [2], "data": "99"}, "missing"),
        ({"is": "array", "number": 0, "dtype": "<U99999999", "shape": [2], "data": "0"}, "shape"),
        ({"is": "random", "number": 0, "old": False, "parts": 3}, "do not fit"),
        ({"kind": "list"}, "do not fit"),
        (3, "another model"),
    ],
)
def test_trees_of_another_making(folder: Path, node: Any, message: str) -> None:
    reseal(folder, lambda objects, arrays: node)
    with pytest.raises(ModelFileError, match=message):
        load(folder)


def test_a_class_in_the_manifest_that_may_not_be_there(folder: Path) -> None:
    seal_manifest(folder, classes=["mylib.Thing"])
    with pytest.raises(ModelFileError, match=r"mylib\.Thing.*trusted=\[TheClass\]"):
        load(folder)


def test_only_classes_and_functions_are_trusted(folder: Path) -> None:
    with pytest.raises(TypeError, match="trusted must hold classes and functions, got 'mylib'"):
        load(folder, trusted=["mylib"])


def test_attributes_that_replace_methods(folder: Path) -> None:
    def change(objects: Any, arrays: dict[str, Any]) -> None:
        objects["state"]["transform"] = {"is": "function", "name": "numpy.exp"}

    reseal(folder, change)
    with pytest.raises(ModelFileError, match="no data attribute 'transform'"):
        load(folder)


def small_tree() -> DecisionTreeClassifier:
    X = np.arange(8.0).reshape(8, 1)
    return DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 0),  # round and round
        ("left_child", 10**6),
        ("right_child", -7),
        ("feature", 1),
        ("feature", -2),
        ("feature", 10**9),
    ],
)
def test_trees_that_would_lead_out_of_memory(field: str, value: int, tmp_path: Path) -> None:
    save(small_tree(), tmp_path / "model")

    def change(objects: Any, arrays: dict[str, Any]) -> None:
        arrays[objects["state"]["tree_"]["nodes"][field]["data"]][0] = value

    reseal(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match="node without leaves"):
        load(tmp_path / "model")


def test_trees_of_other_features(tmp_path: Path) -> None:
    save(small_tree(), tmp_path / "model")

    def change(objects: Any, arrays: dict[str, Any]) -> None:
        objects["state"]["tree_"]["n_features"] = 50

    reseal(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match="does not fit its features"):
        load(tmp_path / "model")


@pytest.mark.parametrize("attribute", ["_dual_coef_", "support_vectors_", "_n_support"])
def test_support_vectors_that_are_missing(attribute: str, tmp_path: Path) -> None:
    save(SVC().fit(np.arange(8.0).reshape(8, 1), [0, 0, 1, 1] * 2), tmp_path / "model")

    def change(objects: Any, arrays: dict[str, Any]) -> None:
        node = objects["state"][attribute]
        array = arrays[node["data"]]
        axis = array.ndim - 1 if attribute == "_dual_coef_" and "order" not in node else 0
        arrays["changed"] = np.ascontiguousarray(np.delete(array, 0, axis=axis))
        shape = list(arrays["changed"].shape)
        objects["state"][attribute] = {**node, "number": 999, "data": "changed"}
        objects["state"][attribute]["shape"] = shape[::-1] if "order" in node else shape

    reseal(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match="support vectors"):
        load(tmp_path / "model")


# Writing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model", "model.zip"])
def test_an_earlier_model_is_replaced(tmp_path: Path, name: str) -> None:
    for mean in (1.0, 2.0):
        save(StandardScaler().fit([[mean]]), tmp_path / name)
        assert load(tmp_path / name).mean_ == [mean]
    assert [file.name for file in tmp_path.iterdir()] == [name]
    if name == "model":
        assert len(list((tmp_path / name).iterdir())) == 3


@pytest.mark.parametrize("name", ["model", "model.zip"])
@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.parametrize("step", [0, 1, 2])
def test_a_failure_leaves_the_earlier_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, earlier: bool, step: int
) -> None:
    if earlier:
        save(StandardScaler().fit([[1.0]]), tmp_path / name)
    before = sorted(tmp_path.rglob("*"))
    replace, calls = os.replace, []

    def fail_at_step(source: Any, target: Any) -> None:
        calls.append(target)
        if len(calls) > (step if name == "model" else 0):
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_at_step)
    with pytest.raises(KeyboardInterrupt):
        save(StandardScaler().fit([[2.0]]), tmp_path / name)
    monkeypatch.undo()
    assert sorted(tmp_path.rglob("*")) == before
    if earlier:
        assert load(tmp_path / name).mean_ == [1.0]


def test_other_peoples_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ModelFileError, match=r"holds 'thesis\.tex'.*new or empty"):
        save(StandardScaler(), tmp_path)
    with pytest.raises(ModelFileError, match=r"is a file. Give a folder"):
        save(StandardScaler(), tmp_path / "thesis.tex")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_leftovers_of_a_killed_process_are_cleared(folder: Path) -> None:
    (folder / "objects-0123456789abcdef.json").write_text("half")
    save(StandardScaler().fit([[5.0]]), folder)
    assert len(list(folder.iterdir())) == 3
    assert load(folder).mean_ == [5.0]


def test_a_moved_folder_is_the_same_model(folder: Path, tmp_path: Path) -> None:
    shutil.move(folder, tmp_path / "elsewhere")
    assert load(tmp_path / "elsewhere").mean_.tolist() == [2.0, 3.0]


def test_names_of_members_never_lead_elsewhere() -> None:
    for name in ("manifest.json", "objects-x.json", "a/objects-0123456789abcdef.json"):
        assert not storage.MEMBER_NAME.fullmatch(name)
