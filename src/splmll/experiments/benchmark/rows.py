"""The rows of the benchmark's data sets, which come with the library.

Splits and thresholds were drawn once. Kept in a file, they are the same for everyone, whatever
becomes of the draw, and results of different versions can stand in one table.
"""

from __future__ import annotations

import io
from functools import cache
from importlib.resources import files

import numpy as np

from splmll.datasets import Dataset
from splmll.experiments.protocol import Part

FILE = "rows.npz"
# What a row is for. 0: it is not in the sample.
TRAIN, THRESHOLD, TEST = 1, 2, 3


def rows_of(data: Dataset) -> Part | None:
    """Return the rows of a data set of the benchmark, None for any other.

    Parameters
    ----------
    data : Dataset
        It is known by its name and its number of rows.

    Returns
    -------
    part : Part or None
        Training rows, test rows, and the training rows for the threshold.

    Examples
    --------
    >>> from splmll.datasets import load_dataset
    >>> from splmll.experiments.benchmark.rows import rows_of
    >>> part = rows_of(load_dataset("yeast"))
    >>> len(part.train), len(part.threshold_rows), len(part.test)
    (1500, 300, 917)
    """
    use = _uses().get(data.name)
    if use is None or len(use) != data.Y.shape[0]:
        return None
    return Part(
        train=np.flatnonzero((use == TRAIN) | (use == THRESHOLD)),
        test=np.flatnonzero(use == TEST),
        threshold_rows=np.flatnonzero(use == THRESHOLD),
    )


@cache
def _uses() -> dict[str, np.ndarray]:
    with np.load(io.BytesIO((files(__package__) / FILE).read_bytes())) as archive:
        return dict(archive)
