"""Names of classes in files are those people import, and stay when modules move."""

from importlib import import_module
from pathlib import Path

import pytest

from splmll import SPLMLL, PublishedSPLMLL
from splmll.catalogue import METHODS
from splmll.embeddings import Network
from splmll.landmarks.learning import Landmarks
from splmll.methods import MLkNN
from splmll.model_selection import ThresholdTuner
from splmll.persistence import load, read_manifest, save
from splmll.persistence.moved import CHANGED, RENAMED
from splmll.persistence.names import PACKAGES, PARTS, name_of_own, own_class


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (SPLMLL, "splmll.SPLMLL"),
        (PublishedSPLMLL, "splmll.PublishedSPLMLL"),
        (Network, "splmll.embeddings.Network"),
        (MLkNN, "splmll.methods.MLkNN"),
        (ThresholdTuner, "splmll.model_selection.ThresholdTuner"),
        (Landmarks, "splmll.landmarks.Landmarks"),
        (dict, None),
        (type("SPLMLL", (SPLMLL,), {"__module__": "splmll.landmarks.classifier"}), None),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_names(cls: type, name: str | None) -> None:
    assert name_of_own(cls) == name
    if name is not None:
        assert own_class(name) is cls


@pytest.mark.parametrize("name", PARTS)
def test_every_part_is_where_the_table_says(name: str) -> None:
    found = own_class(name)
    assert found is not None
    assert name_of_own(found) == name


def test_every_exported_class_has_one_name() -> None:
    for package in PACKAGES:
        module = import_module(package)
        exported = [getattr(module, name) for name in module.__all__]
        for cls in (each for each in exported if isinstance(each, type)):
            assert name_of_own(cls) == f"{package}.{cls.__name__}"
    assert {name_of_own(method.estimator) for method in METHODS.values()} <= {
        f"splmll.methods.{method.estimator.__name__}" for method in METHODS.values()
    }


def test_a_class_that_moves_keeps_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(MLkNN(7), tmp_path / "model")
    before = read_manifest(tmp_path / "model")["classes"]
    monkeypatch.setattr(MLkNN, "__module__", "splmll.methods.somewhere.else_")
    own_class.cache_clear()
    assert load(tmp_path / "model").n_neighbors == 7
    save(MLkNN(7), tmp_path / "model")
    assert read_manifest(tmp_path / "model")["classes"] == before


def test_names_of_earlier_versions_are_none_of_today() -> None:
    for old in (*RENAMED, *CHANGED):
        assert own_class(old) is None
    for new in RENAMED.values():
        assert own_class(new) is not None
