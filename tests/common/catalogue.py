"""The estimators that every common check runs over, with settings that make them quick."""

from __future__ import annotations

from typing import Any

from sklearn.svm import LinearSVC

from splmll.methods import BinaryRelevance, MLkNN

ESTIMATORS: list[Any] = [
    BinaryRelevance(),
    BinaryRelevance(LinearSVC(C=0.1), threshold="per-label", random_state=0),
    MLkNN(n_neighbors=5),
    MLkNN(n_neighbors=5, scale="standard", threshold="micro-f1"),
]

# Classes whose result depends on the order of the label columns by definition, for instance
# because a seed draws an order of the labels.
LABEL_ORDER_MATTERS: tuple[type, ...] = ()
