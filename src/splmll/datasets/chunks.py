"""A table file of any size, some rows at a time.

What :func:`splmll.datasets.columns.read_columns` does for a whole file, for files that do not fit
into memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from splmll.datasets.checks import existing_file
from splmll.datasets.columns import (
    Table,
    check_characters,
    check_first_line,
    checked_names,
    count_columns,
    first_line,
    guess_delimiter,
    plain_cells,
)
from splmll.datasets.compressed import open_unpacked
from splmll.datasets.records import native_buffer, record_blocks
from splmll.exceptions import DatasetError

_HEAD_BYTES = 1 << 20  # how much is looked at for the delimiter and the names
PARQUET_BYTES = 1 << 24  # how many bytes of rows are read at a time, if not fewer


@dataclass(frozen=True)
class Chunk(Table):
    """Some rows of a table.

    Attributes
    ----------
    first : int
        How many rows of the file come before these.
    """

    first: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def error(self, message: str, row: int | None = None) -> DatasetError:
        """Return the error for this file, with the row counted from the first of the file."""
        place = "" if row is None else f"row {self.first + row + 1}: "
        return DatasetError(f"{place}{message}", path=self.path)


def read_chunks(path: Any, rows: int) -> Iterator[Chunk]:
    r"""Read a CSV, TSV or Parquet file some rows at a time; CSV columns are all text.

    Parameters
    ----------
    path : path-like
        The file; CSV and TSV may be packed (`.gz`, `.bz2`, `.xz`).
    rows : int
        How many rows a chunk may have; where rows are long, it has fewer.

    Yields
    ------
    chunk : Chunk

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets.chunks import read_chunks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "toy.csv"
    ...     _ = file.write_text("a,b\n1,x\n2,y\n3,z\n")
    ...     [(chunk.first, chunk.columns["b"].to_pylist()) for chunk in read_chunks(file, rows=2)]
    [(0, ['x', 'y']), (2, ['z'])]
    """
    place = existing_file(path)
    with place.open("rb") as file:
        start = file.read(4)
    suffixes = [suffix.lower() for suffix in place.suffixes]
    try:
        if start == b"PAR1" or suffixes[-1:] in ([".parquet"], [".pq"]):
            yield from _parquet_chunks(place, rows)
        else:
            yield from _csv_chunks(place, rows, ".tsv" in suffixes)
    except (DatasetError, GeneratorExit):
        raise
    except Exception as error:
        # Arrow raises subclasses of nearly every built-in error on damaged files.
        raise DatasetError(
            f"this is not a table that can be read ({first_line(error)}); check its quotes, "
            "delimiters and that it is UTF-8 text, or write it again",
            path=path,
        ) from error


def _parquet_chunks(path: Path, rows: int) -> Iterator[Chunk]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    first = 0
    # Buffered in advance, everything that was read would stay in memory.
    with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
        names = checked_names(file.schema_arrow.names, path)
        rows = min(rows, _rows_in_a_block(file.metadata))
        for batch in file.iter_batches(batch_size=rows, use_threads=False):
            # Offsets that point outside their buffers would crash the interpreter later.
            batch.validate(full=True)
            yield _chunk(path, names, pa.Table.from_batches([batch]), first)
            first += batch.num_rows
    if not first:
        raise DatasetError("the table has no rows; write it again", path=path)


def _rows_in_a_block(metadata: Any) -> int:
    """Return how many rows of a Parquet file, the widest that it has, may be read at a time."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    widths = [group.total_byte_size / group.num_rows for group in groups if group.num_rows > 0]
    return max(1, int(PARQUET_BYTES / max([1, *widths])))


def _csv_chunks(path: Path, rows: int, is_tsv: bool) -> Iterator[Chunk]:
    head = _head(path)
    delimiter = "\t" if is_tsv else guess_delimiter(head)
    width = count_columns(head, delimiter)
    names: list[str] | None = None
    first = 0
    for content in record_blocks(path, delimiter):
        check_characters(content, path)
        block = _parsed(content, delimiter, width, path)
        if names is None and block.num_rows:
            names = checked_names([column[0].as_py() for column in block.columns], path)
            block = block.slice(1)
        for start in range(0, block.num_rows, rows):
            part = block.slice(start, rows)
            yield _chunk(path, names or [], part, first)
            first += part.num_rows
    if not first:
        raise DatasetError("the table has no rows below its first line; get it again", path=path)


def _parsed(content: bytes, delimiter: str, width: int, path: Path) -> Any:
    """Return whole records as an Arrow table of texts."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    bad_rows: list[Any] = []

    def stop_at(row: Any) -> str:
        bad_rows.append(row)
        return "error"

    columns = [f"f{number}" for number in range(width)]
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(native_buffer(content)),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=columns, block_size=len(content) + 1
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=stop_at
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        if not bad_rows:
            raise
        bad = bad_rows[0]
        raise DatasetError(
            f"a row has {bad.actual_columns} values but the first line names "
            f"{bad.expected_columns} columns; quote values that contain {delimiter!r}",
            path=path,
        ) from error


def _head(path: Path) -> str:
    with open_unpacked(path) as file:
        start = file.read(_HEAD_BYTES)
    head = start.decode("utf-8", errors="replace").removeprefix("\ufeff")
    if not head.strip():
        raise DatasetError("the file is empty; get it again from its source", path=path)
    check_first_line(head, path)
    return head


def _chunk(path: Path, names: list[str], table: Any, first: int) -> Chunk:
    columns = {name: plain_cells(table.column(number)) for number, name in enumerate(names)}
    return Chunk(path, columns, lambda row: None, first)
