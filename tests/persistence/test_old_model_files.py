"""Models of every version of the format keep loading and do what they did.

``old_files/version-N`` holds models as that version wrote them, each with rows and what it gave for
them. They are never written again: a new version of the format adds a folder with
``python tests/persistence/test_old_model_files.py``.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from splmll import SPLMLL, PublishedSPLMLL
from splmll.embeddings import Blend, Kernel, Linear, Network, TorchModule
from splmll.persistence import load, read_manifest, save
from splmll.persistence.files import FORMAT_VERSION

OLD_FILES = Path(__file__).parent / "old_files"
MODELS = sorted(OLD_FILES.glob("version-*/*.zip"))
NAMES = ["amber", "birch", "cedar"]
# Other processors and libraries round differently.
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}


def problem() -> tuple[np.ndarray, np.ndarray]:
    """The rows and labels that all of these models have learned from."""
    X = np.random.default_rng(0).normal(size=(60, 4)).round(3)
    return X, (X[:, :3] + 0.5 * X[:, 1:] > 0).astype(int)


def load_old(path: Path) -> Any:
    with warnings.catch_warnings():
        # Another scikit-learn than that of the file is told, and is what these tests are for.
        warnings.filterwarnings("ignore", "The model was saved with scikit-learn")
        return load(path)


def version_1(name: str) -> Any:
    return load_old(OLD_FILES / "version-1" / f"{name}.zip")


def expected_of(path: Path) -> dict[str, Any]:
    return json.loads(path.with_suffix(".json").read_text())


def test_there_is_a_folder_for_every_version() -> None:
    versions = {path.parent.name for path in MODELS}
    assert versions == {f"version-{k}" for k in range(1, FORMAT_VERSION + 1)}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_old_models_predict_what_they_did(path: Path) -> None:
    expected, model = expected_of(path), load_old(path)
    X: Any = expected["rows"]
    X = X if isinstance(X[0], str) else np.array(X)
    assert_allclose(model.decision_function(X), expected["scores"], **CLOSE)
    predicted = model.predict(X)
    assert_array_equal(np.asarray(predicted), expected["labels"])
    assert list(predicted.columns) == read_manifest(path)["labels"] == NAMES
    if "probabilities" in expected:
        assert_allclose(model.predict_proba(X), expected["probabilities"], **CLOSE)


WITH_LANDMARKS = [path for path in MODELS if "known" in expected_of(path)]


@pytest.mark.parametrize("path", WITH_LANDMARKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_old_landmarks_do_what_they_did(path: Path) -> None:
    expected, model = expected_of(path), load_old(path)
    assert list(model.landmarks_) == expected["landmarks"]
    if isinstance(model, PublishedSPLMLL):
        return  # predicts, and that is all
    X, known = np.array(expected["rows"]), np.array(expected["known"], dtype=float)
    assert_allclose(model.transform(X), expected["transformed"], **CLOSE)
    assert_allclose(model.explain(X).contributions, expected["contributions"], **CLOSE)
    assert_allclose(model.recover(known, return_scores=True), expected["recovered"], **CLOSE)
    assert_array_equal(np.asarray(model.recover(known)), expected["recovered_labels"])
    # They kept nothing for answers: these stand for themselves, and the rest is predicted.
    answers = np.where(np.arange(len(NAMES)) == 1, 1.0, np.full((len(X), len(NAMES)), np.nan))
    predicted = np.where(np.arange(len(NAMES)) == 1, 1, np.asarray(model.predict(X)))
    assert_array_equal(np.asarray(model.complete(X, answers)), predicted)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_old_models_are_saved_in_the_new_format(path: Path, tmp_path: Path) -> None:
    model = load_old(path)
    save(model, tmp_path / "model.zip")
    assert read_manifest(tmp_path / "model.zip")["version"] == FORMAT_VERSION
    X: Any = expected_of(path)["rows"]
    X = X if isinstance(X[0], str) else np.array(X)
    again = load(tmp_path / "model.zip")
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert vars(again).keys() == vars(model).keys()


# Version 2 began with other words for some parameters ----------------------------------------


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("kernel", {"embedding__scale": "standard", "threshold": "per_label"}),
        ("unscaled", {"threshold": "top_r"}),
        ("chains", {"n_estimators": 2}),
        ("labelsets", {"n_estimators": 2, "threshold": "macro_f1"}),
        ("local-embeddings", {"n_estimators": 2, "ridge": 0.5, "threshold": "micro_f1"}),
        ("low-rank", {"ridge": 0.5}),
        ("implicit", {"predictability_weight": 2.0}),
        ("autoencoder", {"ranking_weight": 0.5, "orthogonality_weight": 0.25}),
        ("tuner", {"rule": "micro_f1"}),
    ],
)
def test_former_names_and_values_become_those_of_today(name: str, given: dict[str, Any]) -> None:
    model = load_old(OLD_FILES / "version-2" / f"{name}.zip")
    found = model.get_params()
    assert {key: found[key] for key in given} == given
    X, Y = problem()
    again = clone(model).fit(X, Y)
    assert again.predict(X).shape == Y.shape
    if name == "unscaled":
        assert [member.scale for member in model.embedding] == [None, None]


# Version 1 had one SPLMLL with the parameters of everything -----------------------------------


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("network", {"embedding__hidden_layer_sizes": (4,), "embedding__max_epochs": 5, "cv": 2}),
        (
            "kernel",
            {"embedding__n_components": 6, "embedding__scale": "standard", "n_landmarks": 2},
        ),
        ("module", {"embedding__loss": "squared", "threshold": "per_label"}),
        ("published", {"hidden_layer_sizes": (2,), "learning_rate": 0.02, "lambda2": 0.1}),
        ("published-full", {"linear": True, "selection": "full", "n_landmarks": 2}),
    ],
)
def test_parameters_of_version_1_find_their_place(name: str, given: dict[str, Any]) -> None:
    found = version_1(name).get_params()
    assert {key: found[key] for key in given} == given
    assert found["random_state"] == 0


def test_embeddings_of_version_1_become_those_of_today() -> None:
    kinds = {"network": Network, "kernel": Kernel, "module": TorchModule, "blend": Blend}
    for name, kind in kinds.items():
        model = version_1(name)
        assert type(model.embedding) is type(model.embedding_) is kind
    assert isinstance(version_1("linear")[-1].embedding_, Linear)
    assert version_1("linear")[-1].embedding_.ridge_ > 0


@pytest.mark.parametrize("name", ["network", "blend", "module", "published", "published-full"])
def test_models_of_version_1_can_be_trained_again(name: str) -> None:
    X, Y = problem()
    model = clone(version_1(name)).fit(X, Y)
    assert model.predict(X).shape == Y.shape


def test_algorithm_1_of_version_1_is_that_of_the_paper_unless_it_had_folds() -> None:
    published = version_1("published")
    assert isinstance(published, PublishedSPLMLL)
    weights = published.selection_[published.landmark_columns_]
    assert_allclose(published.landmark_weights_, weights[:, None] * published.recovery_)
    full = version_1("published-full")
    assert full.selection_.shape == (3, 3)
    # Out-of-fold networks are averaged and thresholds tuned, which only SPLMLL does.
    assert isinstance(version_1("published-folds"), SPLMLL)


def test_a_stream_of_version_1_goes_on() -> None:
    X, Y = problem()
    model = version_1("stream").partial_fit(X[30:], Y[30:])
    whole = SPLMLL(Linear(scale="standard"), cv=2, random_state=0)
    for start in range(0, 60, 15):
        whole.partial_fit(X[start : start + 15], Y[start : start + 15])
    assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-7)


# Writing ----------------------------------------------------------------------------------------


def behaviour_of(model: Any, rows: Any, labels: np.ndarray) -> dict[str, Any]:
    """Return what a model gives for some rows, in a form that JSON can hold."""
    found = {
        "rows": [row if isinstance(row, str) else row.tolist() for row in rows],
        "scores": model.decision_function(rows).tolist(),
        "labels": model.predict(rows).to_numpy().tolist(),
        "probabilities": model.predict_proba(rows).tolist(),
    }
    if not isinstance(model, SPLMLL):
        return found
    landmarks = [NAMES.index(name) for name in model.landmarks_]
    known = labels[: len(rows), landmarks].astype(object)
    known[::2, 0] = None
    given = known.astype(float)
    return {
        **found,
        "landmarks": list(model.landmarks_),
        "transformed": model.transform(rows).tolist(),
        "contributions": model.explain(rows).contributions.tolist(),
        "known": known.tolist(),
        "recovered": model.recover(given, return_scores=True).tolist(),
        "recovered_labels": model.recover(given).to_numpy().tolist(),
    }


def write_models(folder: Path) -> None:
    """Write the models of the present version."""
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    from splmll.methods import BinaryRelevance, MLkNN

    X, labels = problem()
    Y = pd.DataFrame(labels, columns=NAMES)
    words = np.array(["one", "two", "three"])
    texts = [" ".join([*words[row == 1], "and", "more"]) for row in labels]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    models: dict[str, tuple[Any, Any]] = {
        "linear": (make_pipeline(StandardScaler(), SPLMLL("linear", random_state=0)), X),
        "network": (SPLMLL(Network((4,), max_epochs=5), n_landmarks=2, cv=2, random_state=0), X),
        "blend": (SPLMLL([Linear(), Kernel(n_components=6)], cv=2, random_state=0), X),
        "neighbours": (MLkNN(3), X),
        "trees": (BinaryRelevance(tree), X),
        "texts": (make_pipeline(TfidfVectorizer(), SPLMLL("svm", random_state=0)), texts),
        "published": (PublishedSPLMLL(hidden_layer_sizes=(2,), max_epochs=3, random_state=0), X),
        "stream": (SPLMLL("linear", cv=2, random_state=0), X),
    }
    for name, (model, rows) in models.items():
        (model.partial_fit if name == "stream" else model.fit)(rows, Y)
        save(model, folder / f"{name}.zip")
        behaviour = behaviour_of(model, rows[:10], labels)
        (folder / f"{name}.json").write_text(json.dumps(behaviour))


if __name__ == "__main__":
    write_models(OLD_FILES / f"version-{FORMAT_VERSION}")
