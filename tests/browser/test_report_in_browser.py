"""The report in a real browser: it is quiet, and everything that can be done with it works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looks import CONTRAST, PHONE, READABLE, SCHEMES, overflow
from matplotlib.image import imread
from opened_report import HARMFUL, NO_BROWSER, Open, chromium

from splmll import SPLMLL

if not chromium():
    # Here and not in a fixture: the whole file is one line of the summary.
    pytest.skip(NO_BROWSER, allow_module_level=True)


def column(table: Any, number: int) -> list[str]:
    """The texts of one column, its first word only: the mean, or "failed"."""
    cells = table.locator(f"tbody tr > :nth-child({number})")
    return [text.split()[0] for text in cells.all_inner_texts()]


def visible_methods(table: Any) -> list[str]:
    return table.locator("tbody tr:visible").evaluate_all("rows => rows.map(r => r.dataset.method)")


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
    assert page.locator(f'.bars .bar[data-method="{HARMFUL}"]').first.is_visible()
    page.locator(".graph .node", has_text=HARMFUL).first.hover()
    assert page.locator(".telling strong").inner_text() == HARMFUL
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
    assert not page.locator(".choices").is_visible()
    assert page.locator("table[data-name=scene]").first.is_visible()


# Sorting ----------------------------------------------------------------------------------------


def test_a_click_sorts_best_first_and_another_turns_it_round(open_report: Open) -> None:
    table = open_report().page.locator("table[data-name=yeast]").first
    titles = table.locator("thead th").all_inner_texts()
    number = 1 + titles.index("Micro-F1 ↑")
    button = table.get_by_role("button", name="Micro-F1")
    button.click()
    falling = column(table, number)
    assert falling[-1] == "failed"
    values = [float(text) for text in falling[:-1]]
    assert values == sorted(values, reverse=True)
    assert len(values) == 6
    button.click()
    assert column(table, number) == [*reversed(falling[:-1]), "failed"]


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
    before = table.locator("[aria-sort]").all_inner_texts()
    assert before == ["mean rank"]
    table.get_by_role("button", name="Macro-F1").focus()
    page.keyboard.press("Enter")
    marked = table.locator("th[aria-sort]")
    assert marked.all_inner_texts() == ["Macro-F1 ↑"]
    assert marked.get_attribute("aria-sort") == "descending"
    page.keyboard.press("Space")
    assert marked.get_attribute("aria-sort") == "ascending"


# Choosing ---------------------------------------------------------------------------------------


def test_a_search_hides_other_methods_everywhere(open_report: Open) -> None:
    page = open_report().page
    page.get_by_role("searchbox").fill("spl-mll")
    ours = {"SPL-MLL", "SPL-MLL (linear)"}
    for table in page.locator("table.numbers").all():
        assert set(visible_methods(table)) <= ours
    assert set(visible_methods(page.locator("table[data-name=scene]").first)) == ours
    drawn = page.locator(".bars").first.locator(".bar")
    assert set(drawn.evaluate_all("bars => bars.map(b => b.dataset.method)")) == ours
    assert page.locator("#shown").inner_text() == "2 of 7 methods"
    page.get_by_role("button", name="Show all").click()
    assert page.locator("#shown").inner_text() == "7 of 7 methods"


def test_words_of_a_method_find_it_too(open_report: Open) -> None:
    page = open_report().page
    page.get_by_role("searchbox").fill("nearest neighbours")
    assert visible_methods(page.locator("table[data-name=scene]").first) == ["ML-kNN"]


def test_boxes_and_groups_are_kept_in_the_address(open_report: Open) -> None:
    page = open_report().page
    page.locator("summary", has_text="methods").first.click()
    page.get_by_label("general methods").uncheck()
    page.get_by_label("SPL-MLL (linear)").uncheck()
    table = page.locator("table[data-name=scene]").first
    assert set(visible_methods(table)) == {"SPL-MLL", HARMFUL}
    group = page.get_by_label("SPL-MLL and its versions")
    assert group.evaluate("box => box.indeterminate")
    page.reload()
    assert set(visible_methods(table)) == {"SPL-MLL", HARMFUL}
    page.goto("about:blank")
    page.go_back()
    assert set(visible_methods(table)) == {"SPL-MLL", HARMFUL}


def test_an_address_brings_its_choice_with_it(open_report: Open) -> None:
    page = open_report("#measure=macro_f1&find=spl-mll&without=SPL-MLL+%28linear%29").page
    assert page.locator("#measure").input_value() == "macro_f1"
    assert visible_methods(page.locator("table[data-name=scene]").first) == ["SPL-MLL"]
    page = open_report("#measure=nonsense&without=nobody").page
    assert page.locator("#measure").input_value() == "ranking_loss"
    assert page.locator("#shown").inner_text() == "7 of 7 methods"


def test_a_measure_changes_bars_diagram_and_differences(open_report: Open) -> None:
    page = open_report().page
    section = page.locator("section").first
    for value, number, title in (("ranking_loss", 2, "Ranking loss"), ("micro_f1", 5, "Micro-F1")):
        page.locator("#measure").select_option(value)
        scene = section.locator("table[data-name=scene]")
        expected = dict(zip(visible_methods(scene), column(scene, number), strict=True))
        card = section.locator(".bars > div", has=page.get_by_role("link", name="scene"))
        names = card.locator(".bar").evaluate_all("bars => bars.map(b => b.dataset.method)")
        values = [text.split()[0] for text in card.locator(".value").all_inner_texts()]
        assert dict(zip(names, values, strict=True)) == expected
        order = [float(text) for text in values]
        assert order == sorted(order, reverse=value == "micro_f1")
        widths = card.locator(".fill").evaluate_all("all => all.map(f => f.clientWidth)")
        np.testing.assert_allclose(
            np.array(widths) / max(widths), np.array(order) / max(order), atol=0.02
        )
        diagrams = section.locator("[data-for-measure] svg:visible")
        assert diagrams.count() == 1
        assert f"by {title} alone" in diagrams.get_attribute("aria-label")
        against = section.locator("tr[data-for-measure]:visible")
        assert set(against.evaluate_all("all => all.map(r => r.dataset.forMeasure)")) == {value}


def test_a_failed_method_has_a_word_for_a_bar_and_a_link_to_its_error(open_report: Open) -> None:
    page = open_report().page
    section = page.locator("section").first
    card = section.locator(".bars > div", has=page.get_by_role("link", name="yeast"))
    assert card.locator(".bar").last.locator(".value").inner_text().startswith("failed")
    assert card.locator('.bar[data-method="LP"] .fill').count() == 0
    section.locator("table[data-name=yeast]").get_by_role("link", name="failed").first.click()
    story = section.locator("details.more[open]")
    assert "LP on yeast: ran out of time" in story.inner_text()
    assert "Traceback" in story.inner_text()


def test_a_link_inside_the_page_keeps_the_choice(open_report: Open) -> None:
    page = open_report("#measure=micro_f1").page
    page.get_by_role("navigation").get_by_role("link", name="Landmarks of emotions").click()
    assert page.url.endswith("#measure=micro_f1")
    assert page.locator("section", has_text="Landmarks of emotions").last.evaluate(
        "section => Math.abs(section.getBoundingClientRect().top) < window.innerHeight"
    )


# Landmarks --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def weights(model: SPLMLL) -> np.ndarray:
    """Weight of each landmark in the score of each label."""
    return model.recovery_


def assert_tells_of(page: Any, model: SPLMLL, weights: np.ndarray, name: str) -> None:
    """The page shows what a label recovers and what recovers it, in words and in light."""
    names, landmarks = list(model.label_names_in_), list(model.landmarks_)
    label = names.index(name)
    telling = page.locator(".telling")
    assert telling.locator("strong").inner_text() == name
    strongest = landmarks[int(np.abs(weights[:, label]).argmax())]
    assert telling.locator(".recovered").inner_text().startswith(f"Is recovered from {strongest} ")
    if name in landmarks:
        reached = names[int(np.abs(weights[landmarks.index(name)]).argmax())]
        assert telling.locator(".recovers").inner_text().startswith(f"Recovers {reached} ")
    else:
        assert telling.locator(".recovers").count() == 0
    lit = page.locator(".graph path.lit").evaluate_all(
        "all => all.map(c => [Number(c.dataset.from), Number(c.dataset.to)])"
    )
    everything = page.locator(".graph path").evaluate_all(
        "all => all.map(c => [Number(c.dataset.from), Number(c.dataset.to)])"
    )
    assert lit
    assert sorted(lit) == sorted(ends for ends in everything if label in ends)
    assert page.locator(".heat thead th.lit").inner_text() == name


@pytest.mark.parametrize("name", ["landmark", "other"])
def test_pointing_at_a_label_shows_what_it_recovers(
    open_report: Open, model: SPLMLL, weights: np.ndarray, name: str
) -> None:
    page = open_report().page
    others = [label for label in model.label_names_in_ if label not in model.landmarks_]
    label = model.landmarks_[0] if name == "landmark" else others[0]
    page.locator('.node[data-side="right"]', has_text=label).hover()
    assert_tells_of(page, model, weights, label)
    page.locator("h1").hover()
    assert page.locator(".graph .lit").count() == 0
    assert page.locator(".telling").inner_text().startswith("Point at a label")


def test_the_heat_map_answers_like_the_graph(
    open_report: Open, model: SPLMLL, weights: np.ndarray
) -> None:
    page = open_report().page
    page.locator(".heat thead th", has_text="boat").hover()
    assert_tells_of(page, model, weights, "boat")
    page.locator(".heat tbody tr").first.locator("td").first.hover()
    assert re.fullmatch(
        rf"{model.landmarks_[0]} → \S+: \N{{MINUS SIGN}}?\d\.\d\d",
        page.locator(".telling").inner_text(),
    )


def test_the_keyboard_reaches_every_label(
    open_report: Open, model: SPLMLL, weights: np.ndarray
) -> None:
    page = open_report().page
    page.locator('.graph .node[tabindex="0"]').focus()
    assert_tells_of(page, model, weights, model.landmarks_[0])
    page.keyboard.press("ArrowDown")
    assert_tells_of(page, model, weights, model.landmarks_[1])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    seen = set()
    for _ in model.label_names_in_:
        seen.add(page.locator(".telling strong").inner_text())
        page.keyboard.press("ArrowDown")
    assert seen == set(model.label_names_in_)
    assert page.locator('.graph .node[tabindex="0"]').count() == 1
    page.keyboard.press("Tab")
    assert page.locator(".graph .lit").count() == 0


def test_a_tap_keeps_a_label_until_another_tap(
    open_report: Open, model: SPLMLL, weights: np.ndarray
) -> None:
    page = open_report(**PHONE).page
    page.locator('.node[data-side="right"]', has_text="sand").tap()
    assert_tells_of(page, model, weights, "sand")
    assert page.locator(".telling").evaluate(
        """box => { const place = box.getBoundingClientRect();
                    return place.top >= 0 && place.bottom <= window.innerHeight; }"""
    )
    page.locator("h3", has_text="Which landmark").tap()
    assert page.locator(".graph .lit").count() == 0


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
    page.locator("summary", has_text="methods").first.click()
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
        "tr.ours > th",
        "td:not([data-value]) > a",
        "small.printed",
        ".chip.landmark",
        ".chip.missed",
        ".chip.wrong",
        ".heat td.own",
        ".telling",
    ):
        assert page.evaluate(CONTRAST, selector) >= READABLE, selector


def test_paper_has_no_controls_and_nothing_folded(open_report: Open) -> None:
    page = open_report().page
    page.emulate_media(media="print")
    assert not page.locator(".choices").is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.more:not([open])").count() == 0
