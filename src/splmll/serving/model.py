"""One model of the service: a tagger that predicts, explains and recovers in batches.

The columns become features once for all requests of a batch; the answers are then split up.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from splmll.names import listed, suggestion
from splmll.serving.batching import Batcher
from splmll.serving.describe import example_row
from splmll.serving.errors import ServiceError
from splmll.serving.features import Features
from splmll.serving.limits import Limits
from splmll.serving.metrics import Metrics
from splmll.serving.rows import RowReader, Rows, shown
from splmll.tagging import Tagger
from splmll.tagging.scoring import score

PREDICT, EXPLAIN, RECOVER = KINDS = ("predict", "explain", "recover")


@dataclass(frozen=True, eq=False)
class Scored:
    """Labels of rows.

    Attributes
    ----------
    labels : ndarray of bool of shape (n_rows, n_labels)
        Those that the model predicts by its own rule.
    scores : ndarray of shape (n_rows, n_labels)
        From 0 to 1.
    fixed : ndarray of bool of shape (n_rows, n_labels), optional
        Labels that were given, and that no threshold changes.
    """

    labels: np.ndarray
    scores: np.ndarray
    fixed: np.ndarray | None = None

    def above(self, threshold: float | None) -> np.ndarray:
        """Return the labels with at least this score; None: those of the model's own rule."""
        if threshold is None:
            return self.labels
        above = self.scores >= threshold
        return above if self.fixed is None else np.where(self.fixed, self.labels, above)

    def part(self, rows: slice) -> Scored:
        """Return some rows."""
        fixed = None if self.fixed is None else self.fixed[rows]
        return Scored(self.labels[rows], self.scores[rows], fixed)


@dataclass(frozen=True, eq=False)
class Explained:
    """Labels of rows, and what each landmark contributed to their scores.

    Attributes
    ----------
    scored : Scored
        The labels.
    base : ndarray of shape (n_labels,)
        The score of a label before any landmark contributes.
    contributions : ndarray of shape (n_rows, n_landmarks, n_labels)
        With ``base`` they sum to ``totals``.
    totals : ndarray of shape (n_rows, n_labels)
        Scores as the method computes them, before they are mapped to the range 0 to 1.
    """

    scored: Scored
    base: np.ndarray
    contributions: np.ndarray
    totals: np.ndarray

    def part(self, rows: slice) -> Explained:
        """Return some rows."""
        return Explained(
            self.scored.part(rows), self.base, self.contributions[rows], self.totals[rows]
        )


class ServedModel:
    """A tagger that answers requests in batches.

    Parameters
    ----------
    name : str
        How the service calls it.
    tagger : Tagger
        The model.
    limits : Limits
        Bounds of the service.
    metrics : Metrics
        Told about every batch.
    """

    def __init__(self, name: str, tagger: Tagger, limits: Limits, metrics: Metrics) -> None:
        self.name, self.tagger, self.limits = name, tagger, limits
        self.reader = RowReader(tagger)
        self.features = Features(tagger, self.reader)
        self.label_names = list(tagger.label_names)
        self.landmark_names = tagger.landmark_names if tagger.has_landmarks else None
        # The batcher does not hold the model, or both would stay in memory until the garbage
        # collector comes by. Whoever waits for an answer does.
        itself = weakref.ref(self)

        def work(kind: str, payloads: Sequence[Any]) -> list[Any]:
            model = itself()
            return [] if model is None else model.work(kind, payloads)

        self.batcher = Batcher(
            work,
            requests=limits.batch,
            cost=limits.cells,
            wait=limits.batch_seconds,
            waiting=limits.waiting,
            observe=lambda requests, cost: metrics.batch(name, requests),
        )

    def landmarks(self) -> list[str]:
        """Return the names of the landmarks, or raise the error for a method that has none."""
        if self.landmark_names is None:
            raise ServiceError(
                409,
                "no_landmarks",
                f"The method {self.tagger.method} of the model {self.name!r} has no landmarks; "
                "use a model that was fitted with SPL-MLL.",
                {"model": self.name, "method": self.tagger.method},
            )
        return self.landmark_names

    def warm_up(self) -> None:
        """Make every kind of request once, so that errors appear before anyone waits."""
        self.examples()

    def examples(self) -> dict[str, tuple[list[Any], Any]]:
        """Return for each kind of question rows to ask with, and what the model finds."""
        asked = {PREDICT: [example_row(self.tagger)]}
        if self.landmark_names is not None:
            asked[EXPLAIN] = asked[PREDICT]
            asked[RECOVER] = [dict.fromkeys(self.landmark_names[:1], 1)]
        found = {}
        for kind, rows in asked.items():
            [answer] = self.work(kind, [self.read(kind, rows)])
            if not isinstance(answer, ServiceError):
                found[kind] = rows, answer
        return found

    # Reading ---------------------------------------------------------------

    def read(self, kind: str, rows: Sequence[Any]) -> Any:
        """Return rows of JSON values as :meth:`submit` takes them."""
        return self.answers(rows) if kind == RECOVER else self.reader.read(rows)

    def answers(self, rows: Sequence[Any]) -> np.ndarray:
        """Return what is known about the landmarks; NaN if nothing is.

        Parameters
        ----------
        rows : sequence of dict
            Landmark -> 0, 1, true, false or None; landmarks may be left out.

        Returns
        -------
        known : ndarray of shape (n_rows, n_landmarks)
        """
        landmarks = self.landmarks()
        place = {name: k for k, name in enumerate(landmarks)}
        known = np.full((len(rows), len(landmarks)), np.nan)
        for number, row in enumerate(rows):
            if type(row) is not dict:
                raise ServiceError(
                    422,
                    "invalid_row",
                    f"Row {number + 1} is {shown(row)}, not an object; give it as "
                    '{"landmark": 0 or 1, ...}.',
                    {"row": number + 1},
                )
            for name, value in row.items():
                if name not in place:
                    raise ServiceError(
                        422,
                        "unknown_landmark",
                        f"Row {number + 1} names {shown(name)}, which is not a "
                        f"landmark.{suggestion(name, landmarks)} The landmarks are "
                        f"{listed(landmarks)}.",
                        {"row": number + 1, "landmark": name},
                    )
                if value is None:
                    continue
                if type(value) not in (int, float, bool) or value not in (0, 1):
                    raise ServiceError(
                        422,
                        "invalid_value",
                        f"Row {number + 1}, landmark {name!r}: {shown(value)} is not an answer; "
                        "give 1 (it applies), 0 (it does not), or null if it is not known.",
                        {"row": number + 1, "landmark": name},
                    )
                known[number, place[name]] = value
        return known

    # Answering -------------------------------------------------------------

    async def submit(self, kind: str, payload: Any) -> Any:
        """Return the answer to one request, computed together with others that arrive.

        Parameters
        ----------
        kind : {"predict", "explain", "recover"}
            What is asked.
        payload : Rows or ndarray
            What :meth:`read` returned.

        Returns
        -------
        answer : Scored or Explained
        """
        each = len(self.label_names)
        if kind == EXPLAIN:
            each *= max(1, len(self.landmarks()))
        if len(payload) * each > self.limits.cells:
            raise ServiceError(
                413,
                "answer_too_large",
                f"The answer for {len(payload)} rows would have {len(payload) * each:,} numbers; "
                f"send at most {max(1, self.limits.cells // each)} rows at a time.",
                {"rows": len(payload), "most_rows": max(1, self.limits.cells // each)},
            )
        return await self.batcher.submit(kind, payload, len(payload) * each)

    def work(self, kind: str, payloads: Sequence[Any]) -> list[Any]:
        """Answer requests of one kind together; an error takes the place of its answer."""
        ends = np.cumsum([len(payload) for payload in payloads])
        # Numbers that overflow are found in the scores.
        with np.errstate(all="ignore"):
            if kind == RECOVER:
                whole: Any = self._recover(np.concatenate(payloads))
            elif kind == EXPLAIN:
                whole = self._explain(Rows.joined(payloads))
            else:
                whole = self._predict(Rows.joined(payloads))
        starts = [0, *ends[:-1]]
        return [self._checked(whole.part(slice(a, b))) for a, b in zip(starts, ends)]

    def _predict(self, rows: Rows) -> Scored:
        found = score(self.tagger.pipeline[-1], self.features(rows))
        return Scored(found.labels != 0, found.probabilities)

    def _explain(self, rows: Rows) -> Explained:
        method = self.tagger.pipeline[-1]
        found = score(method, self.features(rows))
        contributions = method.learned_.contributions(found.landmarks)
        return Explained(
            scored=Scored(found.labels != 0, found.probabilities),
            base=method.intercept_,
            contributions=contributions,
            totals=contributions.sum(axis=1) + method.intercept_,
        )

    def _recover(self, known: np.ndarray) -> Scored:
        landmarks = self.landmarks()
        answers = pd.DataFrame(known, columns=landmarks)
        labels = self.tagger.recover(answers).to_numpy() != 0
        # On the scale of predictions: what counts by its own rule has a score of 0.5 or more.
        scores = self.tagger.recover_scores(answers).to_numpy()
        position = {name: k for k, name in enumerate(self.label_names)}
        fixed = np.zeros(labels.shape, dtype=bool)
        fixed[:, [position[name] for name in landmarks]] = ~np.isnan(known)
        return Scored(labels, scores, fixed)

    def _checked(self, answer: Any) -> Any:
        """Return an answer, or an error where a number has overflowed on the way to it."""
        parts = (
            [answer.scores]
            if isinstance(answer, Scored)
            else [answer.scored.scores, answer.contributions, answer.totals]
        )
        if all(np.isfinite(part).all() for part in parts):
            return answer
        rows = np.flatnonzero(
            ~np.all([np.isfinite(p).all(axis=tuple(range(1, p.ndim))) for p in parts], axis=0)
        )
        return ServiceError(
            422,
            "value_too_large",
            f"Row {rows[0] + 1} contains numbers too large for the model; give values in the "
            "range it learned from.",
            {"row": int(rows[0]) + 1},
        )
