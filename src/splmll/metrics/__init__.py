"""Measures of multi-label predictions: the five of the paper, their relatives, and scorers."""

from splmll.metrics.bipartition import (
    hamming_loss,
    jaccard,
    macro_f1,
    macro_f1_of_means,
    micro_f1,
    subset_accuracy,
)
from splmll.metrics.ranking import (
    average_precision,
    coverage,
    ndcg_at_k,
    one_error,
    precision_at_k,
    ranking_loss,
)
from splmll.metrics.registry import MEASURES, PAPER_MEASURES, Measure, evaluate
from splmll.metrics.scorers import SCORERS, MeasureScorer, label_scores

__all__ = [
    "MEASURES",
    "PAPER_MEASURES",
    "SCORERS",
    "Measure",
    "MeasureScorer",
    "average_precision",
    "coverage",
    "evaluate",
    "hamming_loss",
    "jaccard",
    "label_scores",
    "macro_f1",
    "macro_f1_of_means",
    "micro_f1",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "ranking_loss",
    "subset_accuracy",
]
