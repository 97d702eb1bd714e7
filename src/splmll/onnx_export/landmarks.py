"""SPLMLL and PublishedSPLMLL as ONNX operators: f(x) of the landmarks, then all labels from it."""

from __future__ import annotations

import numpy as np

from splmll.landmarks import SPLMLL
from splmll.landmarks.learning import Landmarks
from splmll.landmarks.recovery import CERTAIN
from splmll.onnx_export.embeddings import add_embedding
from splmll.onnx_export.graph import Graph
from splmll.onnx_export.networks import add_network
from splmll.published import PublishedSPLMLL


def add_landmark_scores(graph: Graph, model: SPLMLL, features: str) -> str:
    """Return the scores of all labels, recovered from those of the landmarks.

    Parameters
    ----------
    graph : Graph
        Where to add.
    model : SPLMLL
        A fitted model.
    features : str
        Tensor of shape (rows, n_features).

    Returns
    -------
    scores : str
        Name of the tensor of shape (rows, n_labels).
    """
    learned = model.learned_
    if len(learned.labels) == 0:
        return graph.repeated(learned.map.intercept, features)
    F = add_embedding(graph, model.embedding_, features)
    mixed = _softened(graph, F, *learned.setting.shape)
    scores = graph.affine(mixed, learned.map.recovery, learned.map.intercept)
    return graph.node("Add", scores, _tail(graph, F, learned)) if learned.setting.tail else scores


def _softened(graph: Graph, F: str, softness: float, lean: float) -> str:
    """Shift and multiply the log-odds of probabilities."""
    if softness == 1 and lean == 0:
        return F
    inside = graph.node("Clip", F, CERTAIN, 1 - CERTAIN)
    odds = graph.node("Div", inside, graph.node("Sub", 1.0, inside))
    shifted = graph.node("Add", graph.node("Log", odds), float(lean))
    return graph.node("Sigmoid", graph.node("Mul", shifted, float(softness)))


def _tail(graph: Graph, F: str, learned: Landmarks) -> str:
    """The decimal logarithm of every landmark, for its own label."""
    logarithm = graph.node("Log", graph.node("Max", F, CERTAIN))
    placed = np.zeros(learned.map.recovery.shape)
    placed[np.arange(len(placed)), learned.labels] = learned.setting.tail / np.log(10)
    return graph.node("MatMul", logarithm, placed)


def add_published_scores(graph: Graph, model: PublishedSPLMLL, features: str) -> str:
    """Return the scores of the paper's system, f(x) B A + intercept.

    Parameters
    ----------
    graph : Graph
        Where to add.
    model : PublishedSPLMLL
        A fitted model.
    features : str
        Tensor of shape (rows, n_features).

    Returns
    -------
    scores : str
        Name of the tensor of shape (rows, n_labels).
    """
    if len(model.landmark_columns_) == 0:
        return graph.repeated(model.intercept_, features)
    F = add_network(graph, model.embedding_, graph.rounded_to_single(features))
    landmarks = graph.columns(F, model.landmark_columns_)
    return graph.affine(landmarks, model.landmark_weights_, model.intercept_)
