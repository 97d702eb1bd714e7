"""Ranking loss and average precision beside scikit-learn's, on data the size of espgame.

Prints how many times as fast ours are: the same numbers, one thread, one run. Times are processor
seconds, which other work on the machine disturbs least.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import label_ranking_average_precision_score, label_ranking_loss

from benchmarks.measuring import Finding, best, by_turns, main, median_ratio
from splmll.metrics import average_precision, ranking_loss

SIZE, QUICK_SIZE, CARDINALITY = (20_000, 268), (200, 20), 4.7
REPEATS = 3


def measure(quick: bool) -> Iterator[Finding]:
    n_rows, n_labels = QUICK_SIZE if quick else SIZE
    rng = np.random.default_rng(0)
    Y_dense = (rng.random((n_rows, n_labels)) < CARDINALITY / n_labels).astype(np.int64)
    forms: dict[str, Any] = {"dense Y": Y_dense, "sparse Y": sparse.csr_array(Y_dense)}
    scores = rng.random((n_rows, n_labels)) + 0.3 * Y_dense
    for title, ours, peer in (
        ("ranking loss", ranking_loss, label_ranking_loss),
        ("average precision", average_precision, label_ranking_average_precision_score),
    ):
        for form, Y in forms.items():
            calls = {"peer": partial(peer, Y, scores), "ours": partial(ours, Y, scores)}
            np.testing.assert_allclose(calls["ours"](), calls["peer"](), rtol=0, atol=1e-12)
            times = by_turns(calls, 1 if quick else REPEATS)
            yield Finding(
                f"{n_rows} x {n_labels}: {title}, {form}, beside scikit-learn's",
                median_ratio(times, "peer", "ours"),
                "times as fast",
                details={"seconds": best(times)},
            )


if __name__ == "__main__":
    main(measure, __doc__)
