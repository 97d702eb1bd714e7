"""Names that people type: found in any case, and what was probably meant where they are not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from splmll.exceptions import DatasetError

_MOST_NAMES = 12  # in a message


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a question with the closest known name, with a space before it, or nothing.

    Examples
    --------
    >>> from splmll.names import suggestion
    >>> suggestion("boddy", ["body", "tags"]), suggestion("x", ["body"])
    (" Did you mean 'body'?", '')
    """
    by_lower_case = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower_case, n=1)
    return f" Did you mean {by_lower_case[close[0]]!r}?" if close else ""


def known_name(name: str, known: Iterable[str], what: str, remedy: str) -> str:
    """Return a name as it is known, whatever its case, or say what there is.

    Parameters
    ----------
    name : str
        What was typed.
    known : iterable of str
        The names there are.
    what : str
        What is named, for the message.
    remedy : str
        The sentence that ends the message.

    Returns
    -------
    name : str

    Examples
    --------
    >>> from splmll.names import known_name
    >>> known_name("br-svm", ["BR", "BR-SVM"], "method", "There are two.")
    'BR-SVM'
    >>> known_name("BR-SVN", ["BR", "BR-SVM"], "method", "There are two.")
    Traceback (most recent call last):
        ...
    ValueError: There is no method 'BR-SVN'. Did you mean 'BR-SVM'? There are two.
    """
    by_lower_case = {each.lower(): each for each in known}
    if name.lower() not in by_lower_case:
        hint = suggestion(name, by_lower_case.values())
        raise ValueError(f"There is no {what} {name!r}.{hint} {remedy}")
    return by_lower_case[name.lower()]


def listed(names: Iterable[str]) -> str:
    """Return names for a message, only the first of many.

    Examples
    --------
    >>> from splmll.names import listed
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
    >>> from splmll.names import check_columns
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
