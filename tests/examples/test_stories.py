"""The stories in examples/ are short and say what they show; ``make docs`` runs them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# What stories read, and a program with a test of its own.
STORIES = sorted(
    file.stem for file in EXAMPLES.glob("*.py") if file.stem not in ("tickets", "demo")
)


@pytest.mark.parametrize("name", STORIES)
def test_a_story_has_a_title_and_says_what_it_shows(name: str) -> None:
    told = str(ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text("utf-8"))))
    title, line, empty, *text = told.splitlines()
    assert line == "=" * len(title)
    assert empty == ""
    assert len(" ".join(text)) > 100


@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_short(name: str) -> None:
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text("utf-8"))
    statements = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    assert len(statements) <= 16
