"""Do the methods differ? Average ranks and the usual tests over several data sets.

The unit of all tests is a block: a data set, or a data set under one measure. Repetitions and folds
share their data and are no blocks of their own; their mean is one value.

References
----------
Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
Iman, Davenport: Approximations of the critical region of the Friedman statistic. Communications in
Statistics 9(6), 1980.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from splmll.experiments.tables import summarise
from splmll.metrics import MEASURES, PAPER_MEASURES

Unit = Literal["data", "data and measure"]
Missing = Literal["method", "data"]

LEVEL = 0.05
# With fewer data sets the distributions behind Friedman's and Nemenyi's tests are rough guesses.
FEW_DATA_SETS = 5
# Friedman's test compares at least so many methods; for two there is Wilcoxon's.
FEWEST_METHODS = 3
# Relative error of a sum of squared ranks, with room to spare.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of methods in blocks, 1 for the best.

    Make them with `average_ranks`.

    Attributes
    ----------
    frame : DataFrame
        Average rank of every method under every measure, and under all of them in the column
        ``all``; the best method first.
    blocks : DataFrame
        What the tests compare: one line for each block, one column for each method, smaller is
        better.
    data : tuple of str
        The data sets.
    unit : {"data", "data and measure"}
        What a block is.
    left_out : str
        What was left out because results are missing, in words; empty if nothing was.
    """

    frame: pd.DataFrame
    blocks: pd.DataFrame
    data: tuple[str, ...]
    unit: Unit
    left_out: str

    @property
    def measures(self) -> list[str]:
        """The measures."""
        return [str(name) for name in self.frame.columns if name != "all"]

    @property
    def warning(self) -> str:
        """Why tests on these blocks should be read with care; empty if there is no reason."""
        warnings = []
        if len(self.data) < FEW_DATA_SETS:
            warnings.append(
                f"{_count(len(self.data), 'data set')} {'is' if len(self.data) == 1 else 'are'} "
                f"too few to generalise from; have at least {FEW_DATA_SETS}, better ten."
            )
        if self.unit == "data and measure" and len(self.measures) > 1:
            warnings.append(
                "Measures on the same data depend on each other, so that significance is "
                "overstated."
            )
        return " ".join(warnings)

    def where(self) -> str:
        """Return what the ranks are over in words: how many data sets, measures and blocks."""
        data = _count(len(self.data), "data set")
        if len(self.measures) == 1:
            return f"{data} ({MEASURES[self.measures[0]].title})"
        blocks = "a block each" if self.unit == "data" else f"{len(self.blocks)} blocks"
        return f"{data} under {len(self.measures)} measures ({blocks})"

    def describe(self) -> str:
        """Return the ranks in plain words.

        Returns
        -------
        words : str
        """
        order = self.frame["all"]
        listed = ", ".join(f"{name} {rank:.2f}" for name, rank in order.items())
        return _joined(f"Average ranks over {self.where()}: {listed}.", self.left_out)


def average_ranks(
    results: pd.DataFrame,
    measures: Sequence[str] = PAPER_MEASURES,
    *,
    unit: Unit = "data",
    missing: Missing = "method",
) -> Ranks:
    """Return the average ranks of the methods.

    Methods are ranked by their means for every data set and measure; equal ones share the mean of
    their ranks.

    Parameters
    ----------
    results : DataFrame
        One line for each run, as an experiment returns them.
    measures : sequence of str, default=PAPER_MEASURES
        Names in :data:`splmll.metrics.MEASURES`.
    unit : {"data", "data and measure"}, default="data"
        What the tests take for a block. A data set counts once, with the mean of a method's ranks
        under all measures (or its value, if there is one measure); or it counts once for every
        measure.
    missing : {"method", "data"}, default="method"
        What is left out where a method has no result on a data set: the method or the data set.

    Returns
    -------
    ranks : Ranks

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.statistics import average_ranks
    >>> run = {"repetition": 0, "fold": 0, "seed": 0, "protocol": "held-out", "status": "done",
    ...        "preprocessing": "none", "threshold": "own", "search": "none"}
    >>> values = {("a", "BR"): 0.5, ("a", "LP"): 0.4, ("b", "BR"): 0.7, ("b", "LP"): 0.7}
    >>> results = pd.DataFrame([{**run, "data": data, "method": method, "micro_f1": value}
    ...                         for (data, method), value in values.items()])
    >>> average_ranks(results, ["micro_f1"]).frame["all"].to_dict()
    {'BR': 1.25, 'LP': 1.75}
    """
    for name, value, values in (
        ("unit", unit, ("data", "data and measure")),
        ("missing", missing, ("method", "data")),
    ):
        if value not in values:
            raise ValueError(f'{name} must be "{values[0]}" or "{values[1]}", got {value!r}.')
    cells = summarise(results, measures)
    sign = cells["measure"].map(lambda name: -1 if MEASURES[name].greater_is_better else 1)
    table = (
        cells.assign(loss=cells["mean"] * sign)
        .set_index(["measure", "data", "method"])["loss"]
        .unstack("method")
        # Unstacking sorts by name; the order of the tables is kept instead.
        .reindex(columns=cells["method"].unique())
    )
    losses, left_out = _complete(table, missing)
    ranks = losses.rank(axis=1)
    frame = ranks.groupby(level="measure").mean().reindex(cells["measure"].unique()).T
    several = frame.shape[1] > 1
    frame["all"] = frame.mean(axis=1)
    if several:
        # Differences of different measures have no common scale; those of ranks have.
        blocks = ranks.groupby(level="data").mean() if unit == "data" else ranks
    else:
        blocks = losses
    data = [name for name in cells["data"].unique() if name in losses.index.unique("data")]
    frame = frame.rename_axis(index="method", columns=None).sort_values("all", kind="stable")
    return Ranks(frame, blocks, tuple(data), unit, left_out)


@dataclass(frozen=True, eq=False)
class FriedmanResult:
    """What Friedman's test says; make it with `friedman_test`.

    Attributes
    ----------
    statistic, p_value : float
        Friedman's chi-square, corrected for ties, and its p value.
    f_statistic, f_p_value : float
        The F statistic of Iman and Davenport, which is less conservative, and its p value.
    level : float
        The level at which `describe` calls a difference significant.
    ranks : Ranks
        What was tested.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    level: float
    ranks: Ranks

    def describe(self) -> str:
        """Return the result in plain words.

        Returns
        -------
        words : str
        """
        verdict = "differ" if self.f_p_value < self.level else "cannot be told apart"
        return _joined(
            f"Friedman's test of {_what(self.ranks)}: chi-square {self.statistic:.2f}, "
            f"p = {self.p_value:.2g}; F of Iman and Davenport {self.f_statistic:.2f}, "
            f"p = {self.f_p_value:.2g}. At the {_percent(self.level)} level the methods {verdict}.",
            self.ranks.warning,
            self.ranks.left_out,
        )


def friedman_test(ranks: Ranks, level: float = LEVEL) -> FriedmanResult:
    """Test whether all methods are equally good.

    Parameters
    ----------
    ranks : Ranks
        From `average_ranks`; at least three methods and two blocks.
    level : float, default=0.05
        The level at which a difference is called significant.

    Returns
    -------
    result : FriedmanResult

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from splmll.experiments.statistics import average_ranks, friedman_test
    >>> run = {"repetition": 0, "fold": 0, "seed": 0, "protocol": "held-out", "status": "done",
    ...        "preprocessing": "none", "threshold": "own", "search": "none"}
    >>> rng = np.random.default_rng(0)
    >>> results = pd.DataFrame([
    ...     {**run, "data": f"d{d}", "method": f"m{m}", "micro_f1": 0.1 * m + 0.1 * rng.random()}
    ...     for d in range(8) for m in range(3)])
    >>> print(friedman_test(average_ranks(results, "micro_f1")).describe())
    Friedman's test of 3 methods over 8 data sets (Micro-F1): chi-square 16.00, p = 0.00034; \
F of Iman and Davenport inf, p = 0. At the 5% level the methods differ.
    """
    n_blocks, n_methods = _checked(ranks, FEWEST_METHODS, "Friedman's test")
    within = ranks.blocks.rank(axis=1)
    if (within.nunique(axis=1) == 1).all():
        # Nothing but ties: no evidence at all, where the formula divides zero by zero.
        return FriedmanResult(0.0, 1.0, 0.0, 1.0, level, ranks)
    statistic, p_value = stats.friedmanchisquare(*ranks.blocks.to_numpy().T)
    freedom = (n_methods - 1, (n_methods - 1) * (n_blocks - 1))
    rest = n_blocks * (n_methods - 1) - statistic
    # All blocks agree if nothing is left; rounding may leave a trace of either sign.
    agree = rest <= ROUNDING * n_blocks * n_methods
    f_statistic = np.inf if agree else (n_blocks - 1) * statistic / rest
    f_p_value = stats.f.sf(f_statistic, *freedom)
    return FriedmanResult(
        float(statistic), float(p_value), float(f_statistic), float(f_p_value), level, ranks
    )


@dataclass(frozen=True, eq=False)
class NemenyiResult:
    """What Nemenyi's test says of every pair of methods; make it with `nemenyi_test`.

    Attributes
    ----------
    average : Series
        Average rank of every method over the blocks, the best first.
    critical_difference : float
        Two methods differ if their average ranks are further apart.
    p_values : DataFrame
        p value of every pair.
    level : float
        The level of the critical difference.
    ranks : Ranks
        What was tested.
    """

    average: pd.Series
    critical_difference: float
    p_values: pd.DataFrame
    level: float
    ranks: Ranks

    def describe(self) -> str:
        """Return the result in plain words.

        Returns
        -------
        words : str
        """
        best = self.average.index[0]
        return _joined(
            f"Nemenyi's test of {_what(self.ranks)}: at the {_percent(self.level)} level two "
            f"methods differ if their average ranks are more than {self.critical_difference:.2f} "
            f"apart. {best} has the best, {self.average.iloc[0]:.2f}; "
            f"{_different(self.p_values[best], self.level)}.",
            self.ranks.warning,
            self.ranks.left_out,
        )


def nemenyi_test(ranks: Ranks, level: float = LEVEL) -> NemenyiResult:
    """Test all pairs of methods by their average ranks, after Friedman's test found a difference.

    Parameters
    ----------
    ranks : Ranks
        From `average_ranks`; at least two methods and two blocks.
    level : float, default=0.05
        The level of the critical difference.

    Returns
    -------
    result : NemenyiResult

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.statistics import average_ranks, nemenyi_test
    >>> run = {"repetition": 0, "fold": 0, "seed": 0, "protocol": "held-out", "status": "done",
    ...        "preprocessing": "none", "threshold": "own", "search": "none"}
    >>> results = pd.DataFrame([
    ...     {**run, "data": f"d{d}", "method": f"m{m}", "micro_f1": 0.1 * m}
    ...     for d in range(10) for m in range(3)])
    >>> round(nemenyi_test(average_ranks(results, "micro_f1")).critical_difference, 3)
    1.048
    """
    # Slow to load, and only the tests of pairs need it.
    from scikit_posthocs import posthoc_nemenyi_friedman

    n_blocks, n_methods = _checked(ranks, 2, "Nemenyi's test")
    average = ranks.blocks.rank(axis=1).mean().sort_values(kind="stable")
    quantile = stats.studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    critical = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))
    p_values = posthoc_nemenyi_friedman(ranks.blocks.to_numpy())
    p_values = p_values.set_axis(ranks.blocks.columns).set_axis(ranks.blocks.columns, axis=1)
    ordered = p_values.loc[average.index, average.index]
    return NemenyiResult(average, float(critical), ordered, level, ranks)


@dataclass(frozen=True, eq=False)
class WilcoxonResult:
    """What Wilcoxon's signed-rank test says of every pair; make it with `wilcoxon_test`.

    Attributes
    ----------
    p_values : DataFrame
        p value of every pair, corrected by Holm's method for the number of pairs; the method with
        the best average rank first.
    level : float
        The level at which `describe` calls a difference significant.
    ranks : Ranks
        What was tested.
    """

    p_values: pd.DataFrame
    level: float
    ranks: Ranks

    @property
    def smallest_possible(self) -> float:
        """The smallest p value that so few blocks can give a pair, after the correction."""
        n_blocks, n_methods = self.ranks.blocks.shape
        n_pairs = n_methods * (n_methods - 1) // 2
        return min(1.0, n_pairs * 2.0 ** (1 - n_blocks))

    def describe(self) -> str:
        """Return the result in plain words.

        Returns
        -------
        words : str
        """
        pairs = self.p_values.to_numpy()[np.triu_indices(len(self.p_values), 1)]
        best = self.p_values.index[0]
        hopeless = ""
        if self.smallest_possible >= self.level:
            hopeless = (
                f"With {_count(len(self.ranks.blocks), 'block')} no pair can have a p below "
                f"{self.smallest_possible:.2g} after the correction, whatever the results are."
            )
        return _joined(
            f"Wilcoxon's signed-rank test of {_what(self.ranks)}, with Holm's correction: "
            f"{int((pairs < self.level).sum())} of {_count(len(pairs), 'pair')} of methods differ "
            f"at the {_percent(self.level)} level. {best} has the best average rank; "
            f"{_different(self.p_values[best], self.level)}.",
            hopeless,
            self.ranks.warning,
            self.ranks.left_out,
        )


def wilcoxon_test(ranks: Ranks, level: float = LEVEL) -> WilcoxonResult:
    """Test all pairs of methods by their differences in the blocks.

    With one measure the differences are those of the measure, with several those of the ranks.

    Parameters
    ----------
    ranks : Ranks
        From `average_ranks`; at least two methods and two blocks.
    level : float, default=0.05
        The level at which a difference is called significant.

    Returns
    -------
    result : WilcoxonResult

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.statistics import average_ranks, wilcoxon_test
    >>> run = {"repetition": 0, "fold": 0, "seed": 0, "protocol": "held-out", "status": "done",
    ...        "preprocessing": "none", "threshold": "own", "search": "none"}
    >>> results = pd.DataFrame([
    ...     {**run, "data": f"d{d}", "method": f"m{m}", "micro_f1": 0.1 * m + 0.01 * m * d}
    ...     for d in range(8) for m in range(2)])
    >>> float(wilcoxon_test(average_ranks(results, "micro_f1")).p_values.loc["m0", "m1"])
    0.0078125
    """
    from scikit_posthocs import posthoc_wilcoxon

    _checked(ranks, 2, "Wilcoxon's test")
    best_first = ranks.blocks[ranks.frame.index].reset_index(drop=True)
    pairs = best_first.melt(var_name="method", value_name="value")
    # Two methods that never differ have no signed ranks; SciPy returns 1 for them, with a warning.
    with np.errstate(invalid="ignore"):
        p_values = posthoc_wilcoxon(pairs, "value", "method", p_adjust="holm")
    return WilcoxonResult(p_values, level, ranks)


def _complete(losses: pd.DataFrame, missing: Missing) -> tuple[pd.DataFrame, str]:
    """The losses without the methods or data sets where some are missing, and what that was."""
    absent = losses.isna().groupby(level="data").any()
    if not absent.to_numpy().any():
        return losses, ""
    if missing == "method":
        lacking = {name: list(absent.index[absent[name]]) for name in absent if absent[name].any()}
        kept = losses.drop(columns=list(lacking))
        if kept.columns.empty:
            raise ValueError(
                'Every method lacks results on some data set; use missing="data" to leave the '
                "data sets out instead, or run what failed."
            )
    else:
        lacking = {d: list(row.index[row]) for d, row in absent.iterrows() if row.any()}
        kept = losses.drop(index=list(lacking), level="data")
        if kept.empty:
            raise ValueError(
                'Some method lacks results on every data set; use missing="method" to leave the '
                "methods out instead, or run what failed."
            )
    link = "on" if missing == "method" else "of"
    words = [f"{name} (no results {link} {', '.join(of)})" for name, of in lacking.items()]
    return kept, f"Left out: {', '.join(words)}."


def _checked(ranks: Ranks, fewest_methods: int, test: str) -> tuple[int, int]:
    """The numbers of blocks and methods, if they are enough for the test."""
    n_blocks, n_methods = ranks.blocks.shape
    if n_methods < fewest_methods:
        raise ValueError(
            f"{test} compares at least {fewest_methods} methods, here "
            f"{'is' if n_methods == 1 else 'are'} {n_methods}; add methods"
            f"{' or use wilcoxon_test' if n_methods == 2 else ''}."
        )
    if n_blocks < 2:
        raise ValueError(
            f"{test} needs at least 2 blocks, here is 1; add data sets. Repetitions on the same "
            "data do not count."
        )
    return n_blocks, n_methods


# Words ------------------------------------------------------------------------------------------


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _percent(level: float) -> str:
    return f"{100 * level:g}%"


def _what(ranks: Ranks) -> str:
    return f"{_count(ranks.blocks.shape[1], 'method')} over {ranks.where()}"


def _different(p_values: pd.Series, level: float) -> str:
    """Which methods differ from the one whose p values these are."""
    others = [str(name) for name in p_values.index[p_values < level]]
    return f"significantly different from it are {', '.join(others) if others else 'none'}"


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))
