"""Draw the pictures of the documentation: ``python docs/make_images.py``.

Everything is drawn from yeast with a linear embedding, so it takes seconds and gives the same
picture every time.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

from splmll import SPLMLL, load_dataset
from splmll.plots import LandmarkHeatmapDisplay, LandmarkPathDisplay

IMAGES = Path(__file__).parent / "images"


def draw_landmarks(target: Path) -> None:
    """Draw which landmark recovers which label of yeast, and the landmark path beside it."""
    data = load_dataset("yeast")
    X, Y, _, _ = data.split()
    Y = pd.DataFrame(Y, columns=data.label_names)
    model = SPLMLL("linear", random_state=0).fit(X, Y)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.2), width_ratios=(1.5, 1), layout="constrained"
    )
    LandmarkHeatmapDisplay.from_estimator(model, ax=left)
    LandmarkPathDisplay.from_estimator(model, X, Y, measure="ranking_loss", ax=right)
    left.set_title(f"{len(model.landmarks_)} landmarks of {Y.shape[1]} labels")
    right.set_title("how many are enough")
    figure.savefig(target, dpi=110, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    """Draw all pictures."""
    IMAGES.mkdir(exist_ok=True)
    draw_landmarks(IMAGES / "landmarks.png")


if __name__ == "__main__":
    main()
