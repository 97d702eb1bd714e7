"""The report in a real browser: it is quiet, and everything that can be done with it works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looks import CONTRAST, PHONE, READABLE, SCHEMES, overflow
from matplotlib.image import imread
from opened_report import HARMFUL, NO_BROWSER, Open, chromium

if not chromium():
    # Here and not in a fixture: the whole file is one line of the summary.
    pytest.skip(NO_BROWSER, allow_module_level=True)


def column(table: Any, number: int) -> list[str]:
    """The texts of one column, its first word only: the mean, or "timeout"."""
    cells = table.locator(f"tbody tr > :nth-child({number})")
    return [text.split()[0] for text in cells.all_inner_texts()]


def visible_methods(table: Any) -> list[str]:
    return table.locator("tbody tr:visible > th").all_inner_texts()


# Opening ----------------------------------------------------------------------------------------


def test_it_opens_without_a_word_and_asks_for_nothing(open_report: Open, report: Path) -> None:
    opened = open_report()
    page = opened.page
    page.mouse.wheel(0, 20_000)
    page.locator("summary").last.click()
    assert opened.complaints == []
    assert opened.requests == [report.as_uri()]
    assert page.get_by_role("heading", level=1).inner_text() == "Multi-label methods compared"


def test_harmful_names_are_shown_and_do_nothing(open_report: Open) -> None:
    opened = open_report()
    page = opened.page
    assert page.locator("table.numbers th", has_text=HARMFUL).first.is_visible()
    assert page.locator(".heat thead th", has_text=HARMFUL).first.is_visible()
    assert opened.complaints == []


def test_a_script_that_was_smuggled_in_does_not_run(open_report: Open) -> None:
    opened = open_report()
    opened.page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.smuggled = true";
          document.body.append(script);
        }"""
    )
    assert opened.page.evaluate("window.smuggled") is None
    assert "Content Security Policy" in opened.complaints[0]


def test_without_scripts_all_numbers_are_there(open_report: Open) -> None:
    page = open_report(java_script_enabled=False).page
    assert page.locator("table[data-name=scene]").first.is_visible()


# Sorting ----------------------------------------------------------------------------------------


def test_a_click_sorts_best_first_and_another_turns_it_round(open_report: Open) -> None:
    table = open_report().page.locator("table[data-name=yeast]").first
    titles = table.locator("thead th").all_inner_texts()
    number = 1 + titles.index("Micro-F1 ↑")
    button = table.get_by_role("button", name="Micro-F1")
    button.click()
    falling = column(table, number)
    assert falling[-1] == "timeout"
    values = [float(text) for text in falling[:-1]]
    assert values == sorted(values, reverse=True)
    assert len(values) == 6
    button.click()
    assert column(table, number) == [*reversed(falling[:-1]), "timeout"]


def test_losses_are_sorted_from_below_and_names_by_alphabet(open_report: Open) -> None:
    table = open_report().page.locator("table[data-name=scene]").first
    table.get_by_role("button", name="Hamming loss").click()
    values = [float(text) for text in column(table, 3)]
    assert values == sorted(values)
    table.get_by_role("button", name="method").click()
    names = visible_methods(table)
    assert names.index("BR") < names.index("LP") < names.index("SPL-MLL")


def test_the_keyboard_sorts_and_the_sorted_column_says_so(open_report: Open) -> None:
    page = open_report().page
    table = page.locator("table[data-name=emotions]").first
    table.get_by_role("button", name="Macro-F1").focus()
    page.keyboard.press("Enter")
    marked = table.locator("th[aria-sort]")
    assert marked.all_inner_texts() == ["Macro-F1 ↑"]
    assert marked.get_attribute("aria-sort") == "descending"


# Looks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("device", ["desk", "phone"])
def test_it_fits_the_screen_and_has_its_picture_taken(
    open_report: Open, tmp_path: Path, scheme: str, device: str
) -> None:
    size = PHONE if device == "phone" else {"viewport": {"width": 1280, "height": 900}}
    opened = open_report(color_scheme=scheme, **size)
    page = opened.page
    assert overflow(page) <= 0
    page.locator("summary").first.click()
    assert overflow(page) <= 0
    picture = tmp_path / f"{device}-{scheme}.png"
    page.screenshot(path=picture, full_page=scheme == "light")
    pixels = imread(picture)
    assert pixels.shape[1] == size["viewport"]["width"]
    brightness = float(np.median(pixels[..., :3]))
    assert brightness > 0.9 if scheme == "light" else brightness < 0.2
    assert opened.complaints == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_stands_out_from_what_is_behind_it(open_report: Open, scheme: str) -> None:
    page = open_report(color_scheme=scheme).page
    for selector in (
        "p.lead",
        ".note",
        "nav a",
        "td.best span",
        ".failed",
        "small.printed",
        ".chip.landmark",
        ".chip.missed",
        ".chip.wrong",
        ".heat td.own",
    ):
        assert page.evaluate(CONTRAST, selector) >= READABLE, selector


def test_paper_has_no_controls_and_nothing_folded(open_report: Open) -> None:
    page = open_report().page
    page.emulate_media(media="print")
    assert not page.get_by_role("navigation").is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.more:not([open])").count() == 0
