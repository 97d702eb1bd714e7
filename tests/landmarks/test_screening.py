"""A cheap look rules out labels that cannot become landmarks, and costs nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from splmll import SPLMLL
from splmll.embeddings import OneVsRest
from splmll.landmarks import classifier
from splmll.landmarks.screening import screened


def problem(n_rows: int = 400, n_labels: int = 60) -> tuple[sparse.csr_array, np.ndarray]:
    """Words that tell the first ten labels; the next fifty are copies of those, or noise."""
    rng = np.random.default_rng(0)
    X = sparse.random(n_rows, 300, density=0.05, format="csr", random_state=0)
    told = (X @ rng.normal(size=(300, 10)) > 0.3).astype(float)
    copies = told[:, rng.integers(10, size=20)]
    noise = (rng.random((n_rows, n_labels - 30)) < 0.1) * 1.0
    return sparse.csr_array(X), np.hstack([told, copies, noise])


def test_labels_that_can_be_told_are_kept_and_noise_is_not() -> None:
    X, Y = problem()
    kept = screened(X, Y, np.arange(len(Y)) % 3, np.arange(60), budget=10, seed=0)
    assert len(kept) == 20
    found = {Y[:, label].tobytes() for label in kept}
    assert found >= {Y[:, label].tobytes() for label in range(10)}  # each of the ten, or its copy


def test_without_a_budget_or_with_a_large_one_nothing_is_ruled_out() -> None:
    X, Y = problem()
    for budget in (None, 40):
        kept = screened(X, Y, np.arange(len(Y)) % 3, np.arange(60), budget, seed=0)
        assert_array_equal(kept, np.arange(60))


def test_models_are_trained_for_what_is_kept_only(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = problem()
    widths = []
    fit = OneVsRest.fit

    def counted(self: OneVsRest, X: Any, Y: Any, *rest: Any) -> OneVsRest:
        widths.append(Y.shape[1])
        return fit(self, X, Y, *rest)

    monkeypatch.setattr(OneVsRest, "fit", counted)
    model = SPLMLL("svm", n_landmarks=10, random_state=0).fit(X, Y)
    assert widths == [20]
    assert len(model.landmarks_) == 10


def test_the_screen_costs_no_accuracy(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = problem(600)

    def precision() -> float:
        model = SPLMLL("svm", n_landmarks=6, random_state=0).fit(X, Y)
        return float(model.measures_["average_precision"].iloc[-1])

    with_screen = precision()
    monkeypatch.setattr(classifier, "screened", lambda X, Y, fold, candidates, *rest: candidates)
    assert with_screen >= precision() - 0.005
