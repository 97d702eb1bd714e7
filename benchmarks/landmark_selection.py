"""Landmarks at equal budget: who selects them best, with everything else the same.

Protocol: the standard split (espgame-densehue has none: a seeded tenth of the rows is the test
part), seed 0. One f for all: ridge regression on dense features, linear classifiers per label on
sparse ones, predicted out of fold on the training rows. Each selection picks 5, 10, 25 and 50% of
the labels; the recovery of all labels from them, its pull chosen out of fold, and the threshold
(micro-F1, out of fold) are the same for all. Random is the mean of five draws. Measures are taken
on the test rows. The second table has other methods as they are, each with its ridge chosen on a
held-out fifth of the training rows and the same threshold rule.

    python -m benchmarks.landmark_selection --data yeast bibtex --tables selections methods
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll import SPLMLL, evaluate, load_dataset
from splmll.arrays import dense
from splmll.embeddings import FitContext, embedding_of
from splmll.landmarks.label_moments import varying_labels
from splmll.landmarks.learning import Evidence, Learner
from splmll.landmarks.selection import honest_problem, select
from splmll.methods import CPLST, MLCSSP, MOPLMS, PBR
from splmll.metrics import average_precision
from splmll.model_selection import MultilabelStratifiedKFold, multilabel_train_test_split
from splmll.published.objective import Penalties
from splmll.published.selection import select_hard, select_soft
from splmll.statistics import Statistics, sum_of
from splmll.thresholds import fit_threshold

DATA = ("yeast", "tmc2007", "corel5k", "espgame-densehue", "bibtex", "delicious")
SHARES = (0.05, 0.10, 0.25, 0.50)
MEASURES = ("ranking_loss", "average_precision", "micro_f1")
DRAWS = 5
RIDGES = (0.1, 1.0, 10.0, 100.0, 1000.0)
CLOSE = 0.002  # as good as the first
RULE = "micro_f1"


def split(name: str, seed: int = 0) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return the standard split, or a seeded tenth of the rows as the test part."""
    data = load_dataset(name)
    if data.train is not None:
        X, Y, X_test, Y_test = data.split()
    else:
        order = np.random.default_rng(seed).permutation(data.X.shape[0])
        test, train = order[: len(order) // 10], order[len(order) // 10 :]
        X, Y, X_test, Y_test = data.X[train], data.Y[train], data.X[test], data.Y[test]
    X, X_test = (
        sparse.csr_array(rows, dtype=np.float64) if sparse.issparse(rows) else np.asarray(rows)
        for rows in (X, X_test)
    )
    return X, dense(Y).astype(np.float64), X_test, dense(Y_test).astype(int)


class Bench:
    """One data set with one f for every selection."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name, self.seed = name, seed
        self.X, self.Y, self.X_test, self.Y_test = split(name, seed)
        f = embedding_of("svm" if sparse.issparse(self.X) else "linear")
        folds = MultilabelStratifiedKFold(3, shuffle=True, random_state=seed)
        self.fold = np.empty(len(self.Y), dtype=np.intp)
        for k, (_, held) in enumerate(folds.split(np.zeros((len(self.Y), 1)), self.Y)):
            self.fold[held] = k
        f.fit(self.X, self.Y, self.fold, FitContext(seed))
        self.F, labels = f.out_of_fold_, np.arange(self.Y.shape[1])
        f.finish(self.X, self.Y, labels)
        self.F_test, self.varying = f.predict(self.X_test), varying_labels(self.Y)
        evidence = Evidence.of_rows(
            self.F, self.Y, self.fold, labels, self.varying, slice(None), seed
        )
        self.learner = Learner(evidence, "auto", "average_precision", RULE)
        self.sums = sum_of(evidence.sums(softness=1.0, lean=0.0))
        G = Statistics.of(np.zeros((len(self.Y), 0)), self.Y).label_moments(center=True)
        unit = float(np.mean(np.diag(G)))
        self.G, self.penalties = G, Penalties(0.1 * unit, 0.5 * unit, 0.1 * unit)
        self.E = np.mean((self.F - self.Y) ** 2, axis=0)

    def selections(self) -> dict[str, Callable[[int], list[np.ndarray]]]:
        """Return every way to pick so many labels, by its name."""
        problem = honest_problem(self.sums, self.varying)
        of_labels = honest_problem(Statistics.of(self.Y, self.Y, label_pairs=False), self.varying)
        narrow = np.zeros((len(self.Y), 1))  # these two look at the labels alone
        frequent = np.argsort(-self.Y.sum(axis=0), kind="stable")
        able = np.flatnonzero(self.varying)

        def by_weight(solution: Any) -> list[np.ndarray]:
            return [np.flatnonzero(solution.selection)]

        def published(choose: Any) -> Callable[[int], list[np.ndarray]]:
            return lambda k: by_weight(
                choose(self.G, self.E, self.penalties, n_landmarks=k, support=self.varying)
            )

        return {
            "honest": lambda k: [select(problem, k)],
            "labels alone": lambda k: [select(of_labels, k)],
            "published soft": published(select_soft),
            "published hard": published(select_hard),
            "MOPLMS": lambda k: [np.asarray(MOPLMS(k).fit(narrow, self.Y).landmarks_)],
            "ML-CSSP": lambda k: [
                np.asarray(MLCSSP(k, random_state=self.seed).fit(narrow, self.Y).landmarks_)
            ],
            "most frequent": lambda k: [frequent[:k]],
            "random": lambda k: [
                np.random.default_rng(draw).choice(able, k, replace=False) for draw in range(DRAWS)
            ],
        }

    def measured(self, landmarks: np.ndarray) -> dict[str, float]:
        """Recover all labels of the test rows from these landmarks and measure."""
        learned, scores = self.learner.given(landmarks)
        threshold = fit_threshold(RULE, self.Y, scores)
        found = learned.scores(self.F_test[:, learned.outputs])
        return evaluate(self.Y_test, found, threshold.apply(found), MEASURES)

    def run(self, shares: Sequence[float]) -> list[dict[str, Any]]:
        """Measure every selection at every share."""
        lines = []
        for share in shares:
            k = max(1, round(share * self.Y.shape[1]))
            for name, pick in self.selections().items():
                tried = [self.measured(landmarks) for landmarks in pick(k)]
                mean = {m: float(np.mean([each[m] for each in tried])) for m in MEASURES}
                lines.append({"data": self.name, "share": share, "k": k, "selection": name, **mean})
                print(lines[-1], flush=True)
        return lines


def as_they_are(name: str, shares: Sequence[float]) -> list[dict[str, Any]]:
    """Measure other methods with their ridge chosen on a held-out fifth of the training rows."""
    X, Y, X_test, Y_test = split(name)
    learn, X_watch, Y_learn, Y_watch = multilabel_train_test_split(
        X, Y, test_size=0.2, random_state=0
    )
    lines = []
    for share in shares:
        k = max(1, round(share * Y.shape[1]))
        for make in (MOPLMS, MLCSSP, PBR, CPLST):
            size = "n_components" if make is CPLST else "n_landmarks"
            scores = {}
            for ridge in RIDGES:
                model = make(**{size: k}, ridge=ridge)
                scores[ridge] = average_precision(
                    Y_watch, model.fit(learn, Y_learn).decision_function(X_watch)
                )
            ridge = max(scores, key=lambda each: scores[each])
            model = make(**{size: k}, ridge=ridge, threshold=RULE).fit(X, Y)
            found = evaluate(
                Y_test, model.decision_function(X_test), model.predict(X_test), MEASURES
            )
            method = f"{make.__name__} as it is"
            lines.append(
                {"data": name, "share": share, "k": k, "selection": method, "ridge": ridge, **found}
            )
            print(lines[-1], flush=True)
        model = SPLMLL(
            "svm" if sparse.issparse(X) else "linear", n_landmarks=k, random_state=0
        ).fit(X, Y)
        found = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test), MEASURES)
        lines.append({"data": name, "share": share, "k": k, "selection": "SPLMLL", **found})
        print(lines[-1], flush=True)
    return lines


def first_or_close(table: pd.DataFrame) -> pd.Series:
    """Count for every selection the cells in which it is first or within .002 of the first."""
    counts: dict[str, int] = {}
    for _, cell in table.groupby(["data", "share"]):
        for measure in ("ranking_loss", "average_precision"):
            values = cell.set_index("selection")[measure]
            values = -values if measure == "ranking_loss" else values
            for name in values.index[values >= values.max() - CLOSE]:
                counts[name] = counts.get(name, 0) + 1
    return pd.Series(counts).sort_values(ascending=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument(
        "--tables",
        nargs="+",
        default=["selections"],
        choices=("selections", "methods"),
        help="ways to select with everything else the same, or whole methods as they are",
    )
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES, help="of the labels")
    parser.add_argument("--out", type=Path, help="write all lines as JSON")
    arguments = parser.parse_args()
    runs = {"selections": lambda name, shares: Bench(name).run(shares), "methods": as_they_are}
    lines: list[dict[str, Any]] = []
    for kind in arguments.tables:
        found = [line for name in arguments.data for line in runs[kind](name, arguments.shares)]
        cells = 2 * len(arguments.shares) * len(arguments.data)
        print(f"\n{kind}: cells won or within {CLOSE} of the first, of {cells}:")
        print(first_or_close(pd.DataFrame(found)).to_string())
        lines += found
    if arguments.out:
        arguments.out.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
