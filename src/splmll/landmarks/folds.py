"""Folds and samples that depend on nothing but the number of a row.

A row's number is turned into a random-looking key. So every machine that reads a part of the
data deals its rows as a single machine would, in one pass and without a word to the others.
"""

from __future__ import annotations

import numpy as np

# Above so many rows stratified folds differ little from these, and cost a pass over all labels.
LARGE_ROWS = 25_000


def row_keys(first: int, n_rows: int, seed: int) -> np.ndarray:
    """Return one 64-bit key for each of the rows ``first``, ..., ``first + n_rows - 1``.

    The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): different numbers get different
    keys, and neighbouring numbers unrelated ones.

    Examples
    --------
    >>> from splmll.landmarks.folds import row_keys
    >>> bool((row_keys(0, 10, seed=3)[4:] == row_keys(4, 6, seed=3)).all())
    True
    """
    key = np.arange(first, first + n_rows, dtype=np.uint64)
    start = (0x9E3779B97F4A7C15 * (seed + 1)) % 2**64
    key = (key + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(start)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def folds_by_row(first: int, n_rows: int, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each of the rows ``first``, ..., ``first + n_rows - 1``.

    Of every ``n_folds`` rows that follow each other one goes into each fold, in random order, so
    that folds are of one size.

    Parameters
    ----------
    first, n_rows : int
        Which rows.
    n_folds : int
        Number of folds.
    seed : int
        Seed of the order.

    Returns
    -------
    fold : ndarray of int

    Examples
    --------
    >>> from splmll.landmarks.folds import folds_by_row
    >>> whole = folds_by_row(0, 12, n_folds=3, seed=0)
    >>> bool((whole[5:] == folds_by_row(5, 7, n_folds=3, seed=0)).all())
    True
    >>> sorted(whole[:3].tolist())
    [0, 1, 2]
    """
    before = first % n_folds
    groups = -(-(before + n_rows) // n_folds)
    keys = row_keys(first - before, groups * n_folds, seed).reshape(groups, n_folds)
    order = np.argsort(np.argsort(keys, axis=1), axis=1)
    return order.ravel()[before : before + n_rows].astype(np.intp)
