"""The generated pictures: seeded, honest about their labels, train and test kept apart."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from splmll.datasets import DatasetError, load_dataset, make_digit_scenes
from splmll.datasets.digit_scenes import _split_sources


def test_shape_and_range() -> None:
    data = make_digit_scenes(n_train=200, n_test=50)
    assert data.X.shape == (250, 576)
    assert data.X.dtype == np.float32
    assert data.images.shape == (250, 1, 24, 24)
    assert data.X.min() == 0
    assert 0.9 < data.X.max() <= 1
    assert data.feature_names[25] == "pixel_1_1"
    assert data.label_names[0] == "zero"
    assert data.label_names[9] == "nine"
    assert (data.Y.sum(axis=1) >= 1).all()
    assert data.train.tolist() == list(range(200))
    assert data.test.tolist() == list(range(200, 250))


def test_seed_decides() -> None:
    first, again = make_digit_scenes(60, 20), make_digit_scenes(60, 20)
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.Y, again.Y)
    assert not np.array_equal(first.Y, make_digit_scenes(60, 20, random_state=1).Y)


def test_ink_is_the_ink_of_the_labels() -> None:
    # Digits hardly overlap, so a picture has about as much ink as the digits it shows.
    data = make_digit_scenes(n_train=2000, n_test=0)
    digits = load_digits()
    per_digit = [digits.images[digits.target == d].sum(axis=(1, 2)).mean() / 16 for d in range(10)]
    coefficients = np.linalg.lstsq(data.Y.astype(float), data.X.sum(axis=1), rcond=None)[0]
    np.testing.assert_allclose(coefficients, per_digit, rtol=0.1)


def test_digits_that_belong_together_appear_together() -> None:
    Y = make_digit_scenes(n_train=4000, n_test=0).Y.astype(float)
    correlation = np.corrcoef(Y.T)
    assert correlation[0, 6] > 0.4
    assert correlation[2, 5] > 0.4
    assert correlation[0, 2] < 0


def test_sources_of_train_and_test_are_disjoint() -> None:
    target = load_digits().target
    train, test = _split_sources(target, np.random.default_rng(0))
    assert not set(np.concatenate(train)) & set(np.concatenate(test))
    for digit, pool in enumerate(train):
        assert set(target[pool]) == {digit}


def test_a_picture_of_one_digit_shows_a_digit_of_its_own_part() -> None:
    # Every picture with a single digit must contain one source digit of that class exactly.
    data = make_digit_scenes(n_train=150, n_test=150)
    digits = load_digits()
    pools = _split_sources(digits.target, np.random.default_rng(0))
    checked = 0
    for rows, pool in ((data.train, pools[0]), (data.test, pools[1])):
        for row in rows[data.Y[rows].sum(axis=1) == 1]:
            digit = int(data.Y[row].argmax())
            windows = np.lib.stride_tricks.sliding_window_view(data.images[row, 0], (8, 8))
            patches = windows.reshape(-1, 64)
            whole = patches[np.isclose(patches.sum(axis=1), data.X[row].sum())]
            sources = digits.images[pool[digit]].reshape(-1, 64) / 16
            assert np.abs(whole[:, None] - sources[None]).max(axis=2).min() < 1e-6
            checked += 1
    assert checked > 20


def test_small_and_impossible_sizes() -> None:
    small = make_digit_scenes(n_train=300, n_test=1, size=16)
    assert small.image_shape == (1, 16, 16)
    assert small.Y.sum(axis=1).max() <= 4
    for arguments in ({"size": 15}, {"n_train": 0}, {"n_test": -1}):
        with pytest.raises(DatasetError):
            make_digit_scenes(**arguments)


def test_by_name() -> None:
    assert load_dataset("digit-scenes").X.shape == (4000, 576)
