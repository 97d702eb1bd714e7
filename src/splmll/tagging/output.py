"""Predictions into a file, some rows at a time, in the form in which the labels were learned.

One column of tags where the training file had one, a column of 0 and 1 for each label where it had
those.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from splmll.atomic import atomic_write
from splmll.datasets.checks import check_unique
from splmll.datasets.tabular import TAG_DELIMITERS
from splmll.exceptions import DatasetError

TAGS = "tags"  # name of the column where the training file had none
_PARQUET = (".parquet", ".pq")
_SUFFIXES = (".csv", *_PARQUET)


class Writer(Protocol):
    """Takes predictions in the order of the rows."""

    def write(
        self, labels: pd.DataFrame, scores: pd.DataFrame | None, kept: Mapping[str, Any]
    ) -> None:
        """Add rows: their labels, their scores, and columns to copy (lists or Arrow arrays)."""


class _CsvWriter:
    """Lines of text; tags of a row in one cell."""

    def __init__(self, file: Any, reading: dict[str, Any], label_names: Sequence[str]) -> None:
        self.file, self.reading = file, reading
        self.delimiter = tag_delimiter(reading, label_names)
        self.first = True

    def write(
        self, labels: pd.DataFrame, scores: pd.DataFrame | None, kept: Mapping[str, Any]
    ) -> None:
        columns = _columns(labels, scores, kept, self.reading)
        # Copied columns are Arrow's: as lists, whole numbers beside gaps stay whole.
        lists = {
            name: values.to_pylist() if hasattr(values, "to_pylist") else values
            for name, values in columns.items()
        }
        cells = {
            name: pd.Series([self._cell(each) for each in values], dtype=object)
            if isinstance(values, list)
            else values
            for name, values in lists.items()
        }
        pd.DataFrame(cells).to_csv(
            self.file, index=False, header=self.first, lineterminator="\n", float_format="%.6g"
        )
        self.first = False

    def _cell(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return json.dumps(value) if self.delimiter is None else self.delimiter.join(value)


class _ParquetWriter:
    """Arrow tables; tags of a row as a list."""

    def __init__(self, path: Path, reading: dict[str, Any]) -> None:
        self.path, self.reading = path, reading
        self.file: Any = None

    def write(
        self, labels: pd.DataFrame, scores: pd.DataFrame | None, kept: Mapping[str, Any]
    ) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = _columns(labels, scores, kept, self.reading)
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
    path: Path | None, reading: dict[str, Any], label_names: Sequence[str]
) -> Iterator[Writer]:
    """Open a file for predictions, which is there when the block has ended well.

    Parameters
    ----------
    path : Path or None
        A CSV or Parquet file by its suffix; None writes CSV to the standard output.
    reading : dict
        How the labels stood in the training file, see :func:`splmll.tagging.read_examples`.
    label_names : sequence of str
        All labels.

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
        yield _CsvWriter(sys.stdout, reading, label_names)
        return
    check_output(path)
    with atomic_write(path) as part:
        if path.suffix.lower() in _PARQUET:
            writer = _ParquetWriter(part, reading)
            try:
                yield writer
            finally:
                writer.close()
        else:
            with part.open("w", encoding="utf-8", newline="") as file:
                yield _CsvWriter(file, reading, label_names)


def check_output(path: Path) -> None:
    """Raise DatasetError unless predictions can be written to such a file."""
    if path.suffix.lower() not in _SUFFIXES:
        raise DatasetError(
            f"predictions are written as {', '.join(_SUFFIXES)}; give a name that ends so",
            path=path,
        )
    if path.is_dir():
        raise DatasetError("this is a folder; give the name of a file", path=path)


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
    reading: dict[str, Any],
) -> dict[str, Any]:
    pairs = list(kept.items())
    tag_column = _tag_column(reading)
    if tag_column is None:
        prefix = reading.get("label_prefix", "")
        pairs += [(f"{prefix}{name}", labels[name].to_numpy()) for name in labels.columns]
    else:
        names = np.asarray(labels.columns, dtype=object)
        pairs.append((tag_column, [names[row != 0].tolist() for row in labels.to_numpy()]))
    if scores is not None:
        pairs += [(f"score:{name}", scores[name].to_numpy()) for name in scores.columns]
    check_unique([name for name, _ in pairs], "column of the result", None)
    return dict(pairs)
