"""A table file as named columns, before anyone asks which of them are labels.

Arrow reads the file strictly; what it refuses is said with the line in which it stands.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from splmll.datasets.checks import check_unique, decode, one_spelling, read_bytes
from splmll.datasets.compressed import read_unpacked
from splmll.datasets.records import LONGEST_RECORD, native_buffer, too_long
from splmll.exceptions import DatasetError

_DELIMITERS = (",", ";", "\t")
# How much of a file is looked at to guess its delimiter.
_HEAD_CHARACTERS, _HEAD_RECORDS = 65_536, 20


@dataclass(frozen=True)
class Table:
    """Columns of a file as Arrow arrays, and how to say where a row stands."""

    path: Any
    columns: dict[str, Any]
    line_of: Callable[[int], int | None]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.columns)

    def error(self, message: str, row: int | None = None) -> DatasetError:
        """Return the error for this file, with the line of a row where there are lines."""
        line = None if row is None else self.line_of(row)
        if row is not None and line is None:
            message = f"row {row + 1}: {message}"
        return DatasetError(message, path=self.path, line=line)


def read_columns(path: Any, delimiter: str | None = None, encoding: str = "utf-8") -> Table:
    r"""Read a CSV, TSV or Parquet file into named columns; CSV columns are all text.

    Parameters
    ----------
    path : path-like
        The file; CSV and TSV may be packed (`.gz`, `.bz2`, `.xz`).
    delimiter : str, optional
        What separates the columns; by default it is guessed from the suffix and the first line.
    encoding : str
        Encoding of a CSV file.

    Returns
    -------
    Table

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets.columns import read_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "toy.csv"
    ...     _ = file.write_text("a;b\n1;x\n")
    ...     table = read_columns(file)
    >>> table.names, table.columns["b"].to_pylist()
    (['a', 'b'], ['x'])
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes[-1:] in ([".parquet"], [".pq"]):
        return _read_parquet(read_bytes(path), path)
    content = read_unpacked(path)
    if content[:4] == b"PAR1":
        return _read_parquet(content, path)
    return _read_csv(content, path, delimiter, encoding, is_tsv=".tsv" in suffixes)


def _read_parquet(content: bytes, path: Any) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Not buffered in advance, which threads of Arrow do that may outlive this call.
        table = pq.read_table(
            pa.BufferReader(content),
            use_threads=False,
            page_checksum_verification=True,
            pre_buffer=False,
        )
        # Offsets that point outside their buffers would crash the interpreter later.
        table.validate(full=True)
        columns = [plain_cells(table.column(number)) for number in range(table.num_columns)]
    except Exception as error:
        # Arrow raises subclasses of nearly every built-in error on damaged files.
        raise DatasetError(
            f"this is not a Parquet file that can be read ({first_line(error)}); write it again",
            path=path,
        ) from error
    if not columns or not table.num_rows:
        raise DatasetError("the table has no rows; write it again", path=path)
    names = checked_names(table.column_names, path)
    return Table(path, dict(zip(names, columns)), lambda row: None)


def plain_cells(column: Any) -> Any:
    """Return a column as one Arrow array, dictionaries replaced by their values."""
    import pyarrow as pa

    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column


def _read_csv(
    content: bytes, path: Any, delimiter: str | None, encoding: str, *, is_tsv: bool
) -> Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    text = decode(content, encoding, path).removeprefix("\ufeff")
    if not text.strip():
        raise DatasetError("the file is empty; get it again from its source", path=path)
    content = text.encode("utf-8")
    check_characters(content, path)
    check_first_line(text, path)
    if delimiter is None:
        delimiter = "\t" if is_tsv else guess_delimiter(text)
    if len(delimiter) != 1:
        raise DatasetError(
            f"delimiter={delimiter!r} is not one character; give one, for example ';'", path=path
        )

    def line_of(row: int) -> int | None:
        return _line_of_record(text, delimiter, row + 1)

    bad_rows: list[Any] = []

    def stop_at(row: Any) -> str:
        bad_rows.append(row)
        return "error"

    # Everything as text, header included: Arrow guesses types from the first block alone.
    n_columns = count_columns(text, delimiter)
    strings = {f"f{number}": pa.string() for number in range(n_columns)}
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(native_buffer(content)),
            read_options=arrow_csv.ReadOptions(
                use_threads=False,
                autogenerate_column_names=True,
                block_size=min(max(len(content) + 1, 1 << 12), LONGEST_RECORD),
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=stop_at
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=strings, strings_can_be_null=False
            ),
        )
        columns = [
            plain_cells(table.column(number)).cast(pa.string())
            for number in range(table.num_columns)
        ]
    except Exception as error:
        if bad_rows:
            bad = bad_rows[0]
            line = None if bad.number is None else _line_of_record(text, delimiter, bad.number - 1)
            raise DatasetError(
                f"the row has {bad.actual_columns} values but the first line names "
                f"{bad.expected_columns} columns; quote values that contain {delimiter!r}",
                path=path,
                line=line,
            ) from error
        if "straddl" in str(error):  # a record that does not fit into a block
            raise too_long(path) from error
        # Arrow raises subclasses of nearly every built-in error on damaged files.
        raise DatasetError(
            f"this is not a table that can be read ({first_line(error)}); check its quotes and "
            "delimiters",
            path=path,
        ) from error
    names = checked_names([column[0].as_py() for column in columns], path, line_of(-1))
    if len(columns[0]) < 2:
        raise DatasetError("the table has no rows below its first line; get it again", path=path)
    return Table(path, {n: column.slice(1) for n, column in zip(names, columns)}, line_of)


def checked_names(cells: Sequence[Any], path: Any, line: int | None = None) -> list[str]:
    """Return the names of columns, or say what is wrong with them."""
    names = [one_spelling(str(cell).strip()) for cell in cells]
    if "" in names:
        raise DatasetError(
            f"column {names.index('') + 1} has no name; the first line has to name all columns",
            path=path,
            line=line,
        )
    check_unique(names, "column", path)
    return names


def check_first_line(text: str, path: Any) -> None:
    """Refuse a first line that names no columns but tells a spreadsheet the delimiter."""
    found = re.match(r'"?sep=.', text, re.IGNORECASE)
    if found is not None and "\n" in text[:8]:
        raise DatasetError(
            f"the first line {found[0]!r} is a hint for spreadsheets; remove it, because the "
            "delimiter is detected without it",
            path=path,
            line=1,
        )


def check_characters(content: bytes, path: Any) -> None:
    """Refuse what no text has: NUL characters."""
    if b"\0" in content:
        raise DatasetError(
            "the file contains NUL characters and is not plain text, or it is UTF-16; save it as "
            "CSV in UTF-8, or check that it is the right file",
            path=path,
        )


def guess_delimiter(text: str) -> str:
    r"""Return which of comma, semicolon and tab separates the columns.

    The one that parts the first lines into equally many fields, more than with the others; where
    none does, the first that the header has outside quotes.

    Examples
    --------
    >>> from splmll.datasets.columns import guess_delimiter
    >>> guess_delimiter("size;colour;tags\n1,5;red;a\n2,5;blue;b\n")
    ';'
    """
    head = text[:_HEAD_CHARACTERS].lstrip("\r\n")
    widths = {each: _common_width(head, each) for each in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda each: widths[each])  # the first of equal ones
    if widths[best] > 1:
        return best
    # Quoted names may hold delimiters and line breaks: they say nothing about the file.
    names = re.split(r"[\r\n]", re.sub(r'"[^"]*"', "", head), maxsplit=1)[0]
    return next((each for each in _DELIMITERS if each in names), _DELIMITERS[0])


def _common_width(head: str, delimiter: str) -> int:
    """Return the number of fields of the first records; 0 where they differ."""
    records = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    try:
        found = [len(fields) for fields in islice(records, _HEAD_RECORDS) if fields]
    except csv.Error:
        return 0
    if len(head) == _HEAD_CHARACTERS and len(found) < _HEAD_RECORDS:
        found = found[:-1]  # it may be cut off
    return found[0] if len(set(found)) == 1 else 0


def count_columns(text: str, delimiter: str) -> int:
    """Return the number of fields of the first line that has any."""
    try:
        for fields in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if fields:
                return len(fields)
    except csv.Error:
        pass  # Arrow will say what is wrong with the first line
    return 0


def _line_of_record(text: str, delimiter: str, record: int) -> int | None:
    """Return the line in which a record starts; only errors need it, so it is found by reading."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    start = 1
    try:
        for fields in reader:
            if fields:
                if record == 0:
                    return start
                record -= 1
            start = reader.line_num + 1
    except csv.Error:
        return None
    return None


def first_line(error: Exception) -> str:
    """Return the first line of an error, for a message of ours."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
