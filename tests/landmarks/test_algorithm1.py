"""Algorithm 1: every step as the paper has it, and it behaves when data or steps do not."""

import numpy as np
import pytest
import torch
from torch import nn

from splmll import load_dataset
from splmll.landmarks.algorithm1 import INITIAL_RECOVERY_SCALE, Alternation, algorithm1
from splmll.landmarks.objective import Penalties
from splmll.neural import Training

CPU = torch.device("cpu")
PENALTIES = Penalties(lambda1=0.1, lambda2=0.1, rho=0.02)


def data(seed=0, n=40, D=5, C=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    Y = (X @ rng.normal(size=(D, C)) + rng.normal(size=(n, C)) > 0).astype(float)
    return X, Y


def linear(X, Y):
    return lambda: nn.Linear(X.shape[1], Y.shape[1])


def run(X, Y, penalties=PENALTIES, *, build=None, epochs=3, batch=8, lr=0.01, seed=0, **options):
    training = Training(
        learning_rate=lr, weight_decay=0.0, batch_size=batch, max_epochs=epochs, patience=10_000
    )
    return algorithm1(
        build or linear(X, Y),
        X,
        Y,
        penalties,
        training=training,
        tol=0.0,
        seed=seed,
        device=CPU,
        **options,
    )


def by_hand(X, Y, penalties, *, epochs, batch, lr, seed, full=False, known=None):
    """The paper's loop written again, its gradients left to autograd.

    f moves by Adam; B and A move down their gradients by one over an upper bound of the curvature.
    """
    x_all, y_all = torch.tensor(X, dtype=torch.float32), torch.tensor(Y, dtype=torch.float32)
    k_all = torch.ones_like(y_all) if known is None else torch.tensor(known, dtype=torch.float32)
    C = Y.shape[1]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        f = nn.Linear(X.shape[1], C)
        B, A = torch.eye(C), 0.1 * torch.randn(C, C)
        adam = torch.optim.Adam(f.parameters(), lr=lr)
        for _ in range(epochs):
            for rows in torch.randperm(len(X)).split(batch):
                x, y, k, n = x_all[rows], y_all[rows], k_all[rows], len(rows)
                adam.zero_grad()
                loss = ((k * (f(x) - y) @ B) ** 2).sum() / n
                loss.backward()
                adam.step()

                e = (k * (f(x) - y)).detach()
                b = B.clone().requires_grad_()
                value = ((e @ b) ** 2).sum() / n + ((k * (y - y @ b @ A)) ** 2).sum() / n
                value = value + penalties.lambda1 * ((b - torch.eye(C)) ** 2).sum()
                value = value + penalties.lambda2 * b.norm(dim=1).sum()
                (slope,) = torch.autograd.grad(value, b)
                curvature = 2 * (e.T @ e).norm() / n + 2 * (y.T @ y).norm() / n * (A @ A.T).norm()
                curvature = curvature + 2 * penalties.lambda1 + penalties.lambda2
                B = B - slope / curvature
                B = B if full else torch.diag(torch.diagonal(B))

                a = A.clone().requires_grad_()
                value = ((k * (y - y @ B @ a)) ** 2).sum() / n + penalties.rho * (a**2).sum()
                (slope,) = torch.autograd.grad(value, a)
                A = A - slope / (2 * ((y @ B).T @ (y @ B)).norm() / n + 2 * penalties.rho)
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


def test_it_starts_where_the_paper_says():
    """B = I and A random: with A drawn small, recovery begins near zero."""
    X, Y = data()
    start = run(X, Y, epochs=0)
    np.testing.assert_array_equal(start.selection, np.eye(4))
    assert 0.3 < start.recovery.std() / INITIAL_RECOVERY_SCALE < 3
    assert start.history[0]["identity"] == 0
    assert start.history[0]["sparsity"] == pytest.approx(0.1 * 4)
    assert len(start.history) == 1


def test_off_the_diagonal_B_is_zero_after_every_epoch_unless_kept_full():
    X, Y = data()
    seen = []

    def watch(epoch, state):
        seen.append(state.selection.copy())
        return False

    run(X, Y, on_epoch=watch)
    assert len(seen) == 3
    for B in seen:
        np.testing.assert_array_equal(B, np.diag(np.diag(B)))
        assert (np.diag(B) != 0).all()
    full = run(X, Y, full_selection=True).selection
    assert np.abs(full - np.diag(np.diag(full))).max() > 1e-3


def test_support_keeps_the_other_rows_of_B_at_zero():
    X, Y = data()
    for full in (False, True):
        support = np.array([True, False, True, False])
        B = run(X, Y, support=support, full_selection=full).selection
        assert not B[~support].any()
        assert np.abs(B[support]).max() > 0.1


def test_a_step_of_B_and_A_never_overshoots():
    """Steps of one over the curvature: with f at rest and all rows at once, only descent."""
    X, Y = data(1, n=60)
    values = [
        record["objective"]
        for record in run(X, Y, Penalties(0.1, 0.05, 0.02), epochs=40, batch=60, lr=0.0).history
    ]
    assert (np.diff(values) < 1e-5).all()
    assert values[-1] < 0.8 * values[0]


def test_the_objective_falls_on_emotions(data_home):
    X, Y, _, _ = load_dataset("emotions", data_home=data_home).split()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    history = run(X, Y, Penalties(0.1, 0.1), epochs=25, batch=64).history
    values = np.array([record["objective"] for record in history])
    assert len(values) == 26
    assert values[-1] < 0.5 * values[0]
    assert (values[5:] < values[:-5]).all()
    for record in history:
        terms = sum(value for name, value in record.items() if name != "objective")
        assert record["objective"] == pytest.approx(terms)


def test_the_history_is_the_objective_of_what_is_returned():
    from splmll.landmarks.objective import objective_terms
    from splmll.neural import forward

    X, Y = data()
    state = run(X, Y)
    F = forward(state.module, X).numpy()
    terms = objective_terms(F, Y, state.selection, state.recovery, PENALTIES)
    for name, value in terms.items():
        assert state.history[-1][name] == pytest.approx(value, rel=1e-4, abs=1e-6)


def test_separated_steps_choose_landmarks_without_f():
    """joint=False: B and A come from labels alone, whatever the features say; f comes after."""
    X, Y = data()
    other = 3 * data(9)[0]
    ours, theirs = run(X, Y, epochs=6, joint=False), run(other, Y, epochs=6, joint=False)
    np.testing.assert_array_equal(ours.selection, theirs.selection)
    np.testing.assert_array_equal(ours.recovery, theirs.recovery)
    assert np.abs(np.diag(ours.selection) - 1).max() > 1e-3
    joint = run(X, Y, epochs=6)
    assert np.abs(joint.selection - ours.selection).max() > 1e-3
    # B and A are found in the first half of the epochs, f is fitted in the second.
    parts = [record["representativeness"] for record in ours.history]
    assert parts[3:] == [parts[3]] * 4
    assert parts[2] != parts[3]
    weights = []
    run(
        X,
        Y,
        epochs=6,
        joint=False,
        on_epoch=lambda epoch, state: weights.append(state.module.weight.detach().clone()),
    )
    assert all(torch.equal(weights[0], w) for w in weights[:3])
    assert not torch.equal(weights[2], weights[3])


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
    assert np.isnan(hidden).sum() == (~known).sum()


def test_a_label_never_known_is_not_learned_from():
    X, Y = data(3)
    Y[:, 2] = np.nan
    state = run(X, Y, Penalties(0.1, 0.0), epochs=2)
    initial = run(X, Y, Penalties(0.1, 0.0), epochs=0)
    assert torch.equal(state.module.weight[2], initial.module.weight[2])
    np.testing.assert_array_equal(state.recovery[:, 2], initial.recovery[:, 2])
    assert np.isfinite(state.history[-1]["objective"])


@pytest.mark.parametrize(("factor", "lr"), [(1.0, 1e30), (1e25, 0.01)])
def test_an_infinite_objective_names_its_cause(factor, lr):
    X, Y = data()
    with pytest.raises(FloatingPointError, match=r"objective became .* in epoch 1.*learning_rate"):
        run(factor * X, Y, lr=lr)


def test_the_same_seed_gives_the_same_result_and_another_does_not():
    X, Y = data()
    first, second, other = run(X, Y, seed=5), run(X, Y, seed=5), run(X, Y, seed=6)
    np.testing.assert_array_equal(first.selection, second.selection)
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
        assert torch.get_num_threads() == 2
        with pytest.raises(FloatingPointError):
            run(X, Y, lr=1e30)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(Y, copies[1])


def test_only_the_given_rows_are_learned_from():
    X, Y = data()
    rows = np.arange(0, 40, 2)
    spoiled_X, spoiled_Y = X.copy(), Y.copy()
    spoiled_X[1::2], spoiled_Y[1::2] = 99.0, 1.0
    ours, spoiled = run(X, Y, rows=rows), run(spoiled_X, spoiled_Y, rows=rows)
    np.testing.assert_array_equal(ours.recovery, spoiled.recovery)
    assert ours.history == spoiled.history


def test_it_stops_when_converged_or_asked_to():
    X, Y = data()
    training = Training(learning_rate=0.01, batch_size=40, max_epochs=500, patience=3)
    options = {"training": training, "seed": 0, "device": CPU}
    state = algorithm1(linear(X, Y), X, Y, PENALTIES, tol=0.01, **options)
    assert 4 < len(state.history) < 400
    last = [record["objective"] for record in state.history[-4:]]
    assert min(last[1:]) >= last[0] * (1 - 0.01)
    stopped = algorithm1(
        linear(X, Y), X, Y, PENALTIES, tol=0.0, on_epoch=lambda epoch, s: epoch == 1, **options
    )
    assert len(stopped.history) == 3


def test_it_goes_on_from_where_it_was():
    X, Y = data()
    first = run(X, Y, epochs=5)
    start = Alternation(first.module, first.selection, first.recovery, [])
    again = run(X, Y, epochs=1, start=start)
    assert again.history[0]["objective"] == pytest.approx(first.history[-1]["objective"], rel=1e-5)
