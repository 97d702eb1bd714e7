"""What the pass would cost on many machines, from what it costs on one worker here.

Measured: rows per second of one worker on 1000 dense features and 10,000 sparse labels, the bytes
that a worker hands on, and how long it takes to add them. Computed: the pass and the reduction tree
for 10^9 rows on 10, 100 and 1000 workers.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.generated import text_problem
from benchmarks.measuring import Finding, best, by_turns, main
from splmll.landmarks.distributed import FAN_IN
from splmll.landmarks.out_of_core import Stream, merged

N_ROWS, N_FEATURES, N_LABELS = 10**9, 1000, 10_000
WORKERS = (10, 100, 1000)
N_FOLDS = 5
LABELS_PER_ROW = 5
SAMPLE_ROWS, QUICK_SIZE = 40_000, (400, 12, 30)
REPEATS = 3
BANDWIDTH = 1.25e9  # bytes a second between two machines: 10 Gbit/s
PAIR_BYTES = 12  # a stored pair of labels: its count and its column


@dataclass(frozen=True)
class Rates:
    """What was measured on one worker.

    Parameters
    ----------
    rows_per_second : float
        Of the pass.
    fixed_bytes : int
        What a worker hands on, but for Y'Y: X'X and X'Y of all folds and a sample of rows. The
        same whatever the number of rows.
    pairs_per_row : float
        Pairs of labels that a row adds to Y'Y before any repeat.
    add_seconds_per_byte : float
        Time to add what another worker handed on, per byte.
    """

    rows_per_second: float
    fixed_bytes: int
    pairs_per_row: float
    add_seconds_per_byte: float


@dataclass(frozen=True)
class Plan:
    """What the pass costs on some workers."""

    workers: int
    pass_seconds: float
    levels: int
    sent_bytes: float
    reduce_seconds: float


def label_pair_bytes(rows: float, rates: Rates, n_labels: int) -> float:
    """Return the bytes of the sparse Y'Y of so many rows, all folds together.

    At most every pair occurs in every fold; fewer rows cannot fill it.
    """
    pairs = N_FOLDS * n_labels**2
    drawn = rows * rates.pairs_per_row
    return PAIR_BYTES * pairs * -math.expm1(-drawn / pairs)  # distinct among those drawn


def plan(workers: int, rates: Rates, n_rows: int = N_ROWS, n_labels: int = N_LABELS) -> Plan:
    """Return the cost of the pass on so many workers, summed in a tree.

    In each level up to ``FAN_IN`` workers send what they have to one of them, which receives and
    adds one after the other. All groups of a level work at the same time, and what is sent grows
    as the label pairs fill up.
    """
    levels, sent, seconds = 0, 0.0, 0.0
    holders, rows = workers, n_rows / workers
    while holders > 1:
        size = rates.fixed_bytes + label_pair_bytes(rows, rates, n_labels)
        group = min(FAN_IN, holders)
        groups = math.ceil(holders / FAN_IN)
        sent += (holders - groups) * size
        seconds += (group - 1) * size * (1 / BANDWIDTH + rates.add_seconds_per_byte)
        levels, holders, rows = levels + 1, groups, group * rows
    return Plan(workers, n_rows / workers / rates.rows_per_second, levels, sent, seconds)


def useful_workers(rates: Rates, n_rows: int = N_ROWS, n_labels: int = N_LABELS) -> int:
    """Return the number of workers, a power of two, beyond which the reduction takes longer."""
    workers = 1
    while True:
        found = plan(2 * workers, rates, n_rows, n_labels)
        if found.reduce_seconds > found.pass_seconds:
            return workers
        workers *= 2


def measure_rates(quick: bool) -> tuple[Rates, tuple[int, int]]:
    """Measure one worker; return its rates, and the numbers of features and labels."""
    n_rows, n_features, n_labels = QUICK_SIZE if quick else (SAMPLE_ROWS, N_FEATURES, N_LABELS)
    X = np.random.default_rng(0).normal(size=(n_rows, n_features)).astype(np.float32)
    _, Y = text_problem(n_rows, 60, n_labels, labels=LABELS_PER_ROW)

    def kept() -> Stream:
        stream = Stream(n_features, n_labels, N_FOLDS, seed=0)
        stream.add(X, Y)
        return stream

    one, other = kept(), kept()
    calls: dict[str, Any] = {"pass": kept, "add": lambda: merged([one, other])}
    times = best(by_turns(calls, 1 if quick else REPEATS))
    size = len(pickle.dumps(one, protocol=pickle.HIGHEST_PROTOCOL))  # what travels
    pairs = sum(part.yy.nnz for part in one.folds if sparse.issparse(part.yy))
    rates = Rates(
        rows_per_second=n_rows / times["pass"],
        fixed_bytes=size - PAIR_BYTES * pairs,
        pairs_per_row=float((np.diff(Y.indptr).astype(np.float64) ** 2).mean()),
        add_seconds_per_byte=times["add"] / size,
    )
    return rates, (n_features, n_labels)


def measure(quick: bool) -> Iterator[Finding]:
    rates, (n_features, n_labels) = measure_rates(quick)
    shape = f"{n_features} features, {n_labels} sparse labels"
    measured = vars(rates)
    yield Finding(f"{shape}: one worker", rates.rows_per_second, "rows/s", details=measured)
    yield Finding(f"{shape}: handed on but for Y'Y", rates.fixed_bytes / 2**20, "MiB")
    full = label_pair_bytes(math.inf, rates, n_labels)
    yield Finding(f"{shape}: Y'Y at most", full / 2**20, "MiB")
    for workers in WORKERS:
        found = plan(workers, rates, n_labels=n_labels)
        yield Finding(
            f"{N_ROWS:.0e} rows on {workers} workers, computed",
            found.pass_seconds + found.reduce_seconds,
            f"s ({found.pass_seconds:,.0f} s of passing, {found.reduce_seconds:,.1f} s of reducing "
            f"in {found.levels} levels, {found.sent_bytes / 2**30:,.0f} GiB sent)",
            details=vars(found),
        )
    most = useful_workers(rates, n_labels=n_labels)
    yield Finding("workers beyond which reducing takes longer than passing", most, "workers")


if __name__ == "__main__":
    main(measure, __doc__)
