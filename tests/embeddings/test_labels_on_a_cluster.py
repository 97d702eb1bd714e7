"""Models of labels go through joblib: a Dask cluster fits them, also one that loses a worker."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from splmll import SPLMLL
from splmll.embeddings import OneVsRest

distributed = pytest.importorskip("distributed")


class Mortal(LogisticRegression):
    """The first fit takes its whole process with it; the others are logistic regression."""

    def __init__(self, grave: str = "", here: int = 0, C: float = 1.0) -> None:
        super().__init__(C=C)
        self.grave, self.here = grave, here

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Mortal:
        if os.getpid() != self.here:
            try:
                Path(self.grave).touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os._exit(1)
        return super().fit(X, y, sample_weight)


def test_a_cluster_that_loses_a_worker_gives_the_model_of_one_machine(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(300, 40, density=0.2, format="csr", random_state=0)
    Y = (X @ rng.normal(size=(40, 70)) + 0.2 * rng.normal(size=(300, 70)) > 0.3).astype(int)
    grave = tmp_path / "worker"

    def fitted() -> SPLMLL:
        embedding = OneVsRest(Mortal(str(grave), here=os.getpid()))
        return SPLMLL(embedding, n_landmarks=10, random_state=0).fit(X, Y)

    here = fitted()
    assert not grave.exists()
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        there = fitted()
    assert grave.exists()  # a worker was lost on the way
    assert list(there.landmarks_) == list(here.landmarks_)
    assert_allclose(there.decision_function(X), here.decision_function(X), atol=1e-10)
