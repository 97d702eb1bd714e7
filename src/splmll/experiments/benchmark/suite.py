"""The open benchmark: sixteen data sets, every method with the same features, rows and limits.

:class:`Benchmark` plans it, says what it will cost, runs the cheap cells first, and goes on where
it was stopped. Its outcome is one tidy table, see :mod:`splmll.experiments.benchmark.frozen`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from splmll.catalogue import CATALOGUE
from splmll.experiments.benchmark.control import CONTROL, control
from splmll.experiments.benchmark.frozen import (
    LEFT_OUT,
    frozen_results,
    merge,
    tidy,
    unfinished,
)
from splmll.experiments.benchmark.peers import missing_peers, peers
from splmll.experiments.benchmark.sets import SETS, SMALLEST
from splmll.experiments.benchmark.times import CellTimes
from splmll.experiments.protocol import BenchmarkProtocol
from splmll.experiments.runner import Experiment
from splmll.experiments.search import Search
from splmll.experiments.store import Store
from splmll.experiments.unit import Unit, UnitResult
from splmll.names import known_name
from splmll.words import counted

# CPU seconds and megabytes that one cell may take: with its second fit, for the threshold.
PROCESSOR_LIMIT = 900.0
MEMORY_LIMIT = 8000.0
# A cell that would take so many times the limit at least is left out and ranked last.
HOPELESS = 1.2
# A long cell that was never measured is first tried with this share of its rows, and with twice as
# many if its time may grow faster than the rows. If a share exceeds its part of HOPELESS limits, or
# all rows would with the growth from the first share to the second, the cell is left out.
PROBE = 1 / 8
# Cells that are thought to take more than this share of the limit are long. Guesses are often wrong
# by a factor of two to ten, and to try an eighth is cheap.
LONG = 1 / 10
# Both fits of a cell take so many times the measured one, which has all training rows.
BOTH_FITS = 1.8
SEARCH = Search("grid", n_candidates=8)
#: Methods of the catalogue that run only if they are named, and why.
ON_REQUEST = {
    "SPL-MLL (blend)": "it is what SPL-MLL itself uses on small dense tables",
    "SPL-MLL as released": "its thousands of epochs would exceed the limit on larger sets",
}
QUICK_ROWS = 160
QUICK_METHODS = (
    "BR",
    "ML-kNN",
    "CPLST",
    "RF",
    "SPL-MLL",
    CONTROL,
    "SPL-MLL (linear)",
    "SPL-MLL (linear) as published",
    "OvR LinearSVC",
    "OvR LogisticRegression",
    "ExtraTrees",
)


def benchmark_methods() -> dict[str, Any]:
    """Return name -> estimator for peers and the control, None for methods of the catalogue.

    Examples
    --------
    >>> from splmll.experiments.benchmark import benchmark_methods
    >>> methods = benchmark_methods()
    >>> "SPL-MLL as published" in methods, "OvR LinearSVC" in methods
    (True, True)
    """
    return {**dict.fromkeys(CATALOGUE), **peers(), CONTROL: control()}


class Benchmark:
    """The benchmark, or a part of it, in a folder.

    Parameters
    ----------
    out : path-like
        Folder of the store; a benchmark that was stopped goes on from there.
    data, methods : sequence of str, optional
        Only these; by default all data sets, and all methods but those in ``ON_REQUEST``.
    own : mapping of str to estimator, optional
        Estimators of one's own beside them, or alone with ``methods=[]``.
    searched : bool, default=False
        The second table: a search for settings inside the training rows, with the same number of
        candidates for every method, on the six smallest sets.
    seeds : int, default=1
        How often methods with randomness run.
    quick : bool, default=False
        160 training and test rows of the six smallest sets, ten methods and the control: minutes.
    processor_limit, memory_limit : float
        Processor seconds and megabytes of one cell.
    known : DataFrame, optional
        A tidy table by which times are guessed; by default the frozen one.
    missing : bool, default=False
        Run only the cells that `known` does not have.
    retry_failed : bool, default=False
        Run cells again that failed or exceeded a limit, and try those that were left out; with
        `missing`, also those of `known`.

    Examples
    --------
    >>> from splmll.experiments.benchmark import Benchmark
    >>> plan = Benchmark("out", data=["flags"], methods=["BR", "ML-kNN"]).plan()
    >>> sorted(plan["method"])
    ['BR', 'ML-kNN']
    """

    def __init__(
        self,
        out: str | os.PathLike[str],
        *,
        data: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        own: Mapping[str, Any] | None = None,
        searched: bool = False,
        seeds: int = 1,
        quick: bool = False,
        processor_limit: float = PROCESSOR_LIMIT,
        memory_limit: float = MEMORY_LIMIT,
        known: pd.DataFrame | None = None,
        missing: bool = False,
        retry_failed: bool = False,
    ) -> None:
        self.out = Path(out)
        self.quick = quick
        usual = SMALLEST if searched or quick else tuple(SETS)
        self.data = list(usual) if data is None else [_known(n, SETS, "data set") for n in data]
        there = benchmark_methods()
        # A search would choose another embedding for the control, which is then none.
        without = {*ON_REQUEST, CONTROL} if searched else set(ON_REQUEST)
        usual_methods = [m for m in (QUICK_METHODS if quick else there) if m not in without]
        wanted = usual_methods if methods is None else [_known(n, there, "method") for n in methods]
        self.methods = {**{name: there[name] for name in wanted}, **(own or {})}
        self.searched = searched
        self.seeds = seeds
        self.processor_limit = processor_limit
        self.memory_limit = memory_limit
        self.known = frozen_results() if known is None else known
        self.missing = missing
        self.retry_failed = retry_failed
        self._times = CellTimes(self.known, processor_limit / BOTH_FITS)
        if processor_limit <= PROCESSOR_LIMIT and not retry_failed:
            # What is too slow with its defaults is so with a search, too.
            same = self.known["search"].isin(["none", self._search])
            left_out = self.known[(self.known["status"] == LEFT_OUT) & same]
            for data_name, method in set(zip(left_out["data"], left_out["method"])):
                self._times.rule_out(data_name, method)

    def plan(self) -> pd.DataFrame:
        """Return the cells in the order in which they run, with what each will take.

        Returns
        -------
        plan : DataFrame
            Columns data, method, seconds (guessed, of one processor, for both fits) and left_out.
        """
        there = self.known[self.known["search"] == self._search]
        if self.retry_failed:
            there = there[there["status"] == "done"]
        done = set(zip(there["data"], there["method"])) if self.missing else set()
        lines = [
            (
                data,
                method,
                min(self._share(data) * self._times.guess(data, method), self.processor_limit),
                self._is_hopeless(data, method),
            )
            for data in self.data
            for method in self.methods
            if (data, method) not in done
        ]
        columns = {"data": str, "method": str, "seconds": float, "left_out": bool}
        plan = pd.DataFrame(lines, columns=list(columns)).astype(columns)  # also if it is empty
        return plan.sort_values("seconds", kind="stable", ignore_index=True)

    def price(self, n_jobs: int) -> str:
        """Return how many cells the plan has and how long they take, in plain words.

        Parameters
        ----------
        n_jobs : int
            Cells at the same time.

        Examples
        --------
        >>> from splmll.experiments.benchmark import Benchmark
        >>> Benchmark("out", data=["flags"], methods=["BR", "ML-kNN"]).price(2)
        '2 cells: about 1 minute with 2 in parallel, by the times of measured cells'
        """
        plan = self.plan()
        kept = plan[~plan["left_out"]]
        if kept.empty:
            return "Nothing is left to run"
        hours = self.seeds * kept["seconds"].sum() / 3600 / n_jobs
        long = f"{hours:.1f} hours" if hours >= 1 else counted(max(1, round(60 * hours)), "minute")
        return (
            f"{counted(len(kept), 'cell')}: about {long} with {n_jobs} in parallel, by the times "
            "of measured cells"
        )

    def run(
        self,
        n_jobs: int | None = None,
        *,
        scheduler: str | None = None,
        redo: Sequence[str] = (),
    ) -> pd.DataFrame:
        """Run what is missing and return the tidy table of all that the folder has.

        Cells that end tell more of what the others will take: one that turns out to be hopeless is
        left out when its turn comes. Those that are thought to be long are first tried with an
        eighth of their rows, and with a quarter if their time may grow faster than the rows.

        Parameters
        ----------
        n_jobs : int or None, default=None
            Cells at the same time; None for one on every core.
        scheduler : str, optional
            Address of a Dask scheduler.
        redo : sequence of str, default=()
            Methods whose results are thrown away first, those of this benchmark's cells.

        Returns
        -------
        table : DataFrame
            See ``splmll.experiments.benchmark.frozen.tidy``.
        """
        n_jobs = joblib.cpu_count() if n_jobs is None else n_jobs
        how: dict[str, Any] = {"scheduler": scheduler, "retry_failed": self.retry_failed}
        store, units = Store(self.out), _Cells(self, self.plan()).units()
        for method in redo:
            name = _known(method, self.methods, "method")
            # Results on other sets, or of the other table, would not be made anew here.
            store.forget(name, [unit.key for unit in units if unit.method == name])
        over = store.results([unit.key for unit in units]).to_dict("records")
        for cell in over:
            self.learn(cell["data"], cell["method"], cell["status"], cell["processor_seconds"])
        plan = self.plan()
        long = self._is_long(plan, {(cell["data"], cell["method"]) for cell in over})
        _Cells(self, plan[~long]).run(self.out, n_jobs, **how)
        if long.any():
            self._probe(plan[long], n_jobs, **how)
            _Cells(self, plan[long]).run(self.out, n_jobs, **how)
        return self.table()

    def table(self) -> pd.DataFrame:
        """Return the tidy table of all that the folder has, and of what was left out."""
        plan = self.plan()
        left_out = plan.loc[plan["left_out"], ["data", "method"]]
        return merge(unfinished(left_out, self._search), tidy(Store(self.out)))

    def _is_long(self, plan: pd.DataFrame, over: set[tuple[str, str]]) -> pd.Series:
        """Return which cells of a plan may well exceed the limit, and never ran."""
        if self.searched or self.quick:  # all are small
            return pd.Series(False, index=plan.index)
        cells = zip(plan["data"], plan["method"])
        ran = [cell in over or self._times.is_measured(*cell) for cell in cells]
        long = plan["seconds"] > LONG * self.processor_limit
        return long & ~plan["left_out"] & ~np.array(ran, dtype=bool)

    def _probe(self, plan: pd.DataFrame, n_jobs: int, **how: Any) -> None:
        """Try cells with shares of their rows, and rule out those that cannot end in time."""
        most = HOPELESS * self.processor_limit / BOTH_FITS
        first = self._seconds_of_share(plan, PROBE, n_jobs, **how)
        cells = pd.Series(list(zip(plan["data"], plan["method"])), index=plan.index)
        may_be_steep = cells.map(lambda cell: first.get(cell, 0.0) / PROBE**2 > most)
        second = self._seconds_of_share(plan[may_be_steep], 2 * PROBE, n_jobs, **how)
        doublings = -np.log2(2 * PROBE)  # from there to all rows
        for cell, seconds in second.items():
            if seconds * (seconds / first[cell]) ** doublings > most:
                self._times.rule_out(*cell)

    def _seconds_of_share(
        self, plan: pd.DataFrame, share: float, n_jobs: int, **how: Any
    ) -> dict[tuple[str, str], float]:
        """Try cells with a share of their rows, rule out what exceeds it, time the others."""
        if plan.empty:
            return {}
        tried = _Cells(self, plan, share).run(self.out / "probes", n_jobs, **how)
        taken = {}
        # An error says nothing: a share of the rows may lack a label.
        for cell in tried.to_dict("records"):
            if cell["status"] in ("timeout", "memory"):
                self._times.rule_out(cell["data"], cell["method"])
            elif cell["status"] == "done":
                taken[cell["data"], cell["method"]] = cell["processor_seconds"]
        return taken

    def learn(self, data: str, method: str, status: str, seconds: float) -> None:
        """Let a cell of this benchmark that is over improve the guesses of what others take."""
        if not (self.searched or self.quick):  # these say little of fits on all rows
            self._times.learn(data, method, status, seconds)

    def wants(self, data: str, method: str) -> bool:
        """Return whether a cell may end in time, by all that is known now."""
        return not self._is_hopeless(data, method)

    def _is_hopeless(self, data: str, method: str) -> bool:
        least = self._share(data) * self._times.least(data, method)
        return least > HOPELESS * self.processor_limit

    def _share(self, data: str) -> float:
        """Return how many times as long a cell takes as one fit on all training rows."""
        share = BOTH_FITS
        if self.searched:
            share *= 1 + SEARCH.n_candidates * (SEARCH.n_folds - 1)
        if self.quick:
            share *= min(1.0, QUICK_ROWS / SETS[data].n_train)
        return share

    @property
    def _search(self) -> str:
        return "grid" if self.searched else "none"

    def describe(self) -> str:
        """Return under which conditions all methods are compared, in plain words."""
        absent = missing_peers()
        return " ".join(
            [
                _protocol(self).describe(),
                "Dense features are standardised on the training rows; sparse ones and those of 0 "
                "and 1 are left as they are.",
                SEARCH.describe() if self.searched else "Every method has its default settings.",
                *(
                    f"Left out: {n}, because {why}."
                    for n, why in ON_REQUEST.items()
                    if n not in self.methods
                ),
                "Tuned rule: a second fit leaves out a fifth of the training rows (at least 60); "
                "one threshold for all labels, the best for micro-F1 on these rows, is applied to "
                "its scores. Own rule: the method's own predictions.",
                f"A cell may take {self.processor_limit:g} CPU seconds for both fits together, and "
                f"{self.memory_limit:g} MB. Cells that do not finish are ranked last, and so are "
                "cells that were left out because they would take far longer.",
                *([f"Not installed here: {', '.join(absent)}."] if absent else []),
            ]
        )


class _Cells(Experiment):
    """Cells of a benchmark as an experiment, in the order of a plan, or a share of their rows."""

    # Threads that wait for each other take CPU time: on a busy machine, SPL-MLL (linear) with
    # a search took 136 seconds on genbase with two of them, and 11 with one.
    n_threads = 1

    def __init__(self, benchmark: Benchmark, plan: pd.DataFrame, share: float = 1.0) -> None:
        self._benchmark = benchmark
        self._share = share
        self._order = {pair: place for place, pair in enumerate(zip(plan["data"], plan["method"]))}
        super().__init__(
            benchmark.data,
            [
                name if estimator is None else (name, estimator)
                for name, estimator in benchmark.methods.items()
            ],
            _protocol(benchmark)
            if share == 1.0
            else BenchmarkProtocol(most_train=share, most_test=share),
            preprocessing="suited",
            search=SEARCH if benchmark.searched else "none",
            processor_limit=benchmark.processor_limit * (1.0 if share == 1.0 else HOPELESS * share),
            memory_limit=benchmark.memory_limit,
        )

    def units(self) -> list[Unit]:
        """Return the units in the order of the plan, all first seeds first."""
        units = [unit for unit in super().units() if (unit.data_name, unit.method) in self._order]
        return sorted(
            units, key=lambda unit: (unit.repetition, self._order[unit.data_name, unit.method])
        )

    def wants(self, unit: Unit) -> bool:
        """Return whether a unit may end in time, by all that is known when its turn comes."""
        return self._benchmark.wants(unit.data_name, unit.method)

    def learn(self, unit: Unit, result: UnitResult) -> None:
        """Let the benchmark know what a unit took."""
        if self._share == 1.0:
            seconds = result.processor_seconds
            self._benchmark.learn(unit.data_name, unit.method, result.status, seconds)


def _protocol(benchmark: Benchmark) -> BenchmarkProtocol:
    rows = QUICK_ROWS if benchmark.quick else None
    return BenchmarkProtocol(benchmark.seeds, most_train=rows, most_test=rows)


def _known(name: str, there: Mapping[str, Any], what: str) -> str:
    return known_name(name, there, what, f"The benchmark has {', '.join(there)}.")
