"""Thousands of damaged files for each reader: a valid data set or a DatasetError, nothing else."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz_runs import RUNS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import savemat

from splmll.datasets import DatasetError, read_hvecs, read_lear, read_mat, read_table
from splmll.datasets.dataset import Dataset

FUZZ = settings(
    max_examples=RUNS,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)

TOKENS = [
    b"", b",", b'"', b"\n", b"\r", b"\x00", b"\xff", b"\xef\xbb\xbf", b"nan", b"1e999", b"-1",
    b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"PAR1", b"[", b'["a"', b";", b"0", b"1" * 40, b"\t",
]  # fmt: skip

# A mutation is one number: 3 bits say what is done, 13 bits where, 8 bits with what. Few draws of
# small integers keep the generator faster than the readers.
mutations = st.integers(0, 2**24 - 1)
programs = st.tuples(st.integers(0, 2), mutations, mutations, mutations)
Program = tuple[int, int, int, int]


def mutate(content: bytes, program: Program) -> bytes:
    n_spared, *numbers = program
    for number in numbers[n_spared:]:
        action, where, what = number & 7, number >> 3 & 0x1FFF, number >> 16
        at = where % (len(content) + 1)
        if action == 0:  # flip one bit
            at = min(at, len(content) - 1)
            if at >= 0:
                content = content[:at] + bytes([content[at] ^ (1 << what % 8)]) + content[at + 1 :]
        elif action == 1:  # replace one byte
            content = content[:at] + bytes([what]) + content[at + 1 :]
        elif action == 2:  # truncate
            content = content[:at]
        elif action == 3:  # insert bytes
            content = content[:at] + bytes([what]) * (1 + what % 5) + content[at:]
        elif action == 4:  # delete some
            content = content[:at] + content[at + 1 + what % 16 :]
        elif action == 5:  # repeat a line
            lines = content.splitlines(keepends=True)
            if lines:
                number = where % len(lines)
                content = b"".join(lines[: number + 1] + lines[number:])
        elif action == 6:  # insert a token
            content = content[:at] + TOKENS[what % len(TOKENS)] + content[at:]
        else:  # overwrite with a token, so that lengths that stand elsewhere stay true
            token = TOKENS[what % len(TOKENS)]
            content = content[:at] + token + content[at + len(token) :]
    return content


def check(dataset: Dataset) -> None:
    n_rows = dataset.X.shape[0]
    assert n_rows == dataset.Y.shape[0] > 0
    assert len(set(dataset.feature_names)) == dataset.X.shape[1] > 0
    assert len(set(dataset.label_names)) == dataset.Y.shape[1] > 0
    labels = dataset.Y.toarray() if sparse.issparse(dataset.Y) else dataset.Y
    assert np.isin(labels, (0, 1)).all()
    if isinstance(dataset.X, pd.DataFrame):
        assert set(dataset.column_kinds.values()) <= {"numeric", "categorical", "text"}
        assert not dataset.X.isna().any(axis=None)
    else:
        values = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
        assert values.dtype == np.float64
        assert np.isfinite(values).all()


def check_outcome(read: Callable[[], Dataset], name: str) -> None:
    """A valid data set, or a DatasetError that names the file."""
    message = name
    try:
        check(read())
    except DatasetError as error:
        message = str(error)
    assert name in message


CSV_SEEDS = [
    (b"a,b,l_x,l_y\n1.5,red,1,0\n-2,blue,0,1\n3e2,red,1,1\n", {"label_prefix": "l_"}),
    (b'a,note,tags\n1,"two\nlines, here now",p;q\n2,it rains a lot,\n', {"label_column": "tags"}),
    (b'a;t\n0.5;"[""u"",""v""]"\n1;[]\n', {"label_column": "t"}),
    (b"x,y,z\n1,true,0\n2,False,1\n", {"labels": ["y", "z"]}),
]


@pytest.mark.slow
@FUZZ
@given(seed=st.integers(0, len(CSV_SEEDS) - 1), program=programs)
def test_damaged_csv(seed: int, program: Program, tmp_path: Path) -> None:
    content, options = CSV_SEEDS[seed]
    file = tmp_path / "damaged.csv"
    file.write_bytes(mutate(content, program))
    check_outcome(lambda: read_table(file, **options), "damaged.csv")


def parquet_seeds() -> list[tuple[bytes, dict[str, object]]]:
    plain = pa.table(
        {"a": [1.5, 2.0, -3.0], "c": ["red", "blue", "red"], "l_x": [1, 0, 1], "l_y": [True] * 3}
    )
    lists = pa.table({"n": pa.array([1, 2, 3], pa.int16()), "t": [["u", "v"], [], None]})
    words = pa.table({"d": pa.array(["p", "q", "p"]).dictionary_encode(), "t": ["u;v", "", "v"]})
    seeds: list[tuple[bytes, dict[str, object]]] = []
    for table, options in (
        (plain, {"label_prefix": "l_"}),
        (lists, {"label_column": "t"}),
        (words, {"label_column": "t"}),
    ):
        for settings_ in (
            {"compression": "none", "store_schema": False, "use_dictionary": False},
            {"compression": "snappy"},
        ):
            buffer = io.BytesIO()
            pq.write_table(table, buffer, **settings_)
            seeds.append((buffer.getvalue(), options))
    return seeds


PARQUET_SEEDS = parquet_seeds()


@pytest.mark.slow
@FUZZ
@given(seed=st.integers(0, len(PARQUET_SEEDS) - 1), program=programs)
def test_damaged_parquet(seed: int, program: Program, tmp_path: Path) -> None:
    content, options = PARQUET_SEEDS[seed]
    file = tmp_path / "damaged.parquet"
    file.write_bytes(mutate(content, program))
    check_outcome(lambda: read_table(file, **options), "damaged.parquet")


def mat_seeds() -> list[bytes]:
    X = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.uint16)
    Y = np.array([[1, 0], [0, 1]], dtype=np.uint8)
    seeds = []
    for features, labels, compressed in (
        (X, Y, False),
        (X.astype(float), Y, True),
        (sparse.csc_array(X.astype(float)), sparse.csc_array(Y.astype(float)), False),
    ):
        buffer = io.BytesIO()
        savemat(buffer, {"X": features, "Y": labels}, do_compression=compressed)
        seeds.append(buffer.getvalue())
    return seeds


MAT_SEEDS = mat_seeds()


@pytest.mark.slow
@FUZZ
@given(seed=st.integers(0, len(MAT_SEEDS) - 1), program=programs)
def test_damaged_mat(seed: int, program: Program, tmp_path: Path) -> None:
    file = tmp_path / "damaged.mat"
    file.write_bytes(mutate(MAT_SEEDS[seed], program))
    check_outcome(lambda: read_mat(file, features="X", labels="Y"), "damaged.mat")


HVECS_SEED = np.array([3, 7, 8, 9, 3, 0, 1, 2, 3, 5, 5, 5], dtype="<u2").tobytes()
ANNOT_SEED = np.array([2, 1, 0, 2, 0, 1, 2, 1, 1], dtype="<u2").tobytes()


@pytest.mark.slow
@FUZZ
@given(which=st.integers(0, 1), program=programs)
def test_damaged_hvecs(which: int, program: Program, tmp_path: Path) -> None:
    features, annotations = tmp_path / "x.hvecs", tmp_path / "y.hvecs"
    features.write_bytes(mutate(HVECS_SEED, program) if which == 0 else HVECS_SEED)
    annotations.write_bytes(mutate(ANNOT_SEED, program) if which == 1 else ANNOT_SEED)

    def read() -> Dataset:
        vectors = read_hvecs(features)
        assert vectors.dtype == np.uint16
        assert (vectors.size + len(vectors)) * 2 == features.stat().st_size
        return read_lear(features, annotations)

    check_outcome(read, ".hvecs")
