"""Prediction: many rows at once and one row at a time, beside a bare matrix product.

The product is the one that every linear model needs: rows times a matrix of features by labels,
plus an offset.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.generated import dense_problem
from benchmarks.measuring import Finding, best, by_turns, main, median_ratio
from splmll import SPLMLL

SIZE, QUICK_SIZE = (20_000, 300, 268), (300, 20, 12)
REPEATS = 7
SINGLE_ROWS = 300  # how often one row is predicted


def measure(quick: bool) -> Iterator[Finding]:
    X, Y = dense_problem(*(QUICK_SIZE if quick else SIZE))
    rng = np.random.default_rng(0)
    weights, offset = rng.normal(size=(X.shape[1], Y.shape[1])), rng.normal(size=Y.shape[1])
    model = SPLMLL("linear", random_state=0).fit(X[:5000], Y[:5000])
    shape = " x ".join(str(n) for n in (*X.shape, Y.shape[1]))
    landmarks = f"{len(model.landmarks_)} landmarks"

    calls: dict[str, Any] = {
        "product": lambda: X @ weights + offset,
        "decision_function": lambda: model.decision_function(X),
        "predict_proba": lambda: model.predict_proba(X),
        "predict": lambda: model.predict(X),
    }
    times = by_turns(calls, 1 if quick else REPEATS)
    for name in list(calls)[1:]:
        yield Finding(
            f"{shape}, {landmarks}: {name} of all rows",
            median_ratio(times, name, "product"),
            "times the time of the product",
            details={
                "rows_per_second": len(X) / best(times)[name],
                "product_rows_per_second": len(X) / best(times)["product"],
            },
        )

    row = X[:1]
    row_calls: dict[str, Any] = {
        "product": lambda: row @ weights + offset,
        "decision_function": lambda: model.decision_function(row),
        "predict_proba": lambda: model.predict_proba(row),
        "predict": lambda: model.predict(row),
    }
    # A processor clock ticks too slowly for one row.
    single = by_turns(row_calls, 20 if quick else SINGLE_ROWS, clock=time.perf_counter)
    for name, spent in single.items():
        microseconds = float(np.median(spent)) * 1e6
        yield Finding(f"one row of {shape}: {name}", microseconds, "microseconds")


if __name__ == "__main__":
    main(measure, __doc__)
