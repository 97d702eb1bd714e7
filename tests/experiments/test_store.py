"""The store: what it keeps, and what it refuses."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from experiment_problems import small_data
from numpy.testing import assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from crash_states import recorded
from splmll.experiments.protocol import PROTOCOLS, BenchmarkProtocol, Protocol
from splmll.experiments.store import SCHEMA_VERSION, Store, StoreError
from splmll.experiments.unit import Unit, UnitResult, run_unit
from splmll.metrics import MEASURES, evaluate
from splmll.thresholds import fit_threshold

DATA = small_data(split=True)
HELD_OUT = PROTOCOLS["held-out"]


def keep(store: Store, unit: Unit, result: UnitResult | None = None) -> Unit:
    store.record(unit, run_unit(unit) if result is None else result)
    return unit


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "run")


# What is kept ------------------------------------------------------------------------------------


def test_results_come_back_as_they_were(store: Store) -> None:
    unit = Unit("RAkEL", DATA, HELD_OUT, repetition=3)
    result = run_unit(unit)
    keep(store, unit, result)
    (row,) = Store(store.path).results().to_dict("records")
    assert {name: row[name] for name in unit.columns()} == unit.columns()
    assert (row["status"], row["error"], row["traceback"]) == ("done", None, None)
    assert (row["n_train"], row["seed"], row["settings"]) == (60, 3, "{}")
    assert_array_equal([row[name] for name in MEASURES], list(result.measures.values()))
    assert row["fit_seconds"] == result.fit_seconds
    assert result.arrays is not None
    arrays = store.arrays(unit.key)
    for name, value in vars(result.arrays).items():
        assert_array_equal(getattr(arrays, name), value)


def test_failures_are_rows_without_numbers(store: Store) -> None:
    unit = Unit("RAkEL", DATA, HELD_OUT, threshold="0.3")
    keep(store, unit, UnitResult.failure("memory", "held too much", "line 1\nline 2"))
    (row,) = store.results().to_dict("records")
    assert (row["status"], row["error"], row["traceback"]) == (
        "memory",
        "held too much",
        "line 1\nline 2",
    )
    assert np.isnan([row[name] for name in MEASURES]).all()
    assert pd.isna(row["n_train"])
    assert row["settings"] == '{"threshold": 0.3}'
    with pytest.raises(KeyError, match="There are no scores of a unit"):
        store.arrays(unit.key)


def test_an_empty_store_has_all_columns(store: Store) -> None:
    empty = store.results()
    assert len(empty) == 0
    assert {"key", "data", "method", "status", "started", *MEASURES} < set(empty.columns)


def test_some_results_in_the_order_asked_for(store: Store) -> None:
    units = [keep(store, Unit(name, DATA, HELD_OUT)) for name in ("PLST", "BR", "ML-kNN")]
    assert list(store.results()["method"]) == ["BR", "ML-kNN", "PLST"]
    asked = [units[2].key, "unheard of", units[0].key]
    assert list(store.results(asked)["method"]) == ["ML-kNN", "PLST"]


# Recomputing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ML-kNN", "RAkEL", "MLML", "SLEEC"])
def test_recomputed_measures_are_the_stored_ones(store: Store, name: str) -> None:
    keep(store, Unit(name, DATA, HELD_OUT))
    pd.testing.assert_frame_equal(store.recompute(), store.results())


def test_recompute_with_other_options(store: Store) -> None:
    # Three neighbours give four different scores, so that ties matter.
    unit = keep(store, Unit("kNN", DATA, HELD_OUT, estimator=KNeighborsClassifier(3)))
    keep(store, Unit("BR", DATA, HELD_OUT), UnitResult.failure("failed", "no"))
    arrays = store.arrays(unit.key)
    expected = evaluate(arrays.truth, arrays.scores, None, ["ranking_loss"], ties="half")
    (row,) = store.recompute("ranking_loss", ties="half").to_dict("records")
    assert row["ranking_loss"] == expected["ranking_loss"]
    assert row["ranking_loss"] < store.results([unit.key]).loc[0, "ranking_loss"]
    assert np.isnan(row["micro_f1"])


def test_recompute_with_another_threshold(store: Store) -> None:
    keep(store, Unit("ML-kNN", DATA, HELD_OUT))
    expected = run_unit(Unit("ML-kNN", DATA, HELD_OUT, threshold="0.8")).measures
    (row,) = store.recompute(["micro_f1", "hamming_loss"], threshold=0.8).to_dict("records")
    assert (row["micro_f1"], row["hamming_loss"]) == (
        expected["micro_f1"],
        expected["hamming_loss"],
    )
    assert row["threshold"] == "0.8"


def test_rules_are_fitted_on_validation_rows_only(tmp_path: Path) -> None:
    large = small_data(n_rows=1200, split=True)  # 60 rows for validation
    store = Store(tmp_path)
    unit = keep(store, Unit("PLST", large, PROTOCOLS["paper"]))
    arrays = store.arrays(unit.key)
    rule = fit_threshold("micro_f1", arrays.validation_truth, arrays.validation_scores)
    expected = evaluate(arrays.truth, None, rule.apply(arrays.scores), ["micro_f1"])
    recomputed = store.recompute("micro_f1", threshold="micro_f1")
    assert recomputed.loc[0, "micro_f1"] == expected["micro_f1"]
    keep(store, Unit("PLST", large, HELD_OUT))
    with pytest.raises(ValueError, match="has to be learnt from rows that are not measured on"):
        store.recompute(threshold="micro_f1")


def test_a_tuned_rule_cuts_the_scores_of_the_model_it_was_tuned_on(tmp_path: Path) -> None:
    data, protocol = small_data(n_rows=400, split=True), BenchmarkProtocol()
    store = Store(tmp_path)
    # Out-of-bag thresholds move the zero point of a forest's scores from fit to fit.
    unit = keep(store, Unit("RF", data, protocol))
    arrays = store.arrays(unit.key)
    rule = fit_threshold("micro_f1", arrays.validation_truth, arrays.validation_scores)
    expected, other = (
        evaluate(arrays.truth, None, rule.apply(scores), ["hamming_loss"])["hamming_loss"]
        for scores in (arrays.tunable_scores, arrays.scores)
    )
    recomputed = store.recompute("hamming_loss", threshold="micro_f1")
    assert recomputed.loc[0, "hamming_loss"] == expected != other


def test_an_unknown_measure_is_refused(store: Store) -> None:
    keep(store, Unit("ML-kNN", DATA, HELD_OUT))
    with pytest.raises(ValueError, match="unknown measure 'f1'"):
        store.recompute("f1")


# One run at a time -------------------------------------------------------------------------------


def test_one_run_at_a_time(store: Store) -> None:
    keep(store, Unit("ML-kNN", DATA, HELD_OUT))
    with store.at_work():
        with (
            pytest.raises(StoreError, match=r"Another run is at work on .*wait until it ends"),
            Store(store.path).at_work(),
        ):
            pytest.fail("two runs at work")  # pragma: no cover
        assert len(Store(store.path).results()) == 1  # others can read
    with Store(store.path).at_work():
        pass


def test_another_result_of_a_unit_takes_the_place_of_the_first(store: Store) -> None:
    unit = keep(store, Unit("ML-kNN", DATA, HELD_OUT), UnitResult.failure("failed", "no"))
    assert store.statuses() == {unit.key: "failed"}
    keep(store, unit)
    assert store.statuses() == {unit.key: "done"}


def test_what_a_killed_process_left_is_overwritten(store: Store) -> None:
    unit = Unit("ML-kNN", DATA, HELD_OUT)
    # Killed while writing, by this version and by an earlier one, or before the row was there.
    for name in (f".{unit.key}-12345678.part.npz", f"{unit.key}.part", f"{unit.key}.npz"):
        (store.folder / name).write_bytes(b"half")
    keep(store, unit)
    assert store.arrays(unit.key).scores.shape == (60, 3)
    assert [path.suffix for path in store.folder.iterdir()] == [".npz"]
    other = Unit("BR", DATA, HELD_OUT)
    (store.folder / f"{other.key}.npz").write_bytes(b"half")
    keep(store, other, UnitResult.failure("failed", "no"))
    assert [path.stem for path in store.folder.iterdir()] == [unit.key]


def test_a_row_on_the_disk_has_its_scores_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever of the files is there after a power cut, scores are, once their row can be."""
    unit = Unit("ML-kNN", DATA, HELD_OUT)
    result, connect, states = run_unit(unit), sqlite3.connect, []
    with recorded(store.folder) as disk:

        class Connection(sqlite3.Connection):
            def execute(self, statement: str, *rest: Any) -> sqlite3.Cursor:
                if statement == "COMMIT":
                    disk.states.clear()
                    disk.note(statement)
                    states.extend(disk.states)
                return super().execute(statement, *rest)

        monkeypatch.setattr(
            sqlite3, "connect", lambda *given, **more: connect(*given, factory=Connection, **more)
        )
        store.record(unit, result)
    file = store.folder / f"{unit.key}.npz"
    assert states
    assert all(dict(state)[file.name] == file.read_bytes() for state in states)


# The file ----------------------------------------------------------------------------------------


def test_a_folder_or_a_file(tmp_path: Path) -> None:
    assert Store(tmp_path).path == tmp_path / "results.sqlite"
    assert Store(tmp_path / "new" / "run").path == tmp_path / "new" / "run" / "results.sqlite"
    named = Store(tmp_path / "mine.db")
    assert (named.path, named.folder) == (tmp_path / "mine.db", tmp_path / "mine-scores")


def test_the_write_ahead_log_is_on(store: Store) -> None:
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def other_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE units (key TEXT)")


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_text("dear diary, " * 50),
        lambda path: path.write_bytes(b""),
        other_database,
    ],
    ids=["text", "empty", "other database"],
)
def test_other_files_are_refused_and_untouched(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    path = tmp_path / "notes.sqlite"
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not a store of results; it was left as it is"):
        Store(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["notes.sqlite"]


def test_another_version_of_the_format_is_refused(store: Store) -> None:
    with sqlite3.connect(store.path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    said = (
        f"written in version {SCHEMA_VERSION + 1} of the format, this is version {SCHEMA_VERSION};"
    )
    with pytest.raises(StoreError, match=said):
        Store(store.path)


def test_many_at_once_make_one_store(tmp_path: Path) -> None:
    unit = Unit("ML-kNN", DATA, HELD_OUT)
    start = threading.Barrier(6)

    def make() -> None:
        start.wait()
        Store(tmp_path / "run").record(unit, UnitResult.failure("failed", "no"))

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Store(tmp_path / "run").statuses() == {unit.key: "failed"}
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "results-scores",
        "results.sqlite",
    ]


def test_opening_a_store_leaves_the_locks_of_this_process(store: Store) -> None:
    # The last to leave a database removes its log. Another process that leaves while this one is
    # in there must find it locked, or it would take the log away from under it.
    leave = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute({!r}); c.close()"
    log = store.path.with_name(f"{store.path.name}-wal")
    with store._reading() as connection:
        connection.execute("DELETE FROM units")
        connection.execute("SELECT count(*) FROM units").fetchone()
        Store(store.path)
        subprocess.run(
            [sys.executable, "-c", leave.format("SELECT * FROM units"), str(store.path)], check=True
        )
        assert log.exists()
    assert not log.exists()


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=list(PROTOCOLS))
def test_every_protocol_is_told_apart(store: Store, protocol: Protocol) -> None:
    keep(store, Unit("ML-kNN", DATA, protocol))
    (row,) = store.results().to_dict("records")
    assert row["protocol"] == protocol.name
    assert row["protocol_description"] == protocol.describe()
