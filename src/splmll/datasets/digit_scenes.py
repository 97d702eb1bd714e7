"""Generated pictures that show several handwritten digits: a real image task without a download.

The digits are scikit-learn's own 8 x 8 ones, and some of them like to appear together.
"""

from __future__ import annotations

import numpy as np

from splmll.datasets.checks import LABEL_TYPE
from splmll.datasets.dataset import Dataset
from splmll.exceptions import DatasetError

DIGIT_NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_DIGIT_SIDE = 8
# Digits that appear together on purpose; some stand in two groups, so that it is no partition.
_TEMPLATES = ((0, 6, 8), (1, 7), (2, 3, 5), (4, 9, 7), (3, 8))
_IN_TEMPLATE = 0.8  # chance of a digit of the picture's template
_BY_CHANCE = 0.04  # chance of any other digit
_TEST_SHARE = 0.3  # of the source digits, kept for the test pictures


def make_digit_scenes(
    n_train: int = 3000, n_test: int = 1000, size: int = 24, random_state: int = 0
) -> Dataset:
    """Generate grey pictures with several handwritten digits; the labels say which.

    Each picture draws one of five groups of digits, shows each of the group with a
    chance of 0.8 and every other digit with a chance of 0.04, at least one in all, each in a
    place of its own, moved by up to one pixel. No handwritten digit of a training picture
    appears in a test picture.

    Parameters
    ----------
    n_train, n_test : int
        How many pictures.
    size : int
        Height and width in pixels, at least 16; there is room for ``(size // 8) ** 2`` digits.
    random_state : int
        Seed; the same seed gives the same pictures.

    Returns
    -------
    Dataset
        X holds float32 in [0, 1], one flattened picture per row; `Dataset.images` gives
        them as (n, 1, size, size).

    Examples
    --------
    >>> from splmll.datasets import make_digit_scenes
    >>> scenes = make_digit_scenes(n_train=30, n_test=10)
    >>> scenes
    <Dataset 'digit-scenes': 40 rows, 576 features (dense), 10 labels, split 30 + 10>
    >>> scenes.images.shape
    (40, 1, 24, 24)
    """
    if size < 2 * _DIGIT_SIDE:
        raise DatasetError(f"size={size} has no room for two digits; use at least 16")
    if n_train < 1 or n_test < 0:
        raise DatasetError(
            f"n_train={n_train}, n_test={n_test}: ask for one training picture or more"
        )
    from sklearn.datasets import load_digits

    source = load_digits()
    pictures = (source.images / source.images.max()).astype(np.float32)
    rng = np.random.default_rng(random_state)
    train_pools, test_pools = _split_sources(source.target, rng)
    train_X, train_Y = _draw(n_train, size, pictures, train_pools, rng)
    test_X, test_Y = _draw(n_test, size, pictures, test_pools, rng)
    return Dataset(
        X=np.concatenate([train_X, test_X]).reshape(n_train + n_test, -1),
        Y=np.concatenate([train_Y, test_Y]),
        feature_names=[f"pixel_{row}_{column}" for row in range(size) for column in range(size)],
        label_names=DIGIT_NAMES,
        name="digit-scenes",
        train=np.arange(n_train),
        test=np.arange(n_train, n_train + n_test),
        image_shape=(1, size, size),
    )


def _split_sources(
    target: np.ndarray, rng: np.random.Generator
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return, for each digit, the numbers of its source pictures for training and for test."""
    train, test = [], []
    for digit in range(10):
        numbers = rng.permutation(np.flatnonzero(target == digit))
        n_test = int(_TEST_SHARE * len(numbers))
        test.append(numbers[:n_test])
        train.append(numbers[n_test:])
    return train, test


def _draw(
    n: int, size: int, pictures: np.ndarray, pools: list[np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    per_side = size // _DIGIT_SIDE
    n_places = per_side**2
    present = _draw_labels(n, n_places, rng)
    row, digit = np.nonzero(present)

    # The k-th digit of a picture goes to the k-th place of that picture's own random order.
    order = rng.random((n, n_places)).argsort(axis=1)
    rank = (np.cumsum(present, axis=1) - 1)[row, digit]
    place = order[row, rank]
    spacing = (size - _DIGIT_SIDE) / (per_side - 1)
    corner = np.rint(np.stack([place // per_side, place % per_side]) * spacing).astype(int)
    corner = np.clip(corner + rng.integers(-1, 2, corner.shape), 0, size - _DIGIT_SIDE)

    chosen = np.empty(len(row), dtype=int)
    for number, pool in enumerate(pools):
        here = digit == number
        chosen[here] = rng.choice(pool, size=int(here.sum()))

    canvas = np.zeros((n, size, size), dtype=np.float32)
    side = np.arange(_DIGIT_SIDE)
    target = (
        row[:, None, None],
        corner[0][:, None, None] + side[:, None],
        corner[1][:, None, None] + side[None, :],
    )
    # Where neighbours touch, the darker stroke stays on top.
    np.maximum.at(canvas, target, pictures[chosen])
    return canvas, present.astype(LABEL_TYPE)


def _draw_labels(n: int, n_places: int, rng: np.random.Generator) -> np.ndarray:
    in_template = np.zeros((len(_TEMPLATES), 10), dtype=bool)
    for number, template in enumerate(_TEMPLATES):
        in_template[number, list(template)] = True
    wanted = in_template[rng.integers(len(_TEMPLATES), size=n)]
    chance = rng.random((n, 10))
    present = chance < np.where(wanted, _IN_TEMPLATE, _BY_CHANCE)
    # A picture that came out empty shows the digit of its template that was nearest to it.
    empty = np.flatnonzero(~present.any(axis=1))
    present[empty, np.where(wanted, chance, np.inf)[empty].argmin(axis=1)] = True
    # No more digits than places: the ones with the largest random keys have to go.
    keys = np.where(present, rng.random((n, 10)), np.inf)
    return present & (keys.argsort(axis=1).argsort(axis=1) < n_places)
