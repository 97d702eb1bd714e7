"""Measures of groups are the measures of their rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from splmll.metrics import MEASURES
from splmll.metrics.grouped import measure_groups

SHAPES = [(60, 5), (300, 40), (7, 6)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_measure_is_that_of_the_rows_of_a_group(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    Y = (rng.random(shape) < 0.3).astype(np.int8)
    Y[0], Y[1] = 0, 1  # nothing to rank
    scores = np.round(Y + rng.normal(size=shape), 1)  # with ties
    predicted = (scores > 0.7).astype(np.uint8)
    predicted[0] = 0
    group = rng.permutation(shape[0]) % min(10, shape[0])
    given = {"scores": scores, "labels": predicted}

    found = measure_groups(Y, scores, predicted, group, MEASURES)

    assert list(found) == list(MEASURES)
    for name, measure in MEASURES.items():
        expected = [
            measure.function(Y[group == k], given[measure.needs][group == k])
            for k in range(group.max() + 1)
        ]
        assert_allclose(found[name], expected, rtol=0, atol=1e-12, err_msg=name)


def test_sparse_labels_are_dense_ones() -> None:
    rng = np.random.default_rng(1)
    Y, predicted = (rng.random((2, 30, 6)) < 0.4).astype(np.int8)
    group = np.arange(30) % 4
    names = [name for name, measure in MEASURES.items() if measure.needs == "labels"]
    dense = measure_groups(Y, None, predicted, group, names)
    stored = measure_groups(sparse.csr_array(Y), None, sparse.csr_array(predicted), group, names)
    for name in names:
        assert_allclose(stored[name], dense[name], rtol=0)


def test_unknown_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        measure_groups([[1.0, np.nan]], [[0.2, 0.1]], None, np.array([0]), ["ranking_loss"])
