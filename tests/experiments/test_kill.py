"""Processes killed at any moment: nothing is lost, and nothing is done twice."""

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
from experiment_problems import Noting, notes, small_data

import warm_processes
from splmll.experiments.runner import Experiment
from splmll.experiments.store import Store, StoreError
from splmll.metrics import MEASURES

N_KILLS = 6
FIT_SECONDS = 0.04

# Facts that differ from run to run.
CIRCUMSTANCES = [
    *("search_seconds", "fit_seconds", "predict_seconds", "processor_seconds", "peak_memory_mb"),
]
TIMES = ["started", "finished"]


def experiment(log: Path, repetitions: int) -> Experiment:
    methods = {name: Noting(name, str(log), FIT_SECONDS) for name in ("a", "b", "c")}
    return Experiment(small_data(split=True), methods, repetitions=repetitions)


def run_experiment(log: Path, out: Path, repetitions: int, barrier: Any = None) -> None:
    """What the processes of these tests do, all at the same time."""
    if barrier is not None:
        barrier.wait()
    experiment(log, repetitions).run(out, isolate=False)


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Real processes, started from one that has the imports behind it."""
    return warm_processes.processes()


def check_consistent(out: Path) -> dict[str, str]:
    """Look at what a killed process left, and return its units with their times of ending."""
    if not out.exists():
        return {}
    store = Store(out)
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    results = store.results()
    assert (results["status"] == "done").all()
    recomputed = store.recompute()  # reads the arrays of all rows
    pd.testing.assert_frame_equal(recomputed[list(MEASURES)], results[list(MEASURES)])
    names = results["method"] + "/" + results["seed"].astype(str)
    assert names.is_unique
    return dict(zip(names, results["finished"]))


def check_complete(out: Path, expected: pd.DataFrame) -> None:
    """Compare with a run that nobody disturbed."""
    store = Store(out)
    results = store.results()
    pd.testing.assert_frame_equal(
        results.drop(columns=[*CIRCUMSTANCES, *TIMES]),
        expected.drop(columns=[*CIRCUMSTANCES, *TIMES]),
    )
    files = sorted(path.name for path in store.folder.iterdir())
    assert files == sorted(f"{key}.npz" for key in results["key"])


@pytest.mark.slow
def test_killed_six_times(tmp_path: Path, processes: ForkServerContext) -> None:
    repetitions = 24
    log, out, undisturbed = tmp_path / "log", tmp_path / "killed", tmp_path / "undisturbed"
    start = time.monotonic()
    run_experiment(log, undisturbed, repetitions)
    # On any machine: too short for all the units.
    longest = (time.monotonic() - start) / 10
    log.unlink()
    moments = random.Random(0)
    finished: dict[str, str] = {}
    n_kills = n_kills_of_store = 0
    while n_kills < N_KILLS:
        n_before = len(notes(log, "begin"))
        barrier = processes.Barrier(2)
        process = processes.Process(target=run_experiment, args=(log, out, repetitions, barrier))
        process.start()
        barrier.wait()
        # From before the store is there to some units later.
        time.sleep(moments.uniform(0.0, longest))
        process.kill()
        process.join()
        if process.exitcode == 0:  # all done before the last kill: begin again
            check_complete(out, Store(undisturbed).results())
            shutil.rmtree(out)
            log.unlink()
            finished, n_kills_of_store = {}, 0
            continue
        assert process.exitcode == -signal.SIGKILL
        n_kills += 1
        n_kills_of_store += 1
        # What was in the store is there as it was, and has not been done again.
        begun = [unit for unit, *_ in notes(log, "begin")[n_before:]]
        assert not set(begun) & set(finished)
        now_finished = check_consistent(out)
        assert now_finished.items() >= finished.items()
        finished = now_finished
    run_experiment(log, out, repetitions)
    # One unit at most was under way at each kill.
    times_done = Counter(unit for unit, *_ in notes(log))
    assert len(times_done) == 3 * repetitions
    assert sum(times_done.values()) <= 3 * repetitions + n_kills_of_store
    check_complete(out, Store(undisturbed).results())


def test_the_store_is_free_when_the_run_that_held_it_is_killed(
    tmp_path: Path, processes: ForkServerContext
) -> None:
    log, out = tmp_path / "log", tmp_path / "held"
    methods = [("slow", Noting("slow", str(log), 600))]
    first = processes.Process(
        target=Experiment(small_data(split=True), methods, repetitions=1).run,
        args=(out,),
        kwargs={"isolate": False},
    )
    first.start()
    while not notes(log, "begin"):
        time.sleep(0.02)
    with pytest.raises(StoreError, match="Another run is at work"):
        run_experiment(log, out, 1)
    assert len(notes(log, "begin")) == 1
    first.kill()
    first.join()
    run_experiment(log, out, 1)
    assert list(Store(out).results()["status"]) == ["done"] * 3


def _is_python(process: psutil.Process) -> bool:
    try:
        return process.name().startswith("python")
    except psutil.NoSuchProcess:
        return False


@pytest.mark.slow
def test_a_script_with_processes_of_its_own_is_killed(tmp_path: Path) -> None:
    log, out, script = tmp_path / "log", tmp_path / "out", tmp_path / "script.py"
    # Without `if __name__ == "__main__"`, and with a method that only the script knows.
    script.write_text(
        f"""
import sys
sys.path[:] = {sys.path!r}
from experiment_problems import Noting, small_data
from splmll.experiments.runner import Experiment

class Mine(Noting):
    pass

mine = Mine("mine", {str(log)!r}, pause=0.5)
Experiment(small_data(split=True), [("mine", mine)], repetitions=8).run({str(out)!r}, n_jobs=2)
"""
    )
    command = [sys.executable, str(script)]
    process = subprocess.Popen(command)
    while len(notes(log)) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    started = psutil.Process(process.pid).children(recursive=True)
    # Not what a worker starts for a moment to ask for the name of the machine.
    workers = [child for child in started if _is_python(child)]
    assert len(workers) == 2
    process.kill()
    process.wait()
    assert psutil.wait_procs(workers, timeout=30)[1] == []
    finished = check_consistent(out)
    n_before = len(notes(log, "begin"))
    subprocess.run(command, check=True)
    assert not {unit for unit, *_ in notes(log, "begin")[n_before:]} & set(finished)
    assert set(check_consistent(out)) == {f"mine/{seed}" for seed in range(8)}


def test_results_do_not_depend_on_the_number_of_runs(tmp_path: Path) -> None:
    log = tmp_path / "log"
    whole = experiment(log, 6).run(tmp_path / "whole", isolate=False)
    for repetitions in (1, 4, 6):
        parts = experiment(log, repetitions).run(tmp_path / "parts", isolate=False)
    changing = [*CIRCUMSTANCES, *TIMES, "protocol_description"]
    pd.testing.assert_frame_equal(parts.drop(columns=changing), whole.drop(columns=changing))
    assert np.isfinite(parts["micro_f1"]).all()
