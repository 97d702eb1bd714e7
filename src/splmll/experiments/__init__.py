"""Experiments: methods compared with everything else alike, the benchmark, the paper's tables.

The names below are what most people need; they load when they are asked for.
"""

from splmll.lazy import attach

_HOMES = {
    "Benchmark": "splmll.experiments.benchmark",
    "Experiment": "splmll.experiments.runner",
    "PROTOCOLS": "splmll.experiments.protocol",
    "Reproduction": "splmll.experiments.reproduce",
    "Search": "splmll.experiments.search",
    "Store": "splmll.experiments.store",
    "average_ranks": "splmll.experiments.statistics",
    "comparison_table": "splmll.experiments.tables",
    "difference_table": "splmll.experiments.differences",
    "friedman_test": "splmll.experiments.statistics",
    "frozen_results": "splmll.experiments.benchmark",
    "nemenyi_test": "splmll.experiments.statistics",
    "wilcoxon_test": "splmll.experiments.statistics",
    "write_report": "splmll.experiments.report",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = attach(__name__, _HOMES)
