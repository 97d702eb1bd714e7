"""The one registry: methods by the names of the paper's tables, and SPL-MLL in its versions.

``CATALOGUE`` says of each which class and settings it is, where it was published and what it can
do; ``make_method`` builds one. A class is imported when it is first needed: who only wants the
names does not wait for PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import pandas as pd
from sklearn.base import clone

from splmll.base import Capabilities, MultilabelClassifier
from splmll.names import known_name

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
    path : str
        Where its class is: the package or module that has it, and its name.
    reference : str
        Where it was published.
    group : {"general", "label space", "reference", "ours"}
        Its part of the comparison; see ``GROUPS``.
    changes : dict or callable
        What differs from the defaults of the class, or a function that returns it, for settings
        that are expensive to import; ``settings`` has it in any case.
    remark : str
        What one should know of this version of it, empty if nothing.
    seedless : bool
        Its result does not depend on a seed, although its class takes one for learners that do.

    Examples
    --------
    >>> from splmll.catalogue import METHODS
    >>> METHODS["RAkEL"].title
    'random k-labelsets'
    >>> METHODS["RAkEL"].capabilities.probabilities
    True
    """

    name: str
    title: str
    path: str
    reference: str
    group: str
    changes: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = field(default_factory=dict)
    remark: str = ""
    seedless: bool = False

    @property
    def estimator(self) -> type[MultilabelClassifier]:
        """The class of the method, imported when it is first asked for."""
        module, _, name = self.path.rpartition(".")
        found: type[MultilabelClassifier] = getattr(import_module(module), name)
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """What differs from the defaults of the class."""
        return dict(self.changes() if callable(self.changes) else self.changes)

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


def _network_regressor() -> dict[str, Any]:
    from splmll.methods import NetworkRegressor

    return {"regressor": NetworkRegressor()}


def _scaled_svm() -> dict[str, Any]:
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    from splmll.feature_scaling import DenseStandardScaler

    return {"estimator": make_pipeline(DenseStandardScaler(), SVC(gamma="scale"))}


def _as_released() -> dict[str, Any]:
    from splmll.published import PublishedSPLMLL

    defaults = PublishedSPLMLL().get_params()
    released = PublishedSPLMLL.as_released().get_params()
    return {name: value for name, value in released.items() if value != defaults[name]}


_METHODS = (
    Method(
        "BR",
        "binary relevance",
        "splmll.methods.BinaryRelevance",
        "Tsoumakas, Katakis: Multi-label classification: an overview. IJDWM 3(3), 2007",
        "general",
        seedless=True,
    ),
    Method(
        "LP",
        "label powerset",
        "splmll.methods.LabelPowerset",
        "Boutell, Luo, Shen, Brown: Learning multi-label scene classification. "
        "Pattern Recognition 37(9), 2004",
        "general",
        seedless=True,
    ),
    Method(
        "ML-kNN",
        "multi-label k nearest neighbours",
        "splmll.methods.MLkNN",
        "Zhang, Zhou: ML-KNN: a lazy learning approach to multi-label learning. "
        "Pattern Recognition 40(7), 2007",
        "general",
    ),
    Method(
        "EPS",
        "ensemble of pruned sets",
        "splmll.methods.EnsembleOfPrunedSets",
        "Read, Pfahringer, Holmes: Multi-label classification using ensembles of pruned sets. "
        "ICDM 2008",
        "general",
    ),
    Method(
        "ECC",
        "ensemble of classifier chains",
        "splmll.methods.EnsembleOfClassifierChains",
        "Read, Pfahringer, Holmes, Frank: Classifier chains for multi-label classification. "
        "Machine Learning 85(3), 2011",
        "general",
    ),
    Method(
        "RAkEL",
        "random k-labelsets",
        "splmll.methods.RAkEL",
        "Tsoumakas, Katakis, Vlahavas: Random k-labelsets for multilabel classification. "
        "IEEE TKDE 23(7), 2011",
        "general",
    ),
    Method(
        "CLR",
        "calibrated label ranking",
        "splmll.methods.CalibratedLabelRanking",
        "Fuernkranz, Huellermeier, Loza Mencia, Brinker: Multilabel classification via calibrated "
        "label ranking. Machine Learning 73(2), 2008",
        "general",
        seedless=True,
    ),
    Method(
        "MLML",
        "multi-label manifold learning",
        "splmll.methods.MLML",
        "Hou, Geng, Zhang: Multi-label manifold learning. AAAI 2016",
        "general",
    ),
    Method(
        "MLFE",
        "feature-induced labeling information enrichment",
        "splmll.methods.MLFE",
        "Zhang, Zhong, Zhang: Feature-induced labeling information enrichment for multi-label "
        "learning. AAAI 2018",
        "general",
        remark="the third penalty of the paper is a reading of ours and off by default",
    ),
    Method(
        "HNOML",
        "hybrid noise-oriented multilabel learning",
        "splmll.methods.HNOML",
        "Zhang, Yu, Fu, Zhu, Chen, Hu: Hybrid noise-oriented multilabel learning. "
        "IEEE Transactions on Cybernetics 50(6), 2020",
        "general",
        remark="a reconstruction from the abstract",
    ),
    Method(
        "MOPLMS",
        "group-sparse landmark labels",
        "splmll.methods.MOPLMS",
        "Balasubramanian, Lebanon: The landmark selection method for multiple output prediction. "
        "ICML 2012",
        "label space",
        remark="recovers by least squares; the shrunken matrix of the paper is refit=False",
    ),
    Method(
        "ML-CSSP",
        "column subset selection",
        "splmll.methods.MLCSSP",
        "Bi, Kwok: Efficient multi-label classification with many labels. ICML 2013",
        "label space",
    ),
    Method(
        "PBR",
        "partial binary relevance",
        "splmll.methods.PBR",
        "Chen, Lin: Feature-aware label space dimension reduction for multi-label classification. "
        "NIPS 2012",
        "label space",
    ),
    Method(
        "PLST",
        "principal label space transformation",
        "splmll.methods.PLST",
        "Tai, Lin: Multilabel classification with principal label space transformation. "
        "Neural Computation 24(9), 2012",
        "label space",
    ),
    Method(
        "CPLST",
        "conditional principal label space transformation",
        "splmll.methods.CPLST",
        "Chen, Lin: Feature-aware label space dimension reduction for multi-label classification. "
        "NIPS 2012",
        "label space",
    ),
    Method(
        "FaIE",
        "feature-aware implicit label space encoding",
        "splmll.methods.FaIE",
        "Lin, Ding, Hu, Wang: Multi-label classification via feature-aware implicit label space "
        "encoding. ICML 2014",
        "label space",
    ),
    Method(
        "Deep CPLST",
        "CPLST with a network",
        "splmll.methods.CPLST",
        SPL_MLL_PAPER,
        "label space",
        _network_regressor,
        remark="the paper names no layers: those of its own network",
    ),
    Method(
        "Deep FaIE",
        "FaIE with a network",
        "splmll.methods.FaIE",
        SPL_MLL_PAPER,
        "label space",
        _network_regressor,
        remark="the paper names no layers: those of its own network",
    ),
    Method(
        "LEML",
        "low-rank empirical risk minimisation",
        "splmll.methods.LEML",
        "Yu, Jain, Kar, Dhillon: Large-scale multi-label learning with missing labels. ICML 2014",
        "label space",
    ),
    Method(
        "SLEEC",
        "sparse local embeddings",
        "splmll.methods.SLEEC",
        "Bhatia, Jain, Kar, Varma, Jain: Sparse local embeddings for extreme multi-label "
        "classification. NIPS 2015",
        "label space",
    ),
    Method(
        "C2AE",
        "canonical-correlated autoencoder",
        "splmll.methods.C2AE",
        "Yeh, Wu, Ko, Wang: Learning deep latent spaces for multi-label classification. AAAI 2017",
        "label space",
    ),
    Method(
        "BR-SVM",
        "binary relevance with RBF support vector machines",
        "splmll.methods.BinaryRelevance",
        "Boutell, Luo, Shen, Brown: Learning multi-label scene classification. "
        "Pattern Recognition 37(9), 2004",
        "reference",
        _scaled_svm,
        seedless=True,
    ),
    Method(
        "RF",
        "random forest with out-of-bag thresholds",
        "splmll.methods.ThresholdedRandomForest",
        "Breiman: Random forests. Machine Learning 45(1), 2001",
        "reference",
    ),
)


_SPLMLL, _PUBLISHED = "splmll.landmarks.SPLMLL", "splmll.published.PublishedSPLMLL"
_LEFT_OPEN = "what the paper leaves open was chosen on validation rows"

_OURS = (
    Method("SPL-MLL", "selecting predictable landmarks", _SPLMLL, SPL_MLL_PAPER, "ours"),
    Method(
        "SPL-MLL (linear)",
        "SPL-MLL with a linear embedding",
        _SPLMLL,
        SPL_MLL_PAPER,
        "ours",
        {"embedding": "linear"},
    ),
    Method(
        "SPL-MLL (blend)",
        "SPL-MLL with network, kernel and trees",
        _SPLMLL,
        SPL_MLL_PAPER,
        "ours",
        {"embedding": "blend"},
    ),
    Method(
        "SPL-MLL as published",
        "SPL-MLL, Algorithm 1 on the published objective",
        _PUBLISHED,
        SPL_MLL_PAPER,
        "ours",
        remark=_LEFT_OPEN,
    ),
    Method(
        "SPL-MLL (linear) as published",
        "SPL-MLL with a linear map, Algorithm 1 on the published objective",
        _PUBLISHED,
        SPL_MLL_PAPER,
        "ours",
        {"linear": True},
        remark=_LEFT_OPEN,
    ),
    Method(
        "SPL-MLL as released",
        "SPL-MLL as in the authors' code, all parts trained at once",
        _PUBLISHED,
        SPL_MLL_PAPER,
        "ours",
        _as_released,
        remark="held-out rows choose the epoch, where the authors took training rows",
    ),
)

CATALOGUE: dict[str, Method] = {method.name: method for method in (*_METHODS, *_OURS)}
"""Name -> method, all of them.

Examples
--------
>>> from splmll.catalogue import CATALOGUE
>>> CATALOGUE["SPL-MLL (linear)"].make(random_state=0)
SPLMLL(embedding='linear', random_state=0)
"""

METHODS: dict[str, Method] = {method.name: method for method in _METHODS}
"""The compared ones."""

OURS: dict[str, Method] = {method.name: method for method in _OURS}
"""SPL-MLL in its versions."""


def make_method(name: str, **parameters: Any) -> Any:
    """Return a method by its name in the paper's tables.

    Parameters
    ----------
    name : str
        A key of ``CATALOGUE``; upper and lower case are the same.
    **parameters : dict
        Parameters to set otherwise.

    Returns
    -------
    estimator : MultilabelClassifier

    Examples
    --------
    >>> from splmll.catalogue import make_method
    >>> make_method("RAkEL", labelset_size=2)
    RAkEL(labelset_size=2)
    >>> make_method("br-svm", estimator__svc__C=10).estimator[-1]
    SVC(C=10)
    >>> make_method("SPL-MLL (linear)", n_landmarks=5)
    SPLMLL(embedding='linear', n_landmarks=5)
    """
    there = f"There are {', '.join(CATALOGUE)}."
    return CATALOGUE[known_name(name, CATALOGUE, "method", there)].make(**parameters)


def describe_methods() -> pd.DataFrame:
    """Return the compared methods as a table, one line each.

    Returns
    -------
    table : DataFrame
        Name, what it stands for, class, group, what it can do, how one fit grows with rows (N),
        features (D) and labels (C), where it was published, and what is particular to this version.

    Examples
    --------
    >>> from splmll.catalogue import describe_methods
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
