"""Do the methods differ? Average ranks and the usual tests over several data sets.

The unit of all tests is a data set. Repetitions, folds and measures share their data: what counts
is their mean.

References
----------
Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
Iman, Davenport: Approximations of the critical region of the Friedman statistic. Communications in
Statistics 9(6), 1980.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy import stats

from splmll.experiments.tables import summarise
from splmll.metrics import MEASURES, PAPER_MEASURES
from splmll.words import counted

LEVEL = 0.05
# With fewer data sets the distributions behind Friedman's and Nemenyi's tests are rough guesses.
FEW_DATA_SETS = 5
# Friedman's test compares at least so many methods; for two there is Wilcoxon's.
FEWEST_METHODS = 3
# Relative error of a sum of squared ranks, with room to spare.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of methods on data sets, 1 for the best; make them with `average_ranks`.

    Attributes
    ----------
    frame : DataFrame
        Average rank of every method under every measure, and under all of them in the column
        ``all``; the best method first.
    blocks : DataFrame
        What the tests compare: one line for each data set, one column for each method, smaller is
        better.
    left_out : str
        What was left out because results are missing, in words; empty if nothing was.
    """

    frame: pd.DataFrame
    blocks: pd.DataFrame
    left_out: str = ""

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets."""
        return tuple(self.blocks.index)

    @property
    def measures(self) -> list[str]:
        """The measures."""
        return [str(name) for name in self.frame.columns if name != "all"]

    @property
    def warning(self) -> str:
        """Why tests on these data sets should be read with care; empty if there is no reason."""
        if len(self.data) >= FEW_DATA_SETS:
            return ""
        return (
            f"{counted(len(self.data), 'data set')} {'is' if len(self.data) == 1 else 'are'} "
            f"too few to generalise from; have at least {FEW_DATA_SETS}, better ten."
        )

    def where(self) -> str:
        """Return what the ranks are over in words: how many data sets, and which measures."""
        data = counted(len(self.data), "data set")
        if len(self.measures) == 1:
            return f"{data} ({MEASURES[self.measures[0]].title})"
        return f"{data} under {len(self.measures)} measures (a block each)"

    def describe(self) -> str:
        """Return the ranks in plain words."""
        listed = ", ".join(f"{name} {rank:.2f}" for name, rank in self.frame["all"].items())
        return _joined(f"Average ranks over {self.where()}: {listed}.", self.left_out)


def average_ranks(results: pd.DataFrame, measures: Sequence[str] = PAPER_MEASURES) -> Ranks:
    """Return the average ranks of the methods.

    Methods are ranked by their means for every data set and measure; equal ones share the mean of
    their ranks. A method that lacks a result on some data set is left out.

    Parameters
    ----------
    results : DataFrame
        One line for each run, as an experiment returns them.
    measures : sequence of str, default=PAPER_MEASURES
        Names in :data:`splmll.metrics.MEASURES`.

    Returns
    -------
    ranks : Ranks
        The tests compare a method's mean ranks under all measures, or its values if there is one
        measure.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.statistics import average_ranks
    >>> results = pd.DataFrame({
    ...     "data": ["a", "a", "b", "b"], "method": ["BR", "LP", "BR", "LP"], "fold": 0,
    ...     "micro_f1": [0.5, 0.4, 0.7, 0.7], "repetition": 0, "seed": 0, "status": "done",
    ...     "protocol": "held-out", "preprocessing": "none", "threshold": "own", "search": "none"})
    >>> average_ranks(results, ["micro_f1"]).frame["all"].to_dict()
    {'BR': 1.25, 'LP': 1.75}
    """
    cells = summarise(results, measures)
    sign = cells["measure"].map(lambda name: -1 if MEASURES[name].greater_is_better else 1)
    # Unstacking sorts by name; the order of the tables is kept instead.
    data, methods, names = (cells[key].unique() for key in ("data", "method", "measure"))
    losses = (
        cells.assign(loss=cells["mean"] * sign)
        .set_index(["measure", "data", "method"])["loss"]
        .unstack("method")
        .reindex(columns=methods)
    )
    absent = losses.isna().groupby(level="data").any().reindex(data)
    lacking = absent.columns[absent.any()]
    if len(lacking) == len(methods):
        raise ValueError(
            "Every method lacks results on some data set; leave data sets out, or run what failed."
        )
    words = [f"{name} (no results on {', '.join(data[absent[name]])})" for name in lacking]
    losses = losses.drop(columns=lacking)
    ranks = losses.rank(axis=1)
    frame = ranks.groupby(level="measure").mean().reindex(names).T.rename_axis(None, axis=1)
    frame["all"] = frame.mean(axis=1)
    # Differences of different measures have no common scale; those of ranks have.
    compared = ranks if len(names) > 1 else losses
    return Ranks(
        frame.sort_values("all", kind="stable"),
        compared.groupby(level="data").mean().reindex(data),
        f"Left out: {', '.join(words)}." if words else "",
    )


def fair_ranks(results: pd.DataFrame, measures: Sequence[str] = PAPER_MEASURES) -> Ranks | None:
    """Return average ranks where methods can be compared fairly, None if they nowhere can.

    Not every method need have been run on every data set. Ranked are the methods with all results
    on those data sets that together make the largest complete table.
    """
    cells = summarise(results, measures)
    lacking = cells["mean"].isna().groupby([cells["data"], cells["method"]]).any()
    there = (~lacking).unstack(fill_value=False).reindex(cells["data"].unique())
    runs = results[results["data"].isin(largest_complete(there))]
    return average_ranks(runs, measures) if len(runs) else None


def largest_complete(there: pd.DataFrame, column: str | None = None) -> list[str]:
    """Return the lines of the largest table without gaps, if need be one with a certain column.

    `there` says of every cell whether it exists; lines with most of them are taken first.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.statistics import largest_complete
    >>> ran = pd.DataFrame({"BR": [True, True], "LP": [True, False]}, index=["yeast", "scene"])
    >>> largest_complete(ran), largest_complete(ran, "LP")
    (['yeast', 'scene'], ['yeast'])
    """
    order = list(there.sum(axis=1).sort_values(ascending=False, kind="stable").index)
    largest, chosen = 1, []
    for number in range(1, len(order) + 1):
        columns = there.loc[order[:number]].all()
        size = number * int(columns.sum())
        if size >= largest and columns.get(column, True):
            largest, chosen = size, order[:number]
    return chosen


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a test says of methods.

    Attributes
    ----------
    ranks : Ranks
        What was tested.
    words : str
        What came out, in words.
    level : float
        The level at which a difference is called significant.
    """

    level: ClassVar[float] = LEVEL

    ranks: Ranks
    words: str

    def describe(self) -> str:
        """Return the result in plain words, with what limits it."""
        return _joined(self.words, self.ranks.warning, self.ranks.left_out)


@dataclass(frozen=True, eq=False)
class FriedmanResult(Outcome):
    """What Friedman's test says; make it with `friedman_test`.

    Attributes
    ----------
    statistic, p_value : float
        Friedman's chi-square, corrected for ties, and its p value.
    f_statistic, f_p_value : float
        The F statistic of Iman and Davenport, which is less conservative, and its p value.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float


def friedman_test(ranks: Ranks) -> FriedmanResult:
    """Test whether all methods are equally good.

    Parameters
    ----------
    ranks : Ranks
        From `average_ranks`; at least three methods and two data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.statistics import Ranks, friedman_test
    >>> losses = pd.DataFrame({"BR": range(8), "LP": range(1, 9), "CLR": range(2, 10)})
    >>> ranks = Ranks(pd.DataFrame({"micro_f1": [1, 2, 3]}), losses)
    >>> print(friedman_test(ranks).describe())
    Friedman's test of 3 methods over 8 data sets (Micro-F1): chi-square 16.00, p = 0.00034; \
F of Iman and Davenport inf, p = 0. At the 5% level the methods differ.
    """
    what = _tested(ranks, FEWEST_METHODS, "Friedman's test")
    n_blocks, n_methods = ranks.blocks.shape
    if (ranks.blocks.nunique(axis=1) == 1).all():
        # Nothing but ties: no evidence at all, where the formula divides zero by zero.
        statistic, p_value, f_statistic, f_p_value = 0.0, 1.0, 0.0, 1.0
    else:
        statistic, p_value = map(float, stats.friedmanchisquare(*ranks.blocks.to_numpy().T))
        rest = n_blocks * (n_methods - 1) - statistic
        # All blocks agree if nothing is left; rounding may leave a trace of either sign.
        agree = rest <= ROUNDING * n_blocks * n_methods
        f_statistic = np.inf if agree else (n_blocks - 1) * statistic / rest
        freedom = (n_methods - 1, (n_methods - 1) * (n_blocks - 1))
        f_p_value = float(stats.f.sf(f_statistic, *freedom))
    verdict = "differ" if f_p_value < LEVEL else "cannot be told apart"
    words = (
        f"{what}: chi-square {statistic:.2f}, p = {p_value:.2g}; F of Iman and Davenport "
        f"{f_statistic:.2f}, p = {f_p_value:.2g}. At the {LEVEL:.0%} level the methods {verdict}."
    )
    return FriedmanResult(ranks, words, statistic, p_value, f_statistic, f_p_value)


@dataclass(frozen=True, eq=False)
class NemenyiResult(Outcome):
    """What Nemenyi's test says of every pair of methods; make it with `nemenyi_test`.

    Attributes
    ----------
    average : Series
        Average rank of every method over the blocks, the best first.
    critical_difference : float
        Two methods differ if their average ranks are further apart.
    p_values : DataFrame
        p value of every pair.
    """

    average: pd.Series
    critical_difference: float
    p_values: pd.DataFrame


def nemenyi_test(ranks: Ranks) -> NemenyiResult:
    """Test all pairs of methods by their average ranks, after Friedman's test found a difference.

    Parameters
    ----------
    ranks : Ranks
        From `average_ranks`; at least two methods and two data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.statistics import Ranks, nemenyi_test
    >>> losses = pd.DataFrame({"BR": range(10), "LP": range(1, 11), "CLR": range(2, 12)})
    >>> ranks = Ranks(pd.DataFrame({"micro_f1": [1, 2, 3]}), losses)
    >>> round(nemenyi_test(ranks).critical_difference, 3)
    1.048
    """
    # Slow to load, and only the tests of pairs need it.
    from scikit_posthocs import posthoc_nemenyi_friedman

    what = _tested(ranks, 2, "Nemenyi's test")
    n_blocks, n_methods = ranks.blocks.shape
    average = ranks.blocks.rank(axis=1).mean().sort_values(kind="stable")
    quantile = stats.studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    critical = float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks)))
    p_values = posthoc_nemenyi_friedman(ranks.blocks[average.index].to_numpy())
    p_values = p_values.set_axis(average.index).set_axis(average.index, axis=1)
    words = (
        f"{what}: at the {LEVEL:.0%} level two methods differ if their average ranks are more than "
        f"{critical:.2f} apart. {average.index[0]} has the best, {average.iloc[0]:.2f}; "
        f"{_different(p_values)}"
    )
    return NemenyiResult(ranks, words, average, critical, p_values)


@dataclass(frozen=True, eq=False)
class WilcoxonResult(Outcome):
    """What Wilcoxon's signed-rank test says of every pair; make it with `wilcoxon_test`.

    Attributes
    ----------
    p_values : DataFrame
        p value of every pair, corrected by Holm's method for the number of pairs; the method with
        the best average rank first.
    """

    p_values: pd.DataFrame


def wilcoxon_test(ranks: Ranks) -> WilcoxonResult:
    """Test all pairs of methods by their differences on the data sets.

    With one measure the differences are those of the measure, with several those of the ranks.

    Parameters
    ----------
    ranks : Ranks
        From `average_ranks`; at least two methods and two data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.statistics import Ranks, wilcoxon_test
    >>> losses = pd.DataFrame({"BR": range(8), "LP": range(0, 16, 2)}) + [1, 2]
    >>> ranks = Ranks(pd.DataFrame({"micro_f1": [1, 2]}, index=["BR", "LP"]), losses)
    >>> float(wilcoxon_test(ranks).p_values.loc["BR", "LP"])
    0.0078125
    """
    from scikit_posthocs import posthoc_wilcoxon

    what = _tested(ranks, 2, "Wilcoxon's signed-rank test")
    n_blocks = len(ranks.blocks)
    lines = ranks.blocks[ranks.frame.index].melt(var_name="method", value_name="value")
    # Two methods that never differ have no signed ranks; SciPy returns 1 for them, with a warning.
    with np.errstate(invalid="ignore"):
        p_values = posthoc_wilcoxon(lines, "value", "method", p_adjust="holm")
    pairs = p_values.to_numpy()[np.triu_indices(len(p_values), 1)]
    smallest = min(1.0, len(pairs) * 2.0 ** (1 - n_blocks))
    words = (
        f"{what}, with Holm's correction: {int((pairs < LEVEL).sum())} of "
        f"{counted(len(pairs), 'pair')} of methods differ at the {LEVEL:.0%} level. "
        f"{p_values.index[0]} has the best average rank; {_different(p_values)}"
    )
    if smallest >= LEVEL:
        words += (
            f" With {counted(n_blocks, 'block')} no pair can have a p below {smallest:.2g} after "
            "the correction, whatever the results are."
        )
    return WilcoxonResult(ranks, words, p_values)


def _tested(ranks: Ranks, fewest_methods: int, test: str) -> str:
    """What is tested in words, if there are enough methods and blocks for the test."""
    n_blocks, n_methods = ranks.blocks.shape
    if n_methods < fewest_methods:
        raise ValueError(
            f"{test} compares at least {fewest_methods} methods, but there "
            f"{'is' if n_methods == 1 else 'are'} {n_methods}; add methods"
            f"{' or use wilcoxon_test' if n_methods == 2 else ''}."
        )
    if n_blocks < 2:
        raise ValueError(
            f"{test} needs at least 2 blocks, but there is 1; add data sets. Repetitions on the "
            "same data do not count."
        )
    return f"{test} of {counted(n_methods, 'method')} over {ranks.where()}"


def _different(p_values: pd.DataFrame) -> str:
    """Which methods differ from the first one."""
    others = p_values.index[p_values.iloc[0] < LEVEL]
    return f"significantly different from it are {', '.join(map(str, others)) or 'none'}."


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))
