"""Numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, one: str, several: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> from splmll.words import counted
    >>> counted(1, "row"), counted(7770, "row"), counted(2, "label is", "labels are")
    ('1 row', '7,770 rows', '2 labels are')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def enumeration(names: Iterable[object]) -> str:
    """Return names with commas and an "and".

    Examples
    --------
    >>> from splmll.words import enumeration
    >>> enumeration(["BR", "LP", "CLR"])
    'BR, LP and CLR'
    """
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last
