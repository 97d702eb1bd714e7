"""The control of the benchmark, which tells what of SPL-MLL's result is due to landmarks.

It is SPL-MLL with the same embedding, in which every label keeps its own prediction. It is measured
like a method, and not ranked: nobody would choose it beside SPL-MLL.
"""

from __future__ import annotations

import numpy as np

from splmll.landmarks import SPLMLL

CONTROL = "SPL-MLL (labels alone)"


def control() -> SPLMLL:
    """Return SPL-MLL without recovery.

    Examples
    --------
    >>> from splmll.experiments.benchmark.control import control
    >>> control()
    SPLMLL(n_landmarks=1.0, pull=inf)
    """
    return SPLMLL(n_landmarks=1.0, pull=np.inf)
