"""The estimators that every common check runs over, with settings that make them quick."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import ExtraTreesRegressor
from sklearn.svm import LinearSVC

from splmll import SPLMLL
from splmll.methods import BinaryRelevance, MLkNN

# A network that learns 60 rows in a blink.
SMALL_NETWORK: dict[str, Any] = {
    "hidden_layer_sizes": (16,),
    "dropout": 0.0,
    "learning_rate": 0.02,
    "batch_size": 32,
    "max_epochs": 20,
    "cv": 2,
    "n_repeats": 1,
}
# Algorithm 1 takes B and A down in small steps: more epochs, no folds.
SMALL_ALTERNATION: dict[str, Any] = {
    "hidden_layer_sizes": (8,),
    "learning_rate": 0.02,
    "batch_size": 64,
    "max_epochs": 60,
}

ESTIMATORS: list[Any] = [
    BinaryRelevance(),
    BinaryRelevance(LinearSVC(C=0.1), threshold="per-label", random_state=0),
    MLkNN(n_neighbors=5),
    MLkNN(n_neighbors=5, scale="standard", threshold="micro-f1"),
    SPLMLL("linear"),
    SPLMLL("linear", selection="hard", threshold="per-label"),
    SPLMLL("linear", n_landmarks=0.5, recovery="labels", cv=None, threshold=0.5),
    SPLMLL("kernel", cv=3),
    SPLMLL("mlp", **SMALL_NETWORK),
    SPLMLL(ExtraTreesRegressor(n_estimators=10), cv=2),
    SPLMLL(["linear", "kernel"], cv=2),
    # A linear map needs longer steps, or its first weights still decide what it predicts.
    SPLMLL.as_published(linear=True, **{**SMALL_ALTERNATION, "learning_rate": 0.1}),
    SPLMLL.as_published(**SMALL_ALTERNATION),
]


def label_order_matters(estimator: Any) -> bool:
    """Whether the result depends on the order of the label columns by definition.

    For instance because a seed draws an order of the labels, or the first weights of a network.
    """
    return isinstance(estimator, SPLMLL) and (
        estimator.embedding == "mlp" or estimator.solver == "algorithm1"
    )
