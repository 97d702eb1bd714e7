"""Regressors inside other models as ONNX operators: linear ones and the network of this library."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LinearRegression,
    MultiTaskElasticNet,
    MultiTaskLasso,
    Ridge,
    RidgeCV,
    SGDRegressor,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVR

from splmll.methods import NetworkRegressor
from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.graph import Graph
from splmll.onnx_export.networks import add_network
from splmll.onnx_export.preprocessing import Table, add_step

# Those that predict x W + w0 and nothing else; a class derived from one may do otherwise.
_LINEAR = (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LinearRegression,
    LinearSVR,
    MultiTaskElasticNet,
    MultiTaskLasso,
    Ridge,
    RidgeCV,
    SGDRegressor,
)


def add_regressor(graph: Graph, model: Any, features: str) -> str:
    """Return what a fitted regressor predicts.

    Parameters
    ----------
    graph : Graph
        Where to add.
    model : regressor
        A linear one of scikit-learn, a :class:`splmll.methods.NetworkRegressor`, several of them
        in a ``MultiOutputRegressor``, or a pipeline that ends in one.
    features : str
        Tensor of shape (rows, n_features).

    Returns
    -------
    outputs : str
        Name of the tensor of shape (rows, n_outputs).
    """
    if isinstance(model, Pipeline):
        table = Table(features)
        for _, step in model.steps[:-1]:
            table = add_step(graph, step, table)
        return add_regressor(graph, model[-1], table.features)
    if isinstance(model, MultiOutputRegressor):
        single = [add_regressor(graph, each, features) for each in model.estimators_]
        return graph.node("Concat", *single, axis=1)
    if isinstance(model, NetworkRegressor):
        # The first layer only changes the precision, which is double here anyway.
        _, network = model.module_.children()
        outputs = add_network(graph, network, graph.rounded_to_single(features))
        scaled = graph.node("Mul", outputs, model.target_scale_)
        return graph.node("Add", scaled, model.target_mean_)
    if type(model) in _LINEAR:
        weights = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
        return graph.affine(features, weights.T, np.asarray(model.intercept_, dtype=np.float64))
    raise CannotExportError(
        f"The regressor {type(model).__name__} cannot be exported. Use a linear one of "
        "scikit-learn or NetworkRegressor; for SPLMLL also the embeddings 'linear', 'svm', 'mlp' "
        "and 'kernel'."
    )
