"""Learning from rows that are not in memory together: chunk by chunk, from files, on a cluster.

Everything here ends in a :class:`~splmll.landmarks.stream.Stream`, from which the same model is
learned as from the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from splmll.base import MultilabelClassifier
from splmll.labels import read_labels
from splmll.landmarks import folds
from splmll.landmarks.embedding import LinearEmbedding
from splmll.landmarks.sources import StreamSource
from splmll.landmarks.statistics import CHUNK_ROWS
from splmll.landmarks.stream import Stream
from splmll.landmarks.wide import DIRECT_BYTES, by_features_bytes, choose_solver


def _is_linear(estimator: Any) -> bool:
    if estimator.embedding != "linear" or estimator.solver != "exact":
        raise AttributeError(
            'Learning from sums over rows needs embedding="linear" and solver="exact", '
            f"not {estimator.embedding!r} and {estimator.solver!r}."
        )
    return True


class StreamFit(MultilabelClassifier):
    """``partial_fit``, ``fit_batches``, and ``fit`` on large and on distributed data."""

    if TYPE_CHECKING:
        embedding: Any
        solver: str
        cv: int | None
        alpha: float | str
        scale: bool
        random_state: Any
        _stream: Stream

        def _check_parameters(self) -> None: ...
        def _learn(self, f: Any, source: Any, varying: np.ndarray) -> None: ...

    @available_if(_is_linear)
    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Any:
        """Add rows to a linear model: statistics just add up, so chunks equal one fit.

        Rows are dealt into folds by their numbers, as ``fit`` does beyond 25,000 rows; thresholds
        that are tuned need scores, not statistics, and are tuned on a uniform random sample of the
        rows seen so far.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of the new rows.
        Y : array-like, sparse matrix or DataFrame of shape (n_rows, n_labels)
            Labels of the new rows, the same labels every time.
        classes : array-like, optional
            The two values of a 1-D target, if the first chunk may lack one of them.

        Returns
        -------
        self : SPLMLL
        """
        self._check_parameters()
        self._stream = self._add(getattr(self, "_stream", None), X, Y, classes)
        self._learn_from(self._stream)
        return self

    @available_if(_is_linear)
    def fit_batches(self, batches: Iterable[tuple[Any, Any]], classes: Any = None) -> Any:
        """Learn from batches of rows in one pass, for data that do not fit into memory.

        The model is that of :meth:`fit` on all rows: up to 25,000 rows are gathered and fitted
        together, and beyond that only sums over the rows and a sample of them are kept.

        Parameters
        ----------
        batches : iterable of (X, Y) pairs
            Features and labels of some rows at a time, such as
            :func:`splmll.datasets.batches.read_batches` gives for files and folders.
        classes : array-like, optional
            The two values of a 1-D target, if a batch may lack one of them.

        Returns
        -------
        self : SPLMLL

        Examples
        --------
        >>> import numpy as np
        >>> from splmll import SPLMLL
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(600, 4))
        >>> Y = (X[:, :3] + rng.normal(size=(600, 3)) > 0).astype(int)
        >>> batches = ((X[i : i + 100], Y[i : i + 100]) for i in range(0, 600, 100))
        >>> model = SPLMLL("linear", random_state=0).fit_batches(batches)
        >>> whole = SPLMLL("linear", random_state=0).fit(X, Y)
        >>> bool(np.allclose(model.decision_function(X), whole.decision_function(X)))
        True
        """
        self._check_parameters()
        start, stream = _Gathered(), None
        for X, Y in batches:
            if stream is None:
                start.append(X, Y)
                if start.n_rows <= folds.LARGE_ROWS:
                    continue
                for part in start.chunks():
                    stream = self._add(stream, *part, classes)
                start = _Gathered()
                continue
            # Small batches together are quicker: the cost of a chunk is partly fixed.
            start.append(X, Y)
            if start.n_rows >= CHUNK_ROWS:
                stream = self._add(stream, *start.together(), classes)
                start = _Gathered()
        if stream is None:
            if start.n_rows == 0:
                raise ValueError("There are no batches: give at least one pair of X and Y.")
            return self.fit(*start.together())
        if start.n_rows:
            stream = self._add(stream, *start.together(), classes)
        self._learn_from(stream)
        self._forget_stream()
        return self

    # ``fit`` on data that is large or elsewhere -----------------------------------------------

    def _takes_blocks(self, X: Any) -> bool:
        """Whether ``fit`` takes these rows block by block: large data, or a Dask collection."""
        if hasattr(X, "__dask_graph__"):
            _is_linear(self)
            return True
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if self.embedding != "linear" or self.solver != "exact" or len(shape) != 2:
            return False
        large = shape[0] > folds.LARGE_ROWS
        return large and choose_solver(shape[0], shape[1], self.cv or 1) == "features"

    def _fit_blocks(self, X: Any, Y: Any) -> Any:
        if hasattr(X, "__dask_graph__"):
            from splmll.landmarks.distributed import fit_distributed

            return fit_distributed(self, X, Y)
        if Y is None:
            read_labels(Y)  # raises with scikit-learn's words
        check_consistent_length(X, Y)
        stream, classes = None, None
        if not (sparse.issparse(Y) or isinstance(Y, (pd.DataFrame, pd.Series))):
            Y = np.asarray(Y) if not isinstance(Y, np.memmap) else Y
        if getattr(Y, "ndim", 2) == 1:
            classes = read_labels(Y)[1].classes
        X, Y = (data.tocsr() if sparse.issparse(data) else data for data in (X, Y))
        for rows in _slices(X.shape[0]):
            stream = self._add(stream, _take(X, rows), _take(Y, rows), classes)
        assert stream is not None
        self._learn_from(stream)
        self._forget_stream()
        return self

    def _add(self, stream: Stream | None, X: Any, Y: Any, classes: Any) -> Stream:
        """Check some rows and add them to a stream, to a new one with the first."""
        X = self._check_features(X, reset=stream is None)
        labels, label_format = read_labels(Y, allow_unknown=True, classes=classes)
        check_consistent_length(X, labels)
        if stream is None:
            self._check_width(X.shape[1])
            self._remember(label_format)
            stream = self._new_stream(X.shape[1], labels.shape[1])
        elif label_format.n_labels != self.label_format_.n_labels:
            raise ValueError(
                f"This chunk has {label_format.n_labels} labels, the first had "
                f"{self.label_format_.n_labels}: every chunk must have the same label columns."
            )
        stream.add(X, labels)
        return stream

    def _new_stream(self, n_features: int, n_labels: int) -> Stream:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return Stream(n_features, n_labels, self.cv, seed)

    def _check_width(self, n_features: int) -> None:
        needed = by_features_bytes(n_features, self.cv or 1)
        if needed > DIRECT_BYTES:
            raise ValueError(
                f"{n_features} features are too many for rows that come in chunks: their moments "
                f"would take {needed / 2**30:.1f} GiB. Give all rows to fit at once, which solves "
                "iteratively, or make features fewer first, for instance with "
                "sklearn.random_projection.SparseRandomProjection."
            )

    def _learn_from(self, stream: Stream) -> None:
        """Learn the model from what was kept of the rows."""
        n_labels = stream.folds[0].n_labels
        positives = np.sum([part.xy[0] for part in stream.folds], axis=0)
        known = np.sum([part.xk[0] for part in stream.folds], axis=0).reshape(n_labels)
        varying = (positives > 0) & (positives < known)
        f = LinearEmbedding(alpha=self.alpha, scale=self.scale)
        self._learn(f, StreamSource(stream, with_folds=self.cv is not None), varying)

    def _forget_stream(self) -> None:
        """A full fit ends what partial_fit began."""
        if hasattr(self, "_stream"):
            del self._stream


class _Gathered:
    """Batches that wait for others."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []
        self.n_rows = 0

    def append(self, X: Any, Y: Any) -> None:
        self.pairs.append((X, Y))
        self.n_rows += X.shape[0] if hasattr(X, "shape") else len(X)

    def together(self) -> tuple[Any, Any]:
        """Return all rows as one X and one Y."""
        return _stacked([X for X, _ in self.pairs]), _stacked([Y for _, Y in self.pairs])

    def chunks(self) -> Iterator[tuple[Any, Any]]:
        """Return the batches, each forgotten as soon as the next is asked for."""
        while self.pairs:
            yield self.pairs.pop(0)


def _stacked(pieces: list[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], (pd.DataFrame, pd.Series)):
        return pd.concat(pieces, ignore_index=True)
    if any(sparse.issparse(piece) for piece in pieces):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(piece) for piece in pieces]))
    return np.concatenate([np.asarray(piece) for piece in pieces])


def _slices(n_rows: int) -> Iterator[slice]:
    for start in range(0, n_rows, CHUNK_ROWS):
        yield slice(start, min(start + CHUNK_ROWS, n_rows))


def _take(data: Any, rows: slice) -> Any:
    return data.iloc[rows] if isinstance(data, (pd.DataFrame, pd.Series)) else data[rows]
