"""Results that no experiment made: printed numbers with noise, for tests of what shows results."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from splmll.experiments.contestants import CONTESTANTS
from splmll.experiments.published import published
from splmll.metrics import MEASURES, PAPER_MEASURES

SIZES = {
    "emotions": (391, 202, 72, 6),
    "scene": (1211, 1196, 294, 6),
    "yeast": (1500, 917, 103, 14),
    "tmc2007": (21519, 7077, 500, 22),
    "espgame-densehue": (18689, 2081, 100, 268),
    "corel5k": (4500, 499, 1000, 374),
}
TWENTY_THREE = [name for name in CONTESTANTS if CONTESTANTS[name].group != "ours"][:21] + [
    "SPL-MLL",
    "SPL-MLL (linear)",
]


def synthetic_results(
    data: tuple[str, ...] = ("emotions", "scene", "yeast"),
    methods: tuple[str, ...] = (
        "BR",
        "LP",
        "ML-kNN",
        "EPS",
        "HNOML",
        "SPL-MLL (linear)",
        "SPL-MLL",
    ),
    *,
    protocol: str = "held-out",
    repetitions: int = 3,
    seed: int = 0,
) -> pd.DataFrame:
    """Return a results frame: the printed mean where there is one, and noise on it."""
    rng = np.random.default_rng(seed)
    table = published()
    table = table[table["table"] == 2].set_index(["data", "method", "measure"])["mean"]
    lines = []
    for name in data:
        n_train, n_test, n_features, n_labels = SIZES[name]
        for method in methods:
            usual = rng.uniform(0.15, 0.3)
            for repetition in range(repetitions):
                line = {
                    "data": name,
                    "method": method,
                    "protocol": protocol,
                    "repetition": repetition,
                    "fold": 0,
                    "seed": repetition,
                    "preprocessing": "minmax",
                    "threshold": "own",
                    "search": "none",
                    "settings": json.dumps({"random_state": repetition}),
                    "settings_hash": f"{method}-{repetition}",
                    "status": "done",
                    "error": None,
                    "traceback": None,
                    "fit_seconds": rng.uniform(0.1, 20),
                    "predict_seconds": 0.1,
                    "peak_memory_mb": 300.0,
                    "n_train": n_train,
                    "n_test": n_test,
                    "n_features": n_features,
                    "n_labels": n_labels,
                    "versions": json.dumps({"python": "3.12.1", "numpy": "2.4.0"}),
                    "host": json.dumps({"cores": 2, "system": "Linux"}),
                    "started": "2026-01-05T10:00:00",
                    "finished": "2026-01-05T10:00:09",
                }
                for measure in PAPER_MEASURES:
                    high = MEASURES[measure].greater_is_better
                    guess = 1 - usual if high else usual
                    mean = table.get((name, method, measure), guess)
                    line[measure] = float(np.clip(mean + rng.normal(0, 0.008), 0, 1))
                lines.append(line)
    return pd.DataFrame(lines)


def with_failure(
    results: pd.DataFrame, data: str, method: str, status: str = "timeout", *, runs: int = 99
) -> pd.DataFrame:
    """Return a copy in which the first runs of a method on a data set failed."""
    results = results.copy()
    rows = results.index[(results["data"] == data) & (results["method"] == method)][:runs]
    results.loc[rows, "status"] = status
    results.loc[rows, "error"] = "stopped after 60 s & <b>more</b>"
    results.loc[rows, "traceback"] = 'Traceback (most recent call last):\n  File "<stdin>"'
    results.loc[rows, list(PAPER_MEASURES)] = np.nan
    return results
