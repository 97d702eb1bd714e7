"""What commands print: tables for people, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def show_table(title: str, columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """Print a table; numbers stand at the right."""
    table = Table(box=None)
    rows = [list(line) for line in lines]
    for number, column in enumerate(columns):
        right = bool(rows) and isinstance(rows[0][number], int | float)
        table.add_column(column, justify="right" if right else "left")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(_written(cell)) for cell in row))
    console = Console()
    console.print(Text(title, style="bold"))  # a title of the table would be as narrow as it
    console.print(table)
    console.print()


def working(what: str) -> Any:
    """Return a context that says on a terminal what takes its time, and nothing elsewhere."""
    return Console(stderr=True, quiet=not sys.stderr.isatty()).status(what)


def _written(cell: Any) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
