"""Multi-label stratified folds beside the package iterative-stratification: speed and balance.

LD is the mean difference between the odds of a label in a fold and in all data, LPD the same for
pairs of labels that occur together (Sechidis et al. 2011, Szymanski and Kajdanowicz 2017).
Times are CPU seconds of one thread, which other work on the machine disturbs least.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold as PeerKFold
from scipy import sparse

from benchmarks.measuring import Finding, main
from splmll.datasets import load_dataset
from splmll.exceptions import DatasetError
from splmll.model_selection.stratification import MultilabelStratifiedKFold

N_FOLDS = 5
REAL = ("emotions", "yeast", "tmc2007", "corel5k", "espgame-densehue")


def random_labels(n_rows: int, n_labels: int, cardinality: float) -> npt.NDArray[np.int8]:
    """Return independent labels whose frequencies fall like those of tags."""
    rng = np.random.default_rng(0)
    frequency = np.arange(1, n_labels + 1) ** -0.8
    frequency *= cardinality / frequency.sum()
    return (rng.random((n_rows, n_labels)) < frequency).astype(np.int8)


def balance(Y: Any, splitter: Any) -> tuple[float, float, int, float]:
    """Return LD, LPD, the difference of the largest and smallest fold, and the seconds taken."""
    start = time.process_time()
    tests = [test for _, test in splitter.split(np.zeros(Y.shape[0]), Y)]
    seconds = time.process_time() - start
    labels = sparse.csr_array(Y.astype(np.float64))
    upper = np.triu_indices(Y.shape[1], 1)

    def odds(rows: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        part = labels[rows]
        together = (part.T @ part).toarray()
        singles, pairs = together.diagonal(), together[upper]
        return singles / (part.shape[0] - singles), pairs / (part.shape[0] - pairs)

    label_odds, pair_odds = odds(np.arange(Y.shape[0]))
    seen, seen_pairs = label_odds > 0, pair_odds > 0
    of_folds = [odds(test) for test in tests]
    ld = np.mean([np.abs(of_fold - label_odds)[seen].mean() for of_fold, _ in of_folds])
    lpd = np.mean([np.abs(of_fold - pair_odds)[seen_pairs].mean() for _, of_fold in of_folds])
    sizes = [test.size for test in tests]
    return float(ld), float(lpd), max(sizes) - min(sizes), seconds


def measure(quick: bool) -> Iterator[Finding]:
    for title, Y, seeds in problems(quick):
        ours, peer = (
            np.mean([balance(Y, make(seed)) for seed in seeds], axis=0)
            for make in (
                lambda seed: MultilabelStratifiedKFold(N_FOLDS, random_state=seed),
                lambda seed: PeerKFold(N_FOLDS, shuffle=True, random_state=seed),
            )
        )
        names = ("label_distribution", "label_pair_distribution", "size_range", "seconds")
        yield Finding(
            f"{title}: {N_FOLDS} folds beside iterative-stratification",
            peer[3] / ours[3],
            f"times as fast (LD {ours[0]:.1e} and {peer[0]:.1e}, LPD {ours[1]:.1e} and "
            f"{peer[1]:.1e}, sizes differ by {ours[2]:.1f} and {peer[2]:.1f})",
            details={
                "ours": dict(zip(names, ours.tolist(), strict=True)),
                "peer": dict(zip(names, peer.tolist(), strict=True)),
            },
        )


def problems(quick: bool) -> Iterator[tuple[str, npt.NDArray[Any], range]]:
    if quick:
        yield "random 200 x 10", random_labels(200, 10, 2.0), range(1)
        return
    for name in REAL:
        try:
            Y = load_dataset(name).Y
        except DatasetError as error:
            print(f"{name} left out: {error}")
            continue
        Y = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
        yield name, Y.astype(np.int8), range(3)
    yield "random 5000 x 60", random_labels(5000, 60, 4.0), range(3)
    yield "random 300000 x 200", random_labels(300_000, 200, 4.0), range(1)


if __name__ == "__main__":
    main(measure, __doc__)
