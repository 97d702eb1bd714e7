"""Multi-label stratified folds beside the package iterative-stratification: speed and balance.

LD is the mean difference between the odds of a label in a fold and in all data, LPD the same for
pairs of labels that occur together (Sechidis et al. 2011, Szymanski and Kajdanowicz 2017).
Times are processor seconds of one thread, which other work on the machine disturbs least.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold as PeerKFold
from scipy import sparse
from threadpoolctl import threadpool_limits

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


def compare(title: str, Y: npt.NDArray[Any], seeds: range) -> None:
    ours = np.mean(
        [balance(Y, MultilabelStratifiedKFold(N_FOLDS, random_state=s)) for s in seeds], 0
    )
    peer = np.mean([balance(Y, PeerKFold(N_FOLDS, shuffle=True, random_state=s)) for s in seeds], 0)
    print(
        f"{title:24}{ours[0]:10.2e}{peer[0]:10.2e}{ours[1]:10.2e}{peer[1]:10.2e}"
        f"{ours[2]:8.1f}{peer[2]:6.1f}{ours[3]:8.2f}s{peer[3]:7.2f}s{peer[3] / ours[3]:7.1f}x"
    )


def main() -> None:
    print(f"{N_FOLDS} folds; each pair of columns is ours, then iterative-stratification's")
    print(f"{'':24}{'LD':>20}{'LPD':>20}{'size range':>14}{'time':>17}{'ratio':>8}")
    for name in REAL:
        try:
            Y = load_dataset(name).Y
        except DatasetError as error:
            print(f"{name:24} left out: {error}")
            continue
        Y = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
        compare(name, Y.astype(np.int8), range(3))
    compare("random 5000 x 60", random_labels(5000, 60, 4.0), range(3))
    compare("random 300000 x 200", random_labels(300_000, 200, 4.0), range(1))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
