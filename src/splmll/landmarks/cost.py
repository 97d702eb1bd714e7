"""What a fit will cost, said before it begins: memory and floating-point operations.

The numbers follow from shapes and settings alone. They count what grows with the data: large
arrays and the products of large matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from splmll.embeddings import Embedding, automatic_embedding, embedding_of
from splmll.embeddings.wide_ridge import (
    BLOCK_BYTES,
    by_features_bytes,
    by_rows_bytes,
    choose_solver,
)
from splmll.landmarks import folds
from splmll.landmarks.label_moments import MOST_CANDIDATES, MOST_MODELS
from splmll.landmarks.out_of_core import SAMPLE_CELLS, sample_size
from splmll.landmarks.splitting import number_of_folds
from splmll.statistics import CHUNK_ROWS, MOST_DENSE_LABELS

if TYPE_CHECKING:
    from splmll.landmarks.classifier import SPLMLL

_FLOAT64, _FLOAT32 = 8, 4
_EIGENVECTORS = 9  # operations for all eigenvectors, in units of the cube of the size
_RIDGES = 4  # values of the ridge that are tried, typically
_FACTOR = 1 / 3  # operations of a Cholesky factor, in units of the cube of the size
_RECOVERIES = 60  # solved for while softness, pull and the number of landmarks are chosen
_LABEL_MATRICES = 12  # of C x C numbers that selection and recovery hold
_SCORE_MATRICES = 6  # of (rows, labels) numbers while thresholds are tuned
_ITERATIONS = 100  # of conjugate gradients, typically
_SOLUTIONS = 3  # iterative solutions for a fold: two ridges, and the chosen one again
_ADAM = 4  # numbers for a weight in training: itself, its gradient and two averages
_SETTINGS = 4  # that one-vs-rest tries, typically
_PASSES = 30  # of coordinate descent over the rows, typically
_TRAINING = 6  # operations for a weight and a row: forward, and twice that backward


@dataclass(frozen=True)
class Cost:
    """What a fit will cost.

    Attributes
    ----------
    memory : int
        Bytes that the fit needs at most at a time, besides the data themselves.
    operations : float
        Floating-point operations. Of a network, if all epochs are used: it mostly stops earlier.
    data : int
        Bytes of the data, if they are in memory as they are.
    route : str
        How the embedding is solved for.

    Examples
    --------
    >>> from splmll import SPLMLL
    >>> print(SPLMLL("linear").estimate_cost((100_000, 500), (100_000, 100)))
    linear, in one pass: 0.2 GiB of memory beside 0.4 GiB of data, 3.8e+10 operations
    """

    memory: int
    operations: float
    data: int
    route: str

    def __str__(self) -> str:
        return (
            f"{self.route}: {_readable(self.memory)} of memory beside {_readable(self.data)} of "
            f"data, {self.operations:.1e} operations"
        )


def check_memory(cost: Cost, limit: int | None = None) -> None:
    """Refuse a fit that needs more memory than there is.

    Parameters
    ----------
    cost : Cost
        What the fit will cost.
    limit : int, optional
        Bytes that may be used; what is available on this machine by default.

    Raises
    ------
    MemoryError
        With what is needed, what there is and what to do.

    Examples
    --------
    >>> from splmll import SPLMLL
    >>> from splmll.landmarks.cost import check_memory
    >>> cost = SPLMLL("linear").estimate_cost((100_000, 500), (100_000, 100))
    >>> check_memory(cost, limit=2**24)
    Traceback (most recent call last):
        ...
    MemoryError: This fit needs about 0.2 GiB of memory, but only 0.0 GiB are free. ...
    """
    if limit is None:
        import psutil

        limit = int(psutil.virtual_memory().available)
    if cost.memory > limit:
        raise MemoryError(
            f"This fit needs about {_readable(cost.memory)} of memory, but only "
            f"{_readable(limit)} are free. Use fewer features or labels, a smaller network, fewer "
            "folds (cv), or a machine with more memory."
        )


def estimate_cost(model: SPLMLL, X: Any, Y: Any) -> Cost:
    """Say what a fit will cost; see :meth:`splmll.SPLMLL.estimate_cost`."""
    shape = _Shape.of(X, Y, 1)
    if isinstance(model.embedding, str) and model.embedding == "auto":
        embedding = automatic_embedding(X if sparse.issparse(X) else shape, shape.labels)
    else:
        embedding = embedding_of(model.embedding)
    n_folds = number_of_folds(model.cv, getattr(embedding, "preferred_folds", 5))
    return _cost_of(embedding, replace(shape, folds=n_folds), model.n_jobs)


@dataclass(frozen=True)
class _Shape:
    """All that the cost depends on."""

    rows: int
    features: int
    labels: int
    stored: float  # numbers of X that are stored
    stored_labels: float
    folds: int
    most_predicted: int = MOST_CANDIDATES  # where labels are very many

    @classmethod
    def of(cls, X: Any, Y: Any, n_folds: int) -> _Shape:
        n_rows, n_features = _numbers(X, "X")
        n_labels = _numbers(Y, "Y")[1]
        stored = float(X.nnz) if sparse.issparse(X) else float(n_rows) * n_features
        stored_labels = float(Y.nnz) if sparse.issparse(Y) else float(n_rows) * n_labels
        return cls(n_rows, n_features, n_labels, stored, stored_labels, n_folds)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features, as an array says it."""
        return self.rows, self.features

    @property
    def data(self) -> int:
        # Beside its value, a stored number of a sparse matrix has a column of 4 bytes.
        is_sparse = self.stored < self.rows * self.features
        return int(self.stored * (_FLOAT64 + 4 * is_sparse) + self.stored_labels)

    @property
    def predicted(self) -> int:
        """Number of labels that f predicts."""
        many = self.labels > MOST_DENSE_LABELS
        return min(self.labels, self.most_predicted) if many else self.labels


def _cost_of(f: Embedding, shape: _Shape, n_jobs: int | None) -> Cost:
    if f.one_per_label:
        shape = replace(shape, most_predicted=MOST_MODELS)
    kind = type(f).__name__
    params = f.get_params(deep=False)
    if kind == "Blend":
        parts = [_cost_of(embedding_of(each), shape, n_jobs) for each in params["members"]]
        most, work = max(part.memory for part in parts), sum(part.operations for part in parts)
        route = "blend of " + ", ".join(part.route for part in parts)
        return Cost(most, work, shape.data, route)
    if kind == "Linear":
        memory, operations, route = _linear(shape)
    elif kind == "Kernel":
        memory, operations, route = _kernel(shape, params["n_components"])
    elif kind in ("Network", "TorchModule"):
        memory, operations, route = _network(params, shape, n_jobs)
    elif kind == "OneVsRest":
        memory, operations, route = _one_vs_rest(shape)
    else:
        memory, operations, route = 0.0, 0.0, f"{kind} (itself not counted)"
    selected, work = _selection(shape, in_one_pass=route == _IN_ONE_PASS)
    return Cost(int(memory + selected), operations + work, shape.data, route)


_IN_ONE_PASS = "linear, in one pass"


def _linear(shape: _Shape) -> tuple[float, float, str]:
    N, D, P, K = shape.rows, shape.features, shape.predicted, shape.folds
    density = shape.stored / max(1.0, float(N) * D)
    solver = choose_solver(N, D, K)
    if solver == "features":
        # The products of the pass, then a map of every fold for every ridge, and its quality.
        large = N > folds.LARGE_ROWS
        summed = shape.labels if large else P
        memory = float(by_features_bytes(D, K)) + (2 * K + 4) * D * summed * _FLOAT64
        memory += 3 * CHUNK_ROWS * (D + shape.stored_labels / max(1, N)) * _FLOAT64
        work = N * (D * density) ** 2 + 2 * N * D * density * P
        work += (_RIDGES * K + 1) * (_FACTOR * D**3 + 4 * D**2 * P)
        return memory, work, _IN_ONE_PASS if large else "linear, through the features"
    copies = 2 * shape.data
    if solver == "rows":
        work = (K + 1) * (2 * N**2 * D * density + _EIGENVECTORS * N**3)
        return by_rows_bytes(N) + copies, work, "linear, through the rows"
    work = (_SOLUTIONS * K + 1) * _ITERATIONS * 4 * shape.stored * P
    return BLOCK_BYTES + copies + D * P * _FLOAT64, work, "linear, iteratively"


def _kernel(shape: _Shape, n_components: int) -> tuple[float, float, str]:
    m = min(n_components, shape.rows)
    narrow = _Shape(shape.rows, m, shape.labels, shape.rows * m, shape.stored_labels, shape.folds)
    memory, work, _ = _linear(narrow)
    memory += 2 * shape.rows * m * _FLOAT64
    work += 2 * shape.stored * m + 2 * shape.rows * m**2 + _EIGENVECTORS * m**3
    return memory, work, f"kernel with {m} components"


def _network(params: dict[str, Any], shape: _Shape, n_jobs: int | None) -> tuple[float, float, str]:
    if "module" in params:
        weights = sum(part.numel() for part in params["module"].parameters())
    else:
        sizes = [shape.features, *params["hidden_layer_sizes"], shape.predicted]
        weights = sum((a + 1) * b for a, b in pairwise(sizes))
    at_once = min(shape.folds, max(1, abs(n_jobs or 1)))
    memory = (_ADAM * at_once + shape.folds) * weights * _FLOAT32 + shape.data
    seen = shape.rows * (1 - 1 / shape.folds)
    epochs = params["max_epochs"]
    work = float(_TRAINING) * weights * seen * epochs * shape.folds
    return memory, work, f"{shape.folds} networks, {epochs} epochs at most"


def _one_vs_rest(shape: _Shape) -> tuple[float, float, str]:
    memory = 2.0 * shape.features * shape.predicted * _FLOAT32 + 2 * shape.data
    fits = shape.folds + 1 + _SETTINGS
    work = 4.0 * shape.stored * shape.predicted * _PASSES * fits
    return memory, work, f"{shape.predicted} linear classifiers, {shape.folds} folds"


def _selection(shape: _Shape, *, in_one_pass: bool) -> tuple[float, float]:
    """Memory and operations of selection, recovery and thresholds."""
    C, P, K = shape.labels, shape.predicted, shape.folds
    judged = sample_size(C) if in_one_pass else max(1, SAMPLE_CELLS // C)
    memory = _SCORE_MATRICES * min(shape.rows, judged) * C * _FLOAT64
    if not in_one_pass:
        memory += shape.rows * P * _FLOAT64  # out-of-fold predictions
    memory += _LABEL_MATRICES * P**2 * _FLOAT64
    memory += 2 * (K + 2) * P * C * _FLOAT64  # predictions with all labels, in every fold
    work = _RECOVERIES * (_FACTOR * P**3 + 2.0 * P**2 * C) + 2.0 * (K + 1) * P**2 * C
    return memory, work


def _numbers(data: Any, name: str) -> tuple[int, int]:
    shape = tuple(data) if isinstance(data, tuple) else np.shape(data)
    shape = (*shape, 1) if len(shape) == 1 else shape
    try:
        return int(shape[0]), int(np.prod([int(size) for size in shape[1:]]))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The shape of {name} is not known: give the shape itself, such as (10_000, 500)."
        ) from error


def _readable(size: float) -> str:
    return f"{size / 2**30:.1f} GiB"
