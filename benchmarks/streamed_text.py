"""Text beyond memory: what is lost by learning in chunks, and what a table of 1 GB takes.

On reuters and goemotions, with their standard test rows: SPLMLL in memory beside SPLMLL in batches
of 2000 rows, on the words of the data sets and on hashed ones (``fit_stream`` on a CSV file, as
``splmll fit --stream`` does). Then a generated CSV file of 1 GB, reuters with a fifth of the words
of each text exchanged: peak memory of a process that fits it, and rows per second.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measuring import Finding, in_own_process, main
from splmll import SPLMLL, evaluate, load_dataset
from splmll.arrays import dense
from splmll.exceptions import DatasetError
from splmll.tagging.streaming import fit_stream

SETS = ("reuters", "goemotions")
BATCH_ROWS = 2000
FILE_BYTES, QUICK_BYTES = 10**9, 10**5
MOST_BYTES = 1.5e9
EXCHANGED = 0.2  # share of the words
SHOWN = ("ranking_loss", "average_precision", "micro_f1", "macro_f1")
QUICK_TOPICS = {"pump": "pump rotor seal", "oil": "oil leak drip", "door": "door hinge lock"}


def measure(quick: bool) -> Iterator[Finding]:
    for name in ("notes",) if quick else SETS:
        try:
            yield from compare(name)
        except DatasetError as error:
            yield Finding(f"{name}: in batches", None, details={"note": str(error)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        n_rows = write_large(path, QUICK_BYTES if quick else FILE_BYTES)
        size = path.stat().st_size
        run = in_own_process("streamed_text", "fit_file", quick=quick, path=str(path))
    case = f"CSV file of {size / 1e9:.2f} GB, {n_rows} rows"
    yield Finding(
        f"{case}: peak memory", run["peak_bytes"] / 1e9, "GB", high=MOST_BYTES / 1e9, details=run
    )
    speed = n_rows / run["seconds"]
    yield Finding(f"{case}: fitted", speed, f"rows/s ({run['elapsed']:.0f} s by the clock)")


def compare(name: str) -> Iterator[Finding]:
    texts, Y, texts_test, Y_test, names, words = problem(name)
    if words is not None:
        X, X_test = words
        batches = [(X[i : i + BATCH_ROWS], Y[i : i + BATCH_ROWS]) for i in batch_starts(X)]
        ways: dict[str, Callable[[], SPLMLL]] = {
            "in memory": lambda: SPLMLL(random_state=0).fit(X, Y),
            "in batches": lambda: SPLMLL("sgd", random_state=0).fit_batches(batches),
            "in batches, once": lambda: SPLMLL("sgd", random_state=0).fit_batches(iter(batches)),
        }
        memory = None
        for way, fit in ways.items():
            model, seconds = timed(fit)
            found = measures_of(model, X_test, Y_test)
            memory = memory or found
            yield told(f"{name}, words, {way}", found, seconds, memory)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write(path, zip(texts, tags_of(Y, names)))
        tagger, streamed = timed(lambda: fit_stream(path, ["tags"], text=["text"]))
    columns, order = tagger.pipeline[:-1], [tagger.label_names.index(label) for label in names]
    X, X_test = (columns.transform(pd.DataFrame({"text": each})) for each in (texts, texts_test))
    model, seconds = timed(lambda: SPLMLL(random_state=0).fit(X, Y))
    memory = measures_of(model, X_test, Y_test)
    yield told(f"{name}, hashed words, in memory", memory, seconds, memory)
    found = measures_of(tagger.pipeline[-1], X_test, Y_test, order)
    yield told(f"{name}, hashed words, from a file", found, streamed, memory)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and its CPU seconds."""
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


def told(case: str, found: dict[str, float], seconds: float, memory: dict[str, float]) -> Finding:
    """The measures of a model, and its average precision beside the fit in memory."""
    shown = " ".join(f"{found[each]:.4f}" for each in SHOWN)
    return Finding(
        f"{case}: average precision gained",
        found["average_precision"] - memory["average_precision"],
        f"(RL AP micro macro {shown}, {seconds:.0f} s)",
        low=-0.01,
        details={**found, "seconds": seconds},
    )


def measures_of(model: Any, X: Any, Y: Any, order: Any = None) -> dict[str, float]:
    scores, labels = model.decision_function(X), dense(model.predict(X))
    if order is not None:
        scores, labels = scores[:, order], labels[:, order]
    return evaluate(Y, scores, labels)


def problem(name: str) -> tuple[Any, Any, Any, Any, list[str], tuple[Any, Any] | None]:
    """Return texts, labels, test texts, test labels, label names, and rows of words."""
    if name == "notes":
        texts, Y = notes(600)
        return texts[:400], Y[:400], texts[400:], Y[400:], list(QUICK_TOPICS), None
    data = load_dataset(name)
    X, Y, X_test, Y_test = data.split()
    texts, texts_test = data.texts[data.train], data.texts[data.test]
    Y, Y_test = dense(Y).astype(int), dense(Y_test).astype(int)
    return texts, Y, texts_test, Y_test, list(data.label_names), (X, X_test)


def notes(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A few words of each topic that a note has, for a quick run."""
    rng = np.random.default_rng(0)
    Y = (rng.random((n_rows, len(QUICK_TOPICS))) < 0.4).astype(int)
    topics = [words.split() for words in QUICK_TOPICS.values()]
    return np.array(
        [" ".join(["note", *(rng.choice(topics[j]) for j in np.flatnonzero(y))]) for y in Y],
        dtype=object,
    ), Y


def batch_starts(X: Any) -> range:
    return range(0, X.shape[0], BATCH_ROWS)


def tags_of(Y: np.ndarray, names: list[str]) -> list[str]:
    return [";".join(names[j] for j in np.flatnonzero(row)) for row in Y]


def write(path: Path, rows: Any) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "tags"])
        writer.writerows(rows)


def write_large(path: Path, n_bytes: int) -> int:
    """Write texts again and again, some words exchanged, until there are so many bytes."""
    try:
        texts, Y, _, _, names, _ = problem("reuters" if n_bytes > QUICK_BYTES else "notes")
    except DatasetError:
        texts, Y, _, _, names, _ = problem("notes")
    split, tags = [text.split() for text in texts], tags_of(Y, names)
    vocabulary = np.array(sorted({word for words in split for word in words}), dtype=object)
    rng = np.random.default_rng(0)
    written = [0]

    def rows() -> Iterator[tuple[str, str]]:
        size = 0
        while True:
            for number in rng.permutation(len(split)):
                words = split[number].copy()
                places = rng.integers(len(words) or 1, size=int(EXCHANGED * len(words)))
                for place, word in zip(places, rng.integers(len(vocabulary), size=len(places))):
                    words[place] = vocabulary[word]
                text = " ".join(words)
                size += len(text.encode()) + len(tags[number]) + 4
                written[0] += 1
                yield text, tags[number]
                if size >= n_bytes:
                    return

    write(path, rows())
    return written[0]


def fit_file(path: str) -> Callable[[], dict[str, Any]]:
    def work() -> dict[str, Any]:
        start = time.perf_counter()
        tagger = fit_stream(path, ["tags"], text=["text"])
        return {"elapsed": time.perf_counter() - start, **tagger.measured.measures}

    return work


if __name__ == "__main__":
    main(measure, __doc__)
