"""Fitted models as ONNX files, which run without this library and without Python.

:func:`export_onnx` writes the file and :func:`largest_difference` compares it with the model. One
file here builds the graph of one kind of thing: landmarks, embeddings, linear methods, networks,
preprocessing, label rules.
"""

from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.export import export_onnx
from splmll.onnx_export.verification import TOLERANCE, largest_difference

__all__ = ["TOLERANCE", "CannotExportError", "export_onnx", "largest_difference"]
