"""Very wide rows, very many labels, prediction in blocks, and what it all costs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, make_problem, quick_network
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from peak_memory import peak_bytes
from splmll import SPLMLL, evaluate, load_dataset, statistics
from splmll.embeddings import Network, linear, wide_ridge
from splmll.landmarks import classifier, folds, label_moments, out_of_core, prediction
from splmll.landmarks.cost import check_memory
from splmll.landmarks.label_moments import SparseMoments, pick_candidates


def solve_by(monkeypatch: pytest.MonkeyPatch, solver: str) -> None:
    monkeypatch.setattr(linear, "choose_solver", lambda *shape: solver)


def text(n_rows: int, n_words: int = 500, n_labels: int = 40, seed: int = 0) -> tuple:
    """Sparse rows of words, and labels that go with their topics, as in bibtex."""
    shared = np.random.default_rng(1)
    words = shared.dirichlet(np.full(n_words, 0.03), size=15)
    tags = shared.random((15, n_labels)) ** 8
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(15, 0.1), size=n_rows)
    X = rng.random((n_rows, n_words)) < 1 - np.exp(-40 * topics @ words)
    Y = rng.random((n_rows, n_labels)) < topics @ tags
    return sparse.csr_array(X.astype(float)), sparse.csr_array(Y.astype(int))


# Wide rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["rows", "iterative"])
def test_equal_quality_on_sparse_text(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = text(600)
    X_test, Y_test = text(400, seed=2)

    def measure() -> tuple[SPLMLL, dict[str, float]]:
        model = SPLMLL("linear", random_state=0).fit(X, Y)
        scores = model.decision_function(X_test)
        return model, evaluate(Y_test, scores, model.predict(X_test))

    solve_by(monkeypatch, "features")
    exact, expected = measure()
    solve_by(monkeypatch, solver)
    model, found = measure()
    assert model.embedding_.ridge_ == exact.embedding_.ridge_
    assert_array_equal(np.sort(model.landmarks_), np.sort(exact.landmarks_))
    for name in ("ranking_loss", "average_precision"):
        assert found[name] == pytest.approx(expected[name], abs=5e-4)


@pytest.mark.slow
def test_equal_quality_on_tmc2007(data_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, X_test, Y_test = load_dataset("tmc2007", data_home=data_home).split()
    measured = []
    for solver in ("features", "iterative"):
        solve_by(monkeypatch, solver)
        model = SPLMLL("linear", random_state=0).fit(X, Y)
        scores = model.decision_function(X_test)
        measured.append(evaluate(Y_test, scores, model.predict(X_test)))
    for name in ("ranking_loss", "average_precision"):
        assert measured[1][name] == pytest.approx(measured[0][name], abs=5e-4)


@pytest.mark.parametrize("n_rows", [150, 400])
def test_a_hundred_thousand_features(n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their D x D matrix would have 128 GiB."""
    rng = np.random.default_rng(0)
    X, Y = text(n_rows, 60, 6)
    spread = np.sort(rng.choice(2**17, 60, replace=False))
    wide_X = sparse.csr_array((X.data, spread[X.indices], X.indptr), shape=(n_rows, 2**17))
    if n_rows == 400:
        monkeypatch.setattr(wide_ridge, "DIRECT_BYTES_OF_ROWS", 0)
    model = SPLMLL("linear", random_state=0).fit(wide_X, Y)
    assert model.decision_function(wide_X).shape == (n_rows, 6)
    # Features that never occur add nothing but their share of alpha.
    measures = evaluate(Y, model.decision_function(wide_X), model.predict(wide_X))
    assert measures["average_precision"] > 0.6
    assert not model.embedding_.map_[1:][np.setdiff1d(np.arange(2**17), spread)].any()
    with pytest.raises(ValueError, match="131072 features are too many for rows that come in"):
        SPLMLL("linear").partial_fit(wide_X, Y)


# Very many labels -----------------------------------------------------------------------------


def few_are_many(monkeypatch: pytest.MonkeyPatch, most: int, candidates: int) -> None:
    monkeypatch.setattr(statistics, "MOST_DENSE_LABELS", most)
    for name in ("MOST_CANDIDATES", "MOST_MODELS"):
        monkeypatch.setattr(label_moments, name, candidates)


@pytest.mark.parametrize("rows", [200, 900])
@pytest.mark.parametrize("n_landmarks", [None, 3])
def test_candidates_that_are_all_labels_change_nothing(
    rows: int, n_landmarks: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = make_problem(rows)
    if rows == 900:
        for module in (classifier, folds, out_of_core):
            monkeypatch.setattr(module, "LARGE_ROWS", 300)
    full = SPLMLL("linear", n_landmarks=n_landmarks, random_state=0).fit(X, Y)
    few_are_many(monkeypatch, most=4, candidates=8)
    by_candidates = SPLMLL("linear", n_landmarks=n_landmarks, random_state=0)
    by_candidates.fit(X, sparse.csr_array(Y))
    assert_array_equal(by_candidates.landmarks_, full.landmarks_)
    for name in (
        "selection_", "recovery_", "predictability_", "representativeness_", "thresholds_"
    ):  # fmt: skip
        assert_allclose(getattr(by_candidates, name), getattr(full, name), atol=1e-7, err_msg=name)
    assert_allclose(by_candidates.decision_function(X), full.decision_function(X), atol=1e-7)
    known = Y[:20][:, full.landmarks_]
    assert_allclose(
        by_candidates.recover(known, return_scores=True), full.recover(known, return_scores=True),
        atol=1e-8,
    )  # fmt: skip


def test_with_a_model_for_each_label_the_frequent_ones_are_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, Y = text(500, 100, 30)
    few_are_many(monkeypatch, most=10, candidates=6)
    model = SPLMLL("svm", random_state=0).fit(X, Y)
    frequent = np.argsort(-np.asarray(Y.sum(axis=0)).ravel(), kind="stable")[:6]
    assert set(model.landmarks_) <= set(frequent.tolist())
    assert set(np.flatnonzero(~np.isnan(model.predictability_))) == set(frequent.tolist())


def test_only_candidates_become_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = text(500, 100, 30)
    few_are_many(monkeypatch, most=10, candidates=6)
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    assert 0 < len(model.landmarks_) <= 6
    assert model.recovery_.shape == (len(model.landmarks_), 30)
    assert np.isnan(model.predictability_).sum() >= 24 - 6
    assert model.decision_function(X).shape == (500, 30)
    network = SPLMLL(quick_network(), cv=2, random_state=0).fit(X, Y)
    assert len(network.landmarks_) <= 6
    svm = SPLMLL("svm", random_state=0).fit(X, Y)
    assert len(svm.landmarks_) <= 6
    assert svm.decision_function(X).shape == (500, 30)


def greedy(G: np.ndarray, count: int, rho: float) -> list[int]:
    """Write R out and take the label that explains most, again and again."""
    R, taken = G.copy(), []
    for _ in range(count):
        gain = (R**2).sum(axis=0) / (np.diag(R) + rho)
        gain[taken] = -np.inf
        taken.append(int(np.argmax(gain)))
        column = R[:, taken[-1]]
        R = R - np.outer(column, column) / (column[taken[-1]] + rho)
    return sorted(taken)


@pytest.mark.parametrize("centred", [True, False])
def test_candidates_are_those_of_the_written_out_search(centred: bool) -> None:
    _, Y = text(400, 50, 35)
    Y = Y.toarray().astype(float)
    mean = Y.mean(axis=0) if centred else np.zeros(35)
    Z = sparse.csr_array(Y.T @ Y / 400)
    G = Z.toarray() - np.outer(mean, mean)
    moments = SparseMoments(Z, mean)
    assert_allclose(moments.column_squares, (G**2).sum(axis=0), atol=1e-12)
    assert_allclose(moments @ np.arange(35.0), G @ np.arange(35.0), atol=1e-12)
    found = pick_candidates(moments, np.ones(35, dtype=bool), 9, rho=0.01)
    assert found.tolist() == greedy(G, 9, 0.01)
    allowed = np.arange(35) % 2 == 0
    assert (pick_candidates(moments, allowed, 5, 0.01) % 2 == 0).all()


MANY_LABELS = """
import numpy as np
from scipy import sparse
from splmll import SPLMLL
from splmll.landmarks import label_moments

label_moments.MOST_CANDIDATES = 30  # each is a row of 20,000: fewer are quicker

N, D, C = 600, 30, 20_000
rng = np.random.default_rng(0)
topic = rng.integers(400, size=(N, 2))
labels = np.sort((topic[:, :, None] * 50 + rng.integers(8, size=(N, 2, 2))).reshape(N, -1))
Y = sparse.coo_array((np.ones(labels.size), (np.repeat(np.arange(N), 4), labels.ravel())), (N, C))
Y = (Y.tocsr() > 0).astype(np.int8)
X = rng.normal(size=(400, D))[topic].sum(axis=1) + 0.1 * rng.normal(size=(N, D))
model = SPLMLL("linear", cv=2, n_landmarks=15, random_state=0).fit(X, Y)
top = model.predict_top(X, k=5)
assert top.shape == (N, C) and top.nnz == 5 * N
assert model.recovery_.shape == (15, C)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are measured as on Linux")
def test_twenty_thousand_labels_without_their_square(tmp_path: Path) -> None:
    """A C x C matrix alone would have 3 GiB."""
    assert peak_bytes(MANY_LABELS, tmp_path) < 1.5 * 2**30


# Prediction -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_blocks_of_rows_give_what_all_rows_give(
    n_jobs: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = make_problem(700)
    for labels in (Y, sparse.csr_array(Y)):
        model = SPLMLL("linear", random_state=0, n_jobs=n_jobs).fit(X, labels)
        whole, top = model.predict(X), model.predict_top(X, 3)
        with monkeypatch.context() as patch:
            patch.setattr(prediction, "BLOCK_CELLS", 8 * 100)
            pieces, top_pieces = model.predict(X), model.predict_top(X, 3)
        assert type(pieces) is type(whole)
        assert pieces.dtype == whole.dtype
        difference = pieces != whole
        assert (difference.nnz if sparse.issparse(difference) else difference.sum()) == 0
        assert_allclose(top_pieces.toarray(), top.toarray(), atol=1e-12)
        assert_array_equal(top_pieces.indices, top.indices)


@pytest.mark.parametrize("k", [1, 3, 6, 8, 50])
def test_the_top_scores_are_the_highest(k: int) -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    scores = model.decision_function(X)
    top = model.predict_top(X, k)
    kept = min(k, 8)
    assert (np.diff(top.indptr) == kept).all()
    for i in range(20):
        columns = top.indices[top.indptr[i] : top.indptr[i + 1]]
        assert columns.tolist() == sorted(np.argsort(-scores[i], kind="stable")[:kept].tolist())
        assert_allclose(top.data[top.indptr[i] : top.indptr[i + 1]], scores[i, columns])


def test_of_equal_scores_the_first_are_top() -> None:
    scores = np.array([[1.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    top = prediction._highest(scores, 3)
    assert top.indices.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="k=0"):
        SPLMLL("linear").fit(*make_problem()).predict_top(scores, 0)


def test_the_short_check_refuses_what_the_long_one_does() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    row = X[:1].copy()
    expected = model.predict(row)
    assert_array_equal(model.predict(row.tolist()), expected)
    assert_array_equal(model.predict(np.asfortranarray(row)), expected)
    row[0, 3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(row)
    with pytest.raises(ValueError, match="X has 9 features"):
        model.decision_function(X[:1, :9])
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(X[0])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    named = SPLMLL("linear", random_state=0).fit(pd.DataFrame(X, columns=[*NAMES, "i", "j"]), Y)
    with pytest.warns(UserWarning, match="valid feature names"):
        named.predict(X[:1])


# What it costs --------------------------------------------------------------------------------


def test_cost_follows_from_shapes_alone() -> None:
    class OnlyAShape:
        shape = (10**9, 10**3)

    linear = SPLMLL("linear")
    small = linear.estimate_cost((10**5, 500), (10**5, 100))
    assert linear.estimate_cost((10**6, 500), (10**6, 100)).memory == small.memory
    assert small.operations < linear.estimate_cost((10**6, 500), (10**6, 100)).operations
    assert "in one pass" in str(small)
    huge = linear.estimate_cost(OnlyAShape(), (10**9, 10**4))
    assert huge.operations > 10**9 * 10**6
    assert huge.memory < huge.data / 100


@pytest.mark.parametrize(
    ("shape", "route"),
    [((2000, 50), "features"), ((100, 5000), "rows"), ((9000, 9000), "iteratively")],
    ids=["features", "rows", "iteratively"],
)
def test_cost_names_the_route(shape: tuple[int, int], route: str) -> None:
    cost = SPLMLL("linear").estimate_cost(shape, (shape[0], 10))
    assert route in cost.route
    check_memory(cost, limit=2**40)
    with pytest.raises(MemoryError, match=r"needs about .* only 0.0 GiB are free. Use fewer"):
        check_memory(cost, limit=1)


def test_cost_of_networks_and_others() -> None:
    shapes = (4000, 100), (4000, 10)
    network, twice = (SPLMLL(Network(max_epochs=n)).estimate_cost(*shapes) for n in (10, 20))
    weights = 101 * 512 + 513 * 64 + 65 * 10
    assert twice.operations - network.operations == pytest.approx(6 * weights * 3200 * 10 * 5)
    assert "5 networks, 10 epochs" in str(network)
    for kind in ("auto", "kernel", "svm", "blend", ["linear", "mlp"]):
        assert SPLMLL(kind).estimate_cost(*shapes).memory > 0
    X, Y = sparse.random_array((4000, 100), density=0.01), np.zeros((4000, 10))
    assert SPLMLL("linear").estimate_cost(X, Y).operations < network.operations
    assert "10 linear classifiers, 3 folds" in str(SPLMLL("svm").estimate_cost(X, Y))
    with pytest.raises(ValueError, match="shape of X is not known"):
        SPLMLL("linear").estimate_cost((None, 3), (5, 3))
