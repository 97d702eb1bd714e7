"""An ONNX graph as it grows: the only place that knows the package onnx.

All numbers inside are double precision, because the estimators compute in it: in single precision
a feature with large numbers would lose the digits that matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from splmll.extras import required

# Old enough for every runtime of the last years, and new enough for all operators used here.
OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
ML_DOMAIN = "ai.onnx.ml"
ROWS = "rows"  # name of the axis that may have any length
_MOST_BYTES = 2**31 - 1  # protobuf's own limit


def require_onnx() -> Any:
    """Return the package onnx, or say how to install it."""
    return required("onnx", "onnx", "Writing ONNX files")


class Graph:
    """Nodes and constants, added one by one; tensors go by their names.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.onnx_export.graph import Graph
    >>> graph = Graph()
    >>> x = graph.add_input("features", np.float64, 2)
    >>> graph.affine(x, np.eye(2), np.ones(2))
    'Add_0'
    """

    def __init__(self) -> None:
        self._onnx = require_onnx()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._counts: Counter[str] = Counter()

    def add_input(self, name: str, dtype: Any, width: int) -> str:
        """Declare an input of shape (rows, width), numbers or (``dtype=object``) texts."""
        self._inputs.append(self._tensor(name, dtype, width))
        return name

    def node(self, operator: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Add an operator with one output and return the name of that.

        Inputs are names of tensors, or arrays and numbers, which become constants.
        """
        return self.node_outputs(operator, *inputs, n_outputs=1, domain=domain, **attributes)[0]

    def node_outputs(
        self, operator: str, *inputs: Any, n_outputs: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add an operator with several outputs and return their names."""
        names = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        outputs = [self._fresh(operator) for _ in range(n_outputs)]
        made = self._onnx.helper.make_node(
            operator, names, outputs, name=outputs[0], domain=domain, **attributes
        )
        self._nodes.append(made)
        return outputs

    def absorb(self, model: Any, tensor: str) -> str:
        """Add all of another model that has one input and one output; return the output."""
        prefix = f"{self._fresh('step')}_"
        inner = self._onnx.compose.add_prefix(model, prefix).graph
        self._nodes.append(self._onnx.helper.make_node("Identity", [tensor], [inner.input[0].name]))
        self._nodes.extend(inner.node)
        self._constants.extend(inner.initializer)
        return str(inner.output[0].name)

    # Several operators at once ----------------------------------------------------------------

    def affine(self, tensor: str, weights: np.ndarray, intercept: Any) -> str:
        """Return x W + w0."""
        return self.node("Add", self.node("MatMul", tensor, weights), intercept)

    def columns(self, tensor: str, numbers: Any) -> str:
        """Return some columns."""
        return self.node("Gather", tensor, np.asarray(numbers, dtype=np.int64), axis=1)

    def cast(self, tensor: str, dtype: Any) -> str:
        """Return the same numbers in another type."""
        return self.node("Cast", tensor, to=self._type(dtype))

    def rounded_to_single(self, tensor: str) -> str:
        """Return the numbers as single precision holds them: what networks are given."""
        return self.cast(self.cast(tensor, np.float32), np.float64)

    def repeated(self, values: np.ndarray, like: str) -> str:
        """Return the same values for every row of another tensor."""
        rows = self.node("Shape", like, start=0, end=1)
        shape = self.node("Concat", rows, np.array([len(values)], dtype=np.int64), axis=0)
        return self.node("Expand", np.asarray(values, dtype=np.float64), shape)

    def mean(self, tensors: Sequence[str]) -> str:
        """Return the mean of several tensors."""
        if len(tensors) == 1:
            return tensors[0]
        return self.node("Div", self.node("Sum", *tensors), float(len(tensors)))

    # The whole -------------------------------------------------------------------------------

    def finish(
        self, outputs: Mapping[str, tuple[str, Any, int]], metadata: Mapping[str, str], version: str
    ) -> bytes:
        """Return the checked model as the bytes of its file.

        Parameters
        ----------
        outputs : dict
            Name of an output -> tensor, type and width.
        metadata : dict of str to str
            What to say about the model.
        version : str
            Version of this library.

        Returns
        -------
        content : bytes
        """
        for name, (tensor, _, _) in outputs.items():
            self._nodes.append(self._onnx.helper.make_node("Identity", [tensor], [name]))
        described = [self._tensor(name, *form[1:]) for name, form in outputs.items()]
        graph = self._onnx.helper.make_graph(
            self._nodes, "splmll", self._inputs, described, self._constants
        )
        opsets = [
            self._onnx.helper.make_opsetid(domain, number)
            for domain, number in (("", OPSET), (ML_DOMAIN, ML_OPSET))
        ]
        model = self._onnx.helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=IR_VERSION,
            producer_name="splmll",
            producer_version=version,
        )
        self._onnx.helper.set_model_props(model, dict(metadata))
        if model.ByteSize() > _MOST_BYTES:
            raise ValueError(
                f"The ONNX file would take {model.ByteSize() / 1e9:.1f} GB and the limit is 2 GB: "
                "fit a model with fewer landmarks, or keep only the labels that are needed."
            )
        self._onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))

    def _tensor(self, name: str, dtype: Any, width: int) -> Any:
        return self._onnx.helper.make_tensor_value_info(name, self._type(dtype), [ROWS, width])

    def _type(self, dtype: Any) -> int:
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def _constant(self, value: Any) -> str:
        array = np.array(value, order="C")
        name = self._fresh("constant")
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        # Weights of networks are stored as they are, in half the space.
        return self.cast(name, np.float64) if array.dtype == np.float32 else name

    def _fresh(self, kind: str) -> str:
        name = f"{kind}_{self._counts[kind]}"
        self._counts[kind] += 1
        return name
