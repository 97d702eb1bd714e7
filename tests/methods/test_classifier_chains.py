"""Chains against scikit-learn's and another library's, and the ensemble against its definition."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multioutput import ClassifierChain
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from splmll.datasets import load_dataset
from splmll.methods import BinaryRelevance
from splmll.methods.classifier_chains import EnsembleOfClassifierChains
from splmll.metrics import evaluate
from splmll.thresholds import fit_threshold

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1 on the standard splits: ten
# chains of LogisticRegression(C=1) on z-scores, bagged, computed once with scikit-learn alone.
REFERENCE = {
    "emotions": [0.1672, 0.2129, 0.8077, 0.6614, 0.6527],
    "scene": [0.1027, 0.1133, 0.8269, 0.6707, 0.6779],
    "yeast": [0.1902, 0.2142, 0.7385, 0.6241, 0.3928],
}

ORDER = [3, 0, 4, 1, 2]

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Labels that depend on each other beyond the features, features of different sizes."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(220, 6))
    shared = rng.normal(size=(220, 1))
    Y = (X @ rng.normal(size=(6, 5)) + 2 * shared > 0.3).astype(int)
    X = X * [1, 10, 0.01, 1, 1, 1] + [0, 100, 0, -5, 0, 0]
    return X[:140], Y[:140], X[140:]


def one_chain(learner: Any, **parameters: Any) -> EnsembleOfClassifierChains:
    settings = {"n_estimators": 1, "bootstrap": False, "order": ORDER, **parameters}
    return EnsembleOfClassifierChains(learner, **settings)


@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(C=0.3, max_iter=5000),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        GaussianNB(),
    ],
)
def test_one_chain_is_that_of_scikit_learn(problem: Problem, learner: Any) -> None:
    X, Y, X_new = problem
    peer = ClassifierChain(learner, order=ORDER, chain_method="predict").fit(X, Y)
    model = one_chain(learner).fit(X, Y)
    assert_allclose(model.predict_proba(X_new), peer.predict_proba(X_new), atol=1e-10)
    assert_array_equal(
        one_chain(learner, voting="hard").fit(X, Y).predict(X_new), peer.predict(X_new)
    )
    assert_array_equal(model.orders_, [ORDER])
    # The order matters, or the test above would say little.
    other = one_chain(learner, order=ORDER[::-1]).fit(X, Y)
    assert np.abs(other.predict_proba(X_new) - peer.predict_proba(X_new)).max() > 1e-3


@pytest.mark.parametrize("learner", [LinearSVC(C=0.01, random_state=0), RidgeClassifier()])
def test_decisions_of_learners_without_probabilities(problem: Problem, learner: Any) -> None:
    X, Y, X_new = problem
    peer = ClassifierChain(learner, order=ORDER, chain_method="predict").fit(X, Y)
    assert_array_equal(one_chain(learner).fit(X, Y).predict(X_new), peer.predict(X_new))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_one_chain_is_that_of_scikit_multilearn(problem: Problem, as_sparse: bool) -> None:
    # Its chain also passes 0/1 decisions on. It refuses constant labels and knows no ensembles, so
    # that only one chain over varied labels can be compared.
    transform = pytest.importorskip("skmultilearn.problem_transform")
    X, Y, X_new = problem
    if as_sparse:
        X, X_new = (sparse.csr_array(np.where(np.abs(x) > 1, x, 0.0)) for x in (X, X_new))
    learner = LogisticRegression(C=0.3, max_iter=20000, tol=1e-8)
    peer = transform.ClassifierChain(learner, require_dense=[not as_sparse, True], order=ORDER).fit(
        sparse.csr_matrix(X), Y
    )
    expected = peer.predict_proba(sparse.csr_matrix(X_new)).toarray()
    assert_allclose(one_chain(learner).fit(X, Y).predict_proba(X_new), expected, atol=1e-4)


def test_a_logistic_regression_with_its_own_probabilities_is_asked(problem: Problem) -> None:
    class Hesitant(LogisticRegression):
        def predict_proba(self, X: Any) -> np.ndarray:
            return 0.5 * super().predict_proba(X) + 0.25

    X, Y, X_new = problem
    hesitant = one_chain(Hesitant(max_iter=5000)).fit(X, Y).predict_proba(X_new)
    plain = one_chain(LogisticRegression(max_iter=5000)).fit(X, Y).predict_proba(X_new)
    assert_allclose(hesitant, 0.5 * plain + 0.25, atol=1e-10)


def test_the_default_learner_sees_standardised_features_and_plain_labels(problem: Problem) -> None:
    X, Y, X_new = problem
    mean, scale = X.mean(axis=0), X.std(axis=0)
    peer = ClassifierChain(LogisticRegression(max_iter=1000), order=ORDER)
    expected = peer.fit((X - mean) / scale, Y).predict_proba((X_new - mean) / scale)
    assert_allclose(one_chain(None).fit(X, Y).predict_proba(X_new), expected, atol=1e-10)


def test_one_label_is_bagging_of_the_base_learner(problem: Problem) -> None:
    X, Y, X_new = problem
    learner = LogisticRegression(max_iter=5000)
    model = EnsembleOfClassifierChains(learner, n_estimators=4, random_state=5).fit(X, Y[:, :1])
    assert_array_equal(model.orders_, np.zeros((4, 1)))
    members = np.column_stack([chain[0].predict_proba(X_new)[:, 1] for chain in model.chains_])
    assert_allclose(model.predict_proba(X_new)[:, 0], members.mean(axis=1), atol=1e-12)
    assert np.ptp(members, axis=1).min() > 0  # each has its own rows


def test_the_first_link_of_a_chain_is_binary_relevance(problem: Problem) -> None:
    X, Y, X_new = problem
    expected = BinaryRelevance().fit(X, Y).predict_proba(X_new)
    for first in range(5):
        order = np.roll(np.arange(5), -first)
        scores = one_chain(None, order=order).fit(X, Y).predict_proba(X_new)
        assert_allclose(scores[:, first], expected[:, first], atol=1e-10)


@pytest.mark.parametrize("learner", [None, GaussianNB()])
def test_the_ensemble_is_the_mean_of_its_chains(problem: Problem, learner: Any) -> None:
    X, Y, X_new = problem
    settings: dict[str, Any] = {"n_estimators": 6, "bootstrap": False, "random_state": 2}
    soft = EnsembleOfClassifierChains(learner, **settings).fit(X, Y)
    hard = EnsembleOfClassifierChains(learner, voting="hard", **settings).fit(X, Y)
    assert len({tuple(order) for order in soft.orders_}) > 1
    assert_array_equal(np.sort(soft.orders_, axis=1), np.tile(np.arange(5), (6, 1)))
    # With all rows in every chain, each is the chain of its order.
    alone = [one_chain(learner, order=order).fit(X, Y) for order in soft.orders_]
    assert_allclose(
        soft.predict_proba(X_new), np.mean([one.predict_proba(X_new) for one in alone], axis=0)
    )
    share = np.mean([one.predict_proba(X_new) > 0.5 for one in alone], axis=0)
    assert_allclose(hard.decision_function(X_new) + 0.5, share, atol=1e-12)
    assert_array_equal(hard.predict(X_new), share >= 0.5)


def test_places_of_labels_do_not_matter(problem: Problem) -> None:
    X, Y, X_new = problem
    shuffle = np.array([4, 2, 0, 1, 3])
    for order in (None, ORDER):
        # A given order names labels, so it is renamed with them.
        renamed = None if order is None else [int(np.flatnonzero(shuffle == j)[0]) for j in order]
        one = EnsembleOfClassifierChains(n_estimators=3, order=order, random_state=0).fit(X, Y)
        other = EnsembleOfClassifierChains(n_estimators=3, order=renamed, random_state=0)
        other.fit(X, Y[:, shuffle])
        assert_allclose(other.predict_proba(X_new), one.predict_proba(X_new)[:, shuffle], atol=1e-9)
        assert_array_equal(shuffle[other.orders_], one.orders_)


class Recorder(DecisionTreeClassifier):
    """A tree that remembers the rows it was given; the first feature numbers them."""

    def fit(self, X: Any, y: Any) -> Any:
        self.rows_ = X[:, 0].astype(int)
        self.width_ = X.shape[1]
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("bootstrap", "max_samples", "n_rows"),
    [(True, 1.0, 140), (True, 0.5, 70), (True, 99, 99), (False, 0.67, 93), (False, 1.0, 140)],
)
def test_rows_of_the_chains(
    problem: Problem, bootstrap: bool, max_samples: float, n_rows: int
) -> None:
    _, Y, _ = problem
    X = np.arange(140.0)[:, None]
    model = EnsembleOfClassifierChains(
        Recorder(), n_estimators=3, bootstrap=bootstrap, max_samples=max_samples, random_state=0
    ).fit(X, Y)
    drawn = []
    for chain in model.chains_:
        rows = chain[0].learner_.rows_
        for link, guard in enumerate(chain):
            assert_array_equal(guard.learner_.rows_, rows)
            assert guard.learner_.width_ == 1 + link
        assert len(rows) == n_rows
        assert (len(np.unique(rows)) < n_rows) == bootstrap
        drawn.append(tuple(np.sort(rows)))
    everything = not bootstrap and n_rows == 140
    assert len(set(drawn)) == (1 if everything else 3)


def test_a_label_constant_in_the_rows_of_a_chain(problem: Problem) -> None:
    X, Y, X_new = problem
    Y = Y.copy()
    Y[:, 2] = 0
    Y[0, 2] = 1  # a third of the bags miss this row
    for learner in (None, GaussianNB()):
        model = EnsembleOfClassifierChains(learner, n_estimators=8, random_state=0).fit(X, Y)
        constant = [
            chain[list(order).index(2)].learner_ is None
            for chain, order in zip(model.chains_, model.orders_)
        ]
        assert 0 < sum(constant) < 8
        assert model.predict_proba(X_new)[:, 2].max() <= 1 - sum(constant) / 8


def test_sparse_features_are_read_like_dense_ones(problem: Problem) -> None:
    X, Y, X_new = problem
    for learner in (LogisticRegression(max_iter=5000, tol=1e-8), DecisionTreeClassifier()):
        models = [
            EnsembleOfClassifierChains(learner, n_estimators=2, random_state=0).fit(form(X), Y)
            for form in (np.asarray, sparse.csr_array)
        ]
        assert_allclose(
            models[0].predict_proba(X_new),
            models[1].predict_proba(sparse.csr_array(X_new)),
            atol=1e-4,
        )


def test_seeds_reach_the_learners_and_differ_between_chains(problem: Problem) -> None:
    X, Y, _ = problem
    tree = DecisionTreeClassifier(max_features=1)
    model = EnsembleOfClassifierChains(tree, n_estimators=3, random_state=0).fit(X, Y)
    seeds = [{guard.learner_.random_state for guard in chain} for chain in model.chains_]
    assert all(len(one) == 1 for one in seeds)
    assert len(set.union(*seeds)) == 3
    assert tree.random_state is None


def test_named_rules_are_fitted_on_out_of_fold_scores(problem: Problem) -> None:
    X, Y, X_new = problem
    plain = EnsembleOfClassifierChains(n_estimators=3, random_state=0)
    folds = KFold(5, shuffle=True, random_state=0)
    unseen = cross_val_predict(plain, X, Y, cv=folds, method="predict_proba")
    model = clone(plain).set_params(threshold="cardinality").fit(X, Y)
    assert model.offset_ == pytest.approx(fit_threshold("cardinality", Y, unseen).offset)
    assert_array_equal(model.predict(X_new), model.predict_proba(X_new) >= model.offset_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_estimators": 0},
            r"'n_estimators' .* must be an int in the range \[1, inf\)\. Got 0",
        ),
        ({"n_estimators": 2.5}, "must be an int .*Got 2.5"),
        ({"voting": "loud"}, "'voting' .*must be a str among .*Got 'loud'"),
        ({"order": [0, 1, 2]}, r"order must name each of the labels 0, \.\.\., 4 once"),
        ({"order": [0, 1, 2, 3, 3]}, "order must name each"),
        ({"max_samples": 0.0}, r"'max_samples' .* in the range \(0\.0, 1\.0\]\. Got 0\.0"),
        ({"max_samples": 141}, "number of rows from 1 to 140"),
        ({"threshold": "best"}, "'threshold' .* must be .*'micro_f1'.* Got 'best'"),
    ],
)
def test_wrong_parameters_are_refused(
    problem: Problem, parameters: dict[str, Any], message: str
) -> None:
    X, Y, _ = problem
    with pytest.raises(ValueError, match=message):
        EnsembleOfClassifierChains(**parameters).fit(X, Y)


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_reference_numbers(data_home: Path, name: str) -> None:
    X, Y, X_test, Y_test = load_dataset(name, data_home).split()
    model = EnsembleOfClassifierChains(random_state=0).fit(X, Y)
    measured = evaluate(Y_test, model.predict_proba(X_test), model.predict(X_test))
    # Other seeds draw other orders and rows: three times their standard deviation on emotions.
    assert_allclose(list(measured.values()), REFERENCE[name], rtol=0, atol=0.025)
