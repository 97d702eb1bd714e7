"""How the cost of linear SPLMLL grows: with rows, labels, landmarks and workers.

Growth is the slope of log CPU seconds against log size: 1 means that twice as much takes
twice as long. Every fit runs in a process of its own, so that its peak memory can be told. Rows are
streamed from a file; "pass" is the part that looks at rows, and the rest of a fit does not depend
on their number.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generated import dense_problem, text_problem
from benchmarks.measuring import Finding, best, by_turns, in_own_process, main, slope
from splmll import SPLMLL
from splmll.landmarks.out_of_core import Stream

ROWS, QUICK_ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000), (200, 400)
LABELS, QUICK_LABELS = (100, 300, 1000, 3000, 10_000, 50_000), (20, 40)
SHARES, QUICK_SHARES = (0.01, 0.03, 0.1, 0.3, 1.0), (0.1, 1.0)

N_FEATURES, N_LABELS, QUICK_WIDTHS = 100, 50, (8, 5)
BATCH_ROWS = 10_000
N_FOLDS = 5
TEXT_ROWS, TEXT_WORDS, QUICK_TEXT = 20_000, 1000, (200, 60)
LANDMARK_SIZE, QUICK_LANDMARK_SIZE = (10_000, 200, 500), (200, 10, 20)
CLUSTER_SIZE, QUICK_CLUSTER_SIZE = (400_000, 200, 50), (400, 8, 5)
CLUSTER_BLOCKS = 16
REPEATS = 3

SLOPE_RANGE, MEMORY_RANGE = (0.95, 1.05), (0.9, 1.1)


def measure(quick: bool) -> Iterator[Finding]:
    yield from by_rows(quick)
    yield from by_labels(quick)
    yield from by_landmarks(quick)
    yield from by_workers(quick)


# Rows ------------------------------------------------------------------------------------------


def by_rows(quick: bool) -> Iterator[Finding]:
    sizes = QUICK_ROWS if quick else ROWS
    n_features, n_labels = QUICK_WIDTHS if quick else (N_FEATURES, N_LABELS)
    with tempfile.TemporaryDirectory() as folder:
        X, Y = dense_problem(min(BATCH_ROWS, max(sizes)), n_features, n_labels)
        path = Path(folder) / "rows.bin"
        np.hstack([X, Y]).astype(np.float32).tofile(path)
        runs: dict[str, list[dict[str, Any]]] = {}
        for function in ("stream_pass", "stream_fit"):
            arguments = {"path": str(path), "n_features": n_features, "n_labels": n_labels}
            runs[function] = [
                in_own_process("growth", function, quick=quick, n_rows=n, **arguments)
                for n in sizes
            ]
    shape = f"{n_features} features, {n_labels} labels, {sizes[0]:,} to {sizes[-1]:,} rows"
    details: dict[str, Any] = {"sizes": sizes}
    for function, title in (("stream_pass", "pass"), ("stream_fit", "whole fit")):
        seconds = [run["seconds"] for run in runs[function]]
        low, high = SLOPE_RANGE if function == "stream_pass" else (None, None)
        yield Finding(
            f"{title}, {shape}",
            slope(sizes, seconds),
            "slope in rows",
            low,
            high,
            {**details, "seconds": seconds, "runs": runs[function]},
        )
    # The first sizes fill the sample and the buffers; from there on memory must not grow.
    peaks = [run["peak_bytes"] for run in runs["stream_fit"]]
    settled = peaks[len(peaks) // 2 :]
    for case, ratio in (
        ("peak memory, largest over smallest number of rows", peaks[-1] / peaks[0]),
        (f"the same from {sizes[len(peaks) // 2]:,} rows on", max(settled) / min(settled)),
    ):
        yield Finding(case, ratio, "times", *MEMORY_RANGE, details={**details, "bytes": peaks})


def stream_pass(n_rows: int, **source: Any) -> Callable[[], None]:
    """The pass alone: what is kept of a stream of rows.

    A batch goes through beforehand: what the first call of a process costs is no growth.
    """

    def work(n_rows: int = n_rows) -> None:
        stream = Stream(source["n_features"], source["n_labels"], N_FOLDS, seed=0)
        for X, Y in batches(n_rows, **source):
            stream.add(X, Y)

    work(min(n_rows, BATCH_ROWS))
    return work


def stream_fit(n_rows: int, **source: Any) -> Callable[[], None]:
    """The same pass and the model learned from it."""

    def work() -> None:
        model = SPLMLL("linear", cv=N_FOLDS, random_state=0)
        model.fit_batches(batches(n_rows, **source))

    return work


def batches(
    n_rows: int, path: str, n_features: int, n_labels: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Read rows from a file, over and over until there are enough."""
    width = n_features + n_labels
    while n_rows > 0:
        block = np.fromfile(path, dtype=np.float32, count=min(n_rows, BATCH_ROWS) * width)
        block = block.reshape(-1, width)
        yield block[:, :n_features], block[:, n_features:]
        n_rows -= len(block)


# Labels ----------------------------------------------------------------------------------------


def by_labels(quick: bool) -> Iterator[Finding]:
    sizes = QUICK_LABELS if quick else LABELS
    n_rows, n_words = QUICK_TEXT if quick else (TEXT_ROWS, TEXT_WORDS)
    runs = [
        in_own_process("growth", "text_fit", quick=quick, n=n_rows, d=n_words, c=c) for c in sizes
    ]
    seconds = [run["seconds"] for run in runs]
    details = {"sizes": sizes, "seconds": seconds, "runs": runs}
    title = f"sparse text {n_rows:,} x {n_words:,}, {sizes[0]:,} to {sizes[-1]:,} labels"
    yield Finding(f"fit, {title}", slope(sizes, seconds), "slope in labels", details=details)
    peak = runs[-1]["peak_bytes"]
    dense = 8 * sizes[-1] ** 2
    yield Finding(
        f"peak memory with {sizes[-1]:,} labels",
        peak / 2**30,
        f"GiB (a dense label matrix of labels by labels: {dense / 2**30:.3g} GiB)",
    )


def text_fit(n: int, d: int, c: int) -> Callable[[], None]:
    """Fit sparse text with many labels."""
    X, Y = text_problem(n, d, c)

    def work() -> None:
        SPLMLL("linear", random_state=0).fit(X, Y)

    return work


# Landmarks -------------------------------------------------------------------------------------


def by_landmarks(quick: bool) -> Iterator[Finding]:
    size = QUICK_LANDMARK_SIZE if quick else LANDMARK_SIZE
    shares = QUICK_SHARES if quick else SHARES
    X, Y = dense_problem(*size)
    calls = {
        f"{share:.0%}": lambda share=share: SPLMLL("linear", n_landmarks=share, random_state=0).fit(
            X, Y
        )
        for share in shares
    }
    times = best(by_turns(calls, 1 if quick else REPEATS))
    title = " x ".join(str(n) for n in size)
    yield Finding(
        f"fit, {title}, landmarks {shares[0]:.0%} to {shares[-1]:.0%} of the labels",
        slope(shares, list(times.values())),
        "slope in landmarks",
        details={"seconds": times},
    )


# Workers ---------------------------------------------------------------------------------------


def by_workers(quick: bool) -> Iterator[Finding]:
    try:
        import dask.array as da
        from distributed import Client, LocalCluster, wait
    except ImportError:
        yield Finding("Dask workers", None, details={"note": 'pip install "splmll[distributed]"'})
        return
    size = QUICK_CLUSTER_SIZE if quick else CLUSTER_SIZE
    X, Y = dense_problem(*size)
    rows = -(-size[0] // CLUSTER_BLOCKS)
    seconds = {}
    for n_workers in (1, 2):
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=not quick,
                dashboard_address=None,
            ) as cluster,
            Client(cluster),
        ):
            parts = [da.from_array(table, chunks=(rows, -1)).persist() for table in (X, Y)]
            wait(parts)  # the rows lie with the workers before the clock starts
            spent = by_turns(
                {"fit": lambda parts=parts: SPLMLL("linear", random_state=0).fit(*parts)},
                1 if quick else REPEATS,
                clock=time.perf_counter,
            )
            seconds[n_workers] = min(spent["fit"])
    yield Finding(
        f"Dask, {' x '.join(str(n) for n in size)}, two workers beside one",
        seconds[1] / seconds[2],
        "times as fast",
        details={"seconds": seconds},
    )


if __name__ == "__main__":
    main(measure, __doc__)
