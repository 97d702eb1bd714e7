"""Ensemble of pruned sets (EPS): label powerset on the frequent label sets, several times.

Rows with a rare label set are used with frequent subsets of it instead, and with those of their
labels that no frequent set has; every member sees another sample of the rows.

References
----------
Read, Pfahringer, Holmes: Multi-label classification using ensembles of pruned sets. ICDM 2008.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from splmll.base import Capabilities
from splmll.constraints import COUNT, N_JOBS, SHARE, Choice, Range, check_parameters
from splmll.docstrings import with_paragraphs
from splmll.methods._base_learner import (
    LOGISTIC_REGRESSIONS,
    VOTING_CONSTRAINT,
    BaseLearnerClassifier,
)
from splmll.methods._label_sets import (
    LabelSetEnsemble,
    LabelSetLearner,
    find_label_sets,
    fit_label_sets,
)
from splmll.methods._own_rule import fit_own_rule

# Of the ensemble and of ``prune``.
PRUNING_CONSTRAINTS: dict[str, Any] = {
    "pruning": [Range(Integral, 0, None, closed="left")],
    "strategy": [Choice("largest", "all")],
    "subset_limit": [Range(Integral, 0, None, closed="left")],
}

# Pairs of a rare and a frequent set that are compared at the same time.
_BLOCK_PAIRS = 2**23

# A member of an ensemble need not converge. On tmc2007, with hundreds of label sets, the looser fit
# took a tenth of the time and ranked better.
MANY_LABEL_SETS = 100
LOOSE_TOLERANCE = 1e-2


@with_paragraphs
class EnsembleOfPrunedSets(BaseLearnerClassifier):
    """Label powerset models on pruned label sets of random samples of the rows (EPS).

    Each member draws a sample of the rows without replacement, prunes its label sets (see
    ``prune``) and fits one multiclass classifier to the sets that are left. The score of a
    label is the mean over the members. Together they can predict sets that no row has.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base learner, cloned for every member. None is multinomial logistic regression
        (``LogisticRegression(max_iter=1000)``) on features standardised once for all members
        (sparse ones are left as they are); with more than 100 label sets it stops early
        (``tol=0.01``). Your own base learner receives X as it is.
    n_estimators : int, default=10
        Number of members (m).
    max_samples : float, default=0.66
        Share of the rows that a member sees, above 0 and at most 1.
    pruning : int, default=2
        Label sets that occur at most this often in the sample are pruned (p); 0 prunes nothing. The
        authors try 1 to 5. Larger is faster. A member with fewer than two sets left prunes less;
        where hardly a set occurs twice, as with hundreds of labels, it has almost as many classes
        as rows, and :class:`RAkEL` is the better choice.
    strategy : {"largest", "all"}, default="largest"
        Which frequent subsets a row with a pruned set is used with: the largest ones, of
        equally large ones the most frequent (strategy A), or all large enough (B).
    subset_limit : int, default=3
        With "largest", how many subsets a row is used with at most; with "all", only subsets with
        more labels than this are used (b).
    keep_labels : bool, default=True
        Whether a label that no frequent set has is learnt all the same: a row with such labels is
        also used with the set of them. False is the paper's: these labels have the score 0 for
        every row, so that a ranking puts them last.
    voting : {"soft", "hard"}, default="soft"
        "hard" is the paper's: every member votes for the labels of its most likely set, and the
        score is the share of votes, of which there are only ``n_estimators + 1`` values, so that
        many labels tie. "soft" averages marginal probabilities, which ranks better and gives
        probabilities strictly between 0 and 1.
    threshold : float or str, default=0.5
        {threshold}
        The authors choose a threshold by the cardinality.
    n_jobs : int or None, default=None
        Number of members to fit in parallel, as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples, and of base learners that have one.

    Attributes
    ----------
    members_ : list of LabelSetLearner
        The members: ``guard`` is the fitted base learner, ``sets`` its label sets, one row per
        class. Default base learners work on standardised features.
    {scaler_}
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import EnsembleOfPrunedSets
    >>> X = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0)
    >>> Y = np.repeat([[1, 0], [1, 1], [0, 0]], 10, axis=0)
    >>> model = EnsembleOfPrunedSets(random_state=0).fit(X, Y)
    >>> model.predict([[0.0], [2.0]])
    array([[1, 0],
           [0, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseLearnerClassifier._parameter_constraints,
        **PRUNING_CONSTRAINTS,
        "n_estimators": [COUNT],
        "max_samples": [SHARE],
        "keep_labels": ["boolean"],
        "voting": VOTING_CONSTRAINT,
        "n_jobs": N_JOBS,
    }
    capabilities = Capabilities(
        sparse_labels=True,
        probabilities=True,
        sample_weight=True,
        cost="10 base fits with a class for each frequent label set",
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "estimator": LOGISTIC_REGRESSIONS,
        "pruning": (1, 2, 3, 4, 5),
        "subset_limit": (1, 2, 3),
    }

    members_: list[LabelSetLearner]
    _ensemble: LabelSetEnsemble

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 10,
        max_samples: float = 0.66,
        pruning: int = 2,
        strategy: str = "largest",
        subset_limit: int = 3,
        keep_labels: bool = True,
        voting: str = "soft",
        threshold: float | str = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.pruning = pruning
        self.strategy = strategy
        self.subset_limit = subset_limit
        self.keep_labels = keep_labels
        self.voting = voting
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold, sample_weight=sample_weight))
        base, X = self._prepare_learner(X, sample_weight)
        if self.estimator is None and find_label_sets(Y)[0].shape[0] > MANY_LABEL_SETS:
            base.set_params(tol=LOOSE_TOLERANCE)
        samples = self._draw_samples(X.shape[0])
        self.members_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_member)(base, X, sample_weight, sample, self._prune(Y[sample]))
            for sample in samples
        )
        self._ensemble = LabelSetEnsemble(
            self.members_, len(self.members_), X.shape[1], self.scaler_
        )

    def _scores(self, X: Any) -> np.ndarray:
        return self._ensemble.scores(X, self.voting)

    def _prune(self, Y: Any) -> tuple[np.ndarray, sparse.csr_array]:
        return prune(
            Y,
            self.pruning,
            strategy=self.strategy,
            subset_limit=self.subset_limit,
            keep_labels=self.keep_labels,
        )

    def _draw_samples(self, n_rows: int) -> list[np.ndarray]:
        random = check_random_state(self.random_state)
        size = int(np.ceil(self.max_samples * n_rows))
        # In the order of the table: a sample of all rows is the table itself.
        return [
            np.sort(random.choice(n_rows, size, replace=False)) for _ in range(self.n_estimators)
        ]


def prune(
    Y: Any,
    pruning: int = 2,
    *,
    strategy: str = "largest",
    subset_limit: int = 3,
    keep_labels: bool = False,
) -> tuple[np.ndarray, sparse.csr_array]:
    """Keep the rows with frequent label sets; use the others with frequent subsets of theirs.

    A label set is frequent where it occurs more than ``pruning`` times. Where fewer than two sets
    are that frequent, ``pruning`` is lowered until two are, or until nothing is pruned. A row
    with a rare set is used once for each chosen frequent subset of its labels, with that subset in
    place of its labels, and dropped where there is none. The empty set is never chosen: every
    row would have it as a subset.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_rows, n_labels)
        0/1 labels.
    pruning : int, default=2
        Sets that occur at most this often are pruned (p).
    strategy : {"largest", "all"}, default="largest"
        Choose the ``subset_limit`` largest subsets, of equally large ones the more frequent, then
        the one seen first (A); or all subsets with more than ``subset_limit`` labels (B).
    subset_limit : int, default=3
        The limit in both strategies (b).
    keep_labels : bool, default=False
        Whether rows with labels that no frequent set has are also used with the set of those.

    Returns
    -------
    rows : ndarray of shape (n_kept,)
        Row numbers of Y: the rows with frequent sets, then the others, as often as used, then
        those for labels that would be lost.
    labels : CSR array of shape (n_kept, n_labels)
        Their labels.

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods.pruned_sets import prune
    >>> Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> rows, labels = prune(Y, pruning=1)
    >>> rows
    array([0, 1, 2, 3, 4, 4])
    >>> labels.toarray().astype(int)
    array([[1, 0, 0],
           [1, 0, 0],
           [0, 1, 0],
           [0, 1, 0],
           [1, 0, 0],
           [0, 1, 0]])

    The last row and its label were lost. They need not be:

    >>> rows, labels = prune(Y, pruning=1, keep_labels=True)
    >>> rows
    array([0, 1, 2, 3, 4, 4, 5])
    >>> labels.toarray()[-1].astype(int)
    array([0, 0, 1])
    """
    given = {"pruning": pruning, "strategy": strategy, "subset_limit": subset_limit}
    check_parameters(PRUNING_CONSTRAINTS, given, "prune")
    Y = sparse.csr_array(Y, dtype=np.float64)
    sets, classes = find_label_sets(Y)
    counts = np.bincount(classes)
    runner_up = np.sort(counts)[-2:][0]
    frequent = counts > min(pruning, runner_up - 1)
    is_kept = frequent[classes]
    chosen = _frequent_subsets(sets, counts, frequent, strategy, subset_limit)

    kept_rows, rare_rows = np.flatnonzero(is_kept), np.flatnonzero(~is_kept)
    of_rare_rows = sparse.coo_array(chosen[classes[rare_rows]])
    rows = np.concatenate([kept_rows, rare_rows[of_rare_rows.row]])
    new_classes = np.concatenate([classes[kept_rows], of_rare_rows.col])
    labels = sets[new_classes]
    if keep_labels:
        more_rows, more_labels = _lost_labels(Y, sets[frequent])
        rows = np.concatenate([rows, more_rows])
        labels = sparse.csr_array(sparse.vstack([labels, more_labels]))
    return rows, labels


def _lost_labels(
    Y: sparse.csr_array, frequent_sets: sparse.csr_array
) -> tuple[np.ndarray, sparse.csr_array]:
    """Return the rows with labels that no frequent set has, and these labels of theirs."""
    is_lost = frequent_sets.sum(axis=0) == 0
    lost = sparse.csr_array(Y @ sparse.diags_array(is_lost.astype(np.float64)))
    lost.eliminate_zeros()
    rows = np.flatnonzero(np.diff(lost.indptr))
    return rows, lost[rows]


def _frequent_subsets(
    sets: sparse.csr_array,
    counts: np.ndarray,
    frequent: np.ndarray,
    strategy: str,
    subset_limit: int,
) -> sparse.csr_array:
    """Return, for all pairs of sets, whether the first is rare and is used with the second."""
    n_sets = sets.shape[0]
    sizes = sets.sum(axis=1)
    rare = np.flatnonzero(~frequent)
    # Best first; lexsort is stable, so that equals stay in the order in which they were seen.
    candidates = np.flatnonzero(frequent)
    candidates = candidates[np.lexsort((-counts[candidates], -sizes[candidates]))]
    if strategy == "all":
        candidates = candidates[sizes[candidates] > subset_limit]
    of_candidates = sets[candidates].T.tocsc()
    chosen = []
    step = max(1, _BLOCK_PAIRS // max(1, len(candidates)))
    for start in range(0, len(rare), step):
        batch = rare[start : start + step]
        # A sparse product stores pairs with a label in common, which the empty set never has.
        common = sparse.csr_array(sets[batch] @ of_candidates)
        common.sort_indices()
        is_subset = common.data == sizes[candidates[common.indices]]
        first, second = common.tocoo().coords
        first, second = first[is_subset], second[is_subset]
        if strategy == "largest":
            position = np.arange(len(first)) - np.searchsorted(first, first)
            first, second = first[position < subset_limit], second[position < subset_limit]
        chosen.append((batch[first], candidates[second]))
    pairs = np.hstack(chosen) if chosen else np.empty((2, 0), dtype=np.int64)
    return sparse.csr_array((np.ones(pairs.shape[1]), tuple(pairs)), shape=(n_sets, n_sets))


def _fit_member(
    base: Any,
    X: Any,
    sample_weight: np.ndarray | None,
    sample: np.ndarray,
    pruned: tuple[np.ndarray, sparse.csr_array],
) -> LabelSetLearner:
    rows, labels = pruned
    used = sample[rows]
    weights = None if sample_weight is None else sample_weight[used]
    return fit_label_sets(base, X[used], labels, weights)
