"""The table of label sets, and learners over it, against plain definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from splmll.methods import _label_sets
from splmll.methods._label_sets import (
    LabelSetEnsemble,
    LabelSetLearner,
    find_label_sets,
    fit_label_sets,
)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.sampled_from([1, 3, 52, 53, 120]))
@settings(max_examples=60, deadline=None)
def test_the_table_is_the_distinct_rows(seed: int, n_rows: int, n_labels: int) -> None:
    rng = np.random.default_rng(seed)
    # Few distinct rows, which differ in one label perhaps: the hardest to tell apart.
    pool = np.repeat(rng.random((1, n_labels)) < 0.5, 4, axis=0)
    pool[np.arange(4), rng.integers(n_labels, size=4)] ^= True
    Y = pool[rng.integers(4, size=n_rows)].astype(float)
    sets, classes = find_label_sets(Y)
    assert_array_equal(sets.toarray()[classes], Y)
    assert sets.shape[0] == len(np.unique(Y, axis=0))
    # Numbered by first appearance.
    first = [np.flatnonzero(classes == number)[0] for number in range(sets.shape[0])]
    assert first == sorted(first)

    sets_sparse, classes_sparse = find_label_sets(sparse.csr_array(Y))
    assert_array_equal(classes_sparse, classes)
    assert_array_equal(sets_sparse.toarray(), sets.toarray())


def test_numbers_do_not_depend_on_the_order_of_labels() -> None:
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 70)) < 0.02).astype(int)
    order = rng.permutation(70)
    sets, classes = find_label_sets(Y)
    permuted_sets, permuted_classes = find_label_sets(Y[:, order])
    assert_array_equal(permuted_classes, classes)
    assert_array_equal(permuted_sets.toarray(), sets.toarray()[:, order])


def test_a_set_for_every_row() -> None:
    rng = np.random.default_rng(1)
    Y = sparse.csr_array((rng.random((20_000, 268)) < 0.05).astype(float))
    sets, classes = find_label_sets(Y)
    assert_array_equal(classes, np.arange(20_000))
    assert (sets != Y).nnz == 0


BASES = [LogisticRegression(solver="newton-cholesky"), KNeighborsClassifier(7)]


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 4)) * [1, 10, 0.1, 1] + [0, 50, 0, -3]
    signal = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(4, 5))
    return X[:100], (signal[:100] > 0.4).astype(float), X[100:]


def members(
    X: np.ndarray, Y: np.ndarray, base: object
) -> tuple[list[LabelSetLearner], list[np.ndarray]]:
    """Learners with many, three, two and one label set: all shapes of logistic weights."""
    three = np.where(Y[:, [0]] == 1, [1, 1, 0, 0, 0], [0, 0, 1, 0, 0])
    three[Y[:, 1] == 1] = 0
    two = np.where(Y[:, [2]] == 1, [1, 0, 0, 1, 0], [0, 0, 0, 0, 1])
    one = np.tile([0, 1, 0, 1, 0], (len(Y), 1))
    tables = [Y, three, two, one]
    return [fit_label_sets(base, X, table) for table in tables], tables


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("base", BASES)
def test_ensembles_add_up_their_members(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray], base: object, voting: str
) -> None:
    X, Y, X_new = problem
    learners, tables = members(X, Y, base)
    expected = np.zeros((len(X_new), 5))
    for learner, table in zip(learners, tables):
        distinct = np.unique(table, axis=0)
        assert learner.sets.shape[0] == len(distinct)
        probabilities = learner.guard.predict_proba(X_new)
        if voting == "soft":
            expected += probabilities @ learner.sets.toarray()
        else:
            expected += learner.sets.toarray()[probabilities.argmax(axis=1)]
    scores = LabelSetEnsemble(learners, 4, n_features=4).scores(X_new, voting)
    assert_allclose(scores, expected / 4, atol=1e-12)
    if isinstance(base, LogisticRegression):
        stored = sparse.csr_array(X_new)
        again = LabelSetEnsemble(learners, 4, n_features=4).scores(stored, voting)
        assert_allclose(again, scores, atol=1e-12)


def test_the_standardisation_is_folded_into_the_weights(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, Y, X_new = problem
    for with_mean in (True, False):
        scaler = StandardScaler(with_mean=with_mean).fit(X)
        learners, _ = members(scaler.transform(X), Y, LogisticRegression(solver="newton-cholesky"))
        plain = LabelSetEnsemble(learners, 4, n_features=4)
        folded = LabelSetEnsemble(learners, 4, n_features=4, scaler=scaler)
        assert_allclose(
            folded.scores(X_new, "soft"), plain.scores(scaler.transform(X_new), "soft"), atol=1e-10
        )


@pytest.mark.parametrize("base", BASES)
def test_blocks_of_rows_change_nothing(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
    base: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, Y, X_new = problem
    ensemble = LabelSetEnsemble(members(X, Y, base)[0], 4, n_features=4)
    at_once = ensemble.scores(X_new, "soft")
    monkeypatch.setattr(_label_sets, "_BLOCK_CELLS", 1)
    assert_allclose(ensemble.scores(X_new, "soft"), at_once, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_marginals_with_a_set_for_every_row() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 5))
    Y = sparse.csr_array((rng.random((3000, 268)) < 0.05).astype(float))
    learner = fit_label_sets(KNeighborsClassifier(3), X, Y)
    scores = LabelSetEnsemble([learner], 1, n_features=5).scores(X[:50], "soft")
    nearest = learner.guard.learner_.kneighbors(X[:50], return_distance=False)
    assert_allclose(scores, Y.toarray()[nearest].mean(axis=1), atol=1e-12)
