"""Blends: weights learned out of fold, and parameters reached by name."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_problems import data
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from splmll.embeddings import Blend, Embedding, FitContext, Kernel, Linear, Network, Trees
from splmll.embeddings.blend import mixing_weights


class Fixed(Embedding):
    """An embedding whose predictions are given."""

    def __init__(self, predictions: np.ndarray) -> None:
        self.predictions = predictions

    def fit(self, X, Y, fold, context: FitContext | None = None) -> Fixed:
        self.out_of_fold_ = self.predictions
        self.outputs_ = np.arange(self.predictions.shape[1])
        return self

    def finish(self, X, Y, outputs: np.ndarray) -> None:
        self.outputs_ = outputs

    def predict(self, X) -> np.ndarray:
        return self.predictions[:, self.outputs_]


def blend_of(*predictions: np.ndarray, Y: np.ndarray, shrinkage: float = 0.1) -> Blend:
    blend = Blend([Fixed(part) for part in predictions], shrinkage=shrinkage)
    return blend.fit(np.zeros((len(Y), 1)), Y, np.arange(len(Y)) % 2)


@given(seed=st.integers(0, 2**32 - 1), M=st.integers(1, 4), unknown=st.booleans())
@settings(max_examples=30, deadline=None)
def test_weights_are_shares(seed: int, M: int, unknown: bool) -> None:
    rng = np.random.default_rng(seed)
    Y = (rng.random((60, 4)) < 0.4).astype(float)
    parts = [rng.normal() * Y + rng.normal(size=Y.shape) for _ in range(M)]
    Y[:, 3] = 0.0  # nothing to learn from
    if unknown:
        Y[rng.random(Y.shape) < 0.3] = np.nan
        Y[:, 2] = np.nan
    blend = blend_of(*parts, Y=Y)
    assert blend.weights_.shape == (M, 4)
    assert (blend.weights_ >= 0).all()
    assert_allclose(blend.weights_.sum(axis=0), 1)
    assert_allclose(blend.weights_[:, 3], 1 / M)
    mixed = sum(weights * part for weights, part in zip(blend.weights_, parts, strict=True))
    for k in (0, 1):  # a fold is mixed by the weights of the other
        held = np.arange(60) % 2 == k
        others = blend_of(*parts, Y=np.where(held[:, None], np.nan, Y)).weights_
        expected = sum(w * part[held] for w, part in zip(others, parts, strict=True))
        assert_allclose(blend.out_of_fold_[held], expected, atol=1e-12)
    blend.finish(None, Y, np.array([3, 1]))
    assert_allclose(blend.predict(None), np.asarray(mixed)[:, [3, 1]], atol=1e-12)


def test_learned_weights_are_better_than_the_mean_and_the_useless_get_little() -> None:
    rng = np.random.default_rng(1)
    Y = (rng.random((300, 3)) < 0.4).astype(float)
    good = Y + 0.3 * rng.normal(size=Y.shape)
    fair = Y + 0.5 * rng.normal(size=Y.shape)
    useless = rng.normal(size=Y.shape)
    parts = [good, fair, useless]
    blend = blend_of(*parts, Y=Y)

    def error(F: np.ndarray) -> np.ndarray:
        return np.mean((F - Y) ** 2, axis=0)

    assert (error(blend.out_of_fold_) < error(np.mean(parts, axis=0))).all()
    assert (error(blend.out_of_fold_) < error(good)).all()  # different errors cancel
    assert (blend.weights_[0] > blend.weights_[1]).all()
    assert (blend.weights_[2] < 0.1).all()


def test_each_label_has_its_own_weights() -> None:
    rng = np.random.default_rng(2)
    Y = (rng.random((300, 2)) < 0.4).astype(float)
    first, second = Y + rng.normal(size=Y.shape), Y + rng.normal(size=Y.shape)
    first[:, 0], second[:, 1] = Y[:, 0], Y[:, 1]
    weights = blend_of(first, second, Y=Y).weights_
    assert weights[0, 0] > 0.8
    assert weights[1, 1] > 0.8


def test_shrinkage_pulls_the_weights_to_the_mean() -> None:
    rng = np.random.default_rng(3)
    Y = (rng.random((100, 1)) < 0.4).astype(float)
    parts = [Y + 0.2 * rng.normal(size=Y.shape), Y + rng.normal(size=Y.shape)]
    shares = [blend_of(*parts, Y=Y, shrinkage=s).weights_[0, 0] for s in (0.0, 1.0, 1e6)]
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] == pytest.approx(0.5, abs=1e-4)
    # Without shrinkage the shares are those of least squares, found on a grid.
    grid = np.linspace(0, 1, 1001)
    errors = [np.mean((w * parts[0] + (1 - w) * parts[1] - Y) ** 2) for w in grid]
    assert shares[0] == pytest.approx(grid[np.argmin(errors)], abs=0.05)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_a_row_of_weight_three_is_that_row_three_times(seed: int) -> None:
    rng = np.random.default_rng(seed)
    label = np.array([0.0, 1.0, *rng.integers(0, 2, 28)])
    predictions = 0.5 * label + rng.normal(size=(3, 30))
    times = rng.integers(0, 4, 30)
    times[:2] = 1  # both values are there
    found = mixing_weights(predictions, label, 0.1, times.astype(float))
    expected = mixing_weights(predictions.repeat(times, axis=1), label.repeat(times), 0.1)
    assert_allclose(found, expected, atol=1e-9)


def test_members_are_what_was_given_and_stay_as_they_were() -> None:
    X, Y, fold = data()
    given_members = ["linear", Trees(n_estimators=3), LogisticRegression()]
    blend = Blend(given_members).fit(X, Y, fold)
    assert [type(member).__name__ for member in blend.members_] == ["Linear", "Trees", "OneVsRest"]
    assert blend.members == given_members
    assert not hasattr(given_members[1], "models_")
    for member, predicted in zip(blend.members_, blend.members_, strict=True):
        assert member.out_of_fold_.shape == predicted.out_of_fold_.shape == (90, 3)


def test_an_empty_blend_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one member"):
        Blend([]).check()
    with pytest.raises(ValueError, match=r"'members' parameter"):
        Blend("linear").check()
    with pytest.raises(ValueError, match=r"'dropout' parameter of Network"):
        Blend([Linear(), Network(dropout=2.0)]).check()


# Parameters of the members ----------------------------------------------------------------------


def test_parameters_of_members_are_reached_by_the_name_of_their_class() -> None:
    blend = Blend([Network(), Kernel()])
    params = blend.get_params()
    assert params["network__dropout"] == 0.5
    assert params["kernel__ridge"] == "auto"
    assert "network__dropout" not in blend.get_params(deep=False)
    blend.set_params(network__dropout=0.25, kernel=Kernel(ridge=2.0), shrinkage=0.5)
    assert blend.members[0].dropout == 0.25
    assert blend.members[1].ridge == 2.0
    assert blend.shrinkage == 0.5
    with pytest.raises(ValueError, match="Invalid parameter"):
        blend.set_params(trees__n_estimators=3)


def test_several_of_a_class_are_counted() -> None:
    blend = Blend([Trees(n_estimators=2), Linear(), Trees(n_estimators=3)])
    assert blend.get_params()["trees_2__n_estimators"] == 3
    blend.set_params(trees_1__n_estimators=7)
    assert [blend.members[0].n_estimators, blend.members[2].n_estimators] == [7, 3]


def test_a_member_by_name_has_parameters_too() -> None:
    blend = Blend(["mlp", "kernel"])
    blend.set_params(mlp__dropout=0.1)
    assert isinstance(blend.members[0], Network)
    assert blend.members[0].dropout == 0.1
    assert blend.members[1] == "kernel"


def test_a_clone_has_members_of_its_own() -> None:
    blend = Blend([Linear(ridge=0.5), "trees"], shrinkage=0.3)
    copy = clone(blend)
    assert repr(copy) == repr(blend)
    copy.set_params(linear__ridge=9.0)
    assert blend.members[0].ridge == 0.5
