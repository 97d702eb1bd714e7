"""What a fit will cost: the term that counts where one of rows, features and labels is large."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from splmll import SPLMLL
from splmll.embeddings import Kernel, Network
from splmll.landmarks.cost import Cost, check_memory

FLOAT = 8


def of(embedding: object, rows: int, features: int, labels: int, cv: object = 5) -> Cost:
    return SPLMLL(embedding, cv=cv).estimate_cost((rows, features), (rows, labels))


@pytest.mark.parametrize(
    ("embedding", "shape", "operations"),
    [
        # Products of the pass: half of X'X, and X'Y.
        ("linear", (10**13, 100, 10), 10**13 * (100**2 + 2 * 100 * 10)),
        # Kernels of the rows, once for every fold and once for all.
        ("linear", (300, 10**9, 10), 6 * 2 * 300**2 * 10**9),
        # Two products with X and its transpose in each of 100 iterations, 3 solutions for a fold.
        ("linear", (10**6, 10**6, 10), (3 * 5 + 1) * 100 * 4 * 10**12 * 10),
        # 30 passes of coordinate descent for 5 folds, all rows and 4 settings.
        ("svm", (10**9, 1000, 10), 4 * 10**12 * 10 * 30 * 10),
        # Kernel values and their products with the components, then the pass over those.
        (Kernel(n_components=50), (10**12, 20, 10), 10**12 * (40 * 50 + 100 * 50 + 2500 + 1000)),
        # Forward and twice that backward, on four fifths of the rows, in 5 folds.
        (Network((7,), max_epochs=3), (10**10, 20, 10), 6 * 227 * 0.8 * 10**10 * 3 * 5),
    ],
    ids=["pass", "rows", "iterations", "svm", "kernel", "network"],
)
def test_leading_operations(
    embedding: object, shape: tuple[int, int, int], operations: float
) -> None:
    assert of(embedding, *shape).operations == pytest.approx(operations, rel=0.001)


def test_operations_of_choosing_landmarks_grow_with_the_cube_of_the_labels() -> None:
    few, many = (of("linear", 1000, 10, labels).operations for labels in (1000, 2000))
    assert many / few == pytest.approx(8, rel=0.02)


@pytest.mark.parametrize(
    ("embedding", "shape", "memory"),
    [
        # A copy of the rows centred and one in the folds.
        ("linear", (300, 10**9, 10), 2 * FLOAT * 300 * 10**9),
        # The same, and the map.
        ("linear", (10**6, 10**6, 1000), 2 * (FLOAT * 10**12 + 10**9) + FLOAT * 10**9),
        # The components of all rows twice, and out-of-fold predictions; the pass needs no more.
        (Kernel(n_components=50), (10**12, 20, 10), FLOAT * (2 * 50 + 10) * 10**12),
        # Weights in single precision, two sets of them, and two copies of the data.
        ("svm", (1, 10**9, 1000), 2 * 4 * 10**12 + 2 * FLOAT * 10**9),
        # Of each of 5 networks its weights, and of the one in training 4 numbers a weight.
        (Network((10**6,)), (1, 1000, 10), 4 * (4 + 5) * 1011 * 10**6),
    ],
    ids=["rows", "iterations", "kernel", "svm", "network"],
)
def test_leading_memory(embedding: object, shape: tuple[int, int, int], memory: float) -> None:
    assert of(embedding, *shape).memory == pytest.approx(memory, rel=0.005)


def test_memory_of_choosing_landmarks_grows_with_the_square_of_the_labels() -> None:
    few, many = (of("svm", 1, 2, labels).memory for labels in (1000, 2000))
    assert many / few == pytest.approx(4, rel=0.02)


def test_networks_that_are_trained_at_once_need_their_memory_at_once() -> None:
    network = Network((10**6,))
    one, three, all_of_them = (
        SPLMLL(network, cv=5, n_jobs=jobs).estimate_cost((1, 1000), (1, 10)).memory
        for jobs in (1, 3, 64)
    )
    assert three / one == pytest.approx((4 * 3 + 5) / (4 + 5), rel=0.01)
    assert all_of_them / one == pytest.approx((4 * 5 + 5) / (4 + 5), rel=0.01)


def test_sparse_rows_cost_what_is_stored() -> None:
    X = sparse.csr_array(
        (np.ones(1000), np.arange(1000) % 500, np.arange(0, 1001, 10)), shape=(100, 500)
    )
    Y = sparse.csr_array(np.eye(100, 4))
    cost = SPLMLL("svm").estimate_cost(X, Y)
    assert cost.data == 1000 * (8 + 4) + 4  # a value and its column; one byte for a label
    dense = SPLMLL("svm").estimate_cost(np.zeros((100, 500)), Y)
    assert dense.data == 100 * 500 * 8 + 4
    assert dense.operations > cost.operations


def test_a_blend_needs_the_memory_of_one_and_the_time_of_all() -> None:
    shape = 4000, 100, 10
    parts = [of(each, *shape) for each in ("linear", "mlp")]
    both = of(["linear", "mlp"], *shape)
    assert both.memory == max(part.memory for part in parts)
    assert both.operations == pytest.approx(sum(part.operations for part in parts))


def test_exactly_what_there_is_suffices() -> None:
    cost = of("linear", 2000, 50, 10)
    check_memory(cost, limit=cost.memory)
    with pytest.raises(MemoryError, match="Use fewer features or labels"):
        check_memory(cost, limit=cost.memory - 1)
