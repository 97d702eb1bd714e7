"""Rows with one label, with and without another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from splmll.plots import LabelCompanyDisplay

NAMES = ["sea", "boat", "fog"]
LABELS = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize(
    "store", [np.asarray, sparse.csr_array, lambda Y: pd.DataFrame(Y, columns=NAMES)]
)
def test_counts_by_hand(store) -> None:
    pairs = [("sea", "boat"), ("boat", "sea"), ("fog", "sea")]
    display = LabelCompanyDisplay.from_labels(store(LABELS), pairs, NAMES)
    assert display.with_other.tolist() == [2, 2, 1]
    assert display.without_other.tolist() == [2, 1, 0]
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert heights == [2, 2, 1, 2, 1, 0]
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert [tick.rsplit("\n", 1)[1] for tick in ticks] == ["50%", "67%", "100%"]


def test_a_label_that_never_occurs_has_no_share() -> None:
    display = LabelCompanyDisplay.from_labels(np.zeros((3, 2)), [("a", "b")], ["a", "b"])
    assert np.isnan(display.shares).all()


def test_names_must_be_known() -> None:
    with pytest.raises(ValueError, match=r"no label 'rain'\. The labels are 'sea', 'boat', 'fog'"):
        LabelCompanyDisplay.from_labels(LABELS, [("sea", "rain")], NAMES)
    with pytest.raises(ValueError, match="Give label_names"):
        LabelCompanyDisplay.from_labels(LABELS, [("sea", "boat")])
