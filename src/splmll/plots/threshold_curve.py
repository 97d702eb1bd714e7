"""What every threshold would achieve: measures against the score from which a label is predicted.

The dashed line is the threshold that was chosen; a curve that is higher elsewhere says what another
one would give on these rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from splmll.base import MultilabelClassifier
from splmll.docstrings import with_paragraphs
from splmll.metrics import MEASURES, evaluate
from splmll.names import known_name
from splmll.plots.display import Display
from splmll.plots.label_input import (
    check_same_shape,
    label_matrix,
    last_estimator,
    same_columns,
    score_matrix,
)
from splmll.scores import choose_method, scores_of
from splmll.thresholds import GlobalThreshold

N_THRESHOLDS = 100  # at equal distances, and as many again at equal shares of the scores
# What a method's scores are cut at where the estimator does not tell.
USUAL = {"decision_function": 0.0, "predict_proba": 0.5}


@with_paragraphs
class ThresholdCurveDisplay(Display):
    """Measures of the predicted labels against one threshold for all labels.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curves : DataFrame
        One line for each threshold, which is the index; one column for each measure.
    chosen : float or None, default=None
        The threshold that is used, one of the index.

    Attributes
    ----------
    best : Series
        The best threshold for each measure, on these rows.
    lines_ : dict of str to matplotlib Line2D
        The curve of every measure.
    chosen_ : matplotlib Line2D or None
        The mark of the chosen threshold.

    Examples
    --------
    >>> from splmll.plots import ThresholdCurveDisplay
    >>> Y = [[1, 0], [1, 1]]
    >>> scores = [[0.9, 0.3], [0.6, 0.5]]
    >>> display = ThresholdCurveDisplay.from_predictions(Y, scores, chosen=0.4)
    >>> display.curves.loc[0.4].tolist()
    [1.0, 1.0, 0.0]
    >>> display.chosen_.get_xdata()
    [0.4, 0.4]
    """

    def __init__(self, curves: pd.DataFrame, chosen: float | None = None) -> None:
        self.curves = curves
        self.chosen = chosen

    @property
    def best(self) -> pd.Series:
        """The best threshold for each measure; of equally good ones the middle."""
        return pd.Series(
            {name: self.curves.index[_middle_of_best(self.curves[name])] for name in self.curves}
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        measures: Sequence[str] = ("micro_f1", "macro_f1", "hamming_loss"),
        ax: Any = None,
    ) -> ThresholdCurveDisplay:
        """Draw what thresholds achieve on rows that a classifier has not seen.

        Parameters
        ----------
        estimator : classifier
            Fitted multi-label classifier with ``decision_function`` or ``predict_proba``. The
            estimators of this library tell which threshold they use, and it is marked unless they
            use several; for others it is 0 or 0.5.
        {X}
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels.
        measures : sequence of str, default=("micro_f1", "macro_f1", "hamming_loss")
            Names in :data:`splmll.metrics.MEASURES`, of measures of predicted labels.
        {ax}

        Returns
        -------
        display : ThresholdCurveDisplay
            The display, drawn.
        """
        method = choose_method(estimator, "decision_function", "predict_proba")
        scores = scores_of(estimator, X, label_matrix(Y).shape[1], method)
        chosen: float | None = USUAL[method]
        last = last_estimator(estimator)
        if isinstance(last, MultilabelClassifier):
            # The decision function is measured from the threshold; here its own scale tells more.
            scores = scores + last.offset_
            one = np.unique(last.thresholds_)
            chosen = float(one[0]) if len(one) == 1 and np.isfinite(one[0]) else None
        return cls.from_predictions(Y, scores, chosen=chosen, measures=measures, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        Y: Any,
        scores: Any,
        *,
        chosen: float | None = None,
        measures: Sequence[str] = ("micro_f1", "macro_f1", "hamming_loss"),
        ax: Any = None,
    ) -> ThresholdCurveDisplay:
        """Draw what thresholds achieve with given scores.

        Parameters
        ----------
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels.
        scores : array-like or DataFrame of the same shape
            Scores or probabilities; larger is more relevant. Of two tables the columns are matched
            by name.
        chosen : float, optional
            The threshold to mark.
        measures : sequence of str, default=("micro_f1", "macro_f1", "hamming_loss")
            Names in :data:`splmll.metrics.MEASURES`, of measures of predicted labels.
        {ax}

        Returns
        -------
        display : ThresholdCurveDisplay
            The display, drawn.
        """
        names = _label_measures(measures)
        labels, values = label_matrix(Y), score_matrix(same_columns(Y, scores))
        check_same_shape(labels, values, "Scores")
        if np.isnan(labels).all():
            raise ValueError(
                "No label is known: Y has nothing but NaN. Give rows whose labels are."
            )
        if not np.isfinite(values).all():
            raise ValueError("Scores contain NaN or infinity: give finite scores.")
        thresholds = _thresholds(values, chosen)
        lines = [
            evaluate(labels, None, GlobalThreshold(float(threshold)).apply(values), names)
            for threshold in thresholds
        ]
        curves = pd.DataFrame(lines, index=pd.Index(thresholds, name="threshold"))
        return cls(curves, chosen).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 6.5, 4.2

    def _draw(self, ax: Any) -> None:
        self.chosen_ = None
        if self.chosen is not None:
            self.chosen_ = ax.axvline(
                self.chosen, color="0.4", linestyle="--", label=f"chosen: {self.chosen:.3g}"
            )
        self.lines_ = {}
        for name, best in self.best.items():
            measure, values = MEASURES[str(name)], self.curves[name]
            told = f"best {values[best]:.3f} at {best:.3g}"
            if self.chosen is not None:
                told = f"chosen {values[self.chosen]:.3f}, {told}"
            (line,) = ax.plot(
                self.curves.index, values, label=f"{measure.title} {measure.arrow} ({told})"
            )
            ax.plot([best], [values[best]], marker="o", color=line.get_color())
            self.lines_[str(name)] = line
        ax.set(xlabel="threshold: score from which a label is predicted", ylabel="value")
        ax.set_ylim(0, 1)
        ax.spines[["top", "right"]].set_visible(False)
        # Above the curves: inside, it would cover some of them.
        ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize=9)


def _label_measures(measures: Sequence[str]) -> list[str]:
    """Return the names of measures as they are known; refuse those that no threshold moves."""
    there = [name for name, measure in MEASURES.items() if measure.needs == "labels"]
    remedy = f"Measures that depend on a threshold are {', '.join(there)}."
    named = [measures] if isinstance(measures, str) else list(measures)
    if not named:
        raise ValueError(f"Give at least one measure. {remedy}")
    return [known_name(name, there, "measure", remedy) for name in named]


def _thresholds(values: np.ndarray, chosen: float | None) -> np.ndarray:
    # Equal distances for the eye, equal shares for where most scores are.
    even = np.linspace(values.min(), values.max(), N_THRESHOLDS)
    shares = np.quantile(values, np.linspace(0, 1, N_THRESHOLDS))
    return np.unique([*even, *shares, *([] if chosen is None else [chosen])])


def _middle_of_best(values: pd.Series) -> int:
    better = 1 if MEASURES[str(values.name)].greater_is_better else -1
    best = np.flatnonzero(better * values == (better * values).max())
    return int(best[len(best) // 2])
