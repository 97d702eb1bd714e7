"""Thresholds and calibration for any classifier, and splits that preserve label frequencies."""

from splmll.model_selection.calibration import MultilabelCalibrator
from splmll.model_selection.stratification import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    multilabel_train_test_split,
)
from splmll.model_selection.threshold_tuner import ThresholdTuner

__all__ = [
    "MultilabelCalibrator",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
    "ThresholdTuner",
    "multilabel_train_test_split",
]
