"""The rows of the paper's Table 4 are settings, and they mean what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from landmark_problems import QUICK_NETWORK, make_problem
from numpy.testing import assert_allclose, assert_array_equal

from splmll import SPLMLL
from splmll.landmarks import ABLATIONS
from splmll.landmarks.embedding import LinearEmbedding, NetworkEmbedding


def test_the_four_rows() -> None:
    assert list(ABLATIONS) == [
        "NN-embeddings", "NN + separated", "joint + linear", "joint + NN",
    ]  # fmt: skip
    for name, settings in ABLATIONS.items():
        model = SPLMLL(**settings)
        assert model.embedding == ("linear" if "linear" in name else "mlp")
        assert model.joint is ("separated" not in name)
        assert (model.selection == "all") is (name == "NN-embeddings")


@pytest.mark.parametrize("solver", ["exact", "algorithm1"])
@pytest.mark.parametrize("name", ABLATIONS)
def test_every_row_learns(name: str, solver: str) -> None:
    X, Y = make_problem()
    settings: dict[str, Any] = {**QUICK_NETWORK, "cv": 2, "solver": solver, **ABLATIONS[name]}
    model = SPLMLL(**settings).fit(X, Y)
    kind = NetworkEmbedding if "NN" in name or solver == "algorithm1" else LinearEmbedding
    assert type(model.embedding_) is kind
    scores = model.decision_function(X)
    for label in range(3):
        assert np.corrcoef(scores[:, label], Y[:, label])[0, 1] > 0.3


@pytest.mark.parametrize("solver", ["exact", "algorithm1"])
def test_without_landmarks_the_score_is_f(solver: str) -> None:
    X, Y = make_problem()
    settings = {**QUICK_NETWORK, "cv": 2, "solver": solver, **ABLATIONS["NN-embeddings"]}
    model = SPLMLL(**settings).fit(X, Y)
    assert_array_equal(np.sort(model.landmarks_), np.arange(8))
    f = model.transform(X)[:, np.argsort(model.landmarks_)]
    assert_allclose(model.decision_function(X) + model.offset_, f, atol=1e-6)


def test_separated_selection_does_not_look_at_the_features() -> None:
    X, Y = make_problem()
    shuffled = np.random.default_rng(0).permutation(X)
    settings: dict[str, Any] = {"n_landmarks": 3, "joint": False, "random_state": 0}
    seen, blind = (SPLMLL("linear", **settings).fit(x, Y) for x in (X, shuffled))
    assert_array_equal(seen.selection_, blind.selection_)
    # The objective was solved without errors of f.
    assert (seen.objective_["predictability"] == 0).all()
    joint = {**settings, "joint": True}
    seen, blind = (SPLMLL("linear", **joint).fit(x, Y) for x in (X, shuffled))
    assert np.abs(seen.selection_ - blind.selection_).max() > 1e-3


def test_joint_selection_avoids_what_cannot_be_predicted() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    seen = (X[:, 0] > 0).astype(int)
    unseen = rng.integers(0, 2, 400)
    # Labels 0 and 1 are equally representative: each has a copy with a few errors.
    copies = [label ^ (rng.random(400) < 0.1) for label in (seen, unseen)]
    Y = np.column_stack([seen, unseen, *copies])
    joint = SPLMLL("linear", selection="hard", n_landmarks=1, random_state=0).fit(X, Y)
    assert joint.landmarks_[0] in (0, 2)
    assert abs(joint.representativeness_[0] - joint.representativeness_[1]) < 0.1
    separated = SPLMLL("linear", n_landmarks=2, joint=False, random_state=0).fit(X, Y)
    assert len({0, 2} & set(separated.landmarks_)) == 1
    assert len({1, 3} & set(separated.landmarks_)) == 1


def test_separated_algorithm1_leaves_f_alone_until_b_and_a_are_done() -> None:
    X, Y = make_problem()
    model = SPLMLL.as_published(
        linear=True, joint=False, max_epochs=20, patience=20, random_state=0
    ).fit(X, Y)
    table = model.objective_
    # Ten epochs for B and A, ten for f: then only the error of f still moves.
    later = table.iloc[10:]
    assert later["representativeness"].nunique() == 1
    assert later["sparsity"].nunique() == 1
    assert later["predictability"].iloc[-1] < later["predictability"].iloc[0]
    assert table["representativeness"].iloc[10] < table["representativeness"].iloc[0]


def test_predictability_of_labels_f_never_learned_is_not_known() -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", joint=False, n_landmarks=3, random_state=0).fit(X, Y)
    rest = np.setdiff1d(np.arange(8), model.landmarks_)
    assert np.isfinite(model.predictability_[model.landmarks_]).all()
    assert np.isnan(model.predictability_[rest]).all()
