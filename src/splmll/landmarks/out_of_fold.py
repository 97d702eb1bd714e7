"""What a fit knows about its own training rows: the scores of models that did not see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from splmll.thresholds import fit_threshold


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Training rows and what models said of them that had not seen them.

    They are the honest measure of a fit that left no rows aside: each model saw fewer rows than the
    final one, so the measures are, if anything, a little low. Only the thresholds, the number of
    landmarks and the pull were chosen on these very scores, a handful of numbers.

    Parameters
    ----------
    truth : ndarray or CSR array of shape (n_rows, n_labels)
        The labels of the rows; NaN where unknown. Where labels are very many, a sample of the rows.
        With ``sample_weight``, each row is there as often as its weight says.
    scores : ndarray of shape (n_rows, n_labels)
        Scores of the model.
    alone : ndarray of shape (n_rows, n_labels)
        Scores of the embedding alone, every label by its own prediction.
    threshold : str or float
        The rule by which scores become labels.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> Y = (X[:, :3] + rng.normal(size=(200, 3)) > 0).astype(int)
    >>> found = SPLMLL("linear", random_state=0).fit_out_of_fold(X, Y)
    >>> found.scores.shape, found.labels.shape
    ((200, 3), (200, 3))
    """

    truth: Any
    scores: np.ndarray
    alone: np.ndarray
    threshold: str | float

    @cached_property
    def labels(self) -> np.ndarray:
        """The labels that the model's scores become."""
        return self._labels(self.scores)

    @cached_property
    def labels_alone(self) -> np.ndarray:
        """The labels that the scores of the embedding alone become, by the same rule."""
        return self._labels(self.alone)

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        return fit_threshold(self.threshold, self.truth, scores).apply(scores)
