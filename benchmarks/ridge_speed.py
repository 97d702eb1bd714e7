"""SPLMLL with a linear embedding beside one multi-output ridge regression of scikit-learn.

Both get the same float64 features and 268 labels, dense and sparse. "Given ridge" chooses nothing:
the maps of all folds with the ridge given, and recovery with the pull given. "Defaults" also
chooses the ridge, the pull, the landmarks and a threshold, all out of fold; beside it stands
``GridSearchCV``, which chooses among the same ridges in as many folds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from benchmarks.generated import dense_problem
from benchmarks.measuring import Finding, best, by_turns, main, median_ratio
from splmll import SPLMLL, load_dataset
from splmll.embeddings import Linear
from splmll.embeddings.linear import RIDGES
from splmll.exceptions import DatasetError

SIZE, QUICK_SIZE = (20_000, 1000, 268), (400, 30, 20)
REAL = "espgame-densehue"
REPEATS = 5
TARGET = 1.5  # times as long as ridge regression


def given_ridge(ridge: float = 1.0, pull: float = 1.0) -> SPLMLL:
    """Return a model that has nothing to choose."""
    return SPLMLL(Linear(ridge), n_landmarks=1.0, pull=pull, threshold=0.5, random_state=0)


def measure(quick: bool) -> Iterator[Finding]:
    size = QUICK_SIZE if quick else SIZE
    yield from compare(" x ".join(str(n) for n in size), *dense_problem(*size), quick)
    if quick:
        return
    try:
        data = load_dataset(REAL)
    except DatasetError as error:
        yield Finding(REAL, None, details={"note": str(error)})
        return
    Y = data.Y.toarray() if sparse.issparse(data.Y) else data.Y
    yield from compare(REAL, np.asarray(data.X, np.float64), np.asarray(Y, np.int8), quick)


def compare(title: str, X: np.ndarray, Y: np.ndarray, quick: bool) -> Iterator[Finding]:
    as_float, as_sparse = Y.astype(np.float64), sparse.csr_array(Y.astype(np.float64))
    calls = {
        "ridge": lambda: Ridge().fit(X, as_float),
        "given ridge": lambda: given_ridge().fit(X, as_float),
        "given ridge, sparse Y": lambda: given_ridge().fit(X, as_sparse),
        "defaults": lambda: SPLMLL("linear", random_state=0).fit(X, as_float),
        "defaults, sparse Y": lambda: SPLMLL("linear", random_state=0).fit(X, as_sparse),
    }
    times = by_turns(calls, 1 if quick else REPEATS)
    # scikit-learn's penalty is not divided by the rows. Which values are tried takes no time.
    grid = {"alpha": [ridge * len(X) for ridge in RIDGES]}
    search = by_turns({"search": lambda: GridSearchCV(Ridge(), grid, cv=5).fit(X, as_float)}, 1)
    yield Finding(
        f"{title}: SPLMLL, defaults, beside GridSearchCV(Ridge)",
        min(search["search"]) / best(times)["defaults"],
        "times as fast",
        details={"seconds": best(times)["defaults"], "peer_seconds": min(search["search"])},
    )
    for name in list(calls)[1:]:
        yield Finding(
            f"{title}: SPLMLL, {name}",
            median_ratio(times, name, "ridge"),
            "times the time of Ridge",
            high=TARGET,
            details={"seconds": best(times)[name], "ridge_seconds": best(times)["ridge"]},
        )


if __name__ == "__main__":
    main(measure, __doc__)
