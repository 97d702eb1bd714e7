"""A file that was changed anywhere is refused, or is still the same model; nothing else happens."""

import json
import zipfile
from pathlib import Path
from typing import Any

import forging
import numpy as np
import pytest
import zoo
from safetensors import numpy as safetensors

from splmll import SPLMLL
from splmll.persistence import ModelFileError, load, save

N_MUTATIONS = 2_000
INTERESTING = [0, 1, 0x7F, 0x80, 0xFF, *b'[]{}",:0129-.eE\\/ ntf']


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(60, 2))


@pytest.fixture(scope="module")
def model(X: np.ndarray) -> SPLMLL:
    return SPLMLL("linear", cv=2, random_state=0).fit(X, (X > 0).astype(int))


def overwrite(path: Path, data: bytes) -> None:
    """Change a file in place, which is much quicker than writing it anew."""
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


def mutate(data: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """Change, drop, repeat or insert some bytes, cut the end, or take another member."""
    changed = bytearray(data)
    at = int(rng.integers(len(data)))
    match int(rng.integers(7)):
        case 0:
            changed[at] ^= 1 << int(rng.integers(8))
        case 1:
            changed[at] = int(rng.choice(INTERESTING))
        case 2:
            del changed[at : at + int(rng.integers(1, 20))]
        case 3:
            changed[at:at] = bytes(rng.choice(INTERESTING, size=int(rng.integers(1, 9))).tolist())
        case 4:
            del changed[at:]
        case 5:
            other = int(rng.integers(len(data)))
            changed[at : at + 8] = data[other : other + 8]
        case _:
            return others[int(rng.integers(len(others)))]
    return bytes(changed)


def edit(manifest: Any, rng: np.random.Generator) -> Any:
    """Replace, drop or exchange one value somewhere in a JSON tree."""
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items:
            places.append((node, key))
            if isinstance(value, (dict, list)):
                collect(value)

    collect(manifest)
    node, key = places[int(rng.integers(len(places)))]
    other_node, other_key = places[int(rng.integers(len(places)))]
    values = [None, True, 0, -1, 2**70, 0.5, 1e308, "", "0", "<U99999999", "nan", [], {}, [[]]]
    match int(rng.integers(3)):
        case 0:
            node[key] = values[int(rng.integers(len(values)))]
        case 1:
            node[key] = json.loads(json.dumps(other_node[other_key]))
        case _:
            del node[key]
    return manifest


@pytest.mark.slow
def test_two_thousand_mutations(model: SPLMLL, X: np.ndarray, tmp_path: Path) -> None:
    folder, archive = tmp_path / "model", tmp_path / "model.zip"
    save(model, folder)
    save(model, archive)
    expected = model.decision_function(X)
    members = {file.name: file.read_bytes() for file in folder.iterdir()}
    whole, rng = archive.read_bytes(), np.random.default_rng(0)
    refused = 0
    for k in range(N_MUTATIONS):
        name = list(members)[int(rng.integers(len(members)))]
        if k % 2:
            target = archive
            overwrite(archive, mutate(whole, list(members.values()), rng))
        else:
            target = folder
            if name == "manifest.json" and rng.random() < 0.5:
                changed = json.dumps(edit(json.loads(members[name]), rng)).encode()
            else:
                changed = mutate(members[name], list(members.values()), rng)
            overwrite(folder / name, changed)
        try:
            loaded = load(target)
        except ModelFileError:
            refused += 1
        else:
            np.testing.assert_array_equal(loaded.decision_function(X), expected)
            assert repr(loaded) == repr(model)
        if target is folder:
            overwrite(folder / name, members[name])
    # Some changes mean nothing: a member for itself, the space between two numbers of JSON.
    assert N_MUTATIONS * 0.8 < refused < N_MUTATIONS


@pytest.mark.slow
def test_correct_checksums_do_not_help() -> None:
    """Whoever changes a model and corrects the checksums gets an error, or a model that is used.

    What is loaded predicts, explains and recovers in a child process, which has to survive it. One
    mutant of every model here; ``forging.py`` as a script tries as many as one likes.
    """
    endings, strange = forging.run(list(zoo.MODELS), each=1, seed=0)
    assert strange == []
    # Some changes hit a number, which is as good as another; most leave nothing that fits.
    assert min(endings["refused"], endings["used"]) > 25


def test_the_mutations_reach_every_member(model: SPLMLL, tmp_path: Path) -> None:
    """What is mutated above is what a model consists of."""
    save(model, tmp_path / "model.zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        names = sorted(entry.filename.partition("-")[0] for entry in archive.infolist())
        assert names == ["arrays", "manifest.json", "objects"]
        arrays = next(name for name in archive.namelist() if name.startswith("arrays"))
        assert len(safetensors.load(archive.read(arrays))) > 5
