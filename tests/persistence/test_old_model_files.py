"""Models of every version of the format keep loading and predict what they did.

``old_files/version-N`` holds models as that version wrote them, each with rows and the scores it
gave. They are never written again: a new version of the format adds a folder with
``python tests/persistence/test_old_model_files.py``.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from splmll.persistence import load, read_manifest, save
from splmll.persistence.files import FORMAT_VERSION

OLD_FILES = Path(__file__).parent / "old_files"
MODELS = sorted(OLD_FILES.glob("version-*/*.zip"))


def test_there_is_a_folder_for_every_version() -> None:
    versions = {path.parent.name for path in MODELS}
    assert versions == {f"version-{k}" for k in range(1, FORMAT_VERSION + 1)}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_old_models_predict_what_they_did(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    with warnings.catch_warnings():
        # Another scikit-learn than that of the file is told, and is what this test is for.
        warnings.filterwarnings("ignore", "The model was saved with scikit-learn")
        model = load(path)
    X: Any = expected["rows"]
    X = X if isinstance(X[0], str) else np.array(X)
    # Other processors and libraries round differently.
    assert_allclose(model.decision_function(X), expected["scores"], rtol=1e-5, atol=1e-6)
    predicted = model.predict(X)
    assert_array_equal(np.asarray(predicted), expected["labels"])
    assert list(predicted.columns) == read_manifest(path)["labels"] == ["amber", "birch", "cedar"]


def write_models(folder: Path) -> None:
    """Write the models of the present version."""
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    from splmll import SPLMLL
    from splmll.methods import BinaryRelevance, MLkNN

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).round(3)
    labels = (X[:, :3] + 0.5 * X[:, 1:] > 0).astype(int)
    Y = pd.DataFrame(labels, columns=["amber", "birch", "cedar"])
    words = np.array(["one", "two", "three"])
    texts = [" ".join([*words[row == 1], "and", "more"]) for row in labels]
    network = {"hidden_layer_sizes": (4,), "max_epochs": 5, "cv": 2, "n_repeats": 1}
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    models: dict[str, tuple[Any, Any]] = {
        "linear": (make_pipeline(StandardScaler(), SPLMLL("linear", random_state=0)), X),
        "network": (SPLMLL("mlp", random_state=0, **network), X),
        "neighbours": (MLkNN(3), X),
        "trees": (BinaryRelevance(tree), X),
        "texts": (make_pipeline(TfidfVectorizer(), SPLMLL("linear", random_state=0)), texts),
    }
    for name, (model, rows) in models.items():
        model.fit(rows, Y)
        save(model, folder / f"{name}.zip")
        some = list(rows[:10])
        expected = {
            "rows": [row if isinstance(row, str) else row.tolist() for row in some],
            "scores": model.decision_function(rows[:10]).tolist(),
            "labels": model.predict(rows[:10]).to_numpy().tolist(),
        }
        (folder / f"{name}.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    write_models(OLD_FILES / f"version-{FORMAT_VERSION}")
