"""LEAR's .hvecs: what is written comes back, and a file that lies is found out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from splmll.datasets import DatasetError, read_hvecs, read_lear, read_mat


def hvecs(vectors: np.ndarray) -> bytes:
    head = np.full((len(vectors), 1), vectors.shape[1])
    return np.hstack([head, vectors]).astype("<u2").tobytes()


def write(file: Path, *words: int) -> Path:
    file.write_bytes(np.array(words, dtype="<u2").tobytes())
    return file


@settings(max_examples=60, deadline=None)
@given(arrays(np.uint16, st.tuples(st.integers(1, 7), st.integers(1, 9))))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, vectors: np.ndarray) -> None:
    file = tmp_path_factory.mktemp("hvecs") / "x.hvecs"
    file.write_bytes(hvecs(vectors))
    found = read_hvecs(file)
    np.testing.assert_array_equal(found, vectors)
    assert found.dtype == np.uint16


def test_every_truncation_is_noticed_unless_whole_vectors_are_missing(tmp_path: Path) -> None:
    vectors = np.arange(12).reshape(3, 4)
    whole, file = hvecs(vectors), tmp_path / "x.hvecs"
    for cut in range(1, len(whole)):
        file.write_bytes(whole[:cut])
        n_vectors, rest = divmod(cut, 2 * (1 + 4))
        if rest:
            with pytest.raises(DatasetError):
                read_hvecs(file)
        else:
            np.testing.assert_array_equal(read_hvecs(file), vectors[:n_vectors])


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ((3, 1, 2), "2 of 3 values"),
        ((65535, 1), "1 of 65535 values"),
        ((0,), "dimension 0"),
        ((0, 0, 0), "dimension 0"),
        ((2, 1, 1, 1, 5, 5), "vector 2 has dimension 1 but the first has 2"),
    ],
)
def test_lying_files(tmp_path: Path, words: tuple[int, ...], part: str) -> None:
    with pytest.raises(DatasetError, match=r"x\.hvecs") as caught:
        read_hvecs(write(tmp_path / "x.hvecs", *words))
    assert part in str(caught.value)


def test_odd_empty_missing_folder(tmp_path: Path) -> None:
    file = tmp_path / "x.hvecs"
    for content, part in ((b"\x01\x00\x05", "16-bit"), (b"", "empty")):
        file.write_bytes(content)
        with pytest.raises(DatasetError, match=part):
            read_hvecs(file)
    with pytest.raises(DatasetError, match="folder"):
        read_hvecs(tmp_path)
    with pytest.raises(DatasetError, match="no such file"):
        read_hvecs(tmp_path / "none.hvecs")


def test_lear(tmp_path: Path) -> None:
    x = write(tmp_path / "toy_DenseSift.hvecs", 3, 7, 8, 9, 3, 0, 1, 2)
    y = write(tmp_path / "toy_annot.hvecs", 2, 1, 0, 2, 0, 0)
    words = tmp_path / "dictionary.txt"
    words.write_text("sea\nsun\n\n")
    data = read_lear(x, y, words)
    assert data.label_names == ["sea", "sun"]
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.int64)
    assert data.X.tolist() == [[7, 8, 9], [0, 1, 2]]
    assert data.Y.tolist() == [[1, 0], [0, 0]]
    assert read_lear(x, y).label_names == ["label_000", "label_001"]


@pytest.mark.parametrize(
    ("annotations", "dictionary", "part"),
    [
        ((2, 1, 0), "sea\nsun\n", "1 annotations for the 2 pictures"),
        ((2, 1, 0, 2, 0, 7), "sea\nsun\n", "7 in row 2, column 2"),
        ((2, 1, 0, 2, 0, 0), "sea\n", "1 label names for 2"),
        ((2, 1, 0, 2, 0, 0), "sea\nsea\n", "'sea' appears twice"),
        ((2, 1, 0, 2, 0, 0), "sea\n\nsun\n", "line 2"),
    ],
)
def test_bad_lear(tmp_path: Path, annotations: tuple[int, ...], dictionary: str, part: str) -> None:
    x = write(tmp_path / "x.hvecs", 3, 7, 8, 9, 3, 0, 1, 2)
    y = write(tmp_path / "y.hvecs", *annotations)
    words = tmp_path / "dictionary.txt"
    words.write_text(dictionary)
    with pytest.raises(DatasetError) as caught:
        read_lear(x, y, words)
    assert part in str(caught.value)


def test_corel5k_is_the_same_in_both_formats(data_home: Path) -> None:
    folder = data_home / "corel5k"
    raw = read_lear(
        folder / "corel5k_test_DenseSift.hvecs", folder / "corel5k_test_annot.hvecs", name="test"
    )
    matlab = read_mat(
        folder / "corel5k_test_DenseSift.mat",
        features="corel5k_test_DenseSift_data",
        labels="corel5k_test_Label",
        labels_path=folder / "corel5k_test_Label.mat",
    )
    assert raw.X.shape == (499, 1000)
    np.testing.assert_array_equal(raw.X, matlab.X)
    np.testing.assert_array_equal(raw.Y, matlab.Y)
    assert raw.label_names == matlab.label_names
    np.testing.assert_array_equal(
        read_hvecs(folder / "corel5k_train_annot.hvecs"),
        read_mat(
            folder / "corel5k_train_DenseSift.mat",
            features="corel5k_train_DenseSift_data",
            labels="corel5k_train_Label",
            labels_path=folder / "corel5k_train_Label.mat",
        ).Y,
    )
