"""Who can take part in an experiment: the compared methods and SPL-MLL in its versions.

Names are those of the paper's tables. What the paper has no name for (the settings as published,
the blend) has one of ours.
"""

from __future__ import annotations

from splmll.landmarks import ABLATIONS, SPLMLL
from splmll.methods import METHODS
from splmll.methods.catalogue import Method

_PAPER = "Li et al.: Selecting predictable landmarks for multi-label learning. ECCV 2020"


def _ours(name: str, title: str, settings: SPLMLL, remark: str = "") -> tuple[str, Method]:
    defaults = SPLMLL().get_params(deep=False)
    changed = {
        key: value
        for key, value in settings.get_params(deep=False).items()
        if value != defaults[key]
    }
    return name, Method(name, title, SPLMLL, _PAPER, "ours", changed, remark)


OURS: dict[str, Method] = dict(
    [
        _ours("SPL-MLL", "selecting predictable landmarks", SPLMLL()),
        _ours("SPL-MLL (linear)", "SPL-MLL with a linear embedding", SPLMLL("linear")),
        _ours("SPL-MLL (blend)", "SPL-MLL with four embeddings", SPLMLL("blend")),
        _ours(
            "SPL-MLL as published",
            "SPL-MLL, Algorithm 1 on the published objective",
            SPLMLL.as_published(),
            "no ridge on A, nothing out of fold, threshold 0.5",
        ),
        _ours(
            "SPL-MLL (linear) as published",
            "SPL-MLL with a linear embedding, Algorithm 1 on the published objective",
            SPLMLL.as_published(linear=True),
            "no ridge on A, nothing out of fold, threshold 0.5",
        ),
        *(
            _ours(name, f"SPL-MLL, ablation: {name}", SPLMLL(**settings))
            for name, settings in ABLATIONS.items()
        ),
    ]
)

CONTESTANTS: dict[str, Method] = {**METHODS, **OURS}
"""Name -> method, all that an experiment knows by name.

Examples
--------
>>> from splmll.experiments.contestants import CONTESTANTS
>>> CONTESTANTS["SPL-MLL (linear)"].make(random_state=0)
SPLMLL(embedding='linear', random_state=0)
"""
