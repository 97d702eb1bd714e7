"""Recovery that does not hurt: every data set, three embeddings, with and without landmarks.

Protocol: the standard split, or a seeded tenth of the rows as the test part; at most 2000 training
and 1000 test rows, drawn with seed 0, and only the words that these training rows have; seed 0.
"Alone" is the embedding with every label by its own prediction, "with" is SPLMLL around the same
embedding. Thresholds (micro-F1) are tuned out of fold for both. Out of fold: is any of ranking
loss, average precision and micro-F1 worse by more than one standard error of the measure of the
embedding alone, over ten groups of rows?

    python -m benchmarks.never_worse --data flags birds --embeddings linear svm
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.landmark_selection import split
from splmll import evaluate
from splmll.embeddings import FitContext, embedding_of
from splmll.landmarks.label_moments import varying_labels
from splmll.landmarks.learning import Evidence, Learner
from splmll.model_selection import MultilabelStratifiedKFold
from splmll.thresholds import fit_threshold

DATA = (
    *("flags", "birds", "genbase", "cal500", "emotions", "scene", "yeast", "tmc2007", "corel5k"),
    *("espgame-densehue", "iaprtc12-densehue", "bibtex", "delicious", "reuters", "goemotions"),
    "imdb",
)
EMBEDDINGS = ("linear", "svm", "mlp")
MEASURES = ("ranking_loss", "average_precision", "micro_f1")
MOST_TRAIN, MOST_TEST = 2000, 1000
RULE = "micro_f1"


def some(rows: int, most: int) -> np.ndarray:
    """Return at most so many row numbers, in their order."""
    return np.sort(np.random.default_rng(0).permutation(rows)[:most])


def compare(name: str, kind: str) -> dict[str, Any]:
    """Measure one embedding on one data set, alone and with landmarks."""
    X, Y, X_test, Y_test = split(name)
    train, test = some(len(Y), MOST_TRAIN), some(len(Y_test), MOST_TEST)
    X, Y, X_test, Y_test = X[train], Y[train], X_test[test], Y_test[test]
    if sparse.issparse(X):
        # Words of other rows tell nothing, and a network would carry their weights along.
        seen = np.unique(X.indices)
        X, X_test = X[:, seen], X_test[:, seen]
    fold = np.empty(len(Y), dtype=np.intp)
    folds = MultilabelStratifiedKFold(3, shuffle=True, random_state=0)
    for k, (_, held) in enumerate(folds.split(np.zeros((len(Y), 1)), Y)):
        fold[held] = k
    f = embedding_of(kind).fit(X, Y, fold, FitContext(0))
    F, labels = f.out_of_fold_, np.arange(Y.shape[1])
    f.finish(X, Y, labels)
    F_test = f.predict(X_test)
    evidence = Evidence.of_rows(F, Y, fold, labels, varying_labels(Y), slice(None), 0)
    learner = Learner(evidence, "auto", "average_precision", RULE)
    learned, scores = learner.learn(None)
    found = learned.scores(F_test[:, learned.outputs])
    alone_test = evaluate(Y_test, F_test, fit_threshold(RULE, Y, F).apply(F_test), MEASURES)
    with_test = evaluate(Y_test, found, fit_threshold(RULE, Y, scores).apply(found), MEASURES)
    final = learner.judge.measure(scores[learner.judge.rows])
    line: dict[str, Any] = {
        "data": name,
        "embedding": kind,
        "landmarks": f"{len(learned.labels)} of {Y.shape[1]}",
        "worse out of fold": learner.judge.hurts(final, learner.alone),
    }
    for measure in MEASURES:
        line[f"{measure} alone, out of fold"] = float(learner.alone[measure].mean())
        line[f"{measure} with, out of fold"] = float(final[measure].mean())
        line[f"{measure} alone, test"] = alone_test[measure]
        line[f"{measure} with, test"] = with_test[measure]
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--embeddings", nargs="+", default=EMBEDDINGS, choices=EMBEDDINGS)
    parser.add_argument("--out", type=Path, help="write all lines as JSON")
    arguments = parser.parse_args()
    lines = []
    for name in arguments.data:
        for kind in arguments.embeddings:
            lines.append(compare(name, kind))
            print({k: round(v, 4) if isinstance(v, float) else v for k, v in lines[-1].items()})
            if arguments.out:
                arguments.out.write_text(json.dumps(lines, indent=1))
    table = pd.DataFrame(lines)
    print(f"\nWorse out of fold: {int(table['worse out of fold'].sum())} of {len(table)}")
    for measure in MEASURES:
        gain = table[f"{measure} with, test"] - table[f"{measure} alone, test"]
        by_kind = gain.groupby(table["embedding"]).mean()
        print(f"{measure}, test, mean change {gain.mean():+.4f};", by_kind.round(4).to_dict())


if __name__ == "__main__":
    main()
