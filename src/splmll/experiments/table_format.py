"""One table, four notations: plain text, Markdown, LaTeX and HTML.

What a cell says and how it is marked is decided before; here it is only escaped, and written down
by pandas where pandas knows the notation.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

Mark = Literal["", "best", "second"]

# A LaTeX float cannot be longer than its page; a table with more rows than this is a longtable.
ROWS_ON_A_PAGE = 50
TEXT_WIDTH = 90
MISSING = "-"


@dataclass(frozen=True)
class Cell:
    """What stands in one cell.

    Parameters
    ----------
    text : str
        A number or a word.
    mark : {"", "best", "second"}, default=""
        How it compares with the others.
    aside : str, default=""
        What stands in brackets beside it.
    notes : tuple of str, default=()
        Footnotes. Cells with the same footnote share its number.
    failed : bool, default=False
        Whether it stands in place of a number that could not be had.
    """

    text: str
    mark: Mark = ""
    aside: str = ""
    notes: tuple[str, ...] = ()
    failed: bool = False


@dataclass(frozen=True, repr=False)
class FormattedTable:
    r"""A table that can be written as text, Markdown, LaTeX or HTML.

    Printing it gives the text; a notebook shows the HTML.

    Parameters
    ----------
    cells : DataFrame of Cell
        An index of two levels makes blocks of rows.
    caption : str, default=""
        What the table shows and under which conditions.
    frame : DataFrame, optional
        The numbers behind the cells.

    Examples
    --------
    >>> import pandas as pd
    >>> from splmll.experiments.table_format import Cell, FormattedTable
    >>> cells = pd.DataFrame({"Ranking loss ↓": [Cell("0.31"), Cell("0.17", "best", "0.18")]},
    ...                      index=pd.Index(["BR", "A_B"], name="method"))
    >>> table = FormattedTable(cells, "Held-out.")
    >>> print(table)
    method  Ranking loss ↓
    ------  --------------
    BR      0.31
    A_B     0.17* [0.18]
    <BLANKLINE>
    Held-out. * best, + second best.
    >>> print(table.to_markdown().splitlines()[3])
    | A\_B | **0.17** \[0.18\] |
    """

    cells: pd.DataFrame
    caption: str = ""
    frame: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, caption: str = "") -> FormattedTable:
        """Return numbers and words as a table without marks, with a dash for what is missing."""

        def cell(value: Any) -> Cell:
            if pd.isna(value):
                return Cell(MISSING)
            return Cell(f"{value:.3f}" if isinstance(value, float) else str(value))

        return cls(frame.map(cell), caption, frame)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

    @property
    def notes(self) -> list[str]:
        """The footnotes, by their numbers."""
        return list(dict.fromkeys(note for cell in self._all_cells for note in cell.notes))

    def to_text(self) -> str:
        """Return the table for a terminal: ``*`` marks the best, ``+`` the second best."""
        style = {"best": "{}*", "second": "{}+"}
        header, *lines = self._lines(style, "({})", str)
        widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
        rule = ["-" * width for width in widths]
        shown, block = [header], None
        for first, *others in lines:
            if block is None or (first != block and self._has_blocks):
                shown += [rule, [first, *others]]
            else:  # the name of a block stands in its first row only
                shown.append(["" if self._has_blocks else first, *others])
            block = first
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in shown]
        below = [self._legend("* best, + second best.", str), *self._notes("({}) {}", str)]
        wrapped = [textwrap.fill(paragraph, TEXT_WIDTH) for paragraph in below if paragraph]
        return "\n".join([*text, "", *wrapped] if wrapped else text)

    def to_markdown(self) -> str:
        """Return the table for Markdown: the best in bold, the second best in italics."""
        style = {"best": "**{}**", "second": "*{}*"}
        header, *lines = self._lines(style, "<sup>{}</sup>", _escape_markdown)
        rows = [header, ["---"] * len(header), *lines]
        legend = self._legend("**Bold**: best, *italics*: second best.", _escape_markdown)
        below = [legend, *self._notes("<sup>{}</sup> {}", _escape_markdown)]
        return "\n\n".join(
            ["\n".join(f"| {' | '.join(row)} |" for row in rows), *filter(None, below)]
        )

    def to_latex(self) -> str:
        r"""Return the table for LaTeX: the best in bold, the second best underlined.

        It needs the packages booktabs and graphicx. A table of more than 50 lines, which fits no
        page, becomes a ``longtable`` of the package of that name.
        """
        style = {"best": r"\textbf{{{}}}", "second": r"\underline{{{}}}"}
        cells = self._written(style, "$^{{{}}}$", _escape_latex)
        words = r"\textbf{Bold}: best, \underline{underlined}: second best."
        caption = self._legend(words, _escape_latex)
        notes = self._notes(r"\par\footnotesize $^{{{}}}$ {}", _escape_latex)
        long = len(cells) > ROWS_ON_A_PAGE
        body = cells.style.to_latex(
            column_format="l" * cells.index.nlevels + "c" * cells.shape[1],
            hrules=True,
            clines="skip-last;data" if self._has_blocks else None,
            multirow_align="naive",
            environment="longtable" if long else None,
            caption=caption if long else None,
        )
        # A line between blocks, as above and below the table, and none after the last.
        body = re.sub(r"\\cline\{.*\}\n(?=\\bottomrule|\\end)", "", body)
        body = re.sub(r"\\cline\{.*\}", r"\\midrule", body)
        if long:
            start = r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}"
            lines = [start, body, *notes, r"\par\endgroup"]
            return "\n".join([r"% needs \usepackage{booktabs,longtable}", *lines])
        return "\n".join(
            [
                r"% needs \usepackage{booktabs,graphicx}",
                r"\begin{table*}[tb]",
                r"\centering\small",
                rf"\caption{{{caption}}}",
                # Made smaller if it is wider than the text, and only then.
                r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
                f"{body.strip()}}}",
                *notes,
                r"\end{table*}",
            ]
        )

    def to_html(self, number: int = 0) -> str:
        """Return the table for a page; it can stand in a section of a report.

        Parameters
        ----------
        number : int, default=0
            Unique on the page: footnotes are linked by it.
        """
        style = {"best": "<strong>{}</strong>", "second": "<u>{}</u>"}
        style["failed"] = '<span class="failed">{}</span>'
        anchor = f"table{number}-note"
        link = f'<a href="#{anchor}{{0}}">{{0}}</a>'
        cells = self._written(style, "<sup>{}</sup>", html.escape, link)
        table = cells.to_html(escape=False, border=0, sparsify=False)
        below = [
            self._legend("Bold: best, underlined: second best.", html.escape),
            *self._notes(f'<span id="{anchor}{{0}}"><sup>{{0}}</sup> {{1}}</span>', html.escape),
        ]
        caption = "<br>".join(filter(None, below))
        caption = f"<figcaption>{caption}</figcaption>" if caption else ""
        # Whoever scrolls with the keyboard must be able to reach the box.
        box = f'<div class="wide" tabindex="0" role="region" aria-label="table {number}">'
        return f"<figure>{box}{table}</div>{caption}</figure>"

    # What all notations share -------------------------------------------------------------------

    @property
    def _all_cells(self) -> list[Cell]:
        return [cell for row in self.cells.to_numpy() for cell in row]

    @property
    def _has_blocks(self) -> bool:
        return self.cells.index.nlevels > 1

    def _written(
        self,
        style: dict[str, str],
        number: str,
        escape: Callable[[str], str],
        each_number: str = "{}",
    ) -> pd.DataFrame:
        """All cells as text; what the rows are stands in the line of the columns."""
        footnotes = self.notes

        def write(cell: Cell) -> str:
            how = style.get("failed" if cell.failed else cell.mark, "{}")
            text = how.format(escape(cell.text))
            if cell.notes:
                places = [each_number.format(footnotes.index(note) + 1) for note in cell.notes]
                text += number.format(",".join(places))
            return text + (escape(f" [{cell.aside}]") if cell.aside else "")

        text = self.cells.map(write).rename(index=escape, columns=escape)
        text.columns.name = text.index.names[-1]
        text.index.names = [None] * text.index.nlevels
        return text

    def _lines(
        self, style: dict[str, str], number: str, escape: Callable[[str], str]
    ) -> list[list[str]]:
        """The header and all rows, the names of a row first."""
        text = self._written(style, number, escape)
        rows = text.index.to_frame().astype(str).to_numpy()
        corner = [str(name or "") for name in self.cells.index.names]
        lines = [[*names, *cells] for names, cells in zip(rows, text.to_numpy())]
        return [[*corner, *text.columns], *lines]

    def _notes(self, wrap: str, escape: Callable[[str], str]) -> list[str]:
        numbered = enumerate(self.notes, start=1)
        return [wrap.format(number, escape(note)) for number, note in numbered]

    def _legend(self, marks: str, escape: Callable[[str], str]) -> str:
        """The caption and, if anything is marked, what the marks mean."""
        marked = any(cell.mark for cell in self._all_cells)
        return " ".join(filter(None, [escape(self.caption), marks if marked else ""]))


_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>|])")

_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        # At the start of a line it would be read as an option of the line break before it.
        "[": "{[}",
        "±": r"$\pm$",
        "↓": r"$\downarrow$",
        "↑": r"$\uparrow$",
        "†": r"$^\dagger$",
    }
)


def _escape_markdown(text: str) -> str:
    return _MARKDOWN_SPECIAL.sub(r"\\\1", text)


def _escape_latex(text: str) -> str:
    return text.translate(_LATEX)
