"""Small files that a reader or the service took wrongly, or might: each target ends quietly."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason='the service needs pip install "splmll[serve]"')

from targets import TARGETS

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*/*"))


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_corpus(file: Path) -> None:
    TARGETS[file.parent.name](file.read_bytes())
