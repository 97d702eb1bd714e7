"""Checks of labels: with few rows or none, identical, or spelled in two ways."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy import sparse

from splmll.datasets import Dataset
from splmll.doctor.finding import ERROR, NOTE, WARNING, Finding
from splmll.names import listed
from splmll.words import counted

MIN_ROWS_OF_A_LABEL = 5  # one for each of the folds in which SPL-MLL and thresholds are measured
# A name is taken for a typing error of another if it is rare, long enough, close, and the other is
# so many times as frequent.
MOST_ROWS_OF_A_TYPO = 2
LEAST_LETTERS_OF_A_TYPO = 5
CLOSENESS_OF_A_TYPO = 0.85
TIMES_AS_FREQUENT = 5
# Tags that were not taken apart: so many names contain a character between words that come again.
OTHER_DELIMITERS = (",", "|", ";", "/", "+", "&", " ")
LEAST_SHARE_OF_JOINED_NAMES = 0.3


def check_labels(data: Dataset) -> Iterator[Finding]:
    """Yield what is wrong with the labels of a data set."""
    counts = label_counts(data.Y)
    names = data.label_names
    yield from _constant(names, counts, data.Y)
    yield from _rare(names, counts)
    yield from _identical(names, data.Y, counts)
    yield from _spelled_twice(names)
    yield from _typos(names, counts)
    yield from _joined(data)


def label_counts(Y: Any) -> np.ndarray:
    """Return how many rows have each label; unknown cells count as absent.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.doctor.labels import label_counts
    >>> label_counts(np.array([[1, 0], [1, np.nan]]))
    array([2, 0])
    """
    return np.asarray((Y == 1).sum(axis=0)).ravel().astype(int)


def _constant(names: Sequence[str], counts: np.ndarray, Y: Any) -> Iterator[Finding]:
    never = [name for name, count in zip(names, counts) if count == 0]
    always = [name for name, count in zip(names, counts) if count == Y.shape[0]]
    if len(never) + len(always) == len(names):
        yield Finding(
            ERROR,
            "constant-labels",
            "Every label is the same in all rows, so there is nothing to learn.",
            "Name another column with --labels, or add rows.",
            list(names),
        )
        return
    for found, words in ((never, "in no row"), (always, "in every row")):
        if found:
            yield Finding(
                WARNING,
                "constant-labels",
                f"{counted(len(found), 'label is', 'labels are')} {words}: {listed(found)}.",
                "Leave them out: there is nothing to learn about them.",
                found,
            )


def _rare(names: Sequence[str], counts: np.ndarray) -> Iterator[Finding]:
    rare = [k for k in np.argsort(counts, kind="stable") if 0 < counts[k] < MIN_ROWS_OF_A_LABEL]
    if rare:
        shown = ", ".join(f"{names[k]!r} ({counts[k]})" for k in rare[:12])
        more = f" and {len(rare) - 12} more" if len(rare) > 12 else ""
        yield Finding(
            WARNING,
            "rare-labels",
            f"{counted(len(rare), 'label is', 'labels are')} in fewer than {MIN_ROWS_OF_A_LABEL} "
            f"rows: {shown}{more}.",
            "These are too few to learn from some and measure on others: add rows, merge the "
            "labels with others, or leave them out.",
            [names[k] for k in rare],
        )


def _identical(names: Sequence[str], Y: Any, counts: np.ndarray) -> Iterator[Finding]:
    columns = sparse.csc_array(Y == 1)
    columns.sort_indices()
    groups: dict[bytes, list[str]] = defaultdict(list)
    for k, name in enumerate(names):
        if 0 < counts[k] < Y.shape[0]:
            rows = columns.indices[columns.indptr[k] : columns.indptr[k + 1]]
            groups[rows.tobytes()].append(name)
    yield from _groups(
        groups.values(),
        "identical-labels",
        "always occur together",
        "Keep one of each group: the others are copies of it.",
    )


def _spelled_twice(names: Sequence[str]) -> Iterator[Finding]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[_bare(name)].append(name)
    yield from _groups(
        groups.values(),
        "spelled-differently",
        "differ only in case, spaces or punctuation",
        "Use one spelling for each; as it is, they are learned as different labels.",
    )


def _groups(
    groups: Iterable[list[str]], check: str, problem: str, remedy: str
) -> Iterator[Finding]:
    found = [group for group in groups if len(group) > 1]
    if found:
        shown = "; ".join(listed(group) for group in found[:5])
        more = f"; and {counted(len(found) - 5, 'more group')}" if len(found) > 5 else ""
        yield Finding(
            WARNING,
            check,
            f"These labels {problem}: {shown}{more}.",
            remedy,
            [name for group in found for name in group],
        )


def _bare(name: str) -> str:
    """Return a name without case, accents, spaces, hyphens and the like."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    kept = "".join(each for each in letters if not unicodedata.combining(each))
    # Names of signs alone ("+", "C++") stay what they are.
    return re.sub(r"[\s_\-./]+", "", kept) or kept


def _typos(names: Sequence[str], counts: np.ndarray) -> Iterator[Finding]:
    # Numbers in names are no typing errors: "class 11" is not "class 12".
    words = {
        name: count
        for name, count in zip(names, counts)
        if len(name) >= LEAST_LETTERS_OF_A_TYPO and not re.search(r"\d", name)
    }
    pairs = []
    for name, count in words.items():
        if not 0 < count <= MOST_ROWS_OF_A_TYPO:
            continue
        frequent = [other for other in words if words[other] >= TIMES_AS_FREQUENT * count]
        close = get_close_matches(name, frequent, n=1, cutoff=CLOSENESS_OF_A_TYPO)
        if close and _bare(close[0]) != _bare(name):
            pairs.append((name, close[0]))
    if pairs:
        shown = ", ".join(f"{name!r} (for {other!r}?)" for name, other in pairs[:12])
        yield Finding(
            NOTE,
            "typing-errors",
            f"These rare labels look like typos: {shown}.",
            "Correct them if they are.",
            [name for name, _ in pairs],
        )


def _joined(data: Dataset) -> Iterator[Finding]:
    """Tags in one cell that were read as a single tag."""
    per_row = np.asarray((data.Y == 1).sum(axis=1)).ravel()
    names = data.label_names
    if per_row.max(initial=0) > 1:
        return
    for delimiter in OTHER_DELIMITERS:
        joined = [name for name in names if delimiter in name.strip(delimiter)]
        parts = Counter(
            part.strip() for name in names for part in name.split(delimiter) if part.strip()
        )
        again = [part for part, times in parts.items() if times > 1]
        enough = len(joined) >= LEAST_SHARE_OF_JOINED_NAMES * len(names)
        if enough and len(again) > 1 and len(parts) < len(names):
            yield Finding(
                WARNING,
                "tags-in-one-piece",
                f"No row has more than one label, and {counted(len(joined), 'label')} such as "
                f"{joined[0]!r} look like several tags with {delimiter!r} between them.",
                f"If so, use --delimiter {delimiter!r}.",
                joined,
            )
            return
