"""Prediction with bounded memory, and without fixed costs for a single row.

Scores of many rows for many labels need far more memory than the labels themselves, so rows are
taken in blocks. For one row scikit-learn's checks cost more than the products: a plain array that
is plainly right passes a short check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from splmll.arrays import n_rows as rows_of
from splmll.arrays import take_rows
from splmll.base import MultilabelClassifier
from splmll.docstrings import with_paragraphs

BLOCK_CELLS = 2**22  # scores of one block of rows; 32 MiB
MIN_BLOCK_ROWS = 64
SMALL_ARRAY = 2**16  # values up to which the short check is quicker


@with_paragraphs
class BlockPrediction(MultilabelClassifier):
    """``predict`` in blocks of rows, and ``predict_top`` for very many labels."""

    if TYPE_CHECKING:
        n_jobs: int | None
        embedding_: Any
        n_features_in_: int

    def predict(self, X: Any) -> Any:
        """Return the predicted labels.

        Rows are scored in blocks, so that memory is that of the answer and of one block.
        ``n_jobs`` blocks are worked on at the same time.

        Parameters
        ----------
        {X}

        Returns
        -------
        labels : ndarray, CSR array or DataFrame of shape (n_rows, n_labels)
            0/1 labels in the form in which ``fit`` received them.
        """
        index = X.index if isinstance(X, pd.DataFrame) else None
        as_sparse = self.label_format_.kind == "sparse" if self._is_fitted() else False

        def labels_of(rows: Any) -> Any:
            labels = self._labels(rows)
            return sparse.csr_array(labels) if as_sparse else labels

        labels = self._in_blocks(X, labels_of)
        return self.label_format_.restore(labels, index)

    def predict_top(self, X: Any, k: int = 5) -> sparse.csr_array:
        """Return only the highest scores of every row.

        For very many labels: the answer holds k numbers for a row, not one for every label.

        Parameters
        ----------
        {X}
        k : int, default=5
            How many labels to return for a row; all if there are fewer.

        Returns
        -------
        scores : CSR array of shape (n_rows, n_labels)
            What ``decision_function`` gives for the k labels it ranks first, of equal scores the
            first. A stored value may be 0 or negative: stored cells are the answer, not non-zero
            ones.

        Examples
        --------
        >>> import numpy as np
        >>> from splmll import SPLMLL
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(60, 4))
        >>> model = SPLMLL("linear", random_state=0).fit(X, (X[:, [0, 1, 2]] > 0).astype(int))
        >>> top = model.predict_top(X[:2], k=2)
        >>> top.shape, top.nnz
        ((2, 3), 4)
        """
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(f"k={k!r} must be a whole number of at least 1.")

        def top_of(rows: Any) -> sparse.csr_array:
            return _highest(self._scores(rows) - self.offset_, int(k))

        return self._in_blocks(X, top_of)

    def _in_blocks(self, X: Any, work: Any) -> Any:
        """Do the work on blocks of checked rows and put the answers on top of each other."""
        if not self._is_fitted():
            check_is_fitted(self)
        X = self._check_features(X, reset=False)
        n_rows = rows_of(X)
        step = max(MIN_BLOCK_ROWS, BLOCK_CELLS // self.label_format_.n_labels)
        if n_rows <= step:
            return work(X)
        # A slice of an array is a view; a list of row numbers would copy it.
        blocks = [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
        if effective_n_jobs(self.n_jobs) == 1:
            answers = [work(take_rows(X, block)) for block in blocks]
        else:
            # Threads: the products release Python's lock, and rows need not be copied.
            answers = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(work)(take_rows(X, block)) for block in blocks
            )
        if sparse.issparse(answers[0]):
            return sparse.csr_array(sparse.vstack(answers))
        return np.concatenate(answers)

    def _checked_scores(self, X: Any) -> np.ndarray:
        if not self._is_fitted():
            check_is_fitted(self)
        return self._scores(self._check_features(X, reset=False))

    def _is_fitted(self) -> bool:
        # scikit-learn's check looks through all attributes, which takes longer than one row.
        return hasattr(self, "embedding_")

    def _check_features(self, X: Any, reset: bool) -> Any:
        if not reset and self._is_plainly_right(X):
            return X
        return super()._check_features(X, reset)

    def _is_plainly_right(self, X: Any) -> bool:
        """Whether a small array would pass all of scikit-learn's checks as it is."""
        return bool(
            type(X) is np.ndarray
            and X.ndim == 2
            and 0 < X.size <= SMALL_ARRAY
            and X.dtype.char in "df"
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and np.isfinite(X).all()
        )


def _highest(scores: np.ndarray, k: int) -> sparse.csr_array:
    """Keep the k highest scores of every row, of equal ones the first."""
    n_rows, n_labels = scores.shape
    k = min(k, n_labels)
    if 2 * k < n_labels:
        # Partition to find the k-th score, then settle ties in favour of the first labels.
        least = -np.partition(-scores, k - 1, axis=1)[:, k - 1 : k]
        above = scores > least
        ties = (scores == least) & (
            np.cumsum(scores == least, axis=1) <= k - above.sum(axis=1, keepdims=True)
        )
        columns = np.nonzero(above | ties)[1].reshape(n_rows, k)
    else:
        columns = np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :k], axis=1)
    kept = np.take_along_axis(scores, columns, axis=1)
    pointers = np.arange(n_rows + 1) * k
    return sparse.csr_array((kept.ravel(), columns.ravel(), pointers), shape=scores.shape)
