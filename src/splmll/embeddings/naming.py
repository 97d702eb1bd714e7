"""Turns names, lists, modules and estimators into embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from splmll.arrays import is_torch_module
from splmll.embeddings.base import Embedding
from splmll.names import suggestion


def _named() -> dict[str, Callable[[], Embedding]]:
    from splmll import embeddings as e

    return {
        "linear": lambda: e.Linear(),
        "svm": lambda: e.OneVsRest(),
        "sgd": lambda: e.Stochastic(),
        "kernel": lambda: e.Kernel(),
        "mlp": lambda: e.Network(),
        "trees": lambda: e.Trees(),
        "blend": lambda: e.Blend([e.Network(), e.Kernel(), e.KernelSVM(), e.Trees()]),
    }


#: The names that ``SPLMLL(embedding=...)`` understands besides "auto".
EMBEDDING_NAMES = ("linear", "svm", "sgd", "kernel", "mlp", "trees", "blend")


def embedding_of(kind: Any) -> Embedding:
    """Return a fresh embedding for what was given.

    Parameters
    ----------
    kind : str, Embedding, list, torch module, classifier or regressor
        A name from ``EMBEDDING_NAMES``; an embedding, which is copied; a list, which is blended; a
        torch module; or any classifier or regressor, fitted once per label.

    Returns
    -------
    embedding : Embedding
        Not fitted; the argument is not changed.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from splmll.embeddings import embedding_of
    >>> embedding_of("linear"), embedding_of(LogisticRegression(C=3))
    (Linear(), OneVsRest(estimator=LogisticRegression(C=3)))
    """
    if isinstance(kind, str):
        if kind not in EMBEDDING_NAMES:
            names = ", ".join(repr(name) for name in ("auto", *EMBEDDING_NAMES))
            raise ValueError(
                f"embedding={kind!r} is not one of {names}.{suggestion(kind, EMBEDDING_NAMES)}"
            )
        return _named()[kind]()
    if isinstance(kind, Embedding):
        return clone(kind)
    if isinstance(kind, (list, tuple)):
        from splmll.embeddings.blend import Blend

        return Blend(list(kind))
    if is_torch_module(kind):
        from splmll.embeddings.network import TorchModule

        return TorchModule(kind)
    from splmll.embeddings.one_vs_rest import OneVsRest, is_one_per_label

    if is_one_per_label(kind):
        return OneVsRest(kind)
    raise ValueError(
        f"embedding={kind!r} is not an embedding: give a name "
        f"({', '.join(map(repr, EMBEDDING_NAMES))}), an object of splmll.embeddings, a torch "
        "module, a classifier or regressor, or a list of these."
    )
