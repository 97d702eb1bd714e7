"""The built documentation in a real browser: pictures are there, nothing is wider than a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from looks import overflow
from opened_report import NO_BROWSER, Opened, chromium

SITE = Path(__file__).parents[2] / "out" / "docs"
PAGES = [
    "index.html",
    "method.html",
    "benchmark.html",
    "howto/serve.html",
    "gallery/index.html",
    "api/generated/splmll.SPLMLL.html",
]
NARROW = {"viewport": {"width": 375, "height": 812}}
WIDE = {"viewport": {"width": 1280, "height": 900}}

# The theme lets the whole article scroll sideways, so that the page itself never overflows. Only
# code, tables and formulas may: whatever else ends beyond the screen is cut off.
CUT_OFF = """() => [...document.querySelectorAll("article.bd-article *")].filter((element) => {
  const place = element.getBoundingClientRect();
  if (place.width === 0 || place.right <= window.innerWidth + 1) return false;
  const around = element.closest("pre, .pst-scrollable-table-container, .math-block");
  return !around || around.getBoundingClientRect().right > window.innerWidth + 1;
}).map((element) => element.outerHTML.slice(0, 80))"""

if not chromium():
    pytest.skip(NO_BROWSER, allow_module_level=True)
if not (SITE / "index.html").exists():
    pytest.skip("there is no out/docs; `make docs` builds it", allow_module_level=True)


@pytest.fixture(scope="module", params=[NARROW, WIDE], ids=["375 px", "1280 px"])
def context(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    opened = browser.new_context(**request.param)
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=PAGES)
def opened(context: Any, request: pytest.FixtureRequest) -> Iterator[Opened]:
    result = Opened.in_context(context)
    result.page.goto((SITE / request.param).as_uri())
    yield result
    result.page.close()


def test_every_picture_is_shown(opened: Opened) -> None:
    # Pictures further down are loaded when they are near: ask for all of them now.
    broken = opened.page.evaluate(
        """async () => {
          const pictures = [...document.images];
          for (const picture of pictures) picture.loading = "eager";
          await Promise.all(pictures.map((picture) => picture.decode().catch(() => null)));
          return pictures.filter((p) => p.naturalWidth === 0).map((p) => p.src);
        }"""
    )
    assert broken == []


def test_nothing_is_wider_than_the_screen(opened: Opened) -> None:
    assert overflow(opened.page) <= 0
    assert opened.page.evaluate(CUT_OFF) == []


def test_nothing_is_fetched_from_elsewhere(opened: Opened) -> None:
    assert [url for url in opened.requests if not url.startswith("file:")] == []


def test_formulas_have_a_size(browser: Any) -> None:
    page = browser.new_page()
    page.goto((SITE / "method.html").as_uri())
    sizes = page.locator("math[display=block]").evaluate_all(
        "all => all.map(m => m.getBoundingClientRect()).map(box => [box.width, box.height])"
    )
    page.close()
    assert len(sizes) >= 3
    assert all(width > 100 and height > 15 for width, height in sizes)
