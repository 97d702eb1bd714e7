"""Every class that can be loaded is checked, and the models that are forged hold every class."""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import zoo
from sklearn.preprocessing import StandardScaler

from splmll.persistence import ModelFileError, checks, load, read_manifest, save
from splmll.persistence.names import PACKAGES, PARTS, name_of_own, own_class

# Exported, and no part of any model: bases to derive from, and the entries of the catalogue.
NEVER_IN_A_FILE = {
    "splmll.embeddings.Embedding",
    "splmll.embeddings.FitContext",
}


@pytest.mark.slow
def test_the_zoo_holds_every_class_and_works(tmp_path: Path) -> None:
    found = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in zoo.MODELS:
            model, rows = zoo.make(name)
            save(model, tmp_path / "model")
            found |= set(read_manifest(tmp_path / "model")["classes"])
            used = zoo.use(load(tmp_path / "model"), rows)
            # Otherwise it would not be noticed when forging stops to test anything.
            assert used > 0 or rows is None, name
    assert found == set(checks.CHECKS)


def test_every_class_of_the_library_is_in_the_table() -> None:
    exported = {
        f"{package}.{name}" for package in PACKAGES for name in import_module(package).__all__
    }
    classes = {name for name in exported if own_class(name) is not None}
    own = {name for name in classes if name_of_own(own_class(name)) == name} | set(PARTS)
    assert own - set(checks.CHECKS) == NEVER_IN_A_FILE


def test_a_class_without_checks_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = StandardScaler().fit(np.ones((3, 2)))
    save(model, tmp_path / "model")
    monkeypatch.delitem(checks.CHECKS, "sklearn.preprocessing.StandardScaler")
    with pytest.raises(ModelFileError, match="not allowed in a model file"):
        load(tmp_path / "model")
    with pytest.raises(ModelFileError, match="cannot be saved"):
        save(model, tmp_path / "other")


class Narrow(StandardScaler):
    """A caller's own, which changes what its base sets for all objects."""

    own = 1


def test_bases_of_trusted_classes_are_checked(tmp_path: Path) -> None:
    model = Narrow().fit(np.ones((3, 2)))
    model.own = 2
    save(model, tmp_path / "model", trusted=[Narrow])
    assert load(tmp_path / "model", trusted=[Narrow]).own == 2
    model.mean_ = np.ones(7)
    with pytest.raises(ModelFileError, match="mean_ of Narrow has the shape 7"):
        save(model, tmp_path / "model", trusted=[Narrow])
