"""The documentation: every relative link leads somewhere, every Python block runs as printed."""

import re
import runpy

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from markdown_blocks import ROOT, anchors, links, python_blocks, run_block

mpl.use("Agg")

DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*DOCS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
CASES, NAMES = python_blocks(DOCS)
LINKS = [(page, target) for page in PAGES for target in links(page)]


@pytest.mark.parametrize(("path", "line", "code"), CASES, ids=NAMES)
def test_block_runs_as_printed(path, line, code, tmp_path, monkeypatch):
    run_block(path, line, code, tmp_path, monkeypatch)
    plt.close("all")


@pytest.mark.parametrize(
    ("page", "target"), LINKS, ids=[f"{page.name}-{target}" for page, target in LINKS]
)
def test_link_leads_somewhere(page, target):
    place, _, anchor = target.partition("#")
    file = page.parent / place if place else page
    assert file.exists()
    if anchor:
        assert anchor in anchors(file)


def test_every_page_can_be_reached_from_the_index():
    index = ROOT / "docs" / "index.md"
    reached = {(index.parent / target.partition("#")[0]).resolve() for target in links(index)}
    assert {page.resolve() for page in DOCS} - reached == {index.resolve()}


def test_layout_is_true_to_the_tree():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    plan = text.split("## Layout", 1)[1].split("\n## ", 1)[0]
    folders: dict[int, str] = {}
    found = 0
    for line in plan.splitlines():
        match = re.match(r"^( {4,})([\w/]+(?:\.py|/))(?:\s{2,}|$)", line)
        if not match:
            continue
        indent, name = len(match[1]), match[2]
        parents = [folders[depth] for depth in sorted(folders) if depth < indent]
        folders = {depth: folder for depth, folder in folders.items() if depth < indent}
        folders[indent] = name
        place = ROOT / "".join(parents) / name
        assert place.exists(), place
        found += 1
    assert found > 20


def test_the_table_of_methods_is_that_of_the_catalogue():
    module = runpy.run_path(str(ROOT / "docs" / "make_tables.py"))
    text = (ROOT / "docs" / "methods.md").read_text("utf-8")
    table = text.split("<!-- methods:start -->\n", 1)[1].split("\n<!-- methods:end -->", 1)[0]
    assert table == module["methods_table"]()
