"""SPLMLL on sparse text beside one linear classifier per label: time, and precision at 1.

The peer is LibMultiLabel's one-vs-rest, which calls LIBLINEAR; where it is not installed only
scikit-learn's ``LinearSVC`` in ``OneVsRestClassifier``, which is LIBLINEAR as well. Both are
trained with their defaults. Words are not scaled, as ``splmll fit`` leaves them. "Given ridge"
tunes nothing, as the peers do; its ridge is the one that the folds of the generated documents
choose. "Not mixed" leaves every label its own prediction, as the peers do; "linear" chooses ridge,
pull, landmarks and threshold, and "defaults" does so on linear classifiers, one per label and
fold. Data: documents the size of bibtex, generated with labels that tell nothing of each other,
and tmc2007.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.generated import text_problem
from benchmarks.measuring import Finding, best, by_turns, main, median_ratio, missing
from benchmarks.ridge_speed import given_ridge
from splmll import SPLMLL, load_dataset
from splmll.exceptions import DatasetError
from splmll.metrics import precision_at_k

BIBTEX_SIZE, QUICK_SIZE = (7395, 1836, 159), (300, 80, 8)
REPEATS = 3
GIVEN_RIDGE = 0.3
OURS: dict[str, Callable[[], SPLMLL]] = {
    "SPLMLL, given ridge": lambda: given_ridge(GIVEN_RIDGE),
    "SPLMLL, given ridge, not mixed": lambda: given_ridge(GIVEN_RIDGE, pull=np.inf),
    "SPLMLL, linear": lambda: SPLMLL("linear", random_state=0),
    "SPLMLL, defaults": lambda: SPLMLL(random_state=0),
}
EQUAL = 0.01  # precision at 1 that may be lost at equal precision


def libmultilabel_scores(X: Any, Y: Any, X_test: Any) -> np.ndarray:
    from libmultilabel import linear

    x, y, x_test = (sparse.csr_matrix(part) for part in (X, Y, X_test))
    model = linear.train_1vsrest(y, x, options="-m 1", verbose=False)
    return np.asarray(linear.predict_values(model, x_test))


def linear_svc_scores(X: Any, Y: Any, X_test: Any) -> np.ndarray:
    x, x_test = (sparse.csr_matrix(part) for part in (X, X_test))
    model = OneVsRestClassifier(LinearSVC()).fit(x, sparse.csr_matrix(Y).astype(np.int64))
    return model.decision_function(x_test)


def our_scores(name: str, X: Any, Y: Any, X_test: Any) -> np.ndarray:
    return OURS[name]().fit(X, Y).decision_function(X_test)


def contestants() -> dict[str, Callable[[Any, Any, Any], np.ndarray]]:
    made: dict[str, Callable[[Any, Any, Any], np.ndarray]] = {
        name: partial(our_scores, name) for name in OURS
    }
    made["LinearSVC, one-vs-rest"] = linear_svc_scores
    try:
        import_module("libmultilabel.linear")
    except ImportError:
        return made
    return made | {"LibMultiLabel, one-vs-rest": libmultilabel_scores}


def measure(quick: bool) -> Iterator[Finding]:
    X, Y = text_problem(*(QUICK_SIZE if quick else BIBTEX_SIZE))
    n = 2 * X.shape[0] // 3
    title = " x ".join(str(size) for size in (*X.shape, Y.shape[1]))
    yield from compare(title, (X[:n], Y[:n], X[n:]), Y[n:], 1 if quick else REPEATS)
    if quick:
        return
    try:
        parts = load_dataset("tmc2007").split()
    except DatasetError as error:
        yield Finding("tmc2007", None, details={"note": str(error)})
        return
    *data, Y_test = (sparse.csr_array(part, dtype=np.float64) for part in parts)
    yield from compare("tmc2007", tuple(data), Y_test, REPEATS)


def compare(title: str, data: tuple[Any, ...], Y_test: Any, repeats: int) -> Iterator[Finding]:
    made = contestants()
    reached: dict[str, float] = {}

    def run(name: str) -> None:
        reached[name] = precision_at_k(Y_test, made[name](*data), k=1)

    times = by_turns({name: partial(run, name) for name in made}, repeats)
    for ours, peer in product(OURS, list(made)[len(OURS) :]):
        yield Finding(
            f"{title}: {ours}, beside {peer}",
            median_ratio(times, peer, ours),
            "times as fast",
            low=1.0,
            details={"seconds": best(times)[ours], "peer_seconds": best(times)[peer]},
        )
        yield Finding(
            f"{title}: {ours}, beside {peer}: precision at 1",
            reached[ours] - reached[peer],
            f"more ({reached[ours]:.3f} and {reached[peer]:.3f})",
            low=-EQUAL,
        )
    if len(made) == len(OURS) + 1:
        yield missing(f"{title}: SPLMLL beside LibMultiLabel, one-vs-rest", "libmultilabel")


if __name__ == "__main__":
    main(measure, __doc__)
