"""Small data and strange methods for the tests of experiments."""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from splmll.datasets import Dataset


def small_data(name: str = "small", n_rows: int = 120, *, split: bool = False) -> Dataset:
    """Three labels that depend on four features."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, 4))
    Y = (X @ rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=(n_rows, 3)) > 0.3).astype(np.uint8)
    rows = np.arange(n_rows)
    parts = {"train": rows[: n_rows // 2], "test": rows[n_rows // 2 :]} if split else {}
    return Dataset(X, Y, list("abcd"), list("xyz"), name=name, **parts)


class Noting(ClassifierMixin, BaseEstimator):
    """Scores at random by its seed; notes in a file when a fit begins and ends."""

    def __init__(
        self, name: str = "", log: str = "", pause: float = 0.0, random_state: int | None = None
    ) -> None:
        self.name = name
        self.log = log
        self.pause = pause
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> Noting:
        self._note("begin")
        time.sleep(self.pause)
        self.n_labels_ = Y.shape[1]
        self._note("end")
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        rng = np.random.default_rng(self.random_state)
        return rng.normal(size=(len(X), self.n_labels_)) + X[:, : self.n_labels_]

    def predict(self, X: Any) -> np.ndarray:
        return (self.decision_function(X) > 0).astype(int)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _note(self, what: str) -> None:
        if self.log:
            with Path(self.log).open("a") as file:
                file.write(f"{what} {self.name}/{self.random_state} {os.getpid()} {os.getppid()}\n")


class Misbehaving(Noting):
    """Does in ``fit`` what a method should not."""

    def fit(self, X: Any, Y: Any) -> Misbehaving:
        super().fit(X, Y)
        if self.name == "error":
            raise RuntimeError("the ridge is too high\nand the valley too deep")
        if self.name == "exit":
            os._exit(3)
        if self.name == "segfault":
            ctypes.string_at(0)
        if self.name == "time":
            time.sleep(600)
        if self.name == "memory":
            self.block_ = np.ones((1_000_000_000 // 8,))
            time.sleep(600)
        return self


def notes(log: Path, what: str = "end") -> list[list[str]]:
    """Return the lines of a log: unit, process and parent process of each fit."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [line.split()[1:] for line in lines if line.split()[0] == what]
