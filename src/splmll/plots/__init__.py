"""Figures like scikit-learn's displays; matplotlib is loaded when one is drawn."""

from splmll.plots.annotation_path import AnnotationPathDisplay
from splmll.plots.company import LabelCompanyDisplay
from splmll.plots.convergence import ConvergenceDisplay
from splmll.plots.cooccurrence import LabelCooccurrenceDisplay
from splmll.plots.critical_difference import CriticalDifferenceDisplay
from splmll.plots.label_graph import LabelGraphDisplay
from splmll.plots.landmarks import LandmarkHeatmapDisplay
from splmll.plots.path import LandmarkPathDisplay
from splmll.plots.precision_recall import LabelPrecisionRecallDisplay
from splmll.plots.predictions import PredictionsDisplay
from splmll.plots.reliability import ReliabilityDisplay
from splmll.plots.selection import SelectionDisplay
from splmll.plots.threshold_curve import ThresholdCurveDisplay

__all__ = [
    "AnnotationPathDisplay",
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "LabelCompanyDisplay",
    "LabelCooccurrenceDisplay",
    "LabelGraphDisplay",
    "LabelPrecisionRecallDisplay",
    "LandmarkHeatmapDisplay",
    "LandmarkPathDisplay",
    "PredictionsDisplay",
    "ReliabilityDisplay",
    "SelectionDisplay",
    "ThresholdCurveDisplay",
]
