"""Reading the files of a tagger: examples with tags, and rows to tag.

How the training file stores its labels (a `reading`: options of its reader) is kept with the
tagger, so that later files are read in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.arrays import dense
from splmll.datasets import Dataset, read_dataset, read_table
from splmll.datasets.checks import existing_file, one_spelling
from splmll.datasets.chunks import Chunk, read_chunks
from splmll.datasets.columns import Table, read_columns
from splmll.datasets.reading import format_of
from splmll.datasets.tabular import (
    TAG_DELIMITERS,
    read_feature,
    read_label,
    read_numbers,
    read_tags,
)
from splmll.exceptions import DatasetError
from splmll.names import check_columns, listed
from splmll.tagging.rows import check_size, in_order, label_counts, named_columns

LABEL_PREFIX = "label:"  # of a column that holds what is known of a label
_TABLES = ("csv", "tsv", "parquet")
_KINDS = ("text", "categorical", "numeric")
# Labels of a tag column that make it a column of zeros and ones.
_TRUTH_WORDS = {"0", "1", "0.0", "1.0", "true", "false"}
# More tags than this of fewer rows than that on average: names, ids or sentences, not tags.
_MANY_TAGS = 1000
_ROWS_OF_A_TAG = 3

Reading = dict[str, Any]


def read_examples(
    path: str | Path,
    labels: Sequence[str] = (),
    *,
    delimiter: str | None = None,
    text: Sequence[str] = (),
    ignore: Sequence[str] = (),
    min_count: int | None = None,
    allow_unknown: bool = False,
) -> tuple[Dataset, Reading]:
    r"""Read rows with labels to learn from; the file is parsed once.

    Parameters
    ----------
    path : path-like
        CSV, TSV or Parquet; or ARFF, LIBSVM and the other formats of
        :func:`splmll.datasets.read_dataset`.
    labels : sequence of str
        For a table, one column that lists the tags of a row, or several columns of zeros and ones,
        or a prefix of such columns with a star (``is_*``). For ARFF, a Mulan XML file or the names
        of the labels, or nothing if the file itself says it. Otherwise nothing.
    delimiter : str, optional
        The separator between two tags; detected by default.
    text : sequence of str
        Columns that are texts, if this cannot be detected from their words.
    ignore : sequence of str
        Columns that say nothing about the labels, such as row numbers.
    min_count : int, optional
        Labels with fewer rows are left out; the rows are kept. By default all labels are kept, and
        a column with more than 1,000 tags in fewer than 3 rows on average is refused, because it is
        probably not a column of tags.
    allow_unknown : bool, default=False
        Whether columns of 0 and 1 may have empty cells for labels that are not known (NaN in Y).

    Returns
    -------
    data : Dataset
        Missing values are NaN or None.
    reading : dict
        How to read another file with labels like this one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.tagging import read_examples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "notes.csv"
    ...     _ = file.write_text("id,body,tags\n1,the pump leaks oil,pump;oil\n2,new pump,pump\n")
    ...     data, reading = read_examples(file, ["tags"], text=["body"], ignore=["id"])
    >>> data.label_names, data.column_kinds
    (['oil', 'pump'], {'body': 'text'})
    >>> reading
    {'label_column': 'tags', 'label_delimiter': ';', 'ignore': ['id']}
    """
    place = existing_file(path)
    labels, text, ignore = (
        [one_spelling(name) for name in each] for each in (labels, text, ignore)
    )
    if min_count is not None and min_count < 1:
        raise ValueError(f"min_count={min_count} must be an integer of at least 1.")
    if format_of(place) not in _TABLES:
        data, reading = _read_matrix(place, labels, [*text, *ignore])
        check_size(data.X, data.feature_names, place)
        return _without_rare_labels(data, min_count), reading
    table = read_columns(place)
    reading = reading_of(table, labels, delimiter, text, ignore)
    data = read_table(
        table,
        **{**reading, "ignore": list(ignore)},
        text=list(text),
        allow_missing=True,
        allow_unknown=allow_unknown,
    )
    check_size(data.X, data.feature_names, place)
    if "label_column" in reading and min_count is None:
        _check_tags(data, table, labels[0])
    return _without_gaps_in_texts(_without_rare_labels(data, min_count)), reading


def reading_of(
    table: Table,
    labels: Sequence[str],
    delimiter: str | None,
    text: Sequence[str],
    ignore: Sequence[str],
) -> Reading:
    """Return how a table stores its labels: the options of its reader.

    Parameters
    ----------
    table : Table
        All rows, or the first ones.
    labels, delimiter, text, ignore
        As in :func:`read_examples`.

    Returns
    -------
    reading : dict
    """
    if not labels:
        raise DatasetError(
            "name the column of tags with --labels COLUMN (in Python labels=['...']). The "
            f"columns are {listed(table.names)}.",
            path=table.path,
        )
    starred = len(labels) == 1 and labels[0].endswith("*")
    check_columns([*([] if starred else labels), *text, *ignore], table.names, table.path)
    left_out: Reading = {"ignore": list(ignore)} if ignore else {}
    if starred:
        return {"label_prefix": labels[0][:-1], **left_out}
    if len(labels) > 1 or _is_truth(table, labels[0]):
        return {"labels": list(labels), **left_out}
    found = _tag_delimiter(table, labels[0]) if delimiter is None else delimiter
    return {"label_column": labels[0], "label_delimiter": found, **left_out}


def read_alike(path: str | Path, reading: Reading, features: dict[str, str]) -> Dataset:
    """Read rows with labels from a file like the one that a tagger learned from.

    Parameters
    ----------
    path : path-like
        The file.
    reading : dict
        What :func:`read_examples` returned.
    features : dict of str to str
        Feature -> "text", "categorical" or "numeric"; empty for files that are not tables.

    Returns
    -------
    data : Dataset
    """
    place = existing_file(path)
    if format_of(place) not in _TABLES:
        return _matrix_alike(place, reading, features)
    _check_columns_known(place, features)
    table = read_columns(place)
    names = table.names
    labels = reading.get("labels") or [reading.get("label_column")]
    check_columns([*features, *(name for name in labels if name)], names, path)
    by_kind = {kind: [name for name in features if features[name] == kind] for kind in _KINDS}
    prefix = reading.get("label_prefix")
    others = [
        name
        for name in names
        if name not in features
        and name not in labels
        and not (prefix is not None and name.startswith(prefix))
    ]
    options: dict[str, Any] = {**reading, **by_kind, "ignore": others}
    data = read_table(table, **options, allow_missing=True)
    check_size(data.X, data.feature_names, place)
    return _without_gaps_in_texts(data)


def iterate_rows(
    path: str | Path,
    reading: Reading,
    features: dict[str, str],
    *,
    rows: int,
    names: Sequence[str] | None = None,
) -> Iterator[tuple[Any, Chunk | None]]:
    """Read rows without labels; a table is read in chunks.

    Parameters
    ----------
    path : path-like
        The file.
    reading, features : dict
        As in :func:`read_alike`.
    rows : int
        How many rows to read at once.
    names : sequence of str, optional
        The features that are wanted of a file that is not a table, in order; all by default.

    Yields
    ------
    X : DataFrame, ndarray or CSR array
        The features.
    chunk : Chunk or None
        The other columns of the table too.
    """
    place = existing_file(path)
    if format_of(place) not in _TABLES:
        data = _matrix_alike(place, reading, features)
        yield in_order(data.X, data.feature_names, names or data.feature_names, path), None
        return
    _check_columns_known(place, features)
    for chunk in read_chunks(place, rows):
        check_columns(features, chunk.names, path)
        columns = {name: read_feature(chunk, name, features[name], True)[0] for name in features}
        frame = pd.DataFrame(columns)
        check_size(frame, list(features), place, chunk.first)
        yield _fill_texts(frame, features), chunk


def is_reading(reading: Any) -> bool:
    """Whether a value is a valid reading, as :func:`read_examples` returns it.

    It decides how files of other people are read, and comes out of a model file. Labels are names:
    a file with names of labels is only read where the person who trains names it.

    Examples
    --------
    >>> from splmll.tagging.files import is_reading
    >>> is_reading({"labels": ["oil", "pump"]}), is_reading({"labels": "/etc/passwd"})
    (True, False)
    """
    kinds = {
        "labels": list,
        "label_prefix": str,
        "label_column": str,
        "label_delimiter": str | None,
        "ignore": list,
        "n_features": int,
        "n_labels": int,
    }
    return (
        isinstance(reading, dict)
        and all(name in kinds and isinstance(value, kinds[name]) for name, value in reading.items())
        and all(
            isinstance(name, str) for part in ("labels", "ignore") for name in reading.get(part, ())
        )
    )


def read_features(path: str | Path, features: dict[str, str]) -> tuple[pd.DataFrame, Table]:
    """Read all rows of a table, without its labels.

    Parameters
    ----------
    path : path-like
        A CSV, TSV or Parquet file.
    features : dict of str to str
        As in :func:`read_alike`.

    Returns
    -------
    X : DataFrame
        The features.
    table : Table
        All columns as they are in the file.
    """
    place = existing_file(path)
    if not features:
        raise DatasetError(
            "the model learned from a file of numbers without columns (ARFF, LIBSVM), but this "
            "needs a model that learned from a table; fit one to a CSV or Parquet file",
            path=place,
        )
    if format_of(place) not in _TABLES:
        raise _no_table(place, features)
    table = read_columns(place)
    check_columns(features, table.names, path)
    columns = {name: read_feature(table, name, features[name], True)[0] for name in features}
    return _fill_texts(pd.DataFrame(columns), features), table


def read_landmarks(path: str | Path | Table, landmarks: Sequence[str]) -> pd.DataFrame:
    """Read people's answers about the landmarks: 1, 0 or nothing.

    Parameters
    ----------
    path : path-like or Table
        A table with one column for each landmark.
    landmarks : sequence of str
        Their names.

    Returns
    -------
    answers : DataFrame
        One column for each landmark; NaN for empty cells.
    """
    table = path if isinstance(path, Table) else read_columns(path)
    check_columns(landmarks, table.names, table.path)
    answers = {}
    for name in landmarks:
        values, _ = read_numbers(table.columns[name])
        if values is None or not (pd.isna(values) | (values == 0) | (values == 1)).all():
            raise table.error(
                f"the column {name!r} has values other than 1, 0 and empty cells; write 1 if the "
                "label applies, 0 if it does not, and nothing if it is not known"
            )
        answers[name] = values
    return pd.DataFrame(answers)


def read_known_labels(
    table: Table, label_names: Sequence[str], reading: Reading, features: Collection[str]
) -> np.ndarray:
    """Return the known labels of a table; many may not be known.

    A label has a column of 1, 0 and empty cells, called ``label:`` and its name, or as in the
    training file, or by its name alone. In a column of tags, an empty cell means that nothing is
    known about the row.

    Parameters
    ----------
    table : Table
        Its columns.
    label_names : sequence of str
        All labels.
    reading : dict
        How the training file stores its labels, see :func:`read_examples`.
    features : collection of str
        Columns that are not labels, whatever they are called.

    Returns
    -------
    known : ndarray of shape (n_rows, n_labels)
        NaN where a label is not known.
    """
    n_rows = len(next(iter(table.columns.values())))
    known = np.full((n_rows, len(label_names)), np.nan)
    tag_column = reading.get("label_column")
    if tag_column in table.columns:
        place = {name: number for number, name in enumerate(label_names)}
        for row, tags in enumerate(read_tags(table, tag_column, reading.get("label_delimiter"))):
            if tags:
                known[row] = 0.0
                known[row, [place[tag] for tag in tags if tag in place]] = 1.0
    for number, name in enumerate(label_names):
        column = known_label_column(name, table.names, reading, features)
        if column is not None:
            values = read_label(table, column, allow_unknown=True)
            known[:, number] = np.where(np.isnan(values), known[:, number], values)
    return known


def known_label_column(
    label: str, columns: Collection[str], reading: Reading, features: Collection[str]
) -> str | None:
    """Return the column with the known values of a label; None if there is none."""
    prefix = reading.get("label_prefix", "")
    names = (f"{LABEL_PREFIX}{label}", f"{prefix}{label}", label)
    return next((name for name in names if name in columns and name not in features), None)


# Pieces -----------------------------------------------------------------------------------------


def _read_matrix(
    place: Path, labels: Sequence[str], columns: Sequence[str]
) -> tuple[Dataset, Reading]:
    """Read a file that contains only numbers and labels."""
    format = format_of(place)
    if columns:
        raise DatasetError(
            f"a file in the format {format} has no named columns; leave out --text and --ignore",
            path=place,
        )
    if labels and format != "arff":
        raise DatasetError(
            f"a file in the format {format} names its own labels; leave out --labels",
            path=place,
        )
    reading: Reading = {}
    if labels:
        is_file = len(labels) == 1 and labels[0].lower().endswith(".xml")
        reading["labels"] = labels[0] if is_file else list(labels)
    data = _with_gaps(place, reading)
    if reading:
        reading["labels"] = list(data.label_names)
    if format == "libsvm":
        # Another file may end with other features and labels.
        reading = {"n_features": data.X.shape[1], "n_labels": data.Y.shape[1]}
    return data, reading


def _matrix_alike(place: Path, reading: Reading, features: dict[str, str]) -> Dataset:
    """Read a file that is not a table; columns that have names are found by them."""
    learned_from_tags = "label_column" in reading or "label_prefix" in reading
    if features and (format_of(place) != "arff" or learned_from_tags):
        raise _no_table(place, features)
    data = _with_gaps(place, {key: reading[key] for key in reading if key != "ignore"})
    if not features and data.column_kinds:
        raise DatasetError(
            "the file has missing values or attributes that are not numbers, and the model learned "
            "from numbers alone; give a file like the one it learned from",
            path=place,
        )
    if features:
        matrix = in_order(data.X, data.feature_names, list(features), place)
        for name, kind in features.items():
            found = data.column_kinds.get(name, "numeric")
            if found != kind:
                raise DatasetError(
                    f"the attribute {name!r} is {found}, and the model learned it as {kind}; "
                    "declare it as in the file that the model learned from",
                    path=place,
                )
        if sparse.issparse(matrix):
            matrix = matrix.toarray()
        frame = named_columns(matrix, list(features))
        data = replace(data, X=frame, feature_names=list(features), column_kinds=dict(features))
    check_size(data.X, data.feature_names, place)
    return data


def _with_gaps(place: Path, reading: Reading) -> Dataset:
    """Read a file that is not a table; with missing values it has columns to fill, as a table."""
    if format_of(place) != "arff":
        return read_dataset(place, **reading)
    data = read_dataset(place, **reading, allow_missing=True)
    if data.column_kinds:
        return _without_gaps_in_texts(data)
    cells = data.X.data if sparse.issparse(data.X) else data.X
    if not np.isnan(cells).any():
        return data
    return replace(data, X=dense(data.X), column_kinds=dict.fromkeys(data.feature_names, "numeric"))


def _check_columns_known(place: Path, features: dict[str, str]) -> None:
    if not features:
        raise DatasetError(
            "the model learned from a file of numbers without columns (ARFF, LIBSVM), but this "
            "is a table; give a file in the format it learned from",
            path=place,
        )


def _no_table(place: Path, features: dict[str, str]) -> DatasetError:
    return DatasetError(
        f"the model needs a table with the columns {listed(features)}, but this is not a table; "
        "give a CSV or Parquet file",
        path=place,
    )


def _is_truth(table: Table, column: str) -> bool:
    """Whether a column holds zeros and ones, not tags."""
    words = {str(cell).strip().lower() for cell in table.columns[column].to_pylist()}
    return words <= _TRUTH_WORDS


def _tag_delimiter(table: Table, column: str) -> str | None:
    """Return the separator between two tags; None if cells are lists."""
    cells = [cell for cell in table.columns[column].to_pylist() if cell not in (None, "")]
    if any(isinstance(cell, list) for cell in cells):
        return None
    texts = [str(cell).strip() for cell in cells]
    if texts and all(cell.startswith("[") for cell in texts):
        return None
    there = (one for one in TAG_DELIMITERS if any(one in cell for cell in texts))
    return next(there, TAG_DELIMITERS[0])


def _check_tags(data: Dataset, table: Table, column: str) -> None:
    """Refuse a column that does not contain tags."""
    n_rows, n_tags = data.Y.shape
    given = int(data.Y.sum(dtype=np.int64))
    if n_tags <= _MANY_TAGS or given >= _ROWS_OF_A_TAG * n_tags:
        return
    others = [name for name in table.names if name != column]
    raise table.error(
        f"the column {column!r} has {n_tags:,} different tags in {n_rows:,} rows, and a tag is "
        f"in {given / n_tags:.1f} rows on average, but a model needs tags that occur repeatedly. "
        "If these are tags, leave out the rare ones with --min-count 5 (in Python min_count=5), "
        "or give the separator between two tags with --delimiter. If they are not, name another "
        f"column: {listed(others)}"
    )


def _without_rare_labels(data: Dataset, min_count: int | None) -> Dataset:
    if min_count is None:
        return data
    rows = label_counts(data.Y)
    kept = np.flatnonzero(rows >= min_count)
    if not len(kept):
        raise DatasetError(
            f"no label has {min_count} rows or more; the most frequent one has {rows.max()}. "
            "Give a smaller --min-count",
            path=data.name,
        )
    return replace(data, Y=data.Y[:, kept], label_names=[data.label_names[int(k)] for k in kept])


def _without_gaps_in_texts(data: Dataset) -> Dataset:
    if not isinstance(data.X, pd.DataFrame):
        return data
    return replace(data, X=_fill_texts(data.X, data.column_kinds))


def _fill_texts(frame: pd.DataFrame, kinds: dict[str, str]) -> pd.DataFrame:
    """Return the table with missing texts replaced by empty ones."""
    texts = {name: frame[name].fillna("") for name in frame.columns if kinds[name] == "text"}
    return frame.assign(**texts)
