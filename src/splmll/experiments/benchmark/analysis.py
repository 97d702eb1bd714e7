"""What the benchmark's table says: ranks, tests, wins and losses, cost, where landmarks pay off.

Every function takes the tidy table of :func:`splmll.experiments.benchmark.frozen_results`. A cell
that did not finish is ranked last; a method that was not run on all data sets is not ranked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from splmll.experiments.benchmark.control import CONTROL
from splmll.experiments.benchmark.sets import SETS
from splmll.experiments.statistics import LEVEL, Ranks, largest_complete, nemenyi_test
from splmll.metrics import MEASURES, PAPER_MEASURES
from splmll.words import counted

REFERENCE = "SPL-MLL"
# Goals of the project for its own method.
WANTED_FRONTS, WANTED_BEATEN = 10, 15


@dataclass(frozen=True)
class Goal:
    """A goal of the project for its own method.

    Attributes
    ----------
    wanted, found : str
        The goal, and what the table says.
    holds : bool
        Whether the goal is reached.
    """

    wanted: str
    found: str
    holds: bool

    @property
    def verdict(self) -> str:
        """Whether it is reached, in a word or two."""
        return "reached" if self.holds else "not reached"


@dataclass(frozen=True, eq=False)
class Standing:
    """The methods of one table of the benchmark, ranked where they can be compared.

    Parameters
    ----------
    table : DataFrame
        Tidy results.
    rule : {"tuned", "own"}, default="tuned"
        By which rule labels were predicted.
    search : str, default="none"
        ``"none"`` for defaults, ``"grid"`` for the second table.
    reference : str, default="SPL-MLL"
        The method that the others are held against.

    Examples
    --------
    >>> from splmll.experiments import frozen_results
    >>> from splmll.experiments.benchmark.analysis import Standing
    >>> standing = Standing(frozen_results())
    >>> standing.average["all"].is_monotonic_increasing
    True
    """

    table: pd.DataFrame
    rule: str = "tuned"
    search: str = "none"
    reference: str = REFERENCE

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Mean value over the seeds: a line for each set and measure, a column for each method."""
        asked = self.table[
            (self.table["search"] == self.search)
            & self.table["measure"].isin(PAPER_MEASURES)
            & self.table["rule"].isin(["scores", self.rule])
        ]
        cells = asked.pivot_table(
            index=["data", "measure"], columns="method", values="value", dropna=False
        )
        order = [(d, m) for d in self._sets(asked) for m in PAPER_MEASURES]
        return cells.reindex(pd.MultiIndex.from_tuples(order, names=["data", "measure"]))

    @cached_property
    def attempted(self) -> pd.DataFrame:
        """Whether a method (column) was run on a set (line), whatever came of it."""
        asked = self.table[self.table["search"] == self.search]
        counts = asked.groupby(["data", "method"]).size().unstack(fill_value=0) > 0
        return counts.reindex(self._sets(asked))

    @cached_property
    def seconds(self) -> pd.DataFrame:
        """Processor seconds of fit and prediction: a line for each set, a column per method."""
        asked = self.table[self.table["search"] == self.search]
        return asked.pivot_table(index="data", columns="method", values="seconds", dropna=False)

    @cached_property
    def unfinished(self) -> pd.DataFrame:
        """The cells that gave no result, with the reason."""
        asked = self.table[(self.table["search"] == self.search) & (self.table["status"] != "done")]
        return asked[["data", "method", "status"]].drop_duplicates(ignore_index=True)

    @cached_property
    def data(self) -> list[str]:
        """The sets on which methods are ranked: those that give the largest complete table."""
        chosen = largest_complete(_without_control(self.attempted), self.reference)
        return [name for name in self.attempted.index if name in chosen]

    @cached_property
    def methods(self) -> list[str]:
        """The methods that were run on all these sets."""
        there = _without_control(self.attempted).loc[self.data].all()
        return list(there.index[there])

    def otherwise(self) -> dict[str, Standing]:
        """Return what else one could rank by, in words: other rows of the table, or another rule.

        Examples
        --------
        >>> from splmll.experiments import frozen_results
        >>> from splmll.experiments.benchmark.analysis import Standing
        >>> "with a search for settings" in Standing(frozen_results()).otherwise()
        True
        """
        table, ran, failed = self.table, self.attempted.all(), self.unfinished
        finished = [name for name in ran.index[ran] if name not in set(failed["method"])]
        everywhere = table["method"].isin([*finished, self.reference])
        n_failed = failed.loc[failed["method"].isin(self.methods), "data"].value_counts()
        by_most = ~table["data"].isin(n_failed.index[n_failed > 1])
        conditions = {
            "only methods that finished on all data sets": replace(self, table=table[everywhere]),
            "only data sets on which at most one method did not finish": replace(
                self, table=table[by_most]
            ),
            "with a search for settings": replace(self, search="grid"),
        }
        found: dict[str, Standing] = {}
        seen = [(self.search, self.data, self.methods)]
        for words, other in conditions.items():
            there = other.table.loc[other.table["search"] == other.search, "method"]
            if self.reference not in set(there):
                continue
            ranked = other.search, other.data, other.methods
            if len(other.methods) > 1 and ranked not in seen:
                found[words] = other
                seen.append(ranked)
        return found

    @cached_property
    def gaps(self) -> dict[str, list[str]]:
        """The methods that are not ranked, each with the ranked sets on which it was not run."""
        ran = _without_control(self.attempted).loc[self.data]
        return {
            str(name): [data for data in self.data if not ran.loc[data, name]]
            for name in ran.columns
            if name not in self.methods
        }

    @cached_property
    def ranks_by_cell(self) -> pd.DataFrame:
        """Rank of every method for every set and measure, 1 for the best, failures last."""
        values = self.cells.loc[self.data, self.methods]
        greater = [MEASURES[name].greater_is_better for name in values.index.get_level_values(1)]
        losses = values.mul(np.where(greater, -1.0, 1.0), axis=0)
        return losses.rank(axis=1, na_option="bottom")

    @cached_property
    def average(self) -> pd.DataFrame:
        """Average rank of every method under every measure and under all, the best first."""
        frame = self.ranks_by_cell.groupby(level="measure").mean().reindex(PAPER_MEASURES).T
        frame.insert(0, "all", frame.mean(axis=1))
        return frame.sort_values("all", kind="stable")

    @property
    def place(self) -> int:
        """The place of the reference by its average rank under all measures."""
        ranks = self.average["all"]
        return int((ranks < ranks[self.reference]).sum()) + 1

    def ranks(self, measure: str = "all") -> Ranks:
        """Return what the tests in ``experiments.statistics`` take.

        Parameters
        ----------
        measure : str, default="all"
            A measure, or "all" for the mean of a method's ranks under the five of the paper.
        """
        by_cell = self.ranks_by_cell
        if measure == "all":
            blocks = by_cell.groupby(level="data").mean().reindex(self.data)
        else:
            blocks = pd.DataFrame(by_cell.xs(measure, level="measure"))
        frame = self.average[[measure]].rename(columns={measure: "all"}).sort_values("all")
        return Ranks(frame, blocks[frame.index])

    def critical_difference(self, measure: str = "all") -> float:
        """Return the difference of average ranks that Nemenyi's test calls significant."""
        if len(self.data) < 2 or len(self.methods) < 2:
            return float("nan")
        return nemenyi_test(self.ranks(measure)).critical_difference

    def against(self) -> pd.DataFrame:
        """Return wins, ties and losses of the reference, and whether it differs from each method.

        Returns
        -------
        duels : DataFrame
            A line for each other method, the hardest opponent first: wins, ties and losses over
            sets and measures, and the p value of Wilcoxon's signed-rank test over the sets (mean
            ranks of both), with Holm's correction.
        """
        ranks, mine = self.ranks_by_cell, self.ranks_by_cell[self.reference]
        blocks = self.ranks("all").blocks
        others = [name for name in self.methods if name != self.reference]
        lines = pd.DataFrame(
            {
                "wins": [(mine < ranks[name]).sum() for name in others],
                "ties": [(mine == ranks[name]).sum() for name in others],
                "losses": [(mine > ranks[name]).sum() for name in others],
                "p": _holm([_wilcoxon(blocks[self.reference], blocks[name]) for name in others]),
            },
            index=pd.Index(others, name="method"),
        )
        better = blocks[others].mean() > blocks[self.reference].mean()
        lines["beaten"] = (lines["p"] < LEVEL) & better
        return lines.sort_values(["losses", "wins"], ascending=[False, True], kind="stable")

    def lost(self) -> pd.DataFrame:
        """Return every set and measure on which the reference is not the best, worst first.

        Returns
        -------
        lost : DataFrame
            Columns data, measure, value, rank, best (who), best_value and gap.
        """
        lines = []
        for data, measure in self.ranks_by_cell.index:
            ranks = _line(self.ranks_by_cell, (data, measure))
            if ranks[self.reference] <= ranks.min():
                continue
            values = _line(self.cells, (data, measure))
            best = str(ranks.idxmin())
            gap = abs(values[best] - values[self.reference])
            lines.append(
                (data, measure, values[self.reference], ranks[self.reference], best, values[best],
                 gap)
            )  # fmt: skip
        columns = ["data", "measure", "value", "rank", "best", "best_value", "gap"]
        frame = pd.DataFrame(lines, columns=columns)
        return frame.sort_values("rank", ascending=False, kind="stable", ignore_index=True)

    def front(self, data: str, measure: str = "average_precision") -> list[str]:
        """Return the Pareto front of a data set, the cheapest method first.

        Parameters
        ----------
        data : str
            The set.
        measure : str, default="average_precision"
            What counts as accuracy.
        """
        sign = 1.0 if MEASURES[measure].greater_is_better else -1.0
        accuracy = sign * _line(_without_control(self.cells), (data, measure)).dropna()
        price = _line(self.seconds, data).reindex(accuracy.index)
        front: list[str] = []
        best = -np.inf
        cheapest = pd.DataFrame({"price": price, "worse": -accuracy}).sort_values(
            ["price", "worse"], kind="stable"
        )
        for name in cheapest.index:
            if accuracy[name] > best:
                best = accuracy[name]
                front.append(str(name))
        return front

    def fronts_of_reference(self, measure: str = "average_precision") -> list[str]:
        """Return the sets on whose front the reference is."""
        sets = [d for d in self.attempted.index if self.attempted.loc[d].get(self.reference, False)]
        return [data for data in sets if self.reference in self.front(data, measure)]

    def gains(self, measure: str = "average_precision") -> pd.DataFrame:
        """Return what SPL-MLL gains by landmarks, and what a set is like.

        Returns
        -------
        gains : DataFrame
            A line for each set: value of the control, in which every label keeps its own
            prediction, value with landmarks, gain, labels, cardinality and correlation.
        """
        cells = pd.DataFrame(self.cells.xs(measure, level="measure"))
        values = cells.reindex(columns=[CONTROL, REFERENCE])
        values.columns = ["alone", "with_landmarks"]
        known = pd.DataFrame.from_dict({name: vars(each) for name, each in SETS.items()}, "index")
        known = known[["n_labels", "cardinality", "correlation"]]
        known.columns = ["labels", "cardinality", "correlation"]
        gains = values.dropna().join(known.astype(float), how="inner")
        sign = 1.0 if MEASURES[measure].greater_is_better else -1.0
        gains.insert(2, "gain", sign * (gains["with_landmarks"] - gains["alone"]))
        return gains

    def goals(self) -> list[Goal]:
        """Return the goals of the project for its own method, and whether they are reached.

        Returns
        -------
        goals : list of Goal
            For the average rank, the number of data sets on whose Pareto front the method is, and
            the number of methods it beats significantly. A partial table cannot reach the first.
        """
        average, fronts = self.average["all"], self.fronts_of_reference()
        beaten, n_others = int(self.against()["beaten"].sum()), len(average) - 1
        place = self.place
        first = str(average.index[0])
        ahead = "" if place == 1 else f" ({first} has {average.iloc[0]:.2f})"
        possible = 2.0 ** (1 - len(self.data)) * n_others < LEVEL
        n_sets = counted(len(self.data), "data set")
        so_few = "" if possible else f"; over {n_sets} no difference could be"
        n_ran = int(self.attempted[self.reference].sum())
        return [
            Goal(
                f"the best average rank over all {len(SETS)} data sets",
                f"average rank {average[self.reference]:.2f}, place {place} of {len(average)} over "
                f"{n_sets}{ahead}",
                place == 1 and len(self.data) >= len(SETS),
            ),
            Goal(
                "on the Pareto front of average precision and CPU time on at least "
                f"{WANTED_FRONTS} data sets",
                f"on the front of {len(fronts)} of {counted(n_ran, 'data set')} on which it was run"
                + (f": {', '.join(fronts)}" if fronts else ""),
                len(fronts) >= WANTED_FRONTS,
            ),
            Goal(
                f"significantly better than at least {WANTED_BEATEN} methods (Wilcoxon with Holm, "
                "5%)",
                f"significantly better than {beaten} of {n_others} methods{so_few}",
                beaten >= WANTED_BEATEN,
            ),
        ]

    def _sets(self, table: pd.DataFrame) -> list[str]:
        there = list(table["data"].unique())
        return [name for name in SETS if name in there] + [n for n in there if n not in SETS]


def main_standing(table: pd.DataFrame, reference: str | None = None) -> Standing:
    """Return the standing of a table: methods with their defaults, or else with a search.

    Parameters
    ----------
    table : DataFrame
        Tidy results.
    reference : str, optional
        The method that the others are held against; by default SPL-MLL, or the best of those that
        were run.

    Examples
    --------
    >>> from splmll.experiments import frozen_results
    >>> from splmll.experiments.benchmark.analysis import main_standing
    >>> main_standing(frozen_results(), reference="BR").reference
    'BR'
    """
    search = "none" if (table["search"] == "none").any() else "grid"
    there = set(table.loc[table["search"] == search, "method"])
    if reference is not None and reference not in there:
        raise ValueError(f"The table has no results of {reference!r}; name another reference.")
    if reference is None:
        best = Standing(table, search=search).average.index
        reference = REFERENCE if REFERENCE in there else str(best[0])
    return Standing(table, search=search, reference=reference)


def _without_control(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of all methods but the control, unless it is the only one."""
    others = frame.drop(columns=CONTROL, errors="ignore")
    return frame if others.columns.empty else others


def _wilcoxon(one: pd.Series, other: pd.Series) -> float:
    difference = (one - other).to_numpy()
    return 1.0 if not difference.any() else float(stats.wilcoxon(difference).pvalue)


def _line(frame: pd.DataFrame, name: Any) -> Any:
    """One line of a table, by its name."""
    return frame.loc[name]


def _holm(p_values: list[float]) -> np.ndarray:
    from statsmodels.stats.multitest import multipletests

    if not p_values:
        return np.empty(0)
    return np.asarray(multipletests(p_values, method="holm")[1])
