"""Label-space reduction beside one multi-output ridge of scikit-learn, and how its cost grows.

Prints how many ridge fits a fit of each method costs on data the size of espgame, and the slopes of
log cost against log rows and log labels. One thread; times are processor seconds, which other work
on the machine disturbs least, the shortest of several called by turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from splmll.methods.column_subset import MLCSSP
from splmll.methods.conditional_label_space import CPLST
from splmll.methods.group_sparse_landmarks import MOPLMS
from splmll.methods.implicit_encoding import FaIE
from splmll.methods.principal_label_space import PLST
from splmll.methods.random_label_subset import PBR

N_ROWS, N_FEATURES, N_LABELS, CARDINALITY = 20_000, 1000, 268, 4.7
REPEATS = 3

SWEEP_ROWS = (2000, 4000, 8000, 16_000)
SWEEP_LABELS = (50, 100, 200, 400)
# The sizes that stay as they are while the other one grows.
SWEEP_FEATURES, FIXED_ROWS, FIXED_LABELS = 200, 4000, 50

METHODS: dict[str, Any] = {
    "PLST": PLST(),
    "CPLST": CPLST(),
    "FaIE": FaIE(),
    "MOPLMS": MOPLMS(),
    "ML-CSSP": MLCSSP(random_state=0),
    "PBR": PBR(random_state=0),
}


def make_problem(n_rows: int, n_features: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Features, and labels that depend on them through ten directions; frequencies fall off."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    signal = X @ rng.normal(size=(n_features, 10)) / np.sqrt(n_features)
    signal = signal @ rng.normal(size=(10, n_labels)) / np.sqrt(10)
    signal += 0.5 * rng.normal(size=signal.shape)
    frequency = 1.0 / np.arange(2, n_labels + 2)
    frequency *= CARDINALITY / frequency.sum()
    return X, (signal > np.quantile(signal, 1 - frequency, axis=0).diagonal()).astype(np.int8)


def best_times(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the shortest processor time of each call, all called by turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(REPEATS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name].append(time.process_time() - start)
    return {name: min(found) for name, found in times.items()}


def fits(X: np.ndarray, Y: Any) -> dict[str, Callable[[], Any]]:
    """Return a call that fits each method."""
    return {
        name: lambda method=method: clone(method).fit(X, Y)  # type: ignore[misc]
        for name, method in METHODS.items()
    }


def against_ridge() -> None:
    X, Y = make_problem(N_ROWS, N_FEATURES, N_LABELS)
    as_float = Y.astype(np.float64)
    calls: dict[str, Callable[[], Any]] = {"ridge": lambda: Ridge().fit(X, as_float)}
    calls |= {f"{name}, dense Y": call for name, call in fits(X, Y).items()}
    calls |= {f"{name}, sparse Y": call for name, call in fits(X, sparse.csr_array(Y)).items()}
    times = best_times(calls)
    print(f"{N_ROWS} x {N_FEATURES} x {N_LABELS}, {Y.sum(axis=1).mean():.2f} labels a row")
    print(f"{'':22}{'seconds':>8}{'ridge fits':>12}")
    for name, seconds in times.items():
        print(f"{name:22}{seconds:8.2f}{seconds / times['ridge']:11.2f}x")


def growth() -> None:
    print(f"\nslope of log cost, {SWEEP_FEATURES} features")
    by_rows = {
        n: best_times(fits(*make_problem(n, SWEEP_FEATURES, FIXED_LABELS))) for n in SWEEP_ROWS
    }
    by_labels = {
        c: best_times(fits(*make_problem(FIXED_ROWS, SWEEP_FEATURES, c))) for c in SWEEP_LABELS
    }
    print(f"{'':10}{'rows ' + _range(SWEEP_ROWS):>20}{'labels ' + _range(SWEEP_LABELS):>20}")
    for name in METHODS:
        print(f"{name:10}{slope(by_rows, name):20.2f}{slope(by_labels, name):20.2f}")


def slope(sweep: dict[int, dict[str, float]], name: str) -> float:
    """Return the slope of the line through log cost against log size."""
    costs = [found[name] for found in sweep.values()]
    return float(np.polyfit(np.log(list(sweep)), np.log(costs), 1)[0])


def _range(sizes: tuple[int, ...]) -> str:
    return f"{sizes[0]}-{sizes[-1]}"


if __name__ == "__main__":
    with threadpool_limits(1):
        against_ridge()
        growth()
