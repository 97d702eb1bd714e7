"""Multi-label learning with predictable landmarks.

What most people import is here: :class:`SPLMLL`, :func:`load_dataset`, :func:`read_dataset` and
:func:`evaluate`. The rest lives in ``splmll.datasets``, ``splmll.metrics``,
``splmll.model_selection``, ``splmll.methods``, ``splmll.plots`` and ``splmll.experiments``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from splmll.datasets import load_dataset, read_dataset
    from splmll.landmarks import SPLMLL
    from splmll.metrics import evaluate
    from splmll.published import PublishedSPLMLL

__version__ = "0.1.0.dev0"

__all__ = ["SPLMLL", "PublishedSPLMLL", "__version__", "evaluate", "load_dataset", "read_dataset"]

# Loaded when first asked for: the command line answers without waiting for PyTorch.
_HOMES = {
    "SPLMLL": "splmll.landmarks",
    "PublishedSPLMLL": "splmll.published",
    "evaluate": "splmll.metrics",
    "load_dataset": "splmll.datasets",
    "read_dataset": "splmll.datasets",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
