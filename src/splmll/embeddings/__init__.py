"""f(x): embeddings from features to one bounded score per label, each with its own parameters."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from splmll.embeddings.automatic import automatic_embedding
from splmll.embeddings.base import Embedding, FitContext
from splmll.embeddings.naming import EMBEDDING_NAMES, embedding_of

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
_HOMES = {
    "Blend": "blend",
    "Kernel": "kernel",
    "KernelSVM": "kernel_svm",
    "Linear": "linear",
    "Network": "network",
    "OneVsRest": "one_vs_rest",
    "Stochastic": "stochastic",
    "TorchModule": "network",
    "Trees": "trees",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
