"""One self-contained HTML page from sections of text, tables and figures.

Everything is inside the file: style, drawings, numbers. It follows the reader's choice of light
or dark, fits a phone, and every word that is put in is escaped.
"""

from __future__ import annotations

import html
import io
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Protocol


class Part(Protocol):
    """Something that stands in a section."""

    def to_html(self, number: int) -> str:
        """Return the part as HTML; ``number`` is unique on the page."""


@dataclass(frozen=True)
class Text:
    """A paragraph.

    Parameters
    ----------
    words : str
        Plain text; it is escaped.
    note : bool, default=False
        Whether it is small print, such as the conditions under which numbers were measured.

    Examples
    --------
    >>> from splmll.experiments.report import Text
    >>> Text("a < b").to_html(0)
    '<p>a &lt; b</p>'
    """

    words: str
    note: bool = False

    def to_html(self, number: int) -> str:
        """Return the paragraph."""
        opening = '<p class="note">' if self.note else "<p>"
        return f"{opening}{html.escape(self.words)}</p>"


@dataclass(frozen=True)
class Table:
    """A table with a header line.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences of str
        Cells, already formatted. The first of a row is its header.
    caption : str, default=""
        What the table shows.
    best : collection of (row, column), default=()
        Cells to mark as best.

    Examples
    --------
    >>> from splmll.experiments.report import Table
    >>> table = Table(["method", "loss"], [["a", "0.1"], ["b", "0.2"]], best={(0, 1)})
    >>> '<td class="best">0.1</td>' in table.to_html(0)
    True
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    best: Any = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(
                    f"A row has {len(row)} cells under {len(self.header)} column names; give one "
                    "cell for each."
                )

    def to_html(self, number: int) -> str:
        """Return the table, in a box that scrolls sideways where the screen is narrow."""
        head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in self.header)
        lines = []
        for i, (first, *others) in enumerate(self.rows):
            cells = "".join(
                ('<td class="best">' if (i, j) in self.best else "<td>")
                + f"{html.escape(str(cell))}</td>"
                for j, cell in enumerate(others, start=1)
            )
            lines.append(f'<tr><th scope="row">{html.escape(str(first))}</th>{cells}</tr>')
        body = "\n".join(lines)
        table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
        # The caption stays outside the box: it wraps where the table would scroll.
        caption = f"<figcaption>{html.escape(self.caption)}</figcaption>" if self.caption else ""
        return f'<figure><div class="wide">{table}</div>{caption}</figure>'


@dataclass(frozen=True)
class Figure:
    """A matplotlib figure, drawn into the page as SVG.

    What is black in the figure takes the colour of the page's text and its background is left
    out, so that it can be read on light and dark pages.

    Parameters
    ----------
    figure : matplotlib Figure
        What to draw.
    caption : str
        What it shows, also for readers who do not see it.

    Examples
    --------
    >>> from matplotlib.figure import Figure as Canvas
    >>> from splmll.experiments.report import Figure
    >>> canvas = Canvas(figsize=(2, 1))
    >>> _ = canvas.add_subplot().plot([0, 1], [1, 0])
    >>> Figure(canvas, "A line that falls.").to_html(1).startswith("<figure>")
    True
    """

    figure: Any
    caption: str

    def to_html(self, number: int) -> str:
        """Return the drawing with its caption."""
        caption = html.escape(self.caption)
        drawing = _svg(self.figure, f"figure{number}", caption)
        return (
            f'<figure><div class="wide">{drawing}</div><figcaption>{caption}</figcaption></figure>'
        )


@dataclass(frozen=True)
class Section:
    """A title and what stands below it.

    Parameters
    ----------
    title : str
        The title.
    parts : sequence of Text, Table or Figure
        The content, in order.
    """

    title: str
    parts: Sequence[Part]


def build_page(title: str, sections: Sequence[Section], *, introduction: str = "") -> str:
    """Return a complete HTML page.

    Parameters
    ----------
    title : str
        Title of the page.
    sections : sequence of Section
        Its sections, in order.
    introduction : str, default=""
        A paragraph below the title.

    Returns
    -------
    page : str
        HTML that requests nothing from anywhere.

    Examples
    --------
    >>> from splmll.experiments.report import Section, Text, build_page
    >>> page = build_page("Results", [Section("Numbers", [Text("None yet.")])])
    >>> "<h2" in page and "None yet." in page
    True
    """
    blocks, entries, number = [], [], 0
    for position, section in enumerate(sections, start=1):
        heading = html.escape(section.title)
        parts = []
        for part in section.parts:
            number += 1
            parts.append(part.to_html(number))
        content = "\n".join(parts)
        blocks.append(f'<section id="s{position}">\n<h2>{heading}</h2>\n{content}\n</section>')
        entries.append(f'<a href="#s{position}">{heading}</a>')
    return _PAGE.substitute(
        title=html.escape(title),
        introduction=f'<p class="lead">{html.escape(introduction)}</p>' if introduction else "",
        contents=f"<nav>{' '.join(entries)}</nav>" if len(entries) > 2 else "",
        sections="\n".join(blocks),
    )


def write_page(path: str | Path, page: str) -> Path:
    """Write a page; a failure leaves what stood there before.

    Parameters
    ----------
    path : path-like
        The file; its folder is made where it is missing.
    page : str
        What `build_page` returns.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.experiments.report import build_page, write_page
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(Path(folder) / "out" / "page.html", build_page("Results", [])).name
    'page.html'
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        os.chmod(temporary, 0o644)  # mkstemp makes files that only their owner can read
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def _svg(figure: Any, prefix: str, title: str) -> str:
    """Return a figure as an SVG element that can stand beside others in one page."""
    import matplotlib as mpl

    buffer = io.StringIO()
    # Text stays text: smaller, searchable, and in the reader's font. The salt makes the names
    # inside the drawing, and so the page, the same every time.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    drawing = buffer.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    # Names are unique in one drawing only.
    drawing = re.sub(r'\bid="', f'id="{prefix}-', drawing)
    drawing = drawing.replace("url(#", f"url(#{prefix}-").replace('href="#', f'href="#{prefix}-')
    drawing = drawing.replace("#000000", "currentColor")
    size = re.search(r'<svg[^>]*?width="([\d.]+)pt"', drawing)
    width = round(float(size[1]) * 4 / 3) if size else 640
    opening = (
        f'<svg role="img" aria-label="{title}" fill="currentColor" '
        f'style="width:{width}px;min-width:{min(width, _SMALLEST)}px"'
    )
    drawing = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", drawing, count=1)
    drawing = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", drawing, count=1)
    return drawing.replace("<svg", opening, 1).strip()


# Below this width (in pixels) a figure scrolls instead of shrinking further.
_SMALLEST = 520

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
:root { --ink: #1d2327; --paper: #ffffff; --faint: #5c6770; --line: #d6dce1; --mark: #dcefe0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8eb; --paper: #14181b; --faint: #9aa5ad; --line: #353d43; --mark: #1f4a2c; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .6rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; padding-top: .6rem;
  border-top: 1px solid var(--line); }
p { margin: .6rem 0; max-width: 44rem; }
.lead { font-size: 1.05rem; }
.note, figcaption { color: var(--faint); font-size: .9rem; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin-top: 1rem; font-size: .95rem; }
a { color: inherit; text-underline-offset: .2em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0; font-variant-numeric: tabular-nums;
  font-size: .95rem; }
th, td { padding: .3rem .8rem .3rem 0; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
thead th { border-bottom: 2px solid var(--line); vertical-align: bottom; white-space: normal; }
th:first-child { text-align: left; }
tbody th { font-weight: 600; }
.best { background: var(--mark); font-weight: 700; }
td.best { padding-left: .4rem; padding-right: .4rem; }
figure { margin: 1rem 0; }
figure svg { display: block; max-width: 100%; height: auto; }
figcaption { margin-top: .4rem; max-width: 44rem; }
</style>
</head>
<body>
<header>
<h1>$title</h1>
$introduction
$contents
</header>
<main>
$sections
</main>
</body>
</html>
""")
