"""The estimators that every common check runs over, with settings that make them quick."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import ExtraTreesRegressor
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier

from splmll import SPLMLL
from splmll.methods import (
    C2AE,
    CPLST,
    HNOML,
    LEML,
    MLCSSP,
    MLFE,
    MLML,
    MOPLMS,
    PBR,
    PLST,
    SLEEC,
    BinaryRelevance,
    CalibratedLabelRanking,
    EnsembleOfClassifierChains,
    EnsembleOfPrunedSets,
    FaIE,
    LabelPowerset,
    MLkNN,
    NetworkRegressor,
    RAkEL,
    ThresholdedRandomForest,
    make_method,
)

# A network that learns 60 rows in a blink.
SMALL_NETWORK: dict[str, Any] = {
    "hidden_layer_sizes": (16,),
    "dropout": 0.0,
    "learning_rate": 0.02,
    "batch_size": 32,
    "max_epochs": 20,
    "cv": 2,
    "n_repeats": 1,
}
# Algorithm 1 takes B and A down in small steps: more epochs, no folds.
SMALL_ALTERNATION: dict[str, Any] = {
    "hidden_layer_sizes": (8,),
    "learning_rate": 0.02,
    "batch_size": 64,
    "max_epochs": 60,
}

SMALL_REGRESSOR = NetworkRegressor(
    (16,), dropout=0.0, learning_rate=0.02, max_epochs=20, random_state=0
)

ESTIMATORS: list[Any] = [
    BinaryRelevance(),
    BinaryRelevance(LinearSVC(C=0.1), threshold="per-label", random_state=0),
    MLkNN(n_neighbors=5),
    MLkNN(n_neighbors=5, scale="standard", threshold="micro-f1"),
    LabelPowerset(),
    LabelPowerset(LinearSVC(C=0.1), threshold="per-label", random_state=0),
    EnsembleOfPrunedSets(),
    EnsembleOfPrunedSets(
        n_estimators=5, pruning=1, strategy="all", subset_limit=0, threshold="micro-f1"
    ),
    RAkEL(),
    RAkEL(overlapping=False),
    RAkEL(LinearSVC(C=0.1), labelset_size=2, n_models=3, threshold="per-label"),
    EnsembleOfClassifierChains(n_chains=3),
    EnsembleOfClassifierChains(
        LinearSVC(C=0.1), n_chains=3, voting="hard", threshold="cardinality"
    ),
    CalibratedLabelRanking(),
    CalibratedLabelRanking(voting="hard", ties="include"),
    CalibratedLabelRanking(
        DecisionTreeClassifier(max_depth=3), threshold="per-label", random_state=0
    ),
    PLST(),
    PLST(1.0, regressor=LinearSVR(C=0.1, random_state=0), threshold="per-label"),
    CPLST(),
    CPLST(0.75, ridge=10.0, threshold="micro-f1"),
    CPLST(1.0, regressor=SMALL_REGRESSOR),
    FaIE(),
    FaIE(0.75, 100.0, center=True),
    FaIE(regressor=SMALL_REGRESSOR),
    MOPLMS(),
    MOPLMS(lambda1=0.01, lambda2=0.001, refit=False, threshold="micro-f1"),
    MLCSSP(random_state=0),
    PBR(random_state=0),
    PBR(1.0),
    LEML(),
    LEML(1.0, lam=0.1, solver="cg"),
    LEML(1.0, loss="logistic", threshold="micro-f1"),
    LEML(loss="squared_hinge"),
    SLEEC(n_neighbors=5),
    SLEEC(
        n_neighbors=5,
        n_clusters=2,
        n_learners=3,
        embedding_solver="svp",
        weight_sparsity=0.01,
        embedding_sparsity=0.01,
        threshold="per-label",
    ),
    C2AE(
        batch_size=32,
        feature_layer_sizes=(16,),
        label_layer_sizes=(16,),
        learning_rate=0.02,
        max_epochs=60,
        patience=60,
    ),
    MLML(),
    MLFE(),
    HNOML(),
    # An odd number of trees is never undecided.
    ThresholdedRandomForest(21),
    make_method("BR-SVM"),
    SPLMLL("linear"),
    SPLMLL("linear", selection="hard", threshold="per-label"),
    SPLMLL("linear", n_landmarks=0.5, recovery="labels", cv=None, threshold=0.5),
    SPLMLL("kernel", cv=3),
    SPLMLL("mlp", **SMALL_NETWORK),
    SPLMLL(ExtraTreesRegressor(n_estimators=10), cv=2),
    SPLMLL(["linear", "kernel"], cv=2),
    # A linear map needs longer steps, or its first weights still decide what it predicts.
    SPLMLL.as_published(linear=True, **{**SMALL_ALTERNATION, "learning_rate": 0.1}),
    SPLMLL.as_published(**SMALL_ALTERNATION),
]


def label_order_matters(estimator: Any) -> bool:
    """Whether the result depends on the order of the label columns by definition.

    For instance because a seed draws an order of the labels, or the first weights of a network.
    """
    if isinstance(estimator, RAkEL):
        return not estimator.overlapping or estimator.n_models is not None
    return isinstance(estimator, C2AE) or (
        isinstance(estimator, SPLMLL)
        and (estimator.embedding == "mlp" or estimator.solver == "algorithm1")
    )


def may_give_up_labels(estimator: Any) -> bool:
    """Whether some labels have a constant score by definition: PBR discards them."""
    return isinstance(estimator, PBR)
