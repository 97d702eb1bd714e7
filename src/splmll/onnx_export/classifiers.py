"""From features to scores, probabilities and labels, for every classifier that can be exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.pipeline import Pipeline

from splmll.base import MultilabelClassifier
from splmll.landmarks import SPLMLL
from splmll.methods import (
    C2AE,
    CPLST,
    HNOML,
    LEML,
    METHODS,
    MLCSSP,
    MOPLMS,
    PBR,
    PLST,
    BinaryRelevance,
    FaIE,
)
from splmll.model_selection import MultilabelCalibrator, ThresholdTuner
from splmll.model_selection.calibration import SigmoidCurve
from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.graph import Graph
from splmll.onnx_export.label_rules import add_labels
from splmll.onnx_export.landmarks import add_landmark_scores, add_published_scores
from splmll.onnx_export.linear_methods import (
    add_autoencoder,
    add_binary_relevance,
    add_hybrid_noise,
    add_label_space,
    add_label_subset,
    add_low_rank,
)
from splmll.onnx_export.preprocessing import Table, add_step
from splmll.published import PublishedSPLMLL


@dataclass(frozen=True)
class Outputs:
    """The tensors that a classifier gives, each of shape (rows, n_labels).

    Attributes
    ----------
    scores : str
        What ``decision_function`` returns.
    probabilities : str
        What ``predict_proba`` returns; for a vector y the probability of its second value.
    labels : str
        0 or 1; for a vector y the number of its value.
    """

    scores: str
    probabilities: str
    labels: str


@dataclass(frozen=True)
class _Curve:
    """Probabilities are the logistic function of ``slope * (score - centre)``."""

    slope: float
    centre: float


_OF_0_AND_1 = _Curve(4.0, 0.5)  # that of scores regressed on 0/1 labels
_IDENTITY = None  # scores are probabilities

_WHAT_CAN = (
    "Exported can be SPL-MLL without trees, BR with a linear learner, HNOML, LEML, C2AE, and PLST, "
    "CPLST, FaIE, MOPLMS, ML-CSSP and PBR with a linear or network regressor."
)

_SCORES: dict[type, Callable[[Graph, Any, str], str]] = {
    SPLMLL: add_landmark_scores,
    PublishedSPLMLL: add_published_scores,
    BinaryRelevance: add_binary_relevance,
    PLST: add_label_space,
    CPLST: add_label_space,
    FaIE: add_label_space,
    MOPLMS: add_label_subset,
    MLCSSP: add_label_subset,
    PBR: add_label_subset,
    LEML: add_low_rank,
    HNOML: add_hybrid_noise,
    C2AE: add_autoencoder,
}


def add_classifier(graph: Graph, model: Any, table: Table) -> Outputs:
    """Add a fitted classifier, with what stands before and around it.

    Parameters
    ----------
    graph : Graph
        Where to add.
    model : classifier or Pipeline
        The model.
    table : Table
        What it receives.

    Returns
    -------
    outputs : Outputs
        The names of the tensors.
    """
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            table = add_step(graph, step, table)
        return add_classifier(graph, model[-1], table)
    if isinstance(model, ThresholdTuner):
        return _tuned(graph, model, table)
    if isinstance(model, MultilabelCalibrator):
        calibrated = _calibrated(graph, model, table)
        return _finished(graph, model, calibrated, calibrated, _IDENTITY)
    if type(model) not in _SCORES:
        raise CannotExportError(
            f"{_name_of(model)} cannot be exported: its scores are neither a linear map nor a "
            f"network. {_WHAT_CAN}"
        )
    scores = _SCORES[type(model)](graph, model, table.features)
    curve = _curve_of(model)
    return _finished(graph, model, scores, _squashed(graph, scores, curve), curve)


def _name_of(model: Any) -> str:
    """Return the name of the class, and that of the catalogue where it is another one."""
    own = type(model).__name__
    known = [name for name, method in METHODS.items() if method.estimator is type(model)]
    return f"{known[0]} ({own})" if known and known[0] != own else own


def _curve_of(model: Any) -> _Curve | None:
    if isinstance(model, SPLMLL):
        return _Curve(model.probability_slope_, model.offset_)
    if isinstance(model, (HNOML, PublishedSPLMLL)):
        return _Curve(_OF_0_AND_1.slope, model.offset_)
    scores_are_probabilities = isinstance(model, (BinaryRelevance, C2AE)) or (
        isinstance(model, LEML) and model.loss == "logistic"
    )
    return _IDENTITY if scores_are_probabilities else _OF_0_AND_1


def _squashed(graph: Graph, scores: str, curve: _Curve | None) -> str:
    if curve is None:
        return scores
    centred = graph.node("Sub", scores, float(curve.centre))
    return graph.node("Sigmoid", graph.node("Mul", centred, float(curve.slope)))


def _finished(
    graph: Graph,
    model: MultilabelClassifier,
    scores: str,
    probabilities: str,
    curve: _Curve | None,
) -> Outputs:
    """Take the zero point off the scores, and add the labels."""
    if model.label_format_.kind == "vector":
        probabilities = _through_one_half(graph, probabilities, curve, float(model.thresholds_[0]))
    return Outputs(
        graph.node("Sub", scores, float(model.offset_)),
        probabilities,
        add_labels(graph, model.threshold_, scores, model.label_format_.n_labels),
    )


def _through_one_half(
    graph: Graph, probabilities: str, curve: _Curve | None, threshold: float
) -> str:
    """Bend probabilities of a vector y as :func:`splmll.base.through_one_half` does."""
    cut = threshold if curve is None else float(expit(curve.slope * (threshold - curve.centre)))
    if not 0 < cut < 1:
        return probabilities
    below = graph.node("Mul", probabilities, 0.5 / cut)
    # 1 - (1 - p) / 2 / (1 - cut)
    rising = graph.node("Mul", probabilities, 0.5 / (1 - cut))
    above = graph.node("Add", rising, 1 - 0.5 / (1 - cut))
    return graph.node("Where", graph.node("Less", probabilities, cut), below, above)


# Around another classifier -------------------------------------------------------------------


def _tuned(graph: Graph, model: ThresholdTuner, table: Table) -> Outputs:
    inner = add_classifier(graph, model.estimator_, table)
    if model.method_ == "predict_proba":
        return _finished(graph, model, inner.probabilities, inner.probabilities, _IDENTITY)
    scores, constants = inner.scores, getattr(model, "constant_scores_", None)
    if constants is not None and not np.isnan(constants).all():
        scores = graph.node("Where", np.isnan(constants), scores, np.nan_to_num(constants))
    if model.label_format_.kind != "vector":
        # Thresholds move the labels, not the probabilities.
        return _finished(graph, model, scores, inner.probabilities, _IDENTITY)
    curve = _Curve(_OF_0_AND_1.slope, model.offset_)
    return _finished(graph, model, scores, _squashed(graph, scores, curve), curve)


def _calibrated(graph: Graph, model: MultilabelCalibrator, table: Table) -> str:
    if not all(isinstance(curve, SigmoidCurve) for curve in model.curves_):
        raise CannotExportError(
            "A MultilabelCalibrator with isotonic curves cannot be exported. Fit it with "
            'method="sigmoid".'
        )
    inner = add_classifier(graph, model.estimator_, table)
    by_decision = model.score_method_ == "decision_function"
    scores = inner.scores if by_decision else inner.probabilities
    slopes = np.array([curve.slope for curve in model.curves_])
    intercepts = np.array([curve.intercept for curve in model.curves_])
    line = graph.node("Add", graph.node("Mul", scores, slopes), intercepts)
    tiny = np.finfo(np.float64).eps  # far out, the curve rounds to 0 or 1
    return graph.node("Clip", graph.node("Sigmoid", line), tiny, 1 - tiny)
