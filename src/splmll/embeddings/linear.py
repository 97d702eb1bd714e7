"""Ridge regression in closed form: one factorisation for all labels, one pass over the rows.

It needs only sums over rows, so it learns from chunks, files and clusters as from an array. Its
scores are those of least squares, near 0 and 1 but not bounded by them, so that the moments of its
predictions are a function of those sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse

from splmll.arrays import forget
from splmll.constraints import POSITIVE, Choice
from splmll.docstrings import with_paragraphs
from splmll.embeddings.base import Embedding, FitContext
from splmll.embeddings.wide_ridge import (
    Predictor,
    choose_alpha,
    choose_alpha_iteratively,
    choose_solver,
    ridge_of,
)
from splmll.feature_scaling import SCALE_CONSTRAINT, standardises
from splmll.statistics import Statistics, fold_statistics, sum_of

# Ridges tried by ridge="auto", relative to the mean variance of a feature.
RIDGES = (1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0, 10.0, 30.0)

RIDGE_UNMEASURED = 1e-2  # without rows to try them on


@with_paragraphs
class Linear(Embedding):
    """Ridge regression of all labels.

    Features are centred and scaled through the sums, so that the data is never copied and sparse
    features stay sparse. The map of a fold comes from the sums of all rows minus the fold. If there
    are too many features for a square matrix, the inner products of the rows or conjugate gradients
    are used instead (``splmll.embeddings.wide_ridge``).

    Parameters
    ----------
    ridge : float or "auto", default="auto"
        Relative to the mean variance of a feature; "auto" chooses the best out of fold.
    {scale}

    Attributes
    ----------
    ridge_ : float
        The ridge given or chosen.
    map_ : ndarray of shape (n_features + 1, n_outputs)
        Intercepts and weights for unscaled features, stacked.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.embeddings import Linear
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 3))
    >>> f = Linear().fit(X, (X[:, :2] > 0) * 1.0, fold=np.arange(90) % 3)
    >>> f.out_of_fold_.shape
    (90, 2)
    >>> f.finish(X, None, outputs=np.array([1]))
    >>> f.predict(X[:5]).shape
    (5, 1)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "ridge": [POSITIVE, Choice("auto")],
        "scale": SCALE_CONSTRAINT,
    }

    uses_weights: ClassVar[bool] = True

    def __init__(self, ridge: float | str = "auto", scale: str | None = "auto") -> None:
        self.ridge = ridge
        self.scale = scale

    def fit(self, X: Any, Y: Any, fold: np.ndarray, context: FitContext | None = None) -> Linear:
        """Learn in one pass over the rows; of very wide rows, in several."""
        self.check()
        weights = None if context is None else context.sample_weight
        solver = choose_solver(X.shape[0], X.shape[1], int(fold.max()) + 1)
        if solver == "features":
            sums = fold_statistics(X, Y, fold, weights=weights)
            self.fit_statistics(sums, sparse_rows=sparse.issparse(X))
            self.out_of_fold_ = self.predict_folds(X, fold)
        else:
            self._fit_wide(X, Y, fold, solver, weights)
        return self

    def fit_statistics(self, folds: Sequence[Statistics], *, sparse_rows: bool = False) -> Linear:
        """Learn from the sums of the folds.

        Parameters
        ----------
        folds : sequence of Statistics
            Sums over the rows of each fold.
        sparse_rows : bool, default=False
            Whether the rows were sparse, which decides ``scale="auto"``.

        Returns
        -------
        self : Linear
            With ``fold_maps_``, the map of each fold, learned from the other folds.
        """
        self.check()
        scale = self._scales(sparse_rows)
        total = sum_of(folds)
        whole = _Ridge(total, scale)
        self._unsolved: Any = None
        if any(fold.n_rows == total.n_rows for fold in folds):  # nothing outside a fold
            self.ridge_ = RIDGE_UNMEASURED if self.ridge == "auto" else float(self.ridge)
            self.map_ = whole.map(self.ridge_)
            self.fold_maps_ = [self.map_ for _ in folds]
        else:
            parts = [_Ridge(total - fold, scale) for fold in folds]
            self.ridge_, self.fold_maps_ = self._choose(folds, parts)
            self.map_ = whole.map(self.ridge_)
        return self

    def predict_folds(self, X: Any, fold: np.ndarray) -> np.ndarray:
        """Predict rows by the map of their fold, which did not see them."""
        predicted = np.empty((X.shape[0], self.map_.shape[1]))
        for k, W in enumerate(self.fold_maps_):
            rows = fold == k
            predicted[rows] = X[rows] @ W[1:] + W[0]
        return predicted

    def finish(self, X: Any, Y: Any, outputs: np.ndarray) -> None:
        """Keep the columns of these outputs; wide maps are solved for only now."""
        if self._unsolved is None:
            self.map_ = self.map_[:, outputs]
        else:
            self.map_ = self._unsolved.map(self.ridge_, outputs)
        forget(self, "_unsolved", "fold_maps_", "out_of_fold_")

    def predict(self, X: Any) -> np.ndarray:
        """Return X W + w0."""
        return np.asarray(X @ self.map_[1:] + self.map_[0])

    def _scales(self, sparse_rows: bool) -> bool:
        return standardises(self.scale, sparse_rows)

    def _fit_wide(
        self, X: Any, Y: Any, fold: np.ndarray, solver: str, weights: np.ndarray | None
    ) -> None:
        """Learn without a matrix of the features."""
        scale = self._scales(sparse.issparse(X))
        self._unsolved = ridge_of(X, Y, scale, solver, weights)
        held = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]

        def predictor(rows: np.ndarray) -> Predictor:
            others = np.setdiff1d(np.arange(X.shape[0]), rows)
            of_others = None if weights is None else weights[others]
            return ridge_of(X[others], Y[others], scale, solver, of_others).predictor(X[rows])

        kept: list[Predictor] = []
        if self.ridge != "auto":
            self.ridge_ = float(self.ridge)
        elif solver == "rows":
            kept = [predictor(rows) for rows in held]
            self.ridge_ = choose_alpha(Y, held, kept, RIDGES, weights)
        else:
            self.ridge_ = choose_alpha_iteratively(X, Y, held, scale, RIDGES, weights)
        self.out_of_fold_ = np.empty(Y.shape)
        for k, rows in enumerate(held):
            # Predictors are made anew where each would hold its rows.
            predict = kept[k] if kept else predictor(rows)
            self.out_of_fold_[rows] = predict(self.ridge_)

    def _choose(
        self, folds: Sequence[Statistics], parts: Sequence[_Ridge]
    ) -> tuple[float, list[np.ndarray]]:
        """Return the ridge, and the maps of the folds with it.

        What a ridge explains rises to one maximum and falls: from the middle of the list it is
        followed upwards, and downwards if that does not help.
        """

        def tried(ridge: float) -> tuple[float, list[np.ndarray]]:
            maps = [part.map(ridge) for part in parts]
            return explained_after_scaling(folds, maps), maps

        if self.ridge != "auto":
            return float(self.ridge), [part.map(float(self.ridge)) for part in parts]
        middle = len(RIDGES) // 2
        best, (explained, maps) = RIDGES[middle], tried(RIDGES[middle])
        for side in (RIDGES[middle + 1 :], RIDGES[middle - 1 :: -1]):
            for ridge in side:
                value, others = tried(ridge)
                if value <= explained:
                    break
                best, explained, maps = ridge, value, others
            if best != RIDGES[middle]:
                break
        return best, maps


def explained_after_scaling(folds: Sequence[Statistics], maps: Sequence[np.ndarray]) -> float:
    """Return how much of all labels' variance the maps explain out of fold.

    Recovery rescales every prediction, so what counts is how well it goes with its label, not how
    large it is: the variance explained after the best scaling.

    Parameters
    ----------
    folds : sequence of Statistics
        Sums over the rows of each fold.
    maps : sequence of ndarray of shape (n_features + 1, n_labels)
        The map applied to the rows of each fold.
    """
    n_rows = sum(fold.n_rows for fold in folds)
    n_labels = folds[0].n_labels
    f_sum, ff_sum, fy_sum, fk_sum, y_sum, known = np.zeros((6, n_labels))
    for fold, W in zip(folds, maps, strict=True):
        W = W.copy()
        W[0] += 0.0 if fold.shift is None else fold.shift @ W[1:]
        f_sum += fold.xx[0] @ W
        ff_sum += np.einsum("ij,ij->j", W, fold.xx @ W)
        fy_sum += np.einsum("ij,ij->j", W, fold.xy)
        fk_sum += np.einsum("ij,ij->j", W, fold.xk)
        y_sum += fold.xy[0]
        known += fold.xk[0]
    known = np.where(known > 0, known, 1.0)
    variance = ff_sum / n_rows - (f_sum / n_rows) ** 2
    covariance = fy_sum / known - (fk_sum / known) * (y_sum / known)
    return float(np.sum(covariance**2 / np.maximum(variance, 1e-300)))


class _Ridge:
    """Ridge regression on one set of sums."""

    def __init__(self, statistics: Statistics, scale: bool) -> None:
        self.mean, self.label_mean = statistics.feature_mean, statistics.label_mean
        if scale:
            self.unit = statistics.feature_scale
        else:
            variance = statistics.feature_variance
            self.unit = np.full_like(variance, np.sqrt(variance.mean()) if variance.any() else 1.0)
        self.covariance = statistics.feature_covariance() / np.outer(self.unit, self.unit)
        self.cross = statistics.cross_covariance() / self.unit[:, None]

    def map(self, ridge: float) -> np.ndarray:
        """Return intercept and weights for raw features, one above the other."""
        weights = self._solve(ridge) / self.unit[:, None]
        return np.vstack([self.label_mean - self.mean @ weights, weights])

    def _solve(self, ridge: float) -> np.ndarray:
        left = self.covariance.copy()
        left[np.diag_indices_from(left)] += ridge
        try:
            factor = linalg.cho_factor(left, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # no ridge to speak of, and features that repeat others
            left = self.covariance + ridge * np.eye(len(self.covariance))
            return linalg.lstsq(left, self.cross)[0]
        return linalg.cho_solve(factor, self.cross, check_finite=False)
