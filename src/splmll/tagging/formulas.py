"""Escaping cells of a CSV file that a spreadsheet would run as formulas.

A cell that begins with ``=``, ``+``, ``-`` or ``@`` is computed when the file is opened, and it may
well come from someone else: a note, a tag, the name of a label.
"""

from __future__ import annotations

import re
from typing import Any

MARK = "'"  # what spreadsheets take for "this is text"

_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # also in full width, as some keyboards write them
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
# Spreadsheets of some languages part cells at semicolons, and a quote in a line does not stop them.
_BREAKS = ";\t\r\n"
_FORMULA = re.compile(
    rf"(?:^|(?<=[{_BREAKS}]))(?=[ ]*[{_SIGNS}]|[\t\r])(?![ ]*{_NUMBER}[ ]*(?:$|[{_BREAKS}]))"
)


def without_formula(cell: Any) -> Any:
    """Return a cell that a spreadsheet shows and does not run as a formula.

    Parameters
    ----------
    cell : object
        Anything that is not a str is returned as it is.

    Returns
    -------
    cell : object
        With an apostrophe before anything that would be run; numbers stay numbers.

    Examples
    --------
    >>> from splmll.tagging.formulas import without_formula
    >>> without_formula("=1+1"), without_formula("-1.5"), without_formula("oil;@sum(a1)")
    ("'=1+1", '-1.5', "oil;'@sum(a1)")
    """
    return _FORMULA.sub(MARK, cell) if isinstance(cell, str) else cell
