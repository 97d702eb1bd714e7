"""Around the questions: the annotation path, which rows come first, labels that look wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, make_problem
from numpy.testing import assert_array_equal
from sklearn.base import clone

from splmll import SPLMLL
from splmll.landmarks.annotation_path import AnnotationPath
from splmll.landmarks.auditing import OtherLabels
from splmll.landmarks.row_order import order_of_rows


@pytest.fixture(scope="module")
def path() -> AnnotationPath:
    X, Y = make_problem(400)
    return SPLMLL("linear", random_state=0).annotation_path(X, Y)


# The annotation path ---------------------------------------------------------------------------


def test_the_path_begins_with_the_prediction_and_ends_with_the_truth(path: AnnotationPath) -> None:
    frame = path.to_frame()
    assert list(frame.columns) == ["micro_f1", "exact_match", "wrong_labels"]
    assert list(frame.index.unique("strategy")) == ["adaptive", "landmarks", "frequent", "random"]
    start, end = frame.xs(0, level="n_questions"), frame.xs(8, level="n_questions")
    assert (start == start.iloc[0]).all(axis=None)
    assert (end == [1.0, 1.0, 0.0]).all(axis=None)


def test_adaptive_questions_are_the_best(path: AnnotationPath) -> None:
    wrong = path.to_frame()["wrong_labels"].unstack("strategy")
    for other in ("landmarks", "frequent", "random"):
        assert (wrong["adaptive"] <= wrong[other]).all()
        assert wrong["adaptive"].sum() < 0.9 * wrong[other].sum()


def test_the_path_leaves_the_estimator_as_it_was() -> None:
    X, Y = make_problem(200)
    model = SPLMLL("linear", random_state=0)
    path = model.annotation_path(X, Y, counts=[2, 0])
    assert path.counts.tolist() == [0, 2]
    assert vars(model) == vars(clone(model))
    for wrong in ([-1], [9], []):
        with pytest.raises(ValueError, match="between 0 and 8, the number of labels"):
            model.annotation_path(X, Y, counts=wrong)
    with pytest.raises(ValueError, match="Every label is constant"):
        model.annotation_path(X, np.zeros_like(Y))


# Which rows first ------------------------------------------------------------------------------


def test_rows_are_all_there_once() -> None:
    X, Y = make_problem(300)
    model = SPLMLL("linear", random_state=0).fit(X[:100], Y[:100])
    order = model.rank_rows(X[100:])
    assert_array_equal(np.sort(order), np.arange(200))
    assert_array_equal(model.rank_rows(X[100:], n=7), order[:7])
    assert_array_equal(model.rank_rows(X[100:], n=1000), order)


def test_repeated_rows_come_last() -> None:
    X, Y = make_problem(300)
    model = SPLMLL("linear", random_state=0).fit(X[:100], Y[:100])
    distinct = X[100:140]
    order = model.rank_rows(np.repeat(distinct, 5, axis=0))
    assert len(set(order[:40] // 5)) == 40  # every row once before any is repeated
    nearly = np.vstack([distinct, distinct + 1e-9])
    assert len(set(model.rank_rows(nearly)[:40] % 40)) == 40


def test_uncertain_rows_come_before_certain_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 20))
    P = np.where(np.arange(400)[:, None] < 40, 0.5, 0.002) * rng.uniform(0.5, 1, (400, 1))
    P = np.tile(P, 3)
    first = order_of_rows(X, P, 20)
    assert (first < 40).mean() > 0.8  # a tenth by chance
    assert (order_of_rows(None, P, 1) < 40).all()


def test_lessons_differ() -> None:
    # Two kinds of uncertain rows, one of them rare: both are among the first few.
    P = np.full((200, 2), 1e-4)
    P[:190, 0], P[190:, 1] = 0.5, 0.5
    first = order_of_rows(None, P + np.linspace(0, 1e-5, 200)[:, None], 2)
    assert (first < 190).sum() == 1


# Labels that look wrong ------------------------------------------------------------------------


def test_planted_errors_are_found_and_named() -> None:
    X, Y = make_problem(600)
    Y[:, 6] = Y[:, 0]
    rng = np.random.default_rng(0)
    planted = np.zeros(Y.shape, dtype=bool)
    # Of two labels that are nearly always the same, one is wrong.
    planted[rng.permutation(600)[:40], 6] = True
    given = pd.DataFrame(np.where(planted, 1 - Y, Y), columns=NAMES)
    before = given.copy()
    model = SPLMLL("linear", random_state=0)
    suspects = model.audit(X, given)
    pd.testing.assert_frame_equal(given, before)
    assert vars(model) == vars(clone(model))
    assert list(suspects.columns) == ["row", "label", "given", "probability", "reason"]
    doubt = (suspects["given"] - suspects["probability"]).abs()
    assert doubt.is_monotonic_decreasing
    assert doubt.min() > 0.5
    labels = suspects["label"].map(NAMES.index)
    assert_array_equal(suspects["given"], given.to_numpy()[suspects["row"], labels])
    found = planted[suspects["row"], labels]
    # Others differ by nature, one in twenty and all of the last label; by chance it were 1 in 120.
    assert found[:40].mean() > 0.3
    assert found.sum() >= 30


def test_reasons_name_the_labels_that_speak_against() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    sand = rng.random(500) < 0.5  # the features do not tell; desert always goes with it
    Y = np.column_stack([X[:, 0] > 0, sand, sand]).astype(int)
    Y[7, 1:] = [1, 0]
    frame = pd.DataFrame(Y, columns=["warm", "sand", "desert"])
    suspects = SPLMLL("linear", random_state=0).audit(X, frame)
    about = suspects[suspects["row"] == 7].set_index("label")
    assert about.loc["sand", "reason"].startswith("given, though")
    assert about.loc["sand", "reason"].endswith("against it: no desert")
    assert about.loc["desert", "reason"].startswith("not given, though")
    assert about.loc["desert", "reason"].endswith("for it: sand")


def test_unknown_labels_are_no_suspects() -> None:
    X, Y = make_problem(300)
    unknown = np.random.default_rng(0).random(Y.shape) < 0.2
    suspects = SPLMLL("linear", random_state=0).audit(X, np.where(unknown, np.nan, Y))
    assert len(suspects)
    assert not unknown[suspects["row"], suspects["label"].astype(int)].any()


def test_other_labels_are_the_regression_on_them() -> None:
    residuals = np.random.default_rng(0).normal(size=(300, 4)) @ np.diag([1, 2, 3, 4])
    residuals[:, 1] += residuals[:, 0]
    others = OtherLabels.learned(residuals, ridge=1e-12)
    rest = residuals[:, [0, 2, 3]]
    expected = rest @ np.linalg.lstsq(rest, residuals[:, 1], rcond=None)[0]
    np.testing.assert_allclose(others(residuals)[:, 1], expected, atol=1e-8)
    parts = others.parts(residuals[5], 1)
    assert parts.sum() == pytest.approx(expected[5])
    assert parts[1] == 0
