"""What predictions are worth to landmarks: how good all labels are after they were recovered.

An embedding that chooses among settings of its own should choose what is best in the end, not what
is best before predictions are mixed: models that order unlikely labels badly may mix well.
"""

from __future__ import annotations

import numpy as np

from splmll.landmarks.recovery import CrossFittedRecovery, softened
from splmll.metrics import average_precision, macro_f1, micro_f1, ranking_loss
from splmll.statistics import fold_statistics
from splmll.thresholds import fit_threshold

PULL = 1.0
SHAPES = ((1.0, 0.0), (0.5, 0.0), (1.4, 1.0))  # softness and lean
_LEAST_ERROR = 1e-6


def worth_after_recovery(F: np.ndarray, Y: np.ndarray) -> float:
    """Return how good probabilities of held-out rows are once each label is recovered from all.

    Minus the log of the product of four errors: one minus average precision, one minus micro-F1 and
    macro-F1 at the best cut, and ranking loss. Each alone would take models that are poor in the
    others. The best of a few shapes counts.

    Parameters
    ----------
    F : ndarray of shape (n_rows, n_labels)
        Probabilities.
    Y : ndarray of shape (n_rows, n_labels)
        0/1 labels.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.landmarks.worth import worth_after_recovery
    >>> rng = np.random.default_rng(0)
    >>> Y = (rng.random((200, 3)) < 0.3) * 1.0
    >>> good, bad = (np.clip(Y + s * rng.normal(size=Y.shape), 0, 1) for s in (0.3, 0.6))
    >>> worth_after_recovery(good, Y) > worth_after_recovery(bad, Y)
    True
    """
    counted = Y.any(axis=1)
    if counted.sum() < 2:
        return 0.0
    half, relevant = np.arange(len(Y)) % 2, Y.astype(int)
    varying = (Y.min(axis=0) < Y.max(axis=0)) & (F.min(axis=0) < F.max(axis=0))
    found = []
    for shape in SHAPES:
        G = softened(F, *shape)
        parts = fold_statistics(G, Y, half, center_features=False, label_pairs=False)
        recovery = CrossFittedRecovery(parts, np.arange(Y.shape[1]), varying)
        scores = np.empty_like(F)
        for k in (0, 1):
            scores[half == k] = recovery.map(PULL, without=k)(G[half == k])
        predicted = fit_threshold("micro_f1", relevant, scores).apply(scores)
        errors = (
            1 - average_precision(relevant[counted], scores[counted]),
            1 - micro_f1(relevant, predicted),
            1 - macro_f1(relevant, predicted),
            ranking_loss(relevant[counted], scores[counted]),
        )
        found.append(-float(np.log(np.maximum(errors, _LEAST_ERROR)).sum()))
    return max(found)
