"""From what ``cv`` may be to the fold of every row.

Out-of-fold predictions need every row in exactly one test part, and models that learn from all
other rows: splits that leave rows out or test them twice are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from splmll.arrays import dense
from splmll.model_selection.stratification import MultilabelStratifiedKFold


def is_number(cv: Any) -> bool:
    """Return whether ``cv`` is "auto" or a number of folds, so that how rows are dealt is free.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from splmll.landmarks.splitting import is_number
    >>> is_number("auto"), is_number(3), is_number(KFold(3))
    (True, True, False)
    """
    return isinstance(cv, (str, Integral))


def number_of_folds(cv: Any, preferred: int) -> int:
    """Return the number of folds, as far as it can be told without the rows.

    Parameters
    ----------
    cv : int, "auto", splitter or iterable
        How rows are split.
    preferred : int
        What "auto" stands for; also where only the rows could tell.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, LeaveOneGroupOut
    >>> from splmll.landmarks.splitting import number_of_folds
    >>> [number_of_folds(cv, 5) for cv in ("auto", 3, KFold(4), LeaveOneGroupOut())]
    [5, 3, 4, 5]
    """
    if isinstance(cv, Integral):
        return int(cv)
    if hasattr(cv, "get_n_splits"):
        try:
            return int(cv.get_n_splits())
        except (TypeError, ValueError):  # it counts groups or rows
            return preferred
    return len(cv) if isinstance(cv, Sized) and not isinstance(cv, str) else preferred


def stratified_folds(Y: Any, n_folds: int, seed: int, groups: Any = None) -> np.ndarray:
    """Return the fold of every row, with the same label frequencies in all folds.

    Parameters
    ----------
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        0/1 labels; NaN where unknown.
    n_folds : int
        Number of folds; fewer where there are fewer rows or groups.
    seed : int
        Seed of the draw.
    groups : array-like of shape (n_rows,), optional
        Rows of one group go into the same fold.
    """
    rows = Y.shape[0]
    most = rows if groups is None else len(np.unique(np.asarray(groups)))
    if most < 2:
        what = f"n_samples={rows}" if groups is None else f"{most} group"
        remedy = "at least 2 rows; add rows." if groups is None else "at least 2 groups."
        raise ValueError(f"{what}: out-of-fold predictions need {remedy}")
    splitter = MultilabelStratifiedKFold(
        min(n_folds, most), shuffle=True, random_state=seed % 2**31
    )
    return fold_numbers(splitter.split(np.zeros((rows, 1)), Y, groups), rows)


def given_folds(cv: Any, X: Any, Y: Any, groups: Any = None) -> np.ndarray:
    """Return the fold of every row by a splitter, or by pairs of training and test rows.

    Parameters
    ----------
    cv : splitter of scikit-learn, or iterable of (train, test)
        How rows are split.
    X : ndarray, CSR array or torch Dataset
        The rows.
    Y : ndarray or CSR array of shape (n_rows, n_labels)
        0/1 labels; NaN where unknown, which a splitter sees as 0.
    groups : array-like of shape (n_rows,), optional
        For splitters that keep groups together.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GroupKFold
    >>> from splmll.landmarks.splitting import given_folds
    >>> X, Y = np.zeros((4, 1)), np.eye(4)
    >>> given_folds([([2, 3], [0, 1]), ([0, 1], [2, 3])], X, Y)
    array([0, 0, 1, 1])
    >>> fold = given_folds(GroupKFold(2), X, Y, groups=["a", "b", "a", "b"])
    >>> bool(fold[0] == fold[2] != fold[1] == fold[3])
    True
    """
    rows = Y.shape[0]
    if not hasattr(cv, "split"):
        if groups is not None:
            raise ValueError(
                "groups has no effect where cv says itself which rows are tested: leave groups out."
            )
        return fold_numbers(cv, rows)
    known = sparse.csr_array(Y, copy=True) if sparse.issparse(Y) else np.nan_to_num(Y)
    if sparse.issparse(known):
        known.data = np.nan_to_num(known.data)
    labels = dense(known)[:, 0] if known.shape[1] == 1 else known
    features = X if hasattr(X, "shape") else np.zeros((rows, 1))
    return fold_numbers(cv.split(features, labels.astype(np.int64), groups), rows)


def fold_numbers(splits: Iterable[tuple[Any, Any]], n_rows: int) -> np.ndarray:
    """Return the fold of every row from pairs of training and test rows.

    Parameters
    ----------
    splits : iterable of (train, test)
        Row numbers, or masks of all rows.
    n_rows : int
        Number of rows.

    Returns
    -------
    fold : ndarray of int

    Raises
    ------
    ValueError
        Where a row is tested never or twice, or a model would not learn from all other rows.

    Examples
    --------
    >>> from splmll.landmarks.splitting import fold_numbers
    >>> fold_numbers([([1, 2], [0]), ([0], [1, 2])], 3)
    array([0, 1, 1])
    """
    fold, k = np.full(n_rows, -1, dtype=np.intp), -1
    for k, (train, test) in enumerate(splits):
        learned, tested = (_mask(part, n_rows) for part in (train, test))
        if (fold[tested] >= 0).any():
            row = int(np.flatnonzero(tested & (fold >= 0))[0])
            raise ValueError(
                f"cv tests row {row} in two parts; out-of-fold predictions need every row in "
                "exactly one test part. Use a splitter such as KFold, not repeated or random ones."
            )
        if not tested.any() or (learned == tested).any():
            raise ValueError(
                f"Part {k} of cv has {np.count_nonzero(learned)} training and "
                f"{np.count_nonzero(tested)} test rows, of {n_rows}: the training rows of a part "
                "must be all rows that it does not test, and there must be some of both."
            )
        fold[tested] = k
    if k < 1:
        raise ValueError(
            f"cv gives {k + 1} parts; there must be at least 2. A generator can be read "
            "only once: give a list."
        )
    if (fold < 0).any():
        raise ValueError(
            f"cv never tests row {int(np.argmax(fold < 0))}, and {np.count_nonzero(fold < 0)} rows "
            "in all; out-of-fold predictions need every row in exactly one test part. Use a "
            "splitter such as KFold, not a time-series or random one."
        )
    return fold


def _mask(part: Any, n_rows: int) -> np.ndarray:
    """Return which rows belong to a part of a split."""
    part = np.asarray(part)
    mask = np.zeros(n_rows, dtype=bool)
    if part.dtype == bool and part.shape == (n_rows,):
        return part
    whole = part.size == 0 or part.dtype.kind in "iu"
    if (
        part.ndim != 1
        or not whole
        or (part.size and not -n_rows <= part.min() <= part.max() < n_rows)
    ):
        raise ValueError(
            f"cv must give pairs of training and test rows, numbers from 0 to {n_rows - 1}; got "
            f"{part!r:.60}."
        )
    mask[part.astype(np.intp)] = True
    return mask
