"""A small problem whose labels depend on each other, and settings that make networks quick."""

from __future__ import annotations

from typing import Any

import numpy as np

QUICK: dict[str, Any] = {
    "hidden_layer_sizes": (16,),
    "learning_rate": 0.01,
    "batch_size": 32,
    "max_epochs": 12,
    "random_state": 0,
}


def make_problem(n_rows: int = 200, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Six labels: two that the features tell, three that follow from those, one pure noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    weights = np.random.default_rng(99).normal(size=(8, 2))
    a, b = (X @ weights + 0.5 * rng.normal(size=(n_rows, 2)) > 0.5).astype(int).T
    flips = rng.random((n_rows, 3)) < 0.05
    followers = np.column_stack([a | b, a & b, a]) ^ flips
    noise = rng.random(n_rows) < 0.3
    return X, np.column_stack([a, b, followers, noise]).astype(int)
