"""Measures of predicted label sets: what is predicted, compared with what is true.

Where a label (or an example, or the whole matrix) is neither true nor predicted anywhere, F1 and
Jaccard are 0/0; ``zero_division`` says what that counts. Cells whose true label is not known (NaN)
take no part, whatever is predicted there; examples and labels without a known cell are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from splmll.docstrings import with_paragraphs
from splmll.metrics._inputs import LabelMatrix, check_pair

Counts = npt.NDArray[np.intp]


@with_paragraphs
def hamming_loss(Y_true: Any, Y_pred: Any) -> float:
    """Share of the (example, label) cells that are predicted wrongly; 0 is best.

    Parameters
    ----------
    {true_and_predicted}

    Returns
    -------
    float
        Between 0 and 1, smaller is better.

    Examples
    --------
    >>> from splmll.metrics import hamming_loss
    >>> hamming_loss([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.25
    """
    truth, predicted, common = _check(Y_true, Y_pred)
    wrong = truth.indices.size + predicted.indices.size - 2 * common.indices.size
    n_known = int(truth.known_in_rows.sum())
    return wrong / n_known if n_known else float("nan")


@with_paragraphs
def micro_f1(Y_true: Any, Y_pred: Any, *, zero_division: float = 0.0) -> float:
    """F1 of all (example, label) cells taken together, 2 TP / (2 TP + FP + FN); 1 is best.

    Parameters
    ----------
    {true_and_predicted}
    zero_division : {0.0, 1.0, nan}, default=0.0
        The result if nothing is true and nothing is predicted.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Examples
    --------
    >>> from splmll.metrics import micro_f1
    >>> micro_f1([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.8
    """
    _check_zero_division(zero_division)
    truth, predicted, common = _check(Y_true, Y_pred)
    if not truth.known_in_rows.any():
        return float("nan")
    counts = (labels.column_counts for labels in (truth, predicted, common))
    return micro_f1_of_counts(*counts, zero_division=zero_division)


def micro_f1_of_counts(
    true: Counts, predicted: Counts, both: Counts, *, zero_division: float = 0.0
) -> float:
    """Return micro-F1 from how often each label is true, predicted, and both."""
    n_ones = int(true.sum() + predicted.sum())
    return 2 * int(both.sum()) / n_ones if n_ones else float(zero_division)


@with_paragraphs
def macro_f1(Y_true: Any, Y_pred: Any, *, zero_division: float = 0.0) -> float:
    """Mean over labels of the label's F1, 2 TP / (2 TP + FP + FN); 1 is best.

    Parameters
    ----------
    {true_and_predicted}
    zero_division : {0.0, 1.0, nan}, default=0.0
        The value for a label that is never true and never predicted: 0, as in scikit-learn, 1, or
        NaN to leave it out of the mean. The result is NaN if that leaves none.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    See Also
    --------
    macro_f1_of_means : the other measure with this name.

    Examples
    --------
    >>> from splmll.metrics import macro_f1
    >>> Y_true, Y_pred = [[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 0]]
    >>> round(macro_f1(Y_true, Y_pred), 3)
    0.333
    >>> macro_f1(Y_true, Y_pred, zero_division=float("nan"))
    0.5
    """
    _check_zero_division(zero_division)
    truth, predicted, common = _check(Y_true, Y_pred)
    known = truth.known_in_columns > 0
    counts = (labels.column_counts[known] for labels in (truth, predicted, common))
    return macro_f1_of_counts(*counts, zero_division=zero_division)


def macro_f1_of_counts(
    true: Counts, predicted: Counts, both: Counts, *, zero_division: float = 0.0
) -> float:
    """Return macro-F1 from how often each label is true, predicted, and both."""
    return _mean_ratio(2 * both, true + predicted, zero_division)


@with_paragraphs
def macro_f1_of_means(Y_true: Any, Y_pred: Any, *, zero_division: float = 0.0) -> float:
    """Harmonic mean of the labels' mean precision and mean recall; 1 is best.

    Some programs call this macro-F1. It equals the mean of the labels' F1 only by accident, and is
    often larger: labels with good precision make up for others with good recall.

    Parameters
    ----------
    {true_and_predicted}
    zero_division : {0.0, 1.0, nan}, default=0.0
        The precision of a label that is never predicted and the recall of one that is never true;
        NaN leaves the label out of that mean. The result is NaN if that leaves none.

    Returns
    -------
    float
        Between 0 and 1, larger is better; 0 if both means are 0.

    See Also
    --------
    macro_f1 : the mean of the labels' F1, the usual meaning of "macro-F1".

    Examples
    --------
    >>> from splmll.metrics import macro_f1, macro_f1_of_means
    >>> Y_true, Y_pred = [[1, 1], [0, 1], [0, 1]], [[1, 1], [1, 0], [1, 0]]
    >>> macro_f1(Y_true, Y_pred), round(macro_f1_of_means(Y_true, Y_pred), 4)
    (0.5, 0.6667)
    """
    _check_zero_division(zero_division)
    truth, predicted, common = _check(Y_true, Y_pred)
    known = truth.known_in_columns > 0
    counts = (labels.column_counts[known] for labels in (truth, predicted, common))
    return macro_f1_of_means_of_counts(*counts, zero_division=zero_division)


def macro_f1_of_means_of_counts(
    true: Counts, predicted: Counts, both: Counts, *, zero_division: float = 0.0
) -> float:
    """Return the F1 of macro means from how often each label is true, predicted, and both."""
    precision = _mean_ratio(both, predicted, zero_division)
    recall = _mean_ratio(both, true, zero_division)
    if precision + recall == 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)


@with_paragraphs
def subset_accuracy(Y_true: Any, Y_pred: Any) -> float:
    """Share of the examples whose label set is predicted exactly; 1 is best.

    Parameters
    ----------
    {true_and_predicted}

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Examples
    --------
    >>> from splmll.metrics import subset_accuracy
    >>> subset_accuracy([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.5
    """
    truth, predicted, common = _check(Y_true, Y_pred)
    right = (truth.row_counts == common.row_counts) & (predicted.row_counts == common.row_counts)
    right = right[truth.known_in_rows > 0]
    return float(np.mean(right)) if right.size else float("nan")


@with_paragraphs
def jaccard(Y_true: Any, Y_pred: Any, *, zero_division: float = 0.0) -> float:
    """Mean over rows of labels that are true and predicted, divided by those that are either.

    Parameters
    ----------
    {true_and_predicted}
    zero_division : {0.0, 1.0, nan}, default=0.0
        The value for an example with nothing true and nothing predicted: 0, as in scikit-learn, 1,
        or NaN to leave it out of the mean. The result is NaN if that leaves none.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Examples
    --------
    >>> from splmll.metrics import jaccard
    >>> jaccard([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.75
    """
    _check_zero_division(zero_division)
    truth, predicted, common = _check(Y_true, Y_pred)
    shared = common.row_counts
    either = truth.row_counts + predicted.row_counts - shared
    known = truth.known_in_rows > 0
    return _mean_ratio(shared[known], either[known], zero_division)


def _check(Y_true: Any, Y_pred: Any) -> tuple[LabelMatrix, LabelMatrix, LabelMatrix]:
    truth, predicted = check_pair(Y_true, Y_pred, "Y_pred", other_are_scores=False)
    predicted = predicted.without(truth.unknown)
    return truth, predicted, truth.intersect(predicted)


def _check_zero_division(zero_division: float) -> None:
    # NaN is the only number that differs from itself.
    if zero_division not in (0.0, 1.0) and zero_division == zero_division:
        raise ValueError(f"zero_division must be 0.0, 1.0 or nan, got {zero_division!r}.")


def _mean_ratio(numerator: Counts, denominator: Counts, zero_division: float) -> float:
    ratio = np.full(numerator.shape, float(zero_division))
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    kept = ratio[~np.isnan(ratio)]
    return float(np.mean(kept)) if kept.size else float("nan")
