"""The data sets of the benchmark and their sizes, from the cheapest to the dearest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BenchmarkSet:
    """What is known of one data set of the benchmark.

    Attributes
    ----------
    n_train, n_test, n_features, n_labels : int
        Sizes.
    cardinality : float
        Labels of an average training row.
    correlation : float
        Mean over the labels of the largest correlation with another label, in the training rows.
    split : str
        Where the test rows come from.
    """

    n_train: int
    n_test: int
    n_features: int
    n_labels: int
    cardinality: float
    correlation: float
    split: str = "standard"


_DRAWN = "drawn, seed 0"
#: The data sets from the cheapest to the dearest.
SETS: dict[str, BenchmarkSet] = {
    "flags": BenchmarkSet(129, 65, 43, 7, 3.42, 0.327),
    "emotions": BenchmarkSet(391, 202, 72, 6, 1.81, 0.489),
    "birds": BenchmarkSet(322, 323, 271, 19, 1.06, 0.216),
    "genbase": BenchmarkSet(463, 199, 1185, 27, 1.26, 0.460),
    "cal500": BenchmarkSet(334, 168, 68, 174, 26.08, 0.468, _DRAWN),
    "scene": BenchmarkSet(1211, 1196, 294, 6, 1.06, 0.227),
    "yeast": BenchmarkSet(1500, 917, 103, 14, 4.23, 0.614),
    "bibtex": BenchmarkSet(4880, 2515, 1836, 159, 2.38, 0.310),
    "reuters": BenchmarkSet(7770, 3019, 15165, 90, 1.23, 0.300),
    "corel5k": BenchmarkSet(4500, 499, 1000, 260, 3.38, 0.318),
    "tmc2007": BenchmarkSet(21519, 7077, 500, 22, 2.23, 0.232),
    "iaprtc12-densehue": BenchmarkSet(13084, 6543, 100, 291, 5.72, 0.263, _DRAWN),
    "espgame-densehue": BenchmarkSet(13846, 6924, 100, 268, 4.69, 0.268, _DRAWN),
    "delicious": BenchmarkSet(12920, 3185, 500, 983, 19.05, 0.461),
    "imdb": BenchmarkSet(16666, 8334, 1001, 28, 1.99, 0.188, "25,000 rows drawn, seed 0"),
    "goemotions": BenchmarkSet(43410, 5427, 58338, 28, 1.18, 0.111),
}
#: Those on which every method also gets a search for settings.
SMALLEST = ("flags", "emotions", "birds", "genbase", "cal500", "scene")
