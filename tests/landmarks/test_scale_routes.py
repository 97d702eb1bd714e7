"""Whichever way rows arrive, the model is the one of fit on all of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from landmark_problems import NAMES, make_problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from splmll import SPLMLL, evaluate
from splmll.datasets.batches import read_batches
from splmll.embeddings import Linear
from splmll.exceptions import DatasetError
from splmll.landmarks import classifier, folds, out_of_core
from splmll.landmarks.folds import folds_by_row, row_keys
from splmll.landmarks.out_of_core import Stream, merged

ROWS = 900


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take 900 rows for large data, in blocks of 256."""
    for module in (classifier, folds, out_of_core):
        monkeypatch.setattr(module, "LARGE_ROWS", 300)
    monkeypatch.setattr(out_of_core, "CHUNK_ROWS", 256)


def assert_same_model(one: SPLMLL, other: SPLMLL, X: Any, X_other: Any = None) -> None:
    assert_array_equal(one.landmarks_, other.landmarks_)
    assert one.learned_.setting == other.learned_.setting
    for name in (
        "selection_", "recovery_", "intercept_", "predictability_", "representativeness_",
        "thresholds_", "probability_slope_", "path_", "measures_",
    ):  # fmt: skip
        found, expected = getattr(one, name), getattr(other, name)
        assert_allclose(found, expected, rtol=0, atol=1e-8, err_msg=name)
    X_other = X if X_other is None else X_other
    assert_allclose(one.decision_function(X), other.decision_function(X_other), rtol=0, atol=1e-8)
    assert_array_equal(np.asarray(one.predict(X)), np.asarray(other.predict(X_other)))
    assert_allclose(one.completion_.moments, other.completion_.moments, rtol=0, atol=1e-8)
    thresholds = (each.completion_.thresholds or [] for each in (one, other))
    for mine, its in zip(*thresholds, strict=True):
        assert (mine is None) == (its is None)
        assert mine is None or mine.value == pytest.approx(its.value, abs=1e-8)


def far_from_zero(n_rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Features with means of 10,000 and spreads of 1."""
    X, Y = make_problem(n_rows)
    return X + 1e4, Y


# Folds by row number --------------------------------------------------------------------------


@pytest.mark.parametrize("n_folds", [1, 2, 5, 7])
def test_folds_depend_on_the_row_number_alone(n_folds: int) -> None:
    whole = folds_by_row(0, 1000, n_folds, seed=3)
    cuts = [0, 1, 8, 500, 503, 1000]
    parts = [folds_by_row(a, b - a, n_folds, 3) for a, b in pairwise(cuts)]
    assert_array_equal(np.concatenate(parts), whole)
    sizes = np.bincount(whole, minlength=n_folds)
    assert np.ptp(sizes) <= 1
    if n_folds > 1:
        assert (folds_by_row(0, 1000, n_folds, seed=4) != whole).mean() > 0.3


def test_keys_are_distinct_and_uniform() -> None:
    keys = row_keys(10**12, 20_000, seed=0)
    assert len(np.unique(keys)) == 20_000
    tenths = np.bincount((keys / 2**64 * 10).astype(int), minlength=10)
    assert np.abs(tenths - 2000).max() < 200
    assert abs(np.corrcoef(keys[:-1].astype(float), keys[1:].astype(float))[0, 1]) < 0.03


def test_single_precision_features_are_summed_in_double(large: None) -> None:
    X, Y = far_from_zero()
    single = X.astype(np.float32)
    model = SPLMLL("linear", random_state=0).fit(single, Y)
    assert_same_model(
        model, SPLMLL("linear", random_state=0).fit(single.astype(float), Y), single.astype(float)
    )


def test_merged_streams_are_one_stream() -> None:
    X, Y = make_problem(700)
    whole = Stream(10, 8, 5, seed=1)
    whole.add(X, Y.astype(float))
    cuts = [0, 100, 101, 350, 700]
    parts = []
    for a, b in pairwise(cuts):
        part = Stream(10, 8, 5, 1, first=a, shift=whole.folds[0].shift, n_rows_of_all=700)
        part.add(X[a:b], Y[a:b].astype(float))
        parts.append(part)
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        found = merged([merged([parts[order[0]], parts[order[1]]]), *(parts[k] for k in order[2:])])
        assert found.n_rows == 700
        for mine, its in zip(found.folds, whole.folds):
            assert_allclose(mine.xx, its.xx, atol=1e-10)
            assert_array_equal(mine.yy, its.yy)
        for mine, its in zip(found.sample(), whole.sample()):
            assert_array_equal(mine, its)
    assert parts[0].n_rows == 100


def test_the_sample_of_a_part_holds_all_of_the_whole_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(out_of_core, "SAMPLE_ROWS", 100)
    X, Y = np.arange(30_000.0)[:, None], np.ones((30_000, 1))
    whole = Stream(1, 1, 2, seed=0)
    whole.add(X, Y)
    parts = []
    for a in range(0, 30_000, 3000):
        part = Stream(1, 1, 2, seed=0, first=a, n_rows_of_all=30_000)
        part.add(X[a : a + 3000], Y[a : a + 3000])
        assert part.sample()[0].shape[0] < 60
        parts.append(part)
    assert_array_equal(merged(parts).sample()[0], whole.sample()[0])


# The same model from every source -------------------------------------------------------------

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "budget": {"n_landmarks": 3},
    "given": {"embedding": Linear(ridge=0.1, scale=None), "pull": 0.1, "cv": 3},
    "fixed threshold": {"threshold": 0.5},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=list(SETTINGS))
def test_large_data_in_memory_equals_streamed(settings: dict[str, Any], large: None) -> None:
    X, Y = far_from_zero()

    def model() -> SPLMLL:
        return SPLMLL(**{"embedding": "linear", "random_state": 0, **settings})

    whole = model().fit(X, Y)
    batches = model().fit_batches((X[i : i + 77], Y[i : i + 77]) for i in range(0, ROWS, 77))
    chunks = model().partial_fit(X[:500], Y[:500]).partial_fit(X[500:], Y[500:])
    for other in (batches, chunks):
        assert_same_model(other, whole, X)


def test_blocks_are_about_as_good_as_all_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = make_problem(ROWS)
    X_test, Y_test = make_problem(1000, seed=1)
    measured = []
    for most in (10_000, 300):
        for module in (classifier, folds, out_of_core):
            monkeypatch.setattr(module, "LARGE_ROWS", most)
        scores = SPLMLL("linear", random_state=0).fit(X, Y).decision_function(X_test)
        measured.append(evaluate(Y_test, scores, None, ["average_precision"])["average_precision"])
    assert measured[1] == pytest.approx(measured[0], abs=0.01)


def test_every_kind_of_input_gives_the_same(large: None, tmp_path: Path) -> None:
    X, Y = make_problem(ROWS)
    X = X * (np.abs(X) > 0.7)  # for sparse matrices
    linear = Linear(scale="standard")
    whole = SPLMLL(linear, random_state=0).fit(X, Y)
    assert whole.label_format_.kind == "array"
    for name, data in (("X", X), ("Y", Y)):
        np.save(tmp_path / f"{name}.npy", data)
    mapped = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("X", "Y"))
    assert_same_model(SPLMLL(linear, random_state=0).fit(*mapped), whole, X)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        model = SPLMLL(linear, random_state=0).fit(kind(X), kind(Y))
        assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-8)
        assert sparse.issparse(model.predict(X))
    frames = pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y, columns=NAMES)
    model = SPLMLL(linear, random_state=0).fit(*frames)
    assert list(model.feature_names_in_) == list(frames[0].columns)
    assert list(model.landmarks_) == [NAMES[j] for j in whole.landmarks_]
    assert list(model.predict(frames[0]).columns) == NAMES
    assert_allclose(model.decision_function(frames[0]), whole.decision_function(X), atol=1e-8)


def test_a_large_vector_and_unknown_labels(large: None) -> None:
    X, Y = make_problem(ROWS)
    y = np.where(np.sort(Y[:, 0]) == 1, "yes", "no")  # the first blocks have one value only
    model = SPLMLL("linear", random_state=0).fit(X, y)
    assert set(model.predict(X)) <= {"yes", "no"}
    unknown = Y.astype(float)
    unknown[np.random.default_rng(0).random(Y.shape) < 0.2] = np.nan
    whole = SPLMLL("linear", random_state=0).fit(X, unknown)
    parts = [(X[i : i + 100], unknown[i : i + 100]) for i in range(0, ROWS, 100)]
    assert_same_model(SPLMLL("linear", random_state=0).fit_batches(parts), whole, X)


def test_wrong_rows_are_refused_wherever_they_stand(large: None) -> None:
    X, Y = make_problem(ROWS)
    X[800, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SPLMLL("linear").fit(X, Y)
    X[800, 3] = 0.0
    Y[850, 2] = 7
    with pytest.raises(ValueError, match="must be 0 or 1, found 7"):
        SPLMLL("linear").fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent"):
        SPLMLL("linear").fit(X, Y[:-1])


def test_few_rows_in_batches_are_simply_fitted() -> None:
    X, Y = make_problem()
    batches = ((X[i : i + 30], Y[i : i + 30]) for i in range(0, 200, 30))
    model = SPLMLL("linear", random_state=0).fit_batches(batches)
    assert_same_model(model, SPLMLL("linear", random_state=0).fit(X, Y), X)
    with pytest.raises(ValueError, match="no batches"):
        SPLMLL("linear").fit_batches([])


@pytest.mark.slow
def test_beyond_the_limit_nothing_has_to_be_set() -> None:
    X, Y = make_problem(folds.LARGE_ROWS + 5000)
    whole = SPLMLL("linear", random_state=0).fit(X, Y)
    batches = ((X[i : i + 4000], Y[i : i + 4000]) for i in range(0, len(X), 4000))
    assert_same_model(SPLMLL("linear", random_state=0).fit_batches(batches), whole, X)


# Files ----------------------------------------------------------------------------------------


def test_a_folder_of_parquet_files(large: None, tmp_path: Path) -> None:
    X, Y = make_problem(ROWS)
    frames = pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y, columns=NAMES)
    table = pd.concat(frames, axis=1)
    table[:400].to_parquet(tmp_path / "part-0.parquet")
    table[400:].to_parquet(tmp_path / "part-1.parquet")
    (tmp_path / "_SUCCESS").touch()
    model = SPLMLL("linear", random_state=0)
    model.fit_batches(read_batches(tmp_path, labels=NAMES, rows=128))
    assert_same_model(model, SPLMLL("linear", random_state=0).fit(*frames), frames[0])
    with pytest.raises(DatasetError, match="name the label columns"):
        next(read_batches(tmp_path))
    with pytest.raises(DatasetError, match="Did you mean 'amber'"):
        next(read_batches(tmp_path, labels=["ambre"]))


@pytest.mark.parametrize("first", [0, 1])
def test_a_libsvm_file(first: int, large: None, tmp_path: Path) -> None:
    X, Y = make_problem(ROWS)
    X = np.round(X * (np.abs(X) > 0.7), 3)
    X[0, 0], X[5, 9] = 1.0, 2.0
    file = tmp_path / "rows.svm"
    with file.open("w") as lines:
        lines.write("# a comment\n")
        for x, y in zip(X, Y):
            cells = " ".join(f"{i + first}:{x[i]}" for i in np.flatnonzero(x))
            lines.write(",".join(map(str, np.flatnonzero(y))) + " " + cells + "\n")
    model = SPLMLL(Linear(scale="standard"), random_state=0).fit_batches(
        read_batches(file, rows=100)
    )
    whole = SPLMLL(Linear(scale="standard"), random_state=0).fit(X, Y)
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-8)
    assert model.offset_ == pytest.approx(whole.offset_, abs=1e-8)
    assert_array_equal(model.landmarks_, whole.landmarks_)
    with pytest.raises(DatasetError, match="outside the 4 features"):
        list(read_batches(file, n_features=4, n_labels=8))


def test_batches_name_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("x,y\n1,0\nred,1\n")
    with pytest.raises(DatasetError, match=r"column 'x' contains .*columns of numbers only"):
        list(read_batches(file, labels=["y"]))
    file.write_text("x,y\n1,0\n,1\n")
    with pytest.raises(DatasetError, match="row 2: the column 'x' has a missing value"):
        list(read_batches(file, labels=["y"]))
    file.write_text("x,y\n1,0\n1,3\n")
    with pytest.raises(DatasetError, match="a label is 0 or 1"):
        list(read_batches(file, labels=["y"]))
    (tmp_path / "b.svm").write_text("cat 1:2\n")
    with pytest.raises(DatasetError, match="'cat' is not an integer"):
        list(read_batches(tmp_path / "b.svm"))
    with pytest.raises(DatasetError, match="tables and other files"):
        list(read_batches(tmp_path, labels=["y"]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="contains no files"):
        list(read_batches(tmp_path / "empty"))
