"""The benchmarks: their arithmetic by hand, and that every script runs; no time is judged."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # benchmarks are scripts, not installed

from benchmarks import __main__ as runner
from benchmarks import past_one_machine as far
from benchmarks.generated import dense_problem, text_problem
from benchmarks.measuring import (
    Finding,
    best,
    by_turns,
    in_own_process,
    machine,
    median_ratio,
    missing,
    show,
    slope,
)

ROOT = Path(__file__).parent.parent


def test_slopes_by_hand() -> None:
    assert slope([10, 100, 1000], [3.0, 30.0, 300.0]) == pytest.approx(1.0)
    assert slope([2, 4, 8], [5.0, 20.0, 80.0]) == pytest.approx(2.0)
    assert slope([2, 4, 8], [7.0, 7.0, 7.0]) == pytest.approx(0.0)


def test_a_ratio_is_the_median_over_turns() -> None:
    # One busy moment, in which both are slow, does not count; nor does one that meets one side.
    times = {"peer": [20.0, 200.0, 21.0], "ours": [2.0, 20.0, 7.0]}
    assert median_ratio(times, "peer", "ours") == 10.0
    assert best(times) == {"peer": 20.0, "ours": 2.0}


def test_calls_take_turns() -> None:
    order: list[str] = []
    calls = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    times = by_turns(calls, 3)
    assert order == ["a", "b"] * 3
    assert [len(times[name]) for name in calls] == [3, 3]


def test_times_are_those_of_the_clock() -> None:
    ticks = iter([0.0, 1.0, 10.0, 15.0])
    assert by_turns({"a": int, "b": int}, 1, clock=lambda: next(ticks)) == {"a": [1.0], "b": [5.0]}


@pytest.mark.parametrize(
    ("low", "high", "met", "target"),
    [
        (None, None, None, ""),
        (2.0, None, True, "at least 2"),
        (4.0, None, False, "at least 4"),
        (None, 3.0, True, "at most 3"),
        (None, 1.5, False, "at most 1.5"),
        (0.95, 1.05, False, "0.95 to 1.05"),
    ],
)
def test_a_finding_knows_its_target(
    low: float | None, high: float | None, met: bool | None, target: str
) -> None:
    finding = Finding("something", 3.0, "times", low, high)
    assert finding.met is met
    assert finding.target == target
    assert ("MISSED" in finding.line()) == (met is False)


def test_a_missing_peer_is_said_and_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    rows = show([missing("ours beside theirs", "omikuji"), Finding("x", 9.0, high=1.0)], True)
    printed = capsys.readouterr().out
    assert 'not measured: no omikuji; pip install "omikuji"' in printed
    assert "MISSED" not in printed  # a quick run judges nothing
    assert [row["value"] for row in rows] == [None, 9.0]


def test_a_process_of_its_own_reports_back() -> None:
    start = time.perf_counter()
    found = in_own_process("measuring", "allocate", megabytes=20)
    grown = (found["peak_bytes"] - found["before_bytes"]) / 2**20
    assert grown == pytest.approx(20, abs=4)
    assert found["touched"] == 20
    assert 0 <= found["seconds"] < time.perf_counter() - start
    with pytest.raises(RuntimeError, match=r"(?s)allocate\(.*failed.*ValueError"):
        in_own_process("measuring", "allocate", megabytes=-1)


def test_generated_labels_have_the_stated_shape() -> None:
    X, Y = dense_problem(500, 6, 40)
    assert (X.shape, Y.shape) == ((500, 6), (500, 40))
    assert Y.sum(axis=1).mean() == pytest.approx(4.7, abs=0.3)
    assert Y[:, 0].mean() > 3 * Y[:, 20].mean() > 0
    X, Y = text_problem(400, 90, 30, words=12, labels=3)
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1.0)
    assert set(Y.data) == {1.0}
    assert np.diff(Y.indptr).max() == 3
    assert np.diff(X.indptr).max() <= 12


RATES = far.Rates(
    rows_per_second=1000.0, fixed_bytes=10**9, pairs_per_row=0.0, add_seconds_per_byte=0.0
)


def test_the_reduction_tree_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two by two, eight workers send 4 + 2 + 1 times, in three levels of one transfer each."""
    monkeypatch.setattr(far, "FAN_IN", 2)
    found = far.plan(8, RATES, n_rows=80_000)
    assert found.pass_seconds == 10.0
    assert found.levels == 3
    assert found.sent_bytes == 7 * 10**9
    assert found.reduce_seconds == pytest.approx(3 * 10**9 / far.BANDWIDTH)
    # All eight at once: the same bytes, but one worker receives them one after the other.
    monkeypatch.setattr(far, "FAN_IN", 8)
    found = far.plan(8, RATES, n_rows=80_000)
    assert (found.levels, found.sent_bytes) == (1, 7 * 10**9)
    assert found.reduce_seconds == pytest.approx(7 * 10**9 / far.BANDWIDTH)
    # Ten workers: two groups, then one.
    assert far.plan(10, RATES, n_rows=80_000).sent_bytes == 9 * 10**9
    assert far.plan(10, RATES, n_rows=80_000).levels == 2


def test_label_pairs_fill_up_but_no_further() -> None:
    rates = far.Rates(1000.0, 0, pairs_per_row=4.0, add_seconds_per_byte=0.0)
    full = far.PAIR_BYTES * far.N_FOLDS * 100**2
    few = far.label_pair_bytes(10, rates, n_labels=100)
    assert few == pytest.approx(40 * far.PAIR_BYTES, rel=1e-3)
    assert few < far.label_pair_bytes(10_000, rates, n_labels=100) < full
    assert far.label_pair_bytes(1e9, rates, n_labels=100) == pytest.approx(full)


def test_workers_are_useful_until_reducing_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    # 10^6 rows: 1000 s on one worker; w workers reduce log2(w) x 0.8 s. 128: 7.8 s and 5.6 s.
    monkeypatch.setattr(far, "FAN_IN", 2)
    assert far.useful_workers(RATES, n_rows=10**6) == 128


def test_tables_fill_only_what_is_marked(tmp_path: Path) -> None:
    for page, mark in (("benchmarks", "scale"), ("howto/cluster", "plan")):
        text = f"before\n<!-- {mark}:start -->\nold\n<!-- {mark}:end -->\nafter\n"
        file = tmp_path / f"{page}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    rates = far.Rates(20_000.0, 2**29, 25.0, 1e-9)
    found = [Finding("one worker", 20_000.0, "rows/s", details=vars(rates))]
    found += [Finding("handed on", 512.0, "MiB"), Finding("pairs", 5722.0, "MiB")]
    found += [Finding("plan", 1.0, "s", details=vars(far.plan(w, rates))) for w in (10, 100)]
    found += [Finding("most", 256.0, "workers")]
    ratio = Finding("ours beside theirs", 2.0, "times its time", high=1.5)
    results = {
        "machine": machine(),
        "quick": False,
        "scripts": {
            "ridge_speed": {"findings": show([ratio, missing("x", "omikuji")], False)},
            "past_one_machine": {"findings": show(found, False)},
        },
    }
    (tmp_path / "found.json").write_text(json.dumps(results))
    command = [sys.executable, "-m", "benchmarks.tables", "--docs", str(tmp_path)]
    subprocess.run([*command, str(tmp_path / "found.json")], cwd=ROOT, check=True)
    speed, plan = (
        (tmp_path / f"{page}.md").read_text() for page in ("benchmarks", "howto/cluster")
    )
    assert "| ours beside theirs | 2 times its time | at most 1.5 | missed |" in speed
    assert "not measured: no omikuji" in speed
    # 10^9 rows / 10 workers / 20,000 rows a second.
    assert "| 10 | 83 min |" in plan
    for page in (speed, plan):
        assert page.startswith("before\n")
        assert page.endswith("after\n")
        assert "old" not in page


def test_every_speed_script_is_run_or_says_why_not() -> None:
    on_accuracy = {"landmark_quality", "label_space_curves", "landmark_selection", "never_worse"}
    on_accuracy |= {"annotation", "embedding_choice", "sparse_methods", "text_tagging"}
    helpers = {"__init__", "__main__", "measuring", "generated", "tables"}
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert scripts - helpers - on_accuracy == set(runner.SCRIPTS)


@pytest.mark.slow
def test_the_quick_run_fills_one_file(tmp_path: Path) -> None:
    pytest.importorskip("skmultilearn")
    pytest.importorskip("distributed")
    out = tmp_path / "found.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--out", str(out)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found = json.loads(out.read_text())
    assert found["quick"] is True
    assert found["machine"]["cores"] >= 1
    assert list(found["scripts"]) == list(runner.SCRIPTS)
    for name, script in found["scripts"].items():
        assert script["findings"], name
        for row in script["findings"]:
            assert row["case"]
            assert row["met"] is None
            assert row["details"].get("note") if row["value"] is None else np.isfinite(row["value"])
    slopes = [row["unit"] for row in found["scripts"]["growth"]["findings"]]
    assert {"slope in rows", "slope in labels", "slope in landmarks"} <= set(slopes)


def test_an_unknown_script_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "ridge"])
    with pytest.raises(SystemExit, match="2"):
        runner.main()
    assert "no script ridge; there are ridge_speed" in capsys.readouterr().err
