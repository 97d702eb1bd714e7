"""Two services with their models, and what a test does and reads on their page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from opened_report import HARMFUL

from splmll.datasets import Dataset
from splmll.tagging import Tagger

QUOTED = """a "b" & 'c'"""
WORDS = {
    "baking": ["dough", "flour", "yeast"],
    "cooking": ["simmer", "garlic", "pan"],
    "food": ["recipe", "taste", "butter"],
    "hiking": ["trail", "summit", "boots"],
    "outdoors": ["tent", "river", "ridge"],
    "weather": ["rain", "storm", "wind"],
    HARMFUL: ["browser", "alert", "script"],
    QUOTED: ["quote", "said", "word"],
}
# What comes with a tag, so that landmarks have something to carry.
WITH = {
    "baking": ["cooking", "food"],
    "cooking": ["food"],
    "hiking": ["outdoors"],
    QUOTED: [HARMFUL],
}
FILLER = ["the", "we", "saw", "again", "today", "in", "some", "new"]
TEXT = (
    "Boots on the trail to the ridge, a tent at the river; a recipe with butter, the taste of "
    "garlic in the pan, dough and flour"
)
N_NUMBERS, N_NUMBER_LABELS = 30, 40
ROUNDED = 6e-4  # three digits are shown
PATIENCE = 10_000  # milliseconds
TOKEN = "a-token-that-nobody-guesses"


@dataclass(frozen=True)
class Served:
    """A running service with what it serves."""

    url: str
    secured_url: str
    folder: Path
    notes: Tagger
    numbers: Tagger

    @property
    def file(self) -> Path:
        return self.folder / "new.csv"

    @property
    def rows(self) -> pd.DataFrame:
        return pd.read_csv(self.file, keep_default_na=False)


def make_notes(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    names = list(WORDS)
    texts, tags = [], []
    for _ in range(n_rows):
        own = {name for name in names if rng.random() < 0.2}
        own |= {other for name in own for other in WITH.get(name, [])}
        words = [w for name in sorted(own) for w in rng.choice(WORDS[name], 2)]
        words += list(rng.choice(FILLER, 6))
        rng.shuffle(words)
        # A comma, a quote and a line break in a cell, as real notes have.
        texts.append(f'{" ".join(words[:3])},\n"{" ".join(words[3:])}"')
        tags.append([int(name in own) for name in names])
    frame = pd.DataFrame({"body": texts, "hours": rng.normal(size=n_rows).round(2)})
    return frame.assign(site=rng.choice(["north", "south"], n_rows)), np.array(tags)


def fit_notes(folder: Path) -> Tagger:
    X, Y = make_notes(240, seed=0)
    kinds = {"body": "text", "hours": "numeric", "site": "categorical"}
    data = Dataset(X, Y, list(X.columns), list(WORDS), column_kinds=kinds)
    reading = {"label_column": "tags", "label_delimiter": ";"}
    tagger = Tagger.fit(data, n_landmarks=4, reading=reading)
    tagger.save(folder / "notes")
    new, _ = make_notes(40, seed=1)
    new.insert(0, "id", [f"n{number}" for number in range(len(new))])
    new.to_csv(folder / "new.csv", index=False)
    return tagger


def fit_numbers(folder: Path) -> Tagger:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, N_NUMBERS))
    Y = (X @ rng.normal(size=(N_NUMBERS, N_NUMBER_LABELS)) > 0).astype(int)
    names = [f"x{number}" for number in range(N_NUMBERS)]
    labels = [f"label {number}" for number in range(N_NUMBER_LABELS)]
    tagger = Tagger.fit(Dataset(X, Y, names, labels), "PLST")
    tagger.save(folder / "numbers")
    return tagger


def start(folder: Path, **environment: str) -> subprocess.Popen[str]:
    models = [f"{name}={folder / name}" for name in ("notes", "numbers")]
    return subprocess.Popen(
        [sys.executable, "-m", "splmll", "serve", *models, "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"http://[\d.:]+", line)
        if found:
            return found[0] + "/"
    raise AssertionError(f"the service ended with status {process.wait()}")


def row_of(text: str) -> pd.DataFrame:
    """The row that the page sends when only the text is filled in."""
    return pd.DataFrame({"body": [text], "hours": [np.nan], "site": [""]})


def tag(page: Any, text: str = TEXT) -> None:
    """Fill in a text, and wait for its tags and what carried them."""
    page.get_by_label("body").fill(text)
    page.get_by_role("button", name="Tag it").click()
    page.locator("#reasons .reason").first.wait_for()


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-"))


def chips(page: Any) -> list[str]:
    return page.locator("#chips .chip").all_inner_texts()


def shown_scores(page: Any, bars: str = "#bars") -> dict[str, float]:
    """Label -> score of all bars, in their order."""
    return dict(
        page.locator(f"{bars} .bar").evaluate_all(
            """all => all.map((bar) => [
                 bar.dataset.label, Number(bar.querySelector(".value").firstChild.textContent),
               ])"""
        )
    )


def assert_scores(page: Any, expected: dict[str, float], bars: str = "#bars") -> None:
    """The bars have these scores now, or as soon as an answer of the service is drawn."""
    for _ in range(100):
        if shown_scores(page, bars) == pytest.approx(expected, abs=ROUNDED):
            return
        page.wait_for_timeout(20)
    assert shown_scores(page, bars) == pytest.approx(expected, abs=ROUNDED)


def bar(page: Any, name: str, bars: str = "#bars") -> Any:
    return page.locator(f"{bars} .bar").nth(list(shown_scores(page, bars)).index(name))


def expected_scores(tagger: Tagger, rows: pd.DataFrame) -> dict[str, float]:
    return tagger.scores(rows).iloc[0].to_dict()


def expected_tags(tagger: Tagger, rows: pd.DataFrame, threshold: float) -> set[str]:
    return {name for name, score in expected_scores(tagger, rows).items() if score >= threshold}


def answer(page: Any, landmark: str, word: str) -> None:
    """Give an answer and wait until the service has been asked for what follows."""
    group = page.get_by_role("group", name=landmark, exact=True)
    with page.expect_response(re.compile("/recover")):
        group.get_by_role("radio", name=word, exact=True).check()
