"""The scores of any fitted classifier as one array, whatever form it gives them in."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def scores_of(estimator: Any, X: Any, n_labels: int, method: str) -> np.ndarray:
    """Return what one method of a fitted estimator gives, as an array of shape (n_rows, n_labels).

    Probabilities are those of class 1: trees and neighbours return a list with one array per
    label, in which a label that was constant in training has a single column.
    """
    values = getattr(estimator, method)(X)
    classes: Any = getattr(estimator, "classes_", None)
    if isinstance(values, list):
        values = np.column_stack([_of_class_one(p, c) for p, c in zip(values, classes)])
    if sparse.issparse(values):
        values = values.toarray()
    values = np.asarray(values, dtype=np.float64)
    if n_labels == 1 and values.ndim == 1:
        values = values[:, None]
    elif n_labels == 1 and method == "predict_proba":
        values = _of_single_label(values, classes)
    if values.ndim != 2 or values.shape[1] != n_labels:
        raise ValueError(
            f"{type(estimator).__name__}.{method} has shape {values.shape} for {n_labels} labels: "
            "use an estimator that learns a 0/1 matrix, such as BinaryRelevance around this one."
        )
    return values


def choose_method(estimator: Any, *names: str) -> str:
    """Return the first of the named methods that the estimator has."""
    for name in names:
        if hasattr(estimator, name):
            return name
    raise ValueError(
        f"{type(estimator).__name__} has no {' or '.join(names)}, so there are no scores to work "
        "with: use a classifier that has it."
    )


def _of_single_label(probabilities: np.ndarray, classes: Any) -> np.ndarray:
    """Return the column of class 1 where the only label was learnt as a binary problem."""
    if probabilities.shape[1] == 2:
        return probabilities[:, 1:]
    # A learner that saw one class gives its probability, always 1, whichever class it was.
    if classes is not None and np.ravel(classes)[0] != 1 and np.all(probabilities == 1):
        return np.zeros_like(probabilities)
    return probabilities


def _of_class_one(probabilities: np.ndarray, classes: np.ndarray) -> np.ndarray:
    columns = np.flatnonzero(np.asarray(classes) == 1)
    return probabilities[:, columns[0]] if len(columns) else np.zeros(len(probabilities))
