"""The landmark path: objective and measures against the number of landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from splmll.landmarks.label_moments import LabelMoments
from splmll.landmarks.selection import by_weight
from splmll.landmarks.statistics import split_unknown, sum_of
from splmll.landmarks.tuning import label_statistics, varying_labels
from splmll.metrics import MEASURES, evaluate
from splmll.parallel_training import agreed_seed
from splmll.thresholds import fit_threshold

if TYPE_CHECKING:
    from splmll.landmarks.classifier import SPLMLL


@dataclass(frozen=True)
class LandmarkPath:
    """What each number of landmarks achieves.

    Attributes
    ----------
    counts : ndarray of int
        Numbers of landmarks.
    objective : ndarray of float
        The objective without its sparsity term, so that the numbers can be compared.
    measures : dict of str to ndarray
        The paper's five measures of out-of-fold scores.
    landmarks : list of ndarray
        The landmarks chosen for every number, largest weight first.
    without : dict of str to float
        The same measures for the embedding alone, without landmarks.
    """

    counts: np.ndarray
    objective: np.ndarray
    measures: dict[str, np.ndarray]
    landmarks: list[np.ndarray]
    without: dict[str, float]

    def to_frame(self) -> pd.DataFrame:
        """Return the path as a table, one line per number of landmarks."""
        frame = pd.DataFrame({"objective": self.objective, **self.measures}, index=self.counts)
        frame.index.name = "n_landmarks"
        return frame

    def plot(self, axes: Any = None) -> Any:
        """Draw the objective and every measure; dashes show the embedding without landmarks.

        Parameters
        ----------
        axes : array of matplotlib Axes, optional
            Six axes to draw into.

        Returns
        -------
        figure : matplotlib Figure
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        if axes is None:
            _, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
        axes = np.asarray(axes).ravel()
        axes[0].plot(self.counts, self.objective, marker=".", color="C7")
        axes[0].set_title("objective without sparsity ↓")
        for ax, (name, values) in zip(axes[1:], self.measures.items(), strict=False):
            ax.plot(self.counts, values, marker=".", color="C0", label="landmarks")
            ax.axhline(self.without[name], ls="--", color="C3", label="without landmarks")
            ax.set_title(f"{MEASURES[name].title} {MEASURES[name].arrow}")
        axes[1].legend(frameon=False)
        for ax in axes:
            ax.set_xlabel("landmarks")
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        return axes[0].figure


def landmark_path(estimator: SPLMLL, X: Any, Y: Any, counts: Any = None) -> LandmarkPath:
    """Follow the path; see :meth:`splmll.SPLMLL.landmark_path`."""
    from sklearn.base import clone
    from sklearn.utils import check_random_state

    from splmll.callbacks import FitProgress

    model = clone(estimator).set_params(solver="exact", joint=True, full_selection=False)
    if model.cv is None:
        model.set_params(cv=5)
    if model.selection == "all":
        model.set_params(selection="soft")
    model._check_parameters()
    X, Y = model._check_fit(X, Y)
    candidates = varying_labels(Y)
    most = int(candidates.sum())
    if most == 0:
        raise ValueError("Every label is constant: there is no landmark path.")
    counts = _default_counts(most) if counts is None else np.asarray(counts, dtype=int)
    if counts.min() < 1 or counts.max() > most:
        raise ValueError(f"counts must lie between 1 and {most}, the number of varying labels.")
    seed = agreed_seed(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
    f = model._make_embedding(seed, FitProgress(model, X, Y))
    folds = model._folds(Y, seed)
    f.fit(X, Y, folds, model.center)
    totals = sum_of(label_statistics(Y, folds))
    labels = LabelMoments.of(totals, model.center, candidates, model.rho, every=True)
    moments = f.moments
    assert f.out_of_fold is not None
    assert folds is not None
    rule = model.threshold
    rows: list[dict[str, float]] = []
    values, chosen = [], []
    for count in counts:
        model.set_params(n_landmarks=int(count))
        solution = model._select(labels, moments.E, candidates)
        landmarks = by_weight(solution.selection)
        weights = solution.selection[landmarks]
        F = f.out_of_fold[:, landmarks]
        if model.recovery == "labels":
            mixing = weights[:, None] * solution.recovery[landmarks]
            scores = (F - moments.y_mean[landmarks]) @ mixing + moments.y_mean
        else:
            parts = [part.of_features(landmarks) for part in f.parts]
            scores = model._honest(parts, landmarks, weights).scores(F, folds[0])
        rows.append(_measure(rule, Y, scores))
        terms = solution.history[-1]
        values.append(terms["objective"] - terms.get("sparsity", 0.0))
        chosen.append(model.label_format_.names_of(landmarks))
    measures = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return LandmarkPath(
        counts, np.asarray(values), measures, chosen, _measure(rule, Y, f.out_of_fold)
    )


def _measure(rule: Any, Y: Any, scores: np.ndarray) -> dict[str, float]:
    predicted = fit_threshold(rule, Y, scores).apply(scores)
    _, known = split_unknown(Y)
    if known is None:
        return evaluate(Y, scores, predicted)
    complete = known.all(axis=1)  # measures need rows all of whose labels are known
    return evaluate(Y[complete], scores[complete], predicted[complete])


def _default_counts(most: int) -> np.ndarray:
    if most <= 20:
        return np.arange(1, most + 1)
    return np.unique(np.concatenate([np.arange(1, 11), np.geomspace(12, most, 14).round()])).astype(
        int
    )
