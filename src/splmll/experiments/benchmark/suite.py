"""The open benchmark: sixteen data sets, every method with the same features, rows and limits.

:class:`Benchmark` plans it, says what it will cost, runs the cheap cells first, and goes on where
it was stopped. Its outcome is one tidy table, see :mod:`splmll.experiments.benchmark.frozen`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from splmll.catalogue import CATALOGUE
from splmll.experiments.benchmark.frozen import frozen_results, merge, tidy, unfinished
from splmll.experiments.benchmark.peers import missing_peers, peers
from splmll.experiments.protocol import BenchmarkProtocol
from splmll.experiments.runner import Experiment
from splmll.experiments.search import Search
from splmll.experiments.store import Store
from splmll.experiments.unit import Unit
from splmll.names import known_name

# Processor seconds and megabytes that one cell may take: with its second fit, for the threshold.
PROCESSOR_LIMIT = 900.0
MEMORY_LIMIT = 8000.0
# A cell that would take so many times the limit at least is left out and ranked last.
HOPELESS = 2.0
# Both fits of a cell take so many times the measured one, which has all training rows.
BOTH_FITS = 1.8
SEARCH = Search("grid", n_candidates=8)
#: Methods of the catalogue that run only if they are named, and why.
ON_REQUEST = {
    "SPL-MLL (blend)": "it is what SPL-MLL itself uses on small dense tables",
    "SPL-MLL as released": "its thousands of epochs would exceed the limit on larger sets",
}
QUICK_ROWS = 160
_LEAST_POWER = 0.5  # of the size of a set, with which times grow at least


@dataclass(frozen=True)
class BenchmarkSet:
    """What is known of one data set of the benchmark.

    Attributes
    ----------
    n_train, n_test, n_features, n_labels : int
        Sizes.
    cardinality : float
        Labels of an average training row.
    correlation : float
        Mean over the labels of the largest correlation with another label, in the training rows.
    split : str
        Where the test rows come from.
    """

    n_train: int
    n_test: int
    n_features: int
    n_labels: int
    cardinality: float
    correlation: float
    split: str = "standard"

    @property
    def work(self) -> float:
        """A size to guess times by."""
        return self.n_train * self.n_labels * float(np.sqrt(self.n_features))


_DRAWN = "drawn, seed 0"
#: The data sets from the cheapest to the dearest.
SETS: dict[str, BenchmarkSet] = {
    "flags": BenchmarkSet(129, 65, 43, 7, 3.42, 0.327),
    "emotions": BenchmarkSet(391, 202, 72, 6, 1.81, 0.489),
    "birds": BenchmarkSet(322, 323, 271, 19, 1.06, 0.216),
    "genbase": BenchmarkSet(463, 199, 1185, 27, 1.26, 0.460),
    "cal500": BenchmarkSet(334, 168, 68, 174, 26.08, 0.468, _DRAWN),
    "scene": BenchmarkSet(1211, 1196, 294, 6, 1.06, 0.227),
    "yeast": BenchmarkSet(1500, 917, 103, 14, 4.23, 0.614),
    "bibtex": BenchmarkSet(4880, 2515, 1836, 159, 2.38, 0.310),
    "reuters": BenchmarkSet(7770, 3019, 15165, 90, 1.23, 0.300),
    "corel5k": BenchmarkSet(4500, 499, 1000, 260, 3.38, 0.318),
    "tmc2007": BenchmarkSet(21519, 7077, 500, 22, 2.23, 0.232),
    "iaprtc12-densehue": BenchmarkSet(13084, 6543, 100, 291, 5.72, 0.263, _DRAWN),
    "espgame-densehue": BenchmarkSet(13846, 6924, 100, 268, 4.69, 0.268, _DRAWN),
    "delicious": BenchmarkSet(12920, 3185, 500, 983, 19.05, 0.461),
    "imdb": BenchmarkSet(16666, 8334, 1001, 28, 1.99, 0.188, "25,000 rows drawn, seed 0"),
    "goemotions": BenchmarkSet(43410, 5427, 58338, 28, 1.18, 0.111),
}
#: Those on which every method also gets a search for settings.
SMALLEST = ("flags", "emotions", "birds", "genbase", "cal500", "scene")
QUICK_METHODS = (
    "BR",
    "ML-kNN",
    "CPLST",
    "RF",
    "SPL-MLL",
    "SPL-MLL (linear)",
    "SPL-MLL (linear) as published",
    "OvR LinearSVC",
    "OvR LogisticRegression",
    "ExtraTrees",
)


def benchmark_methods() -> dict[str, Any]:
    """Return name -> estimator for peers, None for methods of the catalogue.

    Examples
    --------
    >>> from splmll.experiments.benchmark import benchmark_methods
    >>> methods = benchmark_methods()
    >>> "SPL-MLL as published" in methods, "OvR LinearSVC" in methods
    (True, True)
    """
    return {**dict.fromkeys(CATALOGUE), **peers()}


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
        160 training and test rows of the six smallest sets, ten methods: minutes.
    processor_limit, memory_limit : float
        Processor seconds and megabytes of one cell.
    known : DataFrame, optional
        A tidy table by which times are guessed; by default the frozen one.
    missing : bool, default=False
        Run only the cells that `known` does not have.

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
    ) -> None:
        self.out = Path(out)
        self.quick = quick
        usual = SMALLEST if searched or quick else tuple(SETS)
        self.data = list(usual) if data is None else [_known(n, SETS, "data set") for n in data]
        there = benchmark_methods()
        usual_methods = QUICK_METHODS if quick else [m for m in there if m not in ON_REQUEST]
        wanted = usual_methods if methods is None else [_known(n, there, "method") for n in methods]
        self.methods = {**{name: there[name] for name in wanted}, **(own or {})}
        self.searched = searched
        self.seeds = seeds
        self.processor_limit = processor_limit
        self.memory_limit = memory_limit
        self.known = frozen_results() if known is None else known
        self.missing = missing

    def plan(self) -> pd.DataFrame:
        """Return the cells in the order in which they run, with what each will take.

        Returns
        -------
        plan : DataFrame
            Columns data, method, seconds (guessed, of one processor, for both fits) and left_out.
        """
        guess = _Guess(self.known, self.processor_limit / BOTH_FITS)
        there = self.known[self.known["search"] == self._search]
        done = set(zip(there["data"], there["method"])) if self.missing else set()
        factor = SEARCH.n_candidates * SEARCH.n_folds * 0.67 + 1 if self.searched else 1.0
        lines = []
        for data in self.data:
            share = BOTH_FITS * factor * (_quick_share(data) if self.quick else 1.0)
            for method in self.methods:
                if (data, method) not in done:
                    seconds = min(share * guess.seconds(data, method), self.processor_limit)
                    least = share * guess.least(data, method)
                    lines.append((data, method, seconds, least > HOPELESS * self.processor_limit))
        plan = pd.DataFrame(lines, columns=["data", "method", "seconds", "left_out"])
        return plan.sort_values("seconds", kind="stable", ignore_index=True)

    def run(
        self,
        n_jobs: int | None = None,
        *,
        scheduler: str | None = None,
        retry_failed: bool = False,
        redo: Sequence[str] = (),
    ) -> pd.DataFrame:
        """Run what is missing and return the tidy table of all that the folder has.

        Parameters
        ----------
        n_jobs : int or None, default=None
            Cells at the same time; None for one on every core.
        scheduler : str, optional
            Address of a Dask scheduler.
        retry_failed : bool, default=False
            Run cells again that failed or exceeded a limit.
        redo : sequence of str, default=()
            Methods whose results are thrown away first, those of this benchmark's cells.

        Returns
        -------
        table : DataFrame
            See ``splmll.experiments.benchmark.frozen.tidy``.
        """
        store, plan = Store(self.out), self.plan()
        experiment = _Ordered(self, plan)
        for method in redo:
            name = _known(method, self.methods, "method")
            # Results on other sets, or of the other table, would not be made anew here.
            store.forget(name, [unit.key for unit in experiment.units() if unit.method == name])
        experiment.run(
            self.out,
            joblib.cpu_count() if n_jobs is None else n_jobs,
            scheduler=scheduler,
            retry_failed=retry_failed,
        )
        left_out = plan.loc[plan["left_out"], ["data", "method"]]
        return merge(unfinished(left_out, self._search), tidy(store))

    @property
    def _search(self) -> str:
        return "grid" if self.searched else "none"

    def describe(self) -> str:
        """Return under which conditions all methods are compared, in plain words."""
        absent = missing_peers()
        return " ".join(
            [
                _protocol(self).describe(),
                "Dense features are standardised by the training rows; sparse ones and those of 0 "
                "and 1 stay as they are.",
                SEARCH.describe() if self.searched else "Every method has its default settings.",
                *(
                    f"Left out: {n}, because {why}."
                    for n, why in ON_REQUEST.items()
                    if n not in self.methods
                ),
                "Labels by the tuned rule: a second fit without a fifth of the training rows (at "
                "least 60), cut at one threshold for all labels, the best for micro-F1 on them. "
                "Labels by the own rule: what the method itself predicts.",
                f"A cell may take {self.processor_limit:g} seconds of processor time, both fits "
                f"together, and {self.memory_limit:g} MB; what does not finish is ranked last, and "
                f"so is what was not tried because it would take {HOPELESS:g} times as long.",
                *([f"Not installed here: {', '.join(absent)}."] if absent else []),
            ]
        )


class _Ordered(Experiment):
    """The cells of a benchmark as an experiment, the cheap ones first."""

    def __init__(self, benchmark: Benchmark, plan: pd.DataFrame) -> None:
        kept = plan[~plan["left_out"]]
        self._order = {pair: place for place, pair in enumerate(zip(kept["data"], kept["method"]))}
        super().__init__(
            benchmark.data,
            [
                name if estimator is None else (name, estimator)
                for name, estimator in benchmark.methods.items()
            ],
            _protocol(benchmark),
            preprocessing="suited",
            search=SEARCH if benchmark.searched else "none",
            processor_limit=benchmark.processor_limit,
            memory_limit=benchmark.memory_limit,
        )

    def units(self) -> list[Unit]:
        """Return the units in the order of the plan, all first seeds first."""
        units = [unit for unit in super().units() if (unit.data_name, unit.method) in self._order]
        return sorted(
            units, key=lambda unit: (unit.repetition, self._order[unit.data_name, unit.method])
        )


class _Guess:
    """Guesses of what a cell takes, from measured ones of the same method or, if need be, of all.

    Times grow with the size of a set as a power that a line through the logarithms gives. A cell
    that ran out of time has taken `limit` seconds at least.
    """

    def __init__(self, known: pd.DataFrame, limit: float) -> None:
        plain = known[(known["search"] == "none") & known["data"].isin(SETS)]
        seconds = plain["seconds"].mask(plain["status"] == "timeout", limit).astype(float)
        longest = plain.assign(seconds=seconds).groupby(["data", "method"])["seconds"].max()
        self._cells = longest.reset_index()

    def least(self, data: str, method: str) -> float:
        """Return what a cell takes at least, by the largest set that the method was measured on.

        Times grow at least with the root of the size; 0 where nothing is known of the method.
        """
        mine = self._of(method)
        if mine.empty:
            return 0.0
        here = mine.loc[mine["data"] == data, "seconds"]
        if len(here):
            return float(here.iloc[0])
        work = np.array([SETS[name].work for name in mine["data"]])
        largest = int(np.argmax(work))
        ratio = SETS[data].work / work[largest]
        return float(mine["seconds"].iloc[largest]) * float(ratio) ** _LEAST_POWER

    def seconds(self, data: str, method: str) -> float:
        """Return a guess."""
        mine = self._of(method)
        here = mine.loc[mine["data"] == data, "seconds"]
        if len(here):
            return float(here.iloc[0])
        cells = mine if len(mine) > 1 else self._cells.dropna(subset="seconds")
        # Where nothing is measured: some millionths of a second for each label of each row.
        usual = 1.0 + 3e-6 * SETS[data].work
        if len(cells) < 2:
            return usual
        work = np.log([SETS[name].work for name in cells["data"]])
        seconds = np.log(np.maximum(cells["seconds"].to_numpy(dtype=float), 0.05))
        slope = np.polyfit(work, seconds, 1)[0] if np.ptp(work) > 1 else 1.0
        slope = float(np.clip(slope, _LEAST_POWER, 2.0))  # from little to a square of the rows
        level = float(np.median(seconds - slope * work))
        guess = float(np.exp(level + slope * np.log(SETS[data].work)))
        # The cheap methods are measured first: one that is not yet is hardly among them.
        return guess if len(mine) > 1 else max(guess, usual)

    def _of(self, method: str) -> pd.DataFrame:
        return self._cells[(self._cells["method"] == method) & self._cells["seconds"].notna()]


def _protocol(benchmark: Benchmark) -> BenchmarkProtocol:
    rows = QUICK_ROWS if benchmark.quick else None
    return BenchmarkProtocol(benchmark.seeds, most_train=rows, most_test=rows)


def _quick_share(data: str) -> float:
    return min(1.0, QUICK_ROWS / SETS[data].n_train)


def _known(name: str, there: Mapping[str, Any], what: str) -> str:
    return known_name(name, there, what, f"The benchmark has {', '.join(there)}.")
