"""How close the pass over the rows comes to what the processor can do.

The pass forms X'X, X'Y and Y'Y of every fold. The limit is the same three products of the whole
matrices by plain BLAS calls (``syrk`` and ``gemm``) and, for sparse rows, by SciPy's product.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.generated import dense_problem, text_problem
from benchmarks.measuring import Finding, best, by_turns, main, median_ratio
from splmll.statistics import Statistics, fold_statistics

DENSE_SIZE, QUICK_DENSE_SIZE = (40_000, 1000, 268), (500, 30, 12)
SPARSE_SIZE, QUICK_SPARSE_SIZE = (40_000, 1836, 159), (500, 40, 12)
N_FOLDS = 5
FREQUENCY = 0.3
REPEATS = 5
TARGET = 0.7  # share of the plain products' rate


def products(X: Any, Y: Any) -> None:
    """The three products; NumPy calls ``syrk`` where both factors are the same matrix."""
    for left, right in ((X, X), (X, Y), (Y, Y)):
        left.T @ right


def floating_point_operations(X: Any, Y: Any) -> float:
    """Count multiplications and additions; of a symmetric product only one half."""
    if not sparse.issparse(X):
        (n, d), c = X.shape, Y.shape[1]
        return float(n) * (d * (d + 1) + 2 * d * c + c * (c + 1))
    x, y = (np.diff(table.indptr).astype(np.float64) for table in (X, Y))
    return float(2 * (x @ x + x @ y + y @ y))  # SciPy forms both halves


def problems(quick: bool) -> Iterator[tuple[str, Any, Any]]:
    size = QUICK_DENSE_SIZE if quick else DENSE_SIZE
    X, _ = dense_problem(*size)
    # Labels so frequent that the pass multiplies them as the plain products do: no zero is skipped.
    Y = (np.random.default_rng(0).random((size[0], size[2])) < FREQUENCY).astype(np.float64)
    yield "dense float64", X, Y
    yield "dense float32", X.astype(np.float32), Y
    yield "sparse text", *text_problem(*(QUICK_SPARSE_SIZE if quick else SPARSE_SIZE))


def measure(quick: bool) -> Iterator[Finding]:
    for title, X, Y in problems(quick):
        fold = np.arange(X.shape[0]) % N_FOLDS
        wide = X.astype(np.float64)  # both sides sum in double precision
        calls = {
            "plain": lambda X=wide, Y=Y: products(X, Y),
            "one pass": lambda X=X, Y=Y: Statistics.of(X, Y),
            f"one pass, {N_FOLDS} folds": lambda X=X, Y=Y, fold=fold: fold_statistics(X, Y, fold),
        }
        times = by_turns(calls, 1 if quick else REPEATS)
        operations = floating_point_operations(X, Y)
        shape = " x ".join(str(n) for n in (*X.shape, Y.shape[1]))
        for name in list(calls)[1:]:
            yield Finding(
                f"{title} {shape}: {name}",
                median_ratio(times, "plain", name),
                "of the plain products' rate",
                low=None if sparse.issparse(X) else TARGET,
                details={
                    "seconds": best(times)[name],
                    "gflops": operations / best(times)[name] / 1e9,
                    "plain_gflops": operations / best(times)["plain"] / 1e9,
                    "rows_per_second": X.shape[0] / best(times)[name],
                    "shape": [*X.shape, Y.shape[1]],
                },
            )


if __name__ == "__main__":
    main(measure, __doc__)
