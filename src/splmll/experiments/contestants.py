"""Who can take part in an experiment by name.

These are the compared methods, SPL-MLL in its versions, and the rows of the paper's Table 4.
"""

from __future__ import annotations

from splmll.catalogue import CATALOGUE, Method
from splmll.experiments.ablations import ABLATIONS

CONTESTANTS: dict[str, Method] = {**CATALOGUE, **ABLATIONS}
"""Name -> method, all that an experiment knows by name.

Examples
--------
>>> from splmll.experiments.contestants import CONTESTANTS
>>> CONTESTANTS["SPL-MLL (linear)"].make(random_state=0)
SPLMLL(embedding='linear', random_state=0)
"""
