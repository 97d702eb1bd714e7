"""The pages of the service: HTML documents with their style and script inside.

They ask the service they came from and nobody else. The pieces stand beside this file: the
documents, their style, and one script file for each idea.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from string import Template

# Colours, tables, bars, graph and chips are those of the report: all pages look alike.
_STYLES = ("experiments/report/report.css", "serving/page/page.css")
_ANNOTATE_STYLES = (*_STYLES, "serving/page/annotate.css")

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
_ANNOTATE_SCRIPTS = (
    "dom.js",
    "service.js",
    "csv.js",
    "sending.js",
    "label_search.js",
    "retraining.js",
    "annotate.js",
)
_LINK = '<nav aria-label="Pages"><a href="annotate">Annotate</a></nav>'


@cache
def page_html(annotates: bool = False) -> str:
    """Return the page on which rows are tagged.

    Parameters
    ----------
    annotates : bool, default=False
        Whether the service has the other page, too, for a link to it.

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
    return _document("page.html", _STYLES, _SCRIPTS, links=_LINK if annotates else "")


@cache
def annotate_html() -> str:
    """Return the page on which rows are annotated.

    Returns
    -------
    page : str
        A complete document that needs no other file.
    """
    return _document("annotate.html", _ANNOTATE_STYLES, _ANNOTATE_SCRIPTS)


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
    return [_hash(_script(_SCRIPTS))]


def annotate_hashes() -> list[str]:
    """Return the hash of every script in the page of annotators, as :func:`script_hashes`."""
    return [_hash(_script(_ANNOTATE_SCRIPTS))]


def _document(name: str, styles: tuple[str, ...], scripts: tuple[str, ...], **others: str) -> str:
    style = "\n".join(_package_file(each) for each in styles)
    document = Template(_package_file(f"serving/page/{name}"))
    return document.substitute(style=style, script=_script(scripts), **others)


@cache
def _script(names: tuple[str, ...]) -> str:
    pieces = "\n".join(_package_file(f"serving/page/{name}") for name in names)
    # A function of its own: nothing that is loaded into the browser sees the page's names.
    return f'"use strict";\n(() => {{\n{pieces}\n}})();'


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _package_file(name: str) -> str:
    return files("splmll").joinpath(name).read_text("utf-8").strip()
