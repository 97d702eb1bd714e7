"""All measures by name, with what a table or a search over models has to know about them.

``evaluate`` computes several of them at once and looks at the labels only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from splmll.metrics import bipartition, ranking
from splmll.metrics._inputs import check_labels
from splmll.metrics.ranking import Empty, Ties


@dataclass(frozen=True)
class Measure:
    """One measure and how to read it.

    Parameters
    ----------
    name : str
        Its key in `MEASURES`.
    function : callable
        ``function(Y_true, scores)`` or ``function(Y_true, Y_pred)``, see `needs`.
    greater_is_better : bool
        Whether larger values are better.
    needs : {"scores", "labels"}
        What it compares with the true labels: real scores or predicted 0/1 labels.
    title : str
        Its name as printed in a table.
    options : tuple of str
        Names of the keyword arguments of `function`.

    Examples
    --------
    >>> from splmll.metrics import MEASURES
    >>> measure = MEASURES["ranking_loss"]
    >>> measure.title, measure.arrow, measure.needs
    ('Ranking loss', '↓', 'scores')
    >>> measure.function([[1, 0]], [[0.2, 0.9]])
    1.0
    """

    name: str
    function: Callable[..., float]
    greater_is_better: bool
    needs: Literal["scores", "labels"]
    title: str
    options: tuple[str, ...] = ()

    @property
    def arrow(self) -> str:
        """An arrow in the direction of better values."""
        return "↑" if self.greater_is_better else "↓"


_RANKING_OPTIONS = ("ties", "empty")

_ALL = (
    # The five measures of the paper come first, in its order.
    Measure(
        "ranking_loss", ranking.ranking_loss, False, "scores", "Ranking loss", _RANKING_OPTIONS
    ),
    Measure("hamming_loss", bipartition.hamming_loss, False, "labels", "Hamming loss"),
    Measure(
        "average_precision",
        ranking.average_precision,
        True,
        "scores",
        "Average precision",
        _RANKING_OPTIONS,
    ),
    Measure("micro_f1", bipartition.micro_f1, True, "labels", "Micro-F1", ("zero_division",)),
    Measure("macro_f1", bipartition.macro_f1, True, "labels", "Macro-F1", ("zero_division",)),
    Measure(
        "macro_f1_of_means",
        bipartition.macro_f1_of_means,
        True,
        "labels",
        "F1 of macro means",
        ("zero_division",),
    ),
    Measure("subset_accuracy", bipartition.subset_accuracy, True, "labels", "Subset accuracy"),
    Measure("jaccard", bipartition.jaccard, True, "labels", "Jaccard", ("zero_division",)),
    Measure("one_error", ranking.one_error, False, "scores", "One-error", _RANKING_OPTIONS),
    Measure("coverage", ranking.coverage, False, "scores", "Coverage", _RANKING_OPTIONS),
    *(
        Measure(
            f"precision_at_{k}",
            partial(ranking.precision_at_k, k=k),
            True,
            "scores",
            f"Precision@{k}",
            _RANKING_OPTIONS,
        )
        for k in (1, 3, 5)
    ),
    *(
        Measure(
            f"ndcg_at_{k}",
            partial(ranking.ndcg_at_k, k=k),
            True,
            "scores",
            f"nDCG@{k}",
            _RANKING_OPTIONS,
        )
        for k in (1, 3, 5)
    ),
)

#: Every measure by name.
MEASURES: Mapping[str, Measure] = MappingProxyType({measure.name: measure for measure in _ALL})

#: The measures of the paper, in its order.
PAPER_MEASURES = ("ranking_loss", "hamming_loss", "average_precision", "micro_f1", "macro_f1")


def evaluate(
    Y_true: Any,
    scores: Any,
    Y_pred: Any,
    measures: Iterable[str] | None = None,
    ties: Ties = "error",
    *,
    empty: Empty = "perfect",
    zero_division: float = 0.0,
) -> dict[str, float]:
    """Compute several measures of one prediction.

    Parameters
    ----------
    Y_true : array, sparse matrix or DataFrame of shape (n_rows, n_labels)
        True labels, 0 or 1, or NaN if not known; such cells are ignored.
    scores : array or DataFrame of shape (n_rows, n_labels), or None
        Scores, larger for labels that are more likely to be relevant. None if no measure needs it.
    Y_pred : array, sparse matrix or DataFrame of shape (n_rows, n_labels), or None
        Predicted labels, 0 or 1. None if no measure needs it.
    measures : iterable of str, optional
        Names in `MEASURES`; by default the five of the paper in its order: ranking loss, Hamming
        loss, average precision, micro-F1, macro-F1.
    ties : {"error", "half"}, default="error"
        How equal scores count in the ranking measures, see `ranking_loss`.
    empty : {"perfect", "skip"}, default="perfect"
        How examples with no or all labels count in the ranking measures, see `ranking_loss`.
    zero_division : {0.0, 1.0, nan}, default=0.0
        How labels that are neither true nor predicted count in F1 (and such examples in Jaccard),
        see `macro_f1`.

    Returns
    -------
    dict of str to float
        Name of the measure -> value, in the requested order.

    Examples
    --------
    >>> from splmll.metrics import evaluate
    >>> scores = [[0.9, 0.2, 0.4], [0.1, 0.8, 0.7]]
    >>> labels = [[1, 0, 0], [0, 1, 1]]
    >>> for name, value in evaluate([[1, 0, 0], [0, 1, 0]], scores, labels).items():
    ...     print(f"{name} {value:.3f}")
    ranking_loss 0.000
    hamming_loss 0.167
    average_precision 1.000
    micro_f1 0.800
    macro_f1 0.667
    >>> evaluate([[1, 0]], None, [[1, 1]], measures=["jaccard"])
    {'jaccard': 0.5}

    Unknown labels are neither right nor wrong:

    >>> evaluate([[1, float("nan")]], None, [[1, 1]], measures=["jaccard", "hamming_loss"])
    {'jaccard': 1.0, 'hamming_loss': 0.0}
    """
    if isinstance(measures, str):
        measures = [measures]
    names = list(PAPER_MEASURES if measures is None else measures)
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        raise ValueError(f"unknown measure {unknown[0]!r}; the measures are {', '.join(MEASURES)}.")
    for needs, argument, what in (("scores", scores, "scores"), ("labels", Y_pred, "Y_pred")):
        wanting = [name for name in names if MEASURES[name].needs == needs]
        if wanting and argument is None:
            raise ValueError(f"{wanting[0]} needs {what}; pass them, or choose other measures.")

    # Checked once here, the labels are not looked through again by every measure.
    truth = check_labels(Y_true, "Y_true", allow_unknown=True)
    options = {"ties": ties, "empty": empty, "zero_division": zero_division}
    inputs = {"scores": scores, "labels": Y_pred}
    if Y_pred is not None and any(MEASURES[name].needs == "labels" for name in names):
        inputs["labels"] = check_labels(Y_pred, "Y_pred")
    results = {}
    for name in names:
        measure = MEASURES[name]
        chosen = {option: options[option] for option in measure.options}
        results[name] = measure.function(truth, inputs[measure.needs], **chosen)
    return results
