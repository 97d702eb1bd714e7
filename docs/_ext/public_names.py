"""One page for each public thing, whichever of its names a docstring uses.

``splmll.landmarks.SPLMLL`` and ``splmll.SPLMLL`` are the same class; references to one lead to the
page of the other. Methods that come from other libraries are left to their documentation.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

# What a constant is cannot be read from its value.
CONSTANTS = {
    "EMBEDDING_NAMES": 'Short names of embeddings, as in ``SPLMLL("linear")``.',
    "MEASURES": "Every measure by name, as a :class:`splmll.metrics.Measure`.",
    "METHODS": "The compared methods by the names of the paper's tables.",
    "CATALOGUE": "Every method that the library knows, by name.",
    "OURS": "SPL-MLL in its versions, by name.",
    "PAPER_MEASURES": "Names of the five measures of the paper, in its order.",
    "PROTOCOLS": "How rows are split into training and test rows, by name.",
    "RULES": "Names of the rules that turn scores into labels.",
    "SCORERS": "A scorer for every measure, for ``cross_val_score`` and ``GridSearchCV``.",
    "TOLERANCE": "How far the scores of an ONNX file may be from those of its model.",
}


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the three."""
    app.connect("missing-reference", _other_name)
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("autodoc-process-docstring", _describe_constant)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _other_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contents: nodes.Node
) -> nodes.Node | None:
    """Return a link to the documented name of what a reference means."""
    if node.get("refdomain") != "py":
        return None
    wanted = found(node["reftarget"])
    if wanted is None:
        return None
    documented = env.get_domain("py").data["objects"]
    last = node["reftarget"].rpartition(".")[2]
    for name, entry in documented.items():
        if name.rpartition(".")[2] == last and found(name) is wanted:
            return make_refnode(
                app.builder, node["refdoc"], entry.docname, entry.node_id, contents, name
            )
    return None


def found(name: str) -> Any:
    """Return what a dotted name of this library means, or None."""
    if not name.startswith("splmll"):
        return None
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            place: Any = import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            place = getattr(place, part, None)
        return place
    return None


def _skip_foreign(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    home = getattr(obj, "__module__", None) or getattr(
        getattr(obj, "fget", None), "__module__", None
    )
    if isinstance(home, str) and not home.startswith("splmll"):
        return True
    return None


def _describe_constant(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    if what == "data":
        lines[:] = [CONSTANTS.get(name.rpartition(".")[2], "")]
