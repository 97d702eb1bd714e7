"""How long annotators wait for the next question: 600 labels, a real server, one answer at a time.

The clock of the client is read around every answer, so a time holds what the server does (keep the
answer on the disk, look what follows from it, choose the next question or row) and the way there
and back over loopback. The model is SPL-MLL on documents as bags of words; answers are the truth.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from benchmarks.generated import text_problem
from benchmarks.measuring import Finding, main
from benchmarks.service_load import processor_seconds
from splmll.datasets import Dataset
from splmll.tagging import Tagger

SIZE, QUICK_SIZE = (4000, 500, 600), (200, 40, 12)
N_ROWS, QUICK_ROWS = 400, 20
QUESTIONS, QUICK_QUESTIONS = 1000, 20
MOST_P99 = 50.0  # milliseconds
START_LIMIT = 120  # seconds


def measure(quick: bool) -> Iterator[Finding]:
    n_rows, n_features, n_labels = QUICK_SIZE if quick else SIZE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth = prepare(folder, n_rows, n_features, n_labels, QUICK_ROWS if quick else N_ROWS)
        with desk(folder) as (address, process):
            before = processor_seconds(process)
            times, rows = answer_all(address, truth, QUICK_QUESTIONS if quick else QUESTIONS)
            used = 1000 * (processor_seconds(process) - before) / len(times)
    within = np.percentile(times, [50, 99])
    title = f"{n_labels} labels, {len(times)} answers in {rows} rows"
    details = {"median": within[0], "p99": within[1], "longest": max(times)}
    yield Finding(f"{title}: median", within[0], "ms", details=details)
    yield Finding(f"{title}: 99 of 100 within", within[1], "ms", high=MOST_P99)
    # What a busy machine does not change.
    yield Finding(f"{title}: CPU time of an answer", used, "ms")


def prepare(
    folder: Path, n_rows: int, n_features: int, n_labels: int, n_new: int
) -> list[set[str]]:
    """Write a model, and rows to annotate like those that it learned from; return their labels."""
    X, Y = text_problem(n_rows + n_new, n_features, n_labels)
    columns = [f"x{number}" for number in range(n_features)]
    names = [f"label {number}" for number in range(n_labels)]
    kinds = dict.fromkeys(columns, "numeric")
    features, labels = X.toarray(), Y.toarray()
    data = Dataset(features[:n_rows], labels[:n_rows], columns, names, column_kinds=kinds)
    Tagger.fit(data, "SPL-MLL (linear)").save(folder / "model")
    new = pd.DataFrame(features[n_rows:].round(6), columns=columns)
    new.to_csv(folder / "new.csv", index=False)
    return [{names[k] for k in np.flatnonzero(row)} for row in labels[n_rows:]]


@contextmanager
def desk(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start ``splmll annotate`` on a free port, and end it afterwards."""
    command = [sys.executable, "-m", "splmll", "annotate", "new.csv", "--model", "model"]
    process = subprocess.Popen(
        [*command, "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        line = next((line for line in process.stdout if line.startswith("Serving at ")), None)
        if line is None:
            raise RuntimeError("the server ended before it served; its message stands above")
        yield line.split()[2].rstrip(";"), process
    finally:
        process.terminate()
        process.wait(START_LIMIT)


def answer_all(address: str, truth: list[set[str]], most: int) -> tuple[list[float], int]:
    """Answer question after question; return the times in milliseconds, and how many rows."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=START_LIMIT)

    def ask(path: str, **content: Any) -> dict[str, Any] | None:
        body = json.dumps({"annotator": "ann", **content})
        connection.request("POST", f"/annotate/{path}", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(found)
        return found["task"]

    task, times, rows = ask("next"), [], set()
    while task is not None and len(times) < most:
        rows.add(task["row"])
        about = {"row": task["row"], "label": task["question"], "token": f"token {len(times)}"}
        started = time.perf_counter()
        holds = task["question"] in truth[task["row"]]
        task = ask("answer", answer="yes" if holds else "no", **about)
        times.append(1000 * (time.perf_counter() - started))
    return times, len(rows)


if __name__ == "__main__":
    main(measure, __doc__)
