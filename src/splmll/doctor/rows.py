"""Checks of rows: too few, without labels, repeated, or in both training and test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from splmll.datasets import Dataset
from splmll.doctor.finding import ERROR, NOTE, WARNING, Finding
from splmll.names import listed
from splmll.tagging.tagger import MIN_ROWS
from splmll.thresholds import MIN_ROWS as MIN_ROWS_TO_TUNE
from splmll.words import counted

MANY_UNLABELLED = 0.5  # share of the rows from which on it is more than a note
MANY_REPEATED = 0.01
MANY_LEAKING = 0.05
MOST_ROWS_SHOWN = 5


def check_rows(data: Dataset) -> Iterator[Finding]:
    """Yield what is wrong with the rows of a data set."""
    yield from _few(data)
    yield from _unlabelled(data)
    if data.train is not None and data.test is not None:
        X_train, _, X_test, _ = data.split()
        yield from _leaking(X_train, X_test, "test rows of the standard split")
    else:
        yield from _repeated(data)


def check_against_test(data: Dataset, test: Dataset) -> Iterator[Finding]:
    """Yield problems between training and test rows."""
    yield from _leaking(data.X, test.X, "rows of the test file")
    known = set(data.label_names)
    strange = [name for name in test.label_names if name not in known]
    if strange:
        yield Finding(
            WARNING,
            "labels-only-in-test",
            f"{counted(len(strange), 'label is', 'labels are')} only in the test file: "
            f"{listed(strange)}.",
            "Add rows that have them to the training file; a model cannot learn them otherwise.",
            strange,
        )


def row_keys(X: Any) -> list[Hashable]:
    """Return one value for each row, the same for rows with the same features.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.doctor.rows import row_keys
    >>> first, second, third = row_keys(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]))
    >>> first == third, first == second
    (True, False)
    """
    if sparse.issparse(X):
        rows = sparse.csr_array(X, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        bounds = zip(rows.indptr[:-1], rows.indptr[1:])
        return [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in bounds]
    if isinstance(X, pd.DataFrame):
        # As text: a missing value is equal to another one.
        return list(zip(*(X[name].astype(object).map(repr) for name in X.columns)))
    # Zero is added because -0.0 has other bytes than 0.0.
    return [row.tobytes() for row in np.asarray(X, dtype=np.float64) + 0.0]


def _few(data: Dataset) -> Iterator[Finding]:
    n_rows = data.X.shape[0]
    if n_rows < MIN_ROWS:
        yield Finding(
            ERROR,
            "few-rows",
            f"There are {counted(n_rows, 'row')}; a fit needs at least {MIN_ROWS}.",
            "Add rows.",
        )
    elif n_rows < MIN_ROWS_TO_TUNE:
        yield Finding(
            WARNING,
            "few-rows",
            f"There are {n_rows} rows; with fewer than {MIN_ROWS_TO_TUNE}, no threshold is tuned "
            "and measures say little.",
            "Add rows.",
        )


def _unlabelled(data: Dataset) -> Iterator[Finding]:
    per_row = np.asarray((data.Y == 1).sum(axis=1)).ravel()
    empty = np.flatnonzero(per_row == 0)
    if len(empty):
        many = len(empty) > MANY_UNLABELLED * len(per_row)
        yield Finding(
            WARNING if many else NOTE,
            "rows-without-labels",
            f"{counted(len(empty), 'row has', 'rows have')} no label ({_shown(empty)}).",
            "They are learned as rows to which no label applies; leave them out if their labels "
            "are simply not known.",
            _row_names(empty),
        )


def _repeated(data: Dataset) -> Iterator[Finding]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, key in enumerate(row_keys(data.X)):
        groups[key].append(number)
    twins = [group for group in groups.values() if len(group) > 1]
    if not twins:
        return
    rows = np.sort(np.concatenate(twins))
    labels = row_keys(data.Y)
    contradicting = sum(len({labels[number] for number in group}) > 1 for group in twins)
    aside = (
        f" {counted(contradicting, 'group of them has', 'groups of them have')} different labels."
        if contradicting
        else ""
    )
    many = len(rows) > MANY_REPEATED * data.X.shape[0]
    yield Finding(
        WARNING if many else NOTE,
        "repeated-rows",
        f"{counted(len(rows), 'row')} have the same features as another one ({_shown(rows)})."
        f"{aside}",
        "Remove duplicates: if one copy is held out and the other is learned from, the measures "
        "are too good.",
        _row_names(rows),
    )


def _leaking(X_train: Any, X_test: Any, whose: str) -> Iterator[Finding]:
    seen = set(row_keys(X_train))
    leaking = np.flatnonzero([key in seen for key in row_keys(X_test)])
    if len(leaking):
        n_test = X_test.shape[0]
        many = len(leaking) > MANY_LEAKING * n_test
        yield Finding(
            ERROR if many else WARNING,
            "leaking-rows",
            f"{len(leaking):,} of {n_test:,} {whose} are also training rows, with the same "
            f"features ({_shown(leaking)}).",
            "Remove them from one of the two: measures on rows that were learned from are too "
            "good.",
            _row_names(leaking),
        )


def _row_names(rows: np.ndarray) -> list[str]:
    return [f"row {number + 1}" for number in rows]


def _shown(rows: np.ndarray) -> str:
    """Return the numbers of rows, counted from 1, only the first of many."""
    first = ", ".join(str(number + 1) for number in rows[:MOST_ROWS_SHOWN])
    more = ", ..." if len(rows) > MOST_ROWS_SHOWN else ""
    return f"row{'s' if len(rows) > 1 else ''} {first}{more}"
