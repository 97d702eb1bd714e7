"""Packed files are read like others; broken ones are refused and say so."""

from __future__ import annotations

import bz2
import gzip
import lzma
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from splmll.datasets import DatasetError, compressed, read_dataset
from splmll.datasets.batches import read_batches
from splmll.datasets.chunks import read_chunks

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
CSV = "a,b,l0,l1\n1,0,1,1\n0,2,0,1\n"
TEXTS = {
    "toy.arff": "@relation toy\n@attribute l0 {0,1}\n@attribute l1 {0,1}\n@attribute a numeric\n"
    "@attribute b numeric\n@data\n1,1,1,0\n0,1,0,2\n",
    "toy.csv": CSV,
    "toy.tsv": CSV.replace(",", "\t"),
    "toy.svm": "0,1 1:1\n1 2:2\n",
    "toy.txt": "2 2 2\n0,1 0:1\n1 1:2\n",
}


def pack(folder: Path, name: str, suffix: str, content: bytes | None = None) -> Path:
    file = folder / f"{name}{suffix}"
    file.write_bytes(PACKERS[suffix](TEXTS[name].encode() if content is None else content))
    return file


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("suffix", PACKERS)
def test_text_formats(tmp_path: Path, name: str, suffix: str) -> None:
    # The labels of an ARFF file are named beside it, under the name without the packing.
    (tmp_path / "toy.xml").write_text("<labels><label name='l0'/><label name='l1'/></labels>")
    file = pack(tmp_path, name, suffix)
    options = {"label_prefix": "l"} if name.endswith("sv") else {}
    data = read_dataset(file, **options)
    X, Y = (m.toarray() if sparse.issparse(m) else m for m in (data.X, data.Y))
    np.testing.assert_array_equal(X, [[1, 0], [0, 2]])
    np.testing.assert_array_equal(Y, [[1, 1], [0, 1]])
    assert data.name == "toy"
    if name == "toy.svm":  # what it is packed with, the content says
        assert read_dataset(file.rename(tmp_path / "nameless")).X.shape == (2, 2)


@pytest.mark.parametrize("suffix", PACKERS)
def test_batches(tmp_path: Path, suffix: str) -> None:
    (table,) = read_batches(pack(tmp_path, "toy.csv", suffix), labels=["l0", "l1"])
    assert table[0].to_numpy().tolist() == [[1, 0], [0, 2]]
    (rows,) = read_batches(pack(tmp_path, "toy.svm", suffix))
    assert rows[0].toarray().tolist() == [[1, 0], [0, 2]]


LONG = b"a,l\n" + b"".join(b"%d,%d\n" % (i * i, i % 2) for i in range(20_000))


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda packed: packed[: len(packed) // 2], "not whole .* get it again"),
        (lambda packed: packed[:-1000] + bytes(1000), "not whole .* get it again"),
        (lambda packed: LONG, "the name says .* but the content is not"),
        (lambda packed: None, "the file is empty"),
    ],
    ids=["cut", "overwritten", "not packed", "nothing inside"],
)
def test_broken_archives(
    tmp_path: Path, suffix: str, damage: Callable[[bytes], bytes | None], message: str
) -> None:
    file = tmp_path / f"toy.csv{suffix}"
    content = damage(PACKERS[suffix](LONG))
    file.write_bytes(PACKERS[suffix](b"") if content is None else content)
    with pytest.raises(DatasetError, match=message):
        read_dataset(file, labels=["l"])
    with pytest.raises(DatasetError, match=message):
        list(read_chunks(file, rows=1000))


@pytest.mark.parametrize("suffix", PACKERS)
def test_archive_larger_than_memory(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = pack(tmp_path, "toy.arff", suffix, bytes(1 << 26))
    assert file.stat().st_size < 1 << 20
    monkeypatch.setattr(compressed, "MAX_UNPACKED", 4 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(DatasetError, match=r"expands to more than 4 MiB; .* decompress it"):
            read_dataset(file)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_binary_formats_are_not_read_packed(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="mat files cannot be read compressed; decompress it"):
        read_dataset(pack(tmp_path, "x.mat", ".gz", b"MATLAB"), features="X", labels="Y")


def test_text_that_begins_like_bzip2(tmp_path: Path) -> None:
    file = tmp_path / "toy.csv"
    file.write_text("BZh,l\n1,0\n2,1\n")
    assert read_dataset(file, labels=["l"]).feature_names == ["BZh"]


def test_imdb(data_home: Path) -> None:
    start = time.process_time()
    data = read_dataset(data_home / "imdb" / "imdb.arff.bz2")
    assert time.process_time() - start < 30
    assert (data.name, data.X.shape, data.Y.shape) == ("imdb", (120919, 1001), (120919, 28))
    assert data.label_names[-1] == "Biography"
