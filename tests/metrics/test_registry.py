"""The registry of measures and ``evaluate``."""

import numpy as np
import pytest
from scipy import sparse

from splmll.metrics import MEASURES, PAPER_MEASURES, evaluate, ranking_loss


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Y = (rng.random((40, 7)) < 0.3).astype(int)
    Y[:2] = 0
    Y[:, 3] = 0
    scores = rng.integers(0, 4, Y.shape) / 4
    P = (scores > 0.6).astype(int)
    P[:, 3] = 0
    return Y, scores, P


def test_the_five_of_the_paper_in_its_order(problem):
    results = evaluate(*problem)
    order = ["ranking_loss", "hamming_loss", "average_precision", "micro_f1", "macro_f1"]
    assert list(results) == order == list(PAPER_MEASURES) == list(MEASURES)[:5]
    titles = [MEASURES[name].title for name in order]
    assert titles == [
        "Ranking loss", "Hamming loss", "Average precision", "Micro-F1", "Macro-F1",
    ]  # fmt: skip


def test_every_measure_with_its_options(problem):
    Y, scores, P = problem
    how = {"ties": "half", "empty": "skip", "zero_division": 1.0}
    results = evaluate(sparse.csr_array(Y), scores, P, measures=MEASURES, **how)
    assert list(results) == list(MEASURES)
    for name, measure in MEASURES.items():
        judged = scores if measure.needs == "scores" else P
        chosen = {option: how[option] for option in measure.options}
        assert results[name] == measure.function(Y, judged, **chosen)
    plain = evaluate(Y, scores, P, measures=MEASURES)
    for name in ("ranking_loss", "average_precision", "macro_f1", "one_error", "ndcg_at_3"):
        assert plain[name] != results[name]


@pytest.mark.parametrize("name", list(MEASURES))
def test_direction_is_that_of_a_perfect_prediction(name, problem):
    Y, _, _ = problem
    measure = MEASURES[name]
    assert measure.arrow == ("↑" if measure.greater_is_better else "↓")
    perfect, worst = measure.function(Y, Y), measure.function(Y, 1 - Y)
    assert (perfect > worst) == measure.greater_is_better


def test_what_is_not_needed_may_be_none(problem):
    Y, scores, P = problem
    assert evaluate(Y, scores, None, measures="ranking_loss") == {
        "ranking_loss": ranking_loss(Y, scores)
    }
    assert evaluate(Y, None, P, measures=["jaccard", "hamming_loss"]).keys() == {
        "jaccard", "hamming_loss",
    }  # fmt: skip
    with pytest.raises(ValueError, match="ranking_loss needs scores"):
        evaluate(Y, None, P)
    with pytest.raises(ValueError, match="hamming_loss needs Y_pred"):
        evaluate(Y, scores, None)


def test_unknown_names_are_refused(problem):
    with pytest.raises(ValueError, match="unknown measure 'auc'; the measures are ranking_loss"):
        evaluate(*problem, measures=["auc"])


def test_measures_cannot_be_overwritten():
    with pytest.raises(TypeError):
        MEASURES["ranking_loss"] = None
