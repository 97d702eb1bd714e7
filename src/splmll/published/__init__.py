"""The system of the paper as it stands, :class:`splmll.PublishedSPLMLL`."""

from splmll.published.classifier import PublishedSPLMLL

__all__ = ["PublishedSPLMLL"]
