"""Multi-label learning with predictable landmarks.

What most people import is here: :class:`SPLMLL`, :func:`load_dataset`, :func:`read_dataset` and
:func:`evaluate`. The rest lives in ``splmll.datasets``, ``splmll.metrics``,
``splmll.model_selection``, ``splmll.methods`` and ``splmll.plots``.
"""

from splmll.datasets import load_dataset, read_dataset
from splmll.landmarks import SPLMLL
from splmll.metrics import evaluate

__version__ = "0.1.0.dev0"

__all__ = ["SPLMLL", "__version__", "evaluate", "load_dataset", "read_dataset"]
