"""Labels as people hand them over: tags, tables of polars, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from splmll import SPLMLL
from splmll.labels import is_tags, read_labels
from splmll.methods import BinaryRelevance
from splmll.metrics import evaluate, ranking_loss
from splmll.model_selection import (
    MultilabelStratifiedKFold,
    ThresholdTuner,
    multilabel_train_test_split,
)
from splmll.persistence import load, save

TAGS = [["b", "a"], [], ["c", "c"]]
MATRIX = [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
SORTED = [["a", "b"], [], ["c"]]


@pytest.mark.parametrize(
    "tags",
    [
        TAGS,
        tuple(TAGS),
        [set(row) for row in TAGS],
        [frozenset(row) for row in TAGS],
        [tuple(row) for row in TAGS],
        [np.array(row) for row in TAGS],
        np.array([*TAGS, None], dtype=object)[:3],
        pd.Series(TAGS, index=[7, 8, 9]),
        pl.Series(TAGS),
    ],
    ids=lambda tags: f"{type(tags).__name__} of {type(next(iter(tags))).__name__}",
)
def test_tags_in_any_container(tags: Any) -> None:
    labels, form = read_labels(tags)
    assert_array_equal(labels, MATRIX)
    assert form.names_of([0, 1, 2]).tolist() == ["a", "b", "c"]
    back = form.restore(labels.astype(np.uint8))
    assert [sorted(row) for row in back] == SORTED
    assert_array_equal(read_labels(back)[0], MATRIX)


def test_rows_without_tags_first() -> None:
    labels, _ = read_labels([[], [], ["a"]])
    assert labels.tolist() == [[0], [0], [1]]
    assert read_labels([set(), {"a"}])[1].restore(np.array([[1], [0]])) == [{"a"}, set()]


@pytest.mark.parametrize(
    "numbers", [[[1, 0], [0, 1]], [(1, 0), (0, 1)], [np.array([1, 0])] * 2, [0, 1], ["a", "b"], []]
)
def test_what_is_not_tags(numbers: Any) -> None:
    assert not is_tags(numbers)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[1, 2], [3]], "different lengths.*MultiLabelBinarizer"),
        ([{1, 2}, {3}], "not strings.*MultiLabelBinarizer"),
        ([["a"], None], "Row 1 of the tags is None.*empty"),
        ([["a"], "b"], "Row 1 of the tags is 'b'"),
        ([["a", None]], "not strings"),
        ([set(), set()], "No row has a tag"),
        (pd.Series(["a;b", "c", "a"]), r"str.split\(\";\"\).*MultiLabelBinarizer"),
        (np.array([["a", "b"]]), "MultiLabelBinarizer"),
        (pl.DataFrame({"a": ["x", "y"]}), "MultiLabelBinarizer"),
    ],
)
def test_refusals_name_the_remedy(labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_labels(labels)


def test_unknown_labels_in_polars() -> None:
    frame = pl.DataFrame({"a": [True, None], "b": [1, 0], "c": [None, 0.0]})
    labels, _ = read_labels(frame, allow_unknown=True)
    assert_array_equal(labels, [[1, 1, np.nan], [np.nan, 0, 0]])


def test_a_polars_column_is_one_label() -> None:
    labels, form = read_labels(pl.Series("spam", ["no", "yes", "no"]))
    assert labels.ravel().tolist() == [0, 1, 0]
    assert form.restore(labels).tolist() == ["no", "yes", "no"]


def test_measures_take_polars() -> None:
    truth, scores = pl.DataFrame({"a": [1, 0], "b": [0, None]}), [[2.0, 1.0], [1.0, 2.0]]
    assert evaluate(
        truth, pl.DataFrame(scores, schema=["a", "b"], orient="row"), truth.fill_null(1)
    ) == {
        "ranking_loss": 0.0,
        "hamming_loss": 0.0,
        "average_precision": 1.0,
        "micro_f1": 1.0,
        "macro_f1": 0.5,
    }
    with pytest.raises(ValueError, match="another order"):
        ranking_loss(truth, pl.DataFrame(scores, schema=["b", "a"], orient="row"))


def problem(n_rows: int = 120) -> tuple[np.ndarray, np.ndarray, list[list[str]]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(n_rows, 3)) > 0.2).astype(int)
    return X, Y, [[name for name, has in zip("abc", row) if has] for row in Y]


def test_splits_balance_tags() -> None:
    X, Y, tags = problem()
    folds = MultilabelStratifiedKFold(3, random_state=0)
    for (_, of_tags), (_, of_matrix) in zip(folds.split(X, tags), folds.split(X, Y)):
        assert_array_equal(of_tags, of_matrix)
    _, _, train, test = multilabel_train_test_split(X, tags, test_size=30, random_state=0)
    assert len(train) == 90
    assert all(isinstance(row, list) for row in test)
    frame = pl.DataFrame(X)
    _, test_frame, _, _ = multilabel_train_test_split(frame, tags, test_size=30, random_state=0)
    assert isinstance(test_frame, pl.DataFrame)
    assert len(test_frame) == 30


def test_a_tuner_takes_polars_and_tags() -> None:
    X, Y, tags = problem()
    inner = SPLMLL("linear", random_state=0)
    expected = ThresholdTuner(inner, random_state=0).fit(X, Y).predict(X)
    frame = pl.DataFrame(X)
    predicted = ThresholdTuner(inner, random_state=0).fit(frame, tags).predict(frame)
    assert_array_equal(read_labels(predicted)[0], expected)


def test_tags_and_polars_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that a linear SPLMLL takes block by block."""
    monkeypatch.setattr("splmll.landmarks.classifier.LARGE_ROWS", 50)
    X, Y, tags = problem()
    expected = SPLMLL("linear", random_state=0).fit(X, Y).predict(X)
    by_tags = SPLMLL("linear", random_state=0).fit(X, tags)
    assert by_tags.predict(X) == [
        [name for name, has in zip("abc", row) if has] for row in expected
    ]
    frames = pl.DataFrame(X), pl.DataFrame(Y, schema=["a", "b", "c"])
    assert_array_equal(SPLMLL("linear", random_state=0).fit(*frames).predict(frames[0]), expected)


def test_tags_in_chunks_are_refused() -> None:
    X, _, tags = problem()
    with pytest.raises(ValueError, match=r"chunks.*MultiLabelBinarizer"):
        SPLMLL("linear").partial_fit(X, tags)


@pytest.mark.parametrize("kind", ["sets", "polars", "polars tags"])
def test_saved_models_keep_the_form(kind: str, tmp_path: Path) -> None:
    X, Y, tags = problem()
    forms: dict[str, Any] = {
        "sets": [set(row) for row in tags],
        "polars": pl.DataFrame(Y.astype(np.int8), schema=["a", "b", "c"]),
        "polars tags": pl.Series(tags),
    }
    model = BinaryRelevance().fit(X, forms[kind])
    save(model, tmp_path / "model.zip")
    predicted, expected = load(tmp_path / "model.zip").predict(X), model.predict(X)
    assert type(predicted) is type(expected)
    assert list(predicted) == expected if kind == "sets" else predicted.equals(expected)
