"""The compared methods on text, each beside what scikit-learn's users would write instead.

Protocol: the standard split of reuters (tf-idf) and bibtex (0/1 words), or ``--rows`` of the
training rows, drawn with seed 0; defaults, one seed. The counterpart has the same structure, made
of scikit-learn's parts with their defaults: one logistic regression per label, chains of them, one
over label sets, or one ridge regression. Only ranking is measured, which needs no threshold.
Processor seconds on one thread.

    python -m benchmarks.sparse_methods --data bibtex --methods BR PLST
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain

from benchmarks.landmark_selection import split
from benchmarks.measuring import end_with_table, one_thread
from splmll.catalogue import make_method
from splmll.metrics import MEASURES as MEASURES_BY_NAME

DATA = ("reuters", "bibtex")
MEASURES = ("ranking_loss", "average_precision")
CLOSE = 0.001  # as good as the counterpart
# Ours -> what has the same structure in scikit-learn.
COUNTERPARTS = {
    "BR": "one logistic regression per label",
    "ECC": "chains",
    "RAkEL": "one logistic regression per label",
    "CLR": "one logistic regression per label",
    "EPS": "logistic regression over label sets",
    "LP": "logistic regression over label sets",
    "PLST": "ridge",
    "CPLST": "ridge",
    "FaIE": "ridge",
    "MOPLMS": "ridge",
    "ML-CSSP": "ridge",
    "PBR": "ridge",
    "LEML": "ridge",
}
# Settings under which a method has as many outputs as the counterpart.
WHOLE = {
    **{name: {"n_components": 1.0} for name in ("PLST", "CPLST", "FaIE", "LEML")},
    **{name: {"n_landmarks": 1.0} for name in ("ML-CSSP", "PBR", "MOPLMS")},
}


def chains(X: Any, Y: np.ndarray, X_test: Any) -> np.ndarray:
    """The mean of ten chains of logistic regressions in random orders."""
    learner = LogisticRegression(max_iter=1000)
    varying = np.flatnonzero(Y.min(axis=0) < Y.max(axis=0))
    scores = np.zeros((X_test.shape[0], Y.shape[1]))
    for seed in range(10):
        chain = ClassifierChain(learner, order="random", random_state=seed)
        scores[:, varying] += chain.fit(X, Y[:, varying]).predict_proba(X_test) / 10
    return scores


def label_sets(X: Any, Y: np.ndarray, X_test: Any) -> np.ndarray:
    """Probabilities of labels, summed over the label sets that have them."""
    sets, number = np.unique(Y, axis=0, return_inverse=True)
    model = LogisticRegression(max_iter=1000).fit(X, number.ravel())
    return model.predict_proba(X_test) @ sets[model.classes_]


def counterpart(kind: str, X: Any, Y: np.ndarray, X_test: Any) -> np.ndarray:
    """Scores of the test rows by what scikit-learn has."""
    if kind == "chains":
        return chains(X, Y, X_test)
    if kind == "logistic regression over label sets":
        return label_sets(X, Y, X_test)
    if kind == "ridge":
        return np.asarray(Ridge().fit(X, Y).predict(X_test))
    model = OneVsRestClassifier(LogisticRegression(max_iter=1000)).fit(X, Y.astype(np.int64))
    return np.asarray(model.predict_proba(X_test))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--methods", nargs="+", default=list(COUNTERPARTS), choices=COUNTERPARTS)
    parser.add_argument("--rows", type=int, default=None, help="train on so many rows only")
    parser.add_argument("--out", type=Path, help="write all lines as JSON")
    options = parser.parse_args()
    lines: list[dict[str, Any]] = []
    for name in options.data:
        X, Y, X_test, Y_test = split(name)
        if options.rows is not None:
            rows = np.sort(np.random.default_rng(0).permutation(len(Y))[: options.rows])
            X, Y = X[rows], Y[rows]
        peers: dict[str, dict[str, float]] = {}

        def measured(scores: np.ndarray, start: float, truth: np.ndarray) -> dict[str, float]:
            seconds = time.process_time() - start
            found = {name: MEASURES_BY_NAME[name].function(truth, scores) for name in MEASURES}
            return {**found, "seconds": seconds}

        for method in options.methods:
            kind = COUNTERPARTS[method]
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.filterwarnings("ignore", message="Label .* is present in")
                if kind not in peers:
                    start = time.process_time()
                    peers[kind] = measured(counterpart(kind, X, Y, X_test), start, Y_test)
                start = time.process_time()
                model = make_method(method, **WHOLE.get(method, {}))
                if "random_state" in model.get_params():
                    model.set_params(random_state=0)
                ours = measured(model.fit(X, Y).decision_function(X_test), start, Y_test)
            behind = {
                measure: (ours[measure] - peers[kind][measure])
                * (1 if measure == "ranking_loss" else -1)
                for measure in MEASURES
            }
            lines.append(
                {
                    "data": name,
                    "method": method,
                    **ours,
                    "counterpart": kind,
                    **{f"{measure}, counterpart": v for measure, v in peers[kind].items()},
                    "as good": max(behind.values()) <= CLOSE,
                }
            )
            print(json.dumps(lines[-1]), flush=True)
    end_with_table(lines, options.out)


if __name__ == "__main__":
    main()
