"""Calibrated label ranking against its definition, its vote identity and its reductions."""

from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from splmll.datasets import load_dataset
from splmll.methods import BinaryRelevance
from splmll.methods.calibrated_ranking import CalibratedLabelRanking
from splmll.metrics import evaluate

# Ranking loss and average precision on the standard splits with whole votes of unpruned entropy
# trees, then the Hamming loss with ties excluded and included, computed once by an independent
# program. Trees depend on their seed.
REFERENCE_TREES = {
    "emotions": [0.244, 0.729, 0.246, 0.271],
    "scene": [0.154, 0.746, 0.133, 0.146],
}

# Weights are stored in single precision.
SINGLE = 1e-5

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(180, 6))
    Y = (X @ rng.normal(size=(6, 5)) + rng.normal(size=(180, 5)) > 0.5).astype(int)
    X = X * [1, 10, 0.01, 1, 1, 1] + [0, 100, 0, -5, 0, 0]
    return X[:120], Y[:120], X[120:]


def votes_by_definition(
    learner: Any, X: np.ndarray, Y: np.ndarray, X_new: np.ndarray, hard: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The sums of the paper, duel by duel."""

    def won(X_duel: np.ndarray, target: np.ndarray) -> np.ndarray:
        wins = clone(learner).fit(X_duel, target).predict_proba(X_new)[:, 1]
        return (wins > 0.5).astype(float) if hard else wins

    label_votes = np.zeros((len(X_new), Y.shape[1]))
    virtual_votes = np.zeros(len(X_new))
    for a, b in combinations(range(Y.shape[1]), 2):
        one_of_both = Y[:, a] + Y[:, b] == 1
        wins = won(X[one_of_both], Y[one_of_both, a])
        label_votes[:, a] += wins
        label_votes[:, b] += 1 - wins
    for a in range(Y.shape[1]):
        wins = won(X, Y[:, a])
        label_votes[:, a] += wins
        virtual_votes += 1 - wins
    return label_votes, virtual_votes


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(max_iter=5000), GaussianNB(), DecisionTreeClassifier(random_state=0)],
)
def test_follows_the_definition(problem: Problem, learner: Any, voting: str) -> None:
    X, Y, X_new = problem
    X, X_new = X / X.std(axis=0), X_new / X.std(axis=0)
    model = CalibratedLabelRanking(learner, voting=voting).fit(X, Y)
    expected_label, expected_virtual = votes_by_definition(learner, X, Y, X_new, voting == "hard")
    label_votes, virtual_votes = model.votes(X_new)
    assert_allclose(label_votes, expected_label, atol=1e-4)
    assert_allclose(virtual_votes, expected_virtual, atol=1e-4)
    lead = expected_label - expected_virtual[:, None]
    clear = np.abs(lead) > 1e-3
    assert_array_equal(model.predict(X_new)[clear], (lead > 0)[clear])
    assert_allclose(model.predict_proba(X_new), (1 + lead / 5) / 2, atol=1e-4)


def test_the_default_is_logistic_regression_on_standardised_features(problem: Problem) -> None:
    X, Y, X_new = problem
    scaler = StandardScaler().fit(X)
    learner = LogisticRegression(max_iter=1000)
    expected = votes_by_definition(
        learner, scaler.transform(X), Y, scaler.transform(X_new), hard=False
    )
    model = CalibratedLabelRanking().fit(X, Y)
    assert_allclose(model.votes(X_new)[0], expected[0], atol=SINGLE)
    assert_allclose(model.votes(X_new)[1], expected[1], atol=SINGLE)
    assert [duels.shape for duels in model.duels_] == [(5 - a, 7) for a in range(5)]
    assert {duels.dtype for duels in model.duels_} == {np.dtype(np.float32)}


@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(2, 25),
    n_labels=st.integers(1, 6),
    share=st.floats(0.0, 1.0),
    voting=st.sampled_from(["soft", "hard"]),
    linear=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_every_duel_gives_one_vote(
    seed: int, n_rows: int, n_labels: int, share: float, voting: str, linear: bool
) -> None:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n_rows, 2)), (rng.random((n_rows, n_labels)) < share).astype(int)
    learner = None if linear else DecisionTreeClassifier(max_depth=2)
    model = CalibratedLabelRanking(learner, voting=voting).fit(X, Y)
    label_votes, virtual_votes = model.votes(rng.normal(size=(7, 2)))
    total = label_votes.sum(axis=1) + virtual_votes
    assert_allclose(total, n_labels * (n_labels + 1) / 2, rtol=1e-12)
    assert label_votes.min() >= 0
    assert max(label_votes.max(), virtual_votes.max()) <= n_labels + 1e-12


def test_one_label_is_binary_relevance(problem: Problem) -> None:
    X, Y, X_new = problem
    model = CalibratedLabelRanking().fit(X, Y[:, [2]])
    expected = BinaryRelevance().fit(X, Y[:, [2]])
    assert_allclose(model.predict_proba(X_new), expected.predict_proba(X_new), atol=SINGLE)
    assert_array_equal(model.predict(X_new), expected.predict(X_new))


def test_without_the_virtual_label_single_labels_are_one_vs_one(problem: Problem) -> None:
    X, _, X_new = problem
    rng = np.random.default_rng(0)
    y = np.argmax(X / X.std(axis=0) @ rng.normal(size=(6, 4)) + rng.normal(size=(120, 4)), axis=1)
    Y = np.eye(4, dtype=int)[y]
    learner = LogisticRegression(max_iter=5000)
    peer = OneVsOneClassifier(learner).fit(X, y)
    label_votes, _ = CalibratedLabelRanking(learner, voting="hard").fit(X, Y).votes(X_new)
    against_virtual = BinaryRelevance(learner).fit(X, Y).predict(X_new)
    among_labels = label_votes - against_virtual
    best_two = np.sort(among_labels, axis=1)[:, -2:]
    clear = best_two[:, 1] > best_two[:, 0]  # one-vs-one breaks ties by margins
    assert clear.mean() > 0.8
    assert_array_equal(np.argmax(among_labels, axis=1)[clear], peer.predict(X_new)[clear])


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize(("ties", "predicted"), [("exclude", 0), ("include", 1)])
def test_learners_that_know_nothing_tie_all_labels(voting: str, ties: str, predicted: int) -> None:
    X, Y = np.zeros((8, 1)), np.eye(4, dtype=int)[[0, 1, 2, 3] * 2]
    Y[4:] = 1 - Y[4:]  # as often relevant as not, in every duel too
    model = CalibratedLabelRanking(DummyClassifier(), voting=voting, ties=ties).fit(X, Y)
    label_votes, virtual_votes = model.votes(X)
    assert_array_equal(label_votes, np.full((8, 4), 2.0))
    assert_array_equal(virtual_votes, np.full(8, 2.0))
    assert_array_equal(model.predict(X), np.full((8, 4), predicted))
    assert_array_equal(model.decision_function(X) > 0, np.full((8, 4), predicted == 1))
    assert_array_equal(model.predict_proba(X).round(), np.full((8, 4), predicted))


@pytest.mark.parametrize("learner", [None, GaussianNB()])
def test_labels_that_never_differ_share_their_duel(problem: Problem, learner: Any) -> None:
    X, Y, X_new = problem
    twins = Y[:, [0, 0, 1]]
    model = CalibratedLabelRanking(learner).fit(X, twins)
    label_votes, _ = model.votes(X_new)
    assert_allclose(label_votes[:, 0], label_votes[:, 1], rtol=1e-12)
    if learner is None:
        assert not model.duels_[0][0].any()
    else:
        assert model.duels_[0][0] is None
    # Half a vote from the twin, the rest as without it.
    alone, _ = CalibratedLabelRanking(learner).fit(X, Y[:, [0, 1]]).votes(X_new)
    assert_allclose(label_votes[:, 0], alone[:, 0] + 0.5, atol=SINGLE)


@pytest.mark.parametrize("learner", [None, GaussianNB()])
@pytest.mark.parametrize("turned", [False, True])
def test_a_label_that_implies_another_always_loses_to_it(
    problem: Problem, learner: Any, turned: bool
) -> None:
    X, Y, X_new = problem
    general, special = Y[:, 0], Y[:, 0] * Y[:, 1]
    labels = np.column_stack([special, general] if turned else [general, special])
    model = CalibratedLabelRanking(learner).fit(X, labels)
    label_votes, _ = model.votes(X_new)
    against_virtual = BinaryRelevance(learner).fit(X, labels).predict_proba(X_new)
    wins = label_votes - against_virtual
    assert_allclose(wins, np.tile([0.0, 1.0] if turned else [1.0, 0.0], (60, 1)), atol=SINGLE)


def test_whole_votes_are_whole(problem: Problem) -> None:
    X, Y, X_new = problem
    label_votes, virtual_votes = CalibratedLabelRanking(voting="hard").fit(X, Y).votes(X_new)
    assert_array_equal(label_votes, label_votes.round())
    assert_array_equal(virtual_votes, virtual_votes.round())


def test_weighed_votes_follow_their_definition(problem: Problem) -> None:
    X, Y, X_new = problem
    learner = GaussianNB(var_smoothing=1e-2)
    model = CalibratedLabelRanking(learner, voting="weighed").fit(X, Y)
    relevance = BinaryRelevance(learner).fit(X, Y).predict_proba(X_new)
    expected = 0.85 * relevance
    for a, b in permutations(range(5), 2):
        duel = Y[:, a] + Y[:, b] == 1
        wins = clone(learner).fit(X[duel], Y[duel, a]).predict_proba(X_new)[:, 1]
        for i in range(len(X_new)):
            # Which of the two are relevant, by the virtual duels, and then who wins.
            of_a, of_b = relevance[i, a], relevance[i, b]
            cases = {(1, 1): 1.0, (1, 0): wins[i], (0, 1): wins[i], (0, 0): 0.0}
            chances = {(1, 1): of_a * of_b, (1, 0): of_a * (1 - of_b), (0, 1): of_b * (1 - of_a)}
            vote = sum(chance * cases[case] for case, chance in chances.items())
            expected[i, a] += 0.15 * vote / 4
    assert_allclose(model.predict_proba(X_new), expected, atol=1e-7)
    label_votes, virtual_votes = model.votes(X_new)
    assert_allclose(label_votes / 5, expected, atol=1e-7)
    assert_array_equal(model.predict(X_new), label_votes > virtual_votes[:, None])


def rare_labels(seed: int, n_rows: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Texts with a frequent label and 24 rare ones, each with a word that most of its rows have."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((n_rows, 25), dtype=int)
    Y[:, 0] = rng.random(n_rows) < 0.5
    Y[np.arange(n_rows), rng.integers(1, 25, size=n_rows)] = 1
    telling = Y * (rng.random(Y.shape) < 0.8)
    return sparse.csr_array(np.hstack([telling, rng.random((n_rows, 50)) < 0.15]) * 1.0), Y


def test_duels_of_rare_labels_do_not_bury_the_others() -> None:
    X, Y = rare_labels(0, 200)
    X_new, Y_new = rare_labels(1, 300)
    found = {
        voting: label_ranking_average_precision_score(
            Y_new, CalibratedLabelRanking(voting=voting).fit(X, Y).decision_function(X_new)
        )
        for voting in ("auto", "soft")
    }
    alone = BinaryRelevance().fit(X, Y).decision_function(X_new)
    assert found["auto"] > label_ranking_average_precision_score(Y_new, alone) - 0.01
    assert found["auto"] > found["soft"] + 0.02


def test_the_default_voting_depends_on_the_features(problem: Problem) -> None:
    X, Y, X_new = problem
    for make, voting in ((np.asarray, "soft"), (sparse.csr_array, "weighed")):
        default = CalibratedLabelRanking().fit(make(X), Y)
        chosen = CalibratedLabelRanking(voting=voting).fit(make(X), Y)
        assert_array_equal(default.predict_proba(X_new), chosen.predict_proba(X_new))


@pytest.mark.parametrize("voting", ["soft", "weighed"])
def test_one_label_is_its_duel_with_the_virtual_label(problem: Problem, voting: str) -> None:
    X, Y, X_new = problem
    model = CalibratedLabelRanking(GaussianNB(), voting=voting).fit(X, Y[:, [0]])
    alone = BinaryRelevance(GaussianNB()).fit(X, Y[:, [0]])
    assert_allclose(model.predict_proba(X_new), alone.predict_proba(X_new), atol=1e-7)


def test_ties_change_only_tied_labels(problem: Problem) -> None:
    X, Y, X_new = problem
    above = CalibratedLabelRanking(voting="hard").fit(X, Y)
    at_least = CalibratedLabelRanking(voting="hard", ties="include").fit(X, Y)
    label_votes, virtual_votes = above.votes(X_new)
    tied = label_votes == virtual_votes[:, None]
    assert tied.any()
    assert_array_equal(above.predict(X_new), label_votes > virtual_votes[:, None])
    assert_array_equal(at_least.predict(X_new), label_votes >= virtual_votes[:, None])


def test_scores_rank_like_votes(problem: Problem) -> None:
    X, Y, X_new = problem
    model = CalibratedLabelRanking(threshold="micro_f1").fit(X, Y)
    label_votes, virtual_votes = model.votes(X_new)
    assert_array_equal(
        np.argsort(model.decision_function(X_new), axis=1), np.argsort(label_votes, axis=1)
    )
    # Out-of-fold scores put the cut elsewhere than the virtual label does.
    assert model.offset_ != 0.5
    lead = label_votes - virtual_votes[:, None]
    assert_array_equal(model.predict(X_new), lead >= 5 * (2 * model.offset_ - 1))


def test_sparse_features_stay_sparse(problem: Problem) -> None:
    X, Y, X_new = problem
    stored = [sparse.csr_array(np.where(np.abs(x) > 1, x, 0.0)) for x in (X, X_new)]
    model = CalibratedLabelRanking(voting="soft").fit(stored[0], Y)
    assert model.scaler_ is None
    plain = CalibratedLabelRanking(LogisticRegression(max_iter=1000))
    dense = plain.fit(stored[0].toarray(), Y)
    assert_allclose(
        model.predict_proba(stored[1]), dense.predict_proba(stored[1].toarray()), atol=2e-3
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"voting": "loud"}, r"'voting' .* among \{.*'weighed'.*\}\. Got 'loud'"),
        ({"ties": "above"}, r"'ties' .* among \{'exclude', 'include'\}\. Got 'above'"),
        ({"threshold": "best"}, "'threshold' .* must be .*'micro_f1'.* Got 'best'"),
    ],
)
def test_wrong_parameters_are_refused(
    problem: Problem, parameters: dict[str, Any], message: str
) -> None:
    X, Y, _ = problem
    with pytest.raises(ValueError, match=message):
        CalibratedLabelRanking(**parameters).fit(X, Y)


@pytest.mark.parametrize("name", sorted(REFERENCE_TREES))
def test_reference_numbers_of_trees(data_home: Path, name: str) -> None:
    X, Y, X_test, Y_test = load_dataset(name, data_home).split()
    tree = DecisionTreeClassifier(criterion="entropy")
    model = CalibratedLabelRanking(tree, voting="hard", random_state=0).fit(X, Y)
    measured = evaluate(Y_test, model.predict_proba(X_test), model.predict(X_test))
    including = model.set_params(ties="include").predict(X_test)
    found = [
        measured["ranking_loss"],
        measured["average_precision"],
        measured["hamming_loss"],
        np.mean(including != Y_test),
    ]
    assert_allclose(found, REFERENCE_TREES[name], rtol=0, atol=0.015)
