"""What commands print: tables for people, JSON for machines."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDE = 10_000  # columns: as good as endless
_NUMBER = re.compile(r"[<+-]?\d[\d.,]*")


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    from splmll.tagging.output import has_every_character

    escaped = not has_every_character(sys.stdout)
    typer.echo(json.dumps(value, indent=2, ensure_ascii=escaped))


def show_text(text: str) -> None:
    """Print a paragraph, wrapped to the width of the terminal."""
    Console(highlight=False).print(Text(text))


def show_table(
    title: str,
    columns: Sequence[str],
    lines: Iterable[Sequence[Any]],
    *,
    one_line: bool = False,
) -> None:
    """Print a table; numbers are right-aligned. With ``one_line`` long words are cut off."""
    table = Table(box=None)
    rows = [list(line) for line in lines]
    for number, column in enumerate(columns):
        right = bool(rows) and all(_is_number(row[number]) for row in rows)
        # Numbers are never cut off: they are what the table is for.
        table.add_column(
            column,
            justify="right" if right else "left",
            no_wrap=one_line or right,
            overflow="ellipsis" if one_line and not right else "fold",
        )
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(_written(cell)) for cell in row))
    # Nobody reads along where there is no terminal: names are written in full.
    free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    console = Console(width=_WIDE) if free else Console()
    console.print(Text(title, style="bold"))  # a title of the table would be as narrow as it
    console.print(table)
    console.print()


def show_written(
    tags_per_row: Counter[int], out: Path, *, without_words: int = 0, as_json: bool = False
) -> None:
    """Print how many rows got how many tags (tags -> rows), and where they are."""
    n_rows, empty = tags_per_row.total(), tags_per_row[0]
    n_tags = sum(tags * rows for tags, rows in tags_per_row.items())
    if as_json:
        show_json(
            {
                "rows": n_rows,
                "tags": n_tags,
                "rows_without_tags": empty,
                "rows_without_known_words": without_words,
                "out": str(out),
            }
        )
        return
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    none = f"; {empty:,} without a tag" if empty else ""
    typer.echo(f"{rows}, {n_tags / n_rows:.1f} tags on average{none}.")
    if without_words:
        have = "row has" if without_words == 1 else "rows have"
        typer.echo(
            f"{without_words:,} {have} no word that the model knows, so their texts did not "
            "influence their tags."
        )
    typer.echo(out)


def working(what: str) -> Any:
    """Return a context that shows on a terminal what is being done, and nothing elsewhere."""
    return Console(stderr=True, quiet=not sys.stderr.isatty()).status(what)


def _is_number(cell: Any) -> bool:
    written = isinstance(cell, str) and _NUMBER.fullmatch(cell) is not None
    return written or isinstance(cell, int | float)


def _written(cell: Any) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
