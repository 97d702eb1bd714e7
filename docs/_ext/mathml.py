"""Formulas as MathML, which browsers show by themselves: no script, no font, no network.

Docutils translates LaTeX; this hands its translation to Sphinx as a renderer of formulas.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)
# Commands that docutils knows by another name only.
OTHER_NAMES = {r"\dots": r"\ldots", r"\lVert": r"\|", r"\rVert": r"\|"}


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(_translated(node.astext(), node, as_block=False))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    # Lines that begin together make one formula, as Sphinx has it for other renderers.
    self.body.append(_translated(_aligned(node.astext()), node, as_block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def _translated(formula: str, node: nodes.Element, as_block: bool) -> str:
    for command, known in OTHER_NAMES.items():
        formula = formula.replace(command, known)
    try:
        return tex2mathml(formula, as_block=as_block)
    except MathError as error:
        LOG.warning("formula %r: %s", formula, error, location=node)
        return ""


def _aligned(formula: str) -> str:
    if r"\\" in formula and r"\begin" not in formula:
        return rf"\begin{{aligned}}{formula}\end{{aligned}}"
    return formula


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
