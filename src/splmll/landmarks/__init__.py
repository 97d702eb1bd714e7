"""SPL-MLL: the paper's method, one file for one step of it."""

from splmll.landmarks.classifier import ABLATIONS, SPLMLL
from splmll.landmarks.explanation import Explanation
from splmll.landmarks.path import LandmarkPath
from splmll.landmarks.statistics import Statistics

__all__ = ["ABLATIONS", "SPLMLL", "Explanation", "LandmarkPath", "Statistics"]
