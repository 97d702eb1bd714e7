"""Mulan and MEKA ARFF: what is read, and what is refused at which line."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from splmll.datasets import read_dataset
from splmll.datasets.arff import read_arff
from splmll.exceptions import DatasetError

HEAD = "@relation 'toy: -C 1'\n@attribute l {0,1}\n@attribute a numeric\n@attribute b numeric\n"


def save(folder: Path, text: str, name: str = "toy.arff", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def labels_xml(*names: str) -> str:
    inner = "".join(f'<label name="{name}"></label>' for name in names)
    return f'<labels xmlns="http://mulan.sourceforge.net/labels">{inner}</labels>'


def refused(path: Path, message: str, line: int | None, **options: object) -> None:
    """The file is refused, with this in the message and this line."""
    with pytest.raises(DatasetError, match=message) as caught:
        read_arff(path, **options)
    assert caught.value.line == line
    assert caught.value.path is not None


# --- real files -------------------------------------------------------------------------------

REAL = [
    ("emotions", "emotions", 391, 202, 72, 6, 1.87),
    ("scene", "scene", 1211, 1196, 294, 6, 1.07),
    ("yeast", "yeast", 1500, 917, 103, 14, 4.24),
    ("tmc2007", "tmc2007-500", 21519, 7077, 500, 22, 2.16),
]
LABELS = {
    "emotions": [
        "amazed-suprised", "happy-pleased", "relaxing-calm", "quiet-still", "sad-lonely",
        "angry-aggresive",
    ],
    "scene": ["Beach", "Sunset", "FallFoliage", "Field", "Mountain", "Urban"],
    "yeast": [f"Class{i}" for i in range(1, 15)],
    "tmc2007": [f"class{i:02d}" for i in range(1, 23)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("folder", "stem", "n_train", "n_test", "n_features", "n_labels", "cardinality"), REAL
)
def test_real_files(
    data_home: Path,
    folder: str,
    stem: str,
    n_train: int,
    n_test: int,
    n_features: int,
    n_labels: int,
    cardinality: float,
) -> None:
    parts = [read_arff(data_home / folder / f"{stem}-{part}.arff") for part in ("train", "test")]
    for part, n_rows in zip(parts, (n_train, n_test)):
        assert part.X.shape == (n_rows, n_features)
        assert part.Y.shape == (n_rows, n_labels)
        assert part.X.dtype == np.float64
        assert part.Y.dtype == np.int64
        assert part.label_names == LABELS[folder]
        assert sparse.issparse(part.X) == sparse.issparse(part.Y) == (folder == "tmc2007")
    total = sum(float(part.Y.sum()) for part in parts)
    assert total / (n_train + n_test) == pytest.approx(cardinality, abs=0.005)
    assert parts[0].feature_names == parts[1].feature_names
    assert parts[0].name == f"{stem}-train"


@pytest.mark.parametrize(("folder", "stem"), [row[:2] for row in REAL])
def test_real_cells_agree_with_the_text(data_home: Path, folder: str, stem: str) -> None:
    """Some rows, converted cell by cell in the plainest way."""
    path = data_home / folder / f"{stem}-test.arff"
    dataset = read_arff(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = lines[[line.lower() for line in lines].index("@data") + 1 :]
    lines = [line for line in lines if line.strip()]
    assert len(lines) == dataset.X.shape[0]
    width = dataset.X.shape[1]  # in these four sets the labels stand last
    for row in (0, 1, 100, len(lines) - 1):
        cells = np.zeros(width + dataset.Y.shape[1])
        if lines[row].startswith("{"):
            for pair in lines[row].strip("{} \t").split(","):
                index, value = pair.split()
                cells[int(index)] = float(value)
        else:
            cells[:] = [float(cell) for cell in lines[row].split(",")]
        x, y = dataset.X[[row]], dataset.Y[[row]]
        if sparse.issparse(x):
            x, y = x.toarray(), y.toarray()
        np.testing.assert_array_equal(x[0], cells[:width])
        np.testing.assert_array_equal(y[0], cells[width:])


def test_yeast_has_column_order_not_xml_order(data_home: Path) -> None:
    xml = (data_home / "yeast" / "yeast.xml").read_text(encoding="utf-8")
    in_xml = [part.split('"')[0] for part in xml.split('name="')[1:]]
    dataset = read_arff(data_home / "yeast" / "yeast-test.arff")
    assert in_xml != dataset.label_names
    assert sorted(in_xml) == sorted(dataset.label_names)


# --- where the labels come from ---------------------------------------------------------------


def test_sources_of_labels_in_order(tmp_path: Path) -> None:
    text = (
        "@relation 'x: -C 1'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n"
        "@attribute d {0,1}\n@data\n1,0,1,0\n"
    )
    path = save(tmp_path, text)
    save(tmp_path, labels_xml("d", "b"), "toy.xml")
    other = save(tmp_path, labels_xml("c"), "other.xml")
    assert read_arff(path, other, label_count=2).label_names == ["c"]
    assert read_arff(path, str(other)).label_names == ["c"]
    assert read_arff(path, ["d", "a"], label_count=2).label_names == ["a", "d"]
    assert read_arff(path, label_count=2).label_names == ["a", "b"]
    assert read_arff(path, label_count=-3).label_names == ["b", "c", "d"]
    mulan = save(tmp_path, text.replace(": -C 1", ""))
    assert read_arff(mulan).label_names == ["b", "d"]
    assert read_arff(mulan).feature_names == ["a", "c"]
    assert read_arff(mulan).X.tolist() == [[1.0, 1.0]]
    assert read_arff(mulan).Y.tolist() == [[0, 0]]


def with_count(data_home: Path, tmp_path: Path, count: str) -> tuple[Path, Path]:
    """A real file, and its XML file beside it, with a count in the relation line."""
    text = (data_home / "emotions" / "emotions-test.arff").read_text()
    first_line, rest = text.split("\n", 1)
    assert first_line.startswith("@relation")
    path = save(tmp_path, f"@relation 'emotions: -C {count}'\n{rest}", "emotions-test.arff")
    xml = save(tmp_path, (data_home / "emotions" / "emotions.xml").read_text(), "emotions.xml")
    return path, xml


@pytest.mark.parametrize("count", ["5", "-5", "-7", "0", "99"])
def test_xml_and_relation_of_different_numbers(data_home: Path, tmp_path: Path, count: str) -> None:
    path, xml = with_count(data_home, tmp_path, count)
    refused(path, rf"emotions\.xml .* and -C {count} .*labels='.*' or label_count={count}", None)
    assert read_arff(path, xml).label_names == LABELS["emotions"]


def test_xml_wins_where_the_count_means_as_many_other_attributes(
    data_home: Path, tmp_path: Path
) -> None:
    """As in the wild: labels stand last, and `-C 6` would take six features for them."""
    path, xml = with_count(data_home, tmp_path, "6")
    with pytest.warns(UserWarning, match=r"emotions\.xml .* -C 6 .*labels='.*' or label_count=6"):
        dataset = read_dataset(path)
    assert dataset.label_names == LABELS["emotions"]
    with warnings.catch_warnings():  # who says which is meant is not warned
        warnings.simplefilter("error")
        assert read_arff(path, xml).label_names == LABELS["emotions"]
        assert read_arff(path, label_count=-6).label_names == LABELS["emotions"]
    # What the count means where nothing contradicts it: here features, which are not 0 or 1.
    xml.unlink()
    refused(path, "is not 0 or 1", 83)


def test_xml_and_relation_that_agree(tmp_path: Path) -> None:
    text = "@relation 'x: -C -1'\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,0\n"
    path = save(tmp_path, text)
    save(tmp_path, labels_xml("b"), "toy.xml")
    assert read_arff(path).label_names == ["b"]


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("'x: -C 2'", ["a", "b"]),
        ('"x: -c 2"', ["a", "b"]),
        ("x: -C -2", ["b", "c"]),
        ("'-C\t1'", ["a"]),
        ("'x: -split 5 -C -1 -other'", ["c"]),
        ("'x -C 2: -C -1'", ["c"]),
    ],
)
def test_meka_relation(tmp_path: Path, relation: str, expected: list[str]) -> None:
    columns = "".join(f"@attribute {name} {{0,1}}\n" for name in "abc")
    path = save(tmp_path, f"@relation {relation}\n{columns}@data\n1,0,1\n")
    assert read_arff(path).label_names == expected


@pytest.mark.parametrize("stem", ["toy", "toy-train", "toy-test"])
def test_sibling_xml(tmp_path: Path, stem: str) -> None:
    path = save(tmp_path, HEAD.replace(": -C 1", "") + "@data\n1,2,3\n", f"{stem}.arff")
    refused(path, "pass labels or label_count", None)
    save(tmp_path, labels_xml("l"), "toy.xml")
    assert read_arff(path).label_names == ["l"]
    save(tmp_path, '<labels><label name="l"/></labels>', f"{stem}.xml")
    assert read_arff(path, name="other").name == "other"


def test_nested_labels_are_flattened(tmp_path: Path) -> None:
    path = save(tmp_path, "@relation x\n@attribute a {0,1}\n@attribute b {0,1}\n"
                "@attribute c {0,1}\n@attribute f real\n@data\n0,1,0,4\n")  # fmt: skip
    xml = "<labels><label name='c'><label name='a'><label name='b'/></label></label></labels>"
    assert read_arff(path, save(tmp_path, xml, "tree.xml")).label_names == ["a", "b", "c"]


# --- what the header may look like ------------------------------------------------------------


def test_quotes_escapes_comments_and_case(tmp_path: Path) -> None:
    text = (
        "% comment\r\n@RELATION x\r\n\r\n"
        "@Attribute 'it\\'s' NUMERIC % comment\r\n"
        '@attribute "two words" Real\r\n'
        "@attribute tab\\t\tinteger\r\n"
        "  @attribute 'a\\\\b\\n\\u00e9\\%' numeric\r\n"
        "@attribute can't numeric\r\n"
        "@attribute 'l, {1}'{ 0 , '1' } % comment\r\n"
        "@DATA % comment\r\n% comment\r\n\r\n 1 ,\t2,3,4,5 , 1 % comment\r\n6,7,8,9,10,'0'\r\n"
    )
    dataset = read_arff(save(tmp_path, text), ["l, {1}"])
    assert dataset.feature_names == ["it's", "two words", "tab\\t", "a\\b\né%", "can't"]
    assert dataset.X.tolist() == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]
    assert dataset.Y.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "cp1252"]
)
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = save(tmp_path, HEAD.replace(" a ", " é ") + "@data\n1,2,3\n", encoding=encoding)
    assert read_arff(path, encoding=encoding).feature_names == ["é", "b"]
    if "16" not in encoding:
        assert read_arff(path).feature_names == ["é", "b"]
    else:
        with pytest.raises(DatasetError, match=r"UTF-16|NUL"):
            read_arff(path)


def test_wrong_encoding(tmp_path: Path) -> None:
    path = save(tmp_path, HEAD.replace(" b ", " é ") + "@data\n1,2,3\n", encoding="latin-1")
    refused(path, "not utf-8", 4, encoding="utf-8")
    for unknown in ("no-such-codec", "base64", "undefined"):
        refused(path, "one that Python knows", None, encoding=unknown)


# --- what the cells mean ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "zero", "one"),
    [
        ("{0,1}", "0", "1"),
        ("{1,0}", "0", "1"),
        ("{0.0,1.0}", "0", "1.0"),
        ("{NO,YES}", "NO", "YES"),
        ("{True,False}", "False", "True"),
        ("{f,t}", "f", "'t'"),
        ("{-1,1}", "-1", "+1"),
        ("{0}", "0", "0"),
        ("numeric", "0.0", "1e0"),
    ],
)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_label_types(tmp_path: Path, declared: str, zero: str, one: str, is_sparse: bool) -> None:
    row = "{{0 {0},1 7}}\n" if is_sparse else "{0},7\n"
    text = f"@relation x\n@attribute l {declared}\n@attribute a numeric\n@data\n"
    dataset = read_arff(save(tmp_path, text + row.format(zero) + row.format(one)), labels=["l"])
    Y = dataset.Y.toarray() if is_sparse else dataset.Y
    assert Y.dtype == np.int64
    assert Y.ravel().tolist() == [0, int(declared != "{0}")]


@pytest.mark.parametrize("declared", ["string", "{a,b}", "{0,1,2}", "{0,2}", "{yes,false}"])
def test_impossible_label_types(tmp_path: Path, declared: str) -> None:
    text = f"@relation x\n@attribute a numeric\n@attribute l {declared}\n@data\n1,0\n"
    refused(save(tmp_path, text), "a label must be", 3, labels=["l"])


def test_kinds_of_features(tmp_path: Path) -> None:
    text = (
        "@relation x\n@attribute n numeric\n@attribute z {0,1}\n@attribute w {YES,NO}\n"
        "@attribute c {red,'light blue',0}\n@attribute s string\n@attribute l {0,1}\n@data\n"
        "1,1,YES,'light blue','a, b',1\n2,0,NO,red,?,0\n3,1,YES,?,'?',0\n"
    )
    path = save(tmp_path, text)
    refused(path, "allow_missing", 10, labels=["l"])
    dataset = read_arff(path, ["l"], allow_missing=True)
    X = dataset.X
    assert isinstance(X, pd.DataFrame)
    assert dataset.column_kinds == {
        "n": "numeric", "z": "numeric", "w": "numeric", "c": "categorical", "s": "text"
    }  # fmt: skip
    assert X["w"].tolist() == [1.0, 0.0, 1.0]
    assert X["c"].cat.categories.tolist() == ["red", "light blue", "0"]
    assert X["c"].cat.codes.tolist() == [1, 0, -1]
    assert X["s"].isna().tolist() == [False, True, False]
    assert X["s"][0] == "a, b"
    assert X["s"][2] == "?"


def test_no_half_characters(tmp_path: Path) -> None:
    """An escape cannot smuggle in what no text can hold."""
    text = (
        "@relation x\n@attribute c {'\\ud800',b,c}\n@attribute s string\n@attribute l {0,1}\n"
        "@data\nb,'\\udfff\\u0041',1\n"
    )
    dataset = read_arff(save(tmp_path, text), ["l"])
    assert dataset.X["c"].cat.categories.tolist() == ["ud800", "b", "c"]
    assert dataset.X["s"].tolist() == ["udfffA"]
    path = save(tmp_path, text.replace("x", "\\ud800", 1))
    refused(path, "one that Python knows", None, labels=["l"], encoding="unicode_escape")


def test_sparse_rows_leave_out_the_first_value(tmp_path: Path) -> None:
    text = (
        "@relation x\n@attribute a numeric\n@attribute b {0,1}\n@attribute c {1,0}\n"
        "@attribute d {YES,NO}\n@attribute l {1,0}\n@attribute m {0,1}\n@data\n"
        "{}\n{0 2,2 0}\n{1 1, 3 NO, 4 0, 5 1}\n{2 1,3 YES}\n"
    )
    dataset = read_arff(save(tmp_path, text), ["l", "m"])
    assert sparse.issparse(dataset.X)
    assert sparse.issparse(dataset.Y)
    assert dataset.X.toarray().tolist() == [
        [0, 0, 1, 1], [2, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]
    ]  # fmt: skip
    assert dataset.Y.toarray().tolist() == [[1, 0], [1, 0], [0, 1], [1, 0]]
    assert dataset.X.nnz == np.count_nonzero(dataset.X.toarray())
    assert dataset.X.has_canonical_format


def test_sparse_rows_with_categories_and_text(tmp_path: Path) -> None:
    text = (
        "@relation 'x: -C 1'\n@attribute l {0,1}\n@attribute c {red,'light blue'}\n"
        "@attribute s string\n@attribute n numeric\n@data\n{0 1}\n{1 'light blue',2 'a b',3 4}\n"
    )
    dataset = read_arff(save(tmp_path, text))
    assert dataset.X["c"].tolist() == ["red", "light blue"]
    assert dataset.X["s"].tolist() == ["", "a b"]
    assert dataset.X["n"].tolist() == [0.0, 4.0]
    assert dataset.Y.toarray().tolist() == [[1], [0]]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_unknown_labels_and_missing_values(tmp_path: Path, is_sparse: bool) -> None:
    rows = "{0 ?,1 2}\n{0 1,2 ?}\n" if is_sparse else "?,2,0\n1,0,?\n"
    path = save(tmp_path, HEAD + "@data\n" + rows)
    refused(path, "allow_unknown", 6)
    refused(path, "allow_missing", 7, allow_unknown=True)
    refused(path, "allow_unknown", 6, allow_missing=True)
    dataset = read_arff(path, allow_unknown=True, allow_missing=True)
    np.testing.assert_array_equal(dataset.Y, [[np.nan], [1]])
    X = dataset.X.toarray() if is_sparse else dataset.X
    np.testing.assert_array_equal(X, [[2, 0], [0, np.nan]])


# --- fast and careful reading agree -----------------------------------------------------------

numbers = st.one_of(
    st.just(0.0), st.integers(-9, 9).map(float), st.floats(allow_nan=False, allow_infinity=False)
)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_blocks_and_single_rows_agree(tmp_path: Path, data: st.DataObject) -> None:
    """One row with a quoted number sends its block through the careful reader."""
    n_rows, width = data.draw(st.integers(1, 300)), data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    pool = np.array(data.draw(st.lists(numbers, min_size=1, max_size=6)))
    X = rng.choice(pool, (n_rows, width))
    Y = rng.integers(0, 2, (n_rows, 1))
    head = "@relation 'x: -C 1'\n@attribute l {0,1}\n" + "".join(
        f"@attribute a{i} numeric\n" for i in range(width)
    )
    head += "@data\n"
    dense = [",".join([str(y[0]), *map(repr, x.tolist())]) for x, y in zip(X, Y)]
    packed = [
        "{" + ", ".join(f"{i} {v}" for i, v in enumerate([y[0], *x.tolist()]) if v) + "}"
        for x, y in zip(X, Y)
    ]
    odd = data.draw(st.integers(0, n_rows - 1))
    careful = [*dense]
    careful[odd] = f"'{Y[odd, 0]}'" + dense[odd][1:] + " % comment"
    for rows in (dense, careful, packed):
        dataset = read_arff(save(tmp_path, head + "\n".join(rows)))
        is_sparse = sparse.issparse(dataset.X)
        np.testing.assert_array_equal(dataset.X.toarray() if is_sparse else dataset.X, X)
        np.testing.assert_array_equal(dataset.Y.toarray() if is_sparse else dataset.Y, Y)


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "message", "line"),
    [
        ("1,2,3\n1,2\n", "has 2 values, expected 3", 7),
        ("1,2,3\n1,2,3,4\n", "has 4 values, expected 3", 7),
        ("1,2,3\n% c\n\n1,2,x\n", "'x' is not a number", 9),
        ("1,2,\n", "'' is not a number", 6),
        ("1,2,nan\n", "not a finite number", 6),
        ("1,inf,3\n", "not a finite number", 6),
        ("1,1e999,3\n", "not a finite number", 6),
        ("1,1_0,3\n", "not a number", 6),
        ("1,\u0663,3\n", "not a number", 6),
        ("2,2,3\n", "'2' is not among the declared values", 6),
        ("yes,2,3\n", "'yes' is not among the declared values", 6),
        ("1,'2,3\n", "quote", 6),
        ("1,'2'x,3\n", "quote", 6),
        ("1,2,3\n{0 1}\n", "sparse but the rows before are dense", 7),
        ("1,2,3\n1,2,3,{5}\n", "has 4 values", 7),
        ("{0 1}\n1,2,3\n", "dense but the rows before are sparse", 7),
        ("{0 1}\n{3 1}\n", "index '3' is not an integer from 0 to 2", 7),
        ("{-1 1}\n", "index '-1'", 6),
        ("{1.0 1}\n", "index '1.0'", 6),
        (f"{{{'9' * 5000} 1}}\n", "is not an integer", 6),
        ("{99999999999999999999 1}\n", "is not an integer", 6),
        ("{1 1,1 2}\n", "appears twice", 6),
        ("{2 1,1 2}\n", "follows 2", 6),
        ("{1 2\n", "closed by a brace", 6),
        ("{1 2,}\n", "expected 'index value'", 6),
        ("{1}\n", "expected 'index value'", 6),
        ("{1 2 0,2}\n", "expected 'index value'", 6),
        ("{1 2} 5\n", "follows the closing brace", 6),
        ("{0 2}\n", "not among the declared values", 6),
        ("{1 nan}\n", "not a finite number", 6),
        ("{1 1_0}\n", "not a number", 6),
        ("", "no data rows", 5),
        ("% nothing\n\n", "no data rows", 7),
    ],
)
def test_bad_rows(tmp_path: Path, rows: str, message: str, line: int) -> None:
    refused(save(tmp_path, HEAD + "@data\n" + rows), message, line)


def test_the_line_is_right_far_into_the_file(tmp_path: Path) -> None:
    rows = ["1,2,3"] * 2000
    rows[1234] = "1,2,3;"
    refused(save(tmp_path, HEAD + "@data\n" + "\n".join(rows)), "'3;'", 5 + 1235)
    rows = ["{0 1,2 3}"] * 2000
    rows[777] = "{0 1,0 1}"
    refused(save(tmp_path, HEAD + "@data\n" + "\n".join(rows)), "twice", 5 + 778)


def test_numeric_label_that_is_not_0_or_1(tmp_path: Path) -> None:
    head = "@relation 'x: -C 1'\n@attribute l numeric\n@attribute a numeric\n@data\n1,1\n"
    refused(save(tmp_path, head + "0.5,1\n"), "'0.5' is not 0 or 1", 6)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "empty", None),
        ("\n \n", "empty", None),
        ("@relation x\n@attribute a numeric\n", "no @data", 2),
        ("@relation x\n@data\n1\n", "no @attribute", 2),
        ("@relation x\n@attribute a numeric\n1,2\n", "not an ARFF declaration", 3),
        ("@relation x\n@end\n", "not an ARFF declaration", 2),
        ("a,b\n1,2\n", "not an ARFF declaration", 1),
        (HEAD + "@attribute a {0,1}\n@data\n", "'a' appears twice, first in line 3", 5),
        (HEAD + "@attribute c date 'yyyy'\n", "not supported", 5),
        (HEAD + "@attribute c\n", "not supported", 5),
        (HEAD + "@attribute\n", "no readable name", 5),
        (HEAD + "@attribute 'c numeric\n", "no readable name", 5),
        (HEAD + "@attribute two words numeric\n", "quote names", 5),
        (HEAD + "@attribute c {}\n", "set of values", 5),
        (HEAD + "@attribute c {a,b\n", "set of values", 5),
        (HEAD + "@attribute c {a b}\n", "set of values", 5),
        (HEAD + "@attribute c {a,,b}\n", "set of values", 5),
        (HEAD + "@attribute c {a,a}\n", "appears twice", 5),
        (HEAD + "@attribute c {a,b} x\n", "follows the set", 5),
        (HEAD + "@data 1,2,3\n", "follows @data", 5),
        ("\0" * 50, "NUL", 1),
        ("@relation 'x: -C 3'\n@attribute a {0,1}\n@data\n1\n", "cannot be counted off", None),
        ("@relation 'x: -C 0'\n@attribute a {0,1}\n@data\n1\n", "cannot be counted off", None),
    ],
)
def test_bad_headers(tmp_path: Path, text: str, message: str, line: int | None) -> None:
    refused(save(tmp_path, text), message, line)


BOMB = (
    '<!DOCTYPE x [<!ENTITY a "l"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>\n<labels><label name="&c;"/></labels>'
)


@pytest.mark.parametrize(
    ("xml", "message", "line"),
    [
        (labels_xml("l") + "\n" + labels_xml("l"), "well-formed", 2),
        ("<labels>\n<label name='l'>\n</labels>", "well-formed", 3),
        ("<labels>\n<label name='m'/></labels>", "'m' is not an attribute of toy.arff", 2),
        ("<labels>\n<label name='l'/>\n<label name='l'/></labels>", "twice", 3),
        ("<labels>\n\n<label/></labels>", "has no name", 3),
        ("<labels></labels>", "no label is named", None),
        ("<html><label name='l'/></html>", "'html', not 'labels'", None),
        (labels_xml("l", "a", "b"), "leaves no feature", None),
        (BOMB, "without entities", 1),
        ('<!DOCTYPE l SYSTEM "file:///etc/passwd">\n<labels/>', "without entities", 1),
        ("<?xml version='1.0' encoding='no-such'?><labels/>", "well-formed", 1),
        ("<?xml version='1.0' encoding='big5'?><labels/>", "well-formed", 1),
        ("", "empty", None),
        ("<labels>" + "<label name='l'>" * 100_000, "well-formed", 1),
        ("<labels>" + "<x>" * 100_000 + "</x>" * 100_000 + "</labels>", "no label is named", None),
    ],
    ids=range(15),
)
def test_bad_xml(tmp_path: Path, xml: str, message: str, line: int | None) -> None:
    path = save(tmp_path, HEAD.replace(": -C 1", "") + "@data\n1,2,3\n")
    refused(path, message, line, labels=save(tmp_path, xml, "labels.xml"))


def test_bad_arguments(tmp_path: Path) -> None:
    path = save(tmp_path, HEAD + "@data\n1,2,3\n")
    refused(path, "not an attribute", None, labels=["l", "z"])
    refused(path, "twice", None, labels=["l", "l"])
    refused(path, "no label is named", None, labels=[])
    refused(path, "leaves no feature", None, labels=["l", "a", "b"])
    for count in (0, 3, -3, 4):
        refused(path, "cannot be counted off", None, label_count=count)
    refused(tmp_path, "folder", None)
    refused(tmp_path / "none.arff", "no such file", None)
    refused(path, "folder", None, labels=tmp_path)
    refused(path, "no such file", None, labels=tmp_path / "none.xml")


def test_a_table_too_large_to_spread_out_is_refused(tmp_path: Path) -> None:
    """A sparse file of a few hundred kilobytes must not ask for gigabytes."""
    columns = "".join(f"@attribute a{i} {{1,0}}\n" for i in range(5000))
    text = f"@relation 'x: -C 1'\n@attribute l {{0,1}}\n{columns}@data\n" + "{}\n" * 50_000
    refused(save(tmp_path, text), "too many to make dense", None)
