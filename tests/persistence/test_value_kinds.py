"""Values of every kind come back as they were, or are refused with the place where they are."""

import math
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import Bunch
from torch import nn

from splmll import SPLMLL
from splmll.persistence import ModelFileError, load, save


def round_trip(value: Any, folder: Path) -> Any:
    save(value, folder / "model")
    return load(folder / "model")


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.complex_numbers()
    | st.builds(slice, st.none() | st.integers(), st.integers()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.booleans()), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(PLAIN)
def test_plain_values(tmp_path: Path, value: Any) -> None:
    # Text tells -0.0 from 0.0, tuples from lists, True from 1, and NaN is like NaN.
    assert repr(round_trip(value, tmp_path)) == repr(value)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    hnp.arrays(
        hnp.boolean_dtypes()
        | hnp.integer_dtypes(endianness="?")
        | hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64))
        | hnp.complex_number_dtypes(sizes=(64, 128))
        | hnp.unicode_string_dtypes(max_len=4)
        | hnp.byte_string_dtypes(max_len=4)
        | hnp.datetime64_dtypes(max_period="s", min_period="ns"),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    ),
    st.booleans(),
)
def test_arrays(tmp_path: Path, array: np.ndarray, transposed: bool) -> None:
    array = array.T if transposed else array
    loaded = round_trip(array, tmp_path)
    assert (loaded.dtype, loaded.shape) == (array.dtype, array.shape)
    assert loaded.tobytes() == array.tobytes()
    assert loaded.flags.writeable
    if array.flags.f_contiguous or array.flags.c_contiguous:
        assert loaded.flags.f_contiguous == array.flags.f_contiguous
        assert loaded.flags.c_contiguous == array.flags.c_contiguous


@pytest.mark.parametrize(
    "value",
    [np.float32(0.1), np.float64("nan"), np.int8(-3), np.uint64(2**64 - 1), np.bool_(True)]
    + [np.str_("ü"), np.float16(0.5), np.float64(-0.0)],
)
def test_numpy_scalars(value: Any, tmp_path: Path) -> None:
    loaded = round_trip(value, tmp_path)
    assert type(loaded) is type(value)
    assert repr(loaded) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        {1, 2.5, "a", None},
        frozenset([("a", 1)]),
        range(3, 9, 2),
        OrderedDict([("z", 1), ("a", 2)]),
        np.dtype("<U7"),
        np.dtype(object),
        np.float64,
        str,
        np.log1p,
        np.abs,
    ],
    # A set is written in any order; the name of a test must not depend on it.
    ids=lambda value: "set" if isinstance(value, set) else repr(value),
)
def test_sets_types_and_functions(value: Any, tmp_path: Path) -> None:
    loaded = round_trip(value, tmp_path)
    assert type(loaded) is type(value)
    assert loaded == value


def test_arrays_of_objects(tmp_path: Path) -> None:
    array = np.array([["a", None], [float("nan"), (1, [2])]], dtype=object)
    loaded = round_trip(array, tmp_path)
    assert loaded.dtype == object
    assert repr(loaded.tolist()) == repr(array.tolist())


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "dia"])
@pytest.mark.parametrize("form", ["array", "matrix"])
def test_sparse_matrices(layout: str, form: str, tmp_path: Path) -> None:
    dense = np.diag([1.0, 2.0, 3.0])[:2] + np.eye(2, 3, 1)
    matrix = getattr(sparse, f"{layout}_{form}")(dense)
    loaded = round_trip(matrix, tmp_path)
    assert type(loaded) is type(matrix)
    assert loaded.dtype == matrix.dtype
    assert_array_equal(loaded.toarray(), dense)


def test_tables(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"x": [1, 2], "y": [0.5, np.nan], "z": ["a", None], "w": np.array([1, 2], dtype=np.int8)},
        index=pd.Index(["r", "s"], name="row"),
    )
    loaded = round_trip([table, table["y"], table.reset_index(drop=True), table.iloc[:0]], tmp_path)
    pd.testing.assert_frame_equal(loaded[0], table)
    pd.testing.assert_series_equal(loaded[1], table["y"])
    pd.testing.assert_frame_equal(loaded[2], table.reset_index(drop=True))
    pd.testing.assert_frame_equal(loaded[3], table.iloc[:0])
    twice = pd.DataFrame([[1, 2.5]], columns=["same", "same"])
    pd.testing.assert_frame_equal(round_trip(twice, tmp_path), twice)


@pytest.mark.parametrize("bits", ["PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_random_numbers_go_on(bits: str, tmp_path: Path) -> None:
    rng = np.random.Generator(getattr(np.random, bits)(5))
    rng.spawn(2)
    old = np.random.RandomState(7)
    old.normal()  # one more normal number is kept back
    loaded, loaded_old = round_trip([rng, old], tmp_path)
    assert_array_equal(loaded.random(3), rng.random(3))
    assert loaded.spawn(1)[0].random() == rng.spawn(1)[0].random()
    assert loaded_old.normal() == old.normal()


def test_one_object_in_two_places_stays_one(tmp_path: Path) -> None:
    scaler, array = StandardScaler(), np.arange(3.0)
    a, b, first, whole = round_trip([scaler, scaler, array, array[:]], tmp_path)
    assert a is b
    assert first is whole


def test_bunch(tmp_path: Path) -> None:
    loaded = round_trip(Bunch(a=1), tmp_path)
    assert type(loaded) is Bunch
    assert loaded.a == 1


# Refusals ----------------------------------------------------------------------------------------


class Own(StandardScaler):
    pass


def hooked() -> nn.Module:
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda *_: None)
    return layer


def circle() -> Any:
    scaler = StandardScaler()
    scaler.itself = [scaler]
    return scaler


def hiding() -> Any:
    scaler = StandardScaler()
    scaler.transform = 3
    return scaler


def deep() -> Any:
    value: list[Any] = []
    for _ in range(200):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            make_pipeline(FunctionTransformer(lambda X: X)),
            r"^Pipeline\.steps\[0\]\[1\]\.func cannot be saved: the function .*lambda.*trusted=",
        ),
        (Own(), r"^Own cannot be saved: the class \S+Own is not allowed .* trusted=\[Own\]"),
        (SPLMLL(Own()), r"^SPLMLL\.embedding cannot be saved.*Own"),
        ({"a": {"b": object()}}, r"^dict\['a'\]\['b'\] cannot be saved: the class builtins.object"),
        (GridSearchCV(LogisticRegression(), {}), r"sklearn.model_selection.*GridSearchCV"),
        (hooked(), "hooks.*Remove"),
        (circle(), r"StandardScaler\.itself\[0\].*refers back to itself"),
        (hiding(), "'transform' hides a method"),
        (deep(), "nested more than"),
        (np.longdouble(1), "cannot hold a scalar of"),
        (np.zeros(2, dtype=np.longdouble), "cannot hold arrays of"),
        (np.zeros(2, dtype="i4,f8"), "cannot hold arrays"),
        (np.ma.masked_array([1, 2], [0, 1]), "MaskedArray"),
        (torch.zeros(2, dtype=torch.bfloat16), r"NumPy has no torch.bfloat16.*\.float\(\)"),
        (pd.DataFrame({"a": pd.Categorical(["x"])}), "column of type category"),
        (print, "the function builtins.print"),
        (dict[str, int], "cannot be saved"),
        (Path, "the type pathlib.Path"),
        (b"bytes", "builtins.bytes"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_what_has_no_place_is_refused(value: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=message):
        save(value, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_the_best_of_a_search_is_what_to_save(tmp_path: Path) -> None:
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    search = GridSearchCV(LogisticRegression(), {"C": [1.0, 2.0]}, cv=2).fit(X, y)
    with pytest.raises(ModelFileError, match="Save its best_estimator_"):
        save(search, tmp_path / "model")
    loaded = round_trip(search.best_estimator_, tmp_path)
    assert_array_equal(loaded.coef_, search.best_estimator_.coef_)
    assert math.isclose(loaded.C, search.best_params_["C"])
