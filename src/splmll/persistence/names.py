"""What the library's own classes are called in model files.

A file names a class by where people import it from (``splmll.methods.MLkNN``), never by the module
that happens to define it: modules move, and files stay. So a class that one of ``PACKAGES`` exports
is called by its name there. The parts of models, which nobody imports, are in ``PARTS``.

To move a class that is exported, just move it. To move a part, change its place in ``PARTS``. Where
the name in files changes, or what a class keeps, :mod:`splmll.persistence.moved` has a place for
it.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

# What these export in __all__ may be in a file. Of two names for a class the first counts.
PACKAGES = ("splmll", "splmll.embeddings", "splmll.model_selection", "splmll.methods")

# Name in files -> where the class is today.
PARTS: dict[str, str] = {
    "splmll.embeddings.AveragedRegressors": "splmll.persistence.moved.AveragedRegressors",
    "splmll.embeddings.LabelModels": "splmll.embeddings.one_vs_rest.LabelModels",
    "splmll.embeddings.LinearModels": "splmll.embeddings.one_vs_rest.LinearModels",
    "splmll.DenseStandardScaler": "splmll.feature_scaling.DenseStandardScaler",
    "splmll.labels.LabelFormat": "splmll.labels.LabelFormat",
    "splmll.landmarks.AnswerModel": "splmll.landmarks.answering.AnswerModel",
    "splmll.landmarks.CalibrationCurve": "splmll.landmarks.calibration_curve.CalibrationCurve",
    "splmll.landmarks.Completion": "splmll.landmarks.completion.Completion",
    "splmll.landmarks.LabelCorrelations": "splmll.landmarks.belief.LabelCorrelations",
    "splmll.landmarks.Landmarks": "splmll.landmarks.learning.Landmarks",
    "splmll.landmarks.Map": "splmll.landmarks.recovery.Map",
    "splmll.landmarks.Setting": "splmll.landmarks.learning.Setting",
    "splmll.landmarks.Stream": "splmll.landmarks.out_of_core.Stream",
    "splmll.methods.BruteForceSearch": "splmll.methods._brute_force.BruteForceSearch",
    "splmll.methods.CentredMatrix": "splmll.methods._centred_matrix.CentredMatrix",
    "splmll.methods.Cluster": "splmll.methods.local_embeddings.Cluster",
    "splmll.methods.ConstantGuard": "splmll.methods._constant.ConstantGuard",
    "splmll.methods.DoublePrecision": "splmll.methods.network_regressor._DoublePrecision",
    "splmll.methods.FeatureScale": "splmll.methods._feature_scale.FeatureScale",
    "splmll.methods.KernelColumns": "splmll.methods._sign_regression._KernelColumns",
    "splmll.methods.LabelSetEnsemble": "splmll.methods._label_sets.LabelSetEnsemble",
    "splmll.methods.LabelSetLearner": "splmll.methods._label_sets.LabelSetLearner",
    "splmll.methods.Learner": "splmll.methods.local_embeddings.Learner",
    "splmll.methods.LinearChain": "splmll.methods.classifier_chains._LinearChain",
    "splmll.methods.LinearMap": "splmll.methods._ridge.LinearMap",
    "splmll.methods.MostLikelySet": "splmll.methods.label_powerset.MostLikelySet",
    "splmll.methods.NeighbourSearch": "splmll.methods._neighbours.NeighbourSearch",
    "splmll.methods.Networks": "splmll.methods.canonical_autoencoder._Networks",
    "splmll.methods.OneVsRestLogistic": "splmll.methods._one_vs_rest.OneVsRestLogistic",
    "splmll.methods.SignRegression": "splmll.methods._sign_regression.SignRegression",
    "splmll.methods.StackedLogistic": "splmll.methods._label_sets._StackedLogistic",
    "splmll.model_selection.IsotonicCurve": "splmll.model_selection.calibration.IsotonicCurve",
    "splmll.model_selection.SigmoidCurve": "splmll.model_selection.calibration.SigmoidCurve",
    "splmll.neural.Dropout": "splmll.neural.Dropout",
    "splmll.neural.Logistic": "splmll.neural.Logistic",
    "splmll.neural.Standardise": "splmll.neural.Standardise",
    "splmll.published.DoublePrecision": "splmll.published.classifier.DoublePrecision",
    "splmll.statistics.Statistics": "splmll.statistics.Statistics",
    "splmll.tagging.HashedWords": "splmll.tagging.words.HashedWords",
    "splmll.tagging.Words": "splmll.tagging.words.Words",
    "splmll.thresholds.GlobalThreshold": "splmll.thresholds.GlobalThreshold",
    "splmll.thresholds.LinearThreshold": "splmll.thresholds.LinearThreshold",
    "splmll.thresholds.NeverEmpty": "splmll.thresholds.NeverEmpty",
    "splmll.thresholds.PerLabelThreshold": "splmll.thresholds.PerLabelThreshold",
    "splmll.thresholds.TopRanked": "splmll.thresholds.TopRanked",
}
_NAME_AT = {place: name for name, place in PARTS.items()}


def name_of_own(cls: type) -> str | None:
    """Return what a class of the library is called in files, None for all others.

    Examples
    --------
    >>> from splmll.methods import MLkNN
    >>> from splmll.persistence.names import name_of_own
    >>> MLkNN.__module__, name_of_own(MLkNN)
    ('splmll.methods.nearest_neighbours', 'splmll.methods.MLkNN')
    """
    if not cls.__module__.startswith("splmll."):
        return None
    name = _NAME_AT.get(f"{cls.__module__}.{cls.__qualname__}")
    candidates = [f"{package}.{cls.__name__}" for package in PACKAGES] if name is None else [name]
    return next((each for each in candidates if own_class(each) is cls), None)


@lru_cache(maxsize=1024)
def own_class(name: str) -> type | None:
    """Return the class of the library that has this name in files, None where there is none.

    Examples
    --------
    >>> from splmll.persistence.names import own_class
    >>> own_class("splmll.landmarks.Map").__module__
    'splmll.landmarks.recovery'
    >>> own_class("splmll.labels.np") is None
    True
    """
    module, _, last = PARTS.get(name, name).rpartition(".")
    if name not in PARTS and (module not in PACKAGES or last not in _exported(module)):
        return None
    found: Any = getattr(import_module(module), last)
    return found if isinstance(found, type) and found.__module__.startswith("splmll.") else None


def _exported(package: str) -> list[str]:
    return list(import_module(package).__all__)
