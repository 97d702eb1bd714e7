"""What SPL-MLL costs: the exact solver beside Algorithm 1, the network beside a bare torch loop.

Exact against Algorithm 1: the same objective (linear f, lambda1 = lambda2 = 0.1, a ridge of 0.01 on
A, labels not centred), evaluated on the training rows for both results. Network: SPLMLL's fit of
one fold network against a plain loop over the same batches, layers and epochs, both without
validation. Times are processor seconds on one thread, the two sides by turns in one run.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import nn

from splmll import SPLMLL, load_dataset
from splmll.landmarks.objective import Penalties, objective_terms
from splmll.neural import Rows, Standardise, Training, cross_entropy, multilayer_perceptron, train

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


def seconds(call) -> tuple[float, object]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def objective_of(model: SPLMLL, X, Y: np.ndarray) -> float:
    """Return the objective of a fitted linear model on the rows it was fitted on."""
    B = np.diag(model.selection_)
    landmarks = model._landmarks
    A = np.zeros_like(B)
    A[landmarks] = model.recovery_
    F = np.zeros_like(Y)
    F[:, landmarks] = model.transform(X)
    return float(sum(objective_terms(F, Y, B, A, PENALTIES).values()))


def exact_against_algorithm1(name: str, repeats: int) -> dict:
    X, Y, _, _ = load_dataset(name).split()
    Y = (Y.toarray() if hasattr(Y, "toarray") else Y).astype(float)
    exact = SPLMLL("linear", alpha=1e-6, **SHARED)
    published = SPLMLL.as_published(linear=True, random_state=0, **{"rho": PENALTIES.rho})
    exact.fit(X, Y)  # the first call pays for imports and warm caches
    our_times = [seconds(lambda: exact.fit(X, Y))[0] for _ in range(repeats)]
    peer_time, _ = seconds(lambda: published.fit(X, Y))
    row = {
        "data": name,
        "exact_seconds": min(our_times),
        "algorithm1_seconds": peer_time,
        "ratio": peer_time / min(our_times),
        "exact_objective": objective_of(exact, X, Y),
        "algorithm1_objective": objective_of(published, X, Y),
        "algorithm1_epochs": published.n_iter_,
    }
    print(
        f"{name:10s} exact {row['exact_seconds']:8.3f} s  objective {row['exact_objective']:.5f} | "
        f"Algorithm 1 {peer_time:8.2f} s ({published.n_iter_} epochs)  objective "
        f"{row['algorithm1_objective']:.5f} | {row['ratio']:.0f} times as fast",
        flush=True,
    )
    return row


def bare_loop(X: np.ndarray, Y: np.ndarray, training: Training, seed: int) -> nn.Module:
    """The shortest honest torch loop: the same layers, batches, optimiser and epochs."""
    torch.manual_seed(seed)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1
    network = nn.Sequential(
        Standardise(mean, scale),
        multilayer_perceptron(X.shape[1], (512, 64), Y.shape[1], dropout=0.5),
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


def network_against_bare_loop(name: str, epochs: int, repeats: int) -> dict:
    X, Y, _, _ = load_dataset(name).split()
    X = np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    Y = np.array(Y.toarray() if hasattr(Y, "toarray") else Y, dtype=np.float64)
    training = Training(max_epochs=epochs)

    def ours():
        def build() -> nn.Module:
            mean, scale = X.mean(axis=0), X.std(axis=0)
            scale[scale == 0] = 1
            body = multilayer_perceptron(X.shape[1], (512, 64), Y.shape[1], dropout=0.5)
            return nn.Sequential(Standardise(mean, scale), body)

        device = torch.device("cpu")
        return train(
            build,
            Rows(X, device),
            Y,
            loss=cross_entropy,
            training=training,
            seed=0,
            device=device,
        )

    our_times, peer_times = [], []
    for _ in range(repeats):
        peer_times.append(seconds(lambda: bare_loop(X, Y, training, 0))[0])
        our_times.append(seconds(ours)[0])
    row = {
        "data": name,
        "epochs": epochs,
        "ours_seconds": min(our_times),
        "bare_seconds": min(peer_times),
        "ratio": min(our_times) / min(peer_times),
    }
    print(
        f"{name:10s} {epochs} epochs: ours {row['ours_seconds']:.2f} s, bare loop "
        f"{row['bare_seconds']:.2f} s, {row['ratio']:.2f} times its cost",
        flush=True,
    )
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["yeast", "tmc2007"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=None, help="write JSON here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    with threadpool_limits(1):
        for name in options.data:
            rows.append(exact_against_algorithm1(name, options.repeats))
        for name in options.data:
            rows.append(
                network_against_bare_loop(name, 10 if name == "yeast" else 2, options.repeats)
            )
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
