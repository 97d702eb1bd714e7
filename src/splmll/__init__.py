"""Multi-label learning with predictable landmarks.

What most people import is here: :class:`SPLMLL`, :func:`load_dataset`, :func:`read_dataset`,
:func:`evaluate` and :func:`make_method`. The rest lives in ``splmll.datasets``, ``splmll.metrics``,
``splmll.model_selection``, ``splmll.methods``, ``splmll.plots`` and others, which are imported when
they are first asked for: ``import splmll; splmll.metrics`` works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from splmll.lazy import attach

if TYPE_CHECKING:
    from splmll.catalogue import make_method
    from splmll.datasets import load_dataset, read_dataset
    from splmll.landmarks import SPLMLL
    from splmll.metrics import evaluate
    from splmll.published import PublishedSPLMLL

__version__ = "0.1.0.dev0"

__all__ = [
    "SPLMLL",
    "PublishedSPLMLL",
    "__version__",
    "evaluate",
    "load_dataset",
    "make_method",
    "read_dataset",
]

# Loaded when first asked for: the command line answers without waiting for PyTorch.
__getattr__, __dir__ = attach(
    __name__,
    {
        "SPLMLL": "splmll.landmarks",
        "PublishedSPLMLL": "splmll.published",
        "evaluate": "splmll.metrics",
        "load_dataset": "splmll.datasets",
        "make_method": "splmll.catalogue",
        "read_dataset": "splmll.datasets",
    },
    submodules=[
        "annotation",
        "arrays",
        "base",
        "callbacks",
        "catalogue",
        "cli",
        "datasets",
        "doctor",
        "embeddings",
        "exceptions",
        "experiments",
        "landmarks",
        "methods",
        "metrics",
        "model_selection",
        "onnx_export",
        "persistence",
        "plots",
        "published",
        "serving",
        "tagging",
        "thresholds",
    ],
)
