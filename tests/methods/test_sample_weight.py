"""Weights of rows: a whole number is that many copies, and who cannot use weights says so."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

from splmll.methods import (
    CPLST,
    LEML,
    METHODS,
    MLCSSP,
    MOPLMS,
    PBR,
    PLST,
    BinaryRelevance,
    CalibratedLabelRanking,
    EnsembleOfClassifierChains,
    EnsembleOfPrunedSets,
    FaIE,
    LabelPowerset,
    MLkNN,
    RAkEL,
    ThresholdedRandomForest,
)
from splmll.model_selection import ThresholdTuner


def weighted_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    Y = (X[:, :3] + rng.normal(size=(40, 3)) > 0.3).astype(int)
    Y[:, 2] = 0
    Y[0, 2] = 1  # of weight 0: without that row the label is empty
    weights = rng.integers(0, 4, 40)
    weights[0] = 0
    return X, Y, weights


@pytest.mark.parametrize(
    "learner",
    [
        None,
        LogisticRegression(tol=1e-8),
        make_pipeline(MinMaxScaler(), LogisticRegression(tol=1e-8)),
        DecisionTreeClassifier(max_depth=3, random_state=0),
    ],
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_weights_are_copies(learner: Any, make: Any) -> None:
    X, Y, weights = weighted_rows()
    X = np.abs(X)
    if make is sparse.csr_array and learner is not None and hasattr(learner, "steps"):
        pytest.skip("MinMaxScaler takes no sparse features")
    copies = np.repeat(np.arange(40), weights)
    by_copies = BinaryRelevance(learner).fit(make(X[copies]), Y[copies])
    by_weights = BinaryRelevance(learner).fit(make(X), Y, sample_weight=weights)
    assert_allclose(
        by_weights.predict_proba(make(X)), by_copies.predict_proba(make(X)), rtol=0, atol=1e-4
    )
    unweighted = BinaryRelevance(learner).fit(make(X), Y)
    difference = by_weights.predict_proba(make(X)) - unweighted.predict_proba(make(X))
    assert np.abs(difference).max() > 0.01


@pytest.mark.parametrize(
    "model", [LabelPowerset(), RAkEL(random_state=0), CalibratedLabelRanking()]
)
def test_weights_are_copies_in_methods_that_draw_no_rows(model: Any) -> None:
    X, Y, weights = weighted_rows()
    copies = np.repeat(np.arange(40), weights)
    by_copies = clone(model).fit(X[copies], Y[copies]).predict_proba(X)
    by_weights = clone(model).fit(X, Y, sample_weight=weights).predict_proba(X)
    assert_allclose(by_weights, by_copies, rtol=0, atol=1e-3)
    assert np.abs(by_weights - clone(model).fit(X, Y).predict_proba(X)).max() > 0.01


LABEL_SPACE: list[Any] = [
    PLST(n_components=2),
    CPLST(n_components=1),
    FaIE(n_components=2),
    FaIE(n_components=1, center=True, predictability_weight=5.0),
    MOPLMS(n_landmarks=1),
    # The draw of landmarks depends on the rows: copies get the same only where all are taken.
    MLCSSP(n_landmarks=1.0, random_state=0),
    PBR(n_landmarks=1.0, random_state=0),
    LEML(n_components=2, max_iter=2000, tol=1e-12),
    LEML(n_components=2, solver="cg", max_iter=500, tol=1e-10),
    LEML(n_components=2, loss="logistic", max_iter=500, tol=1e-10),
    PLST(n_components=2, regressor=Ridge(alpha=2.0)),
    PLST(
        n_components=2,
        regressor=make_pipeline(MinMaxScaler(), LinearSVR(tol=1e-8, C=0.1, random_state=0)),
    ),
]


@pytest.mark.parametrize("model", LABEL_SPACE, ids=repr)
@pytest.mark.parametrize("n_features", [4, 60])  # fewer than rows, and more of them
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_weights_are_copies_in_label_space_methods(model: Any, n_features: int, make: Any) -> None:
    if make is sparse.csr_array and hasattr(getattr(model, "regressor", None), "steps"):
        pytest.skip("MinMaxScaler takes no sparse features")
    X, Y, weights = weighted_rows()
    rng = np.random.default_rng(1)
    X = X @ rng.normal(size=(4, n_features)) + rng.normal(size=(40, n_features)) + 1.0
    copies = np.repeat(np.arange(40), weights)
    by_copies = clone(model).fit(make(X[copies]), Y[copies]).decision_function(make(X))
    by_weights = clone(model).fit(make(X), Y, sample_weight=weights).decision_function(make(X))
    assert_allclose(by_weights, by_copies, rtol=0, atol=1e-3)
    left_out = np.flatnonzero(weights)
    without = clone(model).fit(make(X[left_out]), Y[left_out], weights[left_out])
    assert_allclose(without.decision_function(make(X)), by_weights, rtol=0, atol=1e-9)
    unweighted = clone(model).fit(make(X), Y).decision_function(make(X))
    assert np.abs(by_weights - unweighted).max() > 0.01


def test_unknown_labels_and_weights_go_together() -> None:
    X, Y, weights = weighted_rows()
    Y = np.where(np.random.default_rng(2).random(Y.shape) < 0.2, np.nan, Y)
    copies = np.repeat(np.arange(40), weights)
    model = LEML(n_components=2, max_iter=500, tol=1e-10)
    by_copies = clone(model).fit(X[copies], Y[copies]).decision_function(X)
    by_weights = clone(model).fit(X, Y, sample_weight=weights).decision_function(X)
    assert_allclose(by_weights, by_copies, rtol=0, atol=1e-3)


@pytest.mark.parametrize("model", [PLST(), PBR(n_landmarks=1), LEML(n_components=1)])
def test_a_label_that_all_weighted_rows_have_stays_certain(model: Any) -> None:
    X, Y, _ = weighted_rows()
    Y[:, 2] = 1
    weights = np.random.default_rng(3).random(40) + 0.1  # no sum of them is exact
    model.fit(X, Y, sample_weight=weights)
    assert model.predict(X)[:, 2].all()
    if not isinstance(model, LEML):
        assert_array_equal(model.label_mean_[2], 1.0)


def test_a_row_of_weight_zero_is_unknown_to_a_forest() -> None:
    X, Y, weights = weighted_rows()
    forest = ThresholdedRandomForest(20, random_state=0)
    by_weights = clone(forest).fit(X, Y, sample_weight=weights)
    kept = np.flatnonzero(weights)
    without = clone(forest).fit(X[kept], Y[kept], weights[kept])
    assert_array_equal(without.predict_proba(X), by_weights.predict_proba(X))
    assert by_weights.constants_[2] == 0


@pytest.mark.parametrize(
    "model",
    [
        EnsembleOfClassifierChains(n_estimators=3, random_state=0),
        EnsembleOfPrunedSets(random_state=0),
        ThresholdedRandomForest(100, min_samples_leaf=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_weights_reach_the_learners_of_methods_that_draw_rows(model: Any) -> None:
    X, Y, _ = weighted_rows()
    plain = clone(model).fit(X, Y).predict_proba(X)
    heavy = clone(model).fit(X, Y, np.where(Y[:, 0] == 1, 10.0, 1.0)).predict_proba(X)
    assert heavy[:, 0].mean() > plain[:, 0].mean() + 0.05
    if not isinstance(model, ThresholdedRandomForest):  # it draws its rows otherwise then
        equal = clone(model).fit(X, Y, np.ones(40)).predict_proba(X)
        assert_allclose(equal, plain, rtol=0, atol=1e-6)


def test_a_tuned_rule_uses_models_with_weights() -> None:
    X, Y, _ = weighted_rows()
    X, Y = np.tile(X, (4, 1)), np.tile(Y, (4, 1))
    weights = np.where(Y[:, 0] == 1, 20.0, 1.0)
    plain = BinaryRelevance(threshold="per_label").fit(X, Y)
    weighted = BinaryRelevance(threshold="per_label").fit(X, Y, weights)
    assert weighted.thresholds_[0] > plain.thresholds_[0]


def test_a_learner_without_weights_is_named() -> None:
    X, Y, weights = weighted_rows()
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        BinaryRelevance(KNeighborsClassifier()).fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        PLST(regressor=KNeighborsRegressor()).fit(X, Y, sample_weight=weights)


def test_bad_weights_are_refused() -> None:
    X, Y, weights = weighted_rows()
    with pytest.raises(ValueError, match=r"sample_weight\.shape"):
        BinaryRelevance().fit(X, Y, sample_weight=weights[:-1])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        BinaryRelevance().fit(X, Y, sample_weight=weights - 2)


@pytest.mark.parametrize("name", METHODS)
def test_the_capability_says_who_takes_weights(name: str) -> None:
    method = METHODS[name].estimator
    assert method.capabilities.sample_weight == has_fit_parameter(method(), "sample_weight")


@pytest.mark.parametrize("model", [MLkNN(), ThresholdTuner(MLkNN())])
def test_who_cannot_use_weights_says_so(model: Any) -> None:
    X, Y, weights = weighted_rows()
    assert not model.capabilities.sample_weight
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(X, Y, sample_weight=weights)
