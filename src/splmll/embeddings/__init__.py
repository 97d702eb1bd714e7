"""f(x): embeddings from features to one bounded score per label, each with its own parameters."""

from typing import TYPE_CHECKING

from splmll.embeddings.automatic import automatic_embedding
from splmll.embeddings.base import Embedding, FitContext
from splmll.embeddings.naming import EMBEDDING_NAMES, embedding_of
from splmll.lazy import attach

if TYPE_CHECKING:
    from splmll.embeddings.blend import Blend
    from splmll.embeddings.kernel import Kernel
    from splmll.embeddings.kernel_svm import KernelSVM
    from splmll.embeddings.linear import Linear
    from splmll.embeddings.network import Network, TorchModule
    from splmll.embeddings.one_vs_rest import OneVsRest
    from splmll.embeddings.stochastic import Stochastic
    from splmll.embeddings.trees import Trees

__all__ = [
    "EMBEDDING_NAMES",
    "Blend",
    "Embedding",
    "FitContext",
    "Kernel",
    "KernelSVM",
    "Linear",
    "Network",
    "OneVsRest",
    "Stochastic",
    "TorchModule",
    "Trees",
    "automatic_embedding",
    "embedding_of",
]

# Loaded when first asked for: a linear model does without PyTorch.
__getattr__, __dir__ = attach(
    __name__,
    {
        "Blend": "splmll.embeddings.blend",
        "Kernel": "splmll.embeddings.kernel",
        "KernelSVM": "splmll.embeddings.kernel_svm",
        "Linear": "splmll.embeddings.linear",
        "Network": "splmll.embeddings.network",
        "OneVsRest": "splmll.embeddings.one_vs_rest",
        "Stochastic": "splmll.embeddings.stochastic",
        "TorchModule": "splmll.embeddings.network",
        "Trees": "splmll.embeddings.trees",
    },
)
