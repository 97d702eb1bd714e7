"""The page of a real `splmll annotate` in a real browser: no answer is lost, whatever happens."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from accessibility import NO_AXE, axe, violations
from opened_report import NO_BROWSER, Open, Opened, chromium

if not chromium():
    pytest.skip(NO_BROWSER, allow_module_level=True)
pytest.importorskip("fastapi", reason='the service needs pip install "splmll[serve]"')

import numpy as np
from annotated_page import LABELS, N_ROWS, Desk, answered, press, question, row, write_new_notes
from looks import SCHEMES, overflow
from playwright.sync_api import expect

from command_runs import apart
from splmll.annotation import AnswerStore
from splmll.annotation.suspects import write_suspects
from splmll.datasets import Dataset
from splmll.tagging import Tagger, read_examples
from tagged_notes import write_notes

pytestmark = pytest.mark.slow

PATIENCE = 20_000  # milliseconds
N_LABELS = 600
SIZES = {1280: {"width": 1280, "height": 900}, 375: {"width": 375, "height": 740}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, the table that it learned from, and one to annotate."""
    place = tmp_path_factory.mktemp("annotated")
    notes = write_notes(place / "notes.csv", 120)
    data, reading = read_examples(notes, ["tags"], text=["body"], ignore=["id"])
    Tagger.fit(data, reading=reading).save(place / "model")
    write_new_notes(place / "new.csv")
    return place


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """A function that opens a page as a browser of its own would."""
    contexts = []

    def opened(url: str, annotator: str = "ann", **options: Any) -> Opened:
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(f"localStorage.setItem('splmll annotator', '{annotator}')")
        contexts.append(context)
        result = Opened.in_context(context)
        result.page.goto(url)
        result.page.locator("#task").wait_for()
        return result

    yield opened
    for context in contexts:
        context.close()


def test_no_answer_is_lost(folder: Path, open_page: Open) -> None:
    """Keys, undo, reload, two annotators, kill -9 between two answers, export."""
    new = ("new.csv", "--model", "model", "--enough", "0")
    desk = Desk(folder, *new)
    given: dict[tuple[int, str], str] = {}
    try:
        opened = open_page(desk.address)
        page = opened.page
        # By key; the row stays as long as there is something to ask.
        first = press(page, "y")
        given[first] = "1"
        second = press(page, "n")
        given[second] = "0"
        assert second[0] == first[0]
        assert answered(page) == {first[1]: "yes", second[1]: "no"}
        skipped = press(page, "s")
        assert question(page) not in (first[1], second[1], skipped[1])
        # Taking back, twice: the skip and the last answer; the question comes again.
        press(page, "u", "undo")
        assert question(page) == skipped[1]
        press(page, "u", "undo")
        assert question(page) == second[1]
        assert answered(page) == {first[1]: "yes"}
        press(page, "n")
        # A reload goes on where it was.
        before = row(page), question(page), answered(page)
        page.reload()
        page.locator("#task").wait_for()
        assert (row(page), question(page), answered(page)) == before
        # A second tab of the same annotator: both answers are kept, the later one counts.
        tab = page.context.new_page()
        tab.goto(desk.address)
        tab.locator("#task").wait_for()
        assert (row(tab), question(tab)) == (row(page), question(page))
        twice = press(tab, "y")
        press(page, "n")
        assert answered(page)[twice[1]] == "no"
        press(page, "u", "undo")
        given[twice] = "1"
        page.reload()
        page.locator("#task").wait_for()
        assert answered(page) == {first[1]: "yes", second[1]: "no", twice[1]: "yes"}
        # Another annotator gets another row, and both go on.
        other = open_page(desk.address, "bob").page
        assert row(other) != row(page)
        given[press(other, "y")] = "1"
        # Any label can be set, also by the mouse.
        set_label = next(name for name in LABELS if name not in answered(page))
        page.fill("#search", set_label)
        page.get_by_role("button", name=f"{set_label}: yes", exact=True).click()
        # It was the last one: the row is done.
        expect(page.locator("#counts")).to_contain_text(f"1 of {N_ROWS} rows done")
        assert row(page) not in (first[0], row(other))
        given[(first[0], set_label)] = "1"
        page.fill("#search", "")
        page.locator("#question").click()  # letters are answers again, not words
        # Killed between two answers: what is answered meanwhile arrives when it is back.
        desk.end(signal.SIGKILL)
        asked = row(other), question(other)
        other.keyboard.press("n")
        expect(other.locator("#trouble")).to_contain_text("sent again until it arrives")
        desk.start()
        expect(other.locator("#trouble")).to_be_hidden()
        given[asked] = "0"
        given[press(page, "y")] = "1"
        complaints = [each for each in opened.complaints if "ERR_CONNECTION_REFUSED" not in each]
        assert complaints == []
        # The file that the page gives.
        with page.expect_download() as download:
            page.get_by_role("button", name="Download answers").click()
        download.value.save_as(folder / "downloaded.csv")
    finally:
        desk.end(signal.SIGKILL)
    # The command takes table and model from the answers, and writes the same file.
    exported = apart("annotate", "--answers", folder / "answers.sqlite",
                     "--export", folder / "answers.csv")  # fmt: skip
    assert exported.returncode == 0, exported.stderr
    assert (folder / "answers.csv").read_bytes() == (folder / "downloaded.csv").read_bytes()
    table = pd.read_csv(folder / "answers.csv", dtype=str, keep_default_na=False)
    assert len(table) == N_ROWS
    found = {
        (number, label): table.loc[number, f"label:{label}"]
        for number in range(N_ROWS)
        for label in LABELS
        if table.loc[number, f"label:{label}"]
    }
    assert found == given
    with AnswerStore(folder / "answers.sqlite") as store:
        assert {each.annotator for each in store.history() if each.label} == {"ann", "bob"}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk with 600 labels."""
    place = tmp_path_factory.mktemp("many")
    rng = np.random.default_rng(0)
    columns = [f"x{number}" for number in range(12)]
    X = rng.normal(size=(200, 12))
    Y = (X @ rng.normal(size=(12, N_LABELS)) + rng.normal(size=(200, N_LABELS)) > 4).astype(int)
    labels = [f"a rather long name of the label {number}" for number in range(N_LABELS)]
    data = Dataset(X, Y, columns, labels, column_kinds=dict.fromkeys(columns, "numeric"))
    Tagger.fit(data, "SPL-MLL (linear)").save(place / "model")
    pd.DataFrame(rng.normal(size=(10, 12)), columns=columns).to_csv(place / "new.csv", index=False)
    desk = Desk(place, "new.csv", "--model", "model", "--enough", "0")
    yield desk
    desk.end()


def test_one_of_600_labels_is_found_and_set_by_thumb(many: Desk, open_page: Open) -> None:
    opened = open_page(many.address, viewport=SIZES[375], has_touch=True, is_mobile=True)
    page = opened.page
    question(page)
    page.locator("#search").tap()
    page.fill("#search", "LABEL 59")
    expect(page.locator("#search-said")).to_have_text("11 labels")
    page.fill("#search", "label 597")
    name = "a rather long name of the label 597"
    page.get_by_role("button", name=f"{name}: yes", exact=True).tap()
    expect(page.locator("#answered")).to_contain_text(name)
    # Large enough for a thumb, at the lower edge, and nothing is wider than the screen.
    for button in page.locator("#answers button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 48
        assert box["width"] >= 48
        assert box["y"] + box["height"] <= SIZES[375]["height"]
    assert overflow(page) == 0
    asked = question(page)
    with page.expect_response(re.compile("/annotate/answer")):
        page.locator("#answers").get_by_role("button", name="No").tap()
    expect(page.locator("#answered")).to_contain_text(asked)
    assert opened.complaints == []


# Suspects, retraining, looks --------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged(folder: Path) -> Iterator[Desk]:
    """A desk for the table with tags, with four labels in doubt."""
    suspects = pd.DataFrame(
        {
            "row": [3, 5, 8, 9],
            "label": LABELS,
            "given": [True, False, True, False],
            "probability": [0.1, 0.9, 0.2, 0.8],
            "reason": "The row says otherwise.",
        }
    )
    write_suspects(folder / "suspects.csv", suspects)
    desk = Desk(folder, "new.csv", "--model", "model", "--suspects", "suspects.csv",
                "--answers", "judged.sqlite", "--train", "notes.csv", "--enough", "0")  # fmt: skip
    yield desk
    desk.end()


def test_suspects_are_kept_or_changed(judged: Desk, open_page: Open) -> None:
    page = open_page(judged.address).page
    page.get_by_role("radio", name="Is this right?").check()
    title = page.locator("#question")
    expect(title).to_have_text(f"“{LABELS[0]}” is given. Is this right?")
    page.keyboard.press("c")
    expect(title).to_have_text(f"“{LABELS[1]}” is not given. Is this right?")
    page.keyboard.press("k")
    expect(title).to_have_text(f"“{LABELS[2]}” is given. Is this right?")
    page.keyboard.press("u")
    expect(title).to_have_text(f"“{LABELS[1]}” is not given. Is this right?")
    page.keyboard.press("c")
    expect(page.locator("#counts")).to_have_text("2 of 4 suspicious labels checked.")
    with AnswerStore(judged.folder / "judged.sqlite") as store:
        assert store.answers(3).known == {LABELS[0]: False}
        assert store.answers(5).known == {LABELS[1]: True}


def test_one_button_retrains_and_the_new_model_asks(judged: Desk, open_page: Open) -> None:
    page = open_page(judged.address).page
    expect(page.locator("#facts")).to_contain_text("learned from 120 rows")
    press(page, "y")
    press(page, "n")
    page.get_by_role("button", name="Retrain the model").click()
    expect(page.locator("#retraining")).to_contain_text("Retraining: ")
    press(page, "y")  # annotators go on meanwhile
    expect(page.locator("#retraining")).to_contain_text("the new model is in use", timeout=90_000)
    learned = Tagger.load(judged.folder / "model").n_rows
    assert learned > 120
    expect(page.locator("#facts")).to_contain_text(f"learned from {learned} rows")
    assert len(answered(page)) in (0, 3)
    press(page, "y")


@pytest.mark.skipif(axe() is None, reason=NO_AXE)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", SIZES)
def test_axe_finds_nothing(judged: Desk, open_page: Open, width: int, scheme: str) -> None:
    page = open_page(judged.address, viewport=SIZES[width], color_scheme=scheme).page
    question(page)
    page.fill("#search", "o")
    assert violations(page) == []
    assert overflow(page) == 0
    page.get_by_role("radio", name="Is this right?").check()
    expect(page.locator("#question")).to_contain_text("Is this right?")
    assert violations(page) == []
    page.goto(judged.address.removesuffix("annotate"))
    page.get_by_label("body").fill("the pump drips oil")
    page.get_by_role("button", name="Tag it").click()
    page.locator("#reasons .reason").first.wait_for()
    assert violations(page) == []
    assert overflow(page) == 0
