"""Numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Iterable


def count(number: int, word: str) -> str:
    """Return a number and what it counts, such as "1 data set" or "3 seeds"."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def listed(names: Iterable[object]) -> str:
    """Return names with commas and an "and", such as "BR, LP and CLR"."""
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last
