"""A loaded model is the saved one: the same numbers, settings and names, and it can go on."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from catalogue import ESTIMATORS
from contract import LABEL_NAMES, fresh, make_problem
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import (
    cluster,
    compose,
    decomposition,
    discriminant_analysis,
    dummy,
    ensemble,
    impute,
    linear_model,
    naive_bayes,
    neighbors,
    preprocessing,
    svm,
    tree,
)
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_approximation import Nystroem
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from torch import nn

from splmll import SPLMLL, PublishedSPLMLL
from splmll.catalogue import METHODS
from splmll.embeddings import (
    Blend,
    Kernel,
    KernelSVM,
    Linear,
    Network,
    OneVsRest,
    TorchModule,
    Trees,
)
from splmll.methods import BinaryRelevance, MLkNN, NetworkRegressor
from splmll.model_selection import MultilabelCalibrator, ThresholdTuner
from splmll.persistence import load, read_manifest, save

OUTPUTS = ("decision_function", "predict_proba", "predict", "transform")


def one_line(estimator: Any) -> str:
    """The settings on one line, without places in memory."""
    return re.sub(r" at 0x\w+", "", " ".join(repr(estimator).split()))


def as_array(output: Any) -> np.ndarray:
    return output.toarray() if sparse.issparse(output) else np.asarray(output)


def round_trip(model: Any, folder: Path, **trust: Any) -> Any:
    save(model, folder / "model.zip", **trust)
    return load(folder / "model.zip", **trust)


def assert_same_model(model: Any, loaded: Any, X: Any) -> None:
    assert type(loaded) is type(model)
    assert one_line(loaded) == one_line(model)
    found = [name for name in OUTPUTS if hasattr(model, name)]
    assert found
    for name in found:
        expected, output = getattr(model, name)(X), getattr(loaded, name)(X)
        assert type(output) is type(expected)
        assert_array_equal(as_array(output), as_array(expected))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=one_line)
def test_every_estimator_comes_back(estimator: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    X, Y = pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y, columns=LABEL_NAMES)
    model = fresh(estimator).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded, X)
    assert list(loaded.label_names_in_) == LABEL_NAMES
    assert list(loaded.feature_names_in_) == list(X.columns)
    assert vars(loaded).keys() == vars(model).keys()

    # A normal estimator: it can be cloned and trained again.
    again = clone(loaded).fit(X, Y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


# How long a network or a forest learns changes nothing in its file.
SHORT: dict[str, dict[str, Any]] = {
    "Deep CPLST": {"regressor__max_epochs": 2},
    "Deep FaIE": {"regressor__max_epochs": 2},
    "C2AE": {"max_epochs": 2},
    "RF": {"n_estimators": 5},
}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_comes_back_with_its_defaults(name: str, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = METHODS[name].make(**SHORT.get(name, {})).fit(X, Y)
    assert_same_model(model, round_trip(model, tmp_path), X)


@pytest.mark.parametrize(
    "estimator", [MLkNN(5), BinaryRelevance(svm.SVC()), SPLMLL("kernel", cv=2)], ids=one_line
)
def test_the_same_model_gives_the_same_file(estimator: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = fresh(estimator).fit(X, Y)
    save(model, tmp_path / "one.zip")
    save(load(tmp_path / "one.zip"), tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


@pytest.mark.parametrize(
    "model",
    [
        ThresholdTuner(BinaryRelevance(), "per_label", cv=3, random_state=0),
        ThresholdTuner(OneVsRestClassifier(linear_model.LogisticRegression()), "top_r", cv=3),
        MultilabelCalibrator(MLkNN(5), cv=3, random_state=0),
        MultilabelCalibrator(BinaryRelevance(), method="isotonic", cv=3, random_state=0),
        ThresholdTuner(MultilabelCalibrator(SPLMLL("linear"), cv=3), cv=3, random_state=0),
    ],
    ids=one_line,
)
def test_tuned_and_calibrated_models(model: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = clone(model).fit(X, Y)
    assert_same_model(model, round_trip(model, tmp_path), X)


CLASSIFIERS = [
    linear_model.LogisticRegression(),
    linear_model.SGDClassifier(loss="log_loss", random_state=0),
    linear_model.RidgeClassifier(),
    linear_model.Perceptron(),
    svm.SVC(),
    svm.SVC(kernel="poly"),
    svm.NuSVC(nu=0.2),
    svm.LinearSVC(),
    naive_bayes.GaussianNB(),
    naive_bayes.BernoulliNB(),
    neighbors.KNeighborsClassifier(3),
    neighbors.KNeighborsClassifier(3, algorithm="ball_tree", metric="manhattan"),
    neighbors.KNeighborsClassifier(3, algorithm="brute", metric="cosine"),
    neighbors.NearestCentroid(),
    tree.DecisionTreeClassifier(max_depth=4, random_state=0),
    tree.ExtraTreeClassifier(random_state=0),
    ensemble.RandomForestClassifier(5, random_state=0),
    ensemble.ExtraTreesClassifier(5, oob_score=True, bootstrap=True, random_state=0),
    ensemble.BaggingClassifier(n_estimators=3, random_state=0),
    ensemble.VotingClassifier([("a", naive_bayes.GaussianNB()), ("b", svm.SVC())]),
    ensemble.StackingClassifier([("a", naive_bayes.GaussianNB())], cv=3),
    discriminant_analysis.LinearDiscriminantAnalysis(),
    discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.1),
    dummy.DummyClassifier(strategy="prior"),
    CalibratedClassifierCV(svm.LinearSVC(), cv=3),
    CalibratedClassifierCV(svm.LinearSVC(), cv=3, method="isotonic", ensemble=False),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", CLASSIFIERS, ids=one_line)
def test_base_learners(learner: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    three_classes = Y[:, 0] + Y[:, 1]
    for target in (Y[:, 0], three_classes, np.array(["no", "yes"])[Y[:, 0]]):
        model = clone(learner).fit(X, target)
        assert_same_model(model, round_trip(model, tmp_path), X)
    if not hasattr(learner, "predict_proba") and not hasattr(learner, "decision_function"):
        return  # says only after its training whether it gives scores
    model = BinaryRelevance(clone(learner)).fit(X, Y)
    assert_same_model(model, round_trip(model, tmp_path), X)


REGRESSORS = [
    linear_model.Ridge(),
    linear_model.RidgeCV(),
    linear_model.Lasso(0.01),
    svm.SVR(),
    neighbors.KNeighborsRegressor(3),
    ensemble.RandomForestRegressor(5, random_state=0),
    make_pipeline(preprocessing.PolynomialFeatures(2), linear_model.Ridge()),
    NetworkRegressor((4,), max_epochs=2, random_state=0),
]


@pytest.mark.parametrize("regressor", REGRESSORS, ids=one_line)
def test_foreign_regressors_as_embeddings(regressor: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = SPLMLL(regressor, cv=2, random_state=0).fit(X, Y)
    assert_same_model(model, round_trip(model, tmp_path), X)


NUMERIC_STEPS = [
    preprocessing.StandardScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.MaxAbsScaler(),
    preprocessing.RobustScaler(),
    preprocessing.Normalizer(),
    preprocessing.Binarizer(),
    preprocessing.PowerTransformer(),
    preprocessing.QuantileTransformer(n_quantiles=10, random_state=0),
    preprocessing.KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    preprocessing.FunctionTransformer(np.arcsinh),
    preprocessing.FunctionTransformer(np.abs, feature_names_out="one-to-one"),
    impute.SimpleImputer(add_indicator=True),
    impute.KNNImputer(n_neighbors=2),
    decomposition.PCA(3, random_state=0),
    decomposition.TruncatedSVD(3, random_state=0),
    cluster.KMeans(3, n_init=1, random_state=0),
    Nystroem(n_components=5, random_state=0),
    make_pipeline(preprocessing.MinMaxScaler(), SelectKBest(chi2, k=3)),
    FeatureUnion(
        [("a", preprocessing.StandardScaler()), ("b", decomposition.PCA(2, random_state=0))]
    ),
    preprocessing.StandardScaler().set_output(transform="pandas"),
]


@pytest.mark.parametrize("step", NUMERIC_STEPS, ids=one_line)
def test_pipelines_of_numbers(step: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    frame = pd.DataFrame(X).add_prefix("f")
    # One label decides where a selection of features needs a target.
    target = Y[:, 0] if "chi2" in repr(step) else Y
    last = linear_model.LogisticRegression() if target.ndim == 1 else MLkNN(3)
    model = make_pipeline(clone(step), last).fit(frame, target)
    assert_same_model(model, round_trip(model, tmp_path), frame)
    assert_same_model(model[:-1], round_trip(model[:-1], tmp_path), frame)


def mixed_table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "note": ["red boat", "blue boat", "red car", "green car", "blue bike"] * 8,
            "place": ["sea", "sea", "road", "road", None] * 8,
            "size": pd.Categorical(["S", "L", "S", "M", "L"] * 8),
            "weight": [1.0, np.nan, 3.0, 2.5, 0.5] * 8,
            "age": [1, 2, 3, 4, 5] * 8,
        }
    )


@pytest.mark.parametrize("remainder", ["passthrough", "drop", preprocessing.MinMaxScaler()])
@pytest.mark.parametrize(
    "text", [TfidfVectorizer(ngram_range=(1, 2)), HashingVectorizer(n_features=16)]
)
def test_pipelines_of_mixed_tables(text: Any, remainder: Any, tmp_path: Path) -> None:
    X = mixed_table()
    Y = pd.DataFrame({"boat": X["note"].str.contains("boat"), "red": X["note"].str.contains("red")})
    columns = compose.ColumnTransformer(
        [
            ("text", text, "note"),
            (
                "kinds",
                make_pipeline(
                    impute.SimpleImputer(strategy="most_frequent"),
                    preprocessing.OneHotEncoder(handle_unknown="ignore", min_frequency=2),
                ),
                ["place"],
            ),
            ("sizes", preprocessing.OrdinalEncoder(), ["size"]),
            (
                "numbers",
                make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler()),
                compose.make_column_selector("weight"),
            ),
        ],
        remainder=remainder,
    )
    model = make_pipeline(columns, SPLMLL("linear", random_state=0)).fit(X, Y.astype(int))
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded, X)
    assert list(loaded.predict(X).columns) == ["boat", "red"]
    manifest = read_manifest(tmp_path / "model.zip")
    assert manifest["labels"] == ["boat", "red"]
    assert manifest["features"] == list(X.columns)
    assert manifest["model"] == "sklearn.pipeline.Pipeline"


@pytest.mark.parametrize(
    "model",
    [
        ClassifierChain(linear_model.LogisticRegression(), order="random", random_state=0),
        MultiOutputClassifier(naive_bayes.GaussianNB()),
        OneVsRestClassifier(svm.SVC()),
        neighbors.KNeighborsClassifier(3),
        tree.DecisionTreeClassifier(max_depth=3, random_state=0),
    ],
    ids=one_line,
)
def test_multi_label_models_of_scikit_learn(model: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = clone(model).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(
        np.array(loaded.predict_proba(X)) if hasattr(model, "predict_proba") else 0,
        np.array(model.predict_proba(X)) if hasattr(model, "predict_proba") else 0,
    )


# SPLMLL in particular ----------------------------------------------------------------------------


SMALL_NETWORK = Network((4,), max_epochs=2)
EMBEDDINGS = [
    "linear",
    "svm",
    Kernel(n_components=10),
    KernelSVM(),
    SMALL_NETWORK,
    Trees(n_estimators=3),
    Blend([SMALL_NETWORK, "kernel", Trees(n_estimators=3)], shrinkage=0.5),
    TorchModule(nn.Sequential(nn.Linear(8, 4)), max_epochs=2),
    OneVsRest(linear_model.LogisticRegression()),
    OneVsRest(tree.DecisionTreeClassifier(max_depth=2)),
    [Linear(ridge=0.1), linear_model.RidgeClassifier()],
]


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=one_line)
def test_explanations_and_recovery_come_back(embedding: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    X, Y = pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y, columns=LABEL_NAMES)
    model = SPLMLL(embedding, n_landmarks=3, cv=2, random_state=0).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded, X)
    known = np.array(Y[list(model.landmarks_)], dtype=float)
    known[::3, 0] = np.nan
    assert_array_equal(as_array(loaded.recover(known)), as_array(model.recover(known)))
    explained, expected = loaded.explain(X), model.explain(X)
    for name, value in vars(expected).items():
        if isinstance(value, np.ndarray):
            assert_array_equal(getattr(explained, name), value)
    assert_array_equal(loaded.landmarks_, model.landmarks_)
    pd.testing.assert_frame_equal(loaded.path_, model.path_)
    pd.testing.assert_frame_equal(loaded.measures_, model.measures_)
    assert loaded.learned_.setting == model.learned_.setting
    again = clone(loaded).fit(X, Y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [
        PublishedSPLMLL(hidden_layer_sizes=(4,), max_epochs=2),
        PublishedSPLMLL(linear=True, solver="exact", selection="hard", rho=1.0, n_landmarks=2),
        PublishedSPLMLL.as_released(hidden_layer_sizes=(4,), max_epochs=2),
    ],
    ids=one_line,
)
def test_the_published_system_comes_back(model: PublishedSPLMLL, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = model.set_params(random_state=0).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded, X)
    pd.testing.assert_frame_equal(loaded.objective_, model.objective_)
    assert_array_equal(loaded.selection_, model.selection_)
    assert_array_equal(loaded.recovery_, model.recovery_)


@pytest.mark.parametrize("blended", [False, True])
def test_networks_of_another_machine_predict_here(blended: bool, tmp_path: Path) -> None:
    X, Y = make_problem()
    network = Network((4,), max_epochs=1, device="cpu")
    model = SPLMLL(Blend([network]) if blended else network, cv=2, random_state=0).fit(X, Y)
    expected = model.decision_function(X)
    # As if it had been trained on the eighth of many GPUs.
    for each in (network, model.embedding_.members_[0] if blended else model.embedding_):
        each.device = "cuda:7"
    loaded = round_trip(model, tmp_path)
    assert_array_equal(loaded.decision_function(X), expected)
    # Training it again is asked for as it was.
    parameter = loaded.embedding.members[0] if blended else loaded.embedding
    assert parameter.device == "cuda:7"


def test_a_stream_goes_on_where_it_was(tmp_path: Path) -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=np.random.RandomState(3)).partial_fit(X[:30], Y[:30])
    loaded = round_trip(model, tmp_path)
    for each in (model, loaded):
        each.partial_fit(X[30:], Y[30:])
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.random_state.randint(10**9) == model.random_state.randint(10**9)


@pytest.mark.parametrize("as_given", [sparse.csr_array, lambda Y: Y[:, 0], lambda Y: Y[:, 0] == 1])
def test_labels_keep_their_form(as_given: Any, tmp_path: Path) -> None:
    X, Y = make_problem()
    model = SPLMLL("linear", random_state=0).fit(sparse.csr_array(X), as_given(Y))
    assert_same_model(model, round_trip(model, tmp_path), sparse.csr_array(X))


def test_a_network_keeps_batch_statistics_and_tied_weights(tmp_path: Path) -> None:
    X, Y = make_problem()
    module = nn.Sequential(
        nn.Linear(8, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.2), nn.Linear(6, 4)
    )
    model = SPLMLL(TorchModule(module, max_epochs=3), cv=2, random_state=0).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded, X)

    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    second.weight = first.weight
    tied = round_trip(nn.Sequential(first, second), tmp_path)
    assert tied[0].weight is tied[1].weight
    assert tied[0].weight.requires_grad


class Doubling(nn.Module):
    """A caller's own module."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, 4)
        self.register_buffer("passing", torch.ones(2), persistent=False)
        self.factor = 2.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.factor * self.layer(x)


def halve(X: np.ndarray) -> np.ndarray:
    return X / 2


def test_what_the_caller_trusts(tmp_path: Path) -> None:
    X, Y = make_problem()
    network = SPLMLL(TorchModule(Doubling(8), max_epochs=2), cv=2, random_state=0)
    model = make_pipeline(preprocessing.FunctionTransformer(halve), network).fit(X, Y)
    loaded = round_trip(model, tmp_path, trusted=[Doubling, halve])
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert "passing" not in loaded[-1].embedding.module.state_dict()


def test_approximate_neighbours(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    Y = (X[:, :3] > 0).astype(int)
    model = MLkNN(5, search="approximate").fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert_same_model(model, loaded, X)
    assert_array_equal(loaded.neighbors_.of_training_rows(), model.neighbors_.of_training_rows())
    assert_array_equal(loaded.neighbors_.of(rng.normal(size=(50, 6))).shape, (50, 5))


def test_isotonic_curves_with_one_point(tmp_path: Path) -> None:
    model = IsotonicRegression(out_of_bounds="clip").fit([1.0, 1.0], [0.0, 1.0])
    assert_array_equal(round_trip(model, tmp_path).predict([3.0]), model.predict([3.0]))


def test_parts_that_are_one_stay_one(tmp_path: Path) -> None:
    X, Y = make_problem()
    loaded = round_trip(fresh(ESTIMATORS[4]).fit(X, pd.DataFrame(Y, columns=LABEL_NAMES)), tmp_path)
    assert loaded.label_names_in_ is loaded.label_format_.names


def test_an_unfitted_model_and_its_warning_free_file(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = round_trip(SPLMLL(Network((3,)), pull=float("inf")), tmp_path)
    assert one_line(loaded) == one_line(SPLMLL(Network((3,)), pull=float("inf")))
    assert isinstance(loaded.embedding.hidden_layer_sizes, tuple)


def test_another_scikit_learn_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(preprocessing.StandardScaler(), tmp_path / "model")
    monkeypatch.setattr("sklearn.__version__", "99.1.0")
    with pytest.warns(UserWarning, match=r"this is 99\.1\.0"):
        load(tmp_path / "model")
