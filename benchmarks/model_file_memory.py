"""Memory that loading a model takes at most, as a multiple of its file.

Run it with ``python benchmarks/model_file_memory.py``. Every model is loaded in a process of its
own, and the peak of a process that loads a model of a few bytes is taken off. The models: arrays, a
vocabulary, a forest, and the worst that JSON allows, which no model looks like.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from splmll.persistence import save

CHILD = """
import sys
from pathlib import Path
import sklearn.ensemble, sklearn.feature_extraction.text
from splmll.persistence import ModelFileError, load
try:
    load(sys.argv[1])
    ending = "loaded"
except ModelFileError:
    ending = "refused"
status = Path("/proc/self/status").read_text().splitlines()
print(next(line for line in status if line.startswith("VmHWM")).split()[1], ending)
"""


def main() -> None:
    print(f"{'model':32} {'file':>9} {'memory':>9} {'times':>6}")
    with tempfile.TemporaryDirectory() as place:
        tiny = Path(place) / "tiny"
        save(StandardScaler(), tiny)
        floor, _ = peak(tiny)
        for name, write in MODELS.items():
            folder = Path(place) / "model" / name.replace(" ", "-")
            write(folder)
            size = sum(file.stat().st_size for file in folder.iterdir())
            found, ending = peak(folder)
            times = (found - floor) / size
            megabytes = f"{size / 1e6:7.1f}MB {(found - floor) / 1e6:7.1f}MB"
            print(f"{name:32} {megabytes} {times:6.1f}  {ending}")


def peak(folder: Path) -> tuple[int, str]:
    """Return the bytes that a process held at most which loads a model, and how that ended."""
    command = [sys.executable, "-c", CHILD, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    kilobytes, ending = done.stdout.split()
    return int(kilobytes) * 1024, ending


def arrays(folder: Path) -> None:
    save({"a": np.random.default_rng(0).normal(size=(4000, 2000))}, folder)


def texts(folder: Path) -> None:
    save({"a": np.array([f"label {k:09d}" for k in range(10**6)])}, folder)


def vocabulary(folder: Path) -> None:
    rng = np.random.default_rng(0)
    words = rng.choice(list("abcdefghijklmnopqrstuvwxyz"), size=(400_000, 7))
    save(TfidfVectorizer().fit(["".join(word) for word in words]), folder)


def forest(folder: Path) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3000, 20)), rng.integers(0, 2, size=(3000, 10))
    save(RandomForestClassifier(100, random_state=0).fit(X, Y), folder)


def written(text: Callable[[], str]) -> Callable[[Path], None]:
    """Return what writes a model with this JSON in it, with correct checksums."""

    def write(folder: Path) -> None:
        save([0], folder)
        manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
        old = next(name for name in manifest["members"] if name.startswith("objects"))
        (folder / old).unlink()
        del manifest["members"][old]
        data = text().encode()
        digest = hashlib.sha256(data).hexdigest()
        name = f"objects-{digest[:16]}.json"
        (folder / name).write_bytes(data)
        manifest["members"][name] = {"bytes": len(data), "sha256": digest}
        manifest.pop("sha256")
        sealed = json.dumps(manifest, sort_keys=True).encode()
        manifest["sha256"] = hashlib.sha256(sealed).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest))

    return write


MODELS: dict[str, Callable[[Path], None]] = {
    "arrays": arrays,
    "texts": texts,
    "vocabulary": vocabulary,
    "forest": forest,
    "empty lists, 90 MB": written(lambda: "[" + "[]," * 30_000_000 + "0]"),
    "short lists": written(lambda: "[" + "[300,3]," * 3_000_000 + "0]"),
    "short dictionaries": written(
        lambda: '[{"a":0,"b":300},' * 1 + '{"a":300},' * 2_000_000 + "0]"
    ),
    "numbers": written(lambda: "[" + "300," * 6_000_000 + "0]"),
    "short texts": written(lambda: "[" + '"ab",' * 5_000_000 + "0]"),
    "tuples": written(lambda: "[" + '{"is":"tuple","items":[]},' * 1_000_000 + "0]"),
}


if __name__ == "__main__":
    main()
