"""The section of one comparison: ranks, bars, a table per data set, differences, failures.

The bars are drawn by the script of the report, from the cells of the tables.
"""

from __future__ import annotations

import html
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from splmll.experiments.report.failures import Failure, failures_of
from splmll.experiments.report.page import Figure, Heading, Part, Section, Text, signed
from splmll.experiments.report.ranking import OURS, RANK_DIGITS, Comparison, group_of, title_of
from splmll.experiments.report.sortable import Cell, Column, Row, SortableTable
from splmll.experiments.statistics import (
    FEWEST_METHODS,
    Ranks,
    friedman_test,
    nemenyi_test,
)
from splmll.experiments.table_format import MISSING
from splmll.metrics import MEASURES
from splmll.plots.critical_difference import CriticalDifferenceDisplay

NO_ESTIMATE = (
    "Trained and measured on the same rows. These numbers say nothing about new rows; they stand "
    "here only beside printed numbers that were measured in this way."
)


def comparison_section(title: str, comparison: Comparison, anchor: str) -> Section:
    """Return the section of one comparison.

    Parameters
    ----------
    title : str
        Its title.
    comparison : Comparison
        What is shown.
    anchor : str
        Beginning of the names of places in this section, unique on the page.

    Returns
    -------
    section : Section
    """
    failures = failures_of(comparison.failed, anchor)
    parts: list[Part] = [Text(comparison.conditions.describe(), note=True)]
    if comparison.conditions.protocol == "resubstitution":
        parts.append(Caution(NO_ESTIMATE))
    elif (ranks := comparison.ranks) is not None:
        parts += [Heading("Average ranks"), _rank_table(comparison, ranks)]
        if len(ranks.frame) >= FEWEST_METHODS and len(ranks.data) > 1:
            parts += [Heading("Critical difference"), *_critical_differences(comparison, ranks)]
    parts += [Heading("Data set by data set"), Bars()]
    for data in comparison.data:
        parts.append(Heading(data))
        parts += _data_parts(comparison, data, failures)
    if comparison.differences is not None:
        parts += [Heading("Measured against printed"), _difference_table(comparison)]
    if failures:
        parts += [Heading("Runs that failed"), *failures.values()]
    return Section(title, parts)


@dataclass(frozen=True)
class Caution:
    """A paragraph that must not be overlooked.

    Parameters
    ----------
    words : str
        Plain text.
    """

    words: str

    def to_html(self, number: int) -> str:
        """Return the paragraph."""
        return f'<p class="caution"><strong>{html.escape(self.words)}</strong></p>'


@dataclass(frozen=True)
class Bars:
    """The place in which the script draws the chosen measure on every data set of the section."""

    def to_html(self, number: int) -> str:
        """Return the place."""
        return (
            '<div class="bars"></div><p class="note">Bars start at 0; the line at their end is one '
            "standard deviation to both sides, a dotted mark the number printed in the paper. In "
            "the tables below, bold on a shade is best and underlined second best of a column; "
            "arrows point to better values.</p>"
        )


@dataclass(frozen=True)
class ForMeasure:
    """A part that is shown with one measure only.

    Parameters
    ----------
    measure : str
        The measure.
    part : Part
        What is shown.
    """

    measure: str
    part: Part

    def to_html(self, number: int) -> str:
        """Return the part in a box that the script can hide."""
        return f'<div data-for-measure="{self.measure}">{self.part.to_html(number)}</div>'


def _rank_table(comparison: Comparison, ranks: Ranks) -> SortableTable:
    """Every method with its average rank under each measure and under all of them."""
    names = ["all", *comparison.measures]
    marks = {name: _rank_marks(ranks.frame[name]) for name in names}
    n_failed = comparison.failed.groupby("method").size()
    ranked = list(ranks.frame.index)
    others = [method for method in comparison.cells["method"].unique() if method not in ranked]
    rows = []
    for method in [*ranked, *others]:
        if method in ranked:
            values = ranks.frame.loc[method, names].astype(float)
            cells = [
                Cell(f"{value:.{RANK_DIGITS}f}", value, marks[name].get(method, ""))
                for name, value in values.items()
            ]
        else:
            cells = [Cell(MISSING)] * len(names)
        failed = int(n_failed.get(method, 0))
        rows.append(_row(method, [*cells, Cell(str(failed), failed)]))
    columns = [
        Column("all measures", "low", "mean rank over data sets and measures"),
        *(
            Column(MEASURES[name].title, "low", f"mean rank by {MEASURES[name].title}")
            for name in comparison.measures
        ),
        Column("failed runs", "low"),
    ]
    caption = (
        f"Average rank among {len(ranked)} methods on {', '.join(ranks.data)}; 1 is best, equal "
        "ones share their rank. Bold on a shade: best of the column; underlined: second best. "
        "Hiding methods changes neither ranks nor marks."
    )
    if others:
        caption += f" {MISSING} not ranked: results are missing on some of these data sets."
    return SortableTable("method", columns, rows, caption, sorted_by=0)


def _critical_differences(comparison: Comparison, ranks: Ranks) -> list[Part]:
    """A diagram over all measures, and one under the measure that the reader picks."""
    parts: list[Part] = [
        Text(friedman_test(ranks).describe()),
        _diagram(ranks, "Average ranks under all measures."),
    ]
    for measure in comparison.measures if len(comparison.measures) > 1 else []:
        by_measure = comparison.ranks_by(measure)
        assert by_measure is not None  # who has all measures has this one
        title = f"Average ranks by {MEASURES[measure].title} alone."
        parts.append(ForMeasure(measure, _diagram(by_measure, title)))
    return parts


def _diagram(ranks: Ranks, title: str) -> Figure:
    import matplotlib.pyplot as plt

    figure = CriticalDifferenceDisplay.from_test(nemenyi_test(ranks)).figure_
    plt.close(figure)  # it goes into the page, not onto a screen
    return Figure(figure, f"{title} Methods under one thick bar cannot be told apart.")


def _rank_marks(ranks: pd.Series) -> dict[str, str]:
    shown = ranks.round(RANK_DIGITS)
    places = dict(zip(sorted(shown.unique()), ("best", "second")))
    return {str(method): places[rank] for method, rank in shown.items() if rank in places}


def _data_parts(
    comparison: Comparison, data: str, failures: dict[tuple[str, str], Failure]
) -> list[Part]:
    """Every method on one data set: the measures, its mean rank there, and the time of a fit."""
    runs = comparison.runs[comparison.runs["data"] == data]
    cells = comparison.cells[comparison.cells["data"] == data]
    line_of = cells.set_index(["method", "measure"]).to_dict("index")
    found = comparison.ranks_on(data)
    ranks: dict[Hashable, float] = {} if found is None else found.frame["all"].to_dict()
    seconds: dict[Hashable, float] = {}
    if "fit_seconds" in runs:
        done = runs[runs["status"] == "done"]
        seconds = done.groupby("method")["fit_seconds"].mean().dropna().to_dict()
    others = [method for method in cells["method"].unique() if method not in ranks]
    rows = []
    for method in map(str, [*ranks, *others]):
        failure = failures.get((data, method))
        line = [_cell(line_of[method, measure], failure) for measure in comparison.measures]
        for known, digits in ((ranks, RANK_DIGITS), (seconds, 1)):
            value = float(known[method]) if method in known else None
            line.append(Cell(MISSING if value is None else f"{value:.{digits}f}", value))
        rows.append(_row(method, line))
    columns = [
        *(
            Column(
                f"{MEASURES[name].title} {MEASURES[name].arrow}",
                "high" if MEASURES[name].greater_is_better else "low",
                f"{'larger' if MEASURES[name].greater_is_better else 'smaller'} is better",
                name,
            )
            for name in comparison.measures
        ),
        Column("mean rank", "low", "mean rank over the measures on this data set"),
        Column("fit, s", "low", "mean seconds of one fit"),
    ]
    table = SortableTable("method", columns, rows, sorted_by=len(comparison.measures), name=data)
    return [Text(words, note=True), table] if (words := _data_words(runs, cells)) else [table]


def _data_words(runs: pd.DataFrame, cells: pd.DataFrame) -> str:
    """How large the data set is, and what is different about its printed numbers."""
    sizes = {
        "n_train": "training rows",
        "n_test": "test rows",
        "n_features": "features",
        "n_labels": "labels",
    }
    words = [
        f"{int(runs[column].median())} {name}"
        for column, name in sizes.items()
        if column in runs and runs[column].notna().any()
    ]
    if "caveat" in cells:
        caveats = [caveat for caveat in cells["caveat"].unique() if caveat]
        differently = [f"The printed numbers were made differently ({each})" for each in caveats]
    else:
        differently = []
    return " ".join(f"{part}." for part in [", ".join(words), *differently] if part)


def _cell(line: dict[Hashable, Any], failure: Failure | None) -> Cell:
    printed = None if pd.isna(line.get("printed")) else float(line["printed"])
    if line["status"] != "done":
        if failure is None:  # the run is done but the measure is not defined there
            return Cell(line["status"], printed=printed)
        return Cell("failed", printed=printed, hint=failure.words, target=failure.anchor)
    return Cell(
        f"{line['mean']:.3f}",
        float(line["mean"]),
        line["mark"],
        None if pd.isna(line["std"]) else float(line["std"]),
        printed,
        line["note"],
        failure.anchor if failure else "",
    )


def _difference_table(comparison: Comparison) -> SortableTable:
    """Measured minus printed, cell by cell, and the known reasons."""
    assert comparison.differences is not None
    table = comparison.differences
    frame = table.frame
    names = list(frame["measure"].unique())
    notes = {
        (block.title, method, name): cell.notes
        for block in table.blocks
        for method, cells in block.rows.items()
        for name, cell in zip(names, cells)
    }
    rows = []
    for line in frame.to_dict("records"):
        method, measure = line["method"], line["measure"]
        difference = line["difference"]
        missing = pd.isna(difference)
        words = "; ".join(notes[line["data"], method, measure])
        cells = [
            Cell(line["data"]),
            Cell(MEASURES[measure].title),
            Cell(MISSING) if missing else Cell(f"{line['measured']:.3f}", line["measured"]),
            Cell(f"{line['printed']:.3f}", line["printed"]),
            Cell(MISSING) if missing else Cell(signed(difference, 3), abs(difference)),
            Cell(line["reason"], details="" if words == line["reason"] else words),
        ]
        rows.append(_row(method, cells, measure))
    columns = [
        Column("data"),
        Column("measure"),
        Column("measured", "low"),
        Column("printed", "low"),
        Column("difference", "high", "measured minus printed; sorted by size"),
        Column("known reason"),
    ]
    return SortableTable("method", columns, rows, table.caption)


def _row(method: str, cells: list[Cell], measure: str = "") -> Row:
    return Row(method, cells, method, group_of(method) == OURS, title_of(method), measure)
