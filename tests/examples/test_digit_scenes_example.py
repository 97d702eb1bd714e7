"""The example of a convolutional network runs and says what it promises."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from splmll.datasets.digit_scenes import DIGIT_NAMES

EXAMPLE = Path(__file__).parents[2] / "examples" / "digit_scenes.py"


def test_it_runs_in_a_small_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = runpy.run_path(str(EXAMPLE))["main"]
    measures = main(["--out", str(tmp_path / "new"), "--rows", "150", "--epochs", "2"])
    shown = capsys.readouterr().out
    assert "150 pictures" in shown
    for name, value in measures.items():
        assert f"{name:<18} {value:.3f}" in shown
    landmarks = shown.split("landmarks (7 of 10): ")[1].splitlines()[0].split()
    assert len(landmarks) == 7
    assert set(landmarks) < set(DIGIT_NAMES)
    figure = tmp_path / "new" / "digit_scenes.png"
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert str(figure) in shown
