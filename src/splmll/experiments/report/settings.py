"""With which settings and versions, and on which machines, the numbers of a report were made.

What the runs recorded is shown as it is, folded until somebody asks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

from splmll.experiments.report.page import Folded, Part, Section, Table, Text

DEFAULTS = "defaults"


def settings_section(results: pd.DataFrame) -> Section:
    """Return the section of settings, versions and machines.

    Parameters
    ----------
    results : DataFrame
        One line for each run, as an experiment returns them.

    Returns
    -------
    section : Section

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.report.settings import settings_section
    >>> runs = pd.DataFrame({"data": ["yeast"], "method": ["BR"], "settings": ['{"C": 2}']})
    >>> settings_section(runs).parts[0].parts[0].rows
    [['BR', 'yeast', 'C = 2']]
    """
    parts: list[Part] = []
    if "settings" in results:
        rows = _settings_rows(results)
        caption = (
            "What differs from the defaults of the class, after the search where there was one."
        )
        table = Table(["method", "data", "settings"], rows, caption)
        parts.append(Folded("Settings of every method", [table]))
    for column, title in (("versions", "Versions"), ("host", "Machines")):
        if column in results:
            parts.append(Folded(title, _records(results[column])))
    if {"started", "finished"} <= set(results.columns):
        first, last = results["started"].dropna().min(), results["finished"].dropna().max()
        parts.append(Text(f"First run started {first}, last run finished {last}.", note=True))
    if not parts:
        parts.append(Text("The results say nothing of settings or versions.", note=True))
    return Section("Settings and versions", parts)


def _settings_rows(results: pd.DataFrame) -> list[list[str]]:
    """One row for every method, or several where its settings differ between data sets."""
    rows = []
    for method, runs in results.groupby("method", sort=False):
        texts = runs["settings"].map(_settings_words)
        for words, same in runs.groupby(texts, sort=False):
            where = "all" if len(same) == len(runs) else ", ".join(same["data"].unique())
            if len(runs["data"].unique()) == 1:
                where = str(runs["data"].iloc[0])
            rows.append([str(method), where, str(words)])
    return rows


def _settings_words(text: Any) -> str:
    settings = _read(text)
    words = ", ".join(f"{name} = {_word(value)}" for name, value in settings.items())
    return words or DEFAULTS


def _records(column: Iterable[Any]) -> list[Table]:
    """A table for every distinct record, with the number of runs it belongs to."""
    counts = pd.Series(list(column), dtype=object).dropna().value_counts()
    parts = []
    for text, count in counts.items():
        rows = [[name, _word(value)] for name, value in _read(text).items()]
        caption = "" if len(counts) == 1 else f"{count} of the runs."
        parts.append(Table(["", ""], rows, caption))
    return parts


def _read(text: Any) -> dict[str, Any]:
    """Read a record; what is not one is shown as it is."""
    try:
        record = json.loads(text)
    except (TypeError, ValueError):
        record = {} if text is None or text != text else {"": str(text)}
    return record if isinstance(record, dict) else {"": str(text)}


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
