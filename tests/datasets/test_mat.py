"""MATLAB files: what SciPy writes is read as SciPy reads it, and everything else is refused."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.io import loadmat, savemat

from splmll.datasets import DatasetError, read_mat
from splmll.datasets.mat5 import mat_variables

X = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.uint16)
Y = np.array([[1, 0], [0, 1]], dtype=np.uint8)


def save(file: Path, **variables: object) -> Path:
    savemat(file, variables)
    return file


def test_one_file(tmp_path: Path) -> None:
    data = read_mat(save(tmp_path / "toy.mat", X=X, Y=Y), features="X", labels="Y")
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.Y, Y)
    assert (data.X.dtype, data.Y.dtype, data.name) == (np.float64, np.int64, "toy")
    assert data.label_names == ["label_000", "label_001"]


def test_two_files_and_names(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("sea\nsun\n")
    options = {"features": "X", "labels": "Y", "labels_path": save(tmp_path / "y.mat", Y=Y > 0)}
    file = save(tmp_path / "x.mat", X=X)
    data = read_mat(file, label_names=names, **options)  # type: ignore[arg-type]
    assert data.label_names == ["sea", "sun"]
    np.testing.assert_array_equal(data.Y, Y)
    again = read_mat(file, label_names=["sea", "sun"], **options)  # type: ignore[arg-type]
    assert again.label_names == data.label_names


def test_sparse_stays_sparse(tmp_path: Path) -> None:
    file = save(
        tmp_path / "s.mat", X=sparse.csc_array(X.astype(float)), Y=sparse.csc_array(Y.astype(float))
    )
    data = read_mat(file, features="X", labels="Y")
    assert (data.X.format, data.Y.format) == ("csr", "csr")
    np.testing.assert_array_equal(data.X.toarray(), X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)


dtypes = st.sampled_from(
    [np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32, np.int64, np.float32, np.float64]
)


@settings(max_examples=80, deadline=None)
@given(
    value=dtypes.flatmap(
        lambda dtype: arrays(dtype, st.tuples(st.integers(1, 5), st.integers(1, 5)))
    ),
    compressed=st.booleans(),
    thin=st.booleans(),
)
def test_as_scipy_reads_it(value: np.ndarray, compressed: bool, thin: bool) -> None:
    if thin:
        value = np.nan_to_num(value).astype(np.float64)
    stored = sparse.csc_array(value) if thin else value
    buffer = io.BytesIO()
    savemat(
        buffer,
        {"text": "before", "V": stored, "c": np.array([{"a": 1}])},
        do_compression=compressed,
    )
    found = {variable.name: variable for variable in mat_variables(buffer.getvalue(), "v.mat")}
    assert set(found) == {"text", "V", "c"}
    mine, theirs = found["V"].matrix(), loadmat(buffer)["V"]
    if thin:
        mine, theirs = mine.toarray(), theirs.toarray()
    else:
        assert mine.dtype == value.dtype
    np.testing.assert_array_equal(mine, theirs)


def test_big_endian() -> None:
    # A level 5 file as a big-endian machine writes it, put together by hand.
    def words(*values: int) -> bytes:
        return np.array(values, dtype=">u4").tobytes()

    numbers = np.array([1.5, -2.0], dtype=">f8").tobytes()
    body = words(6, 8, 6, 0) + words(5, 8, 1, 2) + words(1, 1) + b"V" + b"\0" * 7
    body += words(9, len(numbers)) + numbers
    content = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + words(14, len(body)) + body
    [variable] = mat_variables(content, "big.mat")
    assert str(variable) == "V (1 x 2 double)"
    assert variable.matrix().tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize(
    ("variables", "part"),
    [
        ({"Y": Y}, "there is no variable 'X' for the features; it has Y (2 x 2 uint8)"),
        ({"X": X}, "there is no variable 'Y' for the labels; it has X (2 x 3 uint16)"),
        ({"X": X, "Y": Y * 2}, "2 in row 1, column 1"),
        ({"X": X, "Y": sparse.csc_array(Y * 2.0)}, "2.0 in row 1, column 1"),
        ({"X": X, "Y": Y.astype(float) - np.inf}, "-inf in row 1"),
        ({"X": X, "Y": Y * np.nan}, "nan in row 1"),
        ({"X": np.array([[1, np.nan], [1, 2]]), "Y": Y}, "missing value (NaN) in row 1, column 2"),
        ({"X": np.array([[1, 2], [np.inf, 2]]), "Y": Y}, "infinite value in row 2, column 1"),
        ({"X": X * 1j, "Y": Y}, "complex"),
        ({"X": "words", "Y": Y}, "char"),
        ({"X": np.array([["a"]], dtype=object), "Y": Y}, "cell"),
        ({"X": np.zeros((2, 2, 2)), "Y": Y}, "2 x 2 x 2 double"),
        ({"X": np.zeros((0, 3)), "Y": Y}, "empty"),
        ({"X": X, "Y": np.ones((3, 2))}, "has 3 rows but 'X' has 2"),
        ({"X": X, "Y": np.ones((3, 2))[:, :2].T[:1]}, "has 1 rows but 'X' has 2"),
        ({"X": X, "Y": np.ones((4, 2))}, "transposed"),
    ],
)
def test_bad_variables(tmp_path: Path, variables: dict[str, object], part: str) -> None:
    with pytest.raises(DatasetError, match=r"bad\.mat") as caught:
        read_mat(save(tmp_path / "bad.mat", **variables), features="X", labels="Y")
    assert part in str(caught.value)


def test_missing_values_can_be_allowed(tmp_path: Path) -> None:
    file = save(tmp_path / "nan.mat", X=np.array([[1, np.nan], [1, 2]]), Y=Y)
    data = read_mat(file, features="X", labels="Y", allow_missing=True)
    assert np.isnan(data.X).tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "empty"),
        (b"hello", "not a MATLAB file of version 5 to 7"),
        (b"x" * 500, "not a MATLAB file of version 5 to 7"),
        (b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n", "-v7"),
        (b"\x89HDF\r\n\x1a\n" + b"\0" * 600, "-v7"),
        (b"MATLAB 5.0".ljust(124) + b"\x00\x01IM", "it has no variables"),
        (b"MATLAB 5.0".ljust(124) + b"\x00\x01IM\x0e\0\0\0\xff\xff\xff\x7f", "ends within"),
        (b"MATLAB 5.0".ljust(124) + b"\x00\x01IM\x0f\0\0\0\x04\0\0\0junk", "unpacked"),
    ],
)
def test_not_a_mat_file(tmp_path: Path, content: bytes, part: str) -> None:
    file = tmp_path / "bad.mat"
    file.write_bytes(content)
    with pytest.raises(DatasetError, match=r"bad\.mat") as caught:
        read_mat(file, features="X", labels="Y")
    assert part in str(caught.value)


def element(kind: int, content: bytes, length: int | None = None) -> bytes:
    """A data element as MATLAB writes it: type, length, content to a multiple of eight bytes."""
    padded = content + b"\0" * (-len(content) % 8)
    return struct.pack("<II", kind, len(content) if length is None else length) + padded


@pytest.mark.parametrize(
    ("inside", "part"),
    [
        (element(6, b""), "a variable has no class"),
        (element(6, b"abc"), "no whole number of numbers"),
        (element(9, b"\0" * 8), "the unexpected type 9"),
        (struct.pack("<II", 5 << 16 | 6, 0), "longer than four bytes"),
        (element(6, b"\6\0\0\0" + b"\0" * 4) + element(5, b"\1\0\0\0"), "has the shape (1,)"),
    ],
)
def test_variables_that_keep_to_no_format(tmp_path: Path, inside: bytes, part: str) -> None:
    file = tmp_path / "bad.mat"
    file.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + element(14, inside))
    with pytest.raises(DatasetError, match=r"the file is damaged: .*; get it again") as caught:
        read_mat(file, features="X", labels="Y")
    assert part in str(caught.value)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    whole = save(tmp_path / "toy.mat", X=X, Y=Y).read_bytes()
    file = tmp_path / "cut.mat"
    for length in range(1, len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(DatasetError):
            read_mat(file, features="X", labels="Y")


def test_sparse_matrix_that_claims_absurdly_many_rows(tmp_path: Path) -> None:
    file = save(tmp_path / "s.mat", X=sparse.csc_array((2**30, 2)), Y=Y)
    with pytest.raises(DatasetError, match="claims 1073741824 rows for 0 numbers"):
        read_mat(file, features="X", labels="Y")


def test_variables_have_to_be_named(tmp_path: Path) -> None:
    file = save(tmp_path / "toy.mat", X=X, Y=Y)
    with pytest.raises(DatasetError, match=r"features='\.\.\.'; it has X .* Y"):
        read_mat(file)
    with pytest.raises(DatasetError, match="1 label names for 2"):
        read_mat(file, features="X", labels="Y", label_names=["one"])
    with pytest.raises(DatasetError, match="'one' appears twice"):
        read_mat(file, features="X", labels="Y", label_names=["one", "one"])


def test_real_files_as_scipy_reads_them(data_home: Path) -> None:
    files = sorted(data_home.glob("*/*.mat"))
    assert files
    for file in files:
        expected = loadmat(file)
        for variable in mat_variables(file.read_bytes(), file):
            np.testing.assert_array_equal(variable.matrix(), expected[variable.name])
