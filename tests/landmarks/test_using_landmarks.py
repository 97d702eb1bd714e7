"""What landmarks are for: completing labels, explaining scores, features of few columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, make_problem, quick_network
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from splmll import SPLMLL, load_dataset


@pytest.fixture(scope="module")
def model() -> SPLMLL:
    X, Y = make_problem()
    return SPLMLL("linear", n_landmarks=4, random_state=0).fit(X, pd.DataFrame(Y, columns=NAMES))


@pytest.fixture(scope="module")
def numbered() -> SPLMLL:
    X, Y = make_problem()
    return SPLMLL("linear", n_landmarks=4, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "beginning"),
    [
        ({"n_landmarks": 4}, "4 of 8 labels are landmarks. Out of"),
        ({"n_landmarks": 8}, "All 8 labels are landmarks: every label is needed"),
        (
            {"n_landmarks": 4, "pull": np.inf},
            "4 of 8 labels are landmarks. Each keeps its own prediction, rescaled. Out of",
        ),
    ],
)
def test_the_summary_says_what_becomes_of_predictions(
    settings: dict[str, Any], beginning: str
) -> None:
    X, Y = make_problem()
    summary = SPLMLL("linear", random_state=0, **settings).fit(X, Y).summary_
    assert summary.startswith(beginning)
    assert ("gains nothing" in summary) == (settings == {"n_landmarks": 8})


# recover ---------------------------------------------------------------------------------------


def test_recovery_is_the_best_linear_use_of_the_landmarks(numbered: SPLMLL) -> None:
    _, Y = make_problem()
    landmarks = numbered.landmarks_
    scores = numbered.recover(Y[:, landmarks], return_scores=True)
    error = np.mean((scores - Y) ** 2)
    centred = Y - Y.mean(axis=0)
    best = np.linalg.lstsq(centred[:, landmarks], centred, rcond=None)[0]
    least = np.mean((centred[:, landmarks] @ best - centred) ** 2)
    assert least <= error < least + 0.01
    # It is the ridge regression of rho = 0.1 mean variances.
    G = np.cov(Y.T, bias=True)
    rho = 0.1 * np.diag(G).mean()
    A = np.linalg.solve(G[np.ix_(landmarks, landmarks)] + rho * np.eye(4), G[landmarks])
    assert_allclose(scores, centred[:, landmarks] @ A + Y.mean(axis=0), atol=1e-10)


def test_unknown_landmarks_are_left_out_row_by_row(numbered: SPLMLL) -> None:
    _, Y = make_problem()
    known = Y[:, numbered.landmarks_].astype(float)
    rng = np.random.default_rng(0)
    known[rng.random(known.shape) < 0.4] = np.nan
    known[0] = np.nan
    together = numbered.recover(known, return_scores=True)
    one_by_one = np.vstack([numbered.recover(row[None], return_scores=True) for row in known])
    assert_allclose(together, one_by_one, atol=1e-12)
    # A row of which nothing is known gets the means.
    assert_allclose(together[0], Y.mean(axis=0), atol=1e-12)
    # With one landmark known it is the regression on that one.
    single = np.full((1, 4), np.nan)
    single[0, 2] = 1
    j = numbered.landmarks_[2]
    G = np.cov(Y.T, bias=True)
    slope = G[j] / (G[j, j] + 0.1 * np.diag(G).mean())
    expected = Y.mean(axis=0) + (1 - Y[:, j].mean()) * slope
    assert_allclose(numbered.recover(single, return_scores=True)[0], expected, atol=1e-10)


def test_known_landmarks_keep_their_value(numbered: SPLMLL) -> None:
    rng = np.random.default_rng(0)
    known = rng.integers(0, 2, (500, 4)).astype(float)  # unlikely combinations as well
    known[rng.random(known.shape) < 0.3] = np.nan
    labels = numbered.recover(known)
    assert labels.shape == (500, 8)
    given = ~np.isnan(known)
    assert_array_equal(labels[:, numbered.landmarks_][given], known[given])
    assert np.isin(labels, (0, 1)).all()


def test_more_known_landmarks_recover_better(numbered: SPLMLL) -> None:
    _, Y = make_problem(1000, seed=1)
    known = Y[:, numbered.landmarks_].astype(float)
    errors = []
    for count in range(5):
        partly = known.copy()
        partly[:, count:] = np.nan
        errors.append(np.mean((numbered.recover(partly, return_scores=True) - Y) ** 2))
    assert errors == sorted(errors, reverse=True)
    assert errors[4] < 0.5 * errors[0]


def test_a_frame_by_name_in_any_order(model: SPLMLL, numbered: SPLMLL) -> None:
    _, Y = make_problem()
    frame = pd.DataFrame(Y, columns=NAMES, index=[f"row {i}" for i in range(200)])
    given = frame[list(model.landmarks_)]
    completed = model.recover(given)
    assert list(completed.columns) == NAMES
    assert list(completed.index) == list(frame.index)
    assert_array_equal(completed.to_numpy(), numbered.recover(Y[:, numbered.landmarks_]))
    pd.testing.assert_frame_equal(model.recover(given[given.columns[::-1]]), completed)
    pd.testing.assert_frame_equal(model.recover(frame), completed)  # more columns than needed


def test_a_frame_with_empty_cells(model: SPLMLL, numbered: SPLMLL) -> None:
    known = np.array([[1, np.nan, 0, np.nan], [np.nan, np.nan, np.nan, 1]])
    frame = pd.DataFrame(known, columns=model.landmarks_)
    expected = numbered.recover(known)
    assert_array_equal(model.recover(frame).to_numpy(), expected)
    assert_array_equal(model.recover(frame.astype("Int64")).to_numpy(), expected)


def test_missing_columns_are_named(model: SPLMLL, numbered: SPLMLL) -> None:
    first, *rest = model.landmarks_
    with pytest.raises(ValueError, match=rf"landmarks \['{first}'\] have no column.*NaN"):
        model.recover(pd.DataFrame(np.ones((2, 3)), columns=rest))
    with pytest.raises(ValueError, match=r"Got 3 columns for 4 landmarks: give one column for"):
        numbered.recover(np.ones((2, 3)))
    with pytest.raises(ValueError, match="0 or 1"):
        numbered.recover(np.full((2, 4), 2))
    with pytest.raises(NotFittedError):
        SPLMLL().recover(np.ones((2, 3)))


def test_a_frame_with_numbers_for_names(numbered: SPLMLL) -> None:
    _, Y = make_problem()
    expected = numbered.recover(Y[:, numbered.landmarks_])
    frame = pd.DataFrame(Y)[list(numbered.landmarks_)[::-1]]
    assert_array_equal(numbered.recover(frame), expected)


def test_recovered_labels_come_in_the_form_of_y() -> None:
    X, Y = make_problem()
    stored = SPLMLL("linear", n_landmarks=4, random_state=0).fit(X, sparse.csr_array(Y))
    recovered = stored.recover(Y[:, stored.landmarks_])
    assert sparse.issparse(recovered)
    assert recovered.shape == Y.shape


def test_constant_labels_are_recovered_as_they_were() -> None:
    X, Y = make_problem()
    Y[:, 3], Y[:, 5] = 0, 1
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    recovered = model.recover(Y[:, model.landmarks_])
    assert not recovered[:, 3].any()
    assert recovered[:, 5].all()


def test_recovery_from_true_landmarks_on_yeast(data_home: Any) -> None:
    X, Y, _, Y_test = load_dataset("yeast", data_home=data_home).split()
    model = SPLMLL("linear", n_landmarks=5, random_state=0).fit(X, Y)
    Y_test = np.asarray(Y_test)
    hidden = np.setdiff1d(np.arange(14), model.landmarks_)
    known = Y_test[:, model.landmarks_]
    scores = model.recover(known, return_scores=True)[:, hidden]
    error = np.mean((scores - Y_test[:, hidden]) ** 2)
    of_the_mean = np.mean((np.asarray(Y).mean(axis=0)[hidden] - Y_test[:, hidden]) ** 2)
    assert error < 0.8 * of_the_mean
    # As labels: fewer wrong cells than with the more frequent value of every label.
    recovered = model.recover(known)[:, hidden]
    majority = (np.asarray(Y).mean(axis=0) >= 0.5)[hidden]
    assert (recovered != Y_test[:, hidden]).mean() < (majority != Y_test[:, hidden]).mean()


# explain ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        SPLMLL("linear", random_state=0),
        SPLMLL("linear", n_landmarks=2, random_state=0),
        SPLMLL("svm", n_landmarks=5, random_state=0),
        SPLMLL(quick_network(), cv=2, random_state=0),
    ],
    ids=["linear", "two", "svm", "network"],
)
def test_contributions_sum_to_the_score(estimator: SPLMLL) -> None:
    X, Y = make_problem()
    estimator.fit(X, Y)
    explanation = estimator.explain(X[:20])
    n_landmarks = len(estimator.landmarks_)
    assert explanation.contributions.shape == (20, n_landmarks, 8)
    total = explanation.base + explanation.contributions.sum(axis=1)
    scores = estimator.decision_function(X[:20]) + estimator.offset_
    assert_allclose(total, scores, rtol=0, atol=1e-6)
    assert_allclose(explanation.scores, scores, rtol=0, atol=1e-6)
    assert_array_equal(explanation.predicted, estimator.predict(X[:20]))


def test_a_contribution_belongs_to_its_landmark(numbered: SPLMLL) -> None:
    X, _ = make_problem()
    explanation = numbered.explain(X[:5])
    f = numbered.transform(X[:5])
    for i in range(4):
        expected = f[:, [i]] * numbered.recovery_[i]
        assert_allclose(explanation.contributions[:, i], expected)


def test_the_table_of_an_explanation(model: SPLMLL) -> None:
    X, _ = make_problem()
    explanation = model.explain(X[:20])
    row = int(explanation.predicted.sum(axis=1).argmax())
    table = explanation.to_frame(row)
    assert list(table.columns) == ["score", "base", *model.landmarks_]
    assert set(table.index) == {NAMES[j] for j in np.flatnonzero(explanation.predicted[row])}
    assert table["score"].is_monotonic_decreasing
    assert_allclose(table.drop(columns="score").sum(axis=1), table["score"], atol=1e-10)
    every = explanation.to_frame(row, only_predicted=False)
    assert set(every.index) == set(NAMES)


def test_unfitted_models_say_so() -> None:
    X, _ = make_problem()
    for method in ("transform", "explain", "get_feature_names_out"):
        with pytest.raises(NotFittedError):
            getattr(SPLMLL(), method)(X)
