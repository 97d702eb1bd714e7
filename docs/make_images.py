"""Draw the pictures of the documentation: ``python docs/make_images.py``.

Everything is drawn from yeast with one quick embedding, so it takes less than a minute and gives
the same picture every time.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

from splmll import SPLMLL, load_dataset
from splmll.plots import (
    LabelGraphDisplay,
    LabelPrecisionRecallDisplay,
    LandmarkHeatmapDisplay,
    LandmarkPathDisplay,
    ThresholdCurveDisplay,
)

IMAGES = Path(__file__).parent / "images"


def draw_landmarks(target: Path) -> None:
    """Draw which landmark recovers which label of yeast, and the landmark path beside it."""
    data = load_dataset("yeast")
    X, Y, _, _ = data.split()
    Y = pd.DataFrame(Y, columns=data.label_names)
    model = SPLMLL("kernel", n_landmarks=7, random_state=0).fit(X, Y)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.2), width_ratios=(1.5, 1), layout="constrained"
    )
    LandmarkHeatmapDisplay.from_estimator(model, ax=left)
    LandmarkPathDisplay.from_estimator(model, X, Y, ax=right)
    left.set_title(f"{len(model.landmarks_)} landmarks recover {Y.shape[1]} labels")
    right.set_title("how many are enough")
    figure.savefig(target, dpi=110, metadata={"Software": None})
    plt.close(figure)


def draw_labels(target: Path) -> None:
    """Draw the label graph of yeast with six landmarks, and how well each label is predicted."""
    data = load_dataset("yeast")
    X, Y, X_test, Y_test = data.split()
    model = SPLMLL("linear", n_landmarks=6, random_state=0)
    model.fit(X, pd.DataFrame(Y, columns=data.label_names))
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(15, 5.2), width_ratios=(1.3, 1, 1), layout="constrained"
    )
    LabelGraphDisplay.from_estimator(model, ax=left)
    LabelPrecisionRecallDisplay.from_estimator(model, X_test, Y_test, ax=middle)
    ThresholdCurveDisplay.from_estimator(model, X_test, Y_test, ax=right)
    figure.savefig(target, dpi=75, metadata={"Software": None})
    plt.close(figure)


def draw_annotation(target: Path) -> None:
    """Draw what questions about yeast achieve, by how they are chosen."""
    X, Y, _, _ = load_dataset("yeast").split()
    path = SPLMLL("kernel", random_state=0).annotation_path(X, Y, counts=range(15))
    figure = path.plot()
    figure.savefig(target, dpi=75, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    """Draw all pictures."""
    IMAGES.mkdir(exist_ok=True)
    draw_landmarks(IMAGES / "landmarks.png")
    draw_labels(IMAGES / "labels.png")
    draw_annotation(IMAGES / "annotation.png")


if __name__ == "__main__":
    main()
