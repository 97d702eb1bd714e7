"""What is chosen out of fold: measures of scores on rows that nothing was fitted on.

Two candidates are compared on the same rows, dealt into groups: one is worse if the mean of the
groups' differences is larger than its standard error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from splmll.arrays import dense
from splmll.metrics import MEASURES
from splmll.metrics.grouped import measure_groups
from splmll.thresholds import MIN_ROWS, fit_threshold

GROUPS = 10  # of rows, over which a standard error is taken
JUDGED_CELLS = 2**21  # labels of rows that are measured; more rows would not change a choice

#: Recovery may make none of these worse than the embedding alone.
GUARDED = ("average_precision", "ranking_loss", "micro_f1")

#: Fewer landmarks may make none of these worse: labels that are none lose their own model.
KEPT = (*GUARDED, "macro_f1")

#: A larger loss is one, however large the standard error: of few rows nothing is certain.
LARGEST_LOSS = 0.005


class Judge:
    """Measures scores of rows group by group.

    Parameters
    ----------
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        True labels; NaN where unknown. An unknown label never counts.
    scoring : str
        What candidates are compared by, a name in :data:`splmll.metrics.MEASURES`.
    threshold : str or float
        The rule by which scores become labels.
    seed : int
        Seed of the groups, and of the rows where only some are measured.

    Attributes
    ----------
    rows : ndarray of int
        The rows that are measured; scores are given for these.
    names : tuple of str
        The measures that anything is decided by, ``scoring`` first.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.judging import Judge
    >>> Y = (np.random.default_rng(0).random((200, 3)) < 0.5) * 1.0
    >>> judge = Judge(Y, "average_precision", "micro_f1", seed=0)
    >>> perfect, useless = judge.measure(Y), judge.measure(np.zeros((200, 3)))
    >>> judge.is_worse(useless, perfect), judge.is_worse(perfect, useless)
    (True, False)
    """

    def __init__(self, Y: Any, scoring: str, threshold: str | float, seed: int) -> None:
        self.scoring, self.threshold = scoring, threshold
        self.names = tuple(dict.fromkeys((scoring, *KEPT)))
        n_rows, n_labels = Y.shape
        order = np.random.default_rng(seed).permutation(n_rows)
        order = order[: max(MIN_ROWS, JUDGED_CELLS // n_labels)]
        self.rows = np.sort(order)
        truth = dense(Y[self.rows])
        self._unknown = np.isnan(truth)
        self._truth = np.where(self._unknown, 0.0, truth).astype(np.int8)
        rng = np.random.default_rng(seed + 1)
        self._group = rng.permutation(len(self.rows)) % min(GROUPS, len(self.rows))

    def measure(
        self, scores: np.ndarray, names: Iterable[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Return measures of every group.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_labels)
            Scores of ``rows``.
        names : iterable of str, optional
            Which measures; all that anything is decided by, unless given.
        """
        names = tuple(names or self.names)
        if self._unknown.any():
            # Ranked last and not predicted, an unknown label changes no comparison.
            scores = np.where(self._unknown, scores.min() - 1.0, scores)
        labels = None
        if any(MEASURES[name].needs == "labels" for name in names):
            labels = fit_threshold(self.threshold, self._truth, scores).apply(scores)
        return measure_groups(self._truth, scores, labels, self._group, names)

    def value(self, measured: Mapping[str, np.ndarray]) -> float:
        """Return the mean of the deciding measure, larger for better."""
        return float(_larger_is_better(measured, self.scoring).mean())

    def is_worse(self, measured: Mapping[str, np.ndarray], than: Mapping[str, np.ndarray]) -> bool:
        """Return whether a candidate is worse by one standard error, or by ``LARGEST_LOSS``."""
        return _is_worse(measured, than, self.scoring)

    def is_better(self, measured: Mapping[str, np.ndarray], than: Mapping[str, np.ndarray]) -> bool:
        """Return whether a candidate is better by more than one standard error."""
        ahead = _ahead(measured, than, self.scoring)
        return bool(ahead.mean() > _standard_error(ahead) + 1e-12)

    def loses(self, measured: Mapping[str, np.ndarray], than: Mapping[str, np.ndarray]) -> bool:
        """Return whether a candidate is worse in anything, as :meth:`is_worse` means it."""
        return any(_is_worse(measured, than, name) for name in self.names)

    def hurts(self, measured: Mapping[str, np.ndarray], alone: Mapping[str, np.ndarray]) -> bool:
        """Return whether a candidate is worse than f alone in anything that is guarded.

        In the deciding measure as :meth:`is_worse` means it, in the others by more than one
        standard error of f's own measure: among many candidates and measures, the smaller error of
        a difference would be exceeded by chance.
        """
        if self.is_worse(measured, alone):
            return True
        for name in GUARDED:
            if name == self.scoring:
                continue
            reference = _larger_is_better(alone, name)
            behind = float(np.mean(reference - _larger_is_better(measured, name)))
            if behind > _standard_error(reference) + 1e-12:
                return True
        return False


def _larger_is_better(measured: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    return measured[name] if MEASURES[name].greater_is_better else -measured[name]


def _ahead(
    measured: Mapping[str, np.ndarray], than: Mapping[str, np.ndarray], name: str
) -> np.ndarray:
    """By how much each group is better."""
    return _larger_is_better(measured, name) - _larger_is_better(than, name)


def _is_worse(
    measured: Mapping[str, np.ndarray], than: Mapping[str, np.ndarray], name: str
) -> bool:
    behind = _ahead(than, measured, name)
    return bool(behind.mean() > min(_standard_error(behind), LARGEST_LOSS) + 1e-12)


def _standard_error(values: np.ndarray) -> float:
    """Standard error of the mean of the groups' values."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
