"""Two real processes that train one network: what one process gives, and the same in both."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from splmll import SPLMLL
from splmll.embeddings import Network
from splmll.neural import Training, cross_entropy, forward, squared_error, train
from splmll.parallel_training import OneProcess, training_processes

# Processes that each import torch take their time to start.
pytestmark = pytest.mark.slow

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """Run the script as a user does and return what each process wrote."""
    folder = tmp_path_factory.mktemp("scenarios")
    path = folder / "script.py"
    path.write_text(SCRIPT)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", "2", str(path), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(2)]


def rows_and_labels(n: int = 61) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 6))
    Y = (X @ rng.normal(size=(6, 4)) + rng.normal(size=(n, 4)) > 0).astype(float)
    Y[::7, 1] = np.nan
    return X, Y


def perceptron(dropout: float = 0.0) -> nn.Module:
    return nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(), nn.Dropout(dropout), nn.Linear(16, 4))


def normalised() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))


def settings(batch_size: int = 16, epochs: int = 12, averaging: float = 0.9) -> Training:
    return Training(
        learning_rate=0.02,
        batch_size=batch_size,
        max_epochs=epochs,
        patience=3,
        averaging=averaging,
    )


# Each is one call of `train`; the same in one process and in two.
SCENARIOS = {
    # One step: 61 rows in one batch are 31 and 30, one row is 1 and 0, NaN is unknown.
    "one step": {"training": settings(64, 1, 0.0)},
    "one step, cross-entropy": {"training": settings(64, 1, 0.0), "loss": cross_entropy},
    "one step, one row": {"training": settings(64, 1, 0.0), "rows": np.array([5])},
    "one step, three rows": {"training": settings(64, 1, 0.0), "rows": np.array([9, 2, 30])},
    # Batches of 16: the last one has 9 rows.
    "whole run": {"training": settings(), "loss": cross_entropy},
    "watched": {
        "training": settings(epochs=60),
        "rows": np.arange(40),
        "validation": np.arange(40, 61),
    },
    "one row watched": {"training": settings(), "rows": np.arange(40), "validation": np.arange(1)},
    "dropout": {
        "training": settings(epochs=60),
        "rows": np.arange(40),
        "validation": np.arange(40, 61),
        "build": lambda: perceptron(0.5),
    },
    "normalisation": {
        "training": settings(batch_size=20),
        "rows": np.arange(60),
        "build": normalised,
    },
}
WITHOUT_CHANCE = [name for name in SCENARIOS if name not in ("dropout", "normalisation")]


def run(name: str) -> tuple[dict[str, torch.Tensor], list[dict[str, float]]]:
    """Train one scenario in this process, or together with the others of its group."""
    X, Y = rows_and_labels()
    options = {"build": perceptron, "loss": squared_error, **SCENARIOS[name]}
    module, history = train(options.pop("build"), X, Y, seed=5, device=CPU, **options)
    return module.state_dict(), history


SCRIPT = """
import sys, numpy as np, torch
from splmll import SPLMLL
from splmll.embeddings import Network
from splmll.neural import squared_error, train
from splmll.parallel_training import agreed_seed, training_processes
import test_parallel_training as cases

CPU = torch.device("cpu")
processes = training_processes(CPU)
rank = processes.rank
found = {"size": processes.size, "runs": {n: cases.run(n) for n in cases.SCENARIOS}}
X, Y = cases.rows_and_labels()

def attempt(rows=None, Y=Y, seed=0, training=cases.settings(), **options):
    threads = []
    def loss(*arguments):
        threads.append(torch.get_num_threads())
        return squared_error(*arguments)
    torch.set_num_threads(3)
    try:
        module, history = train(
            cases.perceptron, X, Y, loss=loss, training=training, seed=seed, device=CPU, **options
        )
    except (ValueError, FloatingPointError) as error:
        return str(error)
    return len(history), set(threads), torch.get_num_threads()

found["one asks to stop"] = attempt(on_epoch=lambda epoch, loss: rank == 1 and epoch == 4)
found["other seeds"] = attempt(seed=rank)
found["other labels"] = attempt(Y=np.where(np.arange(len(Y))[:, None] == rank, 0.0, Y))
found["other rows"] = attempt(validation=np.arange(5 + rank))
found["other settings"] = attempt(training=cases.settings(epochs=3 + rank))
found["afterwards"] = attempt()
found["too long steps"] = attempt(training=cases.Training(learning_rate=1e30))
found["agreed seed"] = agreed_seed(40 + rank)

model, X, Y = cases.small_fit()
found["scores"] = model.decision_function(X)
found["landmarks"] = list(model.landmarks_)
found["weights"] = [member.state_dict() for member in model.embedding_.models_]
try:
    SPLMLL(Network(max_epochs=1), n_jobs=2, random_state=0).fit(X, Y)
except RuntimeError as error:
    found["with n_jobs"] = str(error)
torch.save(found, f"{sys.argv[1]}/{rank}.pt")
"""


def test_torchrun_is_noticed_without_a_word(two_processes: list[dict]) -> None:
    assert [found["size"] for found in two_processes] == [2, 2]
    assert isinstance(training_processes(CPU), OneProcess)
    assert training_processes(CPU).size == 1


@pytest.mark.parametrize("name", WITHOUT_CHANCE)
def test_two_processes_do_what_one_does(two_processes: list[dict], name: str) -> None:
    weights, history = run(name)
    theirs, their_history = two_processes[0]["runs"][name]
    assert len(their_history) == len(history)
    for key, value in weights.items():
        torch.testing.assert_close(theirs[key], value, rtol=1e-5, atol=1e-5)
    for ours, other in zip(history, their_history):
        assert other == pytest.approx(ours, rel=1e-4)


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_processes_end_with_the_same_weights(two_processes: list[dict], name: str) -> None:
    (first, history), (second, other_history) = (found["runs"][name] for found in two_processes)
    assert history == other_history
    assert first.keys() == second.keys()
    for key, value in first.items():
        assert torch.equal(value, second[key]), key


def test_the_scenarios_learn_something(two_processes: list[dict]) -> None:
    """Otherwise weights that never move would pass the tests above."""
    for name in ("whole run", "watched", "dropout", "normalisation"):
        _, history = two_processes[0]["runs"][name]
        assert history[-1]["loss"] < 0.8 * history[0]["loss"], name
    assert len(two_processes[0]["runs"]["watched"][1]) < 60  # stopped early


def test_dropout_strikes_other_places_but_learns_as_well(two_processes: list[dict]) -> None:
    X, Y = rows_and_labels()
    (ours, _), (theirs, _) = run("dropout"), two_processes[0]["runs"]["dropout"]
    assert not torch.equal(ours["0.weight"], theirs["0.weight"])
    losses = []
    for weights in (ours, theirs):
        module = perceptron(0.5)
        module.load_state_dict(weights)
        outputs = forward(module, X)
        known = torch.as_tensor(~np.isnan(Y), dtype=torch.float32)
        targets = torch.as_tensor(np.nan_to_num(Y), dtype=torch.float32)
        losses.append(float(squared_error(outputs, targets, known)))
    assert losses[1] == pytest.approx(losses[0], rel=0.2)


def test_one_process_that_asks_to_stop_stops_all(two_processes: list[dict]) -> None:
    assert [found["one asks to stop"][0] for found in two_processes] == [5, 5]


def test_every_process_trains_on_one_thread_and_gives_its_threads_back(
    two_processes: list[dict],
) -> None:
    for found in two_processes:
        _, threads, after = found["one asks to stop"]
        assert threads == {1}
        assert after == 3


@pytest.mark.parametrize("what", ["seeds", "labels", "rows", "settings"])
def test_processes_that_do_not_agree_are_told_so(two_processes: list[dict], what: str) -> None:
    for found in two_processes:
        assert "The 2 processes were given different rows, labels, seeds" in found[f"other {what}"]
        assert "random_state, a number" in found[f"other {what}"]
        assert found["afterwards"][0] == 12  # the group is still in step


def test_a_loss_that_bursts_bursts_in_all(two_processes: list[dict]) -> None:
    assert two_processes[0]["too long steps"] == two_processes[1]["too long steps"]
    assert "learning_rate" in two_processes[0]["too long steps"]


def test_the_seed_agreed_on_is_the_first_one_s(two_processes: list[dict]) -> None:
    assert [found["agreed seed"] for found in two_processes] == [40, 40]


def small_fit() -> tuple[SPLMLL, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    Y = (X @ rng.normal(size=(5, 6)) + 0.5 * rng.normal(size=(150, 6)) > 0.3).astype(int)
    network = Network((16,), dropout=0.0, max_epochs=30)
    model = SPLMLL(network, cv=3, random_state=0)
    return model.fit(X, Y), X, Y


def test_an_estimator_is_fitted_as_in_one_process(two_processes: list[dict]) -> None:
    first, second = two_processes
    np.testing.assert_array_equal(first["scores"], second["scores"])
    assert len(first["weights"]) == 3
    for ours, theirs in zip(first["weights"], second["weights"], strict=True):
        assert all(torch.equal(value, theirs[key]) for key, value in ours.items())
    alone, X, _ = small_fit()
    assert first["landmarks"] == list(alone.landmarks_)
    np.testing.assert_allclose(first["scores"], alone.decision_function(X), atol=1e-3)
    # Workers of joblib are no members of the group: they are refused, and nothing hangs.
    assert "leave n_jobs at None under torchrun" in first["with n_jobs"]
