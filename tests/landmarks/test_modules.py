"""End to end: any torch module from the input to one output per label."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from landmark_problems import QUICK_NETWORK, make_problem
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from torch import nn

from splmll import SPLMLL
from splmll.datasets import make_digit_scenes

QUICK = {**QUICK_NETWORK, "max_epochs": 4, "cv": 2, "batch_size": 16}


class Pairs(torch.utils.data.Dataset):
    """A torch Dataset of pictures with their labels, or of pictures alone."""

    def __init__(self, pictures: np.ndarray, labels: np.ndarray | None = None) -> None:
        self.pictures, self.labels = torch.as_tensor(pictures), labels

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, number: int) -> Any:
        if self.labels is None:
            return self.pictures[number]
        return self.pictures[number], torch.as_tensor(self.labels[number])


def small_network(n_labels: int = 10) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 49, n_labels)
    )


@pytest.fixture(scope="module")
def scenes() -> tuple[np.ndarray, np.ndarray]:
    data = make_digit_scenes(n_train=120, n_test=0, size=16)
    return data.images, np.asarray(data.Y)


@pytest.fixture(scope="module")
def model(scenes: tuple[np.ndarray, np.ndarray]) -> SPLMLL:
    return SPLMLL(small_network(), **QUICK).fit(*scenes)


def test_pictures_go_in_as_they_are(model: SPLMLL, scenes: tuple[np.ndarray, np.ndarray]) -> None:
    pictures, labels = scenes
    assert pictures.shape == (120, 1, 16, 16)
    assert model.predict(pictures).shape == labels.shape
    assert model.predict_proba(pictures[:3]).shape == (3, 10)
    f = model.transform(pictures)
    networks = model.embedding_.models
    with torch.no_grad():
        outputs = [network(torch.as_tensor(pictures)).numpy() for network in networks]
    assert_allclose(f, np.mean(outputs, axis=0)[:, model.landmarks_], atol=1e-5)


def test_the_module_learns(scenes: tuple[np.ndarray, np.ndarray]) -> None:
    pictures, labels = scenes
    settings = {**QUICK, "max_epochs": 40, "patience": 40}
    scores = SPLMLL(small_network(), **settings).fit(pictures, labels).decision_function(pictures)
    assert scores[labels == 1].mean() > scores[labels == 0].mean() + 0.2


def test_the_callers_module_is_not_touched(scenes: tuple[np.ndarray, np.ndarray]) -> None:
    module = small_network()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    model = SPLMLL(module, **QUICK).fit(*scenes)
    assert model.embedding is module
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name])
    trained = model.embedding_.models[0].state_dict()
    assert any(not torch.equal(trained[name], before[name]) for name in before)


def test_a_dataset_with_labels_inside(model: SPLMLL, scenes: tuple[np.ndarray, np.ndarray]) -> None:
    pictures, labels = scenes
    again = SPLMLL(small_network(), **QUICK).fit(Pairs(pictures, labels))
    assert_allclose(again.decision_function(pictures), model.decision_function(pictures), atol=1e-6)


def test_a_dataset_with_labels_beside_it(
    model: SPLMLL, scenes: tuple[np.ndarray, np.ndarray]
) -> None:
    pictures, labels = scenes
    again = SPLMLL(small_network(), **QUICK).fit(Pairs(pictures), labels)
    assert_allclose(again.decision_function(pictures), model.decision_function(pictures), atol=1e-6)


def test_prediction_of_datasets(model: SPLMLL, scenes: tuple[np.ndarray, np.ndarray]) -> None:
    pictures, labels = scenes
    for dataset in (
        Pairs(pictures),
        Pairs(pictures, labels),
        torch.utils.data.TensorDataset(torch.as_tensor(pictures)),
    ):
        assert_array_equal(model.predict(dataset), model.predict(pictures))
        assert_allclose(model.transform(dataset), model.transform(pictures), atol=1e-6)
    some = torch.utils.data.Subset(Pairs(pictures), [5, 3])
    assert_array_equal(model.predict(some), model.predict(pictures[[5, 3]]))


def test_a_dataset_without_labels_is_refused(scenes: tuple[np.ndarray, np.ndarray]) -> None:
    pictures, labels = scenes
    with pytest.raises(ValueError, match=r"\(features, labels\).*Y"):
        SPLMLL(small_network(), **QUICK).fit(Pairs(pictures))
    with pytest.raises(ValueError, match="y"):
        SPLMLL(small_network(), **QUICK).fit(pictures)
    with pytest.raises(ValueError, match="inconsistent"):
        SPLMLL(small_network(), **QUICK).fit(Pairs(pictures), labels[:-1])


def test_strange_pixels_are_refused(scenes: tuple[np.ndarray, np.ndarray]) -> None:
    pictures, labels = scenes
    broken = pictures.copy()
    broken[3, 0, 2, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SPLMLL(small_network(), **QUICK).fit(broken, labels)


def test_a_module_with_another_number_of_outputs_is_named(
    scenes: tuple[np.ndarray, np.ndarray],
) -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 7\) for one row, but there are 10 labels"):
        SPLMLL(small_network(7), **QUICK).fit(*scenes)


def test_clone_and_pickle(model: SPLMLL, scenes: tuple[np.ndarray, np.ndarray]) -> None:
    pictures, labels = scenes
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(pictures), model.decision_function(pictures))
    copy = clone(model)
    assert not hasattr(copy, "landmarks_")
    refit = copy.fit(pictures, labels)
    assert_allclose(refit.decision_function(pictures), model.decision_function(pictures), atol=1e-6)


@pytest.mark.parametrize("cv", [None, 2])
def test_algorithm1_end_to_end(scenes: tuple[np.ndarray, np.ndarray], cv: int | None) -> None:
    pictures, labels = scenes
    settings: dict[str, Any] = {"max_epochs": 3, "random_state": 0, "cv": cv}
    model = SPLMLL.as_published(embedding=small_network(), **settings).fit(pictures, labels)
    assert_array_equal(model.predict(Pairs(pictures)), model.predict(pictures))
    assert model.objective_["predictability"].iloc[-1] < model.objective_["predictability"].iloc[0]
    from_dataset = SPLMLL.as_published(embedding=small_network(), **settings)
    from_dataset.fit(Pairs(pictures, labels))
    assert_allclose(
        from_dataset.decision_function(pictures), model.decision_function(pictures), atol=1e-6
    )


def test_landmarks_work_as_with_any_other_embedding(
    scenes: tuple[np.ndarray, np.ndarray],
) -> None:
    pictures, labels = scenes
    model = SPLMLL(small_network(), **{**QUICK, "n_landmarks": 4}).fit(pictures, labels)
    assert len(model.landmarks_) == 4
    assert model.recover(labels[:, model.landmarks_]).shape == labels.shape
    explanation = model.explain(pictures[:2])
    assert_allclose(
        explanation.scores, model.decision_function(pictures[:2]) + model.offset_, atol=1e-10
    )
    path = model.landmark_path(Pairs(pictures, labels), None, counts=[2, 6])
    assert [len(landmarks) for landmarks in path.landmarks] == [2, 6]


def test_a_module_for_tables() -> None:
    X, Y = make_problem(100)
    model = SPLMLL(nn.Linear(10, 8), **QUICK).fit(X, Y)
    assert model.n_features_in_ == 10
    with pytest.raises(ValueError, match="X has 9 features"):
        model.predict(X[:, :9])
