"""What axe-core finds wrong with a page that is open in the browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

# `make test-browser` puts it there; SPLMLL_AXE names one that is elsewhere.
_PLACE = Path(sys.prefix) / "axe.min.js"
NO_AXE = "axe-core is not there; `make test-browser` fetches it"


def axe() -> Path | None:
    """Return where axe-core is, None where it is not."""
    place = Path(os.environ.get("SPLMLL_AXE", _PLACE))
    return place if place.is_file() else None


def violations(page: Any) -> list[str]:
    """Return what axe-core finds, all its rules, with the elements concerned."""
    place = axe()
    assert place is not None
    page.evaluate(place.read_text("utf-8"))
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 10  # it has looked at something
    return [
        f"{each['id']}: {[node['html'][:120] for node in each['nodes']]}"
        for each in found["violations"]
    ]
