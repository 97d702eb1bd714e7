"""partial_fit: chunks of rows add up to one fit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, make_problem, quick_network
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from splmll import SPLMLL, evaluate
from splmll.embeddings import Linear
from splmll.landmarks import out_of_core
from splmll.thresholds import GlobalThreshold

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "budget": {"n_landmarks": 3},
    "given pull": {"pull": 0.1, "cv": 3},
    "threshold": {"threshold": "per_label"},
}


def in_chunks(model: SPLMLL, X: Any, Y: Any, size: int = 70) -> SPLMLL:
    """Every chunk makes a model, so a few of them; the last one is shorter."""
    for start in range(0, X.shape[0], size):
        model.partial_fit(X[start : start + size], Y[start : start + size])
    return model


def assert_same_model(one: SPLMLL, other: SPLMLL, X: Any) -> None:
    assert_array_equal(one.landmarks_, other.landmarks_)
    for name in ("selection_", "recovery_", "intercept_", "predictability_", "representativeness_"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-8)
    assert_allclose(one.decision_function(X), other.decision_function(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=list(SETTINGS))
def test_chunks_equal_one_pass(settings: dict[str, Any]) -> None:
    X, Y = make_problem()
    # Rows are dealt into folds by their numbers, so the chunks do not matter for that either.
    one = SPLMLL("linear", random_state=0, **settings).partial_fit(X, Y)
    many = in_chunks(SPLMLL("linear", random_state=0, **settings), X, Y)
    assert_same_model(one, many, X)
    assert_allclose(one.thresholds_, many.thresholds_, atol=1e-8)
    assert_allclose(one.path_.to_numpy(), many.path_.to_numpy(), atol=1e-8)


def test_a_streamed_model_is_as_good_as_a_fitted_one() -> None:
    X, Y = make_problem(600)
    X_test, Y_test = make_problem(600, seed=1)
    measured = []
    for model in (
        SPLMLL("linear", random_state=0).fit(X, Y),
        in_chunks(SPLMLL("linear", random_state=0), X, Y, 250),
    ):
        scores = model.decision_function(X_test)
        measured.append(evaluate(Y_test, scores, model.predict(X_test)))
    fitted, streamed = measured
    assert abs(streamed["average_precision"] - fitted["average_precision"]) < 0.01
    assert abs(streamed["micro_f1"] - fitted["micro_f1"]) < 0.02


def test_every_chunk_makes_a_model_that_predicts() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=0)
    for start in range(0, 200, 40):
        model.partial_fit(X[start : start + 40], Y[start : start + 40])
        assert model.predict(X).shape == (200, 8)
        assert np.isfinite(model.decision_function(X)).all()


def test_the_first_chunk_may_be_a_single_row() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=0).partial_fit(X[:1], Y[:1])
    assert_array_equal(model.predict(X[:1]), Y[:1])
    model.partial_fit(X[1:2], Y[1:2])
    assert np.isfinite(model.decision_function(X)).all()
    model.partial_fit(X[2:], Y[2:])
    assert model.score(X, Y) > 0.2


def test_chunks_as_frames_and_sparse_matrices() -> None:
    X, Y = make_problem()
    scaled = SPLMLL(Linear(scale="standard"), random_state=0)
    expected = in_chunks(clone(scaled), X, Y)
    stored = in_chunks(clone(scaled), sparse.csr_array(X), sparse.csr_array(Y))
    assert_same_model(stored, expected, X)
    frame = pd.DataFrame(X).add_prefix("f")
    labels = pd.DataFrame(Y, columns=NAMES)
    model = in_chunks(SPLMLL("linear", random_state=0), frame, labels)
    assert list(model.landmarks_) == [NAMES[j] for j in expected.landmarks_]
    assert_allclose(model.decision_function(frame), expected.decision_function(X), atol=1e-8)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[frame.columns[::-1]], labels)


def test_mixed_storage() -> None:
    X, Y = make_problem()
    model = SPLMLL(Linear(scale="standard"), random_state=0)
    model.partial_fit(X[:100], sparse.csr_array(Y[:100]))
    model.partial_fit(sparse.csr_array(X[100:]), sparse.csr_array(Y[100:]))
    expected = SPLMLL(Linear(scale="standard"), random_state=0).partial_fit(X, Y)
    assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-8)


def test_unknown_labels_in_chunks() -> None:
    X, Y = make_problem()
    labels = Y.astype(float)
    labels[np.random.default_rng(0).random(Y.shape) < 0.2] = np.nan
    whole = SPLMLL("linear", random_state=0).partial_fit(X, labels)
    assert_same_model(in_chunks(SPLMLL("linear", random_state=0), X, labels), whole, X)


def test_a_vector_in_chunks() -> None:
    X, Y = make_problem()
    y = np.where(Y[:, 0] == 1, "yes", "no")
    order = np.argsort(y, kind="stable")  # the first chunk has only one value
    model = SPLMLL("linear", random_state=0)
    for part in np.array_split(order, 4):
        model.partial_fit(X[part], y[part], classes=["no", "yes"])
    assert list(model.classes_) == ["no", "yes"]
    expected = SPLMLL("linear", random_state=0).partial_fit(X[order], y[order])
    assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-8)


def test_chunks_must_agree() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear").partial_fit(X, Y)
    with pytest.raises(
        ValueError, match=r"chunk has 5 labels, but the first had 8: every chunk must"
    ):
        model.partial_fit(X, Y[:, :5])
    with pytest.raises(ValueError, match="X has 7 features"):
        model.partial_fit(X[:, :7], Y)
    with pytest.raises(ValueError, match="inconsistent"):
        model.partial_fit(X[:10], Y)


def test_fit_begins_anew() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=0).partial_fit(X[:, :5], Y[:, :3])
    model.fit(X, Y)
    assert_same_model(model, SPLMLL("linear", random_state=0).fit(X, Y), X)
    model.partial_fit(X[:80], Y[:80])
    assert_same_model(model, SPLMLL("linear", random_state=0).partial_fit(X[:80], Y[:80]), X)


def test_a_stopped_stream_goes_on_after_pickling() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=0).partial_fit(X[:90], Y[:90])
    again = pickle.loads(pickle.dumps(model))
    for part in (model, again):
        part.partial_fit(X[90:], Y[90:])
    assert_same_model(model, again, X)


@pytest.mark.parametrize(
    "embedding", [quick_network(), "kernel", "svm", "auto", ["linear", "kernel"]], ids=str
)
def test_only_the_linear_embedding_streams(embedding: Any) -> None:
    model = SPLMLL(embedding)
    for able in (SPLMLL("linear"), SPLMLL(Linear(ridge=0.1))):
        assert hasattr(able, "partial_fit")
        assert hasattr(able, "fit_batches")
    assert not hasattr(model, "partial_fit")
    assert hasattr(model, "fit_batches") == (embedding == "auto")  # "auto" gathers, or descends
    with pytest.raises(AttributeError) as caught:
        model.partial_fit  # noqa: B018
    words = str(caught.value) + str(caught.value.__cause__)
    assert 'needs embedding="linear"' in words


# The sample on which thresholds are tuned ------------------------------------------------------


def test_thresholds_are_tuned_on_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = make_problem(400)
    monkeypatch.setattr(out_of_core, "SAMPLE_ROWS", 120)
    model = in_chunks(SPLMLL("linear", random_state=0), X, Y, 130)
    X_sample, Y_sample, fold = model._stream.sample()
    assert X_sample.shape == (120, 10)
    assert Y_sample.shape == (120, 8)
    assert set(fold) == set(range(5))
    # Every sampled row is a row of the stream with its own labels.
    rows = [int(np.flatnonzero((x == X).all(axis=1))[0]) for x in X_sample]
    assert len(set(rows)) == 120
    assert_array_equal(Y[rows], Y_sample)
    assert max(rows) > 300
    assert isinstance(model.threshold_, GlobalThreshold)
    assert model.threshold_.value != 0.5
    # Statistics come from all rows, so the model does not change with the sample.
    monkeypatch.undo()
    full = in_chunks(SPLMLL("linear", random_state=0), X, Y, 130)
    assert abs(full.threshold_.value - model.threshold_.value) < 0.1


def test_the_sample_is_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out_of_core, "SAMPLE_ROWS", 50)
    counts = np.zeros(200)
    X, Y = np.arange(200.0)[:, None], np.ones((200, 1))
    for seed in range(60):
        kept = out_of_core.Stream(1, 1, 2, seed)
        for start in range(0, 200, 30):
            kept.add(X[start : start + 30], Y[start : start + 30])
        counts[kept.sample()[0][:, 0].astype(int)] += 1
    assert counts.sum() == 60 * 50
    # 15 expected for every row; quarters of the stream are sums of 50 rows.
    quarters = counts.reshape(4, 50).sum(axis=1)
    assert np.abs(quarters - 750).max() < 100
