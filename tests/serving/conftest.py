"""Models to serve: notes with landmarks, the same notes without, and a bare matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from asgi_client import Client

from splmll.datasets import Dataset
from splmll.tagging import Tagger, read_examples
from tagged_notes import write_notes


@pytest.fixture(scope="session")
def models(tmp_path_factory) -> Path:
    """A folder with the models notes, plain and corners, and the notes they learned from."""
    folder = tmp_path_factory.mktemp("served")
    write_notes(folder / "notes.csv", 200)
    write_notes(folder / "new.csv", 30, seed=1)
    data, reading = read_examples(folder / "notes.csv", ["tags"], ignore=["id"])
    Tagger.fit(data, n_landmarks=3, reading=reading).save(folder / "notes")
    Tagger.fit(data, "BR", reading=reading).save(folder / "plain")
    X = np.random.default_rng(0).normal(size=(80, 3))
    corners = Dataset(X, (X[:, :2] > 0).astype(int), list("xyz"), ["right", "up"])
    Tagger.fit(corners, "SPL-MLL (linear)").save(folder / "corners.zip")
    return folder


@pytest.fixture(scope="session")
def places(models) -> dict[str, Path]:
    return {
        "notes": models / "notes",
        "plain": models / "plain",
        "corners": models / "corners.zip",
    }


@pytest.fixture(scope="session")
def client(places) -> Client:
    """A service with all three models and the default limits."""
    from splmll.serving import create_app

    return Client(create_app(places))
