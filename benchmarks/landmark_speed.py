"""What fits cost: the exact solver beside Algorithm 1, the network beside a bare torch loop.

Exact against Algorithm 1: the published objective with a linear f and a ridge on A. The objectives
reached are those of an average batch; the errors of f in them are measured out of fold by the exact
solver and on training rows by Algorithm 1. Network: SPLMLL's fit of one fold network against a
plain loop over the same batches, layers and epochs, both without validation. Times are processor
seconds on one thread, the two sides by turns in one run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import nn

from benchmarks.generated import dense_problem
from benchmarks.measuring import Finding, best, by_turns, main, median_ratio
from splmll import PublishedSPLMLL, load_dataset
from splmll.neural import Rows, Standardise, Training, cross_entropy, multilayer_perceptron, train

TINY = "tiny"
EPOCHS = {"yeast": 10, "tmc2007": 2}  # of the network, on each data set
HIDDEN = (512, 64)
REPEATS = 3
TARGET = 100.0  # times as fast as Algorithm 1
RIDGE = 1.0  # on A; without one the exact minimum drops no label


def exact_against_algorithm1(name: str, repeats: int) -> Finding:
    X, Y = read(name)
    models = {
        "exact": PublishedSPLMLL(linear=True, rho=RIDGE, solver="exact", random_state=0),
        "algorithm1": PublishedSPLMLL(linear=True, rho=RIDGE, random_state=0),
    }
    models["exact"].fit(X, Y)  # the first call pays for imports and warm caches
    times = best(by_turns({"exact": lambda: models["exact"].fit(X, Y)}, repeats))
    times |= best(by_turns({"algorithm1": lambda: models["algorithm1"].fit(X, Y)}, 1))
    reached = {key: float(each.objective_["objective"].iloc[-1]) for key, each in models.items()}
    epochs = models["algorithm1"].n_iter_
    return Finding(
        f"{name}: exact solver beside Algorithm 1",
        times["algorithm1"] / times["exact"],
        f"times as fast (objectives {reached['exact']:.4g} and {reached['algorithm1']:.4g}, "
        f"{epochs} epochs)",
        low=TARGET,
        details={"seconds": times, "objectives": reached, "epochs": epochs},
    )


def bare_loop(X: np.ndarray, Y: np.ndarray, training: Training, seed: int) -> nn.Module:
    """The shortest honest torch loop: the same layers, batches, optimiser and epochs."""
    torch.manual_seed(seed)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1
    network = nn.Sequential(
        Standardise(mean, scale),
        multilayer_perceptron(X.shape[1], HIDDEN, Y.shape[1], dropout=0.5),
    )
    features = torch.as_tensor(X, dtype=torch.float32)
    labels = torch.as_tensor(Y, dtype=torch.float32)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay
    )
    for _ in range(training.max_epochs):
        for batch in torch.randperm(len(features)).split(training.batch_size):
            optimiser.zero_grad(set_to_none=True)
            outputs = network(features[batch])
            losses = nn.functional.binary_cross_entropy_with_logits(
                outputs, labels[batch], reduction="none"
            )
            losses.sum(1).mean().backward()
            optimiser.step()
    return network


def network_against_bare_loop(name: str, epochs: int, repeats: int) -> Finding:
    X, Y = read(name)
    X = X.toarray() if sparse.issparse(X) else X
    training = Training(max_epochs=epochs)

    def build() -> nn.Module:
        mean, scale = X.mean(axis=0), X.std(axis=0)
        scale[scale == 0] = 1
        body = multilayer_perceptron(X.shape[1], HIDDEN, Y.shape[1], dropout=0.5)
        return nn.Sequential(Standardise(mean, scale), body)

    def ours() -> None:
        cpu = torch.device("cpu")
        rows = Rows(X, cpu)
        train(build, rows, Y, loss=cross_entropy, training=training, seed=0, device=cpu)

    calls = {"bare": lambda: bare_loop(X, Y, training, 0), "ours": ours}
    times = by_turns(calls, repeats)
    return Finding(
        f"{name}: network, {epochs} epochs, beside a bare loop",
        median_ratio(times, "ours", "bare"),
        "times its time",
        details={"seconds": best(times)},
    )


def read(name: str) -> tuple[Any, np.ndarray]:
    if name == TINY:
        X, Y = dense_problem(120, 8, 5)
        return X, Y.astype(np.float64)
    X, Y, _, _ = load_dataset(name).split()
    Y = Y.toarray() if sparse.issparse(Y) else Y
    return X.astype(np.float64), np.asarray(Y, dtype=np.float64)


def measure(quick: bool) -> Iterator[Finding]:
    repeats = 1 if quick else REPEATS
    epochs = {TINY: 1} if quick else EPOCHS
    for name in epochs:
        yield exact_against_algorithm1(name, repeats)
    for name, n_epochs in epochs.items():
        yield network_against_bare_loop(name, n_epochs, repeats)


if __name__ == "__main__":
    main(measure, __doc__)
