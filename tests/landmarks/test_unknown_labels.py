"""NaN in Y means "not known": such cells are left out, not taken for 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, make_problem, quick_network
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from splmll import SPLMLL, evaluate, load_dataset
from splmll.embeddings import Kernel, KernelSVM, Linear, Trees

# What is chosen by the data would jump from one value to the next.
FIXED: dict[str, Any] = {"n_landmarks": 1.0, "pull": 0.3, "threshold": 0.5, "random_state": 0}
KINDS = {
    "linear": SPLMLL(Linear(ridge=0.1), **FIXED),
    "kernel": SPLMLL(Kernel(ridge=0.1), **FIXED),
    "logistic": SPLMLL(LogisticRegression(), **FIXED),
    "kernel svm": SPLMLL(KernelSVM(), **FIXED),
    "network": SPLMLL(quick_network(max_epochs=30), cv=2, **FIXED),
    "trees": SPLMLL(Trees(n_estimators=20), cv=3, **FIXED),
    "list": SPLMLL([LogisticRegression(), Linear(ridge=0.1)], cv=3, **FIXED),
}

every_kind = pytest.mark.parametrize("model", KINDS.values(), ids=KINDS)


def hide(Y: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    labels = Y.astype(float)
    # The same random numbers for every share: what is hidden at 1% is hidden at 10%, too.
    labels[np.random.default_rng(seed).random(Y.shape) < share] = np.nan
    return labels


def predictions(model: SPLMLL, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """f(x) of all labels, in their order: all are landmarks here."""
    model.fit(X, Y)
    return model.transform(X)[:, np.argsort(model.landmarks_)]


@every_kind
def test_the_fit_nears_the_full_fit_as_the_unknown_share_falls(model: SPLMLL) -> None:
    X, Y = make_problem(300)
    full = predictions(model, X, Y)
    distance = [
        np.sqrt(np.mean((predictions(model, X, hide(Y, share)) - full) ** 2))
        for share in (0.8, 0.1, 0.0)
    ]
    # Folds are drawn by the known labels, and other folds are other networks and trees: no more
    # than this can be asked of all.
    assert distance[1] < 0.8 * distance[0]
    assert distance[2] < 1e-9


@every_kind
def test_unknown_is_not_zero(model: SPLMLL) -> None:
    X, Y = make_problem(300)
    partly = hide(Y, 0.4)
    unknown, as_zero, full = (
        predictions(model, X, labels).mean() for labels in (partly, np.nan_to_num(partly), Y)
    )
    # Taken for 0, every label would look a good deal rarer than it is.
    assert as_zero < full - 0.05
    assert abs(unknown - full) < 0.5 * abs(as_zero - full)


@every_kind
def test_sparse_labels_with_unknown_cells_equal_dense_ones(model: SPLMLL) -> None:
    X, Y = make_problem(120)
    partly = hide(Y, 0.2)
    dense = model.fit(X, partly)
    expected, chosen = dense.decision_function(X), dense.selection_
    stored = sparse.csr_array(partly)
    assert np.isnan(stored.data).any()
    model.fit(X, stored)
    assert_allclose(model.selection_, chosen, atol=1e-9)
    assert_allclose(model.decision_function(X), expected, atol=1e-9)


def test_a_frame_may_have_empty_cells() -> None:
    X, Y = make_problem(120)
    partly = hide(Y, 0.2)
    frame = pd.DataFrame(partly, columns=NAMES).astype("Int8")
    assert frame.isna().to_numpy().any()
    model = SPLMLL("linear", random_state=0).fit(X, frame)
    expected = SPLMLL("linear", random_state=0).fit(X, partly)
    assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-9)


def test_labels_known_nowhere_or_always_the_same() -> None:
    X, Y = make_problem(100)
    partly = Y.astype(float)
    partly[:, 4] = np.nan
    partly[:50, 5], partly[50:, 5] = np.nan, 1.0
    for model in KINDS.values():
        model.fit(X, partly)
        assert np.isfinite(model.decision_function(X)).all()
        assert not {4, 5} & set(model.landmarks_)
        assert model.predict(X)[:, 5].all()
        assert not model.predict(X)[:, 4].any()


def test_rows_whose_labels_are_all_unknown_count_for_nothing_but_their_features() -> None:
    X, Y = make_problem(200)
    labels = np.vstack([Y.astype(float), np.full((20, 8), np.nan)])
    features = np.vstack([X, X[:20]])
    for threshold in ("micro_f1", "per_label", "cardinality", "top_r", "linear"):
        model = SPLMLL("linear", threshold=threshold, random_state=0).fit(features, labels)
        full = SPLMLL("linear", threshold=threshold, random_state=0).fit(X, Y)
        assert np.abs(model.decision_function(X) - full.decision_function(X)).mean() < 0.1


def test_thirty_per_cent_missing_costs_little_on_yeast(data_home: Any) -> None:
    X, Y, X_test, Y_test = load_dataset("yeast", data_home=data_home).split()
    measured = []
    for share in (0.0, 0.3):
        model = SPLMLL("linear", random_state=0).fit(X, hide(np.asarray(Y), share))
        scores = model.decision_function(X_test)
        measured.append(evaluate(Y_test, scores, model.predict(X_test)))
    full, partly = measured
    assert partly["average_precision"] > full["average_precision"] - 0.02
    assert partly["micro_f1"] > full["micro_f1"] - 0.02
    assert partly["ranking_loss"] < full["ranking_loss"] + 0.02
