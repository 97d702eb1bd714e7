"""Model files with a change in them and correct checksums, loaded and used in a child process.

Run as a script it tries as many as asked for and prints what came of them::

    python tests/persistence/forging.py --runs 10000 --seed 1

A child takes one model after the other, makes mutants of its file, loads each and uses what it got
in every way. Where a child dies of a signal, the mutant it was at is told and the next child goes
on after it.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zoo
from safetensors import numpy as safetensors

from splmll.persistence import ModelFileError, load, save

# Numbers that are out of place in most places.
WHOLE = (0, 1, -1, 2, 3, 7, 100, 623, 625, 2**15, 2**31 - 1, 2**31, -(2**31), 2**62)
OTHERS = (None, True, False, 2**70, 0.5, 1e308, -1e308, "", "0", "nan", "auto", "brute", "filename")
SECONDS = 5  # a mutant that only takes its time is no crash
MORE_MEMORY = 2 * 2**30  # bytes that a child may take beside what it has with everything imported
OUTCOMES = ("refused", "used", "slow")


def members(folder: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the objects and the arrays of a model."""
    objects = json.loads(next(folder.glob("objects-*")).read_bytes())
    return objects, safetensors.load(next(folder.glob("arrays-*")).read_bytes())


def seal(folder: Path, objects: bytes, arrays: bytes) -> None:
    """Give a folder these members, and a manifest with their checksums."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in manifest["members"]:
        (folder / name).unlink(missing_ok=True)
    manifest["members"] = {}
    for start, suffix, data in (("objects", "json", objects), ("arrays", "safetensors", arrays)):
        digest = hashlib.sha256(data).hexdigest()
        name = f"{start}-{digest[:16]}.{suffix}"
        (folder / name).write_bytes(data)
        manifest["members"][name] = {"bytes": len(data), "sha256": digest}
    manifest.pop("sha256", None)
    text = json.dumps(manifest, sort_keys=True)
    manifest["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def forge(folder: Path, change: Callable[[Any, dict[str, np.ndarray]], Any]) -> None:
    """Change objects and arrays of a model and give the file correct checksums again."""
    objects, arrays = members(folder)
    objects = change(objects, arrays) or objects
    seal(folder, json.dumps(objects).encode(), safetensors.save(arrays))


def put_array(node: dict[str, Any], arrays: dict[str, np.ndarray], array: np.ndarray) -> None:
    """Give the array at a node of the objects another value, of any shape and type."""
    array = np.ascontiguousarray(array)
    node.pop("order", None)
    node["shape"], node["dtype"] = list(array.shape), array.dtype.str
    arrays[node["data"]] = array


def array_at(node: dict[str, Any], arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return the array at a node of the objects."""
    array = arrays[node["data"]]
    return array.T if node.get("order") == "F" else array


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every place in a JSON tree: what holds it, and its key there."""
    found: list[tuple[Any, Any]] = []
    open_ = [tree]
    while open_:
        node = open_.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in list(items):
            found.append((node, key))
            if isinstance(value, (dict, list)):
                open_.append(value)
    return found


def mutate(objects: Any, arrays: dict[str, np.ndarray], rng: np.random.Generator) -> str:
    """Make one change or several; return what was done."""
    done = []
    for _ in range(1 + int(rng.integers(2))):
        nodes = [
            holder[key]
            for holder, key in places(objects)
            if isinstance(holder[key], dict)
            and str(holder[key].get("data")) in arrays
            and isinstance(holder[key].get("dtype"), str)
        ]
        counting = [node for node in nodes if node["dtype"][1:2] in ("i", "u")]
        if counting and rng.random() < 0.5:
            nodes = counting  # numbers that count into something
        # The second change may find what the first has left of the tree.
        with contextlib.suppress(KeyError, TypeError, ValueError, IndexError):
            if nodes and rng.random() < 0.5:
                done.append(_mutate_array(nodes[int(rng.integers(len(nodes)))], arrays, rng))
            else:
                done.append(_mutate_tree(objects, rng))
    return "; ".join(done)


def _mutate_tree(objects: Any, rng: np.random.Generator) -> str:
    everywhere = places(objects)
    counting = [(holder, key) for holder, key in everywhere if type(holder[key]) is int]
    chosen = counting if counting and rng.random() < 0.4 else everywhere
    holder, key = chosen[int(rng.integers(len(chosen)))]
    before = holder[key]
    other_holder, other_key = everywhere[int(rng.integers(len(everywhere)))]
    match int(rng.integers(5)):
        case 0:
            del holder[key]
            return f"without {key}"
        case 1:
            holder[key] = json.loads(json.dumps(other_holder[other_key]))
        case 2:
            holder[key] = OTHERS[int(rng.integers(len(OTHERS)))]
        case _:
            holder[key] = WHOLE[int(rng.integers(len(WHOLE)))]
            if isinstance(before, int) and rng.random() < 0.5:
                holder[key] = before + int(rng.choice([-1, 1]))
    return f"{key}: {str(before)[:60]} -> {str(holder[key])[:60]}"


def _mutate_array(node: Any, arrays: dict[str, np.ndarray], rng: np.random.Generator) -> str:
    array = array_at(node, arrays).copy()
    what = int(rng.integers(5))
    if what <= 1 and array.size and array.dtype.kind in "biuf":
        place = int(rng.integers(array.size))
        value = WHOLE[int(rng.integers(len(WHOLE)))]
        if array.dtype.kind == "f" and rng.random() < 0.3:
            value = float(rng.choice([np.nan, np.inf, -1e308]))  # type: ignore[assignment]
        with np.errstate(all="ignore"):
            array.reshape(-1)[place] = np.array(value).astype(array.dtype)
        arrays[node["data"]] = np.ascontiguousarray(array.T if node.get("order") else array)
        return f"element {place} of {node['data']}{array.shape}: {value}"
    if what == 2 and array.size:
        axis = int(rng.integers(array.ndim))
        keep = int(rng.integers(array.shape[axis]))
        changed = np.take(array, range(keep), axis=axis)
    elif what == 3 and array.ndim:
        changed = np.concatenate([array, array], axis=int(rng.integers(array.ndim)))
    else:
        changed = array.astype(rng.choice(["<f8", "<f4", "<i8", "<i4", "|u1"]))
    if changed.dtype.kind in "biuf" and node["dtype"][1] in "biuf":
        put_array(node, arrays, changed)
    return f"{node['data']}: {array.dtype}{array.shape} -> {changed.dtype}{changed.shape}"


# The child ---------------------------------------------------------------------------------------


class Slow(BaseException):
    """Not an Exception: nothing on the way may take it for one of its own."""


def _too_slow(*_: Any) -> None:
    raise Slow


def try_mutants(names: list[str], each: int, seed: int, first: int, log: Path) -> None:
    """Make mutants number first, first + 1 and so on, and write down what came of each."""
    signal.signal(signal.SIGALRM, _too_slow)
    warnings.simplefilter("ignore")
    current, pristine, rows, kind = "", (b"", b""), None, object
    _limit_memory()
    with tempfile.TemporaryDirectory() as place, log.open("a") as written:
        folder = Path(place) / "model"
        for number in range(first, len(names) * each):
            if names[number // each] != current:
                current = names[number // each]
                model, rows = zoo.make(current)
                kind = type(model)
                save(model, folder)
                objects, arrays = members(folder)
                pristine = json.dumps(objects).encode(), safetensors.save(arrays)
            objects = json.loads(pristine[0])
            arrays = safetensors.load(pristine[1])
            rng = np.random.default_rng([seed, number])
            change = mutate(objects, arrays, rng)
            written.write(f"{number}\t{current}\t{change}\t")
            written.flush()
            try:
                sealed = json.dumps(objects).encode(), safetensors.save(arrays)
            except Exception:
                sealed = pristine
            seal(folder, *sealed)
            began = time.perf_counter()
            outcome = _outcome(folder, kind, rows)
            written.write(f"{outcome}\t{time.perf_counter() - began:.2f}\n")
            written.flush()


def _outcome(folder: Path, kind: type, rows: Any) -> str:
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        try:
            model = load(folder)
        except ModelFileError:
            return "refused"
        except MemoryError:
            return "MemoryError while loading"
        except Exception as error:  # only ModelFileError may come out of load
            return f"{type(error).__name__} while loading"
        if type(model) is not kind:
            return "another class"
        zoo.use(model, rows)
        return "used"
    except Slow:
        return "slow"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit_memory() -> None:
    import torch  # noqa: F401  (its libraries take much of the address space)

    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MORE_MEMORY,) * 2)


# The parent --------------------------------------------------------------------------------------


def run(names: list[str], each: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Try mutants of models; return how many ended how, and the lines of those that crashed."""
    crashes: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        log, first, total = Path(place) / "log", 0, len(names) * each
        log.touch()
        while first < total:
            child = subprocess.Popen(
                [sys.executable, __file__, "--child", str(first), "--each", str(each)]
                + ["--seed", str(seed), "--log", str(log), "--models", *names],
                stdout=subprocess.DEVNULL,  # some models tell how they learn
                stderr=subprocess.PIPE,
                text=True,
            )
            stuck = _wait(child, log)
            said = child.stderr.read() if child.stderr else ""
            lines = log.read_text().splitlines()
            unfinished = bool(lines) and lines[-1].count("\t") == 3
            if child.returncode == 0 and not unfinished:
                break
            if not unfinished and (child.returncode > 0 or not lines):
                raise RuntimeError(f"A child ended with {child.returncode}: {said[-2000:]}")
            ending = "stuck in compiled code" if stuck else f"ended with {child.returncode}"
            if unfinished:
                log.write_text("\n".join([*lines[:-1], f"{lines[-1]}{ending}\t0"]) + "\n")
            # Memory that one mutant has spoilt may only be noticed at a later one.
            crashes.append(f"{lines[-1]} {ending}")
            first = int(lines[-1].split("\t")[0]) + 1
        endings = [line.split("\t")[3] for line in log.read_text().splitlines()]
        strange = [
            line
            for line in log.read_text().splitlines()
            if line.split("\t")[3] not in OUTCOMES and not line.split("\t")[3].startswith("ended")
        ]
    return Counter(endings), crashes + [line for line in strange if line not in crashes]


def _wait(child: subprocess.Popen[str], log: Path) -> bool:
    """Wait for a child; kill it, and say so, where it has been at one mutant for very long."""
    size, since = -1, time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(1)
            return False
        if log.stat().st_size != size:
            size, since = log.stat().st_size, time.monotonic()
        elif time.monotonic() - since > 60:
            child.kill()
            child.wait()
            return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", nargs="*", default=list(zoo.MODELS))
    parser.add_argument("--each", type=int)
    parser.add_argument("--child", type=int)
    parser.add_argument("--log", type=Path)
    given = parser.parse_args()
    each = given.each or -(-given.runs // len(given.models))
    if given.child is not None:
        try_mutants(given.models, each, given.seed, given.child, given.log)
        return
    endings, crashes = run(given.models, each, given.seed)
    print(f"{endings.total()} mutants of {len(given.models)} models, seed {given.seed}")
    for ending, count in endings.most_common():
        print(f"{count:6d} {ending}")
    print("\n".join(crashes))


if __name__ == "__main__":
    main()
