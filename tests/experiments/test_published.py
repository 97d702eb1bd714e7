"""The printed numbers are complete, and are those of the paper."""

from __future__ import annotations

import pytest

from splmll.experiments.published import published
from splmll.metrics import MEASURES


def test_every_row_of_every_table() -> None:
    numbers = published()
    counts = numbers.groupby(["table", "data"])["method"].nunique()
    assert counts[2].to_dict() == dict.fromkeys(
        ["emotions", "espgame", "scene", "tmc2007", "yeast"], 12
    )
    assert counts[3].to_dict() == {"espgame": 11, "tmc2007": 11}
    assert counts[4].to_dict() == {"pascal07": 6}
    assert not numbers.duplicated(["table", "data", "method", "measure"]).any()
    assert set(numbers["measure"]) <= set(MEASURES)
    assert numbers["mean"].between(0.01, 0.95).all()
    assert numbers["std"].between(0, 0.11).all()


def test_the_two_tables_agree_where_they_repeat_a_number() -> None:
    mean = published().set_index(["table", "data", "method", "measure"])["mean"]
    for data in ("tmc2007", "espgame"):
        for measure in ("micro_f1", "macro_f1"):
            assert mean[2, data, "SPL-MLL", measure] == mean[3, data, "SPL-MLL", measure]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ((2, "yeast", "ML-kNN", "hamming_loss"), (0.218, 0.004)),
        ((2, "tmc2007", "HNOML", "macro_f1"), (0.762, 0.016)),
        ((3, "espgame", "SLEEC", "micro_f1"), (0.226, 0.016)),
        ((4, "pascal07", "joint + NN", "average_precision"), (0.616, 0.018)),
    ],
)
def test_some_numbers_as_printed(key: tuple, expected: tuple) -> None:
    line = published().set_index(["table", "data", "method", "measure"]).loc[key]
    assert (line["mean"], line["std"]) == expected
