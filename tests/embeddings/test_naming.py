"""What may be given as an embedding, how its parameters are reached, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from embedding_problems import data
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from torch import nn

from splmll import SPLMLL
from splmll.embeddings import (
    EMBEDDING_NAMES,
    Blend,
    Kernel,
    KernelSVM,
    Linear,
    Network,
    OneVsRest,
    Stochastic,
    TorchModule,
    Trees,
    automatic_embedding,
    embedding_of,
)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("linear", Linear),
        ("svm", OneVsRest),
        ("sgd", Stochastic),
        ("kernel", Kernel),
        ("mlp", Network),
        ("trees", Trees),
        ("blend", Blend),
        (Linear(ridge=3.0), Linear),
        (nn.Linear(6, 3), TorchModule),
        (Ridge(), OneVsRest),
        (SVC(), OneVsRest),
        (["linear", Ridge()], Blend),
        (("linear", nn.Linear(6, 3)), Blend),
    ],
    ids=str,
)
def test_what_may_be_given(given: Any, kind: type) -> None:
    assert type(embedding_of(given)) is kind
    SPLMLL(given)._check_parameters()


def test_every_name_has_an_embedding() -> None:
    for name in EMBEDDING_NAMES:
        embedding_of(name).check()


def test_what_was_given_is_not_fitted() -> None:
    X, Y, _ = data()
    mine = Linear(ridge=0.1)
    model = SPLMLL(mine).fit(X, Y)
    assert model.embedding is mine
    assert model.embedding_ is not mine
    assert not hasattr(mine, "map_")


class NotAnEstimator(BaseEstimator):
    pass


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("cubic", r"embedding='cubic' is not one of 'auto', 'linear', 'svm'"),
        ("kernal", "Did you mean 'kernel'"),
        (["linear", "cubic"], "embedding='cubic' is not one of"),
        ([], "at least one member"),
        (NotAnEstimator(), r"embedding=NotAnEstimator\(\) is not an embedding: give a name"),
        (3, "embedding=3 is not an embedding: give a name"),
        (None, "embedding=None is not an embedding"),
        (Linear(ridge=-1.0), "'ridge' parameter of Linear"),
        (Linear(scale="yes"), "'scale' parameter of Linear"),
        (Kernel(gamma="wide"), "'gamma' parameter of Kernel"),
        (Kernel(n_components=0), "'n_components' parameter of Kernel"),
        (KernelSVM(C=0.0), "'C' parameter of KernelSVM"),
        (Network(dropout=1.0), "'dropout' parameter of Network"),
        (Network(loss="hinge"), "'loss' parameter of Network"),
        (Network(learning_rate=0.0), "'learning_rate' parameter of Network"),
        (Network(batch_size=0), "'batch_size' parameter of Network"),
        (Network(patience=1.5), "'patience' parameter of Network"),
        (Network(max_epochs=0), "'max_epochs' parameter of Network"),
        (Network(hidden_layer_sizes=64), "'hidden_layer_sizes' parameter of Network"),
        (Network(hidden_layer_sizes=(64, 0)), r"integers of at least 1.* Got \(64, 0\)"),
        (TorchModule("mlp"), "'module' parameter of TorchModule"),
        (Trees(n_estimators=0), "'n_estimators' parameter of Trees"),
        (Trees(max_features=2.0), "'max_features' parameter of Trees"),
        (OneVsRest(estimator="svm"), "'estimator' parameter of OneVsRest"),
        (Blend(["linear"], shrinkage=-1.0), "'shrinkage' parameter of Blend"),
        (Blend(["linear", Kernel(ridge=0)]), "'ridge' parameter of Kernel"),
    ],
    ids=str,
)
def test_nonsense_is_refused_before_anything_is_learned(given: Any, message: str) -> None:
    X, Y, _ = data(n=30)
    with pytest.raises(ValueError, match=message):
        SPLMLL(given).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 0}, "'n_landmarks' parameter of SPLMLL"),
        ({"n_landmarks": -0.5}, "'n_landmarks' parameter of SPLMLL"),
        ({"n_landmarks": 1.5}, "'n_landmarks' parameter of SPLMLL"),
        ({"n_landmarks": "few"}, "'n_landmarks' parameter of SPLMLL"),
        ({"n_landmarks": 4}, r"asks for 4 landmarks, but there are 3 labels: .* from 1 to 3"),
        ({"pull": -1.0}, "'pull' parameter of SPLMLL"),
        ({"pull": "hard"}, "'pull' parameter of SPLMLL"),
        ({"scoring": "accuracy"}, "'scoring' parameter of SPLMLL"),
        ({"threshold": "best"}, "'threshold' parameter of SPLMLL"),
        ({"threshold": None}, "'threshold' parameter of SPLMLL"),
        ({"threshold": float("nan")}, "'threshold' parameter of SPLMLL"),
        ({"threshold": True}, "'threshold' parameter of SPLMLL"),
        ({"cv": 1}, "'cv' parameter of SPLMLL"),
        ({"cv": None}, "'cv' parameter of SPLMLL"),
        ({"warm_start": "yes"}, "'warm_start' parameter of SPLMLL"),
        ({"n_jobs": 1.5}, "'n_jobs' parameter of SPLMLL"),
        ({"random_state": "x"}, "'random_state' parameter of SPLMLL"),
    ],
    ids=str,
)
def test_nonsense_for_the_estimator_is_refused_too(
    parameters: dict[str, Any], message: str
) -> None:
    X, Y, _ = data(n=60)
    with pytest.raises(ValueError, match=message):
        SPLMLL("linear", **parameters).fit(X, Y)


# Parameters -------------------------------------------------------------------------------------


def test_parameters_of_the_embedding_are_those_of_the_estimator() -> None:
    model = SPLMLL(Network((8,), dropout=0.3))
    assert model.get_params()["embedding__dropout"] == 0.3
    model.set_params(embedding__dropout=0.1, n_landmarks=2)
    assert model.embedding.dropout == 0.1
    assert clone(model).embedding.dropout == 0.1
    assert clone(model).embedding is not model.embedding
    with pytest.raises(ValueError, match="Invalid parameter 'droput'"):
        model.set_params(embedding__droput=0.1)


def test_an_embedding_that_is_not_chosen_yet_has_no_parameters() -> None:
    model = SPLMLL("auto")
    with pytest.raises(ValueError, match=r"name the embedding first, one of .*'linear'"):
        model.set_params(embedding__ridge=0.1)
    assert model.set_params(embedding="linear", embedding__ridge=0.1).embedding.ridge == 0.1


def test_parameters_of_members_of_a_blend() -> None:
    model = SPLMLL(Blend([Network((8,)), Linear()]))
    model.set_params(embedding__network__dropout=0.2, embedding__shrinkage=0.4)
    assert model.get_params()["embedding__network__dropout"] == 0.2
    assert model.embedding.members[0].dropout == 0.2
    copy = clone(model)
    copy.set_params(embedding__network__dropout=0.9)
    assert model.embedding.members[0].dropout == 0.2


def test_parameters_of_an_estimator_per_label() -> None:
    model = SPLMLL(LogisticRegression(C=2.0))
    assert model.get_params()["embedding__C"] == 2.0
    model.set_params(embedding__C=5.0)
    X, Y, _ = data()
    assert model.fit(X, Y).embedding_.estimator_.C == 5.0


def test_a_search_over_the_embedding() -> None:
    X, Y, _ = data(n=120)
    search = GridSearchCV(
        SPLMLL(Linear(), random_state=0),
        {"embedding__ridge": [0.01, 1e6]},
        scoring="average_precision",
        cv=2,
        error_score="raise",
    ).fit(X, Y)
    assert search.best_params_ == {"embedding__ridge": 0.01}
    kinds = GridSearchCV(
        SPLMLL(random_state=0), {"embedding": ["linear", Linear(ridge=1e6)]}, cv=2
    ).fit(X, Y.astype(int))
    assert kinds.best_params_["embedding"] == "linear"


# The default ------------------------------------------------------------------------------------


def members(X: Any, n_labels: int = 20) -> list[str]:
    f = automatic_embedding(X, n_labels)
    return [type(m).__name__ for m in f.members] if isinstance(f, Blend) else [type(f).__name__]


class Shape:
    """An array that is only as large as it says."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape


def test_what_auto_takes_for_which_data() -> None:
    assert members(sparse.csr_array((50_000, 2000))) == ["OneVsRest"]
    assert members(sparse.csr_array((50_000, 100))) == ["OneVsRest", "Network"]
    assert members(sparse.csr_array((50_000, 100)), n_labels=500) == ["OneVsRest"]
    assert members(sparse.csr_array((1900, 100))) == ["OneVsRest"]
    for n_rows in (50, 100, 199):
        wide = members(Shape(n_rows, 100))
        assert wide == ["OneVsRest", "Kernel", "KernelSVM", "Trees"]
    assert "Network" in members(Shape(200, 100))
    # The leaves of trees hold a number for every label.
    assert members(Shape(4000, 100), n_labels=50) == ["Network", "Kernel", "KernelSVM", "Trees"]
    assert members(Shape(4000, 100), n_labels=51) == ["Network", "Kernel", "KernelSVM"]
    assert members(Shape(100, 101), n_labels=500) == ["OneVsRest"]
    assert members(Shape(6000, 6001)) == ["OneVsRest"]
    small, large = members(Shape(2000, 100)), members(Shape(20_000, 100))
    assert {"Network", "Kernel", "Trees"} <= set(small)
    assert {"Network", "Kernel"} <= set(large)
    assert "Trees" not in large
    assert members(Shape(10**6, 100)) == ["Linear"]


def test_auto_says_what_it_took() -> None:
    X, Y, _ = data()
    model = SPLMLL(random_state=0).fit(sparse.csr_array(X), Y)
    assert isinstance(model.embedding_, OneVsRest)
    assert model.embedding == "auto"


# What is not needed is not imported -------------------------------------------------------------

WITHOUT_TORCH = """
import sys
import numpy as np
from splmll import SPLMLL

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
Y = (X[:, :3] + rng.normal(size=(80, 3)) > 0).astype(int)
model = SPLMLL(sys.argv[1], random_state=0).fit(X, Y)
model.predict(X), model.predict_proba(X), model.explain(X[:2])
model.recover(Y[:, model.landmarks_])
print(sorted({"torch", "matplotlib", "dask", "onnx"} & set(sys.modules)))
"""


@pytest.mark.parametrize("name", ["linear", "svm"])
def test_linear_models_need_neither_torch_nor_matplotlib(name: str) -> None:
    command = [sys.executable, "-c", WITHOUT_TORCH, name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_np_random_is_not_used() -> None:
    X, Y, _ = data()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for name in ("linear", "svm"):
        SPLMLL(name, random_state=0).fit(X, Y)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
