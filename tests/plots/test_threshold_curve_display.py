"""ThresholdCurveDisplay: its curves are the measures, and the marked threshold is the used one."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, hamming_loss
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splmll import SPLMLL, evaluate
from splmll.methods import BinaryRelevance
from splmll.model_selection import ThresholdTuner
from splmll.plots import ThresholdCurveDisplay
from splmll.thresholds import fit_threshold

MEASURES = ["micro_f1", "macro_f1", "hamming_loss"]
Problem = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    Y = (X @ rng.normal(size=(6, 4)) + rng.normal(size=(300, 4)) > 1).astype(int)
    return X[:200], Y[:200], X[200:], Y[200:]


@pytest.fixture
def predictions() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    scores = rng.beta(0.6, 2.0, size=(80, 5))
    return (rng.random((80, 5)) < scores).astype(int), scores


def test_curves_are_the_measures_at_every_threshold(
    predictions: tuple[np.ndarray, np.ndarray],
) -> None:
    Y, scores = predictions
    display = ThresholdCurveDisplay.from_predictions(Y, scores)
    thresholds = display.curves.index
    assert thresholds[0] == scores.min()
    assert thresholds[-1] == scores.max()
    assert len(thresholds) > 100
    for name, line in display.lines_.items():
        assert_array_equal(line.get_xdata(), thresholds)
        assert_array_equal(line.get_ydata(), display.curves[name])
    for threshold, line in display.curves.iloc[::17].iterrows():
        labels = (scores >= threshold).astype(int)
        expected = [
            f1_score(Y, labels, average="micro"),
            f1_score(Y, labels, average="macro", zero_division=0),
            hamming_loss(Y, labels),
        ]
        assert_allclose(line[MEASURES], expected)


def test_best_is_where_a_fine_search_finds_it(predictions: tuple[np.ndarray, np.ndarray]) -> None:
    Y, scores = predictions
    display = ThresholdCurveDisplay.from_predictions(Y, scores)
    for name, rule in (("micro_f1", "micro_f1"), ("hamming_loss", "hamming")):
        exact = fit_threshold(rule, Y, scores)
        reached = evaluate(Y, None, exact.apply(scores), [name])[name]
        assert display.curves.loc[display.best[name], name] == pytest.approx(reached, abs=0.01)
    dots = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert [float(dot.get_xdata()[0]) for dot in dots] == display.best.tolist()


@pytest.mark.parametrize("wrapped", [False, True], ids=["model", "search of a pipeline"])
def test_the_threshold_of_a_model_is_marked(problem: Problem, wrapped: bool) -> None:
    X, Y, X_test, Y_test = problem
    model = SPLMLL("linear", random_state=0)
    if wrapped:
        model = GridSearchCV(
            make_pipeline(StandardScaler(), model), {"splmll__n_landmarks": [3]}, cv=2
        )
    model.fit(X, Y)
    last = model.best_estimator_[-1] if wrapped else model
    display = ThresholdCurveDisplay.from_estimator(model, X_test, Y_test)
    assert display.chosen == last.thresholds_[0] != 0
    assert set(display.chosen_.get_xdata()) == {display.chosen}
    expected = evaluate(Y_test, None, model.predict(X_test), MEASURES)
    assert display.curves.loc[display.chosen].to_dict() == pytest.approx(expected)
    written = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert written[0] == f"chosen: {display.chosen:.3g}"
    assert written[1].startswith(f"Micro-F1 ↑ (chosen {expected['micro_f1']:.3f}, best ")


@pytest.mark.parametrize("rule", ["per_label", "top_r", "linear"])
def test_several_thresholds_are_not_marked_as_one(problem: Problem, rule: str) -> None:
    X, Y, X_test, Y_test = problem
    model = ThresholdTuner(BinaryRelevance(), rule=rule, random_state=0).fit(X, Y)
    display = ThresholdCurveDisplay.from_estimator(model, X_test, Y_test)
    assert display.chosen is None
    assert display.chosen_ is None
    assert set(display.lines_) == set(MEASURES)


def test_classifiers_of_scikit_learn_have_their_usual_threshold(problem: Problem) -> None:
    X, Y, X_test, Y_test = problem
    several = MultiOutputClassifier(LogisticRegression()).fit(X, Y)
    display = ThresholdCurveDisplay.from_estimator(several, X_test, Y_test)
    expected = evaluate(Y_test, None, several.predict(X_test), MEASURES)
    assert display.chosen == 0.5
    assert display.curves.loc[0.5].to_dict() == pytest.approx(expected)
    single = LogisticRegression().fit(X, Y[:, 0])
    display = ThresholdCurveDisplay.from_estimator(single, X_test, Y_test[:, 0])
    assert display.chosen == 0.0
    right = np.mean(single.predict(X_test) == Y_test[:, 0])
    assert display.curves.loc[0.0, "hamming_loss"] == pytest.approx(1 - right)


def test_labels_and_scores_in_every_form(predictions: tuple[np.ndarray, np.ndarray]) -> None:
    Y, scores = predictions
    expected = ThresholdCurveDisplay.from_predictions(Y, scores).curves
    names = list("abcde")
    labels, table = pd.DataFrame(Y, columns=names), pd.DataFrame(scores, columns=names)[names[::-1]]
    before = table.copy()
    display = ThresholdCurveDisplay.from_predictions(labels, table)
    pd.testing.assert_frame_equal(display.curves, expected)
    pd.testing.assert_frame_equal(table, before)
    display = ThresholdCurveDisplay.from_predictions(sparse.csr_array(Y), scores)
    pd.testing.assert_frame_equal(display.curves, expected)


def test_measures_and_axes_can_be_chosen(predictions: tuple[np.ndarray, np.ndarray]) -> None:
    figure, ax = plt.subplots()
    display = ThresholdCurveDisplay.from_predictions(
        *predictions, measures=["jaccard", "subset_accuracy"], ax=ax
    )
    assert list(display.curves) == ["jaccard", "subset_accuracy"]
    assert (display.ax_, display.figure_) == (ax, figure)
    single = ThresholdCurveDisplay.from_predictions(*predictions, measures="jaccard")
    assert_array_equal(single.curves["jaccard"], display.curves["jaccard"])


def test_equally_good_thresholds_are_marked_in_their_middle() -> None:
    Y, scores = np.array([[1], [1], [0], [0]]), np.array([[0.9], [0.8], [0.2], [0.1]])
    display = ThresholdCurveDisplay.from_predictions(Y, scores, measures=["micro_f1"])
    assert display.best["micro_f1"] == pytest.approx(0.5, abs=0.05)
    assert display.curves.loc[display.best["micro_f1"], "micro_f1"] == 1.0


def test_errors_say_what_to_do(predictions: tuple[np.ndarray, np.ndarray]) -> None:
    Y, scores = predictions
    with pytest.raises(ValueError, match=r"no measure 'ranking_loss'.*hamming_loss, micro_f1"):
        ThresholdCurveDisplay.from_predictions(Y, scores, measures=["ranking_loss"])
    with pytest.raises(ValueError, match="Give at least one measure"):
        ThresholdCurveDisplay.from_predictions(Y, scores, measures=[])
    with pytest.raises(ValueError, match="Scores of shape"):
        ThresholdCurveDisplay.from_predictions(Y, scores[:, :2])
    with pytest.raises(ValueError, match="give finite scores"):
        ThresholdCurveDisplay.from_predictions(Y, np.where(scores > 0.5, np.nan, scores))
    with pytest.raises(ValueError, match="No label is known"):
        ThresholdCurveDisplay.from_predictions(np.full(Y.shape, np.nan), scores)
