"""One self-contained HTML page from sections of text, tables and figures.

Everything is inside the file: style, script, drawings, numbers. It follows the reader's choice of
light or dark, fits a phone, and every word that is put in is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from splmll.atomic import atomic_write

# A cell of more letters is broken into lines.
_LONGEST_LINE = 60


class Part(Protocol):
    """Something that stands in a section; parts.html has a macro for every kind."""

    def to_html(self, number: int) -> str:
        """Return the part as HTML; ``number`` is unique on the page."""
        return macro(type(self).__name__.lower(), self, number)


@dataclass(frozen=True)
class Text(Part):
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


@dataclass(frozen=True)
class Table(Part):
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

    def style(self, row: int | None, column: int) -> str:
        """Return the class of a cell: whether it is best, and in a column of sentences."""
        words = " prose" if column in self._prose else ""
        best = " best" if (row, column) in self.best else ""
        return (words + best).strip()

    @cached_property
    def _prose(self) -> frozenset[int]:
        """The columns with a cell so long that it is broken into lines."""
        columns = enumerate(zip(*self.rows))
        return frozenset(i for i, cells in columns if max(map(len, cells)) > _LONGEST_LINE)


@dataclass(frozen=True)
class Figure(Part):
    """A matplotlib figure, drawn into the page as SVG.

    What is black in the figure takes the colour of the page's text and its background is left
    out, so that it can be read on light and dark pages.

    Parameters
    ----------
    figure : matplotlib Figure
        What to draw.
    caption : str
        What it shows, also for readers who do not see it.
    """

    figure: Any
    caption: str

    def drawing(self, number: int) -> str:
        """Return the figure as an SVG element."""
        return _svg(self.figure, f"figure{number}", html.escape(self.caption))


@dataclass(frozen=True)
class Written(Part):
    """HTML that this package wrote itself, nothing of which is escaped, and a caption that is."""

    markup: str
    caption: str = ""


@dataclass(frozen=True)
class Heading(Part):
    """A title inside a section.

    Examples
    --------
    >>> from splmll.experiments.report import Heading
    >>> Heading("Time & memory").to_html(3)
    '<h3 id="h3">Time &amp; memory</h3>'
    """

    words: str


@dataclass(frozen=True)
class Folded(Part):
    """Parts that are shown when the reader asks for them; figures cannot be among them.

    Examples
    --------
    >>> from splmll.experiments.report import Folded, Text
    >>> Folded("Versions", [Text("numpy 2.0")]).to_html(0)
    '<details class="more"><summary>Versions</summary><p>numpy 2.0</p></details>'
    """

    title: str
    parts: Sequence[Text | Table | Written]


@dataclass(frozen=True)
class Section:
    """A title and what stands below it, in order: anything with a method ``to_html``."""

    title: str
    parts: Sequence[Part]


def build_page(
    title: str,
    sections: Sequence[Section],
    *,
    introduction: str = "",
    opening: Sequence[Part] = (),
    script: str = "",
) -> str:
    """Return a complete HTML page.

    Parameters
    ----------
    title : str
        Title of the page.
    sections : sequence of Section
        Its sections, in order.
    introduction : str, default=""
        A paragraph below the title.
    opening : sequence of parts, default=()
        What else stands above the table of contents.
    script : str, default=""
        JavaScript of the page. No other script can run in it.

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
    from markupsafe import Markup

    numbers = itertools.count(1)
    template = _templates().get_template("page.html")
    return template.render(
        title=title,
        policy=_policy(script),
        style=package_file("report.css"),
        introduction=introduction,
        opening=opening,
        sections=sections,
        # What a part has written is escaped already.
        written=lambda part: Markup(part.to_html(next(numbers))),
        script=script,
    )


@cache
def _templates() -> Any:
    from jinja2 import Environment, FunctionLoader

    loader = FunctionLoader(package_file)
    return Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)


def macro(name: str, *arguments: Any) -> str:
    """Return what a macro of parts.html makes of something."""
    return str(getattr(_templates().get_template("parts.html").module, name)(*arguments))


@cache
def package_file(name: str) -> str:
    """Return the text of a file that stands beside this module."""
    return files(__package__).joinpath(name).read_text("utf-8").strip()


def write_page(path: str | Path, page: str) -> Path:
    """Write a page, also into a folder that is not there yet; a failure leaves what stood there.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from splmll.experiments.report import build_page, write_page
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(Path(folder) / "out" / "page.html", build_page("Results", [])).name
    'page.html'
    """
    with atomic_write(Path(path)) as part:
        part.write_text(page, "utf-8")
    return Path(path)


def signed(value: float, digits: int = 2, *, plus: bool = True) -> str:
    """Return a number with a minus sign of full width, or with a plus sign if that is wanted."""
    text = f"{value:+.{digits}f}"
    if float(text) == 0.0:  # there is no negative zero on paper
        text = f"{0:+.{digits}f}"
    text = text.replace("-", "\N{MINUS SIGN}")
    return text if plus else text.removeprefix("+")


def _policy(script: str) -> str:
    """Return what the browser may load: nothing but what is in the file, and this one script.

    Words that reached the page unescaped by mistake could then still not do anything.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    allowed = f"'sha256-{digest}'" if script else "'none'"
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"


def _svg(figure: Any, prefix: str, title: str) -> str:
    """Return a figure as an SVG element that can stand beside others in one page."""
    import matplotlib as mpl

    buffer = io.StringIO()
    # Text stays text: smaller, searchable, and in the reader's font. The salt makes the names
    # inside the drawing, and so the page, the same every time.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        figure.savefig(
            buffer, format="svg", transparent=True, metadata={"Date": None}, bbox_inches="tight"
        )
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
