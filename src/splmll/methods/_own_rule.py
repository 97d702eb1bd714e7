"""An estimator's own threshold rule, fitted on scores of rows its model has not seen.

The training rows are split into folds; a copy of the estimator is fitted without each fold and
scores it, so that every training row gets a score from a model that did not learn from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from splmll.base import MultilabelClassifier
from splmll.thresholds import MIN_ROWS, RULES, Threshold, fit_threshold, informed_cells

N_FOLDS = 5

# Fixed, so that a rule adds no randomness to a deterministic method; the rows are shuffled because
# files are often sorted. Stratified folds would depend on the order of the labels, and with them
# the result.
_FOLD_SEED = 0


def fit_own_rule(
    estimator: MultilabelClassifier,
    X: Any,
    Y: Any,
    rule: float | str,
    *,
    default: float = 0.5,
    sample_weight: np.ndarray | None = None,
) -> Threshold:
    """Fit the rule given as an estimator's ``threshold``.

    Parameters
    ----------
    estimator : MultilabelClassifier
        Provides the parameters, among them ``threshold``; it is not fitted here.
    X : ndarray or CSR array of shape (n_rows, n_features)
        Checked features.
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        Checked labels.
    rule : float or str
        A number, or one of :data:`splmll.thresholds.RULES`, which costs ``N_FOLDS`` (5) further
        fits.
    default : float, default=0.5
        The threshold where there is too little to learn one from: the natural cut of the scores.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows, for estimators that take them.

    Returns
    -------
    threshold : Threshold
        The fitted rule.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import MLkNN
    >>> from splmll.methods._own_rule import fit_own_rule
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> fit_own_rule(MLkNN(), X, X > 30, 0.4)
    GlobalThreshold(value=0.4)
    """
    # Numbers, unknown names and tables too short to learn from need no scores.
    if rule in RULES and Y.shape[0] >= MIN_ROWS:
        scores, informed = out_of_fold_scores(estimator, X, Y, sample_weight)
    else:
        scores, informed = np.broadcast_to(0.0, Y.shape), None
    return fit_threshold(rule, Y, scores, informed=informed, default=default)


def out_of_fold_scores(
    estimator: MultilabelClassifier, X: Any, Y: Any, sample_weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores, each from a copy fitted without that row, and which of them say something."""
    scores, informed = np.empty(Y.shape), np.empty(Y.shape, dtype=bool)
    folds = KFold(N_FOLDS, shuffle=True, random_state=_FOLD_SEED)
    for train, test in folds.split(scores):
        copy = clone(estimator).set_params(threshold=0.5)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight[train]}
        scores[test] = copy.fit(X[train], Y[train], **weights)._scores(X[test])
        informed[test] = informed_cells(Y[train], scores[test])
    return scores, informed
