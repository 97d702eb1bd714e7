"""The methods SPL-MLL is compared with, one file each, and their catalogue."""

from splmll.methods.binary_relevance import BinaryRelevance
from splmll.methods.calibrated_ranking import CalibratedLabelRanking
from splmll.methods.canonical_autoencoder import C2AE
from splmll.methods.catalogue import GROUPS, METHODS, OURS, Method, describe_methods, make_method
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
    "GROUPS",
    "HNOML",
    "LEML",
    "METHODS",
    "MLCSSP",
    "MLFE",
    "MLML",
    "MOPLMS",
    "OURS",
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
    "Method",
    "NetworkRegressor",
    "PrincipalLabelSpace",
    "RAkEL",
    "ThresholdedRandomForest",
    "describe_methods",
    "make_method",
]
