"""From scores to labels: the fitted rules of :mod:`splmll.thresholds` as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.graph import Graph
from splmll.thresholds import (
    GlobalThreshold,
    LinearThreshold,
    NeverEmpty,
    PerLabelThreshold,
    TopRanked,
)


def add_labels(graph: Graph, rule: Any, scores: str, n_labels: int) -> str:
    """Return 0/1 labels (int64) of scores by a fitted rule.

    Parameters
    ----------
    graph : Graph
        Where to add.
    rule : Threshold
        The fitted rule.
    scores : str
        Tensor of shape (rows, n_labels).
    n_labels : int
        Number of labels.

    Returns
    -------
    labels : str
        Name of the tensor.
    """
    if isinstance(rule, GlobalThreshold):
        return _at_least(graph, scores, float(rule.value))
    if isinstance(rule, PerLabelThreshold):
        return _at_least(graph, scores, rule.values.astype(np.float64))
    if isinstance(rule, LinearThreshold):
        weights = rule.weights.astype(np.float64)[:, None]
        return _at_least(graph, scores, graph.affine(scores, weights, float(rule.bias)))
    if isinstance(rule, TopRanked):
        return _best(graph, scores, min(rule.r, n_labels))
    if isinstance(rule, NeverEmpty):
        labels = add_labels(graph, rule.rule, scores, n_labels)
        some = graph.node("ReduceMax", labels, axes=[1], keepdims=1)
        return graph.node("Where", graph.cast(some, np.bool_), labels, _best(graph, scores, 1))
    raise CannotExportError(
        f"The rule {type(rule).__name__} that turns scores into labels cannot be exported. Fit the "
        "model with a number as threshold, or a rule of splmll.thresholds.RULES."
    )


def _at_least(graph: Graph, scores: str, threshold: Any) -> str:
    return graph.cast(graph.node("GreaterOrEqual", scores, threshold), np.int64)


def _best(graph: Graph, scores: str, count: int) -> str:
    """1 for the best labels of every row; TopK gives the first of equal ones, as the rule does."""
    _, places = graph.node_outputs("TopK", scores, np.array([count]), n_outputs=2, axis=1)
    ones = graph.node("Expand", np.array([[1]]), graph.node("Shape", places))
    zeros = graph.node("Expand", np.array([[0]]), graph.node("Shape", scores))
    return graph.node("ScatterElements", zeros, places, ones, axis=1)
