"""Experiments on a real Dask cluster."""

import os
import signal
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from experiment_problems import Misbehaving, Noting, notes, small_data

from splmll.experiments.runner import Experiment
from splmll.experiments.store import Store
from splmll.metrics import MEASURES

distributed = pytest.importorskip("distributed")

DATA = small_data(split=True)


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    methods = [("a", Noting("a", str(log), 0.2)), ("bad", Misbehaving("error", str(log)))]
    experiment = Experiment(DATA, methods, repetitions=8)
    killed: list[int] = []

    def kill_the_first_worker() -> None:
        while len(notes(log, "begin")) < 3:
            time.sleep(0.05)
        worker = int(notes(log, "begin")[-1][2])  # the process of a unit is a worker's child
        os.kill(worker, signal.SIGKILL)
        killed.append(worker)

    killer = threading.Thread(target=kill_the_first_worker, daemon=True)
    killer.start()
    results = experiment.run(out, n_jobs=2, backend="dask")
    killer.join()
    assert len(killed) == 1
    assert len({int(parent) for *_, parent in notes(log, "begin")} - set(killed)) >= 1
    by_method = results.groupby("method")["status"].value_counts().to_dict()
    assert by_method == {("a", "done"): 8, ("bad", "failed"): 8}
    assert set(results["error"].dropna()) == {"RuntimeError: the ridge is too high"}
    pd.testing.assert_frame_equal(Store(out).results(results["key"]), results)
    # The same numbers as without a cluster.
    here = Experiment(DATA, methods, repetitions=8).run(tmp_path / "here", isolate=False)
    columns = ["key", "method", "repetition", "status", *MEASURES]
    pd.testing.assert_frame_equal(results[columns], here[columns])


@pytest.mark.slow
def test_a_cluster_that_is_there_already(tmp_path: Path) -> None:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        experiment = Experiment(
            DATA, [("a", Noting()), ("slow", Misbehaving("time"))], repetitions=2, time_limit=3
        )
        results = experiment.run(tmp_path, scheduler=cluster.scheduler_address)
        assert list(results["status"]) == ["done", "timeout"] * 2
        again = experiment.run(tmp_path, scheduler=cluster.scheduler_address)
    pd.testing.assert_frame_equal(again, results)


def test_a_scheduler_that_is_not_there(tmp_path: Path) -> None:
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "200ms"}),
        pytest.raises(ConnectionError, match="There is no Dask scheduler at tcp"),
    ):
        Experiment(DATA, ["PLST"]).run(tmp_path, scheduler="tcp://127.0.0.1:9")
    assert len(Store(tmp_path).results()) == 0
