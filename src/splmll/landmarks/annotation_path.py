"""The annotation path: what each number of questions achieves, and what it would otherwise.

Rows with known labels are asked about as if they had none. Labels that were asked about count as
right, whichever way they were chosen, so that the curves differ by the choice of questions alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from splmll.extras import required
from splmll.landmarks.answering import AnswerModel
from splmll.landmarks.belief import Belief

#: How questions are chosen.
STRATEGIES = {
    "adaptive": "the best question for each row",
    "landmarks": "the landmarks in their order",
    "frequent": "the most frequent labels",
    "random": "at random",
}
#: What is measured, and how it is called in figures.
PATH_MEASURES = {
    "micro_f1": "micro-F1 ↑",
    "exact_match": "rows without an error ↑",
    "wrong_labels": "wrong labels per row ↓",
}
# Markers as well as colours: the figure is read in black and white too.
_LOOKS = {"adaptive": "o-", "landmarks": "s--", "frequent": "^:", "random": "x:"}
COUNTS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24)
BLOCK_ROWS = 64  # asked about together


@dataclass(frozen=True, eq=False)
class AnnotationPath:
    """What each number of questions per row achieves, out of fold.

    Attributes
    ----------
    counts : ndarray of int
        Numbers of questions per row.
    measures : dict of str to dict of str to ndarray
        For every way to choose questions ("adaptive", "landmarks", "frequent", "random") the
        measures "micro_f1", "exact_match" (share of rows without an error) and "wrong_labels" (mean
        number per row).
    """

    counts: np.ndarray
    measures: dict[str, dict[str, np.ndarray]]

    def to_frame(self) -> pd.DataFrame:
        """Return the path as a table, one line per way to choose and number of questions."""
        pieces = {
            strategy: pd.DataFrame(found, index=pd.Index(self.counts, name="n_questions"))
            for strategy, found in self.measures.items()
        }
        return pd.concat(pieces, names=["strategy"])

    def plot(self, axes: Any = None) -> Any:
        """Draw every measure against the number of questions.

        Parameters
        ----------
        axes : array of matplotlib Axes, optional
            Three axes to draw into.

        Returns
        -------
        figure : matplotlib Figure
        """
        plt = required("matplotlib.pyplot", "plots", "Drawing")

        if axes is None:
            _, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
        axes = np.asarray(axes).ravel()
        for ax, measure in zip(axes, PATH_MEASURES, strict=False):
            self.draw(ax, measure)
        axes[0].legend(frameon=False)
        return axes[0].figure

    def draw(self, ax: Any, measure: str) -> dict[str, Any]:
        """Draw one measure into axes and return its curves, by how questions are chosen."""
        from matplotlib.ticker import MaxNLocator

        lines = {}
        for strategy, found in self.measures.items():
            (lines[strategy],) = ax.plot(
                self.counts,
                found[measure],
                _LOOKS[strategy],
                markersize=4,
                label=STRATEGIES[strategy],
            )
        ax.set(xlabel="questions per row", ylabel=PATH_MEASURES[measure])
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        return lines


def follow_path(
    models: Sequence[AnswerModel],
    scores: np.ndarray,
    Y: np.ndarray,
    group: np.ndarray,
    landmarks: np.ndarray,
    counts: Sequence[int],
    seed: int = 0,
) -> AnnotationPath:
    """Ask about rows whose labels are known, in every way, and measure.

    Parameters
    ----------
    models : sequence of AnswerModel
        One for each group of rows, learned without it.
    scores, Y : ndarray of shape (n_rows, n_labels)
        Out-of-fold scores and true labels.
    group : ndarray of int
        The model of each row.
    landmarks : ndarray of int
        The landmarks in their order; after them the most frequent labels are asked about.
    counts : sequence of int
        Numbers of questions to look at.
    seed : int, default=0
        Seed of the random questions.
    """
    frequent = np.argsort(-Y.mean(axis=0), kind="stable")
    fixed = np.concatenate([landmarks, frequent[~np.isin(frequent, landmarks)]])
    at_random = np.argsort(np.random.default_rng(seed).random(Y.shape), axis=1)
    orders = {
        "adaptive": None,
        "landmarks": np.tile(fixed, (len(Y), 1)),
        "frequent": np.tile(frequent, (len(Y), 1)),
        "random": at_random,
    }
    measures = {}
    for strategy, order in orders.items():
        found = np.empty((len(counts), *Y.shape), dtype=np.uint8)
        for number, model in enumerate(models):
            members = np.flatnonzero(group == number)
            for start in range(0, len(members), BLOCK_ROWS):
                rows = members[start : start + BLOCK_ROWS]
                ask = _choice(model, None if order is None else order[rows])
                found[:, rows] = _labels_on_the_way(model, scores[rows], Y[rows], counts, ask)
        measures[strategy] = _measured(Y, found)
    return AnnotationPath(np.asarray(counts, dtype=np.intp), measures)


def _choice(model: AnswerModel, order: np.ndarray | None) -> Callable[[Belief, int], np.ndarray]:
    """Return what chooses the next question of each row."""
    if order is None:
        return lambda belief, k: model.next_questions(belief)[:, 0]
    return lambda belief, k: order[:, k]


def _labels_on_the_way(
    model: AnswerModel,
    scores: np.ndarray,
    Y: np.ndarray,
    counts: Sequence[int],
    ask: Callable[[Belief, int], np.ndarray],
) -> np.ndarray:
    """Return the completed labels after each number of questions."""
    belief, every, found = model.belief(scores), np.arange(len(Y)), []
    for k in range(max(counts) + 1):
        if k in counts:
            found.append(model.decide(scores, belief)[0])
        if k < max(counts):
            labels = ask(belief, k)
            belief.tell(every, labels, Y[every, labels])
    return np.stack(found)


def _measured(Y: np.ndarray, found: np.ndarray) -> dict[str, np.ndarray]:
    wrong = found != Y
    hits = (found * Y).sum(axis=(1, 2))
    size = found.sum(axis=(1, 2), dtype=np.float64) + Y.sum()
    return {
        "micro_f1": np.where(size > 0, 2 * hits / np.maximum(size, 1), 1.0),
        "exact_match": (~wrong.any(axis=2)).mean(axis=1),
        "wrong_labels": wrong.sum(axis=2).mean(axis=1),
    }
