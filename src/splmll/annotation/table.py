"""The table to annotate: its rows for the model, for people, and for the answers.

A row is identified by its number and a digest of its content, so that answers never end up with
another row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from splmll.tagging import Tagger
from splmll.tagging.files import known_label_column, read_features, read_known_labels

_DIGEST_BYTES = 16  # two rows have the same digest once in 2^64 tables


@dataclass(frozen=True, eq=False)
class AnnotationTable:
    """Rows to label.

    Attributes
    ----------
    path : Path
        The file.
    features : DataFrame
        The columns of the model.
    columns : dict of str to list
        All columns except those of labels, as they are in the file.
    texts : list of str
        Names of the columns that are texts, which people read first.
    given : ndarray of shape (n_rows, n_labels)
        The labels in the file: 1, 0, or NaN if not known. Nothing is known about a row without
        tags.
    digests : list of str
        Identify the content of each row, in the columns of the model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from splmll.annotation import AnnotationTable
    >>> from splmll.tagging import Tagger, read_examples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "notes.csv"
    ...     tags = ["oil", "pump", "oil;pump", ""] * 5
    ...     notes = pd.DataFrame({"body": [f"we saw {each}" for each in tags], "tags": tags})
    ...     notes.to_csv(file, index=False)
    ...     data, reading = read_examples(file, ["tags"], text=["body"])
    ...     table = AnnotationTable.read(file, Tagger.fit(data, "BR", reading=reading))
    >>> table.n_rows, table.cells(2), table.given[2:4].tolist()
    (20, {'body': 'we saw oil;pump'}, [[1.0, 1.0], [nan, nan]])
    """

    path: Path
    features: pd.DataFrame
    columns: dict[str, list[Any]]
    texts: list[str]
    given: np.ndarray
    digests: list[str]
    _rows_of: dict[tuple[str, ...], dict[str, list[int]]] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def read(cls, path: str | Path, tagger: Tagger) -> AnnotationTable:
        """Read the rows of a CSV, TSV or Parquet file that has the columns of a model.

        Parameters
        ----------
        path : path-like
            The file.
        tagger : Tagger
            The model.

        Returns
        -------
        table : AnnotationTable
        """
        kinds = tagger.column_kinds
        features, table = read_features(path, kinds)
        given = read_known_labels(table, tagger.label_names, tagger.reading, kinds)
        labels = {
            known_label_column(name, table.names, tagger.reading, kinds)
            for name in tagger.label_names
        } | {tagger.reading.get("label_column")}
        columns = {
            name: cells.to_pylist() for name, cells in table.columns.items() if name not in labels
        }
        return cls(
            path=Path(path),
            features=features,
            columns=columns,
            texts=[name for name in kinds if kinds[name] == "text"],
            given=given,
            digests=[_digest(row) for row in _rows({name: columns[name] for name in kinds})],
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.features)

    def cells(self, row: int) -> dict[str, str]:
        """Return the cells of a row for display: texts first, then other nonempty cells."""
        order = [*self.texts, *(name for name in self.columns if name not in self.texts)]
        shown = {name: self.columns[name][row] for name in order}
        return {
            name: "" if value is None else str(value)
            for name, value in shown.items()
            if name in self.texts or value not in (None, "")
        }

    def find(self, cells: Mapping[str, Any]) -> list[int]:
        """Return the rows that have these cells; columns may be missing or additional.

        Parameters
        ----------
        cells : mapping of str to object
            Column -> value.

        Returns
        -------
        rows : list of int
        """
        names = tuple(name for name in self.columns if name in cells)
        if not names:
            return []
        if names not in self._rows_of:
            found: dict[str, list[int]] = {}
            for row, each in enumerate(_rows({name: self.columns[name] for name in names})):
                found.setdefault(_digest(each), []).append(row)
            self._rows_of[names] = found
        return self._rows_of[names].get(_digest({name: cells[name] for name in names}), [])


def _rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    names = list(columns)
    return [dict(zip(names, row)) for row in zip(*columns.values())]


def _digest(cells: Mapping[str, Any]) -> str:
    written = json.dumps({name: _written(value) for name, value in cells.items()}, sort_keys=True)
    return hashlib.blake2b(written.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _written(value: Any) -> str:
    """Return a cell as one text, whichever format of file it comes from."""
    return "" if value is None else str(value)
