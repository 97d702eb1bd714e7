"""LIBSVM: what is read, that it is what scikit-learn reads, and what is refused at which line."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer

from splmll.datasets.libsvm import NAMES_PREFIX, read_libsvm
from splmll.exceptions import DatasetError


def save(folder: Path, text: str) -> Path:
    path = folder / "toy.svm"
    path.write_bytes(text.encode())
    return path


def refused(path: Path, message: str, line: int | None, **options: object) -> None:
    with pytest.raises(DatasetError, match=message) as caught:
        read_libsvm(path, **options)
    assert caught.value.line == line
    assert caught.value.path == str(path)


def test_rows_labels_and_comments(tmp_path: Path) -> None:
    text = "# head\n10,2 1:0.5 3:1 # c\n\n 2:-1e2\n3:2\n2\t1:0\r\n"
    dataset = read_libsvm(save(tmp_path, text))
    assert dataset.label_names == ["2", "10"]
    assert dataset.feature_names == ["1", "2", "3"]
    assert dataset.X.toarray().tolist() == [[0.5, 0, 1], [0, -100, 0], [0, 0, 2], [0, 0, 0]]
    assert dataset.Y.toarray().tolist() == [[1, 1], [0, 0], [0, 0], [1, 0]]
    assert dataset.X.dtype == np.float64
    assert dataset.Y.dtype == np.int64
    assert dataset.X.nnz == 4  # the written zero is not stored
    assert dataset.name == "toy"
    assert read_libsvm(save(tmp_path, text), name="other").name == "other"


def test_string_labels_are_sorted_as_text(tmp_path: Path) -> None:
    dataset = read_libsvm(save(tmp_path, "sky,10 1:1\nsea,été 2:1\n2 1:1\n"))
    assert dataset.label_names == ["10", "2", "sea", "sky", "été"]
    assert dataset.Y.toarray().tolist() == [[1, 0, 0, 1, 0], [0, 0, 1, 0, 1], [0, 1, 0, 0, 0]]


def test_whole_numbers_written_as_decimals(tmp_path: Path) -> None:
    dataset = read_libsvm(save(tmp_path, "4.000000,12.00000 1:1\n-1,+4 1:1\n"))
    assert dataset.label_names == ["-1", "4", "12"]
    assert dataset.Y.toarray().tolist() == [[0, 1, 1], [1, 1, 0]]


def test_base_of_the_indexes(tmp_path: Path) -> None:
    ones, zeros = "1 1:5 2:6\n", "1 0:5 2:6\n"
    assert read_libsvm(save(tmp_path, ones)).X.toarray().tolist() == [[5, 6]]
    assert read_libsvm(save(tmp_path, zeros)).X.toarray().tolist() == [[5, 0, 6]]
    assert read_libsvm(save(tmp_path, zeros)).feature_names == ["0", "1", "2"]
    assert read_libsvm(save(tmp_path, ones), zero_based=True).X.toarray().tolist() == [[0, 5, 6]]
    assert read_libsvm(save(tmp_path, ones), n_features=3).X.toarray().tolist() == [[5, 6, 0]]
    refused(save(tmp_path, ones + zeros), "pass zero_based=True", 2, zero_based=False)


def test_given_numbers(tmp_path: Path) -> None:
    path = save(tmp_path, "1 1:5\n\n1:4 3:6\n")
    assert read_libsvm(path, n_labels=3).label_names == ["0", "1", "2"]
    assert read_libsvm(path, n_labels=3).Y.toarray().tolist() == [[0, 1, 0], [0, 0, 0]]
    refused(path, "from 0 to 0", 1, n_labels=1)
    refused(path, "goes beyond 2 features", 3, n_features=2)
    for wrong in (0, -1, 10**9):
        refused(path, "must be from 1 to", None, n_labels=wrong)
        refused(path, "must be from 1 to", None, n_features=wrong)
    refused(path, "must be True, False or 'auto'", None, zero_based="no")
    refused(save(tmp_path, "sea 1:1\n"), "integer", 1, n_labels=2)


def test_nothing_to_count(tmp_path: Path) -> None:
    refused(save(tmp_path, "1\n2\n"), "pass n_features", None)
    assert read_libsvm(save(tmp_path, "1\n2\n"), n_features=2).X.nnz == 0
    refused(save(tmp_path, "1:1\n1:2\n"), "pass n_labels", None)
    assert read_libsvm(save(tmp_path, "1:1\n1:2\n"), n_labels=2).Y.nnz == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1 2:1 2:3", "index 2 appears twice"),
        ("1 2:1 1:3", "index 1 follows 2"),
        ("1 -2:1", "index '-2'"),
        ("1 1.5:1", "index '1.5'"),
        ("1 qid:1", "index 'qid'"),
        ("1 :1", "index ''"),
        ("1 1_0:1", "index '1_0'"),
        ("1 99999999999:1", "not an integer from 0"),
        ("1 99999999999999999999:1", "not an integer from 0"),
        (f"1 {'9' * 5000}:1", "not an integer from 0"),
        ("1 1:", "'' is not a number"),
        ("1 1:x", "'x' is not a number"),
        ("1 1:1:1", "'1:1' is not a number"),
        ("1 1:1_0", "not a number"),
        ("1 1:nan", "not a finite number"),
        ("1 1:1e999", "not a finite number"),
        ("1 2 1:1", "expected index:value, found '2'"),
        ("1, 2 1:1", "empty label"),
        ("1,,2 1:1", "empty label"),
        (",1 1:1", "empty label"),
        ("1,1 1:1", "'1' appears twice"),
        ("1,1.0 1:1", "'1.0' appears twice"),
    ],
)
def test_bad_rows(tmp_path: Path, row: str, message: str) -> None:
    refused(save(tmp_path, "1 1:1\n# c\n\n" + row + "\n1 1:1\n"), message, 4)
    far = ["1 1:1"] * 1000
    far[700] = row
    refused(save(tmp_path, "\n".join(far)), message, 701)


def test_bad_files(tmp_path: Path) -> None:
    refused(save(tmp_path, ""), "empty", None)
    refused(save(tmp_path, "# c\n\n"), "no data rows", None)
    refused(save(tmp_path, "1 1:1\n\0"), "NUL", 2)
    refused(tmp_path, "folder", None)
    refused(tmp_path / "none.svm", "no such file", None)


def test_names_line(tmp_path: Path) -> None:
    names = NAMES_PREFIX + '{"features": ["a", "b"], "labels": ["x", "y"]}\n'
    path = save(tmp_path, names + "1 1:5\n")
    dataset = read_libsvm(path, n_features=2, n_labels=2)
    assert dataset.feature_names == ["a", "b"]
    assert dataset.label_names == ["x", "y"]
    assert dataset.X.toarray().tolist() == [[5, 0]]
    assert dataset.Y.toarray().tolist() == [[0, 1]]
    refused(path, "n_features=3, but the file names 2", 1, n_features=3)
    refused(path, "n_labels=1, but the file names 2", 1, n_labels=1)
    refused(save(tmp_path, names + "1 3:5\n"), "goes beyond 2 features", 2)
    refused(save(tmp_path, names + "1 0:5\n"), "index 0", 2)
    refused(save(tmp_path, names + "2 1:5\n"), "from 0 to 1", 2)


@pytest.mark.parametrize(
    "names",
    [
        "", "{}", "[]", "null", '{"features": ["a"]}', '{"features": [], "labels": ["x"]}',
        '{"features": [1], "labels": ["x"]}', '{"features": ["a", "a"], "labels": ["x"]}',
        '{"features": "ab", "labels": ["x"]}',
        '{"features": ["\\ud800"], "labels": ["x"]}', "[" * 100_000, "9" * 5000,
    ],
    ids=range(12),
)  # fmt: skip
def test_damaged_names_line(tmp_path: Path, names: str) -> None:
    refused(save(tmp_path, NAMES_PREFIX + names + "\n0 1:1\n"), "names is damaged", 1)


row = st.tuples(
    st.sets(st.integers(0, 5), max_size=3),
    st.dictionaries(st.integers(1, 9), st.floats(-1e300, 1e300), min_size=1, max_size=5),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(row, min_size=1, max_size=20))
def test_agrees_with_scikit_learn(tmp_path: Path, rows: list) -> None:
    text = "".join(
        ",".join(map(str, labels))
        + "".join(f" {i}:{value!r}" for i, value in sorted(features.items()))
        + "\n"
        for labels, features in rows
    )
    X, y = load_svmlight_file(io.BytesIO(text.encode()), multilabel=True, zero_based=False)
    mine = read_libsvm(save(tmp_path, text), n_labels=6)
    assert mine.X.shape == X.shape
    np.testing.assert_array_equal(mine.X.toarray(), X.toarray())
    theirs = MultiLabelBinarizer(classes=range(6)).fit_transform(y)
    np.testing.assert_array_equal(mine.Y.toarray(), theirs)
