"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder with the real benchmark data, or a skip with one plain line."""
    folder = os.environ.get("SPLMLL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SPLMLL_DATA does not name a folder with the benchmark data")
    return Path(folder)
