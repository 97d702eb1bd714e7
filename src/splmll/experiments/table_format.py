"""One table, four notations: plain text, Markdown, LaTeX and HTML.

What a cell says and how it is marked is decided before; here it is only written down and escaped.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
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

    Examples
    --------
    >>> from splmll.experiments.table_format import Cell
    >>> Cell("0.170", mark="best", aside="0.172").text
    '0.170'
    """

    text: str
    mark: Mark = ""
    aside: str = ""
    notes: tuple[str, ...] = ()
    failed: bool = False


@dataclass(frozen=True)
class Block:
    """Rows that belong together, such as those of one data set.

    Parameters
    ----------
    title : str
        What they have in common; it stands in the first column.
    rows : mapping of str to sequence of Cell
        Name of a row -> its cells.

    Examples
    --------
    >>> from splmll.experiments.table_format import Block, Cell
    >>> list(Block("yeast", {"BR": [Cell("0.2")]}).rows)
    ['BR']
    """

    title: str
    rows: Mapping[str, Sequence[Cell]]


@dataclass(frozen=True, repr=False)
class FormattedTable:
    r"""A table that can be written as text, Markdown, LaTeX or HTML.

    Printing it gives the text; a notebook shows the HTML.

    Parameters
    ----------
    columns : sequence of str
        Titles of the columns of numbers.
    blocks : sequence of Block
        The rows. The title of a single block is not shown.
    caption : str, default=""
        What the table shows and under which conditions.
    corner : tuple of str, default=("", "method")
        Titles of the columns that name the block and the row.
    groups : sequence of str, default=()
        For every column the title above it, which it shares with its neighbours.
    frame : DataFrame, optional
        The numbers behind the cells.

    Examples
    --------
    >>> from splmll.experiments.table_format import Block, Cell, FormattedTable
    >>> rows = {"BR": [Cell("0.31")], "A_B": [Cell("0.17", mark="best", aside="0.18")]}
    >>> table = FormattedTable(["Ranking loss ↓"], [Block("yeast", rows)], "Held-out.")
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

    columns: Sequence[str]
    blocks: Sequence[Block]
    caption: str = ""
    corner: tuple[str, str] = ("", "method")
    groups: Sequence[str] = ()
    frame: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)

    def __post_init__(self) -> None:
        if self.groups and len(self.groups) != len(self.columns):
            raise ValueError(
                f"There are {len(self.groups)} groups for {len(self.columns)} columns; name the "
                "group of every column."
            )
        for block in self.blocks:
            for name, cells in block.rows.items():
                if len(cells) != len(self.columns):
                    raise ValueError(
                        f"The row {name!r} has {len(cells)} cells under {len(self.columns)} "
                        "columns; give one cell for each."
                    )

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, caption: str = "", digits: int = 3) -> FormattedTable:
        """Return a frame as a table without marks.

        Parameters
        ----------
        frame : DataFrame
            Its index names the rows, its columns the columns.
        caption : str, default=""
            What the table shows.
        digits : int, default=3
            Decimals of real numbers. What is missing becomes a dash.

        Returns
        -------
        table : FormattedTable

        Examples
        --------
        >>> import pandas as pd
        >>> from splmll.experiments.table_format import FormattedTable
        >>> frame = pd.DataFrame({"rows": [593], "cardinality": [1.8685]}, index=["emotions"])
        >>> print(FormattedTable.from_frame(frame.rename_axis("data"), digits=2).to_markdown())
        | data | rows | cardinality |
        | --- | --- | --- |
        | emotions | 593 | 1.87 |
        """
        rows = {
            str(name): [Cell(_written(value, digits)) for value in values]
            for name, *values in frame.itertuples(name=None)
        }
        if len(rows) < len(frame):
            raise ValueError("Two rows of the frame have the same name; make its index unique.")
        columns = [str(column) for column in frame.columns]
        corner = ("", str(frame.index.name or ""))
        return cls(columns, [Block("", rows)], caption, corner, frame=frame)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_text(self) -> str:
        """Return the table for a terminal: ``*`` marks the best, ``+`` the second best.

        Returns
        -------
        text : str
        """
        marks = {"": "", "best": "*", "second": "+"}

        def written(cell: Cell) -> str:
            aside = f" [{cell.aside}]" if cell.aside else ""
            return f"{cell.text}{marks[cell.mark]}{self._note_numbers(cell, '({})')}{aside}"

        bodies = [
            [
                [*self._row_names(block.title if i == 0 else "", name), *map(written, cells)]
                for i, (name, cells) in enumerate(block.rows.items())
            ]
            for block in self.blocks
        ]
        header = [*self._corner(), *self._flat_columns()]
        every_line = [header, *(line for body in bodies for line in body)]
        widths = [max(map(len, column)) for column in zip(*every_line, strict=True)]
        lines = [_aligned(header, widths)]
        for body in bodies:
            lines.append(_aligned(["-" * width for width in widths], widths))
            lines += [_aligned(line, widths) for line in body]
        below = [self._legend("* best, + second best.", str), *self._notes("({}) {}", str)]
        wrapped = [textwrap.fill(paragraph, TEXT_WIDTH) for paragraph in below if paragraph]
        return "\n".join([*lines, "", *wrapped] if wrapped else lines)

    def to_markdown(self) -> str:
        """Return the table for Markdown: the best in bold, the second best in italics.

        Returns
        -------
        markdown : str
        """
        wraps = {"": "{}", "best": "**{}**", "second": "*{}*"}

        def written(cell: Cell) -> str:
            text = wraps[cell.mark].format(_escape_markdown(cell.text))
            aside = _escape_markdown(f" [{cell.aside}]") if cell.aside else ""
            return f"{text}{self._note_numbers(cell, '<sup>{}</sup>')}{aside}"

        def line(cells: Sequence[str]) -> str:
            return f"| {' | '.join(cells)} |"

        header = [_escape_markdown(name) for name in [*self._corner(), *self._flat_columns()]]
        lines = [line(header), line(["---"] * len(header))]
        for block in self.blocks:
            for name, cells in block.rows.items():
                # The block's name stands in every row: nothing else separates blocks here.
                names = map(_escape_markdown, self._row_names(block.title, name))
                lines.append(line([*names, *map(written, cells)]))
        legend = self._legend("**Bold**: best, *italics*: second best.", _escape_markdown)
        for paragraph in [legend, *self._notes("<sup>{}</sup> {}", _escape_markdown)]:
            lines += ["", paragraph] if paragraph else []
        return "\n".join(lines)

    def to_latex(self, label: str = "") -> str:
        r"""Return the table for LaTeX: the best in bold, the second best underlined.

        It needs the packages booktabs and graphicx. A table of more than 50 lines, which fits no
        page, becomes a ``longtable`` of the package of that name.

        Parameters
        ----------
        label : str, default=""
            For ``\ref``.

        Returns
        -------
        latex : str
        """
        wraps = {"": "{}", "best": r"\textbf{{{}}}", "second": r"\underline{{{}}}"}

        def written(cell: Cell) -> str:
            text = wraps[cell.mark].format(_escape_latex(cell.text))
            aside = _escape_latex(f" [{cell.aside}]") if cell.aside else ""
            return f"{text}{self._note_numbers(cell, '$^{{{}}}$')}{aside}"

        head = [_latex_line(map(_escape_latex, [*self._corner(), *self.columns]))]
        if self.groups:
            spans = (
                rf"\multicolumn{{{width}}}{{c}}{{{_escape_latex(title)}}}"
                for title, width in self._group_spans()
            )
            head.insert(0, _latex_line([*("" for _ in self._corner()), *spans]))
        body = []
        for block in self.blocks:
            body.append(r"\midrule")
            for i, (name, cells) in enumerate(block.rows.items()):
                names = self._row_names(block.title if i == 0 else "", name)
                body.append(_latex_line([*map(_escape_latex, names), *map(written, cells)]))
        alignment = "l" * len(self._corner()) + "c" * len(self.columns)
        words = r"\textbf{Bold}: best, \underline{underlined}: second best."
        legend = rf"\caption{{{self._legend(words, _escape_latex)}}}"
        legend += rf"\label{{{label}}}" if label else ""
        below = [
            rf"\par\footnotesize {note}" for note in self._notes("$^{{{}}}$ {}", _escape_latex)
        ]
        if len(body) > ROWS_ON_A_PAGE:
            lines = [
                r"% needs \usepackage{booktabs,longtable}",
                r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
                rf"\begin{{longtable}}{{{alignment}}}",
                rf"{legend} \\",
                *(r"\toprule", *head, r"\endhead", *body, r"\bottomrule"),
                r"\end{longtable}",
                *below,
                r"\par\endgroup",
            ]
        else:
            lines = [
                r"% needs \usepackage{booktabs,graphicx}",
                r"\begin{table*}[tb]",
                r"\centering\small",
                legend,
                # Made smaller if it is wider than the text, and only then.
                r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
                rf"\begin{{tabular}}{{{alignment}}}",
                *(r"\toprule", *head, *body, r"\bottomrule"),
                r"\end{tabular}}",
                *below,
                r"\end{table*}",
            ]
        return "\n".join(lines)

    def to_html(self, number: int = 0) -> str:
        """Return the table for a page; it can stand in a section of a report.

        The best cells have the class ``best``, the second best ``second``, those without a number
        ``failed``; what stands in brackets has the class ``aside``.

        Parameters
        ----------
        number : int, default=0
            Unique on the page: footnotes are linked by it.

        Returns
        -------
        html : str
        """
        wraps = {"": "{}", "best": "<strong>{}</strong>", "second": "<u>{}</u>"}
        anchor = f"table{number}-note"
        link = f'<a href="#{anchor}{{0}}">{{0}}</a>'

        def written(cell: Cell) -> str:
            name = "failed" if cell.failed else cell.mark
            text = wraps[cell.mark].format(html.escape(cell.text))
            text += self._note_numbers(cell, "<sup>{}</sup>", link)
            if cell.aside:
                text += f' <span class="aside">[{html.escape(cell.aside)}]</span>'
            opening = f'<td class="{name}">' if name else "<td>"
            return f"{opening}{text}</td>"

        head = [_html_line(self._corner() + list(self.columns), '<th scope="col">')]
        if self.groups:
            empty = "<td></td>" * len(self._corner())
            spans = "".join(
                f'<th scope="colgroup" colspan="{width}">{html.escape(title)}</th>'
                for title, width in self._group_spans()
            )
            head.insert(0, f"<tr>{empty}{spans}</tr>")
        bodies = []
        for block in self.blocks:
            lines = [
                _html_line(
                    self._row_names(block.title, name), '<th scope="row">', map(written, cells)
                )
                for name, cells in block.rows.items()
            ]
            bodies += ["<tbody>", *lines, "</tbody>"]
        below = [
            self._legend("Bold: best, underlined: second best.", html.escape),
            *self._notes(f'<span id="{anchor}{{0}}"><sup>{{0}}</sup> {{1}}</span>', html.escape),
        ]
        caption = "<br>".join(filter(None, below))
        return "\n".join(
            [
                '<figure><div class="wide"><table>',
                *("<thead>", *head, "</thead>", *bodies),
                "</table></div>" + (f"<figcaption>{caption}</figcaption>" if caption else ""),
                "</figure>",
            ]
        )

    # What all notations share -------------------------------------------------------------------

    def _corner(self) -> list[str]:
        return self._row_names(*self.corner)

    def _row_names(self, block: str, row: str) -> list[str]:
        return [block, row] if len(self.blocks) > 1 else [row]

    def _flat_columns(self) -> list[str]:
        """Titles of the columns where there is only one line for them."""
        if not self.groups:
            return list(self.columns)
        return [f"{group} {column}" for group, column in zip(self.groups, self.columns)]

    def _group_spans(self) -> list[tuple[str, int]]:
        return [(title, len(list(same))) for title, same in groupby(self.groups)]

    def _cells(self) -> list[Cell]:
        return [cell for block in self.blocks for row in block.rows.values() for cell in row]

    def _footnotes(self) -> list[str]:
        return list(dict.fromkeys(note for cell in self._cells() for note in cell.notes))

    def _note_numbers(self, cell: Cell, wrap: str, each: str = "{}") -> str:
        """The numbers of the footnotes of a cell, each in its form and all in one."""
        if not cell.notes:
            return ""
        footnotes = self._footnotes()
        return wrap.format(",".join(each.format(footnotes.index(note) + 1) for note in cell.notes))

    def _notes(self, wrap: str, escape: Callable[[str], str]) -> list[str]:
        numbered = enumerate(self._footnotes(), start=1)
        return [wrap.format(number, escape(note)) for number, note in numbered]

    def _legend(self, marks: str, escape: Callable[[str], str]) -> str:
        """The caption and, if anything is marked, what the marks mean."""
        marked = any(cell.mark for cell in self._cells())
        return " ".join(filter(None, [escape(self.caption), marks if marked else ""]))


def _written(value: Any, digits: int) -> str:
    if pd.isna(value):
        return MISSING
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(map(str.ljust, cells, widths)).rstrip()


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


def _latex_line(cells: Any) -> str:
    line = " & ".join(cells)
    # A bracket at the start would be read as an option of the line break before it.
    return ("{}" if line.startswith("[") else "") + line + r" \\"


def _html_line(names: Sequence[str], opening: str, cells: Any = ()) -> str:
    headers = "".join(f"{opening}{html.escape(name)}</th>" for name in names)
    return f"<tr>{headers}{''.join(cells)}</tr>"
