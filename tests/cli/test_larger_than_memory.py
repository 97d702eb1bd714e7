"""``splmll predict`` reads some rows at a time: its memory does not grow with the file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from peak_memory import peak_bytes
from splmll.cli import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are measured as on Linux"),
]
MEGABYTE = 2**20
ROWS_OF_A_PART = 10_000
BYTES_OF_A_ROW = 1200
SMALL, LARGE = 4, 11  # parts of a file; a part has 12 MB
MOST_GROWTH = 35 * MEGABYTE  # less than half of what the large file has more than the small one


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("memory")
    X = np.random.default_rng(0).normal(size=(200, 2))
    pd.DataFrame(X, columns=["a", "b"]).assign(
        is_p=(X[:, 0] > 0).astype(int), is_q=(X[:, 1] > 0).astype(int)
    ).to_csv(folder / "train.csv", index=False)
    with pytest.raises(SystemExit) as end:
        main(f"fit {folder}/train.csv --labels is_* -m BR --out {folder}/model".split())
    assert not end.value.code
    return folder / "model"


def write(path: Path, n_parts: int) -> Path:
    """Write a table whose third column is long, and different in every row."""
    rng = np.random.default_rng(1)
    letters = rng.integers(97, 123, ROWS_OF_A_PART * BYTES_OF_A_ROW, dtype=np.uint8).tobytes()
    schema = pa.schema({"a": pa.float64(), "b": pa.float64(), "story": pa.string()})
    starts = range(0, len(letters), BYTES_OF_A_ROW)
    stories = [letters[k : k + BYTES_OF_A_ROW].decode() for k in starts]
    kind = pa.parquet.ParquetWriter if path.suffix == ".parquet" else pa.csv.CSVWriter
    with kind(path, schema) as file:
        for _ in range(n_parts):
            a, b = rng.normal(size=(2, ROWS_OF_A_PART))
            rng.shuffle(stories)
            file.write_table(pa.table({"a": a, "b": b, "story": stories}, schema=schema))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_memory_does_not_grow_with_the_file(model, tmp_path, suffix) -> None:
    peaks = {}
    for n_parts in (SMALL, LARGE):
        source = write(tmp_path / f"rows{suffix}", n_parts)
        out = tmp_path / f"tags{suffix}"
        arguments = ("predict", model, source, "--keep", "story", "--out", out)
        peaks[n_parts] = peak_bytes("from splmll.cli import main; main()", tmp_path, *arguments)
        assert out.stat().st_size > n_parts * ROWS_OF_A_PART * BYTES_OF_A_ROW / 2
    assert (LARGE - SMALL) * ROWS_OF_A_PART * BYTES_OF_A_ROW > 2 * MOST_GROWTH
    assert peaks[LARGE] - peaks[SMALL] < MOST_GROWTH
