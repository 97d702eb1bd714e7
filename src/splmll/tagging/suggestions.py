"""What was probably meant by a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from splmll.exceptions import DatasetError

_MOST_NAMES = 12  # in a message


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a question with the closest known name, with a space before it, or nothing.

    Examples
    --------
    >>> from splmll.tagging.suggestions import suggestion
    >>> suggestion("boddy", ["body", "tags"]), suggestion("x", ["body"])
    (" Did you mean 'body'?", '')
    """
    by_lower_case = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower_case, n=1)
    return f" Did you mean {by_lower_case[close[0]]!r}?" if close else ""


def listed(names: Iterable[str]) -> str:
    """Return names for a message, only the first of many.

    Examples
    --------
    >>> from splmll.tagging.suggestions import listed
    >>> listed(["body", "tags"])
    "'body', 'tags'"
    """
    every = list(names)
    shown = ", ".join(map(repr, every[:_MOST_NAMES]))
    return shown if len(every) <= _MOST_NAMES else f"{shown} and {len(every) - _MOST_NAMES} more"


def check_columns(wanted: Iterable[str], there: Iterable[str], path: object = None) -> None:
    """Raise DatasetError if a column is not there.

    Examples
    --------
    >>> from splmll.tagging.suggestions import check_columns
    >>> check_columns(["boddy"], ["body", "tags"], path="notes.csv")
    Traceback (most recent call last):
        ...
    splmll.exceptions.DatasetError: notes.csv: there is no column 'boddy'. Did you mean 'body'? ...
    """
    names = list(there)
    missing = [column for column in wanted if column not in names]
    if missing:
        raise DatasetError(
            f"there is no column {missing[0]!r}.{suggestion(missing[0], names)} "
            f"The columns are {listed(names)}.",
            path=path,
        )
