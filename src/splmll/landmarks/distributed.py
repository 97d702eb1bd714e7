"""``fit`` on Dask arrays and data frames: every block is summed where it is, sums meet in a tree.

What travels is the statistics of a block, whose size does not depend on its rows. A block that
gets lost with its worker is summed again and gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array

from splmll.extras import required
from splmll.labels import read_labels
from splmll.landmarks import folds
from splmll.landmarks.out_of_core import Stream, merged
from splmll.statistics import reference_point

if TYPE_CHECKING:
    from splmll.landmarks.classifier import SPLMLL

FAN_IN = 2  # streams merged at a time: one machine receives one, and the tree is shallow enough


def fit_distributed(model: SPLMLL, X: Any, Y: Any) -> SPLMLL:
    """Fit a linear model on Dask collections.

    Parameters
    ----------
    model : SPLMLL
        With the linear embedding.
    X : dask Array or DataFrame of shape (n_rows, n_features)
        Features.
    Y : dask Array, DataFrame or Series of shape (n_rows, n_labels) or (n_rows,)
        Labels.

    Returns
    -------
    model : SPLMLL
        The fitted model, the same as from all rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from splmll import SPLMLL
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> Y = (X[:, :3] + rng.normal(size=(600, 3)) > 0).astype(int)
    >>> blocks = da.from_array(X, chunks=(200, 4)), da.from_array(Y, chunks=(200, 3))
    >>> model = SPLMLL("linear", random_state=0).fit(*blocks)
    >>> len(model.thresholds_)
    3
    """
    if not model.is_linear:
        raise AttributeError(
            'A fit on Dask collections needs embedding="linear", which learns from sums over rows, '
            f"not {model.embedding!r}."
        )
    dask = required("dask", "distributed", "A fit on a cluster")
    X_blocks, Y_blocks, lengths = _blocks(X, Y)
    n_rows = sum(lengths)
    if n_rows <= folds.LARGE_ROWS:
        return model.fit(*dask.compute(X, Y))
    full = next(number for number, length in enumerate(lengths) if length)
    first = X_blocks[full], Y_blocks[full]
    head, labels_head, shift = dask.compute(
        dask.delayed(_head)(first[0]), dask.delayed(_head)(first[1]), dask.delayed(_point)(first[0])
    )
    classes = None
    if getattr(labels_head, "ndim", 2) == 1:
        found = dask.compute(*(dask.delayed(np.unique)(block) for block in Y_blocks))
        classes = read_labels(np.concatenate(found))[1].classes
    settings = model.begin_stream(head, labels_head, classes)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    shared = dask.delayed(shift)
    streams = [
        dask.delayed(_block_stream)(settings, int(start), n_rows, shared, X_block, Y_block, classes)
        for X_block, Y_block, start in zip(X_blocks, Y_blocks, starts, strict=True)
    ]
    while len(streams) > 1:
        groups = [streams[i : i + FAN_IN] for i in range(0, len(streams), FAN_IN)]
        streams = [dask.delayed(merged)(group) for group in groups]
    return model.learn_from(dask.compute(streams[0])[0])


def _block_stream(
    settings: dict[str, Any],
    first: int,
    n_rows_of_all: int,
    shift: np.ndarray | None,
    X: Any,
    Y: Any,
    classes: Any,
) -> Stream:
    """What is kept of one block; runs where the block is."""
    stream = Stream(**settings, first=first, shift=shift, n_rows_of_all=n_rows_of_all)
    if X.shape[0]:
        rows = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        stream.add(rows, read_labels(Y, allow_unknown=True, classes=classes)[0])
    return stream


def _blocks(X: Any, Y: Any) -> tuple[Sequence[Any], Sequence[Any], list[int]]:
    """Return the blocks of X and of Y, row for row the same, and the number of rows of each."""
    if not hasattr(Y, "__dask_graph__"):
        raise TypeError(
            f"X is a Dask collection but Y is a {type(Y).__name__}: make Y one as well, with the "
            "same rows in every block."
        )
    X, Y = (_whole_rows(data) for data in (X, Y))
    lengths = [_lengths(data) for data in (X, Y)]
    if sum(lengths[0]) != sum(lengths[1]):
        raise ValueError(
            f"X has {sum(lengths[0])} rows and Y has {sum(lengths[1])}: give them the same rows."
        )
    if lengths[0] != lengths[1]:
        if hasattr(Y, "to_dask_array"):
            raise ValueError(
                f"The partitions of X have {lengths[0][:3]}... rows, those of Y {lengths[1][:3]}..."
                ": take both from the same data frame, or repartition one like the other."
            )
        Y = Y.rechunk({0: tuple(lengths[0])})
    return list(np.ravel(X.to_delayed())), list(np.ravel(Y.to_delayed())), lengths[0]


def _whole_rows(data: Any) -> Any:
    """Arrays may be cut between columns; a row has to be in one block."""
    if getattr(data, "ndim", 1) == 2 and hasattr(data, "rechunk") and data.numblocks[1] > 1:
        return data.rechunk({1: -1})
    return data


def _lengths(data: Any) -> list[int]:
    """Return the number of rows of every block, counted where Dask does not know it."""
    import dask

    known = data.chunks[0] if hasattr(data, "chunks") else (np.nan,)
    if not np.isnan(known).any():
        return [int(length) for length in known]
    blocks = np.ravel(data.to_delayed())
    lengths: Any = dask.compute
    return [int(n) for n in lengths(*(dask.delayed(_n_rows)(block) for block in blocks))]


def _n_rows(block: Any) -> int:
    return block.shape[0]


def _head(block: Any) -> Any:
    return block[:2]


def _point(block: Any) -> np.ndarray | None:
    rows = block[: min(block.shape[0], folds.LARGE_ROWS)]
    return reference_point(rows.to_numpy() if hasattr(rows, "to_numpy") else rows)
