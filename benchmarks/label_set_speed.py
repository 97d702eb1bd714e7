"""Label powerset and RAkEL beside scikit-multilearn-ng, with the same base learner on both sides.

Prints how many times as fast ours are: fit plus ``predict_proba`` for label powerset, fit plus
``predict`` for RAkEL, whose counterpart gives no probabilities. Both RAkELs use the same groups of
labels, and times are CPU seconds on one thread, by turns in one run. The last column is the
share of equal outputs: labels with exactly half of the votes are predicted by ours alone. Neither
side can make a base learner itself faster: where its fit takes nearly all the time, as with trees
or logistic regression on many rows, both cost nearly the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier
from skmultilearn.cluster import FixedLabelSpaceClusterer
from skmultilearn.ensemble import MajorityVotingClassifier
from skmultilearn.problem_transform import LabelPowerset as TheirLabelPowerset

from benchmarks.measuring import Finding, best, by_turns, main, median_ratio
from splmll import load_dataset
from splmll.methods import LabelPowerset, RAkEL
from splmll.methods._base_learner import with_seed

LEARNERS = {
    # Costs next to nothing: what is compared is what the two sides add to it.
    "BernoulliNB": BernoulliNB(),
    "trees": DecisionTreeClassifier(max_depth=8, random_state=0),
    "logistic regression": LogisticRegression(max_iter=50, tol=1e-3),
}
CASES = [("BernoulliNB", name) for name in ("yeast", "tmc2007", "generated")]
CASES += [("trees", "yeast"), ("logistic regression", "yeast")]
QUICK_CASES = [("BernoulliNB", "tiny")]
REPEATS = 3

PREDICTED_ROWS = 10_000
# Rows, features, labels and predicted rows of generated data.
SIZES = {"generated": (50_000, 100, 50, PREDICTED_ROWS), "tiny": (120, 8, 5, 20)}
# For probabilities, the other side visits every row, label set and label in a Python loop.
PREDICTED_ROWS_LP = 1000
TMC_ROWS = 10_000

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


def generated(n_rows: int, n_features: int, n_labels: int, n_predicted: int) -> Problem:
    """Rows around 300 centres, each with its own set of labels, three on average."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(300, n_features))
    sets = (rng.random((300, n_labels)) < 3 / n_labels).astype(np.int64)
    centre = rng.integers(300, size=n_rows + n_predicted)
    X = centres[centre] + rng.normal(size=(len(centre), n_features))
    return X[:n_rows], sets[centre[:n_rows]], X[n_rows:]


def problem(name: str) -> Problem:
    if name in SIZES:
        return generated(*SIZES[name])
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


def measure(quick: bool) -> Iterator[Finding]:
    for learner, name in QUICK_CASES if quick else CASES:
        data = problem(name)
        for method, pair in (("LP", label_powersets), ("RAkEL", rakels)):
            ours, theirs = pair(LEARNERS[learner], data)
            times = by_turns({"ours": ours, "theirs": theirs}, 1 if quick else REPEATS)
            equal = float(np.isclose(ours(), theirs(), rtol=0, atol=1e-6).mean())
            yield Finding(
                f"{name}, {data[0].shape[0]} rows: {method} of {learner}, beside theirs",
                median_ratio(times, "theirs", "ours"),
                f"times as fast ({equal:.2%} equal)",
                details={"seconds": best(times), "equal": equal},
            )


if __name__ == "__main__":
    main(measure, __doc__)
