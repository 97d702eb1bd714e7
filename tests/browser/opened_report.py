"""What a test in the browser needs to know: where the browser is, and what it gets by opening."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

# The names a Chromium has; SPLMLL_CHROMIUM names one that is elsewhere.
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = "playwright or a Chromium is not installed; `make test-browser` sets both up"

# The name of a label and of a method in the report; it must be shown and do nothing.
HARMFUL = "<script>alert(1)</script>"


@dataclass
class Opened:
    """A page, what it complained of, and what it requested."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @classmethod
    def in_context(cls, context: Any) -> Opened:
        """A new page that notes what it complains of and requests."""
        opened = cls(context.new_page())
        page = opened.page
        page.on("console", lambda message: opened.complaints.append(message.text))
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        page.on("dialog", lambda dialog: opened.complaints.append(dialog.message))
        page.on("request", lambda request: opened.requests.append(request.url))
        return opened


Open = Callable[..., Opened]


def chromium() -> str:
    """Return the program, empty where it or the package that drives it is not installed."""
    if find_spec("playwright") is None:
        return ""
    found = filter(None, map(shutil.which, CHROMIUM))
    return os.environ.get("SPLMLL_CHROMIUM") or next(found, "")
