"""A small problem whose labels depend on each other, and a network that is quick."""

from __future__ import annotations

from typing import Any

import numpy as np

from splmll.embeddings import Network

NAMES = ["amber", "birch", "cedar", "dune", "ember", "fern", "grove", "heath"]


def quick_network(**changes: Any) -> Network:
    """A network that learns the problem below in a blink."""
    settings = {"dropout": 0.0, "learning_rate": 0.01, "batch_size": 32, "max_epochs": 10}
    return Network((16,), **{**settings, **changes})


def make_problem(
    n_rows: int = 200, *, n_features: int = 10, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Eight labels: three that the features tell, four that follow from those, one pure noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    weights = np.random.default_rng(99).normal(size=(n_features, 3))
    topics = (X @ weights + 0.5 * rng.normal(size=(n_rows, 3)) > 0.5).astype(int)
    a, b, c = topics.T
    flips = rng.random((n_rows, 4)) < 0.05
    followers = np.column_stack([a | b, a & c, b & c, a]) ^ flips
    noise = (rng.random((n_rows, 1)) < 0.3).astype(int)
    return X, np.hstack([topics, followers, noise]).astype(int)
