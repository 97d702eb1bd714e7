"""fit on Dask collections: the model of all rows in memory, also when a worker dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, make_problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from splmll import SPLMLL
from splmll.landmarks import classifier, folds, out_of_core

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (classifier, folds, out_of_core):
        monkeypatch.setattr(module, "LARGE_ROWS", 300)


def problem(n_rows: int = 900) -> tuple[np.ndarray, np.ndarray]:
    X, Y = make_problem(n_rows)
    return X + 1e4, Y


def assert_same_model(one: SPLMLL, other: SPLMLL, scores: np.ndarray) -> None:
    assert_array_equal(one.landmarks_, other.landmarks_)
    for name in ("selection_", "recovery_", "intercept_", "predictability_", "thresholds_"):
        assert_allclose(getattr(one, name), getattr(other, name), atol=1e-8, err_msg=name)
    assert_allclose(scores[0], scores[1], atol=1e-8)


@pytest.mark.parametrize(
    ("x_chunks", "y_chunks"),
    [((900, 10), (900, 8)), ((100, 10), (100, 8)), ((70, 4), (300, 5))],
    ids=["one", "rows", "both"],
)
def test_arrays_in_any_blocks(x_chunks: tuple, y_chunks: tuple, large: None) -> None:
    X, Y = problem()
    model = SPLMLL("linear", random_state=0)
    model.fit(da.from_array(X, chunks=x_chunks), da.from_array(Y, chunks=y_chunks))
    whole = SPLMLL("linear", random_state=0).fit(X, Y)
    assert_same_model(model, whole, (model.decision_function(X), whole.decision_function(X)))
    assert model.predict(X).dtype == Y.dtype


def test_few_rows_are_fitted_in_memory() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=0)
    model.fit(da.from_array(X, chunks=(50, 10)), da.from_array(Y, chunks=(50, 8)))
    whole = SPLMLL("linear", random_state=0).fit(X, Y)
    assert_array_equal(model.decision_function(X), whole.decision_function(X))


def test_data_frames_of_unknown_length(large: None) -> None:
    X, Y = problem()
    table = pd.concat([pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y, columns=NAMES)], axis=1)
    frame = dd.from_pandas(table, npartitions=5)
    frame = frame[frame["f0"] > 1e4 - 1.0]  # partitions of unknown and unequal length
    kept = table[table["f0"] > 1e4 - 1.0]
    names = [name for name in table.columns if name.startswith("f") and name not in NAMES]
    model = SPLMLL("linear", random_state=0).fit(frame[names], frame[NAMES])
    whole = SPLMLL("linear", random_state=0).fit(kept[names], kept[NAMES])
    scores = model.decision_function(kept[names]), whole.decision_function(kept[names])
    assert_same_model(model, whole, scores)
    assert list(model.feature_names_in_) == names
    assert list(model.label_names_in_) == NAMES


def test_sparse_blocks_and_a_vector(large: None) -> None:
    X, Y = make_problem(900)
    X = X * (np.abs(X) > 0.7)
    y = np.where(np.sort(Y[:, 0]) == 1, "yes", "no")
    blocks = da.from_array(X, chunks=(200, 10)).map_blocks(sparse.csr_array, dtype=float)
    model = SPLMLL("linear", random_state=0).fit(blocks, da.from_array(y, chunks=200))
    whole = SPLMLL("linear", random_state=0).fit(sparse.csr_array(X), y)
    assert list(model.classes_) == ["no", "yes"]
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-8)


def test_what_does_not_fit_together_is_refused(large: None) -> None:
    X, Y = problem()
    blocks = da.from_array(X, chunks=(100, 10))
    with pytest.raises(TypeError, match="Y is a ndarray: make Y one as well"):
        SPLMLL("linear").fit(blocks, Y)
    with pytest.raises(ValueError, match="X has 900 rows and Y has 800"):
        SPLMLL("linear").fit(blocks, da.from_array(Y[:800], chunks=(100, 8)))
    with pytest.raises(AttributeError, match='needs embedding="linear"'):
        SPLMLL("mlp").fit(blocks, da.from_array(Y, chunks=(100, 8)))
    bad = X.copy()
    bad[777, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SPLMLL("linear").fit(
            da.from_array(bad, chunks=(100, 10)), da.from_array(Y, chunks=(100, 8))
        )


def slow_block(block: np.ndarray, folder: str) -> np.ndarray:
    """Say that a block is being read, by which process, and take a while."""
    (Path(folder) / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(0.15)
    return block


@pytest.mark.slow
def test_a_killed_worker_changes_nothing_but_time(tmp_path: Path, large: None) -> None:
    distributed = pytest.importorskip("distributed")
    X, Y = problem(1200)
    whole = SPLMLL("linear", random_state=0).fit(X, Y)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        blocks = da.from_array(X, chunks=(100, 10))
        blocks = blocks.map_blocks(slow_block, folder=str(tmp_path), dtype=float, meta=X[:0])
        killed = []

        def kill_one() -> None:
            while len(seen := list(tmp_path.iterdir())) < 5:
                time.sleep(0.01)
            killed.append(int(seen[-1].name.split("-")[0]))
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        model = SPLMLL("linear", random_state=0).fit(blocks, da.from_array(Y, chunks=(100, 8)))
        killer.join()
    readers = {int(file.name.split("-")[0]) for file in tmp_path.iterdir()}
    assert len(killed) == 1
    assert readers - set(killed), "others went on"
    assert len(list(tmp_path.iterdir())) > 12, "what was lost was read again"
    assert_same_model(model, whole, (model.decision_function(X), whole.decision_function(X)))
