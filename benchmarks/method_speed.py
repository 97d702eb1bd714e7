"""Binary relevance, a chain and ML-kNN beside scikit-multilearn-ng's, and one row at a time.

Fit and predict_proba, with the same base learner where there is one: binary relevance, one chain
in the order of the labels, and ML-kNN with unscaled features as theirs. Then what it costs to
predict a single row, as a multiple of one prediction of one base learner. Times are processor
seconds on one thread, the two sides by turns in one run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from skmultilearn import problem_transform
from skmultilearn.adapt import MLkNN as TheirMLkNN

from benchmarks.measuring import Finding, best, by_turns, main, median_ratio
from splmll.datasets import load_dataset
from splmll.methods import BinaryRelevance, EnsembleOfClassifierChains, MLkNN, RAkEL

GENERATED, TINY = "generated", "tiny"
SIZES = {GENERATED: (50_000, 100, 50), TINY: (200, 10, 6)}
DATA = ("yeast", "tmc2007", GENERATED)
REPEATS = 3
MOST_ROWS = 10_000  # of real data sets
SINGLE_ROWS = 200  # how often a single row is predicted


def read(name: str) -> tuple[Any, np.ndarray]:
    """Standardised features (sparse ones not centred) and labels."""
    if name in SIZES:
        n_rows, n_features, n_labels = SIZES[name]
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, n_features))
        signal = X @ rng.normal(size=(n_features, n_labels)) / np.sqrt(n_features)
        noise = rng.normal(size=(n_rows, n_labels))
        return X, (signal + noise > rng.uniform(0.5, 2.5, n_labels)).astype(np.int64)
    X, Y, _, _ = load_dataset(name).split()
    X, Y = X[:MOST_ROWS], Y[:MOST_ROWS]
    Y = Y.toarray() if sparse.issparse(Y) else Y
    scaler = StandardScaler(with_mean=not sparse.issparse(X))
    return scaler.fit_transform(X), np.asarray(Y, dtype=np.int64)


def fit_and_score(model: Any, X: Any, Y: np.ndarray) -> np.ndarray:
    scores = model.fit(X, Y).predict_proba(X)
    return scores.toarray() if sparse.issparse(scores) else scores


def against_peer(name: str, repeats: int) -> Iterator[Finding]:
    X, Y = read(name)
    varied = (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)  # the peers refuse constant labels
    Y = Y[:, varied]
    learner = LogisticRegression(max_iter=1000)
    order = list(range(Y.shape[1]))
    dense = [not sparse.issparse(X), True]
    contests: dict[str, tuple[Any, Any]] = {
        "one chain": (
            EnsembleOfClassifierChains(learner, n_estimators=1, bootstrap=False, order=order),
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
    for title, (ours, peer) in contests.items():
        calls = {
            "peer": partial(fit_and_score, peer, X_peer, Y),
            "ours": partial(fit_and_score, ours, X, Y),
        }
        times = by_turns(calls, repeats)
        difference = float(np.abs(calls["ours"]() - calls["peer"]()).max())
        yield Finding(
            f"{name}: {title} beside scikit-multilearn-ng's",
            median_ratio(times, "peer", "ours"),
            f"times as fast (scores differ by {difference:.0e})",
            details={"seconds": best(times), "largest_difference": difference},
        )


def single_rows(name: str, repeats: int) -> Iterator[Finding]:
    X, Y = read(name)
    learner = LogisticRegression(max_iter=1000).fit(X, Y[:, 0])
    models = {
        "one base learner": learner,
        "BinaryRelevance": BinaryRelevance().fit(X, Y),
        "MLkNN": MLkNN().fit(X, Y),
        "RAkEL": RAkEL(random_state=0).fit(X, Y),
        "one chain": EnsembleOfClassifierChains(n_estimators=1, random_state=0).fit(X, Y),
        "ten chains": EnsembleOfClassifierChains(random_state=0).fit(X, Y),
    }
    calls = {title: partial(model.predict, X[[0]]) for title, model in models.items()}
    times = by_turns(calls, repeats)
    for title in models:
        yield Finding(
            f"{name}: one row, {title}",
            median_ratio(times, title, "one base learner"),
            "times one base learner",
            details={"seconds": float(np.median(times[title]))},
        )


def measure(quick: bool) -> Iterator[Finding]:
    for name in (TINY,) if quick else DATA:
        yield from against_peer(name, 1 if quick else REPEATS)
    for name in (TINY,) if quick else DATA:
        if name != GENERATED:
            yield from single_rows(name, 3 if quick else SINGLE_ROWS)


if __name__ == "__main__":
    main(measure, __doc__)
