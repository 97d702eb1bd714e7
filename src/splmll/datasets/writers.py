"""Write a data set as CSV, Parquet, LIBSVM or ARFF, so that the readers give it back.

Every file is written under a temporary name and moved into place when it is complete, so that a
failure leaves the previous file.
"""

from __future__ import annotations

import csv
import json
import os
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.arrays import dense
from splmll.datasets.checks import check_finite
from splmll.datasets.dataset import Dataset
from splmll.datasets.libsvm import NAMES_PREFIX
from splmll.datasets.sparse_rows import check_cells
from splmll.datasets.text_files import PathLike, short
from splmll.exceptions import DatasetError

_SUFFIXES = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".arff": "arff",
}


def write_dataset(
    dataset: Dataset, path: PathLike, format: str | None = None, *, label_prefix: str = "label:"
) -> Path:
    """Write a data set to a file.

    Parameters
    ----------
    dataset : Dataset
        The data set to write. Its standard split and its name are not kept: write the parts
        separately, and the readers name them after their files.
    path : path-like
        The file to write; an existing file is replaced.
    format : {"csv", "parquet", "libsvm", "arff"}, optional
        By default, the suffix decides: ``.csv``; ``.parquet`` or ``.pq``; ``.libsvm``, ``.svm`` or
        ``.svmlight``; ``.arff``.
    label_prefix : str, default="label:"
        Prefix of the names of the label columns in CSV and Parquet; no feature name may start with
        it.

    Returns
    -------
    Path
        The file that was written. ARFF comes with an XML file of the label names, and has the
        number of labels in its relation name, so that it is both a Mulan and a MEKA file.

    Raises
    ------
    DatasetError
        If the format cannot represent the data set; nothing is written then.

    Notes
    -----
    Only ARFF supports unknown labels (NaN). LIBSVM supports only numbers; the names go into a
    comment in its first line, and labels are written as their column numbers from 0. ARFF keeps
    sparse features sparse; CSV and Parquet make them dense. Categories are written as text; in
    ARFF, those that are 0/1, yes/no or true/false are read back as numbers. CSV has no types: a
    text column may be read back as categories, or as numbers if it contains nothing else.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from splmll.datasets.arff import read_arff
    >>> from splmll.datasets.dataset import Dataset
    >>> from splmll.datasets.writers import write_dataset
    >>> toy = Dataset(np.array([[0.5], [2.0]]), np.array([[1], [0]]), ["x 1"], ["it's"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_dataset(toy, pathlib.Path(folder) / "toy.arff")
    ...     back = read_arff(path)
    >>> back.feature_names, back.label_names, back.X.ravel()
    (['x 1'], ["it's"], array([0.5, 2. ]))
    """
    target = Path(path)
    if format is None:
        format = _SUFFIXES.get(target.suffix.lower())
    if format not in _WRITERS:
        raise DatasetError(
            f"no format is known for this name; pass format={'|'.join(_WRITERS)} or use one of "
            f"the suffixes {' '.join(_SUFFIXES)}",
            path=path,
        )
    _check_content(dataset, target, format)
    _WRITERS[format](dataset, target, label_prefix)
    return target


def _check_content(dataset: Dataset, path: Path, format: str) -> None:
    if min(*dataset.X.shape, *dataset.Y.shape) == 0:
        raise DatasetError(
            "the data set has no rows, no features or no labels; there is nothing to read back",
            path=path,
        )
    _encode("".join([dataset.name, *dataset.feature_names, *dataset.label_names]), path)
    cells = dataset.Y.data if sparse.issparse(dataset.Y) else np.asarray(dataset.Y)
    cells = cells.astype(np.float64)
    unknown = np.isnan(cells)
    if not (unknown | (cells == 0) | (cells == 1)).all():
        raise DatasetError("a label is not 0 or 1; correct Y", path=path)
    if unknown.any() and format != "arff":
        raise DatasetError(
            "some labels are unknown (NaN); write ARFF, which supports them", path=path
        )
    if not isinstance(dataset.X, pd.DataFrame):
        check_finite(dataset.X, "X", path, allow_missing=format != "libsvm")
        return
    for position, kind in enumerate(_kinds(dataset)):
        if kind == "numeric":
            column = dataset.X.iloc[:, position].to_numpy(dtype=np.float64, na_value=np.nan)
            check_finite(column[:, None], "X", path, allow_missing=format != "libsvm")


def _kinds(dataset: Dataset) -> list[str]:
    """Return the kind of every feature; the values decide where ``column_kinds`` is silent."""
    if not isinstance(dataset.X, pd.DataFrame):
        return ["numeric"] * dataset.X.shape[1]
    kinds = []
    for position, name in enumerate(dataset.feature_names):
        column = dataset.X.iloc[:, position]
        if isinstance(column.dtype, pd.CategoricalDtype):
            kind = "categorical"
        elif pd.api.types.is_numeric_dtype(column.dtype):  # bool as well
            kind = "numeric"
        else:
            kind = "text"
        kinds.append(dataset.column_kinds.get(name, kind))
    return kinds


# --- CSV and Parquet --------------------------------------------------------------------------


def _write_csv(dataset: Dataset, path: Path, label_prefix: str) -> None:
    table = _table(dataset, path, label_prefix)
    for name in table.columns:
        if name != name.strip():
            raise DatasetError(
                f"the column {short(name)} would lose the spaces around its name in CSV; rename "
                "it or write Parquet",
                path=path,
            )
    # Names and texts always in quotes: then no character in them can end a cell.
    text = table.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    _write_files({path: _encode(text, path)})


def _write_parquet(dataset: Dataset, path: Path, label_prefix: str) -> None:
    table = _table(dataset, path, label_prefix)

    def write(file: BinaryIO) -> None:
        table.to_parquet(file, index=False)

    _write_files({path: write})


def _table(dataset: Dataset, path: Path, label_prefix: str) -> pd.DataFrame:
    for name in dataset.feature_names:
        if not name or name.startswith(label_prefix):
            raise DatasetError(
                f"the feature name {short(name)} is empty or begins like a label "
                f"({label_prefix!r}); rename it or pass another label_prefix",
                path=path,
            )
    if "" in dataset.label_names:
        raise DatasetError("a label has an empty name; rename it", path=path)
    n_rows = dataset.X.shape[0]
    check_cells(n_rows, dataset.X.shape[1] + dataset.Y.shape[1], path)
    X = dataset.X
    if isinstance(X, pd.DataFrame):
        columns: dict[str, Any] = {}
        for position, (name, kind) in enumerate(zip(dataset.feature_names, _kinds(dataset))):
            column = X.iloc[:, position]
            if kind == "numeric":
                columns[name] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            else:
                gaps = column.isna().tolist()
                texts = [None if gap else str(v) for v, gap in zip(column.tolist(), gaps)]
                _encode("".join(text or "" for text in texts), path)
                columns[name] = texts
        features = pd.DataFrame(columns)
    else:
        features = pd.DataFrame(dense(X), columns=pd.Index(dataset.feature_names))
    names = [label_prefix + name for name in dataset.label_names]
    labels = pd.DataFrame(dense(dataset.Y).astype(np.uint8), columns=pd.Index(names))
    return pd.concat([features, labels], axis=1)


# --- LIBSVM -----------------------------------------------------------------------------------


def _write_libsvm(dataset: Dataset, path: Path, label_prefix: str) -> None:
    if set(_kinds(dataset)) != {"numeric"}:
        raise DatasetError(
            "LIBSVM holds numbers only; encode the other columns first, or write ARFF, CSV or "
            "Parquet",
            path=path,
        )
    if isinstance(dataset.X, pd.DataFrame):
        X = sparse.csr_array(dataset.X.to_numpy(dtype=np.float64))
    else:
        X = sparse.csr_array(dataset.X)
    names = {"features": list(dataset.feature_names), "labels": list(dataset.label_names)}
    lines = [NAMES_PREFIX + json.dumps(names)]
    for labels, features in zip(_stored(sparse.csr_array(dataset.Y)), _stored(X)):
        parts = [",".join(str(column) for column, _ in labels)] if labels else []
        parts += [f"{column + 1}:{_number(value)}" for column, value in features]
        # A blank line would be no row, so a row without anything says that it has a zero.
        lines.append(" ".join(parts) or "1:0")
    _write_files({path: _encode("\n".join(lines) + "\n", path)})


def _stored(matrix: Any) -> Iterator[list[tuple[int, float]]]:
    """Yield the columns and values of what every row stores, in order and without zeros."""
    matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    columns, values = matrix.indices.tolist(), matrix.data.tolist()
    for start, stop in pairwise(matrix.indptr.tolist()):
        yield list(zip(columns[start:stop], values[start:stop]))


def _number(value: float) -> str:
    """Return the shortest text that reads back as the same float; NaN is ``?``."""
    value = float(value)
    if value != value:
        return "?"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


# --- ARFF -------------------------------------------------------------------------------------

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]*")
_ESCAPES = {"\\": "\\\\", "'": "\\'", '"': '\\"', "%": "\\%", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _write_arff(dataset: Dataset, path: Path, label_prefix: str) -> None:
    if path.suffix == ".xml":
        raise DatasetError("the XML file of the labels needs this name; use .arff", path=path)
    both = set(dataset.feature_names) & set(dataset.label_names)
    if both:
        raise DatasetError(
            f"{short(min(both))} names a feature and a label; rename one of the two", path=path
        )
    for name in dataset.label_names:
        if _NO_XML.search(name):
            raise DatasetError(
                f"the label name {short(name)} contains a character that XML cannot represent; "
                "rename it",
                path=path,
            )
    kinds = _kinds(dataset)
    relation = f"{dataset.name}: -C -{len(dataset.label_names)}"
    lines = [f"@relation {_quote(relation, always=True)}", ""]
    for position, (name, kind) in enumerate(zip(dataset.feature_names, kinds)):
        lines.append(f"@attribute {_quote(name)} {_arff_type(dataset, position, kind)}")
    lines += [f"@attribute {_quote(name)} {{0,1}}" for name in dataset.label_names]
    lines += ["", "@data"]
    lines += _sparse_rows(dataset) if sparse.issparse(dataset.X) else _dense_rows(dataset, kinds)
    labels = [f"  <label name={quoteattr(name)}/>" for name in dataset.label_names]
    xml = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<labels xmlns="http://mulan.sourceforge.net/labels">',
        *labels,
        "</labels>",
    ]
    _write_files(
        {
            path.with_suffix(".xml"): _encode("\n".join(xml) + "\n", path),
            path: _encode("\n".join(lines) + "\n", path),
        }
    )


def _arff_type(dataset: Dataset, position: int, kind: str) -> str:
    if kind == "numeric":
        return "numeric"
    if kind == "text":
        return "string"
    return "{" + ",".join(_quote(value) for value in _categories(dataset, position)) + "}"


def _categories(dataset: Dataset, position: int) -> list[str]:
    column = dataset.X.iloc[:, position]
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = [str(value) for value in column.cat.categories]
    else:
        categories = sorted({str(value) for value in column.dropna()})
    if not categories or len(set(categories)) < len(categories):
        raise DatasetError(
            f"the categories of {short(dataset.feature_names[position])} are missing or "
            "identical as text; rename them",
            path=dataset.name,
        )
    return categories


def _quote(name: str, *, always: bool = False) -> str:
    if not always and _PLAIN_NAME.fullmatch(name):
        return name
    return "'" + "".join(_escape(character) for character in name) + "'"


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character < " " or "\x7f" <= character <= "\x9f":
        return f"\\u{ord(character):04x}"
    return character


def _dense_rows(dataset: Dataset, kinds: Sequence[str]) -> list[str]:
    labels = [[_number(cell) for cell in row] for row in dense(dataset.Y).tolist()]
    if not isinstance(dataset.X, pd.DataFrame):
        cells = [[_number(cell) for cell in row] for row in np.asarray(dataset.X).tolist()]
    else:
        columns = []
        for position, kind in enumerate(kinds):
            column = dataset.X.iloc[:, position]
            write = _number if kind == "numeric" else _text
            missing = column.isna().to_numpy()
            columns.append(["?" if gap else write(v) for v, gap in zip(column.tolist(), missing)])
        cells = [list(row) for row in zip(*columns)]
    return [",".join(row + marks) for row, marks in zip(cells, labels)]


def _text(value: object) -> str:
    return _quote(str(value))


def _sparse_rows(dataset: Dataset) -> list[str]:
    width = dataset.X.shape[1]
    rows = []
    for features, labels in zip(
        _stored(sparse.csr_array(dataset.X)), _stored(sparse.csr_array(dataset.Y))
    ):
        cells = features + [(column + width, value) for column, value in labels]
        rows.append("{" + ",".join(f"{column} {_number(value)}" for column, value in cells) + "}")
    return rows


# --- files ------------------------------------------------------------------------------------


def _encode(text: str, path: Path) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise DatasetError(
            f"a name or text contains {short(text[problem.start])}, half of a character pair "
            "that no file can contain; rename it",
            path=path,
        ) from None


def _write_files(contents: dict[Path, bytes | Callable[[BinaryIO], None]]) -> None:
    """Write all files beside their places, then move each to its place."""
    parts = {path: path.with_name(f".{path.name}.{uuid.uuid4().hex}.part") for path in contents}
    try:
        for path, content in contents.items():
            with open(parts[path], "xb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    content(file)
        for path, part in parts.items():
            os.replace(part, path)
    except OSError as problem:
        raise DatasetError(
            f"the file cannot be written ({problem.strerror or problem}); check that its folder "
            "exists and can be written to",
            path=next(reversed(contents)),
        ) from problem
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


_WRITERS: dict[str, Callable[[Dataset, Path, str], None]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "libsvm": _write_libsvm,
    "arff": _write_arff,
}
