"""Wide sparse rows in batches: gradient descent in passes, then recovery as ever."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from landmark_problems import quick_network
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from splmll import SPLMLL, evaluate, persistence
from splmll.embeddings import FitContext, Linear, OneVsRest, Stochastic
from splmll.landmarks import out_of_core, passes

N_WORDS, N_LABELS = 400, 6


def texts(n_rows: int = 900, seed: int = 0) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows of length 1 with ten words each; every label makes some words likelier."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, N_LABELS)) < np.geomspace(0.4, 0.08, N_LABELS)).astype(int)
    odds = np.ones((n_rows, N_WORDS))
    for label in range(N_LABELS):
        odds[:, 20 * label : 20 * label + 20] += 12 * Y[:, [label]]
    words = [rng.choice(N_WORDS, 10, replace=False, p=row / row.sum()) for row in odds]
    X = np.zeros((n_rows, N_WORDS))
    X[np.arange(n_rows)[:, None], words] = 10**-0.5
    return sparse.csr_array(X), Y


def cut(X: Any, Y: Any, borders: Sequence[int]) -> list[tuple[Any, Any]]:
    edges = [0, *borders, X.shape[0]]
    return [(X[a:b], Y[a:b]) for a, b in pairwise(edges)]


def quick(n_passes: int | str = 2, **changes: Any) -> SPLMLL:
    """All labels as landmarks, no pull to choose."""
    settings = {"n_landmarks": N_LABELS, "pull": 1.0, "random_state": 0}
    return SPLMLL(Stochastic(n_passes=n_passes), **{**settings, **changes})


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "BLOCK_ROWS", 256)


@pytest.mark.usefixtures("small_blocks")
def test_borders_of_batches_do_not_matter() -> None:
    X, Y = texts()
    one, other = (
        quick().fit_batches(cut(X, Y, borders)) for borders in ([100, 200, 700], [1, 257, 258, 600])
    )
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert_array_equal(one.thresholds_, other.thresholds_)


@pytest.mark.usefixtures("small_blocks")
def test_as_good_as_all_rows_in_memory() -> None:
    X, Y = texts()
    X_test, Y_test = texts(600, seed=1)
    measured = [
        evaluate(Y_test, model.decision_function(X_test), model.predict(X_test))
        for model in (
            SPLMLL(OneVsRest(), random_state=0).fit(X, Y),
            SPLMLL("sgd", random_state=0).fit_batches(cut(X, Y, [300, 600])),
        )
    ]
    memory, batches = measured
    assert memory["average_precision"] > 0.85
    assert batches["average_precision"] > memory["average_precision"] - 0.01
    assert batches["micro_f1"] > memory["micro_f1"] - 0.02


def test_an_iterator_is_gone_through_once() -> None:
    X, Y = texts()
    batches = cut(X, Y, [500])
    once = quick().fit_batches(iter(batches))
    one_pass = quick(1).fit_batches(batches)
    assert_array_equal(once.decision_function(X), one_pass.decision_function(X))
    often = quick().fit_batches(lambda: iter(batches))
    assert np.abs(often.decision_function(X) - once.decision_function(X)).max() > 0.01


@pytest.mark.usefixtures("small_blocks")
def test_a_label_that_comes_late() -> None:
    X, Y = texts()
    late = Y[:, 5] == 1
    order = np.concatenate([np.flatnonzero(~late), np.flatnonzero(late)])
    model = quick().fit_batches(cut(X[order], Y[order], [256, 512]))
    X_test, Y_test = texts(600, seed=1)
    scores = model.decision_function(X_test)[:, 5]
    truth = Y_test[:, 5] == 1
    assert (scores[truth][:, None] > scores[~truth]).mean() > 0.8


def test_labels_that_some_batches_do_not_know() -> None:
    X, Y = texts()
    labels = Y.astype(float)
    labels[:450, 0] = np.nan
    model = quick().fit_batches(cut(X, labels, [450]))
    X_test, Y_test = texts(600, seed=1)
    assert np.corrcoef(model.decision_function(X_test)[:, 0], Y_test[:, 0])[0, 1] > 0.4


@pytest.mark.usefixtures("small_blocks")
def test_sampled_rows_are_predicted_by_models_that_did_not_see_them() -> None:
    X, Y = texts()
    flipped = np.where(out_of_fold(X, Y)[1][:, None] == 1, 1 - Y, Y)
    (plain, fold), (changed, _) = out_of_fold(X, Y), out_of_fold(X, flipped)
    assert_allclose(changed[fold == 1], plain[fold == 1], atol=1e-9)
    assert np.abs(changed[fold != 1] - plain[fold != 1]).max() > 0.1


def out_of_fold(X: Any, Y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Decision values of the sample, before the curve that bounds them, and its folds."""
    embedding = Stochastic(ridge=0.001, n_passes=1)
    rows, evidence = passes.learn_in_passes(
        embedding, cut(X, Y.astype(float), [400]), None, N_LABELS, 3, FitContext(seed=2)
    )
    assert rows.n_rows == len(evidence.F) == X.shape[0]
    F = np.clip(evidence.F, 1e-12, 1 - 1e-12)
    return np.log(F / (1 - F)) / embedding.slope_, evidence.fold


def test_everything_else_is_learned_from_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "SAMPLE_ROWS", 300)
    X, Y = texts()
    model = quick()
    found = model.fit_batches_out_of_fold(cut(X, Y, [500]))
    assert found.truth.shape == found.scores.shape == (300, N_LABELS)
    assert model.completion_.mean == pytest.approx(Y.mean(axis=0))  # labels are summed over all


def test_a_saved_model_holds_its_landmarks_only(tmp_path: Any) -> None:
    X, Y = texts()
    model = quick(n_landmarks=2).fit_batches(cut(X, Y, [500]))
    assert model.embedding_.models_.weights.shape == (N_WORDS, 2)
    assert model.embedding_.models_.weights.dtype == np.float32
    persistence.save(model, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("rows", "kind"),
    [(200, OneVsRest), (900, Stochastic), (900, Linear)],
    ids=["few", "many", "dense"],
)
def test_what_auto_takes(rows: int, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out_of_core, "LARGE_ROWS", 300)
    X, Y = texts(rows)
    X = X[:, :60].toarray() if kind is Linear else X
    model = SPLMLL(n_landmarks=2, pull=1.0, random_state=0).fit_batches(cut(X, Y, [100]))
    assert type(model.embedding_) is kind


def test_what_is_refused() -> None:
    X, Y = texts(60)
    model = SPLMLL("sgd", random_state=0)
    with pytest.raises(ValueError, match="There are no batches"):
        model.fit_batches([])
    with pytest.raises(
        ValueError, match=r"chunk has 4 labels, but the first had 6: every chunk must"
    ):
        model.fit_batches([(X, Y), (X, Y[:, :4])])
    fewer = iter([cut(X, Y, [30]), cut(X[:40], Y[:40], [30])])
    with pytest.raises(ValueError, match=r"60 rows the first time and 40 the next: give the same"):
        model.fit_batches(lambda: next(fewer))
    with pytest.raises(AttributeError) as caught:
        SPLMLL(quick_network()).fit_batches  # noqa: B018
    assert '"linear", "sgd" or "auto"' in str(caught.value) + str(caught.value.__cause__)


def test_of_many_labels_fewer_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of the kept rows may be dense: their cells are bounded, down to a few rows."""
    monkeypatch.setattr(passes, "SAMPLE_CELLS", 6000)
    for n_labels, kept in ((10, 600), (20, 300), (100, out_of_core.MIN_SAMPLE_ROWS)):
        stream = passes.LabelStream(n_labels, 2, seed=0)
        for _ in range(5):
            stream.add(np.zeros((180, 3)), np.ones((180, n_labels)))
        X, Y, fold = stream.sample()
        assert X.shape == (kept, 3)
        assert Y.shape == (kept, n_labels)
        assert len(fold) == kept
