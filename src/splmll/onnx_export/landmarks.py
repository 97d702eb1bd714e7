"""SPLMLL as ONNX operators: the embedding f(x) of the landmarks, then f(x) B A + intercept."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from splmll.landmarks import SPLMLL
from splmll.landmarks.embedding import (
    BlendEmbedding,
    Embedding,
    KernelEmbedding,
    LinearEmbedding,
    NetworkEmbedding,
    RegressorEmbedding,
)
from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.graph import Graph
from splmll.onnx_export.networks import add_network
from splmll.onnx_export.preprocessing import Table, add_step
from splmll.onnx_export.regressors import add_regressor


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
    if len(model.landmarks_) == 0:
        return graph.repeated(model.intercept_, features)
    landmark_scores = _embedding(graph, model.embedding_, features)
    return graph.affine(landmark_scores, model.landmark_weights_, model.intercept_)


def _embedding(graph: Graph, embedding: Embedding, features: str) -> str:
    if isinstance(embedding, LinearEmbedding):
        return graph.affine(features, embedding.map[1:], embedding.map[0])
    if isinstance(embedding, KernelEmbedding):
        return _kernel(graph, embedding, features)
    if isinstance(embedding, BlendEmbedding):
        parts = [_embedding(graph, member, features) for member in embedding.members]
        weighted = [graph.node("Mul", part, w) for part, w in zip(parts, embedding.weights)]
        return graph.node("Sum", *weighted)
    if isinstance(embedding, NetworkEmbedding):
        rows = graph.rounded_to_single(features)
        outputs = [add_network(graph, module, rows) for module in embedding.models]
    elif isinstance(embedding, RegressorEmbedding):
        outputs = [add_regressor(graph, model, features) for model in embedding.models]
    else:
        raise CannotExportError(
            f"SPLMLL with a {type(embedding).__name__} cannot be exported. Use the embedding "
            '"linear", "mlp" or "kernel", or a list of these.'
        )
    mean = graph.mean(outputs)
    return mean if embedding.columns is None else graph.columns(mean, embedding.columns)


def _kernel(graph: Graph, embedding: KernelEmbedding, features: str) -> str:
    """RBF kernel features of Nystroem's method, and the linear map of them."""
    if embedding.scaler is not None:
        features = add_step(graph, embedding.scaler, Table(features)).features
    nystroem = embedding.features
    basis = nystroem.components_
    basis = np.asarray(basis.toarray() if sparse.issparse(basis) else basis, dtype=np.float64)
    # |x - c|^2 = |x|^2 - 2 x'c + |c|^2, as scikit-learn has it; rounding must not make it negative.
    squares = graph.node("ReduceSumSquare", features, axes=[1], keepdims=1)
    cross = graph.affine(features, -2.0 * basis.T, (basis**2).sum(axis=1))
    distances = graph.node("Max", graph.node("Add", squares, cross), 0.0)
    kernel = graph.node("Exp", graph.node("Mul", distances, -float(nystroem.gamma)))
    components = graph.node("MatMul", kernel, nystroem.normalization_.T.astype(np.float64))
    return _embedding(graph, embedding.linear, components)
