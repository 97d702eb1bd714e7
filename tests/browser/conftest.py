"""A real headless Chromium, and a report for it to open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from opened_report import HARMFUL, Open, Opened, chromium

from splmll import SPLMLL
from splmll.experiments.published import published
from splmll.experiments.report import FittedModel, write_report
from synthetic_results import synthetic_results, with_failure

mpl.use("Agg")


# For a module and not for the session: while it is open, its event loop runs in this thread, and
# tests of other modules could not run theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright  # an extra

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium())
        yield running
        running.close()


@pytest.fixture(scope="session")
def model() -> SPLMLL:
    """A model with three landmarks of six labels, one of which has a harmful name."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(160, 6))
    Y = (X @ rng.normal(size=(6, 6)) + 0.3 * rng.normal(size=(160, 6)) > 0.3).astype(int)
    labels = pd.DataFrame(Y, columns=["sea", "boat", "sand", "sky", "snow", HARMFUL])
    return SPLMLL("linear", n_landmarks=3, random_state=0).fit(X, labels)


@pytest.fixture(scope="session")
def report(model: SPLMLL, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of synthetic results under two protocols, with failures and a harmful method."""
    held_out = with_failure(synthetic_results(), "yeast", "LP")
    held_out["method"] = held_out["method"].replace("EPS", HARMFUL)
    training = synthetic_results(("scene",), ("BR", "SPL-MLL"), protocol="resubstitution")
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(20, 6)), rng.integers(0, 2, size=(20, 6))
    return write_report(
        pd.concat([held_out, training], ignore_index=True),
        tmp_path_factory.mktemp("report") / "report.html",
        published=published(),
        models={"emotions": FittedModel(model, X, Y)},
    )


@pytest.fixture
def open_report(browser: Any, report: Path) -> Iterator[Open]:
    """A function that opens the report; its options are those of a browser context."""
    contexts = []

    def opened(choice: str = "", **options: Any) -> Opened:
        context = browser.new_context(**options)
        contexts.append(context)
        result = Opened.in_context(context)
        result.page.goto(report.as_uri() + choice)
        return result

    yield opened
    for context in contexts:
        context.close()
