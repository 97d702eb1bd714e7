"""Memory that loading a model takes at most, as a multiple of its file.

Every model is loaded in a process of its own, and the peak of a process that loads a model of a few
bytes is taken off. The models: arrays, texts, a vocabulary, a forest, and the worst that JSON
allows, which no model looks like.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from benchmarks.measuring import Finding, main
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


#: Quick runs load two of the files, a tenth as large.
SCALE = {False: 10, True: 1}
QUICK = ("arrays", "empty tuples")
MOST = 32  # times the file, for whatever file


def measure(quick: bool) -> Iterator[Finding]:
    """Load model after model."""
    with tempfile.TemporaryDirectory() as place:
        tiny = Path(place) / "tiny"
        save(StandardScaler(), tiny)
        floor, _ = peak(tiny)
        for name in QUICK if quick else MODELS:
            folder = Path(place) / name.replace(" ", "-")
            MODELS[name](folder, SCALE[quick])
            size = sum(file.stat().st_size for file in folder.iterdir())
            found, ending = peak(folder)
            yield Finding(
                f"{name}, {size / 1e6:.0f} MB, {ending}: memory of loading over the file's",
                (found - floor) / size,
                f"(peak {found / 1e6:,.0f} MB in all)",
                high=MOST,
                details={"file": size, "peak": found, "before": floor, "ending": ending},
            )


def peak(folder: Path) -> tuple[int, str]:
    """Return the bytes that a process held at most which loads a model, and how that ended."""
    command = [sys.executable, "-c", CHILD, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    kilobytes, ending = done.stdout.split()
    return int(kilobytes) * 1024, ending


def arrays(folder: Path, scale: int) -> None:
    save({"a": np.random.default_rng(0).normal(size=(400 * scale, 2000))}, folder)


def texts(folder: Path, scale: int) -> None:
    save({"a": np.array([f"label {k:09d}" for k in range(100_000 * scale)])}, folder)


def vocabulary(folder: Path, scale: int) -> None:
    rng = np.random.default_rng(0)
    words = rng.choice(list("abcdefghijklmnopqrstuvwxyz"), size=(40_000 * scale, 7))
    save(TfidfVectorizer().fit(["".join(word) for word in words]), folder)


def forest(folder: Path, scale: int) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3000, 20)), rng.integers(0, 2, size=(3000, 10))
    save(RandomForestClassifier(10 * scale, random_state=0).fit(X, Y), folder)


def written(item: str, n_items: int) -> Callable[[Path, int], None]:
    """Return what writes a model of many equal items as JSON, with correct checksums."""

    def write(folder: Path, scale: int) -> None:
        save([0], folder)
        manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
        old = next(name for name in manifest["members"] if name.startswith("objects"))
        (folder / old).unlink()
        del manifest["members"][old]
        data = f"[{item * (n_items * scale)}0]".encode()
        digest = hashlib.sha256(data).hexdigest()
        name = f"objects-{digest[:16]}.json"
        (folder / name).write_bytes(data)
        manifest["members"][name] = {"bytes": len(data), "sha256": digest}
        manifest.pop("sha256")
        sealed = json.dumps(manifest, sort_keys=True).encode()
        manifest["sha256"] = hashlib.sha256(sealed).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest))

    return write


MODELS: dict[str, Callable[[Path, int], None]] = {
    "arrays": arrays,
    "texts": texts,
    "vocabulary": vocabulary,
    "forest": forest,
    "empty lists": written("[],", 3_000_000),
    "short dictionaries": written('{"a":300},', 200_000),
    "numbers": written("300,", 600_000),
    "short texts": written('"ab",', 500_000),
    "empty tuples": written('{"is":"tuple","items":[]},', 100_000),
}


if __name__ == "__main__":
    main(measure, __doc__)
