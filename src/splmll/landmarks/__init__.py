"""SPLMLL: landmarks that are predictable, and a recovery that does not hurt."""

from splmll.landmarks.classifier import SPLMLL
from splmll.landmarks.explanation import Explanation
from splmll.landmarks.out_of_fold import OutOfFold
from splmll.landmarks.path import LandmarkPath

__all__ = ["SPLMLL", "Explanation", "LandmarkPath", "OutOfFold"]
