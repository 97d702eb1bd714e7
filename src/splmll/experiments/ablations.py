"""The rows of the paper's Table 4: the published system with parts left out."""

from __future__ import annotations

from typing import Any

from splmll.catalogue import SPL_MLL_PAPER, Method

_SETTINGS: dict[str, dict[str, Any]] = {
    "NN-embeddings": {"selection": "all"},
    "NN + separated": {"joint": False},
    "joint + linear": {"linear": True},
    "joint + NN": {},
}

ABLATIONS: dict[str, Method] = {
    name: Method(
        name,
        f"SPL-MLL, ablation: {name}",
        "splmll.published.PublishedSPLMLL",
        SPL_MLL_PAPER,
        "ours",
        settings,
    )
    for name, settings in _SETTINGS.items()
}
"""Name in Table 4 -> settings of :class:`splmll.published.PublishedSPLMLL`.

Examples
--------
>>> from splmll.experiments.ablations import ABLATIONS
>>> ABLATIONS["joint + linear"].make()
PublishedSPLMLL(linear=True)
"""
