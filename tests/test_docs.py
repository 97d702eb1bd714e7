"""The documentation: every relative link leads somewhere, every Python block runs as printed."""

import pkgutil
import re
import runpy

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import splmll
from markdown_blocks import ROOT, anchors, links, python_blocks, run_block

mpl.use("Agg")

# What `make docs` writes beside the sources is not a source.
WRITTEN = {"gallery", "generated"}
DOCS = sorted(page for page in (ROOT / "docs").rglob("*.md") if not WRITTEN & set(page.parts))
PAGES = [*DOCS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
WHOLE = {"flags": re.DOTALL | re.MULTILINE}
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
    if file.parent.name == "gallery":  # made from an example of the same name
        file = ROOT / "examples" / f"{file.stem}.py"
    assert file.exists()
    if anchor:
        assert anchor in anchors(file)


def test_every_page_can_be_reached_from_the_index():
    docs = ROOT / "docs"
    reached, coming = set(), [docs / "index.md"]
    while coming:
        page = coming.pop()
        reached.add(page)
        for tree in re.findall(r"^```{toctree}\n(.*?)^```$", page.read_text("utf-8"), **WHOLE):
            lines = [line for line in tree.splitlines() if line and not line.startswith(":")]
            names = [line.partition("<")[2].rstrip(">") or line for line in lines]
            found = [page.parent / f"{name}.md" for name in names]
            coming += [each for each in found if each.exists() and each not in reached]
    # The article for a journal is no page of the site.
    assert set(DOCS) - reached == {docs / "joss" / "paper.md"}


def test_every_package_with_public_names_has_a_reference():
    listed = set((ROOT / "docs" / "api" / "index.md").read_text("utf-8").split())
    source = ROOT / "src" / "splmll"
    for file in source.glob("*/__init__.py"):
        if "__all__" in file.read_text("utf-8") and file.parent.name != "cli":
            assert file.parent.name in listed
    assert set(splmll.__all__) - {"__version__"} <= listed


def test_roles_in_docstrings_name_something():
    role = re.compile(
        r":(?:class|func|meth|data|mod|attr|exc|obj):`(?:[^`<]*<)?[~!]?(splmll[\w.]*)"
    )
    for file in sorted((ROOT / "src").rglob("*.py")):
        for name in role.findall(file.read_text("utf-8")):
            assert named(name) is not None, f"{file.name}: {name}"


def named(name):
    """Return what a dotted name means, or None."""
    try:
        return pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return None


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
