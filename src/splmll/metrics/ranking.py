"""Measures of how well the scores of an example rank its labels.

Two rules are shared by all of them: what a tie between scores counts, and what an example counts
that has no label or every label and so leaves nothing to rank. Labels of an example that are not
known (NaN) are left out of its ranking, and examples without a known label are left out.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from splmll.docstrings import with_paragraphs
from splmll.metrics._inputs import CHUNK_CELLS, LabelMatrix, check_pair
from splmll.metrics._ranks import rank_counts

Ties = Literal["error", "half"]
Empty = Literal["perfect", "skip"]
OfRows = npt.NDArray[np.float64]


@with_paragraphs
def ranking_loss(
    Y_true: Any, scores: Any, *, ties: Ties = "error", empty: Empty = "perfect"
) -> float:
    r"""Share of (relevant, irrelevant) label pairs that are ordered wrongly; 0 is best.

    For an example with relevant labels :math:`R` and irrelevant labels :math:`I` it is
    :math:`|\{(a, b) \in R \times I : f_a \le f_b\}| / (|R| |I|)`, averaged over examples.

    Parameters
    ----------
    {true_and_scores}
    ties : {"error", "half"}, default="error"
        A relevant and an irrelevant label with equal scores are a full error, as in scikit-learn,
        or half an error, which is the expected value when ties are broken at random.
    empty : {"perfect", "skip"}, default="perfect"
        Examples with no label or with all labels count as perfect (0), as in scikit-learn, or are
        left out of the average. The result is NaN if that leaves none.

    Returns
    -------
    float
        Between 0 and 1, smaller is better.

    Examples
    --------
    >>> from splmll.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    >>> ranking_loss([[1, 0, 0]], [[0.5, 0.5, 0.1]], ties="half")
    0.25
    """
    truth, values = _check(Y_true, scores, ties, empty)
    return _average(ranking_loss_of_rows(truth, values, ties), truth, empty)


def ranking_loss_of_rows(
    truth: LabelMatrix, values: npt.NDArray[Any], ties: Ties = "error"
) -> OfRows:
    """Return the ranking loss of every row."""
    loss = np.zeros(truth.shape[0])
    n_known = truth.known_in_rows
    for counts in rank_counts(truth, values, strict=ties == "half"):
        n_relevant = counts.at_least.shape[1]
        wrong = np.sum(counts.at_least - counts.relevant_at_least, axis=1).astype(np.float64)
        if ties == "half":
            wrong += np.sum(counts.higher - counts.relevant_higher, axis=1)
            wrong /= 2
        loss[counts.rows] = wrong / (n_relevant * (n_known[counts.rows] - n_relevant))
    return loss


@with_paragraphs
def average_precision(
    Y_true: Any, scores: Any, *, ties: Ties = "error", empty: Empty = "perfect"
) -> float:
    r"""Mean share of relevant labels among those ranked no lower than a relevant label; 1 is best.

    For an example with relevant labels :math:`R` it is the mean over :math:`j \in R` of
    :math:`|\{i \in R : rank(i) \le rank(j)\}| / rank(j)`, averaged over examples.

    Parameters
    ----------
    {true_and_scores}
    ties : {"error", "half"}, default="error"
        Labels with equal scores all get the worst rank of their group, as in scikit-learn, or the
        expected value is taken over all orders of the group, each equally likely.
    empty : {"perfect", "skip"}, default="perfect"
        Examples with no label or with all labels count as perfect (1), as in scikit-learn, or are
        left out of the average. The result is NaN if that leaves none.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Notes
    -----
    Under ``ties="error"`` relevant labels that are tied count for each other, so that some orders
    of a group may be worse than its tie. All other measures take the worst order.

    The expected value has a closed form. A relevant label of a group of :math:`n` tied labels,
    :math:`m` of them relevant, with :math:`a` labels and :math:`b` relevant labels above the group,
    is at each place :math:`t = 1 \dots n` of the group with probability :math:`1/n`, and then has
    :math:`b + 1 + (t - 1) r` relevant labels at or above it on average, with
    :math:`r = (m - 1) / (n - 1)`. Dividing by the rank :math:`a + t` and averaging over :math:`t`
    gives :math:`r + (b + 1 - r (a + 1)) (H_{a+n} - H_a) / n` with harmonic numbers :math:`H`.

    Examples
    --------
    >>> from splmll.metrics import average_precision
    >>> round(average_precision([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]]), 3)
    0.417
    >>> average_precision([[1, 0]], [[0.5, 0.5]])
    0.5
    >>> average_precision([[1, 0]], [[0.5, 0.5]], ties="half")
    0.75
    """
    truth, values = _check(Y_true, scores, ties, empty)
    return _average(average_precision_of_rows(truth, values, ties), truth, empty)


def average_precision_of_rows(
    truth: LabelMatrix, values: npt.NDArray[Any], ties: Ties = "error"
) -> OfRows:
    """Return the average precision of every row."""
    precision = np.ones(truth.shape[0])
    harmonic = _running_sums(1.0 / np.arange(1, truth.shape[1] + 1))
    for counts in rank_counts(truth, values, strict=ties == "half"):
        if ties == "error":
            at_label = counts.relevant_at_least / counts.at_least
        else:
            above, tied = counts.higher, counts.tied
            slope = (counts.relevant_tied - 1) / np.maximum(tied - 1, 1)
            mean_inverse_rank = (harmonic[above + tied] - harmonic[above]) / tied
            at_label = slope + mean_inverse_rank * (
                counts.relevant_higher + 1 - slope * (above + 1)
            )
        precision[counts.rows] = at_label.mean(axis=1)
    return precision


@with_paragraphs
def one_error(Y_true: Any, scores: Any, *, ties: Ties = "error", empty: Empty = "perfect") -> float:
    """Share of examples whose best-ranked label is not relevant; 0 is best.

    Parameters
    ----------
    {true_and_scores}
    ties : {"error", "half"}, default="error"
        If several labels share the best score, one irrelevant label among them makes the example
        an error, or the share of irrelevant labels among them is counted.
    empty : {"perfect", "skip"}, default="perfect"
        Examples with no label or with all labels count as perfect (0) or are left out of the
        average. The result is NaN if that leaves none.

    Returns
    -------
    float
        Between 0 and 1, smaller is better.

    Examples
    --------
    >>> from splmll.metrics import one_error
    >>> one_error([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 0.1], [1, 0.2, 0.1]])
    0.5
    """
    truth, values = _check(Y_true, scores, ties, empty)
    return _average(one_error_of_rows(truth, values, ties), truth, empty)


def one_error_of_rows(truth: LabelMatrix, values: npt.NDArray[Any], ties: Ties = "error") -> OfRows:
    """Return the one-error of every row."""
    error = 1.0 - _relevant_in_top(truth, values, 1, ties)
    error[truth.row_counts == 0] = 0.0
    return error


@with_paragraphs
def coverage(Y_true: Any, scores: Any, *, ties: Ties = "error", empty: Empty = "perfect") -> float:
    """Mean rank of the worst-ranked relevant label; the number of labels per example is best.

    Ranks count from 1, as in scikit-learn's ``coverage_error``; the textbook measure, which counts
    steps down the list, is smaller by 1.

    Parameters
    ----------
    {true_and_scores}
    ties : {"error", "half"}, default="error"
        Labels with equal scores all get the worst rank of their group, as in scikit-learn, or the
        expected value is taken over all orders of the group, each equally likely.
    empty : {"perfect", "skip"}, default="perfect"
        Examples with no label count 0 and those with all labels ``n_labels``, as in scikit-learn
        and as for a perfect ranking, or both are left out of the average. The result is NaN if that
        leaves none.

    Returns
    -------
    float
        Between 0 and ``n_labels``, smaller is better.

    Examples
    --------
    >>> from splmll.metrics import coverage
    >>> coverage([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.3, 0.8, 0.1]])
    2.0
    """
    truth, values = _check(Y_true, scores, ties, empty)
    return _average(coverage_of_rows(truth, values, ties), truth, empty)


def coverage_of_rows(truth: LabelMatrix, values: npt.NDArray[Any], ties: Ties = "error") -> OfRows:
    """Return the rank of the worst-ranked relevant label of every row."""
    depth = truth.row_counts.astype(np.float64)
    for counts in rank_counts(truth, values, strict=ties == "half"):
        if ties == "error":
            depth[counts.rows] = counts.at_least.max(axis=1)
            continue
        # The largest of m places drawn from 1..n is m (n + 1) / (m + 1) on average.
        places = counts.relevant_tied * (counts.tied + 1) / (counts.relevant_tied + 1)
        # A lower group starts below the end of a higher one, so the maximum is the lowest group.
        depth[counts.rows] = np.max(counts.higher + places, axis=1)
    return depth


@with_paragraphs
def precision_at_k(
    Y_true: Any, scores: Any, k: int, *, ties: Ties = "error", empty: Empty = "perfect"
) -> float:
    """Share of relevant labels among the ``k`` best-ranked ones; 1 is best.

    Parameters
    ----------
    {true_and_scores}
    k : int
        Number of labels considered, from 1 to ``n_labels``. For a row with fewer known labels, all
        are used.
    ties : {"error", "half"}, default="error"
        Irrelevant labels come first among labels with equal scores, or the expected value is taken
        over all orders of the group, each equally likely.
    empty : {"perfect", "skip"}, default="perfect"
        Examples with no label or with all labels count with the value of any ranking (0 and 1) or
        are left out of the average. The result is NaN if that leaves none.

    Returns
    -------
    float
        Between 0 and 1, larger is better. Examples with fewer than ``k`` labels cannot reach 1.

    Examples
    --------
    >>> from splmll.metrics import precision_at_k
    >>> precision_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.5], [0.3, 0.2, 0.1]], k=2)
    0.75
    """
    truth, values = _check(Y_true, scores, ties, empty)
    return _average(precision_at_k_of_rows(truth, values, ties, k=k), truth, empty)


def precision_at_k_of_rows(
    truth: LabelMatrix, values: npt.NDArray[Any], ties: Ties = "error", *, k: int
) -> OfRows:
    """Return the precision at k of every row."""
    _check_k(k, truth.shape[1])
    looked_at = np.clip(truth.known_in_rows, 1, k)
    return _relevant_in_top(truth, values, k, ties) / looked_at


@with_paragraphs
def ndcg_at_k(
    Y_true: Any, scores: Any, k: int, *, ties: Ties = "error", empty: Empty = "perfect"
) -> float:
    r"""Discounted gain of the ``k`` best-ranked labels over the best gain possible; 1 is best.

    A relevant label at rank :math:`p \le k` gains :math:`1 / \log_2(p + 1)`; the sum is divided
    by that of a ranking with all relevant labels on top.

    Parameters
    ----------
    {true_and_scores}
    k : int
        Number of labels considered, from 1 to ``n_labels``. For a row with fewer known labels, all
        are used.
    ties : {"error", "half"}, default="error"
        Irrelevant labels come first among labels with equal scores, or the expected value is taken
        over all orders of the group, each equally likely (what scikit-learn's ``ndcg_score`` does).
    empty : {"perfect", "skip"}, default="perfect"
        Examples with no label or with all labels count as perfect (1) or are left out of the
        average. The result is NaN if that leaves none. (``ndcg_score`` counts 0 for no label.)

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Examples
    --------
    >>> from splmll.metrics import ndcg_at_k
    >>> round(ndcg_at_k([[1, 0, 1]], [[0.9, 0.5, 0.1]], k=2), 3)
    0.613
    """
    truth, values = _check(Y_true, scores, ties, empty)
    return _average(ndcg_at_k_of_rows(truth, values, ties, k=k), truth, empty)


def ndcg_at_k_of_rows(
    truth: LabelMatrix, values: npt.NDArray[Any], ties: Ties = "error", *, k: int
) -> OfRows:
    """Return the nDCG at k of every row."""
    n_labels = truth.shape[1]
    _check_k(k, n_labels)
    discount = np.zeros(n_labels)
    discount[:k] = 1.0 / np.log2(np.arange(2, k + 2))
    gain_to = _running_sums(discount)
    gain = np.ones(truth.shape[0])
    for counts in rank_counts(truth, values, strict=True):
        # The gain of a group of ties, shared out evenly among its relevant labels.
        if ties == "error":
            relevant_tied = counts.relevant_tied
            last = counts.at_least
            of_label = (gain_to[last] - gain_to[last - relevant_tied]) / relevant_tied
        else:
            of_label = (gain_to[counts.at_least] - gain_to[counts.higher]) / counts.tied
        gain[counts.rows] = of_label.sum(axis=1) / gain_to[of_label.shape[1]]
    return gain


def _check(Y_true: Any, scores: Any, ties: str, empty: str) -> tuple[LabelMatrix, npt.NDArray[Any]]:
    if ties not in ("error", "half"):
        raise ValueError(f"ties must be 'error' or 'half', got {ties!r}.")
    if empty not in ("perfect", "skip"):
        raise ValueError(f"empty must be 'perfect' or 'skip', got {empty!r}.")
    truth, values = check_pair(Y_true, scores, "scores", other_are_scores=True)
    return truth, values if truth.unknown is None else _unknown_last(values, truth.unknown)


def _unknown_last(scores: npt.NDArray[Any], unknown: LabelMatrix) -> npt.NDArray[Any]:
    """Return numbers in the order of the scores, with 0 for unknown labels and more for others."""
    n_rows, n_labels = scores.shape
    ranks = np.empty(scores.shape, dtype=np.int64)
    step = max(1, CHUNK_CELLS // n_labels)
    for start in range(0, n_rows, step):
        # Equal scores have equal ranks, and infinite ones have some, too.
        ranks[start : start + step] = rankdata(scores[start : start + step], "dense", axis=1)
    ranks[unknown.rows, unknown.indices] = 0
    return ranks


def _check_k(k: int, n_labels: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n_labels:
        raise ValueError(f"k must be an integer from 1 to {n_labels} (n_labels), got {k!r}.")


def _average(of_row: OfRows, truth: LabelMatrix, empty: Empty) -> float:
    counted = truth.known_in_rows > 0
    if empty == "skip":
        counted = (truth.row_counts > 0) & (truth.row_counts < truth.known_in_rows)
    of_row = of_row[counted]
    return float(np.mean(of_row)) if of_row.size else float("nan")


def _running_sums(terms: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return sums of the first 0, 1, 2, ... terms."""
    return np.concatenate([[0.0], np.cumsum(terms)])


def _relevant_in_top(truth: LabelMatrix, scores: npt.NDArray[Any], k: int, ties: Ties) -> OfRows:
    """Return the (expected) number of relevant labels among the ``k`` best-ranked of every row."""
    n_rows, n_labels = truth.shape
    kth_best = np.empty(n_rows, dtype=scores.dtype)
    above = np.empty(n_rows, dtype=np.int64)
    tied = np.empty(n_rows, dtype=np.int64)
    step = max(1, CHUNK_CELLS // n_labels)
    for start in range(0, n_rows, step):
        block = scores[start : start + step]
        here = slice(start, start + block.shape[0])
        border = (
            block.max(axis=1)
            if k == 1
            else np.partition(block, n_labels - k, axis=1)[:, n_labels - k]
        )
        kth_best[here] = border
        above[here] = np.count_nonzero(block > border[:, None], axis=1)
        tied[here] = np.count_nonzero(block == border[:, None], axis=1)
    rows = truth.rows
    own, border = scores[rows, truth.indices], kth_best[rows]
    relevant_above = np.bincount(rows[own > border], minlength=n_rows)
    relevant_tied = np.bincount(rows[own == border], minlength=n_rows)
    free_places = k - above
    if ties == "half":
        return relevant_above + relevant_tied * free_places / tied
    return relevant_above + np.maximum(0.0, relevant_tied + free_places - tied)
