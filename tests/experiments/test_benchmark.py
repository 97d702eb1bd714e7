"""The open benchmark: rows and rules, peers, the tidy table, what is made of it, and its freeze."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from experiment_problems import Misbehaving, notes, small_data
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from threadpoolctl import threadpool_info

from command_runs import here
from splmll.catalogue import make_method
from splmll.datasets import load_dataset
from splmll.experiments import frozen_results
from splmll.experiments.benchmark import SETS, Benchmark, benchmark_methods, suite
from splmll.experiments.benchmark.analysis import Standing, main_standing
from splmll.experiments.benchmark.control import CONTROL
from splmll.experiments.benchmark.frozen import (
    COLUMNS,
    add_results,
    merge,
    read_own_results,
    tidy,
    unfinished,
    write_results,
)
from splmll.experiments.benchmark.page import summary, write_benchmark
from splmll.experiments.benchmark.peers import Peer, peers
from splmll.experiments.benchmark.times import CellTimes
from splmll.experiments.limits import THREAD_VARIABLES
from splmll.experiments.protocol import BenchmarkProtocol
from splmll.experiments.runner import Experiment
from splmll.experiments.store import Store
from splmll.experiments.unit import Unit, run_unit

DATA = small_data(n_rows=240)
CHEAP = ["BR", "ML-kNN", "PLST"]


def table_of(values: dict[tuple[str, str], float], **changes: object) -> pd.DataFrame:
    """A tidy table in which every measure of a cell says the same: so good is the method."""
    lines = []
    for (data, method), good in values.items():
        done = not np.isnan(good)
        for measure, rule in (
            ("ranking_loss", "scores"),
            ("average_precision", "scores"),
            *((name, rule) for name in ("hamming_loss", "micro_f1", "macro_f1")
              for rule in ("tuned", "own")),
        ):  # fmt: skip
            value = 1 - good if measure.endswith("loss") else good
            line = {"data": data, "method": method, "measure": measure, "rule": rule, "seed": 0}
            line |= {"value": value, "search": "none", "status": "done" if done else "timeout"}
            line |= {"seconds": 1.0, "memory_mb": 1.0, "n_train": 9, "n_test": 9, "versions": "v"}
            lines.append(line | changes)
    return pd.DataFrame(lines, columns=list(COLUMNS))


# Rows and rules ---------------------------------------------------------------------------------


def test_the_threshold_is_chosen_on_rows_that_a_second_fit_has_not_seen() -> None:
    protocol = BenchmarkProtocol()
    (part,) = protocol.repetition(DATA, 0)
    assert set(part.train).isdisjoint(part.test)
    assert set(part.threshold_rows) <= set(part.train)
    assert len(part.test) == 80
    assert len(part.threshold_rows) == 60
    result = run_unit(Unit("ML-kNN", DATA, protocol))
    assert result.arrays is not None
    np.testing.assert_array_equal(result.arrays.validation_truth, DATA.Y[part.threshold_rows])
    kept = np.setdiff1d(part.train, part.threshold_rows)
    second = make_method("ML-kNN").fit(DATA.X[kept], DATA.Y[kept])
    for found, rows in (
        (result.arrays.validation_scores, part.threshold_rows),
        (result.arrays.tunable_scores, part.test),
    ):
        np.testing.assert_allclose(found, second.decision_function(DATA.X[rows]), atol=1e-6)


def test_the_rows_of_the_benchmark_come_with_the_library(data_home: Path) -> None:
    drawn = load_dataset("cal500")
    (part,) = BenchmarkProtocol().repetition(drawn, 0)
    facts = SETS["cal500"]
    assert (len(part.train), len(part.test)) == (facts.n_train, facts.n_test)
    assert set(part.threshold_rows) <= set(part.train)
    assert len(set(part.train) | set(part.test)) == facts.n_train + facts.n_test
    assert part.test[:4].tolist() == [5, 12, 15, 16]  # whatever becomes of the draw
    # Other rows under the same name are drawn.
    fewer = drawn.sample(300)
    (other,) = BenchmarkProtocol().repetition(fewer, 0)
    assert len(other.train) + len(other.test) == 300


def test_few_rows_for_a_quick_look() -> None:
    (part,) = BenchmarkProtocol(most_train=100, most_test=30).repetition(DATA, 0)
    assert (len(part.train), len(part.test)) == (100, 30)


def test_features_are_scaled_where_it_suits_them() -> None:
    X = np.array([[0.0, 5.0], [1.0, 7.0]])
    unit = Unit("ML-kNN", DATA, BenchmarkProtocol(), preprocessing="suited")
    assert type(unit.make_model(X)[0]).__name__ == "StandardScaler"
    assert not hasattr(unit.make_model((X > 0.5).astype(float)), "steps")


def test_every_installed_peer_learns_and_ranks_a_label_without_rows_last() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, np.zeros(80)]).astype(int)
    assert len(peers()) >= 6  # those of scikit-learn
    for name, peer in peers().items():
        model = peer.fit(X, Y)
        scores = model.decision_function(X)
        assert (scores[:, 2] < scores[:, :2].min()).all(), name
        assert (model.predict(X)[:, :2] == Y[:, :2]).mean() > 0.9, name
    assert "estimator__estimator__C" in peers()["OvR LinearSVC"].search_space


def test_a_peer_that_the_search_varies_is_not_changed() -> None:
    chain = ClassifierChain(LogisticRegression())
    peer = Peer(chain).fit(DATA.X, DATA.Y)
    assert not hasattr(chain, "estimators_")
    assert hasattr(peer.estimator_, "estimators_")


# The table --------------------------------------------------------------------------------------


def test_a_store_becomes_a_tidy_table_and_a_method_can_be_done_again(tmp_path: Path) -> None:
    experiment = Experiment(DATA, ["ML-kNN", "PLST"], BenchmarkProtocol())
    experiment.run(tmp_path, isolate=False)
    store = Store(tmp_path)
    table = tidy(store)
    assert list(table.columns) == list(COLUMNS)
    assert set(table["rule"]) == {"scores", "tuned", "own"}
    # Three labels have no measure of the first five.
    assert set(table.loc[table["value"].isna(), "measure"]) == {"ndcg_at_5"}
    assert (table["seconds"] >= 0).all()
    micro = table[table["measure"] == "micro_f1"].pivot(
        index="method", columns="rule", values="value"
    )
    results = store.results().set_index("method")
    np.testing.assert_allclose(micro["own"], results.loc[micro.index, "micro_f1"], atol=1e-6)
    assert store.forget("PLST", keys=["that of another set"]) == 0
    assert store.forget("PLST") == 1
    assert set(tidy(store)["method"]) == {"ML-kNN"}


def test_new_cells_replace_old_ones_and_bytes_are_the_same(tmp_path: Path) -> None:
    old = table_of({("flags", "BR"): 0.1, ("flags", "RF"): 0.2})
    new = table_of({("flags", "BR"): 0.3})
    both = merge(old, new)
    assert len(both) == len(old)
    found = both[both["measure"] == "average_precision"].set_index("method")["value"]
    assert found.to_dict() == {"BR": 0.3, "RF": 0.2}
    first, second = (write_results(both, tmp_path / name).read_bytes() for name in ("a", "b"))
    assert first == second
    pd.testing.assert_frame_equal(frozen_results(tmp_path / "a"), both, check_dtype=False)


def test_results_of_ones_own_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("data,method,measure,value\nflags,Mine,micro_f1,0.9\n")
    mine = read_own_results(file)
    assert mine["rule"].tolist() == ["tuned"]
    for text, message in (
        ("data,method,value\nflags,Mine,0.9\n", "no column 'measure'"),
        ("data,method,measure,value\nflags,Mine,f7,0.9\n", "no measure 'f7'"),
        ("data,method,measure,value\nmoon,Mine,micro_f1,0.9\n", "no results on 'moon'"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_own_results(file)


# What is made of it -----------------------------------------------------------------------------


def test_what_did_not_finish_is_last_and_what_was_not_run_is_not_ranked() -> None:
    values = {(d, m): v for d in ("flags", "scene") for m, v in
              (("SPL-MLL", 0.8), ("BR", 0.9), ("RF", 0.5))}  # fmt: skip
    values["scene", "BR"] = np.nan
    values["flags", "LP"] = 0.99
    standing = Standing(table_of(values))
    assert set(standing.methods) == {"SPL-MLL", "BR", "RF"}
    ranks = standing.ranks_by_cell
    assert (ranks.loc["scene", "BR"] == 3).all()
    assert standing.average["all"].to_dict() == {"SPL-MLL": 1.5, "BR": 2.0, "RF": 2.5}
    lost = standing.lost()
    assert set(lost["data"]) == {"flags"}
    assert set(lost["best"]) == {"BR"}
    assert standing.unfinished.to_dict("records") == [
        {"data": "scene", "method": "BR", "status": "timeout"}
    ]
    duels = standing.against()
    assert duels.loc["BR", ["wins", "losses"]].tolist() == [5, 5]
    assert duels.loc["RF", ["wins", "losses"]].tolist() == [10, 0]


def test_clear_wins_on_many_sets_are_significant_and_ties_are_not() -> None:
    rng = np.random.default_rng(0)
    values = {}
    for number in range(12):
        good = rng.uniform(0.6, 0.9)
        values |= {(f"d{number}", "SPL-MLL"): good, (f"d{number}", "same"): good,
                   (f"d{number}", "worse"): good - 0.2}  # fmt: skip
    duels = Standing(table_of(values)).against()
    assert duels["beaten"].to_dict() == {"same": False, "worse": True}


def test_the_front_has_no_method_that_is_slower_and_worse() -> None:
    table = pd.concat(
        [
            table_of({("flags", "cheap"): 0.6}, seconds=1.0),
            table_of({("flags", "silly"): 0.5}, seconds=5.0),
            table_of({("flags", "SPL-MLL"): 0.9}, seconds=9.0),
        ]
    )
    standing = Standing(table)
    assert standing.front("flags") == ["cheap", "SPL-MLL"]
    assert standing.fronts_of_reference() == ["flags"]
    as_fast = pd.concat([table, table_of({("flags", "AAA"): 0.55}, seconds=1.0)])
    assert Standing(as_fast).front("flags") == ["cheap", "SPL-MLL"]


def test_the_three_facts_are_told_of_a_partial_table_and_what_it_lacks() -> None:
    values = {(d, m): v for d in ("flags", "scene") for m, v in
              (("SPL-MLL", 0.9), ("BR", 0.8), ("RF", 0.7))}  # fmt: skip
    values["flags", "LP"] = 0.99
    values["yeast", "BR"] = 0.5
    rank, front, beaten = Standing(table_of(values)).goals()
    assert rank.found == "average rank 1.00, place 1 of 3 over 2 data sets"
    assert front.found == "on the front of 1 of 2 data sets on which it was run: scene"
    assert beaten.found.startswith("significantly better than 0 of 2 methods; over 2 data sets no")
    assert not any(goal.holds for goal in (rank, front, beaten))  # not of sixteen sets
    text = summary(Standing(table_of(values)))
    assert all(goal.found in text for goal in (rank, front, beaten))
    assert "LP (lacks scene)" in text
    assert "too few methods were run there: yeast (1)" in text
    assert "Not run yet: emotions" in text


def test_all_three_goals_can_be_reached() -> None:
    rng = np.random.default_rng(0)
    values = {}
    for name in SETS:
        good = rng.uniform(0.6, 0.9)
        values[name, "SPL-MLL"] = good
        values |= {(name, f"m{k}"): good - 0.01 * (k + 1) for k in range(15)}
    assert all(goal.holds for goal in Standing(table_of(values)).goals())


def test_a_table_without_our_method_or_without_defaults_has_a_page(tmp_path: Path) -> None:
    values = {(d, m): v for d in ("flags", "scene") for m, v in (("BR", 0.9), ("RF", 0.7))}
    table = table_of(values, search="grid")
    assert main_standing(table).reference == "BR"
    files = write_benchmark(table, tmp_path)
    assert "BR has the best average rank" in files[0].read_text("utf-8")
    with pytest.raises(ValueError, match="no results of 'LP'"):
        write_benchmark(table, tmp_path, reference="LP")


def test_the_page_begins_with_what_is_lost(tmp_path: Path) -> None:
    values = {(d, m): v for d in ("flags", "scene", "yeast") for m, v in
              (("SPL-MLL", 0.8), ("BR", 0.9), (CONTROL, 0.7))}  # fmt: skip
    table = table_of(values)
    files = {file.name: file for file in write_benchmark(table, tmp_path, conditions="By chance.")}
    page = files["benchmark.html"].read_text("utf-8")
    titles = [part.split("</h2>")[0] for part in page.split("<h2>")[1:]]
    assert titles[0] == "Where SPL-MLL is not the best"
    assert "Not run yet: emotions" in page
    assert {"ranks.pdf", "duels.svg", "cost.png", "gains.pdf", "results.csv.gz"} <= set(files)
    assert summary(Standing(table)).startswith("SPL-MLL is not the best in 15 of 15")


def test_the_searched_table_is_shown_before_our_method_is_in_it(tmp_path: Path) -> None:
    both = {(d, m): v for d in ("flags", "scene") for m, v in (("SPL-MLL", 0.9), ("BR", 0.7))}
    others = {(d, m): v for d in ("flags", "birds") for m, v in (("BR", 0.7), ("LP", 0.6))}
    write_benchmark(merge(table_of(both), table_of(others, search="grid")), tmp_path)
    searched = (tmp_path / "benchmark.html").read_text("utf-8").split("With a search")[-1]
    assert "Average rank over flags, birds" in searched
    assert "Not run yet: emotions, genbase, cal500, scene." in searched


def test_the_control_tells_what_landmarks_gain_and_is_not_ranked(tmp_path: Path) -> None:
    values = {("flags", "SPL-MLL"): 0.8, ("flags", CONTROL): 0.7, ("flags", "BR"): 0.6}
    values |= {("scene", "SPL-MLL"): 0.8, ("scene", CONTROL): 0.9, ("scene", "BR"): 0.85}
    values |= {("yeast", "SPL-MLL"): 0.8}
    standing = Standing(table_of(values))
    for measure in ("average_precision", "ranking_loss"):
        gains = standing.gains(measure)
        assert gains["gain"].to_dict() == pytest.approx({"flags": 0.1, "scene": -0.1})
    assert gains["labels"].to_dict() == {"flags": 7, "scene": 6}
    assert standing.methods == ["BR", "SPL-MLL"]
    assert standing.front("scene") == ["BR"]
    assert CONTROL not in standing.gaps
    assert CONTROL in benchmark_methods()
    assert CONTROL not in Benchmark("out", searched=True).methods
    only = main_standing(table_of({("flags", CONTROL): 0.7}))
    assert (only.reference, only.methods) == (CONTROL, [CONTROL])


def test_the_page_says_which_place_is_ours_with_other_rows_and_another_rule(tmp_path: Path) -> None:
    names = ["SPL-MLL", "BR", "LP", "CLR", "ECC"]
    few = {(data, m): 0.5 + k / 10 for data in ("scene", "yeast") for k, m in enumerate(names)}
    few["yeast", "ECC"] = few["yeast", "LP"] = np.nan
    table = table_of(few | {("delicious", "SPL-MLL"): 0.9, ("delicious", "BR"): 0.8})
    searched = table_of({("scene", "SPL-MLL"): 0.9, ("scene", "LP"): 0.8}, search="grid")
    standing = Standing(merge(table, searched))
    assert (len(standing.methods), standing.data) == (5, ["scene", "yeast"])
    otherwise = {words: (each.methods, each.data) for words, each in standing.otherwise().items()}
    finished, by_most, with_search = otherwise.values()
    assert finished == (["BR", "SPL-MLL"], ["scene", "yeast", "delicious"])
    assert by_most == (["BR", "CLR", "ECC", "LP", "SPL-MLL"], ["scene"])
    assert with_search == (["LP", "SPL-MLL"], ["scene"])
    write_benchmark(standing.table, tmp_path)
    page = re.sub("<[^>]*>", " ", (tmp_path / "benchmark.html").read_text("utf-8"))
    lines = " ".join(page.split("Under other conditions")[1].split())
    assert "as above tuned 5 2 4.00 5 CLR 1.50" in lines
    assert "at most one method did not finish own 5 1 5.00 5 ECC 1.00" in lines
    assert "with a search for settings tuned 2 1 1.00 1 LP 2.00" in lines


# The plan and the freeze ------------------------------------------------------------------------


def test_the_plan_begins_with_what_is_cheap() -> None:
    cells = {("flags", m): 0.5 for m in ("BR", "CLR")} | {("yeast", m): 0.5 for m in ("BR", "CLR")}
    known = table_of(cells)
    known["seconds"] = [
        {"BR": 1.0, "CLR": 50.0}[m] * (9 if d == "yeast" else 1)
        for d, m in zip(known["data"], known["method"])
    ]
    sets = ["flags", "yeast", "delicious"]
    plan = Benchmark("out", data=sets, methods=["CLR", "BR"], known=known).plan()
    assert (plan["data"] + plan["method"]).iloc[0] == "flagsBR"
    left_out = plan[plan["left_out"]]
    assert left_out[["data", "method"]].to_numpy().tolist() == [["delicious", "CLR"]]


def test_only_what_a_table_lacks_and_what_may_end_in_time(tmp_path: Path) -> None:
    known = table_of({("flags", "BR"): 0.5, ("bibtex", "CLR"): np.nan})
    suite = Benchmark(
        tmp_path,
        data=["flags", "bibtex", "delicious"],
        methods=["BR", "CLR"],
        known=known,
        missing=True,
    )
    plan = suite.plan()
    # What ran out of time on bibtex would do so on delicious: nine times the size, six the labels.
    assert list(plan.loc[plan["left_out"], ["data", "method"]].iloc[0]) == ["delicious", "CLR"]
    assert set(zip(plan["data"], plan["method"])) == {
        *(("bibtex", "BR"), ("delicious", "BR"), ("delicious", "CLR"), ("flags", "CLR"))
    }
    lines = unfinished(plan.loc[plan["left_out"], ["data", "method"]], "none")
    standing = Standing(
        merge(lines, table_of({("delicious", "BR"): 0.5, ("bibtex", "CLR"): 0.9})), reference="BR"
    )
    assert standing.ranks_by_cell.loc["delicious", "CLR"].eq(2).all()


def test_a_table_that_lacks_nothing_is_shown_and_nothing_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "mine.csv.gz"
    write_results(table_of({("flags", "BR"): 0.5, ("flags", "LP"): 0.6}), table)
    asked = ["--data", "flags", "-m", "BR,LP", "--missing", "--freeze", table, "--out", tmp_path]
    before = table.read_bytes()
    status, said, _ = here(capfd, "benchmark", *asked)
    assert (status, said.splitlines()[0]) == (0, "Nothing is left to run.")
    assert "1.00  LP" in said
    assert table.read_bytes() == before


def test_a_cell_that_ran_out_of_time_saves_larger_ones_of_the_same_run() -> None:
    suite = Benchmark("out", methods=["CLR"], known=table_of({("flags", "CLR"): 0.5}))
    assert suite.wants("delicious", "CLR")
    suite.learn("bibtex", "CLR", "timeout", np.nan)
    assert not suite.wants("delicious", "CLR")
    assert suite.wants("yeast", "CLR")
    assert suite.wants("delicious", "BR")


def test_long_cells_are_first_tried_with_an_eighth_of_their_rows(
    data_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    own = {name: Misbehaving(name, str(log)) for name in ("memory", "error", "fine")}
    known = table_of({("emotions", name): 0.5 for name in own}, seconds=40.0)
    suite = Benchmark(
        tmp_path, data=["flags"], methods=[], own=own, known=known, memory_limit=1000.0,
        processor_limit=20.0,
    )  # fmt: skip
    outcome = suite.run(1).groupby("method")["status"].unique()
    # A share of the rows may lack what all of them have: an error on it rules nothing out.
    assert {name: list(each) for name, each in outcome.items()} == {
        "memory": ["left out"], "error": ["failed"], "fine": ["done"]
    }  # fmt: skip
    assert [name for name, *_ in notes(log, "begin")].count("memory/0") == 1


def test_times_that_grow_fast_are_seen_from_an_eighth_and_a_quarter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seconds = {  # of one fit with a share of the rows; two fits may take 1080 seconds
        "linear": lambda share: 500 * share,
        "quadratic": lambda share: 900 * share**2,
        "quadratic but quick": lambda share: 100 * share**2,
        "too much for an eighth": lambda share: 1200 * share,
    }
    ran: list[tuple[float, str]] = []

    def run(self: suite._Cells, *args: object, **how: object) -> pd.DataFrame:
        lines = []
        share = self._share
        for data, method in self._order:
            if not self._benchmark.wants(data, method):
                continue
            ran.append((share, method))
            taken = seconds[method](share)
            status = "timeout" if 1.8 * taken > 1080 * share else "done"
            lines.append((data, method, status, taken))
        return pd.DataFrame(lines, columns=["data", "method", "status", "processor_seconds"])

    monkeypatch.setattr(suite._Cells, "run", run)
    own = {name: LogisticRegression() for name in seconds}
    known = table_of({("emotions", name): 0.5 for name in own}, seconds=50.0)
    Benchmark(tmp_path, data=["yeast"], methods=[], own=own, known=known).run(1)
    assert {name for share, name in ran if share == 1} == {"linear", "quadratic but quick"}
    assert {name for share, name in ran if share == 0.25} == {"linear", "quadratic"}


class _TellsItsThreads(LogisticRegression):
    def fit(self, X: object, Y: object) -> _TellsItsThreads:
        raise ValueError(max(library["num_threads"] for library in threadpool_info()))


@pytest.mark.parametrize("place", ["alone", "cluster"])
def test_a_cell_has_one_thread_wherever_it_runs(
    place: str, data_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    suite = Benchmark(tmp_path, data=["flags"], methods=[], own={"threads": _TellsItsThreads()})
    if place == "alone":
        suite.run(1)
    else:
        with LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster:
            suite.run(scheduler=cluster.scheduler_address)
    (told,) = Store(tmp_path).results()["error"]
    assert told == "ValueError: 1"


def test_what_a_table_left_out_is_tried_again_with_more_time() -> None:
    known = unfinished(pd.DataFrame({"data": ["flags"], "method": ["CLR"]}), "none")
    assert not Benchmark("out", known=known).wants("flags", "CLR")
    assert not Benchmark("out", known=known, searched=True).wants("flags", "CLR")
    assert Benchmark("out", known=known, processor_limit=3600.0).wants("flags", "CLR")


def test_what_a_table_did_not_finish_is_missing_to_those_who_try_again() -> None:
    left_out = unfinished(pd.DataFrame({"data": ["flags"], "method": ["CLR"]}), "none")
    known = merge(left_out, table_of({("flags", "BR"): 0.5, ("flags", "ECC"): np.nan}))
    some = {"data": ["flags"], "methods": ["BR", "CLR", "ECC"], "known": known, "missing": True}
    assert Benchmark("out", **some).plan().empty
    again = Benchmark("out", **some, retry_failed=True).plan()
    assert set(again["method"]) == {"CLR", "ECC"}
    assert not again["left_out"].any()


def test_two_runs_add_to_one_table(tmp_path: Path) -> None:
    file = tmp_path / "table.csv.gz"
    for method in ("BR", "CLR"):
        add_results(table_of({("flags", method): 0.5}), file)
    assert set(frozen_results(file)["method"]) == {"BR", "CLR"}


def test_a_run_that_is_stopped_freezes_what_has_ended(
    data_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    learn = Benchmark.learn

    def stop_after(self: Benchmark, *cell: object) -> None:
        learn(self, *cell)
        raise KeyboardInterrupt

    monkeypatch.setattr(Benchmark, "learn", stop_after)
    file = tmp_path / "table.csv.gz"
    command = ["benchmark", "--data", "flags", "-m", "PLST,BR", "--jobs", 1]
    status, *_ = here(capfd, *command, "--out", tmp_path / "out", "--freeze", file)
    assert status != 0
    assert frozen_results(file)["method"].nunique() == 1


def test_times_that_follow_a_law_are_guessed_by_it() -> None:
    def law(data: str) -> float:
        known = SETS[data]
        return 3e-4 * known.n_train * known.n_features**0.8 * known.n_labels**0.3

    sizes = [law(data) for data in SETS]
    assert min(sizes) > 0.5
    known = table_of({(data, "BR"): 0.5 for data in SETS if data != "delicious"})
    known["seconds"] = known["data"].map(law)
    guessed = CellTimes(known, 500.0).guess("delicious", "BR")
    assert guessed == pytest.approx(law("delicious"), rel=0.1)


def test_one_slow_small_cell_leaves_no_large_set_out() -> None:
    known = table_of({("flags", "BR"): 0.5, ("emotions", "BR"): 0.5, ("birds", "BR"): 0.5})
    known["seconds"] = known["data"].map({"flags": 0.04, "emotions": 0.06, "birds": 9.3})
    plan = Benchmark("out", methods=["BR", "CLR"], known=known).plan()
    assert not plan["left_out"].any()
    unknown = plan[plan["method"] == "CLR"].set_index("data")["seconds"]
    assert unknown["goemotions"] > 100 * unknown["flags"]


def test_wrong_names_get_a_hint() -> None:
    with pytest.raises(ValueError, match="Did you mean 'yeast'"):
        Benchmark("out", data=["yeats"])
    with pytest.raises(ValueError, match="Did you mean 'ExtraTrees'"):
        Benchmark("out", methods=["ExtraTree"])


def test_the_frozen_table_is_small_and_names_what_exists() -> None:
    file = Path(__file__).parents[2] / "src/splmll/experiments/benchmark/frozen.csv.gz"
    assert file.stat().st_size < 500_000
    table = frozen_results()
    assert set(table["data"]) <= set(SETS)
    assert not table.duplicated(["data", "method", "measure", "rule", "seed", "search"]).any()


@pytest.mark.parametrize("data", ["flags", "emotions"])
def test_cheap_cells_come_out_as_they_were_frozen(
    data: str, data_home: Path, tmp_path: Path
) -> None:
    fresh = Benchmark(tmp_path, data=[data], methods=CHEAP).run(1)
    cell = ["data", "method", "measure", "rule", "seed", "search"]
    both = fresh.merge(frozen_results(), on=cell, suffixes=("", "_frozen"))
    assert len(both) == len(fresh) == 15 * len(CHEAP)
    np.testing.assert_allclose(both["value"], both["value_frozen"], atol=1e-4)
