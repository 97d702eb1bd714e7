"""Checks of features: columns without information, of the wrong kind, or on other scales."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.datasets import Dataset
from splmll.doctor.finding import ERROR, NOTE, WARNING, Finding
from splmll.names import listed
from splmll.tagging.pipeline import MOST_CATEGORIES, build_pipeline
from splmll.tagging.tagger import wordless_column
from splmll.words import counted

MOSTLY_MISSING = 0.5  # share of the rows
LARGEST_RATIO_OF_SCALES = 1000.0
_ID_NAME = re.compile(r"(^|[_\s-])(id|uuid|guid|index|key|nr|no|number)$", re.IGNORECASE)
_ID_AT_THE_END = re.compile(r"[a-z](ID|Id)$")
_DATE = re.compile(r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b")
MOSTLY_DATES = 0.9  # share of the different values
MIN_ROWS_OF_AN_ID = 10  # fewer distinct values may be so by chance
# Categories that look like texts: so many different ones of so many words.
MIN_TEXTS = 20
MIN_SHARE_OF_TEXTS = 0.1
MIN_WORDS_OF_TEXTS = 1.5


def check_columns(data: Dataset) -> Iterator[Finding]:
    """Yield what is wrong with the features of a data set."""
    ids = _ids(data)
    stopped = list(_empty_texts(data, ids))
    yield from stopped
    said = [name for finding in stopped for name in finding.where]
    yield from _about(
        [name for name in ids if name not in said],
        WARNING,
        "id-columns",
        "looks like an id: its values are all different and count or name the rows",
        "look like ids: their values are all different and count or name the rows",
    )
    yield from _constant(data)
    yield from _missing(data)
    dates = list(_dates(data))
    yield from dates
    yield from _categories(data, [name for finding in dates for name in finding.where])
    yield from _scales(data)


def _about(
    names: Sequence[str], severity: str, check: str, one: str, several: str
) -> Iterator[Finding]:
    """Yield the finding that columns carry no information, if there are any."""
    if names:
        options = " ".join(f"--ignore {name}" for name in names[:5])
        subject = (
            f"The column {names[0]!r} {one}."
            if len(names) == 1
            else f"{len(names)} columns {several}: {listed(names)}."
        )
        yield Finding(
            severity,
            check,
            subject,
            f"Leave out columns without information with {options}.",
            list(names),
        )


def _ids(data: Dataset) -> list[str]:
    n_rows = data.X.shape[0]
    if not data.column_kinds or n_rows < MIN_ROWS_OF_AN_ID:
        return []
    return [name for name in data.feature_names if _is_id(name, _column(data, name))]


def _is_id(name: str, values: pd.Series) -> bool:
    known = values.dropna()
    if len(known) < len(values) or known.nunique() < len(values):
        return False
    named_so = bool(_ID_NAME.search(name) or _ID_AT_THE_END.search(name))
    if pd.api.types.is_numeric_dtype(known):
        whole = bool((known == np.floor(known)).all())
        steps = np.diff(np.sort(known.to_numpy()))
        return whole and (named_so or bool((steps == 1).all()))
    one_word = bool((known.map(lambda cell: len(cell.split())) == 1).all())
    return one_word and (named_so or bool(known.str.contains(r"\d").all()))


def _empty_texts(data: Dataset, ids: Sequence[str]) -> Iterator[Finding]:
    """The text column without usable words, at which a fit would stop."""
    if "text" not in data.column_kinds.values():
        return
    name = wordless_column(build_pipeline(data), data.X)
    if name is not None:
        kind = "It looks like an id. " if name in ids else ""
        yield Finding(
            ERROR,
            "no-words",
            f"The column {name!r} has no word that occurs in several rows, so a fit would stop.",
            f"{kind}Leave it out with --ignore {name}.",
            [name],
        )


def _constant(data: Dataset) -> Iterator[Finding]:
    if data.column_kinds:
        names = [
            name
            for name in data.feature_names
            if _column(data, name).nunique(dropna=True) <= 1 and not _all_missing(data, name)
        ]
        yield from _about(
            names,
            WARNING,
            "constant-columns",
            "is the same in every row",
            "are the same in every row",
        )
        return
    lowest, highest = (_dense(each(axis=0)) for each in (data.X.min, data.X.max))
    names = [name for name, a, b in zip(data.feature_names, lowest, highest) if a == b]
    if names:
        yield Finding(
            NOTE,
            "constant-columns",
            f"{counted(len(names), 'feature is', 'features are')} the same in every row: "
            f"{listed(names)}.",
            "They carry no information and can be left out of the file.",
            names,
        )


def _missing(data: Dataset) -> Iterator[Finding]:
    if not data.column_kinds:
        return
    shares = {name: float(_is_missing(_column(data, name)).mean()) for name in data.feature_names}
    mostly = [name for name, share in shares.items() if share > MOSTLY_MISSING]
    empty = [name for name in mostly if shares[name] == 1]
    yield from _about(empty, WARNING, "missing-values", "is empty", "are empty")
    yield from _about(
        [name for name in mostly if name not in empty],
        WARNING,
        "missing-values",
        f"is empty in more than {MOSTLY_MISSING:.0%} of the rows",
        f"are empty in more than {MOSTLY_MISSING:.0%} of the rows",
    )


def _dates(data: Dataset) -> Iterator[Finding]:
    for name, kind in data.column_kinds.items():
        if kind == "numeric":
            continue
        distinct = _column(data, name).dropna().unique()
        if len(distinct) and np.mean([bool(_DATE.match(cell)) for cell in distinct]) > MOSTLY_DATES:
            yield Finding(
                WARNING,
                "dates",
                f"The column {name!r} contains dates such as {distinct[0]!r}, which are read as "
                f"{'texts' if kind == 'text' else 'categories'}.",
                f"Leave it out with --ignore {name}, or replace it by a number, such as the month.",
                [name],
            )


def _categories(data: Dataset, dates: Sequence[str]) -> Iterator[Finding]:
    for name in data.feature_names:
        if data.column_kinds.get(name) != "categorical" or name in dates:
            continue
        distinct = _column(data, name).dropna().unique()
        words = float(np.mean([len(cell.split()) for cell in distinct])) if len(distinct) else 0.0
        if (
            words >= MIN_WORDS_OF_TEXTS
            and len(distinct) >= MIN_TEXTS
            and len(distinct) >= MIN_SHARE_OF_TEXTS * data.X.shape[0]
        ):
            yield Finding(
                WARNING,
                "texts-as-categories",
                f"The column {name!r} is read as categories, but has {len(distinct)} different "
                f"values such as {distinct[0]!r}.",
                f"If they are texts, say so with --text {name}.",
                [name],
            )
        elif len(distinct) > MOST_CATEGORIES:
            yield Finding(
                NOTE,
                "many-categories",
                f"The column {name!r} has {len(distinct)} categories; all but the "
                f"{MOST_CATEGORIES} most frequent are merged into one.",
                f"Group them, or read the column as text with --text {name}.",
                [name],
            )


def _scales(data: Dataset) -> Iterator[Finding]:
    """Features that would dominate all others in a distance."""
    if data.column_kinds:
        names = [name for name in data.feature_names if data.column_kinds[name] == "numeric"]
        spread = np.array([float(_column(data, name).std(ddof=0)) for name in names])
        severity, remedy = (
            NOTE,
            "`splmll fit` scales numbers in a table; in programs that do not, the largest "
            "features dominate.",
        )
    else:
        names, spread = list(data.feature_names), _standard_deviations(data.X)
        severity, remedy = (
            WARNING,
            "SPL-MLL and ML-kNN scale their features, but other methods use these as they are: "
            "scale them in the file, or give a table, which is scaled.",
        )
    varying = np.flatnonzero(np.nan_to_num(spread) > 0)
    if len(varying) < 2:
        return
    smallest = varying[np.argmin(spread[varying])]
    largest = varying[np.argmax(spread[varying])]
    if spread[largest] > LARGEST_RATIO_OF_SCALES * spread[smallest]:
        yield Finding(
            severity,
            "unscaled-features",
            f"{names[largest]!r} varies by about {spread[largest]:.3g}, {names[smallest]!r} by "
            f"about {spread[smallest]:.3g}.",
            remedy,
            [names[largest], names[smallest]],
        )


# Columns of any storage -------------------------------------------------------------------------


def _column(data: Dataset, name: str) -> pd.Series:
    if isinstance(data.X, pd.DataFrame):
        return data.X[name]
    return pd.Series(data.X[:, data.feature_names.index(name)], name=name)


def _is_missing(values: pd.Series) -> pd.Series:
    # An empty text is a missing one.
    return values.isna() | (values == "")


def _all_missing(data: Dataset, name: str) -> bool:
    return bool(_is_missing(_column(data, name)).all())


def _dense(line: Any) -> np.ndarray:
    return np.asarray(line.todense() if sparse.issparse(line) else line).ravel()


def _standard_deviations(X: Any) -> np.ndarray:
    if not sparse.issparse(X):
        return np.asarray(X, dtype=np.float64).std(axis=0)
    mean = _dense(X.mean(axis=0))
    return np.sqrt(np.maximum(_dense(X.power(2).mean(axis=0)) - mean**2, 0.0))
