"""All labels from features and answers: the model that ``complete`` and ``ask`` use.

Scores become probabilities, answers change them, and they become scores again. Whatever is chosen,
from thresholds to the way questions are picked, is chosen on training rows that models had not
seen, by asking about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from splmll.arrays import dense
from splmll.landmarks.asking import CRITERIA, MOST_CANDIDATES, best_questions
from splmll.landmarks.belief import MOST_LABELS, RESIDUAL_CELLS, Belief, LabelCorrelations
from splmll.landmarks.calibration_curve import CalibrationCurve
from splmll.thresholds import (
    MIN_ROWS,
    GlobalThreshold,
    PerLabelThreshold,
    Threshold,
    fit_threshold,
)

COUNTS = (1, 2, 4, 8, 12)  # numbers of answers that have a threshold of their own
STRENGTHS = (1.0, 0.7, 0.4, 0.0)  # of the correlations; 0: answers tell nothing of other labels
TRIED_ROWS = 300  # rows that are asked about to choose all this ...
TRIED_CELLS = 2**17  # ... or fewer, with so many labels
BLOCK_CELLS = 2**21  # numbers that are worked on together
# Beyond so many labels nothing can be tried in the memory at hand: answers speak for themselves.
TRIED_LABELS = 5000

_Asked = tuple[np.ndarray, np.ndarray]  # scores after answers, and which labels are open


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """What a fit keeps for rows of which some labels are known.

    Attributes
    ----------
    curve : CalibrationCurve
        From scores to probabilities.
    correlations : LabelCorrelations
        What labels tell of each other beside the features.
    counts : ndarray of int
        Numbers of answers, rising from 0.
    thresholds : list of Threshold or None
        From scores to labels, for so many answers or more. None: the open labels are left as
        predicted, since answers gained nothing for them.
    criterion : str
        What questions are chosen by, one of :data:`splmll.landmarks.asking.CRITERIA`.
    slope : float
        Slope of the logistic curve from scores to the scale of ``predict_proba``.
    """

    curve: CalibrationCurve
    correlations: LabelCorrelations
    counts: np.ndarray
    thresholds: list[Threshold | None]
    criterion: str
    slope: float

    @classmethod
    def unlearned(cls, threshold: Threshold, slope: float, n_labels: int) -> AnswerModel:
        """Return the model by which answers stand for themselves and change nothing else."""
        return cls(
            CalibrationCurve.straight(slope, threshold.offset, n_labels),
            LabelCorrelations.none(n_labels),
            np.zeros(1, dtype=np.intp),
            [threshold],
            CRITERIA[1],
            slope,
        )

    @classmethod
    def learned(
        cls,
        scores: np.ndarray,
        Y: Any,
        fold: np.ndarray,
        landmarks: np.ndarray,
        rule: str | float,
        threshold: Threshold,
        slope: float,
    ) -> AnswerModel:
        """Learn from out-of-fold scores.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_labels)
            Scores of rows by models that had not seen them.
        Y : ndarray or CSR array of shape (n_rows, n_labels)
            Labels; NaN where unknown.
        fold : ndarray of int
            Fold of these rows.
        landmarks : ndarray of int
            Column of each landmark, the order in which people may answer for them.
        rule : str or float
            The threshold rule.
        threshold : Threshold
            The rule as fitted to the scores, where nothing is answered.
        slope : float
            Of the curve from scores to the scale of ``predict_proba``.
        """
        rows = _some(len(scores), RESIDUAL_CELLS // scores.shape[1])
        scores, Y, fold = scores[rows], dense(Y[rows]), fold[rows]
        plain = cls.unlearned(threshold, slope, scores.shape[1])
        curve = CalibrationCurve.learned(scores, Y) if len(scores) >= MIN_ROWS else None
        if curve is None:
            return plain
        P = curve.probabilities(scores)
        labels = _most_varying(Y)
        if len(labels) < 2 or Y.shape[1] > TRIED_LABELS:
            return cls(curve, plain.correlations, plain.counts, [threshold], CRITERIA[1], slope)
        trial = _Trial.of_folds(scores, P, Y, fold, labels)
        correlations = LabelCorrelations.learned(P, Y, labels)
        if trial is None:
            return cls(curve, correlations, plain.counts, [threshold], CRITERIA[0], slope)
        untuned = cls(curve, correlations, plain.counts, [threshold], CRITERIA[0], slope)
        return trial.chosen(untuned, landmarks, rule)

    # Completing ---------------------------------------------------------------------------------

    def complete(self, scores: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all labels, and how likely they are on the scale of ``predict_proba``.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_labels)
            Scores of the model.
        answers : ndarray of shape (n_rows, n_labels)
            0 or 1; NaN where nobody was asked.

        Returns
        -------
        labels : ndarray of shape (n_rows, n_labels)
            Answers are never changed.
        values : ndarray of shape (n_rows, n_labels)
            Open labels are predicted from 1/2 on, where one threshold decides.
        """
        labels, values = np.empty(scores.shape, dtype=np.uint8), np.empty(scores.shape)
        for rows in _blocks(scores, per_row=8):
            belief = self.belief(scores[rows], answers[rows])
            labels[rows], values[rows] = self.decide(scores[rows], belief)
        return labels, values

    def probabilities(self, scores: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return how likely every label is, with all that was answered; 0 or 1 if it was."""
        found = np.empty(scores.shape)
        for rows in _blocks(scores, per_row=8):
            found[rows] = self.belief(scores[rows], answers[rows]).probabilities()
        return found

    def belief(self, scores: np.ndarray, answers: np.ndarray | None = None) -> Belief:
        """Return what is believed of rows after answers."""
        belief = Belief(self.curve.probabilities(scores), self.correlations)
        if answers is not None:
            belief.take_in(answers)
        return belief

    def moved(self, scores: np.ndarray, belief: Belief) -> np.ndarray:
        """Return the scores after answers; what was answered stands at either end of its row."""
        p = np.where(belief.open, belief.probabilities(), belief.P)
        moved = self.curve.moved(scores, belief.P, p)
        ends = np.minimum(moved.min(axis=1), 0.0), np.maximum(moved.max(axis=1), 1.0)
        answered = np.where(belief.answered == 1, ends[1][:, None], ends[0][:, None])
        return np.where(belief.open, moved, answered)

    def decide(self, scores: np.ndarray, belief: Belief) -> tuple[np.ndarray, np.ndarray]:
        """Return labels of rows, and how likely they are; see :meth:`complete`."""
        labels, values = np.empty(scores.shape, dtype=np.uint8), np.empty(scores.shape)
        moved, level = self.moved(scores, belief), self._level(belief)
        for number in np.unique(level):
            rows = level == number
            threshold, decided = self.thresholds[number], moved[rows]
            if threshold is None:
                threshold, decided = self.thresholds[0], scores[rows]
            assert threshold is not None
            labels[rows] = threshold.apply(decided)
            zero = np.nextafter(threshold.offset, -np.inf)
            values[rows] = expit(self.slope * (decided - zero))
        answers = belief.answered
        labels = np.where(belief.open, labels, np.nan_to_num(answers)).astype(np.uint8)
        return labels, np.where(belief.open, values, np.nan_to_num(answers))

    def _level(self, belief: Belief) -> np.ndarray:
        """Which threshold holds for each row."""
        n_answers = np.count_nonzero(~belief.open, axis=1)
        return np.searchsorted(self.counts, n_answers, side="right") - 1

    # Asking -------------------------------------------------------------------------------------

    def ask(
        self, scores: np.ndarray, answers: np.ndarray, n: int, enough: float | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which labels to ask about, -1 for none, and the errors that are to be expected.

        Parameters
        ----------
        scores, answers : ndarray of shape (n_rows, n_labels)
            Scores of the model, and what was answered; NaN where nobody was asked.
        n : int
            Questions per row. Each takes the likelier answer to those before it for given.
        enough : float or None
            Nothing is asked about rows that are expected to have fewer errors.
        """
        questions = np.full((len(scores), n), -1, dtype=np.intp)
        errors = np.empty(len(scores))
        for rows in _blocks(scores, per_row=MOST_CANDIDATES):
            belief = self.belief(scores[rows], answers[rows])
            errors[rows] = self.expected_errors(scores[rows], belief)
            questions[rows] = self.next_questions(belief, n)
        if enough is not None:
            questions[errors < enough] = -1
        return questions, errors

    def next_questions(self, belief: Belief, n: int = 1) -> np.ndarray:
        """Return the next questions, (n_rows, n); the belief takes in the likelier answers."""
        found = np.full((len(belief.P), n), -1, dtype=np.intp)
        for k in range(n):
            found[:, k] = best_questions(belief, self._cuts(belief), self.criterion)
            rows = np.flatnonzero(found[:, k] >= 0)
            if k + 1 < n and len(rows):
                likely = belief.probabilities()[rows, found[rows, k]] >= 0.5
                belief.tell(rows, found[rows, k], likely * 1.0)
        return found

    def expected_errors(self, scores: np.ndarray, belief: Belief) -> np.ndarray:
        """Return how many labels of each row are expected to be wrong as things stand."""
        labels, _ = self.decide(scores, belief)
        P = belief.probabilities()
        return np.where(belief.open, np.where(labels == 1, 1 - P, P), 0.0).sum(axis=1)

    def _cuts(self, belief: Belief) -> np.ndarray:
        """From which probability on labels are predicted, row by row."""
        found = [_cut(self.curve, each or self.thresholds[0]) for each in self.thresholds]
        return np.asarray(found)[self._level(belief)]


@dataclass(frozen=True, eq=False)
class _Trial:
    """Rows with known labels that are asked about, to choose what asks best.

    They come from one fold or more, each with the correlations of all other folds: those that a
    row has helped to estimate would flatter it.
    """

    scores: np.ndarray
    Y: np.ndarray
    groups: list[tuple[slice, LabelCorrelations]]

    @classmethod
    def of_folds(
        cls, scores: np.ndarray, P: np.ndarray, Y: np.ndarray, fold: np.ndarray, labels: np.ndarray
    ) -> _Trial | None:
        """Take rows of one fold after the other until they are enough; None if they never are."""
        most = max(MIN_ROWS, min(TRIED_ROWS, TRIED_CELLS // Y.shape[1]))
        complete = ~np.isnan(Y).any(axis=1)
        taken: list[np.ndarray] = []
        groups, n_taken = [], 0
        for k in np.unique(fold):
            rows = np.flatnonzero((fold == k) & complete)
            rows = rows[_some(len(rows), most - n_taken)]
            others = fold != k
            if len(rows) == 0 or not others.any():
                continue
            correlations = LabelCorrelations.learned(P[others], Y[others], labels)
            groups.append((slice(n_taken, n_taken + len(rows)), correlations))
            taken.append(rows)
            n_taken += len(rows)
            if n_taken >= most:
                break
        if n_taken < MIN_ROWS:
            return None
        rows = np.concatenate(taken)
        return cls(scores[rows], Y[rows], groups)

    def chosen(self, model: AnswerModel, landmarks: np.ndarray, rule: str | float) -> AnswerModel:
        """Return the model with the strength, thresholds and criterion that do best."""
        strength = self._best_strength(model.curve)
        trial = replace(
            self, groups=[(rows, each.weakened(strength)) for rows, each in self.groups]
        )
        by_landmarks = trial._asked(model, landmarks)
        best = None
        for criterion in CRITERIA:
            asked = trial._asked(replace(model, criterion=criterion), None)
            thresholds = [
                trial._tuned(
                    rule, model, [by_landmarks[count], each] if count in by_landmarks else [each]
                )
                for count, each in asked.items()
            ]
            value = np.mean(
                [
                    trial._micro_f1(model, t, each)
                    for t, each in zip(thresholds, asked.values(), strict=True)
                ]
            )
            if best is None or value > best[0]:
                best = value, np.array([0, *asked], dtype=np.intp), thresholds, criterion
        assert best is not None
        _, counts, thresholds, criterion = best
        correlations = model.correlations.weakened(strength)
        if strength == 0:
            correlations = LabelCorrelations.none(model.correlations.n_labels)
        return AnswerModel(
            model.curve,
            correlations,
            counts,
            [*model.thresholds, *thresholds],
            criterion,
            model.slope,
        )

    def _best_strength(self, curve: CalibrationCurve) -> float:
        """Return how strong correlations predict open labels best, by the log-likelihood."""
        likelihood = np.zeros(len(STRENGTHS))
        for rows, correlations in self.groups:
            P, Y = curve.probabilities(self.scores[rows]), self.Y[rows]
            order = np.argsort(-P * (1 - P), axis=1, kind="stable")
            every = np.arange(len(P))
            for number, strength in enumerate(STRENGTHS):
                belief = Belief(P, correlations.weakened(strength))
                for k in range(min(max(COUNTS), P.shape[1] - 1)):
                    belief.tell(every, order[:, k], Y[every, order[:, k]])
                    if k + 1 in COUNTS:
                        p = belief.probabilities()
                        right = np.where(Y == 1, p, 1 - p)
                        likelihood[number] += float(np.log(right[belief.open]).sum())
        return STRENGTHS[int(np.argmax(likelihood))]

    def _asked(self, model: AnswerModel, order: np.ndarray | None) -> dict[int, _Asked]:
        """Ask in a given order or as the model wants; return what came of it by count."""
        most = min(max(COUNTS), self.Y.shape[1] - 1 if order is None else len(order))
        found: dict[int, list[_Asked]] = {count: [] for count in COUNTS if count <= most}
        for rows, correlations in self.groups:
            scores, Y = self.scores[rows], self.Y[rows]
            own = replace(model, correlations=correlations)
            belief, every = own.belief(scores), np.arange(len(Y))
            for k in range(most):
                if order is None:
                    labels = own.next_questions(belief)[:, 0]
                else:
                    labels = np.full(len(Y), order[k])
                belief.tell(every, labels, Y[every, labels])
                if k + 1 in found:
                    found[k + 1].append((own.moved(scores, belief), belief.open.copy()))
        return {
            count: (np.vstack([a for a, _ in each]), np.vstack([b for _, b in each]))
            for count, each in found.items()
        }

    def _tuned(
        self, rule: str | float, model: AnswerModel, asked: list[_Asked]
    ) -> Threshold | None:
        """Return the threshold for these answers; None where labels had better stay as predicted.

        What was answered counts as right.
        """
        if not isinstance(rule, str):
            return model.thresholds[0]
        scores, Y = np.vstack([moved for moved, _ in asked]), np.vstack([self.Y] * len(asked))
        tuned = fit_threshold(rule, Y, scores)
        gained = [
            self._micro_f1(model, tuned, each) - self._micro_f1(model, None, each) for each in asked
        ]
        return tuned if np.mean(gained) >= 0 else None

    def _micro_f1(self, model: AnswerModel, threshold: Threshold | None, asked: _Asked) -> float:
        moved, open_ = asked
        plain = model.thresholds[0]
        assert plain is not None
        found = plain.apply(self.scores) if threshold is None else threshold.apply(moved)
        found = np.where(open_, found, self.Y)
        hits = float((found * self.Y).sum())
        return 2 * hits / max(float(found.sum() + self.Y.sum()), 1.0)


def _cut(curve: CalibrationCurve, threshold: Threshold | None) -> float:
    """Return from which probability on labels are predicted, about."""
    if isinstance(threshold, (GlobalThreshold, PerLabelThreshold)):
        return float(np.clip(curve.probability_at(threshold.offset), 0.05, 0.95))
    return 0.5


def _most_varying(Y: np.ndarray) -> np.ndarray:
    """Return the labels that vary, or those that vary most where they are very many."""
    with np.errstate(invalid="ignore"):
        mean = np.nansum(Y, axis=0) / np.maximum((~np.isnan(Y)).sum(axis=0), 1)
    variance = mean - mean**2
    order = np.argsort(-variance, kind="stable")[:MOST_LABELS]
    return np.sort(order[variance[order] > 0])


def _some(n_rows: int, most: int) -> np.ndarray:
    """Return the numbers of all rows, or of some of them."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:most])


def _blocks(scores: np.ndarray, per_row: int) -> Iterator[slice]:
    step = max(1, BLOCK_CELLS // (per_row * scores.shape[1]))
    return (slice(start, start + step) for start in range(0, len(scores), step))
