"""What SPL-MLL costs: the exact solver beside Algorithm 1, the network beside a bare torch loop.

Exact against Algorithm 1: the same objective (linear f, lambda1 = lambda2 = 0.1, a ridge of 0.01 on
A, labels not centred), evaluated on the training rows for both results. Network: SPLMLL's fit of
one fold network against a plain loop over the same batches, layers and epochs, both without
validation. Times are processor seconds on one thread, the two sides by turns in one run.
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
from splmll import SPLMLL, load_dataset
from splmll.landmarks.objective import Penalties, objective_terms
from splmll.neural import Rows, Standardise, Training, cross_entropy, multilayer_perceptron, train

TINY = "tiny"
EPOCHS = {"yeast": 10, "tmc2007": 2}  # of the network, on each data set
HIDDEN = (512, 64)
REPEATS = 3
TARGET = 100.0  # times as fast as Algorithm 1

PENALTIES = Penalties(lambda1=0.1, lambda2=0.1, rho=0.01)
SHARED = {
    "lambda1": PENALTIES.lambda1,
    "lambda2": PENALTIES.lambda2,
    "rho": PENALTIES.rho,
    "penalty_scale": "absolute",
    "center": False,
    "cv": None,
    "recovery": "labels",
    "threshold": 0.5,
}


def objective_of(model: SPLMLL, X, Y: np.ndarray) -> float:
    """Return the objective of a fitted linear model on the rows it was fitted on."""
    B = np.diag(model.selection_)
    landmarks = model._landmarks
    A = np.zeros_like(B)
    A[landmarks] = model.recovery_
    F = np.zeros_like(Y)
    F[:, landmarks] = model.transform(X)
    return float(sum(objective_terms(F, Y, B, A, PENALTIES).values()))


def exact_against_algorithm1(name: str, repeats: int) -> Finding:
    X, Y = read(name)
    exact = SPLMLL("linear", alpha=1e-6, **SHARED)
    published = SPLMLL.as_published(linear=True, random_state=0, **{"rho": PENALTIES.rho})
    exact.fit(X, Y)  # the first call pays for imports and warm caches
    times = best(by_turns({"exact": lambda: exact.fit(X, Y)}, repeats))
    times |= best(by_turns({"algorithm1": lambda: published.fit(X, Y)}, 1))
    reached = [objective_of(model, X, Y) for model in (exact, published)]
    return Finding(
        f"{name}: exact solver beside Algorithm 1",
        times["algorithm1"] / times["exact"],
        f"times as fast (objectives {reached[0]:.4f} and {reached[1]:.4f}, "
        f"{published.n_iter_} epochs)",
        low=TARGET,
        details={"seconds": times, "objectives": reached, "epochs": published.n_iter_},
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
