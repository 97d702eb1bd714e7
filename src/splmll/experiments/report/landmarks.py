"""The landmarks of one fitted SPLMLL, as they stand in a report.

A heat map says which landmark recovers which label; examples say where a score comes from.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from splmll.arrays import dense, take_rows
from splmll.experiments.report.page import Figure, Heading, Part, Section, Text, Written, signed
from splmll.plots import PredictionsDisplay
from splmll.plots.landmark_weights import LandmarkWeights, landmark_numbers

if TYPE_CHECKING:
    from splmll import SPLMLL
    from splmll.landmarks.path import LandmarkPath

N_EXAMPLES = 6  # rows whose predictions are shown
N_REASONS = 4  # landmarks that are named as the reason of a predicted label
MOST_LANDMARKS, MOST_LABELS = 30, 40  # in the heat map
WIDEST_WITH_NUMBERS = 16  # with more labels the heat map has no room for numbers


@dataclass(frozen=True)
class FittedModel:
    """A fitted model and what the report may show besides its landmarks.

    Parameters
    ----------
    model : SPLMLL
        The fitted model.
    X, Y : array, sparse array or DataFrame, optional
        Rows the model has not seen and their labels, for example predictions.
    label_names : sequence of str, optional
        Names of the labels; by default those the model has seen, or their numbers.
    path : LandmarkPath, optional
        What :meth:`splmll.SPLMLL.landmark_path` returned.
    """

    model: SPLMLL
    X: Any = None
    Y: Any = None
    label_names: Sequence[str] | None = None
    path: LandmarkPath | None = None

    def __post_init__(self) -> None:
        if (self.X is None) != (self.Y is None):
            raise ValueError("Give X and Y together: example predictions need both.")
        n_labels = self.model.label_format_.n_labels
        if self.label_names is not None and len(self.label_names) != n_labels:
            raise ValueError(
                f"{len(self.label_names)} label names for a model of {n_labels} labels; give one "
                "for each."
            )

    @property
    def names(self) -> list[str]:
        """Names of all labels."""
        if self.label_names is not None:
            return [str(name) for name in self.label_names]
        form = self.model.label_format_
        return [str(name) for name in form.names_of(np.arange(form.n_labels))]


@dataclass(frozen=True)
class Examples(Part):
    """Rows, each with its title, its labels and their kinds, and where the scores come from."""

    rows: Sequence[tuple[str, Sequence[tuple[str, str]], Sequence[str]]]
    symbols: ClassVar = {"landmark": "★", "correct": "✓", "missed": "○", "wrong": "✗"}


def landmark_section(data: str, fitted: FittedModel) -> Section:
    """Return what the report tells of one model, fitted on this data set."""
    model, names = fitted.model, fitted.names
    n_landmarks = len(model.landmarks_)
    parts: list[Part] = [
        Text(
            f"{n_landmarks} of {len(names)} labels are landmarks. Only these are predicted from "
            "the features; all labels are recovered from them."
        ),
        Text(f"The model: {model}", note=True),
    ]
    if n_landmarks:
        parts += [Heading("Which landmark recovers which label"), heat_map(fitted)]
    if fitted.path is not None:
        parts += [Heading("How many landmarks are enough"), _path_figure(fitted.path)]
    if fitted.X is not None:
        parts += [Heading("Example predictions"), *_examples(fitted)]
    return Section(f"Landmarks of {data}", parts)


def heat_map(fitted: FittedModel) -> Written:
    """Return the weight of every landmark in the score of every label as a coloured table."""
    found = LandmarkWeights.from_estimator(fitted.model, fitted.names)
    found = found.strongest(MOST_LANDMARKS, MOST_LABELS)
    own = np.equal.outer(found.landmarks, found.labels)
    sizes = np.abs(found.weights)
    # The largest weight outside a landmark's own label ends the scale of colours.
    limit = sizes[~own].max(initial=0.0) or sizes.max(initial=0.0) or 1.0
    shades = (sizes / limit).clip(max=1.0).round(2).astype(str)
    kinds = np.where(found.weights < 0, "minus ", "") + np.where(own, "own", "")
    rows, columns = list(found.landmarks), list(found.labels)
    weights = [[signed(weight, plus=False) for weight in row] for row in found.weights]
    style = (
        pd.DataFrame(weights, rows, columns)
        .style.apply(lambda _: np.char.add("--w: ", shades), axis=None)
        .set_td_classes(pd.DataFrame(kinds, rows, columns))
    )
    for axis in (0, 1):
        style = style.format_index(lambda name: f"<span>{html.escape(str(name))}</span>", axis=axis)
    crowded = " dense" if len(found.labels) > WIDEST_WITH_NUMBERS else ""
    key = hashlib.sha256(f"{fitted.model}{fitted.names}".encode()).hexdigest()[:8]
    caption = (
        "Weight of the landmark (row) in the score of the label (column), positive blue, negative "
        "orange with a minus sign. A frame marks a landmark's own label; a column without a frame "
        "is recovered from other labels alone."
    )
    if len(found.labels) < len(fitted.names):
        caption += (
            f" Shown are {len(found.labels)} of {len(fitted.names)} labels, those that landmarks "
            "recover most."
        )
    return Written(style.set_uuid(key).to_html(table_attributes=f'class="heat{crowded}"'), caption)


def _examples(fitted: FittedModel) -> list[Part]:
    """Return rows at equal distances, so that none is picked for its looks, with their labels."""
    names, Y = fitted.names, dense(fitted.Y)
    rows = np.linspace(0, len(Y) - 1, min(N_EXAMPLES, len(Y))).round().astype(int)
    explanation = fitted.model.explain(take_rows(fitted.X, rows))
    landmarks = np.isin(np.arange(len(names)), landmark_numbers(fitted.model))
    display = PredictionsDisplay(
        np.empty((len(rows), 0, 0)), Y[rows] == 1, explanation.predicted == 1, names, landmarks
    )
    shown = [
        (f"Row {row + 1} of {len(Y)}", display.labels_of(i), _reasons(explanation, names, i))
        for i, row in enumerate(rows)
    ]
    words = (
        "Landmark: a landmark that is true and was predicted; correct: another true label that was "
        "predicted; missed: true, not predicted; wrong: predicted, not true. Rows stand at equal "
        "distances in the test part."
    )
    return [Text(words, note=True), Examples(shown)]


def _reasons(explanation: Any, names: list[str], row: int) -> list[str]:
    """Return for each predicted label of a row its score as a sum over landmarks."""
    number_of = {name: place for place, name in enumerate(explanation.labels.tolist())}
    lines = []
    for label in np.flatnonzero(explanation.predicted[row]):
        added = explanation.contributions[row, :, label]
        strongest = np.argsort(-np.abs(added), kind="stable")[:N_REASONS]
        named = [
            f"{names[number_of[explanation.landmarks[k]]]} {signed(added[k])}" for k in strongest
        ]
        if len(added) > N_REASONS:
            named.append(f"others {signed(added.sum() - added[strongest].sum())}")
        score = signed(explanation.scores[row, label], plus=False)
        base = signed(explanation.base[label], plus=False)
        lines.append(f"{names[label]} {score} = base {base}, {', '.join(named)}")
    return lines


def _path_figure(path: LandmarkPath) -> Figure:
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(11, 6), layout="constrained")
    axes = canvas.subplots(2, 3)
    path.plot(axes)
    for ax in axes.flat:
        ax.set_visible(ax.has_data())  # there are five measures
    return Figure(
        canvas,
        "Measures against the number of landmarks, on out-of-fold scores of the training rows; "
        "dashes show the same embedding without landmarks.",
    )
