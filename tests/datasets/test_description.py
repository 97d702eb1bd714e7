"""Statistics of the labels: against numbers worked out by hand, and against the real sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from splmll.datasets import Dataset, load_dataset
from splmll.plots.cooccurrence import LabelCooccurrenceDisplay

# Labels a, b, c stand in 4, 2 and 1 of six rows; d never does.
#   IRLbl: a 4/4 = 1, b 4/2 = 2, c 4/1 = 4, d infinite; MeanIR = 7/3
#   row {a, b}:    geometric sqrt(2),     arithmetic 3/2  -> 1 - 2 sqrt(2) / 3
#   row {a, b, c}: geometric 8^(1/3) = 2, arithmetic 7/3  -> 1 - 6/7 = 1/7
#   rows {a}, {a}, {} and {}: 0
HAND = np.array(
    [[1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
)


def dataset_of(Y: object, names: list[str] | None = None) -> Dataset:
    n, C = Y.shape  # type: ignore[attr-defined]
    names = [f"l{j}" for j in range(C)] if names is None else names
    return Dataset(X=np.zeros((n, 1)), Y=Y, feature_names=["f"], label_names=names, name="hand")


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_hand_computed(container: type) -> None:
    found = dataset_of(container(HAND), list("abcd")).describe()
    assert (found.n_rows, found.n_features, found.n_labels) == (6, 1, 4)
    assert found.cardinality == pytest.approx(7 / 6)
    assert found.density == pytest.approx(7 / 24)
    assert found.n_distinct_label_sets == 4
    assert found.n_unlabelled_rows == 2
    np.testing.assert_array_equal(found.label_counts, [4, 2, 1, 0])
    np.testing.assert_allclose(found.label_frequencies, [4 / 6, 2 / 6, 1 / 6, 0])
    np.testing.assert_array_equal(found.imbalance, [1, 2, 4, np.inf])
    assert found.mean_imbalance == pytest.approx(7 / 3)
    assert found.scumble == pytest.approx((1 - 2 * np.sqrt(2) / 3 + 1 / 7) / 6)
    np.testing.assert_array_equal(
        found.cooccurrence.toarray(), [[4, 2, 1, 0], [2, 2, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]
    )


def test_unknown_labels_count_as_absent() -> None:
    Y = HAND.astype(float)
    Y[4] = np.nan
    found = dataset_of(Y).describe()
    assert found.n_unknown == 4
    np.testing.assert_array_equal(found.label_counts, [4, 2, 1, 0])


def test_stored_zeros_are_no_labels_and_the_caller_keeps_them() -> None:
    Y = sparse.csr_array((np.array([1, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert dataset_of(Y).describe().cardinality == 1
    assert Y.nnz == 2


def test_no_label_at_all() -> None:
    found = dataset_of(np.zeros((3, 2))).describe()
    assert np.isnan(found.mean_imbalance)
    assert (found.scumble, found.cardinality) == (0, 0)
    assert "rarest label" in str(found)


@settings(max_examples=50, deadline=None)
@given(
    arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=st.integers(0, 1))
)
def test_properties(Y: np.ndarray) -> None:
    found = dataset_of(Y).describe()
    assert 0 <= found.scumble < 1
    assert found.n_distinct_label_sets == len({tuple(row) for row in Y.tolist()})
    np.testing.assert_array_equal(found.cooccurrence.toarray(), Y.T @ Y)
    if Y.any():
        assert found.imbalance.min() == 1
        assert found.mean_imbalance >= 1
    permuted = dataset_of(Y[::-1, ::-1]).describe()
    assert permuted.scumble == pytest.approx(found.scumble)
    assert permuted.cardinality == pytest.approx(found.cardinality)


def test_equally_frequent_labels_have_no_concurrence() -> None:
    assert dataset_of(np.array([[1, 1], [1, 1], [0, 0]])).describe().scumble == pytest.approx(0)


def test_frame_and_printing() -> None:
    found = dataset_of(HAND, ["a", "b", "c", "<d>"]).describe()
    frame = found.to_frame()
    assert list(frame.columns) == ["count", "frequency", "imbalance"]
    assert frame.loc["b", "count"] == 2
    assert "cardinality" in str(found)
    assert "1.167" in str(found)
    assert repr(found) == "<DatasetDescription 'hand': 6 rows, 4 labels, cardinality 1.17>"
    assert "&lt;d&gt; (0)" in found._repr_html_()
    assert "<d>" not in found._repr_html_()


@pytest.mark.parametrize(
    ("name", "instances", "features", "labels", "cardinality"),
    [
        ("emotions", 593, 72, 6, 1.9),
        ("scene", 2407, 294, 6, 1.1),
        ("yeast", 2417, 103, 14, 4.2),
        ("tmc2007", 28596, 500, 22, 2.2),
        ("espgame-densehue", 20770, 100, 268, 4.7),
        ("corel5k", 4999, 1000, 260, 3.4),
    ],
)
def test_table_of_the_paper(
    data_home: Path, name: str, instances: int, features: int, labels: int, cardinality: float
) -> None:
    assert load_dataset(name, data_home).describe().table_row() == {
        "dataset": name,
        "instances": instances,
        "features": features,
        "labels": labels,
        "cardinality": cardinality,
    }


@pytest.mark.parametrize(
    ("name", "mean_imbalance", "scumble", "label_sets"),
    [("emotions", 1.478, 0.011, 27), ("scene", 1.254, 0.000, 15), ("yeast", 7.197, 0.104, 198)],
)
def test_published_imbalance(
    data_home: Path, name: str, mean_imbalance: float, scumble: float, label_sets: int
) -> None:
    # As printed for these sets in the literature on MeanIR and SCUMBLE.
    found = load_dataset(name, data_home).describe()
    assert round(found.mean_imbalance, 3) == mean_imbalance
    assert round(found.scumble, 3) == scumble
    assert found.n_distinct_label_sets == label_sets


def test_heat_map_shows_conditional_shares() -> None:
    display = dataset_of(HAND, list("abcd")).describe().plot()
    assert display.label_names == ["a", "b", "c", "d"]
    np.testing.assert_allclose(display.conditional[:3, :3], [[1, 0.5, 0.25], [1, 1, 0.5], [1] * 3])
    assert np.isnan(display.conditional[3]).all()  # d never occurs: nothing to condition on
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == list("abcd")
    assert display.figure_ is display.ax_.figure


def test_heat_map_of_many_labels_keeps_the_most_frequent() -> None:
    rng = np.random.default_rng(0)
    Y = (rng.random((300, 268)) < np.linspace(0.02, 0.5, 268)).astype(int)
    display = LabelCooccurrenceDisplay.from_labels(sparse.csr_array(Y))
    shown = [int(name.removeprefix("label_")) for name in display.label_names]
    assert len(shown) == 30
    assert Y.sum(axis=0)[shown].min() >= np.delete(Y.sum(axis=0), shown).max()
    few = LabelCooccurrenceDisplay.from_dataset(dataset_of(Y), max_labels=5)
    np.testing.assert_allclose(few.conditional, display.conditional[:5, :5])
    with pytest.raises(ValueError, match="max_labels"):
        LabelCooccurrenceDisplay.from_labels(Y, max_labels=0)
