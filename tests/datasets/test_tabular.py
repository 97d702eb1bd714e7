"""Tables: what is a label, what is a feature and of which kind, and what is refused where."""

from __future__ import annotations

import gzip
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder

from splmll.datasets import DatasetError, read_table


def write(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


PLAIN = "a,b,l_x,l_y\n1,-0.5,1,0\n2,3e2,0,0\n"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"label_prefix": "l_"}, ["x", "y"]),
        ({"labels": ["l_x", "l_y"]}, ["l_x", "l_y"]),
        ({"labels": ["l_y", "l_x"]}, ["l_y", "l_x"]),
    ],
)
def test_label_columns(tmp_path: Path, options: dict[str, object], names: list[str]) -> None:
    data = read_table(write(tmp_path, PLAIN), **options)  # type: ignore[arg-type]
    assert data.label_names == names
    assert data.Y[0, [name.endswith("x") for name in names].index(True)] == 1
    assert data.Y.sum() == 1
    assert data.Y.dtype == np.int64
    assert isinstance(data.X, np.ndarray)
    np.testing.assert_array_equal(data.X, [[1, -0.5], [2, 300]])
    assert data.column_kinds == {"a": "numeric", "b": "numeric"}
    assert data.name == "table"


@pytest.mark.parametrize(
    ("cells", "delimiter", "expected"),
    [
        (["p;q", "", "q"], None, [["p", "q"], [], ["q"]]),
        (['"p|q, r"', "", "p"], None, [["p", "q, r"], [], ["p"]]),
        (['"p, q"', "", "q"], None, [["p", "q"], [], ["q"]]),
        (["new york", "", "rome"], None, [["new york"], [], ["rome"]]),
        (["new york", "", "rome"], " ", [["new", "york"], [], ["rome"]]),
        (['"[""p"", ""q, r""]"', "[]", ""], None, [["p", "q, r"], [], []]),
        (["[3]", "[1]", '"[1, 3]"'], None, [["3"], ["1"], ["1", "3"]]),
        (["p;;p; q ", ";", "q"], None, [["p", "q"], [], ["q"]]),
        (["p::q", "q", "NA"], "::", [["p", "q"], ["q"], ["NA"]]),
    ],
)
def test_tag_column(
    tmp_path: Path, cells: list[str], delimiter: str | None, expected: list[list[str]]
) -> None:
    text = "a,tags\n" + "".join(f"{row},{cell}\n" for row, cell in enumerate(cells))
    data = read_table(write(tmp_path, text), label_column="tags", label_delimiter=delimiter)
    assert data.label_names == sorted({tag for row in expected for tag in row})
    found = [[data.label_names[j] for j in np.flatnonzero(row)] for row in data.Y]
    assert found == expected


def test_many_tags_come_sparse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, "a,t\n1,p;q\n2,\n3,q\n")
    dense = read_table(file, label_column="t")
    monkeypatch.setattr("splmll.datasets.tabular._DENSE_CELLS", 5)
    thin = read_table(file, label_column="t")
    np.testing.assert_array_equal(thin.Y.toarray(), dense.Y)
    assert thin.Y.format == "csr"


def test_kinds_are_told_apart_and_feed_a_pipeline(tmp_path: Path) -> None:
    text = (
        "size,colour,story,flag,is_x\n"
        "1,red,once upon a time,true,1\n2,blue,they lived on and on,false,0\n3,red,,true,1\n"
    )
    data = read_table(write(tmp_path, text), label_prefix="is_")
    assert data.column_kinds == {
        "size": "numeric", "colour": "categorical", "story": "text", "flag": "numeric",
    }  # fmt: skip
    assert isinstance(data.X, pd.DataFrame)
    assert data.X["story"].iloc[2] == ""  # an empty text is a text
    columns = {kind: [c for c, k in data.column_kinds.items() if k == kind] for kind in
               ("numeric", "categorical")}  # fmt: skip
    transformer = make_column_transformer(
        ("passthrough", columns["numeric"]),
        (OneHotEncoder(), columns["categorical"]),
        (TfidfVectorizer(), "story"),
    )
    assert transformer.fit_transform(data.X).shape[0] == 3


def test_many_distinct_words_are_text_and_few_are_not(tmp_path: Path) -> None:
    rows = "".join(f"id{number},{number % 3}kg,1\n" for number in range(60))
    data = read_table(write(tmp_path, "key,unit,y\n" + rows), labels="y")
    assert data.column_kinds == {"key": "text", "unit": "categorical"}


def test_kinds_can_be_overruled(tmp_path: Path) -> None:
    text = "zip,word,extra,y\n1010,one,q,1\n0202,two,r,0\n"
    data = read_table(
        write(tmp_path, text), labels="y", categorical="zip", text=["word"], ignore=["extra"]
    )
    assert data.column_kinds == {"zip": "categorical", "word": "text"}
    assert data.X["zip"].tolist() == ["1010", "0202"]  # as written, no number was made of it
    with pytest.raises(DatasetError, match=r"line 2: .*'one'.*not a number"):
        read_table(write(tmp_path, text), labels="y", numeric="word")


@pytest.mark.parametrize("word", ["", "NaN", "nan", "NA", "?", "null", " "])
def test_missing_numbers(tmp_path: Path, word: str) -> None:
    file = write(tmp_path, f"a,b,y\n1,2,1\n{word},3,0\n")
    with pytest.raises(DatasetError, match=r"line 3: the column 'a' .*allow_missing=True"):
        read_table(file, labels="y")
    data = read_table(file, labels="y", allow_missing=True)
    np.testing.assert_array_equal(data.X, [[1, 2], [np.nan, 3]])


def test_missing_category(tmp_path: Path) -> None:
    file = write(tmp_path, "a,y\nred,1\n,0\n")
    with pytest.raises(DatasetError, match="line 3: the column 'a' has a missing value"):
        read_table(file, labels="y")
    data = read_table(file, labels="y", allow_missing=True)
    assert data.X["a"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "options", "line", "part"),
    [
        ("", {"labels": "y"}, None, "empty"),
        (" \n\n", {"labels": "y"}, None, "empty"),
        ("a,y\n", {"labels": "y"}, None, "no rows"),
        ("a,y\n1,2\n", {"labels": "y"}, 2, "0 or 1"),
        ("a,y\n1,1\n\n1,maybe\n", {"labels": "y"}, 4, "'maybe'"),
        ("a,y\n1,1\n1,\n", {"labels": "y"}, 3, "is empty"),
        ("a,y\n1,1\n1,0.5\n", {"labels": "y"}, 3, "'0.5'"),
        ('a,y\n"x\ny",1\n1,1,1\n', {"labels": "y"}, 4, "3 values"),
        ("a,y\n1,1\n1\n", {"labels": "y"}, 3, "1 values"),
        ("a,a,y\n1,1,1\n", {"labels": "y"}, None, "'a' appears twice"),
        ("a,,y\n1,1,1\n", {"labels": "y"}, 1, "column 2 has no name"),
        ("a,y\ninf,1\n", {"labels": "y"}, 2, "infinite"),
        ("a,y\n1e999,1\n", {"labels": "y"}, 2, "infinite"),
        ("y\n1\n", {"labels": "y"}, None, "no column is left"),
        ("a,y\n1,1\n", {}, None, "in one way"),
        ("a,y\n1,1\n", {"labels": "y", "label_prefix": "y"}, None, "in one way"),
        ("a,y\n1,1\n", {"labels": []}, None, "contains no column"),
        ("a,y\n1,1\n", {"labels": "z"}, None, "there is no label column 'z'"),
        ("a,y\n1,1\n", {"labels": ["y", "y"]}, None, "appears twice"),
        ("a,y\n1,1\n", {"label_prefix": "q"}, None, "no column starts"),
        ("a,y,yz\n1,1,0\n", {"label_prefix": "y"}, None, "just the prefix"),
        ("a,y\n1,1\n", {"labels": "y", "text": "q"}, None, "no text column 'q'"),
        ("a,y\n1,1\n", {"labels": "y", "text": "a", "ignore": "a"}, None, "keep one"),
        ("a,y\n1,1\n", {"labels": "y", "text": "y"}, None, "keep one"),
        ("a,y\n1,\n", {"label_column": "y"}, None, "no row has a label"),
        ("a,y\n1,[1\n", {"label_column": "y"}, 2, "JSON"),
        ('a,y\n1,"[[1]]"\n', {"label_column": "y"}, 2, "list of names"),
        ("a,y\n1,p\n", {"label_column": "y", "label_delimiter": ""}, None, "label_delimiter"),
        ("a,y\n1,1\n", {"labels": "y", "delimiter": "::"}, None, "one character"),
        ("a,y\n1,1\n", {"labels": "y", "encoding": "klingon"}, None, "klingon"),
    ],
)
def test_bad_csv(
    tmp_path: Path, text: str, options: dict[str, object], line: int | None, part: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        read_table(write(tmp_path, text), **options)  # type: ignore[arg-type]
    assert part in str(caught.value)
    assert caught.value.line == line


def test_encoding(tmp_path: Path) -> None:
    file = write(tmp_path, "a,y\nx,1\nné,0\n".encode("latin-1"))
    with pytest.raises(DatasetError, match=r"line 3: this is not utf-8 .*latin-1"):
        read_table(file, labels="y")
    assert read_table(file, labels="y", encoding="latin-1").X["a"].tolist() == ["x", "né"]
    marked = write(tmp_path, PLAIN.encode("utf-8-sig"))
    assert read_table(marked, label_prefix="l_").feature_names == ["a", "b"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    expected = read_table(write(tmp_path, PLAIN), label_prefix="l_")
    for suffix in ("csv", "tsv") if delimiter == "\t" else ("csv",):
        file = write(tmp_path, PLAIN.replace(",", delimiter), f"other.{suffix}")
        found = read_table(file, label_prefix="l_")
        np.testing.assert_array_equal(found.X, expected.X)
        np.testing.assert_array_equal(found.Y, expected.Y)


def test_gzip(tmp_path: Path) -> None:
    packed = gzip.compress(PLAIN.encode())
    data = read_table(write(tmp_path, packed, "toy.csv.gz"), label_prefix="l_")
    assert (data.name, data.X.shape) == ("toy", (2, 2))
    for content in (packed[:-9], packed[:20], b"\x1f\x8bno", b"plain"):
        with pytest.raises(DatasetError, match="gzip"):
            read_table(write(tmp_path, content, "bad.csv.gz"), label_prefix="l_")


def test_no_such_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such file"):
        read_table(tmp_path / "none.csv", labels="y")
    with pytest.raises(DatasetError, match="folder"):
        read_table(tmp_path, labels="y")


def test_parquet(tmp_path: Path) -> None:
    file = tmp_path / "toy.parquet"
    table = pa.table(
        {
            "n": pa.array([1, 2, 3], pa.int8()),
            "f": pa.array([0.5, 1.5, 2.5], pa.float32()),
            "c": pa.array(["p", "q", "p"]).dictionary_encode(),
            "b": [True, False, True],
            "l_x": [1, 0, 1],
            "l_y": [False, True, True],
            "l_z": [0.0, 1.0, 0.0],
        }
    )
    pq.write_table(table, file)
    data = read_table(file, label_prefix="l_")
    assert data.column_kinds == {
        "n": "numeric", "f": "numeric", "c": "categorical", "b": "numeric",
    }  # fmt: skip
    assert data.Y.tolist() == [[1, 0, 0], [0, 1, 1], [1, 1, 0]]
    assert data.X["c"].tolist() == ["p", "q", "p"]
    assert data.X["b"].tolist() == [1, 0, 1]


def test_parquet_lists_and_nulls(tmp_path: Path) -> None:
    file = tmp_path / "toy.parquet"
    pq.write_table(pa.table({"n": [1, None], "t": [["b", "a"], None]}), file)
    with pytest.raises(DatasetError, match="row 2: the column 'n'"):
        read_table(file, label_column="t")
    data = read_table(file, label_column="t", allow_missing=True)
    assert data.label_names == ["a", "b"]
    assert data.Y.tolist() == [[1, 1], [0, 0]]
    assert np.isnan(data.X[1, 0])


@pytest.mark.parametrize(
    ("columns", "options", "part"),
    [
        ({"d": pa.array([0], pa.timestamp("s")), "y": [1]}, {"labels": "y"}, "timestamp"),
        ({"d": [[1]], "y": [1]}, {"labels": "y"}, "list"),
        ({"d": [1], "y": pa.array([0], pa.timestamp("s"))}, {"labels": "y"}, "timestamp"),
        (
            {"d": [1], "y": pa.array([2**62], pa.timestamp("ms"))},
            {"label_column": "y"},
            "timestamp",
        ),
        (
            {"d": [1], "y": pa.array([[2**62]], pa.list_(pa.timestamp("ms")))},
            {"label_column": "y"},
            "timestamp",
        ),
        ({"d": [1], "y": [[1.5]]}, {"label_column": "y"}, "list of names"),
        ({"d": [1], "y": [7]}, {"labels": "y"}, "row 1"),
        ({"d": [1], "y": pa.array([None], pa.int8())}, {"labels": "y"}, "is empty"),
        ({"d": pa.array([], pa.int8()), "y": pa.array([], pa.int8())}, {"labels": "y"}, "no rows"),
    ],
)
def test_bad_parquet(
    tmp_path: Path, columns: dict[str, object], options: dict[str, object], part: str
) -> None:
    file = tmp_path / "toy.parquet"
    pq.write_table(pa.table(columns), file)
    with pytest.raises(DatasetError) as caught:
        read_table(file, **options)  # type: ignore[arg-type]
    assert part in str(caught.value)


def test_not_parquet(tmp_path: Path) -> None:
    for content in (b"PAR1", b"PAR1" + b"\0" * 50 + b"PAR1", b"a,b\n1,2\n"):
        with pytest.raises(DatasetError, match="Parquet"):
            read_table(write(tmp_path, content, "toy.parquet"), labels="y")


# Surrogates and control characters cannot be written to every kind of file.
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(
    lambda word: word.strip() == word
)


@settings(max_examples=60, deadline=None)
@given(
    numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=6),
    data=st.data(),
)
def test_what_pandas_writes_comes_back(
    numbers: list[float], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    n = len(numbers)
    notes = data.draw(st.lists(words.map(lambda w: f"a b {w}"), min_size=n, max_size=n))
    labels = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    frame = pd.DataFrame({"x": numbers, "note": notes, "l_1": labels, "l_0": labels.astype(int)})
    folder = tmp_path_factory.mktemp("round")
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    for file in ("t.csv", "t.parquet"):
        found = read_table(folder / file, label_prefix="l_")
        assert found.X["x"].tolist() == numbers
        # Spellings of one character that look the same are one.
        assert found.X["note"].tolist() == [unicodedata.normalize("NFC", note) for note in notes]
        np.testing.assert_array_equal(found.Y, np.column_stack([labels, labels]))
