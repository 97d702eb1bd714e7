"""What people use instead: scikit-learn's own classifiers, and other packages where installed.

They are not part of the catalogue of methods; the benchmark puts them beside it, with their own
defaults and their own rule for which labels to predict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC

from splmll.arrays import dense
from splmll.extras import installed, required
from splmll.metrics import label_scores

# The score of a label that no training row had: below that of any other.
NEVER = -1e6


class Peer(ClassifierMixin, BaseEstimator):
    """Another package's classifier on those labels that some training rows have and some have not.

    Several of them refuse a label without both; such a label is ranked last and never predicted
    (or predicted always, where all training rows had it).

    Parameters
    ----------
    estimator : classifier
        A multi-label classifier; it is cloned.
    space : mapping of str to sequence, default=()
        What a search may vary, by names of parameters of `estimator`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import ClassifierChain
    >>> from splmll.experiments.benchmark.peers import Peer
    >>> X = np.linspace(-1, 1, 20).reshape(-1, 1)
    >>> Y = np.column_stack([X > 0, np.zeros(20)]).astype(int)  # no row has the second label
    >>> Peer(ClassifierChain(LogisticRegression())).fit(X, Y).predict([[0.9]])
    array([[1, 0]], dtype=uint8)
    """

    def __init__(self, estimator: Any, space: Mapping[str, Sequence[Any]] | None = None) -> None:
        self.estimator = estimator
        self.space = space

    @property
    def search_space(self) -> dict[str, Sequence[Any]]:
        """What a search may vary, by names of this object's parameters."""
        return {f"estimator__{name}": values for name, values in (self.space or {}).items()}

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit a clone of the classifier on the labels that vary."""
        Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y).astype(np.int64)
        # Several of them know csr_matrix alone.
        X = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)
        self.share_ = Y.mean(axis=0)
        self.varies_ = (self.share_ > 0) & (self.share_ < 1)
        self.estimator_ = clone(self.estimator).fit(X, Y[:, self.varies_])
        # Where its own rule cuts: margins at zero, which is one half less one half.
        self.offset_ = 0.5 if hasattr(self.estimator_, "decision_function") else 0.0
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the classifier's scores."""
        X = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)
        scores = np.where(self.share_ == 1, -NEVER, NEVER) * np.ones((X.shape[0], 1))
        scores[:, self.varies_] = label_scores(self.estimator_, X, int(self.varies_.sum()))
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels by the classifier's own rule."""
        X = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)
        labels = np.tile((self.share_ == 1).astype(np.uint8), (X.shape[0], 1))
        predicted = self.estimator_.predict(X)
        predicted = predicted.toarray() if sparse.issparse(predicted) else np.asarray(predicted)
        labels[:, self.varies_] = predicted.reshape(len(labels), -1)
        return labels


class CatBoost(ClassifierMixin, BaseEstimator):
    """CatBoost with the loss MultiLogloss, one model for all labels.

    Parameters
    ----------
    depth : int, default=6
        Depth of the trees, as CatBoost's default.
    learning_rate : float or None, default=None
        None lets CatBoost choose.
    iterations : int, default=1000
        Number of trees, as CatBoost's default.
    random_state : int, default=0
        Seed.

    Examples
    --------
    >>> from splmll.experiments.benchmark.peers import CatBoost
    >>> CatBoost(iterations=50).get_params()["iterations"]
    50
    """

    def __init__(
        self,
        depth: int = 6,
        learning_rate: float | None = None,
        iterations: int = 1000,
        random_state: int = 0,
    ) -> None:
        self.depth = depth
        self.learning_rate = learning_rate
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit the trees."""
        package = required("catboost", "peers", "CatBoost")
        self.model_ = package.CatBoostClassifier(
            loss_function="MultiLogloss",
            depth=self.depth,
            learning_rate=self.learning_rate,
            iterations=self.iterations,
            random_seed=self.random_state,
            thread_count=1,
            allow_writing_files=False,
            verbose=False,
        ).fit(X, Y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every label."""
        return np.asarray(self.model_.predict_proba(X)).reshape(X.shape[0], -1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels whose probability is above one half."""
        return (self.predict_proba(X) > 0.5).astype(np.uint8)


class LibMultiLabel(ClassifierMixin, BaseEstimator):
    """LibMultiLabel's linear one-vs-rest classifier.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, as LIBLINEAR's ``-c``.

    Examples
    --------
    >>> from splmll.experiments.benchmark.peers import LibMultiLabel
    >>> LibMultiLabel().C
    1.0
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit one linear classifier per label."""
        linear = required("libmultilabel.linear", "peers", "LibMultiLabel")
        self.model_ = linear.train_1vsrest(
            sparse.csr_matrix(Y), sparse.csr_matrix(X), options=f"-m 1 -c {self.C}", verbose=False
        )
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the margins."""
        linear = required("libmultilabel.linear", "peers", "LibMultiLabel")
        return np.asarray(linear.predict_values(self.model_, sparse.csr_matrix(X)))

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels with a positive margin."""
        return (self.decision_function(X) > 0).astype(np.uint8)


class Boomer(ClassifierMixin, BaseEstimator):
    """MLRL-Boomer's gradient boosted rules.

    Parameters
    ----------
    shrinkage : float, default=0.3
        Learning rate, as Boomer's default.
    max_rules : int, default=1000
        Number of rules, as Boomer's default.
    head_type : str or None, default=None
        Whether a rule speaks of one label or of all; None lets Boomer choose.
    feature_sampling : str or None, default=None
        Which features a rule may use; None is Boomer's default, a few drawn for every rule.
    random_state : int, default=0
        Seed.

    Examples
    --------
    >>> from splmll.experiments.benchmark.peers import Boomer
    >>> Boomer(max_rules=300).get_params()["shrinkage"]
    0.3
    """

    def __init__(
        self,
        shrinkage: float = 0.3,
        max_rules: int = 1000,
        head_type: str | None = None,
        feature_sampling: str | None = None,
        random_state: int = 0,
    ) -> None:
        self.shrinkage = shrinkage
        self.max_rules = max_rules
        self.head_type = head_type
        self.feature_sampling = feature_sampling
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit the rules."""
        package = required("mlrl.boosting", "boomer", "MLRL-Boomer")
        self.model_ = package.BoomerClassifier(
            shrinkage=self.shrinkage,
            max_rules=self.max_rules,
            head_type=self.head_type,
            feature_sampling=self.feature_sampling,
            random_state=1 + self.random_state,  # its seeds begin at 1
        ).fit(X, Y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every label."""
        return np.asarray(self.model_.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels by Boomer's own rule."""
        return np.asarray(dense(self.model_.predict(X)))


_STRENGTHS = (0.01, 0.1, 1.0, 10.0)
_FOREST = {"min_samples_leaf": (1, 2, 5), "max_features": ("sqrt", 0.2, 0.5)}

# Name -> the package it needs, how it is made, what a search may vary.
_KNOWN: dict[str, tuple[str, Callable[[], Any], Mapping[str, Sequence[Any]]]] = {
    "OvR LinearSVC": (
        "sklearn",
        lambda: OneVsRestClassifier(LinearSVC()),
        {"estimator__C": _STRENGTHS},
    ),
    "OvR LogisticRegression": (
        "sklearn",
        lambda: OneVsRestClassifier(LogisticRegression(max_iter=1000)),
        {"estimator__C": _STRENGTHS},
    ),
    "ClassifierChain": (
        "sklearn",
        # The one parameter was renamed; by position it works with both names.
        lambda: ClassifierChain(LogisticRegression(max_iter=1000), order="random"),
        {"estimator__C": _STRENGTHS, "base_estimator__C": _STRENGTHS},
    ),
    "ExtraTrees": ("sklearn", ExtraTreesClassifier, _FOREST),
    "RandomForest": ("sklearn", RandomForestClassifier, _FOREST),
    "MLPClassifier": (
        "sklearn",
        MLPClassifier,
        {
            "alpha": (1e-4, 1e-2, 1.0),
            "hidden_layer_sizes": ((100,), (300,)),
            "early_stopping": (False, True),
        },
    ),
    "CatBoost": (
        "catboost",
        CatBoost,
        {"depth": (4, 6, 8), "learning_rate": (None, 0.03, 0.1), "iterations": (300, 1000)},
    ),
    "LibMultiLabel": ("libmultilabel", LibMultiLabel, {"C": _STRENGTHS}),
    "MLRL-Boomer": (
        "mlrl.boosting",
        Boomer,
        {
            "shrinkage": (0.1, 0.3, 0.5),
            "max_rules": (300, 1000),
            "head_type": (None, "single", "complete"),
            "feature_sampling": (None, "none"),
        },
    ),
}


def peers() -> dict[str, Peer]:
    """Return the classifiers of other packages that are installed, by name.

    Returns
    -------
    peers : dict of str to Peer

    Examples
    --------
    >>> from splmll.experiments.benchmark.peers import peers
    >>> list(peers())[:3]
    ['OvR LinearSVC', 'OvR LogisticRegression', 'ClassifierChain']
    """
    return {
        name: Peer(make(), space)
        for name, (package, make, space) in _KNOWN.items()
        if installed(package)
    }


def missing_peers() -> list[str]:
    """Return the names of those whose package is not installed.

    Examples
    --------
    >>> from splmll.experiments.benchmark.peers import missing_peers, peers
    >>> set(missing_peers()) & set(peers())
    set()
    """
    return [name for name, (package, *_) in _KNOWN.items() if not installed(package)]
