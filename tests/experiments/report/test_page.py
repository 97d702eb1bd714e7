"""The page: complete in itself, escaped, readable by light and dark, the same every time."""

import os
import re

import matplotlib as mpl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure as Canvas

from page_reader import read
from splmll.experiments.report import Figure, Section, Table, Text, build_page, write_page

mpl.use("Agg")

EVIL = '<script>alert("1")</script> & "quotes" $title'


def drawing():
    canvas = Canvas(figsize=(3, 2))
    ax = canvas.add_subplot()
    ax.imshow([[0, 1], [1, 0]])
    ax.plot([0, 1], [0, 1], color="black", label="a < b")
    ax.set_title(EVIL.replace("$", ""))
    ax.legend()
    return canvas


@pytest.fixture(scope="module")
def page():
    return build_page(
        EVIL,
        [
            Section(EVIL, [Text(EVIL), Text(EVIL, note=True)]),
            Section("Table", [Table(["x", EVIL], [[EVIL, EVIL]], EVIL, {(0, 1)})]),
            Section("Figures", [Figure(drawing(), EVIL), Figure(drawing(), "Another.")]),
        ],
        introduction=EVIL,
    )


def test_page_is_well_formed_and_everything_in_it_is_escaped(page):
    reader = read(page)
    assert "script" not in reader.tags
    assert reader.tags.count("svg") == 2
    # Title, heading, introduction, contents, section title, two texts, header, two cells, two
    # captions, and the title of both figures without its dollar sign.
    text = "".join(reader.text)
    assert text.count(EVIL) == 12
    assert text.count(EVIL.replace("$", "")) == 2


def test_page_requests_nothing(page):
    reader = read(page)
    for address in reader.addresses:
        assert address.startswith(("#", "data:")), address
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page
    assert not {"link", "iframe", "object"} & set(reader.tags)


def test_names_are_unique_and_every_reference_is_met(page):
    reader = read(page)
    assert len(reader.ids) == len(set(reader.ids))
    inner = {address[1:] for address in reader.addresses if address.startswith("#")}
    inner |= set(re.findall(r"url\(#([^)]+)\)", page))
    assert inner <= set(reader.ids)


def test_page_follows_light_and_dark_and_fits_a_phone(page):
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page
    assert "#000000" not in page
    assert "currentColor" in page


def test_same_content_gives_the_same_page():
    def build():
        return build_page("t", [Section("s", [Figure(drawing(), "c")])])

    assert build() == build()


def test_a_column_with_sentences_is_broken_into_lines_and_others_are_not() -> None:
    table = Table(["goal", "value"], [["the best rank of all " * 4, "1.5"], ["few", "2"]])
    page = table.to_html(0)
    assert page.count('class="prose"') == 3  # its header and both rows
    assert "<td>1.5</td>" in page


def test_best_cells_are_marked_and_no_others():
    table = Table(["method", "a", "b"], [["x", "1", "2"], ["y", "3", "4"]], best={(1, 1), (0, 2)})
    assert re.findall(r'class="best">(\d)', table.to_html(0)) == ["2", "3"]


def test_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="1 cells under 2"):
        Table(["a", "b"], [["1"]])


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40))
@settings(max_examples=50, deadline=None)
def test_any_words_come_out_as_they_went_in(words):
    reader = read(build_page("t", [Section("s", [Text(words)])]))
    assert words in "".join(reader.text)


def test_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = write_page(tmp_path / "new" / "page.html", "first: äöü")
    assert target.read_text("utf-8") == "first: äöü"

    def fail(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_page(target, "second")
    assert target.read_text("utf-8") == "first: äöü"
    assert [file.name for file in target.parent.iterdir()] == ["page.html"]
