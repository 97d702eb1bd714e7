"""The benchmark's page and figures: losses first, then ranks, duels, cost and gains.

:func:`write_benchmark` writes them into a folder; a table of results is all it needs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from splmll.atomic import atomic_write
from splmll.experiments.benchmark.analysis import REFERENCE, Standing, main_standing
from splmll.experiments.benchmark.figures import all_figures
from splmll.experiments.benchmark.frozen import LEFT_OUT, write_results
from splmll.experiments.benchmark.sets import SETS, SMALLEST
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
from splmll.words import counted

TITLE = "The open multi-label benchmark"
FIGURE_FORMATS = (".pdf", ".svg", ".png")
DOTS_PER_INCH = 200
MOST_LOST = 30  # in the printed summary
FEW_LOST = 12  # more are folded away on the page
RULES = ("tuned", "own")
WHY_NOT = {**NOT_DONE, LEFT_OUT: "left out: far too slow"}


def write_benchmark(
    table: pd.DataFrame,
    out: str | os.PathLike[str],
    *,
    conditions: str = "",
    reference: str | None = None,
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
    reference : str, optional
        The method that the others are held against; by default SPL-MLL, or the best of those that
        were run.

    Returns
    -------
    files : list of Path
        ``benchmark.html``, ``results.csv.gz``, ``summary.txt`` and the figures.
    """
    out = Path(out)
    standing = main_standing(table, reference)
    out.mkdir(parents=True, exist_ok=True)
    files = [write_results(table, out / "results.csv.gz")]
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
    sections = benchmark_sections(table, standing, figures, conditions)
    page = build_page(TITLE, sections, introduction=lead(standing))
    return [write_page(out / "benchmark.html", page), *files]


def benchmark_sections(
    table: pd.DataFrame,
    standing: Standing,
    figures: Mapping[str, tuple[Any, str]],
    conditions: str = "",
) -> list[Section]:
    """Return what the page says, in order; the documentation shows the same.

    Parameters
    ----------
    table : DataFrame
        Tidy results.
    standing : Standing
        Of this table.
    figures : mapping of str to (Figure, str)
        As :func:`splmll.experiments.benchmark.figures.all_figures` draws them.
    conditions : str, default=""
        How it was measured, in words.

    Returns
    -------
    sections : list of Section
    """
    sections = [
        Section(f"Where {standing.reference} is not the best", _lost_parts(standing)),
        Section(
            "Average ranks",
            [_figure(figures, "ranks"), _rank_table(standing), *map(Text, missing(standing))],
        ),
    ]
    if "duels" in figures:
        sections.append(Section("Wins and losses", [_figure(figures, "duels")]))
    sections.append(Section("Accuracy and cost", [_figure(figures, "cost")]))
    if "gains" in figures:
        parts = [_figure(figures, "gains"), _gain_table(standing)]
        sections.append(Section("Where landmarks pay off", parts))
    sections.append(Section("Every number", _number_parts(table, standing)))
    with_search = table[table["search"] == "grid"]
    if standing.search == "none" and len(with_search):
        searched = main_standing(with_search)
        words = "Every method has the same search for settings, inside the training rows."
        told = [Text(words), _rank_table(searched), *map(Text, missing(searched))]
        sections.append(Section("With a search", told))
    sections.append(Section("How it was measured", _conditions(table, standing, conditions)))
    return sections


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
    where = (
        f"of {n_cells} combinations of data set and measure, "
        f"among {counted(len(standing.methods), 'method')}"
    )
    lines = [f"{standing.reference} is not the best in {len(lost)} {where}:"]
    if lost.empty:
        lines = [f"{standing.reference} is the best in all {where}."]
    for line in lost.head(MOST_LOST).to_dict("records"):
        lines.append(
            f"  {line['data']}, {MEASURES[line['measure']].title}: rank {line['rank']:g}, "
            f"{line['value']:.4f}; {line['best']} has {line['best_value']:.4f}"
        )
    if len(lost) > MOST_LOST:
        lines.append(f"  ... and {len(lost) - MOST_LOST} more")
    if standing.reference == REFERENCE:
        lines += ["", "Goals:"]
        for goal in standing.goals():
            lines += [f"  {goal.wanted}:", f"    {goal.verdict}: {goal.found}"]
    lines += ["", f"Average ranks over {', '.join(standing.data)}:"]
    for name, rank in standing.average["all"].items():
        lines.append(f"  {rank:6.2f}  {name}")
    gaps = missing(standing)
    return "\n".join([*lines, *([""] if gaps else []), *gaps])


def missing(standing: Standing) -> list[str]:
    """Return in plain words what a partial table lacks, and which methods are not ranked.

    Parameters
    ----------
    standing : Standing
        The table.

    Returns
    -------
    sentences : list of str
        None where nothing is missing.
    """
    ran = standing.attempted.sum(axis=1)
    usual = SETS if standing.search == "none" else SMALLEST
    never = [name for name in usual if name not in ran.index]
    few = [f"{name} ({ran[name]})" for name in ran.index if name not in standing.data]
    unranked = [f"{name} (lacks {', '.join(sets)})" for name, sets in standing.gaps.items()]
    told = (
        ("Not run yet", never),
        ("Not ranked, because too few methods were run there", few),
        ("Not ranked, because they were not run on all these data sets", unranked),
    )
    return [f"{words}: {', '.join(names)}." for words, names in told if names]


def lead(standing: Standing) -> str:
    """Return the outcome in one sentence or two."""
    words = (
        f"{counted(len(standing.methods), 'method')} on {counted(len(standing.data), 'data set')}."
    )
    if standing.reference == REFERENCE:
        found = "; ".join(goal.found for goal in standing.goals())
        return f"{words} {standing.reference}: {found}."
    average = standing.average["all"]
    return f"{words} {average.index[0]} has the best average rank, {average.iloc[0]:.2f}."


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
    table = Table(header, rows, "Worst rank first, under the tuned rule.")
    n_cells = len(standing.ranks_by_cell)
    parts: list[Part] = [
        Text(
            f"Another method is better in {len(rows)} of {n_cells} combinations of data set and "
            "measure."
        ),
        table if len(rows) <= FEW_LOST else Folded(f"All {len(rows)}", [table]),
    ]
    if standing.reference == REFERENCE:
        parts.append(Heading("Goals"))
        header = ["goal", "", "found"]
        rows = [[goal.wanted, goal.verdict, goal.found] for goal in standing.goals()]
        parts.append(Table(header, rows))
    if len(standing.methods) > 1:
        parts += [Heading("Under other conditions"), _conditions_table(standing)]
    return parts


def _conditions_table(standing: Standing) -> Table:
    """Say which place the reference has with other rows of the table, and under both rules."""
    rows = []
    for words, each in {"as above": standing, **standing.otherwise()}.items():
        for rule in RULES:
            ranked = replace(each, rule=rule)
            average = ranked.average["all"]
            others = average.drop(ranked.reference)
            rows.append(
                [
                    words,
                    rule,
                    str(len(average)),
                    str(len(ranked.data)),
                    f"{average[ranked.reference]:.2f}",
                    str(ranked.place),
                    str(others.index[0]),
                    f"{others.iloc[0]:.2f}",
                ]
            )
    who = standing.reference
    header = ["ranked", "rule", "methods", "data sets", who, "place", "best other", "its rank"]
    return Table(header, rows, "Average rank over all measures, under either rule.")


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
        f"Average rank over {', '.join(standing.data)}. Cells that did not finish are ranked last."
        f"{words}",
        best,
    )


def _gain_table(standing: Standing) -> Table:
    measures = ("ranking_loss", "average_precision", "micro_f1", "macro_f1")
    gains = {name: standing.gains(name) for name in measures}
    rows = [
        [
            data,
            *(
                f"{_number(of.loc[data, 'alone'])} {_number(of.loc[data, 'with_landmarks'])}"
                for of in gains.values()
            ),
        ]
        for data in gains["average_precision"].sort_values("gain", ascending=False).index
    ]
    header = ["data", *(f"{MEASURES[name].title} {MEASURES[name].arrow}" for name in measures)]
    caption = (
        "SPL-MLL with every label alone, then with landmarks: the same embedding and the same "
        "defaults, under the tuned rule. The largest gain in average precision comes first."
    )
    return Table(header, rows, caption)


def _number_parts(table: pd.DataFrame, standing: Standing) -> list[Part]:
    """One folded table for each data set: the measures under both rules, time and memory."""
    own = Standing(table, rule="own", search=standing.search, reference=standing.reference)
    parts: list[Part] = []
    memory = table.groupby(["data", "method"])["memory_mb"].max()
    for data in standing.attempted.index:
        there = [name for name, ran in standing.attempted.loc[data].items() if ran]
        values = standing.cells.loc[data, there]
        order = values.loc["average_precision"].sort_values(ascending=False).index
        failed = standing.unfinished[standing.unfinished["data"] == data]
        reasons = dict(zip(failed["method"], failed["status"].map(WHY_NOT)))
        rows = []
        for name in order:
            line = [_number(values.loc[measure, name]) for measure in PAPER_MEASURES]
            for measure in ("hamming_loss", "micro_f1", "macro_f1"):
                line.append(_number(own.cells.loc[(data, measure), name]))
            if name in reasons:
                line[0] = reasons[name]
            line += [_number(standing.seconds.loc[data, name], 1), _number(memory[data, name], 0)]
            rows.append([str(name), *line])
        titles = [f"{MEASURES[name].title} {MEASURES[name].arrow}" for name in PAPER_MEASURES]
        own_titles = ["own rule: Hamming loss ↓", "Micro-F1 ↑", "Macro-F1 ↑"]
        caption = "By average precision. Labels under the tuned rule, then under the method's own."
        header = ["method", *titles, *own_titles, "CPU s", "MB"]
        parts.append(Folded(_set_words(data, table), [Table(header, rows, caption)]))
    return parts


def _set_words(data: str, table: pd.DataFrame) -> str:
    if data not in SETS:
        return data
    known = SETS[data]
    # A quick look takes fewer rows than there are.
    n_train, n_test = (
        int(table.loc[table["data"] == data, n].max()) for n in ("n_train", "n_test")
    )
    return (
        f"{data}: {n_train:,} training and {n_test:,} test rows ({known.split} split), "
        f"{known.n_features:,} features, {known.n_labels:,} labels, {known.cardinality:.2f} per "
        "row"
    )


def _conditions(table: pd.DataFrame, standing: Standing, conditions: str) -> list[Part]:
    parts: list[Part] = [Text(conditions)] if conditions else []
    ran = standing.attempted.sum(axis=1)
    words = ", ".join(f"{name} {count}" for name, count in ran.items())
    parts.append(Text(f"Number of methods run on each data set: {words}."))
    unfinished = standing.unfinished
    if len(unfinished):
        rows = [
            [line["data"], line["method"], WHY_NOT[line["status"]]]
            for line in unfinished.to_dict("records")
        ]
        parts.append(Folded("Cells that did not finish", [Table(["data", "method", "why"], rows)]))
    versions = table["versions"].value_counts()
    rows = [[str(words), str(count)] for words, count in versions.items()]
    parts.append(Folded("Versions", [Table(["versions", "rows of the table"], rows)]))
    return parts


def _figure(figures: Mapping[str, tuple[Any, str]], name: str) -> Figure:
    return Figure(*figures[name])


def _number(value: float, digits: int = 4) -> str:
    return "-" if pd.isna(value) else f"{value:.{digits}f}"
