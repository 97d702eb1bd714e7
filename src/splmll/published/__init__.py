"""The system of the paper as it stands, :class:`splmll.PublishedSPLMLL`."""

from typing import TYPE_CHECKING

from splmll.lazy import attach

if TYPE_CHECKING:
    from splmll.published.classifier import PublishedSPLMLL

__all__ = ["PublishedSPLMLL"]

# Loaded when first asked for: it needs PyTorch.
__getattr__, __dir__ = attach(__name__, {"PublishedSPLMLL": "splmll.published.classifier"})
