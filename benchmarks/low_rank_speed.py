"""LEML's exact updates beside conjugate gradients, and how the cost of three methods grows.

The first table solves the same problem in both ways, by turns in one run, down to the same
objective. The second prints log-log slopes: a slope of 1 means that twice the rows (or labels) take
twice as long. Times are processor seconds of one thread, which other work on the machine disturbs
least.

    python -m benchmarks.low_rank_speed
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from scipy import sparse
from threadpoolctl import threadpool_limits

from splmll.methods.canonical_autoencoder import C2AE
from splmll.methods.local_embeddings import SLEEC
from splmll.methods.low_rank import LEML

REPEATS = 3
TURNS = 10

# Rows, features, labels of the first table: the sizes of yeast, and a sixth of espgame.
SIZES = ((1500, 103, 14), (3000, 300, 100))

# The second table: one of the two grows, the other stays at its middle value.
ROWS, LABELS, FEATURES = (1000, 2000, 4000), (20, 40, 80), 50
EPOCHS, ROUNDS = 3, 20

METHODS: dict[str, Callable[[], object]] = {
    "LEML": lambda: LEML(0.5, max_iter=TURNS, tol=0.0),
    "LEML, logistic": lambda: LEML(0.5, loss="logistic", max_iter=2, tol=0.0),
    # One cluster: all pairs of rows are compared. With a cluster for every 6000 rows the growth
    # from there on is linear.
    "SLEEC, one cluster": lambda: SLEEC(20, n_clusters=1, max_iter=ROUNDS, random_state=0),
    "C2AE": lambda: C2AE(20, max_epochs=EPOCHS, patience=EPOCHS, random_state=0),
}


def make_data(n_rows: int, n_features: int, n_labels: int) -> tuple[np.ndarray, sparse.csr_array]:
    """Return features, and labels that depend on them through a few hidden directions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    signal = X @ rng.normal(size=(n_features, 10)) @ rng.normal(size=(10, n_labels))
    signal += signal.std() * rng.normal(size=signal.shape)
    cut = np.quantile(signal, 1 - min(0.3, 4.0 / n_labels))
    return X, sparse.csr_array((signal > cut).astype(np.float64))


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def compare_solvers() -> None:
    print(f"LEML, squared loss, {TURNS} turns; the objective of both, and their times")
    print(f"{'rows x features x labels':28}{'direct':>10}{'cg':>10}{'ratio':>8}")
    for size in SIZES:
        X, Y = make_data(*size)
        models = {
            solver: LEML(0.5, lam=10.0, solver=solver, max_iter=TURNS, tol=0.0)
            for solver in ("direct", "cg")
        }
        times: dict[str, list[float]] = {solver: [] for solver in models}
        for _ in range(REPEATS):
            for solver, model in models.items():
                times[solver].append(seconds(partial(model.fit, X, Y)))
        direct, iterative = min(times["direct"]), min(times["cg"])
        reached = [model.objective_[-1] for model in models.values()]
        np.testing.assert_allclose(reached[1], reached[0], rtol=1e-4)
        title = " x ".join(str(n) for n in size)
        print(
            f"{title:28}{direct:9.3f}s{iterative:9.3f}s{iterative / direct:7.1f}x"
            f"   objectives {reached[0]:.3f} and {reached[1]:.3f}",
            flush=True,
        )


def slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def measure_growth() -> None:
    middle_rows, middle_labels = ROWS[1], LABELS[1]
    print(f"\nGrowth of one fit: rows {ROWS} with {middle_labels} labels, labels {LABELS} with")
    print(f"{middle_rows} rows; {FEATURES} features")
    print(f"{'':22}{'by rows':>9}{'by labels':>11}{'largest':>10}")
    for name, make in METHODS.items():
        make().fit(*make_data(300, FEATURES, LABELS[0]))  # the first call of a library loads it
        by_rows = [fit_time(make, n_rows, middle_labels) for n_rows in ROWS]
        by_labels = [fit_time(make, middle_rows, n_labels) for n_labels in LABELS]
        print(
            f"{name:22}{slope(ROWS, by_rows):9.2f}{slope(LABELS, by_labels):11.2f}"
            f"{max(by_rows):9.2f}s",
            flush=True,
        )


def fit_time(make: Callable[[], object], n_rows: int, n_labels: int) -> float:
    X, Y = make_data(n_rows, FEATURES, n_labels)
    return min(seconds(lambda: make().fit(X, Y)) for _ in range(2))


if __name__ == "__main__":
    torch.set_num_threads(1)
    with threadpool_limits(1):
        compare_solvers()
        measure_growth()
