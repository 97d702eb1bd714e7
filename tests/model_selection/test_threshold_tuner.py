"""ThresholdTuner: honest thresholds around any classifier, and features left as they came."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from splmll.base import Capabilities, MultilabelClassifier
from splmll.datasets.arff import read_arff
from splmll.metrics import SCORERS, micro_f1
from splmll.model_selection import ThresholdTuner
from splmll.thresholds import RULES, GlobalThreshold, LinearThreshold, TopRanked, fit_threshold


class ColumnScores(MultilabelClassifier):
    """A classifier of this library that can have unknown labels: its scores are the features."""

    capabilities = Capabilities(unknown_labels=True)

    def _fit(self, X, Y):
        self._set_threshold(GlobalThreshold(0.5))

    def _scores(self, X):
        return X[:, : self.label_format_.n_labels]


def one_vs_rest():
    return OneVsRestClassifier(LogisticRegression())


@pytest.fixture
def problem():
    """Three labels of different frequency that depend on five features, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 5))
    Y = (X[:, :3] + rng.normal(size=(240, 3)) > [0.0, 1.0, 1.5]).astype(int)
    return X, Y


@parametrize_with_checks(
    [
        # One value for all rows, and one that depends on the row.
        ThresholdTuner(RidgeClassifier(), "per_label", cv=3),
        ThresholdTuner(one_vs_rest(), "linear", cv=3),
    ],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_thresholds_do_not_come_from_training_scores(problem):
    X, Y = problem
    # The nearest neighbour of a training row is the row itself: training scores are 0 and 1 and
    # any threshold separates them. Out of fold, the share of wrong neighbours shows.
    memory = KNeighborsClassifier(n_neighbors=9, weights="distance")
    tuned = ThresholdTuner(memory, "per_label", cv=KFold(5)).fit(X, Y)
    training = np.column_stack([p[:, 1] for p in tuned.estimator_.predict_proba(X)])
    np.testing.assert_array_equal(training, Y)
    from_training = fit_threshold("per_label", Y, training).per_label(3)
    np.testing.assert_allclose(from_training, 0.5)
    held_out = np.empty(Y.shape)
    for train, test in KFold(5).split(X):
        fold = KNeighborsClassifier(n_neighbors=9, weights="distance").fit(X[train], Y[train])
        held_out[test] = np.column_stack([p[:, 1] for p in fold.predict_proba(X[test])])
    expected = fit_threshold("per_label", Y, held_out).per_label(3)
    np.testing.assert_array_equal(tuned.thresholds_, expected)
    assert (tuned.thresholds_ < from_training).all()


def test_forest_on_scene_gains_by_thresholds_per_label(data_home):
    train = read_arff(data_home / "scene" / "scene-train.arff")
    test = read_arff(data_home / "scene" / "scene-test.arff")
    forest = RandomForestClassifier(n_estimators=50, random_state=0)
    tuned = ThresholdTuner(forest, "per_label", cv=3, random_state=0).fit(train.X, train.Y)
    at_one_half = micro_f1(test.Y, tuned.estimator_.predict(test.X))
    assert micro_f1(test.Y, tuned.predict(test.X)) > at_one_half + 0.05


def test_the_final_model_is_fitted_on_all_rows(problem):
    X, Y = problem
    tuned = ThresholdTuner(one_vs_rest()).fit(X, Y)
    np.testing.assert_array_equal(tuned.predict_proba(X), one_vs_rest().fit(X, Y).predict_proba(X))
    assert not hasattr(tuned.estimator, "estimators_")


def test_predictions_are_the_scores_at_the_thresholds(problem):
    X, Y = problem
    tuned = ThresholdTuner(one_vs_rest(), "per_label").fit(X, Y)
    np.testing.assert_array_equal(tuned.predict(X), tuned.predict_proba(X) >= tuned.thresholds_)
    np.testing.assert_allclose(
        tuned.decision_function(X), tuned.predict_proba(X) - tuned.threshold_.offset
    )


@pytest.mark.parametrize(
    "inner",
    [
        RandomForestClassifier(n_estimators=10, random_state=0),
        KNeighborsClassifier(),
        MultiOutputClassifier(LogisticRegression()),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_lists_of_probabilities_are_read_label_by_label(inner, problem):
    X, Y = problem
    tuned = ThresholdTuner(inner, cv=3).fit(X, Y)
    expected = np.column_stack([p[:, 1] for p in tuned.estimator_.predict_proba(X)])
    np.testing.assert_array_equal(tuned.predict_proba(X), expected)


@pytest.mark.parametrize("constant", [0, 1])
def test_a_constant_label_keeps_its_value(constant, problem):
    X, Y = problem
    Y[:, 1] = constant
    for inner in (RandomForestClassifier(n_estimators=5, random_state=0), KNeighborsClassifier()):
        tuned = ThresholdTuner(inner, "per_label", cv=3).fit(X, Y)
        assert (tuned.predict_proba(X)[:, 1] == constant).all()
        assert (tuned.predict(X)[:, 1] == constant).all()
        alone = ThresholdTuner(inner, cv=3).fit(X, Y[:, [1]])
        assert (alone.predict_proba(X) == constant).all()
        assert (alone.predict(X) == constant).all()


def test_a_label_missing_from_a_fold_is_scored_zero_there(problem):
    X, Y = problem
    Y[:, 2] = 0
    Y[:6, 2] = 1  # all in the first fold
    tuned = ThresholdTuner(KNeighborsClassifier(), "per_label", cv=KFold(4)).fit(X, Y)
    scores = tuned._out_of_fold(X, Y.astype(float), "predict_proba").scores
    assert (scores[:60, 2] == 0).all()  # by the model that never saw the label
    assert (scores[60:, 2] > 0).any()


@pytest.mark.parametrize(
    ("rule", "kind"), [("top_r", TopRanked), ("linear", LinearThreshold), (0.3, GlobalThreshold)]
)
def test_the_fitted_rule_is_the_one_asked_for(rule, kind, problem):
    X, Y = problem
    tuned = ThresholdTuner(one_vs_rest(), rule).fit(X, Y)
    assert isinstance(tuned.threshold_, kind)


def test_never_empty_rows(problem):
    X, Y = problem
    plain = ThresholdTuner(one_vs_rest(), 0.6).fit(X, Y).predict(X)
    full = ThresholdTuner(one_vs_rest(), 0.6, never_empty=True).fit(X, Y).predict(X)
    assert plain.sum(axis=1).min() == 0
    np.testing.assert_array_equal(full.sum(axis=1), np.maximum(plain.sum(axis=1), 1))


def test_few_rows_and_fixed_thresholds_fit_no_folds(problem):
    X, Y = problem

    approx = pytest.approx

    class Refuses:
        def get_n_splits(self):
            return 2

        def split(self, X, y=None, groups=None):
            raise AssertionError("no folds are needed")

    assert ThresholdTuner(one_vs_rest(), cv=Refuses()).fit(X[:49], Y[:49]).offset_ == approx(0.5)
    margins = ThresholdTuner(RidgeClassifier(), cv=Refuses()).fit(X[:49], Y[:49])
    assert margins.offset_ == approx(0.0)
    assert ThresholdTuner(one_vs_rest(), 0.2, cv=Refuses()).fit(X, Y).offset_ == approx(0.2)
    with pytest.raises(AssertionError, match="no folds"):
        ThresholdTuner(one_vs_rest(), cv=Refuses()).fit(X, Y)


def test_frozen_estimator_is_thresholded_on_the_rows_given(problem):
    X, Y = problem
    fitted = one_vs_rest().fit(X[:120], Y[:120])
    tuned = ThresholdTuner(FrozenEstimator(fitted), "micro_f1").fit(X[120:], Y[120:])
    expected = fit_threshold("micro_f1", Y[120:], fitted.predict_proba(X[120:]))
    assert tuned.threshold_ == expected
    np.testing.assert_array_equal(tuned.predict_proba(X), fitted.predict_proba(X))


def test_any_splitter_will_do(problem):
    X, Y = problem
    some_rows = ShuffleSplit(3, test_size=0.3, random_state=0)  # some rows never, some twice
    folds = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240), np.arange(120))]
    for cv in (some_rows, folds):
        assert 0 < ThresholdTuner(one_vs_rest(), cv=cv).fit(X, Y).offset_ < 1


def test_folds_in_parallel_and_by_seed_give_the_same(problem):
    X, Y = problem
    results = [
        ThresholdTuner(one_vs_rest(), "per_label", random_state=3, n_jobs=n_jobs).fit(X, Y)
        for n_jobs in (None, 2)
    ]
    np.testing.assert_array_equal(results[0].thresholds_, results[1].thresholds_)


def test_sparse_features_and_labels_pass_through(problem):
    X, Y = problem
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = ThresholdTuner(one_vs_rest(), "per_label", random_state=0).fit(X, Y)
    compact = ThresholdTuner(one_vs_rest(), "per_label", random_state=0).fit(
        sparse.csr_array(X), sparse.csr_array(Y)
    )
    np.testing.assert_allclose(compact.thresholds_, dense.thresholds_, atol=1e-3)
    predicted = compact.predict(sparse.csr_array(X))
    assert sparse.issparse(predicted)
    np.testing.assert_array_equal(predicted.toarray(), dense.predict(X))
    as_coo = ThresholdTuner(one_vs_rest(), "per_label", random_state=0).fit(sparse.coo_array(X), Y)
    np.testing.assert_array_equal(as_coo.thresholds_, compact.thresholds_)


def test_tables_with_text_reach_a_pipeline_as_they_are():
    rng = np.random.default_rng(1)
    tags = rng.random((120, 2)) < 0.4
    tables = pd.DataFrame(
        {
            "note": [
                " ".join(["word", *(["boat"] if boat else []), *(["fog"] if fog else [])])
                for boat, fog in tags
            ],
            "place": rng.choice(["north", "south"], size=120),
            "size": rng.normal(size=120),
        },
        index=[f"row {i}" for i in range(120)],
    )
    labels = pd.DataFrame(tags.astype(int), columns=["sea", "weather"], index=tables.index)
    columns = make_column_transformer(
        (CountVectorizer(), "note"), (OneHotEncoder(), ["place"]), (StandardScaler(), ["size"])
    )
    tuned = ThresholdTuner(make_pipeline(columns, one_vs_rest()), cv=3).fit(tables, labels)
    predicted = tuned.predict(tables)
    pd.testing.assert_frame_equal(predicted, labels)
    assert tuned.feature_names_in_.tolist() == ["note", "place", "size"]
    assert tuned.n_features_in_ == 3
    assert tuned.label_names_in_.tolist() == ["sea", "weather"]


def test_lists_of_texts_are_features_too():
    texts = ["boat and sea", "fog", "sea", "fog over sea"] * 20
    Y = np.array([[1, 0], [0, 1], [1, 0], [1, 1]] * 20)
    tuned = ThresholdTuner(make_pipeline(CountVectorizer(), one_vs_rest()), cv=4).fit(texts, Y)
    np.testing.assert_array_equal(tuned.predict(texts), Y)


def test_unknown_labels_reach_estimators_that_can_have_them():
    rng = np.random.default_rng(2)
    X = rng.random((100, 2))
    Y = (X > 0.3).astype(float)
    Y[::3, 0] = np.nan
    inner = make_pipeline(FunctionTransformer(), ColumnScores())
    tuned = ThresholdTuner(inner, method="decision_function").fit(X, Y)
    known = ~np.isnan(Y)
    np.testing.assert_array_equal(tuned.predict(X)[known], Y[known])
    with pytest.raises(ValueError, match="NaN"):
        ThresholdTuner(one_vs_rest()).fit(X, Y)


def test_probabilities_stay_those_of_the_model_whatever_is_cut(problem):
    X, Y = problem
    by_margin = ThresholdTuner(one_vs_rest(), method="decision_function").fit(X, Y)
    inner = by_margin.estimator_
    np.testing.assert_array_equal(by_margin.predict_proba(X), inner.predict_proba(X))
    np.testing.assert_allclose(
        by_margin.decision_function(X), inner.decision_function(X) - by_margin.offset_
    )
    without = ThresholdTuner(RidgeClassifier()).fit(X, Y)
    probabilities = without.predict_proba(X)
    np.testing.assert_array_equal(probabilities > 0.5, without.predict(X) == 1)


def test_a_vector_is_one_label(problem):
    X, Y = problem
    words = np.where(Y[:, 0] == 1, "yes", "no")
    tuned = ThresholdTuner(LogisticRegression(), random_state=0).fit(X, words)
    column = ThresholdTuner(LogisticRegression(), random_state=0).fit(X, Y[:, [0]])
    assert tuned.offset_ == column.offset_
    np.testing.assert_array_equal(tuned.predict(X) == "yes", column.predict(X)[:, 0] == 1)
    likelier = tuned.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(likelier > 0.5, tuned.predict(X) == "yes")
    np.testing.assert_array_equal(np.argsort(likelier), np.argsort(column.predict_proba(X)[:, 0]))


def test_it_can_be_searched_over(problem):
    X, Y = problem
    search = GridSearchCV(
        ThresholdTuner(one_vs_rest(), cv=3, random_state=0),
        {"rule": ["hamming", "per_label"], "estimator__estimator__C": [0.1, 1.0]},
        scoring=SCORERS["micro_f1"],
        cv=2,
    ).fit(X, Y)
    assert search.best_params_["rule"] == "per_label"


def test_errors_say_what_to_do(problem):
    X, Y = problem
    with pytest.raises(ValueError, match="'per_label'"):
        ThresholdTuner(one_vs_rest(), "best").fit(X, Y)
    with pytest.raises(ValueError, match=r"'method' parameter of ThresholdTuner .*Got 'predict'"):
        ThresholdTuner(one_vs_rest(), method="predict").fit(X, Y)
    with pytest.raises(ValueError, match="no predict_proba"):
        ThresholdTuner(RidgeClassifier(), method="predict_proba").fit(X, Y)
    frozen = FrozenEstimator(Perceptron().fit(X, Y[:, 0]))
    with pytest.raises(ValueError, match="0/1 matrix"):
        ThresholdTuner(frozen).fit(X, Y)


def rare_margins(positives):
    """Four labels whose margins are negative nearly everywhere, then one with these positives."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    Y = (X[:, :4] + rng.normal(size=(300, 4)) > 1.2).astype(int)
    rare = np.zeros((300, 1), dtype=int)
    rare[positives] = 1
    return X, np.hstack([Y, rare])


def tuned_svm(rule="micro_f1", **options):
    svm = OneVsRestClassifier(LinearSVC(random_state=0))
    return ThresholdTuner(svm, rule, method="decision_function", cv=KFold(5), **options)


@pytest.mark.filterwarnings("ignore:Label .* is present in all training examples")
@pytest.mark.filterwarnings("ignore:Label not .* is present in all training examples")
class TestLabelsThatAFoldHasNotSeen:
    """One-vs-rest gives them a margin of 0, which is more than most rows of other labels have."""

    @pytest.mark.parametrize("rule", ["micro_f1", "macro_f1", "hamming", "cardinality"])
    def test_a_label_without_positives_moves_no_threshold(self, rule):
        X, Y = rare_margins([])
        without = tuned_svm(rule).fit(X, Y[:, :4])
        assert without.threshold_.value < -0.01  # margins of 0 would stand in the way
        assert tuned_svm(rule).fit(X, Y).threshold_ == without.threshold_
        assert tuned_svm(rule).fit(X, sparse.csr_array(Y)).threshold_ == without.threshold_

    def test_per_label_thresholds_stay(self):
        X, Y = rare_margins([])
        without = tuned_svm("per_label").fit(X, Y[:, :4])
        assert_array_equal(tuned_svm("per_label").fit(X, Y).thresholds_[:4], without.thresholds_)

    def test_one_rare_label_does_not_defeat_the_tuning(self):
        # All its positives lie in one fold, which 60 margins of 0 come from.
        X, Y = rare_margins([0, 10, 20])
        with_rare, without = tuned_svm().fit(X, Y), tuned_svm().fit(X, Y[:, :4])
        assert without.threshold_.value < -0.2
        assert with_rare.threshold_.value == pytest.approx(without.threshold_.value, abs=0.1)

    def test_top_r_still_counts_all_labels(self):
        X, Y = rare_margins([])
        with_empty = np.hstack([Y, np.zeros((300, 20), dtype=int)])
        assert tuned_svm("top_r").fit(X, with_empty).threshold_ == TopRanked(
            max(1, round(Y.sum() / 300)), 0.0
        )

    @pytest.mark.parametrize("rule", [*RULES, -0.5])
    @pytest.mark.parametrize("value", [0, 1])
    def test_a_label_with_one_value_is_predicted_as_it_is(self, rule, value):
        X, Y = rare_margins([])
        Y[:, 4] = value
        model = tuned_svm(rule).fit(X, Y)
        assert (model.predict(X)[:, 4] == value).all()
        if isinstance(model.threshold_, GlobalThreshold):
            assert_array_equal(model.decision_function(X) >= 0, model.predict(X) == 1)

    def test_a_frozen_estimator_has_seen_what_it_has_seen(self):
        X, Y = rare_margins(list(range(0, 100, 5)))
        frozen = FrozenEstimator(OneVsRestClassifier(LinearSVC(random_state=0)).fit(X, Y))
        new = Y[200:]
        assert not new[:, 4].any()
        model = ThresholdTuner(frozen, -5.0, method="decision_function").fit(X[200:], new)
        assert model.predict(X)[:, 4].all()
