"""Binary relevance, a chain and ML-kNN beside scikit-multilearn-ng's, and one row at a time.

Fit and predict_proba, with the same base learner where there is one: binary relevance, one chain
in the order of the labels, and ML-kNN with unscaled features as theirs. Then what it costs to
predict a single row, as a multiple of one prediction of one base learner. Times are processor
seconds on one thread, the two sides by turns in one run.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from skmultilearn import problem_transform
from skmultilearn.adapt import MLkNN as TheirMLkNN
from threadpoolctl import threadpool_limits

from splmll.datasets import load_dataset
from splmll.methods import BinaryRelevance, EnsembleOfClassifierChains, MLkNN, RAkEL

GENERATED = "generated"
N_ROWS, N_FEATURES, N_LABELS = 50_000, 100, 50
CONTESTS = ["binary relevance", "one chain", "ML-kNN"]
MOST_ROWS = 10_000  # of real data sets
SINGLE_ROWS = 200  # how often a single row is predicted


def read(name: str) -> tuple[Any, np.ndarray]:
    """Standardised features (sparse ones not centred) and labels."""
    if name == GENERATED:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(N_ROWS, N_FEATURES))
        signal = X @ rng.normal(size=(N_FEATURES, N_LABELS)) / np.sqrt(N_FEATURES)
        noise = rng.normal(size=(N_ROWS, N_LABELS))
        return X, (signal + noise > rng.uniform(0.5, 2.5, N_LABELS)).astype(np.int64)
    X, Y, _, _ = load_dataset(name).split()
    X, Y = X[:MOST_ROWS], Y[:MOST_ROWS]
    Y = Y.toarray() if sparse.issparse(Y) else Y
    scaler = StandardScaler(with_mean=not sparse.issparse(X))
    return scaler.fit_transform(X), np.asarray(Y, dtype=np.int64)


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def fit_and_score(model: Any, X: Any, Y: np.ndarray) -> np.ndarray:
    scores = model.fit(X, Y).predict_proba(X)
    return scores.toarray() if sparse.issparse(scores) else scores


def against_peer(name: str, repeats: int, chosen: list[str]) -> list[dict]:
    X, Y = read(name)
    varied = (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)  # the peers refuse constant labels
    Y = Y[:, varied]
    learner = LogisticRegression(max_iter=1000)
    order = list(range(Y.shape[1]))
    dense = [not sparse.issparse(X), True]
    contests: dict[str, tuple[Any, Any]] = {
        "one chain": (
            EnsembleOfClassifierChains(learner, n_chains=1, bootstrap=False, order=order),
            problem_transform.ClassifierChain(learner, require_dense=dense, order=order),
        ),
        "binary relevance": (
            BinaryRelevance(learner),
            problem_transform.BinaryRelevance(learner, require_dense=dense),
        ),
    }
    contests["ML-kNN"] = (
        MLkNN(10, scale=None),
        # Without this option every training row is its own neighbour.
        TheirMLkNN(k=10, ignore_first_neighbours=1),
    )
    X_peer = sparse.csr_matrix(X) if sparse.issparse(X) else X  # they know no sparse arrays
    rows = []
    for title in chosen:
        ours, peer = contests[title]
        our_times, peer_times = [], []
        for _ in range(repeats):
            peer_time, peer_scores = seconds(partial(fit_and_score, peer, X_peer, Y))
            our_time, our_scores = seconds(partial(fit_and_score, ours, X, Y))
            peer_times.append(peer_time)
            our_times.append(our_time)
        row = {
            "data": name,
            "contest": title,
            "ours_seconds": min(our_times),
            "peer_seconds": min(peer_times),
            "ratio": min(peer_times) / min(our_times),
            "largest_difference": float(np.abs(our_scores - peer_scores).max()),
        }
        print(
            f"{name:10s} {title:17s} ours {row['ours_seconds']:7.2f} s  peer "
            f"{row['peer_seconds']:7.2f} s  {row['ratio']:5.2f} times as fast  (scores differ by "
            f"{row['largest_difference']:.0e})",
            flush=True,
        )
        rows.append(row)
    return rows


def single_rows(name: str) -> list[dict]:
    X, Y = read(name)
    learner = LogisticRegression(max_iter=1000).fit(X, Y[:, 0])
    models = {
        "one base learner": learner,
        "BinaryRelevance": BinaryRelevance().fit(X, Y),
        "MLkNN": MLkNN().fit(X, Y),
        "RAkEL": RAkEL(random_state=0).fit(X, Y),
        "one chain": EnsembleOfClassifierChains(n_chains=1, random_state=0).fit(X, Y),
        "ten chains": EnsembleOfClassifierChains(random_state=0).fit(X, Y),
    }
    times: dict[str, list[float]] = {title: [] for title in models}
    for row in range(SINGLE_ROWS):
        for title, model in models.items():
            times[title].append(seconds(partial(model.predict, X[[row]]))[0])
    base = float(np.median(times["one base learner"]))
    rows = []
    for title, spent in times.items():
        middle = float(np.median(spent))
        rows.append(
            {"data": name, "single_row": title, "seconds": middle, "multiple": middle / base}
        )
        print(f"{name:10s} one row, {title:17s} {middle * 1e6:8.0f} us  {middle / base:6.1f} x")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["yeast", "tmc2007", GENERATED])
    parser.add_argument("--contests", nargs="*", default=CONTESTS, choices=CONTESTS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=None, help="write JSON here")
    options = parser.parse_args()
    rows = []
    with threadpool_limits(1):
        for name in options.data:
            rows += against_peer(name, options.repeats, options.contests)
        for name in options.data:
            if name != GENERATED:
                rows += single_rows(name)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
