"""The methods SPL-MLL is compared with, one file each."""

from splmll.methods.binary_relevance import BinaryRelevance
from splmll.methods.nearest_neighbours import MLkNN

__all__ = ["BinaryRelevance", "MLkNN"]
