"""Write the measured numbers into the documentation: ``python -m benchmarks.tables``.

It reads the JSON file of a full run and fills the marked parts of ``docs/benchmarks.md`` and
``docs/howto/cluster.md``; the words around them stay as they are.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks import SCALE
from benchmarks.past_one_machine import N_ROWS
from splmll.atomic import atomic_write

DOCS = Path(__file__).parent.parent / "docs"


def machine_line(results: dict[str, Any]) -> str:
    """Return what the numbers were measured on."""
    on = results["machine"]
    versions = ", ".join(
        f"{name} {on[name]}" for name in ("numpy", "scipy", "scikit-learn", "torch")
    )
    return (
        f"Measured on {on['processor']}, {on['cores']} cores, "
        f"{on['memory_bytes'] / 2**30:.0f} GiB, one thread; Python {on['python']}, {versions}; "
        f"load average {on['load_average'][0]:.1f} at the start."
    )


def scale_table(results: dict[str, Any]) -> str:
    """Return all findings on speed and scale as one Markdown table."""
    lines = ["| measured | value | target | |", "| --- | --- | --- | --- |"]
    for name in SCALE:
        for row in results["scripts"].get(name, {}).get("findings", []):
            if row["value"] is None:
                lines.append(f"| {row['case']} | not measured: {row['details']['note']} | | |")
                continue
            digits = ",.0f" if abs(row["value"]) >= 1000 else ".3g"
            value = f"{row['value']:{digits}} {row['unit']}".strip()
            verdict = {None: "", True: "met", False: "missed"}[row["met"]]
            lines.append(f"| {row['case']} | {value} | {row['target']} | {verdict} |")
    return "\n".join(lines)


def plan_table(results: dict[str, Any]) -> str:
    """Return the computed costs on many workers, and what they were computed from."""
    rows = results["scripts"]["past_one_machine"]["findings"]
    rates = rows[0]["details"]
    plans = [row["details"] for row in rows if "workers" in row["details"]]
    lines = [
        f"One worker sums {rates['rows_per_second']:,.0f} rows a second and hands on "
        f"{rates['fixed_bytes'] / 2**20:,.0f} MiB, and up to {rows[2]['value']:,.0f} MiB more of "
        f"label pairs as rows become many. It adds another's at "
        f"{1e-9 / rates['add_seconds_per_byte']:.2g} GB a second.",
        "",
        f"| workers | pass over {N_ROWS:,} rows | levels | sent in all | reduction | together |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for plan in plans:
        together = plan["pass_seconds"] + plan["reduce_seconds"]
        lines.append(
            f"| {plan['workers']:,} | {_duration(plan['pass_seconds'])} | {plan['levels']} | "
            f"{plan['sent_bytes'] / 2**30:,.0f} GiB | {_duration(plan['reduce_seconds'])} | "
            f"{_duration(together)} |"
        )
    lines += ["", f"Beyond about {rows[-1]['value']:,.0f} workers reducing takes longer."]
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def fill(page: Path, mark: str, text: str) -> None:
    """Replace what stands between ``<!-- mark:start -->`` and ``<!-- mark:end -->``."""
    start, end = f"<!-- {mark}:start -->", f"<!-- {mark}:end -->"
    before, rest = page.read_text().split(start)
    after = rest.split(end)[1]
    with atomic_write(page) as part:
        part.write_text(f"{before}{start}\n{text}\n{end}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", default=Path("out/benchmarks.json"))
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the pages")
    options = parser.parse_args()
    results = json.loads(options.results.read_text())
    if results["quick"]:
        parser.error(f"{options.results} is from a quick run: its numbers mean nothing.")
    line = machine_line(results)
    fill(options.docs / "benchmarks.md", "scale", f"{line}\n\n{scale_table(results)}")
    if "past_one_machine" in results["scripts"]:
        fill(options.docs / "howto" / "cluster.md", "plan", f"{line}\n\n{plan_table(results)}")


if __name__ == "__main__":
    main()
