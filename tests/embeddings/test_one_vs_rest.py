"""One model per label: what is fitted on which rows, and how it is bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from embedding_problems import data
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, LinearSVC

from splmll.embeddings import FitContext, OneVsRest
from splmll.embeddings import one_vs_rest as module
from splmll.embeddings.label_columns import LabelColumns, bounding_slope


def fitted(estimator: Any, X: Any, Y: Any, fold: np.ndarray, seed: int = 3) -> OneVsRest:
    return OneVsRest(estimator, scale=None).fit(X, Y, fold, FitContext(seed=seed))


@pytest.mark.parametrize(
    "regressor", [LinearRegression(), SVR(), GradientBoostingRegressor(max_depth=2)]
)
def test_a_regressor_is_fitted_per_fold_and_label_and_cut_off(regressor: Any) -> None:
    X, Y, fold = data()
    f = fitted(regressor, X, Y, fold)
    assert f.slope_ is None
    for k in range(3):
        rest, held = fold != k, fold == k
        for j in range(3):
            model = type(regressor)(**regressor.get_params())
            if "random_state" in model.get_params():
                model.set_params(random_state=3 + k)
            predicted = model.fit(X[rest], Y[rest, j]).predict(X[held])
            assert_allclose(f.out_of_fold_[held, j], np.clip(predicted, 0, 1), atol=1e-8)


def test_new_rows_are_predicted_by_models_of_all_rows() -> None:
    X, Y, fold = data()
    f = fitted(LogisticRegression(C=0.5), X, Y, fold)
    f.finish(X, Y, np.array([2, 1]))
    for place, label in enumerate((2, 1)):
        model = LogisticRegression(C=0.5).fit(X, Y[:, label])
        expected = expit(f.slope_ * model.decision_function(X))
        assert_allclose(f.predict(X)[:, place], expected, atol=1e-5)


def test_a_classifier_without_decision_values_gives_its_probabilities() -> None:
    X, Y, fold = data()
    f = fitted(GaussianNB(), X, Y, fold)
    held = fold == 0
    model = GaussianNB().fit(X[~held], Y[~held, 1])
    assert_allclose(f.out_of_fold_[held, 1], model.predict_proba(X[held])[:, 1])


def test_a_pipeline_is_an_estimator_like_any_other() -> None:
    X, Y, fold = data()
    f = fitted(make_pipeline(StandardScaler(), LinearSVC()), X, Y, fold)
    assert 0 < f.out_of_fold_.min() < f.out_of_fold_.max() < 1
    f.finish(X, Y, np.arange(3))
    assert f.predict(X).shape == (90, 3)


def test_the_curve_makes_decision_values_probabilities() -> None:
    rng = np.random.default_rng(0)
    margins = rng.normal(size=(4000, 2))
    Y = (rng.random((4000, 2)) < expit(2.5 * margins)).astype(float)
    assert bounding_slope(margins, LabelColumns(Y)) == pytest.approx(2.5, abs=0.2)
    Y[::3] = np.nan
    margins[::5] = np.nan
    assert bounding_slope(margins, LabelColumns(Y)) == pytest.approx(2.5, abs=0.3)
    assert bounding_slope(margins, LabelColumns(np.zeros((4000, 2)))) > 0
    # Decision values that go against their labels say nothing, but they stay in order.
    assert 0 < bounding_slope(-margins, LabelColumns(Y)) < 0.01


def test_a_label_rarer_than_the_folds_is_as_likely_as_anywhere() -> None:
    X, Y, fold = data()
    Y[:, 1] = 0.0
    Y[4, 1] = 1.0
    f = fitted(LogisticRegression(), X, Y, fold)
    mine = fold == fold[4]  # the other folds have not seen it
    assert_allclose(f.out_of_fold_[mine, 1], 1 / 90)
    assert np.isfinite(f.out_of_fold_).all()
    f.finish(X, Y, np.arange(3))
    assert f.predict(X)[4, 1] > 1 / 90  # all rows together do have a model of it


@pytest.mark.parametrize("estimator", ["auto", LogisticRegression(), GaussianNB()], ids=str)
def test_a_label_that_is_never_true(estimator: Any) -> None:
    X, Y, fold = data()
    Y[:, 0] = 0.0
    f = fitted(estimator, X, Y, fold)
    f.finish(X, Y, np.arange(3))
    assert_allclose(f.predict(X)[:, 0], 0.0)
    assert_allclose(f.out_of_fold_ if hasattr(f, "out_of_fold_") else 0, 0)


def test_unknown_labels_are_left_out_of_their_own_model_only() -> None:
    X, Y, fold = data()
    hidden = np.random.default_rng(0).random(90) < 0.4
    partly = Y.copy()
    partly[hidden, 1] = np.nan
    f = fitted(LogisticRegression(), X, partly, fold)
    f.finish(X, partly, np.arange(3))
    for label, rows in ((0, np.ones(90, dtype=bool)), (1, ~hidden)):
        model = LogisticRegression().fit(X[rows], Y[rows, label])
        expected = expit(f.slope_ * model.decision_function(X))
        assert_allclose(f.predict(X)[:, label], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("machines", "logistic", "n_tried"),
    [
        # Worth of C from the smallest to the largest. The machines want the largest one; logistic
        # regression at the C that matches is further behind than their second best.
        ((1.0, 2.0, 3.0, 4.0), (0.5, 0.6, 0.7, 0.8, 2.5), 5),
        # It is ahead, and its best C is one below the one that matches.
        ((3.0, 2.0, 1.0, 0.0), (5.0, 4.0, 3.0, 2.0, 1.0), 4),
        # It is a little behind where it begins and ahead further up.
        ((2.0, 3.0, 2.8, 0.0), (0.0, 2.0, 2.9, 3.1, 3.0), 7),
    ],
)
def test_auto_takes_the_best_setting_and_skips_hopeless_ones(
    monkeypatch: pytest.MonkeyPatch,
    machines: tuple[float, ...],
    logistic: tuple[float, ...],
    n_tried: int,
) -> None:
    X, Y, fold = data(n=150)
    worth = {("squared_hinge", C): value for C, value in zip(module.SVM_C, machines)}
    worth |= {("logistic", C): value for C, value in zip(module.LOGISTIC_C, logistic)}
    real, last = module.linear_setting, [("", 0.0)]

    def noted(loss: str, C: float) -> Any:
        last[0] = loss, C
        return real(loss, C)

    monkeypatch.setattr(module, "linear_setting", noted)
    f = OneVsRest().fit(X, Y, fold, FitContext(worth=lambda F, Y: worth[last[0]]))
    assert len(f.scores_) == n_tried
    loss, C = max(worth, key=lambda setting: worth[setting])
    assert f.estimator_.C == C
    assert isinstance(f.estimator_, LinearSVC if loss == "squared_hinge" else LogisticRegression)


def test_the_models_of_the_search_are_used_again() -> None:
    """Labels are judged in order of their frequency: they must come back in their own."""
    X, Y, fold = data(n=200, C=6)
    Y[:, [1, 4]] *= np.random.default_rng(0).random((200, 2)) < 0.4
    f = OneVsRest().fit(X, Y, fold)
    again = OneVsRest(f.estimator_, scale="standard").fit(X, Y, fold)
    assert_allclose(again.out_of_fold_, f.out_of_fold_, atol=1e-6)


def test_some_labels_decide_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, fold = data(n=200, C=12)
    monkeypatch.setattr(module, "JUDGED_LABELS", 5)
    f = OneVsRest().fit(X, Y, fold)
    assert f.out_of_fold_.shape == (200, 12)
    for j in range(12):
        assert np.corrcoef(f.out_of_fold_[:, j], Y[:, j])[0, 1] > 0.2
    sample = LabelColumns(Y).sample(5)
    order = np.sort(Y.sum(axis=0))[::-1]
    assert sample.positives[0] == order[0]
    assert sample.positives[-1] == order[-1]


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_stay_sparse(make: Any) -> None:
    X, Y, fold = data()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, stored = (fitted(LinearSVC(), x, Y, fold) for x in (X, make(X)))
    assert_allclose(stored.out_of_fold_, dense.out_of_fold_, atol=5e-3)
    for f, x in ((dense, X), (stored, make(X))):
        f.finish(x, Y, np.arange(3))
    assert_allclose(stored.predict(make(X)), dense.predict(X), atol=5e-3)


def test_an_error_of_the_estimator_is_passed_on() -> None:
    class Fussy(LinearRegression):
        def fit(self, X: Any, y: Any) -> Any:
            raise ValueError("I only take Tuesdays")

    X, Y, fold = data()
    with pytest.raises(ValueError, match="only take Tuesdays"):
        OneVsRest(Fussy()).fit(X, Y, fold)


def test_only_dense_features_of_its_own_classifiers_are_standardised() -> None:
    X, Y, fold = data()
    Z = StandardScaler().fit_transform(X)

    def out_of_fold(rows: Any, estimator: Any = "auto", scale: bool | str = "auto") -> np.ndarray:
        return OneVsRest(estimator, scale).fit(rows, Y, fold).out_of_fold_

    assert_allclose(out_of_fold(X), out_of_fold(Z, scale=None), atol=1e-6)
    stored = out_of_fold(sparse.csr_array(X))
    assert_allclose(stored, out_of_fold(X, scale=None), atol=1e-3)
    assert np.abs(stored - out_of_fold(X)).max() > 0.01
    given = LogisticRegression()
    assert_allclose(out_of_fold(X, given), out_of_fold(X, given, scale=None), atol=1e-9)
    assert_allclose(out_of_fold(X, given, scale="standard"), out_of_fold(Z, given), atol=1e-6)


def test_every_model_of_a_label_and_fold_is_as_much_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LABELS_AT_ONCE", 1)
    X, Y, fold = data()
    told: list[float] = []
    context = FitContext(on_progress=lambda what, share: told.append(share))
    OneVsRest(LogisticRegression()).fit(X, Y, fold, context)
    assert_allclose(told, np.arange(1, 10) / 9)
    told.clear()
    OneVsRest().fit(X, Y, fold, context)  # here a search comes first
    assert told == sorted(told)
    assert told[0] == 0
    assert_allclose(told[-6:], 1 - (1 - module.SEARCH_SHARE) * np.arange(5, -1, -1) / 9)
