"""The rules that turn scores into labels, on scores whose labels are known by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from onnx_runs import run

from splmll.onnx_export import CannotExportError
from splmll.onnx_export.graph import Graph
from splmll.onnx_export.label_rules import add_labels
from splmll.thresholds import (
    GlobalThreshold,
    LinearThreshold,
    NeverEmpty,
    PerLabelThreshold,
    TopRanked,
)

SCORES = np.array([[0.2, 0.5, 0.5], [0.9, 0.1, 0.4], [0.0, 0.0, 0.0]])


def labels_by(rule: object, folder: Path) -> np.ndarray:
    graph = Graph()
    scores = graph.add_input("features", np.float64, 3)
    outputs = {"labels": (add_labels(graph, rule, scores, 3), np.int64, 3)}
    (folder / "rule.onnx").write_bytes(graph.finish(outputs, {}, "0"))
    return run(folder / "rule.onnx", features=SCORES)["labels"]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (GlobalThreshold(0.5), [[0, 1, 1], [1, 0, 0], [0, 0, 0]]),
        (PerLabelThreshold(np.array([0.1, 0.6, 0.4])), [[1, 0, 1], [1, 0, 1], [0, 0, 0]]),
        (TopRanked(1), [[0, 1, 0], [1, 0, 0], [1, 0, 0]]),
        (TopRanked(2), [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
        (TopRanked(7), [[1, 1, 1], [1, 1, 1], [1, 1, 1]]),
        # The threshold of a row is its second score and 0.1.
        (LinearThreshold(np.array([0.0, 1.0, 0.0]), 0.1), [[0, 0, 0], [1, 0, 1], [0, 0, 0]]),
        (NeverEmpty(GlobalThreshold(0.6)), [[0, 1, 0], [1, 0, 0], [1, 0, 0]]),
    ],
    ids=["global", "per label", "best", "best two", "all", "linear", "never empty"],
)
def test_rules(rule: object, expected: list[list[int]], tmp_path: Path) -> None:
    assert_array_equal(labels_by(rule, tmp_path), expected)


def test_an_unknown_rule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotExportError, match="object"):
        labels_by(object(), tmp_path)
