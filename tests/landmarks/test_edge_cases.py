"""Labels, rows and features at the edge of what can be learned: each case is defined."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from landmark_problems import make_problem, quick_network
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from splmll import SPLMLL, evaluate
from splmll.embeddings import KernelSVM, Linear, Network, Trees

EVERY_KIND = {
    "linear": SPLMLL("linear", random_state=0),
    "budget": SPLMLL("linear", n_landmarks=2, random_state=0),
    "given pull": SPLMLL("linear", pull=0.1, threshold=0.5, random_state=0),
    "svm": SPLMLL("svm", random_state=0),
    "logistic": SPLMLL(LogisticRegression(), random_state=0),
    "kernel": SPLMLL("kernel", random_state=0),
    "kernel svm": SPLMLL(KernelSVM(), random_state=0),
    "network": SPLMLL(quick_network(max_epochs=4), cv=2, random_state=0),
    "trees": SPLMLL(Trees(n_estimators=5), cv=2, random_state=0),
    "list": SPLMLL(["linear", "kernel"], cv=2, random_state=0),
}

every_kind = pytest.mark.parametrize("model", EVERY_KIND.values(), ids=EVERY_KIND)


def assert_sound(model: SPLMLL, X: Any, n_labels: int) -> None:
    for output in (model.decision_function(X), model.predict_proba(X), model.selection_):
        assert np.isfinite(output).all()
    assert model.predict(X).shape == (len(X), n_labels)
    assert np.isin(model.predict(X), (0, 1)).all()
    assert model.predictability_.shape == model.representativeness_.shape == (n_labels,)


@every_kind
def test_constant_labels_keep_their_value(model: SPLMLL) -> None:
    X, Y = make_problem(80)
    Y[:, 2], Y[:, 5] = 0, 1
    model.fit(X, Y)
    X_new, _ = make_problem(50, seed=1)
    assert_sound(model, X_new, 8)
    assert not model.predict(X_new)[:, 2].any()
    assert model.predict(X_new)[:, 5].all()
    assert not {2, 5} & set(model.landmarks_)
    assert_array_equal(model.predictability_[[2, 5]], 0)
    assert_array_equal(model.representativeness_[[2, 5]], 0)
    # The score of a constant label does not depend on the row.
    assert np.ptp(model.decision_function(X_new)[:, [2, 5]], axis=0).max() < 1e-6


@every_kind
@pytest.mark.parametrize("value", [0, 1])
def test_all_labels_constant(model: SPLMLL, value: int) -> None:
    X, Y = make_problem(60)
    model.fit(X, np.full_like(Y, value))
    assert_sound(model, X, 8)
    assert (model.predict(X) == value).all()
    assert len(model.landmarks_) == 0
    assert model.transform(X).shape == (60, 0)
    assert_allclose(model.explain(X[:3]).scores, np.full((3, 8), value), atol=1e-12)


@every_kind
def test_rows_without_labels(model: SPLMLL) -> None:
    X, Y = make_problem(80)
    Y[:60] = 0
    assert_sound(model.fit(X, Y), X, 8)


@every_kind
def test_duplicate_labels(model: SPLMLL) -> None:
    X, Y = make_problem(80)
    twice = np.hstack([Y[:, :4], Y[:, :4]])
    model.fit(X, twice)
    assert_sound(model, X, 8)
    scores = model.decision_function(X)
    if not isinstance(model.embedding, Network):
        # Whichever of the two is a landmark, it carries both.
        assert_allclose(np.corrcoef(scores.T)[:4, 4:].diagonal(), 1.0, atol=0.05)


@every_kind
def test_one_label(model: SPLMLL) -> None:
    model = clone(model)
    if model.n_landmarks is not None:
        model.set_params(n_landmarks=1)  # all the budget that one label allows
    X, Y = make_problem(80)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, Y[:, [0]])
    assert_sound(model, X, 1)
    assert model.decision_function(X).shape == (80, 1)
    assert list(model.landmarks_) == [0]
    vector = clone(model).fit(X, Y[:, 0])
    assert_array_equal(vector.decision_function(X), model.decision_function(X)[:, 0])


@every_kind
def test_fewer_rows_than_labels(model: SPLMLL) -> None:
    X, _ = make_problem(12)
    Y = np.random.default_rng(0).integers(0, 2, (12, 30))
    assert_sound(model.fit(X, Y), X, 30)


@every_kind
def test_two_rows(model: SPLMLL) -> None:
    X, _ = make_problem(2)
    Y = np.array([[0, 1, 1, 0], [1, 0, 1, 0]])
    model.fit(X, Y)
    assert_sound(model, X, 4)
    assert model.predict(X)[:, 2].all()
    assert not model.predict(X)[:, 3].any()


@every_kind
def test_one_row(model: SPLMLL) -> None:
    X, Y = make_problem(1)
    with pytest.raises(ValueError, match=r"n_samples=1: .* at least 2 rows; add rows"):
        model.fit(X, Y)


@every_kind
def test_a_label_of_a_single_row(model: SPLMLL) -> None:
    X, Y = make_problem(80)
    Y[:, 3] = 0
    Y[17, 3] = 1
    model.fit(X, Y)
    assert_sound(model, X, 8)
    assert model.predict(X)[:, 3].mean() < 0.5


@every_kind
def test_duplicated_and_constant_features(model: SPLMLL) -> None:
    X, Y = make_problem(80)
    awkward = np.hstack([X, X, np.full((80, 1), 7.0), np.zeros((80, 1)), 1e4 + X[:, :1]])
    assert_sound(model.fit(awkward, Y), awkward, 8)
    only_constant = np.full((80, 2), 3.0)
    model.fit(only_constant, Y)
    assert_sound(model, only_constant, 8)
    assert np.ptp(model.decision_function(only_constant), axis=0).max() < 1e-6


@every_kind
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_strange_numbers_in_features_are_refused(model: SPLMLL, value: float) -> None:
    X, Y = make_problem(60)
    X[3, 4] = value
    with pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
        model.fit(sparse.csr_array(X), Y)


def test_duplicated_features_change_nothing_but_the_ridge() -> None:
    X, Y = make_problem()
    one = SPLMLL(Linear(ridge=1e-8), random_state=0).fit(X, Y).decision_function(X)
    two = SPLMLL(Linear(ridge=1e-8), random_state=0).fit(np.hstack([X, X]), Y)
    assert_allclose(two.decision_function(np.hstack([X, X])), one, atol=1e-5)


# Units of features ------------------------------------------------------------------------------


def test_raw_features_ruin_a_network_only_without_scaling() -> None:
    X, Y = make_problem(300)
    X_test, Y_test = make_problem(300, seed=1)
    raw, raw_test = X.copy(), X_test.copy()
    raw[:, -1] = 1e6 * (raw[:, -1] + 5)
    raw_test[:, -1] = 1e6 * (raw_test[:, -1] + 5)
    measured = {}
    for name, scale, x, x_test in (
        ("tidy", "standard", X, X_test),
        ("raw, scaled", "standard", raw, raw_test),
        ("raw", None, raw, raw_test),
    ):
        model = SPLMLL(quick_network(scale=scale), cv=3, random_state=0).fit(x, Y)
        scores = model.decision_function(x_test)
        measured[name] = evaluate(Y_test, scores, None, ["average_precision"], ties="half")
    tidy, scaled, ruined = (entry["average_precision"] for entry in measured.values())
    assert abs(scaled - tidy) < 0.01
    assert ruined < scaled - 0.1


@pytest.mark.parametrize("embedding", ["linear", "kernel", KernelSVM()], ids=str)
def test_the_unit_of_a_feature_does_not_matter_with_scaling(embedding: Any) -> None:
    X, Y = make_problem()
    units = np.geomspace(1e-3, 1e6, X.shape[1])
    one = SPLMLL(embedding, random_state=0).fit(X, Y).decision_function(X)
    other = SPLMLL(embedding, random_state=0).fit(X * units, Y).decision_function(X * units)
    assert_allclose(other, one, atol=1e-6)
