"""The methods SPL-MLL is compared with, one file each; ``splmll.catalogue`` has them by name."""

from typing import TYPE_CHECKING

from splmll.lazy import attach

if TYPE_CHECKING:
    from splmll.methods.binary_relevance import BinaryRelevance
    from splmll.methods.calibrated_ranking import CalibratedLabelRanking
    from splmll.methods.canonical_autoencoder import C2AE
    from splmll.methods.classifier_chains import EnsembleOfClassifierChains
    from splmll.methods.column_subset import MLCSSP
    from splmll.methods.conditional_label_space import CPLST, ConditionalLabelSpace
    from splmll.methods.feature_enrichment import MLFE
    from splmll.methods.group_sparse_landmarks import MOPLMS
    from splmll.methods.hybrid_noise import HNOML
    from splmll.methods.implicit_encoding import FaIE, ImplicitLabelSpace
    from splmll.methods.label_powerset import LabelPowerset
    from splmll.methods.local_embeddings import SLEEC
    from splmll.methods.low_rank import LEML
    from splmll.methods.manifold_learning import MLML
    from splmll.methods.nearest_neighbours import MLkNN
    from splmll.methods.network_regressor import NetworkRegressor
    from splmll.methods.principal_label_space import PLST, PrincipalLabelSpace
    from splmll.methods.pruned_sets import EnsembleOfPrunedSets
    from splmll.methods.random_forest import ThresholdedRandomForest
    from splmll.methods.random_label_subset import PBR
    from splmll.methods.random_labelsets import RAkEL

__all__ = [
    "C2AE",
    "CPLST",
    "HNOML",
    "LEML",
    "MLCSSP",
    "MLFE",
    "MLML",
    "MOPLMS",
    "PBR",
    "PLST",
    "SLEEC",
    "BinaryRelevance",
    "CalibratedLabelRanking",
    "ConditionalLabelSpace",
    "EnsembleOfClassifierChains",
    "EnsembleOfPrunedSets",
    "FaIE",
    "ImplicitLabelSpace",
    "LabelPowerset",
    "MLkNN",
    "NetworkRegressor",
    "PrincipalLabelSpace",
    "RAkEL",
    "ThresholdedRandomForest",
]

# Loaded when first asked for: most methods do without PyTorch.
__getattr__, __dir__ = attach(
    __name__,
    {
        "BinaryRelevance": "splmll.methods.binary_relevance",
        "CalibratedLabelRanking": "splmll.methods.calibrated_ranking",
        "C2AE": "splmll.methods.canonical_autoencoder",
        "EnsembleOfClassifierChains": "splmll.methods.classifier_chains",
        "MLCSSP": "splmll.methods.column_subset",
        "CPLST": "splmll.methods.conditional_label_space",
        "ConditionalLabelSpace": "splmll.methods.conditional_label_space",
        "MLFE": "splmll.methods.feature_enrichment",
        "MOPLMS": "splmll.methods.group_sparse_landmarks",
        "HNOML": "splmll.methods.hybrid_noise",
        "FaIE": "splmll.methods.implicit_encoding",
        "ImplicitLabelSpace": "splmll.methods.implicit_encoding",
        "LabelPowerset": "splmll.methods.label_powerset",
        "SLEEC": "splmll.methods.local_embeddings",
        "LEML": "splmll.methods.low_rank",
        "MLML": "splmll.methods.manifold_learning",
        "MLkNN": "splmll.methods.nearest_neighbours",
        "NetworkRegressor": "splmll.methods.network_regressor",
        "PLST": "splmll.methods.principal_label_space",
        "PrincipalLabelSpace": "splmll.methods.principal_label_space",
        "EnsembleOfPrunedSets": "splmll.methods.pruned_sets",
        "ThresholdedRandomForest": "splmll.methods.random_forest",
        "PBR": "splmll.methods.random_label_subset",
        "RAkEL": "splmll.methods.random_labelsets",
        # Where these were before the catalogue had a module of its own.
        "METHODS": "splmll.catalogue",
        "OURS": "splmll.catalogue",
        "describe_methods": "splmll.catalogue",
        "make_method": "splmll.catalogue",
    },
)
