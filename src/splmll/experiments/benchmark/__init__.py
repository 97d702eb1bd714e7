"""The open benchmark: run it, load its frozen results, and write its page."""

from splmll.experiments.benchmark.frozen import frozen_results
from splmll.experiments.benchmark.sets import SETS
from splmll.experiments.benchmark.suite import Benchmark, benchmark_methods

__all__ = ["SETS", "Benchmark", "benchmark_methods", "frozen_results"]
