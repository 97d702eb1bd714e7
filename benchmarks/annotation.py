"""Annotating with few questions: adaptive ones, landmark answers, wrong labels, which rows first.

Protocol: the standard split, seed 0, threshold rule "micro_f1" tuned out of fold; a fit chooses on
training rows alone, but its design was compared on these sets and seeds. Embeddings: "svm" on
bibtex, reuters and goemotions, "kernel" on yeast and corel5k, "trees" on birds;
``--embedding auto`` takes the default instead.

- questions: up to 500 test rows, drawn with seed 0. Labels that were asked about count as right.
  All strategies complete the rest in the same way.
- landmarks: reuters, true answers for the first 20 landmarks on all test rows; a model with all
  labels as landmarks, and one with these 20 alone.
- audit: 5% of all training labels are flipped with seed 0. Precision is the share of flipped ones
  among the first 5% of labels. cleanlab (self-confidence of each label, pooled) gets the same
  out-of-fold probabilities as the first look of ``audit``.
- rows: training starts with random rows, more are chosen in rounds by the model so far; average
  precision on up to 2000 test rows. Rows needed for 95% of that of all rows, on a straight line
  between rounds.
- latency: one row with 600 labels and up to ten answers: ``ask`` and ``complete`` together.

    python -m benchmarks.annotation questions --data yeast birds
    python -m benchmarks.annotation landmarks audit rows latency
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd

from splmll import SPLMLL, evaluate, load_dataset
from splmll.arrays import dense
from splmll.landmarks.annotation_path import follow_path
from splmll.landmarks.auditing import first_look
from splmll.landmarks.completion import micro_f1

EMBEDDINGS = {
    "bibtex": "svm",
    "corel5k": "kernel",
    "birds": "trees",
    "reuters": "svm",
    "yeast": "kernel",
    "goemotions": "svm",
}
QUESTIONS = ("bibtex", "corel5k", "birds", "reuters", "yeast")
COUNTS = (0, 1, 2, 4, 8, 12)
TEST_ROWS = 500
LANDMARKS = 20
AUDITED = ("reuters", "bibtex", "yeast")
FLIPPED = 0.05
RANKED = {
    "reuters": (100, 200, 300, 450, 650, 900, 1200),
    "goemotions": (500, 1000, 2000, 4000, 8000, 12000),
}
RANKED_TEST_ROWS = 2000
WORTH = 0.95  # of the average precision with all rows
SEED = 0


def some(rows: int, most: int) -> np.ndarray:
    """Return at most so many row numbers."""
    return np.random.default_rng(SEED).permutation(rows)[:most]


def questions(names: list[str], embedding: str | None) -> None:
    """Print micro-F1 against the number of questions per row."""
    for name in names:
        X, Y, X_test, Y_test = load_dataset(name).split()
        model = SPLMLL(embedding or EMBEDDINGS[name], random_state=SEED).fit(X, Y)
        rows = some(X_test.shape[0], TEST_ROWS)
        # decision_function is the score less a constant.
        scores = model.decision_function(X_test[rows]) + model.offset_
        truth = dense(Y_test[rows]).astype(float)
        counts = [count for count in COUNTS if count <= truth.shape[1]]
        landmarks = np.asarray(model.landmarks_)  # numbers: these labels have no names here
        path = follow_path(
            [model.answer_model_], scores, truth, np.zeros(len(rows), dtype=int), landmarks, counts
        )
        table = path.to_frame()["micro_f1"].unstack("n_questions").loc[list(path.measures)]
        print(f"\n{name}, {len(rows)} test rows, {model.embedding_}: micro-F1")
        print(table.round(3).to_string(), flush=True)


def landmarks(embedding: str | None) -> None:
    """Print what 20 answers per row of reuters give: alone, with recover, with complete."""
    X, Y, X_test, Y_test = load_dataset("reuters").split()
    truth = dense(Y_test).astype(float)
    for n_landmarks in (None, LANDMARKS):
        model = SPLMLL(embedding or "svm", n_landmarks=n_landmarks, random_state=SEED).fit(X, Y)
        every = np.asarray(model.landmarks_)
        answers = np.full(truth.shape, np.nan)
        answers[:, every[:LANDMARKS]] = truth[:, every[:LANDMARKS]]
        found = {
            "predicted, no answers": model.predict(X_test),
            "answers, the rest blank": np.nan_to_num(answers),
            "recover": model.recover(answers[:, every]),
            "complete": model.complete(X_test, answers),
        }
        print(
            f"\nreuters, {len(truth)} test rows, answers for the first {LANDMARKS} of {len(every)} "
            "landmarks: micro-F1"
        )
        for name, labels in found.items():
            print(f"  {name:26}{micro_f1(truth, dense(labels)):.4f}", flush=True)


def audit(embedding: str | None) -> None:
    """Print how many of the first 5% of suspects were flipped, beside cleanlab."""
    from cleanlab.rank import get_label_quality_scores

    for name in AUDITED:
        X, Y, _, _ = load_dataset(name).split()
        Y = dense(Y).astype(int)
        flipped = np.random.default_rng(SEED).random(Y.shape) < FLIPPED
        noisy = np.where(flipped, 1 - Y, Y)
        model = SPLMLL(embedding or EMBEDDINGS[name], random_state=SEED)
        start = time.process_time()
        suspects = model.audit(X, noisy)
        seconds = time.process_time() - start
        wanted = round(FLIPPED * Y.size)
        first = suspects.head(wanted)
        ours = flipped[first["row"], first["label"].astype(int)].sum() / wanted
        P, _ = first_look(model.fit_out_of_fold(X, noisy).scores, noisy.astype(float))
        quality = np.column_stack(
            [
                get_label_quality_scores(noisy[:, k], np.column_stack([1 - P[:, k], P[:, k]]))
                for k in range(Y.shape[1])
            ]
        )
        worst = np.argsort(quality.ravel(), kind="stable")[:wanted]
        print(
            f"{name:8} {Y.size} labels, {wanted} looked at: audit {ours:.4f}, cleanlab "
            f"{flipped.ravel()[worst].mean():.4f}; {seconds:.0f} CPU seconds",
            flush=True,
        )


def rows(names: list[str], seeds: int) -> None:
    """Print how many labelled rows reach 95% of the average precision of all rows."""
    for name in names:
        X, Y, X_test, Y_test = load_dataset(name).split()
        test = some(X_test.shape[0], RANKED_TEST_ROWS)
        data = X, Y, X_test[test], dense(Y_test[test])
        full = precision(data, np.arange(X.shape[0]))[1]
        print(f"\n{name}: average precision {full:.4f} with all {X.shape[0]} rows", flush=True)
        for seed in range(seeds):
            for kind in ("random", "rank_rows"):
                found = learning_curve(data, RANKED[name], kind, seed, WORTH * full)
                sizes, values = list(found), list(found.values())
                reached = f"more than {sizes[-1]}"
                if values[-1] >= WORTH * full:
                    reached = f"{np.interp(WORTH * full, values, sizes):.0f}"
                curve = ", ".join(f"{n}: {value:.4f}" for n, value in found.items())
                print(f"  seed {seed}, {kind:9} {reached} rows ({curve})", flush=True)


def learning_curve(
    data: tuple[Any, ...], sizes: tuple[int, ...], kind: str, seed: int, enough: float
) -> dict[int, float]:
    """Return the average precision for growing numbers of labelled rows, until it is enough."""
    X, rng = data[0], np.random.default_rng(seed)
    labelled = rng.permutation(X.shape[0])[: sizes[0]]
    found = {}
    for size, following in zip(sizes, (*sizes[1:], None), strict=True):
        model, found[size] = precision(data, labelled)
        if found[size] >= enough or following is None:
            break
        pool = np.setdiff1d(np.arange(X.shape[0]), labelled)
        if kind == "random":
            new = rng.permutation(len(pool))[: following - size]
        else:
            new = model.rank_rows(X[pool], following - size)
        labelled = np.concatenate([labelled, pool[new]])
    return found


def precision(data: tuple[Any, ...], labelled: np.ndarray) -> tuple[SPLMLL, float]:
    """Return a model of some rows and its average precision on the test rows."""
    X, Y, X_test, Y_test = data
    model = SPLMLL("svm", random_state=SEED).fit(X[labelled], Y[labelled])
    measures = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    return model, measures["average_precision"]


def latency() -> None:
    """Print how long one row with 600 labels takes."""
    rng = np.random.default_rng(SEED)
    X, topics = rng.normal(size=(2000, 40)), rng.normal(size=(40, 30))
    hidden = (X @ topics / 6 + rng.normal(size=(2000, 30))) @ rng.normal(size=(30, 600))
    Y = (hidden > np.quantile(hidden, 0.97, axis=0)).astype(int)
    model = SPLMLL("linear", random_state=SEED).fit(X, Y)
    seconds = []
    for row in range(100):
        answers = np.full((1, 600), np.nan)
        for _ in range(10):
            start = time.perf_counter()
            label = model.ask(X[[row]], answers).labels[0, 0]
            model.complete(X[[row]], answers)
            seconds.append(time.perf_counter() - start)
            answers[0, label] = Y[row, label]
    middle, late = np.quantile(seconds, [0.5, 0.99]) * 1000
    print(f"\n600 labels, one row: ask and complete {middle:.1f} ms, p99 {late:.1f} ms (under 50)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ("questions", "landmarks", "audit", "rows", "latency")
    parser.add_argument("parts", nargs="+", choices=parts)
    parser.add_argument("--data", nargs="+", help="data sets of questions or rows")
    parser.add_argument("--embedding", help="another embedding for all, such as auto")
    parser.add_argument("--seeds", type=int, default=3, help="of the first rows in rows")
    options = parser.parse_args()
    pd.set_option("display.width", 120)
    for part in options.parts:
        if part == "questions":
            questions(options.data or list(QUESTIONS), options.embedding)
        elif part == "landmarks":
            landmarks(options.embedding)
        elif part == "audit":
            audit(options.embedding)
        elif part == "rows":
            rows(options.data or list(RANKED), options.seeds)
        else:
            latency()


if __name__ == "__main__":
    main()
