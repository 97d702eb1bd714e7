"""LEML's exact updates beside conjugate gradients, and how the cost of three methods grows.

Both ways solve the same problem, by turns in one run, down to the same objective. Growth is a
log-log slope: 1 means that twice the rows (or labels) take twice as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.measuring import Finding, best, by_turns, main, median_ratio, slope
from splmll.methods.canonical_autoencoder import C2AE
from splmll.methods.local_embeddings import SLEEC
from splmll.methods.low_rank import LEML

REPEATS = 3
TURNS = 10

# Rows, features, labels of the first comparison: the sizes of yeast, and a sixth of espgame.
SIZES, QUICK_SIZES = ((1500, 103, 14), (3000, 300, 100)), ((150, 20, 8),)

# Growth: one of the two grows, the other stays at its middle value.
ROWS, LABELS, FEATURES = (1000, 2000, 4000), (20, 40, 80), 50
QUICK_ROWS, QUICK_LABELS = (100, 150), (22, 24)
EPOCHS, ROUNDS = 3, 20

METHODS: dict[str, Callable[[], Any]] = {
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


def measure(quick: bool) -> Iterator[Finding]:
    for size in QUICK_SIZES if quick else SIZES:
        X, Y = make_data(*size)
        models = {
            solver: LEML(0.5, ridge=10.0, solver=solver, max_iter=TURNS, tol=0.0)
            for solver in ("direct", "cg")
        }
        calls = {solver: partial(model.fit, X, Y) for solver, model in models.items()}
        times = by_turns(calls, 1 if quick else REPEATS)
        reached = [model.objective_[-1] for model in models.values()]
        np.testing.assert_allclose(reached[1], reached[0], rtol=1e-4)
        yield Finding(
            " x ".join(str(n) for n in size) + ": LEML's closed form beside conjugate gradients",
            median_ratio(times, "cg", "direct"),
            "times as fast",
            details={"seconds": best(times), "objectives": reached},
        )

    rows, labels = (QUICK_ROWS, QUICK_LABELS) if quick else (ROWS, LABELS)
    for name, make in METHODS.items():
        make().fit(*make_data(200, FEATURES, labels[0]))  # the first call of a library loads it
        by_rows = [fit_time(make, n_rows, labels[1]) for n_rows in rows]
        by_labels = [fit_time(make, rows[1], n_labels) for n_labels in labels]
        yield Finding(f"{name}: growth with rows, {rows}", slope(rows, by_rows), "slope")
        yield Finding(f"{name}: growth with labels, {labels}", slope(labels, by_labels), "slope")


def fit_time(make: Callable[[], Any], n_rows: int, n_labels: int) -> float:
    X, Y = make_data(n_rows, FEATURES, n_labels)
    return best(by_turns({"fit": lambda: make().fit(X, Y)}, repeats=2))["fit"]


if __name__ == "__main__":
    main(measure, __doc__)
