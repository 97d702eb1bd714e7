"""Tables: CSV, TSV and Parquet files with columns of features and labels.

Numeric, categorical and text columns are detected and kept separate, so that a pipeline can be
built from them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.datasets.checks import LABEL_TYPE, check_unique, one_spelling
from splmll.datasets.columns import Table, read_columns
from splmll.datasets.compressed import unpacked_name
from splmll.datasets.dataset import Dataset
from splmll.exceptions import DatasetError

# In a column of numbers these words mean that a value is missing.
MISSING_WORDS = ("", "?", "na", "n/a", "nan", "null", "none")
# Tried in this order: a tag is more likely to contain one of the later characters.
TAG_DELIMITERS = (";", "|", ",")
# A whole number, or one with a decimal comma and the group that says so.
_COMMA_NUMBER = re.compile(r"[+-]?\d+(,\d+)?(?:[eE][+-]?\d+)?")
# More cells than this, and labels from a tag column are stored sparse.
_DENSE_CELLS = 50_000_000


def read_table(
    path: str | Path | Table,
    *,
    labels: str | Sequence[str] | None = None,
    label_prefix: str | None = None,
    label_column: str | None = None,
    label_delimiter: str | None = None,
    text: str | Sequence[str] | None = None,
    categorical: str | Sequence[str] | None = None,
    numeric: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    allow_missing: bool = False,
    allow_unknown: bool = False,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    name: str | None = None,
) -> Dataset:
    r"""Read a table with one row for each example.

    Name the label columns in exactly one of three ways: `labels`, `label_prefix` or `label_column`.
    All other columns are features.

    A feature column is numeric if each of its values is a number (or true and false). Otherwise it
    is text if its distinct values have three or more words on average, or if there are more than 50
    of them and more than half as many as rows; if not, it is categorical. `text`, `categorical` and
    `numeric` override this.

    Parameters
    ----------
    path : path-like
        `.csv`, `.tsv` (both also with `.gz`, `.bz2` or `.xz`), `.parquet` or `.pq`. The first
        line of a CSV file names the columns. Or the columns themselves, as
        ``splmll.datasets.columns.read_columns`` has read them.
    labels : sequence of str, optional
        Names of the label columns, which contain 0 and 1, or true and false.
    label_prefix : str, optional
        All columns whose names start with it are labels; the prefix is removed from the names.
    label_column : str, optional
        The one column that lists the labels of a row: several in one cell between delimiters, a
        JSON list, or a list column of Parquet. An empty cell is a row without labels. The labels
        are sorted alphabetically.
    label_delimiter : str, optional
        What separates the labels in a cell; by default a JSON list if every cell is one, otherwise
        the first of ``;``, ``|`` and ``,`` that occurs. A space has to be given explicitly.
    text, categorical, numeric, ignore : sequence of str, optional
        Feature columns to read as such, or to leave out.
    allow_missing : bool
        Whether feature values may be missing: NaN in numeric and None in categorical columns.
        An empty cell of a text column is an empty text.
    allow_unknown : bool
        Whether label columns may have empty cells for labels that are not known. Y then has floats,
        with NaN for these.
    delimiter : str, optional
        What separates the columns of a CSV file; by default a tab in `.tsv`, otherwise a comma, or
        a semicolon or tab if the first line has no comma but one of these.
    encoding : str
        Encoding of a CSV file.
    name : str, optional
        Name of the data set; by default the name of the file.

    Returns
    -------
    Dataset
        X is a float64 array if all features are numeric, otherwise a DataFrame; `column_kinds`
        gives the kind of each feature.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "films.csv"
    ...     _ = file.write_text("minutes,plot,tags\n90,a ship sinks slowly,drama;sea\n"
    ...                         "101,two friends go west,drama\n")
    ...     films = read_table(file, label_column="tags")
    >>> films.column_kinds
    {'minutes': 'numeric', 'plot': 'text'}
    >>> films.label_names, films.Y.tolist()
    (['drama', 'sea'], [[1, 1], [1, 0]])
    """
    table = path if isinstance(path, Table) else read_columns(path, delimiter, encoding)
    path = table.path
    label_like = label_columns(table, labels, label_prefix, label_column)
    forced = forced_kinds(table, label_like, text, categorical, numeric, ignore)
    if label_column is not None:
        label_names, Y = _tags(table, label_column, label_delimiter)
    else:
        cut = 0 if label_prefix is None else len(label_prefix)
        label_names = [column[cut:] for column in label_like]
        Y = np.column_stack([read_label(table, column, allow_unknown) for column in label_like])
        Y = Y if np.isnan(Y).any() else Y.astype(LABEL_TYPE)
    check_unique(label_names, "label name", path)

    is_label = set(label_like)
    features: dict[str, np.ndarray] = {}
    kinds: dict[str, str] = {}
    for column in table.names:
        if column in is_label or forced.get(column) == "ignore":
            continue
        features[column], kinds[column] = read_feature(
            table, column, forced.get(column), allow_missing
        )
    if not features:
        raise DatasetError("no column is left for the features; check the options", path=path)
    if set(kinds.values()) == {"numeric"}:
        X: Any = np.column_stack(list(features.values()))
    else:
        X = pd.DataFrame(features)
    return Dataset(
        X=X,
        Y=Y,
        feature_names=list(features),
        label_names=label_names,
        name=unpacked_name(path).stem if name is None else name,
        column_kinds=kinds,
    )


# Which column is what --------------------------------------------------------------------------


def label_columns(
    table: Table,
    labels: str | Sequence[str] | None,
    label_prefix: str | None,
    label_column: str | None,
) -> list[str]:
    """Return the columns that hold labels; see :func:`read_table` for the three ways to say it."""
    if sum(way is not None for way in (labels, label_prefix, label_column)) != 1:
        raise table.error(
            "name the label columns in one way: labels=[...], label_prefix='...' or "
            f"label_column='...'; the columns are {_some(table.names)}"
        )
    if label_prefix is not None:
        label_prefix = one_spelling(label_prefix)
        chosen = [column for column in table.names if column.startswith(label_prefix)]
        if not chosen:
            raise table.error(
                f"no column starts with {label_prefix!r}; the columns are {_some(table.names)}"
            )
        if label_prefix in chosen:
            raise table.error(
                f"the column {label_prefix!r} is just the prefix, so its label would have no "
                "name; rename it"
            )
        return chosen
    chosen = _as_list(labels if label_column is None else label_column)
    if not chosen:
        raise table.error("labels=[] contains no column; give at least one")
    _check_known(table, chosen, "label")
    check_unique(chosen, "label column", table.path)
    return chosen


def forced_kinds(
    table: Table,
    label_like: list[str],
    text: str | Sequence[str] | None,
    categorical: str | Sequence[str] | None,
    numeric: str | Sequence[str] | None,
    ignore: str | Sequence[str] | None,
) -> dict[str, str]:
    """Return what columns are said to be: "text", "categorical", "numeric" or "ignore"."""
    forced: dict[str, str] = {}
    for kind, given in (
        ("text", text),
        ("categorical", categorical),
        ("numeric", numeric),
        ("ignore", ignore),
    ):
        columns = _as_list(given)
        _check_known(table, columns, kind)
        for column in columns:
            other = "label" if column in label_like else forced.get(column, kind)
            if other != kind:
                raise table.error(
                    f"the column {column!r} is given as {other} and as {kind}; keep one"
                )
            forced[column] = kind
    return forced


def _check_known(table: Table, columns: Iterable[str], what: str) -> None:
    for column in columns:
        if column not in table.columns:
            raise table.error(
                f"there is no {what} column {column!r}; the columns are {_some(table.names)}"
            )


def _as_list(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [one_spelling(name) for name in ([names] if isinstance(names, str) else names)]


def _some(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


# Labels ----------------------------------------------------------------------------------------


def read_label(table: Table, column: str, allow_unknown: bool = False) -> np.ndarray:
    """Return a column of zeros and ones, or of the words true and false, as numbers.

    Parameters
    ----------
    table : Table
        Its cells.
    column : str
        The column.
    allow_unknown : bool, default=False
        Whether cells may be empty; they become NaN.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = table.columns[column]
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        words = pc.utf8_lower(pc.utf8_trim_whitespace(cells))
        for word, digit in (("true", "1"), ("false", "0")):
            words = pc.replace_substring_regex(words, pattern=f"^{word}$", replacement=digit)
    elif _is_number(cells.type) or pa.types.is_null(cells.type):
        words = cells
    else:
        raise table.error(
            f"the label column {column!r} has the type {cells.type}, but a label is 0 or 1 (or "
            "true or false); convert it, or give the column as label_column if it lists labels"
        )
    values, words = read_numbers(words)
    if values is None:
        row = _first_non_number(words)
    else:
        unknown = np.isnan(values) & allow_unknown
        wrong = np.flatnonzero((values != 0) & (values != 1) & ~unknown)
        if not wrong.size:
            return values
        row = int(wrong[0])
    cell = cells[row].as_py()
    found = "is empty" if cell in (None, "") else f"holds {cell!r}"
    raise table.error(
        f"the label column {column!r} {found}, but a label is 0 or 1 (or true or false); "
        "correct it, or name other columns",
        row,
    )


def _tags(table: Table, column: str, delimiter: str | None) -> tuple[list[str], Any]:
    rows = read_tags(table, column, delimiter)
    names = sorted({tag for row in rows for tag in row})
    if not names:
        raise table.error(f"no row has a label in column {column!r}; name another column")
    Y = tag_matrix(rows, names)
    return names, Y.toarray() if Y.shape[0] * Y.shape[1] <= _DENSE_CELLS else Y


def read_tags(table: Table, column: str, delimiter: str | None) -> list[list[str]]:
    """Return the labels that a column lists, row by row.

    Parameters
    ----------
    table : Table
        Its cells.
    column : str
        The column.
    delimiter : str or None
        What stands between two labels; None to find it out, or for lists.
    """
    import pyarrow as pa

    cells = table.columns[column]
    is_list = pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type)
    if not _is_plain(cells.type.value_type if is_list else cells.type):
        raise table.error(
            f"the label column {column!r} has the type {cells.type}, but labels are listed as text "
            "or in a list; convert it"
        )
    if is_list:
        rows = [_list_cell(table, column, row, cell) for row, cell in enumerate(cells.to_pylist())]
    else:
        texts = ["" if cell is None else str(cell).strip() for cell in cells.to_pylist()]
        filled = [cell for cell in texts if cell]
        if delimiter is None and filled and all(cell.startswith("[") for cell in filled):
            rows = [_json_cell(table, column, row, cell) for row, cell in enumerate(texts)]
        else:
            if delimiter == "":
                raise table.error("label_delimiter is empty; give at least one character")
            if delimiter is None:
                delimiter = next(
                    (one for one in TAG_DELIMITERS if any(one in cell for cell in filled)),
                    TAG_DELIMITERS[0],
                )
            rows = [[tag.strip() for tag in cell.split(delimiter)] for cell in texts]
    return [[tag for tag in dict.fromkeys(map(one_spelling, row)) if tag] for row in rows]


def tag_matrix(rows: Sequence[Sequence[str]], names: Sequence[str]) -> sparse.csr_array:
    """Return labels that are listed row by row as a matrix with one column for each name.

    Examples
    --------
    >>> from splmll.datasets.tabular import tag_matrix
    >>> tag_matrix([["b"], [], ["b", "a"]], ["a", "b"]).toarray().tolist()
    [[0, 1], [0, 0], [1, 1]]
    """
    number = {tag: position for position, tag in enumerate(names)}
    indices = [place for row in rows for place in sorted(number[tag] for tag in row)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return sparse.csr_array(
        (np.ones(len(indices), LABEL_TYPE), np.asarray(indices, np.int64), starts),
        shape=(len(rows), len(names)),
    )


def _json_cell(table: Table, column: str, row: int, cell: str) -> list[str]:
    if not cell:
        return []
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise table.error(
            f"the cell of {column!r} starts like a JSON list but is not one; correct it, or pass "
            "label_delimiter",
            row,
        ) from error
    return _list_cell(table, column, row, value)


def _list_cell(table: Table, column: str, row: int, value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(
        isinstance(tag, str | int) and not isinstance(tag, bool) for tag in value
    ):
        raise table.error(
            f"the cell of {column!r} is not a list of names or integers; correct it", row
        )
    return [str(tag).strip() for tag in value]


# Features --------------------------------------------------------------------------------------


def read_feature(
    table: Table, column: str, forced: str | None, allow_missing: bool
) -> tuple[np.ndarray, str]:
    """Return a column as a feature and its kind: "numeric", "categorical" or "text"."""
    cells = table.columns[column]
    if forced in (None, "numeric"):
        values, words = read_numbers(cells)
        if values is not None:
            _check_numbers(table, column, values, allow_missing)
            return values, "numeric"
        comma = _decimal_comma(words)
        if comma is not None:
            raise table.error(
                f"the column {column!r} contains {words[comma]!r}, a number with a decimal comma; "
                "write a point in all of them (in a spreadsheet by the language of the file), or "
                "name the column in --text (in Python text or categorical) if these are words",
                comma,
            )
        if forced == "numeric":
            row = _first_non_number(words)
            raise table.error(
                f"the column {column!r} contains {words[row]!r}, which is not a number; correct "
                "it, or do not list the column in numeric",
                row,
            )
    texts = _texts(table, column)
    kind = forced if forced is not None else _text_or_categorical(texts)
    if kind == "text":
        # Only a null of Parquet is missing; an empty cell is a text without words.
        missing = np.array([cell is None for cell in texts])
    else:
        texts = np.array([cell or None for cell in texts], dtype=object)
        missing = np.array([cell is None for cell in texts])
    if missing.any() and not allow_missing:
        raise _missing(table, column, int(np.flatnonzero(missing)[0]))
    return texts, kind


def _check_numbers(table: Table, column: str, values: np.ndarray, allow_missing: bool) -> None:
    missing = np.isnan(values)
    if missing.any() and not allow_missing:
        raise _missing(table, column, int(np.flatnonzero(missing)[0]))
    infinite = np.isinf(values)
    if infinite.any():
        raise table.error(
            f"the column {column!r} contains an infinite value; correct it, or leave the column "
            "out with ignore",
            int(np.flatnonzero(infinite)[0]),
        )


def _missing(table: Table, column: str, row: int) -> DatasetError:
    return table.error(
        f"the column {column!r} has a missing value; fill it in, pass allow_missing=True and "
        "impute later, or leave the column out with ignore",
        row,
    )


def read_numbers(cells: Any) -> tuple[np.ndarray | None, np.ndarray]:
    """Return a column as float64 with NaN for missing, or None and its words if it is no numbers.

    A column of the words true and false counts as ones and zeros.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = cells.type
    if _is_number(kind):
        if not pa.types.is_floating(kind):
            cells = pc.cast(cells, pa.float64(), safe=False)
        return cells.to_numpy(zero_copy_only=False).astype(np.float64), np.empty(0, object)
    if pa.types.is_null(kind):
        return np.full(len(cells), np.nan), np.empty(0, object)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None, np.empty(0, object)
    trimmed = pc.utf8_trim_whitespace(cells)
    missing = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING_WORDS, kind))
    words = pc.if_else(missing, pa.scalar(None, kind), trimmed)
    if words.null_count == len(words):
        return np.full(len(words), np.nan), np.empty(0, object)
    try:
        return pc.cast(words, pa.float64()).to_numpy(zero_copy_only=False), np.empty(0, object)
    except pa.ArrowInvalid:
        pass
    truth = pc.utf8_lower(words)
    if pc.all(pc.is_in(truth, value_set=pa.array(["true", "false", None], kind))).as_py():
        found = pc.equal(truth, pa.scalar("true", kind))
        return pc.cast(found, pa.float64()).to_numpy(zero_copy_only=False), np.empty(0, object)
    return None, np.array(words.to_pylist(), dtype=object)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def _is_plain(kind: Any) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null, _is_number)
    return any(test(kind) for test in tests)


def _first_non_number(words: np.ndarray) -> int:
    """Return the first row whose word is not a number; 0 if the column holds no words at all."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for row, word in enumerate(words):
        if word is None:
            continue
        try:
            pc.cast(pa.scalar(word, pa.string()), pa.float64())
        except pa.ArrowInvalid:
            return row
    return 0


def _decimal_comma(words: np.ndarray) -> int | None:
    """Return the first row with a decimal comma if all words are numbers written so, else None."""
    found = [None if word is None else _COMMA_NUMBER.fullmatch(word) for word in words]
    if any(match is None and word is not None for match, word in zip(found, words)):
        return None
    return next((row for row, match in enumerate(found) if match and match[1]), None)


def _texts(table: Table, column: str) -> np.ndarray:
    """Return a column as an object array of str and None, each text in one spelling."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = table.columns[column]
    kind = cells.type
    if not _is_plain(kind):
        raise table.error(
            f"the column {column!r} has the type {kind}, which is neither a number nor text; "
            "convert it or leave it out with ignore"
        )
    if _is_number(kind) or pa.types.is_null(kind):
        cells = pc.cast(cells, pa.string())
    elif not pa.types.is_null(cells.type):
        cells = pc.utf8_normalize(cells, form="NFC")
    result = np.empty(len(cells), dtype=object)
    result[:] = cells.to_pylist()
    return result


def _text_or_categorical(texts: np.ndarray) -> str:
    distinct = {cell for cell in texts if cell}
    if not distinct:
        return "categorical"
    words = sum(len(cell.split()) for cell in distinct) / len(distinct)
    many = len(distinct) > max(50, len(texts) / 2)
    return "text" if words >= 3 or many else "categorical"
