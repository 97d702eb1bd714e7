"""The pages of the service as documents: whole, closed in themselves, only with their script."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

pytest.importorskip("fastapi", reason='the service needs pip install "splmll[serve]"')

from splmll.serving.page import annotate_hashes, annotate_html, page_html, script_hashes
from splmll.serving.security import content_policy


class Document(HTMLParser):
    """Elements with their attributes, ids, and what stands in scripts and styles."""

    def __init__(self, page: str, hashes: list[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.page, self.hashes = page, hashes
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside in self.texts:
            self.texts[self.inside][-1] += data

    def values(self, attribute: str) -> list[str]:
        return [str(found[attribute]) for _, found in self.elements if attribute in found]


PAGES = {
    "tags": (page_html, script_hashes),
    "annotate": (annotate_html, annotate_hashes),
}


@pytest.fixture(scope="module", params=PAGES)
def document(request: pytest.FixtureRequest) -> Document:
    page, hashes = PAGES[request.param]
    return Document(page(), hashes())


def test_hashes_are_those_of_the_scripts(document: Document) -> None:
    found = [
        "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in document.texts["script"]
    ]
    assert document.hashes == found
    assert len(found) == 1
    assert f"script-src '{found[0]}';" in content_policy(document.hashes)


def test_nothing_is_asked_of_anyone_else(document: Document) -> None:
    assert document.values("src") == []
    # The other page of the same service, relative to this one.
    assert {value for value in document.values("href") if not value.startswith("data:")} <= {"."}
    style, script = document.texts["style"][0], document.texts["script"][0]
    assert "@import" not in style
    assert "url(" not in style
    # The only address is the name of a language.
    assert set(re.findall(r"https?://[\w./]+", script)) == {"http://www.w3.org/2000/svg"}


def test_what_the_policy_forbids_is_not_there(document: Document) -> None:
    for _, attributes in document.elements:
        assert not any(name.startswith("on") for name in attributes)


def test_names_cannot_become_html(document: Document) -> None:
    script = document.texts["script"][0]
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert dangerous not in script


def test_every_script_file_is_in_a_page() -> None:
    folder = files("splmll").joinpath("serving/page")
    scripts = [each for each in folder.iterdir() if each.name.endswith(".js")]
    assert len(scripts) > 5
    for each in scripts:
        assert each.read_text("utf-8").strip() in page_html() + annotate_html(), each.name


def test_scripts_and_labels_find_their_elements(document: Document) -> None:
    there = document.values("id")
    assert len(there) == len(set(there))
    wanted = set(re.findall(r'byId\("([\w-]+)"\)', document.texts["script"][0]))
    assert len(wanted) > 20
    named = {*document.values("for"), *document.values("aria-labelledby")}
    assert wanted | named <= set(there)


def test_it_looks_like_the_report(document: Document) -> None:
    report = files("splmll").joinpath("experiments/report/report.css").read_text("utf-8")
    style = document.texts["style"][0]
    assert report.strip() in style
    # A colour that has no value would be black on black for some reader.
    used = set(re.findall(r"var\((--\w+)\)", style))
    given = set(re.findall(r"(--\w+):", style)) | set(
        re.findall(r'setProperty\("(--\w+)"', document.texts["script"][0])
    )
    assert used - given <= {"--w", "--width"}  # the report's own, set in its cells and graphs


def test_the_document_is_complete(document: Document) -> None:
    page = document.page
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    assert "$style" not in page
    assert "$script" not in page
    assert "$links" not in page
    tags = [tag for tag, _ in document.elements]
    assert tags.count("h1") == tags.count("main") == 1
    assert ("html", {"lang": "en"}) in document.elements


def test_a_link_leads_to_the_other_page_only_where_there_is_one() -> None:
    assert 'href="annotate"' in page_html(annotates=True)
    assert 'href="annotate"' not in page_html()
