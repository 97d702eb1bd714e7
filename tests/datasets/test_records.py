"""CSV files in blocks of whole records: no record is cut, and no thread is left at the end."""

from __future__ import annotations

import gzip
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splmll.datasets import chunks, records
from splmll.datasets.chunks import read_chunks
from splmll.datasets.columns import read_columns
from splmll.datasets.records import last_record_end
from splmll.exceptions import DatasetError

CELL = st.text("ab ,;\"\n\r'é", max_size=6)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def bare(cell: str) -> str:
    """A cell without quotes around it; quotes inside mean themselves."""
    return "x" + "".join(sign for sign in cell if sign not in ",\r\n")


@given(
    rows=st.lists(st.tuples(CELL, st.booleans(), CELL, st.booleans()), min_size=1, max_size=8),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    block=st.integers(1, 30),
    last=st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_blocks_of_any_size_hold_the_same_records(tmp_path_factory, rows, end, block, last) -> None:
    cells = [
        [quoted(cell) if quote else bare(cell) for cell, quote in ((a, p), (b, q))]
        for a, p, b, q in rows
    ]
    path = tmp_path_factory.mktemp("records") / "table.csv"
    content = end.join(["one,two", *(",".join(row) for row in cells)]) + (end if last else "")
    path.write_bytes(b"\xef\xbb\xbf" + content.encode())
    whole = {name: column.to_pylist() for name, column in read_columns(path).columns.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK_BYTES", block)
        found: dict[str, list[str]] = {"one": [], "two": []}
        for chunk in read_chunks(path, rows=3):
            for name in found:
                found[name] += chunk.columns[name].to_pylist()
    assert found == whole


@given(content=st.text('a,"\n\r', max_size=12).map(str.encode), more=st.text('a,"\n', max_size=5))
def test_what_was_whole_stays_whole(content, more) -> None:
    """Whatever comes later, the end that was found is still the end of a record."""
    end = last_record_end(content, ",")
    assert end <= last_record_end(content + more.encode(), ",")


def test_a_row_that_does_not_end(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(records, "BLOCK_BYTES", 100)
    monkeypatch.setattr(records, "LONGEST_RECORD", 1000)
    path = tmp_path / "table.csv"
    path.write_text('a,b\n1,"' + "x\n" * 400 + '"\n')
    assert [len(chunk.columns["b"][0].as_py()) for chunk in read_chunks(path, 5)] == [800]
    path.write_text('a,b\n1,"' + "x\n" * 5000)
    with pytest.raises(DatasetError, match=r"a row has more than .*; close its quotes"):
        list(read_chunks(path, 5))


# The interpreter ends slowly, while a packed file is read slowly: a thread that reads ahead would
# come back into an interpreter that is no more.
PROGRAM = """
import builtins, sys, time
from splmll.datasets import compressed
from splmll.datasets.chunks import read_chunks

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(1)

builtins.slow = Slow()
original = compressed._Unpacking.readinto

def readinto(self, buffer):
    time.sleep(0.3)
    return original(self, buffer)

compressed._Unpacking.readinto = readinto
for chunk in read_chunks(sys.argv[1], 1000):
    sys.exit(2)
"""


def test_no_thread_is_left_when_the_program_ends(tmp_path) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,some text\n" * 800_000))
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, timeout=120
    )
    assert (ran.returncode, ran.stderr) == (2, "")


def test_long_rows_of_a_parquet_file_come_few_at_a_time(tmp_path, monkeypatch) -> None:
    path = tmp_path / "table.parquet"
    rng = np.random.default_rng(0)
    stories = [rng.bytes(500).hex() for _ in range(300)]
    pd.DataFrame({"a": range(300), "story": stories}).to_parquet(path, row_group_size=100)
    assert [chunk.n_rows for chunk in read_chunks(path, 200)] == [200, 100]
    monkeypatch.setattr(chunks, "PARQUET_BYTES", 20_000)
    few = list(read_chunks(path, 200))
    assert max(sum(map(len, chunk.columns["story"].to_pylist())) for chunk in few) <= 20_000
    assert [story for chunk in few for story in chunk.columns["story"].to_pylist()] == stories
