"""Peak resident memory of one fit, each in a process of its own, beside the size of its input.

The number is what a fit takes on top of the input and the loaded libraries, as a multiple of the
input. Statistics do not depend on the number of rows, so it falls as rows become more.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generated import dense_problem, text_problem
from benchmarks.measuring import Finding, in_own_process, main
from splmll import SPLMLL

DENSE, QUICK_DENSE = (50_000, 500, 100), (200, 10, 6)
TEXT, QUICK_TEXT = (20_000, 2000, 1000), (200, 60, 12)
KINDS = ("dense float64", "dense float32", "memory-mapped float32", "sparse text", "Ridge")


def measure(quick: bool) -> Iterator[Finding]:
    for kind in KINDS:
        text, dense = (QUICK_TEXT, QUICK_DENSE) if quick else (TEXT, DENSE)
        shape = text if kind == "sparse text" else dense
        with tempfile.TemporaryDirectory() as folder:
            run = in_own_process(
                "memory_use", "fit", quick=quick, kind=kind, shape=shape, folder=folder
            )
        more = run["peak_bytes"] - run["before_bytes"]
        size = " x ".join(str(n) for n in shape)
        yield Finding(
            f"{kind}, {size}: memory of the fit over the input's",
            more / run["input_bytes"],
            f"(peak {run['peak_bytes'] / 2**20:,.0f} MiB in all, input "
            f"{run['input_bytes'] / 2**20:,.0f} MiB)",
            details=run,
        )


def fit(kind: str, shape: tuple[int, int, int], folder: str) -> Callable[[], dict[str, Any]]:
    """Prepare the input of one kind and return its fit."""
    X: Any
    Y: Any
    if kind == "sparse text":
        X, Y = text_problem(*shape)
        input_bytes = sum(
            part.nbytes for table in (X, Y) for part in (table.data, table.indices, table.indptr)
        )
    else:
        X, Y = dense_problem(*shape)
        if "float32" in kind:
            X = X.astype(np.float32)
        input_bytes = X.nbytes + Y.nbytes
        if "mapped" in kind:
            path = Path(folder) / "rows.npy"
            np.save(path, X)
            X = np.load(path, mmap_mode="r")

    def work() -> dict[str, Any]:
        if kind == "Ridge":
            from sklearn.linear_model import Ridge

            Ridge().fit(X, Y.astype(np.float64))
        else:
            SPLMLL("linear", random_state=0).fit(X, Y)
        return {"input_bytes": input_bytes}

    return work


if __name__ == "__main__":
    main(measure, __doc__)
