"""How long ``import splmll`` and ``splmll --help`` take, beside ``import sklearn``.

Each runs in a process of its own, by turns; the start of Python alone is taken off. Times are
CPU seconds of the children.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from benchmarks.measuring import Finding, main

REPEATS = 5
PEER = "import sklearn"
COMMANDS = {
    "Python alone": ["-c", "pass"],
    PEER: ["-c", "import sklearn"],
    "import splmll": ["-c", "import splmll"],
    "from splmll import SPLMLL": ["-c", "from splmll import SPLMLL"],
    "splmll --help": ["-m", "splmll", "--help"],
}
# Seconds that these should stay below on an ordinary machine.
LIMITS = {"import splmll": 0.3, "splmll --help": 0.5}


def _seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(quick: bool) -> Iterator[Finding]:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(1 if quick else REPEATS):
        for name, arguments in COMMANDS.items():
            times[name].append(_seconds(arguments))
    taken = {name: median(found) for name, found in times.items()}
    start = taken["Python alone"]
    for name in list(COMMANDS)[2:]:
        yield Finding(
            f"{name}, beside {PEER}",
            (taken[name] - start) / max(taken[PEER] - start, 1e-3),
            "of its time",
            details={"seconds": taken[name] - start, "limit": LIMITS.get(name)},
        )


if __name__ == "__main__":
    main(measure, __doc__)
