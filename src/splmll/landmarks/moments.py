"""What selection and recovery need to know of predictions F and labels Y: second moments.

They come from arrays, or, for a linear map, from the statistics of the folds without ever
looking at a row again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from splmll.landmarks.statistics import Statistics, split_unknown, sum_of


@dataclass(frozen=True)
class Moments:
    """Second moments of predictions and labels, each over the rows where it is known.

    Parameters
    ----------
    G : ndarray of shape (n_labels, n_labels)
        Labels with labels.
    FF, FY : ndarray of shape (n_labels, n_labels)
        Predictions with predictions, predictions with labels.
    E : ndarray of shape (n_labels,)
        Mean squared error of each label's prediction.
    f_mean, y_mean : ndarray of shape (n_labels,)
        The points from which predictions and labels are measured; zero if not centred.
    frequency : ndarray of shape (n_labels,)
        Share of rows with the label.
    """

    G: np.ndarray
    FF: np.ndarray
    FY: np.ndarray
    E: np.ndarray
    f_mean: np.ndarray
    y_mean: np.ndarray
    frequency: np.ndarray

    @classmethod
    def of(cls, F: np.ndarray, Y: Any, center: bool) -> Moments:
        """Return the moments of arrays.

        Examples
        --------
        >>> import numpy as np
        >>> from splmll.landmarks.moments import Moments
        >>> Y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, np.nan]])
        >>> Moments.of(np.nan_to_num(Y), Y, center=False).E
        array([0., 0.])
        """
        statistics = Statistics.of(F, Y)
        filled, known = split_unknown(Y)
        if known is None:
            square = np.asarray(filled.sum(axis=0)).ravel()  # 0/1 labels are their own squares
            agreed = filled.multiply(F) if sparse.issparse(filled) else filled * F
            crossed = np.asarray(agreed.sum(axis=0)).ravel()
            E = (np.einsum("ij,ij->j", F, F) - 2 * crossed + square) / len(F)
        else:
            error = known * (F - (filled.toarray() if sparse.issparse(filled) else filled))
            E = (error**2).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return cls._from(statistics, E, center)

    @classmethod
    def out_of_fold(
        cls, folds: Sequence[Statistics], maps: Sequence[np.ndarray], center: bool
    ) -> Moments:
        """Return the moments of F = [1, X] W where each fold's rows are predicted by its own map.

        Parameters
        ----------
        folds : sequence of Statistics
            Statistics of the rows of each fold.
        maps : sequence of ndarray of shape (n_features + 1, n_labels)
            The map applied to the rows of each fold.
        center : bool
            Whether moments are measured from the means.
        """
        return cls.of_parts([fold.mapped(W) for fold, W in zip(folds, maps, strict=True)], center)

    @classmethod
    def of_parts(cls, parts: Sequence[Statistics], center: bool) -> Moments:
        """Return the moments from statistics of predictions and labels, fold by fold."""
        seen = sum_of(parts)
        # Over the known rows of a label only X'Y and X'k are kept, not X'X: the square of its
        # prediction is averaged over all rows instead.
        known = np.maximum(seen.xk[0], 1)
        E = (
            np.diag(seen.xx)[1:] / seen.n_rows
            - 2 * np.diag(seen.xy[1:]) / known
            + seen.xy[0] / known  # 0/1 labels are their own squares
        )
        return cls._from(seen, np.maximum(E, 0.0), center)

    @classmethod
    def _from(cls, statistics: Statistics, E: np.ndarray, center: bool) -> Moments:
        n_labels = len(E)
        if center:
            FF, FY = statistics.feature_covariance(), statistics.cross_covariance()
            f_mean, y_mean = statistics.feature_mean, statistics.label_mean
        else:
            FF = statistics.xx[1:, 1:] / statistics.n_rows
            FY = statistics.xy[1:] / np.maximum(statistics.xk[0], 1)
            f_mean = y_mean = np.zeros(n_labels)
        G = statistics.label_moments(center)
        return cls(G, FF, FY, E, f_mean, y_mean, statistics.label_mean)
