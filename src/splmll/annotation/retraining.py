"""Learning again from the answers so far, in a separate process while annotators go on.

The new model replaces the old one when it is complete.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from splmll.annotation.queue import known_labels
from splmll.annotation.store import AnswerStore
from splmll.annotation.table import AnnotationTable
from splmll.arrays import dense
from splmll.datasets import Dataset
from splmll.exceptions import DatasetError
from splmll.tagging import Tagger
from splmll.tagging.files import read_alike
from splmll.tagging.rows import named_columns

IDLE, RUNNING, DONE, FAILED = "idle", "running", "done", "failed"
_NICE = 10  # questions come first
_MOST_SAID = 500  # characters of an error that are shown


def training_data(
    table: AnnotationTable,
    known: np.ndarray,
    tagger: Tagger,
    examples: str | Path | None = None,
) -> Dataset:
    """Return what to learn from: rows with known labels, and other examples.

    Parameters
    ----------
    table : AnnotationTable
        The rows that are annotated.
    known : ndarray of shape (n_rows, n_labels)
        Their known labels; NaN if not known.
    tagger : Tagger
        The model.
    examples : path-like, optional
        The table that the model learned from, or another one like it.

    Returns
    -------
    data : Dataset
    """
    rows = np.flatnonzero(~np.isnan(known).all(axis=1))
    X, Y = [table.features.iloc[rows]], [known[rows]]
    if examples is not None:
        others = read_alike(examples, tagger.reading, tagger.column_kinds)
        place = {name: number for number, name in enumerate(tagger.label_names)}
        pairs = [(j, place[name]) for j, name in enumerate(others.label_names) if name in place]
        # A label that no example has is one that none of them has.
        labels = np.zeros((others.X.shape[0], len(place)))
        given = dense(others.Y)
        for source, target in pairs:
            labels[:, target] = given[:, source]
        X.append(named_columns(others.X, others.feature_names))
        Y.append(labels)
    if not sum(len(each) for each in X):
        raise DatasetError("there are no answers to learn from yet; answer some questions first")
    return Dataset(
        pd.concat(X, ignore_index=True),
        np.concatenate(Y),
        list(table.features.columns),
        tagger.label_names,
        name=table.path.stem,
        column_kinds=tagger.column_kinds,
    )


@dataclass(frozen=True)
class Progress:
    """The progress of retraining.

    Attributes
    ----------
    state : {"idle", "running", "done", "failed"}
        Whether it runs, and how the last one ended.
    what : str
        What is being done, or what went wrong.
    share : float or None
        The share that is done; None if not known.
    """

    state: str = IDLE
    what: str = ""
    share: float | None = None


class Retraining:
    """Learns from a table and its answers in a child process, one at a time.

    Parameters
    ----------
    model : path-like
        The model; the new one is written to its place.
    table, answers : path-like
        The rows and the answers about them.
    examples : path-like, optional
        See :func:`training_data`.
    """

    def __init__(
        self,
        model: str | Path,
        table: str | Path,
        answers: str | Path,
        examples: str | Path | None = None,
    ) -> None:
        given = [model, table, answers, *([] if examples is None else [examples])]
        self._command = [sys.executable, "-m", __name__, *(str(Path(each)) for each in given)]
        self._lock = threading.Lock()
        self._progress = Progress()
        self._process: subprocess.Popen[str] | None = None

    @property
    def progress(self) -> Progress:
        """The current progress."""
        return self._progress

    def start(self, on_done: Callable[[], object]) -> bool:
        """Start retraining; return False if it is already running.

        Parameters
        ----------
        on_done : callable
            Called in a thread when the new model is in place. Retraining is done when this returns;
            an exception counts as its failure.
        """
        with self._lock:
            if self._progress.state == RUNNING:
                return False
            self._progress = Progress(RUNNING, "starting")
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        threading.Thread(target=self._follow, args=(on_done,), daemon=True).start()
        return True

    def stop(self) -> None:
        """Stop the child process, if there is one; the old model stays."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def _follow(self, on_done: Callable[[], object]) -> None:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        assert process.stderr is not None
        errors: list[str] = []
        # Read beside the other stream: a child that fills a pipe nobody reads would stand still.
        reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
        reader.start()
        told = None
        for line in process.stdout:
            said = json.loads(line)
            told = said.get("error", told)
            if "what" in said:
                self._progress = Progress(RUNNING, said["what"], said["share"])
        status = process.wait()
        reader.join()
        if status:
            last = errors[-1].strip() if errors else f"it ended with status {status}"
            self._progress = Progress(FAILED, (told or last)[:_MOST_SAID])
            return
        try:
            self._progress = Progress(RUNNING, "switching to the new model")
            on_done()
        except Exception as error:
            self._progress = Progress(FAILED, str(error)[:_MOST_SAID])
        else:
            self._progress = Progress(DONE, "the new model is in use")


def retrain(
    model: Path,
    table: Path,
    answers: Path,
    examples: Path | None = None,
    *,
    on_progress: Callable[[str, float | None], object] | None = None,
) -> Tagger:
    """Learn from a table and its answers, and replace the old model with the new one.

    Parameters
    ----------
    model, table, answers, examples
        As in :class:`Retraining`.
    on_progress : callable, optional
        Called with what is being done and the share that is done (None: not known).

    Returns
    -------
    tagger : Tagger
    """
    tagger = Tagger.load(model)
    rows = AnnotationTable.read(table, tagger)
    with AnswerStore(answers) as store:
        store.open_table(rows.digests)
        known = known_labels(rows, store, tagger.label_names)
    fitted = tagger.refit(training_data(rows, known, tagger, examples), on_progress=on_progress)
    fitted.save(model)
    return fitted


def _main(arguments: list[str]) -> int:
    """Retrain as told, saying on the standard output how far it is, a JSON object a line."""

    def say(**values: Any) -> None:
        sys.stdout.write(json.dumps(values) + "\n")
        sys.stdout.flush()

    if hasattr(os, "nice"):
        os.nice(_NICE)
    try:
        model, table, answers, *examples = map(Path, arguments)
        retrain(
            model,
            table,
            answers,
            *examples,
            on_progress=lambda what, share: say(what=what, share=share),
        )
    except (ValueError, OSError) as error:
        say(error=str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
