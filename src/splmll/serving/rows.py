"""Rows of a request in the form the model expects: checked, in the order of its columns.

Rows are read column by column without pandas, whose overhead for a single row is larger than the
model's. Errors are located only if there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from splmll.datasets.checks import one_spelling
from splmll.names import listed, suggestion
from splmll.serving.errors import ServiceError
from splmll.tagging import Tagger
from splmll.tagging.rows import MOST_NUMBER

_SHOWN_CHARACTERS = 40  # of a wrong value in a message
_NUMBER_TYPES = frozenset({float, int, bool})

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked rows.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows, n_numeric)
        The numeric columns; NaN where a value is missing.
    words : ndarray of object of shape (n_rows, n_others)
        The text and categorical columns as str; empty where a value is missing.
    """

    numbers: np.ndarray
    words: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return all rows of several."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.words for part in parts]),
        )


class RowReader:
    """Reads the rows that one tagger takes.

    Parameters
    ----------
    tagger : Tagger
        Its columns are those of the rows. A matrix without columns has numeric ones, by the names
        of its features, in which no value may be missing.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.datasets import Dataset
    >>> from splmll.serving.rows import RowReader
    >>> from splmll.tagging import Tagger
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> data = Dataset(X, (X > 0).astype(int), ["x", "y"], ["right", "up"])
    >>> reader = RowReader(Tagger.fit(data, "BR"))
    >>> reader.read([{"y": 1, "x": 0.5}]).numbers
    array([[0.5, 1. ]])
    """

    def __init__(self, tagger: Tagger) -> None:
        self.columns = list(tagger.feature_names)
        self.kinds = {name: tagger.column_kinds.get(name, "numeric") for name in self.columns}
        self.has_gaps = bool(tagger.column_kinds)  # a bare matrix goes to the method unfilled
        self.numeric = [name for name in self.columns if self.kinds[name] == "numeric"]
        self.wordy = [name for name in self.columns if self.kinds[name] != "numeric"]
        self._known = frozenset(self.columns)
        self._numbers_of = _getter(self.numeric)
        self._words_of = _getter(self.wordy)

    def read(self, rows: Sequence[Any]) -> Rows:
        """Return rows of JSON values, checked.

        Parameters
        ----------
        rows : sequence of dict
            Column -> value.

        Returns
        -------
        rows : Rows
        """
        width = len(self.columns)
        for number, row in enumerate(rows):
            if type(row) is not dict or len(row) != width or not self._known.issuperset(row):
                raise self._wrong_columns(number, row)
        return Rows(self._numbers(rows), self._words(rows))

    def of_frame(self, frame: pd.DataFrame) -> Rows:
        """Return rows of a table that was read from a file.

        Parameters
        ----------
        frame : DataFrame
            All columns; None or NaN where a value is missing.

        Returns
        -------
        rows : Rows
        """
        numbers = frame[self.numeric].to_numpy(dtype=float)
        self._check_numbers(numbers, lambda row, column: frame[self.numeric].iat[row, column])
        words = np.empty((len(frame), len(self.wordy)), dtype=object)
        for place, name in enumerate(self.wordy):
            words[:, place] = frame[name].where(frame[name].notna(), "").to_numpy()
        return Rows(numbers, words)

    # Pieces ----------------------------------------------------------------

    def _numbers(self, rows: Sequence[Row]) -> np.ndarray:
        cells = [self._numbers_of(row) for row in rows]
        allowed = _NUMBER_TYPES | {type(None)} if self.has_gaps else _NUMBER_TYPES
        for number, values in enumerate(cells):
            if not allowed.issuperset(map(type, values)):
                place = next(k for k, value in enumerate(values) if type(value) not in allowed)
                raise self._wrong_value(number, self.numeric[place], values[place])
        try:
            numbers = np.array(cells, dtype=float).reshape(len(rows), len(self.numeric))
        except OverflowError:  # a whole number beyond all floating-point ones
            numbers = np.array([[_bounded(v) for v in values] for values in cells], dtype=float)
        self._check_numbers(numbers, lambda row, column: cells[row][column])
        return numbers

    def _check_numbers(self, numbers: np.ndarray, given: Callable[[int, int], Any]) -> None:
        """Refuse what is missing in a bare matrix, and what is too large."""
        with np.errstate(invalid="ignore"):
            wrong = np.abs(numbers) > MOST_NUMBER
        if not self.has_gaps:
            wrong |= np.isnan(numbers)
        if wrong.any():
            row, column = map(int, np.argwhere(wrong)[0])
            raise self._wrong_value(row, self.numeric[column], given(row, column))

    def _words(self, rows: Sequence[Row]) -> np.ndarray:
        words = np.empty((len(rows), len(self.wordy)), dtype=object)
        if not self.wordy:
            return words
        for number, row in enumerate(rows):
            for place, value in enumerate(self._words_of(row)):
                if type(value) is str:
                    words[number, place] = one_spelling(value)
                elif value is None:
                    words[number, place] = ""
                else:
                    words[number, place] = self._category(number, self.wordy[place], value)
        return words

    def _category(self, number: int, column: str, value: Any) -> str:
        """Return a number of a categorical column as it stands in a file."""
        if self.kinds[column] == "text" or type(value) not in (int, float):
            raise self._wrong_value(number, column, value)
        if abs(value) > MOST_NUMBER:
            raise self._wrong_value(number, column, value)
        return str(int(value)) if value == int(value) else repr(value)

    # Errors ----------------------------------------------------------------

    def _wrong_columns(self, number: int, row: Any) -> ServiceError:
        if type(row) is not dict:
            return ServiceError(
                422,
                "invalid_row",
                f"Row {number + 1} is {shown(row)}, not an object; give it as "
                '{"column": value, ...}.',
                {"row": number + 1},
            )
        unknown = next((name for name in row if name not in self._known), None)
        if unknown is not None:
            return ServiceError(
                422,
                "unknown_column",
                f"Row {number + 1} has the column {shown(unknown)}, which the model does not "
                f"know.{suggestion(unknown, self.columns)} The columns are {listed(self.columns)}.",
                {"row": number + 1, "column": unknown},
            )
        missing = next(name for name in self.columns if name not in row)
        remedy = ", null if it is not known" if self.has_gaps else ""
        return ServiceError(
            422,
            "missing_column",
            f"Row {number + 1} has no column {missing!r}; give its value{remedy}.",
            {"row": number + 1, "column": missing},
        )

    def _wrong_value(self, number: int, column: str, value: Any) -> ServiceError:
        wanted = {
            "numeric": f"a number between -{MOST_NUMBER:g} and {MOST_NUMBER:g}",
            "categorical": "a string or a number",
            "text": "a string",
        }[self.kinds[column]]
        gap = ", or null if it is not known" if self.has_gaps else ""
        return ServiceError(
            422,
            "invalid_value",
            f"Row {number + 1}, column {column!r}: {shown(value)} does not fit the column; give "
            f"{wanted}{gap}.",
            {"row": number + 1, "column": column, "kind": self.kinds[column]},
        )


def shown(value: Any) -> str:
    """Return a value for a message, only the start of a long one.

    Examples
    --------
    >>> from splmll.serving.rows import shown
    >>> shown("three"), shown(None), shown([1, 2]), shown(True)
    ("'three'", 'null', 'a list', 'true')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and abs(value) > MOST_NUMBER:
        return "a number of very many digits"  # Python refuses to write the longest ones
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _getter(names: Sequence[str]) -> Callable[[Row], tuple[Any, ...]]:
    """Return what takes the values of some columns out of a row, always as a tuple."""
    if not names:
        return lambda row: ()
    if len(names) == 1:
        return lambda row: (row[names[0]],)
    return itemgetter(*names)


def _bounded(value: Any) -> Any:
    """Return infinity for a whole number that is beyond all floating-point ones."""
    return float("inf") if type(value) is int and abs(value) > MOST_NUMBER else value
