"""All runs that were made under the same conditions, and who ranks where among them.

Runs of different protocols, preprocessing, threshold rules or searches are never put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from splmll.experiments.differences import difference_table
from splmll.experiments.statistics import Ranks, average_ranks
from splmll.experiments.table_format import FormattedTable
from splmll.experiments.tables import CONDITIONS, Conditions, check_conditions, comparison_table


@dataclass(frozen=True, eq=False)
class Comparison:
    """All runs that were made under the same conditions.

    Attributes
    ----------
    runs : DataFrame
        One line for each run.
    conditions : Conditions
        What the runs have in common.
    cells : DataFrame
        One line for each data set, method and measure; see
        :func:`splmll.experiments.tables.comparison_table`.
    differences : FormattedTable or None
        Where measured and printed differ and why; None where nothing is printed.
    """

    runs: pd.DataFrame
    conditions: Conditions
    cells: pd.DataFrame
    differences: FormattedTable | None

    @property
    def measures(self) -> list[str]:
        """The measures that are shown."""
        return list(self.cells["measure"].unique())

    @property
    def data(self) -> list[str]:
        """The data sets."""
        return list(self.cells["data"].unique())

    @property
    def failed(self) -> pd.DataFrame:
        """The runs that gave no result."""
        return self.runs[self.runs["status"] != "done"]

    @cached_property
    def ranks(self) -> Ranks | None:
        """Average ranks where methods can be compared fairly, None if they nowhere can.

        Not every method need have been run on every data set. Ranked are the methods with all
        results on those data sets that together make the largest complete table.
        """
        runs = self.runs[self.runs["data"].isin(self._ranked_data)]
        return average_ranks(runs, self.measures) if len(runs) else None

    def ranks_on(self, data: str) -> dict[str, float]:
        """Return the mean rank of every method that has all results on one data set."""
        if not self._complete.loc[data].any():
            return {}
        found = average_ranks(self.runs[self.runs["data"] == data], self.measures)
        return {str(name): float(rank) for name, rank in found.frame["all"].items()}

    @cached_property
    def _complete(self) -> pd.DataFrame:
        """Whether a method (column) has a value of every measure on a data set (row)."""
        missing = self.cells["mean"].isna().groupby([self.cells["data"], self.cells["method"]])
        found = ~missing.any()
        return found.unstack(fill_value=False).reindex(self.data)  # unstacking sorts by name

    @cached_property
    def _ranked_data(self) -> list[str]:
        coverage = self._complete.sum(axis=1).sort_values(ascending=False, kind="stable")
        largest, chosen = 0, []
        for count in range(1, len(coverage) + 1):
            data = list(coverage.index[:count])
            size = count * int(self._complete.loc[data].all().sum())
            if size > 0 and size >= largest:
                largest, chosen = size, data
        return chosen


def comparisons_of(
    results: pd.DataFrame, measures: Sequence[str], published: pd.DataFrame | None = None
) -> list[Comparison]:
    """Return one comparison for every combination of conditions in the results of an experiment.

    Printed numbers are what :func:`splmll.experiments.published.published` returns.
    """
    absent = [column for column in CONDITIONS if column not in results.columns]
    if absent or results.empty:
        check_conditions(results)  # it says what is wrong
    comparisons = []
    for _, runs in results.groupby(list(CONDITIONS), sort=False):
        cells = comparison_table(runs, measures, published).frame
        differences = None
        if published is not None and cells["printed"].notna().any():
            differences = difference_table(runs, published, measures)
        comparisons.append(Comparison(runs, check_conditions(runs), cells, differences))
    return comparisons
