"""A tagger from a table that is larger than memory: chunk by chunk, pass after pass.

The first pass finds the labels and the kinds of columns; the second one counts words, measures
numbers and collects categories; then the classifiers learn. Words are hashed, so no vocabulary is
kept. The result is a tagger like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from splmll.datasets.checks import LABEL_TYPE, check_unique, existing_file
from splmll.datasets.chunks import Chunk, read_chunks
from splmll.datasets.reading import format_of
from splmll.datasets.tabular import (
    forced_kinds,
    label_columns,
    read_feature,
    read_label,
    read_tags,
    tag_matrix,
)
from splmll.embeddings.stochastic import Stochastic, hashed_width
from splmll.exceptions import DatasetError
from splmll.landmarks import SPLMLL
from splmll.progress import Progress, Stages
from splmll.tagging.files import reading_of
from splmll.tagging.measured import measure_out_of_fold
from splmll.tagging.pipeline import DEFAULT_METHOD, MOST_CATEGORIES, TEXT
from splmll.tagging.rows import check_size, checked_rows
from splmll.tagging.tagger import Tagger
from splmll.tagging.words import Words

CHUNK_ROWS = 8192  # rows that are in memory at the same time, as text
MIN_ROWS = 10  # fewer cannot be divided into folds that are worth anything
MOST_DISTINCT = 100_000  # values of a column of categories that are counted
_TABLES = ("csv", "tsv", "parquet")


def fit_stream(
    path: str | Path,
    labels: Sequence[str],
    *,
    delimiter: str | None = None,
    text: Sequence[str] = (),
    ignore: Sequence[str] = (),
    n_landmarks: int | None = None,
    threshold: float | str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> Tagger:
    r"""Learn to tag from a table of any size.

    The method is SPL-MLL with linear classifiers that learn by stochastic gradient descent, so rows
    should be in random order. Memory does not depend on the number of rows.

    Parameters
    ----------
    path : path-like
        CSV, TSV or Parquet.
    labels : sequence of str
        One column that lists the tags of a row, several columns of zeros and ones, or a prefix of
        such columns with a star (``is_*``).
    delimiter : str, optional
        The separator between two tags; detected by default.
    text : sequence of str
        Columns that are texts, if this cannot be detected from their words.
    ignore : sequence of str
        Columns that say nothing about the labels, such as row numbers.
    n_landmarks, threshold, random_state, n_jobs
        Parameters of :class:`splmll.SPLMLL`.
    on_progress : callable, optional
        Called with what is being done and the share that is done, from 0 to 1.

    Returns
    -------
    tagger : Tagger
        Measured out of fold, on a uniform sample of the rows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from splmll.tagging.streaming import fit_stream
    >>> notes = ["the pump leaks oil", "new pump", "oil on the floor", "paint the door"]
    >>> tags = ["oil;pump", "pump", "oil", ""]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "notes.csv"
    ...     pd.DataFrame({"body": notes * 20, "tags": tags * 20}).to_csv(file, index=False)
    ...     tagger = fit_stream(file, ["tags"], text=["body"])
    >>> tagger.tags(pd.DataFrame({"body": ["a pump without oil"]}))
    [['oil', 'pump']]
    """
    started = perf_counter()
    tell = Stages(on_progress)
    table = _described(path, labels, delimiter, text, ignore, tell)
    if table.n_rows < MIN_ROWS:
        raise DatasetError(
            f"{table.n_rows} rows are too few to learn from some and measure on others; give at "
            f"least {MIN_ROWS}",
            path=path,
        )
    model = SPLMLL(Stochastic(), n_landmarks=n_landmarks, random_state=random_state, n_jobs=n_jobs)
    if threshold is not None:
        model.set_params(threshold=threshold)
    n_passes = 1 + Stochastic().passes(table.n_rows)  # one for the columns
    done = 0

    def told(what: str) -> Iterator[Chunk]:
        nonlocal done
        for chunk in read_chunks(table.path, CHUNK_ROWS):
            tell(what, done / (n_passes * table.n_rows))
            done += chunk.n_rows
            yield chunk

    columns = _weighed(table, told("frequencies of words and categories"))

    def batches() -> Iterator[tuple[Any, Any]]:
        for chunk in told("linear classifiers, by gradient descent"):
            yield columns.transform(table.features(chunk)), table.labels(chunk)

    found = model.fit_batches_out_of_fold(batches)
    return Tagger(
        pipeline=Pipeline([("columns", columns), ("method", model)]),
        method=DEFAULT_METHOD,
        label_names=table.label_names,
        feature_names=list(table.kinds),
        column_kinds=table.kinds,
        reading=table.reading,
        n_rows=table.n_rows,
        fit_seconds=perf_counter() - started,
        measured=measure_out_of_fold(found, table.label_names),
    )


# What the table holds -----------------------------------------------------------------------------


@dataclass(frozen=True)
class StreamedTable:
    """What is known of a table after the first pass.

    Attributes
    ----------
    path : Path
        The file.
    kinds : dict of str to str
        Feature column -> "text", "categorical" or "numeric".
    reading : dict
        How the labels stand in the file, as :func:`splmll.tagging.read_examples` says it.
    label_names : list of str
        All labels.
    n_rows : int
        Number of rows.
    """

    path: Path
    kinds: dict[str, str]
    reading: dict[str, Any]
    label_names: list[str]
    n_rows: int

    def features(self, chunk: Chunk) -> pd.DataFrame:
        """Return the features of some rows."""
        cells = {
            name: read_feature(chunk, name, kind, True)[0] for name, kind in self.kinds.items()
        }
        frame = pd.DataFrame(cells)
        check_size(frame, list(self.kinds), self.path, chunk.first)
        return checked_rows(frame, list(self.kinds), self.kinds)

    def labels(self, chunk: Chunk) -> Any:
        """Return the labels of some rows, a column for every label of the table."""
        if "label_column" in self.reading:
            column, delimiter = self.reading["label_column"], self.reading["label_delimiter"]
            return tag_matrix(read_tags(chunk, column, delimiter), self.label_names)
        prefix = self.reading.get("label_prefix", "")
        names = [prefix + name for name in self.label_names]
        return np.column_stack([read_label(chunk, name) for name in names]).astype(LABEL_TYPE)


def _described(
    path: str | Path,
    labels: Sequence[str],
    delimiter: str | None,
    text: Sequence[str],
    ignore: Sequence[str],
    tell: Progress,
) -> StreamedTable:
    """The first pass: rows, kinds of columns, and labels. The first chunk says how tags stand."""
    place = existing_file(path)
    if format_of(place) not in _TABLES:
        raise DatasetError(
            "only tables can be read in chunks; give a CSV, TSV or Parquet file, or read this "
            "one as a whole, without --stream (in Python with read_examples)",
            path=path,
        )
    reading: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    label_like: list[str] = []
    tags: set[str] = set()
    n_rows = 0
    for chunk in read_chunks(place, CHUNK_ROWS):
        if n_rows == 0:
            reading = reading_of(chunk, labels, delimiter, text, ignore)
            ways = {name: reading.get(name) for name in ("labels", "label_prefix", "label_column")}
            label_like = label_columns(chunk, **ways)
            given = forced_kinds(chunk, label_like, text, None, None, ignore)
            left_out = {*label_like, *(name for name, kind in given.items() if kind == "ignore")}
            # Numbers are what never holds a word, so every chunk has a say.
            kinds = {
                name: given.get(name, "numeric") for name in chunk.names if name not in left_out
            }
            if not kinds:
                raise chunk.error("no column is left for the features; check the options")
        for name, kind in kinds.items():
            if kind == "numeric":
                kinds[name] = read_feature(chunk, name, None, allow_missing=True)[1]
        if "label_column" in reading:
            found = read_tags(chunk, reading["label_column"], reading["label_delimiter"])
            tags.update(tag for row in found for tag in row)
        n_rows += chunk.n_rows
        tell("labels and kinds of columns", 0.0)
    if "label_column" in reading:
        label_names = sorted(tags)
        if not tags:
            raise DatasetError(
                f"no row has a label in column {labels[0]!r}; name another column", path=path
            )
    else:
        cut = len(reading.get("label_prefix", ""))
        label_names = [name[cut:] for name in label_like]
    check_unique(label_names, "label name", path)
    return StreamedTable(place, kinds, reading, label_names, n_rows)


# From columns to features -------------------------------------------------------------------------


def _weighed(table: StreamedTable, chunks: Iterator[Chunk]) -> ColumnTransformer:
    """The second pass: return what turns columns into features, as it is learned from all rows."""
    of_kind: dict[str, list[str]] = {"text": [], "categorical": [], "numeric": []}
    for name, kind in table.kinds.items():
        of_kind[kind].append(name)
    texts, categorical, numeric = of_kind["text"], of_kind["categorical"], of_kind["numeric"]
    words = Words()
    counts: dict[str, Counter[str]] = {name: Counter() for name in categorical}
    scaler = StandardScaler()
    head: pd.DataFrame | None = None
    for chunk in chunks:
        rows = table.features(chunk)
        head = rows if head is None else head
        if texts:
            if head is rows:
                words.begin(rows[texts], table.n_rows, hashed_width(len(table.label_names)))
            words.tally(rows[texts])
        for name in categorical:
            counts[name].update(rows[name])
            if len(counts[name]) > MOST_DISTINCT:
                raise chunk.error(
                    f"the column {name} has more than {MOST_DISTINCT} different values, too many "
                    f"for categories; read it as text with --text {name}, or leave it out with "
                    f"--ignore {name}"
                )
        if numeric:
            scaler.partial_fit(rows[numeric])

    steps: list[tuple[str, Any, Any]] = []
    if texts:
        steps.append((TEXT, FrozenEstimator(words.settle()), texts))
    if categorical:
        frequent = [
            sorted(value for value, _ in counts[name].most_common(MOST_CATEGORIES))
            for name in categorical
        ]
        encoder = OneHotEncoder(categories=frequent, handle_unknown="ignore", dtype=np.float32)
        steps.append(("categorical", encoder, categorical))
    if numeric:
        fill = SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True)
        steps.append(("numeric", make_pipeline(StandardScaler(), fill), numeric))
    # The first rows give it its form; then its parts are told what all rows say.
    columns = ColumnTransformer(steps, sparse_threshold=1.0).fit(head)
    if numeric:
        filled = columns.named_transformers_["numeric"]
        filled.steps[0] = (filled.steps[0][0], scaler)
    for name in ("transformers", "transformers_"):
        thawed = [
            (step, words if step == TEXT else made, of) for step, made, of in vars(columns)[name]
        ]
        setattr(columns, name, thawed)
    return columns
