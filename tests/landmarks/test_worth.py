"""What predictions are worth once all labels are recovered from them."""

from __future__ import annotations

import numpy as np
import pytest

from splmll.landmarks.worth import worth_after_recovery

FLAWLESS = -4 * np.log(1e-6)  # all four errors as small as they are allowed to count


def problem(noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities with some noise, and labels of which the last follows the first."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((300, 4)) < [0.4, 0.3, 0.2, 0.0]) * 1.0
    Y[:, 3] = Y[:, 0]
    return np.clip(Y + noise * rng.normal(size=Y.shape), 0.01, 0.99), Y


def test_no_error_is_worth_most() -> None:
    F, Y = problem(0.0)
    assert worth_after_recovery(F, Y) == pytest.approx(FLAWLESS)
    values = [worth_after_recovery(*problem(noise)) for noise in (0.3, 0.5, 0.8)]
    assert FLAWLESS > values[0] > values[1] > values[2]


def test_what_one_label_says_of_another_counts() -> None:
    """Noise in place of a label's own predictions costs nothing if another label tells it."""
    F, Y = problem(0.2)
    noise = np.random.default_rng(1).random(len(F))
    followed, alone = F.copy(), F.copy()
    followed[:, 3], alone[:, 1] = noise, noise
    assert worth_after_recovery(followed, Y) > worth_after_recovery(alone, Y) + 1


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_label_that_never_varies_is_recovered_as_it_is(value: float) -> None:
    """Whatever was predicted for it costs next to nothing."""
    F, Y = problem(0.5)
    constant = np.full((len(Y), 1), value)
    misled = np.hstack([F, np.random.default_rng(2).random((len(Y), 1))])
    right = np.hstack([F, constant])
    found, expected = (
        worth_after_recovery(each, np.hstack([Y, constant])) for each in (misled, right)
    )
    assert found == pytest.approx(expected, rel=0.05)


def test_the_order_of_labels_does_not_matter() -> None:
    F, Y = problem(0.5)
    order = [2, 0, 3, 1]
    found = worth_after_recovery(F[:, order], Y[:, order])
    assert found == pytest.approx(worth_after_recovery(F, Y))


def test_without_two_rows_that_have_labels_nothing_is_said() -> None:
    F, Y = problem(0.3)
    Y[:] = 0
    assert worth_after_recovery(F, Y) == 0
    Y[5, 1] = 1
    assert worth_after_recovery(F, Y) == 0
    Y[6, 1] = 1
    assert worth_after_recovery(F, Y) > 0
