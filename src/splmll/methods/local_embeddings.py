"""SLEEC: rows with alike label sets are embedded near each other, and neighbours there vote.

The features are clustered; in each cluster an embedding keeps the similarities between label sets
that are close, a ridge regression maps features into it, and new rows look for neighbours there.

References
----------
Bhatia, Jain, Kar, Varma, Jain: Sparse local embeddings for extreme multi-label classification.
Advances in Neural Information Processing Systems 28, 2015.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_range_finder, randomized_svd
from sklearn.utils.parallel import Parallel, delayed

from splmll.base import Capabilities, MultilabelClassifier
from splmll.constraints import COUNT, N_JOBS, POSITIVE, RANDOM_STATE, SHARE_BELOW_ONE, Choice
from splmll.docstrings import with_paragraphs
from splmll.feature_scaling import SCALE_CONSTRAINT
from splmll.methods._centred_matrix import CentredMatrix, feature_scale
from splmll.methods._label_embedding import CODES_CONSTRAINT, count_of
from splmll.methods._neighbours import SEARCH_CONSTRAINT, NeighbourSearch, check_search
from splmll.methods._ridge import inverse_of_lower
from splmll.thresholds import RULES, THRESHOLD_CONSTRAINT, fit_threshold

# Settings of the paper: rows of a cluster and passes of the clustering.
CLUSTER_ROWS = 6000
CLUSTERING_PASSES = 7

# Settings of the released program: when the root mean square residual is small enough, what a
# round must gain, and the step length as a share of the norm of the similarities.
SMALL_RESIDUAL = 1e-3
LEAST_GAIN = 1e-4
STEP_SHARE = 0.3

# Cells of a matrix that are worked on together, and gathered numbers that stay in the cache.
_BLOCK_CELLS = 2**22
_CACHE_CELLS = 2**18


@with_paragraphs
class SLEEC(MultilabelClassifier):
    r"""Sparse local embeddings (SLEEC).

    The rows, scaled to unit length, are divided by spherical k-means. In a cluster let :math:`G`
    hold the cosines of the label sets, known only on :math:`\Omega`, the pairs of a row with the
    ``n_label_neighbors`` rows most like it. The embedding Z of rank q minimises

    .. math:: \sum_{(i, j) \in \Omega} (z_i^\top z_j - G_{ij})^2 ,

    a ridge regression V maps features into it, and a new row takes the mean of the labels of its
    ``n_neighbors`` nearest training rows among the embeddings :math:`x_i^\top V` of its cluster.
    Several learners with other random clusters are averaged. The score is this share of the votes;
    the probability adds one vote for and one against.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Dimension q of the embeddings: a number, or a fraction of the number of labels. None is
        the number of labels, but at most 100. A cluster with fewer rows has fewer.
    n_estimators : int, default=5
        How many clusterings to average. Learners with a single cluster would all be alike, so
        that only one is fitted.
    n_clusters : int or None, default=None
        Clusters of each learner. None makes one for every ``CLUSTER_ROWS`` (6000) rows, as in the
        paper; more of them, with several learners, are often better. Clusters left empty are
        dropped.
    n_label_neighbors : int, default=100
        How many rows with the most similar label sets keep their similarity to a row, itself
        among them. Of equally similar rows the first ones are taken.
    n_neighbors : int, default=25
        How many neighbours vote; all of them in a smaller cluster. An odd number avoids ties.
    ridge : float, default=2.5
        Ridge penalty of the regression. The ``cost`` of the released program is
        ``1 / (2 * ridge)``.
    embedding_solver : {"alternating", "svp"}, default="alternating"
        How to learn the embedding. "svp" is singular value projection as in the paper: gradient
        steps on :math:`M = Z Z^\top`, each followed by the nearest matrix of rank q without
        negative eigenvalues, sought in the span of Z and of the gradient times Z. "alternating"
        is what the released program does: gradient steps on :math:`U V^\top` in U and V in turns,
        and Z = U. The two predict about equally well; alternating is faster.
    max_iter : int, default=50
        Largest number of rounds of either. The released program allows 200; the further ones took
        most of the time and changed nothing on yeast and corel5k.
    weight_sparsity : float, default=0.0
        Share of the regression weights, the smallest ones, set to 0.
    embedding_sparsity : float, default=0.0
        Share of the training embeddings, the smallest ones in every coordinate, set to 0. Both
        save memory with very many features or rows; the released settings go from 0.01 to 0.95.
    {scale}
        Rows are then scaled to unit length. Sparse features stay sparse.
    search : {"exact", "approximate", "auto"}, default="exact"
        How neighbours are searched in the embedding, as in :class:`MLkNN`. "approximate" needs the
        package faiss and pays with clusters of tens of thousands of rows.
    threshold : float or str, default="micro_f1"
        A label is predicted if its score is at least the threshold. A name is a rule from
        :data:`splmll.thresholds.RULES`. It is fitted without further fits on the votes for the
        training rows, each left out of the vote and of the regression. Votes are spread over many
        labels, so that a fixed 0.5 predicts few of them.
    n_jobs : int or None, default=None
        How many clusters to fit at the same time, as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed of the clusterings and of the start of the embeddings.

    Attributes
    ----------
    learners_ : list of Learner
        The fitted learners with their clusters: centres, regression weights, embeddings and the
        residuals of the embedding in every round.
    n_iter_ : int
        Largest number of rounds that an embedding took.
    mean_, scale_ : ndarray of shape (n_features,)
        Features are used as ``(X - mean_) / scale_``, in rows of unit length.
    {thresholds_}

    Notes
    -----
    The paper also penalises the absolute values of the embeddings of rows. In the released program
    this term never acts, and it is left out here; sparsity comes from the two shares above.
    Rows without labels have no similar rows: they lie at the origin of the embedding.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import SLEEC
    >>> X = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1]])
    >>> Y = np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0], [1, 0, 0]])
    >>> model = SLEEC(n_neighbors=1, ridge=0.1, random_state=0).fit(X, Y)
    >>> model.predict([[0.9, 0.2]])
    array([[1, 0, 0]])
    """

    _former_names: ClassVar[dict[str, str]] = {"n_learners": "n_estimators", "alpha": "ridge"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [*CODES_CONSTRAINT, None],
        "n_estimators": [COUNT],
        "n_clusters": [COUNT, None],
        "n_label_neighbors": [COUNT],
        "n_neighbors": [COUNT],
        "ridge": [POSITIVE],
        "embedding_solver": [Choice("alternating", "svp")],
        "max_iter": [COUNT],
        "weight_sparsity": [SHARE_BELOW_ONE],
        "embedding_sparsity": [SHARE_BELOW_ONE],
        "scale": SCALE_CONSTRAINT,
        "search": SEARCH_CONSTRAINT,
        "threshold": THRESHOLD_CONSTRAINT,
        "n_jobs": N_JOBS,
        "random_state": RANDOM_STATE,
    }
    capabilities = Capabilities(
        sparse_labels=True,
        probabilities=True,
        cost="T times: n C in each of N label comparisons, N nbar q a round, N D^2 + D^3",
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "n_neighbors": (5, 10, 25, 70),
        "n_label_neighbors": (15, 50, 100, 250),
    }

    learners_: list[Learner]
    n_iter_: int
    mean_: np.ndarray
    scale_: np.ndarray

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        n_estimators: int = 5,
        n_clusters: int | None = None,
        n_label_neighbors: int = 100,
        n_neighbors: int = 25,
        ridge: float = 2.5,
        embedding_solver: str = "alternating",
        max_iter: int = 50,
        weight_sparsity: float = 0.0,
        embedding_sparsity: float = 0.0,
        scale: str | None = "auto",
        search: str = "exact",
        threshold: float | str = "micro_f1",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_estimators = n_estimators
        self.n_clusters = n_clusters
        self.n_label_neighbors = n_label_neighbors
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.embedding_solver = embedding_solver
        self.max_iter = max_iter
        self.weight_sparsity = weight_sparsity
        self.embedding_sparsity = embedding_sparsity
        self.scale = scale
        self.search = search
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, Y: Any) -> None:
        settings = self._settings(Y.shape[1])
        rng = check_random_state(self.random_state)
        labels = sparse.csr_array(Y)
        self.mean_, self.scale_ = feature_scale(X, self.scale)
        rows = self._unit_rows(X)

        n_rows = X.shape[0]
        n_clusters = self.n_clusters or max(1, round(n_rows / CLUSTER_ROWS))
        # One cluster leaves nothing to chance: its learners would all be the same.
        n_estimators = self.n_estimators if n_clusters > 1 else 1
        clusterings = [spherical_clusters(rows, n_clusters, rng) for _ in range(n_estimators)]
        parts = [
            (learner, np.flatnonzero(assigned == cluster))
            for learner, (centres, assigned) in enumerate(clusterings)
            for cluster in range(centres.shape[1])
        ]
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(parts))
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_cluster)(rows.rows(own), labels[own], settings, int(seed))
            for (_, own), seed in zip(parts, seeds)
        )

        self.learners_ = [Learner(centres, []) for centres, _ in clusterings]
        votes = np.zeros(Y.shape) if settings.leave_one_out else None
        for (learner, own), (cluster, own_votes) in zip(parts, fitted):
            self.learners_[learner].clusters.append(cluster)
            if votes is not None:
                votes[own] += own_votes / n_estimators
        self.n_iter_ = max(len(cluster.residuals) for cluster, _ in fitted)
        scores = np.broadcast_to(0.0, Y.shape) if votes is None else votes
        self._set_threshold(fit_threshold(self.threshold, Y, scores))

    def _scores(self, X: Any) -> np.ndarray:
        rows = self._unit_rows(X)
        total = np.zeros((X.shape[0], self.label_format_.n_labels))
        for learner in self.learners_:
            assigned = np.argmax(rows.times(learner.centres), axis=1)
            for number, cluster in enumerate(learner.clusters):
                own = np.flatnonzero(assigned == number)
                if own.size:
                    total[own] += cluster.votes(rows.rows(own).times(cluster.weights))
        return total / len(self.learners_)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        # A finite number of votes proves nothing: Laplace's rule of succession, which leaves 1/2
        # where it is.
        n_votes = len(self.learners_) * self.n_neighbors
        return (n_votes * scores + 1) / (n_votes + 2)

    def _unit_rows(self, X: Any) -> CentredMatrix:
        return _with_unit_rows(CentredMatrix.standardised(X, self.mean_, self.scale_))

    def _settings(self, n_labels: int) -> _Settings:
        check_search(self.search)
        return _Settings(
            n_components=self._dimension(n_labels),
            n_label_neighbors=int(self.n_label_neighbors),
            n_neighbors=int(self.n_neighbors),
            ridge=float(self.ridge),
            solver=self.embedding_solver,
            max_iter=int(self.max_iter),
            weight_sparsity=float(self.weight_sparsity),
            embedding_sparsity=float(self.embedding_sparsity),
            search=self.search,
            leave_one_out=self.threshold in RULES,
        )

    def _dimension(self, n_labels: int) -> int:
        q = self.n_components
        if q is None:
            return min(100, n_labels)
        # Known on a part of the pairs only, similarities may need more than one component a label.
        if isinstance(q, Integral) and q > n_labels:
            return int(q)
        return count_of(q, n_labels, "n_components")


@dataclass(frozen=True)
class _Settings:
    """What the fit of one cluster needs to know."""

    n_components: int
    n_label_neighbors: int
    n_neighbors: int
    ridge: float
    solver: str
    max_iter: int
    weight_sparsity: float
    embedding_sparsity: float
    search: str
    leave_one_out: bool


@dataclass(frozen=True)
class Learner:
    """One clustering: a row belongs to the centre with the largest inner product.

    Attributes
    ----------
    centres : ndarray of shape (n_features, n_clusters)
        Centres of unit length.
    clusters : list of Cluster
        What was learnt in each cluster.
    """

    centres: np.ndarray
    clusters: list[Cluster]


@dataclass(frozen=True)
class Cluster:
    """The embedding of one cluster.

    Attributes
    ----------
    weights : ndarray of shape (n_features, n_components)
        Maps rows of unit length into the embedding.
    embedded : ndarray of shape (n_rows, n_components)
        Where it puts the training rows.
    labels : CSR array of shape (n_rows, n_labels)
        Their labels.
    residuals : ndarray
        Root mean square error of the similarities after every round of the embedding.
    """

    weights: np.ndarray
    embedded: np.ndarray
    labels: sparse.csr_array
    residuals: np.ndarray
    index: NeighbourSearch

    def votes(self, points: np.ndarray) -> np.ndarray:
        """Return the mean labels of the neighbours of points in the embedding."""
        return _mean_labels(self.index.of(points), self.labels)

    def votes_without(self, points: np.ndarray) -> np.ndarray:
        """Return the same for the training rows in their order, each without its own vote."""
        found = self.index.of(points, min(self.index.n_neighbors + 1, len(self.embedded)))
        if found.shape[1] == 1:
            return _mean_labels(found, self.labels)  # alone in its cluster: nobody else to ask
        own = found == np.arange(len(found))[:, None]
        own[:, -1] |= ~own.any(axis=1)  # not among its neighbours: the farthest one too many goes
        return _mean_labels(found[~own].reshape(len(found), -1), self.labels)


def _mean_labels(found: np.ndarray, labels: sparse.csr_array) -> np.ndarray:
    n_rows, k = found.shape
    graph = sparse.csr_array(
        (np.full(found.size, 1.0), found.ravel(), np.arange(n_rows + 1) * k),
        shape=(n_rows, labels.shape[0]),
    )
    return (graph @ labels).toarray() / k


def _fit_cluster(
    rows: CentredMatrix, labels: sparse.csr_array, settings: _Settings, seed: int
) -> tuple[Cluster, np.ndarray | None]:
    """Return a fitted cluster and, where asked for, the votes for its rows without themselves."""
    embedding, residuals = embed_labels(
        labels,
        settings.n_components,
        settings.n_label_neighbors,
        solver=settings.solver,
        max_iter=settings.max_iter,
        seed=seed,
    )
    weights, leverage = ridge(rows, embedding, settings.ridge, leverage=settings.leave_one_out)
    fitted = rows.times(weights)
    weights = without_smallest(weights, settings.weight_sparsity, axis=None)
    predicted = rows.times(weights) if settings.weight_sparsity else fitted
    embedded = without_smallest(predicted, settings.embedding_sparsity, axis=0)
    k = min(settings.n_neighbors, len(embedded))
    index = NeighbourSearch(settings.search, k).fit(embedded)
    cluster = Cluster(weights, embedded, labels, residuals, index)
    if leverage is None:
        return cluster, None
    # Without row i the regression predicts for it z_i less by this much, exactly.
    pull = (leverage / (1 - leverage))[:, None] * (embedding - fitted)
    return cluster, cluster.votes_without(predicted - pull)


# Clusters ----------------------------------------------------------------------------------------


def _with_unit_rows(rows: CentredMatrix) -> CentredMatrix:
    """Scale rows to unit length; rows of zeros stay."""
    if rows.centring is None:
        squares = np.einsum("ij,ij->i", rows.stored, rows.stored)
        return CentredMatrix(rows.stored * _inverse_root(squares)[:, None])
    of_row, of_column = rows.centring
    squares = rows.stored.multiply(rows.stored).sum(axis=1)
    squares += of_row * (of_row * (of_column @ of_column) - 2 * (rows.stored @ of_column))
    factor = _inverse_root(squares)
    stored = sparse.csr_array(sparse.diags_array(factor) @ rows.stored)
    return CentredMatrix(stored, (factor * of_row, of_column))


def _inverse_root(squares: np.ndarray) -> np.ndarray:
    length = np.sqrt(np.maximum(squares, 0.0))
    return np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)


def spherical_clusters(
    rows: CentredMatrix, n_clusters: int, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Cluster rows of unit length by their inner products.

    Parameters
    ----------
    rows : CentredMatrix
        Rows of unit length.
    n_clusters : int
        How many clusters to start with, at rows drawn at random.
    rng : RandomState
        Draws them.

    Returns
    -------
    centres : ndarray of shape (n_features, n_found)
        Centres of unit length; those of empty clusters are left out.
    assigned : ndarray of shape (n_rows,)
        Cluster of each row.
    """
    n_rows = rows.stored.shape[0]
    start = rng.choice(n_rows, size=min(n_clusters, n_rows), replace=False)
    assigned = np.argmax(rows.times(rows.rows(start).transposed_times(np.eye(len(start)))), axis=1)
    for _ in range(CLUSTERING_PASSES):
        found, assigned = np.unique(assigned, return_inverse=True)
        belongs = sparse.csr_array(
            (np.ones(n_rows), assigned, np.arange(n_rows + 1)), shape=(n_rows, len(found))
        )
        centres = rows.transposed_times(belongs)
        length = np.linalg.norm(centres, axis=0)
        centres /= np.where(length > 0, length, 1.0)
        previous, assigned = assigned, np.argmax(rows.times(centres), axis=1)
        if np.array_equal(previous, assigned):
            break
    found, assigned = np.unique(assigned, return_inverse=True)
    return centres[:, found], assigned


# Embedding of the labels -------------------------------------------------------------------------


@dataclass(frozen=True)
class Similarities:
    """Cosines of label sets, known for each row and its most similar rows.

    Attributes
    ----------
    columns : ndarray of int of shape (n_rows, n_similar)
        The most similar rows.
    values : ndarray of shape (n_rows, n_similar)
        Their cosines.
    """

    columns: np.ndarray
    values: np.ndarray
    starts: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        n_rows, n_similar = self.columns.shape
        object.__setattr__(self, "starts", np.arange(n_rows + 1) * n_similar)

    def matrix(self, values: np.ndarray) -> sparse.csr_array:
        """Return a sparse matrix with values at the known pairs."""
        n_rows = len(self.columns)
        return sparse.csr_array(
            (values.ravel(), self.columns.ravel(), self.starts), shape=(n_rows, n_rows)
        )

    def residual(self, U: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return U V' minus the similarities, at the known pairs."""
        result = np.empty_like(self.values)
        step = max(1, _CACHE_CELLS // (self.columns.shape[1] * U.shape[1]))
        for start in range(0, len(U), step):
            part = slice(start, start + step)
            result[part] = np.matmul(V[self.columns[part]], U[part, :, None])[:, :, 0]
        return result - self.values


def similar_rows(labels: sparse.csr_array, n_similar: int) -> Similarities:
    """Find for every row the rows with the most similar label sets, itself first.

    Of equally similar rows the first ones are taken. All pairs are looked at, in blocks of rows.

    Parameters
    ----------
    labels : CSR array of shape (n_rows, n_labels)
        0/1 labels, at least one in every row.
    n_similar : int
        How many rows to find for each, at most ``n_rows``.

    Returns
    -------
    similarities : Similarities
        Their numbers and cosines.
    """
    n_rows = labels.shape[0]
    n_similar = min(n_similar, n_rows)
    sizes = np.sqrt(labels.sum(axis=1))
    columns = np.empty((n_rows, n_similar), dtype=np.int32)
    values = np.empty((n_rows, n_similar), dtype=np.float32)
    transposed = sparse.csr_array(labels.T)
    step = max(1, _BLOCK_CELLS // n_rows)
    for start in range(0, n_rows, step):
        part = slice(start, min(start + step, n_rows))
        own = np.arange(part.stop - part.start)
        cosines = (labels[part] @ transposed).toarray() / np.outer(sizes[part], sizes)
        cosines[own, start + own] = 2.0  # more than any cosine: the row itself comes first
        least = np.partition(cosines, n_rows - n_similar, axis=1)[:, [n_rows - n_similar]]
        chosen = cosines > least
        wanted = n_similar - chosen.sum(axis=1, keepdims=True)
        tied = cosines == least
        chosen |= tied & (np.cumsum(tied, axis=1) <= wanted)
        found = np.nonzero(chosen)[1].reshape(-1, n_similar)
        columns[part] = found
        values[part] = np.minimum(np.take_along_axis(cosines, found, axis=1), 1.0)
    return Similarities(columns, values)


def embed_labels(
    labels: sparse.csr_array,
    n_components: int,
    n_similar: int,
    *,
    solver: str,
    max_iter: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Embed rows so that inner products are the cosines of similar label sets.

    Parameters
    ----------
    labels : CSR array of shape (n_rows, n_labels)
        0/1 labels.
    n_components : int
        Dimension of the embedding; no more than there are rows with labels are used.
    n_similar : int
        How many similar rows to keep for each row.
    solver : {"alternating", "svp"}
        How it is learnt, see :class:`SLEEC`.
    max_iter : int
        Largest number of rounds.
    seed : int
        Seed of the start.

    Returns
    -------
    embedding : ndarray of shape (n_rows, q)
        Rows without labels are zero.
    residuals : ndarray
        Root mean square error at the known pairs after every round, never rising.
    """
    labelled = np.flatnonzero(np.diff(labels.indptr))
    q = max(1, min(n_components, len(labelled)))
    embedding = np.zeros((labels.shape[0], q))
    if not labelled.size:
        return embedding, np.zeros(1)
    similarities = similar_rows(labels[labelled], n_similar)
    kept, residuals = None, [np.inf]
    # Single precision is far below the residual at which the rounds end.
    for Z, residual in SOLVERS[solver](similarities, q, seed):
        if residual > residuals[-1]:
            break  # too long a step: the last round is taken back
        kept = Z
        residuals.append(residual)
        if residual < SMALL_RESIDUAL or residuals[-2] - residual < LEAST_GAIN:
            break
        if len(residuals) > max_iter:
            break
    assert kept is not None
    embedding[labelled] = kept
    return embedding, np.array(residuals[1:])


def _alternating(
    similarities: Similarities, q: int, seed: int
) -> Iterator[tuple[np.ndarray, float]]:
    """Gradient steps on U V' in U and V in turns, from the truncated SVD of the similarities."""
    known = similarities.matrix(similarities.values)
    left, singular, right = randomized_svd(known, q, random_state=seed)
    U, V = left * np.sqrt(singular), right.T * np.sqrt(singular)
    step = np.float32(1 / (STEP_SHARE * linalg.norm(similarities.values)))
    while True:
        R = similarities.residual(U, V)
        yield U, _root_mean_square(R)
        U = U - step * (similarities.matrix(R) @ V)
        R = similarities.residual(U, V)
        V = V - step * (similarities.matrix(R).T @ U)


def _singular_value_projection(
    similarities: Similarities, q: int, seed: int
) -> Iterator[tuple[np.ndarray, float]]:
    """Gradient steps on Z Z', each followed by the best matrix of rank q in a small subspace.

    The objective has curvature at most 1, so a step of length 1 minimises an upper bound of it,
    over matrices whose range lies in the span of Z and RZ. The current one is among these:
    hence no step makes it worse.
    """
    known = _symmetric(similarities.matrix(similarities.values))
    basis = randomized_range_finder(
        known, size=min(2 * q, known.shape[0]), n_iter=4, random_state=seed
    )
    Z = _best_in_span(basis, basis.T @ (known @ basis), q)
    while True:
        R = similarities.residual(Z, Z)
        yield Z, _root_mean_square(R)
        gradient = _symmetric(similarities.matrix(R))
        basis = linalg.qr(np.hstack([Z, gradient @ Z]), mode="economic", check_finite=False)[0]
        inner = basis.T @ Z
        Z = _best_in_span(basis, inner @ inner.T - basis.T @ (gradient @ basis), q)


SOLVERS = {"alternating": _alternating, "svp": _singular_value_projection}


def _symmetric(matrix: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array(0.5 * (matrix + matrix.T))


def _best_in_span(basis: np.ndarray, inner: np.ndarray, q: int) -> np.ndarray:
    """Return Z with Z Z' the best positive matrix of rank q; ``inner`` is basis' matrix basis."""
    values, vectors = linalg.eigh(0.5 * (inner + inner.T), check_finite=False)
    return basis @ (vectors[:, -q:] * np.sqrt(np.maximum(values[-q:], 0)))


def _root_mean_square(R: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(R, dtype=np.float64))))


# Regression and neighbours -----------------------------------------------------------------------


def ridge(
    rows: CentredMatrix, targets: np.ndarray, alpha: float, *, leverage: bool = False
) -> tuple[np.ndarray, np.ndarray | None]:
    """Ridge regression without intercept, with one factorisation for all targets.

    Parameters
    ----------
    rows : CentredMatrix
        A, of shape (n_rows, n_features).
    targets : ndarray of shape (n_rows, n_targets)
        Z.
    alpha : float
        Penalty, above 0.
    leverage : bool, default=False
        Whether to return the leverages too: how much of its own target a row predicts.

    Returns
    -------
    weights : ndarray of shape (n_features, n_targets)
        Minimises ``|Z - A V|^2 + alpha |V|^2``.
    leverages : ndarray of shape (n_rows,) or None
        Diagonal of ``A (A'A + alpha I)^-1 A'``.
    """
    n_rows, n_features = rows.stored.shape
    if n_features <= n_rows:
        gram = rows.gram()
        gram[np.diag_indices_from(gram)] += alpha
        factor = linalg.cholesky(gram, lower=True, check_finite=False)
        weights = linalg.cho_solve((factor, True), rows.transposed_times(targets))
        if not leverage:
            return weights, None
        inverse = inverse_of_lower(factor)
        whitened = rows.times(inverse.T)
        return weights, np.einsum("ij,ij->i", whitened, whitened)
    # Fewer rows than features: the same through the inner products of the rows.
    kernel = rows.row_gram()
    kernel[np.diag_indices_from(kernel)] += alpha
    factor = linalg.cholesky(kernel, lower=True, check_finite=False)
    weights = rows.transposed_times(linalg.cho_solve((factor, True), targets))
    if not leverage:
        return weights, None
    inverse = inverse_of_lower(factor)
    return weights, 1 - alpha * np.einsum("ij,ij->j", inverse, inverse)


def without_smallest(values: np.ndarray, share: float, axis: int | None) -> np.ndarray:
    """Set a share of the numbers, the smallest in absolute value, to 0.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Numbers; they are not modified.
    share : float
        Share to set to 0, rounded down to a whole number of them; equal numbers all stay.
    axis : {0, None}
        0 counts within every column, None over all.

    Returns
    -------
    values : ndarray of shape (n, m)
        The numbers, with zeros.
    """
    if share == 0:
        return values
    size = np.abs(values)
    count = int(share * (size.size if axis is None else len(size)))
    smallest_kept = np.take(np.partition(size, count, axis=axis), count, axis=axis)
    return np.where(size < smallest_kept, 0.0, values)
