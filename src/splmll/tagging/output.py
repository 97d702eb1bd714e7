"""Writes predictions to a file in chunks, in the form in which the labels were learned.

If the training file had one column of tags, so does the result; otherwise every label has a column
of 0 and 1. JSON Lines always have the tags of a row as a list.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np
import pandas as pd

from splmll.atomic import atomic_write
from splmll.datasets.checks import check_unique
from splmll.datasets.tabular import TAG_DELIMITERS
from splmll.exceptions import DatasetError
from splmll.tagging.formulas import without_formula

TAGS = "tags"  # name of the column where the training file had none
SCORES = "scores"  # name in JSON Lines, where they are one object
CARRIERS = "explanation"  # name of the column that says which landmarks carried the labels
_PARQUET = (".parquet", ".pq")
_LINES = ".jsonl"
_SUFFIXES = (".csv", *_PARQUET, _LINES)
_DECIMALS = 6  # of scores
_MARKS = ':,;"'  # what stands between the names of an explanation


Carriers = Sequence[Mapping[str, Mapping[str, float]]]
"""For every row label -> landmark -> what it added, see :meth:`splmll.tagging.Tagger.carriers`."""


class Writer(Protocol):
    """Takes predictions in the order of the rows."""

    def write(
        self,
        labels: pd.DataFrame,
        scores: pd.DataFrame | None,
        kept: Mapping[str, Any],
        carriers: Carriers | None = None,
    ) -> None:
        """Add rows: labels, scores, columns to copy (lists or Arrow arrays) and carriers."""


class _CsvWriter:
    """Lines of text; tags of a row in one cell."""

    def __init__(
        self, file: Any, reading: dict[str, Any], label_names: Sequence[str], formulas: bool
    ) -> None:
        self.file, self.reading, self.formulas = file, reading, formulas
        self.delimiter = tag_delimiter(reading, label_names)
        self.first = True

    def write(
        self,
        labels: pd.DataFrame,
        scores: pd.DataFrame | None,
        kept: Mapping[str, Any],
        carriers: Carriers | None = None,
    ) -> None:
        columns = _columns(labels, scores, kept, carriers, self.reading)
        lists = {name: _plain(values) for name, values in columns.items()}
        if scores is not None:
            # Not 1.2e-05, which no one reads at a glance.
            written = {
                f"score:{name}": [f"{value:.{_DECIMALS}f}" for value in scores[name]]
                for name in scores.columns
            }
            lists.update(written)
        cells = {
            self._harmless(name): pd.Series([self._cell(each) for each in values], dtype=object)
            if isinstance(values, list)
            else values
            for name, values in lists.items()
        }
        check_unique([self._harmless(name) for name in lists], "column of the result", None)
        pd.DataFrame(cells).to_csv(
            self.file, index=False, header=self.first, lineterminator="\n", float_format="%.6g"
        )
        self.first = False

    def _cell(self, value: Any) -> Any:
        if isinstance(value, list):
            parts = [self._harmless(each) for each in value]
            return json.dumps(parts) if self.delimiter is None else self.delimiter.join(parts)
        return self._harmless(value)

    def _harmless(self, value: Any) -> Any:
        return value if self.formulas else without_formula(value)


class _LinesWriter:
    """One JSON object for each row: the columns to keep, and the tags as a list."""

    def __init__(self, file: TextIO, reading: dict[str, Any]) -> None:
        self.file, self.name = file, _tag_column(reading) or TAGS
        self.escaped = not has_every_character(file)

    def write(
        self,
        labels: pd.DataFrame,
        scores: pd.DataFrame | None,
        kept: Mapping[str, Any],
        carriers: Carriers | None = None,
    ) -> None:
        copied = {name: _plain(values) for name, values in kept.items()}
        names = [*copied, self.name]
        names += [] if scores is None else [SCORES]
        names += [] if carriers is None else [CARRIERS]
        check_unique(names, "name in the result", None)
        for row, tags in enumerate(_tags(labels)):
            line = {name: _json_cell(values[row]) for name, values in copied.items()}
            line[self.name] = tags
            if scores is not None:
                line[SCORES] = scores.iloc[row].round(_DECIMALS).to_dict()
            if carriers is not None:
                line[CARRIERS] = carriers[row]
            # What Parquet holds and JSON does not (dates, decimals) becomes text.
            self.file.write(json.dumps(line, ensure_ascii=self.escaped, default=str) + "\n")


class _ParquetWriter:
    """Arrow tables; tags of a row as a list."""

    def __init__(self, path: Path, reading: dict[str, Any]) -> None:
        self.path, self.reading = path, reading
        self.file: Any = None

    def write(
        self,
        labels: pd.DataFrame,
        scores: pd.DataFrame | None,
        kept: Mapping[str, Any],
        carriers: Carriers | None = None,
    ) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = _columns(labels, scores, kept, carriers, self.reading)
        if _tag_column(self.reading) is not None:
            name = str(_tag_column(self.reading))
            columns[name] = pa.array(columns[name], pa.list_(pa.string()))
        table = pa.table(columns)
        if self.file is None:
            self.file = pq.ParquetWriter(self.path, table.schema)
        self.file.write_table(table)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


@contextmanager
def prediction_writer(
    path: Path | None,
    reading: dict[str, Any],
    label_names: Sequence[str],
    *,
    as_json: bool = False,
    formulas: bool = False,
) -> Iterator[Writer]:
    """Open a file for predictions, which exists once the block has ended without error.

    Parameters
    ----------
    path : Path or None
        A CSV, Parquet or JSON Lines file by its suffix; None writes to the standard output.
    reading : dict
        How the training file stores its labels, see :func:`splmll.tagging.read_examples`.
    label_names : sequence of str
        All labels.
    as_json : bool, default=False
        Whether standard output gets JSON Lines instead of CSV.
    formulas : bool, default=False
        Whether cells of a CSV file that a spreadsheet would run as formulas are left as they are;
        by default an apostrophe before them makes them text. Other files are never changed.

    Yields
    ------
    writer : Writer

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.tagging.output import prediction_writer
    >>> labels = pd.DataFrame({"oil": [1, 0], "pump": [1, 1]})
    >>> with prediction_writer(None, {"label_column": "topics"}, ["oil", "pump"]) as writer:
    ...     writer.write(labels, None, {"id": [7, 8]})
    id,topics
    7,oil;pump
    8,pump
    """
    if path is None:
        lines, table = (
            _LinesWriter(sys.stdout, reading),
            _CsvWriter(sys.stdout, reading, label_names, formulas),
        )
        yield lines if as_json else table
        return
    check_output(path)
    suffix = path.suffix.lower()
    with atomic_write(path) as part:
        if suffix in _PARQUET:
            writer = _ParquetWriter(part, reading)
            try:
                yield writer
            finally:
                writer.close()
            return
        with part.open("w", encoding="utf-8", newline="") as file:
            if suffix == _LINES:
                yield _LinesWriter(file, reading)
            else:
                yield _CsvWriter(file, reading, label_names, formulas)


def check_output(path: Path, source: Path | None = None) -> None:
    """Raise DatasetError unless predictions can be written to such a file.

    Parameters
    ----------
    path : Path
        The file to write.
    source : Path, optional
        The file that the rows come from, which may not be the same.

    Examples
    --------
    >>> from pathlib import Path
    >>> from splmll.tagging.output import check_output
    >>> check_output(Path("new.csv"), Path("./new.csv"))
    Traceback (most recent call last):
        ...
    splmll.exceptions.DatasetError: new.csv: this is the input file; give another name ...
    """
    check_suffix(path, _SUFFIXES, "predictions are")
    check_writable(path)
    if source is None:
        return
    both_there = path.exists() and source.exists()
    if path.resolve() == source.resolve() or (both_there and path.samefile(source)):
        raise DatasetError("this is the input file; give another name for the result", path=path)


def check_suffix(path: Path, suffixes: Sequence[str], what: str) -> None:
    """Raise DatasetError unless the name of a file ends in one of the suffixes.

    Examples
    --------
    >>> from pathlib import Path
    >>> from splmll.tagging.output import check_suffix
    >>> check_suffix(Path("path.gif"), (".png", ".svg"), "a figure is")
    Traceback (most recent call last):
        ...
    splmll.exceptions.DatasetError: path.gif: a figure is written as .png, .svg; give a name ...
    """
    if path.suffix.lower() not in suffixes:
        raise DatasetError(
            f"{what} written as {', '.join(suffixes)}; give a name with one of these suffixes",
            path=path,
        )


def check_writable(path: Path) -> None:
    """Raise DatasetError unless a file can be written there, before there is anything to write.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.tagging.output import check_writable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_writable(Path(folder) / "new" / "tags.csv")
    """
    if path.is_dir():
        raise DatasetError("this is a folder; give the name of a file", path=path)
    check_folder(path.absolute().parent)


def check_folder(folder: Path) -> None:
    """Raise DatasetError unless files can be written to a folder, which need not be there yet.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.tagging.output import check_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_folder(Path(folder) / "new")
    """
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise DatasetError("this is a file, not a folder; give another path", path=there)
    if not os.access(there, os.W_OK | os.X_OK):
        raise DatasetError(
            "you do not have permission to write to this folder; give another path, or change "
            "its permissions",
            path=there,
        )


def has_every_character(stream: TextIO) -> bool:
    """Whether every character can be written to a stream, as in UTF-8.

    Examples
    --------
    >>> import io
    >>> from splmll.tagging.output import has_every_character
    >>> has_every_character(io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    False
    """
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


def explanation_text(carriers: Mapping[str, Mapping[str, float]]) -> str:
    """Return which landmarks carried the labels of a row, in one line.

    Names that contain a colon, comma, semicolon or quote are written as in JSON, so that programs
    can read the line, too.

    Examples
    --------
    >>> from splmll.tagging.output import explanation_text
    >>> explanation_text({"pump": {"pump": 0.614, "oil": -0.02}, "a, b": {"oil": 0.4}})
    'pump: pump +0.614, oil -0.020; "a, b": oil +0.400'
    """
    return "; ".join(
        f"{_quoted(label)}: "
        + ", ".join(f"{_quoted(name)} {added:+.3f}" for name, added in landmarks.items())
        for label, landmarks in carriers.items()
    )


def tag_delimiter(reading: dict[str, Any], label_names: Sequence[str]) -> str | None:
    """Return what to write between two tags; None for a JSON list, where no delimiter will do.

    Examples
    --------
    >>> from splmll.tagging.output import tag_delimiter
    >>> tag_delimiter({}, ["a;b", "c"])
    '|'
    """
    given = reading.get("label_delimiter")
    candidates = TAG_DELIMITERS if given is None else (given,)
    free = (each for each in candidates if not any(each in name for name in label_names))
    return next(free, None)


def _tag_column(reading: dict[str, Any]) -> str | None:
    """Return the name of the column of tags; None where every label has a column."""
    if "labels" in reading or "label_prefix" in reading:
        return None
    return str(reading.get("label_column", TAGS))


def _columns(
    labels: pd.DataFrame,
    scores: pd.DataFrame | None,
    kept: Mapping[str, Any],
    carriers: Carriers | None,
    reading: dict[str, Any],
) -> dict[str, Any]:
    pairs = list(kept.items())
    tag_column = _tag_column(reading)
    if tag_column is None:
        prefix = reading.get("label_prefix", "")
        pairs += [(f"{prefix}{name}", labels[name].to_numpy()) for name in labels.columns]
    else:
        pairs.append((tag_column, _tags(labels)))
    if scores is not None:
        pairs += [(f"score:{name}", scores[name].to_numpy()) for name in scores.columns]
    if carriers is not None:
        pairs.append((CARRIERS, [explanation_text(row) for row in carriers]))
    check_unique([name for name, _ in pairs], "column of the result", None)
    return dict(pairs)


def _tags(labels: pd.DataFrame) -> list[list[str]]:
    names = np.asarray(labels.columns, dtype=object)
    return [names[row != 0].tolist() for row in labels.to_numpy()]


def _plain(values: Any) -> Any:
    """Return a column that was copied as a list: whole numbers beside gaps stay whole."""
    return values.to_pylist() if hasattr(values, "to_pylist") else values


def _json_cell(value: Any) -> Any:
    """Return a copied value as JSON can hold it: it has no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _quoted(name: str) -> str:
    plain = name == name.strip() and name and not any(mark in name for mark in _MARKS)
    return name if plain else json.dumps(name, ensure_ascii=False)
