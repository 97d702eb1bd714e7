"""Ranking loss and average precision beside scikit-learn's, on data the size of espgame.

Prints how many times as fast ours are: the same numbers, one thread, one run. Times are processor
seconds, which other work on the machine disturbs least.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.metrics import label_ranking_average_precision_score, label_ranking_loss
from threadpoolctl import threadpool_limits

from splmll.metrics import average_precision, ranking_loss

N_ROWS, N_LABELS, CARDINALITY = 20_000, 268, 4.7
REPEATS = 3


def best_times(
    ours: Callable[[], float], peer: Callable[[], float]
) -> tuple[float, float, float, float]:
    """Return the shortest time of each, called by turns, and what they return."""
    our_times, peer_times = [], []
    for _ in range(REPEATS):
        start = time.process_time()
        peer_value = peer()
        peer_times.append(time.process_time() - start)
        # Ours is over so soon that one call between two of the peer could meet a busy moment.
        for _ in range(REPEATS):
            start = time.process_time()
            our_value = ours()
            our_times.append(time.process_time() - start)
    return min(our_times), min(peer_times), our_value, peer_value


def main() -> None:
    rng = np.random.default_rng(0)
    Y_dense = (rng.random((N_ROWS, N_LABELS)) < CARDINALITY / N_LABELS).astype(np.int64)
    Y_sparse = sparse.csr_array(Y_dense)
    scores = rng.random((N_ROWS, N_LABELS)) + 0.3 * Y_dense
    print(f"{N_ROWS} x {N_LABELS}, {Y_dense.sum(axis=1).mean():.2f} labels a row, one thread")
    print(f"{'':28}{'ours':>10}{'sklearn':>10}{'ratio':>8}")
    for title, ours, peer in (
        ("ranking loss", ranking_loss, label_ranking_loss),
        ("average precision", average_precision, label_ranking_average_precision_score),
    ):
        for form, Y in (("dense Y", Y_dense), ("sparse Y", Y_sparse)):
            our_time, peer_time, our_value, peer_value = best_times(
                partial(ours, Y, scores), partial(peer, Y, scores)
            )
            np.testing.assert_allclose(our_value, peer_value, rtol=0, atol=1e-12)
            ratio = peer_time / our_time
            times = f"{our_time * 1e3:8.1f}ms{peer_time * 1e3:8.0f}ms"
            print(f"{title + ', ' + form:28}{times}{ratio:7.1f}x")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
