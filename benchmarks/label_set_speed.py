"""Label powerset and RAkEL beside scikit-multilearn-ng, with the same base learner on both sides.

Prints how many times as fast ours are: fit plus ``predict_proba`` for label powerset, fit plus
``predict`` for RAkEL, whose counterpart gives no probabilities. Both RAkELs use the same groups of
labels, and times are processor seconds on one thread, by turns in one run. The last column is the
share of equal outputs: labels with exactly half of the votes are predicted by ours alone. Neither
side can make a base learner itself faster: where its fit takes nearly all the time, as with trees
or logistic regression on many rows, both cost nearly the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier
from skmultilearn.cluster import FixedLabelSpaceClusterer
from skmultilearn.ensemble import MajorityVotingClassifier
from skmultilearn.problem_transform import LabelPowerset as TheirLabelPowerset
from threadpoolctl import threadpool_limits

from splmll import load_dataset
from splmll.methods import LabelPowerset, RAkEL
from splmll.methods._base_learner import with_seed

LEARNERS = {
    "gaussian": GaussianNB(),
    "bernoulli": BernoulliNB(),
    "tree": DecisionTreeClassifier(max_depth=8, random_state=0),
    "logistic": LogisticRegression(max_iter=50, tol=1e-3),
}

PREDICTED_ROWS = 10_000
# For probabilities, the other side visits every row, label set and label in a Python loop.
PREDICTED_ROWS_LP = 1000
TMC_ROWS = 10_000

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


def generated(n_rows: int = 50_000, n_features: int = 100, n_labels: int = 50) -> Problem:
    """Rows around 300 centres, each with its own set of labels, three on average."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(300, n_features))
    sets = (rng.random((300, n_labels)) < 3 / n_labels).astype(np.int64)
    centre = rng.integers(300, size=n_rows + PREDICTED_ROWS)
    X = centres[centre] + rng.normal(size=(len(centre), n_features))
    return X[:n_rows], sets[centre[:n_rows]], X[n_rows:]


def problem(name: str) -> Problem:
    if name == "generated":
        return generated()
    X, Y, X_test, _ = load_dataset(name).split()
    rows = TMC_ROWS if name == "tmc2007" else X.shape[0]
    X, Y, X_test = (
        np.asarray(table.toarray() if sparse.issparse(table) else table)
        for table in (X[:rows], Y[:rows], X_test[:PREDICTED_ROWS])
    )
    return X, Y.astype(np.int64), X_test


def label_powersets(base: Any, data: Problem) -> tuple[Callable, Callable]:
    X, Y, X_test = data
    X_test = X_test[:PREDICTED_ROWS_LP]

    def ours() -> np.ndarray:
        return LabelPowerset(base, random_state=0).fit(X, Y).predict_proba(X_test)

    def theirs() -> np.ndarray:
        model = TheirLabelPowerset(with_seed(base, 0), require_dense=[True, True])
        return model.fit(X, Y).predict_proba(X_test).toarray()

    return ours, theirs


def rakels(base: Any, data: Problem) -> tuple[Callable, Callable]:
    X, Y, X_test = data
    groups = [labels.tolist() for labels in RAkEL(random_state=0)._draw(Y.shape[1])]

    def ours() -> np.ndarray:
        return RAkEL(base, voting="hard", random_state=0).fit(X, Y).predict(X_test)

    def theirs() -> np.ndarray:
        model = MajorityVotingClassifier(
            classifier=TheirLabelPowerset(with_seed(base, 0), require_dense=[True, True]),
            clusterer=FixedLabelSpaceClusterer(clusters=groups),
            require_dense=[False, False],
        )
        return model.fit(X, Y).predict(X_test).toarray()

    return ours, theirs


def measure(ours: Callable, theirs: Callable, repeats: int) -> tuple[float, float, float]:
    """Return the shortest time of each, called by turns, and the share of equal outputs."""
    our_times, their_times = [], []
    for _ in range(repeats):
        for call, times in ((ours, our_times), (theirs, their_times)):
            start = time.process_time()
            output = call()
            times.append(time.process_time() - start)
            if call is ours:
                our_output = output
    agreement = float(np.isclose(our_output, output, rtol=0, atol=1e-6).mean())
    return min(our_times), min(their_times), agreement


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["yeast", "tmc2007", "generated"])
    parser.add_argument("--learners", nargs="+", default=["bernoulli"], choices=sorted(LEARNERS))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{'':36}{'ours':>9}{'theirs':>9}{'ratio':>8}{'equal':>8}")
    for name in options.data:
        data = problem(name)
        for learner in options.learners:
            for method, pair in (("LP", label_powersets), ("RAkEL", rakels)):
                ours, theirs, equal = measure(*pair(LEARNERS[learner], data), options.repeats)
                title = f"{method}, {learner}, {name} {data[0].shape[0]} rows"
                times = f"{ours:8.2f}s{theirs:8.2f}s"
                print(f"{title:36}{times}{theirs / ours:7.1f}x{equal:8.2%}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
