"""Networks of PyTorch as ONNX operators, layer by layer.

Weights stay what they are in the file, single or double precision; the computing is in double.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor, nn

from splmll.neural import Dropout, Logistic, Standardise
from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.graph import Graph
from splmll.published.classifier import DoublePrecision

# Layers that only do something in training, or change the precision, which is double here anyway.
_SILENT = (nn.Identity, nn.Dropout, Dropout, DoublePrecision)
_CURVES = {nn.Sigmoid: "Sigmoid", nn.Tanh: "Tanh", nn.ReLU: "Relu"}


def add_network(graph: Graph, module: nn.Module, tensor: str) -> str:
    """Return what a network gives in evaluation.

    Parameters
    ----------
    graph : Graph
        Where to add.
    module : nn.Module
        Fully connected layers, their activations and the standardisation of this library.
    tensor : str
        Tensor of shape (rows, n_inputs), rounded to single precision as networks get it.

    Returns
    -------
    outputs : str
        Name of the tensor of shape (rows, n_outputs).
    """
    if type(module) is nn.Sequential:  # a class derived from it may do otherwise
        for layer in module:
            tensor = add_network(graph, layer, tensor)
        return tensor
    if type(module) in _SILENT:
        return tensor
    if type(module) is nn.Linear:
        product = graph.node("MatMul", tensor, _array(module.weight).T)
        return product if module.bias is None else graph.node("Add", product, _array(module.bias))
    if type(module) is nn.LeakyReLU:
        return _leaky(graph, tensor, module.negative_slope)
    if isinstance(module, Standardise):
        centred = graph.node("Sub", tensor, _array(module.mean))
        return graph.node("Div", centred, _array(module.scale))
    if isinstance(module, Logistic):
        return graph.node("Sigmoid", add_network(graph, module.logits, tensor))
    if type(module) in _CURVES:
        return graph.node(_CURVES[type(module)], tensor)
    raise CannotExportError(
        f"A network with the layer {type(module).__name__} cannot be exported. Use fully connected "
        "layers in nn.Sequential with ReLU, leaky ReLU, Sigmoid or Tanh."
    )


def _leaky(graph: Graph, tensor: str, slope: float) -> str:
    # onnxruntime has LeakyRelu for single precision only.
    positive = graph.node("GreaterOrEqual", tensor, 0.0)
    return graph.node("Where", positive, tensor, graph.node("Mul", tensor, float(slope)))


def _array(values: Tensor) -> Any:
    array = values.detach().cpu().numpy()
    return array if array.dtype == np.float32 else array.astype(np.float64)
