"""Print the table of methods in docs/methods.md from the catalogue: ``python docs/make_tables.py``.

A test compares what is printed with what the page holds.
"""

from __future__ import annotations

from splmll import SPLMLL, PublishedSPLMLL
from splmll.base import Capabilities
from splmll.catalogue import METHODS


def methods_table() -> str:
    """Return the Markdown table: SPL-MLL, then the catalogue in its order."""
    head = ["name", "class", "sparse X", "sparse Y", "NaN in Y", "probabilities", "cost of a fit"]
    lines = [f"| {' | '.join([*head, 'published in'])} |", "| --- " * (len(head) + 1) + "|"]
    for title, ours in (("SPL-MLL", SPLMLL), ("SPL-MLL as published", PublishedSPLMLL)):
        made = f"splmll.{ours.__name__}"
        lines.append(_line(f"**{title}**", made, ours.capabilities, "Li et al., ECCV 2020", ""))
    for method in METHODS.values():
        made = method.estimator.__name__
        if method.settings:
            made = f'make_method("{method.name}")'
        title = f"{method.name}, {method.title}"
        lines.append(_line(title, made, method.capabilities, method.reference, method.remark))
    return "\n".join(lines)


def _line(title: str, made: str, can: Capabilities, reference: str, remark: str) -> str:
    flags = [can.sparse_features, can.sparse_labels, can.unknown_labels, can.probabilities]
    cells = ["yes" if flag else "-" for flag in flags]
    source = f"{reference} ({remark})" if remark else reference
    cells = [title, f"`{made}`", *cells, can.cost.replace("|", "/"), source]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(methods_table())
