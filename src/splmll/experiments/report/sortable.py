"""A table whose columns can be sorted by the reader, and whose rows can be filtered by method.

The script of the report finds what it needs in attributes of the cells; without it the table is an
ordinary one.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One column.

    Parameters
    ----------
    title : str
        Its name.
    better : {"low", "high", ""}, default=""
        Which numbers come first when it is sorted; empty for a column of words.
    hint : str, default=""
        What the reader should know of it.
    measure : str, default=""
        The measure it holds, for the bars.
    """

    title: str
    better: str = ""
    hint: str = ""
    measure: str = ""


@dataclass(frozen=True)
class Cell:
    """One cell.

    Parameters
    ----------
    text : str
        What stands there.
    value : float or None, default=None
        By what it is sorted in a column of numbers; None stays at the end.
    mark : {"best", "second", ""}, default=""
        How it compares with the others.
    deviation : float or None, default=None
        Standard deviation, shown behind the text.
    printed : float or None, default=None
        The number printed in the paper, shown below the text.
    hint : str, default=""
        What the reader should know of it, such as why there is no number.
    target : str, default=""
        Name of the place on the page that tells more.
    details : str, default=""
        More words, shown when the reader asks for them.
    """

    text: str
    value: float | None = None
    mark: str = ""
    deviation: float | None = None
    printed: float | None = None
    hint: str = ""
    target: str = ""
    details: str = ""

    def to_html(self, word: bool) -> str:
        """Return the cell; ``word`` says whether its column holds words."""
        attributes = {
            "class": " ".join(filter(None, ["text" if word else "", self.mark])),
            "data-value": "" if self.value is None else f"{self.value:.6g}",
            "data-std": "" if self.deviation is None else f"{self.deviation:.4g}",
            "data-printed": "" if self.printed is None else f"{self.printed:.3f}",
        }
        text = html.escape(self.text)
        if self.target:
            hint = _attributes({"href": f"#{self.target}", "title": self.hint})
            inner = f"<a{hint}>{text}</a>"
        elif self.details:
            words = html.escape(self.details)
            inner = f"<details><summary>{text}</summary>{words}</details>"
        else:
            inner = f"<span>{text}</span>"
        if self.mark:
            words = {"best": "best", "second": "second best"}[self.mark]
            inner += f'<span class="hidden-text"> ({words})</span>'
        if self.deviation is not None:
            inner += f" <small>± {self.deviation:.3f}</small>"
        if self.printed is not None:
            inner += f'<small class="printed">printed {self.printed:.3f}</small>'
        return f"<td{_attributes(attributes)}>{inner}</td>"


@dataclass(frozen=True)
class Row:
    """One row.

    Parameters
    ----------
    name : str
        Its header.
    cells : sequence of Cell
        One for each column.
    method : str
        The method it belongs to.
    ours : bool, default=False
        Whether that is a version of SPL-MLL.
    hint : str, default=""
        What the reader should know of it.
    measure : str, default=""
        The measure with which it is shown; empty if with every one.
    """

    name: str
    cells: Sequence[Cell]
    method: str
    ours: bool = False
    hint: str = ""
    measure: str = ""


@dataclass(frozen=True)
class SortableTable:
    """A table that the reader can sort.

    Parameters
    ----------
    corner : str
        Title of the column of row names.
    columns : sequence of Column
        The other columns.
    rows : sequence of Row
        The rows, in their first order.
    caption : str, default=""
        What the table shows.
    sorted_by : int or None, default=None
        The column by which the rows are sorted already, best first.
    name : str, default=""
        Name of the data set, if it is to have bars.

    Examples
    --------
    >>> from splmll.experiments.report.sortable import Cell, Column, Row, SortableTable
    >>> rows = [Row("RF", [Cell("0.1", 0.1, "best")], "RF"), Row("BR", [Cell("0.2", 0.2)], "BR")]
    >>> table = SortableTable("method", [Column("loss", "low")], rows)
    >>> '<td class="best" data-value="0.1">' in table.to_html(1)
    True
    """

    corner: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""
    sorted_by: int | None = None
    name: str = ""

    def to_html(self, number: int) -> str:
        """Return the table, in a box that scrolls sideways where the screen is narrow."""
        head = [_header(Column(self.corner))]
        for position, column in enumerate(self.columns):
            best_first = "descending" if column.better == "high" else "ascending"
            head.append(_header(column, best_first if position == self.sorted_by else ""))
        body = "\n".join(self._line(row) for row in self.rows)
        name = _attributes({"data-name": self.name})
        label = html.escape(self.name or self.caption or self.corner)
        table = (
            f'<table class="numbers" id="table{number}"{name}>\n'
            f"<thead><tr>{''.join(head)}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
        )
        caption = f"<figcaption>{html.escape(self.caption)}</figcaption>" if self.caption else ""
        # Whoever scrolls with the keyboard must be able to reach the box.
        return (
            f'<figure><div class="wide" tabindex="0" role="region" aria-label="{label}">'
            f"{table}</div>{caption}</figure>"
        )

    def _line(self, row: Row) -> str:
        attributes = _attributes(
            {
                "data-method": row.method,
                "data-for-measure": row.measure,
                "class": "ours" if row.ours else "",
            }
        )
        cells = "".join(
            cell.to_html(word=not column.better)
            for cell, column in zip(row.cells, self.columns, strict=True)
        )
        header = (
            f"<th{_attributes({'scope': 'row', 'title': row.hint})}>{html.escape(row.name)}</th>"
        )
        return f"<tr{attributes}>{header}{cells}</tr>"


def _header(column: Column, direction: str = "") -> str:
    attributes = {
        "scope": "col",
        "class": "" if column.better else "text",
        "data-better": column.better,
        "data-measure": column.measure,
        "aria-sort": direction,
        "title": column.hint,
    }
    button = f'<button type="button" class="sort">{html.escape(column.title)}</button>'
    return f"<th{_attributes(attributes)}>{button}</th>"


def _attributes(values: dict[str, str]) -> str:
    """Return those attributes that have a value, each with a space before it."""
    return "".join(f' {name}="{html.escape(value)}"' for name, value in values.items() if value)
