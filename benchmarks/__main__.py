"""Measure speed and scale, one script after the other: ``python -m benchmarks`` or ``make bench``.

All numbers go to one JSON file. The scripts on accuracy take hours and are run by themselves:
``python -m benchmarks.landmark_quality``, ``label_space_curves``, ``landmark_selection`` and
``never_worse``.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from benchmarks import SCRIPTS
from benchmarks.measuring import machine, one_thread, show, write_json


def run(names: list[str], quick: bool, out: Path) -> list[str]:
    """Run scripts, write what they found after each, and return those that failed."""
    results: dict[str, Any] = {"machine": machine(), "quick": quick, "scripts": {}}
    failed = []
    for name in names:
        print(f"\n== {name}", flush=True)
        start = time.perf_counter()
        try:
            # A peer that is missing altogether stops one script, not all.
            module = importlib.import_module(f"benchmarks.{name}")
            with one_thread():
                rows = show(module.measure(quick), quick)
        except Exception:
            traceback.print_exc()
            failed.append(name)
            continue
        results["scripts"][name] = {"seconds": time.perf_counter() - start, "findings": rows}
        write_json(results, out)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scripts", nargs="*", metavar="script", help="which ones; all by default")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks.json"))
    options = parser.parse_args()
    unknown = sorted(set(options.scripts) - set(SCRIPTS))
    if unknown:
        parser.error(f"no script {', '.join(unknown)}; there are {', '.join(SCRIPTS)}")
    failed = run(options.scripts or list(SCRIPTS), options.quick, options.out)
    print(f"\nwritten to {options.out}")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
