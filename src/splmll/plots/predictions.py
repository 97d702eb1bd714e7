"""Pictures with the labels predicted for them, like scikit-learn's displays.

The colour of a label says how it came about: predicted as a landmark, recovered, missed or wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from splmll.arrays import dense
from splmll.docstrings import with_paragraphs
from splmll.extras import required
from splmll.plots.display import plain_text
from splmll.plots.label_input import label_matrix, label_names_of, same_columns
from splmll.plots.landmark_weights import landmark_model, landmark_numbers

COLOURS = {"landmark": "red", "correct": "green", "missed": "grey", "wrong": "black"}
"""What a label in the figure can be: a landmark that is right, another label that is right, a true
label that was not predicted, a predicted label that is not true."""


@with_paragraphs
class PredictionsDisplay:
    """Pictures with their labels: landmarks red, correct green, missed grey, wrong black.

    Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    pictures : ndarray of shape (n_pictures, height, width) or (n_pictures, height, width, 3)
        Grey or coloured pictures. Rows of features, of shape (n_rows, n_features), are drawn as
        curves.
    true, predicted : ndarray of bool, shape (n_pictures, n_labels)
        Which labels are true and which were predicted.
    label_names : sequence of str
        Names of the labels.
    landmarks : ndarray of bool, shape (n_labels,)
        Which labels are landmarks.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One for each picture.
    figure_ : matplotlib Figure
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.plots import PredictionsDisplay
    >>> display = PredictionsDisplay(
    ...     np.zeros((1, 8, 8)),
    ...     true=np.array([[1, 1, 1, 0, 0]], dtype=bool),
    ...     predicted=np.array([[1, 1, 0, 1, 0]], dtype=bool),
    ...     label_names=["sea", "boat", "fog", "snow", "tree"],
    ...     landmarks=np.array([1, 0, 0, 0, 0], dtype=bool),
    ... )
    >>> display.labels_of(0)
    [('sea', 'landmark'), ('boat', 'correct'), ('fog', 'missed'), ('snow', 'wrong')]
    """

    def __init__(
        self,
        pictures: np.ndarray,
        true: np.ndarray,
        predicted: np.ndarray,
        label_names: Sequence[str],
        landmarks: np.ndarray,
    ) -> None:
        self.pictures = pictures
        self.true = true
        self.predicted = predicted
        self.label_names = [str(name) for name in label_names]
        self.landmarks = landmarks

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        pictures: Any = None,
        label_names: Sequence[str] | None = None,
        n_columns: int = 4,
    ) -> PredictionsDisplay:
        """Predict the labels of some pictures and draw them.

        Parameters
        ----------
        {estimator_with_landmarks}
        X : array
            Rows to predict.
        Y : array, sparse array or DataFrame of shape (n_rows, n_labels)
            Their true labels.
        pictures : array, optional
            What to show; X itself by default, pictures of shape (n_rows, channels, height, width)
            or rows of features.
        label_names : sequence of str, optional
            Names; by default those the estimator or Y has, or the numbers of the labels.
        n_columns : int, default=4
            Pictures side by side.
        """
        model = landmark_model(estimator)
        names = label_names_of(model.label_format_.n_labels, model, Y, given=label_names)
        return cls.from_predictions(
            X if pictures is None else pictures,
            Y,
            estimator.predict(X),
            names,
            landmark_numbers(model).tolist(),
            n_columns=n_columns,
        )

    @classmethod
    def from_predictions(
        cls,
        pictures: Any,
        Y_true: Any,
        Y_pred: Any,
        label_names: Sequence[str],
        landmarks: Sequence[int] = (),
        *,
        n_columns: int = 4,
    ) -> PredictionsDisplay:
        """Draw pictures with their true and predicted labels.

        Parameters
        ----------
        pictures : array of shape (n, channels, height, width), (n, height, width) or (n, features)
            Pictures with one or three channels, or rows of features.
        Y_true, Y_pred : array, sparse array or DataFrame of shape (n, n_labels)
            0/1 labels.
        label_names : sequence of str
            Names of the labels.
        landmarks : sequence of int, default=()
            Numbers of the labels that are landmarks.
        n_columns : int, default=4
            Pictures side by side.
        """
        shown = dense(pictures)
        if shown.ndim == 4:
            shown = shown[:, 0] if shown.shape[1] == 1 else np.moveaxis(shown, 1, -1)
        true = label_matrix(Y_true) == 1
        predicted = label_matrix(same_columns(Y_true, Y_pred)) == 1
        if not len(shown) == len(true) == len(predicted):
            raise ValueError(
                f"{len(shown)} pictures, {len(true)} rows of true and {len(predicted)} of predicted"
                " labels: give one of each for every picture."
            )
        chosen = np.zeros(len(label_names), dtype=bool)
        chosen[list(landmarks)] = True
        return cls(shown, true, predicted, label_names, chosen).plot(n_columns=n_columns)

    def labels_of(self, picture: int) -> list[tuple[str, str]]:
        """Return the labels of one picture and what each of them is, a key of `COLOURS`."""
        true, predicted = self.true[picture], self.predicted[picture]
        kinds = {
            "landmark": true & predicted & self.landmarks,
            "correct": true & predicted & ~self.landmarks,
            "missed": true & ~predicted,
            "wrong": ~true & predicted,
        }
        return [
            (self.label_names[j], kind)
            for kind, here in kinds.items()
            for j in np.flatnonzero(here)
        ]

    def plot(self, *, n_columns: int = 4) -> PredictionsDisplay:
        """Draw all pictures into a new figure."""
        plt = required("matplotlib.pyplot", "plots", "Drawing")
        from matplotlib.patches import Patch

        n_columns = min(n_columns, len(self.pictures))
        n_rows = -(-len(self.pictures) // n_columns)
        figure, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(2.6 * n_columns, 1.8 * n_rows + 0.5),
            layout="constrained",
            squeeze=False,
        )
        for ax in axes.ravel()[len(self.pictures) :]:
            ax.set_axis_off()
        for number, ax in zip(range(len(self.pictures)), axes.ravel(), strict=False):
            if self.pictures.ndim == 2:
                ax.plot(self.pictures[number], color="tab:grey", linewidth=0.6)
            else:
                ax.imshow(self.pictures[number], cmap="gray_r")
            ax.set(xticks=[], yticks=[])
            for line, (name, kind) in enumerate(self.labels_of(number)):
                text = ax.text(
                    1.05,
                    1 - 0.14 * line,
                    name,
                    color=COLOURS[kind],
                    transform=ax.transAxes,
                    verticalalignment="top",
                    fontsize=9,
                )
                plain_text(text)
        figure.legend(
            handles=[Patch(color=colour, label=kind) for kind, colour in COLOURS.items()],
            loc="outside lower center",
            ncols=len(COLOURS),
            frameon=False,
        )
        self.figure_ = figure
        self.axes_ = axes.ravel()[: len(self.pictures)]
        return self
