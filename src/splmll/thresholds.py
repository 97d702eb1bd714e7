"""From scores to labels: the rules, how each is fitted, and how it is applied.

A rule is fitted on scores of rows that the model has not seen (out-of-fold or validation scores),
never on training scores: a model that memorises would get thresholds that are too high.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from splmll.constraints import FINITE, Choice

RULES = (
    "micro_f1",
    "macro_f1",
    "hamming",
    "jaccard",
    "per_label",
    "cardinality",
    "top_r",
    "linear",
)

_FORMER_RULES = {rule.replace("_", "-"): rule for rule in RULES if "_" in rule}

#: What ``threshold`` may be in every estimator, as a row of ``_parameter_constraints``.
THRESHOLD_CONSTRAINT: list[Any] = [FINITE, Choice(*RULES, former=_FORMER_RULES)]

# Fewer rows are too few to learn a threshold from: the default is kept.
MIN_ROWS = 50

# A label with fewer positives would get a threshold that fits those few rows and no others.
MIN_POSITIVES = 5

# Cuts whose measure is below the best by at most 0.4 of its standard deviation are as good: the
# highest point of a jagged curve is where chance put it, the middle of what is as high is steadier.
_NOISE = 0.4

# Cells of a matrix that are worked on together where a rule needs several matrices at once.
_CHUNK_CELLS = 2**20


class Threshold(Protocol):
    """A fitted rule that turns scores into labels."""

    @property
    def offset(self) -> float:
        """The zero point of the scores: the threshold, if the rule has a single one."""

    def per_label(self, n_labels: int) -> np.ndarray:
        """Return one threshold per label (NaN if the rule has none)."""

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Return 0/1 labels for scores of shape (n_rows, n_labels)."""


@dataclass(frozen=True)
class GlobalThreshold:
    """One threshold for all labels: relevant where ``score >= value``.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.thresholds import GlobalThreshold
    >>> GlobalThreshold(0.4).apply(np.array([[0.3, 0.4, 0.9]]))
    array([[0, 1, 1]], dtype=uint8)
    """

    value: float = 0.5

    @property
    def offset(self) -> float:
        """The threshold itself."""
        return self.value

    def per_label(self, n_labels: int) -> np.ndarray:
        """Return the threshold once per label."""
        return np.full(n_labels, self.value)

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Return 0/1 labels for scores of shape (n_rows, n_labels)."""
        # A Python float would be rounded to the precision of float32 scores, perhaps onto one.
        return (scores >= np.float64(self.value)).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class PerLabelThreshold:
    """One threshold for every label: relevant where ``score >= values[label]``.

    ``offset`` is the threshold that is best for all labels together.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.thresholds import PerLabelThreshold
    >>> PerLabelThreshold(np.array([0.2, 0.8])).apply(np.array([[0.5, 0.5]]))
    array([[1, 0]], dtype=uint8)
    """

    values: np.ndarray
    offset: float = 0.5

    def per_label(self, n_labels: int) -> np.ndarray:
        """Return the thresholds."""
        return self.values.copy()

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Return 0/1 labels for scores of shape (n_rows, n_labels)."""
        return (scores >= self.values.astype(np.float64)).astype(np.uint8)


@dataclass(frozen=True)
class TopRanked:
    """The ``r`` labels with the highest scores, for every row; of equal scores the first.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.thresholds import TopRanked
    >>> TopRanked(2).apply(np.array([[0.1, 0.9, 0.4]]))
    array([[0, 1, 1]], dtype=uint8)
    """

    r: int = 1
    offset: float = 0.5

    def per_label(self, n_labels: int) -> np.ndarray:
        """Return NaN for every label: this rule compares labels, not scores with a number."""
        return np.full(n_labels, np.nan)

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Return 0/1 labels for scores of shape (n_rows, n_labels)."""
        best = np.argsort(-scores, axis=1, kind="stable")[:, : self.r]
        labels = np.zeros(scores.shape, dtype=np.uint8)
        np.put_along_axis(labels, best, 1, axis=1)
        return labels


@dataclass(frozen=True, eq=False)
class LinearThreshold:
    """A threshold for every row, linear in its scores: relevant where ``score >= w's + b``.

    ``offset`` is the mean threshold of the rows it was fitted on.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.thresholds import LinearThreshold
    >>> mean_of_both = LinearThreshold(np.array([0.5, 0.5]), 0.0)
    >>> mean_of_both.apply(np.array([[0.1, 0.2], [0.9, 0.8]]))
    array([[0, 1],
           [1, 0]], dtype=uint8)
    """

    weights: np.ndarray
    bias: float
    offset: float = 0.5

    def per_label(self, n_labels: int) -> np.ndarray:
        """Return NaN for every label: the threshold belongs to a row, not to a label."""
        return np.full(n_labels, np.nan)

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Return 0/1 labels for scores of shape (n_rows, n_labels)."""
        of_row = scores @ self.weights + self.bias
        return (scores >= of_row[:, None]).astype(np.uint8)


@dataclass(frozen=True)
class NeverEmpty:
    """Another rule, except that a row without a label gets its best-ranked one (T-criterion).

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.thresholds import GlobalThreshold, NeverEmpty
    >>> NeverEmpty(GlobalThreshold(0.5)).apply(np.array([[0.1, 0.3], [0.7, 0.9]]))
    array([[0, 1],
           [1, 1]], dtype=uint8)
    """

    rule: Threshold

    @property
    def offset(self) -> float:
        """The zero point of the wrapped rule."""
        return self.rule.offset

    def per_label(self, n_labels: int) -> np.ndarray:
        """Return the thresholds of the wrapped rule."""
        return self.rule.per_label(n_labels)

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Return 0/1 labels for scores of shape (n_rows, n_labels)."""
        labels = self.rule.apply(scores)
        empty = np.flatnonzero(~labels.any(axis=1))
        labels[empty, np.argmax(scores[empty], axis=1)] = 1
        return labels


def fit_threshold(
    rule: str | float,
    Y: Any,
    scores: Any,
    *,
    informed: np.ndarray | None = None,
    never_empty: bool = False,
    default: float = 0.5,
) -> Threshold:
    """Fit the rule that turns scores into labels.

    Parameters
    ----------
    rule : float or str
        A number is a fixed threshold. The others are learnt:

        - ``"micro_f1"``, ``"macro_f1"``, ``"hamming"``, ``"jaccard"``: the one threshold that is
          best for that measure of :mod:`splmll.metrics`. All distinct cuts are tried. For micro-F1
          and Hamming loss, it is the middle of the thresholds that differ from the best by no more
          than chance (0.4 standard deviations of the number of errors). In Jaccard, the mean over
          rows, a row with nothing relevant and nothing predicted counts as 1: with 0, anything
          could be predicted for rows without labels at no cost.
        - ``"per_label"``: for every label the threshold with the highest F1 (SCut). A label with
          fewer than ``MIN_POSITIVES`` (5) positives gets the micro-F1 threshold of all labels
          together.
        - ``"cardinality"``: the threshold that predicts as many labels as there are (PCut).
        - ``"top_r"``: the ``r`` best labels of every row; ``r`` is the rounded cardinality (RCut).
        - ``"linear"``: a threshold per row, linear in its scores, by least squares on the
          thresholds that make the fewest errors in each row (Elisseeff and Weston, 2001). It has
          one weight per label, so it needs many more rows than labels.

        With a single label the last two have nothing to compare and become ``"micro_f1"``.
    Y : array-like or sparse matrix of shape (n_rows, n_labels)
        0/1 labels; NaN cells are unknown and ignored.
    scores : array-like of shape (n_rows, n_labels)
        Scores of the same rows from a model that has not seen them.
    informed : bool array of shape (n_rows, n_labels), optional
        False if a score carries no information, see ``informed_cells``: thresholds are fitted on
        the other cells.
    never_empty : bool, default=False
        Whether a row without a label gets its best-ranked one. Applied on top of the fitted rule;
        has no effect for a single label, which would always be predicted.
    default : float, default=0.5
        The threshold to use if there is too little data: fewer than ``MIN_ROWS`` (50) rows, or no
        relevant label at all for the F1 and Jaccard rules.

    Returns
    -------
    threshold : Threshold
        The fitted rule. Learnt thresholds are midway between two neighbouring scores, so equal
        scores are always on the same side.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.thresholds import fit_threshold
    >>> scores = np.linspace(0.01, 0.8, 80).reshape(-1, 1)
    >>> fit_threshold("micro_f1", scores > 0.3, scores)
    GlobalThreshold(value=0.305)
    >>> fit_threshold(0.25, scores > 0.3, scores)
    GlobalThreshold(value=0.25)
    """
    check_rule(rule)
    if not isinstance(rule, str):
        return _wrap(GlobalThreshold(float(rule)), never_empty, np.shape(scores)[1])
    task = _Task.check(Y, scores, informed, default)
    n_rows, n_labels = task.scores.shape
    fitted: Threshold
    if n_rows < MIN_ROWS:
        fitted = GlobalThreshold(default)
    else:
        if n_labels == 1 and rule in ("top_r", "linear"):
            rule = "micro_f1"
        fitted = _FITS[rule](task)
    return _wrap(fitted, never_empty, n_labels)


def check_rule(rule: Any) -> None:
    """Refuse what is neither a finite number nor the name of a rule, before a long fit.

    Parameters
    ----------
    rule : object
        What the caller gave as a threshold rule.

    Examples
    --------
    >>> from splmll.thresholds import check_rule
    >>> check_rule("micro_f1")
    >>> check_rule(0.4)
    """
    if isinstance(rule, str) and rule in RULES:
        return
    if isinstance(rule, str) and rule in _FORMER_RULES:
        raise ValueError(f"The threshold rule {rule!r} is now spelt {_FORMER_RULES[rule]!r}.")
    if not isinstance(rule, Real) or isinstance(rule, bool):
        raise ValueError(
            f"Unknown threshold rule {rule!r}: pass a number or one of "
            f"{', '.join(repr(name) for name in RULES)}."
        )
    if not np.isfinite(float(rule)):
        raise ValueError(f"A fixed threshold must be a finite number, got {rule}.")


def informed_cells(Y: Any, scores: np.ndarray) -> np.ndarray:
    """Return which scores say something, of a model that was trained on these labels.

    A model that saw only one value of a label scores all rows alike, and that score cannot be
    compared with those of other labels: margins of one-vs-rest models are negative nearly
    everywhere, but 0 for a label without positives.

    Parameters
    ----------
    Y : ndarray or sparse matrix of shape (n_training_rows, n_labels)
        The labels that the model was trained on; NaN where unknown.
    scores : ndarray of shape (n_rows, n_labels)
        Its scores of other rows.

    Returns
    -------
    informed : bool array of shape (n_rows, n_labels)
        False in the columns of labels with one value in Y whose scores are all equal.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.thresholds import informed_cells
    >>> informed_cells(np.array([[1, 0], [0, 0]]), np.array([[-0.7, 0.0], [-0.2, 0.0]]))
    array([[ True, False],
           [ True, False]])
    """
    if sparse.issparse(Y):
        Y = sparse.coo_array(Y)
        n_ones = np.bincount(Y.col[Y.data == 1], minlength=Y.shape[1])
        n_unknown = np.bincount(Y.col[np.isnan(Y.data)], minlength=Y.shape[1])
    else:
        n_ones = np.count_nonzero(Y == 1, axis=0)
        n_unknown = np.count_nonzero(Y != Y, axis=0)
    one_value = (n_ones == 0) | (n_ones == Y.shape[0] - n_unknown)
    uninformed = one_value & (np.ptp(scores, axis=0) == 0)
    return np.broadcast_to(~uninformed, scores.shape).copy()


def rule_of_text(text: str) -> float | str:
    """Return the rule or the number that the text of a threshold stands for.

    Examples
    --------
    >>> from splmll.thresholds import rule_of_text
    >>> rule_of_text("micro_f1"), rule_of_text("0.4")
    ('micro_f1', 0.4)
    """
    rule: float | str = text
    if text not in RULES:
        with suppress(ValueError):  # refused below, with the names that there are
            rule = float(text)
    check_rule(rule)
    return rule


def _wrap(threshold: Threshold, never_empty: bool, n_labels: int) -> Threshold:
    return NeverEmpty(threshold) if never_empty and n_labels > 1 else threshold


# What all rules are fitted on ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Task:
    """Scores with the two facts about each cell: is the label relevant, and does the cell count.

    A cell counts whose label is known and whose score says something.
    """

    scores: np.ndarray
    relevant: np.ndarray
    known: np.ndarray | None  # None: all of them
    share: float  # of relevant cells among those with a known label
    default: float

    @classmethod
    def check(cls, Y: Any, scores: Any, informed: np.ndarray | None, default: float) -> _Task:
        scores = np.asarray(scores, dtype=np.float64)
        if scores.ndim != 2 or scores.shape != np.shape(Y):
            raise ValueError(
                f"Scores of shape {scores.shape} for labels of shape {np.shape(Y)}: both need one "
                "row per example and one column per label."
            )
        if not np.isfinite(scores).all():
            raise ValueError(
                "Scores contain NaN or infinity: a threshold can only be fitted on finite scores. "
                "Check what the model returns for these rows."
            )
        if sparse.issparse(Y):
            # One byte per cell, an eighth of the scores, which are dense in any case.
            Y = sparse.coo_array(Y)
            relevant = np.zeros(Y.shape, dtype=bool)
            ones = Y.data == 1
            relevant[Y.row[ones], Y.col[ones]] = True
            unknown = np.isnan(Y.data)
            known = np.ones(Y.shape, dtype=bool) if unknown.any() else None
            if known is not None:
                known[Y.row[unknown], Y.col[unknown]] = False
        else:
            Y = np.asarray(Y)
            relevant = Y == 1
            known = ~np.isnan(Y) if Y.dtype.kind == "f" else None
            if known is not None and known.all():
                known = None
        n_known = relevant.size if known is None else np.count_nonzero(known)
        share = np.count_nonzero(relevant) / max(n_known, 1)
        if informed is not None and not informed.all():
            known = informed if known is None else known & informed
            relevant = relevant & known
        return cls(scores, relevant, known, share, default)

    def ranked_cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all known cells, best first: flat positions, scores, relevances."""
        scores = self.scores.ravel()
        if self.known is None:
            cells = np.argsort(-scores, kind="stable")
        else:
            cells = np.flatnonzero(self.known)
            cells = cells[np.argsort(-scores[cells], kind="stable")]
        return cells, scores[cells], self.relevant.ravel()[cells]

    def cells_for_f1(self) -> tuple[np.ndarray, np.ndarray]:
        """Return scores and relevances of known cells, best first, as far as F1 can be highest.

        With P relevant cells, the first k cells have an F1 of at most 2 P / (k + P). So if some cut
        reaches F, those that are better lie within the first 2 P / F - P cells. Mostly that is a
        small part of all, and the rest need not be sorted. F is taken lower by the noise, twice to
        be safe: cuts that are as good but for chance are wanted too.
        """
        scores, relevant = self.scores.ravel(), self.relevant.ravel()
        if self.known is not None:
            scores, relevant = scores[self.known.ravel()], relevant[self.known.ravel()]
        P = np.count_nonzero(relevant)
        chosen = scores >= np.partition(scores, -P)[-P] if P else relevant
        hits = np.count_nonzero(relevant & chosen)
        if hits:
            size = np.count_nonzero(chosen) + P
            F = 2 * hits / size
            lowest = max(F - 2 * _NOISE * float(np.sqrt((1 - F) / size)), F / 2)
            enough = int(2 * P / lowest - P) + 2
            if enough < len(scores):
                # Equal scores stay together, so these are the first cells of the whole list.
                leading = scores >= np.partition(scores, -enough)[-enough]
                scores, relevant = scores[leading], relevant[leading]
        order = np.argsort(-scores, kind="stable")
        return scores[order], relevant[order]


# Cuts through a descending list of scores: cut k selects the first k -------------------------


def _possible_cuts(values: np.ndarray) -> np.ndarray:
    """Return every k at which the list can be cut: never between equal scores."""
    between = np.flatnonzero(values[:-1] > values[1:]) + 1
    return np.concatenate([[0], between, [len(values)]]) if len(values) else np.array([0])


def _threshold_at(values: np.ndarray, cut: int) -> float:
    """Return a number that the first ``cut`` scores exceed and the others do not reach."""
    if cut == 0:
        return float(np.nextafter(values[0], np.inf))
    if cut == len(values):
        return float(np.nextafter(values[-1], -np.inf))
    above, below = values[cut - 1], values[cut]
    middle = 0.5 * above + 0.5 * below
    # Between two neighbouring floating-point numbers there is no middle; ``>=`` keeps the upper.
    return float(middle) if middle > below else float(above)


def _best_threshold(values: np.ndarray, curve: np.ndarray) -> float:
    """Return the threshold at the highest point of a curve over the cuts 0, ..., n."""
    cuts = _possible_cuts(values)
    return _threshold_at(values, int(cuts[np.argmax(curve[cuts])]))


def _steady_threshold(values: np.ndarray, curve: np.ndarray, noise: np.ndarray) -> float:
    """Return the middle of the thresholds that are as good as the best, but for chance.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Scores, best first.
    curve, noise : ndarray of shape (n + 1,)
        The measure at the cuts 0, ..., n, and its standard deviation.
    """
    cuts = _possible_cuts(values)
    best = cuts[np.argmax(curve[cuts])]
    as_good = cuts[curve[cuts] >= curve[best] - _NOISE * noise[best]]
    return _threshold_at(values, int(as_good[(len(as_good) - 1) // 2]))


def _f1_curve(relevant: np.ndarray, n_relevant: int) -> np.ndarray:
    hits = np.concatenate([[0], np.cumsum(relevant)])
    return 2.0 * hits / (np.arange(len(hits)) + max(n_relevant, 1))


def _summed_curve(
    groups: np.ndarray,
    relevant: np.ndarray,
    measure: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return, over the cuts 0, ..., n, the sum over groups of a measure of each group.

    Selecting one more cell changes the measure of its own group only. These changes, computed
    group by group and added up in the order of the cells, give the sum at all cuts in one pass.
    """
    # Cells of one group stand together, still best first.
    order = np.argsort(groups, kind="stable")
    in_order = groups[order]
    first = np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]]))
    sizes = np.diff(np.append(first, len(order)))
    hits = np.cumsum(relevant[order])
    hits -= np.repeat(hits[first] - relevant[order][first], sizes)
    total = np.repeat(hits[first + sizes - 1], sizes)
    selected = np.arange(1, len(order) + 1) - np.repeat(first, sizes)
    after = measure(hits, selected, total)
    before = measure(hits - relevant[order], selected - 1, total)
    change = np.empty(len(order))
    change[order] = after - before
    return np.concatenate([[0.0], np.cumsum(change)])


def _f1(hits: np.ndarray, selected: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    return 2.0 * hits / np.maximum(selected + relevant, 1)


def _jaccard(hits: np.ndarray, selected: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    union = selected + relevant - hits
    return np.where(union == 0, 1.0, hits / np.maximum(union, 1))


# The rules -------------------------------------------------------------------------------------


def _fit_micro_f1(task: _Task) -> GlobalThreshold:
    values, relevant = task.cells_for_f1()
    if not relevant.any():
        return GlobalThreshold(task.default)
    n_relevant = int(np.count_nonzero(task.relevant))
    curve = _f1_curve(relevant, n_relevant)
    # 1 - F1 is the share of errors among all that is predicted or relevant.
    size = np.arange(len(curve)) + n_relevant
    noise = np.sqrt((1 - curve) / size)
    return GlobalThreshold(_steady_threshold(values, curve, noise))


def _fit_macro_f1(task: _Task) -> GlobalThreshold:
    cells, values, relevant = task.ranked_cells()
    if not relevant.any():
        return GlobalThreshold(task.default)
    curve = _summed_curve(cells % task.scores.shape[1], relevant, _f1)
    return GlobalThreshold(_best_threshold(values, curve))


def _fit_jaccard(task: _Task) -> GlobalThreshold:
    cells, values, relevant = task.ranked_cells()
    if not relevant.any():
        return GlobalThreshold(task.default)
    curve = _summed_curve(cells // task.scores.shape[1], relevant, _jaccard)
    return GlobalThreshold(_best_threshold(values, curve))


def _fit_hamming(task: _Task) -> GlobalThreshold:
    _, values, relevant = task.ranked_cells()
    if not len(values):
        return GlobalThreshold(task.default)
    curve = np.concatenate([[0], np.cumsum(np.where(relevant, 1, -1))])
    errors = np.count_nonzero(relevant) - curve
    return GlobalThreshold(_steady_threshold(values, curve, np.sqrt(errors)))


def _fit_cardinality(task: _Task) -> GlobalThreshold:
    _, values, relevant = task.ranked_cells()
    if not len(values):
        return GlobalThreshold(task.default)
    cuts = _possible_cuts(values)
    nearest = cuts[np.argmin(np.abs(cuts - np.count_nonzero(relevant)))]
    return GlobalThreshold(_threshold_at(values, int(nearest)))


def _fit_per_label(task: _Task) -> PerLabelThreshold:
    together = _fit_micro_f1(task).value
    thresholds = np.full(task.scores.shape[1], together)
    for label in range(len(thresholds)):
        values, relevant = task.scores[:, label], task.relevant[:, label]
        if np.count_nonzero(relevant) < MIN_POSITIVES:
            continue
        if task.known is not None:
            values, relevant = values[task.known[:, label]], relevant[task.known[:, label]]
        order = np.argsort(-values, kind="stable")
        thresholds[label] = _best_threshold(
            values[order], _f1_curve(relevant[order], int(np.count_nonzero(relevant)))
        )
    # The zero point of a single label is its own threshold.
    return PerLabelThreshold(thresholds, float(thresholds[0]) if len(thresholds) == 1 else together)


def _fit_top_r(task: _Task) -> TopRanked:
    # Unknown cells are taken to be relevant as often as the known ones.
    cardinality = task.scores.shape[1] * task.share
    return TopRanked(max(1, int(np.floor(cardinality + 0.5))), task.default)


def _fit_linear(task: _Task) -> LinearThreshold | GlobalThreshold:
    n_rows, n_labels = task.scores.shape
    # Where a row has no two scores to stand between, its threshold keeps this distance from the
    # nearest one: a tenth of the range, so that the rule does not depend on the scale of scores.
    margin = 0.1 * float(np.ptp(task.scores))
    step = max(1, _CHUNK_CELLS // n_labels)
    targets = np.empty(n_rows)
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        known = None if task.known is None else task.known[rows]
        targets[rows] = _row_thresholds(task.scores[rows], task.relevant[rows], known, margin)
    usable = np.isfinite(targets)
    if not usable.any():
        return GlobalThreshold(task.default)
    design = np.column_stack([task.scores, np.ones(n_rows)])[usable]
    # lstsq and not the normal equations: scores that sum to a constant make them singular.
    solution = np.linalg.lstsq(design, targets[usable], rcond=None)[0]
    return LinearThreshold(solution[:-1], float(solution[-1]), float(targets[usable].mean()))


def _row_thresholds(
    scores: np.ndarray, relevant: np.ndarray, known: np.ndarray | None, margin: float
) -> np.ndarray:
    """Return for every row the threshold with the fewest errors (NaN if nothing is known).

    Of several equally good intervals the widest bounded one is taken, at its middle.
    """
    n_rows, n_labels = scores.shape
    counts = np.full(n_rows, n_labels) if known is None else np.count_nonzero(known, axis=1)
    keys = scores if known is None else np.where(known, scores, -np.inf)
    order = np.argsort(-keys, axis=1, kind="stable")  # unknown cells go to the end
    values = np.take_along_axis(keys, order, axis=1)
    gains = np.where(np.take_along_axis(relevant, order, axis=1), 1, -1)
    # Gain of the cut after k cells over the empty one; fewest errors is the highest gain.
    gain = np.zeros((n_rows, n_labels + 1))
    np.cumsum(gains, axis=1, out=gain[:, 1:])
    width = np.full((n_rows, n_labels + 1), -1.0)  # the two unbounded intervals come last
    with np.errstate(invalid="ignore"):
        width[:, 1:-1] = values[:, :-1] - values[:, 1:]
    cut = np.arange(n_labels + 1)
    at_end = cut == counts[:, None]
    width[at_end] = -1.0
    possible = (cut < counts[:, None]) & (width != 0) | at_end
    gain[~possible] = -np.inf
    width[gain < gain.max(axis=1, keepdims=True)] = -2.0
    best = np.argmax(width, axis=1)
    row = np.arange(n_rows)
    above = values[row, np.maximum(best - 1, 0)]
    below = values[row, np.minimum(best, n_labels - 1)]
    middle = 0.5 * above + 0.5 * np.where(best < counts, below, above)
    result = np.where(best == 0, above + margin, np.where(best == counts, above - margin, middle))
    return np.where(counts == 0, np.nan, result)


_FITS: dict[str, Callable[[_Task], Threshold]] = {
    "micro_f1": _fit_micro_f1,
    "macro_f1": _fit_macro_f1,
    "hamming": _fit_hamming,
    "jaccard": _fit_jaccard,
    "per_label": _fit_per_label,
    "cardinality": _fit_cardinality,
    "top_r": _fit_top_r,
    "linear": _fit_linear,
}
