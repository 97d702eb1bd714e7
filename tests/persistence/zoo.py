"""One fitted model or more for every class that a model file may name, and rows to use it on.

Together they hold all loadable classes (``test_model_checks.py`` makes sure), so what is tried on
each of them is tried on every class.
"""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import (
    cluster,
    compose,
    cross_decomposition,
    decomposition,
    discriminant_analysis,
    dummy,
    ensemble,
    feature_extraction,
    feature_selection,
    impute,
    isotonic,
    kernel_approximation,
    kernel_ridge,
    linear_model,
    model_selection,
    multiclass,
    multioutput,
    naive_bayes,
    neighbors,
    pipeline,
    preprocessing,
    random_projection,
    svm,
    tree,
)
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction import text

from splmll.feature_scaling import DenseStandardScaler

N_ROWS, N_FEATURES = 40, 4
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(N_ROWS, N_FEATURES))
COUNTS = _RNG.integers(0, 3, size=(N_ROWS, N_FEATURES)).astype(float)
SPARSE = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
Y = (X @ _RNG.normal(size=(N_FEATURES, 3)) + 0.3 * _RNG.normal(size=(N_ROWS, 3)) > 0).astype(int)
ONE = Y[:, 0]
THREE = Y[:, 0] + Y[:, 1]
TARGET = X[:, 0] + 0.1 * X[:, 1]
TARGETS = X[:, :2] @ np.array([[1.0, 2.0], [0.5, -1.0]])
WORDS = ["red", "blue", "boat", "car", "oil", "leak"]
TEXTS = [" ".join(_RNG.choice(WORDS, size=4)) for _ in range(N_ROWS)]
KINDS = _RNG.choice(["sea", "road", "air", "rail"], p=[0.5, 0.3, 0.15, 0.05], size=(N_ROWS, 2))
COUNTED = [dict(zip(WORDS, row)) for row in COUNTS.tolist()]
TABLE = pd.DataFrame({"note": TEXTS, "kind": KINDS[:, 0], "size": X[:, 0], "age": COUNTS[:, 0]})

Model = tuple[Any, Any]
"""A fitted model and the rows it is used on."""


def _fitted(estimator: Any, rows: Any = X, *target: Any) -> Callable[[], Model]:
    return lambda: (estimator.fit(rows, *target), rows)


def _classified(estimator: Any) -> Callable[[], Model]:
    return _fitted(estimator, X, THREE)


def _regressed(estimator: Any) -> Callable[[], Model]:
    return _fitted(estimator, X, TARGET)


def _labelled(make: Callable[[], Any], rows: Any = X) -> Callable[[], Model]:
    """Return a multi-label model; `make` imports what it needs, for torch takes its time."""
    return lambda: (make().fit(rows, Y), rows)


def _own(package: str, name: str, *arguments: Any, **settings: Any) -> Callable[[], Any]:
    def make() -> Any:
        from importlib import import_module

        return getattr(import_module(package), name)(*arguments, **settings)

    return make


def _splmll(embedding: Any, rows: Any = X, **settings: Any) -> Callable[[], Model]:
    def make() -> Any:
        from splmll import SPLMLL

        chosen = embedding() if callable(embedding) else embedding
        return SPLMLL(chosen, cv=2, random_state=0, **settings)

    return _labelled(make, rows)


def _embedding(name: str, *arguments: Any, **settings: Any) -> Callable[[], Any]:
    return _own("splmll.embeddings", name, *arguments, **settings)


_NET = {"max_epochs": 2, "batch_size": 16}


def _method(name: str, *arguments: Any, rows: Any = X, **settings: Any) -> Callable[[], Model]:
    return _labelled(_own("splmll.methods", name, *arguments, **settings), rows)


def _torch_model(*layers: str) -> Callable[[], Model]:
    """Return a network of layers, written as in Python after ``torch.nn.``."""

    def make() -> Model:
        import torch

        torch.manual_seed(0)
        made = [eval(f"nn.{layer}", {"nn": torch.nn}) for layer in layers]
        return torch.nn.Sequential(*made).eval(), torch.from_numpy(X.astype(np.float32))

    return make


def _torch_lookup() -> Model:
    import torch

    torch.manual_seed(0)
    return torch.nn.Embedding(3, 2), torch.from_numpy(COUNTS.astype(np.int64))


def _torch_parts() -> Model:
    import torch

    torch.manual_seed(0)
    parts = torch.nn.Sequential(torch.nn.Linear(4, 2))
    parts.more = torch.nn.ModuleList([torch.nn.Linear(2, 2)])
    parts.named = torch.nn.ModuleDict({"one": torch.nn.Linear(2, 2)})
    del parts._modules["more"], parts._modules["named"]
    holder = torch.nn.ModuleDict(
        {"list": torch.nn.ModuleList([parts]), "map": torch.nn.ModuleDict({"a": parts})}
    )
    return holder, None


def _streamed() -> Model:
    from splmll import SPLMLL

    model = SPLMLL("linear", random_state=np.random.RandomState(3))
    return model.partial_fit(X, Y), X


def _streamed_sparse() -> Model:
    from splmll import SPLMLL

    return SPLMLL("linear", random_state=0).partial_fit(SPARSE, Y), SPARSE


def _version_one() -> Model:
    """A class that only files of version 1 hold."""
    from splmll.persistence.moved import AveragedRegressors

    model = AveragedRegressors(linear_model.Ridge())
    model.models_ = [linear_model.Ridge().fit(X, Y)]
    model.outputs_ = np.arange(Y.shape[1])
    return model, X


def _rules() -> Model:
    from splmll import thresholds
    from splmll.methods._centred_matrix import CentredMatrix

    return [
        thresholds.LinearThreshold(np.array([0.5, 0.5]), 0.0),
        thresholds.NeverEmpty(thresholds.TopRanked(2)),
        thresholds.PerLabelThreshold(np.array([0.5, 0.4])),
        CentredMatrix(SPARSE, (np.ones(N_ROWS), np.ones(N_FEATURES))),
    ], None


def _mixed_pipeline(words: Any) -> Callable[[], Model]:
    def make() -> Model:
        from splmll import SPLMLL

        columns = compose.ColumnTransformer(
            [
                ("text", words() if callable(words) else words, "note"),
                (
                    "kinds",
                    pipeline.make_pipeline(
                        impute.SimpleImputer(strategy="most_frequent"),
                        preprocessing.OneHotEncoder(handle_unknown="ignore", min_frequency=4),
                    ),
                    ["kind"],
                ),
                (
                    "numbers",
                    preprocessing.StandardScaler(),
                    compose.make_column_selector(pattern="size"),
                ),
            ],
            remainder="passthrough",
        )
        model = pipeline.make_pipeline(columns, SPLMLL("linear", cv=2, random_state=0))
        return model.fit(TABLE, Y), TABLE

    return make


def _words(**settings: Any) -> Callable[[], Model]:
    def make() -> Model:
        from splmll.tagging import Words

        frame = TABLE[["note"]]
        return Words(**settings).fit(frame), frame

    return make


MODELS: dict[str, Callable[[], Model]] = {
    # scikit-learn: features ----------------------------------------------------------------------
    "StandardScaler": _fitted(preprocessing.StandardScaler()),
    "DenseStandardScaler": _fitted(DenseStandardScaler()),
    "MinMaxScaler": _fitted(preprocessing.MinMaxScaler()),
    "MaxAbsScaler": _fitted(preprocessing.MaxAbsScaler(), SPARSE),
    "RobustScaler": _fitted(preprocessing.RobustScaler()),
    "Normalizer": _fitted(preprocessing.Normalizer(), SPARSE),
    "Binarizer": _fitted(preprocessing.Binarizer()),
    "PowerTransformer": _fitted(preprocessing.PowerTransformer()),
    "QuantileTransformer": _fitted(preprocessing.QuantileTransformer(n_quantiles=10)),
    "KBinsDiscretizer": _fitted(
        preprocessing.KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf")
    ),
    "FunctionTransformer": _fitted(preprocessing.FunctionTransformer(np.arcsinh)),
    "PolynomialFeatures": _fitted(preprocessing.PolynomialFeatures(2)),
    "PolynomialFeatures sparse": _fitted(
        preprocessing.PolynomialFeatures(2, interaction_only=True, include_bias=False), SPARSE
    ),
    "OneHotEncoder": _fitted(preprocessing.OneHotEncoder(handle_unknown="ignore"), KINDS),
    "OneHotEncoder numbers": _fitted(
        preprocessing.OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=12), COUNTS
    ),
    "OneHotEncoder drop": _fitted(preprocessing.OneHotEncoder(drop="first"), KINDS.astype(object)),
    "OrdinalEncoder": _fitted(
        preprocessing.OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, min_frequency=4
        ),
        KINDS,
    ),
    "TargetEncoder": _fitted(preprocessing.TargetEncoder(cv=2), KINDS, ONE),
    "SimpleImputer": _fitted(impute.SimpleImputer(add_indicator=True), np.where(X > 1, np.nan, X)),
    "MissingIndicator": _fitted(impute.MissingIndicator(), np.where(X > 1, np.nan, X)),
    "KNNImputer": _fitted(impute.KNNImputer(n_neighbors=2), np.where(X > 1, np.nan, X)),
    "PCA": _fitted(decomposition.PCA(2, random_state=0)),
    "IncrementalPCA": _fitted(decomposition.IncrementalPCA(2)),
    "TruncatedSVD": _fitted(decomposition.TruncatedSVD(2, random_state=0), SPARSE),
    "NMF": _fitted(decomposition.NMF(2, random_state=0, max_iter=20), COUNTS),
    "LatentDirichletAllocation": _fitted(
        decomposition.LatentDirichletAllocation(2, random_state=0, max_iter=2), COUNTS
    ),
    "KMeans": _fitted(cluster.KMeans(3, n_init=1, random_state=0)),
    "MiniBatchKMeans": _fitted(cluster.MiniBatchKMeans(3, n_init=1, random_state=0), SPARSE),
    "CCA": _fitted(cross_decomposition.CCA(2), X, TARGETS),
    "PLSRegression": _fitted(cross_decomposition.PLSRegression(2), X, TARGETS),
    "AdditiveChi2Sampler": _fitted(kernel_approximation.AdditiveChi2Sampler(), COUNTS),
    "Nystroem": _fitted(kernel_approximation.Nystroem(n_components=5, random_state=0)),
    "PolynomialCountSketch": _fitted(
        kernel_approximation.PolynomialCountSketch(n_components=5, random_state=0)
    ),
    "RBFSampler": _fitted(kernel_approximation.RBFSampler(n_components=5, random_state=0)),
    "GaussianRandomProjection": _fitted(random_projection.GaussianRandomProjection(2)),
    "SparseRandomProjection": _fitted(random_projection.SparseRandomProjection(2), SPARSE),
    "SelectKBest": _fitted(
        feature_selection.SelectKBest(feature_selection.f_classif, k=2), X, THREE
    ),
    "SelectPercentile": _fitted(feature_selection.SelectPercentile(percentile=50), X, THREE),
    "SelectFromModel": _fitted(
        feature_selection.SelectFromModel(linear_model.LogisticRegression()), X, THREE
    ),
    "VarianceThreshold": _fitted(feature_selection.VarianceThreshold()),
    "LabelBinarizer": _fitted(preprocessing.LabelBinarizer(), THREE),
    "LabelEncoder": _fitted(preprocessing.LabelEncoder(), THREE),
    "MultiLabelBinarizer": _fitted(preprocessing.MultiLabelBinarizer(), [["a", "b"], ["c"]]),
    # scikit-learn: texts -------------------------------------------------------------------------
    "CountVectorizer": _fitted(text.CountVectorizer(ngram_range=(1, 2)), TEXTS),
    "TfidfVectorizer": _fitted(text.TfidfVectorizer(stop_words=["red"]), TEXTS),
    "TfidfTransformer": _fitted(text.TfidfTransformer(), SPARSE),
    "HashingVectorizer": _fitted(text.HashingVectorizer(n_features=16), TEXTS),
    "DictVectorizer": _fitted(feature_extraction.DictVectorizer(), COUNTED),
    "FeatureHasher": _fitted(feature_extraction.FeatureHasher(n_features=16), COUNTED),
    # scikit-learn: learners ----------------------------------------------------------------------
    "LogisticRegression": _classified(linear_model.LogisticRegression()),
    "LogisticRegressionCV": _classified(
        linear_model.LogisticRegressionCV(
            Cs=2, cv=2, l1_ratios=(0,), use_legacy_attributes=False, scoring="accuracy"
        )
    ),
    "SGDClassifier": _classified(linear_model.SGDClassifier(loss="log_loss", random_state=0)),
    "SGDRegressor": _regressed(linear_model.SGDRegressor(random_state=0)),
    "Perceptron": _classified(linear_model.Perceptron()),
    "RidgeClassifier": _classified(linear_model.RidgeClassifier()),
    "RidgeClassifierCV": _classified(linear_model.RidgeClassifierCV()),
    "Ridge": _regressed(linear_model.Ridge()),
    "RidgeCV": _regressed(linear_model.RidgeCV()),
    "LinearRegression": _regressed(linear_model.LinearRegression()),
    "Lasso": _regressed(linear_model.Lasso(0.01)),
    "ElasticNet": _regressed(linear_model.ElasticNet(0.01)),
    "MultiTaskLasso": _fitted(linear_model.MultiTaskLasso(0.01), X, TARGETS),
    "MultiTaskElasticNet": _fitted(linear_model.MultiTaskElasticNet(0.01), X, TARGETS),
    "ARDRegression": _regressed(linear_model.ARDRegression()),
    "BayesianRidge": _regressed(linear_model.BayesianRidge()),
    "KernelRidge": _regressed(kernel_ridge.KernelRidge(kernel="rbf")),
    "IsotonicRegression": _fitted(isotonic.IsotonicRegression(), X[:, 0], TARGET),
    "SVC": _classified(svm.SVC()),
    "SVC binary": _fitted(svm.SVC(kernel="poly"), X, ONE),
    "SVC sparse": _fitted(svm.SVC(), SPARSE, THREE),
    "SVC precomputed": _fitted(svm.SVC(kernel="precomputed"), X @ X.T, THREE),
    "SVC probabilities": _classified(svm.SVC(probability=True, random_state=0)),
    "NuSVC": _classified(svm.NuSVC(nu=0.2)),
    "SVR": _regressed(svm.SVR()),
    "NuSVR": _fitted(svm.NuSVR(), SPARSE, TARGET),
    "LinearSVC": _classified(svm.LinearSVC()),
    "LinearSVR": _regressed(svm.LinearSVR()),
    "DecisionTreeClassifier": _classified(tree.DecisionTreeClassifier(max_depth=3)),
    "DecisionTreeRegressor": _regressed(tree.DecisionTreeRegressor(max_depth=3)),
    "ExtraTreeClassifier": _classified(tree.ExtraTreeClassifier(max_depth=3)),
    "ExtraTreeRegressor": _regressed(tree.ExtraTreeRegressor(max_depth=3)),
    "RandomForestClassifier": _fitted(ensemble.RandomForestClassifier(3, max_depth=3), X, Y),
    "RandomForestRegressor": _fitted(
        ensemble.RandomForestRegressor(3, max_depth=3), SPARSE, TARGETS
    ),
    "ExtraTreesClassifier": _classified(ensemble.ExtraTreesClassifier(3, max_depth=3)),
    "ExtraTreesRegressor": _regressed(ensemble.ExtraTreesRegressor(3, max_depth=3)),
    "BaggingClassifier": _classified(
        ensemble.BaggingClassifier(n_estimators=2, max_features=3, random_state=0)
    ),
    "BaggingRegressor": _regressed(
        ensemble.BaggingRegressor(linear_model.Ridge(), 2, random_state=0)
    ),
    "VotingClassifier": _classified(
        ensemble.VotingClassifier([("a", naive_bayes.GaussianNB())], voting="soft")
    ),
    "VotingRegressor": _regressed(ensemble.VotingRegressor([("a", linear_model.Ridge())])),
    "StackingClassifier": _classified(
        ensemble.StackingClassifier([("a", naive_bayes.GaussianNB())], cv=2)
    ),
    "CalibratedClassifierCV": _classified(CalibratedClassifierCV(svm.LinearSVC(), cv=2)),
    "CalibratedClassifierCV isotonic": _classified(
        CalibratedClassifierCV(svm.LinearSVC(), cv=2, method="isotonic", ensemble=False)
    ),
    "GaussianNB": _classified(naive_bayes.GaussianNB()),
    "BernoulliNB": _classified(naive_bayes.BernoulliNB()),
    "MultinomialNB": _fitted(naive_bayes.MultinomialNB(), COUNTS, THREE),
    "ComplementNB": _fitted(naive_bayes.ComplementNB(), COUNTS, THREE),
    "CategoricalNB": _fitted(naive_bayes.CategoricalNB(), COUNTS, THREE),
    "LinearDiscriminantAnalysis": _classified(discriminant_analysis.LinearDiscriminantAnalysis()),
    "QuadraticDiscriminantAnalysis": _classified(
        discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.1)
    ),
    "DummyClassifier": _classified(dummy.DummyClassifier(strategy="stratified", random_state=0)),
    "DummyRegressor": _regressed(dummy.DummyRegressor()),
    "KNeighborsClassifier": _classified(neighbors.KNeighborsClassifier(3)),
    "KNeighborsClassifier ball": _classified(
        neighbors.KNeighborsClassifier(3, algorithm="ball_tree", metric="manhattan")
    ),
    "KNeighborsClassifier brute": _classified(neighbors.KNeighborsClassifier(3, algorithm="brute")),
    "KNeighborsClassifier labels": _fitted(neighbors.KNeighborsClassifier(3), X, Y),
    "KNeighborsRegressor": _regressed(neighbors.KNeighborsRegressor(3, weights="distance")),
    "KNeighborsRegressor sparse": _fitted(neighbors.KNeighborsRegressor(3), SPARSE, TARGET),
    "RadiusNeighborsClassifier": _classified(
        neighbors.RadiusNeighborsClassifier(5.0, algorithm="brute", outlier_label=0)
    ),
    "RadiusNeighborsRegressor": _regressed(neighbors.RadiusNeighborsRegressor(5.0)),
    "NearestCentroid": _classified(neighbors.NearestCentroid()),
    "NearestNeighbors": _fitted(neighbors.NearestNeighbors(n_neighbors=3)),
    "OneVsRestClassifier": _fitted(
        multiclass.OneVsRestClassifier(linear_model.LogisticRegression()), X, Y
    ),
    "OneVsRestClassifier constant": _fitted(
        multiclass.OneVsRestClassifier(linear_model.LogisticRegression()), X, Y * [1, 1, 0]
    ),
    "OneVsOneClassifier": _classified(multiclass.OneVsOneClassifier(svm.LinearSVC())),
    "ClassifierChain": _fitted(
        multioutput.ClassifierChain(linear_model.LogisticRegression(), random_state=0), X, Y
    ),
    "RegressorChain": _fitted(multioutput.RegressorChain(linear_model.Ridge()), X, TARGETS),
    "MultiOutputClassifier": _fitted(
        multioutput.MultiOutputClassifier(naive_bayes.GaussianNB()), X, Y
    ),
    "MultiOutputRegressor": _fitted(
        multioutput.MultiOutputRegressor(linear_model.Ridge()), X, TARGETS
    ),
    "TransformedTargetRegressor": _regressed(
        compose.TransformedTargetRegressor(
            linear_model.Ridge(), transformer=preprocessing.StandardScaler()
        )
    ),
    "FeatureUnion": _fitted(
        pipeline.FeatureUnion([("a", preprocessing.StandardScaler()), ("b", decomposition.PCA(2))])
    ),
    "splitters": lambda: (
        [
            model_selection.GroupKFold(3),
            model_selection.KFold(3),
            model_selection.ShuffleSplit(3),
            model_selection.StratifiedKFold(3),
            *(make() for make in _SPLITTERS),
        ],
        None,
    ),
    # torch ---------------------------------------------------------------------------------------
    "torch dense": _torch_model(
        "Linear(4, 8)",
        "BatchNorm1d(8)",
        "LayerNorm(8)",
        "GroupNorm(2, 8)",
        "PReLU()",
        "Dropout(0.1)",
        "Softmax(dim=1)",
    ),
    "torch activations": _torch_model(
        *("ELU()", "GELU()", "Hardtanh()", "Identity()", "LeakyReLU()", "ReLU()", "ReLU6()"),
        *("SELU()", "Sigmoid()", "SiLU()", "Softplus()", "Tanh()"),
    ),
    "torch one dimension": _torch_model(
        "Unflatten(1, (1, 4))",
        "Conv1d(1, 4, 2)",
        "Dropout1d()",
        "AvgPool1d(2, 1)",
        "MaxPool1d(2)",
        "AdaptiveAvgPool1d(2)",
        "AdaptiveMaxPool1d(2)",
        "Flatten()",
    ),
    "torch two dimensions": _torch_model(
        "Unflatten(1, (1, 2, 2))",
        "ZeroPad2d(2)",
        "Conv2d(1, 2, 2)",
        "BatchNorm2d(2)",
        "Dropout2d()",
        "AvgPool2d(2)",
        "MaxPool2d(2)",
        "AdaptiveAvgPool2d(2)",
        "AdaptiveMaxPool2d(2)",
        "Flatten()",
    ),
    "torch lookup": _torch_lookup,
    "torch parts": _torch_parts,
    # The library's own ---------------------------------------------------------------------------
    "SPLMLL linear": _splmll("linear"),
    "SPLMLL sparse": _splmll("svm", SPARSE),
    "SPLMLL kernel": _splmll(_embedding("Kernel", n_components=8)),
    "SPLMLL kernel SVM": _splmll(_embedding("KernelSVM")),
    "SPLMLL network": _splmll(_embedding("Network", (4,), **_NET)),
    "SPLMLL trees": _splmll(_embedding("Trees", n_estimators=2)),
    "SPLMLL logistic": _splmll(linear_model.LogisticRegression),
    "SPLMLL tree": _splmll(_embedding("OneVsRest", tree.DecisionTreeClassifier(max_depth=2))),
    "SPLMLL blend": _splmll(
        lambda: [_embedding("Linear")(), _embedding("Network", (4,), **_NET)()]
    ),
    "SPLMLL module": lambda: _splmll(
        _embedding("TorchModule", _torch_model("Linear(4, 3)")()[0].train(), max_epochs=2)
    )(),
    "SPLMLL streamed": _streamed,
    "SPLMLL streamed sparse": _streamed_sparse,
    "SPLMLL stochastic": _splmll(_embedding("Stochastic"), SPARSE),
    "version 1": _version_one,
    "PublishedSPLMLL": _labelled(
        _own("splmll", "PublishedSPLMLL", hidden_layer_sizes=(4,), max_epochs=2, random_state=0)
    ),
    "PublishedSPLMLL linear": _labelled(
        _own("splmll", "PublishedSPLMLL", linear=True, solver="exact", rho=1.0, random_state=0)
    ),
    "BinaryRelevance": _method("BinaryRelevance", random_state=0),
    "BinaryRelevance per label": _method("BinaryRelevance", threshold="per_label", random_state=0),
    "MLkNN": _method("MLkNN", 3),
    "MLkNN sparse": _method("MLkNN", 3, rows=SPARSE),
    "MLkNN approximate": _method("MLkNN", 3, search="approximate"),
    "LabelPowerset": _method("LabelPowerset"),
    "EnsembleOfPrunedSets": _method("EnsembleOfPrunedSets", n_estimators=2, pruning=1),
    "RAkEL": _method("RAkEL", labelset_size=2, n_estimators=2),
    "RAkEL sparse": _method("RAkEL", labelset_size=2, n_estimators=2, rows=SPARSE),
    "EnsembleOfClassifierChains": _method("EnsembleOfClassifierChains", n_estimators=2),
    "CalibratedLabelRanking": _method("CalibratedLabelRanking"),
    "PLST": _method("PLST", 1.0),
    "CPLST": _method("CPLST"),
    "FaIE": _method("FaIE"),
    "MOPLMS": _method("MOPLMS"),
    "MLCSSP": _method("MLCSSP", random_state=0),
    "PBR": _method("PBR", random_state=0),
    "LEML": _method("LEML"),
    "SLEEC": _method("SLEEC", n_neighbors=3, n_clusters=2, n_estimators=2),
    "C2AE": _method(
        "C2AE", feature_layer_sizes=(4,), label_layer_sizes=(4,), batch_size=16, max_epochs=2
    ),
    "MLML": _method("MLML"),
    "MLFE": _method("MLFE"),
    "HNOML": _method("HNOML"),
    "ThresholdedRandomForest": _method("ThresholdedRandomForest", 3),
    "NetworkRegressor": lambda: (
        _own("splmll.methods", "NetworkRegressor", (4,), max_epochs=2)().fit(X, TARGETS),
        X,
    ),
    "ThresholdTuner": _labelled(
        lambda: _own(
            "splmll.model_selection",
            "ThresholdTuner",
            _own("splmll.methods", "BinaryRelevance")(),
            "top_r",
            cv=2,
            random_state=0,
        )()
    ),
    "MultilabelCalibrator": _labelled(
        lambda: _own(
            "splmll.model_selection",
            "MultilabelCalibrator",
            _own("splmll.methods", "MLkNN", 3)(),
            cv=2,
            random_state=0,
        )()
    ),
    "MultilabelCalibrator isotonic": _labelled(
        lambda: _own(
            "splmll.model_selection",
            "MultilabelCalibrator",
            _own("splmll.methods", "BinaryRelevance")(),
            method="isotonic",
            cv=2,
            random_state=0,
        )()
    ),
    "rules": _rules,
    "sources": lambda: (
        [
            np.random.RandomState(0),
            np.random.default_rng(0),
            np.random.Generator(np.random.Philox(0)),
            np.random.Generator(np.random.SFC64(0)),
            np.random.Generator(np.random.MT19937(0)),
            np.random.Generator(np.random.PCG64DXSM(0)),
        ],
        None,
    ),
    "Words": _words(),
    "Words hashed": _words(hashed=True),
    "mixed table": _mixed_pipeline(text.TfidfVectorizer()),
    "mixed table hashed": _mixed_pipeline(text.HashingVectorizer(n_features=16)),
}

_SPLITTERS = [
    _own("splmll.model_selection", "MultilabelStratifiedKFold"),
    _own("splmll.model_selection", "MultilabelStratifiedShuffleSplit"),
]


def make(name: str) -> Model:
    """Return the model of this name, fitted, and the rows it is used on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]()


def rows_of(name: str) -> Any:
    """Return the rows that the model of this name is used on."""
    return make(name)[1]


def use(model: Any, rows: Any) -> int:
    """Call everything a model offers for new rows, whatever comes of it; return how much worked."""
    worked = 0
    for part in model if isinstance(model, list) else [model]:
        for name in USED:
            method = getattr(part, name, None)
            if callable(method) and rows is not None:
                with contextlib.suppress(Exception):
                    consume(method(copy.deepcopy(rows)))  # a forged copy=False works in place
                    worked += 1
        for source in (part, getattr(part, "random_state", None)):
            if isinstance(source, (np.random.RandomState, np.random.Generator)):
                with contextlib.suppress(Exception):
                    source.normal(size=700)
                    source.permutation(700)
                    worked += 1
        if hasattr(part, "recover"):
            with contextlib.suppress(Exception):
                known = np.zeros((3, len(part.landmarks_)))
                known[0, 0] = np.nan
                consume(part.recover(known))
                worked += 1
        with contextlib.suppress(Exception):
            repr(part)
    return worked


USED = (
    *("predict", "predict_proba", "decision_function", "transform", "explain", "apply"),
    *("decision_path", "kneighbors", "radius_neighbors", "inverse_transform", "__call__"),
)


def consume(output: Any) -> None:
    """Do with an output what the next step of a pipeline would."""
    for each in output if isinstance(output, (list, tuple)) else [output]:
        if sparse.issparse(each):
            each = sparse.csr_array(each)
            each @ np.ones(each.shape[1])
            each.T @ np.ones(each.shape[0])
            if each.shape[1] < 10**6:
                each.toarray()
            each[::-1].sum(axis=0)
            sparse.csc_array(each)
