"""Experiments: what they run, what they survive, and what they show."""

import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import psutil
import pytest
from experiment_problems import Misbehaving, Noting, notes, small_data
from sklearn.neighbors import KNeighborsClassifier

from splmll.catalogue import METHODS
from splmll.experiments.limits import CallFailed, LimitedProcess
from splmll.experiments.mlflow_log import log_to_mlflow
from splmll.experiments.progress import RunProgress
from splmll.experiments.protocol import CrossValidation
from splmll.experiments.runner import Experiment
from splmll.experiments.store import Store
from splmll.experiments.unit import Unit, UnitResult
from splmll.methods import MLkNN
from splmll.metrics import MEASURES

DATA = small_data(split=True)


def run(experiment: Experiment, out: Path, **options: Any) -> pd.DataFrame:
    return experiment.run(out, isolate=False, **options)


# What is run -------------------------------------------------------------------------------------


def test_units_are_methods_by_data_by_parts() -> None:
    other = small_data("other")
    experiment = Experiment([DATA, other], ["RAkEL", "ML-kNN"], CrossValidation(2, n_folds=3))
    described = [(u.data_name, u.repetition, u.fold, u.method) for u in experiment.units()]
    assert described == [
        (data, repetition, fold, method)
        for data in ("small", "other")
        for repetition in range(2)
        for fold in range(3)
        for method in ("RAkEL", "ML-kNN")
    ]


def test_what_a_unit_took_decides_whether_a_later_one_is_run(tmp_path: Path) -> None:
    class Careful(Experiment):
        seen: ClassVar[list[str]] = []

        def wants(self, unit: Unit) -> bool:
            return unit.method != "PLST" or not self.seen

        def learn(self, unit: Unit, result: UnitResult) -> None:
            assert result.status == "done"
            self.seen.append(unit.method)

    results = run(Careful(DATA, ["ML-kNN", "PLST", "CPLST"]), tmp_path)
    assert sorted(results["method"]) == ["CPLST", "ML-kNN"]
    assert Careful.seen == ["ML-kNN", "CPLST"]


def test_methods_without_randomness_run_once() -> None:
    units = Experiment(DATA, ["RAkEL", "ML-kNN"], repetitions=3).units()
    assert [(unit.method, unit.seed) for unit in units] == [
        ("RAkEL", 0),
        ("ML-kNN", 0),
        ("RAkEL", 1),
        ("RAkEL", 2),
    ]


def test_all_methods_get_the_same_rows_and_seeds(tmp_path: Path) -> None:
    methods = {name: Noting(name) for name in "abc"}
    experiment = Experiment(DATA, methods, CrossValidation(2, n_folds=3), seed=5)
    results = run(experiment, tmp_path)
    store = Store(tmp_path)
    for _, group in results.groupby(["repetition", "fold"]):
        assert group["seed"].nunique() == 1
        truths = [store.arrays(key).truth.tobytes() for key in group["key"]]
        assert len(set(truths)) == 1
    assert set(results["seed"]) == {5, 6}


def test_by_default_all_compared_methods_and_ours() -> None:
    assert list(Experiment(DATA).methods) == [*METHODS, "SPL-MLL"]


def test_data_from_a_name_a_file_and_memory(tmp_path: Path) -> None:
    file = tmp_path / "words.arff"
    file.write_text(
        "@relation 'words: -C 2'\n@attribute label1 {0,1}\n@attribute label2 {0,1}\n"
        "@attribute size numeric\n@data\n"
        + "\n".join(f"{i % 2},{(i // 2) % 2},{i}" for i in range(20))
    )
    experiment = Experiment(["emotions", file, DATA], ["PLST"])
    assert [unit.data_name for unit in experiment.units()] == ["emotions", "words", "small"]


def test_a_name_in_any_case_and_estimators_of_ones_own() -> None:
    mine = KNeighborsClassifier(3)
    methods = Experiment(DATA, ["ml-knn", ("mine", mine)]).methods
    assert methods == {"ML-kNN": None, "mine": mine}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": "emotion"}, "There is neither a data set nor a file 'emotion'; the names are"),
        ({"data": [DATA, DATA]}, "The data set 'small' is named twice"),
        ({"methods": ["RAKL"]}, "There is no method 'RAKL'. Did you mean 'RAkEL'?"),
        ({"methods": ["BR", "br"]}, "The method 'BR' is named twice"),
        ({"methods": []}, "Give a list of methods"),
        ({"protocol": "loo"}, "There is no protocol 'loo'. There are held-out, cv, paper"),
        ({"repetitions": 0}, "repetitions must be a whole number of at least 1"),
        ({"preprocessing": "log"}, "Unknown preprocessing 'log'"),
        ({"threshold": "best"}, "Unknown threshold rule 'best'"),
        ({"search": "random"}, "Unknown search 'random': use one of none, grid"),
    ],
)
def test_impossible_experiments_are_refused_at_once(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?").replace("(", r"\(")):
        Experiment(**{"data": DATA, "methods": ["BR"], **arguments})


# Going on where it stopped -----------------------------------------------------------------------


def test_nothing_is_done_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    experiment = Experiment(DATA, [("a", Noting("a", str(log)))], repetitions=3)
    first = run(experiment, tmp_path / "out")
    second = run(experiment, tmp_path / "out")
    pd.testing.assert_frame_equal(first, second)
    assert [unit for unit, *_ in notes(log)] == ["a/0", "a/1", "a/2"]


def test_more_repetitions_only_add(tmp_path: Path) -> None:
    log = tmp_path / "log"
    methods = [("a", Noting("a", str(log)))]
    run(Experiment(DATA, methods, repetitions=2), tmp_path / "out")
    results = run(Experiment(DATA, methods, repetitions=4), tmp_path / "out")
    assert list(results["repetition"]) == [0, 1, 2, 3]
    assert [unit for unit, *_ in notes(log)] == ["a/0", "a/1", "a/2", "a/3"]


def test_results_are_those_of_this_experiment_only(tmp_path: Path) -> None:
    run(Experiment(DATA, ["PLST"]), tmp_path)
    results = run(Experiment(DATA, ["ML-kNN"]), tmp_path)
    assert list(results["method"]) == ["ML-kNN"]
    assert set(Store(tmp_path).results()["method"]) == {"ML-kNN", "PLST"}


def test_what_failed_is_done_again_only_on_request(tmp_path: Path) -> None:
    log = tmp_path / "log"
    experiment = Experiment(
        DATA,
        [("bad", Misbehaving("error", str(log))), ("good", Noting("good", str(log)))],
        repetitions=1,
    )
    for _ in range(2):
        results = run(experiment, tmp_path / "out")
        assert list(results["status"]) == ["failed", "done"]
    assert len(notes(log)) == 2
    run(experiment, tmp_path / "out", retry_failed=True)
    assert [unit for unit, *_ in notes(log)] == ["error/0", "good/0", "error/0"]
    assert len(Store(tmp_path / "out").results()) == 2


def test_an_error_is_a_row_and_the_rest_go_on(tmp_path: Path) -> None:
    methods = [("bad", Misbehaving("error")), ("good", Noting())]
    results = run(Experiment(DATA, methods, repetitions=1), tmp_path).set_index("method")
    assert results.loc["bad", "error"] == "RuntimeError: the ridge is too high"
    assert "raise RuntimeError" in results.loc["bad", "traceback"]
    assert np.isnan(results.loc["bad", "micro_f1"])
    assert results.loc["good", "status"] == "done"


# In processes of their own -----------------------------------------------------------------------


@pytest.mark.slow
def test_whatever_happens_to_a_unit_the_others_are_done(tmp_path: Path) -> None:
    names = ("segfault", "time", "memory", "error")
    around = [("first", Noting()), ("last", MLkNN())]
    before = worker_processes()  # another test in this process may still have one
    # A slow machine needs a while to fill its memory, so the time is limited in a run of its own.
    limits = (
        ({"time_limit": 5}, ["time"]),
        ({"memory_limit": 1000}, ["segfault", "memory", "error"]),
    )
    for limit, each in limits:
        methods = [around[0], *((name, Misbehaving(name)) for name in each), around[1]]
        Experiment(DATA, methods, repetitions=1, **limit).run(tmp_path)
    results = Store(tmp_path).results().set_index("method")
    assert results["status"].to_dict() == {
        "first": "done",
        "segfault": "failed",
        "time": "timeout",
        "memory": "memory",
        "error": "failed",
        "last": "done",
    }
    assert "signal 11 (SIGSEGV)" in results.loc["segfault", "error"]
    assert "Segmentation fault" in results.loc["segfault", "traceback"]
    assert results.loc["time", "error"] == "took more than 5 seconds"
    assert "more than the 1000 MB allowed" in results.loc["memory", "error"]
    assert results.loc["error", "error"] == "RuntimeError: the ridge is too high"
    assert results.loc[list(names), list(MEASURES)].isna().all(axis=None)
    assert worker_processes() <= before


def worker_processes() -> set[int]:
    children = psutil.Process().children()
    return {child.pid for child in children if "_child.py" in " ".join(child.cmdline())}


def test_limits_need_processes() -> None:
    with pytest.raises(ValueError, match="set no limits"):
        Experiment(DATA, ["BR"], time_limit=1).run("nowhere", isolate=False)
    with pytest.raises(ValueError, match="leave n_jobs at 1"):
        Experiment(DATA, ["BR"]).run("nowhere", 2, isolate=False)
    with pytest.raises(ValueError, match="There is no backend 'ray'"):
        Experiment(DATA, ["BR"]).run("nowhere", backend="ray")
    assert not Path("nowhere").exists()


def test_a_process_is_kept_until_it_fails() -> None:
    with LimitedProcess() as process:
        first = process.call(os.getpid)
        assert first != os.getpid()
        assert process.call(os.getpid) == first
        with pytest.raises(CallFailed, match="ZeroDivisionError: integer division") as failed:
            process.call(divmod, 1, 0)
        assert "Traceback" in str(failed.value.traceback)
        assert process.call(os.getpid) == first  # an error is no reason to start anew
        with pytest.raises(CallFailed, match="exited with code 7"):
            process.call(exec, "import os; os._exit(7)")
        assert process.call(os.getpid) != first


def test_functions_without_a_name_and_what_they_print() -> None:
    with LimitedProcess() as process:
        assert process.call(lambda x: print("noise") or 2 * x, 21) == 42


def test_limits_reach_the_children_of_a_call() -> None:
    program = "import time; block = bytearray(300_000_000); time.sleep(600)"

    def start_another() -> None:
        import subprocess
        import sys

        subprocess.run([sys.executable, "-c", program])

    with LimitedProcess() as process:
        child = psutil.Process(process.call(os.getpid))
        with pytest.raises(CallFailed) as failed:
            process.call(start_another, memory_limit=250)
        assert failed.value.status == "memory"
        assert not child.is_running()
    assert not [p for p in psutil.process_iter(["cmdline"]) if program in (p.info["cmdline"] or [])]


def test_a_call_that_dies_of_memory_itself() -> None:
    with LimitedProcess() as process, pytest.raises(CallFailed) as failed:
        process.call(bytearray, 2**62)
    assert failed.value.status == "memory"


def test_the_process_ends_with_its_parent(tmp_path: Path) -> None:
    # The parent is killed while the call runs; nobody is left to end the child.
    program = """
import sys, time
sys.path[:] = {path!r}
from splmll.experiments.limits import LimitedProcess
process = LimitedProcess()
print(process.call(__import__("os").getpid), flush=True)
process.call(time.sleep, 600)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program.format(path=sys.path)], stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    assert child.is_running()
    parent.kill()
    parent.wait()
    parent.stdout.close()
    child.wait(timeout=30)  # raises if it lives on


@pytest.mark.slow
def test_interrupted_by_the_user(tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    # A process that a shell has put into the background is born deaf to interrupts.
    program = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path[:] = {sys.path!r}
from experiment_problems import Noting, small_data
from splmll.experiments.runner import Experiment
methods = [("quick", Noting("quick", {str(log)!r})), ("slow", Noting("slow", {str(log)!r}, 600))]
Experiment(small_data(split=True), methods, repetitions=1).run({str(out)!r}, n_jobs=2)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE)
    while len(notes(log, "begin")) < 2 or not out.exists() or len(Store(out).results()) < 1:
        assert process.poll() is None
        time.sleep(0.1)
    workers = psutil.Process(process.pid).children()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in errors
    assert psutil.wait_procs(workers, timeout=30)[1] == []
    results = Store(out).results()
    assert list(results[["method", "status"]].itertuples(index=False, name=None)) == [
        ("quick", "done")
    ]
    with Store(out).at_work():  # it is free again
        pass


# What is shown -----------------------------------------------------------------------------------


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_live_line_in_a_terminal() -> None:
    terminal = Terminal()
    with RunProgress(5, stream=terminal) as progress:
        progress.count(done=2)
        progress.count(running=2)
        progress.count(running=-1, done=1)
        progress.count(running=-1, failed=1)
        progress.count(done=1)
    shown = terminal.getvalue()
    assert "4 done, 0 running, 1 failed" in shown
    assert "5/5" in shown


def test_silence_where_there_is_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    experiment = Experiment(DATA, [("bad", Misbehaving("error")), "PLST"], repetitions=1)
    experiment.run(tmp_path, isolate=False)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_run_counts_what_is_over_and_what_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    run(Experiment(DATA, ["PLST"]), tmp_path)
    monkeypatch.setattr(sys, "stderr", terminal)
    methods = ["PLST", ("bad", Misbehaving("error")), "ML-kNN"]
    Experiment(DATA, methods, repetitions=1).run(tmp_path, isolate=False)
    assert "2 done, 0 running, 1 failed" in terminal.getvalue()
    assert "3/3" in terminal.getvalue()


@pytest.mark.slow
def test_runs_in_mlflow(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    results = run(Experiment(DATA, [("bad", Misbehaving("error")), "PLST"], "cv"), tmp_path / "out")
    address = f"sqlite:///{tmp_path / 'mlflow.db'}"
    assert log_to_mlflow(results, "comparison", address) == 10
    assert log_to_mlflow(results, "comparison", address) == 0
    client = mlflow.MlflowClient(address)
    number = client.get_experiment_by_name("comparison").experiment_id
    runs = {
        (run.data.params["method"], int(run.data.params["fold"])): run
        for run in client.search_runs([number])
    }
    assert len(runs) == 10
    for row in results.to_dict("records"):
        logged = runs[row["method"], row["fold"]]
        assert logged.info.status == ("FINISHED" if row["status"] == "done" else "FAILED")
        if row["status"] == "done":
            assert logged.data.metrics["micro_f1"] == row["micro_f1"]
            assert "precision_at_5" not in logged.data.metrics
        else:
            assert logged.data.tags["splmll.error"] == row["error"]


def test_a_result_knows_where_it_comes_from() -> None:
    result = UnitResult.failure("failed", "no")
    assert {"python", "numpy", "scikit-learn"} <= set(result.versions)
    assert result.host["cores"] == os.cpu_count()
