"""The landmarks of one fitted SPLMLL, as they stand in a report.

A heat map says which landmark recovers which label; examples say where a score comes from.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from splmll.arrays import take_rows
from splmll.experiments.report.page import Figure, Heading, Part, Section, Text, signed
from splmll.plots import PredictionsDisplay
from splmll.plots.landmark_weights import LandmarkWeights

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

    Examples
    --------
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> from splmll.experiments.report import FittedModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 4))
    >>> Y = (X @ rng.normal(size=(4, 3)) > 0).astype(int)
    >>> model = SPLMLL("linear", random_state=0).fit(X[:60], Y[:60])
    >>> FittedModel(model, X[60:], Y[60:], label_names=["a", "b", "c"]).names
    ['a', 'b', 'c']
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


def landmark_section(data: str, fitted: FittedModel) -> Section:
    """Return what the report tells of one model.

    Parameters
    ----------
    data : str
        Name of the data set.
    fitted : FittedModel
        The model.

    Returns
    -------
    section : Section
    """
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
        parts.append(LandmarkMap.from_model(fitted))
    if fitted.path is not None:
        parts += [Heading("How many landmarks are enough"), _path_figure(fitted.path)]
    if fitted.X is not None:
        parts += [Heading("Example predictions"), ExamplePredictions(fitted)]
    return Section(f"Landmarks of {data}", parts)


@dataclass(frozen=True)
class LandmarkMap:
    """Heat map of which landmark recovers which label.

    Parameters
    ----------
    weights : ndarray of shape (n_landmarks, n_labels)
        Weight of each landmark in the score of each label.
    landmarks, labels : sequence of int
        Numbers of the labels in rows and columns.
    names : sequence of str
        Names of all labels.
    strengths : sequence of float
        Share of the variance of all labels that each landmark adds to those before it.
    """

    weights: np.ndarray
    landmarks: Sequence[int]
    labels: Sequence[int]
    names: Sequence[str]
    strengths: Sequence[float]

    @classmethod
    def from_model(cls, fitted: FittedModel) -> LandmarkMap:
        """Take the strongest landmarks of a model and the labels they recover most."""
        found = LandmarkWeights.from_estimator(fitted.model).strongest(MOST_LANDMARKS, MOST_LABELS)
        form = fitted.model.label_format_
        seen = [str(name) for name in form.names_of(np.arange(form.n_labels))]
        number = {name: position for position, name in enumerate(seen)}
        return cls(
            found.weights,
            [number[name] for name in found.landmarks],
            [number[name] for name in found.labels],
            fitted.names,
            [float(weight) for weight in found.strengths],
        )

    def to_html(self, number: int) -> str:
        """Return the heat map."""
        hidden = len(self.names) - len(self.labels)
        shown = (
            f" Shown are {len(self.labels)} of {len(self.names)} labels, those that landmarks "
            "recover most."
            if hidden
            else ""
        )
        return (
            "<h3>Which landmark recovers which label</h3>\n"
            '<figure><div class="wide" tabindex="0" role="region" aria-label="Heat map">'
            f"{self._heat_map()}</div>\n"
            "<figcaption>Weight of the landmark (row) in the score of the label (column), positive "
            "blue, negative orange with a minus sign. A frame marks a landmark's own label; a "
            f"column without a frame is recovered from other labels alone.{shown}</figcaption>"
            "</figure>"
        )

    @property
    def _limit(self) -> float:
        """The end of the colour scale: the largest weight outside a landmark's own label."""
        own = np.equal.outer(self.landmarks, self.labels)
        sizes = np.abs(self.weights)
        return float(sizes[~own].max(initial=0.0) or sizes.max(initial=0.0) or 1.0)

    def _heat_map(self) -> str:
        limit = self._limit
        head = "".join(
            f'<th scope="col" data-label="{label}">'
            f"<span>{html.escape(self.names[label])}</span></th>"
            for label in self.labels
        )
        lines = []
        for landmark, strength, weights in zip(self.landmarks, self.strengths, self.weights):
            cells = []
            for label, weight in zip(self.labels, weights):
                kinds = "minus " if weight < 0 else ""
                kinds += "own" if label == landmark else ""
                kind = f' class="{kinds.strip()}"' if kinds else ""
                colour = min(abs(weight) / limit, 1.0)
                cells.append(
                    f'<td{kind} style="--w:{colour:.2f}">{signed(weight, plus=False)}</td>'
                )
            lines.append(
                f'<tr data-label="{landmark}" data-strength="{strength:.1%}"><th scope="row"><span>'
                f"{html.escape(self.names[landmark])}</span></th>{''.join(cells)}</tr>"
            )
        dense = " dense" if len(self.labels) > WIDEST_WITH_NUMBERS else ""
        body = "\n".join(lines)
        return (
            f'<table class="heat{dense}"><thead><tr><td></td>{head}</tr></thead>\n'
            f"<tbody>\n{body}\n</tbody></table>"
        )


@dataclass(frozen=True)
class ExamplePredictions:
    """Rows with the labels predicted for them: landmark, correct, missed and wrong.

    Parameters
    ----------
    fitted : FittedModel
        A model with rows to predict.
    """

    fitted: FittedModel

    def to_html(self, number: int) -> str:
        """Return a list of rows at equal distances, so that none is picked for its looks."""
        model, names = self.fitted.model, self.fitted.names
        X = self.fitted.X
        Y = self.fitted.Y.toarray() if hasattr(self.fitted.Y, "toarray") else self.fitted.Y
        Y = np.asarray(Y)
        count = min(N_EXAMPLES, len(Y))
        rows = np.linspace(0, len(Y) - 1, count).round().astype(int)
        X = X.iloc[rows] if hasattr(X, "iloc") else take_rows(X, rows)
        explanation = model.explain(X)
        position = {name: place for place, name in enumerate(explanation.labels.tolist())}
        landmarks = np.zeros(len(names), dtype=bool)
        landmarks[[position[name] for name in model.landmarks_]] = True
        display = PredictionsDisplay(
            np.empty((count, 0, 0)), Y[rows] == 1, explanation.predicted == 1, names, landmarks
        )
        items = []
        for place, row in enumerate(rows):
            chips = " ".join(_chip(name, kind) for name, kind in display.labels_of(place))
            reasons = "".join(
                f"<li>{html.escape(line)}</li>" for line in self._reasons(explanation, place)
            )
            if reasons:
                chips += (
                    "<details><summary>Where the scores come from</summary>"
                    f"<ul>{reasons}</ul></details>"
                )
            items.append(
                f"<li><h4>Row {row + 1} of {len(Y)}</h4>{chips or '<p>No label.</p>'}</li>"
            )
        legend = " ".join(_chip(kind, kind) for kind in _SYMBOLS)
        return (
            f'<p class="note">{legend}</p><p class="note">Landmark: a landmark that is true and '
            "was predicted; correct: another true label that was predicted; missed: true, not "
            "predicted; wrong: predicted, not true. Rows stand at equal distances in the test "
            f'part.</p><ul class="examples">{"".join(items)}</ul>'
        )

    def _reasons(self, explanation: Any, row: int) -> list[str]:
        """Return for each predicted label of a row its score as a sum over landmarks."""
        names = self.fitted.names
        landmark_of = {name: place for place, name in enumerate(explanation.labels.tolist())}
        lines = []
        for label in np.flatnonzero(explanation.predicted[row]):
            added = explanation.contributions[row, :, label]
            strongest = np.argsort(-np.abs(added), kind="stable")[:N_REASONS]
            named = [
                f"{names[landmark_of[explanation.landmarks[k]]]} {signed(added[k])}"
                for k in strongest
            ]
            rest = added.sum() - added[strongest].sum()
            if len(added) > N_REASONS:
                named.append(f"others {signed(rest)}")
            score = signed(explanation.scores[row, label], plus=False)
            base = signed(explanation.base[label], plus=False)
            lines.append(f"{names[label]} {score} = base {base}, {', '.join(named)}")
        return lines


_SYMBOLS = {"landmark": "★", "correct": "✓", "missed": "○", "wrong": "✗"}


def _chip(name: str, kind: str) -> str:
    said = "" if name == kind else f'<span class="hidden-text"> ({kind})</span>'
    return f'<span class="chip {kind}">{_SYMBOLS[kind]} {html.escape(name)}{said}</span>'


def _path_figure(path: LandmarkPath) -> Figure:
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(11, 6), layout="constrained")
    path.plot(canvas.subplots(2, 3))
    return Figure(
        canvas,
        "Measures against the number of landmarks, on out-of-fold scores of the training rows; "
        "dashes show the same embedding without landmarks.",
    )
