"""Landmarks and the labels they carry, as a graph of two rings.

Every label has a place on the outer ring, next to the others of the landmark that carries it most;
the landmarks are inside, and a curve from a landmark to a label is a weight in its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from splmll.docstrings import with_paragraphs
from splmll.plots.display import Display, plain_text
from splmll.plots.landmark_weights import LandmarkWeights

WEAKEST_EDGE = 0.05  # smallest weight that has a curve, as a share of the largest
LONGEST_NAME = 26  # characters of a name that are shown
INNER = 0.72  # radius of the ring of landmarks; that of the labels is 1
GAP = 0.6  # between the labels of two landmarks, in places of a label
BEND = 0.45  # how far a curve leaves the middle between its ends, where 0 goes through the centre
# With a longer circumference names point away from the centre; on a short one they are level.
LONGEST_LEVEL = 22
# Points of a name for so many labels; smaller ones beyond. The figure grows with the labels.
SIZES, SMALLEST = ((40, 9.0), (120, 7.0)), 5.5
LETTER, LINE = 0.62, 1.3  # width of a letter and distance of lines, in sizes of a name
SMALLEST_RADIUS, TO_NAME = 2.0, 0.09  # inches: of the outer ring, and from it to a name
THINNEST, THICKEST, THICKEST_OF_MANY = 0.4, 5.0, 2.5
# How dark the curve is to a label of the landmark's own group, and to those of others.
OWN_GROUP, OTHER_GROUP = 0.6, 0.25
FOR, AGAINST, CHOSEN, OTHER = "C0", "C3", "C0", "0.45"
LEGEND = 0.6  # inches below, for the legend
POINTS = 72  # in an inch


@with_paragraphs
class LabelGraphDisplay(Display):
    """Graph of the landmarks (inside) and all labels (around them).

    A curve from a landmark to a label is a weight in the label's score; thicker curves are larger
    weights, and dashed ones count against the label. Labels are placed around the landmark that
    carries them most, nearer if it carries them more; names of landmarks are bold.

    Make one with `from_estimator`, or from the weights themselves.

    Parameters
    ----------
    weights : ndarray of shape (n_landmarks, n_labels)
        The weight of each landmark for each label, ``landmark_weights_`` of the model.
    landmark_names, label_names : sequence of str
        Names of rows and columns.
    edges_per_label : int, default=3
        At most this many curves end at one label, those with the largest weights.

    Attributes
    ----------
    edges : DataFrame
        Landmark, label and weight of every curve, the largest last, which is drawn on top.
    order, landmark_order : list of str
        The labels around the outer ring and the landmarks around the inner one, clockwise from
        the top.
    curves_ : matplotlib PathCollection
        The curves, in the order of `edges`.
    label_points_, landmark_points_ : matplotlib PathCollection
        The dots, in the order of `order` and `landmark_order`.
    names_ : dict of str to matplotlib Text
        The name of every label.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.plots import LabelGraphDisplay
    >>> weights = np.array([[0.9, 0.0, 0.5], [0.0, 0.8, -0.2]])
    >>> display = LabelGraphDisplay(weights, ["sea", "city"], ["sea", "city", "boat"]).plot()
    >>> display.edges
      landmark label  weight
    0     city  boat    -0.2
    1      sea  boat     0.5
    2     city  city     0.8
    3      sea   sea     0.9
    >>> display.order
    ['boat', 'sea', 'city']
    """

    def __init__(
        self,
        weights: np.ndarray,
        landmark_names: Sequence[str],
        label_names: Sequence[str],
        edges_per_label: int = 3,
    ) -> None:
        if edges_per_label < 1:
            raise ValueError(f"edges_per_label is {edges_per_label}; draw at least one.")
        self.weights = weights
        self.landmark_names = [str(name) for name in landmark_names]
        self.label_names = [str(name) for name in label_names]
        self.edges_per_label = edges_per_label
        self.edges = self._find_edges()
        self._places = self._arrange()
        self.order, self.landmark_order = list(self._places.labels), list(self._places.landmarks)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        label_names: Sequence[str] | None = None,
        max_labels: int = 300,
        edges_per_label: int = 3,
        ax: Any = None,
    ) -> LabelGraphDisplay:
        """Draw the landmarks of a fitted `SPLMLL` or `PublishedSPLMLL`.

        Parameters
        ----------
        {estimator_with_landmarks}
        {label_names}
        max_labels : int, default=300
            At most this many labels are shown: landmarks, then the labels that they recover with
            the largest weights.
        edges_per_label : int, default=3
            At most this many curves end at one label, those with the largest weights.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, which is larger for more labels.

        Returns
        -------
        display : LabelGraphDisplay
            The display, drawn.
        """
        found = LandmarkWeights.from_estimator(estimator, label_names)
        part = found.strongest(max_labels, max_labels)
        return cls(part.weights, part.landmarks, part.labels, edges_per_label).plot(ax=ax)

    # What is drawn -------------------------------------------------------------------------------

    def _find_edges(self) -> pd.DataFrame:
        sizes = np.abs(self.weights)
        strong = np.argsort(-sizes, axis=0, kind="stable")[: self.edges_per_label]
        columns = np.broadcast_to(np.arange(sizes.shape[1]), strong.shape)
        rows, columns = strong.ravel(), columns.ravel()
        kept = sizes[rows, columns] >= max(WEAKEST_EDGE * sizes.max(), np.finfo(float).tiny)
        rows, columns = rows[kept], columns[kept]
        order = np.argsort(sizes[rows, columns], kind="stable")
        rows, columns = rows[order], columns[order]
        return pd.DataFrame(
            {
                "landmark": np.asarray(self.landmark_names, dtype=object)[rows],
                "label": np.asarray(self.label_names, dtype=object)[columns],
                "weight": self.weights[rows, columns],
            }
        )

    def _home(self) -> np.ndarray:
        """Return the landmark that carries each label most, or -1 where there is none."""
        sizes = np.abs(self.weights)
        home = np.where(sizes.any(axis=0), sizes.argmax(axis=0), -1)
        for row, name in enumerate(self.landmark_names):
            if name in self.label_names:
                home[self.label_names.index(name)] = row
        return home

    def _arrange(self) -> _Places:
        sizes, home = np.abs(self.weights), self._home()
        place, labels, landmarks = 0.5, {}, {}
        for row in [*_side_by_side(sizes), -1]:
            group = np.flatnonzero(home == row)  # in the end those that no landmark carries
            own = [self.label_names[column] == self.landmark_names[row] for column in group]
            # The landmark, then what it carries, alternately on both sides of it.
            order = group[np.lexsort((-sizes[row, group], np.logical_not(own)))]
            around = [*order[1::2][::-1], *order[0::2]]
            if row >= 0:
                landmarks[self.landmark_names[row]] = place + (len(around) // 2)
            for column in around:
                labels[self.label_names[column]] = place
                place += 1.0
            place += GAP if len(group) else 0.0
        return _Places.on_rings(labels, landmarks, place - 0.5)

    # Drawing -------------------------------------------------------------------------------------

    @property
    def _name_size(self) -> float:
        n_labels = len(self.label_names)
        return next((size for most, size in SIZES if n_labels <= most), SMALLEST)

    def _extent(self) -> tuple[float, float, float]:
        """Return the radius of the outer ring, the room beside and that above it, in inches."""
        size = self._name_size / POINTS
        radius = max(SMALLEST_RADIUS, self._places.circumference * LINE * size / (2 * np.pi))
        longest = max(len(_shortened(name)) for name in self.label_names)
        beside = TO_NAME + LETTER * size * longest
        return radius, beside, 2 * LINE * size if self._level else beside

    @property
    def _level(self) -> bool:
        return self._places.circumference <= LONGEST_LEVEL

    def _size(self) -> tuple[float, float]:
        radius, beside, above = self._extent()
        return 2 * (radius + beside), 2 * (radius + above) + LEGEND

    def _draw(self, ax: Any) -> None:
        radius, beside, above = self._extent()
        self._draw_curves(ax)
        self._draw_nodes(ax)
        self.names_ = {
            name: self._write(ax, name, (1 + TO_NAME / radius) * point)
            for name, point in self._places.labels.items()
        }
        plain_text(*self.names_.values())
        width, height = 1 + beside / radius, 1 + above / radius
        bottom = -height - LEGEND / radius
        ax.set(xlim=(-width, width), ylim=(bottom, height), aspect="equal")
        ax.set_axis_off()
        self._explain(ax)

    def _draw_curves(self, ax: Any) -> None:
        from matplotlib.collections import PathCollection
        from matplotlib.colors import to_rgba
        from matplotlib.path import Path

        home = dict(zip(self.label_names, self._home()))
        row_of = {name: row for row, name in enumerate(self.landmark_names)}
        largest = np.abs(self.weights).max(initial=np.finfo(float).tiny)
        thickest = THICKEST if len(self.label_names) <= SIZES[0][0] else THICKEST_OF_MANY
        paths, colours = [], []
        for landmark, label, weight in self.edges.itertuples(index=False):
            start, end = self._places.landmarks[landmark], self._places.labels[label]
            together = home[label] == row_of[landmark]
            # Straight to its own group; to others near the centre, where there is room.
            bend = (start + end) / 2 * (1.0 if together else BEND)
            paths.append(Path([start, bend, end], [Path.MOVETO, Path.CURVE3, Path.CURVE3]))
            dark = OWN_GROUP if together else OTHER_GROUP
            colours.append(to_rgba(FOR if weight > 0 else AGAINST, dark))
        weights = self.edges["weight"].to_numpy()
        self.curves_ = PathCollection(
            paths,
            facecolors="none",
            edgecolors=colours,
            linestyles=["-" if weight > 0 else "--" for weight in weights],
            linewidths=THINNEST + (thickest - THINNEST) * np.abs(weights) / largest,
            zorder=1,
        )
        ax.add_collection(self.curves_)

    def _draw_nodes(self, ax: Any) -> None:
        chosen = np.array([name in self._places.landmarks for name in self._places.labels])
        points = np.array(list(self._places.labels.values()))
        area = self._name_size**2 / 3
        hubs = np.array(list(self._places.landmarks.values()))
        self.landmark_points_ = ax.scatter(*hubs.T, s=2 * area, color=CHOSEN, zorder=3)
        colours = np.where(chosen, CHOSEN, "white")
        edges = np.where(chosen, CHOSEN, OTHER)
        self.label_points_ = ax.scatter(
            *points.T, s=area, c=colours.tolist(), edgecolors=edges.tolist(), zorder=3
        )

    def _write(self, ax: Any, name: str, point: np.ndarray) -> Any:
        x, y = point
        on_the_left = x < 0
        angle = np.degrees(np.arctan2(y, x))
        return ax.text(
            x,
            y,
            _shortened(name),
            # Never upside down: names on the left end at their label.
            rotation=0 if self._level else angle - 180 * on_the_left,
            rotation_mode="anchor",
            ha="right" if on_the_left else "left",
            va="center",
            fontsize=self._name_size,
            fontweight="bold" if name in self._places.landmarks else "normal",
        )

    def _explain(self, ax: Any) -> None:
        from matplotlib.lines import Line2D

        dot: dict[str, Any] = {"linestyle": "none", "marker": "o"}
        handles = [
            Line2D([], [], color=CHOSEN, label="landmark", **dot),
            Line2D([], [], color=OTHER, markerfacecolor="white", label="other label", **dot),
            Line2D([], [], color=FOR, label="carries"),
        ]
        if (self.edges["weight"] < 0).any():
            handles.append(Line2D([], [], color=AGAINST, linestyle="--", label="speaks against"))
        ax.legend(
            handles=handles,
            loc="lower center",
            borderaxespad=0,
            ncols=2,
            frameon=False,
            fontsize=9,
        )


@dataclass(frozen=True, eq=False)
class _Places:
    """Where labels and landmarks stand; the circumference is measured in places of a label."""

    labels: dict[str, np.ndarray]
    landmarks: dict[str, np.ndarray]
    circumference: float

    @classmethod
    def on_rings(
        cls, labels: dict[str, float], landmarks: dict[str, float], circumference: float
    ) -> _Places:
        def point(place: float, radius: float) -> np.ndarray:
            angle = np.pi / 2 - 2 * np.pi * place / circumference  # clockwise from the top
            return radius * np.array([np.cos(angle), np.sin(angle)])

        return cls(
            {name: point(place, 1.0) for name, place in labels.items()},
            {name: point(place, INNER) for name, place in landmarks.items()},
            circumference,
        )


def _side_by_side(sizes: np.ndarray) -> list[int]:
    """Return the landmarks in an order in which neighbours carry similar labels."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(sizes) < 3:
        return list(range(len(sizes)))
    return [int(row) for row in leaves_list(linkage(sizes, "average", optimal_ordering=True))]


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
