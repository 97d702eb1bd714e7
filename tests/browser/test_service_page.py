"""The page of a real `splmll serve` in a real browser: what can be done with it, and its looks."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from opened_report import HARMFUL, NO_BROWSER, Open, Opened, chromium

if not chromium():
    pytest.skip(NO_BROWSER, allow_module_level=True)
pytest.importorskip("fastapi", reason='the service needs pip install "splmll[serve]"')

from looks import CONTRAST, PHONE, READABLE, SCHEMES, overflow
from playwright.sync_api import expect
from served_page import (
    N_NUMBER_LABELS,
    N_NUMBERS,
    PATIENCE,
    QUOTED,
    ROUNDED,
    TEXT,
    TOKEN,
    WORDS,
    Served,
    address,
    answer,
    assert_scores,
    bar,
    chips,
    expected_scores,
    expected_tags,
    fit_notes,
    fit_numbers,
    number,
    row_of,
    shown_scores,
    start,
    tag,
)

from splmll.cli import main

# The services start, load their models and are asked for real.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two services of the same two models, one of them with a token."""
    folder = tmp_path_factory.mktemp("served")
    notes, numbers = fit_notes(folder), fit_numbers(folder)
    processes = [start(folder), start(folder, SPLMLL_TOKEN=TOKEN)]
    try:
        yield Served(address(processes[0]), address(processes[1]), folder, notes, numbers)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=30)


@pytest.fixture
def open_page(browser: Any, served: Served) -> Iterator[Open]:
    """A function that opens the page; its options are those of a browser context."""
    contexts = []

    def opened(url: str = served.url, *, wait: bool = True, **options: Any) -> Opened:
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        result = Opened.in_context(context)
        result.page.goto(url)
        if wait:
            result.page.locator("#work").wait_for()
        return result

    yield opened
    for context in contexts:
        context.close()


# Opening ----------------------------------------------------------------------------------------


def test_it_opens_without_a_word_and_asks_only_its_own_service(
    open_page: Open, served: Served
) -> None:
    opened = open_page()
    page = opened.page
    tag(page)
    page.mouse.wheel(0, 20_000)
    assert opened.complaints == []
    asked = [url for url in opened.requests if not url.startswith("data:")]
    assert {url.removeprefix(served.url).partition("?")[0] for url in asked} == {
        "", "models", "labels", "landmarks", "predict", "explain", "recover",
    }  # fmt: skip
    facts = page.locator("#facts").inner_text()
    assert facts.startswith("SPL-MLL, 4 landmarks of 8 labels, learned from 240 rows.")


def test_a_script_that_was_smuggled_in_does_not_run(open_page: Open) -> None:
    opened = open_page()
    opened.page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.smuggled = true";
          document.body.append(script);
        }"""
    )
    assert opened.page.evaluate("window.smuggled") is None
    assert "Content Security Policy" in opened.complaints[0]


# Tags -------------------------------------------------------------------------------------------


def test_a_text_gets_the_tags_of_the_model(open_page: Open, served: Served) -> None:
    page = open_page().page
    assert page.locator("#nothing-yet").is_visible()
    assert not page.locator("#result").is_visible()
    tag(page)
    row = row_of(TEXT)
    tags = served.notes.tags(row)[0]
    assert len(tags) >= 3
    assert set(chips(page)) == set(tags)
    scores = shown_scores(page)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert_scores(page, expected_scores(served.notes, row))
    assert page.locator("#bars .bar.tag").count() == len(tags)
    expect(page.locator("#said")).to_contain_text(f"{len(tags)} tags: {chips(page)[0]}, ")


def test_all_columns_of_the_form_count(open_page: Open, served: Served) -> None:
    page = open_page().page
    page.get_by_label("hours").fill("1.5")
    page.get_by_label("site").fill("south")
    tag(page, "a river")
    row = pd.DataFrame({"body": ["a river"], "hours": [1.5], "site": ["south"]})
    assert_scores(page, expected_scores(served.notes, row))


def test_keys_alone_tag_and_ask_why(open_page: Open, served: Served) -> None:
    page = open_page().page
    page.get_by_label("body").focus()
    page.keyboard.type(TEXT)
    page.keyboard.press("Control+Enter")
    page.locator("#reasons .reason").first.wait_for()
    # All bars are one stop of the Tab key, between the threshold and the buttons below.
    page.locator("#threshold").focus()
    page.keyboard.press("Tab")
    names = list(shown_scores(page))
    assert page.evaluate("document.activeElement.dataset.label") == names[0]
    page.keyboard.press("ArrowDown")
    assert page.locator("#reasons h3").inner_text() == names[1]
    page.keyboard.press("End")
    assert page.locator("#reasons h3").inner_text() == names[-1]
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "download-result"
    assert page.locator("#reasons h3").inner_text() == names[-1]
    page.keyboard.press("Escape")
    assert page.locator("#reasons h3").inner_text() == names[0]


def test_every_control_has_a_name(open_page: Open) -> None:
    page = open_page().page
    tag(page)
    unnamed = page.locator("button, input, select, textarea, [role=option], [role=button]")
    assert (
        unnamed.evaluate_all(
            """all => all.filter((each) => each.checkVisibility()).filter((each) =>
             !(each.labels?.length || each.getAttribute("aria-label") || each.textContent.trim()))
             .map((each) => each.outerHTML)"""
        )
        == []
    )


# Threshold --------------------------------------------------------------------------------------


def drag_line(page: Any, share: float) -> None:
    """Drag the line through the bars to a share of the width of the bars."""
    box = page.locator(".over .track").bounding_box()
    line = page.locator("#line").bounding_box()
    height = line["y"] + line["height"] / 2
    page.mouse.move(line["x"] + line["width"] / 2, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * (share + 0.1), height, steps=3)
    page.mouse.move(box["x"] + box["width"] * share, height, steps=3)
    page.mouse.up()


def test_the_line_can_be_dragged(open_page: Open, served: Served) -> None:
    page = open_page().page
    tag(page)
    assert page.locator("#threshold-value").inner_text() == "0.50"
    for share in (0.05, 0.9):
        drag_line(page, share)
        moved = float(page.locator("#threshold-value").inner_text())
        assert moved == pytest.approx(share, abs=0.02)
        assert set(chips(page)) == expected_tags(served.notes, row_of(TEXT), moved)
    page.mouse.move(5, 5)  # nothing follows the pointer any more
    assert float(page.locator("#threshold-value").inner_text()) == moved
    page.get_by_role("button", name="Use the model's threshold").click()
    assert set(chips(page)) == set(served.notes.tags(row_of(TEXT))[0])


def test_keys_move_the_threshold(open_page: Open, served: Served) -> None:
    page = open_page().page
    tag(page)
    slider = page.get_by_role("slider", name="Threshold")
    slider.press("Home")
    assert set(chips(page)) == set(WORDS)
    for _ in range(3):
        slider.press("ArrowRight")
    assert page.locator("#threshold-value").inner_text() == "0.03"
    tags = expected_tags(served.notes, row_of(TEXT), 0.03)
    assert set(chips(page)) == tags
    assert page.locator("#bars .bar.tag").count() == len(tags)
    slider.press("End")
    page.locator("#chips", has_text="No label reaches the threshold.").wait_for()
    expect(page.locator("#said")).to_have_text("No tags.")


def test_a_finger_moves_the_threshold(open_page: Open) -> None:
    page = open_page(**PHONE).page
    tag(page)
    page.locator("#bars").scroll_into_view_if_needed()
    line = page.locator("#line").bounding_box()
    box = page.locator(".over .track").bounding_box()
    # Near its upper end: further down, what is told of a label may lie over it.
    start = {"x": line["x"] + line["width"] / 2, "y": line["y"] + min(30, line["height"] / 2)}
    end = {"x": box["x"] + 0.8 * box["width"], "y": start["y"]}
    fingers = page.context.new_cdp_session(page)
    for kind, points in (("Start", [start]), ("Move", [end]), ("End", [])):
        fingers.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    assert float(page.locator("#threshold-value").inner_text()) == pytest.approx(0.8, abs=0.02)


# Landmarks --------------------------------------------------------------------------------------


def test_hovering_a_tag_shows_what_carried_it(open_page: Open, served: Served) -> None:
    page = open_page().page
    tag(page)
    why = served.notes.explain(row_of(TEXT), only_predicted=False)
    for name, point in (("outdoors", bar(page, "outdoors")), ("food", None)):
        element = point or page.locator("#chips .chip", has_text="food")
        element.hover()
        assert page.locator("#reasons h3").inner_text() == name
        named = page.locator("#reasons .reason .name").all_inner_texts()
        amounts = page.locator("#reasons .reason .value").all_inner_texts()
        found = {key: number(text) for key, text in zip(named, amounts)}
        line = why.loc[name].drop("score")
        expected = {key: value for key, value in line.items() if abs(value) >= 5e-4}
        assert {**found, "base": found["base"]} == pytest.approx(
            {**expected, "base": line["base"]}, abs=ROUNDED
        )
        assert list(found)[-1] == "base"
    page.locator("h1").hover()
    assert page.locator("#reasons h3").inner_text() == next(iter(shown_scores(page)))


def test_switches_start_as_predicted_and_move_other_labels(open_page: Open, served: Served) -> None:
    page = open_page().page
    with page.expect_response(re.compile("/recover")):
        tag(page)
    landmarks = served.notes.landmark_names
    tags = served.notes.tags(row_of(TEXT))[0]
    chosen = page.locator("#switches fieldset").evaluate_all(
        "all => all.map((each) => [each.dataset.label, each.querySelector(':checked').value])"
    )
    assert dict(chosen) == {name: str(int(name in tags)) for name in landmarks}
    expect(page.locator("#moved .bar")).to_have_count(len(WORDS) - len(landmarks))
    before = shown_scores(page, "#moved")
    switched = landmarks[0]
    answer(page, switched, "no" if switched in tags else "yes")
    page.locator("#moved .change:visible").first.wait_for()
    known = {name: float(name in tags) for name in landmarks}
    known[switched] = 1.0 - known[switched]
    others = [name for name in WORDS if name not in landmarks]
    wanted = served.notes.recover_scores(pd.DataFrame([known])).iloc[0]
    assert_scores(page, {name: wanted[name] for name in others}, "#moved")
    after = shown_scores(page, "#moved")
    changes = [abs(after[name] - before[name]) for name in after]
    assert changes == sorted(changes, reverse=True)
    assert changes[0] > 0.05
    first = next(iter(after))
    said = page.locator("#moved-said").inner_text()
    assert f"{first} {before[first]:.2f} → {after[first]:.2f}" in said
    change = number(page.locator("#moved .bar").first.locator("small").inner_text())
    assert change == pytest.approx(after[first] - before[first], abs=2e-3)
    page.get_by_role("button", name="As predicted").click()
    expect(page.locator("#moved .change:visible")).to_have_count(0)
    assert shown_scores(page, "#moved") == before


def ticked(page: Any) -> set[str]:
    bars = page.locator("#moved .bar.tag")
    return set(bars.evaluate_all("all => all.map((each) => each.dataset.label)"))


def test_the_threshold_line_counts_for_recovered_labels_too(open_page: Open) -> None:
    page = open_page().page
    tag(page)
    page.locator("#moved .bar").first.wait_for()
    page.get_by_role("button", name="Set all to unknown").click()
    expect(page.locator("#moved .bar")).to_have_count(len(WORDS))
    for threshold in ("0.1", "0.3", "0.9"):
        page.locator("#threshold").fill(threshold)
        scores = shown_scores(page, "#moved")
        clear = {name for name in scores if abs(scores[name] - float(threshold)) > ROUNDED}
        above = {name for name in clear if scores[name] >= float(threshold)}
        assert ticked(page) & clear == above


def test_names_are_not_cut_off_on_a_phone(open_page: Open) -> None:
    page = open_page(**PHONE).page
    tag(page)
    cut = """all => all.filter((each) => each.scrollWidth > each.clientWidth + 1
               || getComputedStyle(each).textOverflow === "ellipsis"
               && getComputedStyle(each).overflow === "hidden").map((each) => each.textContent)"""
    for names in ("#bars .name", "#moved .name", "#reasons .reason .name", ".switch legend"):
        found = page.locator(names)
        found.first.wait_for()
        assert found.evaluate_all(cut) == []
    assert overflow(page) == 0


def test_landmarks_can_be_answered_without_a_row(open_page: Open, served: Served) -> None:
    page = open_page().page
    page.locator("#moved .bar").first.wait_for()
    landmarks = served.notes.landmark_names
    assert set(shown_scores(page, "#moved")) == set(WORDS)
    # Not said: also the other landmarks are recovered.
    page.get_by_role("group", name=landmarks[1], exact=True).get_by_label("no", exact=True).focus()
    with page.expect_response(re.compile("/recover")):
        page.keyboard.press("Space")
    page.locator("#moved .change:visible").first.wait_for()
    with page.expect_response(re.compile("/recover")):
        page.keyboard.press("ArrowLeft")
    known = {name: 1.0 if name == landmarks[1] else np.nan for name in landmarks}
    expected = served.notes.recover_scores(pd.DataFrame([known])).iloc[0].to_dict()
    del expected[landmarks[1]]
    assert_scores(page, expected, "#moved")
    # One scale: what is ticked is what the threshold line says, also when it moves.
    assert ticked(page) == {name for name, score in expected.items() if score >= 0.5}
    page.get_by_role("button", name="Set all to unknown").click()
    expect(page.locator("#moved .change:visible")).to_have_count(0)


def test_the_graph_lights_neighbours_and_selects_tags(open_page: Open, served: Served) -> None:
    page = open_page().page
    tag(page)
    edges = page.evaluate("fetch('landmarks').then((answer) => answer.json())")["edges"]
    landmark = edges[0]["landmark"]
    carried = {edge["label"] for edge in edges if edge["landmark"] == landmark}
    node = page.locator('.graph .node[data-side="left"]').filter(has_text=landmark)
    node.hover()
    lit = page.locator('.graph .node.lit[data-side="right"]')
    assert set(lit.evaluate_all("all => all.map((each) => each.dataset.label)")) == carried
    assert page.locator("#neighbours h3").inner_text() == landmark
    assert f"Carries {edges[0]['label']} +" in page.locator("#neighbours").inner_text()
    label = edges[0]["label"]
    page.locator('.graph .node[data-side="right"]').filter(has_text=label).click()
    page.locator("h1").hover()
    assert bar(page, label).get_attribute("aria-selected") == "true"
    assert page.locator("#reasons h3").inner_text() == label
    assert "Carried by" in page.locator("#neighbours").inner_text()
    page.keyboard.press("Escape")  # a label that is picked again is let go
    # One stop of the Tab key, from which the arrows reach the other side.
    page.locator('.graph .node[tabindex="0"]').focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.dataset.side") == "left"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.side") == "right"
    page.keyboard.press("Enter")
    assert page.locator('#bars [aria-selected="true"]').count() == 1
    assert page.locator('.graph .node[tabindex="0"]').count() == 1


def test_harmful_names_are_shown_and_do_nothing(open_page: Open) -> None:
    opened = open_page()
    page = opened.page
    tag(page, "an alert in the browser, a script, and the word they said was a quote")
    for name in (HARMFUL, QUOTED):
        assert name in chips(page)
        bar(page, name).hover()
        assert page.locator("#reasons h3").inner_text() == name
        assert page.locator("#neighbours h3").inner_text() == name
    assert page.locator("body script").count() == 1
    assert opened.complaints == []


# Files ------------------------------------------------------------------------------------------


def drop_file(page: Any, name: str, content: str) -> None:
    page.locator("#drop").evaluate(
        """(place, [name, content]) => {
          const data = new DataTransfer();
          data.items.add(new File([content], name, { type: "text/csv" }));
          for (const kind of ["dragover", "drop"]) {
            const options = { dataTransfer: data, bubbles: true, cancelable: true };
            place.dispatchEvent(new DragEvent(kind, options));
          }
        }""",
        [name, content],
    )


def downloaded(page: Any, button: str) -> tuple[str, bytes]:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def predicted_by_command(served: Served) -> bytes:
    out = served.folder / "by-command.csv"
    with pytest.raises(SystemExit) as end:
        main(["predict", str(served.folder / "notes"), str(served.file), "--out", str(out)])
    assert not end.value.code
    return out.read_bytes()


def test_a_dropped_file_is_tagged_row_by_row(open_page: Open, served: Served) -> None:
    opened = open_page()
    page = opened.page
    drop_file(page, "new.csv", served.file.read_text())
    page.locator("#rows-body tr").first.wait_for()
    assert page.locator("#rows-title").inner_text() == "Rows of new.csv"
    rows = served.rows
    tags = served.notes.tags(rows)
    lines = page.locator("#rows-body tr")
    assert lines.count() == 25
    for place in range(25):
        assert set(lines.nth(place).locator(".chip").all_inner_texts()) == set(tags[place])
    page.get_by_role("button", name="Next").click()
    assert page.locator("#rows-said").inner_text().startswith("Rows 26 to 40 of 40.")
    # One row in detail, with the form filled in.
    page.get_by_role("button", name="Show row 30").press("Enter")
    page.locator("#reasons .reason").first.wait_for()
    assert page.get_by_label("body").input_value() == rows["body"][29]
    assert float(page.get_by_label("hours").input_value()) == rows["hours"][29]
    assert set(chips(page)) == set(tags[29])
    wanted = expected_scores(served.notes, rows.iloc[[29]])
    assert_scores(page, wanted)
    # What is downloaded is what the command writes.
    name, content = downloaded(page, "Download all as CSV")
    assert name == "new-tags.csv"
    assert content == predicted_by_command(served)
    assert opened.complaints == []


def test_the_threshold_counts_for_all_rows_of_a_file(open_page: Open, served: Served) -> None:
    page = open_page().page
    page.set_input_files("#file", served.file)
    page.get_by_role("button", name="Show row 1", exact=True).click()
    page.get_by_role("slider", name="Threshold").press("Home")
    for _ in range(10):
        page.get_by_role("slider", name="Threshold").press("ArrowRight")
    scores = served.notes.scores(served.rows)
    expected = [set(scores.columns[row >= 0.1]) for row in scores.to_numpy()]
    lines = page.locator("#rows-body tr")
    expect(lines.nth(3).locator(".chip")).to_have_count(len(expected[3]))
    assert set(lines.nth(3).locator(".chip").all_inner_texts()) == expected[3]
    _, content = downloaded(page, "Download all as CSV")
    found = pd.read_csv(io.BytesIO(content), keep_default_na=False)["tags"]
    assert [set(filter(None, cell.split(";"))) for cell in found] == expected


def test_one_result_can_be_downloaded(open_page: Open, served: Served) -> None:
    page = open_page().page
    tag(page)
    name, content = downloaded(page, "Download CSV")
    assert name == "tags.csv"
    found = list(csv.DictReader(io.StringIO(content.decode("utf-8"))))
    row = row_of(TEXT)
    wanted = expected_scores(served.notes, row)
    assert {each["label"]: float(each["score"]) for each in found} == pytest.approx(wanted)
    tags = {each["label"] for each in found if each["predicted"] == "1"}
    assert tags == set(served.notes.tags(row)[0])
    why = served.notes.explain(row, only_predicted=False)
    for each in found:
        for landmark in served.notes.landmark_names:
            wanted_part = why.loc[each["label"], landmark]
            assert float(each[f"landmark:{landmark}"]) == pytest.approx(wanted_part)


def test_other_delimiters_and_a_mark_at_the_start(open_page: Open, served: Served) -> None:
    page = open_page().page
    drop_file(page, "semi.csv", '\ufeffbody;hours;site\r\n"a; ""river""";2;north\r\ntrail;;\r\n')
    page.locator("#rows-body tr").nth(1).click()
    assert page.get_by_label("body").input_value() == "trail"
    page.locator("#rows-body tr").first.click()
    assert page.get_by_label("body").input_value() == 'a; "river"'
    row = pd.DataFrame({"body": ['a; "river"'], "hours": [2.0], "site": ["north"]})
    assert_scores(page, expected_scores(served.notes, row))


# Other models -----------------------------------------------------------------------------------


def test_many_numbers_are_pasted_and_no_landmarks_are_hidden(
    open_page: Open, served: Served
) -> None:
    opened = open_page()
    page = opened.page
    page.get_by_label("Model").select_option("numbers")
    field = page.get_by_label(f"{N_NUMBERS} numbers")
    field.wait_for()
    assert not page.locator("#what-if").is_visible()
    assert not page.locator("#graph").is_visible()
    numbers = np.random.default_rng(3).normal(size=N_NUMBERS).round(3)
    names = [f"x{number}" for number in range(N_NUMBERS)]
    wanted = expected_scores(served.numbers, pd.DataFrame([numbers], columns=names))
    order = np.random.default_rng(4).permutation(N_NUMBERS)
    named = ",".join(names[k] for k in order) + "\n" + ",".join(str(numbers[k]) for k in order)
    for text in (", ".join(map(str, numbers)), "\t".join(map(str, numbers)), named):
        field.fill(text)
        page.get_by_role("button", name="Tag it").click()
        page.locator("#bars .bar").first.wait_for()
        more = page.locator("#more-bars")
        if more.inner_text() == f"Show all {N_NUMBER_LABELS} labels":
            assert page.locator("#bars .bar").count() == 24
            more.click()
        assert_scores(page, wanted)
        page.get_by_role("button", name="Clear").click()
    assert opened.complaints == []


def test_a_model_is_chosen_while_another_is_asked_about_its_landmarks(open_page: Open) -> None:
    opened = open_page(wait=False)
    page = opened.page
    held: list[Any] = []
    page.route(re.compile("/recover"), lambda route: held.append(route))
    page.reload()
    page.locator("#work").wait_for()
    for _ in range(100):
        if held:
            break
        page.wait_for_timeout(50)
    page.get_by_label("Model").select_option("numbers")
    page.get_by_label(f"{N_NUMBERS} numbers").wait_for()
    with page.expect_response(re.compile("/recover")):
        held[0].continue_()
    page.wait_for_timeout(500)
    assert len(held) == 1
    assert not page.locator("#what-if").is_visible()
    assert opened.complaints == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1, 2, 3", "3 numbers for 30 columns: give one for each, in the order x0, x1, …, x29."),
        (", ".join(["1"] * 29 + ["one"]), "x29: “one” is not a number."),
        ("x0,x1\n1,2", "The column “x2” is missing; give all 30 columns of the model."),
        ("", "The row is empty. Fill in at least one field."),
    ],
    ids=["too few", "a word", "names missing", "nothing"],
)
def test_wrong_numbers_are_explained(open_page: Open, text: str, message: str) -> None:
    page = open_page().page
    page.get_by_label("Model").select_option("numbers")
    page.get_by_label(f"{N_NUMBERS} numbers").fill(text)
    page.get_by_role("button", name="Tag it").click()
    assert page.get_by_role("alert").inner_text() == message
    assert not page.locator("#result").is_visible()


# Trouble ----------------------------------------------------------------------------------------


def test_what_the_service_says_is_shown_as_it_is(open_page: Open) -> None:
    page = open_page().page
    with page.expect_response(re.compile("/predict")) as refused:
        drop_file(page, "other.csv", "boddy,hours\na text,1\n")
    said = json.loads(refused.value.text())["error"]["message"]
    assert "'body'" in said
    assert page.get_by_role("alert").inner_text() == said
    assert not page.locator("#rows-result").is_visible()


def test_a_service_that_is_gone_and_comes_back(open_page: Open) -> None:
    page = open_page().page
    page.context.set_offline(True)
    page.get_by_label("body").fill(TEXT)
    page.get_by_role("button", name="Tag it").click()
    expect(page.locator("#row-message")).to_contain_text("The service does not respond.")
    page.get_by_label("Model").select_option("numbers")
    again = page.get_by_role("button", name="Try again")
    again.wait_for()
    page.context.set_offline(False)
    again.click()
    tag(page)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_the_token_is_asked_for_once(open_page: Open, served: Served) -> None:
    opened = open_page(served.secured_url, wait=False)
    page = opened.page
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Token of this service")
    field.wait_for()
    assert "needs a token" in dialog.inner_text()
    field.fill("something else")
    dialog.get_by_role("button", name="Continue").click()
    field.wait_for()
    field.fill(TOKEN)
    page.keyboard.press("Enter")
    page.locator("#work").wait_for()
    assert not dialog.is_visible()
    tag(page)
    assert set(chips(page)) == set(served.notes.tags(row_of(TEXT))[0])
    page.reload()
    page.locator("#work").wait_for()
    assert not dialog.is_visible()


def test_whoever_gives_no_token_is_told_and_can_try_again(open_page: Open, served: Served) -> None:
    page = open_page(served.secured_url, wait=False).page
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    assert "needs a token" in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("dialog").wait_for()


# Looks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("device", ["desk", "phone"])
def test_it_fits_the_screen_and_has_its_picture_taken(
    open_page: Open, served: Served, tmp_path: Path, scheme: str, device: str
) -> None:
    size = PHONE if device == "phone" else {"viewport": {"width": 1280, "height": 900}}
    opened = open_page(color_scheme=scheme, **size)
    page = opened.page
    assert overflow(page) <= 0
    tag(page)
    page.set_input_files("#file", served.file)
    page.locator("#rows-body tr").first.wait_for()
    answer(page, served.notes.landmark_names[0], "unknown")
    assert overflow(page) <= 0
    picture = tmp_path / f"{device}-{scheme}.png"
    page.screenshot(path=picture, full_page=True)
    pixels = imread(picture)
    assert pixels.shape[1] == size["viewport"]["width"]
    brightness = float(np.median(pixels[..., :3]))
    assert brightness > 0.9 if scheme == "light" else brightness < 0.2
    assert opened.complaints == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_stands_out_from_what_is_behind_it(
    open_page: Open, served: Served, scheme: str
) -> None:
    page = open_page(color_scheme=scheme).page
    tag(page)
    for selector in (
        "#facts",
        ".main",
        ".plain",
        "#chips .chip.landmark",
        "#chips .chip:not(.landmark)",
        "#bars .bar:not(.tag) .name",
        "#bars .bar.tag .name",
        "#reasons .note",
        '.choice [value="1"]:checked + span',
        '.choice [value="0"]:checked + span',
        '.choice [value="null"] + span',
    ):
        assert page.evaluate(CONTRAST, selector) >= READABLE, selector
    page.evaluate("document.getElementById('trouble').hidden = false")
    assert page.evaluate(CONTRAST, "#trouble") >= READABLE


def test_a_tapped_label_tells_its_story_on_a_phone(open_page: Open) -> None:
    page = open_page(**PHONE).page
    tag(page)
    bar(page, "outdoors").tap()
    assert page.locator("#reasons h3").inner_text() == "outdoors"
    assert page.locator("#reasons").evaluate(
        """box => { const place = box.getBoundingClientRect();
                    return place.top >= 0 && place.bottom <= window.innerHeight; }"""
    )
