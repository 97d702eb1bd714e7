"""The compared methods whose scores are a linear map or a network, as ONNX operators.

Every function here takes a fitted classifier and the tensor of its features and returns the name
of the tensor of its scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from splmll.feature_scaling import DenseStandardScaler
from splmll.methods import C2AE, HNOML, LEML, BinaryRelevance
from splmll.methods._base_learner import for_raw_features
from splmll.onnx_export.errors import CannotExportError
from splmll.onnx_export.graph import Graph
from splmll.onnx_export.networks import add_network
from splmll.onnx_export.regressors import add_regressor

# Those whose probability is the logistic function of x w + w0, here or by BinaryRelevance.
_LINEAR_CLASSIFIERS = (LinearSVC, LogisticRegression, RidgeClassifier, SGDClassifier)


def add_binary_relevance(graph: Graph, model: BinaryRelevance, features: str) -> str:
    """Return the probabilities of one linear learner per label."""
    if model.coef_ is not None and model.intercept_ is not None:
        coef, intercept = model.coef_, model.intercept_
    else:
        n_labels, n_features = len(model.estimators_), model.n_features_in_
        coef, intercept = np.zeros((n_labels, n_features)), np.empty(n_labels)
        for label, guard in enumerate(model.estimators_):
            if guard.learner_ is None:
                intercept[label] = np.inf if guard.constant_ == 1 else -np.inf
            else:
                coef[label], intercept[label] = _weights(guard.learner_)
    return graph.node("Sigmoid", graph.affine(features, coef.T, intercept))


def _weights(learner: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and intercept of a linear classifier for the features as they are given."""
    scaler = None
    if isinstance(learner, Pipeline) and len(learner) == 2 and _can_be_folded_in(learner[0]):
        scaler, learner = learner[0], learner[1]
        if type(scaler) is DenseStandardScaler:
            scaler = scaler.scaler_
    squashed_otherwise = getattr(learner, "loss", None) == "modified_huber"
    if type(learner) not in _LINEAR_CLASSIFIERS or squashed_otherwise:
        name = type(learner[-1] if isinstance(learner, Pipeline) else learner).__name__
        raise CannotExportError(
            f"BinaryRelevance with the learner {name} cannot be exported. Use LogisticRegression "
            "(the default), LinearSVC, RidgeClassifier or SGDClassifier."
        )
    # RidgeClassifier has a vector where the others have a matrix with one row.
    return for_raw_features(np.ravel(learner.coef_), np.ravel(learner.intercept_)[0], scaler)


def _can_be_folded_in(step: Any) -> bool:
    if type(step) is DenseStandardScaler:
        return True
    return type(step) is StandardScaler and bool(step.with_std)


def add_label_space(graph: Graph, model: Any, features: str) -> str:
    """Return the scores of PLST, CPLST and FaIE: codes are regressed, and decoded."""
    return _decoded(graph, model, model.encoder_.components_, model.encoder_.label_mean_, features)


def add_label_subset(graph: Graph, model: Any, features: str) -> str:
    """Return the scores of MOPLMS, ML-CSSP and PBR: landmarks are regressed, others recovered."""
    return _decoded(graph, model, model.recovery_, model.intercept_, features)


def _decoded(
    graph: Graph, model: Any, decoder: np.ndarray, intercept: np.ndarray, features: str
) -> str:
    # A label with one value in the training rows gets that value as its score.
    constant = (model.label_mean_ == 0) | (model.label_mean_ == 1)
    decoder = np.where(constant, 0.0, decoder)
    intercept = np.where(constant, model.label_mean_, intercept)
    if len(decoder) == 0:
        return graph.repeated(intercept, features)
    if model.regressor is None:
        regression = model.regressor_
        codes = graph.affine(features, regression.coef_.T, regression.intercept_)
    else:
        codes = add_regressor(graph, model.regressor_, features)
    return graph.affine(codes, decoder, intercept)


def add_low_rank(graph: Graph, model: LEML, features: str) -> str:
    """Return the scores of LEML, a product of two narrow matrices."""
    weights = model.feature_factors_ / model.scale_[:, None]
    intercept = model.intercept_factors_ - model.mean_ @ weights
    projected = graph.affine(features, weights, intercept)
    product = graph.node("MatMul", projected, model.label_factors_.T)
    if model.loss == "logistic":
        return graph.node("Sigmoid", product)
    if model.loss == "squared_hinge":  # -1 and +1 become 0 and 1
        return graph.node("Mul", graph.node("Add", product, 1.0), 0.5)
    return product


def add_hybrid_noise(graph: Graph, model: HNOML, features: str) -> str:
    """Return the scores of HNOML."""
    return graph.affine(features, model.coef_.T, model.intercept_)


def add_autoencoder(graph: Graph, model: C2AE, features: str) -> str:
    """Return the scores of C2AE: features to codes, codes to labels."""
    varying, constants = model.varying_labels_, model.constant_scores_
    if model.network_ is None:
        return graph.repeated(constants, features)
    network = model.network_
    rows = add_network(graph, network.standardise, graph.rounded_to_single(features))
    codes = graph.node("Sigmoid", add_network(graph, network.features, rows))
    centred = graph.node("Sub", codes, 0.5)
    outputs = graph.node("Sigmoid", add_network(graph, network.decoder, centred))
    placed = np.eye(len(constants))[varying]
    if len(varying) == 1:
        # A single label was ranked against its absence: 1/2 + (present - absent) / 2.
        placed = np.vstack([0.5 * placed, -0.5 * placed])
        constants[varying] = 0.5
    return graph.affine(outputs, placed, constants)
