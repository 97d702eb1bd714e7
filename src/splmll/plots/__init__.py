"""Figures in the manner of scikit-learn's displays; matplotlib is loaded when one is drawn."""

from splmll.plots.cooccurrence import LabelCooccurrenceDisplay
from splmll.plots.reliability import ReliabilityDisplay

__all__ = ["LabelCooccurrenceDisplay", "ReliabilityDisplay"]
