"""Where a fit gets what it knows: from rows in memory, or from the sums kept of a stream.

The exact solver asks both for the same few things, so it is written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from splmll.landmarks.embedding import Embedding, LinearEmbedding
from splmll.landmarks.statistics import Statistics, fold_statistics
from splmll.landmarks.stream import Stream
from splmll.landmarks.tuning import label_statistics, tuning_rows


class Source(Protocol):
    """What the exact solver asks for.

    Attributes
    ----------
    label_parts : sequence of Statistics
        Y'Y of every fold (of all rows without folds).
    Y : ndarray or CSR array of shape (n_tuning_rows, n_labels)
        Labels of the rows that thresholds are tuned on: all rows, or a sample of them.
    fold : ndarray of int or None
        Fold of each of these rows; None without folds.
    all_rows : bool
        Whether these are all rows.
    """

    label_parts: Sequence[Statistics]
    Y: Any
    fold: np.ndarray | None
    all_rows: bool

    def fit(self, f: Any, labels: np.ndarray, center: bool) -> np.ndarray | None:
        """Fit f to some labels; return its out-of-fold predictions of the tuning rows."""

    def parts(self, f: Any, outputs: np.ndarray) -> Sequence[Statistics]:
        """Return, fold by fold, statistics of some outputs of f with all labels."""


class RowSource:
    """Rows in memory.

    Parameters
    ----------
    X : array, CSR array or torch Dataset
        Features.
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        Labels; NaN where unknown.
    folds : ndarray of shape (n_draws, n_rows) or None
        Fold number of every row, one line for every time the folds are drawn.
    seed : int
        Seed of the sample, where thresholds are tuned on one.
    """

    def __init__(self, X: Any, Y: Any, folds: np.ndarray | None, seed: int) -> None:
        self.label_parts: Sequence[Statistics] = label_statistics(Y, folds)
        self._X, self._labels, self._folds = X, Y, folds
        self._rows = tuning_rows(Y, seed)
        self.Y = Y[self._rows] if isinstance(self._rows, np.ndarray) else Y
        self.fold: np.ndarray | None = None if folds is None else folds[0][self._rows]
        self.all_rows = self.Y.shape[0] == Y.shape[0]

    def fit(self, f: Embedding, labels: np.ndarray, center: bool) -> np.ndarray | None:
        """Fit f to some labels; return its out-of-fold predictions of the tuning rows."""
        every = len(labels) == self._labels.shape[1]
        f.fit(self._X, self._labels if every else self._labels[:, labels], self._folds, center)
        return None if f.out_of_fold is None else f.out_of_fold[self._rows]

    def parts(self, f: Embedding, outputs: np.ndarray) -> Sequence[Statistics]:
        """Return, fold by fold, statistics of some outputs of f with all labels."""
        if f.parts[0].n_labels == self._labels.shape[1]:
            return [part.of_features(outputs) for part in f.parts]
        assert f.out_of_fold is not None
        assert self._folds is not None
        return fold_statistics(
            f.out_of_fold[:, outputs],
            self._labels,
            self._folds[0],
            center_features=False,
            label_pairs=False,
        )


class StreamSource:
    """Sums over rows that are gone, and a sample of the rows.

    Parameters
    ----------
    stream : Stream
        What was kept.
    with_folds : bool
        Whether its folds serve for out-of-fold predictions.
    """

    def __init__(self, stream: Stream, with_folds: bool) -> None:
        self.label_parts: Sequence[Statistics] = stream.folds
        self._X, self.Y, fold = stream.sample()
        self.fold: np.ndarray | None = fold if with_folds else None
        self.all_rows = self.Y.shape[0] == stream.n_rows

    def fit(self, f: LinearEmbedding, labels: np.ndarray, center: bool) -> np.ndarray | None:
        """Fit f to some labels; return its out-of-fold predictions of the tuning rows."""
        parts = self.label_parts
        if len(labels) < parts[0].n_labels:
            parts = [part.of_labels(labels) for part in parts]
        f.fit_statistics(parts, center)
        if self.fold is not None:
            f.predict_folds(self._X, self.fold)
        return f.out_of_fold

    def parts(self, f: LinearEmbedding, outputs: np.ndarray) -> Sequence[Statistics]:
        """Return, fold by fold, statistics of some outputs of f with all labels."""
        if f.parts[0].n_labels == self.label_parts[0].n_labels:
            return [part.of_features(outputs) for part in f.parts]
        return [
            part.mapped(W[:, outputs])
            for part, W in zip(self.label_parts, f.fold_maps, strict=True)
        ]
