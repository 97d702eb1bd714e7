"""Pictures end to end: a small convolutional network trained by SPLMLL on scenes of digits.

Prints the measures and the landmarks by name and draws pictures with their predicted labels:
landmarks red, other correct labels green, missed ones grey, wrong ones black.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import torch
from torch import nn

from splmll import SPLMLL, evaluate, load_dataset
from splmll.embeddings import TorchModule
from splmll.plots import PredictionsDisplay


def convolutional_network(n_labels: int) -> nn.Module:
    """From one grey picture of any size to one output per label."""
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1),
        nn.BatchNorm2d(12),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        # Where in the picture a digit stands does not matter: keep the strongest answer.
        nn.Conv2d(32, 64, 4),
        nn.ReLU(),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(64, n_labels),
    )


def main(arguments: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure")
    parser.add_argument("--rows", type=int, default=3000, help="pictures to learn from")
    parser.add_argument("--epochs", type=int, default=14, help="passes over the pictures")
    parser.add_argument("--landmarks", type=int, default=7, help="how many digits to look for")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)

    scenes = load_dataset("digit-scenes")
    train, test = scenes.train[: options.rows], scenes.test
    images, labels = scenes.images, pd.DataFrame(scenes.Y, columns=scenes.label_names)
    torch.manual_seed(options.seed)
    network = TorchModule(
        convolutional_network(labels.shape[1]), max_epochs=options.epochs, learning_rate=4e-3
    )
    model = SPLMLL(network, n_landmarks=options.landmarks, cv=2, random_state=options.seed)
    start = time.perf_counter()
    model.fit(images[train], labels.iloc[train])
    print(f"{len(train)} pictures, {time.perf_counter() - start:.0f} s")

    truth, predicted = labels.iloc[test], model.predict(images[test])
    measures = evaluate(truth, model.decision_function(images[test]), predicted)
    for name, value in measures.items():
        print(f"{name:<18} {value:.3f}")
    print(f"landmarks ({len(model.landmarks_)} of {labels.shape[1]}):", *model.landmarks_)

    matplotlib.use("Agg")
    shown = test[:16]
    display = PredictionsDisplay.from_estimator(
        model, images[shown], np.asarray(labels.iloc[shown])
    )
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "digit_scenes.png"
    display.figure_.savefig(path, dpi=150)
    print(f"figure: {path}")
    return measures


if __name__ == "__main__":
    main()
