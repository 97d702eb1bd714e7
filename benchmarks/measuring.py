"""What all benchmarks share: timing by turns, peak memory, slopes, findings and the command.

A script has one function ``measure(quick)`` that yields findings; :func:`main` makes a command of
it. Times are CPU seconds of one thread, which other work on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import scipy
import sklearn
import torch
from threadpoolctl import threadpool_limits

from splmll.atomic import atomic_write


@dataclass(frozen=True)
class Finding:
    """One measured number.

    Parameters
    ----------
    case : str
        What was measured.
    value : float or None
        The number; None where it could not be measured, and ``details["note"]`` says why.
    unit : str
        What the number counts.
    low, high : float or None
        The range that the number should lie in.
    details : dict
        What it was computed from.
    """

    case: str
    value: float | None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the number lies in its range; None where there is no number or no range."""
        if self.value is None or (self.low is None and self.high is None):
            return None
        return (self.low is None or self.value >= self.low) and (
            self.high is None or self.value <= self.high
        )

    @property
    def target(self) -> str:
        """The range in words."""
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"at least {self.low:g}"
        return "" if self.high is None else f"at most {self.high:g}"

    def line(self) -> str:
        """Return the finding as one line to print."""
        if self.value is None:
            return f"{self.case:62} not measured: {self.details.get('note', 'no reason given')}"
        verdict = (
            "" if self.met is None else f"  ({self.target}: {'met' if self.met else 'MISSED'})"
        )
        return f"{self.case:62}{self.value:11,.4g} {self.unit}{verdict}"


def missing(case: str, package: str) -> Finding:
    """Return the finding for a peer that is not installed."""
    return Finding(case, None, details={"note": f'no {package}; pip install "{package}"'})


def by_turns(
    calls: Mapping[str, Callable[[], Any]],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, list[float]]:
    """Call all by turns and return the times of each, so that a busy moment meets them alike."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    for _ in range(repeats):
        for name, call in calls.items():
            start = clock()
            call()
            times[name].append(clock() - start)
    return times


def median_ratio(times: Mapping[str, Sequence[float]], name: str, beside: str) -> float:
    """Return the median over the turns of one call's time over another's."""
    return float(np.median(np.divide(times[name], times[beside])))


def best(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the shortest time of each call."""
    return {name: min(found) for name, found in times.items()}


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of the line through log cost against log size."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def in_own_process(
    module: str, function: str, *, quick: bool = False, **arguments: Any
) -> dict[str, Any]:
    """Run ``function(**arguments)`` of a module of benchmarks in a process of its own.

    The function prepares its input and returns the work to be measured, which may return a dict.
    A quick run stays in this process: starting others takes longer than all of its work.

    Returns
    -------
    measured : dict
        ``peak_bytes`` of resident memory during the work, ``before_bytes`` when it began,
        ``seconds`` of CPU time, and what the work returned.
    """
    if quick:
        return measured_work(module, function, arguments)
    command = [sys.executable, "-m", "benchmarks.measuring", module, function]
    done = subprocess.run(
        [*command, json.dumps(arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{module}.{function}({arguments}) failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measured_work(module: str, function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Prepare and run the work in this process and return its time and peak memory."""
    with one_thread():
        work = getattr(importlib.import_module(f"benchmarks.{module}"), function)(**arguments)
        gc.collect()
        before = psutil.Process().memory_info().rss
        _forget_peak()
        start = time.process_time()
        returned = work()
        seconds = time.process_time() - start
    found = returned if isinstance(returned, dict) else {}
    return {"before_bytes": before, "peak_bytes": _peak(), "seconds": seconds, **found}


def allocate(megabytes: int) -> Callable[[], dict[str, Any]]:
    """The smallest work there is, for a check of the measuring itself: fill some memory."""
    if megabytes < 0:
        raise ValueError("megabytes must be 0 or more.")
    return lambda: {"touched": int(np.ones((megabytes, 2**20), dtype=np.uint8)[:, 0].sum())}


def _forget_peak() -> None:
    # Linux remembers the largest resident size; writing 5 here begins anew from the present one.
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for BLAS, OpenMP and torch, for both sides of every comparison."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)


def machine() -> dict[str, Any]:
    """Return what the benchmarks ran on."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "load_average": os.getloadavg(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "torch": torch.__version__,
    }


def show(findings: Iterable[Finding], quick: bool) -> list[dict[str, Any]]:
    """Print findings as they come and return them as plain rows."""
    rows = []
    for finding in findings:
        if quick:  # tiny sizes say nothing about a target
            finding = replace(finding, low=None, high=None)
        print(finding.line(), flush=True)
        rows.append({**asdict(finding), "target": finding.target, "met": finding.met})
    return rows


def write_json(content: Any, path: Path) -> None:
    """Write one JSON file, whole or not at all."""
    with atomic_write(path) as part:
        part.write_text(json.dumps(content, indent=1))


def end_with_table(lines: Sequence[Mapping[str, Any]], out: Path | None) -> None:
    """Print lines that were measured as one table, and write them as JSON on request."""
    print(pd.DataFrame(lines).round(4).to_string(index=False))
    if out is not None:
        write_json(lines, out)


def main(measure: Callable[[bool], Iterable[Finding]], description: str) -> None:
    """Make a command of one script: ``--quick`` and ``--out``."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run at all?")
    parser.add_argument("--out", type=Path, default=None, help="write JSON here")
    options = parser.parse_args()
    with one_thread():
        rows = show(measure(options.quick), options.quick)
    if options.out:
        write_json({"machine": machine(), "findings": rows}, options.out)


if __name__ == "__main__":
    print(json.dumps(measured_work(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))))
