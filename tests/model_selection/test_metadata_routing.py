"""scikit-learn's metadata routing: what was requested arrives, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll import SPLMLL
from splmll.methods import BinaryRelevance, MLkNN
from splmll.model_selection import MultilabelCalibrator, ThresholdTuner

N_ROWS = 120


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighted_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 4))
    Y = (X[:, :3] + rng.normal(size=(N_ROWS, 3)) > 0.3).astype(int)
    return X, Y, rng.integers(1, 5, N_ROWS).astype(float)


MODELS = [SPLMLL("linear", random_state=0), BinaryRelevance()]


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_weights_go_through_a_pipeline(model: Any) -> None:
    X, Y, weights = weighted_rows()
    model = sklearn.base.clone(model)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        make_pipeline(StandardScaler(), model).fit(X, Y, sample_weight=weights)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    requested = sklearn.base.clone(model).set_fit_request(sample_weight=True)
    piped = make_pipeline(scaler, requested).fit(X, Y, sample_weight=weights)
    alone = model.fit(scaler.fit_transform(X), Y, sample_weight=weights)
    assert_array_equal(piped.predict_proba(X), alone.predict_proba(scaler.transform(X)))


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_weights_go_through_a_search(model: Any) -> None:
    X, Y, weights = weighted_rows()
    grid = {"threshold": [0.3, 0.5]}
    requested = sklearn.base.clone(model).set_fit_request(sample_weight=True)
    requested.set_score_request(sample_weight=False)
    search = GridSearchCV(requested, grid, cv=2).fit(X, Y, sample_weight=weights)
    best = sklearn.base.clone(model).set_params(**search.best_params_)
    best.fit(X, Y, sample_weight=weights)
    assert_array_equal(search.predict_proba(X), best.predict_proba(X))


@pytest.mark.usefixtures("routing")
def test_groups_reach_the_splitter_of_splmll() -> None:
    X, Y, _ = weighted_rows()
    groups = np.arange(N_ROWS) // 12
    model = SPLMLL("linear", cv=GroupKFold(3), random_state=0).set_fit_request(groups=True)
    piped = make_pipeline(StandardScaler(), model).fit(X, Y, groups=groups)
    alone = SPLMLL("linear", cv=GroupKFold(3), random_state=0)
    alone.fit(StandardScaler().fit_transform(X), Y, groups=groups)
    assert_array_equal(piped[-1].predict_proba(X), alone.predict_proba(X))


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("make", [ThresholdTuner, MultilabelCalibrator])
def test_what_wraps_a_classifier_passes_on_what_it_requested(make: Any) -> None:
    X, Y, weights = weighted_rows()
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        make(BinaryRelevance()).fit(X, Y, sample_weight=weights)
    requested = BinaryRelevance().set_fit_request(sample_weight=True)
    inside = make(requested, random_state=0).fit(X, Y, sample_weight=weights)
    alone = BinaryRelevance().fit(X, Y, sample_weight=weights)
    assert_array_equal(inside.estimator_.predict_proba(X), alone.predict_proba(X))
    plain = make(BinaryRelevance(), random_state=0).fit(X, Y)
    piped = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False), make(requested, random_state=0)
    ).fit(X, Y, sample_weight=weights)
    assert np.abs(piped.predict_proba(X) - plain.predict_proba(X)).max() > 0.001


@pytest.mark.usefixtures("routing")
def test_groups_still_reach_the_splitter_of_a_tuner() -> None:
    X, Y, _ = weighted_rows()
    groups = np.arange(N_ROWS) // 12
    routed = ThresholdTuner(BinaryRelevance(), cv=GroupKFold(3)).fit(X, Y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=False):
        plain = ThresholdTuner(BinaryRelevance(), cv=GroupKFold(3)).fit(X, Y, groups=groups)
    assert_array_equal(routed.thresholds_, plain.thresholds_)


def test_weights_are_copies_for_a_tuner() -> None:
    X, Y, weights = weighted_rows()
    weights[:20] = 0
    fold, copies = np.arange(N_ROWS) % 3, np.repeat(np.arange(N_ROWS), weights.astype(int))

    def pairs(fold: np.ndarray) -> list[Any]:
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]

    by_weights = ThresholdTuner(BinaryRelevance(), "per_label", cv=pairs(fold))
    by_weights.fit(X, Y, sample_weight=weights)
    by_copies = ThresholdTuner(BinaryRelevance(), "per_label", cv=pairs(fold[copies]))
    by_copies.fit(X[copies], Y[copies])
    assert_allclose(by_weights.thresholds_, by_copies.thresholds_, atol=1e-3)
    assert by_weights.capabilities.sample_weight
    plain = ThresholdTuner(BinaryRelevance(), "per_label", cv=pairs(fold)).fit(X, Y)
    assert np.abs(plain.thresholds_ - by_copies.thresholds_).max() > 0.01


def test_a_learner_without_weights_says_so_inside_a_tuner() -> None:
    X, Y, weights = weighted_rows()
    with pytest.raises(TypeError, match="sample_weight"):
        ThresholdTuner(MLkNN()).fit(X, Y, sample_weight=weights)
