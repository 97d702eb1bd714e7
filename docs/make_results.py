"""Write Table 2 of a store of ``splmll reproduce`` into the docs: ``docs/make_results.py STORE``.

Tables, ranks, tests and costs go between the marks in docs/results.md; the words around them stay.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd

from splmll.experiments.published import published
from splmll.experiments.reproduce import TABLE_2_METHODS
from splmll.experiments.store import Store
from splmll.experiments.tables import comparison_table
from splmll.experiments.writing import ranks_and_tests
from splmll.metrics import PAPER_MEASURES

ROOT = Path(__file__).resolve().parent.parent
DATA = ["emotions", "scene", "yeast", "tmc2007"]
START, END = "<!-- table2:start -->", "<!-- table2:end -->"

OPENING = """{seeds} seeds where a method draws anything, one run where it does not. {units} units,
{failed}.
"""


def tables(results: pd.DataFrame) -> str:
    """Return one Markdown table per data set, the common part of their captions once at the end."""
    parts = []
    for name in _present(results):
        of_data = results[results["data"] == name]
        table = comparison_table(of_data, PAPER_MEASURES, published())
        body, caption = table.to_markdown().rsplit("\n\n", 1)
        parts.append(f"**{name}**\n\n{body}")
    _, _, conditions = caption.partition(". ")
    return "\n\n".join([*parts, conditions.strip()])


def costs(results: pd.DataFrame) -> str:
    """Return mean seconds of a fit and the peak memory of its process, per data set."""
    done = results[results["status"] == "done"]
    by_method = done.groupby(["method", "data"])[["fit_seconds", "peak_memory_mb"]].mean()
    names = _present(results)
    lines = [f"| method | {' | '.join(names)} |", "| --- " * (len(names) + 1) + "|"]
    for method in TABLE_2_METHODS:
        cells = []
        for name in names:
            if (method, name) not in by_method.index:
                cells.append("-")
                continue
            seconds, megabytes = by_method.loc[(method, name)]
            cells.append(f"{seconds:,.1f} s, {megabytes:,.0f} MB")
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(results: pd.DataFrame) -> str:
    """Return what stands between the marks."""
    failed = results[results["status"] != "done"]
    opening = OPENING.format(
        seeds=results["seed"].nunique(),
        units=len(results),
        failed="none failed" if failed.empty else f"{len(failed)} not done (said in the tables)",
    )
    versions = json.loads(results["versions"].iloc[-1])
    host = json.loads(results["host"].iloc[-1])
    machine = (
        f"{', '.join(f'{name} {version}' for name, version in versions.items())}; "
        f"{host['cores']} cores of {host['processor']}, {host['memory_mb'] / 1024:.0f} GB"
    )
    return "\n".join(
        [
            opening,
            tables(results),
            "",
            "**Ranks and tests**",
            "",
            ranks_and_tests(results),
            "**What they cost**",
            "",
            "Seconds of one fit (two units at a time on two cores, beside other work: read them as "
            "orders of magnitude) and the peak memory of its process, which holds the data and the "
            "libraries as well.",
            "",
            costs(results),
            "",
            f"Run with {machine}.",
        ]
    )


def _present(results: pd.DataFrame) -> list[str]:
    return [name for name in DATA if name in set(results["data"])]


def _complete(results: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on data sets on which every method has run."""
    n_methods = results.groupby("data")["method"].nunique()
    return results[results["data"].map(n_methods) == len(TABLE_2_METHODS)]


def main() -> None:
    """Write the marked part of the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", help="folder of the store")
    results = Store(parser.parse_args().store).results()
    results = results[
        (results["protocol"] == "held-out")
        & results["data"].isin(DATA)
        & results["method"].isin(TABLE_2_METHODS)
    ]
    results = _complete(results)
    target = ROOT / "docs" / "results.md"
    before, _, rest = target.read_text("utf-8").partition(START)
    _, _, after = rest.partition(END)
    target.write_text(f"{before}{START}\n{page(results)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
