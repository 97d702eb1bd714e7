"""Shared paragraphs stand in the docstrings that name them, and nowhere is one left open."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import splmll
from splmll.docstrings import PARAGRAPHS, PLACEHOLDER, with_paragraphs
from splmll.methods import MLML, BinaryRelevance

MODULES = [
    module.name
    for module in pkgutil.walk_packages(splmll.__path__, "splmll.")
    if not module.name.endswith("__main__")
]


def documented(module: Any) -> Iterator[tuple[str, Any]]:
    """Functions, classes and their methods that a module defines."""
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(thing):
            yield from ((f"{name}.{each}", getattr(thing, each, None)) for each in vars(thing))
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield name, thing


@pytest.mark.parametrize("name", MODULES)
def test_no_placeholder_is_left(name: str) -> None:
    for owner, thing in documented(importlib.import_module(name)):
        found = PLACEHOLDER.search(inspect.getdoc(thing) or "")
        assert found is None, f"{owner} has {found}: decorate it with with_paragraphs"


def test_every_paragraph_is_used_more_than_once() -> None:
    lines = [
        match[2]
        for name in MODULES
        if name != "splmll.docstrings"
        for match in PLACEHOLDER.finditer(inspect.getsource(importlib.import_module(name)))
    ]
    assert {name for name in PARAGRAPHS if lines.count(name) < 2} == set()


def test_paragraphs_stand_at_the_place_and_indentation_of_their_names() -> None:
    lines = str(inspect.getdoc(MLML)).splitlines()
    at = lines.index("threshold : float or str, default=0.0")
    assert lines[at + 1].startswith("    A label is predicted if its score is at least")
    assert lines[at + 2].startswith("    :data:`splmll.thresholds.RULES`")
    fit = str(inspect.getdoc(BinaryRelevance.fit)).splitlines()
    at = fit.index("X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)")
    assert fit[at + 1] == "    Features."


def test_other_braces_stay_as_they_are() -> None:
    @with_paragraphs
    def function() -> None:
        r"""Return :math:`\{0, 1\}^{n}`.

        {"soft", "hard"} and {X} in a line with other words stay.
        """

    assert r"\{0, 1\}^{n}" in str(function.__doc__)
    assert '{"soft", "hard"} and {X} in a line' in str(function.__doc__)


def test_a_name_without_a_paragraph_is_an_error() -> None:
    with pytest.raises(KeyError, match="no_such_paragraph"):

        @with_paragraphs
        def function() -> None:
            """Do something.

            {no_such_paragraph}
            """


def test_without_docstrings_everything_still_imports() -> None:
    code = (
        "from splmll.methods import BinaryRelevance\n"
        "print(BinaryRelevance.__doc__)\n"
        "print(BinaryRelevance().fit([[0.0], [1.0]], [[0], [1]]).predict([[1.0]]))"
    )
    ran = subprocess.run(
        [sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["None", "[[1]]"]
