"""Algorithm 1: every step as the paper has it, and it behaves when data or steps do not."""

import numpy as np
import pytest
import torch
from torch import nn

from splmll import load_dataset
from splmll.neural import forward
from splmll.published.algorithm1 import (
    EMBEDDING_ONLY,
    FULL_BATCH_STEPS,
    SEPARATED,
    SIMULTANEOUS,
    Alternation,
    Steps,
    algorithm1,
    initial_recovery,
)
from splmll.published.objective import Penalties, objective_terms

CPU = torch.device("cpu")
PENALTIES = Penalties(lambda1=0.1, lambda2=0.1, rho=0.02)


def data(seed=0, n=40, D=5, C=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    Y = (X @ rng.normal(size=(D, C)) + rng.normal(size=(n, C)) > 0).astype(float)
    return X, Y


def run(X, Y, penalties=PENALTIES, *, epochs=3, batch=8, lr=0.01, seed=0, patience=99, **options):
    return algorithm1(
        lambda: nn.Linear(X.shape[1], Y.shape[1]),
        X,
        Y,
        penalties,
        steps=Steps(lr, batch, epochs, patience),
        seed=seed,
        device=CPU,
        **options,
    )


def by_hand(X, Y, penalties, *, epochs, batch, lr, seed, full=False, known=None):
    """The paper's loop written again, its gradients of sums over rows left to autograd.

    f moves by Adam; B and A move down their gradients by one over an upper bound of the curvature.
    """
    x_all, y_all = torch.tensor(X, dtype=torch.float32), torch.tensor(Y, dtype=torch.float32)
    k_all = torch.ones_like(y_all) if known is None else torch.tensor(known, dtype=torch.float32)
    C = Y.shape[1]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        f = nn.Linear(X.shape[1], C)
        B, A = torch.eye(C), initial_recovery(C)
        adam = torch.optim.Adam(f.parameters(), lr=lr)
        for _ in range(epochs):
            for rows in torch.randperm(len(X)).split(batch):
                x, y, k = x_all[rows], y_all[rows], k_all[rows]
                adam.zero_grad()
                loss = ((k * (f(x) - y) @ B) ** 2).sum()
                loss.backward()
                adam.step()

                e = (k * (f(x) - y)).detach()
                b = B.clone().requires_grad_()
                value = ((e @ b) ** 2).sum() + ((k * (y - y @ b @ A)) ** 2).sum()
                value = value + penalties.lambda1 * ((b - torch.eye(C)) ** 2).sum()
                value = value + penalties.lambda2 * b.norm(dim=1).sum()
                (slope,) = torch.autograd.grad(value, b)
                curvature = 2 * (e.T @ e).norm() + 2 * (y.T @ y).norm() * (A @ A.T).norm()
                curvature = curvature + 2 * penalties.lambda1 + penalties.lambda2
                B = B - slope / curvature
                B = B if full else torch.diag(torch.diagonal(B))

                a = A.clone().requires_grad_()
                value = ((k * (y - y @ B @ a)) ** 2).sum() + penalties.rho * (a**2).sum()
                (slope,) = torch.autograd.grad(value, a)
                A = A - slope / (2 * ((y @ B).T @ (y @ B)).norm() + 2 * penalties.rho)
    return f, B.numpy(), A.numpy()


@pytest.mark.parametrize("batch", [40, 8])
@pytest.mark.parametrize("full", [False, True])
def test_the_steps_are_those_of_the_paper(batch, full):
    X, Y = data()
    f, B, A = by_hand(X, Y, PENALTIES, epochs=2, batch=batch, lr=0.01, seed=3, full=full)
    ours = run(X, Y, epochs=2, batch=batch, seed=3, full_selection=full)
    np.testing.assert_allclose(ours.selection, B, atol=2e-5)
    np.testing.assert_allclose(ours.recovery, A, atol=2e-5)
    np.testing.assert_allclose(ours.module.weight.detach(), f.weight.detach(), atol=1e-5)


def test_the_released_steps_are_adam_on_everything_at_once():
    X, Y = data()
    x, y = torch.tensor(X, dtype=torch.float32), torch.tensor(Y, dtype=torch.float32)
    with torch.random.fork_rng():
        torch.manual_seed(2)
        f = nn.Linear(5, 4)
        B, A = torch.eye(4).requires_grad_(), initial_recovery(4).requires_grad_()
        adam = torch.optim.Adam([*f.parameters(), B, A], lr=0.01)
        for _ in range(2 * FULL_BATCH_STEPS):
            adam.zero_grad()
            sum(objective_terms(f(x), y, B, A, PENALTIES).values()).backward()
            adam.step()
    ours = run(X, Y, epochs=2, batch=None, lr=0.01, seed=2, order=SIMULTANEOUS, full_selection=True)
    np.testing.assert_allclose(ours.selection, B.detach(), atol=2e-5)
    np.testing.assert_allclose(ours.recovery, A.detach(), atol=2e-5)
    np.testing.assert_allclose(ours.module.weight.detach(), f.weight.detach(), atol=1e-5)
    diagonal = run(X, Y, batch=None, order=SIMULTANEOUS).selection
    np.testing.assert_array_equal(diagonal, np.diag(np.diag(diagonal)))


def test_it_starts_where_the_paper_says():
    """B = I and A random, from the seed."""
    X, Y = data()
    start, other = run(X, Y, epochs=0), run(X, Y, epochs=0, seed=1)
    np.testing.assert_array_equal(start.selection, np.eye(4))
    assert start.recovery.std() > 0.01
    assert np.abs(start.recovery - other.recovery).max() > 0.01
    assert start.history[0]["identity"] == 0
    assert start.history[0]["sparsity"] == pytest.approx(0.1 * 4)
    assert len(start.history) == 1


def test_off_the_diagonal_B_is_zero_after_every_epoch_unless_kept_full():
    X, Y = data()
    seen = []
    run(X, Y, on_epoch=lambda epoch, state: seen.append(state.selection))
    assert len(seen) == 3
    for B in seen:
        np.testing.assert_array_equal(B, np.diag(np.diag(B)))
        assert (np.diag(B) != 0).all()
    full = run(X, Y, full_selection=True).selection
    assert np.abs(full - np.diag(np.diag(full))).max() > 1e-3


@pytest.mark.parametrize("options", [{}, {"full_selection": True}, {"order": SIMULTANEOUS}])
def test_support_keeps_the_other_rows_of_B_at_zero(options):
    X, Y = data()
    support = np.array([True, False, True, False])
    B = run(X, Y, support=support, **options).selection
    assert not B[~support].any()
    assert np.abs(B[support]).max() > 0.1


def test_a_step_of_B_and_A_never_overshoots():
    """Steps of one over the curvature: with f at rest and all rows at once, only descent."""
    X, Y = data(1, n=60)
    history = run(X, Y, Penalties(0.1, 0.05, 0.02), epochs=40, batch=60, lr=0.0).history
    values = np.array([record["objective"] for record in history])
    assert (np.diff(values) < 1e-5 * values[0]).all()
    assert values[-1] < 0.8 * values[0]


def test_the_objective_falls_on_emotions(data_home):
    X, Y, _, _ = load_dataset("emotions", data_home=data_home).split()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    history = run(X, Y, Penalties(0.1, 0.1), epochs=25, batch=64).history
    values = np.array([record["objective"] for record in history])
    assert values[-1] < 0.5 * values[0]
    assert (values[5:] < values[:-5]).all()


@pytest.mark.parametrize("batch", [8, None])
def test_the_history_is_the_objective_of_an_average_batch(batch):
    """Sums over as many rows as a step sees, so that the terms weigh as they do in the steps."""
    X, Y = data()
    state = run(X, Y, batch=batch)
    F = forward(state.module, X).numpy()
    terms = objective_terms(F, Y, state.selection, state.recovery, PENALTIES)
    for name in ("predictability", "representativeness"):
        terms[name] *= (batch or 40) / 40
    for name, value in terms.items():
        assert state.history[-1][name] == pytest.approx(value, rel=1e-4, abs=1e-6)
    assert state.history[-1]["objective"] == pytest.approx(sum(terms.values()), rel=1e-4)


def test_separated_steps_choose_landmarks_without_f():
    """B and A come from labels alone, whatever the features say; f comes after."""
    X, Y = data()
    other = 3 * data(9)[0]
    weights = []
    ours = run(
        X,
        Y,
        epochs=6,
        order=SEPARATED,
        on_epoch=lambda epoch, state: weights.append(state.module.weight.detach().clone()),
    )
    theirs = run(other, Y, epochs=6, order=SEPARATED)
    np.testing.assert_array_equal(ours.selection, theirs.selection)
    np.testing.assert_array_equal(ours.recovery, theirs.recovery)
    assert np.abs(run(X, Y, epochs=6).selection - ours.selection).max() > 1e-3
    # B and A are found in the first half of the epochs, f is fitted in the second.
    parts = [record["representativeness"] for record in ours.history]
    assert parts[3:] == [parts[3]] * 4
    assert parts[2] != parts[3]
    assert all(torch.equal(weights[0], w) for w in weights[:3])
    assert not torch.equal(weights[2], weights[3])


def test_the_embedding_alone_leaves_B_and_A_at_the_identity():
    X, Y = data()
    state = run(X, Y, order=EMBEDDING_ONLY)
    np.testing.assert_array_equal(state.selection, np.eye(4))
    np.testing.assert_array_equal(state.recovery, np.eye(4))
    assert state.history[-1]["predictability"] < state.history[0]["predictability"]


def test_unknown_cells_are_left_out_of_every_step():
    X, Y = data(2)
    known = np.random.default_rng(2).random(Y.shape) < 0.7
    hidden = np.where(known, Y, np.nan)
    zeros = np.where(known, Y, 0.0)
    f, B, A = by_hand(X, zeros, PENALTIES, epochs=2, batch=8, lr=0.01, seed=1, known=known)
    ours = run(X, hidden, epochs=2, seed=1)
    np.testing.assert_allclose(ours.selection, B, atol=2e-5)
    np.testing.assert_allclose(ours.recovery, A, atol=2e-5)
    np.testing.assert_allclose(ours.module.weight.detach(), f.weight.detach(), atol=1e-5)
    # which is not what calling them absent would give
    absent = run(X, zeros, epochs=2, seed=1)
    assert np.abs(absent.recovery - ours.recovery).max() > 1e-3


def test_a_label_never_known_is_not_learned_from():
    X, Y = data(3)
    Y[:, 2] = np.nan
    state = run(X, Y, Penalties(0.1, 0.0), epochs=2)
    initial = run(X, Y, Penalties(0.1, 0.0), epochs=0)
    assert torch.equal(state.module.weight[2], initial.module.weight[2])
    np.testing.assert_array_equal(state.recovery[:, 2], initial.recovery[:, 2])
    assert np.isfinite(state.history[-1]["objective"])


def test_a_batch_without_any_label_does_no_harm():
    X, Y = data()
    Y[:] = 0
    state = run(X, Y)
    assert np.isfinite(state.recovery).all()


@pytest.mark.parametrize(("factor", "lr"), [(1.0, 1e30), (1e25, 0.01)])
def test_an_infinite_objective_names_its_cause(factor, lr):
    X, Y = data()
    with pytest.raises(FloatingPointError, match=r"objective became .* in epoch 1.*learning_rate"):
        run(factor * X, Y, lr=lr)


def test_the_same_seed_gives_the_same_result_and_another_does_not():
    X, Y = data()
    first, second, other = run(X, Y, seed=5), run(X, Y, seed=5), run(X, Y, seed=6)
    np.testing.assert_array_equal(first.recovery, second.recovery)
    assert torch.equal(first.module.weight, second.module.weight)
    assert first.history == second.history
    assert not np.array_equal(first.recovery, other.recovery)


def test_the_caller_s_random_state_threads_and_data_are_left_alone():
    X, Y = data()
    copies = X.copy(), Y.copy()
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.manual_seed(11)
        expected = torch.rand(3)
        torch.manual_seed(11)
        run(X, Y, epochs=1)
        assert torch.equal(torch.rand(3), expected)
        with pytest.raises(FloatingPointError):
            run(X, Y, lr=1e30)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(Y, copies[1])


HELD_OUT = {"rows": np.arange(30), "held_out": np.arange(30, 40)}


def test_held_out_rows_are_watched_and_not_trained_on():
    """Spoil them: every step stays the same, only what they measure changes."""
    X, Y = data()
    spoiled_X, spoiled_Y = X.copy(), Y.copy()
    spoiled_X[30:], spoiled_Y[30:] = 9.0, 1 - Y[30:]
    ours, spoiled = run(X, Y, **HELD_OUT), run(spoiled_X, spoiled_Y, **HELD_OUT)
    for one, other in zip(ours.history, spoiled.history, strict=True):
        assert {**one, "validation_loss": 0} == {**other, "validation_loss": 0}
    losses = [[r["validation_loss"] for r in s.history[1:]] for s in (ours, spoiled)]
    assert (np.abs(np.subtract(*losses)) > 1e-3).all()


def test_the_epoch_that_predicts_the_held_out_rows_best_is_kept():
    X, Y = data()
    # Labels turned around: the better the rest is learned, the worse these are predicted.
    Y[30:] = 1 - Y[30:]
    state = run(X, Y, epochs=60, patience=7, lr=0.1, **HELD_OUT)
    losses = np.array([record["validation_loss"] for record in state.history[1:]])
    assert len(losses) == losses.argmin() + 1 + 7 < 60
    scores = forward(state.module, X[30:]).numpy() @ state.selection @ state.recovery
    assert np.sum((Y[30:] - scores) ** 2) / 10 == pytest.approx(losses.min(), rel=1e-4)


def test_without_held_out_rows_every_epoch_is_run():
    X, Y = data()
    state = run(X, Y, epochs=30, patience=1, lr=1e-9)
    assert len(state.history) == 31
    assert "validation_loss" not in state.history[-1]
    asked = run(X, Y, epochs=30, on_epoch=lambda epoch, state: epoch == 1)
    assert len(asked.history) == 3


def test_it_goes_on_from_where_it_was():
    X, Y = data()
    first = run(X, Y, epochs=5)
    before = first.module.weight.detach().clone()
    start = Alternation(first.module, first.selection, first.recovery, [])
    again = run(X, Y, epochs=1, start=start)
    assert again.history[0]["objective"] == pytest.approx(first.history[-1]["objective"], rel=1e-5)
    assert torch.equal(first.module.weight, before)
