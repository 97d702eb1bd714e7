"""Label-space reduction beside one multi-output ridge of scikit-learn, and how its cost grows.

Prints how many ridge fits a fit of each method costs on data the size of espgame, and the slopes of
log cost against log rows and log labels. One thread; times are CPU seconds, which other work
on the machine disturbs least, the shortest of several called by turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge

from benchmarks.generated import dense_problem
from benchmarks.measuring import Finding, best, by_turns, main, median_ratio, slope
from splmll.methods.column_subset import MLCSSP
from splmll.methods.conditional_label_space import CPLST
from splmll.methods.group_sparse_landmarks import MOPLMS
from splmll.methods.implicit_encoding import FaIE
from splmll.methods.principal_label_space import PLST
from splmll.methods.random_label_subset import PBR

SIZE, QUICK_SIZE = (20_000, 1000, 268), (200, 20, 12)
REPEATS = 3

SWEEP_ROWS, QUICK_ROWS = (2000, 4000, 8000, 16_000), (100, 200)
SWEEP_LABELS, QUICK_LABELS = (50, 100, 200, 400), (10, 20)
# The sizes that stay as they are while the other one grows.
SWEEP_FEATURES, FIXED_ROWS, FIXED_LABELS = 200, 4000, 50
QUICK_FIXED = (15, 100, 10)

METHODS: dict[str, Any] = {
    "PLST": PLST(),
    "CPLST": CPLST(),
    "FaIE": FaIE(),
    "MOPLMS": MOPLMS(),
    "ML-CSSP": MLCSSP(random_state=0),
    "PBR": PBR(random_state=0),
}


def fits(X: np.ndarray, Y: Any) -> dict[str, Callable[[], Any]]:
    """Return a call that fits each method."""
    return {
        name: lambda method=method: clone(method).fit(X, Y)  # type: ignore[misc]
        for name, method in METHODS.items()
    }


def measure(quick: bool) -> Iterator[Finding]:
    repeats = 1 if quick else REPEATS
    size = QUICK_SIZE if quick else SIZE
    title = " x ".join(str(n) for n in size)
    X, Y = dense_problem(*size)
    as_float = Y.astype(np.float64)
    calls: dict[str, Callable[[], Any]] = {"ridge": lambda: Ridge().fit(X, as_float)}
    calls |= {f"{name}, dense Y": call for name, call in fits(X, Y).items()}
    calls |= {f"{name}, sparse Y": call for name, call in fits(X, sparse.csr_array(Y)).items()}
    times = by_turns(calls, repeats)
    for name in list(calls)[1:]:
        ratio = median_ratio(times, name, "ridge")
        seconds = {"seconds": best(times)[name]}
        yield Finding(f"{title}: {name}", ratio, "times the time of Ridge", details=seconds)

    features, rows, labels = QUICK_FIXED if quick else (SWEEP_FEATURES, FIXED_ROWS, FIXED_LABELS)
    for what, sizes, shape in (
        ("rows", QUICK_ROWS if quick else SWEEP_ROWS, lambda n: (n, features, labels)),
        ("labels", QUICK_LABELS if quick else SWEEP_LABELS, lambda c: (rows, features, c)),
    ):
        found = [best(by_turns(fits(*dense_problem(*shape(n))), repeats)) for n in sizes]
        for name in METHODS:
            costs = [one[name] for one in found]
            yield Finding(f"{name}: growth with {what}, {sizes}", slope(sizes, costs), "slope")


if __name__ == "__main__":
    main(measure, __doc__)
