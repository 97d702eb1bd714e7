"""Folds and splits in which labels and pairs of labels are as frequent as in all the data.

Rows are sorted by their label sets, rarest label first, and dealt out to the folds in turn; then
rows are exchanged between folds until no exchange brings the label counts nearer to their shares.

Why no library: in five folds of tmc2007 by iterative-stratification, mean of three seeds, the odds
of labels are 12 times as far from those of all rows as here, and the sizes of folds differ by 56
rows instead of 1 (``benchmarks/stratification_speed.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit, ShuffleSplit
from sklearn.utils import check_random_state, indexable

from splmll.arrays import largest, take_rows
from splmll.docstrings import with_paragraphs
from splmll.labels import is_tags, read_labels
from splmll.metrics._inputs import LabelMatrix, check_labels
from splmll.model_selection._grouped import grouped_folds

RandomState = int | np.random.RandomState | None


@with_paragraphs
class MultilabelStratifiedKFold(BaseCrossValidator):
    """K folds with the same label frequencies, for any ``cv=`` in scikit-learn.

    The sizes of the folds differ by at most one row. Rows without a label are spread evenly, too.
    With ``groups``, no group is split, and sizes and frequencies are as even as the groups allow.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Draw balanced folds at random. Otherwise, every call gives the same folds.
    random_state : int, RandomState or None, default=None
        Seed of the draw; an int makes it repeatable. Only with ``shuffle``.

    See Also
    --------
    MultilabelStratifiedShuffleSplit : repeated random splits in two.

    Notes
    -----
    Labels are 0 or 1; NaN (not known) counts as 0. A row belongs to one fold only, so a label with
    two rows cannot be in five folds: rare labels are spread over as many folds as possible.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.model_selection.stratification import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 1], [1, 1], [1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]])
    >>> folds = MultilabelStratifiedKFold(n_splits=2, random_state=0)
    >>> for train, test in folds.split(np.zeros(8), Y):
    ...     print(Y[train].sum(axis=0), Y[test].sum(axis=0))
    [2 2] [2 2]
    [2 2] [2 2]
    """

    # Where scikit-learn routes metadata, groups are passed on without being asked for.
    __metadata_request__split: ClassVar[dict[str, Any]] = {"groups": True}

    n_splits: int
    shuffle: bool
    random_state: RandomState

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: RandomState = None
    ) -> None:
        if not isinstance(n_splits, Integral):
            raise ValueError(f"n_splits must be an integer, got {n_splits!r}.")
        if n_splits < 2:
            raise ValueError(f"n_splits must be at least 2, got n_splits={n_splits}.")
        if not isinstance(shuffle, bool):
            raise TypeError(f"shuffle must be True or False, got {shuffle!r}.")
        if not shuffle and random_state is not None:
            raise ValueError(
                "random_state has no effect without shuffle; leave it at None or set shuffle=True."
            )
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        int
            Number of folds.
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Yield the row numbers of the training and the test part, fold by fold.

        Parameters
        ----------
        {rows_to_split}

        Yields
        ------
        train, test : ndarray of int
            Row numbers, ascending.
        """
        labels = _check_y(X, y)
        n_rows = labels.shape[0]
        if self.n_splits > n_rows:
            raise ValueError(
                f"Cannot have number of splits n_splits={self.n_splits} greater than "
                f"the number of samples: n_samples={n_rows}."
            )
        sizes = np.full(self.n_splits, n_rows // self.n_splits)
        sizes[: n_rows % self.n_splits] += 1
        rng = check_random_state(self.random_state if self.shuffle else 0)
        fold_of = _balanced_folds(labels, sizes, rng, groups)
        for fold in range(self.n_splits):
            yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)


@with_paragraphs
class MultilabelStratifiedShuffleSplit(BaseShuffleSplit):
    """Random splits into training and test rows with the same label frequencies.

    Both parts have exactly the sizes of scikit-learn's ``ShuffleSplit``. With ``groups``, no group
    is in both parts, and the sizes, which still count rows, are met approximately.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits, each drawn independently.
    test_size, train_size : float, int or None, default=None
        A share of the rows or their number. If one is None it is what the other leaves; if both
        are, a tenth of the rows is for testing.
    random_state : int, RandomState or None, default=None
        Seed of the draws; an int makes them repeatable.

    See Also
    --------
    multilabel_train_test_split : one split, applied to arrays.

    Notes
    -----
    Labels are 0 or 1; NaN (not known) is taken for 0.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.model_selection.stratification import MultilabelStratifiedShuffleSplit
    >>> Y = np.repeat([[1, 0], [0, 1], [1, 1], [0, 0]], 10, axis=0)
    >>> splits = MultilabelStratifiedShuffleSplit(n_splits=2, test_size=0.2, random_state=0)
    >>> for train, test in splits.split(np.zeros(40), Y):
    ...     print(train.size, test.size, Y[test].sum(axis=0))
    32 8 [4 4]
    32 8 [4 4]
    """

    __metadata_request__split: ClassVar[dict[str, Any]] = {"groups": True}

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | None = None,
        train_size: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_splits=n_splits, test_size=test_size, train_size=train_size, random_state=random_state
        )

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Yield the row numbers of the training and the test part, split by split.

        Parameters
        ----------
        {rows_to_split}

        Yields
        ------
        train, test : ndarray of int
            Row numbers, in random order.
        """
        labels = _check_y(X, y)
        yield from self._iter_indices(X, labels, groups)

    def _iter_indices(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        n_rows = y.shape[0]
        n_train, n_test = _split_sizes(n_rows, self.test_size, self.train_size)
        rng = check_random_state(self.random_state)
        # Rows that belong to neither part are a third part, so that they are a fair sample too.
        sizes = np.array([n_train, n_test, n_rows - n_train - n_test])
        for _ in range(self.n_splits):
            part_of = _balanced_folds(y, sizes, rng, groups)
            train, test = np.flatnonzero(part_of == 0), np.flatnonzero(part_of == 1)
            yield rng.permutation(train), rng.permutation(test)


def multilabel_train_test_split(
    *arrays: Any,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: RandomState = None,
    stratify: Any = None,
    groups: Any = None,
) -> list[Any]:
    """Split arrays into training and test parts with the same label frequencies.

    Parameters
    ----------
    *arrays : sequence of arrays, sparse matrices, DataFrames or lists
        All with the same number of rows, such as ``X, Y``.
    test_size, train_size : float, int or None, default=None
        A share of the rows or their number. If one is None it is what the other leaves; if both
        are, a quarter of the rows is for testing.
    random_state : int, RandomState or None, default=None
        Seed of the draw; an int makes it repeatable.
    stratify : array, sparse matrix or DataFrame of shape (n_rows, n_labels), optional
        Labels to balance, 0 or 1 (NaN counts as 0); by default the last of the arrays.
    groups : array-like of shape (n_rows,), optional
        Rows of a group go into the same part; the sizes are then met as closely as possible.

    Returns
    -------
    list
        The training and the test part of the first array, then of the second, and so on. Every
        part is of the kind of its array; sparse matrices become CSR.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.model_selection.stratification import multilabel_train_test_split
    >>> X, Y = np.arange(40).reshape(20, 2), np.repeat([[1, 0], [1, 1], [0, 1], [0, 0]], 5, axis=0)
    >>> X_train, X_test, Y_train, Y_test = multilabel_train_test_split(
    ...     X, Y, test_size=0.2, random_state=0
    ... )
    >>> X_train.shape, X_test.shape, Y_train.mean(axis=0), Y_test.mean(axis=0)
    ((16, 2), (4, 2), array([0.5, 0.5]), array([0.5, 0.5]))
    """
    if not arrays:
        raise ValueError("At least one array required as input; pass for example X, Y.")
    labels = arrays[-1] if stratify is None else stratify
    indexable(*arrays, labels)
    if test_size is None and train_size is None:
        test_size = 0.25
    splitter = MultilabelStratifiedShuffleSplit(
        n_splits=1, test_size=test_size, train_size=train_size, random_state=random_state
    )
    try:
        train, test = next(splitter.split(arrays[0], labels, groups))
    except ValueError as error:
        if stratify is None and "expected 0 or 1" in str(error):
            raise ValueError(
                "The last array is not a 0/1 label matrix; pass the labels last or as stratify=."
            ) from error
        raise
    return [part for array in arrays for part in (take_rows(array, train), take_rows(array, test))]


# Rows of each of two folds that are considered for exchange at a time. The matching of the best
# partners grows with the cube of it; fewer make for more rounds.
_CANDIDATES = 200

# Labels of a row, rarest first, that rows are sorted by; what is behind them is told apart by a
# hash, so that equal label sets still stand together.
_SORTED_LABELS = 8

# Exchanges have ended by themselves after 5 to 15 sweeps over the pairs of folds on all real data
# tried; with very many folds one sweep visits only some of their pairs.
_MAX_SWEEPS = 30
_MAX_PAIRS = 100

# Differences smaller than this are rounding.
_NOISE = 1e-9


def _balanced_folds(
    labels: LabelMatrix,
    sizes: npt.NDArray[np.intp],
    rng: np.random.RandomState,
    groups: Any = None,
) -> npt.NDArray[np.intp]:
    """Return the fold of every row; fold ``f`` gets ``sizes[f]`` rows, nearly so with groups."""
    labels = _with_label_for_none(labels)
    if groups is not None:
        return grouped_folds(labels, groups, sizes, rng)
    fold_of = _deal(labels, sizes, rng)
    _exchange(labels, fold_of, sizes, rng)
    return fold_of


def _with_label_for_none(labels: LabelMatrix) -> LabelMatrix:
    """Add one label for rows that have none, so that they are balanced like the others."""
    row_counts = labels.row_counts
    has_none = row_counts == 0
    n_rows, n_labels = labels.shape
    indices = np.insert(labels.indices, labels.indptr[:-1][has_none], n_labels)
    indptr = np.zeros_like(labels.indptr)
    np.cumsum(row_counts + has_none, out=indptr[1:])
    return LabelMatrix(indptr, indices, (n_rows, n_labels + 1))


def _deal(
    labels: LabelMatrix, sizes: npt.NDArray[np.intp], rng: np.random.RandomState
) -> npt.NDArray[np.intp]:
    """Deal out the rows in the order of their label sets.

    Rows with the same labels stand together, next to rows that share their rarest labels; any
    stretch of that order is dealt to the folds in proportion to their sizes. So equal label sets
    end up balanced, and pairs of labels nearly so, before a single label has been counted.
    """
    n_rows, n_labels = labels.shape
    # Random numbers break ties between labels that are equally frequent.
    by_rarity = np.lexsort((rng.permutation(n_labels), labels.column_counts))
    rarity = np.empty(n_labels, dtype=np.int64)
    rarity[by_rarity] = np.arange(n_labels)

    row_counts = labels.row_counts
    in_order = np.sort(labels.rows * n_labels + rarity[labels.indices]) % n_labels
    # Keys of 16 bits are sorted without comparisons.
    key_type = np.uint16 if n_labels < 2**16 else np.int64
    keys = []
    for depth in range(min(_SORTED_LABELS, int(row_counts.max()))):
        key = np.full(n_rows, n_labels, dtype=key_type)
        has_more = row_counts > depth
        key[has_more] = in_order[labels.indptr[:-1][has_more] + depth]
        keys.append(key)
    order = np.lexsort((rng.permutation(n_rows), _set_hashes(labels, rng), *reversed(keys)))

    # The turns of a fold are evenly spaced; turns that coincide are taken in random order.
    folds = np.repeat(np.arange(sizes.size), sizes)
    turns = np.concatenate([(np.arange(size) + 0.5) / size for size in sizes if size])
    fold_of = np.empty(n_rows, dtype=np.intp)
    fold_of[order] = folds[np.lexsort((rng.permutation(n_rows), np.round(turns, 12)))]
    return fold_of


def _set_hashes(labels: LabelMatrix, rng: np.random.RandomState) -> npt.NDArray[np.uint64]:
    """Return a number for every row that is the same for the same label set."""
    of_label = rng.randint(0, 2**63, size=labels.shape[1], dtype=np.int64).astype(np.uint64)
    # Unsigned sums wrap around, and so do their differences: the sum of a row comes out exact.
    sums = np.zeros(labels.indices.size + 1, dtype=np.uint64)
    np.cumsum(of_label[labels.indices], out=sums[1:])
    return sums[labels.indptr[1:]] - sums[labels.indptr[:-1]]


def _exchange(
    labels: LabelMatrix,
    fold_of: npt.NDArray[np.intp],
    sizes: npt.NDArray[np.intp],
    rng: np.random.RandomState,
) -> None:
    """Exchange rows between folds (in ``fold_of``) while that makes label counts more even.

    What is made small is the sum over folds ``f`` and labels of ``deviation ** 2 / share_f``, with
    the deviation of the label's count in the fold from its share. For a row leaving fold ``a`` for
    ``b`` and another coming back, only labels that one of the two has and the other has not
    matter.
    """
    n_rows, n_labels = labels.shape
    n_folds = sizes.size
    # Multiplied many times; half as wide indices are read in less time.
    index_type = np.int32 if labels.indices.size < 2**31 else np.int64
    columns, starts = labels.indices.astype(index_type), labels.indptr.astype(index_type)
    matrix = sparse.csr_array((np.ones(columns.size), columns, starts), shape=labels.shape)
    row_counts = labels.row_counts
    counts = np.bincount(
        fold_of[labels.rows] * n_labels + labels.indices, minlength=n_folds * n_labels
    ).reshape(n_folds, n_labels)
    shares = sizes / n_rows
    deviation = counts - np.outer(shares, labels.column_counts)
    # Pairs of folds between which an exchange may help; others are left alone until one of the
    # two folds has changed.
    is_open = np.triu(np.outer(sizes > 0, sizes > 0), 1)
    for _ in range(_MAX_SWEEPS):
        pairs = np.argwhere(is_open)
        if pairs.size == 0:
            break
        for a, b in rng.permutation(pairs)[:_MAX_PAIRS]:
            is_open[a, b] = False
            excess = deviation[a] / shares[a] - deviation[b] / shares[b]
            step = 1 / shares[a] + 1 / shares[b]
            # Half of what the sum falls by when a row leaves, as far as that depends on this row.
            # All rows are multiplied, because picking those of the two folds takes longer.
            pull = matrix @ excess
            in_a, in_b = np.flatnonzero(fold_of == a), np.flatnonzero(fold_of == b)
            gain_a = pull[in_a] - step / 2 * row_counts[in_a]
            gain_b = -pull[in_b] - step / 2 * row_counts[in_b]
            best_a, best_b = largest(gain_a, _CANDIDATES), largest(gain_b, _CANDIDATES)
            rows_a, rows_b = in_a[best_a], in_b[best_b]
            # A label that both have stays where it is, so neither pays for it.
            shared = (matrix[rows_a] @ matrix[rows_b].T).toarray()
            gain = gain_a[best_a][:, None] + gain_b[best_b] + step * shared
            helps = gain > _NOISE
            if not helps.any():
                continue
            of_use_a, of_use_b = helps.any(axis=1), helps.any(axis=0)
            rows_a, rows_b = rows_a[of_use_a], rows_b[of_use_b]
            matched = _best_matching(gain[np.ix_(of_use_a, of_use_b)])
            pairs_of_rows = zip(rows_a[matched[0]].tolist(), rows_b[matched[1]].tolist())
            moved = _exchange_pairs(labels, fold_of, pairs_of_rows, excess, step)
            if moved is not None:
                deviation[a] += moved
                deviation[b] -= moved
                for fold in (a, b):
                    is_open[:fold, fold] = sizes[:fold] > 0
                    is_open[fold, fold + 1 :] = sizes[fold + 1 :] > 0


def _exchange_pairs(
    labels: LabelMatrix,
    fold_of: npt.NDArray[np.intp],
    pairs_of_rows: Iterable[tuple[int, int]],
    excess: npt.NDArray[np.float64],
    step: float,
) -> npt.NDArray[np.float64] | None:
    """Exchange the rows of each pair if that still helps after the exchanges before it.

    Returns the change of the first fold's label counts, or None if nothing was exchanged.
    """
    # Lists and sets: a row has a handful of labels, for which arrays cost more than they save.
    now = excess.tolist()
    change = np.zeros(excess.size)
    any_exchanged = False
    for row_a, row_b in pairs_of_rows:
        labels_a = set(labels.indices[labels.indptr[row_a] : labels.indptr[row_a + 1]].tolist())
        labels_b = set(labels.indices[labels.indptr[row_b] : labels.indptr[row_b + 1]].tolist())
        leaving, coming = labels_a - labels_b, labels_b - labels_a
        gain = sum(now[label] for label in leaving) - sum(now[label] for label in coming)
        if gain - step / 2 * (len(leaving) + len(coming)) <= _NOISE:
            continue
        fold_of[row_a], fold_of[row_b] = fold_of[row_b], fold_of[row_a]
        any_exchanged = True
        for label in leaving:
            now[label] -= step
            change[label] -= 1
        for label in coming:
            now[label] += step
            change[label] += 1
    return change if any_exchanged else None


def _best_matching(
    gain: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return rows and columns matched for the largest total gain, the most gainful first."""
    rows, columns = linear_sum_assignment(np.maximum(gain, 0), maximize=True)
    of_match = gain[rows, columns]
    by_gain = np.argsort(-of_match, kind="stable")
    by_gain = by_gain[of_match[by_gain] > _NOISE]
    return rows[by_gain], columns[by_gain]


def _check_y(X: Any, y: Any) -> LabelMatrix:
    if y is None:
        raise ValueError("The labels y are needed to stratify by them; call split(X, y).")
    if is_tags(y):
        y = read_labels(y)[0]
    indexable(X, y)  # complains about different numbers of rows in scikit-learn's words
    if not sparse.issparse(y) and np.ndim(y) == 1:
        y = np.asarray(y).reshape(-1, 1)
    try:
        return check_labels(y, "y", allow_unknown=True)
    except ValueError as error:
        if "expected 0 or 1" not in str(error):
            raise
        place = str(error).split(";")[0]
        raise ValueError(
            f"{place}; for one label with several classes use scikit-learn's StratifiedKFold."
        ) from error


def _split_sizes(n_rows: int, test_size: float | None, train_size: float | None) -> tuple[int, int]:
    """Return the sizes that scikit-learn gives the parts, or raise what it raises."""
    sizer = ShuffleSplit(n_splits=1, test_size=test_size, train_size=train_size, random_state=0)
    train, test = next(sizer.split(np.empty((n_rows, 0))))
    return train.size, test.size
