"""Are predicted probabilities calibrated? The answer as a curve, a histogram and a number.

All known cells (row, label) are pooled and grouped by predicted probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from splmll.docstrings import with_paragraphs
from splmll.plots.display import Display
from splmll.plots.label_input import check_same_shape, label_matrix, same_columns, score_matrix
from splmll.scores import choose_method, scores_of

STRATEGIES = ("uniform", "quantile")


@with_paragraphs
class ReliabilityDisplay(Display):
    """Observed frequency against predicted probability, over all labels together.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Limits of the bins of predicted probability.
    predicted, observed : ndarray of shape (n_bins,)
        Mean predicted probability and share of relevant cells in each bin, NaN in empty ones.
    counts : ndarray of int, shape (n_bins,)
        Number of cells in each bin.
    name : str or None, default=None
        Name in the legend.

    Attributes
    ----------
    expected_calibration_error : float
        Mean distance between predicted and observed, weighted by the cells of each bin.
    line_ : matplotlib Line2D
        The reliability curve.
    bars_ : matplotlib BarContainer
        The histogram of predicted probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.plots import ReliabilityDisplay
    >>> probabilities = np.array([[0.2, 0.8], [0.2, 0.8]])
    >>> display = ReliabilityDisplay.from_predictions([[0, 1], [0, 1]], probabilities, n_bins=2)
    >>> round(display.expected_calibration_error, 3)
    0.2
    """

    def __init__(
        self,
        edges: np.ndarray,
        predicted: np.ndarray,
        observed: np.ndarray,
        counts: np.ndarray,
        name: str | None = None,
    ) -> None:
        self.edges = edges
        self.predicted = predicted
        self.observed = observed
        self.counts = counts
        self.name = name

    @property
    def expected_calibration_error(self) -> float:
        """Mean distance between predicted and observed, weighted by the cells of each bin."""
        filled = self.counts > 0
        distance = np.abs(self.predicted[filled] - self.observed[filled])
        return float(np.average(distance, weights=self.counts[filled]))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Draw the probabilities of a fitted classifier on rows it has not seen.

        Parameters
        ----------
        estimator : classifier
            Fitted multi-label classifier with ``predict_proba``.
        {X}
        Y : array-like or sparse matrix of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels; NaN cells are left out.
        n_bins : int, default=10
            Number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or bins with about equally many cells.
        name : str, optional
            Name in the legend; by default the class of the estimator.
        {ax}

        Returns
        -------
        display : ReliabilityDisplay
            The display, drawn.
        """
        shape = np.shape(Y)
        method = choose_method(estimator, "predict_proba")
        probabilities = scores_of(estimator, X, shape[1] if len(shape) == 2 else 1, method)
        return cls.from_predictions(
            Y,
            probabilities,
            n_bins=n_bins,
            strategy=strategy,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        Y: Any,
        probabilities: Any,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Draw predicted probabilities against labels.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_rows, n_labels), or (n_rows,)
            0/1 labels; NaN cells are left out.
        probabilities : array-like of the same shape
            Predicted probabilities.
        n_bins : int, default=10
            Number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or bins with about equally many cells.
        name : str, optional
            Name in the legend.
        {ax}

        Returns
        -------
        display : ReliabilityDisplay
            The display, drawn.
        """
        relevant, values = _known_cells(Y, probabilities)
        edges = _bin_edges(values, n_bins, strategy)
        # The last bin includes its upper limit, all others do not.
        bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
        counts = np.bincount(bins, minlength=len(edges) - 1)
        filled = counts > 0
        predicted = np.full(len(counts), np.nan)
        observed = np.full(len(counts), np.nan)
        predicted[filled] = np.bincount(bins, values, len(counts))[filled] / counts[filled]
        observed[filled] = np.bincount(bins, relevant, len(counts))[filled] / counts[filled]
        return cls(edges, predicted, observed, counts, name).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 5.0, 5.0

    def _draw(self, ax: Any) -> None:
        if not ax.lines:  # several displays can share their axes
            ax.plot([0, 1], [0, 1], linestyle=":", color="black", label="perfectly calibrated")
        filled = self.counts > 0
        number = f"ECE = {self.expected_calibration_error:.3f}"
        label = number if self.name is None else f"{self.name} ({number})"
        (self.line_,) = ax.plot(
            self.predicted[filled], self.observed[filled], marker="o", label=label
        )
        # The share of cells in each bin has the same scale from 0 to 1 as the curve.
        self.bars_ = ax.bar(
            self.edges[:-1],
            self.counts / self.counts.sum(),
            width=np.diff(self.edges),
            align="edge",
            alpha=0.2,
            color=self.line_.get_color(),
        )
        ax.set(
            xlim=(0, 1),
            ylim=(0, 1),
            xlabel="predicted probability",
            ylabel="share of relevant cells (bars: share of all cells)",
        )
        ax.legend(loc="upper left")


def _known_cells(Y: Any, probabilities: Any) -> tuple[np.ndarray, np.ndarray]:
    labels = label_matrix(Y)
    values = score_matrix(same_columns(Y, probabilities))
    check_same_shape(labels, values, "Probabilities")
    known = ~np.isnan(labels)
    labels, values = labels[known], values[known]
    if not labels.size:
        raise ValueError("No label is known, so there is nothing to compare probabilities with.")
    if not np.all((values >= 0) & (values <= 1)):
        raise ValueError(
            "Probabilities must lie between 0 and 1: pass what predict_proba returns, or calibrate "
            "the scores with MultilabelCalibrator first."
        )
    return labels, values


def _bin_edges(values: np.ndarray, n_bins: int, strategy: str) -> np.ndarray:
    if strategy not in STRATEGIES:
        raise ValueError(f"Unknown strategy {strategy!r}: use one of {', '.join(STRATEGIES)}.")
    if n_bins < 1:
        raise ValueError(f"n_bins is {n_bins}: use at least one bin.")
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, n_bins + 1)
    inner = np.quantile(values, np.linspace(0, 1, n_bins + 1)[1:-1])
    # Many equal probabilities make quantiles coincide; they then share one bin.
    return np.unique(np.concatenate([[0.0], inner, [1.0]]))
