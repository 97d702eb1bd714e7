"""From out-of-fold predictions to landmarks: how soft, how strong a pull, which labels, how many.

Everything is chosen on predictions of rows that f did not see. "Each label keeps its own
prediction" is always among the choices, so that recovery does not hurt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from splmll.landmarks.judging import Judge
from splmll.landmarks.recovery import CrossFittedRecovery, Map, logarithm, softened
from splmll.landmarks.selection import honest_problem, select
from splmll.statistics import Statistics, fold_statistics, sum_of
from splmll.subset_search import SubsetProblem, addition_order
from splmll.thresholds import MIN_ROWS

PULLS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, np.inf)
SHAPES = tuple(  # softness and lean; those that lean are steeper
    {"softness": softness, "lean": lean}
    for softness, lean in (
        *((1.0, 0.0), (0.7, 0.0), (0.5, 0.0), (0.35, 0.0)),
        *((1.0, 1.0), (1.4, 1.0), (2.0, 2.0)),
    )
)
TAILS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Setting:
    """How predictions are mixed.

    Parameters
    ----------
    softness : float, default=1.0
        How predictions are flattened before; see :func:`splmll.landmarks.recovery.softened`.
    lean : float, default=0.0
        How far they are shifted before that.
    pull : float, default=0.3
        The pull of the recovery towards "a landmark keeps its own prediction".
    tail : float, default=0.0
        Weight with which the logarithm of a landmark's own prediction is added to its score: it
        orders the many labels that are unlikely, where a sum over all landmarks is mostly noise,
        and leaves the likely ones nearly as they are.
    as_it_is : bool, default=False
        Nothing is mixed: every label keeps its own prediction.
    """

    softness: float = 1.0
    lean: float = 0.0
    pull: float = 0.3
    tail: float = 0.0
    as_it_is: bool = False

    @property
    def shape(self) -> tuple[float, float]:
        """Softness and lean."""
        return self.softness, self.lean


AS_IT_IS = Setting(pull=np.inf, as_it_is=True)

# Fewer landmarks must spare a quarter of the models, and three: two of six are not worth a risk.
WORTH_WHILE = 0.75
LEAST_SPARED = 3

# A number of landmarks that is behind the best by so much: fewer need not be tried.
HOPELESS = 0.05

# Up to so many rows, landmarks that are judged on a fold are chosen without it. Chosen with it,
# they look better there than on new rows; with more rows the difference vanishes.
FEW_ROWS = 5000

SCORE_DIGITS = 12  # of scores, which lie around 0 and 1

Measured = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What landmarks are learned from.

    Parameters
    ----------
    candidates : ndarray of int
        The label of every output of f.
    F : ndarray of shape (n_rows, n_outputs)
        Out-of-fold predictions of the rows that choices are judged on: all rows or a sample.
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        Labels of these rows; NaN where unknown.
    fold : ndarray of int
        Fold number of these rows.
    varying : ndarray of bool
        Labels that are not constant.
    sums : callable
        ``sums(softness, lean)`` returns the sums of softened predictions with all labels, fold by
        fold, over all rows.
    may_soften : bool
        Whether predictions are probabilities and all rows are at hand.
    seed : int
        Seed of whatever is sampled.
    """

    candidates: np.ndarray
    F: np.ndarray
    Y: Any
    fold: np.ndarray
    varying: np.ndarray
    sums: Callable[[float, float], Sequence[Statistics]]
    may_soften: bool
    seed: int

    @classmethod
    def of_rows(
        cls,
        F: np.ndarray,
        Y: Any,
        fold: np.ndarray,
        candidates: np.ndarray,
        varying: np.ndarray,
        judged: Any,
        seed: int,
        weights: np.ndarray | None = None,
    ) -> Evidence:
        """Return the evidence of rows in memory, ``judged`` those that choices are judged on.

        Sums take weights of rows; judged are rows as often as their weights say.
        """

        def sums(softness: float, lean: float) -> list[Statistics]:
            return fold_statistics(
                softened(F, softness, lean),
                Y,
                fold,
                center_features=False,
                label_pairs=False,
                weights=weights,
            )

        bounded = bool(F.min(initial=0.5) >= 0 and F.max(initial=0.5) <= 1)
        return cls(candidates, F[judged], Y[judged], fold[judged], varying, sums, bounded, seed)


@dataclass(frozen=True, eq=False)
class Landmarks:
    """What was learned: the landmarks and how all labels are recovered from them.

    Attributes
    ----------
    outputs : ndarray of int
        The outputs of f that are landmarks, those that explain most first.
    labels : ndarray of int
        Their labels.
    setting : Setting
        How their predictions are mixed.
    map : Map
        From softened predictions to scores.
    explained : ndarray of shape (n_landmarks,)
        Share of the variance of all labels that each landmark adds to those before it.
    predictability : ndarray of shape (n_labels,)
        Share of each label's variance that its own prediction explains; NaN where none was made.
    path : DataFrame
        What each number of landmarks achieves out of fold.
    measures : DataFrame
        Out-of-fold measures of f alone and of the model.
    """

    outputs: np.ndarray
    labels: np.ndarray
    setting: Setting
    map: Map
    explained: np.ndarray
    predictability: np.ndarray
    path: pd.DataFrame
    measures: pd.DataFrame

    def scores(self, F: np.ndarray) -> np.ndarray:
        """Return the scores of all labels for predictions of the landmarks.

        Sums in another order differ in the last digit. Rounded, what is equal stays equal, so that
        probabilities, in which such digits vanish, have the ranks of decisions.
        """
        return np.round(mixed(self.map, F, self.labels, self.setting), SCORE_DIGITS)

    def contributions(self, F: np.ndarray) -> np.ndarray:
        """Return what each landmark adds to each label: (n_rows, n_landmarks, n_labels).

        With ``map.intercept`` they sum to the scores.
        """
        parts = softened(F, *self.setting.shape)[:, :, None] * self.map.recovery[None]
        if self.setting.tail:
            place = np.arange(len(self.labels))
            parts[:, place, self.labels] += self.setting.tail * logarithm(F)
        return parts

    @classmethod
    def unmixed(cls, labels: np.ndarray, mean: np.ndarray) -> Landmarks:
        """Return the model in which these labels keep their own predictions."""
        nothing = pd.DataFrame()
        return cls(
            outputs=np.arange(len(labels)),
            labels=labels,
            setting=AS_IT_IS,
            map=Map.identity(labels, mean),
            explained=np.zeros(len(labels)),
            predictability=np.full(len(mean), np.nan),
            path=nothing,
            measures=nothing,
        )


class Learner:
    """Chooses on evidence.

    Parameters
    ----------
    evidence : Evidence
        Out-of-fold predictions and labels.
    pull : float or "auto"
        The pull of the recovery.
    scoring : str
        The measure that choices are judged by.
    threshold : str or float
        The rule by which scores become labels in measures that need them.
    """

    def __init__(
        self, evidence: Evidence, pull: float | str, scoring: str, threshold: str | float
    ) -> None:
        self.evidence, self.pull = evidence, pull
        self.judge = Judge(evidence.Y, scoring, threshold, evidence.seed)
        self.allowed = evidence.varying[evidence.candidates]
        self._judged_fold = evidence.fold[self.judge.rows]
        self._judged_F = evidence.F[self.judge.rows]
        self._sums: dict[tuple[float, float], Sequence[Statistics]] = {}
        self._measured: dict[tuple[int, bytes, Setting], Measured] = {}

    def learn(self, n_landmarks: int | None) -> tuple[Landmarks, np.ndarray]:
        """Return what was learned, and the out-of-fold scores of the rows of the evidence.

        Parameters
        ----------
        n_landmarks : int or None
            Their number; None for the smallest that loses nothing.
        """
        every = np.flatnonzero(self.allowed)
        budget = None if n_landmarks is None else min(n_landmarks, len(every))
        if len(every) == 0 or len(self.evidence.F) < MIN_ROWS:
            # Too little to choose on: all keep their own predictions, unless there is a budget.
            setting = Setting() if self.pull == "auto" else Setting(pull=float(self.pull))
            if budget is not None and budget < len(every):
                return self._described(select(self._problem(AS_IT_IS), budget), setting, [])
            return self._described(every, AS_IT_IS if self.pull == "auto" else setting, [])
        setting = self._best_setting(every)
        if budget is None:
            return self._smallest_that_loses_nothing(every, setting)
        if budget == len(every):
            return self._described(every, setting, [self._step(every, setting)])
        problem = self._problem(setting)
        order, _ = addition_order(problem, budget)
        judged = self._judged_order(order, setting)
        chosen = select(problem, budget, order)
        tested = _tested(judged, chosen)
        setting = self._nearby(tested, setting)
        return self._described(chosen, setting, [self._step(tested, setting)], tested)

    def given(self, chosen: np.ndarray) -> tuple[Landmarks, np.ndarray]:
        """Learn the recovery of landmarks that were chosen elsewhere, for comparisons.

        Parameters
        ----------
        chosen : ndarray of int
            The outputs of f that are landmarks.
        """
        setting = self._nearby(chosen, Setting(pull=1.0))
        return self._described(chosen, setting, [self._step(chosen, setting)])

    def path(self, counts: Sequence[int]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for every number of landmarks their labels and their out-of-fold scores."""
        every = np.flatnonzero(self.allowed)
        whole = self._best_setting(every)
        problem = self._problem(whole)
        order, _ = addition_order(problem, max(counts))
        judged = self._judged_order(order, whole)
        found = []
        for count in counts:
            chosen, tested, setting = every, every, whole
            if count < len(every):
                chosen = select(problem, count, order)
                tested = _tested(judged, chosen)
                setting = self._nearby(tested, whole)
            scores = self._scores(tested, setting, self.evidence.F, self.evidence.fold)
            found.append((self.evidence.candidates[chosen], scores))
        return found

    # Choices ------------------------------------------------------------------------------------

    def _best_setting(self, chosen: np.ndarray) -> Setting:
        """Choose how every label is mixed from all; f alone must not be better.

        One thing is varied at a time, shape and pull twice: they go together. A change must gain
        more than a standard error: small data would choose by chance.
        """
        best = Setting() if self.pull == "auto" else Setting(pull=float(self.pull))
        shapes, tails = (SHAPES, TAILS) if self.evidence.may_soften else ((), ())
        pulls = PULLS if self.pull == "auto" else ()
        choices: dict[str, list[dict[str, Any]]] = {
            "shape": [dict(shape) for shape in shapes],
            "pull": [{"pull": pull} for pull in pulls],
            "tail": [{"tail": tail} for tail in tails],
        }
        tried = [best]
        for name in ("shape", "pull", "tail", "pull", "shape"):
            others = [replace(best, **change) for change in choices[name]]
            tried += [each for each in others if each not in tried]
            other = max(others, key=lambda each: self._value(chosen, each), default=best)
            decisive = [self._measure(chosen, each, self.judge.names[:1]) for each in (other, best)]
            if self.judge.is_better(*decisive):
                best = other
        if self.pull != "auto":
            return best
        tried.sort(key=lambda each: -self._value(chosen, each))
        for each in (best, *tried):
            if not self.judge.hurts(self._measure(chosen, each), self.alone):
                return each
        return AS_IT_IS

    def _nearby(self, chosen: np.ndarray, setting: Setting) -> Setting:
        """Choose the mixing for fewer landmarks.

        They have to carry more, so a weaker pull is tried; and a tail that only they have may set
        them apart from labels that are no landmarks.
        """
        best = replace(setting, as_it_is=False)
        if setting.tail:
            without = replace(best, tail=0.0)
            best = max(best, without, key=lambda each: self._value(chosen, each))
        if self.pull != "auto":
            return best
        finite = [pull for pull in PULLS if np.isfinite(pull)]
        place = finite.index(best.pull) if best.pull in finite else len(finite) - 1
        best = replace(best, pull=finite[place])
        for pull in finite[:place][::-1]:
            other = replace(best, pull=pull)
            if self._value(chosen, other) <= self._value(chosen, best):
                break
            best = other
        return best

    def _smallest_that_loses_nothing(
        self, every: np.ndarray, whole: Setting
    ) -> tuple[Landmarks, np.ndarray]:
        """Follow the path downwards and take the smallest number that is as good as the best."""
        problem = self._problem(whole)
        order, _ = addition_order(problem, len(every))
        judged = self._judged_order(order, whole)
        setting, best = whole, self._measure(every, whole)
        steps = [self._step(every, whole)]
        for count in reversed(counts_up_to(len(every))[:-1]):
            setting = self._nearby(judged[..., :count], setting)
            steps.append(self._step(judged[..., :count], setting))
            measured = steps[-1][2]
            if self.judge.value(measured) > self.judge.value(best):
                best = measured
            elif self.judge.value(best) - self.judge.value(measured) > HOPELESS:
                break  # fewer will not do either
        enough = [
            (count, setting.pull, setting)
            for count, setting, measured in steps
            if count <= min(WORTH_WHILE * len(every), len(every) - LEAST_SPARED)
            and not self.judge.is_worse(measured, best)
            and not self.judge.loses(measured, self._measure(every, whole))
            and not self.judge.hurts(measured, self.alone)
        ]
        count, _, setting = min(enough, key=lambda each: each[0], default=(len(every), 0, whole))
        if count == len(every):
            return self._described(every, setting, steps[::-1])
        chosen = select(problem, count, order)
        return self._described(chosen, setting, steps[::-1], _tested(judged, chosen))

    def _judged_order(self, order: np.ndarray, setting: Setting) -> np.ndarray:
        """Return the order in which landmarks are added for judging, of few rows fold by fold.

        Parameters
        ----------
        order : ndarray of int
            The order that all rows give.
        setting : Setting
            How predictions are mixed.

        Returns
        -------
        order : ndarray of shape (n_landmarks,) or (n_folds, n_landmarks)
            The same, or for every fold the order that all others give.
        """
        parts = self._parts(setting)
        total = sum_of(parts)
        if total.n_rows > FEW_ROWS:
            return order
        problems = [honest_problem(total - part, self.allowed) for part in parts]
        return np.array([addition_order(problem, len(order))[0] for problem in problems])

    # Pieces -------------------------------------------------------------------------------------

    @cached_property
    def alone(self) -> Measured:
        """Measures of f alone, every label with its own prediction as it is."""
        return self.judge.measure(self.as_they_are(self._judged_F))

    def as_they_are(self, F: np.ndarray) -> np.ndarray:
        """Return the scores of f alone, every label with its own prediction."""
        varying = self.evidence.candidates[self.allowed]
        return Map.identity(varying, self._label_mean)(F[:, self.allowed])

    @cached_property
    def _label_mean(self) -> np.ndarray:
        return sum_of(self._parts(AS_IT_IS)).label_mean

    def _parts(self, setting: Setting) -> Sequence[Statistics]:
        if setting.shape not in self._sums:
            # Each is large: one at a time.
            self._sums = {setting.shape: self.evidence.sums(*setting.shape)}
        return self._sums[setting.shape]

    def _problem(self, setting: Setting) -> SubsetProblem:
        return honest_problem(sum_of(self._parts(setting)), self.allowed)

    def _recovery(self, chosen: np.ndarray, setting: Setting) -> CrossFittedRecovery:
        parts = self._parts(setting)
        if not np.array_equal(chosen, np.arange(len(self.evidence.candidates))):
            parts = [part.of_features(chosen) for part in parts]
        return CrossFittedRecovery(parts, self.evidence.candidates[chosen], self.evidence.varying)

    def _scores(
        self, chosen: np.ndarray, setting: Setting, F: np.ndarray, fold: np.ndarray
    ) -> np.ndarray:
        """Out-of-fold scores of rows, from the predictions of the chosen landmarks.

        Landmarks chosen fold by fold are the rows of a matrix; see :meth:`_judged_order`.
        """
        if setting.as_it_is:
            return self.as_they_are(F)
        result = np.empty((len(F), len(self.evidence.varying)))
        recovery = self._recovery(chosen, setting) if chosen.ndim == 1 else None
        for k in np.unique(fold):
            rows, own = fold == k, chosen if chosen.ndim == 1 else chosen[k]
            found = (recovery or self._recovery(own, setting)).map(setting.pull, without=int(k))
            labels = self.evidence.candidates[own]
            result[rows] = mixed(found, F[np.ix_(rows, own)], labels, setting)
        return result

    def _measure(
        self, chosen: np.ndarray, setting: Setting, names: Sequence[str] | None = None
    ) -> Measured:
        """Measure once, and only what is asked for: most settings fall by one measure."""
        found = self._measured.setdefault((chosen.ndim, chosen.tobytes(), setting), {})
        missing = [name for name in names or self.judge.names if name not in found]
        if missing:
            scores = self._scores(chosen, setting, self._judged_F, self._judged_fold)
            found.update(self.judge.measure(scores, missing))
        return found

    def _value(self, chosen: np.ndarray, setting: Setting) -> float:
        return self.judge.value(self._measure(chosen, setting, self.judge.names[:1]))

    def _step(self, chosen: np.ndarray, setting: Setting) -> tuple[int, Setting, Measured]:
        return chosen.shape[-1], setting, self._measure(chosen, setting)

    def _described(
        self,
        chosen: np.ndarray,
        setting: Setting,
        steps: Sequence[tuple[int, Setting, Measured]],
        judged: np.ndarray | None = None,
    ) -> tuple[Landmarks, np.ndarray]:
        """Put together what was learned; ``judged`` are the landmarks of out-of-fold scores."""
        evidence, candidates = self.evidence, self.evidence.candidates
        total = sum_of(self._parts(setting))
        problem = honest_problem(total, np.isin(np.arange(len(candidates)), chosen))
        order, values = addition_order(problem, len(chosen))
        explained = -np.diff(values, prepend=problem.total) / max(problem.total, 1e-300)
        # Rounded like those of new rows: a threshold must not fall between copies of a row.
        scores = self._scores(
            order if judged is None else judged, setting, evidence.F, evidence.fold
        )
        scores = np.round(scores, SCORE_DIGITS)
        if setting.as_it_is:
            found = Map.identity(candidates[order], total.label_mean)
        else:
            found = self._recovery(order, setting).map(setting.pull)
        measures = {}
        if steps:
            final = self.judge.measure(scores[self.judge.rows])
            measures = {"embedding alone": self.alone, "with landmarks": final}
        landmarks = Landmarks(
            outputs=order,
            labels=candidates[order],
            setting=setting,
            map=found,
            explained=explained,
            predictability=predictability(total, candidates, evidence.varying),
            path=pd.DataFrame(
                [{"n_landmarks": n, "pull": s.pull, **_means(m)} for n, s, m in steps]
            ),
            measures=pd.DataFrame({name: _means(m) for name, m in measures.items()}).T,
        )
        return landmarks, scores


def _tested(judged: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the landmarks of out-of-fold scores: as many of each fold's own, or the chosen."""
    return chosen if judged.ndim == 1 else judged[:, : len(chosen)]


def mixed(found: Map, F: np.ndarray, labels: np.ndarray, setting: Setting) -> np.ndarray:
    """Return the scores of all labels for predictions of the landmarks.

    Parameters
    ----------
    found : Map
        From softened predictions to scores.
    F : ndarray of shape (n_rows, n_landmarks)
        Predictions.
    labels : ndarray of int
        The labels of the landmarks.
    setting : Setting
        Softness, lean and tail.
    """
    scores = found(softened(F, *setting.shape))
    if setting.tail:
        scores[:, labels] += setting.tail * logarithm(F)
    return scores


def predictability(sums: Statistics, candidates: np.ndarray, varying: np.ndarray) -> np.ndarray:
    """Return the share of each label's variance that its own prediction explains.

    The square of their correlation out of fold, 0 where it is negative; NaN for labels that were
    not predicted.
    """
    mean = sums.label_mean
    variance = np.where(varying, mean - mean**2, 0.0)[candidates]
    with_own = sums.cross_covariance()[np.arange(len(candidates)), candidates]
    spread = np.maximum(np.diag(sums.feature_covariance()) * variance, 1e-300)
    result = np.full(len(mean), np.nan)
    result[candidates] = np.where(variance > 0, np.maximum(with_own, 0) ** 2 / spread, 0.0)
    return result


def _means(measured: Measured) -> dict[str, float]:
    return {name: float(values.mean()) for name, values in measured.items()}


def counts_up_to(most: int) -> list[int]:
    """Return the numbers of landmarks to look at: all up to 20, a growing grid beyond.

    Examples
    --------
    >>> from splmll.landmarks.learning import counts_up_to
    >>> counts_up_to(5), counts_up_to(100)[-3:]
    ([1, 2, 3, 4, 5], [62, 79, 100])
    """
    if most <= 20:
        return list(range(1, most + 1))
    grid = np.concatenate([np.arange(1, 11), np.geomspace(12, most, 10).round()])
    return [int(count) for count in np.unique(grid)]
