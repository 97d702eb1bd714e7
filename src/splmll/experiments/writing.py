"""Results as files: tables in all formats, figures, and all that belongs to a comparison."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from splmll.atomic import atomic_write
from splmll.experiments.published import published
from splmll.experiments.report import write_report
from splmll.experiments.statistics import fair_ranks, friedman_test, nemenyi_test, wilcoxon_test
from splmll.experiments.table_format import FormattedTable
from splmll.experiments.tables import comparison_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE_FORMATS: dict[str, Callable[[FormattedTable], str]] = {
    ".txt": FormattedTable.to_text,
    ".md": FormattedTable.to_markdown,
    ".tex": FormattedTable.to_latex,
    ".html": FormattedTable.to_html,
}
FIGURE_FORMATS = (".png", ".svg")
DOTS_PER_INCH = 130


def write_comparison(
    results: pd.DataFrame, out: str | os.PathLike[str]
) -> tuple[FormattedTable, list[Path]]:
    """Write the table, the ranks and tests, the runs themselves and the report of an experiment.

    Return the table and the files.
    """
    out = Path(out)
    table = comparison_table(results, published=published())
    files = write_table(table, out / "table")
    runs = out / "results.csv"
    with atomic_write(runs) as part:
        results.to_csv(part, index=False)
    ranks = write_text(out / "ranks.txt", ranks_and_tests(results))
    report = write_report(results, out / "report.html", published=published())
    return table, [*files, runs, ranks, report]


def ranks_and_tests(results: pd.DataFrame) -> str:
    """Return average ranks and what the tests say of them, a paragraph each.

    The runs are those of one protocol. A test that needs more methods or data sets says so.
    """
    ranks = fair_ranks(results)
    if ranks is None:
        return "No method has all results on any data set, so there is nothing to rank.\n"
    paragraphs = [ranks.describe()]
    for test in (friedman_test, nemenyi_test, wilcoxon_test):
        try:
            paragraphs.append(test(ranks).describe())
        except ValueError as too_few:
            paragraphs.append(str(too_few))
    return "\n\n".join(paragraphs) + "\n"


def write_table(table: FormattedTable, stem: Path) -> list[Path]:
    """Write a table as text, Markdown, LaTeX and HTML; `stem` is the files without their suffix."""
    return [
        write_text(stem.with_name(stem.name + suffix), write(table) + "\n")
        for suffix, write in TABLE_FORMATS.items()
    ]


def write_figure(figure: Figure, caption: str, stem: Path) -> list[Path]:
    """Write a figure as PNG and SVG, its caption beside it, and close it."""
    import matplotlib.pyplot as plt

    files = [stem.with_name(stem.name + suffix) for suffix in FIGURE_FORMATS]
    for file in files:
        with atomic_write(file) as part:
            figure.savefig(part, dpi=DOTS_PER_INCH)
    plt.close(figure)
    return [*files, write_text(stem.with_name(stem.name + ".txt"), caption + "\n")]


def write_text(path: Path, text: str) -> Path:
    """Write a text file at once."""
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")
    return path
