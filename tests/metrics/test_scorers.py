"""Scorers in the hands of scikit-learn's own tools."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import label_ranking_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from splmll.metrics import MEASURES, SCORERS, MeasureScorer, label_scores, micro_f1, ranking_loss


def make_data(n_labels, n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    Y = (X @ rng.normal(size=(6, n_labels)) + rng.normal(size=(n_rows, n_labels)) > 0.3).astype(int)
    return X, Y


ESTIMATORS = {
    "knn": KNeighborsClassifier(),
    "one-vs-rest knn": OneVsRestClassifier(KNeighborsClassifier()),
    "one-vs-rest logistic": OneVsRestClassifier(LogisticRegression()),
    "network": MLPClassifier((4,), max_iter=40, random_state=0, solver="lbfgs"),
    "forest in a pipeline": make_pipeline(
        StandardScaler(), RandomForestClassifier(5, random_state=0)
    ),
    "ridge": RidgeClassifier(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(ESTIMATORS))
@pytest.mark.parametrize("n_labels", [2, 4])
def test_every_kind_of_estimator_is_scored_as_by_hand(name, n_labels):
    X, Y = make_data(n_labels)
    estimator = ESTIMATORS[name].fit(X[:60], Y[:60])
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(X[60:])
    else:
        scores = estimator.predict_proba(X[60:])
        if isinstance(scores, list):
            scores = np.column_stack([p[:, 1] for p in scores])
    expected = -label_ranking_loss(Y[60:], scores)
    assert SCORERS["ranking_loss"](estimator, X[60:], Y[60:]) == pytest.approx(expected)
    expected = micro_f1(Y[60:], estimator.predict(X[60:]))
    assert SCORERS["micro_f1"](estimator, X[60:], Y[60:]) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (OneVsRestClassifier(KNeighborsClassifier()), {"estimator__n_neighbors": [1, 9]}),
        (MLPClassifier(max_iter=30, random_state=0), {"hidden_layer_sizes": [(1,), (8,)]}),
    ],
)
def test_grid_search_finds_the_smallest_loss(estimator, grid):
    X, Y = make_data(4)
    folds = KFold(3)
    search = GridSearchCV(estimator, grid, scoring=SCORERS["ranking_loss"], cv=folds).fit(X, Y)
    losses = []
    for parameters in search.cv_results_["params"]:
        of_folds = []
        for train, test in folds.split(X):
            fitted = type(estimator)(**estimator.get_params(deep=False)).set_params(**parameters)
            fitted.fit(X[train], Y[train])
            of_folds.append(ranking_loss(Y[test], fitted.predict_proba(X[test])))
        losses.append(np.mean(of_folds))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], -np.array(losses))
    assert search.best_index_ == int(np.argmin(losses))


def test_several_scorers_and_sparse_labels():
    X, Y = make_data(5)
    results = []
    for labels in (Y, sparse.csr_array(Y)):
        search = GridSearchCV(
            OneVsRestClassifier(LogisticRegression()),
            {"estimator__C": [1.0]},
            scoring=dict(SCORERS),
            cv=KFold(3),
            refit=False,
        )
        results.append(search.fit(X, labels).cv_results_)
    for name, measure in MEASURES.items():
        dense, thin = (result[f"mean_test_{name}"][0] for result in results)
        assert thin == pytest.approx(dense)
        assert (dense > 0) == measure.greater_is_better


def test_constant_labels_of_a_tree():
    X, Y = make_data(3)
    Y[:, 0], Y[:, 2] = 0, 1
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    scores = label_scores(tree, X, 3)
    assert scores.shape == Y.shape
    assert np.all(scores[:, 0] == 0)
    assert np.all(scores[:, 2] == 1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("estimator", [KNeighborsClassifier(), LogisticRegression()])
def test_a_single_label(estimator):
    X, Y = make_data(1)
    estimator.fit(X, Y.ravel())
    assert label_scores(estimator, X, 1).shape == (90, 1)
    expected = micro_f1(Y, estimator.predict(X).reshape(-1, 1))
    assert SCORERS["micro_f1"](estimator, X, Y) == expected
    assert SCORERS["micro_f1"](estimator, X, Y.ravel()) == expected
    assert SCORERS["ranking_loss"](estimator, X, Y) == 0


class OnlyLabels(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros((len(X), 3), dtype=int)


class WrongWidth(OnlyLabels):
    def predict_proba(self, X):
        return np.zeros((len(X), 2))


def test_estimators_that_cannot_be_scored_are_told_so():
    X, Y = make_data(3)
    with pytest.raises(ValueError, match="OnlyLabels has no decision_function or predict_proba"):
        SCORERS["average_precision"](OnlyLabels(), X, Y)
    with pytest.raises(ValueError, match=r"has shape \(90, 2\) for 3 labels"):
        SCORERS["average_precision"](WrongWidth(), X, Y)
    assert SCORERS["hamming_loss"](OnlyLabels(), X, Y) == -Y.mean()


def test_options_reach_the_measure():
    X, Y = make_data(4)
    tree = DecisionTreeClassifier().fit(X, Y)  # pure leaves: every score is 0 or 1
    X = X[:, ::-1]
    half = MeasureScorer(MEASURES["ranking_loss"], {"ties": "half"})
    assert half(tree, X, Y) > SCORERS["ranking_loss"](tree, X, Y)
    assert repr(half) == "MeasureScorer('ranking_loss', ties='half')"
    with pytest.raises(
        ValueError, match="hamming_loss has no option 'ties'; its options are: none"
    ):
        MeasureScorer(MEASURES["hamming_loss"], {"ties": "half"})


def test_scorers_travel_to_other_processes():
    X, Y = make_data(5)
    how = {"cv": KFold(2), "scoring": dict(SCORERS)}
    here = cross_validate(KNeighborsClassifier(), X, Y, **how)
    there = cross_validate(KNeighborsClassifier(), X, Y, n_jobs=2, **how)
    for name in SCORERS:
        np.testing.assert_array_equal(there[f"test_{name}"], here[f"test_{name}"])
