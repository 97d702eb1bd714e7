"""The training loop: what a hand-written loop gives, plus stopping at the right epoch."""

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import nn

from splmll import neural
from splmll.neural import (
    Dropout,
    Rows,
    Standardise,
    Training,
    cross_entropy,
    forward,
    multilayer_perceptron,
    squared_error,
    train,
)

CPU = torch.device("cpu")


def data(seed=0, n=60, D=6, C=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    Y = (X @ rng.normal(size=(D, C)) > 0).astype(float)
    return X, Y


def network(D=6, C=3, hidden=(8,), dropout=0.0):
    return lambda: multilayer_perceptron(D, hidden, C, dropout=dropout)


def fit(
    X,
    Y,
    build=None,
    *,
    seed=0,
    loss=squared_error,
    lr=0.01,
    epochs=4,
    patience=15,
    averaging=0.0,
    **options,
):
    training = Training(
        learning_rate=lr,
        weight_decay=1e-3,
        batch_size=16,
        max_epochs=epochs,
        patience=patience,
        averaging=averaging,
    )
    return train(
        build or network(), X, Y, loss=loss, training=training, seed=seed, device=CPU, **options
    )


def assert_same_weights(ours, theirs):
    for name, value in theirs.state_dict().items():
        assert torch.equal(ours.state_dict()[name], value), name


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_it_is_the_loop_one_would_write_by_hand(dropout):
    X, Y = data()
    x, y = (torch.tensor(part, dtype=torch.float32) for part in (X, Y))
    losses = []
    with torch.random.fork_rng():
        torch.manual_seed(7)
        module = network(dropout=dropout)()
        adam = torch.optim.AdamW(module.parameters(), lr=0.01, weight_decay=1e-3)
        for _ in range(4):
            total = 0.0
            for rows in torch.randperm(60).split(16):
                adam.zero_grad()
                loss = ((module(x[rows]) - y[rows]) ** 2).sum(1).mean()
                loss.backward()
                adam.step()
                total += loss.item() * len(rows)
            losses.append(total / 60)
    ours, history = fit(X, Y, network(dropout=dropout), seed=7)
    assert [record["loss"] for record in history] == pytest.approx(losses, rel=1e-5)
    for mine, theirs in zip(ours.parameters(), module.parameters()):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-6)
    assert not ours.training


def test_averaged_weights_are_a_moving_average_of_the_trained_ones():
    """The trained weights after every epoch of 4 steps, averaged by hand with the stated decay."""
    X, Y = data()
    trained = [fit(X, Y, epochs=epochs)[0].state_dict() for epochs in range(9)]
    averaged, history = fit(X, Y, epochs=8, averaging=0.9)
    for name, value in averaged.state_dict().items():
        mean = trained[0][name]
        for epoch in range(1, 9):
            steps = 4 * epoch
            decay = min(0.9**4, (1 + steps) / (10 + steps))  # a short memory at first
            mean = decay * mean + (1 - decay) * trained[epoch][name]
        torch.testing.assert_close(value, mean, rtol=1e-4, atol=1e-6)
    # Averaging only looks on: training itself is the same.
    assert history == fit(X, Y, epochs=8)[1]


def test_averaging_smooths_the_noise_of_long_steps():
    """So long a step that the weights dance about: their average errs less on rows not seen."""
    errors = {0.0: [], 0.95: []}
    for seed in range(4):
        X, Y = data(seed, n=160)
        Y[np.random.default_rng(seed).random(Y.shape) < 0.2] = 0.0
        for averaging, found in errors.items():
            module, _ = fit(
                X, Y, rows=np.arange(80), lr=0.1, epochs=20, averaging=averaging, seed=seed
            )
            found.append(np.mean((forward(module, X[80:]).numpy() - Y[80:]) ** 2))
    assert np.mean(errors[0.95]) < np.mean(errors[0.0])


@pytest.mark.parametrize("averaging", [0.0, 0.9])
def test_early_stopping_gives_back_the_best_epoch(averaging):
    rng = np.random.default_rng(1)
    X, Y = data(1)
    Y[rng.random(Y.shape) < 0.3] = 0.0  # noise to overfit
    rows, held = np.arange(40), np.arange(40, 60)
    options = {"rows": rows, "validation": held, "epochs": 200, "patience": 5, "lr": 0.03}
    options["averaging"] = averaging
    module, history = fit(X, Y, network(hidden=(32,)), **options)
    values = [record["validation_loss"] for record in history]
    best = int(np.argmin(values))
    assert len(history) < 200
    assert len(history) - 1 - best == 5  # it waited its patience, then stopped
    outputs = forward(module, X[held]).numpy()
    assert np.mean(((outputs - Y[held]) ** 2).sum(axis=1)) == pytest.approx(values[best], rel=1e-4)
    assert values[-1] > values[best] * 1.001
    # The same run cut short after its best epoch ends with the same weights.
    cut, _ = fit(X, Y, network(hidden=(32,)), **{**options, "epochs": best + 1})
    assert_same_weights(module, cut)


def test_rows_that_are_watched_are_not_learned_from():
    X, Y = data(2)
    rows, held = np.arange(40), np.arange(40, 60)
    spoiled = X.copy()
    spoiled[held] = 7.0
    ours, _ = fit(X, Y, rows=rows, validation=held, epochs=1)
    theirs, _ = fit(spoiled, Y, rows=rows, validation=held, epochs=1)
    assert_same_weights(ours, theirs)


def test_without_validation_rows_all_epochs_are_run():
    X, Y = data()
    _, history = fit(X, Y, epochs=6, patience=1, lr=1e-9)
    assert len(history) == 6
    assert "validation_loss" not in history[0]


@pytest.mark.parametrize("loss", [squared_error, cross_entropy])
def test_unknown_targets_are_masked(loss):
    X, Y = data(3)
    Y[:, 1] = np.nan
    Y[::3, 0] = np.nan
    module, history = fit(X, Y, lambda: nn.Linear(6, 3), loss=loss)
    initial, _ = fit(X, Y, lambda: nn.Linear(6, 3), loss=loss, epochs=0)
    assert np.isfinite([record["loss"] for record in history]).all()
    # Nothing pulls at a label that is never known but the decay of weights.
    decay = (1 - 0.01 * 1e-3) ** (4 * 4)
    torch.testing.assert_close(module.weight[1], initial.weight[1] * decay, rtol=1e-5, atol=1e-8)
    assert (module.weight[0] - initial.weight[0]).abs().max() > 0.05
    # In training and watching alike, loss counts known cells only.
    outputs, targets = torch.randn(4, 3), torch.ones(4, 3)
    known = torch.tensor([[1.0, 0, 1]]).expand(4, 3)
    changed = outputs.clone()
    changed[:, 1] = 50.0
    assert loss(outputs, targets, known) == loss(changed, targets, known)
    assert loss(outputs, targets, known) < loss(outputs, targets, torch.ones(4, 3))


def test_the_losses_are_sums_over_labels_and_means_over_rows():
    outputs = torch.tensor([[0.0, 2.0], [1.0, 0.0]])
    targets = torch.tensor([[1.0, 1.0], [1.0, 0.0]])
    assert squared_error(outputs, targets, torch.ones(2, 2)).item() == pytest.approx(2 / 2)
    expected = sum(
        np.log1p(np.exp(-z if t else z))
        for z, t in zip(outputs.flatten().tolist(), targets.flatten().tolist())
    )
    assert cross_entropy(outputs, targets, torch.ones(2, 2)).item() == pytest.approx(expected / 2)


def test_the_same_seed_gives_the_same_network_and_another_does_not():
    X, Y = data()
    build = network(dropout=0.5)
    first, second, other = (fit(X, Y, build, seed=seed) for seed in (4, 4, 5))
    assert_same_weights(first[0], second[0])
    assert first[1] == second[1]
    assert first[1] != other[1]


def test_the_caller_s_random_state_threads_and_data_are_left_alone():
    X, Y = data()
    Y[0, 0] = np.nan
    copies = X.copy(), Y.copy()
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.manual_seed(3)
        expected = torch.rand(2)
        torch.manual_seed(3)
        fit(X, Y)
        assert torch.equal(torch.rand(2), expected)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(Y, copies[1])


@pytest.mark.parametrize(("factor", "lr"), [(1.0, 1e30), (1e25, 0.01)])
def test_an_infinite_loss_names_its_cause(factor, lr):
    X, Y = data()
    with pytest.raises(
        FloatingPointError, match=r"loss became .* epoch \d+.*learning_rate .*scaling"
    ):
        fit(factor * X, Y, lr=lr)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_batches_are_dense_batches(kind):
    X, Y = data()
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    dense, history = fit(X, Y, validation=np.arange(10))
    module, same = fit(kind(X), Y, validation=np.arange(10))
    assert history == same
    assert_same_weights(module, dense)
    assert torch.equal(forward(module, kind(X)), forward(dense, X))


def test_a_torch_dataset_is_an_array():
    X, Y = data()
    pairs = torch.utils.data.TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(Y))
    ours, history = fit(pairs, Y)
    theirs, expected = fit(X, Y)
    assert history == expected
    assert_same_weights(ours, theirs)
    assert len(Rows(pairs, CPU)) == 60


def test_on_epoch_sees_every_loss_and_can_stop():
    X, Y = data()
    seen = []

    def on_epoch(epoch, loss):
        seen.append((epoch, loss))
        return epoch == 2

    _, history = fit(X, Y, epochs=10, on_epoch=on_epoch)
    assert seen == [(0, history[0]["loss"]), (1, history[1]["loss"]), (2, history[2]["loss"])]


def test_stopping_from_outside_still_gives_the_best_weights():
    X, Y = data(5)
    held = np.arange(40, 60)
    module, history = fit(
        X,
        Y,
        rows=np.arange(40),
        validation=held,
        epochs=50,
        lr=1.0,  # so long a step that the loss jumps about
        on_epoch=lambda epoch, loss: epoch == 5,
    )
    assert len(history) == 6
    best = min(record["validation_loss"] for record in history)
    reached = np.mean(((forward(module, X[held]).numpy() - Y[held]) ** 2).sum(axis=1))
    assert reached == pytest.approx(best, rel=1e-4)


def test_forward_is_evaluation_in_any_batch_size(monkeypatch):
    X, _ = data()
    module = network(dropout=0.5)().train()
    whole = forward(module, X)
    torch.testing.assert_close(forward(module, X, torch.tensor([5, 2])), whole[[5, 2]])
    assert not whole.requires_grad
    monkeypatch.setattr(neural, "MOST_ROWS", 7)
    torch.testing.assert_close(forward(module, X), whole)


def test_wide_sparse_rows_are_laid_out_few_at_a_time(monkeypatch):
    X, _ = data()
    module = network(dropout=0.5)()
    whole = forward(module, X)
    monkeypatch.setattr(neural, "DENSE_BYTES", 5 * X.shape[1] * 4)
    sizes = []
    module.register_forward_pre_hook(lambda _, given: sizes.append(len(given[0])))
    torch.testing.assert_close(forward(module, sparse.csr_array(X)), whole)
    assert sizes == [5] * 12


def test_the_perceptron_has_the_layers_asked_for():
    module = multilayer_perceptron(10, (512, 64), 3, dropout=0.0)
    shapes = [tuple(p.shape) for p in module.parameters()]
    assert shapes == [(512, 10), (512,), (64, 512), (64,), (3, 64), (3,)]
    assert [type(layer) for layer in module].count(nn.LeakyReLU) == 2
    assert not any(isinstance(layer, nn.Dropout) for layer in module)
    linear = multilayer_perceptron(10, (), 3, dropout=0.5)
    assert [type(layer) for layer in linear] == [nn.Linear]


def test_standardising_is_part_of_the_network():
    X, _ = data()
    X = 1e3 * X + 5
    layer = Standardise(X.mean(axis=0), X.std(axis=0))
    out = layer(torch.tensor(X, dtype=torch.float32))
    torch.testing.assert_close(out.mean(0), torch.zeros(6), atol=1e-4, rtol=0)
    torch.testing.assert_close(out.std(0, correction=0), torch.ones(6), atol=1e-4, rtol=0)
    assert list(layer.parameters()) == []  # it is not learned
    assert set(layer.state_dict()) == {"mean", "scale"}  # but it is saved


def test_dropout_of_large_batches_drops_as_often_as_that_of_small_ones() -> None:
    torch.manual_seed(0)
    layer = Dropout(0.3)
    for shape in [(256, 512), (1001, 77)]:  # the second is no whole number of eights
        values = torch.ones(shape, requires_grad=True)
        kept = layer(values)
        share = round(256 * 0.3) / 256
        assert float((kept == 0).double().mean()) == pytest.approx(share, abs=0.01)
        # Every place is as likely, whichever byte of a draw it gets.
        for byte in range(8):
            dropped = (kept.flatten()[byte::8] == 0).double().mean()
            assert float(dropped) == pytest.approx(share, abs=0.02)
        assert float(kept.detach().mean()) == pytest.approx(1.0, abs=0.01)
        kept.sum().backward()
        torch.testing.assert_close(values.grad, kept.detach())
    small = torch.ones(4, 4)
    torch.manual_seed(1)
    ours = layer(small)
    torch.manual_seed(1)
    torch.testing.assert_close(ours, torch.nn.functional.dropout(small, 0.3))
    assert layer.eval()(values) is values
