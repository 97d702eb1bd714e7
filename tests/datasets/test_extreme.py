"""The extreme-classification text format: what is read, and what is refused at which line."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from splmll.datasets.extreme import read_extreme
from splmll.exceptions import DatasetError


def save(folder: Path, text: str) -> Path:
    path = folder / "toy.txt"
    path.write_bytes(text.encode())
    return path


def refused(path: Path, message: str, line: int | None) -> None:
    with pytest.raises(DatasetError, match=message) as caught:
        read_extreme(path)
    assert caught.value.line == line
    assert caught.value.path == str(path)


def test_rows(tmp_path: Path) -> None:
    text = "5 4 3\r\n2,0 1:0.5 3:-1e1\r\n 0:2\r\n0:3 3:0\r\n\r\n1\r\n\r\n\r\n"
    dataset = read_extreme(save(tmp_path, text))
    assert dataset.X.toarray().tolist() == [
        [0, 0.5, 0, -10], [2, 0, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]
    ]  # fmt: skip
    assert dataset.Y.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert dataset.feature_names == ["0", "1", "2", "3"]
    assert dataset.label_names == ["0", "1", "2"]
    assert dataset.X.dtype == np.float64
    assert dataset.Y.dtype == np.int64
    assert dataset.name == "toy"
    assert read_extreme(save(tmp_path, text), name="other").name == "other"


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), shape=st.tuples(*[st.integers(1, 8)] * 3))
def test_whatever_is_written_is_read(
    tmp_path: Path, seed: int, shape: tuple[int, int, int]
) -> None:
    n_rows, n_features, n_labels = shape
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.5)
    Y = (rng.random((n_rows, n_labels)) < 0.4).astype(np.uint8)
    lines = [f"{n_rows} {n_features} {n_labels}"]
    for x, y in zip(X, Y):
        labels = rng.permutation(np.flatnonzero(y))  # labels may stand in any order
        features = "".join(f" {i}:{x[i]:.17g}" for i in np.flatnonzero(x))
        lines.append(",".join(map(str, labels)) + features)
    dataset = read_extreme(save(tmp_path, "\n".join(lines) + "\n"))
    np.testing.assert_array_equal(dataset.X.toarray(), X)
    np.testing.assert_array_equal(dataset.Y.toarray(), Y)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "empty", None),
        ("\n", "header", 1),
        ("1 2\n0 0:1\n", "header", 1),
        ("1 2 3 4\n0 0:1\n", "header", 1),
        ("-1 2 3\n0 0:1\n", "header", 1),
        ("1.0 2 3\n0 0:1\n", "header", 1),
        ("0,1 0:1 1:2\n", "header", 1),
        ("0 2 3\n", "at least 1", 1),
        ("1 0 3\n0\n", "at least 1", 1),
        ("1 2 0\n0:1\n", "at least 1", 1),
        ("1 999999999999 3\n0 0:1\n", "at most", 1),
        ("1 2 999999999999\n0 0:1\n", "at most", 1),
        ("999999999999999 2 3\n0 0:1\n", "announces 999999999999999 rows but 1 follow", 2),
        (f"{'9' * 5000} 2 3\n0 0:1\n", "header", 1),
        ("2 2 3\n0 0:1\n", "announces 2 rows but 1 follow", 2),
        ("1 2 3\n0 0:1\n1 1:1\n", "announces 1 rows but 2 follow", 3),
        ("2 2 3\n0 0:1\n0 2:1\n", "index 2 goes beyond the 2 features", 3),
        ("2 2 3\n0 0:1\n3 1:1\n", "label '3' is not an integer from 0 to 2", 3),
        ("2 2 3\n0 0:1\n-1 1:1\n", "label '-1'", 3),
        ("2 2 3\n0 0:1\nx 1:1\n", "label 'x'", 3),
        ("2 2 3\n0 0:1\n1,1 1:1\n", "appears twice", 3),
        ("2 2 3\n0 0:1\n1, 1:1\n", "empty label", 3),
        ("2 2 3\n0 0:1\n1 1:1 1:1\n", "appears twice", 3),
        ("2 2 3\n0 0:1\n1 1:1 0:1\n", "follows 1", 3),
        ("2 2 3\n0 0:1\n1 1:nan\n", "not a finite number", 3),
        ("2 2 3\n0 0:1\n1 1:1 x\n", "expected index:value", 3),
        ("1 2 3\n0 0:\0\n", "NUL", 2),
    ],
    ids=range(27),
)
def test_bad_files(tmp_path: Path, text: str, message: str, line: int | None) -> None:
    refused(save(tmp_path, text), message, line)


def test_no_file(tmp_path: Path) -> None:
    refused(tmp_path, "folder", None)
    refused(tmp_path / "none.txt", "no such file", None)
