"""What a cell of the benchmark will take, guessed from the cells that were measured.

The guesses put cheap cells first and leave out those that would run far beyond the limit. Every
cell that ends makes them better, also while a benchmark runs.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import lsq_linear

from splmll.experiments.benchmark.sets import SETS

# Times are taken to grow as rows^a * features^b * labels^c. Measured cells of a method pull the
# powers away from these usual ones, within the limits; the weight of the usual ones is that of
# three long cells. On the frozen table, the guess of a set from the smaller ones was wrong by a
# factor of 2.3 on average.
_USUAL_POWERS = np.array([1.0, 0.5, 0.5])
_SMALLEST_POWERS, _LARGEST_POWERS = (0.5, 0.0, 0.0), (2.0, 2.0, 2.0)
_WEIGHT_OF_USUAL = 3.0
# Below some seconds, time goes into what does not grow with the data.
_OVERHEAD = 2.0
_SHORTEST = 0.2
# What is measured in less than these seconds says too little of sets that take hours.
LONG_ENOUGH = 60.0


class CellTimes:
    """Measured CPU seconds of cells, and guesses for others.

    Parameters
    ----------
    known : DataFrame
        A tidy table of results.
    limit : float
        Seconds that a cell which ran out of time has taken at least.

    Examples
    --------
    >>> from splmll.experiments import frozen_results
    >>> from splmll.experiments.benchmark.times import CellTimes
    >>> times = CellTimes(frozen_results(), 500.0)
    >>> times.guess("delicious", "CLR") > times.guess("flags", "BR")
    True
    """

    def __init__(self, known: pd.DataFrame, limit: float) -> None:
        self._limit = limit
        self._seconds: dict[str, dict[str, float]] = {}
        self._ruled_out: set[tuple[str, str]] = set()
        plain = known[(known["search"] == "none") & known["data"].isin(SETS)]
        cells = plain.drop_duplicates(["data", "method", "seed"])
        for cell in cells.to_dict("records"):
            self.learn(cell["data"], cell["method"], cell["status"], cell["seconds"])

    def learn(self, data: str, method: str, status: str, seconds: float) -> None:
        """Take in a cell that ended, with its status and the CPU seconds of its first fit."""
        taken = self._limit if status == "timeout" else seconds
        if np.isfinite(taken):
            measured = self._seconds.setdefault(method, {})
            measured[data] = max(taken, measured.get(data, 0.0))

    def rule_out(self, data: str, method: str) -> None:
        """Note that a cell cannot end within the limits, whatever the guess."""
        self._ruled_out.add((data, method))

    def is_measured(self, data: str, method: str) -> bool:
        """Return whether what a cell takes is known, and not just guessed."""
        return data in self._seconds.get(method, {})

    def guess(self, data: str, method: str) -> float:
        """Return the CPU seconds that a method takes on a set, measured or guessed."""
        measured = self._seconds.get(method, {})
        if data in measured:
            return measured[data]
        if not measured:
            # Some millionths of a second for each label of each row. The cheap methods are
            # measured first: one that is not yet is hardly among them.
            known = SETS[data]
            return 1.0 + 3e-6 * known.n_train * known.n_labels * float(np.sqrt(known.n_features))
        seconds = np.maximum(list(measured.values()), _SHORTEST)
        sizes = np.array([_sizes(name) for name in measured])
        weights = seconds / (seconds + _OVERHEAD)
        centre = np.average(sizes, axis=0, weights=weights)
        level = np.average(np.log(seconds), weights=weights)
        root = np.sqrt(weights)
        usual = np.sqrt(_WEIGHT_OF_USUAL)
        powers = lsq_linear(
            np.vstack([root[:, None] * (sizes - centre), usual * np.eye(len(centre))]),
            np.concatenate([root * (np.log(seconds) - level), usual * _USUAL_POWERS]),
            bounds=(_SMALLEST_POWERS, _LARGEST_POWERS),
        ).x
        return float(np.exp(level + (_sizes(data) - centre) @ powers))

    def least(self, data: str, method: str) -> float:
        """Return what a cell takes at least: as measured, or half a guess from long cells, or 0."""
        if (data, method) in self._ruled_out:
            return np.inf
        measured = self._seconds.get(method, {})
        if data in measured:
            return measured[data]
        longest = max(measured.values(), default=0.0)
        return self.guess(data, method) / 2 if longest >= LONG_ENOUGH else 0.0


def _sizes(data: str) -> np.ndarray:
    known = SETS[data]
    return np.log([known.n_train, known.n_features, known.n_labels])
