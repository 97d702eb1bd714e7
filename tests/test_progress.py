"""What a fit says while it runs."""

from __future__ import annotations

import io
from itertools import count

import numpy as np
import pytest

from splmll import SPLMLL
from splmll.progress import ProgressLine, Stages


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Cell(io.StringIO):
    """The output of a cell of a notebook, as its kernel has it: no terminal."""

    __module__ = "ipykernel.iostream"


def shown(written: str) -> list[str]:
    """Return what stood on the line, one state after the other."""
    return [state.rstrip() for state in written.split("\r") if state.strip()]


@pytest.mark.parametrize("stream", [Terminal(), Cell()], ids=["terminal", "notebook"])
def test_one_line_is_rewritten_and_gone_at_the_end(stream: io.StringIO) -> None:
    seconds = count(0, 30)
    with ProgressLine(stream, clock=lambda: float(next(seconds))) as line:
        line("linear classifiers", 0.25)
        line("landmarks", 0.75)
        line("landmarks", 1.0)
    first, second, last = shown(stream.getvalue())
    # A quarter took 30 seconds, so the rest takes 90; then three quarters took 60.
    assert first == "linear classifiers [#####...............] 25%, 1:30 left"
    assert second == "landmarks [###############.....] 75%, 0:20 left"
    assert last == "landmarks [####################] 100%"
    assert "\n" not in stream.getvalue()
    *_, before, blank, end = stream.getvalue().split("\r")
    assert (blank.strip(), end) == ("", "")
    assert len(blank) >= len(before.rstrip())


def test_a_shorter_line_leaves_nothing_of_a_longer_one() -> None:
    stream = Terminal()
    line = ProgressLine(stream, clock=lambda: 0.0)
    line("a stage with a long name", 0.0)
    line("short", 0.0)
    _, first, second = stream.getvalue().split("\r")
    assert len(second) == len(first)


def test_a_log_has_one_line_for_every_stage() -> None:
    stream = io.StringIO()
    with ProgressLine(stream) as line:
        stages = Stages(line)
        stages("folds", 0.1)
        stages("folds", 0.2)
        stages("landmarks", 0.9)
    assert stream.getvalue() == "folds\nlandmarks\n"


def test_a_verbose_fit_says_what_it_does_and_what_came_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X[:, :3] + rng.normal(size=(120, 3)) > 0).astype(int)
    quiet = SPLMLL("linear", random_state=0).fit(X, Y)
    assert capsys.readouterr().out == ""
    model = SPLMLL("linear", random_state=0, verbose=1).fit(X, Y)
    *stages, summary = capsys.readouterr().out.splitlines()
    assert "landmarks and recovery" in stages
    assert summary == model.summary_
    assert np.array_equal(model.decision_function(X), quiet.decision_function(X))
    told: list[str] = []
    model.fit_out_of_fold(X, Y, lambda what, share: told.append(what))
    assert told
    assert capsys.readouterr().out == ""  # whoever listens shows it
