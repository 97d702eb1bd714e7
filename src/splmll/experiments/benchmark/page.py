"""The benchmark's page and figures: what is lost first, then ranks, duels, the price, the gains.

:func:`write_benchmark` writes them into a folder; a table of results is all it needs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from splmll.atomic import atomic_write
from splmll.experiments.benchmark.analysis import REFERENCE, Standing
from splmll.experiments.benchmark.figures import all_figures
from splmll.experiments.benchmark.frozen import write_results
from splmll.experiments.benchmark.suite import SETS
from splmll.experiments.report.page import (
    Figure,
    Folded,
    Heading,
    Part,
    Section,
    Table,
    Text,
    build_page,
    write_page,
)
from splmll.experiments.tables import NOT_DONE
from splmll.metrics import MEASURES, PAPER_MEASURES

TITLE = "The open multi-label benchmark"
FIGURE_FORMATS = (".pdf", ".svg", ".png")
DOTS_PER_INCH = 200
MOST_LOST = 30


def write_benchmark(
    table: pd.DataFrame,
    out: str | os.PathLike[str],
    *,
    conditions: str = "",
    reference: str = "SPL-MLL",
) -> list[Path]:
    """Write the page, the figures and the table of a benchmark.

    Parameters
    ----------
    table : DataFrame
        Tidy results, as :func:`splmll.experiments.benchmark.frozen_results` returns them.
    out : path-like
        Folder.
    conditions : str, default=""
        How it was measured, in words.
    reference : str, default="SPL-MLL"
        The method that the others are held against.

    Returns
    -------
    files : list of Path
        ``benchmark.html``, ``results.csv.gz``, ``summary.txt`` and the figures.
    """
    out = Path(out)
    if reference not in set(table["method"]):
        raise ValueError(f"The table has no results of {reference!r}; name another reference.")
    out.mkdir(parents=True, exist_ok=True)
    files = [write_results(table, out / "results.csv.gz")]
    standing = Standing(table, reference=reference)
    files.append(out / "summary.txt")
    with atomic_write(files[-1]) as part:
        part.write_text(summary(standing) + "\n", "utf-8")
    figures = all_figures(standing)
    for name, (figure, _) in figures.items():
        for suffix in FIGURE_FORMATS:
            file = out / f"{name}{suffix}"
            with atomic_write(file) as part:
                figure.savefig(part, format=suffix[1:], dpi=DOTS_PER_INCH, bbox_inches="tight")
            files.append(file)
    sections = [
        Section(f"Where {reference} is not the best", _lost_parts(standing)),
        Section("Average ranks", [_figure(figures, "ranks"), _rank_table(standing)]),
    ]
    if "duels" in figures:
        sections.append(Section("Wins and losses", [_figure(figures, "duels")]))
    sections.append(Section("Accuracy and its price", [_figure(figures, "price")]))
    if "gains" in figures:
        sections.append(Section("Where landmarks pay", [_figure(figures, "gains")]))
    sections.append(Section("Every number", _number_parts(table, standing)))
    if (table["search"] == "grid").any():
        searched = Standing(table, search="grid", reference=reference)
        words = "Every method with the same search for settings inside the training rows."
        sections.append(Section("With a search", [Text(words), _rank_table(searched)]))
    sections.append(Section("How it was measured", _conditions(table, standing, conditions)))
    page = build_page(TITLE, sections, introduction=_lead(standing))
    return [write_page(out / "benchmark.html", page), *files]


def summary(standing: Standing) -> str:
    """Return the outcome in plain text, what is lost first.

    Parameters
    ----------
    standing : Standing
        The table that is summed up.

    Returns
    -------
    text : str
    """
    lost = standing.lost()
    n_cells = len(standing.ranks_by_cell)
    lines = [
        f"{standing.reference} is not the best on {len(lost)} of {n_cells} sets and measures "
        f"({len(standing.methods)} methods):"
    ]
    for line in lost.head(MOST_LOST).to_dict("records"):
        lines.append(
            f"  {line['data']}, {MEASURES[line['measure']].title}: rank {line['rank']:g}, "
            f"{line['value']:.4f}; {line['best']} has {line['best_value']:.4f}"
        )
    if len(lost) > MOST_LOST:
        lines.append(f"  ... and {len(lost) - MOST_LOST} more")
    if standing.reference == REFERENCE:
        lines += ["", "The goal, on what was run:"]
        goal = standing.goal().items()
        lines += [f"  {'yes' if held else 'no'}: {words}" for words, held in goal]
    lines += ["", f"Average ranks over {', '.join(standing.data)}:"]
    for name, rank in standing.average["all"].items():
        lines.append(f"  {rank:6.2f}  {name}")
    left = [name for name in SETS if name not in standing.data]
    if left:
        lines += ["", f"Not ranked, because too few methods were run there: {', '.join(left)}."]
    return "\n".join(lines)


def _lead(standing: Standing) -> str:
    average = standing.average["all"]
    best = average.index[0]
    words = (
        f"{len(standing.methods)} methods on {len(standing.data)} data sets. {best} has the best "
        f"average rank, {average.iloc[0]:.2f}."
    )
    if best != standing.reference:
        place = int((average < average[standing.reference]).sum()) + 1
        words += f" {standing.reference} is at place {place}, {average[standing.reference]:.2f}."
    return words


def _lost_parts(standing: Standing) -> list[Part]:
    lost = standing.lost()
    rows = [
        [
            line["data"],
            MEASURES[line["measure"]].title,
            f"{line['value']:.4f}",
            f"{line['rank']:g}",
            line["best"],
            f"{line['best_value']:.4f}",
        ]
        for line in lost.to_dict("records")
    ]
    header = ["data", "measure", standing.reference, "rank", "best method", "its value"]
    table = Table(header, rows, "Worst rank first. Labels by the rule that is tuned for all.")
    parts: list[Part] = [
        Text(
            f"On {len(lost)} of {len(standing.ranks_by_cell)} sets and measures another method is "
            "better."
        ),
        table if len(rows) <= MOST_LOST else Folded("All of them", [table]),
    ]
    if standing.reference == REFERENCE:
        goals = [
            [words.partition(": ")[0], words.partition(": ")[2], "yes" if held else "no"]
            for words, held in standing.goal().items()
        ]
        header = ["goal", "on what was run", "holds"]
        parts += [Heading("What we want of it"), Table(header, goals)]
    return parts


def _rank_table(standing: Standing) -> Table:
    average = standing.average
    shown = average.map(lambda rank: f"{rank:.2f}")
    best = {
        (row, column + 1)
        for column, name in enumerate(average.columns)
        for row, rank in enumerate(average[name])
        if rank == average[name].min()
    }
    titles = ["all", *(MEASURES[name].title for name in average.columns[1:])]
    reach = standing.critical_difference()
    words = f" Critical difference (Nemenyi, 5%): {reach:.2f}." if np.isfinite(reach) else ""
    return Table(
        ["method", *titles],
        [[str(name), *line] for name, line in zip(shown.index, shown.to_numpy())],
        f"Average rank over {', '.join(standing.data)}; what did not finish is ranked last.{words}",
        best,
    )


def _number_parts(table: pd.DataFrame, standing: Standing) -> list[Part]:
    """One folded table for each set: the five measures, labels by both rules, time and memory."""
    own = Standing(table, rule="own", search=standing.search, reference=standing.reference)
    parts: list[Part] = []
    memory = table.groupby(["data", "method"])["memory_mb"].max()
    for data in standing.attempted.index:
        there = [name for name, ran in standing.attempted.loc[data].items() if ran]
        values = standing.cells.loc[data, there]
        order = values.loc["average_precision"].sort_values(ascending=False).index
        failed = standing.unfinished[standing.unfinished["data"] == data]
        reasons = dict(zip(failed["method"], failed["status"].map(NOT_DONE)))
        rows = []
        for name in order:
            line = [_number(values.loc[measure, name]) for measure in PAPER_MEASURES]
            for measure in ("hamming_loss", "micro_f1", "macro_f1"):
                line.append(_number(own.cells.loc[(data, measure), name]))
            if name in reasons:
                line[0] = reasons[name]
            line += [f"{standing.seconds.loc[data, name]:.1f}", f"{memory[data, name]:.0f}"]
            rows.append([str(name), *line])
        titles = [f"{MEASURES[name].title} {MEASURES[name].arrow}" for name in PAPER_MEASURES]
        own_titles = ["own rule: Hamming ↓", "Micro-F1 ↑", "Macro-F1 ↑"]
        caption = "Sorted by average precision. Labels by the tuned rule, then by the method's own."
        header = ["method", *titles, *own_titles, "processor s", "MB"]
        parts.append(Folded(_set_words(data), [Table(header, rows, caption)]))
    return parts


def _set_words(data: str) -> str:
    if data not in SETS:
        return data
    known = SETS[data]
    return (
        f"{data}: {known.n_train:,} training and {known.n_test:,} test rows ({known.split} split), "
        f"{known.n_features:,} features, {known.n_labels:,} labels, {known.cardinality:.2f} of a "
        "row"
    )


def _conditions(table: pd.DataFrame, standing: Standing, conditions: str) -> list[Part]:
    parts: list[Part] = [Text(conditions)] if conditions else []
    plain = table[table["search"] == "none"]
    ran = plain.groupby("data")["method"].nunique()
    absent = [name for name in SETS if name not in ran.index]
    words = ", ".join(f"{name} {ran[name]}" for name in SETS if name in ran.index)
    parts.append(Text(f"Methods that were run on each set: {words}."))
    if absent:
        parts.append(Text(f"Not run yet: {', '.join(absent)}."))
    unfinished = standing.unfinished
    if len(unfinished):
        rows = [
            [line["data"], line["method"], NOT_DONE[line["status"]]]
            for line in unfinished.to_dict("records")
        ]
        parts.append(Folded("Cells that did not finish", [Table(["data", "method", "why"], rows)]))
    versions = table["versions"].value_counts()
    rows = [[str(words), str(count)] for words, count in versions.items()]
    parts.append(Folded("Versions", [Table(["versions", "lines of the table"], rows)]))
    return parts


def _figure(figures: Mapping[str, tuple[Any, str]], name: str) -> Figure:
    return Figure(*figures[name])


def _number(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:.4f}"
