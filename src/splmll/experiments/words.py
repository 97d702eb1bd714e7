"""Numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Iterable


def count(number: int, word: str) -> str:
    """Return a number and what it counts.

    Examples
    --------
    >>> from splmll.experiments.words import count
    >>> count(1, "data set"), count(3, "seed")
    ('1 data set', '3 seeds')
    """
    return f"{number} {word}{'' if number == 1 else 's'}"


def listed(names: Iterable[object]) -> str:
    """Return names with commas and an "and".

    Examples
    --------
    >>> from splmll.experiments.words import listed
    >>> listed(["BR", "LP", "CLR"])
    'BR, LP and CLR'
    """
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last
