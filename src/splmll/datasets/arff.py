"""Read multi-label ARFF files of Mulan and MEKA, dense or sparse.

The two differ only in how they name the labels, which ``label_attributes`` finds out.

Why no library: SciPy 1.17 reads no sparse rows. liac-arff 2.4 needs 1.3 to 2.2 times the processor
time on the training files of bibtex, delicious, scene, tmc2007 and yeast (best of three runs) and
takes repeated and decreasing indexes without a word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.datasets.checks import LABEL_TYPE
from splmll.datasets.compressed import unpacked_name
from splmll.datasets.dataset import Dataset
from splmll.datasets.label_attributes import label_mask
from splmll.datasets.sparse_rows import check_cells, increases_within_rows, make_csr, row_index
from splmll.datasets.text_files import PathLike, finite_number, read_text, short, split_lines
from splmll.exceptions import DatasetError


def read_arff(
    path: PathLike,
    labels: PathLike | Sequence[str] | None = None,
    *,
    label_count: int | None = None,
    encoding: str | None = None,
    name: str | None = None,
    allow_unknown: bool = False,
    allow_missing: bool = False,
) -> Dataset:
    r"""Read a Mulan or MEKA ARFF file.

    The labels are, in this order of precedence: those of `labels`; the first or last `label_count`
    attributes; those of an XML file next to the ARFF file with the same stem, if necessary without
    a trailing ``-train`` or ``-test`` (Mulan); those counted by ``-C n`` in the relation name
    (MEKA). If there are both, the XML file wins, with a warning if the count means other
    attributes; if it means another number of attributes, it is an error.

    Parameters
    ----------
    path : path-like
        The ARFF file; it may be compressed (`.gz`, `.bz2`, `.xz`).
    labels : path-like or sequence of str, optional
        A Mulan XML file, or the names of the label attributes.
    label_count : int, optional
        MEKA's count: n > 0 makes the first n attributes labels, n < 0 the last -n.
    encoding : str, optional
        Encoding of the file. Without it UTF-8 is tried first, then Latin-1.
    name : str, optional
        Name of the data set; the stem of the file name if not given.
    allow_unknown : bool, default=False
        Whether a label may be ``?``. It becomes NaN, and `Y` a dense float array.
    allow_missing : bool, default=False
        Whether a feature may be ``?``. It becomes NaN (a missing value in text columns).

    Returns
    -------
    Dataset
        Labels and features are in the order of their attributes in the ARFF file, whatever the
        order in the XML file. Dense rows give arrays, sparse rows CSR arrays. If an attribute is
        text, or nominal with values other than 0/1, yes/no or true/false, `X` is a DataFrame and
        ``column_kinds`` gives the kind of every column.

    Raises
    ------
    DatasetError
        If anything in the files is invalid; nothing is read then.

    Notes
    -----
    A value missing from a sparse row is 0, the first value of a nominal attribute, or an empty
    text. Outside quotes, ``%`` starts a comment, even within a line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from splmll.datasets.arff import read_arff
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "songs.arff"
    ...     _ = path.write_text(
    ...         "@relation 'songs: -C 2'\n"
    ...         "@attribute calm {0,1}\n"
    ...         "@attribute sad {0,1}\n"
    ...         "@attribute tempo numeric\n"
    ...         "@data\n"
    ...         "1,0,96.5\n"
    ...         "1,1,60\n"
    ...     )
    ...     songs = read_arff(path)
    >>> songs.label_names, songs.feature_names
    (['calm', 'sad'], ['tempo'])
    >>> songs.Y
    array([[1, 0],
           [1, 1]])
    """
    lines = split_lines(read_text(path, encoding))
    relation, attributes, first_row = _read_header(lines, path)
    names = [attribute.name for attribute in attributes]
    is_label = label_mask(path, names, _relation_name(relation), labels, label_count)
    texts = [""]  # position 0 is what sparse rows leave out
    columns = [
        _make_column(attribute, bool(label), texts, allow_unknown, allow_missing, path)
        for attribute, label in zip(attributes, is_label)
    ]
    rows = _Rows(path)
    for number, line in enumerate(lines[first_row:], start=first_row + 1):
        line = line.strip()
        if line and line[0] != "%":
            rows.lines.append(line)
            rows.numbers.append(number)
    if not rows.lines:
        raise DatasetError(
            "no data rows; add at least one row after the @data line", path=path, line=len(lines)
        )
    cells: Any
    if rows.lines[0].startswith("{"):
        cells = _read_sparse(rows, columns)
    else:
        cells = _read_dense(rows, columns)
    X, column_kinds = _features(cells, columns, is_label, texts, path)
    return Dataset(
        X=X,
        Y=_labels(cells, is_label, path),
        feature_names=[a.name for a, label in zip(attributes, is_label) if not label],
        label_names=[a.name for a, label in zip(attributes, is_label) if label],
        name=unpacked_name(path).stem if name is None else name,
        column_kinds=column_kinds,
    )


# --- header -----------------------------------------------------------------------------------

_SINGLE = r"'((?:[^'\\]|\\.)*)'"
_DOUBLE = r'"((?:[^"\\]|\\.)*)"'
_KEYWORD = re.compile(r"@([A-Za-z]+)\s*(.*)")
_NAME = re.compile(rf"(?:{_SINGLE}|{_DOUBLE}|([^\s{{}}%'\"][^\s{{}}%]*))\s*")
_NOMINAL = re.compile(rf"\s*(?:{_SINGLE}|{_DOUBLE}|([^\s,{{}}%'\"][^\s,{{}}%]*))\s*([,}}])")
# Half of a surrogate pair is no character, so it cannot be written this way.
_ESCAPE = re.compile(r"\\(?:u((?![dD][89a-fA-F])[0-9a-fA-F]{4})|(.))")
_NUMERIC_TYPES = ("numeric", "real", "integer")


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: str  # "numeric", "nominal" or "string"
    values: tuple[str, ...]
    line: int


def _unquote(single: str | None, double: str | None, bare: str | None) -> str:
    quoted = single if single is not None else double
    if quoted is None:
        return bare or ""
    if "\\" not in quoted:
        return quoted
    return _ESCAPE.sub(_unescape, quoted)


def _unescape(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return {"n": "\n", "r": "\r", "t": "\t"}.get(match[2], match[2])


def _is_comment(rest: str) -> bool:
    return not rest or rest[0] == "%"


def _read_header(lines: list[str], path: PathLike) -> tuple[str, list[_Attribute], int]:
    """Return the relation name, the attributes and the position of the first data line."""
    if not any(line.strip() for line in lines):
        raise DatasetError("the file is empty; check that it is the right file", path=path)
    relation = ""
    attributes: list[_Attribute] = []
    lines_of_names: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        line = line.strip()
        if _is_comment(line):
            continue
        match = _KEYWORD.fullmatch(line)
        keyword = match[1].lower() if match else ""
        if match is None or keyword not in ("relation", "attribute", "data"):
            raise DatasetError(
                f"{short(line)} is not an ARFF declaration; lines before @data begin with "
                "@relation, @attribute or %",
                path=path,
                line=number,
            )
        if keyword == "relation":
            relation = match[2]
        elif keyword == "attribute":
            attribute = _read_attribute(match[2], path, number)
            if attribute.name in lines_of_names:
                raise DatasetError(
                    f"the attribute {short(attribute.name)} appears twice, first in line "
                    f"{lines_of_names[attribute.name]}; rename one of the two",
                    path=path,
                    line=number,
                )
            lines_of_names[attribute.name] = number
            attributes.append(attribute)
        else:
            if not _is_comment(match[2]):
                raise DatasetError(
                    f"{short(match[2])} follows @data; begin the rows on the next line",
                    path=path,
                    line=number,
                )
            if not attributes:
                raise DatasetError(
                    "no @attribute line before @data; declare every column",
                    path=path,
                    line=number,
                )
            return relation, attributes, number
    raise DatasetError(
        "no @data line; the file is cut off or is not ARFF", path=path, line=len(lines)
    )


def _read_attribute(declaration: str, path: PathLike, line: int) -> _Attribute:
    def fail(message: str) -> DatasetError:
        return DatasetError(message, path=path, line=line)

    match = _NAME.match(declaration)
    if match is None:
        raise fail(
            "the attribute has no readable name; quote names that contain spaces, quotes, braces "
            "or %"
        )
    name = _unquote(match[1], match[2], match[3])
    rest = declaration[match.end() :]
    if rest.startswith("{"):
        return _Attribute(name, "nominal", _read_values(rest, fail), line)
    kind = rest.partition("%")[0].strip().lower()
    if kind in _NUMERIC_TYPES:
        return _Attribute(name, "numeric", (), line)
    if kind == "string":
        return _Attribute(name, "string", (), line)
    raise fail(
        f"the attribute {short(name)} has the type {short(kind)}, which is not supported; use "
        "numeric, string or a set such as {0,1}, and quote names that contain spaces"
    )


def _read_values(declaration: str, fail: Callable[[str], DatasetError]) -> tuple[str, ...]:
    values: list[str] = []
    position = 1
    closed = False
    while not closed:
        match = _NOMINAL.match(declaration, position)
        if match is None:
            raise fail(
                "the set of values cannot be read; write it as {a,b,'c d'}, closed by a brace "
                "on the same line"
            )
        values.append(_unquote(match[1], match[2], match[3]))
        position = match.end()
        closed = match[4] == "}"
    if not _is_comment(declaration[position:].strip()):
        raise fail(f"{short(declaration[position:].strip())} follows the set of values; remove it")
    if len(set(values)) != len(values):
        raise fail("a value appears twice in the set of values; remove one of the two")
    return tuple(values)


def _relation_name(relation: str) -> str:
    match = re.match(rf"(?:{_SINGLE}|{_DOUBLE}|([^%]*))", relation)
    return _unquote(match[1], match[2], match[3]) if match else ""


# --- what the cells of a column mean ----------------------------------------------------------

_WORDS = {"no": 0.0, "false": 0.0, "n": 0.0, "f": 0.0, "yes": 1.0, "true": 1.0, "y": 1.0, "t": 1.0}
_WORD_PAIRS = ({"no", "yes"}, {"false", "true"}, {"n", "y"}, {"f", "t"})


@dataclass
class _Column:
    """How the tokens of one attribute become numbers.

    Every cell is kept as a float: the number itself, 0 or 1, the position of a category, or
    the position of a text in a list; NaN where it is missing.
    """

    name: str
    kind: str  # "numeric", "categorical" or "text"
    decode: Callable[[str], float]
    missing_ok: bool
    is_label: bool
    plain: bool = False  # the cell is the number as it is written, ...
    binary: bool = False  # ... which must be 0 or 1
    default: float = 0.0  # what a sparse row leaves out
    values: tuple[str, ...] = ()

    def cell(self, token: str, quoted: bool) -> float:
        if token == "?" and not quoted:
            if self.missing_ok:
                return math.nan
            if self.is_label:
                raise ValueError(
                    "a label is unknown (?); pass allow_unknown=True to read it as NaN"
                )
            raise ValueError("a value is missing (?); pass allow_missing=True to read it as NaN")
        return self.decode(token)


def _make_column(
    attribute: _Attribute,
    is_label: bool,
    texts: list[str],
    allow_unknown: bool,
    allow_missing: bool,
    path: PathLike,
) -> _Column:
    missing_ok = allow_unknown if is_label else allow_missing
    if attribute.kind == "numeric":
        decode = _decode_binary({}) if is_label else finite_number
        return _Column(
            attribute.name, "numeric", decode, missing_ok, is_label, plain=True, binary=is_label
        )
    codes = _binary_codes(attribute.values, is_label)
    if codes is not None:
        plain = all(v.lower() not in _WORDS and float(v) == code for v, code in codes.items())
        return _Column(
            attribute.name,
            "numeric",
            _decode_binary(codes),
            missing_ok,
            is_label,
            plain=plain,
            binary=True,
            default=codes[attribute.values[0]],
        )
    if is_label:
        what = "text" if attribute.kind == "string" else "nominal with other values"
        raise DatasetError(
            f"the label {short(attribute.name)} is {what}; a label must be numeric 0/1, or "
            "nominal {0,1}, {-1,1}, {NO,YES} or {FALSE,TRUE}",
            path=path,
            line=attribute.line,
        )
    if attribute.kind == "string":

        def keep(token: str) -> float:
            texts.append(token)
            return float(len(texts) - 1)

        return _Column(attribute.name, "text", keep, missing_ok, is_label)
    positions = {value: float(i) for i, value in enumerate(attribute.values)}

    def position(token: str) -> float:
        if token not in positions:
            raise ValueError(_outside(token, positions))
        return positions[token]

    return _Column(
        attribute.name, "categorical", position, missing_ok, is_label, values=attribute.values
    )


def _binary_codes(values: tuple[str, ...], is_label: bool) -> dict[str, float] | None:
    """Map the two values of a nominal attribute to 0 and 1, if that is what they mean."""
    words = {value.lower() for value in values}
    if len(values) == 2 and words in _WORD_PAIRS:
        return {value: _WORDS[value.lower()] for value in values}
    try:
        numbers = [finite_number(value) for value in values]
    except ValueError:
        return None
    meant = set(numbers)
    # A label that never (or always) holds may be declared with its one value alone.
    if meant == {0.0, 1.0} or (is_label and meant and meant < {0.0, 1.0}):
        return dict(zip(values, numbers))
    if is_label and meant == {-1.0, 1.0}:
        return {value: float(number > 0) for value, number in zip(values, numbers)}
    return None


def _decode_binary(codes: dict[str, float]) -> Callable[[str], float]:
    # Programs write 1.0 for the value 1, so numbers are also compared by value.
    numbers = {}
    for value, code in codes.items():
        if value.lower() not in _WORDS:
            numbers[finite_number(value)] = code
    if not codes:
        numbers = {0.0: 0.0, 1.0: 1.0}

    def decode(token: str) -> float:
        code = codes.get(token)
        if code is None and numbers:
            try:
                code = numbers.get(finite_number(token))
            except ValueError:
                code = None
        if code is None:
            if codes:
                raise ValueError(_outside(token, codes))
            raise ValueError(f"the label value {short(token)} is not 0 or 1; correct the value")
        return code

    return decode


def _outside(token: str, values: dict[str, float]) -> str:
    some = ",".join(list(values)[:6]) + (",..." if len(values) > 6 else "")
    return (
        f"{short(token)} is not among the declared values {short('{' + some + '}')}; "
        "correct the row or add the value to the @attribute line"
    )


# --- rows -------------------------------------------------------------------------------------

_BLOCK = 256  # rows that are converted at once; small enough that one odd row slows few others
_FIELD = re.compile(rf"\s*(?:{_SINGLE}\s*|{_DOUBLE}\s*|([^,%]*))([,%]|$)")
_EMPTY_SPARSE = re.compile(r"\{\s*\}\s*(?:%.*)?")
_PAIR = re.compile(
    rf"\s*([^\s,{{}}'\"%]+)\s+(?:{_SINGLE}|{_DOUBLE}|([^\s,}}%'\"][^\s,}}%]*))\s*([,}}])"
)
_PLAIN_PAIRS = re.compile(r"[0-9]+\s+[^\s,]+\s*(?:,\s*[0-9]+\s+[^\s,]+\s*)*")
# With any of these a block needs the careful reader.
_SPECIAL = re.compile(r"['\"?%_\\]")


@dataclass
class _Rows:
    """The data lines that are neither blank nor comments, with their line numbers."""

    path: PathLike
    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def error(self, row: int, message: str) -> DatasetError:
        return DatasetError(message, path=self.path, line=self.numbers[row])

    def blocks(self) -> Iterator[range]:
        for start in range(0, len(self.lines), _BLOCK):
            yield range(start, min(start + _BLOCK, len(self.lines)))


def _is_simple(text: str) -> bool:
    return text.isascii() and _SPECIAL.search(text) is None


def _read_dense(rows: _Rows, columns: list[_Column]) -> np.ndarray:
    width = len(columns)
    blocks = []
    plain = all(column.plain for column in columns)
    binary = np.array([column.binary for column in columns])
    for block in rows.blocks():
        cells = _dense_block(rows.lines[block.start : block.stop], width, binary) if plain else None
        if cells is None:
            cells = np.array([_dense_row(rows, row, columns) for row in block], dtype=np.float64)
        blocks.append(cells)
    return np.concatenate(blocks)


def _dense_block(lines: list[str], width: int, binary: np.ndarray) -> np.ndarray | None:
    """Convert rows of bare numbers at once; None if they are anything else."""
    text = ",".join(lines)
    if not _is_simple(text) or any(line.count(",") != width - 1 for line in lines):
        return None
    try:
        cells = np.array(list(map(float, text.split(",")))).reshape(len(lines), width)
    except ValueError:
        return None
    marks = cells[:, binary]
    if not np.isfinite(cells).all() or not ((marks == 0) | (marks == 1)).all():
        return None
    return cells


def _dense_row(rows: _Rows, row: int, columns: list[_Column]) -> list[float]:
    line = rows.lines[row]
    if line.startswith("{"):
        raise rows.error(
            row, "the row is sparse but the rows before are dense; write all rows in one way"
        )
    tokens: list[tuple[str, bool]] = []
    if _SPECIAL.search(line) is None:
        tokens = [(token.strip(), False) for token in line.split(",")]
    else:
        position, more = 0, True
        while more:
            match = _FIELD.match(line, position)
            bare = match[3].strip() if match and match[3] is not None else None
            if match is None or (bare is not None and bare.startswith(("'", '"'))):
                raise rows.error(
                    row, "a quoted value is not closed or is followed by more; correct the quotes"
                )
            tokens.append((_unquote(match[1], match[2], bare), bare is None))
            position = match.end()
            more = match[4] == ","
    if len(tokens) != len(columns):
        raise rows.error(
            row,
            f"the row has {len(tokens)} values, expected {len(columns)}, one for every "
            "attribute; complete or remove it",
        )
    try:
        return [column.cell(token, quoted) for column, (token, quoted) in zip(columns, tokens)]
    except ValueError as problem:
        raise rows.error(row, str(problem)) from None


def _read_sparse(rows: _Rows, columns: list[_Column]) -> Any:
    plain = np.array([column.plain for column in columns])
    binary = np.array([column.binary for column in columns])
    lengths: list[int] = []
    indices, values = [], []
    for block in rows.blocks():
        found = _sparse_block(rows.lines[block.start : block.stop], plain, binary)
        if found is None:
            counts: list[int] = []
            block_indices: list[int] = []
            block_values: list[float] = []
            for row in block:
                before = len(block_indices)
                _sparse_row(rows, row, columns, block_indices, block_values)
                counts.append(len(block_indices) - before)
            found = counts, np.array(block_indices, np.int64), np.array(block_values, np.float64)
        lengths += found[0]
        indices.append(found[1])
        values.append(found[2])
    cells = make_csr(lengths, np.concatenate(indices), np.concatenate(values), len(columns))
    defaults = np.array([column.default for column in columns])
    if defaults.any():
        cells = _fill_defaults(cells, defaults, rows.path)
    cells.eliminate_zeros()
    return cells


def _sparse_block(
    lines: list[str], plain: np.ndarray, binary: np.ndarray
) -> tuple[list[int], np.ndarray, np.ndarray] | None:
    """Convert rows of index and bare number at once; None if they are anything else."""
    inner = [line[1:-1].strip() for line in lines if line[0] == "{" and line[-1] == "}"]
    if len(inner) < len(lines):
        return None
    lengths = [pairs.count(",") + 1 if pairs else 0 for pairs in inner]
    text = ",".join([pairs for pairs in inner if pairs])
    if not text:
        return lengths, np.zeros(0, np.int64), np.zeros(0, np.float64)
    # Only where every pair has two parts do all parts alternate between index and value.
    if not _is_simple(text) or _PLAIN_PAIRS.fullmatch(text) is None:
        return None
    parts = text.replace(",", " ").split()
    try:
        indices = np.array(list(map(int, parts[::2])), dtype=np.int64)
        values = np.array(list(map(float, parts[1::2])))
    except (ValueError, OverflowError):
        return None
    if indices.min() < 0 or indices.max() >= len(plain) or not plain[indices].all():
        return None
    marks = values[binary[indices]]
    if (
        not np.isfinite(values).all()
        or not ((marks == 0) | (marks == 1)).all()
        or not increases_within_rows(indices, lengths)
    ):
        return None
    return lengths, indices, values


def _sparse_row(
    rows: _Rows, row: int, columns: list[_Column], indices: list[int], values: list[float]
) -> None:
    line = rows.lines[row]
    if not line.startswith("{"):
        raise rows.error(
            row, "the row is dense but the rows before are sparse; write all rows in one way"
        )
    if _EMPTY_SPARSE.fullmatch(line):
        return
    position, previous, more = 1, -1, True
    while more:
        match = _PAIR.match(line, position)
        if match is None:
            raise rows.error(
                row,
                f"expected 'index value' at {short(line[position:].strip())}; write sparse rows "
                "as {0 1.5, 7 2}, closed by a brace",
            )
        try:
            index = row_index(match[1], previous, len(columns))
            cell = columns[index].cell(_unquote(match[2], match[3], match[4]), match[4] is None)
        except ValueError as problem:
            raise rows.error(row, str(problem)) from None
        indices.append(index)
        values.append(cell)
        previous, position = index, match.end()
        more = match[5] == ","
    if not _is_comment(line[position:].strip()):
        raise rows.error(
            row, f"{short(line[position:].strip())} follows the closing brace; remove it"
        )


def _fill_defaults(cells: sparse.csr_array, defaults: np.ndarray, path: PathLike) -> Any:
    """Write out the columns whose left-out value is 1, not 0."""
    affected = np.flatnonzero(defaults)
    check_cells(cells.shape[0], len(affected), path)
    stored = cells.tocoo()
    rows, cols = stored.coords
    inside = defaults[cols] != 0
    block = np.ones((cells.shape[0], len(affected)))
    block[rows[inside], np.searchsorted(affected, cols[inside])] = stored.data[inside]
    block_rows, block_cols = np.indices(block.shape).reshape(2, -1)
    filled = sparse.coo_array(
        (
            np.concatenate([stored.data[~inside], block.ravel()]),
            (
                np.concatenate([rows[~inside], block_rows]),
                np.concatenate([cols[~inside], affected[block_cols]]),
            ),
        ),
        shape=cells.shape,
    ).tocsr()
    counts = np.diff(filled.indptr)
    return make_csr(counts.tolist(), filled.indices, filled.data, cells.shape[1])


# --- the data set -----------------------------------------------------------------------------


def _labels(cells: Any, is_label: np.ndarray, path: PathLike) -> Any:
    chosen = cells[:, np.flatnonzero(is_label)]
    if not sparse.issparse(chosen):
        return chosen if np.isnan(chosen).any() else chosen.astype(LABEL_TYPE)
    if np.isnan(chosen.data).any():
        check_cells(chosen.shape[0], chosen.shape[1], path)
        return chosen.toarray()  # NaN stands in dense labels only
    return chosen.astype(LABEL_TYPE)


def _features(
    cells: Any, columns: list[_Column], is_label: np.ndarray, texts: list[str], path: PathLike
) -> tuple[Any, dict[str, str]]:
    chosen = cells[:, np.flatnonzero(~is_label)]
    kept = [column for column in columns if not column.is_label]
    if all(column.kind == "numeric" for column in kept):
        return chosen, {}
    if sparse.issparse(chosen):
        check_cells(chosen.shape[0], chosen.shape[1], path)
        chosen = chosen.toarray()
    table = {
        column.name: _table_column(column, chosen[:, i], texts) for i, column in enumerate(kept)
    }
    return pd.DataFrame(table), {column.name: column.kind for column in kept}


def _table_column(column: _Column, cells: np.ndarray, texts: list[str]) -> Any:
    if column.kind == "numeric":
        return cells
    positions = np.where(np.isnan(cells), -1, cells).astype(np.int64)
    if column.kind == "categorical":
        return pd.Categorical.from_codes(positions, categories=pd.Index(list(column.values)))
    return pd.Series([None if i < 0 else texts[i] for i in positions.tolist()])
