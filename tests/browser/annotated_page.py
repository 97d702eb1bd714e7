"""A real `splmll annotate` with its page: starting it, killing it, and what is on the page."""

from __future__ import annotations

import csv
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tagged_notes import WORDS, write_notes

LABELS = list(WORDS)
N_ROWS = 24


class Desk:
    """``splmll annotate`` in a process of its own; started again it has the same address."""

    def __init__(self, folder: Path, *arguments: object) -> None:
        self.folder, self.arguments = folder, [*map(str, arguments)]
        self.port = "0"
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "splmll", "annotate", *self.arguments]
        self.process = subprocess.Popen(
            [*command, "--port", self.port], cwd=self.folder, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = re.search(r"(http://[\d.]+:(\d+))/annotate", line)
            if found:
                self.address, self.port = found[0], found[2]
                return
        raise AssertionError(f"it ended with status {self.process.wait()}")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(timeout=30)


def write_new_notes(path: Path, n_rows: int = N_ROWS) -> None:
    """Write rows without tags; every other one has words of none, so that there is doubt."""
    write_notes(path, n_rows, seed=7)
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "body", "hours", "site"], extrasaction="ignore")
        writer.writeheader()
        for number, line in enumerate(lines):
            body = line["body"] if number % 2 else f"we saw the door and a drip {number}"
            writer.writerow({**line, "body": body})


def question(page: Any) -> str:
    """Return the label that is asked about, once the page is ready."""
    from playwright.sync_api import expect  # an extra

    expect(page.locator("#main")).not_to_have_attribute("aria-busy", "true")
    found = re.fullmatch("Does “(.+)” apply\\?", page.locator("#question").inner_text())
    assert found, page.locator("#question").inner_text()
    return found[1]


def row(page: Any) -> int:
    """Return the number of the row that is shown, from 0."""
    return int(page.locator("#row-title").inner_text().removeprefix("Row ")) - 1


def press(page: Any, key: str, path: str = "answer") -> tuple[int, str]:
    """Answer by a key, wait until it is kept, and return what it was about."""
    asked = row(page), question(page)
    with page.expect_response(re.compile(f"/annotate/{path}")) as response:
        page.keyboard.press(key)
    assert response.value.ok, response.value.text()
    from playwright.sync_api import expect  # an extra

    expect(page.locator("#main")).not_to_have_attribute("aria-busy", "true")
    return asked


def answered(page: Any) -> dict[str, str]:
    """Return label -> yes or no as the page lists them."""
    lines = page.locator("#answered li:not(.note)").all_inner_texts()
    return dict(line.split()[:2] for line in lines)
