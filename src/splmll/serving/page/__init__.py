"""The page of the service: one HTML document with its style and script inside.

It asks the service it came from and nobody else. The pieces stand beside this file: the document,
its style, and one script file for each idea.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from string import Template

# Colours, tables, bars, graph and chips are those of the report: both pages look alike.
_STYLES = ("experiments/report/report.css", "serving/page/page.css")

# In this order they are one script; what a file uses stands in an earlier one.
_SCRIPTS = (
    "dom.js",
    "service.js",
    "csv.js",
    "row_form.js",
    "bars.js",
    "threshold.js",
    "reasons.js",
    "switches.js",
    "graph.js",
    "rows_table.js",
    "main.js",
)


@cache
def page_html() -> str:
    """Return the page.

    Returns
    -------
    page : str
        A complete document that needs no other file.

    Examples
    --------
    >>> from splmll.serving.page import page_html
    >>> page = page_html()
    >>> page.startswith("<!DOCTYPE html>"), " src=" in page
    (True, False)
    """
    style = "\n".join(_package_file(name) for name in _STYLES)
    document = Template(_package_file("serving/page/page.html"))
    return document.substitute(style=style, script=_script())


def script_hashes() -> list[str]:
    """Return the hash of every script in the page.

    Returns
    -------
    hashes : list of str
        As ``script-src`` of a Content-Security-Policy names them, without the quotes around.

    Examples
    --------
    >>> from splmll.serving.page import script_hashes
    >>> [each[:7] for each in script_hashes()]
    ['sha256-']
    """
    digest = hashlib.sha256(_script().encode("utf-8")).digest()
    return [f"sha256-{base64.b64encode(digest).decode('ascii')}"]


@cache
def _script() -> str:
    pieces = "\n".join(_package_file(f"serving/page/{name}") for name in _SCRIPTS)
    # A function of its own: nothing that is loaded into the browser sees the page's names.
    return f'"use strict";\n(() => {{\n{pieces}\n}})();'


def _package_file(name: str) -> str:
    return files("splmll").joinpath(name).read_text("utf-8").strip()
