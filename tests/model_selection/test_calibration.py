"""MultilabelCalibrator: probabilities that come true, without reversing any order."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from splmll.datasets.arff import read_arff
from splmll.model_selection import MultilabelCalibrator
from splmll.model_selection.calibration import IsotonicCurve, SigmoidCurve


def mean_log_loss(Y, probabilities):
    return log_loss(np.ravel(Y), np.ravel(probabilities))


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    Y = (X[:, :3] + rng.normal(size=(300, 3)) > [0.0, 0.7, -0.4]).astype(int)
    return X, Y


@parametrize_with_checks(
    [
        MultilabelCalibrator(OneVsRestClassifier(LogisticRegression()), "sigmoid", cv=3),
        MultilabelCalibrator(RidgeClassifier(), "isotonic", cv=3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_overconfident_learner_on_yeast_is_corrected(method, data_home):
    train = read_arff(data_home / "yeast" / "yeast-train.arff")
    test = read_arff(data_home / "yeast" / "yeast-test.arff")
    bayes = OneVsRestClassifier(GaussianNB())
    model = MultilabelCalibrator(bayes, method, random_state=0).fit(train.X, train.Y)
    raw = mean_log_loss(test.Y, model.estimator_.predict_proba(test.X))
    calibrated = mean_log_loss(test.Y, model.predict_proba(test.X))
    # Better than it was, and better than knowing nothing but how frequent each label is.
    frequencies = np.broadcast_to(train.Y.mean(axis=0), test.Y.shape)
    assert calibrated < 0.5 * raw
    assert calibrated < mean_log_loss(test.Y, frequencies)


def test_sigmoid_finds_the_curve_that_made_the_labels():
    rng = np.random.default_rng(1)
    scores = rng.normal(50.0, 5.0, size=40_000)  # far from 0 and 1: no scale is assumed
    relevant = rng.random(40_000) < expit(0.6 * scores - 31.0)
    curve = SigmoidCurve.fit(scores, relevant)
    assert curve.slope == pytest.approx(0.6, rel=0.05)
    assert curve.intercept == pytest.approx(-31.0, rel=0.05)
    # At the maximum of the likelihood predicted and observed numbers agree.
    assert curve(scores).mean() == pytest.approx(relevant.mean(), abs=1e-4)


def test_sigmoid_agrees_with_logistic_regression():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=5000)
    relevant = rng.random(5000) < expit(1.5 * scores + 0.3)
    reference = LogisticRegression(C=np.inf, tol=1e-10).fit(scores[:, None], relevant)
    curve = SigmoidCurve.fit(scores, relevant)
    # They differ by the two rows that Platt adds.
    assert curve.slope == pytest.approx(reference.coef_[0, 0], rel=0.01)
    assert curve.intercept == pytest.approx(reference.intercept_[0], abs=0.01)


def test_isotonic_finds_a_curve_that_is_not_logistic():
    rng = np.random.default_rng(3)
    scores = rng.random(20_000)
    relevant = rng.random(20_000) < np.where(scores < 0.3, 0.2, 0.7)
    curve = IsotonicCurve.fit(scores, relevant)
    assert curve(np.array([0.1, 0.2])) == pytest.approx([0.2, 0.2], abs=0.03)
    assert curve(np.array([0.5, 0.8])) == pytest.approx([0.7, 0.7], abs=0.03)


@pytest.mark.parametrize("curve", [SigmoidCurve, IsotonicCurve])
@pytest.mark.parametrize(
    "relevant",
    [np.zeros(20, bool), np.ones(20, bool), np.arange(20) < 10, np.arange(20) >= 10],
    ids=["never", "always", "reversed", "separable"],
)
def test_curves_rise_and_stay_strictly_inside(curve, relevant):
    scores = np.linspace(-3, 3, 20)
    fitted = curve.fit(scores, relevant)
    probabilities = fitted(np.array([-1e6, *scores, 1e6]))
    assert (np.diff(probabilities) >= 0).all()
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert probabilities[1:-1].mean() == pytest.approx(relevant.mean(), abs=0.06)


@pytest.mark.parametrize("curve", [SigmoidCurve, IsotonicCurve])
def test_equal_scores_give_the_frequency(curve):
    fitted = curve.fit(np.full(40, 0.3), np.arange(40) < 10)
    assert fitted(np.array([0.3])) == pytest.approx([0.25], abs=0.03)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_order_of_rows_is_kept_within_a_label(method, problem):
    X, Y = problem
    model = MultilabelCalibrator(OneVsRestClassifier(GaussianNB()), method).fit(X, Y)
    raw = model.estimator_.predict_proba(X)
    calibrated = model.predict_proba(X)
    for j in range(3):
        assert (np.diff(calibrated[np.argsort(raw[:, j]), j]) >= 0).all()


def test_prediction_is_what_is_more_likely_than_not(problem):
    X, Y = problem
    for method in ("sigmoid", "isotonic"):
        model = MultilabelCalibrator(RidgeClassifier(), method).fit(X, Y)
        probabilities = model.predict_proba(X)
        np.testing.assert_array_equal(model.predict(X), probabilities > 0.5)
        np.testing.assert_allclose(model.decision_function(X), probabilities - 0.5, atol=1e-15)


def test_curves_do_not_come_from_training_scores(problem):
    X, Y = problem
    # On its training rows the learner is right with certainty; on others it errs often.
    memory = KNeighborsClassifier(n_neighbors=1)
    probabilities = MultilabelCalibrator(memory, random_state=0).fit(X, Y).predict_proba(X)
    assert probabilities.max() < 0.9
    assert probabilities.min() > 0.1


def test_rare_labels_share_the_curve_of_all_labels(problem):
    X, Y = problem
    Y[:, 2] = 0
    Y[[5, 50, 150, 250], 2] = 1  # one fewer than needed
    model = MultilabelCalibrator(OneVsRestClassifier(GaussianNB()), random_state=0).fit(X, Y)
    found = model._out_of_fold(X, model._inner_labels(Y), model.score_method_)
    scores, labels = found.scores, found.labels
    assert model.curves_[2] == SigmoidCurve.fit(scores.ravel(), labels.ravel() == 1)
    assert model.curves_[0] == SigmoidCurve.fit(scores[:, 0], labels[:, 0] == 1)
    assert len(set(model.curves_)) == 3


def test_frozen_estimator_is_calibrated_on_the_rows_given(problem):
    X, Y = problem
    fitted = OneVsRestClassifier(GaussianNB()).fit(X[:100], Y[:100])
    model = MultilabelCalibrator(FrozenEstimator(fitted)).fit(X[100:], Y[100:])
    expected = SigmoidCurve.fit(fitted.predict_proba(X[100:])[:, 1], Y[100:, 1] == 1)
    assert model.curves_[1].slope == pytest.approx(expected.slope, rel=1e-4)
    assert model.estimator_.estimator is fitted


def test_trees_sparse_labels_and_tables(problem):
    X, Y = problem
    forest = RandomForestClassifier(n_estimators=10, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = pd.DataFrame(Y, columns=["x", "y", "z"])
    model = MultilabelCalibrator(forest, cv=3).fit(frame, named)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert list(model.predict(frame).columns) == ["x", "y", "z"]
    one_vs_rest = OneVsRestClassifier(LogisticRegression())
    dense = MultilabelCalibrator(one_vs_rest, random_state=0).fit(X, Y)
    compact = MultilabelCalibrator(one_vs_rest, random_state=0).fit(X, sparse.csr_array(Y))
    np.testing.assert_allclose(compact.predict_proba(X), dense.predict_proba(X), atol=1e-6)


def test_parallel_work_gives_the_same(problem):
    X, Y = problem
    inner = OneVsRestClassifier(GaussianNB())
    alone = MultilabelCalibrator(inner, random_state=0).fit(X, Y)
    together = MultilabelCalibrator(inner, random_state=0, n_jobs=2).fit(X, Y)
    assert alone.curves_ == together.curves_


def test_unknown_method_is_refused(problem):
    X, Y = problem
    with pytest.raises(
        ValueError, match=r"'method' .* among \{'sigmoid', 'isotonic'\}. Got 'beta'"
    ):
        MultilabelCalibrator(RidgeClassifier(), "beta").fit(X, Y)


@pytest.mark.filterwarnings("ignore:Label not .* is present in all training examples")
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_scores_of_folds_that_had_not_seen_a_label_take_no_part(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    Y = (X[:, :3] + rng.normal(size=(300, 3)) > 1.2).astype(int)
    svm = OneVsRestClassifier(LinearSVC(random_state=0))

    def fitted(labels):
        return MultilabelCalibrator(svm, method, cv=KFold(5)).fit(X, labels)

    # A label with five positives in one fold: its margins there are 0, the others are real.
    Y[:, 2] = 0
    Y[[0, 10, 20, 30, 40], 2] = 1
    # A label that never occurs is not likely, although its margin of 0 is above most others.
    with_empty = fitted(np.hstack([Y, np.zeros((300, 1), dtype=int)]))
    assert with_empty.predict_proba(X)[:, 3].max() < 0.01
    # The rare label shares the curve of all labels, in which no margin of 0 takes part.
    assert_allclose(with_empty.predict_proba(X)[:, :3], fitted(Y).predict_proba(X))
    assert fitted(Y).curves_[2] not in fitted(Y).curves_[:2]
