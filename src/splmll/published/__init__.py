"""The paper's system as it stands: :class:`PublishedSPLMLL` and the rows of its Table 4."""

from splmll.published.classifier import ABLATIONS, PublishedSPLMLL

__all__ = ["ABLATIONS", "PublishedSPLMLL"]
