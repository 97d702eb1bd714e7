"""From the results of an experiment to a table: means, deviations, marks and printed numbers.

A table shows one protocol, one preprocessing, one threshold rule and one kind of search, and says
in its caption which. A run that failed is shown as failed and never as a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from splmll.experiments.contestants import CONTESTANTS
from splmll.experiments.protocol import PROTOCOLS
from splmll.experiments.published import printed_beside, published_datasets
from splmll.experiments.table_format import MISSING, Cell, FormattedTable, Mark
from splmll.metrics import MEASURES, PAPER_MEASURES
from splmll.words import counted, enumeration

# What must be the same in all runs of a table.
CONDITIONS = ("protocol", "preprocessing", "threshold", "search")
# What tells one run of a method on a data set from another.
RUN = ("data", "method", "repetition", "fold")

NOT_DONE = {"failed": "failed", "timeout": "ran out of time", "memory": "ran out of memory"}
OTHER_CONDITIONS = "†"
MANY_SEEDS = 10
DIGITS = 3  # decimals of a mean


def comparison_table(
    results: pd.DataFrame,
    measures: Sequence[str] = PAPER_MEASURES,
    published: pd.DataFrame | None = None,
    *,
    title: str = "",
) -> FormattedTable:
    """Return methods against measures, with the best and the second best marked.

    The best of a data set and measure are all methods whose mean is the best as it is shown, the
    second best those with the next mean. With a single method nothing is marked.

    Parameters
    ----------
    results : DataFrame
        One line for each run, as an experiment returns them.
    measures : sequence of str, default=PAPER_MEASURES
        Names in :data:`splmll.metrics.MEASURES`.
    published : DataFrame, optional
        Printed numbers to stand in brackets beside the measured ones, as
        :func:`splmll.experiments.published.published` returns them.
    title : str, default=""
        The first words of the caption.

    Returns
    -------
    table : FormattedTable
        Its ``frame`` holds one line for each data set, method and measure: the columns of
        `summarise`, ``mark`` ("best", "second" or "") and, with `published`, ``printed``,
        ``printed_std`` and ``caveat``.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.tables import comparison_table
    >>> results = pd.DataFrame({
    ...     "data": "yeast", "method": ["BR", "BR", "ML-kNN", "ML-kNN"], "fold": 0,
    ...     "repetition": [0, 1, 0, 1], "seed": [0, 1, 0, 1], "protocol": "held-out",
    ...     "preprocessing": "none", "threshold": "own", "search": "none", "status": "done",
    ...     "ranking_loss": [0.2, 0.202, 0.17, 0.172]})
    >>> print(comparison_table(results, ["ranking_loss"]).to_text())
    method  Ranking loss ↓
    ------  --------------
    BR      0.201±0.001+
    ML-kNN  0.171±0.001*
    <BLANKLINE>
    yeast. Protocol: held-out (trained on the training rows, measured on the test rows). Mean
    ± standard deviation of 2 repetitions, seeds 0 and 1. Preprocessing: none. Threshold: each
    method's own rule. Hyper-parameter search: none. ↓ smaller is better. * best, + second
    best.
    """
    conditions = check_conditions(results)
    cells = summarise(results, measures)
    cells["mark"] = _marks(cells)
    if published is not None:
        cells = printed_beside(cells, published, conditions.protocol)
    names = list(cells["measure"].unique())
    titles = cells["measure"].map(lambda name: f"{MEASURES[name].title} {MEASURES[name].arrow}")
    written = [_cell(line) for line in cells.to_dict("records")]
    layout, subject = arranged(cells.assign(measure=titles, cell=pd.Series(written)))
    caption = _sentences(
        title, subject, conditions.describe(), _directions(names), _about_printed(cells)
    )
    return FormattedTable(layout, caption, cells)


def arranged(lines: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return cells as a table, and the name of its block of rows if there is only one.

    Data, method, measure and cell of every line become a block of rows for every data set, a row
    for every method and a column for every measure.
    """
    table = _in_order(lines).set_index(["data", "method", "measure"])["cell"].unstack()
    table = table.reindex(columns=lines["measure"].unique())
    table = table.map(lambda cell: cell if isinstance(cell, Cell) else Cell(MISSING))
    if table.index.unique(0).size == 1:
        return table.droplevel(0), str(table.index[0][0])
    return table, ""


def summarise(results: pd.DataFrame, measures: Sequence[str] = PAPER_MEASURES) -> pd.DataFrame:
    """Return mean and deviation over the runs of every method on every data set.

    Parameters
    ----------
    results : DataFrame
        One line for each run, as an experiment returns them.
    measures : sequence of str, default=PAPER_MEASURES
        Names in :data:`splmll.metrics.MEASURES`.

    Returns
    -------
    cells : DataFrame
        One line for each data set, method and measure, with the columns data, method, measure,
        mean, std (sample deviation over repetitions and folds, NaN for a single run), runs, done
        (how many runs gave a number), status ("done" if any did, else why not: "failed",
        "timeout", "memory" or "undefined") and note (how many of several runs are missing). Data
        sets and methods are in the order of the paper; those it does not have follow.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.tables import summarise
    >>> results = pd.DataFrame({
    ...     "data": "yeast", "method": "BR", "repetition": [0, 1], "seed": [0, 1], "fold": 0,
    ...     "protocol": "held-out", "preprocessing": "none", "threshold": "own", "search": "none",
    ...     "status": ["done", "timeout"], "micro_f1": [0.5, None]})
    >>> line = summarise(results, ["micro_f1"]).iloc[0]
    >>> float(line["mean"]), line["note"]
    (0.5, '1 of 2 runs ran out of time')
    """
    check_conditions(results)
    names = _known_measures(results, measures)
    lines = []
    for (data, method), runs in _in_order(results).groupby(["data", "method"], observed=True):
        # Whatever a run that failed may have left in the column is no result.
        results_only = runs[names].astype(float)[runs["status"] == "done"].to_numpy()
        for name, column in zip(names, results_only.T):
            values = column[~np.isnan(column)]
            lines.append(
                {
                    "data": data,
                    "method": method,
                    "measure": name,
                    "mean": values.mean() if len(values) else np.nan,
                    "std": values.std(ddof=1) if len(values) > 1 else np.nan,
                    "runs": len(runs),
                    "done": len(values),
                    "status": "done" if len(values) else _why_not(runs["status"]),
                    "note": _what_is_missing(runs["status"], len(values)),
                }
            )
    return pd.DataFrame(lines)


@dataclass(frozen=True)
class Conditions:
    """What all runs of a table have in common.

    Attributes
    ----------
    protocol, preprocessing, threshold, search : str
        The single value of each in the results.
    runs : str
        How many runs a cell is the mean of, and their seeds, in words.
    """

    protocol: str
    preprocessing: str
    threshold: str
    search: str
    runs: str

    def describe(self) -> str:
        """Return the sentences of a caption."""
        rule = "each method's own rule" if self.threshold == "own" else self.threshold
        return _sentences(
            f"Protocol: {PROTOCOLS[self.protocol].gist}",
            self.runs,
            f"Preprocessing: {self.preprocessing}",
            f"Threshold: {rule}",
            f"Hyper-parameter search: {self.search}",
        )


def check_conditions(results: pd.DataFrame) -> Conditions:
    """Return what the runs have in common; refuse runs that must not stand in one table.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.tables import check_conditions
    >>> check_conditions(pd.DataFrame({"data": ["yeast"]}))
    Traceback (most recent call last):
        ...
    ValueError: The results have no column 'method'; pass the frame that an experiment or its \
store returns.
    """
    wanted = [*RUN, "seed", "status", *CONDITIONS]
    absent = [column for column in wanted if column not in results.columns]
    if absent:
        raise ValueError(
            f"The results have no column {absent[0]!r}; pass the frame that an experiment or its "
            "store returns."
        )
    if results.empty:
        raise ValueError("The results are empty; run the experiment first.")
    for column in CONDITIONS:
        values = sorted(results[column].astype(str).unique())
        if len(values) > 1:
            raise ValueError(
                f"The results have {len(values)} values of {column}: "
                f"{enumeration(map(repr, values))}. A table shows one: choose it first, for "
                "instance with "
                f'results[results["{column}"] == "{values[0]}"].'
            )
    strange = set(results["status"]) - {"done", *NOT_DONE}
    if strange:
        raise ValueError(
            f"A run has the status {min(map(str, strange))!r}; known are done, "
            f"{', '.join(NOT_DONE)}. Wait until it is finished or leave it out."
        )
    twice = results[results.duplicated(list(RUN))]
    if len(twice):
        run = twice.iloc[0]
        raise ValueError(
            f"{run['method']} on {run['data']} has two results of repetition {run['repetition']}, "
            f"fold {run['fold']}; give methods with different settings different names, or choose "
            "one of them by settings_hash."
        )
    common = {column: str(results[column].iloc[0]) for column in CONDITIONS}
    return Conditions(**common, runs=_run_words(results))


def _known_measures(results: pd.DataFrame, measures: Sequence[str]) -> list[str]:
    names = [measures] if isinstance(measures, str) else list(dict.fromkeys(measures))
    for name in names:
        if name not in MEASURES:
            raise ValueError(f"There is no measure {name!r}; known are {', '.join(MEASURES)}.")
        if name not in results.columns:
            raise ValueError(f"The results have no {name}; compute it or ask for other measures.")
    if not names:
        raise ValueError("No measure is asked for; name at least one.")
    return names


def _in_order(lines: pd.DataFrame) -> pd.DataFrame:
    """Lines whose data sets and methods sort as in the paper, others behind them as they come."""

    def ordered(column: str, known: Iterable[str]) -> pd.Categorical:
        there = list(lines[column].unique())
        names = [*(name for name in known if name in there), *there]
        return pd.Categorical(list(lines[column]), list(dict.fromkeys(names)))

    data, methods = list(published_datasets().index), list(CONTESTANTS)
    return lines.assign(data=ordered("data", data), method=ordered("method", methods))


def _why_not(statuses: pd.Series) -> str:
    """One word for runs none of which gave a number."""
    if (statuses == "done").any():
        return "undefined"
    return str(statuses.iloc[0]) if statuses.nunique() == 1 else "failed"


def _what_is_missing(statuses: pd.Series, n_values: int) -> str:
    """How many runs are missing in a mean; empty if none is, or if there is no mean at all."""
    if n_values in (0, len(statuses)):
        return ""
    counts = {words: int((statuses == status).sum()) for status, words in NOT_DONE.items()}
    counts["gave no value"] = int((statuses == "done").sum()) - n_values
    (first, number), *others = ((words, number) for words, number in counts.items() if number)
    parts = [f"{number} of {len(statuses)} runs {first}"]
    return ", ".join(parts + [f"{number} {words}" for words, number in others])


def _marks(cells: pd.DataFrame) -> pd.Series:
    """Best and second best of every data set and measure, by the means as they are shown."""
    shown = cells["mean"].map(lambda mean: float(f"{mean:.{DIGITS}f}"))
    groups = shown.groupby([cells["data"], cells["measure"]])
    return pd.concat(
        [best_two(each, MEASURES[str(name)].greater_is_better) for (_, name), each in groups]
    )


def best_two(values: pd.Series, greater_is_better: bool = False) -> pd.Series:
    """Return "best" and "second" for the two best of several values, and "" for the others."""
    order = sorted(values.dropna().unique(), reverse=greater_is_better)
    marks = dict(zip(order, ("best", "second"))) if values.count() > 1 else {}
    return values.map(lambda value: marks.get(value, ""))


def _cell(line: dict[Any, Any]) -> Cell:
    aside = ""
    if pd.notna(line.get("printed")):
        aside = f"{line['printed']:.{DIGITS}f}" + (OTHER_CONDITIONS if line["caveat"] else "")
    if line["status"] != "done":
        return Cell(line["status"], aside=aside, failed=True)
    text = f"{line['mean']:.{DIGITS}f}"
    if pd.notna(line["std"]):
        text += f"±{line['std']:.{DIGITS}f}"
    mark: Mark = line["mark"]
    return Cell(text, mark, aside, (line["note"],) if line["note"] else ())


def _directions(measures: Sequence[str]) -> str:
    arrows = {MEASURES[name].arrow: MEASURES[name].greater_is_better for name in measures}
    return ", ".join(
        f"{arrow} {'larger' if greater else 'smaller'} is better"
        for arrow, greater in arrows.items()
    )


def _about_printed(cells: pd.DataFrame) -> str:
    if "printed" not in cells or cells["printed"].isna().all():
        return ""
    other = cells.loc[cells["caveat"] != "", ["data", "caveat"]].drop_duplicates()
    return _sentences(
        "In brackets: printed in the paper",
        *(f"{OTHER_CONDITIONS} {data}, {caveat}" for data, caveat in other.itertuples(index=False)),
    )


# Words ------------------------------------------------------------------------------------------


def _sentences(*parts: str) -> str:
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)


def _run_words(results: pd.DataFrame) -> str:
    """How many repetitions and folds the methods have, at least and at most, and which seeds."""
    numbers = results.groupby(["data", "method"], observed=True)[["repetition", "fold"]].nunique()
    repetitions, folds = (
        counted(high, word) if low == high else f"{low} to {counted(high, word)}"
        for word, low, high in zip(numbers.columns, numbers.min(), numbers.max())
    )
    if (repetitions, folds) == ("1 repetition", "1 fold"):
        runs = "A single run"
    elif folds == "1 fold":
        runs = f"Mean ± standard deviation of {repetitions}"
    else:
        runs = f"Mean ± standard deviation over {repetitions} of {folds}"
    return f"{runs}, {_seed_words(sorted(map(int, results['seed'].unique())))}"


def _seed_words(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"seeds {seeds[0]} to {seeds[-1]}"
    if len(seeds) > MANY_SEEDS:
        return f"{len(seeds)} different seeds"
    return f"seeds {enumeration(seeds)}"
