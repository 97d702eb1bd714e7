"""Features in very different units, labels that depend on them, and folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from splmll.embeddings import (
    Blend,
    Embedding,
    Kernel,
    KernelSVM,
    Linear,
    Network,
    OneVsRest,
    Stochastic,
    Trees,
)


def data(
    seed: int = 0, n: int = 90, D: int = 6, C: int = 3, noise: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels and the fold of every row, of three."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * np.geomspace(0.1, 10, D) + rng.normal(size=D)
    signal = ((X - X.mean(0)) / X.std(0)) @ rng.normal(size=(D, C))
    Y = (signal + noise * rng.normal(size=(n, C)) > 0.3).astype(float)
    return X, Y, rng.permutation(np.arange(n) % 3)


def small_network(**changes: Any) -> Network:
    settings = {"learning_rate": 0.01, "batch_size": 16, "max_epochs": 10, "patience": 3}
    return Network((8,), dropout=0.2, **{**settings, **changes})


def every_embedding() -> dict[str, Embedding]:
    """One of each kind, quick to fit."""
    return {
        "linear": Linear(),
        "kernel": Kernel(),
        "kernel svm": KernelSVM(),
        "svm": OneVsRest(),
        "sgd": Stochastic(),
        "logistic": OneVsRest(LogisticRegression()),
        "network": small_network(),
        "trees": Trees(n_estimators=10),
        "blend": Blend([Linear(), Trees(n_estimators=10)]),
    }
