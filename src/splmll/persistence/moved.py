"""Names and attributes that were different in files of earlier versions.

Files are never rewritten, so whatever a released version wrote has to be understood for good:

* ``RENAMED`` has classes that only changed their name in files.
* ``CHANGED`` has classes that kept other attributes then. A function takes the attributes of an
  object as they stand in the file, what is inside them already read, and returns the present name
  of its class and the attributes it has today. The name is None where the class is gone: only its
  attributes are left then, for the object around it to pick from.

* ``ATTRIBUTES`` has attributes that only changed their name, and ``VALUES`` values of parameters.

Entries are added and never taken out. ``tests/persistence/old_files`` has models of every version.

**Version 1** named classes by their modules, and had one ``SPLMLL`` for everything: 33 parameters,
among them those of all embeddings, and Algorithm 1 as a solver. Its models become those that
predict, explain, recover and transform the same. Parameters go to the embedding that has them, and
what a model of today measures and version 1 did not (``path_``, ``measures_``,
``landmark_strengths_``) is empty or NaN. Algorithm 1 as published becomes
:class:`splmll.PublishedSPLMLL`. With folds or a torch module, which the paper does not have, only
:class:`splmll.SPLMLL` can hold what was learned, and trained again it learns its own way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from splmll.embeddings.base import FoldModels

State = dict[str, Any]
Conversion = Callable[[State], tuple[str | None, State]]


def _by_module(package: str, modules: dict[str, str]) -> dict[str, str]:
    """Return old name -> name, for classes that were named by the module they were in."""
    return {
        f"{package}.{module}.{name}": f"{package}.{name.lstrip('_')}"
        for module, names in modules.items()
        for name in names.split()
    }


RENAMED: dict[str, str] = {
    # Version 1.
    **_by_module(
        "splmll.methods",
        {
            "_brute_force": "BruteForceSearch",
            "_centred_matrix": "CentredMatrix",
            "_constant": "ConstantGuard",
            "_feature_scale": "FeatureScale",
            "_label_sets": "LabelSetEnsemble LabelSetLearner _StackedLogistic",
            "_neighbours": "NeighbourSearch",
            "_ridge": "LinearMap",
            "_sign_regression": "SignRegression _KernelColumns",
            "binary_relevance": "BinaryRelevance",
            "calibrated_ranking": "CalibratedLabelRanking",
            "canonical_autoencoder": "C2AE _Networks",
            "classifier_chains": "EnsembleOfClassifierChains _LinearChain",
            "column_subset": "MLCSSP",
            "conditional_label_space": "CPLST ConditionalLabelSpace",
            "feature_enrichment": "MLFE",
            "group_sparse_landmarks": "MOPLMS",
            "hybrid_noise": "HNOML",
            "implicit_encoding": "FaIE ImplicitLabelSpace",
            "label_powerset": "LabelPowerset MostLikelySet",
            "local_embeddings": "SLEEC Cluster Learner",
            "low_rank": "LEML",
            "manifold_learning": "MLML",
            "nearest_neighbours": "MLkNN",
            "network_regressor": "NetworkRegressor _DoublePrecision",
            "principal_label_space": "PLST PrincipalLabelSpace",
            "pruned_sets": "EnsembleOfPrunedSets",
            "random_forest": "ThresholdedRandomForest",
            "random_label_subset": "PBR",
            "random_labelsets": "RAkEL",
        },
    ),
    **_by_module(
        "splmll.model_selection",
        {
            "calibration": "MultilabelCalibrator IsotonicCurve SigmoidCurve",
            "stratification": "MultilabelStratifiedKFold MultilabelStratifiedShuffleSplit",
            "threshold_tuner": "ThresholdTuner",
        },
    ),
    "splmll.landmarks.statistics.Statistics": "splmll.statistics.Statistics",
}


# Class -> former name of an attribute -> present one.
ATTRIBUTES: dict[str, dict[str, str]] = {
    "splmll.embeddings.Stochastic": {"alpha": "ridge", "alpha_": "ridge_"},
    "splmll.methods.C2AE": {"alpha": "ranking_weight", "lam": "orthogonality_weight"},
    "splmll.methods.EnsembleOfClassifierChains": {"n_chains": "n_estimators"},
    "splmll.methods.FaIE": {"alpha": "predictability_weight"},
    "splmll.methods.ImplicitLabelSpace": {"alpha": "predictability_weight"},
    "splmll.methods.LEML": {"lam": "ridge"},
    "splmll.methods.RAkEL": {"n_models": "n_estimators"},
    "splmll.methods.SLEEC": {"n_learners": "n_estimators", "alpha": "ridge"},
}

# Class -> parameter that models of before do not have -> what they did.
LATER: dict[str, dict[str, Any]] = {
    "splmll.SPLMLL": {"verbose": False},
    "splmll.methods.EnsembleOfPrunedSets": {"keep_labels": False},
}

_RULES = {"micro-f1": "micro_f1", "macro-f1": "macro_f1", "per-label": "per_label"}

# Parameter of any class of the library -> former value -> present one.
VALUES: dict[str, dict[Any, Any]] = {
    "scale": {True: "standard", False: None},
    "threshold": {**_RULES, "top-r": "top_r"},
    "rule": {**_RULES, "top-r": "top_r"},
}


def with_present_words(name: str | None, state: State) -> State:
    """Return attributes of an object under the names and with the words of today.

    Examples
    --------
    >>> from splmll.persistence.moved import with_present_words
    >>> with_present_words("splmll.methods.LEML", {"lam": 0.1, "threshold": "micro-f1"})
    {'ridge': 0.1, 'threshold': 'micro_f1'}
    >>> with_present_words("splmll.methods.EnsembleOfPrunedSets", {"pruning": 2})
    {'pruning': 2, 'keep_labels': False}
    """
    if name is None or not name.startswith("splmll."):
        return state
    names = ATTRIBUTES.get(name, {})
    present = {names.get(each, each): _present(each, value) for each, value in state.items()}
    later = {each: v for each, v in LATER.get(name, {}).items() if each not in present}
    return present | later  # Attributes keep their order: a model gives the same file again


def _present(parameter: str, value: Any) -> Any:
    # Only words and truth values were renamed: arrays cannot be looked up, and 1.0 is not True.
    return VALUES.get(parameter, {}).get(value, value) if isinstance(value, str | bool) else value


# Version 1: embeddings ---------------------------------------------------------------------------


class AveragedRegressors(FoldModels):
    """Regressors of all labels, one for each fold, as version 1 fitted those of other libraries.

    They predict. Trained again, the regressor becomes a :class:`splmll.embeddings.OneVsRest`.

    Parameters
    ----------
    regressor : regressor
        What was fitted.
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def _predict_one(self, model: Any, X: Any) -> np.ndarray:
        return np.asarray(model.predict(X), dtype=np.float64).reshape(X.shape[0], -1)


def _renamed(old: State, **names: str) -> State:
    """Return attributes under their new names, given as new=old; the others are left out."""
    return {name: old[before] for name, before in names.items() if before in old}


def _linear(old: State) -> tuple[str, State]:
    names = {"ridge": "alpha", "scale": "scale", "ridge_": "alpha_", "map_": "map"}
    return "splmll.embeddings.Linear", _renamed(old, **names)


def _kernel(old: State) -> tuple[str, State]:
    names = {
        **{"ridge": "alpha", "gamma": "gamma", "n_components": "n_components", "scale": "scale"},
        **{"scaler_": "scaler", "features_": "features", "linear_": "linear"},
    }
    return "splmll.embeddings.Kernel", _renamed(old, **names)


def _network(old: State) -> tuple[str, State]:
    training = ("learning_rate", "weight_decay", "batch_size", "max_epochs", "patience")
    state = {
        **_renamed(old, models_="models", outputs_="columns", device="device"),
        **{name: old["training"][name] for name in training},
        "loss": _loss(old["loss"]),
    }
    if old["module"] is not None:
        return "splmll.embeddings.TorchModule", {**state, "module": old["module"]}
    names = {"hidden_layer_sizes": "hidden", "dropout": "dropout", "scale": "scale"}
    return "splmll.embeddings.Network", {**state, **_renamed(old, **names)}


def _loss(old: str) -> str:
    """Return the loss; version 1 took both in turns where it was left to choose."""
    return "squared" if old == "squared" else "cross_entropy"


def _regressors(old: State) -> tuple[str, State]:
    names = {"regressor": "regressor", "models_": "models", "outputs_": "columns"}
    return "splmll.embeddings.AveragedRegressors", _renamed(old, **names)


def _blend(old: State) -> tuple[str, State]:
    names = {"members": "members", "shrinkage": "shrinkage", "weights_": "weights"}
    return "splmll.embeddings.Blend", {**_renamed(old, **names), "members_": list(old["members"])}


# Version 1: SPLMLL -------------------------------------------------------------------------------

_OF_EVERY_CLASSIFIER = (
    *("label_format_", "classes_", "label_names_in_", "n_features_in_", "feature_names_in_"),
    *("threshold_", "thresholds_", "offset_"),
)
_LAMBDA2 = 0.5  # what "auto" meant to Algorithm 1


def _splmll(old: State) -> tuple[str, State]:
    fitted = {name: old[name] for name in _OF_EVERY_CLASSIFIER if name in old}
    published = old["solver"] == "algorithm1" and old["cv"] is None
    if published and isinstance(old["embedding"], str) and old["embedding"] in ("mlp", "linear"):
        if "embedding_" in old:
            fitted |= _published_fit(old)
        return "splmll.PublishedSPLMLL", {**_published_parameters(old), **fitted}
    if "embedding_" in old:
        fitted |= _landmark_fit(old)
    if "_stream" in old:
        fitted["_stream"] = old["_stream"]
    return "splmll.SPLMLL", {**_parameters(old), **fitted}


def _parameters(old: State) -> State:
    from splmll.landmarks import SPLMLL

    model = SPLMLL(
        _embedding_for(old["embedding"], old),
        n_landmarks=old["n_landmarks"],
        pull=np.inf if old["selection"] == "all" else "auto",
        threshold=old["threshold"],
        cv="auto" if old["cv"] is None else old["cv"],
        warm_start=old["warm_start"],
        random_state=old["random_state"],
        n_jobs=old["n_jobs"],
    )
    return dict(vars(model))


def _embedding_for(kind: Any, old: State) -> Any:
    """Return what was given as embedding, with the parameters that went with it."""
    from splmll.arrays import is_torch_module
    from splmll.embeddings import Blend, Kernel, Linear, Trees

    if isinstance(kind, (list, tuple)):
        return Blend([_embedding_for(member, old) for member in kind])
    if is_torch_module(kind):
        from splmll.embeddings import TorchModule

        loss = _loss("squared" if old["loss"] == "auto" else old["loss"])
        return TorchModule(kind, loss, **_training(old))
    if not isinstance(kind, str):
        return kind  # a regressor: one for each label from now on
    scale = _present("scale", old["scale"])
    if kind == "linear":
        return Linear(old["alpha"], scale)
    kernel = Kernel(old["alpha"], old["gamma"], old["n_components"], scale)
    if kind == "kernel":
        return kernel
    from splmll.embeddings import Network

    hidden, dropout = old["hidden_layer_sizes"], old["dropout"]
    network = Network(hidden, dropout, _loss(old["loss"]), scale=scale, **_training(old))
    return Blend([network, kernel, Trees()]) if kind == "blend" else network


def _training(old: State) -> State:
    names = ("learning_rate", "weight_decay", "batch_size", "max_epochs", "patience", "device")
    return {name: old[name] for name in names}


def _landmark_fit(old: State) -> State:
    """Return f, the landmarks and how all labels follow from them."""
    from splmll.landmarks.completion import Completion
    from splmll.landmarks.learning import Landmarks, Setting
    from splmll.landmarks.recovery import Map

    labels, as_it_is = old["_landmarks"], old["selection"] == "all"
    learned = Landmarks(
        outputs=np.arange(len(labels)),
        labels=labels,
        setting=Setting(pull=np.inf if as_it_is else float(old["shrinkage"]), as_it_is=as_it_is),
        map=Map(old["_mixing"], old["intercept_"]),
        explained=np.full(len(labels), np.nan),
        predictability=old["predictability_"],
        path=pd.DataFrame(),
        measures=pd.DataFrame(),
    )
    completion = Completion(
        labels,
        old["_label_mean"],
        old["_landmark_moments"],
        old["_rho"],
        old["_recovery_threshold"],
    )
    return {
        "embedding_": old["embedding_"],
        "learned_": learned,
        "completion_": completion,
        "representativeness_": old["representativeness_"],
        "probability_slope_": old["_slope"],
    }


def _published_parameters(old: State) -> State:
    from splmll.published import PublishedSPLMLL

    names = ["threshold", "random_state", "batch_size", "learning_rate", "max_epochs", "patience"]
    names += ["device"]
    selection = "full" if old["full_selection"] else old["selection"]
    if selection != "all":
        names += ["lambda1", "rho", "joint"]
    linear = old["embedding"] == "linear"
    if not linear:
        names += ["hidden_layer_sizes", "dropout"]
    model = PublishedSPLMLL(
        linear=linear, selection=selection, output="identity", **{n: old[n] for n in names}
    )
    if selection != "all":
        model.lambda2 = _LAMBDA2 if old["lambda2"] == "auto" else old["lambda2"]
        if isinstance(old["n_landmarks"], int):
            model.n_landmarks = old["n_landmarks"]
        elif old["n_landmarks"] is not None and "_landmarks" in old:
            model.n_landmarks = len(old["_landmarks"])  # a share of the labels
    return dict(vars(model))


def _published_fit(old: State) -> State:
    """Return f, B and A."""
    from splmll.published.classifier import for_prediction

    (module,) = old["embedding_"].models_
    columns, B = old["_landmarks"], old["selection_"]
    same = ("landmarks_", "selection_", "recovery_", "intercept_", "predictability_")
    return {
        **{name: old[name] for name in (*same, "objective_", "n_iter_")},
        "embedding_": for_prediction(module),
        "landmark_columns_": columns,
        "landmark_weights_": old["_mixing"],
        "landmark_strengths_": B[columns] if B.ndim == 1 else np.linalg.norm(B[columns], axis=1),
    }


def _stream(old: State) -> tuple[str, State]:
    sparse_rows = any(hasattr(piece[3], "tocsr") for piece in old["_pieces"])
    return "splmll.landmarks.Stream", {**old, "sparse_rows": sparse_rows}


def _gone(old: State) -> tuple[None, State]:
    return None, old


CHANGED: dict[str, Conversion] = {
    # Version 1.
    "splmll.landmarks.algorithm1.Alternation": _gone,
    "splmll.landmarks.classifier.SPLMLL": _splmll,
    "splmll.landmarks.embedding.BlendEmbedding": _blend,
    "splmll.landmarks.embedding.KernelEmbedding": _kernel,
    "splmll.landmarks.embedding.LinearEmbedding": _linear,
    "splmll.landmarks.embedding.NetworkEmbedding": _network,
    "splmll.landmarks.embedding.RegressorEmbedding": _regressors,
    "splmll.landmarks.moments.Moments": _gone,
    "splmll.landmarks.stream.Stream": _stream,
    "splmll.neural.Training": _gone,
}
