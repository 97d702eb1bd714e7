"""SLEEC step by step: similarities, embedding, regression, votes, and reference numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import LinearSVR

from splmll.datasets import load_dataset
from splmll.methods import local_embeddings
from splmll.methods._centred_matrix import CentredMatrix
from splmll.methods.local_embeddings import (
    SLEEC,
    embed_labels,
    ridge,
    similar_rows,
    spherical_clusters,
    without_smallest,
)
from splmll.metrics import evaluate
from splmll.thresholds import GlobalThreshold, fit_threshold

# Ranking loss, Hamming loss, average precision, micro-F1, macro-F1 on the standard splits, computed
# once by an independent program: one learner, one cluster, 50 similar rows, 20 components, ridge
# 2.5, 25 neighbours, cut at 1/2. Which of many equally similar rows are kept differs.
REFERENCE = {
    "emotions": [0.163, 0.195, 0.809, 0.694, 0.678],
    "yeast": [0.185, 0.195, 0.756, 0.642, 0.379],
}
SOLVERS = ["alternating", "svp"]

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 6))
    Y = (X @ rng.normal(size=(6, 5)) + rng.normal(size=(150, 5)) > 0.4).astype(int)
    return X[:110], Y[:110], X[110:]


def label_sets(n_rows: int = 80, n_labels: int = 6, seed: int = 0) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < 0.4).astype(float)
    Y[np.arange(n_rows), rng.integers(0, n_labels, n_rows)] = 1
    return sparse.csr_array(Y)


def cosines(Y: sparse.csr_array) -> np.ndarray:
    unit = Y.toarray() / np.linalg.norm(Y.toarray(), axis=1, keepdims=True)
    return unit @ unit.T


def scores_of(model: SLEEC, X: Any) -> np.ndarray:
    return model.decision_function(X) + model.offset_


# Similar rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 300, 10**6])
def test_similar_rows_are_found_with_the_first_of_equal_ones(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_embeddings, "_BLOCK_CELLS", block)
    Y = label_sets()
    found = similar_rows(Y, 9)
    G = cosines(Y).round(12)
    for row in range(80):
        # Itself, then by similarity, then by number.
        order = sorted(range(80), key=lambda other: (other != row, -G[row, other], other))
        assert_array_equal(found.columns[row], sorted(order[:9]))
        assert_allclose(found.values[row], G[row, found.columns[row]], atol=1e-6)


def test_a_row_is_similar_to_itself_among_many_equals() -> None:
    Y = sparse.csr_array(np.tile([[1.0, 0.0, 1.0]], (30, 1)))
    found = similar_rows(Y, 4)
    assert_array_equal(found.columns[0], [0, 1, 2, 3])
    assert_array_equal(found.columns[20], [0, 1, 2, 20])


# Embedding -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_pairs_and_full_rank_reproduce_the_cosines(solver: str) -> None:
    Y = label_sets()
    Z, residuals = embed_labels(Y, 6, 80, solver=solver, max_iter=50, seed=0)
    assert_allclose(Z @ Z.T, cosines(Y), atol=1e-4)
    assert residuals[-1] < 1e-4


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_residual_falls(solver: str) -> None:
    Y = label_sets(200, 12)
    similar = similar_rows(Y, 15)
    Z, residuals = embed_labels(Y, 8, 15, solver=solver, max_iter=60, seed=0)
    assert len(residuals) > 5
    assert np.diff(residuals).max() <= 0
    assert residuals[-1] < 0.5 * residuals[0]
    if solver == "svp":
        # Its Z is symmetric, so that the residual can be had from Z alone.
        products = np.einsum("iq,ikq->ik", Z, Z[similar.columns])
        assert np.sqrt(np.mean((products - similar.values) ** 2)) == pytest.approx(
            residuals[-1], rel=1e-4
        )


def test_projection_in_the_small_subspace_is_as_good_as_in_the_whole_space() -> None:
    """Singular value projection as the paper writes it, with dense matrices."""
    Y = label_sets(60, 8)
    q, rounds = 4, 40
    similar = similar_rows(Y, 12)
    known = np.zeros((60, 60))
    np.put_along_axis(known, similar.columns.astype(int), 1.0, axis=1)
    G, M = cosines(Y), np.zeros((60, 60))
    for _ in range(rounds):
        R = known * (M - G)
        values, vectors = np.linalg.eigh(M - 0.5 * (R + R.T))
        M = (vectors[:, -q:] * np.maximum(values[-q:], 0)) @ vectors[:, -q:].T
    exact = np.sqrt((known * (M - G) ** 2).sum() / known.sum())
    _, residuals = embed_labels(Y, q, 12, solver="svp", max_iter=rounds, seed=0)
    assert residuals[-1] == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("solver", SOLVERS)
def test_rows_without_labels_lie_at_the_origin(solver: str) -> None:
    Y = label_sets().tolil()
    Y[[3, 10, 50]] = 0
    Z, _ = embed_labels(sparse.csr_array(Y), 4, 10, solver=solver, max_iter=20, seed=0)
    assert not Z[[3, 10, 50]].any()
    assert np.linalg.norm(np.delete(Z, [3, 10, 50], axis=0), axis=1).min() > 0.1
    nothing, residuals = embed_labels(
        sparse.csr_array((5, 3)), 4, 10, solver=solver, max_iter=20, seed=0
    )
    assert not nothing.any()
    assert_array_equal(residuals, [0.0])


# Regression ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [7, 60])  # fewer and more than rows
@pytest.mark.parametrize("stored", [False, True])
def test_ridge_and_its_leave_one_out_predictions(n_features: int, stored: bool) -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(40, n_features)), rng.normal(size=(40, 3))
    X[rng.random(X.shape) < 0.5] = 0
    mean, scale = X.mean(axis=0), X.std(axis=0)
    given = sparse.csr_array(X) if stored else X
    rows = CentredMatrix.standardised(given, mean, scale)
    weights, leverage = ridge(rows, Z, 1.7, leverage=True)
    A = (X - mean) / scale
    assert_allclose(weights, Ridge(1.7, fit_intercept=False).fit(A, Z).coef_.T, atol=1e-9)
    assert leverage is not None
    fitted = A @ weights
    for row in (0, 17, 39):
        others = np.delete(np.arange(40), row)
        alone = Ridge(1.7, fit_intercept=False).fit(A[others], Z[others]).predict(A[[row]])[0]
        h = leverage[row]
        assert_allclose(fitted[row] - h / (1 - h) * (Z[row] - fitted[row]), alone, atol=1e-9)


def test_ridge_is_the_regression_of_the_released_program() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Z = X @ rng.normal(size=(4, 2)) + 0.1 * rng.normal(size=(60, 2))
    cost = 0.2
    weights, _ = ridge(CentredMatrix(X), Z, 1 / (2 * cost))
    for column in range(2):
        peer = LinearSVR(
            loss="squared_epsilon_insensitive",
            epsilon=0.0,
            C=cost,
            fit_intercept=False,
            dual=False,
            tol=1e-12,
            max_iter=100_000,
        ).fit(X, Z[:, column])
        assert_allclose(weights[:, column], peer.coef_, atol=1e-6)


def test_the_smallest_share_is_set_to_zero() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 4)) * [1, 10, 100, 1000]
    assert without_smallest(values, 0.0, axis=None) is values
    overall = without_smallest(values, 0.3, axis=None)
    assert np.count_nonzero(overall == 0) == 60
    assert np.abs(values[overall == 0]).max() < np.abs(values[overall != 0]).min()
    by_column = without_smallest(values, 0.3, axis=0)
    assert_array_equal(np.count_nonzero(by_column == 0, axis=0), [15] * 4)


# Clusters --------------------------------------------------------------------------------------


def test_clusters_are_directions() -> None:
    rng = np.random.default_rng(0)
    directions = np.repeat(np.eye(3), 20, axis=0)
    X = directions + 0.05 * rng.normal(size=(60, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    best = 0
    for seed in range(5):
        centres, assigned = spherical_clusters(CentredMatrix(X), 3, np.random.RandomState(seed))
        assert_allclose(np.linalg.norm(centres, axis=0), 1)
        assert_array_equal(np.argmax(X @ centres, axis=1), assigned)
        best = max(best, sum(len(np.unique(part)) == 1 for part in np.split(assigned, 3)))
    assert best == 3


def test_empty_clusters_are_dropped() -> None:
    X = np.repeat(np.eye(2), 10, axis=0)
    centres, assigned = spherical_clusters(CentredMatrix(X), 9, np.random.RandomState(0))
    assert centres.shape == (2, 2)
    assert len(np.unique(assigned)) == 2


def test_more_clusters_than_rows_and_rows_without_length(problem: Problem) -> None:
    X, Y, _ = problem
    X = X[:30].copy()
    X[4] = 0
    model = SLEEC(n_clusters=100, scale=None, n_neighbors=3, random_state=0).fit(X, Y[:30])
    assert np.isfinite(model.predict_proba(X)).all()
    assert all(len(learner.clusters) <= 30 for learner in model.learners_)


def test_one_cluster_needs_one_learner(problem: Problem) -> None:
    X, Y, X_new = problem
    one, five = (SLEEC(n_estimators=n, random_state=0).fit(X, Y) for n in (1, 5))
    assert len(five.learners_) == 1
    assert_array_equal(five.predict_proba(X_new), one.predict_proba(X_new))
    assert len(SLEEC(n_estimators=3, n_clusters=2, random_state=0).fit(X, Y).learners_) == 3


# Votes -----------------------------------------------------------------------------------------


def test_scores_are_the_mean_labels_of_neighbours_in_the_embedding(problem: Problem) -> None:
    X, Y, X_new = problem
    model = SLEEC(4, n_clusters=2, n_estimators=3, n_neighbors=7, random_state=0).fit(X, Y)

    def unit(rows: np.ndarray) -> np.ndarray:
        scaled = (rows - X.mean(axis=0)) / X.std(axis=0)
        return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)

    expected = np.zeros((40, 5))
    for learner in model.learners_:
        own = np.argmax(unit(X) @ learner.centres, axis=1)
        new = np.argmax(unit(X_new) @ learner.centres, axis=1)
        for number, cluster in enumerate(learner.clusters):
            train = unit(X)[own == number] @ cluster.weights
            assert_allclose(cluster.embedded, train, atol=1e-12)
            search = NearestNeighbors(n_neighbors=7).fit(train)
            found = search.kneighbors(
                unit(X_new)[new == number] @ cluster.weights, return_distance=False
            )
            expected[new == number] += Y[own == number][found].mean(axis=1) / 3
    assert_allclose(scores_of(model, X_new), expected, atol=1e-12)
    assert_allclose(model.predict_proba(X_new), (21 * expected + 1) / 23, atol=1e-12)


@pytest.mark.parametrize("n_neighbors", [110, 1000])
def test_asking_everybody_gives_the_frequencies(problem: Problem, n_neighbors: int) -> None:
    X, Y, X_new = problem
    model = SLEEC(n_neighbors=n_neighbors, threshold=0.5).fit(X, Y)
    assert_allclose(scores_of(model, X_new), np.tile(Y.mean(axis=0), (40, 1)), atol=1e-12)


def test_sparsity_of_zero_changes_nothing_and_more_gives_zeros(problem: Problem) -> None:
    X, Y, X_new = problem
    plain = SLEEC(4, random_state=0).fit(X, Y).learners_[0].clusters[0]
    model = SLEEC(4, weight_sparsity=0.5, embedding_sparsity=0.25, random_state=0).fit(X, Y)
    thin = model.learners_[0].clusters[0]
    assert np.count_nonzero(plain.weights) == plain.weights.size == 24
    assert np.count_nonzero(thin.weights) == 12
    assert_array_equal(thin.weights[thin.weights != 0], plain.weights[thin.weights != 0])
    assert_array_equal(np.count_nonzero(thin.embedded == 0, axis=0), [27] * 4)
    assert np.isfinite(model.predict_proba(X_new)).all()


def test_the_threshold_is_tuned_on_votes_without_the_row_itself(problem: Problem) -> None:
    X, Y, X_new = problem
    settings: dict[str, Any] = {"n_neighbors": 7, "ridge": 5.0, "random_state": 0}
    model = SLEEC(**settings).fit(X, Y)
    cluster = model.learners_[0].clusters[0]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    # The embedding of the labels, which the regression has for its target.
    Z, _ = embed_labels(
        sparse.csr_array(Y.astype(float)),
        5,
        100,
        solver="alternating",
        max_iter=200,
        seed=_seed_of_the_only_cluster(110),
    )
    assert_allclose(Ridge(5.0, fit_intercept=False).fit(rows, Z).coef_.T, cluster.weights)
    votes = np.empty(Y.shape)
    for row in range(110):
        others = np.delete(np.arange(110), row)
        alone = Ridge(5.0, fit_intercept=False).fit(rows[others], Z[others])
        distance = np.linalg.norm(cluster.embedded[others] - alone.predict(rows[[row]]), axis=1)
        votes[row] = Y[others][np.argsort(distance)[:7]].mean(axis=0)
    assert model.offset_ == pytest.approx(fit_threshold("micro_f1", Y, votes).offset)
    assert SLEEC(threshold=0.3).fit(X, Y).threshold_ == GlobalThreshold(0.3)
    assert SLEEC().fit(X[:49], Y[:49]).threshold_ == GlobalThreshold(0.5)
    # The rule changes which labels are predicted, and no score.
    fixed = SLEEC(threshold=0.5, **settings).fit(X, Y)
    assert_allclose(scores_of(fixed, X_new), scores_of(model, X_new), atol=1e-12)


def _seed_of_the_only_cluster(n_rows: int) -> int:
    rng = np.random.RandomState(0)
    rng.choice(n_rows, size=1, replace=False)  # where the clustering starts
    return int(rng.randint(np.iinfo(np.int32).max, size=1)[0])


# Approximate search ------------------------------------------------------------------------------


def test_the_approximate_search_finds_nearly_the_same(problem: Problem) -> None:
    X, Y, X_new = problem
    exact = SLEEC(random_state=0).fit(X, Y)
    approximate = SLEEC(search="approximate", random_state=0).fit(X, Y)
    assert np.abs(scores_of(approximate, X_new) - scores_of(exact, X_new)).mean() < 0.02


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "'n_components' .* must be .* or None. Got 0"),
        ({"n_components": 1.5}, "'n_components' .* must be .* or None. Got 1.5"),
        ({"n_estimators": 0}, r"'n_estimators' .* must be an int in the range \[1, inf\)\. Got 0"),
        ({"n_clusters": 2.0}, "'n_clusters' .* must be an int .* or None. Got 2.0"),
        ({"ridge": 0.0}, r"'ridge' .* must be a float in the range \(0\.0, inf\)\. Got 0\.0"),
        (
            {"weight_sparsity": 1.0},
            r"'weight_sparsity' .* in the range \[0\.0, 1\.0\)\. Got 1\.0",
        ),
        ({"embedding_solver": "als"}, "must be a str among .*alternating.* Got 'als'"),
        ({"search": "fast"}, "'search' .* must be .*Got 'fast'"),
        ({"threshold": "best"}, "'threshold' .* must be .*'micro_f1'.* Got 'best'"),
    ],
)
def test_impossible_parameters_are_refused(
    problem: Problem, parameters: dict[str, Any], message: str
) -> None:
    X, Y, _ = problem
    with pytest.raises(ValueError, match=message):
        SLEEC(**parameters).fit(X, Y)


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_reference_numbers(data_home: Path, name: str) -> None:
    X, Y, X_test, Y_test = load_dataset(name, data_home).split()
    settings: dict[str, Any] = {"n_label_neighbors": 50, "n_neighbors": 25, "ridge": 2.5}
    model = SLEEC(20, max_iter=200, threshold=0.5, random_state=0, **settings).fit(X, Y)
    measured = evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
    # Two rows that change places among equally similar ones move the third digit.
    assert_allclose(list(measured.values()), REFERENCE[name], rtol=0, atol=3e-3)
