"""The estimators that every common check runs over, with settings that make them quick."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier

from splmll import SPLMLL, PublishedSPLMLL
from splmll.embeddings import Kernel, Linear, Network, OneVsRest, Trees
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

# Networks that learn 60 rows in a blink.
SMALL_NETWORK = Network(
    (8,), dropout=0.0, learning_rate=0.05, batch_size=32, max_epochs=20, scale=None
)
# Algorithm 1 takes B and A down in small steps: more epochs.
SMALL_ALTERNATION: dict[str, Any] = {
    "hidden_layer_sizes": (8,),
    "learning_rate": 0.02,
    "max_epochs": 30,
}

SMALL_REGRESSOR = NetworkRegressor(
    (16,), dropout=0.0, learning_rate=0.02, max_epochs=20, random_state=0
)

# One of every class, and one more where another setting takes another route through the code.
# Every check fits them several times: they are small on purpose.
ESTIMATORS: list[Any] = [
    BinaryRelevance(LinearSVC(C=0.1), threshold="per_label", random_state=0),
    MLkNN(n_neighbors=5),
    LabelPowerset(),
    EnsembleOfPrunedSets(n_estimators=3, pruning=1, strategy="all", threshold="micro_f1"),
    RAkEL(),
    RAkEL(LinearSVC(C=0.1), labelset_size=2, n_estimators=3, threshold="per_label"),
    EnsembleOfClassifierChains(n_estimators=3),
    CalibratedLabelRanking(),
    CalibratedLabelRanking(
        DecisionTreeClassifier(max_depth=3), voting="soft", threshold="per_label", random_state=0
    ),
    PLST(1.0, regressor=LinearSVR(C=0.1, random_state=0), threshold="per_label"),
    CPLST(),
    FaIE(),
    MOPLMS(),
    MLCSSP(random_state=0),
    PBR(random_state=0),
    LEML(),
    LEML(1.0, loss="logistic", threshold="micro_f1"),
    SLEEC(n_neighbors=5),
    SLEEC(
        n_neighbors=5,
        n_clusters=2,
        n_estimators=3,
        embedding_solver="svp",
        weight_sparsity=0.01,
        embedding_sparsity=0.01,
        threshold="per_label",
    ),
    C2AE(
        batch_size=32,
        feature_layer_sizes=(16,),
        label_layer_sizes=(16,),
        learning_rate=0.05,
        max_epochs=12,
        patience=12,
    ),
    MLML(),
    MLFE(),
    HNOML(),
    # An odd number of trees is never undecided.
    ThresholdedRandomForest(21),
    make_method("BR-SVM"),
    # scale="auto" leaves sparse features as they are: set, sparse and dense rows are the same.
    SPLMLL(Linear(scale="standard")),
    SPLMLL(Linear(ridge=0.1, scale=None), n_landmarks=0.5, pull=1.0, threshold=0.5),
    SPLMLL(OneVsRest(scale=None), cv=2),
    SPLMLL(Kernel(scale="standard"), cv=3, threshold="per_label"),
    SPLMLL(SMALL_NETWORK, cv=2),
    SPLMLL(Trees(n_estimators=5), cv=2),
    SPLMLL([Linear(scale=None), OneVsRest(LogisticRegression(), scale=None)], cv=2),
    PublishedSPLMLL(**SMALL_ALTERNATION),
    # A linear map needs longer steps, or its first weights still decide what it predicts.
    PublishedSPLMLL(linear=True, learning_rate=0.1, max_epochs=30),
    PublishedSPLMLL(linear=True, solver="exact", rho=1.0),
]

FIRST_OF_THEIR_CLASS: list[Any] = list(
    {type(estimator): estimator for estimator in reversed(ESTIMATORS)}.values()
)[::-1]


def label_order_matters(estimator: Any) -> bool:
    """Whether the result depends on the order of the label columns by definition.

    For instance because a seed draws an order of the labels, or the first weights of a network.
    """
    if isinstance(estimator, RAkEL):
        return not estimator.overlapping or estimator.n_estimators is not None
    if isinstance(estimator, PublishedSPLMLL):
        return not (estimator.linear and estimator.solver == "exact")
    if isinstance(estimator, SPLMLL):
        return isinstance(estimator.embedding, Network)
    return isinstance(estimator, C2AE)


def may_give_up_labels(estimator: Any) -> bool:
    """Whether some labels have a constant score by definition: PBR discards them."""
    return isinstance(estimator, PBR)
