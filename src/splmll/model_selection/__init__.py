"""Thresholds and calibration around any classifier, and folds that keep label frequencies."""

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
