"""Who can take part in an experiment by name.

These are the compared methods, SPL-MLL in its versions, and the rows of the paper's Table 4.
"""

from __future__ import annotations

from typing import Any

from splmll.catalogue import CATALOGUE, SPL_MLL_PAPER, Method

# Names in the paper's Table 4: the published system with parts left out.
_ABLATIONS: dict[str, dict[str, Any]] = {
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
    for name, settings in _ABLATIONS.items()
}

CONTESTANTS: dict[str, Method] = {**CATALOGUE, **ABLATIONS}
"""Name -> method, all that an experiment knows by name.

Examples
--------
>>> from splmll.experiments.contestants import CONTESTANTS
>>> CONTESTANTS["joint + linear"].make()
PublishedSPLMLL(linear=True)
"""
