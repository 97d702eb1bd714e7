"""Ensemble of classifier chains (ECC): labels predicted one after another, in many orders.

Every learner of a chain sees the features and the labels before its own; chains that differ in
order and training rows are averaged, so that no single order decides.

References
----------
Read, Pfahringer, Holmes, Frank: Classifier chains for multi-label classification. Machine
Learning 85(3), 2011.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from splmll.base import Capabilities
from splmll.constraints import COUNT, N_JOBS, SHARE
from splmll.docstrings import with_paragraphs
from splmll.methods._base_learner import (
    LOGISTIC_REGRESSIONS,
    VOTING_CONSTRAINT,
    BaseLearnerClassifier,
    for_raw_features,
    with_seed,
)
from splmll.methods._constant import ConstantGuard
from splmll.methods._own_rule import fit_own_rule


@with_paragraphs
class EnsembleOfClassifierChains(BaseLearnerClassifier):
    r"""Average of classifier chains, each with its own label order and training rows (ECC).

    A chain with the order :math:`o(1), ..., o(C)` has one learner per label. Learner r is trained
    on the features and the true labels :math:`y_{o(1)}, ..., y_{o(r-1)}` to predict
    :math:`y_{o(r)}`; for a new row the true labels are replaced by what the chain has decided
    before, 1 where the learner's probability is above 1/2. The score of label j is the mean over
    the m chains

    .. math:: S_j = \frac{1}{m} \sum_{c=1}^m P_c(y_j = 1 | x, \text{decisions before } j) ,

    or with hard voting the share of the chains that decide for the label.

    A label with one value in the rows of a chain is predicted with certainty by that chain.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base learner, cloned for every label of every chain.
        {base_learner}
        The labels before its own follow as further 0/1 columns.
    n_estimators : int, default=10
        Number of chains (m). More chains make the scores smoother and less dependent on the seed;
        the authors use 10 to 50.
    order : sequence of int or None, default=None
        None draws a new order for each chain. A sequence of all label numbers is the order of
        every chain, for labels that depend on each other in a known direction.
    bootstrap : bool, default=True
        Draw the rows of a chain with replacement. False draws without replacement, and with
        ``max_samples=1.0`` takes all rows as they are.
    max_samples : int or float, default=1.0
        Rows of a chain: a number, or a share of the training rows.
    voting : {"soft", "hard"}, default="soft"
        Average the probabilities, or the 0/1 decisions as the authors do. Decisions take only
        m + 1 values, so they leave many labels tied in a ranking.
    threshold : float or str, default=0.5
        {threshold}
        The authors' is ``"cardinality"``.
    n_jobs : int or None, default=None
        Number of chains to fit in parallel, as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed of the orders, the rows and the base learners; None leaves the seeds of base learners
        as they are. The orders are drawn from the contents of the label columns, so that the
        result does not depend on the positions of the labels in Y.

    Attributes
    ----------
    chains_ : list of list of ConstantGuard
        The fitted base learners of every chain, in the order of the chain.
    orders_ : ndarray of shape (n_estimators, n_labels)
        Label numbers in the order of every chain.
    {scaler_}
    {thresholds_}

    Examples
    --------
    >>> import numpy as np
    >>> from splmll.methods import EnsembleOfClassifierChains
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> likes_sun = X[:, 0] > 0
    >>> Y = np.column_stack([likes_sun, likes_sun & (X[:, 1] > 0)]).astype(int)
    >>> model = EnsembleOfClassifierChains(n_estimators=5, random_state=0).fit(X, Y)
    >>> model.predict([[2.0, 2.0, 0.0], [2.0, -2.0, 0.0], [-2.0, 2.0, 0.0]])
    array([[1, 1],
           [1, 0],
           [0, 0]])
    """

    _former_names: ClassVar[dict[str, str]] = {"n_chains": "n_estimators"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseLearnerClassifier._parameter_constraints,
        "n_estimators": [COUNT],
        "order": ["array-like", None],
        "bootstrap": ["boolean"],
        "max_samples": [COUNT, SHARE],
        "voting": VOTING_CONSTRAINT,
        "n_jobs": N_JOBS,
    }
    capabilities = Capabilities(
        probabilities=True, sample_weight=True, cost="m C base fits with D + C features"
    )
    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "estimator": LOGISTIC_REGRESSIONS,
        "n_estimators": (10, 20, 50),
    }

    chains_: list[list[ConstantGuard]]
    orders_: np.ndarray

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 10,
        order: Sequence[int] | None = None,
        bootstrap: bool = True,
        max_samples: float = 1.0,
        voting: str = "soft",
        threshold: float | str = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.order = order
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.voting = voting
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, Y: Any, sample_weight: np.ndarray | None = None) -> None:
        self._check_parameters(*Y.shape)
        self._set_threshold(fit_own_rule(self, X, Y, self.threshold, sample_weight=sample_weight))
        n_features = X.shape[1]
        base, X = self._prepare_learner(X, sample_weight)

        # All draws come before the parallel part, which may run in any order.
        rng = check_random_state(self.random_state)
        plans = []
        for _ in range(self.n_estimators):
            order, rows = self._draw_order(Y, rng), self._draw_rows(len(Y), rng)
            learner = base if self.random_state is None else with_seed(base, rng)
            plans.append((learner, order, rows))
        self.orders_ = np.array([order for _, order, _ in plans])
        self.chains_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_chain)(learner, X, Y, order, rows, sample_weight)
            for learner, order, rows in plans
        )
        self._linear_chains = [
            _linear_chain(chain, self.scaler_, n_features) for chain in self.chains_
        ]

    def _scores(self, X: Any) -> np.ndarray:
        total = np.zeros((X.shape[0], self.orders_.shape[1]))
        for chain, linear, order in zip(self.chains_, self._linear_chains, self.orders_):
            if linear is None:
                probabilities, decisions = _follow(chain, self._learner_features(X))
            else:
                probabilities, decisions = linear.follow(X)
            total[:, order] += (probabilities if self.voting == "soft" else decisions).T
        return total / len(self.chains_)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if self.voting == "soft":
            return scores
        # As if one more chain were undecided: no finite number of votes makes a label certain.
        return (len(self.chains_) * scores + 0.5) / (len(self.chains_) + 1)

    def _check_parameters(self, n_rows: int, n_labels: int) -> None:
        if self.order is not None and sorted(self.order) != list(range(n_labels)):
            raise ValueError(
                f"order must name each of the labels 0, ..., {n_labels - 1} once, "
                f"got {list(self.order)}."
            )
        if self.max_samples > n_rows:
            raise ValueError(
                "max_samples must be a share in (0, 1] or a number of rows from 1 to "
                f"{n_rows}, got {self.max_samples!r}."
            )

    def _draw_order(self, Y: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        if self.order is not None:
            return np.array(self.order, dtype=np.intp)
        return rng.permutation(_sorted_by_content(Y))

    def _draw_rows(self, n_rows: int, rng: np.random.RandomState) -> np.ndarray | None:
        """Rows of one chain; None stands for all of them."""
        if isinstance(self.max_samples, Integral):
            n_drawn = int(self.max_samples)
        else:
            n_drawn = max(1, int(self.max_samples * n_rows))
        if self.bootstrap:
            return rng.randint(n_rows, size=n_drawn)
        return None if n_drawn == n_rows else rng.permutation(n_rows)[:n_drawn]


def _sorted_by_content(Y: np.ndarray) -> np.ndarray:
    """Label numbers sorted by their columns, the same labels first wherever they stand in Y."""
    columns = [column.tobytes() for column in np.packbits(Y == 1, axis=0).T]
    return np.array(sorted(range(len(columns)), key=columns.__getitem__), dtype=np.intp)


def _fit_chain(
    base: Any,
    X: Any,
    Y: np.ndarray,
    order: np.ndarray,
    rows: np.ndarray | None,
    sample_weight: np.ndarray | None,
) -> list[ConstantGuard]:
    if rows is not None:
        X, Y = X[rows], Y[rows]
        sample_weight = None if sample_weight is None else sample_weight[rows]
    labels = Y[:, order].astype(X.dtype)
    # One table for the whole chain: link r reads the first n_features + r columns of it.
    if sparse.issparse(X):
        table = sparse.hstack([X, sparse.csr_array(labels)], format="csr")
    else:
        table = np.hstack([X, labels])
    n_features = X.shape[1]
    return [
        ConstantGuard(base, classes=(0, 1)).fit(
            table[:, : n_features + link], labels[:, link].astype(np.int64), sample_weight
        )
        for link in range(len(order))
    ]


def _follow(chain: list[ConstantGuard], X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and decisions of shape (n_labels, n_rows), in the order of the chain."""
    n_rows, n_features = X.shape
    probabilities = np.empty((len(chain), n_rows))
    decisions = np.empty((len(chain), n_rows))
    if not sparse.issparse(X):
        table = np.hstack([X, np.empty((n_rows, len(chain)), dtype=X.dtype)])
    for link, guard in enumerate(chain):
        if sparse.issparse(X):
            seen = sparse.hstack([X, sparse.csr_array(decisions[:link].T)], format="csr")
        else:
            seen = table[:, : n_features + link]
        probabilities[link] = guard.predict_proba(seen)[:, 1]
        decisions[link] = probabilities[link] > 0.5
        if not sparse.issparse(X):
            table[:, n_features + link] = decisions[link]
    return probabilities, decisions


@dataclass(frozen=True, eq=False)
class _LinearChain:
    """A chain of logistic regressions, read as one matrix.

    Row r holds the weights of link r: those of the features, and those of the labels before it.
    """

    feature_weights: np.ndarray
    label_weights: np.ndarray
    intercept: np.ndarray

    def follow(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities and decisions as from ``_follow``, for features as given.

        The features enter once for all links; only the labels go link by link.
        """
        margins = np.ascontiguousarray((X @ self.feature_weights.T + self.intercept).T)
        decisions = np.empty_like(margins)
        for link, weights in enumerate(self.label_weights):
            margins[link] += weights[:link] @ decisions[:link]
            decisions[link] = margins[link] > 0
        return np.asarray(expit(margins)), decisions


def _linear_chain(
    chain: list[ConstantGuard], scaler: StandardScaler | None, n_features: int
) -> _LinearChain | None:
    """The chain as matrices for unscaled features; None unless all are logistic regressions."""
    weights = np.zeros((len(chain), n_features + len(chain)))
    intercept = np.empty(len(chain))
    for link, guard in enumerate(chain):
        learner = guard.learner_
        if learner is None:
            intercept[link] = np.inf if guard.constant_ == 1 else -np.inf
        elif type(learner) is LogisticRegression:
            weights[link, : n_features + link] = learner.coef_[0]
            intercept[link] = learner.intercept_[0]
        else:
            return None
    of_features, intercept = for_raw_features(weights[:, :n_features], intercept, scaler)
    return _LinearChain(of_features, weights[:, n_features:], intercept)
