"""SPLMLL with a linear embedding beside what else one would pick: fit plus prediction on tmc2007.

Peers: one logistic regression per label (``OneVsRestClassifier``), and label powerset, RAkEL and
ML-kNN of scikit-multilearn-ng. The first two of these have ``BernoulliNB``, a learner that costs
next to nothing, as base. Each side predicts the same test rows; micro-F1 stands beside the time.
"Given ridge" tunes nothing, as the peers do; "tuned" chooses ridge, pull, landmarks and threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB

from benchmarks.generated import text_problem
from benchmarks.measuring import Finding, best, by_turns, main, median_ratio, missing
from benchmarks.ridge_speed import given_ridge
from splmll import SPLMLL, load_dataset
from splmll.exceptions import DatasetError
from splmll.metrics import micro_f1

DATA = "tmc2007"
QUICK_SIZE = (300, 60, 6)
REPEATS = 3
LABEL_SET_SIZE = 3  # of RAkEL, with twice as many groups as labels
OURS = ("SPLMLL, given ridge", "SPLMLL, tuned")
LOGISTIC = "OneVsRestClassifier(LogisticRegression)"
TARGETS = {LOGISTIC: 20.0}  # times as fast as this peer

Split = tuple[str, Any, np.ndarray, Any, np.ndarray]


def problem(quick: bool) -> Split:
    """Sparse features, dense labels."""
    if not quick:
        try:
            X, Y, X_test, Y_test = load_dataset(DATA).split()
            Y, Y_test = (y.toarray() if sparse.issparse(y) else y for y in (Y, Y_test))
            X, X_test = (sparse.csr_matrix(x) for x in (X, X_test))
            return DATA, X, np.asarray(Y, dtype=np.int64), X_test, np.asarray(Y_test)
        except DatasetError:
            pass
    X, Y = text_problem(*(QUICK_SIZE if quick else (28_000, 500, 22)))
    X, labels, n = sparse.csr_matrix(X), Y.toarray().astype(np.int64), 3 * X.shape[0] // 4
    return "generated text", X[:n], labels[:n], X[n:], labels[n:]


def contestants(n_labels: int) -> dict[str, Callable[[], Any]]:
    """Return what makes each contestant."""
    made: dict[str, Callable[[], Any]] = {
        OURS[0]: given_ridge,
        OURS[1]: lambda: SPLMLL("linear", random_state=0),
        LOGISTIC: lambda: OneVsRestClassifier(LogisticRegression(max_iter=1000)),
    }
    try:
        from skmultilearn.adapt import MLkNN
        from skmultilearn.ensemble import RakelO
        from skmultilearn.problem_transform import LabelPowerset
    except ImportError:
        return made
    return made | {
        "scikit-multilearn-ng's LP": lambda: LabelPowerset(BernoulliNB()),
        "scikit-multilearn-ng's RAkEL": lambda: RakelO(
            BernoulliNB(),
            model_count=2 * n_labels,
            labelset_size=LABEL_SET_SIZE,
            base_classifier_require_dense=[False, True],
        ),
        "scikit-multilearn-ng's MLkNN": lambda: MLkNN(k=10),
    }


def measure(quick: bool) -> Iterator[Finding]:
    title, X, Y, X_test, Y_test = problem(quick)
    made = contestants(Y.shape[1])
    quality: dict[str, float] = {}

    def fit_and_predict(name: str) -> None:
        predicted = made[name]().fit(X, Y).predict(X_test)
        predicted = predicted.toarray() if sparse.issparse(predicted) else predicted
        quality[name] = micro_f1(Y_test, np.asarray(predicted, dtype=np.int64))

    times = by_turns(
        {name: partial(fit_and_predict, name) for name in made}, 1 if quick else REPEATS
    )
    for ours, peer in product(OURS, list(made)[len(OURS) :]):
        yield Finding(
            f"{title}: {ours}, beside {peer}",
            median_ratio(times, peer, ours),
            f"times as fast (micro-F1 {quality[ours]:.3f} and {quality[peer]:.3f})",
            low=TARGETS.get(peer),
            details={"seconds": best(times)[ours], "peer_seconds": best(times)[peer]},
        )
    if len(made) == len(OURS) + 1:
        yield missing(f"{title}: SPLMLL beside LP, RAkEL and MLkNN", "scikit-multilearn-ng")


if __name__ == "__main__":
    main(measure, __doc__)
