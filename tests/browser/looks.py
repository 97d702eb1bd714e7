"""How a page must look: on a phone, in light and dark, with text that stands out."""

from __future__ import annotations

from typing import Any

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SCHEMES = ["light", "dark"]
READABLE = 4.5  # the contrast that WCAG asks of text

CONTRAST = """selector => {
  // Mixed colours are given as color(srgb ...) with parts up to 1, others as rgb(...) up to 255.
  const parts = (colour) => colour.match(/[\\d.]+/g)
    .map((part) => Number(part) / (colour.startsWith("color(") ? 1 : 255));
  const light = (colour) => {
    const [r, g, b] = parts(colour)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const element = document.querySelector(selector);
  let behind = element;
  while (/rgba\\(.*, 0\\)/.test(getComputedStyle(behind).backgroundColor) && behind.parentElement) {
    behind = behind.parentElement;
  }
  const [a, b] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor]
    .map(light).sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}"""


def overflow(page: Any) -> int:
    """How many pixels the page is wider than the screen."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
