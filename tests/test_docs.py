"""The documentation: every relative link leads somewhere, every Python block runs as printed."""

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
