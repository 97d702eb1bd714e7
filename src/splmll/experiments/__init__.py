"""Experiments: methods compared with everything else alike, the benchmark, the paper's tables.

The names below are what most people need; they load when they are asked for.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Benchmark": "benchmark",
    "Experiment": "runner",
    "PROTOCOLS": "protocol",
    "Reproduction": "reproduce",
    "Search": "search",
    "Store": "store",
    "average_ranks": "statistics",
    "comparison_table": "tables",
    "difference_table": "differences",
    "friedman_test": "statistics",
    "frozen_results": "benchmark",
    "nemenyi_test": "statistics",
    "wilcoxon_test": "statistics",
    "write_report": "report",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
