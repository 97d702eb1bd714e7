"""Whatever is written is read back the same, in every format; what cannot be is refused."""

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from splmll.datasets.arff import read_arff
from splmll.datasets.dataset import Dataset
from splmll.datasets.libsvm import read_libsvm
from splmll.datasets.tabular import read_table
from splmll.datasets.writers import write_dataset
from splmll.exceptions import DatasetError

relaxed = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
READERS: dict[str, Callable[[Path], Dataset]] = {
    "arff": lambda path: read_arff(path, allow_missing=True),
    "libsvm": read_libsvm,
    "csv": lambda path: read_table(path, label_prefix="label:", allow_missing=True),
    "parquet": lambda path: read_table(path, label_prefix="label:", allow_missing=True),
}


def plain(matrix: Any) -> Any:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def assert_same(one: Dataset, other: Dataset) -> None:
    assert one.feature_names == other.feature_names
    assert one.label_names == other.label_names
    np.testing.assert_array_equal(plain(one.X), plain(other.X))
    np.testing.assert_array_equal(plain(one.Y), plain(other.Y))


# Names made of what the formats use for themselves, and of anything else that XML can hold.
nasty = st.text(st.sampled_from("'\"\\,;:% {}?#\t\n\r@&<>=|[]()0aé☃𝄞\u2028\x85"), max_size=6)
anything = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=6
)
tricky = st.sampled_from(
    ["?", "a\\", "\\'", "it's", '"q"', "%", "{0,1}", "@data", "label", "-C 3", "\\n", "\\u0041",
     "a,b", "numeric", "é", " ", "1", "nan", "#", "]]>", "&amp;", "x\ny", "\ufeffa"]
)  # fmt: skip
names = st.one_of(nasty, anything, tricky)
table_names = names.filter(
    lambda name: name.strip() == name != "" and unicodedata.is_normalized("NFC", name)
)
numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def datasets(
    draw: st.DrawFn, names: st.SearchStrategy[str] = names, missing: bool = False
) -> Dataset:
    n_rows = draw(st.integers(1, 5))
    found = draw(st.lists(names, min_size=2, max_size=8, unique=True))
    n_labels = draw(st.integers(1, len(found) - 1))
    width = len(found) - n_labels
    cells = st.one_of(numbers, st.just(np.nan)) if missing else numbers
    X = np.array(draw(st.lists(cells, min_size=n_rows * width, max_size=n_rows * width)))
    marks = st.integers(0, 1)
    Y = np.array(draw(st.lists(marks, min_size=n_rows * n_labels, max_size=n_rows * n_labels)))
    X, Y = X.reshape(n_rows, width), Y.reshape(n_rows, n_labels).astype(np.uint8)
    return Dataset(
        X=sparse.csr_array(X) if draw(st.booleans()) else X,
        Y=sparse.csr_array(Y) if draw(st.booleans()) else Y,
        feature_names=found[n_labels:],
        label_names=found[:n_labels],
        name=draw(names),
    )


@relaxed
@given(dataset=datasets(missing=True))
def test_arff(tmp_path: Path, dataset: Dataset) -> None:
    path = write_dataset(dataset, tmp_path / "toy.arff")
    for back in (
        read_arff(path, allow_missing=True),  # the count in the relation name
        read_arff(path, tmp_path / "toy.xml", allow_missing=True),
    ):
        assert_same(back, dataset)
        assert sparse.issparse(back.X) == sparse.issparse(dataset.X)


@relaxed
@given(dataset=datasets())
def test_libsvm(tmp_path: Path, dataset: Dataset) -> None:
    assert_same(read_libsvm(write_dataset(dataset, tmp_path / "toy.svm")), dataset)


@relaxed
@given(dataset=datasets(table_names, missing=True))
def test_csv(tmp_path: Path, dataset: Dataset) -> None:
    assume(not any(name.startswith("label:") for name in dataset.feature_names))
    path = write_dataset(dataset, tmp_path / "toy.csv")
    # Given, because it is otherwise guessed from the first line, and a name may hold a line end.
    assert_same(read_table(path, label_prefix="label:", delimiter=",", allow_missing=True), dataset)


@relaxed
@given(dataset=datasets(table_names, missing=True))
def test_parquet(tmp_path: Path, dataset: Dataset) -> None:
    assume(not any(name.startswith("label:") for name in dataset.feature_names))
    path = write_dataset(dataset, tmp_path / "toy.parquet")
    assert_same(read_table(path, label_prefix="label:", allow_missing=True), dataset)


@relaxed
@given(
    texts=st.lists(st.one_of(st.none(), nasty, tricky), min_size=1, max_size=5),
    categories=st.lists(st.one_of(nasty, tricky), min_size=3, max_size=5, unique=True),
)
def test_arff_with_text_and_categories(
    tmp_path: Path, texts: list[str | None], categories: list[str]
) -> None:
    codes = np.arange(-1, len(texts) - 1) % (len(categories) + 1) - 1
    X = pd.DataFrame(
        {
            "t": pd.Series(texts, dtype=object),
            "c": pd.Categorical.from_codes(codes, categories=pd.Index(categories)),
            "n": np.arange(len(texts), dtype=float),
            "b": np.arange(len(texts)) % 2 == 0,
        }
    )
    Y = np.ones((len(texts), 1), dtype=np.uint8)
    dataset = Dataset(X, Y, list(X.columns), ["l"])
    back = read_arff(write_dataset(dataset, tmp_path / "toy.arff"), allow_missing=True)
    assert back.column_kinds == {"t": "text", "c": "categorical", "n": "numeric", "b": "numeric"}
    assert [None if pd.isna(text) else text for text in back.X["t"]] == texts
    assert back.X["c"].cat.categories.tolist() == categories
    assert back.X["c"].cat.codes.tolist() == codes.tolist()
    assert back.X["n"].tolist() == X["n"].tolist()
    assert back.X["b"].tolist() == X["b"].astype(float).tolist()


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_tables_with_text_and_categories(tmp_path: Path, format: str) -> None:
    X = pd.DataFrame(
        {
            "t": ['say "a", then\nb', "it is % and {0}", "a, b; c | d"],
            "c": pd.Categorical(["red", "blue", "red"], categories=["red", "blue", "green"]),
            "n": [1.5, np.nan, 2.0],
        },
        index=[7, 3, 9],
    )
    before = X.copy(deep=True)
    dataset = Dataset(X, np.array([[1, 0], [0, 0], [1, 1]]), list("tcn"), ["x", "y"])
    path = write_dataset(dataset, tmp_path / "toy", format)
    back = read_table(
        path.rename(tmp_path / f"toy.{format}"),
        label_prefix="label:",
        text="t",
        categorical="c",
        allow_missing=True,
    )
    assert back.X["t"].tolist() == X["t"].tolist()
    assert back.X["c"].tolist() == X["c"].tolist()
    np.testing.assert_array_equal(back.X["n"], X["n"])
    np.testing.assert_array_equal(back.Y, dataset.Y)
    pd.testing.assert_frame_equal(X, before)  # what the caller passes is not changed


@pytest.mark.parametrize("is_sparse", [False, True])
def test_unknown_labels_only_in_arff(tmp_path: Path, is_sparse: bool) -> None:
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    Y = np.array([[1, np.nan], [np.nan, 0]])
    dataset = Dataset(sparse.csr_array(X) if is_sparse else X, Y, ["a", "b"], ["x", "y"])
    path = write_dataset(dataset, tmp_path / "toy.arff")
    back = read_arff(path, allow_unknown=True)
    assert_same(back, dataset)
    for suffix in ("csv", "parquet", "svm"):
        with pytest.raises(DatasetError, match="unknown"):
            write_dataset(dataset, tmp_path / f"toy.{suffix}")


def simple(**changes: Any) -> Dataset:
    parts = {
        "X": np.array([[1.0, 2.0]]), "Y": np.array([[1]]), "feature_names": ["a", "b"],
        "label_names": ["l"],
    }  # fmt: skip
    return Dataset(**(parts | changes))


ALL = ("arff", "csv", "parquet", "libsvm")


@pytest.mark.parametrize(
    ("changes", "formats", "message"),
    [
        ({"Y": np.array([[2]])}, ALL, "not 0 or 1"),
        ({"Y": np.array([[0.5]])}, ALL, "not 0 or 1"),
        ({"Y": sparse.csr_array(np.array([[3]]))}, ALL, "not 0 or 1"),
        ({"X": np.array([[1.0, np.inf]])}, ALL, "infinite"),
        ({"X": sparse.csr_array(np.array([[1.0, -np.inf]]))}, ALL, "infinite"),
        ({"X": pd.DataFrame({"a": ["t"], "b": [np.inf]})}, ("arff", "csv", "parquet"), "infinite"),
        ({"X": np.array([[1.0, np.nan]])}, ("libsvm",), "missing"),
        ({"X": pd.DataFrame({"a": ["t"], "b": [1.0]})}, ("libsvm",), "numbers only"),
        ({"X": np.zeros((0, 2)), "Y": np.zeros((0, 1))}, ALL, "no rows"),
        ({"X": np.zeros((1, 0)), "feature_names": []}, ALL, "no rows, no features"),
        ({"Y": np.zeros((1, 0)), "label_names": []}, ALL, "no labels"),
        ({"label_names": ["a"]}, ("arff",), "a feature and a label"),
        ({"label_names": ["\x01"]}, ("arff",), "XML"),
        ({"feature_names": ["a", "\ud800"]}, ALL, "half of a character"),
        (
            {"X": pd.DataFrame({"a": pd.Series(["\ud800"], dtype=object), "b": [1.0]})},
            ("arff", "csv", "parquet"),
            "half of a character",
        ),
        ({"feature_names": ["a", "label:l"]}, ("csv", "parquet"), "begins like a label"),
        ({"feature_names": ["a", ""]}, ("csv", "parquet"), "empty"),
        ({"label_names": [""]}, ("csv", "parquet"), "empty"),
        ({"feature_names": ["a", "b "]}, ("csv",), "spaces around"),
        (
            {"X": pd.DataFrame({"a": pd.Categorical([1], categories=[1, "1"]), "b": [1.0]})},
            ("arff",),
            "categories of 'a' are missing or identical as text",
        ),
    ],
    ids=range(20),
)
def test_what_cannot_be_written(
    tmp_path: Path, changes: dict[str, Any], formats: tuple[str, ...], message: str
) -> None:
    for format in ALL:
        path = tmp_path / f"toy.{format}"
        path.write_text("what stood there")
        if format in formats:
            with pytest.raises(DatasetError, match=message):
                write_dataset(simple(**changes), path)
            assert path.read_text() == "what stood there"
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(f"toy.{f}" for f in ALL)


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("toy.CSV", "csv"), ("toy.pq", "parquet"), ("toy.parquet", "parquet"),
        ("toy.svm", "libsvm"), ("toy.libsvm", "libsvm"), ("toy.svmlight", "libsvm"),
        ("toy.arff", "arff"), ("toy-train.arff", "arff"),
    ],
)  # fmt: skip
def test_the_suffix_decides(tmp_path: Path, name: str, format: str) -> None:
    path = write_dataset(simple(), tmp_path / name)
    assert path == tmp_path / name
    assert_same(READERS[format](path), simple())
    expected = {name, path.with_suffix(".xml").name} if format == "arff" else {name}
    assert {file.name for file in tmp_path.iterdir()} == expected


def test_bad_places(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no format is known"):
        write_dataset(simple(), tmp_path / "toy.txt")
    with pytest.raises(DatasetError, match="no format is known"):
        write_dataset(simple(), tmp_path / "toy.csv", "excel")
    with pytest.raises(DatasetError, match=r"use \.arff"):
        write_dataset(simple(), tmp_path / "toy.xml", "arff")
    for format in ALL:
        with pytest.raises(DatasetError, match="folder exists"):
            write_dataset(simple(), tmp_path / "none" / f"toy.{format}")
        (tmp_path / f"dir.{format}").mkdir()
        with pytest.raises(DatasetError, match="cannot be written"):
            write_dataset(simple(), tmp_path / f"dir.{format}")
    assert not [file for file in tmp_path.iterdir() if file.name.endswith(".part")]


def test_a_failure_midway_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_dataset(simple(), tmp_path / "toy.parquet")
    before = path.read_bytes()

    def fail(table: pd.DataFrame, file: Any, **options: Any) -> None:
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", fail)
    with pytest.raises(DatasetError, match="disk full"):
        write_dataset(simple(), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["toy.parquet"]


def test_other_label_prefix(tmp_path: Path) -> None:
    dataset = simple(feature_names=["a", "label:b"])
    path = write_dataset(dataset, tmp_path / "toy.csv", label_prefix="y=")
    assert_same(read_table(path, label_prefix="y="), dataset)


def test_real_file_through_all_formats(data_home: Path, tmp_path: Path) -> None:
    dataset = read_arff(data_home / "emotions" / "emotions-test.arff")
    for format, read in READERS.items():
        assert_same(read(write_dataset(dataset, tmp_path / f"again.{format}")), dataset)
