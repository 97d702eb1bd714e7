"""Names that are HTML, of labels, columns, values and models: shown as text, in page and report."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from opened_report import NO_BROWSER, Opened, chromium

if not chromium():
    pytest.skip(NO_BROWSER, allow_module_level=True)
pytest.importorskip("fastapi", reason='the service needs pip install "splmll[serve]"')

from served_page import address, bar, chips

from splmll import SPLMLL
from splmll.datasets import Dataset
from splmll.experiments.report import FittedModel, write_report
from splmll.tagging import Tagger
from synthetic_results import synthetic_results

pytestmark = pytest.mark.slow

# Each would call alert() where it is taken for HTML, an attribute or a script.
IMAGE = "<img src=x onerror=alert('image')>"
OUT_OF_ATTRIBUTE = "\" onmouseover=alert('attribute') x=\"><svg onload=alert('svg')>"
OUT_OF_SCRIPT = "</script><script>alert('script')</script>${alert('template')}"
NAMES = (IMAGE, OUT_OF_ATTRIBUTE, OUT_OF_SCRIPT)
# What none of our pages has, and the names above would make.
MADE = "img, [onerror], [onload], [onmouseover], body script ~ script"


def assert_harmless(opened: Opened) -> None:
    assert opened.complaints == []  # dialogs are noted there, too
    assert opened.page.locator(MADE).count() == 0
    assert not [url for url in opened.requests if url.endswith("/x")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose columns, categories and labels are harmful, and a file of rows."""
    folder = tmp_path_factory.mktemp("harmful")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            IMAGE: rng.normal(size=160),
            OUT_OF_ATTRIBUTE: rng.choice([IMAGE, OUT_OF_SCRIPT], 160),
            OUT_OF_SCRIPT: rng.normal(size=160),
        }
    )
    Y = np.column_stack(
        [rows[IMAGE] > 0, rows[OUT_OF_ATTRIBUTE] == IMAGE, rows[OUT_OF_SCRIPT] > 0]
    ).astype(int)
    kinds = {IMAGE: "numeric", OUT_OF_ATTRIBUTE: "categorical", OUT_OF_SCRIPT: "numeric"}
    data = Dataset(rows, Y, list(rows), list(NAMES), column_kinds=kinds)
    Tagger.fit(data, "SPL-MLL (linear)", n_landmarks=2).save(folder / "model")
    rows[:5].to_csv(folder / f"{IMAGE.replace('/', '')}.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "splmll", "serve", f"<b>={folder / 'model'}", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield address(process)
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_on_the_page(browser: Any, url: str, folder: Path) -> None:
    context = browser.new_context()
    opened = Opened.in_context(context)
    page = opened.page
    page.goto(url)
    page.get_by_label(IMAGE, exact=True).fill("2")
    page.get_by_label(OUT_OF_SCRIPT, exact=True).fill("2")
    page.get_by_role("button", name="Tag it").click()
    page.locator("#reasons .reason").first.wait_for()
    assert {IMAGE, OUT_OF_SCRIPT} <= set(chips(page))
    for name in NAMES:
        bar(page, name).hover()
        assert page.locator("#reasons h3").inner_text() == name
    assert_harmless(opened)
    # An answer about a landmark, and a file with a harmful name and cells.
    page.get_by_role("radio", name=re.compile("^yes$", re.IGNORECASE)).first.check()
    page.set_input_files("#file", next(folder.glob("*.csv")))
    page.locator("#rows-body tr").first.wait_for()
    assert "onerror" in page.locator("#rows-title").inner_text()
    page.wait_for_load_state("networkidle")
    assert_harmless(opened)
    # What the service says about a wrong value names the column.
    page.get_by_label(IMAGE, exact=True).evaluate("field => { field.value = '1e300'; }")
    page.get_by_role("button", name="Tag it").click()
    page.get_by_role("alert").first.wait_for()
    assert IMAGE in page.get_by_role("alert").first.inner_text()
    opened.complaints[:] = [each for each in opened.complaints if "status of 422" not in each]
    assert_harmless(opened)
    context.close()


def test_in_the_report(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list(NAMES))
    Y = pd.DataFrame((X.to_numpy() > 0).astype(int), columns=list(NAMES))
    model = SPLMLL("linear", n_landmarks=2, random_state=0).fit(X, Y)
    results = synthetic_results()
    results["method"] = results["method"].replace("EPS", IMAGE)
    results["data"] = results["data"].replace("yeast", OUT_OF_ATTRIBUTE)
    path = write_report(
        results,
        tmp_path / "report.html",
        models={OUT_OF_SCRIPT: FittedModel(model, X[:20], Y[:20])},
    )
    context = browser.new_context()
    opened = Opened.in_context(context)
    page = opened.page
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    text = page.locator("body").inner_text()
    for name in NAMES:
        assert name in " ".join(text.split())
    assert opened.complaints == []
    assert page.locator("img[src=x], [onerror], [onload], [onmouseover]").count() == 0
    context.close()
