"""SPLMLL with 10,000 labels beside label trees, the methods made for very many labels.

Peers: omikuji (Parabel) and napkinXC (probabilistic label trees), one thread each, with their
defaults. Documents are generated; precision at 1 and 5 on held-out rows stands beside the time to
train. Omikuji reads its rows from a text file, which is part of its time.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.generated import text_problem
from benchmarks.measuring import Finding, best, by_turns, main, median_ratio, missing
from splmll import SPLMLL

SIZE, QUICK_SIZE = (30_000, 5000, 10_000), (300, 80, 40)
TEST_ROWS = 1000
TOP = 5
OURS, OMIKUJI, NAPKINXC = "SPLMLL", "omikuji", "napkinxc"

# Trains, and returns what predicts the top labels of rows: only training is timed.
Trained = Callable[[Any], list[list[int]]]


def train_ours(X: Any, Y: Any, folder: Path) -> Trained:
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    return lambda rows: np.argsort(-model.decision_function(rows), axis=1)[:, :TOP].tolist()


def train_omikuji(X: Any, Y: Any, folder: Path) -> Trained:
    import omikuji

    path = folder / "rows.txt"
    write_rows(path, X, Y)
    with quiet():
        model = omikuji.Model.train_on_data(str(path), n_threads=1)

    def predict(rows: Any) -> list[list[int]]:
        found = []
        for row in range(rows.shape[0]):
            part = slice(rows.indptr[row], rows.indptr[row + 1])
            pairs = list(zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True))
            found.append([label for label, _ in model.predict(pairs, top_k=TOP)])
        return found

    return predict


def train_napkinxc(X: Any, Y: Any, folder: Path) -> Trained:
    from napkinxc.models import PLT

    model = PLT(str(folder / "napkinxc"), threads=1, verbose=False)
    model.fit(sparse.csr_matrix(X), [Y.indices[a:b].tolist() for a, b in spans(Y)])
    return lambda rows: model.predict(sparse.csr_matrix(rows), top_k=TOP)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Send what a compiled library prints past Python, such as a progress bar, nowhere."""
    sys.stdout.flush()
    sys.stderr.flush()
    with open(os.devnull, "w") as nowhere:
        kept = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(nowhere.fileno(), number)
        try:
            yield
        finally:
            for number, before in zip((1, 2), kept, strict=True):
                os.dup2(before, number)
                os.close(before)


def write_rows(path: Path, X: Any, Y: Any) -> None:
    """Write the text format of the extreme classification repository."""
    with path.open("w") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for (a, b), (c, d) in zip(spans(X), spans(Y), strict=True):
            labels = ",".join(str(label) for label in Y.indices[c:d])
            words = " ".join(
                f"{word}:{value:.5g}"
                for word, value in zip(X.indices[a:b], X.data[a:b], strict=True)
            )
            file.write(f"{labels} {words}\n")


def spans(table: Any) -> list[tuple[int, int]]:
    return list(zip(table.indptr[:-1].tolist(), table.indptr[1:].tolist(), strict=True))


def precision(Y: Any, found: list[list[int]], k: int) -> float:
    relevant = [set(Y.indices[a:b].tolist()) for a, b in spans(Y)]
    hits = sum(len(truth & set(top[:k])) for truth, top in zip(relevant, found, strict=True))
    return hits / (k * len(relevant))


def measure(quick: bool) -> Iterator[Finding]:
    size = QUICK_SIZE if quick else SIZE
    n_test = size[0] // 10 if quick else TEST_ROWS
    X, Y = text_problem(*size)
    title = " x ".join(str(n) for n in size)
    train, test = slice(n_test, None), slice(0, n_test)
    made = {OURS: train_ours, OMIKUJI: train_omikuji, NAPKINXC: train_napkinxc}
    for peer in (OMIKUJI, NAPKINXC):
        try:
            __import__(peer)
        except ImportError:
            yield missing(f"{title}: SPLMLL beside {peer}", peer)
            del made[peer]
    trained: dict[str, Trained] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):

        def run(name: str) -> None:
            trained[name] = made[name](X[train], Y[train], Path(folder))

        times = by_turns({name: partial(run, name) for name in made}, repeats=1)
        for name in made:
            found = trained[name](X[test])
            at_1, at_5 = (precision(Y[test], found, k) for k in (1, TOP))
            details = {"seconds": best(times)[name], f"precision_at_{TOP}": at_5}
            case = f"{title}: {name}, precision at 1"
            yield Finding(case, at_1, f"(at {TOP}: {at_5:.3f})", details=details)
            if name != OURS:
                ratio = median_ratio(times, name, OURS)
                yield Finding(f"{title}: SPLMLL beside {name}", ratio, "times as fast")


if __name__ == "__main__":
    main(measure, __doc__)
