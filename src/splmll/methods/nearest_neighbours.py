"""ML-kNN: how many of the k nearest neighbours carry a label, read by Bayes' rule.

Counts among the neighbours of the training rows give, label by label, the likelihood of every
count with and without the label; a new row's count is turned into a posterior probability.

References
----------
Zhang, Zhou: ML-KNN: a lazy learning approach to multi-label learning. Pattern Recognition 40(7),
2007.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.neighbors import VALID_METRICS

from splmll.base import Capabilities, MultilabelClassifier
from splmll.constraints import COUNT, N_JOBS, NOT_NEGATIVE, Choice
from splmll.docstrings import with_paragraphs
from splmll.feature_scaling import DISTANCE_SCALE_CONSTRAINT
from splmll.methods._feature_scale import FeatureScale
from splmll.methods._neighbours import SEARCH_CONSTRAINT, NeighbourSearch, check_search
from splmll.methods._own_rule import fit_own_rule
from splmll.thresholds import THRESHOLD_CONSTRAINT


@with_paragraphs
class MLkNN(MultilabelClassifier):
    r"""Multi-label k nearest neighbours (ML-kNN).

    With :math:`c_j` the number of neighbours that carry label j, :math:`p_j` its smoothed
    frequency and :math:`q_{1j}(r)`, :math:`q_{0j}(r)` the smoothed share of the training rows
    with and without label j among whose own neighbours r carry it, the score is

    .. math:: S_j = \frac{p_j q_{1j}(c_j)}{p_j q_{1j}(c_j) + (1 - p_j) q_{0j}(c_j)} .

    A training row is never its own neighbour. A score takes at most ``n_neighbors + 1``
    different values per label.

    Parameters
    ----------
    n_neighbors : int, default=10
        How many neighbours to count (k). With fewer other rows than that, all of them.
    smoothing : float, default=1.0
        Added to every count (s). With 0 a count never seen in training has no likelihood either
        way, and the score is the label's frequency.
    {scale_of_distances}
        Distances add up over features, so a feature with large numbers would decide alone; the
        choice matters more than k. "auto" is "minmax" for dense features, which comes closest to
        published results, and leaves sparse ones alone.
        Sparse features stay sparse: they are divided and not shifted, which leaves all distances
        as they are. The cosine metric, which a shift would change, is treated in the same way.
    threshold : float or str, default=0.5
        A label is predicted if its score is at least the threshold, so at exactly 0.5 it is (the
        authors ask for more than 0.5). A name is a rule from :data:`splmll.thresholds.RULES`,
        fitted on out-of-fold scores of the training data.
    metric : str or callable, default="euclidean"
        Distance, as in :class:`sklearn.neighbors.NearestNeighbors`.
    search : {"exact", "approximate", "auto"}, default="exact"
        Compare every pair of rows, or look only into the nearest cells of an index, which finds
        nearly all neighbours and is far faster on large data; it needs dense features and the
        package faiss (``pip install "splmll[neighbours]"``). "auto" is approximate from 100,000
        training rows on, where it can be.
    {jobs_of_search}

    Attributes
    ----------
    prior_ : ndarray of shape (n_labels,)
        Smoothed frequency of each label.
    likelihood_present_ : ndarray of shape (n_labels, k + 1)
        Share of the rows with the label among whose neighbours r carry it, r = 0, ..., k.
    likelihood_absent_ : ndarray of shape (n_labels, k + 1)
        The same for the rows without the label.
    posterior_ : ndarray of shape (n_labels, k + 1)
        Score of a label by the number of neighbours that carry it.
    neighbors_ : NeighbourSearch
        The search over the scaled training rows.
    labels_ : CSR array of shape (n_rows, n_labels)
        Labels of the training rows.
    {feature_scale_}
    {thresholds_}

    Notes
    -----
    Of several training rows at exactly the distance of the k-th neighbour, the search decides which
    are counted. That matters only for data with many equal rows or few distinct values.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import MLkNN
    >>> X = np.array([[0.0], [1.0], [3.0], [4.5]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> model = MLkNN(n_neighbors=1).fit(X, Y)
    >>> model.posterior_[0]
    array([0.25, 0.75])
    >>> model.predict([[0.2], [4.0]])
    array([[1, 0],
           [0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [COUNT],
        "smoothing": [NOT_NEGATIVE],
        "scale": DISTANCE_SCALE_CONSTRAINT,
        "threshold": THRESHOLD_CONSTRAINT,
        "metric": [Choice(*chain.from_iterable(VALID_METRICS.values())), callable],
        "search": SEARCH_CONSTRAINT,
        "n_jobs": N_JOBS,
    }
    capabilities = Capabilities(sparse_labels=True, probabilities=True, cost="N^2 D")
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "n_neighbors": (5, 8, 10, 12, 15, 20, 30),
        "scale": ("auto", "minmax", "standard", None),
    }

    prior_: np.ndarray
    likelihood_present_: np.ndarray
    likelihood_absent_: np.ndarray
    posterior_: np.ndarray
    neighbors_: NeighbourSearch
    labels_: sparse.csr_array
    feature_scale_: FeatureScale

    def __init__(
        self,
        n_neighbors: int = 10,
        smoothing: float = 1.0,
        *,
        scale: str | None = "auto",
        threshold: float | str = 0.5,
        metric: Any = "euclidean",
        search: str = "exact",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.scale = scale
        self.threshold = threshold
        self.metric = metric
        self.search = search
        self.n_jobs = n_jobs

    def _fit(self, X: Any, Y: Any) -> None:
        check_search(self.search)
        if X.shape[0] < 2:
            raise ValueError("ML-kNN found n_samples = 1: give it at least 2 rows to compare.")
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold))
        self.labels_ = sparse.csr_array(Y)
        # A shift would change angles.
        self.feature_scale_ = FeatureScale(
            X, self.scale, of_dense="minmax", with_shift=self.metric != "cosine"
        )
        n_neighbors = min(self.n_neighbors, X.shape[0] - 1)
        self.neighbors_ = NeighbourSearch(self.search, n_neighbors, self.metric, self.n_jobs)
        self.neighbors_.fit(self.feature_scale_.apply(X))
        self._learn_tables(self._count(self.neighbors_.of_training_rows()))

    def _scores(self, X: Any) -> np.ndarray:
        counts = self._count(self.neighbors_.of(self.feature_scale_.apply(X))).toarray()
        return self.posterior_[np.arange(counts.shape[1]), counts]

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return scores

    def _count(self, found: np.ndarray) -> sparse.csr_array:
        """How many of the neighbours found for each row carry each label."""
        n_rows, n_neighbors = found.shape
        graph = sparse.csr_array(
            (np.ones(found.size), found.ravel(), np.arange(n_rows + 1) * n_neighbors),
            shape=(n_rows, self.labels_.shape[0]),
        )
        return (graph @ self.labels_).astype(np.intp)

    def _learn_tables(self, counts: sparse.csr_array) -> None:
        n_rows, n_labels = self.labels_.shape
        width = self.neighbors_.n_neighbors + 1
        with_label = self.labels_.sum(axis=0)
        rows_present = _histogram((counts * self.labels_).astype(np.intp), with_label, width)
        rows_absent = _histogram(counts, np.full(n_labels, n_rows), width) - rows_present

        s = self.smoothing
        self.prior_ = (s + with_label) / (2 * s + n_rows)
        self.likelihood_present_ = _share(s + rows_present)
        self.likelihood_absent_ = _share(s + rows_absent)
        joint_present = self.prior_[:, None] * self.likelihood_present_
        evidence = joint_present + (1 - self.prior_[:, None]) * self.likelihood_absent_
        self.posterior_ = np.divide(
            joint_present,
            evidence,
            out=np.repeat(self.prior_[:, None], width, axis=1),
            where=evidence > 0,
        )


def _histogram(counts: sparse.csr_array, n_rows: np.ndarray, width: int) -> np.ndarray:
    """For each label the number of rows with count 0, 1, ..., width - 1, of ``n_rows`` in all."""
    counts.eliminate_zeros()
    n_labels = counts.shape[1]
    table = np.bincount(counts.indices * width + counts.data, minlength=n_labels * width)
    table = table.reshape(n_labels, width).astype(np.float64)
    # A sparse matrix does not store the rows with count 0: they are what is left.
    table[:, 0] = n_rows - table.sum(axis=1)
    return table


def _share(table: np.ndarray) -> np.ndarray:
    total = table.sum(axis=1, keepdims=True)
    return np.divide(table, total, out=np.zeros_like(table), where=total > 0)
