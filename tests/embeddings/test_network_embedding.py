"""Networks of folds, and torch modules of one's own, for tables and for pictures."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from embedding_problems import data, small_network
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from torch import nn

from splmll import SPLMLL
from splmll.datasets import make_digit_scenes
from splmll.embeddings import FitContext, Network, TorchModule
from splmll.neural import Logistic, forward


def fitted(f: Any, seed: int = 1, **context: Any) -> Any:
    return f.fit(*data(), FitContext(seed=seed, **context))


# Networks ---------------------------------------------------------------------------------------


def test_networks_of_folds_are_averaged_and_do_not_see_their_fold() -> None:
    X, _, fold = data()
    f = fitted(small_network())
    outputs = [forward(model, X).numpy().astype(float) for model in f.models_]
    assert len(outputs) == 3
    assert_allclose(f.predict(X), np.mean(outputs, axis=0), atol=1e-6)
    for k in range(3):
        assert_allclose(f.out_of_fold_[fold == k], outputs[k][fold == k], atol=1e-6)
        # Features are standardised by the rows of the other folds.
        standard = f.models_[k].logits[0]
        assert_allclose(standard.mean, X[fold != k].mean(axis=0), rtol=1e-5)


def test_the_network_is_built_as_asked() -> None:
    f = fitted(Network((7, 5), dropout=0.25, scale=None, max_epochs=1))
    layers = list(f.models_[0].logits)
    widths = [(p.in_features, p.out_features) for p in layers if isinstance(p, nn.Linear)]
    assert widths == [(6, 7), (7, 5), (5, 3)]
    assert [p.p for p in layers if isinstance(p, nn.Dropout)] == [0.25, 0.25]


def test_both_losses() -> None:
    entropy, squared = fitted(small_network()), fitted(small_network(loss="squared"))
    assert all(isinstance(model, Logistic) for model in entropy.models_)
    assert 0 < entropy.out_of_fold_.min() < entropy.out_of_fold_.max() < 1
    # Trained by another loss from the same start: other weights, not another reading of them.
    for model, other in zip(entropy.models_, squared.models_, strict=True):
        assert not isinstance(other, Logistic)
        assert not torch.allclose(model.logits[1][-1].weight, other[1][-1].weight, atol=1e-3)


def test_training_stops_when_held_rows_no_longer_gain() -> None:
    X, _, fold = data(n=120)
    noise = np.random.default_rng(0).integers(0, 2, (120, 3)).astype(float)
    epochs: list[int] = []

    def report(fold: int, most: int, snapshot: Any) -> bool:
        assert most == 200
        epochs.append(fold)
        return False

    f = small_network(max_epochs=200, patience=3)
    f.fit(X, noise, fold, FitContext(seed=0, report=report))
    assert set(epochs) == {0, 1, 2}
    assert len(epochs) < 150


def test_a_report_can_stop_a_fold_and_look_at_the_network() -> None:
    X, _, _ = data()
    seen = []

    def report(fold: int, most: int, snapshot: Any) -> bool:
        seen.append(snapshot().predict(X))
        return len(seen) % 2 == 0

    fitted(small_network(), report=report)
    assert len(seen) == 6
    assert seen[0].shape == (90, 3)
    assert np.abs(seen[0] - seen[1]).max() > 1e-4


def test_a_warm_start_goes_on_from_the_networks_before() -> None:
    X, Y, fold = data()
    first = fitted(small_network())
    still = small_network(learning_rate=1e-12, weight_decay=0.0, max_epochs=1)
    still.fit(X, Y, fold, FitContext(seed=5, previous=first))
    assert_allclose(still.predict(X), first.predict(X), atol=1e-5)


def test_threads_do_not_change_the_result() -> None:
    one = fitted(small_network(max_epochs=3))
    with parallel_config("threading"):  # the hard case: threads share torch's random state
        two = fitted(small_network(max_epochs=3), n_jobs=3)
    assert_array_equal(one.out_of_fold_, two.out_of_fold_)


def test_the_random_state_of_torch_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    fitted(small_network(max_epochs=2))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_loss_that_explodes_names_the_cause() -> None:
    with pytest.raises(
        FloatingPointError,
        match=r"became (nan|inf) in epoch \d+: .* Lower learning_rate \(now 1e\+30",
    ):
        fitted(small_network(learning_rate=1e30))


# Modules of one's own ---------------------------------------------------------------------------


def test_a_module_is_copied_not_trained() -> None:
    module = nn.Linear(6, 3)
    before = module.weight.detach().clone()
    f = fitted(TorchModule(module, batch_size=16, max_epochs=3))
    assert torch.equal(module.weight, before)
    assert all(isinstance(model, nn.Linear) for model in f.models_)
    assert not torch.equal(f.models_[0].weight, before)


def test_a_module_by_either_loss() -> None:
    module = nn.Linear(6, 3)
    plain = fitted(TorchModule(module, max_epochs=2)).out_of_fold_
    bounded = fitted(TorchModule(module, loss="cross_entropy", max_epochs=2)).out_of_fold_
    assert not (plain.min() >= 0 and plain.max() <= 1)
    assert bounded.min() >= 0
    assert bounded.max() <= 1


# Pictures and datasets, through the estimator ----------------------------------------------------


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


def convolutions(n_labels: int = 10) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 49, n_labels)
    )


def estimator(n_labels: int = 10, n_landmarks: int | None = None, **changes: Any) -> SPLMLL:
    settings = {"learning_rate": 0.01, "batch_size": 16, "max_epochs": 4, **changes}
    embedding = TorchModule(convolutions(n_labels), **settings)
    return SPLMLL(embedding, n_landmarks=n_landmarks, cv=2, random_state=0)


Scenes = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    scenes = make_digit_scenes(n_train=120, n_test=0, size=16)
    return scenes.images, np.asarray(scenes.Y)


@pytest.fixture(scope="module")
def model(scenes: Scenes) -> SPLMLL:
    return estimator().fit(*scenes)


def test_pictures_go_in_as_they_are(model: SPLMLL, scenes: Scenes) -> None:
    pictures, labels = scenes
    assert pictures.shape == (120, 1, 16, 16)
    assert model.predict(pictures).shape == labels.shape
    assert model.predict_proba(pictures[:3]).shape == (3, 10)
    with torch.no_grad():
        outputs = [f(torch.as_tensor(pictures)).numpy() for f in model.embedding_.models_]
    expected = np.mean(outputs, axis=0)[:, model.landmarks_]
    assert_allclose(model.transform(pictures), expected, atol=1e-5)


def test_a_bare_module_is_enough(scenes: Scenes) -> None:
    X, Y, _ = data()
    bare = SPLMLL(nn.Linear(6, 3), cv=2, random_state=0).fit(X, Y)
    assert isinstance(bare.embedding_, TorchModule)
    assert bare.n_features_in_ == 6
    with pytest.raises(ValueError, match="X has 5 features"):
        bare.predict(X[:, :5])


def test_the_module_learns(scenes: Scenes) -> None:
    pictures, labels = scenes
    model = estimator(max_epochs=40, patience=40).fit(pictures, labels)
    scores = model.decision_function(pictures)
    assert scores[labels == 1].mean() > scores[labels == 0].mean() + 0.2


@pytest.mark.parametrize("inside", [True, False], ids=["labels inside", "labels beside"])
def test_a_dataset_instead_of_an_array(model: SPLMLL, scenes: Scenes, inside: bool) -> None:
    pictures, labels = scenes
    given = (Pairs(pictures, labels),) if inside else (Pairs(pictures), labels)
    again = estimator().fit(*given)
    assert_allclose(again.decision_function(pictures), model.decision_function(pictures), atol=1e-6)


def test_prediction_of_datasets(model: SPLMLL, scenes: Scenes) -> None:
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


def test_a_dataset_without_labels_is_refused(scenes: Scenes) -> None:
    pictures, labels = scenes
    with pytest.raises(ValueError, match=r"\(features, labels\).*Y"):
        estimator().fit(Pairs(pictures))
    with pytest.raises(ValueError, match="y"):
        estimator().fit(pictures)
    with pytest.raises(ValueError, match="inconsistent"):
        estimator().fit(Pairs(pictures), labels[:-1])


def test_strange_pixels_are_refused(scenes: Scenes) -> None:
    pictures, labels = scenes
    broken = pictures.copy()
    broken[3, 0, 2, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator().fit(broken, labels)


def test_a_module_with_another_number_of_outputs_is_named(scenes: Scenes) -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 7\) for one row, but there are 10 labels"):
        estimator(7).fit(*scenes)


def test_clone_and_pickle(model: SPLMLL, scenes: Scenes) -> None:
    pictures, labels = scenes
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(pictures), model.decision_function(pictures))
    copy = clone(model)
    assert not hasattr(copy, "embedding_")
    refit = copy.fit(pictures, labels)
    assert_allclose(refit.decision_function(pictures), model.decision_function(pictures), atol=1e-6)


def test_landmarks_work_as_with_any_other_embedding(scenes: Scenes) -> None:
    pictures, labels = scenes
    model = estimator(n_landmarks=4).fit(pictures, labels)
    assert len(model.landmarks_) == 4
    assert model.recover(labels[:, model.landmarks_]).shape == labels.shape
    scores = model.decision_function(pictures[:2]) + model.offset_
    assert_allclose(model.explain(pictures[:2]).scores, scores, atol=1e-6)
    path = model.landmark_path(Pairs(pictures, labels), None, counts=[2, 6])
    assert [len(landmarks) for landmarks in path.landmarks] == [2, 6]
