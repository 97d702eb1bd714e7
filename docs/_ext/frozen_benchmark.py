"""The page of the open benchmark, made from the frozen results while the documentation is built.

What ``splmll benchmark`` writes into its own page becomes Markdown, which ``benchmark.md``
includes: the losses first, then the rest. So the documentation cannot say anything that the table
does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from splmll.experiments import frozen_results
from splmll.experiments.benchmark import Benchmark
from splmll.experiments.benchmark.analysis import main_standing
from splmll.experiments.benchmark.figures import all_figures
from splmll.experiments.benchmark.page import benchmark_sections, lead
from splmll.experiments.report.page import Figure, Folded, Heading, Part, Table, Text

FOLDER = "generated"


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the page before anything is read."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / FOLDER))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(folder: Path) -> None:
    """Write ``losses.md``, ``benchmark.md`` and the figures."""
    folder.mkdir(exist_ok=True)
    table = frozen_results()
    standing = main_standing(table)
    figures = all_figures(standing)
    main, searched = (Benchmark(folder, searched=each, known=table) for each in (False, True))
    price = [
        "## What it costs",
        "",
        f"The main table has {main.price(2)}; the table with a search has {searched.price(2)}.",
    ]
    losses, *others = (
        [f"## {section.title}", ""]
        + [line for part in section.parts for line in (*_markdown(part, folder, figures), "")]
        for section in benchmark_sections(table, standing, figures)
    )
    _keep(folder / "losses.md", "\n".join([lead(standing), "", *losses]))
    _keep(folder / "benchmark.md", "\n".join([*chain(*others), *price]))


def _markdown(part: Part, folder: Path, figures: dict[str, tuple[Any, str]]) -> Sequence[str]:
    if isinstance(part, Text):
        return [part.words]
    if isinstance(part, Heading):
        return [f"**{part.words}**"]
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Folded):
        inner = [line for each in part.parts for line in (*_markdown(each, folder, figures), "")]
        return [f":::{{dropdown}} {part.title}", *inner, ":::"]
    if isinstance(part, Figure):
        name = next(name for name, (figure, _) in figures.items() if figure is part.figure)
        part.figure.savefig(folder / f"{name}.png", dpi=140, bbox_inches="tight")
        return [
            f"```{{figure}} {FOLDER}/{name}.png",
            f":alt: {part.caption}",
            "",
            part.caption,
            "```",
        ]
    raise TypeError(f"no Markdown for {type(part).__name__}")


def _table(part: Table) -> list[str]:
    rows = [
        [f"**{cell}**" if (row, column) in part.best else cell for column, cell in enumerate(cells)]
        for row, cells in enumerate(part.rows)
    ]
    lines = [list(part.header), ["---"] * len(part.header), *rows]
    return [part.caption, "", *(f"| {' | '.join(line)} |" for line in lines)]


def _keep(path: Path, text: str) -> None:
    """Write a file unless it says that already: what did not change is not built again."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
