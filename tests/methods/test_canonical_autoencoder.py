"""C2AE: its losses against double loops, its gradients, its limits, and learning by heart."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cross_decomposition import CCA

from splmll.datasets import load_dataset
from splmll.methods.canonical_autoencoder import (
    C2AE,
    _network,
    _Networks,
    _TrainingLoss,
    embedding_loss,
    equal_batches,
    pairwise_ranking_loss,
)
from splmll.metrics import evaluate
from splmll.neural import Standardise, Training, train
from splmll.thresholds import GlobalThreshold, fit_threshold

SMALL: dict[str, Any] = {
    "feature_layer_sizes": (24,),
    "label_layer_sizes": (24,),
    "learning_rate": 0.01,
    "batch_size": 64,
    "random_state": 0,
}

Problem = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(460, 5))
    Y = (X @ rng.normal(size=(5, 6)) > 0.4).astype(float)
    X = X * [1, 100, 0.01, 1, 1] + [0, 5, 0, -3, 0]
    return X[:300], Y[:300], X[300:], Y[300:]


# Losses ----------------------------------------------------------------------------------------


def double_loop(scores: np.ndarray, relevant: np.ndarray, irrelevant: np.ndarray) -> np.ndarray:
    losses = np.zeros(len(scores))
    for row, p in enumerate(scores):
        pairs = [
            np.exp(-5 * (p[a] - p[b]))
            for a in np.flatnonzero(relevant[row])
            for b in np.flatnonzero(irrelevant[row])
        ]
        losses[row] = np.mean(pairs) if pairs else 0.0
    return losses


def random_cells(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scores and labels of 12 rows, among them rows with no and with all labels, and unknown."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((12, 7)) < 0.4).astype(float)
    Y[0], Y[1] = 0, 1
    known = (rng.random((12, 7)) < 0.8).astype(float)
    tensors = (rng.random((12, 7)), Y * known, (1 - Y) * known)
    scores, relevant, irrelevant = (torch.tensor(part) for part in tensors)
    return scores, relevant, irrelevant


def test_ranking_loss_is_the_double_loop() -> None:
    cells = random_cells()
    expected = double_loop(*(part.numpy() for part in cells))
    assert_allclose(pairwise_ranking_loss(*cells).numpy(), expected, rtol=1e-12)
    assert expected[0] == expected[1] == 0
    assert np.median(expected) > 1


def test_gradient_of_the_ranking_loss() -> None:
    scores, relevant, irrelevant = random_cells()
    scores.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda p: pairwise_ranking_loss(p, relevant, irrelevant), (scores,)
    )
    pairwise_ranking_loss(scores, relevant, irrelevant).sum().backward()
    assert scores.grad is not None
    # Rows without pairs pull at nothing; elsewhere relevant labels rise and the others fall.
    assert not scores.grad[:2].any()
    assert (scores.grad[relevant == 1] <= 0).all()
    assert (scores.grad[irrelevant == 1] >= 0).all()


def test_ranking_loss_at_its_ends() -> None:
    relevant = torch.tensor([[1.0, 0.0, 1.0, 0.0]])
    flat = pairwise_ranking_loss(torch.full((1, 4), 0.3), relevant, 1 - relevant)
    assert flat.item() == pytest.approx(1.0)
    perfect = pairwise_ranking_loss(relevant, relevant, 1 - relevant)
    assert perfect.item() == pytest.approx(np.exp(-5))
    reversed_ = pairwise_ranking_loss(1 - relevant, relevant, 1 - relevant)
    assert reversed_.item() == pytest.approx(np.exp(5))


def test_embedding_loss_written_out() -> None:
    rng = np.random.default_rng(0)
    A, E = rng.normal(size=(2, 9, 3))
    expected = ((A - E) ** 2).sum() + 0.5 * sum(((C.T @ C - np.eye(3)) ** 2).sum() for C in (A, E))
    loss = embedding_loss(torch.tensor(A), torch.tensor(E), orthogonality_weight=0.5, batch_size=9)
    assert loss.item() == pytest.approx(expected)
    # More rows of the same kind count as one batch of them.
    twice = (torch.tensor(np.vstack([C, C])) for C in (A, E))
    assert embedding_loss(*twice, orthogonality_weight=0.5, batch_size=9).item() == pytest.approx(
        expected
    )


def networks(n_features: int = 5, n_labels: int = 4, k: int = 3) -> _Networks:
    torch.manual_seed(0)
    return _Networks(
        Standardise(np.zeros(n_features), np.ones(n_features)),
        _network(n_features, (8,), k),
        _network(n_labels, (8,), k),
        _network(k, (8,), n_labels),
    )


@pytest.mark.parametrize("rank_features", [False, True])
def test_whom_the_ranking_loss_reaches(rank_features: bool) -> None:
    with torch.random.fork_rng():
        module = networks()
        x, y = torch.randn(20, 5), (torch.rand(20, 4) < 0.4).float()
    outputs = module(torch.cat([x, y], dim=1))
    # Without the embedding loss: a batch of 0 rows weighs nothing, so it is subtracted instead.
    loss = _TrainingLoss(
        3, 20, ranking_weight=2.0, orthogonality_weight=0.5, rank_features=rank_features
    )
    A, E, _, from_labels = outputs.split([3, 3, 4, 4], dim=1)
    ranking = loss(outputs, y, torch.ones_like(y)) - embedding_loss(A, E, 0.5, 20)
    ranking.backward()
    reached = {
        name: sum(float(p.grad.abs().sum()) for p in part.parameters() if p.grad is not None)
        for name, part in (("x", module.features), ("e", module.labels), ("d", module.decoder))
    }
    assert reached["e"] > 1e-3
    assert reached["d"] > 1e-3
    # What is left for the features is rounding of two equal numbers.
    assert (reached["x"] > 1e-3) == rank_features
    expected = pairwise_ranking_loss(from_labels, y, 1 - y).sum()
    if rank_features:
        expected = expected + pairwise_ranking_loss(outputs[:, 6:10], y, 1 - y).sum()
    assert ranking.item() == pytest.approx(2 * expected.item(), rel=1e-5)


def test_evaluation_looks_at_features_only() -> None:
    with torch.random.fork_rng():
        module = networks().eval()
        x, y = torch.randn(6, 5), torch.ones(6, 4)
    scores = module(x)
    assert scores.shape == (6, 4)
    assert torch.equal(module(torch.cat([x, y], dim=1)), scores)
    assert torch.equal(
        scores, torch.sigmoid(module.decoder(torch.sigmoid(module.features(x)) - 0.5))
    )


def test_linear_codes_find_the_canonical_correlations() -> None:
    """Without a decoder and hidden layers the loss is that of canonical correlation analysis."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(400, 2))
    X = hidden @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(400, 6))
    Y = hidden @ rng.normal(size=(2, 5)) + 0.5 * rng.normal(size=(400, 5))
    # Of unit length, so that the weights of codes with unit length are neither small nor large.
    X, Y = (part - part.mean(axis=0) for part in (X, Y))
    X, Y = (part / np.linalg.norm(part, axis=0) for part in (X, Y))

    class Linear(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.x, self.y = (torch.nn.Linear(n, 2, bias=False) for n in (6, 5))

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return torch.cat([self.x(rows[:, :6]), self.y(rows[:, 6:])], dim=1)

    module, _ = train(
        Linear,
        np.hstack([X, Y]),
        Y,
        loss=lambda out, targets, known: embedding_loss(out[:, :2], out[:, 2:], 1.0, 400),
        training=Training(2e-2, 0.0, batch_size=400, max_epochs=500, averaging=0.0),
        seed=0,
        device=torch.device("cpu"),
    )
    with torch.no_grad():
        A, E = (
            module(torch.tensor(np.hstack([X, Y]), dtype=torch.float32))
            .numpy()
            .T.reshape(2, 2, 400)
        )
    # Correlations between the two spaces, whatever rotation the codes have in them.
    bases = [np.linalg.qr(code.T - code.T.mean(axis=0))[0] for code in (A, E)]
    found = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    left, right = CCA(2, scale=False, max_iter=5000).fit_transform(X, Y)
    expected = [np.corrcoef(left[:, i], right[:, i])[0, 1] for i in range(2)]
    assert_allclose(found, expected, atol=1e-2)


# Batches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "size"), [(1, 5), (10, 5), (11, 5), (99, 7), (501, 500)])
def test_batches_are_equal_and_use_every_row(n_rows: int, size: int) -> None:
    rows = np.arange(n_rows) + 100
    filled, used = equal_batches(rows, size)
    assert used <= size
    assert len(filled) % used == 0
    assert_array_equal(np.unique(filled), rows)
    # Fewer rows are taken twice than there are batches.
    assert len(filled) - n_rows < len(filled) // used


# The estimator ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rank_features", [False, True])
def test_learns_twenty_rows_by_heart(rank_features: bool) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 8)), (rng.random((20, 5)) < 0.4).astype(int)
    Y[np.arange(20), rng.integers(0, 5, 20)] = 1
    Y[Y.all(axis=1), 0] = 0
    model = C2AE(1.0, rank_features=rank_features, max_epochs=400, **SMALL).fit(X, Y)
    assert evaluate(Y, model.predict_proba(X), model.predict(X))["micro_f1"] == 1
    assert model.history_[-1]["loss"] < 0.5 * model.history_[0]["loss"]


def test_generalises(problem: Problem) -> None:
    X, Y, X_test, Y_test = problem
    model = C2AE(**SMALL).fit(X, Y)
    measured = evaluate(Y_test, model.predict_proba(X_test), model.predict(X_test))
    assert measured["ranking_loss"] < 0.06
    assert measured["micro_f1"] > 0.85


def test_validation_rows_stop_training_and_set_the_threshold(problem: Problem) -> None:
    X, Y, _, _ = problem
    model = C2AE(patience=3, **SMALL).fit(X, Y)
    held = model.validation_rows_
    assert len(held) == len(np.unique(held)) == 60
    watched = [record["validation_loss"] for record in model.history_]
    best = int(np.argmin(watched))
    assert len(watched) == best + 1 + 3 < 200
    # The weights of the best epoch are kept, and its loss is the ranking loss of predictions.
    scores = model.predict_proba(X[held])
    losses = double_loop(scores, Y[held], 1 - Y[held])
    assert losses.mean() == pytest.approx(watched[best], rel=1e-4)
    expected = fit_threshold("micro_f1", Y[held], scores)
    assert model.offset_ == pytest.approx(expected.offset)


def test_other_rules_are_fitted_on_the_validation_rows_too(problem: Problem) -> None:
    X, Y, _, _ = problem
    options = {**SMALL, "max_epochs": 2}
    model = C2AE(threshold="per_label", **options).fit(X, Y)
    held = model.validation_rows_
    expected = fit_threshold("per_label", Y[held], model.predict_proba(X[held]))
    assert_allclose(model.thresholds_, expected.per_label(6))
    assert C2AE(threshold=0.4, **options).fit(X, Y).threshold_ == GlobalThreshold(0.4)


def test_validation_rows_are_not_learned_from(problem: Problem) -> None:
    X, Y, X_test, _ = problem
    one = C2AE(max_epochs=1, **SMALL).fit(X, Y)
    spoiled_X, spoiled_Y = X.copy(), Y.copy()
    spoiled_X[one.validation_rows_] = 1e3
    spoiled_Y[one.validation_rows_] = 1 - Y[one.validation_rows_]
    other = C2AE(max_epochs=1, **SMALL).fit(spoiled_X, spoiled_Y)
    assert_array_equal(other.predict_proba(X_test), one.predict_proba(X_test))


def test_few_rows_are_all_learned_from(problem: Problem) -> None:
    X, Y, _, _ = problem
    model = C2AE(max_epochs=5, **SMALL).fit(X[:49], Y[:49])
    assert len(model.validation_rows_) == 0
    assert len(model.history_) == 5
    assert model.threshold_ == GlobalThreshold(0.5)
    everything = C2AE(max_epochs=5, validation_fraction=0.0, **SMALL).fit(X, Y)
    assert len(everything.validation_rows_) == 0


def test_units_of_the_features_do_not_matter_with_scaling(problem: Problem) -> None:
    X, Y, X_test, _ = problem
    factor, shift = np.array([1e-3, 50.0, 2.0, 1.0, 7.0]), np.array([0.0, 3.0, 1.0, -9.0, 10.0])
    options = {**SMALL, "max_epochs": 5}
    expected = C2AE(**options).fit(X, Y).predict_proba(X_test)
    changed = C2AE(**options).fit(X * factor + shift, Y).predict_proba(X_test * factor + shift)
    assert_allclose(changed, expected, atol=1e-3)
    raw = C2AE(scale=None, **options).fit(X, Y).predict_proba(X_test)
    assert np.abs(raw - expected).max() > 0.05


def test_one_label_is_ranked_against_its_absence(problem: Problem) -> None:
    X, Y, X_test, Y_test = problem
    model = C2AE(**SMALL).fit(X, Y[:, 0])
    assert (model.predict(X_test) == Y_test[:, 0]).mean() > 0.85


def test_constant_labels_are_certain_and_take_no_part(problem: Problem) -> None:
    X, Y, X_test, _ = problem
    wider = np.column_stack([np.zeros(300), Y, np.ones(300)])
    options = {**SMALL, "max_epochs": 3}
    model = C2AE(**options).fit(X, wider)
    scores = model.predict_proba(X_test)
    assert_array_equal(scores[:, [0, -1]], np.tile([0.0, 1.0], (160, 1)))
    assert_array_equal(scores[:, 1:-1], C2AE(**options).fit(X, Y).predict_proba(X_test))
    nothing = C2AE(**options).fit(X, np.zeros((300, 3)))
    assert nothing.network_ is None
    assert not nothing.predict(X_test).any()


def test_unknown_labels_are_in_no_pair(problem: Problem) -> None:
    X, Y, X_test, Y_test = problem
    partly = Y.copy()
    partly[np.random.default_rng(0).random(Y.shape) < 0.3] = np.nan
    model = C2AE(**SMALL).fit(X, partly)
    measured = evaluate(Y_test, model.predict_proba(X_test), model.predict(X_test))
    assert measured["ranking_loss"] < 0.1


def test_sparse_features_are_the_same_features(problem: Problem) -> None:
    X, Y, X_test, _ = problem
    options = {**SMALL, "max_epochs": 5, "scale": "standard"}
    thin, thin_test = (np.where(np.abs(part) > 0.5, part, 0.0) for part in (X, X_test))
    dense = C2AE(**options).fit(thin, Y).predict_proba(thin_test)
    stored = C2AE(**options).fit(sparse.csr_array(thin), Y)
    assert_allclose(stored.predict_proba(sparse.csr_array(thin_test)), dense, atol=1e-4)


def test_the_code_fits_into_a_batch(problem: Problem) -> None:
    X, Y, _, _ = problem
    # 240 training rows: batches of 2 would make 120 steps an epoch, batches of 12 make 20.
    tiny = C2AE(1.0, max_epochs=3, **{**SMALL, "batch_size": 2}).fit(X, Y)
    twelve = C2AE(1.0, max_epochs=3, **{**SMALL, "batch_size": 12}).fit(X, Y)
    assert tiny.history_ == twelve.history_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 7}, "n_components=7 does not fit 6 labels"),
        ({"n_components": 0.0}, "'n_components' .* must be .*Got 0.0"),
        ({"label_layer_sizes": (8, 0)}, r"integers of at least 1.* Got \(8, 0\)"),
        ({"ranking_weight": -1.0}, r"'ranking_weight' .* in the range \[0\.0, inf\)\. Got -1\.0"),
        ({"batch_size": 0}, r"'batch_size' .* in the range \[1, inf\)\. Got 0"),
        ({"learning_rate": 0.0}, r"'learning_rate' .* in the range \(0\.0, inf\)\. Got 0\.0"),
        ({"validation_fraction": 1.0}, r"'validation_fraction' .* \[0\.0, 1\.0\)\. Got 1\.0"),
        ({"threshold": "best"}, "'threshold' .* must be .*'micro_f1'.* Got 'best'"),
    ],
)
def test_impossible_parameters_are_refused(
    problem: Problem, parameters: dict[str, Any], message: str
) -> None:
    X, Y, _, _ = problem
    with pytest.raises(ValueError, match=message):
        C2AE(**parameters).fit(X, Y)


def test_yeast(data_home: Path) -> None:
    X, Y, X_test, Y_test = load_dataset("yeast", data_home).split()
    # Narrow layers and few epochs, for speed. Ranking by frequency alone has a loss of 0.21.
    model = C2AE(
        feature_layer_sizes=(64,), label_layer_sizes=(64,), max_epochs=20, random_state=0
    ).fit(X, Y)
    measured = evaluate(Y_test, model.predict_proba(X_test), model.predict(X_test))
    assert measured["ranking_loss"] < 0.19
    assert measured["micro_f1"] > 0.62
