"""The embeddings f(x) of SPLMLL as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from torch import nn

from splmll.arrays import dense
from splmll.embeddings import Blend, Embedding, Kernel, KernelSVM, Linear, OneVsRest, TorchModule
from splmll.embeddings.one_vs_rest import LinearModels
from splmll.embeddings.stochastic import Stochastic
from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.graph import Graph
from splmll.onnx_export.networks import add_network
from splmll.onnx_export.preprocessing import Table, add_step
from splmll.onnx_export.regressors import add_regressor

# Those that decide by x w + w0; a class derived from one may do otherwise.
_LINEAR_CLASSIFIERS = (LinearSVC, LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier)


def add_embedding(graph: Graph, embedding: Embedding, features: str) -> str:
    """Return what a fitted embedding predicts.

    Parameters
    ----------
    graph : Graph
        Where to add.
    embedding : Embedding
        Of a fitted :class:`splmll.SPLMLL`.
    features : str
        Tensor of shape (rows, n_features).

    Returns
    -------
    outputs : str
        Name of the tensor of shape (rows, n_landmarks).
    """
    if isinstance(embedding, Linear):
        return graph.affine(features, embedding.map_[1:], embedding.map_[0])
    if isinstance(embedding, Kernel):
        return _kernel(graph, embedding, features)
    if isinstance(embedding, KernelSVM):
        return _kernel_svm(graph, embedding, features)
    if isinstance(embedding, OneVsRest | Stochastic):
        return _one_vs_rest(graph, embedding, features)
    if isinstance(embedding, TorchModule):
        return _averaged_networks(graph, embedding, features)
    if isinstance(embedding, Blend):
        parts = [add_embedding(graph, member, features) for member in embedding.members_]
        weighted = [graph.node("Mul", part, w) for part, w in zip(parts, embedding.weights_)]
        return graph.node("Sum", *weighted)
    raise CannotExportError(
        f"SPLMLL with the embedding {type(embedding).__name__} cannot be exported. Use the "
        'embedding "linear", "svm", "sgd", "kernel" or "mlp", or a list of these.'
    )


def _averaged_networks(graph: Graph, embedding: TorchModule, features: str) -> str:
    rows = graph.rounded_to_single(features)
    networks: list[nn.Module] = embedding.models_
    mean = graph.mean([add_network(graph, module, rows) for module in networks])
    return mean if embedding.outputs_ is None else graph.columns(mean, embedding.outputs_)


def _kernel(graph: Graph, embedding: Kernel, features: str) -> str:
    """RBF kernel features of Nystroem's method, and the linear map of them."""
    if embedding.scaler_ is not None:
        features = add_step(graph, embedding.scaler_, Table(features)).features
    nystroem = embedding.features_
    kernel = _rbf(graph, features, nystroem.components_, nystroem.gamma)
    components = graph.node("MatMul", kernel, nystroem.normalization_.T.astype(np.float64))
    return add_embedding(graph, embedding.linear_, components)


def _kernel_svm(graph: Graph, embedding: KernelSVM, features: str) -> str:
    """The kernel with the support vectors, and the weighted sum over them."""
    if embedding.scaler_ is not None:
        features = add_step(graph, embedding.scaler_, Table(features)).features
    learned = ~np.isnan(embedding.intercepts_)
    kernel = _rbf(graph, features, embedding.support_, embedding.gamma_)
    margins = graph.affine(
        kernel, embedding.weights_, np.where(learned, embedding.intercepts_, 0.0)
    )
    return _bounded(graph, margins, embedding.slope_, learned, embedding.rate_)


def _rbf(graph: Graph, features: str, points: Any, gamma: float) -> str:
    """The RBF kernel of every row with some points."""
    basis = dense(points).astype(np.float64)
    # |x - c|^2 = |x|^2 - 2 x'c + |c|^2, as scikit-learn has it; rounding must not make it negative.
    squares = graph.node("ReduceSumSquare", features, axes=[1], keepdims=1)
    cross = graph.affine(features, -2.0 * basis.T, (basis**2).sum(axis=1))
    distances = graph.node("Max", graph.node("Add", squares, cross), 0.0)
    return graph.node("Exp", graph.node("Mul", distances, -float(gamma)))


# One model for every label -------------------------------------------------------------------


def _one_vs_rest(graph: Graph, embedding: OneVsRest | Stochastic, features: str) -> str:
    models = embedding.models_
    if embedding.scaler_ is not None:
        features = add_step(graph, embedding.scaler_, Table(features)).features
    if isinstance(models, LinearModels):
        learned = ~np.isnan(models.intercepts)
        weights = np.where(learned, models.weights, np.float32(0))
        margins = graph.affine(features, weights, np.where(learned, models.intercepts, 0.0))
    else:
        learned = np.array([each is not None for each in models.estimators])
        nothing = graph.repeated(np.zeros(1), features)
        single = [
            nothing if each is None else _margin(graph, each, features)
            for each in models.estimators
        ]
        margins = graph.node("Concat", *single, axis=1)
    return _bounded(graph, margins, embedding.slope_, learned, embedding.rate_)


def _bounded(
    graph: Graph, margins: str, slope: float | None, learned: np.ndarray, rate: np.ndarray
) -> str:
    """Probabilities of decision values; a label without a model is as likely as in training."""
    if slope is None:
        bounded = graph.node("Clip", margins, 0.0, 1.0)
    else:
        bounded = graph.node("Sigmoid", graph.node("Mul", margins, float(slope)))
    return bounded if learned.all() else graph.node("Where", learned, bounded, rate)


def _margin(graph: Graph, estimator: Any, features: str) -> str:
    """What a fitted classifier decides by, or what a regressor predicts."""
    if is_regressor(estimator):
        return add_regressor(graph, estimator, features)
    if isinstance(estimator, Pipeline):
        table = Table(features)
        for _, step in estimator.steps[:-1]:
            table = add_step(graph, step, table)
        return _margin(graph, estimator[-1], table.features)
    if type(estimator) in _LINEAR_CLASSIFIERS:
        # RidgeClassifier has a vector where the others have a matrix with one row.
        weights = np.asarray(estimator.coef_, dtype=np.float64).reshape(-1, 1)
        return graph.affine(features, weights, np.asarray(estimator.intercept_, np.float64))
    raise CannotExportError(
        f"SPLMLL with one {type(estimator).__name__} for each label cannot be exported. Use a "
        'linear classifier or regressor, or the embedding "svm".'
    )
