"""The methods by the names of the paper's tables: the compared ones and SPL-MLL in its versions.

``METHODS`` and ``OURS`` say of each which class and settings it is, where it was published and what
it can do; ``make_method`` builds one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from splmll.base import Capabilities, MultilabelClassifier
from splmll.feature_scaling import DenseStandardScaler
from splmll.landmarks import SPLMLL
from splmll.methods.binary_relevance import BinaryRelevance
from splmll.methods.calibrated_ranking import CalibratedLabelRanking
from splmll.methods.canonical_autoencoder import C2AE
from splmll.methods.classifier_chains import EnsembleOfClassifierChains
from splmll.methods.column_subset import MLCSSP
from splmll.methods.conditional_label_space import CPLST
from splmll.methods.feature_enrichment import MLFE
from splmll.methods.group_sparse_landmarks import MOPLMS
from splmll.methods.hybrid_noise import HNOML
from splmll.methods.implicit_encoding import FaIE
from splmll.methods.label_powerset import LabelPowerset
from splmll.methods.local_embeddings import SLEEC
from splmll.methods.low_rank import LEML
from splmll.methods.manifold_learning import MLML
from splmll.methods.nearest_neighbours import MLkNN
from splmll.methods.network_regressor import NetworkRegressor
from splmll.methods.principal_label_space import PLST
from splmll.methods.pruned_sets import EnsembleOfPrunedSets
from splmll.methods.random_forest import ThresholdedRandomForest
from splmll.methods.random_label_subset import PBR
from splmll.methods.random_labelsets import RAkEL
from splmll.names import known_name
from splmll.published import PublishedSPLMLL

GROUPS = {
    "general": "general methods",
    "label space": "methods that reduce the label space",
    "reference": "what one would try first today",
}

SPL_MLL_PAPER = "Li et al.: Selecting predictable landmarks for multi-label learning. ECCV 2020"


@dataclass(frozen=True)
class Method:
    """One method of the catalogue.

    Attributes
    ----------
    name : str
        Its name in the paper's tables.
    title : str
        Its name in words.
    estimator : type
        Its class.
    reference : str
        Where it was published.
    group : {"general", "label space", "reference", "ours"}
        Its part of the comparison; see ``GROUPS``.
    settings : dict
        What differs from the defaults of the class.
    remark : str
        What one should know of this version of it, empty if nothing.
    seedless : bool
        Its result does not depend on a seed, although its class takes one for learners that do.

    Examples
    --------
    >>> from splmll.methods import METHODS
    >>> METHODS["RAkEL"].title
    'random k-labelsets'
    >>> METHODS["RAkEL"].capabilities.probabilities
    True
    """

    name: str
    title: str
    estimator: type[MultilabelClassifier]
    reference: str
    group: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""
    seedless: bool = False

    @property
    def capabilities(self) -> Capabilities:
        """What the method can do and what it costs."""
        return self.estimator.capabilities

    def make(self, **parameters: Any) -> Any:
        """Return a new estimator with these parameters on top of the method's settings.

        Parameters
        ----------
        **parameters : dict
            Parameters of the class, also nested ones (``estimator__C``).

        Returns
        -------
        estimator : MultilabelClassifier
        """
        settings = {
            name: clone(value, safe=False) if hasattr(value, "get_params") else value
            for name, value in self.settings.items()
        }
        return self.estimator(**settings).set_params(**parameters)


def _catalogue(*methods: Method) -> dict[str, Method]:
    return {method.name: method for method in methods}


METHODS: dict[str, Method] = _catalogue(
    Method(
        "BR",
        "binary relevance",
        BinaryRelevance,
        "Tsoumakas, Katakis: Multi-label classification: an overview. IJDWM 3(3), 2007",
        "general",
        seedless=True,
    ),
    Method(
        "LP",
        "label powerset",
        LabelPowerset,
        "Boutell, Luo, Shen, Brown: Learning multi-label scene classification. "
        "Pattern Recognition 37(9), 2004",
        "general",
        seedless=True,
    ),
    Method(
        "ML-kNN",
        "multi-label k nearest neighbours",
        MLkNN,
        "Zhang, Zhou: ML-KNN: a lazy learning approach to multi-label learning. "
        "Pattern Recognition 40(7), 2007",
        "general",
    ),
    Method(
        "EPS",
        "ensemble of pruned sets",
        EnsembleOfPrunedSets,
        "Read, Pfahringer, Holmes: Multi-label classification using ensembles of pruned sets. "
        "ICDM 2008",
        "general",
    ),
    Method(
        "ECC",
        "ensemble of classifier chains",
        EnsembleOfClassifierChains,
        "Read, Pfahringer, Holmes, Frank: Classifier chains for multi-label classification. "
        "Machine Learning 85(3), 2011",
        "general",
    ),
    Method(
        "RAkEL",
        "random k-labelsets",
        RAkEL,
        "Tsoumakas, Katakis, Vlahavas: Random k-labelsets for multilabel classification. "
        "IEEE TKDE 23(7), 2011",
        "general",
    ),
    Method(
        "CLR",
        "calibrated label ranking",
        CalibratedLabelRanking,
        "Fuernkranz, Huellermeier, Loza Mencia, Brinker: Multilabel classification via calibrated "
        "label ranking. Machine Learning 73(2), 2008",
        "general",
        seedless=True,
    ),
    Method(
        "MLML",
        "multi-label manifold learning",
        MLML,
        "Hou, Geng, Zhang: Multi-label manifold learning. AAAI 2016",
        "general",
    ),
    Method(
        "MLFE",
        "feature-induced labeling information enrichment",
        MLFE,
        "Zhang, Zhong, Zhang: Feature-induced labeling information enrichment for multi-label "
        "learning. AAAI 2018",
        "general",
        remark="the third penalty of the paper is a reading of ours and off by default",
    ),
    Method(
        "HNOML",
        "hybrid noise-oriented multilabel learning",
        HNOML,
        "Zhang, Yu, Fu, Zhu, Chen, Hu: Hybrid noise-oriented multilabel learning. "
        "IEEE Transactions on Cybernetics 50(6), 2020",
        "general",
        remark="a reconstruction from the abstract",
    ),
    Method(
        "MOPLMS",
        "group-sparse landmark labels",
        MOPLMS,
        "Balasubramanian, Lebanon: The landmark selection method for multiple output prediction. "
        "ICML 2012",
        "label space",
        remark="recovers by least squares; the shrunken matrix of the paper is refit=False",
    ),
    Method(
        "ML-CSSP",
        "column subset selection",
        MLCSSP,
        "Bi, Kwok: Efficient multi-label classification with many labels. ICML 2013",
        "label space",
    ),
    Method(
        "PBR",
        "partial binary relevance",
        PBR,
        "Chen, Lin: Feature-aware label space dimension reduction for multi-label classification. "
        "NIPS 2012",
        "label space",
    ),
    Method(
        "PLST",
        "principal label space transformation",
        PLST,
        "Tai, Lin: Multilabel classification with principal label space transformation. "
        "Neural Computation 24(9), 2012",
        "label space",
    ),
    Method(
        "CPLST",
        "conditional principal label space transformation",
        CPLST,
        "Chen, Lin: Feature-aware label space dimension reduction for multi-label classification. "
        "NIPS 2012",
        "label space",
    ),
    Method(
        "FaIE",
        "feature-aware implicit label space encoding",
        FaIE,
        "Lin, Ding, Hu, Wang: Multi-label classification via feature-aware implicit label space "
        "encoding. ICML 2014",
        "label space",
    ),
    Method(
        "Deep CPLST",
        "CPLST with a network",
        CPLST,
        SPL_MLL_PAPER,
        "label space",
        {"regressor": NetworkRegressor()},
        remark="the paper names no layers: those of its own network",
    ),
    Method(
        "Deep FaIE",
        "FaIE with a network",
        FaIE,
        SPL_MLL_PAPER,
        "label space",
        {"regressor": NetworkRegressor()},
        remark="the paper names no layers: those of its own network",
    ),
    Method(
        "LEML",
        "low-rank empirical risk minimisation",
        LEML,
        "Yu, Jain, Kar, Dhillon: Large-scale multi-label learning with missing labels. ICML 2014",
        "label space",
    ),
    Method(
        "SLEEC",
        "sparse local embeddings",
        SLEEC,
        "Bhatia, Jain, Kar, Varma, Jain: Sparse local embeddings for extreme multi-label "
        "classification. NIPS 2015",
        "label space",
    ),
    Method(
        "C2AE",
        "canonical-correlated autoencoder",
        C2AE,
        "Yeh, Wu, Ko, Wang: Learning deep latent spaces for multi-label classification. AAAI 2017",
        "label space",
    ),
    Method(
        "BR-SVM",
        "binary relevance with RBF support vector machines",
        BinaryRelevance,
        "Boutell, Luo, Shen, Brown: Learning multi-label scene classification. "
        "Pattern Recognition 37(9), 2004",
        "reference",
        {"estimator": make_pipeline(DenseStandardScaler(), SVC(gamma="scale"))},
        seedless=True,
    ),
    Method(
        "RF",
        "random forest with out-of-bag thresholds",
        ThresholdedRandomForest,
        "Breiman: Random forests. Machine Learning 45(1), 2001",
        "reference",
    ),
)


def _ours(name: str, title: str, model: MultilabelClassifier, remark: str = "") -> Method:
    defaults = type(model)().get_params(deep=False)
    settings = {
        key: value for key, value in model.get_params(deep=False).items() if value != defaults[key]
    }
    return Method(name, title, type(model), SPL_MLL_PAPER, "ours", settings, remark)


OURS: dict[str, Method] = _catalogue(
    _ours("SPL-MLL", "selecting predictable landmarks", SPLMLL()),
    _ours("SPL-MLL (linear)", "SPL-MLL with a linear embedding", SPLMLL("linear")),
    _ours("SPL-MLL (blend)", "SPL-MLL with network, kernel and trees", SPLMLL("blend")),
    _ours(
        "SPL-MLL as published",
        "SPL-MLL, Algorithm 1 on the published objective",
        PublishedSPLMLL(),
        "what the paper leaves open was chosen on validation rows",
    ),
    _ours(
        "SPL-MLL (linear) as published",
        "SPL-MLL with a linear map, Algorithm 1 on the published objective",
        PublishedSPLMLL(linear=True),
        "what the paper leaves open was chosen on validation rows",
    ),
    _ours(
        "SPL-MLL as released",
        "SPL-MLL as in the authors' code, all parts trained at once",
        PublishedSPLMLL.as_released(),
        "held-out rows choose the epoch, where the authors took training rows",
    ),
)


def make_method(name: str, **parameters: Any) -> Any:
    """Return a method by its name in the paper's tables.

    Parameters
    ----------
    name : str
        A key of ``METHODS`` or ``OURS``; upper and lower case are the same.
    **parameters : dict
        Parameters to set otherwise.

    Returns
    -------
    estimator : MultilabelClassifier

    Examples
    --------
    >>> from splmll.methods import make_method
    >>> make_method("RAkEL", labelset_size=2)
    RAkEL(labelset_size=2)
    >>> make_method("br-svm", estimator__svc__C=10).estimator[-1]
    SVC(C=10)
    >>> make_method("SPL-MLL (linear)", n_landmarks=5)
    SPLMLL(embedding='linear', n_landmarks=5)
    """
    known = METHODS | OURS
    there = f"There are {', '.join(known)}."
    return known[known_name(name, known, "method", there)].make(**parameters)


def describe_methods() -> pd.DataFrame:
    """Return the compared methods as a table, one line each.

    Returns
    -------
    table : DataFrame
        Name, what it stands for, class, group, what it can do, how one fit grows with rows (N),
        features (D) and labels (C), where it was published, and what is particular to this version.

    Examples
    --------
    >>> from splmll.methods import describe_methods
    >>> describe_methods().loc["ML-kNN", ["class", "cost of a fit"]].tolist()
    ['MLkNN', 'N^2 D']
    """
    lines = {}
    for method in METHODS.values():
        can = method.capabilities
        lines[method.name] = {
            "method": method.title,
            "class": method.estimator.__name__,
            "group": method.group,
            "sparse X": can.sparse_features,
            "sparse Y": can.sparse_labels,
            "unknown labels": can.unknown_labels,
            "probabilities": can.probabilities,
            "threshold always tuned": can.ranking_only,
            "cost of a fit": can.cost,
            "reference": method.reference,
            "remark": method.remark,
        }
    return pd.DataFrame.from_dict(lines, orient="index")
